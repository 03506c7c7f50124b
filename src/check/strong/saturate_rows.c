/* Orders that follow without a guess, by a row of bits for each event in both directions. */
#include "check/strong/saturate_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/task.h"
#include "check/order/event_clock.h"

enum { WORD = 64 };

/* Nodes are events: 2i for the begin and 2i+1 for the commit of the transaction number i by commits, or i where they
 * are one; then ticks. */
typedef struct {
  const iso_strong_rule *rule;
  iso_event_graph *e;
  const iso_view *v;
  iso_sequence *s;
  isoproof_task *task;
  uint32_t nodes, words;
  uint32_t *node, *event;   /* by event, by node */
  uint64_t *before, *after; /* by node: a row */
  uint8_t *grown[2];        /* by node: its row, before or after, has grown since it was last handed on */
  uint8_t *look[2];         /* by node: it has grown since it was last looked at */
  uint64_t **writers;       /* by key: a row of commits, NULL where they are few */
  uint32_t number;          /* of derived edges */
  isoproof_status status;
  isoproof_error *error;
} rows;

bool iso_rows_suit(const iso_event_graph *e) {
  enum { FEW_CHAINS = 64 };
  const uint64_t some_bytes = UINT64_C(512) << 20, most_bytes = UINT64_C(2560) << 20;
  uint64_t bytes = (uint64_t)e->count * e->count / 4;
  if (e->chains <= FEW_CHAINS || bytes > most_bytes) return false;
  return bytes <= some_bytes || bytes <= iso_event_clocks_bytes(e);
}

static uint64_t *before_of(const rows *r, uint32_t node) { return r->before + (size_t)node * r->words; }
static uint64_t *after_of(const rows *r, uint32_t node) { return r->after + (size_t)node * r->words; }
static bool has(const uint64_t *row, uint32_t node) { return row[node / WORD] >> node % WORD & 1; }
static void set(uint64_t *row, uint32_t node) { row[node / WORD] |= UINT64_C(1) << node % WORD; }

/* ---- rows ---- */

/* Adds what another row has; true when that is anything new. */
static bool join(uint64_t *row, const uint64_t *other, uint32_t words) {
  uint64_t more = 0;
  for (uint32_t i = 0; i < words; i++) {
    more |= other[i] & ~row[i];
    row[i] |= other[i];
  }
  return more != 0;
}

/* Everything before `from` is before `to`. */
static void join_before(rows *r, uint32_t from, uint32_t to) {
  uint64_t *row = before_of(r, to);
  bool more = !has(row, from);
  set(row, from);
  if (join(row, before_of(r, from), r->words) || more) r->grown[0][to] = 1;
}

static void join_after(rows *r, uint32_t from, uint32_t to) {
  uint64_t *row = after_of(r, from);
  bool more = !has(row, to);
  set(row, to);
  if (join(row, after_of(r, to), r->words) || more) r->grown[1][from] = 1;
}

/* Whether the work is to end; asked now and then. */
static bool is_over(rows *r, uint32_t step) {
  enum { NOW_AND_THEN = 64 };
  if (step % NOW_AND_THEN == 0 && r->status == ISOPROOF_OK) r->status = iso_task_check(r->task, r->error);
  return r->status != ISOPROOF_OK;
}

/* Hands rows that have grown on, along the sequence and back. */
static void hand_on(rows *r, bool all) {
  const iso_sequence *s = r->s;
  uint32_t before;
  for (uint32_t i = 0; i < s->count && !is_over(r, i); i++) {
    uint64_t at = 0;
    uint32_t to = r->node[s->event[i]];
    while ((before = iso_next_before(r->e, s->event[i], &at)) != ISO_NO_EVENT) {
      if (all || r->grown[0][r->node[before]]) join_before(r, r->node[before], to);
    }
  }
  for (uint32_t i = s->count; i-- > 0 && !is_over(r, i);) {
    uint64_t at = 0;
    uint32_t to = r->node[s->event[i]];
    while ((before = iso_next_before(r->e, s->event[i], &at)) != ISO_NO_EVENT) {
      if (all || r->grown[1][to]) join_after(r, r->node[before], to);
    }
  }
  for (int side = 0; side < 2; side++) {
    memcpy(r->look[side], r->grown[side], r->nodes);
    memset(r->grown[side], 0, r->nodes);
  }
}

/* ---- what follows ---- */

/* Puts one node before another. */
static void order(rows *r, uint32_t from, uint32_t to, uint32_t read, iso_reason reason) {
  iso_derived edge = {.from = r->event[from], .to = r->event[to], .read = read, .reason = reason & 7};
  edge.round = ++r->number & 0x1fffffff;
  if (r->status == ISOPROOF_OK) r->status = iso_event_graph_add(r->e, edge, r->error);
  join_before(r, from, to);
  join_after(r, from, to);
}

static uint32_t begin_of(const rows *r, uint32_t txn) { return r->node[iso_event_begin(r->e, txn)]; }
static uint32_t commit_of(const rows *r, uint32_t txn) { return r->node[iso_event_commit(r->e, txn)]; }
static uint32_t version_of(const rows *r, uint32_t txn) { return r->node[iso_event_version(r->e, txn)]; }

/* The writers of the key that the reader saw come before the one that it read from; the last ones first, as others come
 * before those. */
static void find_seen(rows *r, uint32_t key, uint32_t read, uint32_t reader) {
  const iso_view *v = r->v;
  uint32_t from = v->reads[read].from, target = version_of(r, from), self = commit_of(r, from);
  const uint64_t *seen = before_of(r, begin_of(r, reader)), *known = before_of(r, target), *writers = r->writers[key];
  for (uint32_t i = v->writer_first[key + 1]; writers == NULL && i-- > v->writer_first[key];) {
    uint32_t writer = commit_of(r, v->writer[i]);
    if (has(seen, writer) && !has(known, writer) && writer != self) order(r, writer, target, read, ISO_SEEN);
  }
  for (uint32_t word = r->words; writers != NULL && word-- > 0;) {
    uint64_t found;
    while ((found = seen[word] & writers[word] & ~known[word] &
                    ~(self / WORD == word ? UINT64_C(1) << self % WORD : 0)) != 0) {
      order(r, word * WORD + (WORD - 1 - (uint32_t)__builtin_clzll(found)), target, read, ISO_SEEN);
    }
  }
}

/* The writers of the key after the version that was read come after the reader; the first ones first. */
static void find_overtaken(rows *r, uint32_t key, uint32_t read, uint32_t reader) {
  const iso_view *v = r->v;
  uint32_t from = v->reads[read].from, begin = begin_of(r, reader), self = commit_of(r, reader);
  uint32_t source = from == ISO_INITIAL ? UINT32_MAX : commit_of(r, from);
  const uint64_t *after = from == ISO_INITIAL ? NULL : after_of(r, version_of(r, from)), *known = after_of(r, begin);
  const uint64_t *writers = r->writers[key];
  for (uint32_t i = v->writer_first[key]; writers == NULL && i < v->writer_first[key + 1]; i++) {
    uint32_t writer = commit_of(r, v->writer[i]);
    if (writer == self || writer == source || has(known, writer) || (after != NULL && !has(after, writer))) continue;
    order(r, begin, writer, read, ISO_OVERTAKEN);
  }
  for (uint32_t word = 0; writers != NULL && word < r->words; word++) {
    uint64_t found, others = writers[word];
    if (self / WORD == word) others &= ~(UINT64_C(1) << self % WORD);
    if (source / WORD == word) others &= ~(UINT64_C(1) << source % WORD);
    if (after != NULL) others &= after[word];
    while ((found = others & ~known[word]) != 0) {
      order(r, begin, word * WORD + (uint32_t)__builtin_ctzll(found), read, ISO_OVERTAKEN);
    }
  }
}

/* Who commits a key after the begin of another writer of it begins after that one's commit. */
static void find_overlap(rows *r, uint32_t key, uint32_t txn) {
  const iso_view *v = r->v;
  uint32_t commit = commit_of(r, txn);
  const uint64_t *after = after_of(r, begin_of(r, txn)), *known = after_of(r, commit), *writers = r->writers[key];
  for (uint32_t i = v->writer_first[key]; writers == NULL && i < v->writer_first[key + 1]; i++) {
    uint32_t other = commit_of(r, v->writer[i]);
    if (other != commit && has(after, other) && !has(known, other - 1)) order(r, commit, other - 1, key, ISO_OVERLAP);
  }
  for (uint32_t word = 0; writers != NULL && word < r->words; word++) {
    uint64_t found, others = after[word] & writers[word];
    if (commit / WORD == word) others &= ~(UINT64_C(1) << commit % WORD);
    while ((found = others >> 1 & ~known[word]) != 0) { /* a begin stands right below its commit */
      order(r, commit, word * WORD + (uint32_t)__builtin_ctzll(found), key, ISO_OVERLAP);
    }
  }
}

static void look_at_key(rows *r, uint32_t key, bool all) {
  const iso_view *v = r->v;
  for (uint32_t i = v->reader_first[key]; i < v->reader_first[key + 1] && !is_over(r, i); i++) {
    uint32_t reader = v->readers[i].txn, read = v->readers[i].read, from = v->reads[read].from;
    bool known = from != ISO_INITIAL;
    if (known && (all || r->look[0][begin_of(r, reader)])) find_seen(r, key, read, reader);
    if (!r->rule->overtakes) continue;
    if (all || (known && r->look[1][version_of(r, from)])) find_overtaken(r, key, read, reader);
  }
  for (uint32_t i = v->writer_first[key]; r->rule->exclusive && i < v->writer_first[key + 1]; i++) {
    if (all || r->look[1][begin_of(r, v->writer[i])]) find_overlap(r, key, v->writer[i]);
  }
}

static isoproof_status run_rounds(rows *r, uint32_t most, iso_saturation *saturation, isoproof_error *error) {
  for (bool all = true;; all = false) {
    uint32_t before = (uint32_t)r->e->derived.count;
    hand_on(r, all);
    saturation->rounds++;
    for (uint32_t key = 0; key < r->v->h->keys && r->status == ISOPROOF_OK; key++) look_at_key(r, key, all);
    ISO_TRY(r->status);
    if (r->e->derived.count == before) return ISOPROOF_OK;
    ISO_TRY(iso_sequence_repair(r->e, before, r->s, NULL, &saturation->cyclic, r->task, error));
    if (saturation->cyclic || saturation->rounds == most) return ISOPROOF_OK;
    ISO_TRY(iso_task_check(r->task, error));
  }
}

/* ---- all of it ---- */

static void number_nodes(rows *r) {
  const iso_event_graph *e = r->e;
  uint32_t txns = 0, step = e->split ? 2 : 1;
  memset(r->node, 0xff, e->count * sizeof *r->node);
  for (uint32_t i = 0; i < r->s->count; i++) {
    uint32_t txn = iso_event_txn(e, r->s->event[i]);
    if (txn == ISO_NO_TXN || r->s->event[i] != iso_event_commit(e, txn)) continue;
    r->node[iso_event_begin(e, txn)] = txns * step;
    r->node[r->s->event[i]] = txns * step + step - 1;
    txns++;
  }
  r->nodes = txns * step;
  for (uint32_t event = e->txn_events; event < e->count; event++) r->node[event] = r->nodes++;
  for (uint32_t event = 0; event < e->count; event++) {
    if (r->node[event] != UINT32_MAX) r->event[r->node[event]] = event;
  }
  r->words = (r->nodes + WORD - 1) / WORD;
}

/* A row of its writers for every key that has more of them than a row has words. */
static bool make_writers(rows *r) {
  const iso_view *v = r->v;
  r->writers = iso_alloc_zero(v->h->keys, sizeof *r->writers);
  for (uint32_t key = 0; r->writers != NULL && key < v->h->keys; key++) {
    if (v->writer_first[key + 1] - v->writer_first[key] <= r->words) continue;
    r->writers[key] = iso_alloc_zero(r->words, sizeof **r->writers);
    if (r->writers[key] == NULL) return false;
    for (uint32_t i = v->writer_first[key]; i < v->writer_first[key + 1]; i++) {
      set(r->writers[key], commit_of(r, v->writer[i]));
    }
  }
  return r->writers != NULL;
}

static bool allocate(rows *r) {
  r->node = iso_alloc(r->e->count, sizeof *r->node);
  r->event = iso_alloc(r->e->count, sizeof *r->event);
  if (r->node == NULL || r->event == NULL) return false;
  number_nodes(r);
  size_t cells = (size_t)r->nodes * r->words;
  r->before = iso_alloc_zero(cells, sizeof *r->before);
  r->after = iso_alloc_zero(cells, sizeof *r->after);
  bool made = r->before != NULL && r->after != NULL;
  for (int side = 0; side < 2; side++) {
    r->grown[side] = iso_alloc_zero(r->nodes, 1);
    r->look[side] = iso_alloc_zero(r->nodes, 1);
    made = made && r->grown[side] != NULL && r->look[side] != NULL;
  }
  return made && make_writers(r);
}

static void rows_free(rows *r) {
  for (uint32_t key = 0; r->writers != NULL && key < r->v->h->keys; key++) free(r->writers[key]);
  free(r->writers);
  for (int side = 0; side < 2; side++) {
    free(r->grown[side]);
    free(r->look[side]);
  }
  free(r->before);
  free(r->after);
  free(r->node);
  free(r->event);
}

isoproof_status iso_saturate_rows(const iso_strong_rule *rule, iso_event_graph *events, iso_sequence *sequence,
                                  uint32_t most_rounds, isoproof_task *task, iso_saturation *saturation,
                                  isoproof_error *error) {
  memset(saturation, 0, sizeof *saturation);
  rows r = {.rule = rule, .e = events, .v = events->view, .s = sequence, .task = task, .error = error};
  isoproof_status status = allocate(&r) ? run_rounds(&r, most_rounds, saturation, error) : iso_fail_memory(error);
  rows_free(&r);
  return status;
}
