/* Carries a history of rows out, transaction by transaction, to find out what reads saw that do not say it. */
#include "history/row_replay.h"

#include <stdlib.h>
#include <string.h>

#include "history/real_time.h"
#include "history/row_state.h"

/* Why somebody is to go on before the one below. */
typedef enum {
  WHOLE,  /* what it writes is needed */
  BEGINS, /* what it read is about to be overwritten: to begin is enough, to be done is better */
  ALONE   /* the same, but it may also find that again later: only if it can be done at once */
} aim;

typedef struct {
  uint32_t txn;
  aim why;
} errand;

typedef struct {
  iso_row_state s;
  ISO_VEC(errand) stack;
  uint8_t *on_stack; /* by transaction */
  uint8_t *tries;    /* by transaction: how often it was on the stack */
  uint32_t *failed;  /* by transaction: the step at which it could not go on */
  uint32_t step;     /* 1 and on: grows whenever anything changes */
  int64_t horizon;   /* who started later comes after the goal */
  uint8_t *settled;  /* by transaction */
  bool timed;
  bool out_of_memory;
} replay;

typedef enum { DONE, STUCK, WAITS } progress;

/* How often a transaction is tried, how many versions of a row are looked at, of those that have not started yet, too,
 * and how many are in before they start. */
enum { MOST_TRIES = 100, MOST_VERSIONS = 64, MOST_LATE = 4, MOST_AHEAD = 1024 };

static int64_t start_of(const replay *p, uint32_t txn) { return p->s.v->start[txn]; }
static int64_t end_of(const replay *p, uint32_t txn) { return p->s.v->end[txn]; }

static bool is_left(const replay *p, uint32_t txn) {
  return p->s.stage[txn] == ISO_STAGE_WAITS || p->s.stage[txn] == ISO_STAGE_BEGUN;
}

static bool is_ready(const replay *p, uint32_t txn) {
  return is_left(p, txn) && !p->on_stack[txn] && p->failed[txn] != p->step && p->tries[txn] < MOST_TRIES;
}

static progress wait_for(replay *p, uint32_t txn, aim why) {
  p->out_of_memory = p->out_of_memory || !iso_vec_push(&p->stack, ((errand){txn, why}));
  p->on_stack[txn] = 1;
  p->tries[txn]++;
  return WAITS;
}

/* ---- who could help ---- */

typedef struct {
  uint32_t reader; /* whom the write is for, and who does not help itself */
  uint32_t other;  /* nor does this one */
  int64_t latest;  /* whoever started after this comes too late */
  bool only_ready; /* and it can be tried now */
} asker;

/* The first place among the versions of a row that is still to be written. */
static uint32_t first_left(const replay *p, uint32_t key) {
  const iso_row_versions *v = p->s.v;
  uint32_t *oldest = &p->s.oldest[key];
  while (*oldest < v->first[key + 1] && !is_left(p, v->txn[*oldest])) ++*oldest;
  return *oldest;
}

/* Who is still to write a version of the row as it is wished, the first to end of them; ISO_NO_TXN for nobody. */
static uint32_t find_helper(const replay *p, const asker *a, uint32_t key, const iso_row_wish *wish) {
  const iso_row_versions *v = p->s.v;
  uint32_t end = v->first[key + 1], looked = 0;
  for (uint32_t i = first_left(p, key); i < end && looked < MOST_VERSIONS; i++) {
    uint32_t txn = v->txn[i];
    if (!is_left(p, txn)) continue;
    looked++;
    bool last = i + 1 == end || v->txn[i + 1] != txn;
    if (!last || txn == a->reader || txn == a->other || (p->timed && start_of(p, txn) > a->latest)) continue;
    if (a->only_ready && !is_ready(p, txn)) continue;
    if (iso_row_state_is_wished(&p->s, wish, key, iso_history_version(p->s.h, v->write[i]))) return txn;
  }
  return ISO_NO_TXN;
}

/* Who could make a count find more rows, or fewer. */
static uint32_t find_helper_of_count(replay *p, const asker *a, const iso_statement *count) {
  int64_t excess = iso_row_state_excess(&p->s, a->reader, count);
  iso_row_wish wish = {.of = count, .present = excess < 0};
  uint32_t best = ISO_NO_TXN;
  for (uint32_t op = count->first_op; op < count->first_op + count->op_count; op++) {
    uint32_t key = p->s.h->op_key[op];
    iso_value now = iso_row_state_version(&p->s, key, p->s.now[key]);
    if (iso_row_state_is_wished(&p->s, &wish, key, now)) continue;
    uint32_t found = find_helper(p, a, key, &wish);
    if (found != ISO_NO_TXN && (best == ISO_NO_TXN || end_of(p, found) < end_of(p, best))) best = found;
  }
  return best;
}

/* Who has to go on for the operation to find what it found. */
static uint32_t find_help(replay *p, uint32_t txn, uint32_t op) {
  const isoproof_history *h = p->s.h;
  uint32_t key = h->op_key[op];
  asker a = {.reader = txn, .other = ISO_NO_TXN, .latest = p->horizon, .only_ready = true};
  if (h->op_kind[op] == ISOPROOF_OP_WRITE) {
    iso_row_wish wish = {.read = ISO_NO_OP, .present = iso_history_form(h, op) != ISO_ROW_INSERT};
    return find_helper(p, &a, key, &wish);
  }
  if (h->op_value[op] == ISO_VALUE_COUNTED) return find_helper_of_count(p, &a, iso_history_statement(h, op));
  if (h->op_value[op] == ISO_VALUE_UNMATCHED || (h->op_value[op] == ISO_VALUE_NIL && p->s.absent[key] > 1)) {
    return find_helper(p, &a, key, &(iso_row_wish){.read = op});
  }
  uint32_t write = p->s.r->writer[op], from = write < h->ops ? p->s.op_txn[write] : ISO_NO_TXN;
  return from != ISO_NO_TXN && from != txn && is_ready(p, from) ? from : ISO_NO_TXN;
}

/* ---- whom a write concerns ---- */

static void begin(replay *p, uint32_t txn) {
  iso_row_state_begin(&p->s, txn);
  p->settled[txn] = 1;
  p->step++;
}

/* Has somebody begin before others write.  DONE: it has. */
static progress let_begin(replay *p, uint32_t reader, aim why) {
  if (why == ALONE) return STUCK;
  if (is_ready(p, reader)) return wait_for(p, reader, BEGINS);
  /* It waits for this one itself: it read before, and writes after. */
  bool can = p->on_stack[reader] && p->s.current[p->s.h->txn_session[reader]] == reader &&
             iso_row_state_unfit(&p->s, reader, false) == ISO_NO_OP;
  if (!can) return STUCK;
  begin(p, reader);
  return DONE;
}

/* Whoever is known to have read what the transaction overwrites goes first.  DONE: there is nobody left. */
static progress let_readers_begin(replay *p, uint32_t txn, aim why) {
  const isoproof_history *h = p->s.h;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (!iso_row_state_is_last_write(&p->s, op)) continue;
    for (uint32_t reader; (reader = iso_row_state_reader(&p->s, txn, op)) != ISO_NO_TXN;) {
      progress now = let_begin(p, reader, why);
      if (now != DONE) return now;
    }
  }
  return DONE;
}

/* When the last of those started who are known to have read what is about to be written. */
static int64_t last_reader_start(const replay *p, uint32_t write) {
  const iso_row_state *s = &p->s;
  int64_t last = INT64_MIN;
  for (uint32_t read = s->readers[write]; read > 0; read = s->next[read - 1]) {
    int64_t start = start_of(p, s->op_txn[read - 1]);
    if (start > last) last = start;
  }
  return last;
}

/* Whoever wrote the same rows before goes first: somebody who read the new version started after this one ended, which
 * can thus not have written between the two. */
static progress let_writers_finish(replay *p, uint32_t txn, aim why) {
  const isoproof_history *h = p->s.h;
  const iso_row_versions *v = p->s.v;
  for (uint32_t op = h->txn_first_op[txn]; p->timed && op < h->txn_first_op[txn + 1]; op++) {
    if (!iso_row_state_is_last_write(&p->s, op) || p->s.readers[op] == 0) continue;
    uint32_t key = h->op_key[op], i = first_left(p, key);
    while (i < v->first[key + 1] && (v->txn[i] == txn || !is_left(p, v->txn[i]))) i++;
    if (i == v->first[key + 1] || start_of(p, v->txn[i]) > p->horizon) continue;
    if (end_of(p, v->txn[i]) >= last_reader_start(p, op)) continue;
    return why == ALONE || !is_ready(p, v->txn[i]) ? STUCK : wait_for(p, v->txn[i], WHOLE);
  }
  return DONE;
}

/* The same for those who found the row absent, or not to match, and would no longer. */
static progress let_needs_begin(replay *p, uint32_t txn, uint32_t write, aim why) {
  iso_row_state *s = &p->s;
  uint32_t key = s->h->op_key[write], *at = &s->needs[key];
  iso_value old = iso_row_state_version(s, key, s->now[key]), new = iso_history_version(s->h, write);
  while (*at > 0) {
    uint32_t read = *at - 1, reader = s->op_txn[read];
    if (s->stage[reader] != ISO_STAGE_WAITS) {
      *at = s->next[read];
      continue;
    }
    at = &s->next[read];
    if (reader == txn || !iso_history_read_fits(s->h, read, old) || iso_history_read_fits(s->h, read, new)) continue;
    asker a = {.reader = reader, .other = txn, .latest = end_of(p, reader)};
    if (p->timed && why != ALONE && start_of(p, reader) > p->horizon) continue;
    bool again = find_helper(p, &a, key, &(iso_row_wish){.read = read}) != ISO_NO_TXN;
    progress now = DONE;
    if (!again) now = let_begin(p, reader, why);
    if (again && why != ALONE && is_ready(p, reader)) now = wait_for(p, reader, ALONE);
    if (now != DONE) return now;
  }
  return DONE;
}

/* Whether a write finds the row as its form says: absent, or there. */
static bool suits(const replay *p, uint32_t write, iso_value version) {
  iso_row_form form = iso_history_form(p->s.h, write);
  if (form != ISO_ROW_INSERT && form != ISO_ROW_UPDATE && form != ISO_ROW_DELETE) return true;
  return (version == ISO_VALUE_NIL) == (form == ISO_ROW_INSERT);
}

/* The same for those who are about to insert the row, or to change or remove it, and could no longer. */
static progress let_suited_finish(replay *p, uint32_t txn, uint32_t write, aim why) {
  const iso_row_state *s = &p->s;
  const iso_row_versions *v = s->v;
  uint32_t key = s->h->op_key[write], late = 0;
  iso_value old = iso_row_state_version(s, key, s->now[key]), new = iso_history_version(s->h, write);
  if ((old == ISO_VALUE_NIL) == (new == ISO_VALUE_NIL)) return DONE;
  for (uint32_t i = first_left(p, key); i < v->first[key + 1] && late < MOST_LATE; i++) {
    uint32_t other = v->txn[i];
    if (other == txn || !is_left(p, other) || (i > v->first[key] && v->txn[i - 1] == other)) continue;
    late += start_of(p, other) > p->horizon;
    if (start_of(p, other) > p->horizon || !is_ready(p, other)) continue;
    if (!suits(p, v->write[i], old) || suits(p, v->write[i], new)) continue;
    asker a = {.reader = other, .other = txn, .latest = end_of(p, other)};
    iso_row_wish wish = {.read = ISO_NO_OP, .present = old != ISO_VALUE_NIL};
    if (find_helper(p, &a, key, &wish) != ISO_NO_TXN) continue;
    return why == ALONE ? STUCK : wait_for(p, other, WHOLE);
  }
  return DONE;
}

/* And for those whose count is right, and would no longer be. */
static progress let_counts_begin(replay *p, uint32_t txn, uint32_t write) {
  iso_row_state *s = &p->s;
  uint32_t key = s->h->op_key[write];
  iso_value old = iso_row_state_version(s, key, s->now[key]), new = iso_history_version(s->h, write);
  for (size_t i = 0; i < s->counts.count;) {
    const iso_statement *count = s->counts.items[i];
    if (s->stage[count->txn] != ISO_STAGE_WAITS) {
      s->counts.items[i] = s->counts.items[--s->counts.count];
      continue;
    }
    i++;
    iso_predicate predicate = iso_statement_predicate(count);
    bool was = iso_version_matches(s->h, &predicate, key, old), is = iso_version_matches(s->h, &predicate, key, new);
    if (was == is || count->txn == txn || !is_ready(p, count->txn)) continue;
    if (iso_row_state_excess(s, count->txn, count) == 0) return wait_for(p, count->txn, ALONE);
  }
  return DONE;
}

static progress let_others_begin(replay *p, uint32_t txn, aim why) {
  const isoproof_history *h = p->s.h;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (!iso_row_state_is_last_write(&p->s, op)) continue;
    progress now = let_needs_begin(p, txn, op, why);
    if (now == DONE) now = let_suited_finish(p, txn, op, why);
    if (now == DONE && why != ALONE) now = let_counts_begin(p, txn, op);
    if (now != DONE) return now;
  }
  return DONE;
}

/* ---- one transaction ---- */

/* DONE: everything is as the transaction saw it. */
static progress make_fit(replay *p, uint32_t txn, aim why) {
  uint32_t before = p->s.current[p->s.h->txn_session[txn]];
  if (before != txn) return why != ALONE && is_ready(p, before) ? wait_for(p, before, WHOLE) : STUCK;
  uint32_t op = iso_row_state_unfit(&p->s, txn, true);
  if (op == ISO_NO_OP) return DONE;
  if (why == ALONE) return STUCK;
  uint32_t help = find_help(p, txn, op);
  if (help == ISO_NO_TXN && p->s.h->op_kind[op] == ISOPROOF_OP_WRITE) {
    /* Nothing can be done about that write; reads matter more. */
    op = iso_row_state_unfit(&p->s, txn, false);
    if (op == ISO_NO_OP) return DONE;
    help = find_help(p, txn, op);
  }
  return help != ISO_NO_TXN ? wait_for(p, help, WHOLE) : STUCK;
}

static void finish(replay *p, uint32_t txn) {
  if (p->s.stage[txn] == ISO_STAGE_WAITS) begin(p, txn);
  iso_row_state_finish(&p->s, txn);
  p->step++;
}

/* Nobody can go on, but somebody has to. */
static void force(replay *p, uint32_t txn) {
  bool fits = p->s.stage[txn] == ISO_STAGE_BEGUN || iso_row_state_unfit(&p->s, txn, false) == ISO_NO_OP;
  finish(p, txn);
  p->settled[txn] = fits && p->settled[txn];
}

static progress go_on(replay *p, uint32_t txn, aim why) {
  if (!is_left(p, txn)) return DONE;
  progress now = p->s.stage[txn] == ISO_STAGE_WAITS ? make_fit(p, txn, why) : DONE;
  if (now != DONE) return now;
  now = let_readers_begin(p, txn, why);
  if (now == DONE) now = let_writers_finish(p, txn, why);
  if (now == DONE) now = let_others_begin(p, txn, why);
  if (now == STUCK && why == BEGINS) {
    if (p->s.stage[txn] == ISO_STAGE_WAITS) begin(p, txn);
    return DONE;
  }
  if (now == DONE) finish(p, txn);
  return now;
}

/* Has a transaction take effect, after those that it cannot do without, and nobody else. */
static void reach(replay *p, uint32_t goal) {
  wait_for(p, goal, WHOLE);
  while (p->stack.count > 0 && !p->out_of_memory) {
    errand top = p->stack.items[p->stack.count - 1];
    progress now = go_on(p, top.txn, top.why);
    if (now == WAITS) continue;
    if (now == STUCK) p->failed[top.txn] = p->step;
    p->on_stack[top.txn] = 0;
    p->stack.count--;
  }
  while (is_left(p, goal)) force(p, p->s.current[p->s.h->txn_session[goal]]);
}

/* ---- the history ---- */

typedef struct {
  int64_t time;
  uint32_t txn;
} moment;

static int by_time(const void *a, const void *b) {
  const moment *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

/* Those who take part by the times of their starts or ends; freed by the caller. */
static moment *sort_by(const replay *p, const int64_t *times, size_t *count) {
  const isoproof_history *h = p->s.h;
  moment *all = iso_alloc(h->txns, sizeof *all);
  *count = 0;
  for (uint32_t t = 0; all != NULL && t < h->txns; t++) {
    if (p->s.stage[t] != ISO_STAGE_OUT) all[(*count)++] = (moment){times[t], t};
  }
  if (*count > 1) qsort(all, *count, sizeof *all, by_time);
  return all;
}

/* Whoever ends first has to take effect before anybody can who started after that. */
static isoproof_status carry_out(replay *p, const moment *starts, const moment *ends, size_t count, isoproof_task *task,
                                 isoproof_error *error) {
  size_t in = 0, started = 0;
  int64_t farthest = INT64_MIN; /* the last end of those who have started; unknown ends do not count */
  for (size_t i = 0; i < count && !p->out_of_memory; i++) {
    if (i % 4096 == 0) ISO_TRY(iso_task_check(task, error));
    if (!is_left(p, ends[i].txn)) continue;
    p->horizon = ends[i].time;
    for (; started < count && starts[started].time <= p->horizon; started++) {
      int64_t end = end_of(p, starts[started].txn);
      if (end != INT64_MAX && end > farthest) farthest = end;
    }
    for (; in < started || (in < count && starts[in].time <= farthest && in < started + MOST_AHEAD); in++) {
      if (p->s.stage[starts[in].txn] != ISO_STAGE_WAITS) continue;
      if (!iso_row_state_enter(&p->s, starts[in].txn)) return iso_fail_memory(error);
    }
    reach(p, ends[i].txn);
  }
  return p->out_of_memory ? iso_fail_memory(error) : ISOPROOF_OK;
}

static isoproof_status run(replay *p, isoproof_task *task, isoproof_error *error) {
  uint32_t txns = p->s.h->txns;
  size_t count = 0;
  p->on_stack = iso_alloc_zero(txns, 1);
  p->tries = iso_alloc_zero(txns, 1);
  p->failed = iso_alloc_zero(txns, sizeof *p->failed);
  moment *starts = sort_by(p, p->s.v->start, &count), *ends = sort_by(p, p->s.v->end, &count);
  bool made = p->on_stack != NULL && p->tries != NULL && p->failed != NULL && starts != NULL && ends != NULL;
  isoproof_status status = made ? carry_out(p, starts, ends, count, task, error) : iso_fail_memory(error);
  free(starts);
  free(ends);
  return status;
}

isoproof_status iso_row_replay(const isoproof_history *history, isoproof_task *task, iso_resolution *resolution,
                               uint8_t *settled, isoproof_error *error) {
  replay p = {.step = 1, .timed = iso_has_real_time(history), .settled = settled};
  ISO_TRY(iso_row_state_make(history, resolution, &p.s, error));
  isoproof_status status = run(&p, task, error);
  iso_row_state_free(&p.s);
  iso_vec_free(&p.stack);
  free(p.on_stack);
  free(p.tries);
  free(p.failed);
  return status;
}
