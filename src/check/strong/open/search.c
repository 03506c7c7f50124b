/* Orders of events and observed versions as literals of one solver, refined by carrying sequences out. */
#include "check/strong/open/search.h"

#include <stdlib.h>
#include <string.h>

#include "check/strong/open/menus.h"

/* How many versions between the one observed and the current one are looked at. */
enum { LOOK_BACK = 64 };

/* If the choice is true, a version between must go. */
typedef struct {
  uint32_t read, choice, between;
} lesson;

typedef struct {
  const iso_open_reads *open;
  const iso_event_graph *e;
  const iso_version_store *store;
  const iso_sequence *s;
  iso_refiner refiner;
  iso_possible possible;
  iso_menus menus;
  ISO_VEC(lesson) lessons;
  ISO_VEC(uint32_t) rows; /* what those of a count are at the moment */
  uint8_t *bad;           /* by transaction: an optional one that the sequence does not explain; NULL without any */
  bool sessions;          /* session order counts */
  uint32_t impossible;    /* a read that no version is left for, UINT32_MAX */
  isoproof_status status;
  isoproof_error *error;
} searcher;

static void searcher_free(searcher *x) {
  iso_refiner_free(&x->refiner);
  iso_possible_free(&x->possible);
  iso_menus_free(&x->menus);
  iso_vec_free(&x->lessons);
  iso_vec_free(&x->rows);
  free(x->bad);
}

static isoproof_status searcher_make(const iso_examination *examination, const iso_sequence *sequence,
                                     const iso_open_reads *open, bool sessions, searcher *x, isoproof_error *error) {
  *x = (searcher){.open = open, .e = examination->events, .store = examination->store, .s = sequence, .error = error};
  x->sessions = sessions;
  x->impossible = UINT32_MAX;
  if (open->doubt->optional == NULL) return ISOPROOF_OK;
  x->bad = iso_alloc_zero(open->view->h->txns, 1);
  return x->bad != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

/* ---- what a sequence breaks ---- */

/* The versions between the choice and what was found have to go. */
static bool learn_between(searcher *x, uint32_t number, uint32_t choice) {
  uint32_t version = x->menus.choices.items[choice], slot = x->store->current[x->open->reads.items[number].key];
  for (int steps = 0; slot > 0 && slot != version && steps < LOOK_BACK; steps++) {
    if (!iso_vec_push(&x->lessons, ((lesson){number, choice, slot}))) return false;
    slot = x->store->slot_last[slot - 1];
  }
  return true;
}

/* A read that finds what it cannot have seen. */
static isoproof_status break_read(searcher *x, uint32_t number) {
  iso_menus *m = &x->menus;
  bool is_new = m->menus[number].count == 0;
  if (is_new) ISO_TRY(iso_menus_list(m, number, x->error));
  if (m->menus[number].count == 0) { /* the clause of no literals refutes all */
    x->impossible = number;
    return ISOPROOF_OK;
  }
  uint32_t choice = is_new ? iso_menus_likely(m, number) : iso_menus_true(m, number);
  if (is_new) iso_menus_prefer(m, choice);
  uint32_t version = m->choices.items[choice];
  const iso_open_read *read = &x->open->reads.items[number];
  bool before = version == 0 || x->s->place[iso_event_commit(x->e, x->open->slot_txn[version - 1])] <
                                    x->s->place[iso_event_begin(x->e, read->txn)];
  return !before || learn_between(x, number, choice) ? ISOPROOF_OK : iso_fail_memory(x->error);
}

static uint32_t found(const searcher *x, uint32_t read) { return x->store->current[x->open->reads.items[read].key]; }

/* Whether the version is one of an optional transaction that the sequence does not explain, so that nobody can have
 * seen it. */
static bool is_void(const searcher *x, uint32_t version) {
  if (x->bad == NULL || version == 0) return false;
  uint32_t writer = x->open->slot_txn[version - 1];
  return iso_is_optional(x->open->doubt, writer) && x->bad[writer];
}

/* How many open rows of a count match what the sequence has there. */
static int64_t count_matching(const searcher *x, const iso_open_count *count) {
  int64_t matching = 0;
  for (uint32_t i = count->first; i < count->first + count->reads; i++) {
    matching += iso_open_matches(x->open, count->statement, x->open->reads.items[i].key, found(x, i));
  }
  return matching;
}

static isoproof_status break_count(searcher *x, uint32_t number) {
  const iso_open_count *count = &x->open->counts.items[number];
  if (!x->menus.stated[number]) {
    x->rows.count = 0;
    for (uint32_t i = count->first; i < count->first + count->reads; i++) {
      if (!iso_vec_push(&x->rows, found(x, i))) return iso_fail_memory(x->error);
    }
    return iso_menus_state(&x->menus, number, x->rows.items, x->error);
  }
  for (uint32_t i = count->first; i < count->first + count->reads; i++) {
    uint32_t choice = iso_menus_true(&x->menus, i), key = x->open->reads.items[i].key;
    bool wanted = iso_open_matches(x->open, count->statement, key, x->menus.choices.items[choice]);
    bool is = iso_open_matches(x->open, count->statement, key, found(x, i));
    if ((wanted != is || is_void(x, found(x, i))) && !learn_between(x, i, choice)) return iso_fail_memory(x->error);
  }
  return ISOPROOF_OK;
}

static bool is_explained(const searcher *x, uint32_t read) {
  return iso_open_fits(x->open, &x->open->reads.items[read], found(x, read)) && !is_void(x, found(x, read));
}

/* Whether all rows of a count can be what they are, and are as many as it says. */
static bool adds_up(const searcher *x, const iso_open_count *count) {
  for (uint32_t i = count->first; x->bad != NULL && i < count->first + count->reads; i++) {
    if (is_void(x, found(x, i))) return false;
  }
  return count_matching(x, count) == count->missing;
}

/* Whether an optional transaction stands in the order of its session with all others of it. */
static bool is_in_session(const searcher *x, uint32_t txn) {
  const iso_view *v = x->open->view;
  const isoproof_history *h = v->h;
  uint32_t session = h->txn_session[txn], place = x->s->place[iso_event_commit(x->e, txn)];
  for (uint32_t t = txn + 1; t < h->session_first_txn[session + 1]; t++) {
    if (v->counts[t] && x->s->place[iso_event_begin(x->e, t)] < place) return false;
    if (v->counts[t] && !iso_is_optional(x->open->doubt, t)) break;
  }
  for (uint32_t t = txn; t-- > h->session_first_txn[session];) {
    if (v->counts[t] && x->s->place[iso_event_commit(x->e, t)] > place) return false;
    if (v->counts[t] && !iso_is_optional(x->open->doubt, t)) break;
  }
  return true;
}

/* Whether the sequence explains a transaction that begins as it stands. */
static bool explains(const searcher *x, uint32_t txn) {
  const iso_open_reads *o = x->open;
  for (uint32_t i = o->read_first[txn]; i < o->plain_end[txn]; i++) {
    if (!is_explained(x, i)) return false;
  }
  for (uint32_t i = o->count_first[txn]; i < o->count_first[txn + 1]; i++) {
    if (!adds_up(x, &o->counts.items[i])) return false;
  }
  return !x->sessions || !iso_is_optional(o->doubt, txn) || is_in_session(x, txn);
}

/* Looks at the open reads of a transaction that begins; returns how many are broken.  An optional one that takes no
 * part in the last solution need not be explained: then it must not be observed. */
static uint64_t begin_txn(void *context, uint32_t txn) {
  searcher *x = context;
  const iso_open_reads *o = x->open;
  uint64_t broken = 0;
  if (x->bad != NULL && iso_is_optional(o->doubt, txn)) {
    x->bad[txn] = !iso_menus_takes_part(&x->menus, txn) && !explains(x, txn);
    if (!iso_menus_takes_part(&x->menus, txn)) return 0;
  }
  for (uint32_t i = o->read_first[txn]; i < o->plain_end[txn] && x->status == ISOPROOF_OK; i++) {
    if (is_explained(x, i)) continue;
    broken++;
    x->status = break_read(x, i);
  }
  for (uint32_t i = o->count_first[txn]; i < o->count_first[txn + 1] && x->status == ISOPROOF_OK; i++) {
    if (adds_up(x, &o->counts.items[i])) continue;
    broken++;
    x->status = break_count(x, i);
  }
  return broken;
}

/* ---- the search ---- */

/* Who reads the choice does not see the version between: that one is before it, or after the reader. */
static isoproof_status add_lesson(searcher *x, const lesson *l) {
  const iso_event_graph *e = x->e;
  uint32_t reader = x->open->reads.items[l->read].txn, other = x->open->slot_txn[l->between - 1];
  uint32_t version = x->menus.choices.items[l->choice];
  iso_lit clause[3] = {iso_lit_not(x->menus.literals.items[l->choice])};
  size_t count = 1;
  iso_event_edge later = {iso_event_begin(e, reader), iso_event_commit(e, other)};
  ISO_TRY(iso_refiner_edge(&x->refiner, later, &clause[count++], x->error));
  if (version > 0) {
    iso_event_edge earlier = {iso_event_commit(e, other), iso_event_version(e, x->open->slot_txn[version - 1])};
    ISO_TRY(iso_refiner_edge(&x->refiner, earlier, &clause[count++], x->error));
  }
  return iso_solver_clause(x->refiner.solver, clause, count, x->error);
}

enum { FEW_CHAINS = 64 };

/* How long a search goes on: over many chains as long as the sequences break clearly less, and for some conflicts more,
 * a few for each that is broken.  Over few of them, what comes after a short search is quick as well. */
typedef struct {
  uint64_t most; /* 0: without an end */
  uint64_t least, end;
  bool extends; /* over many chains */
} patience;

/* The conflicts that are left after so many. */
static uint64_t conflicts_left(patience *p, uint64_t broken, uint64_t conflicts) {
  enum { ONE_IN = 16, EACH = 4 };
  if (p->end == 0 || (p->extends && broken < p->least - p->least / ONE_IN)) {
    p->least = broken;
    p->end = conflicts + p->most + (p->extends ? EACH * broken : 0);
  }
  return p->end > conflicts ? p->end - conflicts : 0;
}

static isoproof_status run(searcher *x, const iso_examination *examination, uint64_t most_conflicts,
                           iso_refined *outcome, iso_open_search_stats *stats) {
  isoproof_task *task = examination->task;
  iso_refiner *r = &x->refiner;
  patience left = {.most = most_conflicts, .extends = examination->events->chains > FEW_CHAINS};
  for (;;) {
    uint64_t broken;
    size_t before = r->all.first.count;
    x->lessons.count = 0;
    ISO_TRY(examination->rule->examine(examination, r->s, &r->all, &broken, x->error));
    ISO_TRY(x->status);
    if (broken == 0) {
      *outcome = ISO_REFINED_EXPLAINED;
      return ISOPROOF_OK;
    }
    stats->rounds++;
    iso_task_progress(task, "refining", "orders", r->all.first.count, 0);
    for (size_t i = before; i < r->all.first.count; i++) ISO_TRY(iso_refiner_require(r, i, x->error));
    for (size_t i = 0; i < x->lessons.count; i++) ISO_TRY(add_lesson(x, &x->lessons.items[i]));
    iso_solver_answer answer;
    iso_solver_limits limits = {.task = task};
    if (most_conflicts > 0) {
      limits.conflicts = conflicts_left(&left, broken, iso_solver_statistics(r->solver)->conflicts);
      if (limits.conflicts == 0) return ISOPROOF_OK;
    }
    ISO_TRY(iso_solver_solve(r->solver, NULL, 0, &limits, &answer, x->error));
    if (answer == ISO_SOLVER_UNSAT) *outcome = ISO_REFINED_REFUTED;
    if (answer != ISO_SOLVER_SAT) return ISOPROOF_OK;
    ISO_TRY(iso_refiner_apply(r, task, x->error));
  }
}

/* With clocks, the solver knows only the events that matter, each linked with its neighbours in every chain; of many
 * chains of a few events that is more than the whole graph (strong.c). */
static bool has_short_chains(const iso_event_graph *e) {
  enum { MANY = 256, FEW = 8 };
  return e->chains > MANY && e->count / e->chains < FEW;
}

isoproof_status iso_open_search(const iso_examination *examination, iso_sequence *sequence,
                                const iso_event_clocks *clocks, const iso_open_reads *open, bool sessions,
                                uint64_t most_conflicts, iso_refined *outcome, iso_open_search_stats *stats,
                                isoproof_error *error) {
  searcher x;
  ISO_TRY(searcher_make(examination, sequence, open, sessions, &x, error));
  *outcome = ISO_REFINED_UNKNOWN;
  iso_examination with = *examination;
  with.at_begin = begin_txn;
  with.context = &x;
  const iso_event_clocks *for_solver = has_short_chains(x.e) ? NULL : clocks;
  isoproof_status status = iso_refiner_make(examination->events, sequence, for_solver, &x.refiner, error);
  if (status == ISOPROOF_OK) status = iso_possible_make(x.e, clocks, open, ISO_MISSES_NOTHING, &x.possible, error);
  if (status == ISOPROOF_OK) status = iso_menus_make(open, &x.refiner, &x.possible, sessions, &x.menus, error);
  if (status == ISOPROOF_OK) status = run(&x, &with, most_conflicts, outcome, stats);
  if (x.refiner.solver != NULL) {
    stats->decisions += iso_solver_statistics(x.refiner.solver)->decisions;
    stats->conflicts += iso_solver_statistics(x.refiner.solver)->conflicts;
  }
  for (size_t i = 0; *outcome == ISO_REFINED_REFUTED && stats->core != NULL && i < open->reads.count; i++) {
    stats->core[i] = x.menus.menus[i].count > 0 || i == x.impossible;
  }
  stats->choices += x.menus.listed;
  stats->literals += x.menus.literals.count;
  searcher_free(&x);
  return status;
}

/* ---- sequences as they are ---- */

typedef struct {
  searcher x;
  iso_doubt *doubt;
} settler;

/* An optional transaction whose reads do not find what they saw takes no part: nobody observed it. */
static bool is_left_out(const searcher *x, uint32_t txn) {
  const iso_open_reads *o = x->open;
  if (!iso_is_optional(o->doubt, txn)) return false;
  for (uint32_t i = o->read_first[txn]; i < o->plain_end[txn]; i++) {
    if (!iso_open_fits(o, &o->reads.items[i], found(x, i))) return true;
  }
  for (uint32_t i = o->count_first[txn]; i < o->count_first[txn + 1]; i++) {
    if (count_matching(x, &o->counts.items[i]) != o->counts.items[i].missing) return true;
  }
  return false;
}

static uint64_t settle_txn(void *context, uint32_t txn) {
  const settler *s = context;
  const iso_open_reads *o = s->x.open;
  if (is_left_out(&s->x, txn)) return 0;
  for (uint32_t i = o->read_first[txn]; i < o->read_first[txn + 1]; i++) {
    iso_open_settle(o, s->doubt, &o->reads.items[i], found(&s->x, i));
  }
  return 0;
}

isoproof_status iso_open_settle_all(const iso_examination *examination, const iso_sequence *sequence,
                                    const iso_open_reads *open, iso_doubt *doubt, isoproof_error *error) {
  settler s = {.x = {.open = open, .store = examination->store}, .doubt = doubt};
  iso_examination with = *examination;
  iso_requirements none = {.unwanted = true};
  uint64_t broken;
  with.at_begin = settle_txn;
  with.context = &s;
  isoproof_status status = with.rule->examine(&with, sequence, &none, &broken, error);
  iso_requirements_free(&none);
  return status;
}

static uint64_t test_txn(void *context, uint32_t txn) {
  const searcher *x = context;
  bool explained = explains(x, txn);
  if (!iso_is_optional(x->open->doubt, txn)) return !explained;
  x->bad[txn] = !explained;
  return 0;
}

isoproof_status iso_open_count_broken(const iso_examination *examination, const iso_sequence *sequence,
                                      const iso_open_reads *open, bool sessions, uint64_t *broken,
                                      isoproof_error *error) {
  searcher x;
  iso_examination with = *examination;
  iso_requirements guess = {.unwanted = true};
  ISO_TRY(searcher_make(examination, sequence, open, sessions, &x, error));
  with.at_begin = test_txn;
  with.context = &x;
  isoproof_status status = with.rule->examine(&with, sequence, &guess, broken, error);
  iso_requirements_free(&guess);
  searcher_free(&x);
  return status;
}
