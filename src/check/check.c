/* isolde_check: runs the checkers, then reads the verdict on every level off what they found. */
#include <stdlib.h>
#include <string.h>

#include "base/task.h"
#include "check/intra.h"
#include "check/result.h"
#include "history/resolve.h"

/* The options of a caller who may have been compiled against an older, shorter struct. */
static isolde_check_options read_options(const isolde_check_options *options) {
  isolde_check_options known = {.struct_size = sizeof known};
  if (options == NULL) return known;
  size_t size = options->struct_size < sizeof known ? options->struct_size : sizeof known;
  memcpy(&known, options, size);
  return known;
}

/* Whether the level is one that isolde_check can be asked about: by its own table, not Elle's models. */
static bool is_level(const isolde_level_info *info) { return info->family != ISOLDE_LEVEL_MODEL; }

/* A pattern within a transaction, or a causal cycle, breaks every level that forbids it: TAP-a to TAP-g break
 * everything from read-committed up and the session guarantees, TAP-j breaks cut-isolation and everything from
 * read-atomic up. */
static bool breaks(iso_tap tap, const isolde_level_info *level) {
  const isolde_anomaly_info *anomaly = isolde_anomaly_find(iso_tap_code(tap));
  if (anomaly == NULL || anomaly->level == NULL || !is_level(level)) return false;
  if (tap <= ISO_TAP_G && level->family == ISOLDE_LEVEL_SESSION) return true;
  const isolde_level_info *weakest = isolde_level_find(anomaly->level);
  return weakest != NULL && isolde_level_implies(level, weakest);
}

static bool is_unconditional(int tap) { return tap <= ISO_TAP_G || tap == ISO_TAP_J; }

/* The axiom that a level is decided by; ISO_AXIOMS for none. */
static iso_axiom axiom_of(const isolde_level_info *level) {
  for (int axiom = 0; axiom < ISO_AXIOMS; axiom++) {
    if (is_level(level) && strcmp(level->id, iso_axiom_level((iso_axiom)axiom)) == 0) return (iso_axiom)axiom;
  }
  return ISO_AXIOMS;
}

/* Whether a violation of the axiom's level is one of `level`. */
static bool axiom_breaks(iso_axiom axiom, const isolde_level_info *level) {
  const isolde_level_info *own = isolde_level_find(iso_axiom_level(axiom));
  return is_level(level) && own != NULL && isolde_level_implies(level, own);
}

static isolde_verdict judge(const isolde_result *result, const isolde_level_info *level) {
  for (int tap = 0; tap < ISO_TAPS; tap++) {
    bool found = is_unconditional(tap) && result->findings.count[tap] > 0;
    if (found && breaks((iso_tap)tap, level)) return ISOLDE_VIOLATED;
  }
  if (strcmp(level->id, "cut-isolation") == 0 && is_level(level)) return ISOLDE_SATISFIED;
  if (!result->has_weak) return ISOLDE_UNDECIDED;
  for (int axiom = 0; axiom < ISO_AXIOMS; axiom++) {
    if (result->weak.axioms[axiom].violated && axiom_breaks((iso_axiom)axiom, level)) return ISOLDE_VIOLATED;
  }
  iso_axiom own = axiom_of(level);
  if (own == ISO_AXIOMS) return ISOLDE_UNDECIDED;
  if (result->weak.axioms[own].decided) return ISOLDE_SATISFIED;
  /* The forced edges of causal contain those of every other axiom. */
  const iso_axiom_result *causal = &result->weak.axioms[ISO_AXIOM_CAUSAL];
  return causal->decided && !causal->violated ? ISOLDE_SATISFIED : ISOLDE_UNDECIDED;
}

static bool add_level(isolde_result *result, const isolde_level_info *info, isolde_verdict verdict, bool asked) {
  struct iso_level_entry *grown = iso_realloc(result->levels, result->level_count + 1, sizeof *grown);
  if (grown == NULL) return false;
  result->levels = grown;
  result->levels[result->level_count++] = (struct iso_level_entry){info, verdict, asked};
  return true;
}

static bool is_asked(const isolde_check_options *options, const isolde_level_info *info) {
  for (size_t i = 0; i < options->level_count; i++) {
    if (isolde_level_find(options->levels[i]) == info) return true;
  }
  return false;
}

/* The pattern of a code, ISO_TAPS when it is none. */
static iso_tap find_pattern(const char *name) {
  const isolde_anomaly_info *info = isolde_anomaly_find(name);
  for (int tap = 0; info != NULL && tap < ISO_TAPS; tap++) {
    if (strcmp(info->code, iso_tap_code((iso_tap)tap)) == 0) return (iso_tap)tap;
  }
  return ISO_TAPS;
}

static bool is_pattern_asked(const isolde_check_options *options, iso_tap tap) {
  for (size_t i = 0; i < options->anomaly_count; i++) {
    if (find_pattern(options->anomalies[i]) == tap) return true;
  }
  return false;
}

/* Enters every level that was asked for, and every level that is decided. */
static bool enter_levels(isolde_result *result, const isolde_check_options *options) {
  if (options->anomaly_count > 0) return true;
  const isolde_level_info *info;
  for (size_t i = 0; (info = isolde_level_at(i)) != NULL; i++) {
    bool asked = is_asked(options, info);
    isolde_verdict verdict = judge(result, info);
    if (options->level_count > 0 ? !asked : verdict == ISOLDE_UNDECIDED) continue;
    if (asked && verdict == ISOLDE_UNDECIDED) {
      result->unknown_reason = "this version finds no violation of the level and cannot prove that there is none";
    }
    if (!add_level(result, info, verdict, asked)) return false;
  }
  return true;
}

/* Whether entry i stands for others of its verdict: no other satisfied level implies it, or it implies no other
 * violated one. */
static bool is_extreme(const isolde_result *result, size_t i) {
  for (size_t k = 0; k < result->level_count; k++) {
    if (k == i || result->levels[k].verdict != result->levels[i].verdict) continue;
    const isolde_level_info *a = result->levels[i].info, *b = result->levels[k].info;
    bool covered =
        result->levels[i].verdict == ISOLDE_SATISFIED ? isolde_level_implies(b, a) : isolde_level_implies(a, b);
    if (covered) return false;
  }
  return true;
}

static const char **extremes(const isolde_result *result, isolde_verdict verdict) {
  const char **names = iso_alloc_zero(result->level_count + 1, sizeof *names);
  size_t count = 0;
  for (size_t i = 0; names != NULL && i < result->level_count; i++) {
    if (result->levels[i].verdict == verdict && is_extreme(result, i)) names[count++] = result->levels[i].info->id;
  }
  return names;
}

static int by_pattern(const void *a, const void *b) {
  const iso_finding *x = a, *y = b;
  if (x->tap != y->tap) return x->tap < y->tap ? -1 : 1;
  return (x->op > y->op) - (x->op < y->op);
}

/* Whether a finding matters to a level that was asked for. */
static bool is_relevant(const isolde_result *result, const isolde_check_options *options, const iso_finding *finding) {
  if (options->anomaly_count > 0) return is_pattern_asked(options, (iso_tap)finding->tap);
  if (options->level_count == 0) return true;
  for (size_t i = 0; i < result->level_count; i++) {
    const isolde_level_info *level = result->levels[i].info;
    if (!result->levels[i].asked) continue;
    bool hits = is_unconditional((int)finding->tap) ? breaks((iso_tap)finding->tap, level)
                                                    : axiom_breaks((iso_axiom)finding->seen, level);
    if (hits) return true;
  }
  return false;
}

/* Chooses the findings to show: those that break an asked level, or all. */
static bool choose_shown(isolde_result *result, const isolde_check_options *options) {
  size_t most = result->findings.keep_all ? result->findings.all.count : ISO_TAPS;
  result->shown = iso_alloc(most, sizeof *result->shown);
  result->cache = iso_alloc_zero(most, sizeof(void *));
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

static isolde_status check_names(const isolde_check_options *options, isolde_error *error) {
  for (size_t i = 0; i < options->anomaly_count; i++) {
    if (find_pattern(options->anomalies[i]) != ISO_TAPS) continue;
    return iso_fail(error, ISOLDE_ERR_USAGE, "`%s` is not one of the patterns TAP-a to TAP-n", options->anomalies[i]);
  }
  if (options->anomaly_count > 0 && options->level_count > 0) {
    return iso_fail(error, ISOLDE_ERR_USAGE, "levels and anomalies cannot be asked for together");
  }
  for (size_t i = 0; i < options->level_count; i++) {
    if (isolde_level_find(options->levels[i]) != NULL) continue;
    return iso_fail(error, ISOLDE_ERR_USAGE, "there is no level `%s`", options->levels[i]);
  }
  return ISOLDE_OK;
}

/* A limit reached on the way leaves every asked level unknown. */
static bool give_up(isolde_result *result, const isolde_check_options *options, isolde_status status) {
  result->unknown_reason = status == ISOLDE_ERR_TIMEOUT ? "the time limit was reached" : "memory ran out";
  iso_findings_free(&result->findings);
  const isolde_level_info *info;
  for (size_t i = 0; (info = isolde_level_at(i)) != NULL; i++) {
    bool wanted =
        options->level_count == 0 ? strcmp(info->id, "cut-isolation") == 0 && is_level(info) : is_asked(options, info);
    if (wanted && !add_level(result, info, ISOLDE_UNDECIDED, options->level_count > 0)) return false;
  }
  return true;
}

/* Only registers: the versions of sets and counters cannot be told apart. */
static bool is_register_history(const isolde_history *h) {
  for (uint32_t op = 0; op < h->ops; op++) {
    if (h->op_kind[op] != ISOLDE_OP_READ && h->op_kind[op] != ISOLDE_OP_WRITE) return false;
  }
  return true;
}

/* Whether the axiom shows a pattern that was asked for. */
static bool shows_pattern(iso_axiom axiom, const isolde_check_options *options) {
  /* CO forms show at their own level; CM forms in the commit order of that level and of every stronger one. */
  static const struct {
    iso_tap tap;
    iso_axiom first, last;
  } where[] = {{ISO_TAP_G, ISO_AXIOM_READ_COMMITTED, ISO_AXIOM_READ_COMMITTED},
               {ISO_TAP_H, ISO_AXIOM_READ_COMMITTED, ISO_AXIOM_READ_COMMITTED},
               {ISO_TAP_I, ISO_AXIOM_READ_COMMITTED, ISO_AXIOM_CAUSAL},
               {ISO_TAP_K, ISO_AXIOM_READ_ATOMIC, ISO_AXIOM_READ_ATOMIC},
               {ISO_TAP_L, ISO_AXIOM_READ_ATOMIC, ISO_AXIOM_CAUSAL},
               {ISO_TAP_M, ISO_AXIOM_CAUSAL, ISO_AXIOM_CAUSAL},
               {ISO_TAP_N, ISO_AXIOM_CAUSAL, ISO_AXIOM_CAUSAL}};
  for (size_t i = 0; i < sizeof where / sizeof where[0]; i++) {
    bool shown = axiom >= where[i].first && axiom <= where[i].last;
    if (shown && is_pattern_asked(options, where[i].tap)) return true;
  }
  return false;
}

/* Whether the axiom says anything about what was asked. */
static bool is_wanted(iso_axiom axiom, const isolde_check_options *options) {
  if (options->anomaly_count > 0) return shows_pattern(axiom, options);
  for (size_t i = 0; i < options->level_count; i++) {
    const isolde_level_info *level = isolde_level_find(options->levels[i]);
    if (level != NULL && axiom_breaks(axiom, level)) return true;
  }
  return options->level_count == 0;
}

/* Whether a level that was asked for is exactly the axiom's. */
static bool is_asked_for(iso_axiom axiom, const isolde_check_options *options) {
  if (options->anomaly_count > 0) return shows_pattern(axiom, options);
  for (size_t i = 0; i < options->level_count; i++) {
    const isolde_level_info *level = isolde_level_find(options->levels[i]);
    if (level != NULL && axiom_of(level) == axiom) return true;
  }
  return false;
}

/* Decides the axioms: the strongest wanted first, and weaker ones only where they are not implied. */
static isolde_status run_weak(isolde_history *history, const isolde_check_options *options, isolde_task *task,
                              isolde_result *result, isolde_error *error) {
  ISO_TRY(iso_weak_begin(history, task, &result->weak, error));
  result->has_weak = true;
  bool causal = is_wanted(ISO_AXIOM_CAUSAL, options);
  if (causal) {
    ISO_TRY(iso_weak_decide(&result->weak, ISO_AXIOM_CAUSAL, task, error));
    if (!result->weak.axioms[ISO_AXIOM_CAUSAL].violated) return ISOLDE_OK;
  }
  for (int axiom = 0; axiom < ISO_AXIOMS; axiom++) {
    bool wanted = options->level_count + options->anomaly_count == 0 || is_asked_for((iso_axiom)axiom, options) ||
                  (causal && axiom <= ISO_AXIOM_CAUSAL && is_wanted((iso_axiom)axiom, options));
    if (wanted) ISO_TRY(iso_weak_decide(&result->weak, (iso_axiom)axiom, task, error));
  }
  iso_weak_report(&result->weak, options->level_count > 0, &result->findings);
  return result->findings.failed ? iso_fail_memory(error) : ISOLDE_OK;
}

static isolde_status run_checkers(isolde_history *history, const isolde_check_options *options, isolde_task *task,
                                  isolde_result *result, isolde_error *error) {
  const iso_resolution *resolution;
  ISO_TRY(iso_history_resolve(history, task, &resolution, error));
  ISO_TRY(iso_history_require_unique(history, resolution, error));
  ISO_TRY(iso_check_intra(history, task, &result->findings, error));
  bool any = options->level_count + options->anomaly_count == 0;
  for (int axiom = 0; axiom < ISO_AXIOMS; axiom++) any = any || is_wanted((iso_axiom)axiom, options);
  if (!any) return ISOLDE_OK;
  if (is_register_history(history)) return run_weak(history, options, task, result, error);
  if (options->anomaly_count > 0) result->unknown_reason = "patterns between transactions are found in registers only";
  return ISOLDE_OK;
}

/* How many steps the proof of a finding takes; SIZE_MAX when there is none. */
static size_t proof_length(isolde_result *result, const iso_finding *finding) {
  iso_proof proof;
  bool proved = iso_prove(&result->prover, finding, &proof);
  size_t length = proved ? proof.cycle.count + proof.reasons.count : SIZE_MAX;
  iso_proof_free(&proof);
  return length;
}

/* Replaces the first instance of a pattern between transactions by the one with the shortest proof, among the first
 * few: proofs of two steps are common, and nobody wants to read more than that. */
static void choose_shortest(isolde_result *result, iso_finding *finding) {
  enum { TRIED = 64, SHORTEST = 3 };
  const iso_axiom_result *r = &result->weak.axioms[finding->seen];
  size_t best = proof_length(result, finding);
  uint32_t tried = 0;
  for (uint32_t i = finding->other + 1; i < r->instances.count && tried < TRIED && best > SHORTEST; i++) {
    iso_finding other = *finding;
    if (!iso_weak_is_reported(&result->weak, (iso_axiom)finding->seen, i, (iso_tap)finding->tap)) continue;
    other.other = i;
    other.op = result->weak.view.reads[r->instances.items[i].read].op;
    size_t length = proof_length(result, &other);
    tried++;
    if (length >= best) continue;
    best = length;
    *finding = other;
  }
}

static isolde_status shorten_proofs(isolde_result *result, isolde_error *error) {
  if (!result->has_weak || result->findings.keep_all) return ISOLDE_OK;
  for (int tap = ISO_TAP_H; tap < ISO_TAPS; tap++) {
    if (tap == ISO_TAP_J || result->findings.count[tap] == 0) continue;
    if (result->prover.weak == NULL) ISO_TRY(iso_prover_init(&result->prover, &result->weak, error));
    choose_shortest(result, &result->findings.first[tap]);
  }
  return ISOLDE_OK;
}

/* Has every witness that will be shown made and verified now, so that showing cannot fail. */
static isolde_status verify_shown(const isolde_result *result, isolde_error *error) {
  enum { FIRST = 1000 }; /* the rest of a long list is verified as it is asked for */
  for (size_t i = 0; i < result->shown_count && i < FIRST; i++) {
    isolde_anomaly anomaly;
    if (isolde_result_anomaly(result, i, &anomaly)) continue;
    return iso_fail(error, ISOLDE_ERR_INTERNAL, "the finding %s did not stand up to verification",
                    iso_tap_code((iso_tap)result->shown[i].tap));
  }
  return ISOLDE_OK;
}

isolde_status isolde_check(isolde_history *history, const isolde_check_options *options, isolde_task *task,
                           isolde_result **result, isolde_error *error) {
  isolde_check_options known = read_options(options);
  ISO_TRY(check_names(&known, error));
  isolde_result *made = calloc(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  pthread_mutex_init(&made->lock, NULL);
  made->history = history;
  made->findings.keep_all = known.all;
  made->only_patterns = known.anomaly_count > 0;
  iso_verifier_init(&made->verifier, history);
  isolde_status status = run_checkers(history, &known, task, made, error);
  if (status == ISOLDE_OK) status = shorten_proofs(made, error);
  bool entered = false;
  if (status == ISOLDE_OK) {
    entered = enter_levels(made, &known);
  } else if (status == ISOLDE_ERR_TIMEOUT || status == ISOLDE_ERR_MEMORY) {
    entered = give_up(made, &known, status);
    status = ISOLDE_OK;
  }
  if (status == ISOLDE_OK) {
    made->strongest = extremes(made, ISOLDE_SATISFIED);
    made->weakest_violated = extremes(made, ISOLDE_VIOLATED);
    entered = entered && made->strongest != NULL && made->weakest_violated != NULL && choose_shown(made, &known);
    status = entered ? verify_shown(made, error) : iso_fail_memory(error);
  }
  if (status != ISOLDE_OK) {
    isolde_result_free(made);
    return status;
  }
  *result = made;
  return ISOLDE_OK;
}
