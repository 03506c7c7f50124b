/* Carries out a small history of rows in every order that its sessions (and clocks) allow. */
#include <string.h>

#include "tests/oracle/rows.h"

typedef struct replay {
  const row_history *h;
  uint32_t in_effect; /* transactions */
  bool serial, real_time;
  row_value now[ROWS_KEYS];
  unsigned times[ROWS_KEYS]; /* of the last commit that wrote the row */
  unsigned clock;
  uint32_t begun, done;
  unsigned snapshot[ROWS_TXNS];
} replay;

static bool same(row_value a, row_value b) { return a.present == b.present && (!a.present || a.value == b.value); }

/* Whether a store in that state answers as the history says. */
static bool answers(const row_history *h, const row_op *op, const row_value state[ROWS_KEYS]) {
  unsigned matches = 0;
  if (!op->answered) return true;
  if (op->kind == ROW_READ) return same(state[op->row], op->value);
  if (op->kind == ROW_MISSED_UPDATE || op->kind == ROW_MISSED_DELETE) return !state[op->row].present;
  for (unsigned row = 0; row < h->rows; row++) {
    bool match = row_matches(&op->predicate, h->keys[row], state[row]);
    row_value expected = match ? state[row] : (row_value){false, 0};
    if (op->kind == ROW_SELECT && !same(op->rows[row], expected)) return false;
    matches += match;
  }
  return op->kind == ROW_SELECT || matches == op->counted;
}

/* Whether a transaction that begins in that state gets all its answers. */
static bool executes(const row_history *h, unsigned txn, const row_value begin[ROWS_KEYS]) {
  row_value state[ROWS_KEYS];
  memcpy(state, begin, sizeof state);
  for (unsigned i = 0; i < h->txns[txn].count; i++) {
    const row_op *op = &h->txns[txn].ops[i];
    if (row_op_writes(op->kind))
      state[op->row] = op->value;
    else if (!answers(h, op, state))
      return false;
  }
  return true;
}

/* Whether everything that must have ended before it has. */
static bool may_begin(const replay *r, unsigned txn) {
  const row_txn *next = &r->h->txns[txn];
  for (unsigned t = 0; t < r->h->count; t++) {
    const row_txn *other = &r->h->txns[t];
    if (!(r->in_effect >> t & 1) || r->done >> t & 1 || t == txn) continue;
    if (t < txn && other->session == next->session) return false;
    bool earlier = other->status == ISOPROOF_TXN_COMMITTED && other->end < next->start;
    if (r->real_time && earlier) return false;
  }
  return executes(r->h, txn, r->now);
}

/* Makes its writes visible; false when somebody else wrote one of its rows since its snapshot. */
static bool commits(replay *r, unsigned txn) {
  const row_txn *ended = &r->h->txns[txn];
  r->clock++;
  for (unsigned row = 0; row < r->h->rows; row++) {
    const row_op *write = row_own_write(ended, row, ended->count);
    if (write == NULL) continue;
    if (r->times[row] > r->snapshot[txn]) return false;
    r->now[row] = write->value;
    r->times[row] = r->clock;
  }
  r->done |= 1u << txn;
  return true;
}

static bool go_on(const replay *from) {
  if (from->done == from->in_effect) return true;
  for (unsigned t = 0; t < from->h->count; t++) {
    replay r = *from;
    if (!(r.in_effect >> t & 1) || r.done >> t & 1) continue;
    bool begins = !(r.begun >> t & 1);
    if (begins && !may_begin(&r, t)) continue;
    if (begins) {
      r.begun |= 1u << t;
      r.snapshot[t] = r.clock;
    }
    if ((!begins || r.serial) && !commits(&r, t)) continue;
    if (go_on(&r)) return true;
  }
  return false;
}

/* Any of the unknown transactions may have taken effect: the next of these sets; false after the last. */
static bool next_effects(const row_history *h, bool *first, uint32_t *effects) {
  uint32_t committed = 0, unknown = 0;
  for (unsigned t = 0; t < h->count && t < ROWS_TXNS; t++) {
    if (h->txns[t].status == ISOPROOF_TXN_COMMITTED) committed |= 1u << t;
    if (h->txns[t].status == ISOPROOF_TXN_UNKNOWN) unknown |= 1u << t;
  }
  uint32_t some = *first ? unknown : *effects & unknown;
  if (!*first && some == 0) return false;
  *effects = committed | (*first ? some : (some - 1) & unknown);
  *first = false;
  return true;
}

bool rows_replay(const row_history *h, bool serial, bool real_time) {
  replay r = {.h = h, .serial = serial, .real_time = real_time && h->timed};
  memcpy(r.now, h->initial, sizeof r.now);
  for (bool first = true; next_effects(h, &first, &r.in_effect);)
    if (go_on(&r)) return true;
  return false;
}

/* ---- commit orders with what each transaction sees ---- */

typedef struct scene {
  const row_history *h;
  row_sight sight;
  uint32_t in_effect, placed;
  unsigned order[ROWS_TXNS], count;
  uint32_t sees[ROWS_TXNS];
} scene;

static bool writes_same_row(const row_history *h, unsigned a, unsigned b) {
  for (unsigned row = 0; row < h->rows; row++)
    if (row_own_write(&h->txns[a], row, h->txns[a].count) != NULL &&
        row_own_write(&h->txns[b], row, h->txns[b].count) != NULL)
      return true;
  return false;
}

/* Whether a transaction may see just these. */
static bool may_see(const scene *s, unsigned txn, uint32_t seen) {
  bool ended = false; /* of a beginning of the order */
  for (unsigned i = 0; i < s->count; i++) {
    unsigned other = s->order[i];
    bool sees = (seen >> other & 1) != 0;
    if (!sees && s->h->txns[other].session == s->h->txns[txn].session) return false;
    if (!sees && s->sight.exclusive && writes_same_row(s->h, other, txn)) return false;
    if (sees && s->sight.transitive && (s->sees[other] & ~seen) != 0) return false;
    if (sees && s->sight.prefix && ended) return false;
    ended |= !sees;
  }
  row_value state[ROWS_KEYS];
  memcpy(state, s->h->initial, sizeof state);
  for (unsigned i = 0; i < s->count; i++) {
    const row_txn *other = &s->h->txns[s->order[i]];
    for (unsigned row = 0; row < s->h->rows && seen >> s->order[i] & 1; row++) {
      const row_op *write = row_own_write(other, row, other->count);
      if (write != NULL) state[row] = write->value;
    }
  }
  return executes(s->h, txn, state);
}

static bool place(const scene *from) {
  if (from->placed == from->in_effect) return true;
  for (unsigned t = 0; t < from->h->count; t++) {
    bool ready = (from->in_effect & ~from->placed) >> t & 1;
    for (unsigned other = 0; other < t; other++)
      if ((from->in_effect & ~from->placed) >> other & 1 && from->h->txns[other].session == from->h->txns[t].session)
        ready = false;
    for (uint32_t seen = from->placed; ready; seen = (seen - 1) & from->placed) {
      if (may_see(from, t, seen)) {
        scene s = *from;
        s.order[s.count++] = t;
        s.placed |= 1u << t;
        s.sees[t] = seen;
        if (place(&s)) return true;
      }
      if (seen == 0) break;
    }
  }
  return false;
}

bool rows_replay_sight(const row_history *h, row_sight sight) {
  scene s = {.h = h, .sight = sight};
  for (bool first = true; next_effects(h, &first, &s.in_effect);)
    if (place(&s)) return true;
  return false;
}
