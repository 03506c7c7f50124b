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

static bool executes(const replay *r, unsigned txn) {
  row_value state[ROWS_KEYS];
  memcpy(state, r->now, sizeof state);
  for (unsigned i = 0; i < r->h->txns[txn].count; i++) {
    const row_op *op = &r->h->txns[txn].ops[i];
    if (row_op_writes(op->kind))
      state[op->row] = op->value;
    else if (!answers(r->h, op, state))
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
  return executes(r, txn);
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

bool rows_replay(const row_history *h, bool serial, bool real_time) {
  uint32_t committed = 0, unknown = 0;
  for (unsigned t = 0; t < h->count; t++) {
    if (h->txns[t].status == ISOPROOF_TXN_COMMITTED) committed |= 1u << t;
    if (h->txns[t].status == ISOPROOF_TXN_UNKNOWN) unknown |= 1u << t;
  }
  for (uint32_t some = unknown;; some = (some - 1) & unknown) {
    replay r = {.h = h, .in_effect = committed | some, .serial = serial, .real_time = real_time && h->timed};
    memcpy(r.now, h->initial, sizeof r.now);
    if (go_on(&r)) return true;
    if (some == 0) return false;
  }
}
