/* Carries transactions on rows out, each as it saw the rows, and finds those whom this takes. */
#include "history/row_steps.h"

#include <stdlib.h>

#include "history/columns.h"
#include "history/real_time.h"

typedef enum { DONE, STUCK, WAITS } progress;

/* How often a transaction is tried, how many versions of a row are looked at, and of those
 * that have not started yet. */
enum { MOST_TRIES = 100, MOST_VERSIONS = 64, MOST_LATE = 4 };

static int64_t start_of(const iso_row_steps *p, uint32_t txn) { return p->s.v->start[txn]; }
static int64_t end_of(const iso_row_steps *p, uint32_t txn) { return p->s.v->end[txn]; }

static bool is_ready(const iso_row_steps *p, uint32_t txn) {
  return iso_row_steps_is_left(p, txn) && !p->on_stack[txn] && p->failed[txn] != p->step && p->tries[txn] < MOST_TRIES;
}

static progress wait_for(iso_row_steps *p, uint32_t txn, iso_row_aim why) {
  p->out_of_memory = p->out_of_memory || !iso_vec_push(&p->stack, ((iso_row_errand){txn, why}));
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
static uint32_t first_left(const iso_row_steps *p, uint32_t key) {
  const iso_row_versions *v = p->s.v;
  uint32_t *oldest = &p->s.oldest[key];
  while (*oldest < v->first[key + 1] && !iso_row_steps_is_left(p, v->txn[*oldest])) ++*oldest;
  return *oldest;
}

/* Who is still to write a version of the row as it is wished, the first to end of them; ISO_NO_TXN for nobody. */
static uint32_t find_helper(const iso_row_steps *p, const asker *a, uint32_t key, const iso_row_wish *wish) {
  const iso_row_versions *v = p->s.v;
  uint32_t end = v->first[key + 1], looked = 0;
  for (uint32_t i = first_left(p, key); i < end && looked < MOST_VERSIONS; i++) {
    uint32_t txn = v->txn[i];
    if (!iso_row_steps_is_left(p, txn)) continue;
    looked++;
    bool last = i + 1 == end || v->txn[i + 1] != txn;
    if (!last || txn == a->reader || txn == a->other || (p->timed && start_of(p, txn) > a->latest)) continue;
    if (a->only_ready && !is_ready(p, txn)) continue;
    if (iso_row_state_is_wished(&p->s, wish, key, iso_history_version(p->s.h, v->write[i]))) return txn;
  }
  return ISO_NO_TXN;
}

/* Who could make a count find more rows, or fewer. */
static uint32_t find_helper_of_count(iso_row_steps *p, const asker *a, const iso_statement *count) {
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
static uint32_t find_help(iso_row_steps *p, uint32_t txn, uint32_t op) {
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

/* ---- what may have been wrong ---- */

static void suspect_pair(iso_row_steps *p, uint32_t first, uint32_t second) {
  const isoproof_history *h = p->s.h;
  if (h->txn_session[first] == h->txn_session[second]) return;
  if (p->timed && start_of(p, first) > end_of(p, second)) return;
  for (size_t i = 0; i < p->suspect_count; i++) {
    if (p->suspects[i].first == first && p->suspects[i].second == second) return;
  }
  if (p->suspect_count < ISO_ROW_SUSPECTS) p->suspects[p->suspect_count++] = (iso_row_suspect){first, second};
}

/* Who wrote what the row holds now; ISO_NO_TXN for nobody. */
static uint32_t writer_now(const iso_row_steps *p, uint32_t key) {
  uint32_t write = p->s.now[key];
  return write < p->s.h->ops ? p->s.op_txn[write] : ISO_NO_TXN;
}

/* Whoever wrote what the row holds now perhaps came too early. */
static void suspect_order(iso_row_steps *p, uint32_t txn, uint32_t key) {
  uint32_t writer = writer_now(p, key);
  if (writer != ISO_NO_TXN) suspect_pair(p, txn, writer);
}

/* Or it came too late: after somebody who left the row as the operation found it. */
static void suspect_last(iso_row_steps *p, uint32_t op) {
  enum { MOST_BACK = 2048 };
  const iso_row_state *s = &p->s;
  uint32_t key = s->h->op_key[op], writer = writer_now(p, key);
  if (writer == ISO_NO_TXN || s->h->op_kind[op] != ISOPROOF_OP_READ) return;
  size_t least = s->before.count > MOST_BACK ? s->before.count - MOST_BACK : 0;
  for (size_t i = s->before.count; i-- > least;) {
    uint32_t write = s->before.items[i].write;
    if (s->before.items[i].key != key) continue;
    bool fits = write < s->h->ops && iso_history_read_fits(s->h, op, iso_history_version(s->h, write));
    if (fits) suspect_pair(p, writer, s->op_txn[write]);
    return;
  }
}

/* ---- whom a write concerns ---- */

static void begin(iso_row_steps *p, uint32_t txn) {
  iso_row_state_begin(&p->s, txn);
  p->settled[txn] = 1;
  p->step++;
}

/* Has somebody begin before others write.  DONE: it has. */
static progress let_begin(iso_row_steps *p, uint32_t reader, iso_row_aim why) {
  if (why == ISO_AIM_ALONE) return STUCK;
  if (is_ready(p, reader)) return wait_for(p, reader, ISO_AIM_BEGINS);
  /* It waits for this one itself: it read before, and writes after. */
  bool can = p->on_stack[reader] && p->s.current[p->s.h->txn_session[reader]] == reader &&
             iso_row_state_unfit(&p->s, reader, false) == ISO_NO_OP;
  if (!can) return STUCK;
  begin(p, reader);
  return DONE;
}

/* Whoever is known to have read what the transaction overwrites goes first.  DONE: there is nobody left. */
static progress let_readers_begin(iso_row_steps *p, uint32_t txn, iso_row_aim why) {
  const isoproof_history *h = p->s.h;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (!iso_row_state_is_last_write(&p->s, op)) continue;
    for (uint32_t reader; (reader = iso_row_state_reader(&p->s, txn, op)) != ISO_NO_TXN;) {
      progress now = let_begin(p, reader, why);
      if (now == STUCK) suspect_order(p, txn, h->op_key[op]);
      if (now != DONE) return now;
    }
  }
  return DONE;
}

/* When the last of those started who are known to have read what is about to be written. */
static int64_t last_reader_start(const iso_row_steps *p, uint32_t write) {
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
static progress let_writers_finish(iso_row_steps *p, uint32_t txn, iso_row_aim why) {
  const isoproof_history *h = p->s.h;
  const iso_row_versions *v = p->s.v;
  for (uint32_t op = h->txn_first_op[txn]; p->timed && op < h->txn_first_op[txn + 1]; op++) {
    if (!iso_row_state_is_last_write(&p->s, op) || p->s.readers[op] == 0) continue;
    uint32_t key = h->op_key[op], i = first_left(p, key);
    while (i < v->first[key + 1] && (v->txn[i] == txn || !iso_row_steps_is_left(p, v->txn[i]))) i++;
    if (i == v->first[key + 1] || start_of(p, v->txn[i]) > p->horizon) continue;
    if (end_of(p, v->txn[i]) >= last_reader_start(p, op)) continue;
    return why == ISO_AIM_ALONE || !is_ready(p, v->txn[i]) ? STUCK : wait_for(p, v->txn[i], ISO_AIM_WHOLE);
  }
  return DONE;
}

/* The same for those who found the row absent, or not to match, and would no longer. */
static progress let_needs_begin(iso_row_steps *p, uint32_t txn, uint32_t write, iso_row_aim why) {
  iso_row_state *s = &p->s;
  uint32_t key = s->h->op_key[write], *at = &s->needs[key];
  iso_value old = iso_row_state_version(s, key, s->now[key]), new = iso_history_version(s->h, write);
  while (*at > 0) {
    uint32_t read = *at - 1, reader = s->op_txn[read];
    if (iso_row_state_is_past(s, reader)) {
      *at = s->next[read];
      continue;
    }
    at = &s->next[read];
    if (s->stage[reader] != ISO_STAGE_WAITS) continue;
    if (reader == txn || !iso_history_read_fits(s->h, read, old) || iso_history_read_fits(s->h, read, new)) continue;
    asker a = {.reader = reader, .other = txn, .latest = end_of(p, reader)};
    if (p->timed && why != ISO_AIM_ALONE && start_of(p, reader) > p->horizon) continue;
    bool again = find_helper(p, &a, key, &(iso_row_wish){.read = read}) != ISO_NO_TXN;
    progress now = DONE;
    if (!again) now = let_begin(p, reader, why);
    if (now == STUCK) suspect_order(p, txn, key);
    if (again && why != ISO_AIM_ALONE && is_ready(p, reader)) now = wait_for(p, reader, ISO_AIM_ALONE);
    if (now != DONE) return now;
  }
  return DONE;
}

/* Whether a write finds the row as its form says: absent, or there. */
static bool suits(const iso_row_steps *p, uint32_t write, iso_value version) {
  iso_row_form form = iso_history_form(p->s.h, write);
  if (form != ISO_ROW_INSERT && form != ISO_ROW_UPDATE && form != ISO_ROW_DELETE) return true;
  return (version == ISO_VALUE_NIL) == (form == ISO_ROW_INSERT);
}

/* The same for those who are about to insert the row, or to change or remove it, and could no longer. */
static progress let_suited_finish(iso_row_steps *p, uint32_t txn, uint32_t write, iso_row_aim why) {
  const iso_row_state *s = &p->s;
  const iso_row_versions *v = s->v;
  uint32_t key = s->h->op_key[write], late = 0;
  iso_value old = iso_row_state_version(s, key, s->now[key]), new = iso_history_version(s->h, write);
  if ((old == ISO_VALUE_NIL) == (new == ISO_VALUE_NIL)) return DONE;
  for (uint32_t i = first_left(p, key); i < v->first[key + 1] && late < MOST_LATE; i++) {
    uint32_t other = v->txn[i];
    if (other == txn || !iso_row_steps_is_left(p, other) || (i > v->first[key] && v->txn[i - 1] == other)) continue;
    late += start_of(p, other) > p->horizon;
    if (start_of(p, other) > p->horizon || !is_ready(p, other)) continue;
    if (!suits(p, v->write[i], old) || suits(p, v->write[i], new)) continue;
    asker a = {.reader = other, .other = txn, .latest = end_of(p, other)};
    iso_row_wish wish = {.read = ISO_NO_OP, .present = old != ISO_VALUE_NIL};
    if (find_helper(p, &a, key, &wish) != ISO_NO_TXN) continue;
    return why == ISO_AIM_ALONE ? STUCK : wait_for(p, other, ISO_AIM_WHOLE);
  }
  return DONE;
}

/* And for those whose count is right, and would no longer be. */
static progress let_counts_begin(iso_row_steps *p, uint32_t txn, uint32_t write) {
  iso_row_state *s = &p->s;
  uint32_t key = s->h->op_key[write];
  iso_value old = iso_row_state_version(s, key, s->now[key]), new = iso_history_version(s->h, write);
  for (size_t i = 0; i < s->counts.count;) {
    const iso_statement *count = s->counts.items[i];
    if (iso_row_state_is_past(s, count->txn)) {
      s->counts.items[i] = s->counts.items[--s->counts.count];
      continue;
    }
    i++;
    if (s->stage[count->txn] != ISO_STAGE_WAITS) continue;
    iso_predicate predicate = iso_history_predicate(s->h, count);
    bool was = iso_version_matches(s->h, &predicate, key, old), is = iso_version_matches(s->h, &predicate, key, new);
    if (was == is || count->txn == txn || !is_ready(p, count->txn)) continue;
    if (iso_row_state_excess(s, count->txn, count) == 0) return wait_for(p, count->txn, ISO_AIM_ALONE);
  }
  return DONE;
}

static progress let_others_begin(iso_row_steps *p, uint32_t txn, iso_row_aim why) {
  const isoproof_history *h = p->s.h;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (!iso_row_state_is_last_write(&p->s, op)) continue;
    progress now = let_needs_begin(p, txn, op, why);
    if (now == DONE) now = let_suited_finish(p, txn, op, why);
    if (now == DONE && why != ISO_AIM_ALONE) now = let_counts_begin(p, txn, op);
    if (now != DONE) return now;
  }
  return DONE;
}

/* ---- one transaction ---- */

/* DONE: everything is as the transaction saw it. */
static progress make_fit(iso_row_steps *p, uint32_t txn, iso_row_aim why) {
  uint32_t before = p->s.current[p->s.h->txn_session[txn]];
  if (before != txn) return why != ISO_AIM_ALONE && is_ready(p, before) ? wait_for(p, before, ISO_AIM_WHOLE) : STUCK;
  uint32_t op = iso_row_state_unfit(&p->s, txn, true);
  if (op == ISO_NO_OP) return DONE;
  if (why == ISO_AIM_ALONE) return STUCK;
  uint32_t help = find_help(p, txn, op);
  if (help == ISO_NO_TXN && p->s.h->op_kind[op] == ISOPROOF_OP_WRITE) {
    /* Nothing can be done about that write; reads matter more. */
    op = iso_row_state_unfit(&p->s, txn, false);
    if (op == ISO_NO_OP) return DONE;
    help = find_help(p, txn, op);
  }
  if (help == ISO_NO_TXN) {
    suspect_order(p, txn, p->s.h->op_key[op]);
    suspect_last(p, op);
  }
  return help != ISO_NO_TXN ? wait_for(p, help, ISO_AIM_WHOLE) : STUCK;
}

/* Whoever is taken to come before goes first. */
static progress let_prior_finish(iso_row_steps *p, uint32_t txn, iso_row_aim why) {
  uint32_t prior = p->prior[txn];
  if (prior == 0 || !iso_row_steps_is_left(p, prior - 1)) return DONE;
  return why == ISO_AIM_ALONE || !is_ready(p, prior - 1) ? STUCK : wait_for(p, prior - 1, ISO_AIM_WHOLE);
}

static void finish(iso_row_steps *p, uint32_t txn) {
  if (p->s.stage[txn] == ISO_STAGE_WAITS) begin(p, txn);
  iso_row_state_finish(&p->s, txn);
  p->step++;
}

/* Nobody can go on, but somebody has to. */
static void force(iso_row_steps *p, uint32_t txn) {
  bool fits = p->s.stage[txn] == ISO_STAGE_BEGUN || iso_row_state_unfit(&p->s, txn, false) == ISO_NO_OP;
  finish(p, txn);
  p->settled[txn] = fits && p->settled[txn];
}

static progress go_on(iso_row_steps *p, uint32_t txn, iso_row_aim why) {
  if (!iso_row_steps_is_left(p, txn)) return DONE;
  progress now = p->s.stage[txn] == ISO_STAGE_WAITS ? make_fit(p, txn, why) : DONE;
  if (now != DONE) return now;
  now = let_prior_finish(p, txn, why);
  if (now == DONE) now = let_readers_begin(p, txn, why);
  if (now == DONE) now = let_writers_finish(p, txn, why);
  if (now == DONE) now = let_others_begin(p, txn, why);
  if (now == STUCK && why == ISO_AIM_BEGINS) {
    if (p->s.stage[txn] == ISO_STAGE_WAITS) begin(p, txn);
    return DONE;
  }
  if (now == DONE) finish(p, txn);
  return now;
}

bool iso_row_steps_reach(iso_row_steps *p, uint32_t goal) {
  p->suspect_count = 0;
  wait_for(p, goal, ISO_AIM_WHOLE);
  while (p->stack.count > 0 && !p->out_of_memory) {
    iso_row_errand top = p->stack.items[p->stack.count - 1];
    progress now = go_on(p, top.txn, top.why);
    if (now == WAITS) continue;
    if (now == STUCK) p->failed[top.txn] = p->step;
    p->on_stack[top.txn] = 0;
    p->stack.count--;
  }
  p->out_of_memory = p->out_of_memory || p->s.out_of_memory;
  return !iso_row_steps_is_left(p, goal) || p->out_of_memory;
}

void iso_row_steps_force(iso_row_steps *p, uint32_t goal) {
  while (iso_row_steps_is_left(p, goal)) force(p, p->s.current[p->s.h->txn_session[goal]]);
}

int64_t iso_row_steps_go_back(iso_row_steps *p, size_t events) {
  int64_t first = INT64_MAX;
  for (size_t i = events; i < p->s.events.count; i++) {
    uint32_t txn = p->s.events.items[i].txn;
    if (!p->s.events.items[i].done) p->settled[txn] = 0;
    p->tries[txn] = 0;
    if (end_of(p, txn) < first) first = end_of(p, txn);
  }
  iso_row_state_undo(&p->s, events);
  p->step++;
  return first;
}

isoproof_status iso_row_steps_make(const isoproof_history *history, iso_resolution *resolution, uint8_t *settled,
                                   iso_row_steps *p, isoproof_error *error) {
  uint32_t txns = history->txns;
  *p = (iso_row_steps){.step = 1, .timed = iso_has_real_time(history), .settled = settled};
  ISO_TRY(iso_row_state_make(history, resolution, &p->s, error));
  p->on_stack = iso_alloc_zero(txns, 1);
  p->tries = iso_alloc_zero(txns, 1);
  p->failed = iso_alloc_zero(txns, sizeof *p->failed);
  p->prior = iso_alloc_zero(txns, sizeof *p->prior);
  if (p->on_stack != NULL && p->tries != NULL && p->failed != NULL && p->prior != NULL) return ISOPROOF_OK;
  iso_row_steps_free(p);
  return iso_fail_memory(error);
}

void iso_row_steps_free(iso_row_steps *p) {
  iso_row_state_free(&p->s);
  iso_vec_free(&p->stack);
  free(p->on_stack);
  free(p->tries);
  free(p->failed);
  free(p->prior);
}
