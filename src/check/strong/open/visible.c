/* A sequence and a choice of versions, tried together against what readers must not miss. */
#include <stdlib.h>
#include <string.h>

#include "check/strong/open/visible_steps.h"

static void watcher_free(iso_watcher *w) {
  iso_refiner_free(&w->refiner);
  iso_possible_free(&w->possible);
  iso_menus_free(&w->menus);
  free(w->now);
  free(w->reads);
  free(w->read_first);
  free(w->past);
  free(w->slot_last);
  free(w->current);
  free(w->seen_first);
  iso_vec_free(&w->seen);
  iso_vec_free(&w->free_steps);
  iso_vec_free(&w->paid_steps);
  free(w->reached);
  free(w->step_of);
  iso_vec_free(&w->clause);
}

void iso_open_start_free(iso_open_start *start) {
  free(start->when);
  free(start->writer);
  *start = (iso_open_start){.when = NULL};
}

/* ---- what is read ---- */

static int by_op(const void *a, const void *b) {
  const iso_seen_read *x = a, *y = b;
  return (x->op > y->op) - (x->op < y->op);
}

/* All reads by transaction, in program order. */
static bool merge_reads(iso_watcher *w) {
  const iso_view *v = w->v;
  uint32_t txns = v->h->txns, count = 0;
  w->reads = iso_alloc((size_t)v->read_first[txns] + w->open->reads.count, sizeof *w->reads);
  w->read_first = iso_alloc((size_t)txns + 1, sizeof *w->read_first);
  if (w->reads == NULL || w->read_first == NULL) return false;
  for (uint32_t txn = 0; txn < txns; txn++) {
    w->read_first[txn] = count;
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
      w->reads[count++] = (iso_seen_read){v->reads[i].key, v->reads[i].from, v->reads[i].op, 0};
    }
    for (uint32_t i = w->open->read_first[txn]; i < w->open->read_first[txn + 1]; i++) {
      const iso_open_read *read = &w->open->reads.items[i];
      w->reads[count++] = (iso_seen_read){read->key, ISO_INITIAL, read->op, i + 1};
    }
    uint32_t first = w->read_first[txn];
    if (w->open->read_first[txn] < w->open->read_first[txn + 1])
      qsort(w->reads + first, count - first, sizeof *w->reads, by_op);
  }
  w->read_first[txns] = count;
  return true;
}

static void take_reads(iso_watcher *w) {
  for (uint32_t i = 0; i < w->read_first[w->v->h->txns]; i++) {
    if (w->reads[i].open > 0) w->reads[i].from = iso_watcher_writer(w, w->now[w->reads[i].open - 1]);
  }
}

/* ---- literals ---- */

/* Gives an open read literals; the rows of a count get theirs together. */
static isoproof_status list_read(iso_watcher *w, uint32_t open) {
  if (w->menus.menus[open].count > 0) return ISOPROOF_OK;
  const iso_open_reads *o = w->open;
  uint32_t txn = o->reads.items[open].txn;
  w->listed = true;
  for (uint32_t i = o->count_first[txn]; open >= o->plain_end[txn] && i < o->count_first[txn + 1]; i++) {
    const iso_open_count *count = &o->counts.items[i];
    if (open - count->first < count->reads) return iso_menus_state(&w->menus, i, w->now + count->first, w->error);
  }
  ISO_TRY(iso_menus_list(&w->menus, open, w->error));
  uint32_t choice = iso_menus_of(&w->menus, open, w->now[open]);
  if (choice != UINT32_MAX) iso_menus_prefer(&w->menus, choice);
  return ISOPROOF_OK;
}

isoproof_status iso_watcher_deny_part(iso_watcher *w, uint32_t txn) {
  iso_lit part;
  if (!iso_is_optional(w->open->doubt, txn)) return ISOPROOF_OK;
  ISO_TRY(iso_menus_part(&w->menus, txn, &part, w->error));
  return iso_vec_push(&w->clause, iso_lit_not(part)) ? ISOPROOF_OK : iso_fail_memory(w->error);
}

isoproof_status iso_watcher_deny(iso_watcher *w, const iso_seen_read *read) {
  if (read->open == 0) return ISOPROOF_OK;
  ISO_TRY(iso_watcher_deny_part(w, w->open->reads.items[read->open - 1].txn));
  ISO_TRY(list_read(w, read->open - 1));
  uint32_t choice = iso_menus_of(&w->menus, read->open - 1, w->now[read->open - 1]);
  if (choice == UINT32_MAX && !w->started) return iso_fail(w->error, ISOPROOF_ERR_INTERNAL, "a choice has no literal");
  if (choice == UINT32_MAX) { /* it cannot have observed what the start says, and has other choices now */
    w->is_void = true;
    return ISOPROOF_OK;
  }
  return iso_vec_push(&w->clause, iso_lit_not(w->menus.literals.items[choice])) ? ISOPROOF_OK
                                                                                : iso_fail_memory(w->error);
}

isoproof_status iso_watcher_demand(iso_watcher *w, uint32_t from, uint32_t to) {
  iso_lit literal;
  ISO_TRY(iso_refiner_edge(&w->refiner, (iso_event_edge){from, to}, &literal, w->error));
  return iso_vec_push(&w->clause, literal) ? ISOPROOF_OK : iso_fail_memory(w->error);
}

isoproof_status iso_watcher_begin_lesson(iso_watcher *w, const iso_seen_read *read, uint32_t writer) {
  w->broken++;
  w->lessons++;
  w->clause.count = 0;
  w->is_void = false;
  ISO_TRY(iso_watcher_deny(w, read));
  return read->from != ISO_INITIAL ? iso_watcher_demand(w, writer, read->from) : ISOPROOF_OK;
}

isoproof_status iso_watcher_end_lesson(iso_watcher *w) {
  if (w->is_void) return ISOPROOF_OK;
  return iso_solver_clause(w->refiner.solver, w->clause.items, w->clause.count, w->error);
}

/* ---- steps ---- */

static uint32_t *past_of(const iso_watcher *w, uint32_t txn) { return w->past + (size_t)txn * w->e->chains; }

/* Whether `a` is `b`, or comes before it by steps. */
static bool is_within(const iso_watcher *w, uint32_t a, uint32_t b) {
  return a == b || past_of(w, b)[w->e->chain_of[a]] > a;
}

static bool takes_part(const iso_watcher *w, uint32_t txn) { return iso_menus_takes_part(&w->menus, txn); }

/* The transaction before `at` in the session that takes part: a certain one ends the list of those to look at. */
static uint32_t previous(const iso_watcher *w, uint32_t at) {
  const isoproof_history *h = w->v->h;
  for (uint32_t t = at; t-- > h->session_first_txn[h->txn_session[at]];) {
    if (w->v->counts[t] && takes_part(w, t)) return t;
  }
  return ISO_NO_TXN;
}

static void follow(iso_watcher *w, uint32_t txn, uint32_t from) {
  uint32_t *row = past_of(w, txn), chain = w->e->chain_of[from];
  if (row[chain] > from) return;
  const uint32_t *other = past_of(w, from);
  for (uint32_t c = 0; c < w->e->chains; c++) {
    if (other[c] > row[c]) row[c] = other[c];
  }
  if (row[chain] <= from) row[chain] = from + 1;
}

/* Who comes before whom by steps, along the sequence. */
static void find_past(iso_watcher *w) {
  const iso_view *v = w->v;
  memset(w->past, 0, (size_t)v->h->txns * w->e->chains * sizeof *w->past);
  if (w->rule->orders) memset(w->current, 0, v->h->keys * sizeof *w->current);
  for (uint32_t i = 0; i < w->s->count; i++) {
    uint32_t txn = iso_event_txn(w->e, w->s->event[i]), before;
    if (txn == ISO_NO_TXN || !takes_part(w, txn)) continue;
    if ((before = previous(w, txn)) != ISO_NO_TXN) follow(w, txn, before);
    for (uint32_t k = w->read_first[txn]; k < w->read_first[txn + 1]; k++) {
      if (w->reads[k].from != ISO_INITIAL) follow(w, txn, w->reads[k].from);
    }
    for (uint32_t k = v->write_first[txn]; w->rule->orders && k < v->write_first[txn + 1]; k++) {
      uint32_t *last = &w->current[v->write_key[k]];
      w->slot_last[k] = *last;
      if (*last > 0) follow(w, txn, w->open->slot_txn[*last - 1]);
      *last = k + 1;
    }
  }
}

/* Whether the writer comes before, or is it, whatever is chosen. */
static bool is_surely_within(const iso_watcher *w, uint32_t writer, uint32_t txn) {
  const iso_event_clocks *clocks = w->refiner.clocks;
  if (writer == txn) return true;
  return clocks != NULL && iso_reaches(w->e, clocks, writer, txn);
}

/* Adds a transaction to those reached, unless the writer does not come before it. */
static bool reach(iso_watcher *w, struct iso_way_steps *queue, uint32_t writer, iso_way_step step) {
  if (!is_within(w, writer, step.txn) || w->reached[step.txn] == w->stamp) return true;
  return iso_vec_push(queue, step);
}

/* What leads to a transaction by one step: for nothing, or for one literal. */
static bool expand(iso_watcher *w, uint32_t writer, uint32_t txn) {
  const iso_view *v = w->v;
  bool made = true;
  for (uint32_t before = previous(w, txn); made && before != ISO_NO_TXN; before = previous(w, before)) {
    bool part = iso_is_optional(w->open->doubt, before);
    iso_way_step step = {.txn = before, .to = txn, .part = part};
    made = reach(w, part ? &w->paid_steps : &w->free_steps, writer, step);
    if (!part) break;
  }
  for (uint32_t k = w->read_first[txn]; made && k < w->read_first[txn + 1]; k++) {
    const iso_seen_read *read = &w->reads[k];
    if (read->from == ISO_INITIAL) continue;
    iso_way_step step = {.txn = read->from, .to = txn, .read = read->open > 0 ? k + 1 : 0};
    made = reach(w, read->open > 0 ? &w->paid_steps : &w->free_steps, writer, step);
  }
  for (uint32_t k = v->write_first[txn]; made && w->rule->orders && k < v->write_first[txn + 1]; k++) {
    uint32_t last = w->slot_last[k];
    if (last == 0) continue;
    iso_way_step step = {.txn = w->open->slot_txn[last - 1], .to = txn, .order = true};
    made = reach(w, &w->paid_steps, writer, step);
  }
  return made;
}

/* Looks for the way from the writer with the fewest literals; *end is a transaction that it comes before surely. */
static isoproof_status find_way(iso_watcher *w, uint32_t writer, uint32_t txn, uint32_t *end) {
  w->stamp++;
  w->free_steps.count = w->paid_steps.count = 0;
  bool made = iso_vec_push(&w->free_steps, ((iso_way_step){.txn = txn, .to = ISO_NO_TXN}));
  for (size_t at = 0; made; at++) {
    if (at == w->free_steps.count) { /* the next literal */
      struct iso_way_steps paid = w->paid_steps;
      w->paid_steps = w->free_steps;
      w->paid_steps.count = 0;
      w->free_steps = paid;
      at = 0;
    }
    if (w->free_steps.count == 0) return iso_fail(w->error, ISOPROOF_ERR_INTERNAL, "a visible write has no reason");
    iso_way_step step = w->free_steps.items[at];
    if (w->reached[step.txn] == w->stamp) continue;
    w->reached[step.txn] = w->stamp;
    w->step_of[step.txn] = step;
    *end = step.txn;
    if (is_surely_within(w, writer, step.txn)) return ISOPROOF_OK;
    made = expand(w, writer, step.txn);
  }
  return iso_fail_memory(w->error);
}

/* Adds what the way from the writer to the reader rests on. */
static isoproof_status deny_way(iso_watcher *w, uint32_t writer, uint32_t reader) {
  uint32_t txn = reader;
  ISO_TRY(find_way(w, writer, reader, &txn));
  while (txn != reader) {
    const iso_way_step *step = &w->step_of[txn];
    if (step->read > 0) ISO_TRY(iso_watcher_deny(w, &w->reads[step->read - 1]));
    if (step->part) ISO_TRY(iso_watcher_deny_part(w, step->txn));
    if (step->order) ISO_TRY(iso_watcher_demand(w, step->to, txn));
    txn = step->to;
  }
  return ISOPROOF_OK;
}

/* ---- what is broken ---- */

/* By any steps: of each session, the last writer of the key that comes before the reader. */
static isoproof_status check_by_ways(iso_watcher *w, uint32_t reader, const iso_seen_read *read) {
  const iso_event_graph *e = w->e;
  for (uint32_t group = e->group_first[read->key]; group < e->group_first[read->key + 1]; group++) {
    uint32_t bound = past_of(w, reader)[e->group_chain[group]];
    uint32_t low = e->group_start[group], high = e->group_start[group + 1], first = low;
    while (low < high) {
      uint32_t middle = low + (high - low) / 2;
      if (w->v->writer[middle] < bound) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == first || !iso_watcher_is_late(w, read, reader, w->v->writer[low - 1])) continue;
    ISO_TRY(iso_watcher_begin_lesson(w, read, w->v->writer[low - 1]));
    ISO_TRY(deny_way(w, w->v->writer[low - 1], reader));
    ISO_TRY(iso_watcher_end_lesson(w));
  }
  return ISOPROOF_OK;
}

/* Reads whose writer stands behind them in the sequence, or takes no part, get literals, which put it before them. */
static isoproof_status check_places(iso_watcher *w) {
  for (uint32_t i = 0; i < w->open->reads.count; i++) {
    uint32_t from = iso_watcher_writer(w, w->now[i]), reader = w->open->reads.items[i].txn;
    if (from == ISO_INITIAL || !takes_part(w, reader)) continue;
    if (w->s->place[from] < w->s->place[reader] && takes_part(w, from)) continue;
    w->broken++;
    ISO_TRY(list_read(w, i));
  }
  return ISOPROOF_OK;
}

static isoproof_status check_all(iso_watcher *w) {
  enum { MOST_LESSONS = 20000 };
  w->broken = w->lessons = 0;
  w->listed = false;
  take_reads(w);
  ISO_TRY(check_places(w));
  if (w->broken > 0) return ISOPROOF_OK;
  bool ways = (w->rule->by & ISO_BY_STEPS) != 0;
  if (ways) find_past(w);
  ISO_TRY(iso_watcher_look(w));
  for (uint32_t i = 0; i < w->s->count && w->lessons < MOST_LESSONS; i++) {
    uint32_t txn = iso_event_txn(w->e, w->s->event[i]);
    if (!takes_part(w, txn)) continue;
    for (uint32_t k = w->read_first[txn]; k < w->read_first[txn + 1]; k++) {
      ISO_TRY(ways ? check_by_ways(w, txn, &w->reads[k]) : iso_watcher_check(w, txn, &w->reads[k]));
    }
  }
  return ISOPROOF_OK;
}

/* ---- the search ---- */

static void take_solution(iso_watcher *w) {
  for (uint32_t i = 0; i < w->open->reads.count; i++) {
    if (w->menus.menus[i].count > 0) w->now[i] = w->menus.choices.items[iso_menus_true(&w->menus, i)];
  }
}

static isoproof_status run(iso_watcher *w, const iso_open_start *start, uint64_t most_conflicts, isoproof_task *task,
                           iso_refined *outcome, iso_open_search_stats *stats) {
  bool impossible, solved = false;
  iso_solver *solver = w->refiner.solver;
  w->started = start != NULL;
  ISO_TRY(iso_watcher_choose(w, start, &impossible));
  if (impossible) *outcome = ISO_REFINED_REFUTED;
  if (impossible) return ISOPROOF_OK;
  for (;;) {
    bool stated = w->listed && !solved; /* a count that does not add up as it is */
    if (!stated) ISO_TRY(check_all(w));
    if (!stated && w->broken == 0) {
      *outcome = ISO_REFINED_EXPLAINED;
      return ISOPROOF_OK;
    }
    stats->rounds++;
    iso_task_progress(task, "refining", "choices", w->menus.listed, 0);
    iso_solver_answer answer;
    iso_solver_limits limits = {.task = task};
    uint64_t conflicts = iso_solver_statistics(solver)->conflicts;
    if (most_conflicts > 0 && conflicts >= most_conflicts) return ISOPROOF_OK;
    if (most_conflicts > 0) limits.conflicts = most_conflicts - conflicts;
    ISO_TRY(iso_solver_solve(solver, NULL, 0, &limits, &answer, w->error));
    if (answer == ISO_SOLVER_UNSAT) *outcome = ISO_REFINED_REFUTED;
    if (answer != ISO_SOLVER_SAT) return ISOPROOF_OK;
    solved = true;
    take_solution(w);
    ISO_TRY(iso_refiner_apply(&w->refiner, task, w->error));
  }
}

/* More numbers than this are not worth their memory; twice as many where there are no clocks beside them. */
#define MOST_NUMBERS (UINT64_C(1) << 28)

static isoproof_status prepare(iso_watcher *w, isoproof_error *error) {
  const isoproof_history *h = w->v->h;
  bool ways = (w->rule->by & ISO_BY_STEPS) != 0;
  if (ways && (uint64_t)h->txns * w->e->chains > (w->refiner.clocks != NULL ? MOST_NUMBERS : 2 * MOST_NUMBERS)) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "too many sessions and transactions");
  }
  w->now = iso_alloc(w->open->reads.count, sizeof *w->now);
  if (ways) w->past = iso_alloc((size_t)h->txns * w->e->chains, sizeof *w->past);
  w->reached = iso_alloc_zero(h->txns, sizeof *w->reached);
  w->step_of = iso_alloc(h->txns, sizeof *w->step_of);
  w->slot_last = iso_alloc(w->v->write_first[h->txns], sizeof *w->slot_last);
  w->current = iso_alloc(h->keys, sizeof *w->current);
  w->seen_first = iso_alloc((size_t)h->keys + 2, sizeof *w->seen_first);
  bool made = w->now != NULL && (!ways || w->past != NULL) && w->reached != NULL && w->step_of != NULL &&
              w->slot_last != NULL && w->current != NULL && w->seen_first != NULL;
  return made && merge_reads(w) ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_visible_search(iso_event_graph *events, iso_sequence *sequence, const iso_event_clocks *clocks,
                                   const iso_open_reads *open, const iso_visibility *visibility, iso_doubt *doubt,
                                   const iso_open_start *start, uint64_t most_conflicts, isoproof_task *task,
                                   iso_refined *outcome, iso_open_search_stats *stats, isoproof_error *error) {
  iso_watcher w = {.open = open, .rule = visibility, .v = events->view, .e = events, .s = sequence, .error = error};
  *outcome = ISO_REFINED_UNKNOWN;
  isoproof_status status = iso_refiner_make(events, sequence, clocks, &w.refiner, error);
  if (status == ISOPROOF_OK) {
    status = iso_possible_make(events, clocks, open, iso_visibility_missed(visibility), &w.possible, error);
  }
  if (status == ISOPROOF_OK) status = iso_menus_make(open, &w.refiner, &w.possible, true, &w.menus, error);
  if (status == ISOPROOF_OK) status = prepare(&w, error);
  if (status == ISOPROOF_OK) status = run(&w, start, most_conflicts, task, outcome, stats);
  for (uint32_t i = 0; *outcome == ISO_REFINED_EXPLAINED && i < open->reads.count; i++) {
    if (takes_part(&w, open->reads.items[i].txn)) iso_open_settle(open, doubt, &open->reads.items[i], w.now[i]);
  }
  if (w.refiner.solver != NULL) {
    stats->decisions += iso_solver_statistics(w.refiner.solver)->decisions;
    stats->conflicts += iso_solver_statistics(w.refiner.solver)->conflicts;
  }
  stats->choices += w.menus.listed;
  stats->literals += w.menus.literals.count;
  watcher_free(&w);
  return status;
}
