/* Orders that follow without a guess, by a row of bits for each event in both directions. */
#include "check/strong/saturate_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/task.h"
#include "check/order/event_clock.h"

enum { WORD = 64 };

/* Nodes are events: 2i for the begin and 2i+1 for the commit of a transaction, or one for both, in the order of the
 * sequence, by commits, with ticks in between.
 *
 * Where real time counts, whoever is far away in the sequence is before or after an event by the clock.  So a row has
 * only the words that are not decided by that: of nodes below them all are before the event, of nodes above them all
 * are after it. */
typedef struct {
  uint32_t first, count; /* words */
  size_t at;             /* where they begin */
} band;

typedef struct {
  const iso_strong_rule *rule;
  iso_event_graph *e;
  const iso_view *v;
  iso_sequence *s;
  isoproof_task *task;
  uint32_t nodes, words, widest;
  uint32_t *node, *event;   /* by event, by node; ISO_NO_EVENT where there is none */
  band *bands;              /* by node */
  size_t cells;             /* words of all rows */
  uint64_t *before, *after; /* by node: a row */
  uint8_t *grown[2];        /* by node: its row, before or after, has grown since it was last handed on */
  uint8_t *look[2];         /* by node: it has grown since it was last looked at */
  uint64_t **writers;       /* by key: a row of all commits, NULL where they are few */
  uint32_t number;          /* of derived edges */
  isoproof_status status;
  isoproof_error *error;
} rows;

/* ---- rows ---- */

/* A row of either side, with what is decided by the clock: `below` and `above` are the words outside of the band. */
typedef struct {
  uint64_t *words; /* from the first one on */
  uint32_t first, end;
  uint64_t below, above;
} row;

static inline row row_of(const rows *r, uint32_t node, bool after) {
  const band *b = &r->bands[node];
  uint64_t *words = (after ? r->after : r->before) + b->at;
  return (row){words, b->first, b->first + b->count, after ? 0 : ~UINT64_C(0), after ? ~UINT64_C(0) : 0};
}
static inline row before_of(const rows *r, uint32_t node) { return row_of(r, node, false); }
static inline row after_of(const rows *r, uint32_t node) { return row_of(r, node, true); }
static inline uint64_t word_of(const row *w, uint32_t word) {
  return word < w->first ? w->below : word < w->end ? w->words[word - w->first] : w->above;
}
static inline bool has(const row *w, uint32_t node) { return word_of(w, node / WORD) >> node % WORD & 1; }
/* What contradicts the clock has no place, and comes to light as a cycle. */
static inline void set(const row *w, uint32_t node) {
  uint32_t word = node / WORD;
  if (word >= w->first && word < w->end) w->words[word - w->first] |= UINT64_C(1) << node % WORD;
}

static inline uint64_t fill(uint64_t *words, uint32_t count, uint64_t with) {
  uint64_t more = 0;
  for (uint32_t i = 0; i < count; i++) {
    more |= with & ~words[i];
    words[i] |= with;
  }
  return more;
}

/* Adds what another row has; true when that is anything new. */
static bool join(const row *to, const row *from) {
  uint32_t first = from->first > to->first ? from->first : to->first, end = from->end < to->end ? from->end : to->end;
  if (first >= end) { /* they have nothing in common */
    uint64_t all = from->first >= to->end ? from->below : from->above;
    return fill(to->words, to->end - to->first, all) != 0;
  }
  uint64_t more = fill(to->words, first - to->first, from->below), *own = to->words + (first - to->first);
  const uint64_t *other = from->words + (first - from->first);
  for (uint32_t i = 0; i < end - first; i++) {
    more |= other[i] & ~own[i];
    own[i] |= other[i];
  }
  return (more | fill(to->words + (end - to->first), to->end - end, from->above)) != 0;
}

/* Everything before `from` is before `to`. */
static void join_before(rows *r, uint32_t from, uint32_t to) {
  row own = before_of(r, to), other = before_of(r, from);
  bool more = !has(&own, from);
  set(&own, from);
  if (join(&own, &other) || more) r->grown[0][to] = 1;
}

static void join_after(rows *r, uint32_t from, uint32_t to) {
  row own = after_of(r, from), other = after_of(r, to);
  bool more = !has(&own, to);
  set(&own, to);
  if (join(&own, &other) || more) r->grown[1][from] = 1;
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

static inline uint64_t bit_in(uint32_t node, uint32_t word) {
  return node / WORD == word ? UINT64_C(1) << node % WORD : 0;
}

/* The writers of the key that the reader saw come before the one that it read from; the last ones first, as others come
 * before those. */
static void find_seen(rows *r, uint32_t key, uint32_t read, uint32_t reader) {
  const iso_view *v = r->v;
  uint32_t from = v->reads[read].from, target = version_of(r, from), self = commit_of(r, from);
  uint32_t own = commit_of(r, reader); /* who is before itself, in a cycle, is no other writer */
  row seen = before_of(r, begin_of(r, reader)), known = before_of(r, target);
  const uint64_t *writers = r->writers[key];
  for (uint32_t i = v->writer_first[key + 1]; writers == NULL && i-- > v->writer_first[key];) {
    uint32_t writer = commit_of(r, v->writer[i]);
    if (has(&seen, writer) && !has(&known, writer) && writer != self && writer != own)
      order(r, writer, target, read, ISO_SEEN);
  }
  for (uint32_t word = seen.end; writers != NULL && word-- > known.first;) {
    uint64_t found, others = word_of(&seen, word) & writers[word] & ~bit_in(self, word) & ~bit_in(own, word);
    while ((found = others & ~word_of(&known, word)) != 0) {
      uint32_t last = WORD - 1 - (uint32_t)__builtin_clzll(found);
      order(r, word * WORD + last, target, read, ISO_SEEN);
      others &= ~(UINT64_C(1) << last);
    }
  }
}

/* The writers of the key after the version that was read come after the reader; the first ones first. */
static void find_overtaken(rows *r, uint32_t key, uint32_t read, uint32_t reader) {
  const iso_view *v = r->v;
  uint32_t from = v->reads[read].from, begin = begin_of(r, reader), self = commit_of(r, reader);
  uint32_t source = from == ISO_INITIAL ? UINT32_MAX : commit_of(r, from);
  row known = after_of(r, begin), after = from == ISO_INITIAL ? known : after_of(r, version_of(r, from));
  if (from == ISO_INITIAL) after = (row){.below = ~UINT64_C(0), .above = ~UINT64_C(0)};
  const uint64_t *writers = r->writers[key];
  for (uint32_t i = v->writer_first[key]; writers == NULL && i < v->writer_first[key + 1]; i++) {
    uint32_t writer = commit_of(r, v->writer[i]);
    if (writer == self || writer == source || has(&known, writer) || !has(&after, writer)) continue;
    order(r, begin, writer, read, ISO_OVERTAKEN);
  }
  for (uint32_t word = after.first; writers != NULL && word < known.end; word++) {
    uint64_t found, others = writers[word] & word_of(&after, word) & ~bit_in(self, word) & ~bit_in(source, word);
    while ((found = others & ~word_of(&known, word)) != 0) {
      order(r, begin, word * WORD + (uint32_t)__builtin_ctzll(found), read, ISO_OVERTAKEN);
      others &= ~(found & -found);
    }
  }
}

/* Who commits a key after the begin of another writer of it begins after that one's commit. */
static void find_overlap(rows *r, uint32_t key, uint32_t txn) {
  const iso_view *v = r->v;
  uint32_t commit = commit_of(r, txn);
  row after = after_of(r, begin_of(r, txn)), known = after_of(r, commit);
  const uint64_t *writers = r->writers[key];
  for (uint32_t i = v->writer_first[key]; writers == NULL && i < v->writer_first[key + 1]; i++) {
    uint32_t other = commit_of(r, v->writer[i]);
    if (other != commit && has(&after, other) && !has(&known, other - 1)) order(r, commit, other - 1, key, ISO_OVERLAP);
  }
  for (uint32_t word = after.first; writers != NULL && word < known.end; word++) {
    /* A begin stands right below its commit. */
    uint64_t found, others = (word_of(&after, word) & writers[word] & ~bit_in(commit, word)) >> 1;
    while ((found = others & ~word_of(&known, word)) != 0) {
      order(r, commit, word * WORD + (uint32_t)__builtin_ctzll(found), key, ISO_OVERLAP);
      others &= ~(found & -found);
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

/* Numbers for the events in the order of the sequence.  A begin has an even number, right below that of its commit. */
static void number_nodes(rows *r) {
  const iso_event_graph *e = r->e;
  uint32_t step = e->split ? 2 : 1, next = 0;
  memset(r->node, 0xff, e->count * sizeof *r->node);
  memset(r->event, 0xff, ((size_t)e->count + e->ticks) * sizeof *r->event);
  for (uint32_t i = 0; i < r->s->count; i++) {
    uint32_t event = r->s->event[i], txn = iso_event_txn(e, event);
    if (txn == ISO_NO_TXN) {
      r->node[event] = next++;
    } else if (event == iso_event_commit(e, txn)) {
      next += next % step;
      r->node[iso_event_begin(e, txn)] = next;
      r->node[event] = next + step - 1;
      next += step;
    }
  }
  r->nodes = next;
  r->words = (next + WORD - 1) / WORD;
  for (uint32_t event = 0; event < e->count; event++) {
    if (r->node[event] != UINT32_MAX) r->event[r->node[event]] = event;
  }
}

/* What real time leaves open. */
typedef struct {
  uint32_t *lowest;  /* by tick, and one more: the first node that is not before the tick */
  uint32_t *highest; /* by tick, and one more: the last node that is not after the tick; the last for none */
  uint32_t *ended;   /* by transaction: the tick before which it ended; their number where there is none */
} open_times;

static void find_open(const rows *r, const open_times *o) {
  const iso_event_graph *e = r->e;
  for (uint32_t t = 0; t < r->v->h->txns; t++) o->ended[t] = e->ticks;
  for (uint32_t tick = 0; tick < e->ticks; tick++) {
    for (uint32_t i = e->ended_first[tick]; i < e->ended_first[tick + 1]; i++) o->ended[e->ended[i]] = tick;
  }
  for (uint32_t tick = 0; tick <= e->ticks; tick++) o->lowest[tick] = UINT32_MAX, o->highest[tick] = 0;
  for (uint32_t t = 0; t < r->v->h->txns; t++) {
    if (!r->v->counts[t]) continue;
    uint32_t begin = r->node[iso_event_begin(e, t)], commit = r->node[iso_event_commit(e, t)];
    /* It is before the ticks from that one on, and after those before its start. */
    uint32_t *lowest = &o->lowest[o->ended[t]], *highest = &o->highest[e->tick_before[t]];
    if (begin < *lowest) *lowest = begin;
    if (commit > *highest) *highest = commit;
  }
  for (uint32_t tick = e->ticks; tick-- > 0;) {
    if (o->lowest[tick] > o->lowest[tick + 1]) o->lowest[tick] = o->lowest[tick + 1];
  }
  for (uint32_t tick = 1; tick <= e->ticks; tick++) {
    if (o->highest[tick] < o->highest[tick - 1]) o->highest[tick] = o->highest[tick - 1];
  }
}

/* The nodes of which an event may be on either side, as far as the clock tells. */
static void find_limits(const rows *r, const open_times *o, uint32_t event, uint32_t *low, uint32_t *high) {
  const iso_event_graph *e = r->e;
  uint32_t txn = iso_event_txn(e, event), own = r->node[event], from, to;
  if (txn == ISO_NO_TXN) { /* of ticks, those before and after it are known */
    from = event - e->txn_events + 1, to = event - e->txn_events;
  } else {
    from = e->tick_before[txn], to = o->ended[txn];
  }
  *low = o->lowest[from], *high = o->highest[to];
  /* Ticks that are neither before nor after it. */
  if (txn != ISO_NO_TXN && from < e->ticks && r->node[e->txn_events + from] < *low)
    *low = r->node[e->txn_events + from];
  if (txn != ISO_NO_TXN && to > 0 && r->node[e->txn_events + to - 1] > *high) *high = r->node[e->txn_events + to - 1];
  if (*low > own) *low = own;
  if (*high < own) *high = own;
}

static bool make_bands(rows *r) {
  const iso_event_graph *e = r->e;
  size_t ticks = (size_t)e->ticks + 1;
  bool timed = e->shape.real_time;
  open_times o = {.lowest = timed ? iso_alloc(ticks, sizeof *o.lowest) : NULL,
                  .highest = timed ? iso_alloc(ticks, sizeof *o.highest) : NULL,
                  .ended = timed ? iso_alloc(r->v->h->txns, sizeof *o.ended) : NULL};
  bool made = !timed || (o.lowest != NULL && o.highest != NULL && o.ended != NULL);
  if (made && timed) find_open(r, &o);
  r->cells = 0;
  for (uint32_t node = 0; made && node < r->nodes; node++) {
    uint32_t low = 0, high = r->nodes - 1;
    bool is = r->event[node] != ISO_NO_EVENT;
    if (is && timed) find_limits(r, &o, r->event[node], &low, &high);
    r->bands[node] = (band){low / WORD, is ? high / WORD + 1 - low / WORD : 0, r->cells};
    r->cells += r->bands[node].count;
    if (r->bands[node].count > r->widest) r->widest = r->bands[node].count;
  }
  free(o.lowest);
  free(o.highest);
  free(o.ended);
  return made;
}

/* Numbers nodes and finds out how long their rows are. */
static bool lay_out(rows *r) {
  size_t most = (size_t)r->e->count + r->e->ticks; /* a gap before each tick at most */
  r->node = iso_alloc(r->e->count, sizeof *r->node);
  r->event = iso_alloc(most, sizeof *r->event);
  if (r->node == NULL || r->event == NULL) return false;
  number_nodes(r);
  r->bands = iso_alloc(r->nodes, sizeof *r->bands);
  return r->bands != NULL && make_bands(r);
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
  free(r->bands);
  free(r->node);
  free(r->event);
}

bool iso_rows_suit(iso_event_graph *e, iso_sequence *s) {
  enum { FEW_CHAINS = 64 };
  const uint64_t some_bytes = UINT64_C(512) << 20, most_bytes = UINT64_C(2560) << 20;
  if (e->chains <= FEW_CHAINS) return false;
  rows r = {.e = e, .v = e->view, .s = s};
  uint64_t bytes = (uint64_t)e->count * e->count / 4;
  if (e->shape.real_time && bytes > some_bytes) {
    bool made = lay_out(&r);
    bytes = made ? (uint64_t)r.cells * 2 * sizeof *r.before : UINT64_MAX;
    rows_free(&r);
  }
  return bytes <= some_bytes || (bytes <= most_bytes && bytes <= iso_event_clocks_bytes(e));
}

bool iso_rows_are_quick(const iso_event_graph *e) {
  const uint64_t most_bytes = UINT64_C(1) << 30;
  return (uint64_t)e->count * e->count / 4 <= most_bytes;
}

/* A row of its writers for every key that has more of them than the longest row has words. */
static bool make_writers(rows *r) {
  const iso_view *v = r->v;
  r->writers = iso_alloc_zero(v->h->keys, sizeof *r->writers);
  for (uint32_t key = 0; r->writers != NULL && key < v->h->keys; key++) {
    if (v->writer_first[key + 1] - v->writer_first[key] <= r->widest) continue;
    r->writers[key] = iso_alloc_zero(r->words, sizeof **r->writers);
    if (r->writers[key] == NULL) return false;
    for (uint32_t i = v->writer_first[key]; i < v->writer_first[key + 1]; i++) {
      uint32_t commit = commit_of(r, v->writer[i]);
      r->writers[key][commit / WORD] |= UINT64_C(1) << commit % WORD;
    }
  }
  return r->writers != NULL;
}

static bool allocate(rows *r) {
  if (!lay_out(r)) return false;
  r->before = iso_alloc_zero(r->cells, sizeof *r->before);
  r->after = iso_alloc_zero(r->cells, sizeof *r->after);
  bool made = r->before != NULL && r->after != NULL;
  for (int side = 0; side < 2; side++) {
    r->grown[side] = iso_alloc_zero(r->nodes, 1);
    r->look[side] = iso_alloc_zero(r->nodes, 1);
    made = made && r->grown[side] != NULL && r->look[side] != NULL;
  }
  return made && make_writers(r);
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
