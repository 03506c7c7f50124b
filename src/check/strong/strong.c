/* One strong level: a first sequence, what follows without a guess, and refinement with the solver. */
#include "check/strong/strong.h"

#include <stdlib.h>
#include <string.h>

#include "check/order/one_key.h"
#include "check/order/placement.h"
#include "check/order/value_order.h"
#include "check/strong/direct.h"
#include "check/strong/forced_orders.h"
#include "check/strong/refine.h"
#include "check/strong/saturate_rows.h"
#include "check/strong/single.h"
#include "check/strong/undecided.h"
#include "check/strong/unsat_core.h"

void iso_strong_free(iso_strong *strong) {
  free(strong->sequence);
  iso_vec_free(&strong->suspects);
  memset(strong, 0, sizeof *strong);
}

/* One level being decided. */
typedef struct {
  const iso_strong_rule *rule;
  iso_view *view;
  const iso_versions *versions;
  iso_event_graph events;
  iso_sequence sequence;
  iso_event_clocks clocks;
  bool has_clocks;
  iso_version_store store;
  iso_requirements guess; /* what the first sequence breaks */
  iso_strong_options options;
  isoproof_task *task;
  bool is_over; /* decided, or refuted where only a sequence is wanted */
  iso_strong *out;
} decision;

static void decision_free(decision *d) {
  iso_event_graph_free(&d->events);
  iso_sequence_free(&d->sequence);
  iso_event_clocks_free(&d->clocks);
  iso_version_store_free(&d->store);
  iso_requirements_free(&d->guess);
}

/* What list reads show of the order of versions. */
static isoproof_status add_list_orders(decision *d, const iso_versions *versions, isoproof_error *error) {
  if (versions == NULL || versions->ww_first == NULL) return ISOPROOF_OK;
  const iso_event_graph *e = &d->events;
  const isoproof_history *h = e->view->h;
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    for (uint32_t i = versions->ww_first[txn]; i < versions->ww_first[txn + 1]; i++) {
      const iso_ww *ww = &versions->ww[i];
      iso_derived edge = {.from = iso_event_commit(e, ww->from),
                          .to = iso_event_version(e, txn),
                          .read = h->op_key[ww->to_op],
                          .reason = ISO_LIST};
      ISO_TRY(iso_event_graph_add(&d->events, edge, error));
    }
  }
  return ISOPROOF_OK;
}

static iso_examination examination_of(decision *d) {
  return (iso_examination){
      .rule = d->rule, .events = &d->events, .clocks = &d->clocks, .store = &d->store, .task = d->task};
}

static void lap(double *since, double *seconds) {
  double now = iso_now();
  *seconds += now - *since;
  *since = now;
}

static isoproof_status satisfied(decision *d) {
  iso_strong *out = d->out;
  out->decided = d->is_over = true;
  out->split = d->events.split;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < d->sequence.count; i++) {
    if (d->sequence.event[i] < d->events.txn_events) d->sequence.event[kept++] = d->sequence.event[i];
  }
  out->sequence = d->sequence.event;
  out->sequence_count = kept;
  d->sequence.event = NULL;
  return ISOPROOF_OK;
}

static isoproof_status violated_by_cycle(decision *d, isoproof_error *error) {
  d->is_over = true;
  if (d->options.only_satisfied) return ISOPROOF_OK;
  d->out->decided = d->out->violated = true;
  double since = iso_now();
  isoproof_status status =
      iso_blame_cycle(&d->events, d->has_clocks ? &d->clocks : NULL, d->task, &d->out->suspects, error);
  lap(&since, &d->out->stats.blame_seconds);
  return status;
}

/* An initial version was read that somebody had overwritten whom the level of the reader does not let it miss. */
static isoproof_status violated_by_miss(decision *d, const iso_forced_miss *miss, isoproof_error *error) {
  d->is_over = true;
  if (d->options.only_satisfied) return ISOPROOF_OK;
  d->out->decided = d->out->violated = true;
  return iso_blame_forced(&d->events, miss->seen, miss->reader, &d->out->suspects, error);
}

static bool may_have_clocks(const decision *d) { return iso_event_clocks_bytes(&d->events) <= ISO_MOST_CLOCK_BYTES; }

static isoproof_status make_clocks(decision *d, isoproof_error *error) {
  if (d->has_clocks || !may_have_clocks(d)) return ISOPROOF_OK;
  ISO_TRY(iso_event_clocks_make(&d->events, d->task, &d->clocks, error));
  d->has_clocks = true;
  return iso_event_clocks_update(&d->events, &d->sequence, d->task, &d->clocks, error);
}

/* From requirements that cannot all be met to the transactions behind them. */
static isoproof_status violated_by_core(decision *d, const iso_requirements *all, isoproof_error *error) {
  d->is_over = true;
  if (d->options.only_satisfied) return ISOPROOF_OK;
  double since = iso_now();
  iso_requirements core = {.failed = false};
  iso_event_edges edges = {.items = NULL};
  d->out->decided = d->out->violated = true;
  isoproof_status status = make_clocks(d, error);
  const iso_event_clocks *clocks = d->has_clocks ? &d->clocks : NULL;
  if (status == ISOPROOF_OK) status = iso_unsat_core_find(&d->events, clocks, all, d->task, &core, &edges, error);
  if (status == ISOPROOF_OK) {
    status = iso_blame_core(&d->events, clocks, &core, &edges, d->task, &d->out->suspects, error);
  }
  iso_requirements_free(&core);
  iso_vec_free(&edges);
  lap(&since, &d->out->stats.blame_seconds);
  return status;
}

/* With clocks, the solver knows only the events that matter, each linked with its neighbours in every chain.  Where
 * there are many chains of a few events, that is nearly every pair of events, and the whole graph is far less. */
static const iso_event_clocks *clocks_for_solver(const decision *d) {
  enum { MANY = 256, FEW = 8 };
  bool short_chains = d->events.chains > MANY && d->events.count / d->events.chains < FEW;
  return d->has_clocks && !short_chains ? &d->clocks : NULL;
}

/* Refines the sequence; leaves the decision open past a limit. */
static isoproof_status refine(decision *d, iso_refine_limits limits, isoproof_error *error) {
  iso_refinement refined;
  double since = iso_now();
  iso_examination examination = examination_of(d);
  ISO_TRY(iso_refine(&examination, &d->sequence, clocks_for_solver(d), limits, &refined, error));
  lap(&since, &d->out->stats.solve_seconds);
  d->out->stats.refinements += refined.rounds;
  d->out->stats.requirements += refined.all.first.count;
  d->out->stats.decisions += refined.decisions;
  d->out->stats.conflicts += refined.conflicts;
  isoproof_status status = ISOPROOF_OK;
  if (refined.outcome == ISO_REFINED_EXPLAINED) status = satisfied(d);
  if (refined.outcome == ISO_REFINED_REFUTED) status = violated_by_core(d, &refined.all, error);
  iso_refinement_free(&refined);
  return status;
}

static isoproof_status saturate(decision *d, bool *cyclic, isoproof_error *error) {
  double since = iso_now();
  iso_strong_stats *stats = &d->out->stats;
  iso_saturation saturation = {.rounds = 0};
  ISO_TRY(make_clocks(d, error));
  ISO_TRY(iso_view_need_readers((iso_view *)d->events.view, error));
  bool saturates = d->rule->saturates && !d->options.no_saturation;
  if (saturates) ISO_TRY(iso_saturate(d->rule, &d->events, &d->sequence, &d->clocks, d->task, &saturation, error));
  *cyclic = saturation.cyclic;
  stats->rounds = saturation.rounds;
  stats->derived = d->events.derived.count;
  lap(&since, &stats->saturate_seconds);
  if (d->options.count_pairs && d->has_clocks) {
    iso_count_undecided(&d->events, &d->clocks, &stats->pairs_left, &stats->dependencies_left);
    d->out->counted_left = true;
  }
  return ISOPROOF_OK;
}

/* The same by rows of bits, without clocks; for `most_rounds` where that is not 0. */
static isoproof_status saturate_rows(decision *d, uint32_t most_rounds, bool *cyclic, isoproof_error *error) {
  double since = iso_now();
  iso_strong_stats *stats = &d->out->stats;
  iso_saturation saturation = {.rounds = 0};
  ISO_TRY(iso_view_need_readers((iso_view *)d->events.view, error));
  ISO_TRY(iso_saturate_rows(d->rule, &d->events, &d->sequence, most_rounds, d->task, &saturation, error));
  *cyclic = saturation.cyclic;
  stats->rounds = saturation.rounds;
  stats->derived = d->events.derived.count;
  lap(&since, &stats->saturate_seconds);
  return ISOPROOF_OK;
}

/* When the first sequence is nearly right, the solver repairs it faster than clocks are made. */
static bool is_nearly_right(const decision *d) {
  enum { ONE_IN = 50 };
  const iso_view *v = d->events.view;
  uint64_t all = (uint64_t)v->read_first[v->h->txns] + v->write_first[v->h->txns];
  return d->out->stats.guessed_wrong <= all / ONE_IN;
}

/* Refines a sequence that was placed.  What leads astray is given up, and the sequence stays as it was. */
static isoproof_status refine_placed(decision *d, isoproof_error *error) {
  enum { CONFLICTS = 1000, TIMES = 8, SOME = 100 };
  uint32_t *event = iso_sequence_copy(&d->sequence);
  if (event == NULL) return iso_fail_memory(error);
  iso_refine_limits limits = {.conflicts = CONFLICTS, .broken = TIMES * d->out->stats.guessed_wrong + SOME};
  isoproof_status status = refine(d, limits, error);
  if (status == ISOPROOF_OK && !d->is_over) iso_sequence_restore(&d->sequence, event);
  free(event);
  return status;
}

/* Makes another sequence, which stays when it is better, and refines it when little is wrong with it. */
static isoproof_status guess_once(decision *d, iso_placement how, isoproof_error *error) {
  iso_examination examination = examination_of(d);
  uint64_t broken = 0, *least = &d->out->stats.guessed_wrong;
  uint32_t *event = iso_sequence_copy(&d->sequence);
  if (event == NULL) return iso_fail_memory(error);
  isoproof_status status = iso_sequence_place(&d->events, how, d->task, &d->sequence, error);
  iso_requirements_free(&d->guess);
  if (status == ISOPROOF_OK) status = d->rule->examine(&examination, &d->sequence, &d->guess, &broken, error);
  bool better = broken < *least;
  if (better) *least = broken;
  if (status == ISOPROOF_OK && !better) iso_sequence_restore(&d->sequence, event);
  free(event);
  if (status != ISOPROOF_OK || !better) return status;
  if (broken == 0) return satisfied(d);
  return is_nearly_right(d) ? refine_placed(d, error) : ISOPROOF_OK;
}

/* Takes a sequence where it explains more than the one at hand; frees the other one. */
static isoproof_status take_better(decision *d, iso_sequence *made, isoproof_error *error) {
  uint64_t broken, *least = &d->out->stats.guessed_wrong;
  iso_examination examination = examination_of(d);
  iso_requirements breaks = {.failed = false};
  isoproof_status status = d->rule->examine(&examination, made, &breaks, &broken, error);
  if (status == ISOPROOF_OK && broken < *least) {
    iso_sequence other = d->sequence;
    iso_requirements others = d->guess;
    d->sequence = *made, d->guess = breaks, *least = broken;
    *made = other, breaks = others;
  }
  iso_sequence_free(made);
  iso_requirements_free(&breaks);
  return status;
}

/* Where transactions have times, the order of their starts may be nearer to what happened than that of their ends. */
static isoproof_status try_starts(decision *d, isoproof_error *error) {
  if (!d->events.timed || d->out->stats.guessed_wrong == 0 || d->options.first != NULL) return ISOPROOF_OK;
  if (d->events.split && is_nearly_right(d)) return ISOPROOF_OK; /* begins and commits by their own times */
  iso_sequence made = {.event = NULL};
  ISO_TRY(iso_sequence_make_by_starts(&d->events, d->task, &made, error));
  return take_better(d, &made, error);
}

/* Where sessions tell little and values count up, these tell more. */
static isoproof_status try_counting(decision *d, isoproof_error *error) {
  enum { FEW_CHAINS = 64 };
  bool lists = d->versions != NULL && d->versions->place != NULL, plain = !d->rule->own_levels && !lists;
  if (!plain || d->events.shape.real_time || d->events.chains <= FEW_CHAINS || d->options.first != NULL) {
    return ISOPROOF_OK;
  }
  iso_value_order counting;
  isoproof_status status = iso_value_order_make(&d->events, d->task, &counting, error);
  if (status == ISOPROOF_OK && counting.readers) {
    status = take_better(d, &counting.sequence, error);
    counting.sequence = (iso_sequence){.event = NULL};
  }
  iso_value_order_free(&counting);
  return status == ISOPROOF_OK && d->out->stats.guessed_wrong == 0 ? satisfied(d) : status;
}

/* Guesses better sequences, when the first one is far from right. */
static isoproof_status guess_again(decision *d, isoproof_error *error) {
  enum { ATTEMPTS = 4 };
  bool springs = !d->events.timed, crowded = iso_is_crowded(d->events.view);
  if (crowded) ISO_TRY(guess_once(d, (iso_placement){.springs = springs, .replay = true}, error));
  bool values = crowded && !d->events.shape.real_time;
  if (values && !d->is_over) ISO_TRY(guess_once(d, (iso_placement){.values = true}, error));
  uint64_t last = UINT64_MAX;
  for (uint64_t attempt = 0; attempt < ATTEMPTS && !d->is_over; attempt++) {
    /* More of the same where it was of use. */
    if (attempt > 0 && (!is_nearly_right(d) || d->out->stats.guessed_wrong == last)) break;
    last = d->out->stats.guessed_wrong;
    iso_placement how = {.springs = attempt == 0 && springs && !crowded,
                         .together = attempt == 0,
                         .exclusive = d->rule->exclusive,
                         .seed = attempt};
    ISO_TRY(guess_once(d, how, error));
  }
  return ISOPROOF_OK;
}

/* A look at what follows at once.  Of many transactions with reads that takes a fraction of a guess, which is in vain
 * where they contradict each other; begins of their own make it four times as much.  It leaves nothing behind. */
static isoproof_status look(decision *d, bool *refuted, isoproof_error *error) {
  enum { MANY = 8192, READS = 2 };
  const iso_view *v = d->events.view;
  if (d->events.split || v->taking_part < MANY || v->read_first[v->h->txns] / READS < v->taking_part) {
    return ISOPROOF_OK;
  }
  if (!iso_rows_are_quick(&d->events)) return ISOPROOF_OK;
  uint32_t known = (uint32_t)d->events.derived.count;
  ISO_TRY(saturate_rows(d, 1, refuted, error));
  if (!*refuted) iso_event_graph_drop(&d->events, known);
  return ISOPROOF_OK;
}

/* Guesses before and after everything that follows without one is added: before, a guess is made sooner, and mostly
 * does.  Where a transaction meets most keys, nothing but what follows tells where it stands. */
static isoproof_status guess_between_rows(decision *d, bool guesses, isoproof_error *error) {
  bool refuted = false, first = guesses && !iso_is_crowded(d->events.view);
  if (first) ISO_TRY(look(d, &refuted, error));
  if (first && !refuted) ISO_TRY(guess_again(d, error));
  if (!refuted && !d->is_over) ISO_TRY(saturate_rows(d, 0, &refuted, error));
  if (refuted) return violated_by_cycle(d, error);
  return guesses && !d->is_over ? guess_again(d, error) : ISOPROOF_OK;
}

/* What follows without a guess, and the search on top of that; after better guesses, if wanted, as the orders that
 * follow leave far fewer places to choose from. */
static isoproof_status search_saturated(decision *d, bool guesses, uint64_t most_conflicts, bool *refuted,
                                        isoproof_error *error) {
  ISO_TRY(saturate(d, refuted, error));
  if (*refuted) return violated_by_cycle(d, error);
  if (guesses) {
    iso_examination examination = examination_of(d);
    iso_requirements_free(&d->guess);
    ISO_TRY(d->rule->examine(&examination, &d->sequence, &d->guess, &d->out->stats.guessed_wrong, error));
    ISO_TRY(d->out->stats.guessed_wrong == 0 ? satisfied(d) : guess_again(d, error));
  }
  return d->is_over ? ISOPROOF_OK : refine(d, (iso_refine_limits){.conflicts = most_conflicts}, error);
}

/* Takes what was decided about a stronger level, if that is satisfied: its sequence proves this one, too. */
static void take_satisfied(iso_strong *strong, iso_strong *stronger) {
  if (!stronger->decided || stronger->violated) {
    iso_strong_free(stronger);
    return;
  }
  const iso_strong_level *level = strong->level;
  *strong = *stronger;
  strong->level = level;
}

/* Real time rules out most orders, so that the level with it is often the easier one to search for.  Where the history
 * has times and guesses have failed, it is tried, and given up where it is violated or takes long. */
static isoproof_status try_real_time(decision *d, isoproof_error *error) {
  if (!d->events.timed || d->events.shape.real_time || d->options.only_satisfied) return ISOPROOF_OK;
  iso_strong_level in_time = *d->out->level;
  in_time.real_time = true;
  iso_strong_options options = {.only_satisfied = true};
  iso_strong other;
  double since = iso_now();
  ISO_TRY(iso_strong_decide(d->view, d->versions, &in_time, NULL, &options, d->task, &other, error));
  take_satisfied(d->out, &other);
  d->is_over = d->out->decided;
  lap(&since, &d->out->stats.guess_seconds);
  return ISOPROOF_OK;
}

/* Whether clocks come before guesses: over few chains; and over more of them, where these are long and a sequence by
 * the clock is far from right, so that a guess has nothing to begin with. */
static bool clocks_come_first(const decision *d) {
  enum { FEW_CHAINS = 64, SOME_CHAINS = 256, LONG_CHAIN = 512, ONE_IN = 8 };
  const iso_view *v = d->events.view;
  uint64_t all = (uint64_t)v->read_first[v->h->txns] + v->write_first[v->h->txns];
  uint32_t chains = d->events.chains;
  if (d->options.rows || chains <= FEW_CHAINS) return !d->options.rows;
  return chains <= SOME_CHAINS && d->events.count / chains >= LONG_CHAIN && d->events.timed &&
         d->out->stats.guessed_wrong > all / ONE_IN;
}

/* Of many transactions of many sessions all of that takes long: what follows at once is looked at first. */
static isoproof_status look_at_once(decision *d, isoproof_error *error) {
  enum { MANY = 8192, FEW_CHAINS = 64 };
  bool found = false, lists = d->versions != NULL && d->versions->place != NULL;
  bool alike = !d->options.count_pairs && !d->options.no_guess && !d->options.only_satisfied;
  if (!alike || lists || d->view->taking_part < MANY || d->events.chains <= FEW_CHAINS) return ISOPROOF_OK;
  ISO_TRY(iso_direct_cycle(d->view, d->out->level, d->task, &d->out->suspects, &found, error));
  if (found) d->is_over = d->out->decided = d->out->violated = true;
  return ISOPROOF_OK;
}

/* Clocks over few sessions are made in no time, and what follows from them mostly leaves little to search for.  Over
 * many sessions they cost much and tell little, so that a better guess comes first; and it comes second where a search
 * on top of the clocks does not end soon. */
static isoproof_status search(decision *d, isoproof_error *error) {
  enum { PATIENCE = 2000, SOON = 1000, LONG = 10000, FEW_TXNS = 64 };
  bool refuted = false, guesses = d->rule->is_executed && !d->options.no_guess && !d->options.count_pairs;
  bool places = guesses && !d->rule->own_levels; /* moving begins and commits takes all transactions to be alike */
  if (guesses && may_have_clocks(d) && is_nearly_right(d)) {
    ISO_TRY(refine(d, (iso_refine_limits){.conflicts = PATIENCE}, error));
  }
  if (!d->is_over) ISO_TRY(look_at_once(d, error));
  if (!d->is_over && guesses) ISO_TRY(try_counting(d, error));
  if (d->is_over) return ISOPROOF_OK;
  bool clocks = may_have_clocks(d) && (!d->options.no_clocks || d->rule->needs_clocks);
  if (!clocks && d->rule->needs_clocks) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "%u sessions are too many for this level", d->events.chains);
  }
  guesses = guesses && d->events.view->taking_part > FEW_TXNS;
  bool few = clocks && clocks_come_first(d);
  if (few) ISO_TRY(search_saturated(d, false, guesses ? SOON : 0, &refuted, error));
  bool rows = !few && d->rule->saturates && !d->rule->own_levels && !d->options.no_saturation;
  rows = rows && (d->options.rows || iso_rows_suit(&d->events, &d->sequence));
  if (rows) ISO_TRY(guess_between_rows(d, guesses && places, error));
  if (!rows && guesses && places && !d->is_over) ISO_TRY(guess_again(d, error));
  if (guesses && !d->is_over) ISO_TRY(try_real_time(d, error));
  if (d->is_over) return ISOPROOF_OK;
  uint64_t most = d->options.only_satisfied ? LONG : 0;
  if (clocks && !few && !rows) return search_saturated(d, guesses && places, most, &refuted, error);
  if (clocks && rows) ISO_TRY(make_clocks(d, error));
  return refine(d, (iso_refine_limits){.conflicts = most}, error);
}

/* Single operations on registers in real time need no search: there is an order, or a contradiction, at once. */
static isoproof_status order_single(decision *d, isoproof_error *error) {
  bool suits = d->out->level->rule == ISO_RULE_SERIALIZABLE && d->out->level->real_time && !d->options.no_guess &&
               !d->options.count_pairs && (d->versions == NULL || d->versions->ww_first == NULL);
  if (!suits) return ISOPROOF_OK;
  iso_single_order order;
  ISO_TRY(iso_single_order_find(&d->events, d->task, &order, &d->out->suspects, error));
  isoproof_status status = ISOPROOF_OK;
  if (order.violated) d->is_over = d->out->decided = d->out->violated = true;
  if (order.when != NULL) status = iso_sequence_make_by(&d->events, order.when, d->task, &d->sequence, error);
  iso_single_order_free(&order);
  return status;
}

/* Neither do transactions on one key without real time, where there is an order. */
static isoproof_status order_one_key(decision *d, isoproof_error *error) {
  int64_t *when;
  if (d->events.shape.real_time || d->options.no_guess) return ISOPROOF_OK;
  ISO_TRY(iso_one_key_order(&d->events, &when, error));
  isoproof_status status = ISOPROOF_OK;
  if (when != NULL) status = iso_sequence_make_by(&d->events, when, d->task, &d->sequence, error);
  free(when);
  return status;
}

static isoproof_status decide(decision *d, iso_view *view, const iso_versions *versions, const uint8_t *cut,
                              isoproof_error *error) {
  iso_strong_stats *stats = &d->out->stats;
  double since = iso_now();
  iso_event_shape shape = {
      .split = d->rule->split, .ww_to_commit = d->rule->ww_to_commit, .real_time = d->out->level->real_time};
  iso_forced_miss miss = {.found = false};
  if (d->rule->own_levels) shape.own = view->h->txn_isolation_opt;
  ISO_TRY(iso_event_graph_make(view, shape, cut, &d->events, error));
  ISO_TRY(add_list_orders(d, versions, error));
  if (d->rule->own_levels) ISO_TRY(iso_add_forced_orders(&d->events, d->task, &miss, error));
  ISO_TRY(order_single(d, error));
  if (d->is_over) return ISOPROOF_OK;
  if (d->sequence.event == NULL) ISO_TRY(order_one_key(d, error));
  if (d->sequence.event == NULL) ISO_TRY(iso_sequence_make(&d->events, d->task, &d->sequence, error));
  if (d->options.first != NULL) ISO_TRY(iso_sequence_follow(&d->events, d->options.first, &d->sequence, error));
  stats->events = d->sequence.total;
  stats->chains = d->events.chains;
  lap(&since, &stats->construct_seconds);
  if (d->sequence.count < d->sequence.total) return violated_by_cycle(d, error);
  if (miss.found) return violated_by_miss(d, &miss, error);
  ISO_TRY(iso_version_store_make(d->events.view, &d->store, error));
  bool runs = d->rule->is_executed, counts = d->options.count_pairs;
  iso_examination examination = examination_of(d);
  if (runs) ISO_TRY(d->rule->examine(&examination, &d->sequence, &d->guess, &stats->guessed_wrong, error));
  if (runs && !d->options.no_guess) ISO_TRY(try_starts(d, error));
  lap(&since, &stats->guess_seconds);
  if (counts) iso_count_undecided(&d->events, NULL, &stats->pairs, &stats->dependencies);
  d->out->counted = counts;
  if (runs && stats->guessed_wrong == 0 && !counts && !d->options.no_guess) return satisfied(d);
  return search(d, error);
}

/* A level that snapshot isolation implies is satisfied with it, and snapshot isolation is the easier one to search for:
 * its rule is a plain matter of cycles. */
static isoproof_status decide_by_snapshot(iso_view *view, const iso_versions *versions,
                                          const iso_strong_options *chosen, isoproof_task *task, iso_strong *strong,
                                          isoproof_error *error) {
  const iso_strong_level *snapshot = iso_strong_level_of(isoproof_level_at(ISO_LEVEL_SNAPSHOT_ISOLATION));
  iso_strong other;
  iso_strong_options options = {.count_pairs = chosen->count_pairs, .first = chosen->first};
  double since = iso_now();
  ISO_TRY(iso_strong_decide(view, versions, snapshot, NULL, &options, task, &other, error));
  take_satisfied(strong, &other);
  lap(&since, &strong->stats.guess_seconds);
  return ISOPROOF_OK;
}

isoproof_status iso_strong_decide(iso_view *view, const iso_versions *versions, const iso_strong_level *level,
                                  const uint8_t *cut, const iso_strong_options *options, isoproof_task *task,
                                  iso_strong *strong, isoproof_error *error) {
  memset(strong, 0, sizeof *strong);
  strong->level = level;
  iso_strong_options chosen = {.count_pairs = false};
  if (options != NULL) chosen = *options;
  const iso_strong_rule *rule = iso_strong_rule_of(level->rule);
  if (!rule->is_executed && !level->real_time && !chosen.no_guess)
    ISO_TRY(decide_by_snapshot(view, versions, &chosen, task, strong, error));
  if (strong->decided) return ISOPROOF_OK;
  decision d = {.rule = rule, .view = view, .versions = versions, .task = task, .out = strong, .options = chosen};
  isoproof_status status = decide(&d, view, versions, cut, error);
  decision_free(&d);
  if (status != ISOPROOF_OK) iso_strong_free(strong);
  return status;
}
