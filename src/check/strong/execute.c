/* Running a sequence of events on a store of the last versions. */
#include "check/strong/execute.h"

#include <stdlib.h>
#include <string.h>

#include "check/strong/rules/rule.h"

/* How many versions between the one read and the current one become requirements at a time. */
enum { LOOK_BACK = 64 };

void iso_requirements_free(iso_requirements *q) {
  iso_vec_free(&q->edges);
  iso_vec_free(&q->first);
  iso_vec_free(&q->also);
  iso_vec_free(&q->also_first);
}

void iso_require(iso_requirements *q) {
  bool made =
      iso_vec_push(&q->first, (uint32_t)q->edges.count) && iso_vec_push(&q->also_first, (uint32_t)q->also.count);
  if (!made) q->failed = true;
}

void iso_require_edge(iso_requirements *q, uint32_t from, uint32_t to) {
  if (!iso_vec_push(&q->edges, ((iso_event_edge){from, to}))) q->failed = true;
}

void iso_require_also(iso_requirements *q, uint32_t from, uint32_t to) {
  if (!iso_vec_push(&q->also, ((iso_event_edge){from, to}))) q->failed = true;
}

typedef struct {
  const iso_event_graph *e;
  const iso_sequence *s;
  iso_version_store *x;
  iso_requirements *out;
  bool exclusive;
  uint64_t broken;
} run;

/* The version between: either before the one that was read, or after the reader. */
static void require_read(const run *r, uint32_t reader, uint32_t t, uint32_t between) {
  const iso_event_graph *e = r->e;
  iso_require(r->out);
  if (t != ISO_INITIAL) {
    iso_require_edge(r->out, iso_event_commit(e, between), iso_event_version(e, t));
  } else {
    iso_require_also(r->out, iso_event_begin(e, reader), iso_event_begin(e, reader));
  }
  iso_require_edge(r->out, iso_event_begin(e, reader), iso_event_commit(e, between));
}

/* Whether a version did not come before its reader, as far as that is looked back. */
static bool is_missing(const run *r, uint32_t t, uint32_t slot) {
  if (t == ISO_INITIAL) return false;
  for (int steps = 0; slot > 0 && steps < LOOK_BACK; steps++) {
    if (r->x->slot_txn[slot - 1] == t) return false;
    slot = r->x->slot_last[slot - 1];
  }
  return slot == 0;
}

/* What was read has to come before its reader; only a sequence that was made without knowing it has that otherwise. */
static void require_version(const run *r, uint32_t reader, uint32_t t) {
  iso_require(r->out);
  iso_require_edge(r->out, iso_event_commit(r->e, t), iso_event_begin(r->e, reader));
}

static void check_reads(run *r, uint32_t txn) {
  const iso_view *v = r->e->view;
  for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
    const iso_external_read *read = &v->reads[i];
    uint32_t slot = r->x->current[read->key];
    uint32_t found = slot == 0 ? ISO_INITIAL : r->x->slot_txn[slot - 1];
    if (found == read->from) continue;
    r->broken++;
    if (r->out->unwanted) continue;
    if (is_missing(r, read->from, slot)) {
      require_version(r, txn, read->from);
      continue;
    }
    for (int steps = 0; slot > 0 && r->x->slot_txn[slot - 1] != read->from && steps < LOOK_BACK; steps++) {
      require_read(r, txn, read->from, r->x->slot_txn[slot - 1]);
      slot = r->x->slot_last[slot - 1];
    }
  }
}

/* Writers that committed after this one began, although both wrote the key. */
static void check_overlap(run *r, uint32_t txn, uint32_t slot) {
  const iso_event_graph *e = r->e;
  uint32_t begin = iso_event_begin(e, txn), commit = iso_event_commit(e, txn);
  bool found = false;
  for (int steps = 0; slot > 0 && steps < LOOK_BACK; steps++) {
    uint32_t other = r->x->slot_txn[slot - 1];
    if (r->s->place[iso_event_commit(e, other)] < r->s->place[begin]) break;
    found = true;
    if (r->out->unwanted) break;
    iso_require(r->out);
    iso_require_edge(r->out, iso_event_commit(e, other), begin);
    iso_require_edge(r->out, commit, iso_event_version(e, other));
    slot = r->x->slot_last[slot - 1];
  }
  r->broken += found;
}

static void do_writes(run *r, uint32_t txn) {
  const iso_view *v = r->e->view;
  bool exclusive = r->exclusive && iso_event_is_exclusive(r->e, txn);
  for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
    uint32_t *current = &r->x->current[v->write_key[i]];
    if (exclusive) check_overlap(r, txn, *current);
    r->x->slot_last[i] = *current;
    *current = i + 1;
  }
}

isoproof_status iso_execute(const iso_examination *examination, const iso_sequence *sequence, iso_requirements *out,
                            uint64_t *broken, isoproof_error *error) {
  const iso_event_graph *e = examination->events;
  iso_version_store *x = examination->store;
  run r = {.e = e, .s = sequence, .x = x, .out = out, .exclusive = examination->rule->exclusive};
  memset(x->current, 0, e->view->h->keys * sizeof *x->current);
  enum { NOW_AND_THEN = 256 }; /* to choose a version takes long where keys have many */
  uint64_t enough = examination->enough > 0 ? examination->enough : UINT64_MAX;
  for (uint32_t i = 0; i < sequence->count && !out->failed && r.broken < enough; i++) {
    uint32_t event = sequence->event[i], txn = iso_event_txn(e, event);
    if (txn == ISO_NO_TXN) continue;
    if (i % NOW_AND_THEN == 0) ISO_TRY(iso_task_check(examination->task, error));
    bool begins = event == iso_event_begin(e, txn);
    if (begins && iso_event_is_executed(e, txn)) check_reads(&r, txn);
    if (examination->at_begin != NULL && begins) {
      r.broken += examination->at_begin(examination->context, txn);
    }
    if (event == iso_event_commit(e, txn)) do_writes(&r, txn);
  }
  *broken = r.broken;
  return out->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}
