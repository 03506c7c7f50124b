/* Update atomicity: no writer of a later version comes before the reader by a single edge of SO, WR or WW. */
#include <string.h>

#include "base/task.h"
#include "check/strong/rules/rule.h"
#include "check/strong/scenario/shrink.h"

/* Versions that a reader has missed, between two questions to the task. */
enum { VERSIONS_PER_LOOK = 1 << 16 };

static bool share_a_key(const iso_view *v, uint32_t a, uint32_t b) {
  uint32_t i = v->write_first[a], k = v->write_first[b];
  while (i < v->write_first[a + 1] && k < v->write_first[b + 1]) {
    if (v->write_key[i] == v->write_key[k]) return true;
    if (v->write_key[i] < v->write_key[k]) {
      i++;
    } else {
      k++;
    }
  }
  return false;
}

static void require_direct(const iso_event_graph *e, uint32_t s, uint32_t r, uint32_t t, iso_requirements *out,
                           uint64_t *broken) {
  const iso_view *v = e->view;
  bool by_history = (s < r && e->chain_of[s] == e->chain_of[r]) || iso_view_reads_from(v, s, r);
  if (!by_history && !share_a_key(v, s, r)) return;
  *broken += 1;
  iso_require(out);
  if (t != ISO_INITIAL) iso_require_edge(out, s, t);
  if (!by_history) iso_require_edge(out, r, s);
  iso_require_also(out, s, s);
  iso_require_also(out, r, r);
}

static isoproof_status examine(const iso_examination *examination, const iso_sequence *sequence, iso_requirements *out,
                               uint64_t *broken, isoproof_error *error) {
  const iso_event_graph *e = examination->events;
  iso_version_store *x = examination->store;
  const iso_view *v = e->view;
  uint64_t looked = 0;
  *broken = 0;
  memset(x->current, 0, v->h->keys * sizeof *x->current);
  for (uint32_t i = 0; i < sequence->count && !out->failed; i++) {
    uint32_t txn = iso_event_txn(e, sequence->event[i]);
    if (txn == ISO_NO_TXN) continue;
    for (uint32_t k = v->read_first[txn]; k < v->read_first[txn + 1]; k++) {
      uint32_t from = v->reads[k].from, slot = x->current[v->reads[k].key];
      for (; slot > 0 && x->slot_txn[slot - 1] != from; slot = x->slot_last[slot - 1]) {
        require_direct(e, x->slot_txn[slot - 1], txn, from, out, broken);
        if (++looked % VERSIONS_PER_LOOK == 0) ISO_TRY(iso_task_check(examination->task, error));
      }
    }
    for (uint32_t k = v->write_first[txn]; k < v->write_first[txn + 1]; k++) {
      x->slot_last[k] = x->current[v->write_key[k]];
      x->current[v->write_key[k]] = k + 1;
    }
  }
  return out->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

/* ---- forbidden cycles: an RW counts together with one other link only ---- */

static bool step(const iso_link *link, iso_link_levels levels, bool second, uint32_t *to) {
  (void)levels;
  *to = link->to * 2 + second;
  return link->kind != ISO_EDGE_RW;
}

/* ---- the smallest scenario ---- */

/* With one step from the writer to the reader, the writer must come before the version read. */
static isoproof_status forbid_step(iso_shrinker *r, size_t read, uint32_t writer, size_t other, isoproof_error *error) {
  const iso_link *l = &r->problem->links.items[read];
  iso_shrinker_open(r);
  iso_shrinker_if_link(r, read);
  iso_shrinker_if_txn(r, writer);
  if (other != SIZE_MAX) iso_shrinker_if_link(r, other);
  if (l->from != ISO_INITIAL) ISO_TRY(iso_shrinker_add_before(r, writer, l->from, error));
  return iso_shrinker_close(r, error);
}

static isoproof_status add_rival(iso_shrinker *r, size_t read, uint32_t writer, isoproof_error *error) {
  const iso_polygraph *s = r->problem;
  const iso_link *l = &s->links.items[read];
  for (uint32_t i = r->into_first[l->to]; i < r->into_first[l->to + 1]; i++) {
    const iso_link *other = &s->links.items[r->into[i]];
    if (other->kind != ISO_EDGE_WW && other->from == writer) {
      ISO_TRY(forbid_step(r, read, writer, r->into[i], error));
    }
  }
  if (!r->by_link && s->level->session_order && iso_polygraph_so(s, writer, l->to)) {
    ISO_TRY(forbid_step(r, read, writer, SIZE_MAX, error));
  }
  if (iso_polygraph_find_pair(s, writer, l->to) == s->pairs.count) return ISOPROOF_OK;
  iso_shrinker_open(r);
  iso_shrinker_if_link(r, read);
  iso_shrinker_if_txn(r, writer);
  if (l->from != ISO_INITIAL) ISO_TRY(iso_shrinker_add_before(r, writer, l->from, error));
  ISO_TRY(iso_shrinker_add_before(r, l->to, writer, error));
  return iso_shrinker_close(r, error);
}

const iso_strong_rule iso_strong_rule_update_atomic = {
    .examine = examine, .step = step, .starts_once = true, .pairs_missed = true, .add_rival = add_rival};
