/* Carries a history of rows out, transaction by transaction, to find out what reads saw that do not say it. */
#include "history/row_replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* What a key holds before anybody wrote it. */
#define INITIAL ISO_FROM_INITIAL

/* Where a session is. */
typedef struct {
  uint32_t txn, end_txn; /* the next transaction, and where the session ends */
  uint32_t blocked;      /* an operation of it that did not fit last time */
  bool begun;            /* what it saw is resolved; its writes wait */
} cursor;

typedef struct {
  const isoproof_history *h;
  const iso_row_versions *v;
  iso_resolution *r;
  uint8_t *takes_part; /* by transaction */
  uint32_t *now;       /* by key: the write that it holds, or INITIAL */
  uint32_t *left;      /* by operation (and, behind them, key): reads known to be of it that are still to come */
  uint8_t *absent;     /* by key: how many versions are absent, at most 2 */
  uint32_t *need;      /* by key: an open read of it by somebody who is in and has not begun, + 1 */
  uint32_t *also;      /* by operation: another such read of the same key, + 1 */
  uint32_t *own;       /* by key: the own write of the transaction in own_txn (+ 1) */
  uint32_t *own_txn;
  cursor *sessions;
  ISO_VEC(uint32_t) waiting; /* sessions by the start of their next transaction, a heap */
  ISO_VEC(uint32_t) active;  /* those that overlap */
} replay;

static bool is_open_value(iso_value value) { return value == ISO_VALUE_UNMATCHED || value == ISO_VALUE_COUNTED; }

static bool is_known_read(const replay *p, uint32_t op) {
  iso_value value = p->h->op_value[op];
  if (p->h->op_kind[op] != ISOPROOF_OP_READ || value == ISO_VALUE_NONE || is_open_value(value)) return false;
  return p->r->writer[op] != ISO_FROM_NOBODY && (value != ISO_VALUE_NIL || p->absent[p->h->op_key[op]] < 2);
}

static bool is_open_read(const replay *p, uint32_t op) {
  iso_value value = p->h->op_value[op];
  return p->h->op_kind[op] == ISOPROOF_OP_READ && value != ISO_VALUE_NONE && !is_known_read(p, op);
}

static uint32_t *left_of(const replay *p, uint32_t key, uint32_t write) {
  return &p->left[write < p->h->ops ? write : p->h->ops + key];
}

static iso_value version_of(const replay *p, uint32_t key, uint32_t write) {
  return write < p->h->ops ? iso_history_version(p->h, write) : iso_history_initial(p->h, key);
}

/* What a transaction would see in a key now. */
static uint32_t seen(const replay *p, uint32_t txn, uint32_t key) {
  return p->own_txn[key] == txn + 1 ? p->own[key] : p->now[key];
}

/* ---- one transaction ---- */

static bool count_fits(const replay *p, uint32_t txn, const iso_statement *s) {
  iso_predicate predicate = iso_statement_predicate(s);
  int64_t matching = 0;
  for (uint32_t op = s->first_op; op < s->first_op + s->op_count; op++) {
    uint32_t key = p->h->op_key[op];
    matching += iso_version_matches(p->h, &predicate, key, version_of(p, key, seen(p, txn, key)));
  }
  return matching == s->counted;
}

static bool read_fits(const replay *p, uint32_t txn, uint32_t op) {
  const isoproof_history *h = p->h;
  uint32_t key = h->op_key[op];
  if (h->op_value[op] == ISO_VALUE_NONE) return true;
  if (h->op_value[op] == ISO_VALUE_COUNTED) {
    const iso_statement *s = iso_history_statement(h, op);
    return s->first_op != op || count_fits(p, txn, s);
  }
  if (is_known_read(p, op)) return p->r->writer[op] == seen(p, txn, key);
  return iso_history_read_fits(h, op, version_of(p, key, seen(p, txn, key)));
}

/* A row that is inserted was absent, and one that is changed or removed was there: no level asks for that, but databases
 * do. */
static bool write_fits(const replay *p, uint32_t txn, uint32_t op) {
  uint32_t key = p->h->op_key[op];
  iso_row_form form = iso_history_form(p->h, op);
  bool absent = version_of(p, key, seen(p, txn, key)) == ISO_VALUE_NIL;
  if (form == ISO_ROW_INSERT) return absent;
  return !absent || (form != ISO_ROW_UPDATE && form != ISO_ROW_DELETE);
}

/* Whether everything is as the transaction saw it. */
static bool can_begin(const replay *p, cursor *c) {
  const isoproof_history *h = p->h;
  uint32_t txn = c->txn, first = h->txn_first_op[txn], end = h->txn_first_op[txn + 1];
  bool again = c->blocked >= first && c->blocked < end && p->own_txn[h->op_key[c->blocked]] != txn + 1;
  bool writes = again && h->op_kind[c->blocked] == ISOPROOF_OP_WRITE;
  if (again && !(writes ? write_fits(p, txn, c->blocked) : read_fits(p, txn, c->blocked))) return false;
  bool fits = true;
  for (uint32_t op = first; op < end && fits; op++) {
    uint32_t key = h->op_key[op];
    bool writing = h->op_kind[op] == ISOPROOF_OP_WRITE;
    if (writing ? !write_fits(p, txn, op) : h->op_kind[op] == ISOPROOF_OP_READ && !read_fits(p, txn, op)) {
      fits = false;
      c->blocked = p->own_txn[key] == txn + 1 ? ISO_NO_OP : op;
    }
    if (writing) p->own[key] = op, p->own_txn[key] = txn + 1;
  }
  for (uint32_t op = first; op < end; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE) p->own_txn[h->op_key[op]] = 0;
  }
  return fits;
}

/* Whether nobody else is left who saw what the transaction overwrites. */
static bool can_commit(const replay *p, const cursor *c) {
  const isoproof_history *h = p->h;
  for (uint32_t op = h->txn_first_op[c->txn]; op < h->txn_first_op[c->txn + 1]; op++) {
    uint32_t key = h->op_key[op], write = p->now[key], mine = 0;
    if (h->op_kind[op] != ISOPROOF_OP_WRITE || *left_of(p, key, write) == 0) continue;
    for (uint32_t i = h->txn_first_op[c->txn]; i < h->txn_first_op[c->txn + 1] && !c->begun; i++) {
      mine += h->op_key[i] == key && is_known_read(p, i) && p->r->writer[i] == write;
    }
    if (*left_of(p, key, write) > mine) return false;
  }
  return true;
}

/* Whether somebody else who is in would no longer see what it saw. */
static bool does_harm(const replay *p, const cursor *c) {
  const isoproof_history *h = p->h;
  uint32_t first = h->txn_first_op[c->txn], end = h->txn_first_op[c->txn + 1];
  for (uint32_t op = first; op < end; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_WRITE) continue;
    uint32_t key = h->op_key[op];
    iso_value old = version_of(p, key, p->now[key]), new = iso_history_version(h, op);
    for (uint32_t need = p->need[key]; need > 0; need = p->also[need - 1]) {
      uint32_t read = need - 1;
      if (read >= first && read < end) continue;
      if (iso_history_read_fits(h, read, old) && !iso_history_read_fits(h, read, new)) return true;
    }
  }
  return false;
}

/* Notes what somebody who comes in has still to see, or takes it away. */
static void note_needs(const replay *p, const cursor *c, bool in) {
  const isoproof_history *h = p->h;
  for (uint32_t op = h->txn_first_op[c->txn]; op < h->txn_first_op[c->txn + 1]; op++) {
    if (!is_open_read(p, op) || h->op_value[op] == ISO_VALUE_COUNTED) continue;
    uint32_t *at = &p->need[h->op_key[op]];
    while (!in && *at != op + 1) at = &p->also[*at - 1];
    if (in) {
      p->also[op] = *at;
      *at = op + 1;
    } else {
      *at = p->also[op];
    }
  }
}

/* Resolves what the transaction sees; with `fitting` everything is as it saw it. */
static void begin(const replay *p, cursor *c, bool fitting) {
  const isoproof_history *h = p->h;
  uint32_t txn = c->txn, first = h->txn_first_op[txn], end = h->txn_first_op[txn + 1];
  note_needs(p, c, false);
  for (uint32_t op = first; op < end; op++) {
    uint32_t key = h->op_key[op];
    if (h->op_kind[op] == ISOPROOF_OP_WRITE) {
      p->own[key] = op;
      p->own_txn[key] = txn + 1;
    } else if (is_known_read(p, op)) {
      uint32_t *left = left_of(p, key, p->r->writer[op]);
      if (*left > 0) --*left;
    } else if (fitting && is_open_read(p, op)) {
      p->r->writer[op] = seen(p, txn, key);
    }
  }
  for (uint32_t op = first; op < end; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE) p->own_txn[h->op_key[op]] = 0;
  }
  c->begun = true;
}

static void commit(const replay *p, cursor *c) {
  const isoproof_history *h = p->h;
  for (uint32_t op = h->txn_first_op[c->txn]; op < h->txn_first_op[c->txn + 1]; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE) p->now[h->op_key[op]] = op;
  }
  do {
    c->txn++;
  } while (c->txn < c->end_txn && !p->takes_part[c->txn]);
  c->begun = false;
  c->blocked = ISO_NO_OP;
}

/* ---- who is next ---- */

static int64_t start_of(const replay *p, uint32_t session) { return p->v->start[p->sessions[session].txn]; }
static int64_t end_of(const replay *p, uint32_t session) { return p->v->end[p->sessions[session].txn]; }

static bool heap_push(replay *p, uint32_t session) {
  if (!iso_vec_push(&p->waiting, session)) return false;
  size_t at = p->waiting.count - 1;
  for (; at > 0 && start_of(p, p->waiting.items[(at - 1) / 2]) > start_of(p, session); at = (at - 1) / 2) {
    p->waiting.items[at] = p->waiting.items[(at - 1) / 2];
  }
  p->waiting.items[at] = session;
  return true;
}

static uint32_t heap_pop(replay *p) {
  uint32_t top = p->waiting.items[0], last = p->waiting.items[--p->waiting.count];
  size_t at = 0, count = p->waiting.count;
  for (size_t child = 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && start_of(p, p->waiting.items[child + 1]) < start_of(p, p->waiting.items[child])) child++;
    if (start_of(p, p->waiting.items[child]) >= start_of(p, last)) break;
    p->waiting.items[at] = p->waiting.items[child];
    at = child;
  }
  p->waiting.items[at] = last;
  return top;
}

/* Lets everybody in who started before the first of those that are in ended. */
static bool let_in(replay *p) {
  int64_t ends = INT64_MAX;
  for (size_t i = 0; i < p->active.count; i++) {
    if (end_of(p, p->active.items[i]) < ends) ends = end_of(p, p->active.items[i]);
  }
  while (p->waiting.count > 0 && (p->active.count == 0 || start_of(p, p->waiting.items[0]) <= ends)) {
    uint32_t session = heap_pop(p);
    if (!iso_vec_push(&p->active, session)) return false;
    note_needs(p, &p->sessions[session], true);
    if (end_of(p, session) < ends) ends = end_of(p, session);
  }
  return true;
}

typedef enum { FORCED, BEGINS, HARMS, COMMITS } step;

/* The active session that goes on, and what it can do: best of all to commit without harm to others, and the earlier the
 * better. */
static size_t choose(replay *p, step *what) {
  size_t best = 0;
  *what = FORCED;
  for (size_t i = 0; i < p->active.count; i++) {
    cursor *c = &p->sessions[p->active.items[i]];
    step can = FORCED;
    bool earlier = end_of(p, p->active.items[i]) < end_of(p, p->active.items[best]);
    if (*what == COMMITS && !earlier) continue;
    if (c->begun || can_begin(p, c)) {
      can = !can_commit(p, c) ? c->begun ? FORCED : BEGINS : does_harm(p, c) ? HARMS : COMMITS;
    }
    if (can > *what || (can == *what && earlier)) best = i, *what = can;
  }
  return best;
}

/* One step; false when memory is out. */
static bool go_on(replay *p) {
  step what;
  if (!let_in(p)) return false;
  size_t at = choose(p, &what);
  uint32_t session = p->active.items[at];
  cursor *c = &p->sessions[session];
  if (!c->begun) begin(p, c, what != FORCED);
  if (what == BEGINS) return true;
  commit(p, c);
  p->active.items[at] = p->active.items[--p->active.count];
  return c->txn == c->end_txn || heap_push(p, session);
}

/* ---- the history ---- */

/* Who takes part: who committed, and of those whose outcome is unknown, whom somebody is known to have read from. */
static void prepare(replay *p, const uint32_t *op_txn) {
  const isoproof_history *h = p->h;
  for (uint32_t t = 0; t < h->txns; t++) p->takes_part[t] = h->txn_status[t] == ISOPROOF_TXN_COMMITTED;
  for (uint32_t key = 0; key < h->keys; key++) p->absent[key] = iso_history_initial(h, key) == ISO_VALUE_NIL;
  for (uint32_t op = 0; op < h->ops; op++) {
    bool absent = h->op_kind[op] == ISOPROOF_OP_WRITE && h->op_value[op] == ISO_VALUE_NIL;
    if (absent && p->absent[h->op_key[op]] < 2) p->absent[h->op_key[op]]++;
  }
  for (uint32_t op = 0; op < h->ops; op++) {
    uint32_t write = is_known_read(p, op) ? p->r->writer[op] : ISO_NO_OP;
    if (write < h->ops && h->txn_status[op_txn[write]] == ISOPROOF_TXN_UNKNOWN) p->takes_part[op_txn[write]] = 1;
  }
  for (uint32_t op = 0; op < h->ops; op++) {
    if (is_known_read(p, op) && p->takes_part[op_txn[op]]) ++*left_of(p, h->op_key[op], p->r->writer[op]);
  }
  for (uint32_t key = 0; key < h->keys; key++) p->now[key] = INITIAL;
}

static isoproof_status carry_out(replay *p, isoproof_task *task, isoproof_error *error) {
  const isoproof_history *h = p->h;
  for (uint32_t s = 0; s < h->sessions; s++) {
    cursor *c = &p->sessions[s];
    *c = (cursor){.txn = h->session_first_txn[s], .end_txn = h->session_first_txn[s + 1], .blocked = ISO_NO_OP};
    while (c->txn < c->end_txn && !p->takes_part[c->txn]) c->txn++;
    if (c->txn < c->end_txn && !heap_push(p, s)) return iso_fail_memory(error);
  }
  for (uint64_t steps = 0; p->waiting.count + p->active.count > 0; steps++) {
    if (!go_on(p)) return iso_fail_memory(error);
    if (steps % 4096 == 0) ISO_TRY(iso_task_check(task, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status run(replay *p, isoproof_task *task, isoproof_error *error) {
  const isoproof_history *h = p->h;
  uint32_t *op_txn = iso_alloc(h->ops, sizeof *op_txn);
  p->takes_part = iso_alloc(h->txns, 1);
  p->now = iso_alloc(h->keys, sizeof *p->now);
  p->left = iso_alloc_zero((size_t)h->ops + h->keys, sizeof *p->left);
  p->absent = iso_alloc(h->keys, 1);
  p->need = iso_alloc_zero(h->keys, sizeof *p->need);
  p->also = iso_alloc(h->ops, sizeof *p->also);
  p->own = iso_alloc(h->keys, sizeof *p->own);
  p->own_txn = iso_alloc_zero(h->keys, sizeof *p->own_txn);
  p->sessions = iso_alloc(h->sessions, sizeof *p->sessions);
  bool made = op_txn != NULL && p->takes_part != NULL && p->now != NULL && p->left != NULL && p->own != NULL &&
              p->absent != NULL && p->need != NULL && p->also != NULL &&
              p->own_txn != NULL && p->sessions != NULL;
  for (uint32_t t = 0; made && t < h->txns; t++) {
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++) op_txn[op] = t;
  }
  if (made) prepare(p, op_txn);
  free(op_txn);
  return made ? carry_out(p, task, error) : iso_fail_memory(error);
}

isoproof_status iso_row_replay(const isoproof_history *history, isoproof_task *task, iso_resolution *resolution,
                               isoproof_error *error) {
  replay p = {.h = history, .v = resolution->rows, .r = resolution};
  isoproof_status status = run(&p, task, error);
  free(p.takes_part);
  free(p.now);
  free(p.left);
  free(p.absent);
  free(p.need);
  free(p.also);
  free(p.own);
  free(p.own_txn);
  free(p.sessions);
  iso_vec_free(&p.waiting);
  iso_vec_free(&p.active);
  return status;
}
