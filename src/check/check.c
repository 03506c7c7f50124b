/* isoproof_check: runs the checkers, then reads the verdict on every level off what they found. */
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/task.h"
#include "check/axioms/smallest_proof.h"
#include "check/duplicates/ambiguous.h"
#include "check/within/within.h"
#include "elle/elle_result.h"
#include "history/resolve.h"
#include "result/result.h"

/* Whether the level is one that isoproof_check can be asked about: by its own table, not Elle's models. */
static bool is_level(const isoproof_level_info *info) { return info->family != ISOPROOF_LEVEL_MODEL; }

/* A pattern of single reads, or a known cycle, breaks every level that forbids it: TAP-j breaks cut-isolation and
 * everything from read-atomic up, the others everything from read-committed up and the session guarantees. */
static bool breaks(iso_tap tap, const isoproof_level_info *level) {
  const isoproof_anomaly_info *anomaly = isoproof_anomaly_find(iso_tap_code(tap));
  if (anomaly == NULL || anomaly->level == NULL) return false;
  /* A model without session order knows nothing of cycles through sessions, which are searched for without it. */
  const iso_strong_level *strong = iso_strong_level_of(level);
  if (strong != NULL && strong->single) return iso_tap_class_of(tap) == ISO_CLASS_READ;
  bool without_sessions = iso_tap_class_of(tap) == ISO_CLASS_READ || tap == ISO_TAP_G0 || tap == ISO_TAP_G1C;
  if (!is_level(level)) return strong != NULL && without_sessions;
  if (tap != ISO_TAP_J && level->family == ISOPROOF_LEVEL_SESSION) return true;
  const isoproof_level_info *weakest = isoproof_level_find(anomaly->level);
  return weakest != NULL && isoproof_level_implies(level, weakest);
}

static bool is_unconditional(int tap) { return iso_tap_class_of((iso_tap)tap) != ISO_CLASS_AXIOM; }

/* The axiom that a level is decided by; ISO_AXIOMS for none. */
static iso_axiom axiom_of(const isoproof_level_info *level) {
  for (int axiom = 0; axiom < ISO_AXIOMS; axiom++) {
    if (is_level(level) && strcmp(level->id, iso_axiom_level((iso_axiom)axiom)) == 0) return (iso_axiom)axiom;
  }
  return ISO_AXIOMS;
}

/* Whether a violation of the axiom's level is one of `level`. */
static bool axiom_breaks(iso_axiom axiom, const isoproof_level_info *level) {
  const isoproof_level_info *own = isoproof_level_find(iso_axiom_level(axiom));
  return is_level(level) && own != NULL && isoproof_level_implies(level, own);
}

/* Whether single reads, or known cycles, break the level, whatever the order of anything else. */
static bool is_broken_outright(const isoproof_result *result, const isoproof_level_info *level) {
  for (int tap = 0; tap < ISO_TAPS; tap++) {
    bool found = is_unconditional(tap) && result->findings.count[tap] > 0;
    if (found && breaks((iso_tap)tap, level)) return true;
  }
  return false;
}

/* The same, or the axiom of a weaker level. */
static bool is_broken_weakly(const isoproof_result *result, const isoproof_level_info *level) {
  if (is_broken_outright(result, level)) return true;
  for (int axiom = 0; axiom < ISO_AXIOMS && result->has_weak; axiom++) {
    if (result->weak.axioms[axiom].violated && axiom_breaks((iso_axiom)axiom, level)) return true;
  }
  return false;
}

/* Whether the level is about transactions of one operation, and the history is not. */
static bool is_beside_the_point(const isoproof_result *result, const isoproof_level_info *level) {
  const iso_strong_level *strong = iso_strong_level_of(level);
  if (strong == NULL || !strong->single) return false;
  return !result->has_weak || iso_strong_hindrance(&result->weak.view, strong) != NULL;
}

static isoproof_verdict judge(const isoproof_result *result, const isoproof_level_info *level) {
  if (is_beside_the_point(result, level)) return iso_strong_verdict(&result->strong, level);
  if (is_broken_outright(result, level)) return ISOPROOF_VIOLATED;
  if (strcmp(level->id, "cut-isolation") == 0 && is_level(level)) return ISOPROOF_SATISFIED;
  if (!result->has_weak) return ISOPROOF_UNDECIDED;
  if (is_broken_weakly(result, level)) return ISOPROOF_VIOLATED;
  isoproof_verdict searched = iso_strong_verdict(&result->strong, level);
  if (searched != ISOPROOF_UNDECIDED) return searched;
  iso_axiom own = axiom_of(level);
  if (own == ISO_AXIOMS) return ISOPROOF_UNDECIDED;
  if (result->weak.axioms[own].decided) return ISOPROOF_SATISFIED;
  /* The forced edges of causal contain those of every other axiom. */
  const iso_axiom_result *causal = &result->weak.axioms[ISO_AXIOM_CAUSAL];
  return causal->decided && !causal->violated ? ISOPROOF_SATISFIED : ISOPROOF_UNDECIDED;
}

static bool add_level(isoproof_result *result, const isoproof_level_info *info, isoproof_verdict verdict, bool asked) {
  struct iso_level_entry *grown = iso_realloc(result->levels, result->level_count + 1, sizeof *grown);
  if (grown == NULL) return false;
  result->levels = grown;
  result->levels[result->level_count++] = (struct iso_level_entry){info, verdict, asked};
  return true;
}

static bool is_asked(const isoproof_check_options *options, const isoproof_level_info *info) {
  for (size_t i = 0; i < options->level_count; i++) {
    if (isoproof_level_find(options->levels[i]) == info) return true;
  }
  return false;
}

/* The pattern of a code, ISO_TAPS when it is none. */
static iso_tap find_pattern(const char *name) {
  const isoproof_anomaly_info *info = isoproof_anomaly_find(name);
  for (int tap = 0; info != NULL && tap < ISO_TAPS; tap++) {
    if (strcmp(info->code, iso_tap_code((iso_tap)tap)) == 0) return (iso_tap)tap;
  }
  return ISO_TAPS;
}

static bool is_pattern_asked(const isoproof_check_options *options, iso_tap tap) {
  for (size_t i = 0; i < options->anomaly_count; i++) {
    if (find_pattern(options->anomalies[i]) == tap) return true;
  }
  return false;
}

/* Enters every level that was asked for, and every level that is decided. */
static bool enter_levels(isoproof_result *result, const isoproof_check_options *options) {
  if (options->anomaly_count > 0) return true;
  const isoproof_level_info *info;
  for (size_t i = 0; (info = isoproof_level_at(i)) != NULL; i++) {
    bool asked = is_asked(options, info);
    isoproof_verdict verdict = judge(result, info);
    if (options->level_count > 0 ? !asked : verdict == ISOPROOF_UNDECIDED || !is_level(info)) continue;
    if (asked && verdict == ISOPROOF_UNDECIDED) {
      const char *reason = result->strong.reason;
      result->unknown_reason = reason != NULL ? reason : "no method decides this level on this kind of history";
    }
    if (!add_level(result, info, verdict, asked)) return false;
  }
  return true;
}

/* Whether entry i stands for others of its verdict: no other satisfied level implies it, or it implies no other
 * violated one. */
static bool is_extreme(const isoproof_result *result, size_t i) {
  for (size_t k = 0; k < result->level_count; k++) {
    if (k == i || result->levels[k].verdict != result->levels[i].verdict) continue;
    const isoproof_level_info *a = result->levels[i].info, *b = result->levels[k].info;
    bool covered =
        result->levels[i].verdict == ISOPROOF_SATISFIED ? isoproof_level_implies(b, a) : isoproof_level_implies(a, b);
    if (covered) return false;
  }
  return true;
}

static const char **extremes(const isoproof_result *result, isoproof_verdict verdict) {
  const char **names = iso_alloc_zero(result->level_count + 1, sizeof *names);
  size_t count = 0;
  for (size_t i = 0; names != NULL && i < result->level_count; i++) {
    if (result->levels[i].verdict == verdict && is_extreme(result, i)) names[count++] = result->levels[i].info->id;
  }
  return names;
}

bool iso_result_extremes(isoproof_result *result) {
  result->strongest = extremes(result, ISOPROOF_SATISFIED);
  result->weakest_violated = extremes(result, ISOPROOF_VIOLATED);
  return result->strongest != NULL && result->weakest_violated != NULL;
}

static int by_pattern(const void *a, const void *b) {
  const iso_finding *x = a, *y = b;
  if (x->tap != y->tap) return x->tap < y->tap ? -1 : 1;
  return (x->op > y->op) - (x->op < y->op);
}

/* Whether a finding matters to a level that was asked for. */
static bool is_relevant(const isoproof_result *result, const isoproof_check_options *options,
                        const iso_finding *finding) {
  if (options->anomaly_count > 0) return is_pattern_asked(options, (iso_tap)finding->tap);
  if (options->level_count == 0) return true;
  for (size_t i = 0; i < result->level_count; i++) {
    const isoproof_level_info *level = result->levels[i].info;
    if (!result->levels[i].asked) continue;
    bool hits = is_unconditional((int)finding->tap) ? breaks((iso_tap)finding->tap, level)
                                                    : axiom_breaks((iso_axiom)finding->seen, level);
    if (hits) return true;
  }
  return false;
}

/* Chooses the findings to show: those that break an asked level, or all. */
static bool choose_shown(isoproof_result *result, const isoproof_check_options *options) {
  size_t most = result->findings.keep_all ? result->findings.all.count : ISO_TAPS;
  result->shown = iso_alloc(most, sizeof *result->shown);
  result->cache = iso_alloc_zero(most + ISO_STRONG_MOST, sizeof(void *));
  if (result->shown == NULL || result->cache == NULL) return false;
  for (size_t i = 0; i < most; i++) {
    const iso_finding *finding =
        result->findings.keep_all ? &result->findings.all.items[i] : &result->findings.first[i];
    if (!result->findings.keep_all && result->findings.count[i] == 0) continue;
    if (is_relevant(result, options, finding)) result->shown[result->shown_count++] = *finding;
  }
  if (result->findings.keep_all) qsort(result->shown, result->shown_count, sizeof *result->shown, by_pattern);
  return true;
}

static isoproof_status check_names(const isoproof_check_options *options, isoproof_error *error) {
  for (size_t i = 0; i < options->anomaly_count; i++) {
    if (find_pattern(options->anomalies[i]) != ISO_TAPS) continue;
    return iso_fail(error, ISOPROOF_ERR_USAGE, "`%s` is not a pattern that can be looked for by itself",
                    options->anomalies[i]);
  }
  if ((options->certificate || options->stats) && options->anomaly_count > 0) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "certificates and statistics are about levels, not about anomalies");
  }
  if (options->anomaly_count > 0 && options->level_count > 0) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "levels and anomalies cannot be asked for together");
  }
  for (size_t i = 0; i < options->level_count; i++) {
    if (isoproof_level_find(options->levels[i]) != NULL) continue;
    return iso_fail(error, ISOPROOF_ERR_USAGE, "there is no level `%s`", options->levels[i]);
  }
  return ISOPROOF_OK;
}

/* A limit reached on the way leaves every asked level unknown. */
static bool give_up(isoproof_result *result, const isoproof_check_options *options, isoproof_status status) {
  result->unknown_reason = status == ISOPROOF_ERR_TIMEOUT ? "the time limit was reached" : "memory ran out";
  iso_findings_free(&result->findings);
  const isoproof_level_info *info;
  for (size_t i = 0; (info = isoproof_level_at(i)) != NULL; i++) {
    bool wanted =
        options->level_count == 0 ? strcmp(info->id, "cut-isolation") == 0 && is_level(info) : is_asked(options, info);
    if (wanted && !add_level(result, info, ISOPROOF_UNDECIDED, options->level_count > 0)) return false;
  }
  return true;
}

/* Whether the axiom shows a pattern that was asked for. */
static bool shows_pattern(iso_axiom axiom, const isoproof_check_options *options) {
  /* CO forms show at their own level; CM forms in the commit order of that level and of every stronger one. */
  static const struct {
    iso_tap tap;
    iso_axiom first, last;
  } where[] = {{ISO_TAP_H, ISO_AXIOM_READ_COMMITTED, ISO_AXIOM_READ_COMMITTED},
               {ISO_TAP_I, ISO_AXIOM_READ_COMMITTED, ISO_AXIOM_CAUSAL},
               {ISO_TAP_K, ISO_AXIOM_READ_ATOMIC, ISO_AXIOM_READ_ATOMIC},
               {ISO_TAP_L, ISO_AXIOM_READ_ATOMIC, ISO_AXIOM_CAUSAL},
               {ISO_TAP_M, ISO_AXIOM_CAUSAL, ISO_AXIOM_CAUSAL},
               {ISO_TAP_N, ISO_AXIOM_CAUSAL, ISO_AXIOM_CAUSAL}};
  for (int tap = 0; axiom == ISO_AXIOM_READ_COMMITTED && tap < ISO_TAPS; tap++) {
    bool known = iso_tap_class_of((iso_tap)tap) == ISO_CLASS_CYCLE || tap > ISO_TAP_N;
    if (known && is_pattern_asked(options, (iso_tap)tap)) return true; /* found before any axiom is asked */
  }
  for (size_t i = 0; i < sizeof where / sizeof where[0]; i++) {
    bool shown = axiom >= where[i].first && axiom <= where[i].last;
    if (shown && is_pattern_asked(options, where[i].tap)) return true;
  }
  return false;
}

/* Whether the axiom says anything about what was asked. */
static bool is_wanted(iso_axiom axiom, const isoproof_check_options *options) {
  if (options->anomaly_count > 0) return shows_pattern(axiom, options);
  for (size_t i = 0; i < options->level_count; i++) {
    const isoproof_level_info *level = isoproof_level_find(options->levels[i]);
    if (level != NULL && axiom_breaks(axiom, level)) return true;
  }
  return options->level_count == 0;
}

/* Whether a level that was asked for is exactly the axiom's. */
static bool is_asked_for(iso_axiom axiom, const isoproof_check_options *options) {
  if (options->anomaly_count > 0) return shows_pattern(axiom, options);
  for (size_t i = 0; i < options->level_count; i++) {
    const isoproof_level_info *level = isoproof_level_find(options->levels[i]);
    if (level != NULL && axiom_of(level) == axiom) return true;
  }
  return false;
}

/* Decides the axioms: the strongest wanted first, and weaker ones only where they are not implied. */
static isoproof_status run_weak(const isoproof_check_options *options, isoproof_task *task, isoproof_result *result,
                                isoproof_error *error) {
  bool causal = is_wanted(ISO_AXIOM_CAUSAL, options);
  if (causal) {
    ISO_TRY(iso_weak_decide(&result->weak, ISO_AXIOM_CAUSAL, task, error));
    if (!result->weak.axioms[ISO_AXIOM_CAUSAL].violated) return ISOPROOF_OK;
  }
  for (int axiom = 0; axiom < ISO_AXIOMS; axiom++) {
    bool wanted = options->level_count + options->anomaly_count == 0 || is_asked_for((iso_axiom)axiom, options) ||
                  (causal && axiom <= ISO_AXIOM_CAUSAL && is_wanted((iso_axiom)axiom, options));
    /* Update atomicity implies read atomicity, but not causality. */
    bool explains = axiom == ISO_AXIOM_READ_ATOMIC && result->strong.count > 0 && is_wanted((iso_axiom)axiom, options);
    if (wanted || explains) ISO_TRY(iso_weak_decide(&result->weak, (iso_axiom)axiom, task, error));
  }
  iso_weak_report(&result->weak, options->level_count > 0, &result->findings);
  return result->findings.failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

typedef struct {
  const isoproof_check_options *options;
  const isoproof_result *result;
} wish;

/* Whether a level has to be searched for. */
static bool is_searched(const isoproof_level_info *level, void *user) {
  const wish *w = user;
  bool asked = w->options->level_count > 0 ? is_asked(w->options, level) : is_level(level);
  return asked && !is_broken_outright(w->result, level);
}

/* Makes the scenarios of violated levels that nothing weaker explains; of two of one name, that of the weaker level is
 * shown. */
static isoproof_status explain_strong(isoproof_result *result, isoproof_task *task, isoproof_error *error) {
  iso_strong_set *set = &result->strong;
  for (size_t i = 0; i < set->count; i++) {
    if (!set->items[i].violated || is_broken_weakly(result, iso_strong_info(set->items[i].level))) continue;
    isoproof_status status = iso_strong_explain(&result->weak, set, i, task, error);
    if (status == ISOPROOF_ERR_LIMIT) result->unexplained = iso_strong_info(set->items[i].level)->id;
    if (status == ISOPROOF_ERR_LIMIT) continue;
    if (status != ISOPROOF_OK) return status;
    iso_anomaly name = iso_scenario_name(&set->scenarios[i]);
    size_t k = 0;
    while (k < result->told_count && iso_scenario_name(&set->scenarios[result->told[k]]) != name) k++;
    if (k == result->told_count) result->told_count++;
    result->told[k] = i;
  }
  return ISOPROOF_OK;
}

/* Strong levels first: what is satisfied implies the weaker ones, which then need no look.  What is violated may well
 * be so because of a weaker level, which explains it better. */
static isoproof_status run_between(isoproof_history *history, const isoproof_check_options *options,
                                   isoproof_task *task, isoproof_result *result, isoproof_error *error) {
  ISO_TRY(iso_weak_begin(history, task, &result->weak, error));
  result->has_weak = true;
  ISO_TRY(iso_weak_report_known(&result->weak, &result->findings, error));
  if (result->findings.failed) return iso_fail_memory(error);
  wish w = {options, result};
  iso_strong_options how = {.count_pairs = options->stats};
  if (options->anomaly_count == 0) {
    ISO_TRY(
        iso_strong_run(&result->weak, is_searched, &w, options->level_count > 0, &how, task, &result->strong, error));
  }
  const isoproof_level_info *causal = isoproof_level_find(iso_axiom_level(ISO_AXIOM_CAUSAL));
  if (iso_strong_verdict(&result->strong, causal) != ISOPROOF_SATISFIED)
    ISO_TRY(run_weak(options, task, result, error));
  return explain_strong(result, task, error);
}

static isoproof_status run_checkers(isoproof_history *history, const isoproof_check_options *options,
                                    isoproof_task *task, isoproof_result *result, isoproof_error *error) {
  const iso_resolution *resolution;
  ISO_TRY(iso_history_resolve(history, task, &resolution, error));
  if (!options->duplicate_values) ISO_TRY(iso_history_require_unique(history, resolution, error));
  ISO_TRY(iso_check_within(history, task, &result->findings, error));
  bool any = options->level_count + options->anomaly_count == 0;
  for (int axiom = 0; axiom < ISO_AXIOMS; axiom++) any = any || is_wanted((iso_axiom)axiom, options);
  for (size_t i = 0; i < options->level_count; i++) {
    any = any || iso_strong_level_of(isoproof_level_find(options->levels[i])) != NULL;
  }
  if (!any) return ISOPROOF_OK;
  bool suits;
  ISO_TRY(iso_versions_suit(history, &suits, error));
  if (suits) return run_between(history, options, task, result, error);
  if (options->anomaly_count > 0) {
    result->unknown_reason = "patterns between transactions are found in registers and lists only";
  }
  return ISOPROOF_OK;
}

static isoproof_status shorten_proofs(isoproof_result *result, isoproof_error *error) {
  if (!result->has_weak || result->findings.keep_all) return ISOPROOF_OK;
  for (int tap = 0; tap < ISO_TAPS; tap++) {
    if (iso_tap_class_of((iso_tap)tap) == ISO_CLASS_READ || result->findings.count[tap] == 0) continue;
    if (result->prover.weak == NULL) ISO_TRY(iso_prover_init(&result->prover, &result->weak, error));
    iso_prove_smallest(&result->prover, &result->findings.first[tap]);
  }
  return ISOPROOF_OK;
}

/* Has every witness that will be shown made and verified now, so that showing cannot fail. */
static isoproof_status verify_shown(const isoproof_result *result, isoproof_error *error) {
  enum { FIRST = 1000 }; /* the rest of a long list is verified as it is asked for */
  for (size_t i = 0; i < isoproof_result_anomaly_count(result) && i < FIRST; i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    if (isoproof_result_anomaly_at(result, i, &anomaly)) continue;
    const char *what = "of a level that was searched for";
    if (i < result->shown_count) what = iso_tap_code((iso_tap)result->shown[i].tap);
    return iso_fail(error, ISOPROOF_ERR_INTERNAL, "the witness %s did not stand up to verification", what);
  }
  return ISOPROOF_OK;
}

/* Verdicts that contradict an implication of the lattice would show an error in here: better none than those. */
static isoproof_status agree(const isoproof_result *result, isoproof_error *error) {
  for (size_t i = 0; i < result->level_count; i++) {
    if (result->levels[i].verdict != ISOPROOF_SATISFIED) continue;
    for (size_t k = 0; k < result->level_count; k++) {
      const isoproof_level_info *a = result->levels[i].info, *b = result->levels[k].info;
      if (result->levels[k].verdict != ISOPROOF_VIOLATED || !isoproof_level_implies(a, b)) continue;
      return iso_fail(error, ISOPROOF_ERR_INTERNAL, "%s is satisfied but %s, which it implies, is violated", a->id,
                      b->id);
    }
  }
  return ISOPROOF_OK;
}

isoproof_status iso_check_once(isoproof_history *history, const isoproof_check_options *options, isoproof_task *task,
                               isoproof_result **result, isoproof_error *error) {
  isoproof_result *made = calloc(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  pthread_mutex_init(&made->lock, NULL);
  made->history = history;
  made->findings.keep_all = options->all;
  made->only_patterns = options->anomaly_count > 0;
  made->has_stats = options->stats;
  iso_verifier_init(&made->verifier, history);
  isoproof_status status = run_checkers(history, options, task, made, error);
  if (status == ISOPROOF_OK) status = shorten_proofs(made, error);
  bool entered = false;
  if (status == ISOPROOF_OK) {
    entered = enter_levels(made, options);
  } else if (status == ISOPROOF_ERR_TIMEOUT || status == ISOPROOF_ERR_MEMORY) {
    entered = give_up(made, options, status);
    status = ISOPROOF_OK;
  }
  if (status == ISOPROOF_OK) {
    entered = entered && iso_result_extremes(made) && choose_shown(made, options);
    status = entered ? agree(made, error) : iso_fail_memory(error);
    if (status == ISOPROOF_OK) status = verify_shown(made, error);
    if (status == ISOPROOF_OK && options->certificate) status = iso_result_certify(made, task, error);
  }
  if (status != ISOPROOF_OK) {
    isoproof_result_free(made);
    return status;
  }
  *result = made;
  return ISOPROOF_OK;
}

isoproof_status isoproof_check(isoproof_history *history, const isoproof_check_options *options, isoproof_task *task,
                               isoproof_result **result, isoproof_error *error) {
  isoproof_check_options known = {0};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_check_options, &known, options, error));
  if (iso_elle_is_asked(&known)) {
    if (!known.certificate && !known.stats) return iso_elle_check(history, &known, task, result, error);
    return iso_fail(error, ISOPROOF_ERR_USAGE, "certificates and statistics are about levels, not about models");
  }
  ISO_TRY(check_names(&known, error));
  const iso_resolution *resolution;
  ISO_TRY(iso_history_resolve(history, task, &resolution, error));
  bool ambiguous = known.duplicate_values && resolution->counts.duplicate_writes > 0;
  return (ambiguous ? iso_check_ambiguous : iso_check_once)(history, &known, task, result, error);
}
