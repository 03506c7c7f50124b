/* Draws histories of rows by running them on a tiny store of versions, of several kinds and with mistakes. */
#include <string.h>

#include "tests/random/random_history.h"
#include "tests/random/random_rows.h"

typedef enum store_kind {
  SERIAL,         /* one transaction after the other */
  SNAPSHOT,       /* a snapshot at the beginning; of two concurrent writers of a row the first one to commit wins */
  LOOSE_SNAPSHOT, /* the same without that check */
  OLD_SNAPSHOT,   /* a snapshot of any earlier moment */
  FORKS,          /* any of the committed transactions, with all that they saw */
  STATEMENTS,     /* a snapshot per statement */
  DIRTY,          /* the newest version, committed or not */
  STORE_KINDS
} store_kind;

enum { VERSIONS = ROWS_TXNS + 1 };

typedef struct stored {
  row_value value;
  unsigned time, writer; /* of the initial version: 0, and nobody's */
} stored;

typedef struct run_txn {
  bool begun, done, committed;
  unsigned snapshot, next;
  uint32_t sees; /* FORKS: transactions; itself when it has committed */
} run_txn;

typedef struct store {
  uint64_t *state;
  row_history *h;
  store_kind kind;
  unsigned mistakes; /* percent of observations */
  unsigned commits;  /* so far */
  int64_t clock;
  stored versions[ROWS_KEYS][VERSIONS];
  unsigned version_count[ROWS_KEYS];
  run_txn txns[ROWS_TXNS];
} store;

static row_value version_at(const store *s, unsigned row, unsigned time) {
  unsigned i = s->version_count[row];
  while (i > 1 && s->versions[row][i - 1].time > time) i--;
  return s->versions[row][i - 1].value;
}

static row_value version_of(const store *s, unsigned row, uint32_t writers) {
  unsigned i = s->version_count[row];
  while (i > 1 && !(writers >> s->versions[row][i - 1].writer & 1)) i--;
  return s->versions[row][i - 1].value;
}

/* The last write of a row by a transaction that is under way, if there is one. */
static row_value dirty_version(const store *s, unsigned row, unsigned reader) {
  for (unsigned t = 0; t < s->h->count; t++) {
    if (t == reader || !s->txns[t].begun || s->txns[t].done) continue;
    const row_op *write = row_own_write(&s->h->txns[t], row, s->txns[t].next);
    if (write != NULL) return write->value;
  }
  return version_at(s, row, s->commits);
}

/* What a transaction sees of a row; mistakes see another moment, or what is not committed, or not its own write. */
static row_value see(const store *s, unsigned txn, unsigned row) {
  const run_txn *run = &s->txns[txn];
  bool mistaken = rows_chance(s->state, s->mistakes);
  const row_op *own = row_own_write(&s->h->txns[txn], row, run->next);
  if (own != NULL && !(mistaken && sketch_below(s->state, 4) == 0)) return own->value;
  if (mistaken && sketch_below(s->state, 3) > 0)
    return version_at(s, row, (unsigned)sketch_below(s->state, s->commits + 1));
  if (mistaken || s->kind == DIRTY) return dirty_version(s, row, txn);
  if (s->kind == FORKS) return version_of(s, row, run->sees);
  return version_at(s, row, s->kind == STATEMENTS ? s->commits : run->snapshot);
}

/* Statements that find no row, or one that is in the way, become what they come to. */
static void run_op(store *s, unsigned number) {
  row_txn *txn = &s->h->txns[number];
  run_txn *run = &s->txns[number];
  row_op *op = &txn->ops[run->next];
  row_value seen[ROWS_KEYS] = {{false, 0}};
  for (unsigned row = 0; row < s->h->rows; row++) seen[row] = see(s, number, row);
  bool present = seen[op->row].present;
  if (op->kind == ROW_INSERT && present) {
    txn->count--;
    memmove(op, op + 1, (txn->count - run->next) * sizeof *op);
    return;
  }
  if ((op->kind == ROW_UPDATE || op->kind == ROW_DELETE) && !present) {
    op->kind = op->kind == ROW_UPDATE ? ROW_MISSED_UPDATE : ROW_MISSED_DELETE;
    op->value = (row_value){false, 0};
  }
  if (!row_op_writes(op->kind)) rows_answer(s->h, op, seen);
  run->next++;
}

static bool has_conflict(const store *s, unsigned number) {
  const row_txn *txn = &s->h->txns[number];
  for (unsigned row = 0; row < s->h->rows; row++) {
    unsigned last = s->version_count[row] - 1;
    if (row_own_write(txn, row, txn->count) != NULL && s->versions[row][last].time > s->txns[number].snapshot)
      return true;
  }
  return false;
}

static void finish(store *s, unsigned number) {
  row_txn *txn = &s->h->txns[number];
  bool checked = s->kind == SNAPSHOT && !rows_chance(s->state, s->mistakes);
  s->txns[number].done = true;
  txn->end = ++s->clock;
  if (checked && has_conflict(s, number)) txn->status = ISOPROOF_TXN_ABORTED;
  if (txn->status == ISOPROOF_TXN_ABORTED) return;
  if (txn->status == ISOPROOF_TXN_UNKNOWN && sketch_below(s->state, 2) == 0) return;
  s->commits++;
  for (unsigned row = 0; row < s->h->rows; row++) {
    const row_op *write = row_own_write(txn, row, txn->count);
    if (write != NULL) s->versions[row][s->version_count[row]++] = (stored){write->value, s->commits, number};
  }
  s->txns[number].sees |= 1u << number;
  s->txns[number].committed = true;
}

/* Some of what is committed, and what the session has seen before. */
static uint32_t fork_view(const store *s, unsigned number) {
  uint32_t sees = 0;
  for (unsigned t = 0; t < s->h->count; t++) {
    if (!s->txns[t].committed) continue;
    bool before = s->h->txns[t].session == s->h->txns[number].session;
    if (before || sketch_below(s->state, 2) == 0) sees |= s->txns[t].sees;
  }
  return sees;
}

static void step(store *s, unsigned number) {
  run_txn *run = &s->txns[number];
  if (!run->begun) {
    run->begun = true;
    run->snapshot = s->kind == OLD_SNAPSHOT ? (unsigned)sketch_below(s->state, s->commits + 1) : s->commits;
    run->sees = fork_view(s, number);
    s->h->txns[number].start = ++s->clock;
  } else if (run->next < s->h->txns[number].count) {
    run_op(s, number);
  } else {
    finish(s, number);
  }
}

/* A transaction whose session has nothing else to do first. */
static bool is_ready(const store *s, unsigned number) {
  if (s->txns[number].done) return false;
  for (unsigned t = 0; t < number; t++)
    if (s->h->txns[t].session == s->h->txns[number].session && !s->txns[t].done) return false;
  return true;
}

void rows_draw_store(uint64_t *state, row_history *out) {
  static const unsigned mistakes[] = {0, 0, 3, 12};
  rows_draw_shape(state, out);
  store s = {.state = state, .h = out, .kind = (store_kind)sketch_below(state, STORE_KINDS)};
  s.mistakes = mistakes[sketch_below(state, 4)];
  for (unsigned row = 0; row < out->rows; row++) {
    s.versions[row][0].value = out->initial[row];
    s.version_count[row] = 1;
  }
  for (unsigned left = out->count; left > 0;) {
    unsigned number = (unsigned)sketch_below(state, out->count);
    if (!is_ready(&s, number)) continue;
    do step(&s, number);
    while (s.kind == SERIAL && !s.txns[number].done);
    left -= s.txns[number].done;
  }
  if (rows_chance(state, 20)) rows_draw_times(state, out);
}
