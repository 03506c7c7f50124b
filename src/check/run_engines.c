/* Which engines have to run for what was asked, and in which order. */
#include "check/run_engines.h"

#include <string.h>

#include "base/task.h"
#include "check/axioms/smallest_proof.h"
#include "check/judge.h"
#include "check/other_levels.h"
#include "check/strong/direct.h"
#include "check/within/within.h"
#include "explain/scenario.h"
#include "history/resolve.h"

/* Whether the axiom shows a pattern that was asked for; known cycles and lists are looked at before any axiom is. */
static bool shows_pattern(iso_axiom axiom, const isoproof_check_options *options) {
  for (int i = 0; i < ISO_TAPS; i++) {
    iso_tap tap = (iso_tap)i;
    iso_tap_class class = iso_tap_of(tap)->class;
    bool before = axiom == ISO_AXIOM_READ_COMMITTED && (class == ISO_CLASS_CYCLE || class == ISO_CLASS_LIST);
    if ((before || iso_tap_shows_at(tap, axiom)) && iso_is_tap_asked(options, tap)) return true;
  }
  return false;
}

/* Whether the axiom says anything about what was asked. */
static bool is_wanted(iso_axiom axiom, const isoproof_check_options *options) {
  if (options->anomaly_count > 0) return shows_pattern(axiom, options);
  for (size_t i = 0; i < options->level_count; i++) {
    const isoproof_level_info *level = isoproof_level_find(options->levels[i]);
    if (level != NULL && iso_axiom_breaks(axiom, level)) return true;
  }
  return options->level_count == 0;
}

/* Whether a level that was asked for is exactly the axiom's. */
static bool is_asked_for(iso_axiom axiom, const isoproof_check_options *options) {
  if (options->anomaly_count > 0) return shows_pattern(axiom, options);
  return iso_is_level_asked(options, iso_axiom_level(axiom));
}

/* Decides the axioms: the strongest wanted first, and weaker ones only where they are not implied. */
static isoproof_status run_weak(iso_level_check *check, const isoproof_check_options *options, isoproof_task *task,
                                isoproof_error *error) {
  bool causal = is_wanted(ISO_AXIOM_CAUSAL, options);
  if (causal) {
    iso_task_about(task, iso_axiom_level(ISO_AXIOM_CAUSAL)->id, 0, 0);
    ISO_TRY(iso_weak_decide(&check->weak, ISO_AXIOM_CAUSAL, task, error));
    if (!check->weak.axioms[ISO_AXIOM_CAUSAL].violated) return ISOPROOF_OK;
  }
  for (int axiom = 0; axiom < ISO_AXIOMS; axiom++) {
    bool wanted = options->level_count + options->anomaly_count == 0 || is_asked_for((iso_axiom)axiom, options) ||
                  (causal && axiom <= ISO_AXIOM_CAUSAL && is_wanted((iso_axiom)axiom, options));
    /* Update atomicity implies read atomicity, but not causality. */
    bool explains = axiom == ISO_AXIOM_READ_ATOMIC && check->strong.count > 0 && is_wanted((iso_axiom)axiom, options);
    if (wanted || explains) iso_task_about(task, iso_axiom_level((iso_axiom)axiom)->id, 0, 0);
    if (wanted || explains) ISO_TRY(iso_weak_decide(&check->weak, (iso_axiom)axiom, task, error));
  }
  iso_weak_report(&check->weak, options->level_count > 0, &check->findings);
  return check->findings.failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

typedef struct {
  const isoproof_check_options *options;
  const iso_level_check *check;
} wish;

/* Whether a level has to be searched for. */
static bool is_searched(const isoproof_level_info *level, void *user) {
  const wish *w = user;
  bool asked =
      w->options->level_count > 0 ? iso_is_level_asked(w->options, level) : level->family != ISOPROOF_LEVEL_MODEL;
  bool beside = iso_is_beside_the_point(w->check, level); /* then a proof is not about it */
  return asked && !iso_is_broken_weakly(w->check, level) && (beside || !iso_is_proved(w->check, level));
}

static bool is_limit(isoproof_status status) {
  return status == ISOPROOF_ERR_MEMORY || status == ISOPROOF_ERR_TIMEOUT || status == ISOPROOF_ERR_CANCELLED;
}

/* A cycle with one missed write is what is left of a lost update when everything that the contradiction can do without
 * is taken away.  Where there are lost updates at this level, one of them tells more. */
static isoproof_status prefer_lost_update(iso_level_check *check, iso_scenario *scenario, isoproof_task *task,
                                          isoproof_error *error) {
  iso_anomaly name = iso_scenario_name(check->history, scenario);
  /* Where transactions have levels of their own, a lost update may be one that its level allows. */
  if (scenario->level->rule == ISO_RULE_MIXED) return ISOPROOF_OK;
  bool single =
      name == ISO_ANOMALY_G_SINGLE || name == ISO_ANOMALY_G_SINGLE_PROCESS || name == ISO_ANOMALY_G_SINGLE_REALTIME;
  if (!single || check->uncounted) return ISOPROOF_OK;
  const iso_strong_level *level = scenario->level;
  iso_view *view = &check->weak.view;
  iso_occurrences updates;
  ISO_TRY(iso_occurrences_find(view, &check->weak.versions, level, ISO_ANOMALY_LOST_UPDATE, 1, task, &updates, error));
  bool good = true;
  if (updates.list.count > 0) {
    iso_scenario_free(scenario);
    good = iso_occurrence_scenario(view, &check->weak.versions, level, ISO_ANOMALY_LOST_UPDATE, updates.list.items,
                                   scenario);
  }
  iso_occurrences_free(&updates);
  return good ? ISOPROOF_OK : iso_fail_memory(error);
}

/* Of two scenarios of one name, that of the weaker level is shown; what violates the transactions' own levels is
 * always.
 */
static void tell_strong(iso_level_check *check, size_t decision) {
  const iso_strong_set *set = &check->strong;
  iso_anomaly name = iso_scenario_name(check->history, &set->scenarios[decision]);
  size_t k = 0;
  bool mixed = set->items[decision].level->rule == ISO_RULE_MIXED;
  while (k < check->told_count && (mixed || set->items[check->told[k]].level->rule == ISO_RULE_MIXED ||
                                   iso_scenario_name(check->history, &set->scenarios[check->told[k]]) != name)) {
    k++;
  }
  if (k == check->told_count) {
    check->told[check->told_count++] = decision;
    return;
  }
  const isoproof_level_info *told = isoproof_level_at(set->items[check->told[k]].level->level);
  if (isoproof_level_implies(told, isoproof_level_at(set->items[decision].level->level))) check->told[k] = decision;
}

isoproof_status iso_explain_strong(iso_level_check *check, size_t decision, isoproof_task *task,
                                   isoproof_error *error) {
  iso_strong_set *set = &check->strong;
  const iso_strong *item = &set->items[decision];
  if (!item->violated || iso_is_broken_weakly(check, isoproof_level_at(item->level->level))) return ISOPROOF_OK;
  isoproof_status status = iso_strong_explain(&check->weak.view, &check->weak.versions, set, decision, task, error);
  if (status == ISOPROOF_ERR_LIMIT) check->unexplained = item->level->id;
  if (status == ISOPROOF_OK) status = prefer_lost_update(check, &set->scenarios[decision], task, error);
  if (status == ISOPROOF_OK) tell_strong(check, decision);
  return status == ISOPROOF_ERR_LIMIT ? ISOPROOF_OK : status;
}

isoproof_status iso_begin_between(iso_level_check *check, isoproof_task *task, isoproof_error *error) {
  ISO_TRY(iso_weak_begin(check->history, task, &check->weak, error));
  check->has_weak = true;
  ISO_TRY(iso_weak_report_known(&check->weak, &check->findings, error));
  return check->findings.failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

/* Whether somebody wants to know what breaks the level. */
static bool concerns(const isoproof_check_options *options, const isoproof_level_info *level) {
  if (options->anomaly_count > 0) return false;
  if (options->level_count == 0 || options->others) return true;
  for (size_t i = 0; i < options->level_count; i++) {
    const isoproof_level_info *asked = isoproof_level_find(options->levels[i]);
    if (asked != NULL && isoproof_level_implies(asked, level)) return true;
  }
  return false;
}

static bool is_told(const iso_level_check *check, iso_anomaly name) {
  for (size_t k = 0; k < check->told_count; k++) {
    if (iso_scenario_name(check->history, &check->strong.scenarios[check->told[k]]) == name) return true;
  }
  return false;
}

/* Tells an instance that was found without a search; false when memory is out. */
static bool tell_occurrence(iso_level_check *check, const iso_strong_level *level, const iso_occurrences *found) {
  iso_strong_set *set = &check->strong;
  if (!iso_occurrence_scenario(&check->weak.view, &check->weak.versions, level, found->anomaly, found->list.items,
                               &set->scenarios[set->count]))
    return false;
  set->items[set->count] = (iso_strong){.level = level, .decided = true, .violated = true, .unsearched = true};
  check->told[check->told_count++] = set->count++;
  return true;
}

/* A lost update is told whenever there is one, also where a weaker level is broken, which explains every verdict. */
static isoproof_status tell_lost_update(iso_level_check *check, const isoproof_check_options *options,
                                        isoproof_task *task, isoproof_error *error) {
  const isoproof_level_info *info = isoproof_level_find(isoproof_anomaly_at(ISO_ANOMALY_LOST_UPDATE)->level);
  const iso_strong_level *level = iso_strong_level_of(info);
  iso_strong_set *set = &check->strong;
  if (!check->has_weak || check->uncounted || set->count == ISO_STRONG_MOST || !concerns(options, info)) {
    return ISOPROOF_OK;
  }
  if (iso_judge(check, info) != ISOPROOF_VIOLATED || is_told(check, ISO_ANOMALY_LOST_UPDATE)) return ISOPROOF_OK;
  iso_occurrences updates;
  isoproof_status status = iso_occurrences_find(&check->weak.view, &check->weak.versions, level,
                                                ISO_ANOMALY_LOST_UPDATE, 1, task, &updates, error);
  if (status != ISOPROOF_OK) return is_limit(status) ? ISOPROOF_OK : status;
  bool good = updates.list.count == 0 || tell_occurrence(check, level, &updates);
  iso_occurrences_free(&updates);
  return good ? ISOPROOF_OK : iso_fail_memory(error);
}

/* The same of reads that contradict each other at once. */
static isoproof_status tell_direct(iso_level_check *check, const iso_strong_level *level, isoproof_task *task,
                                   bool *told, isoproof_error *error) {
  iso_strong_set *set = &check->strong;
  iso_strong *item = &set->items[set->count];
  *item = (iso_strong){.level = level, .decided = true, .violated = true};
  ISO_TRY(iso_direct_cycle(&check->weak.view, level, task, &item->suspects, told, error));
  if (!*told) {
    memset(item, 0, sizeof *item);
    return ISOPROOF_OK;
  }
  return iso_explain_strong(check, set->count++, task, error);
}

/* Of a level that is known to be violated: an anomaly that what was read shows by itself, which is found much sooner
 * than what takes a search. */
static isoproof_status tell_any(iso_level_check *check, const isoproof_check_options *options, isoproof_task *task,
                                bool *told, isoproof_error *error) {
  *told = false;
  for (size_t i = 0; i < options->level_count && !*told; i++) {
    const iso_strong_level *level = iso_strong_level_of(isoproof_level_find(options->levels[i]));
    iso_occurrences any;
    if (level == NULL) continue;
    ISO_TRY(iso_occurrences_any(&check->weak.view, &check->weak.versions, level, task, &any, error));
    *told = any.list.count > 0;
    bool good = !*told || tell_occurrence(check, level, &any);
    iso_occurrences_free(&any);
    if (!good) return iso_fail_memory(error);
    if (!*told) ISO_TRY(tell_direct(check, level, task, told, error));
  }
  return ISOPROOF_OK;
}

/* Counts what is told.  The verdicts are there already: a limit takes nothing but numbers away. */
static isoproof_status count_told(iso_level_check *check, isoproof_task *task, isoproof_error *error) {
  size_t keep = check->findings.keep_all ? ISO_OCCURRENCES_LISTED : 0;
  for (size_t i = 0; i < check->told_count && !check->uncounted; i++) {
    const iso_scenario *scenario = &check->strong.scenarios[check->told[i]];
    isoproof_status status =
        iso_occurrences_find(&check->weak.view, &check->weak.versions, scenario->level,
                             iso_scenario_name(check->history, scenario), keep, task, &check->occurrences[i], error);
    if (status != ISOPROOF_OK && !is_limit(status)) return status;
  }
  return ISOPROOF_OK;
}

/* Over many sessions the search for a strong level can be long, and what is found out soonest over few, cycles of what
 * is known, comes late in it.  Causality is decided in a fraction of that, and where it is violated nothing is left to
 * search for. */
static bool is_causal_first(const iso_level_check *check, const isoproof_check_options *options) {
  enum { MANY_SESSIONS = 64 };
  if (options->stats || options->anomaly_count > 0 || check->history->sessions <= MANY_SESSIONS) return false;
  bool searches = options->level_count == 0;
  for (size_t i = 0; i < options->level_count && !searches; i++) {
    const isoproof_level_info *level = isoproof_level_find(options->levels[i]);
    searches = iso_strong_level_of(level) != NULL && iso_axiom_breaks(ISO_AXIOM_CAUSAL, level);
  }
  return searches;
}

/* Strong levels first: what is satisfied implies the weaker ones, which then need no look.  What is violated may well
 * be so because of a weaker level, which explains it better. */
static isoproof_status run_between(iso_level_check *check, const isoproof_check_options *options, isoproof_task *task,
                                   isoproof_error *error) {
  bool told = false;
  ISO_TRY(iso_begin_between(check, task, error));
  if (check->violated) ISO_TRY(tell_any(check, options, task, &told, error));
  if (told) return ISOPROOF_OK;
  bool causal_known = iso_is_proved(check, iso_axiom_level(ISO_AXIOM_CAUSAL));
  if (!causal_known && is_causal_first(check, options))
    ISO_TRY(iso_weak_decide(&check->weak, ISO_AXIOM_CAUSAL, task, error));
  wish w = {options, check};
  iso_strong_options how = {.count_pairs = options->stats, .first = check->first};
  if (options->anomaly_count == 0) {
    ISO_TRY(iso_strong_run(&check->weak.view, &check->weak.versions, is_searched, &w, options->level_count > 0, &how,
                           task, &check->strong, error));
  }
  causal_known =
      causal_known || iso_strong_verdict(&check->strong, iso_axiom_level(ISO_AXIOM_CAUSAL)) == ISOPROOF_SATISFIED;
  if (!causal_known) ISO_TRY(run_weak(check, options, task, error));
  for (size_t i = 0; i < check->strong.count; i++) ISO_TRY(iso_explain_strong(check, i, task, error));
  return ISOPROOF_OK;
}

static isoproof_status shorten_proofs(iso_level_check *check, isoproof_error *error) {
  if (check->findings.keep_all) return ISOPROOF_OK;
  for (int tap = 0; tap < ISO_TAPS; tap++) {
    if (iso_tap_is_of_reads((iso_tap)tap) || check->findings.count[tap] == 0) continue;
    ISO_TRY(iso_level_check_need_prover(check, error));
    iso_prove_smallest(&check->prover, &check->findings.first[tap]);
  }
  return ISOPROOF_OK;
}

/* Decides what was asked for, or everything where nothing in particular was. */
static isoproof_status run_asked(iso_level_check *check, const isoproof_check_options *options, isoproof_task *task,
                                 isoproof_error *error) {
  bool any = options->level_count + options->anomaly_count == 0;
  for (int axiom = 0; axiom < ISO_AXIOMS; axiom++) any = any || is_wanted((iso_axiom)axiom, options);
  for (size_t i = 0; i < options->level_count; i++) {
    any = any || iso_strong_level_of(isoproof_level_find(options->levels[i])) != NULL;
  }
  if (!any) return ISOPROOF_OK;
  bool suits;
  ISO_TRY(iso_versions_suit(check->history, &suits, error));
  if (suits) return run_between(check, options, task, error);
  if (options->anomaly_count > 0) {
    check->unknown_reason = "patterns between transactions are found in registers and lists only";
  }
  return ISOPROOF_OK;
}

isoproof_status iso_run_engines(iso_level_check *check, const isoproof_check_options *options, isoproof_task *task,
                                isoproof_error *error) {
  isoproof_history *history = check->history;
  const iso_resolution *resolution;
  ISO_TRY(iso_history_resolve(history, task, &resolution, error));
  check->uncounted = resolution->counts.duplicate_writes > 0 || resolution->open_reads > 0;
  if (!options->duplicate_values) ISO_TRY(iso_history_require_unique(history, resolution, error));
  if (!check->proof.is_sound) ISO_TRY(iso_check_within(history, task, &check->findings, error));
  bool others = options->others && options->anomaly_count == 0;
  if (!others || options->level_count > 0) ISO_TRY(run_asked(check, options, task, error));
  if (others) ISO_TRY(iso_decide_others(check, options, task, error));
  ISO_TRY(tell_lost_update(check, options, task, error));
  ISO_TRY(count_told(check, task, error));
  iso_task_about(task, NULL, 0, 0);
  return shorten_proofs(check, error);
}
