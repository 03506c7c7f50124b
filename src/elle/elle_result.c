/* Options read, the check run, and what was found entered into a result. */
#include "elle/elle_result.h"

#include <stdlib.h>
#include <string.h>

#include "result/result.h"

const char *isoproof_elle_workload_at(size_t number) {
  return number < ISO_ELLE_WORKLOADS ? iso_elle_workload_id((iso_elle_workload)number) : NULL;
}

bool iso_elle_is_asked(const isoproof_check_options *options) {
  return options->elle_workload != NULL || options->model_count > 0;
}

/* ---- options ---- */

static isoproof_status read_anomalies(const isoproof_check_options *options, iso_elle_options *out,
                                      isoproof_error *error) {
  for (size_t i = 0; i < options->anomaly_count; i++) {
    const isoproof_anomaly_info *info = isoproof_anomaly_find(options->anomalies[i]);
    if (info == NULL || info->kind == ISOPROOF_ANOMALY_TAP) {
      return iso_fail(error, ISOPROOF_ERR_USAGE, "`%s` is not an anomaly of dependencies", options->anomalies[i]);
    }
    out->anomalies[info->number] = true;
    for (size_t k = 0; info->kind == ISOPROOF_ANOMALY_PHENOMENON && isoproof_anomaly_counts_as_at(info, k) != NULL;
         k++) {
      out->anomalies[isoproof_anomaly_counts_as_at(info, k)->number] = true;
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status read_models(const isoproof_check_options *options, iso_elle_options *out,
                                   isoproof_error *error) {
  for (size_t i = 0; i < options->model_count; i++) {
    const isoproof_level_info *info = isoproof_level_find_in(options->models[i], ISOPROOF_LEVEL_MODEL);
    if (info == NULL) return iso_fail(error, ISOPROOF_ERR_USAGE, "there is no model `%s`", options->models[i]);
    out->models |= ISO_LEVEL_BIT(info->number);
  }
  if (options->model_count + options->anomaly_count == 0) out->models = ISO_LEVEL_BIT(ISO_LEVEL_M_PL_SS);
  return ISOPROOF_OK;
}

static isoproof_status read_options(const isoproof_history *history, const isoproof_check_options *options,
                                    iso_elle_options *out, isoproof_error *error) {
  bool named = options->elle_workload != NULL && !iso_level_same_name(options->elle_workload, "auto");
  if (options->level_count > 0) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "levels cannot be asked for together with a workload or models");
  }
  out->workload = named ? iso_elle_workload_find(options->elle_workload) : iso_elle_workload_detect(history);
  if (out->workload == ISO_ELLE_WORKLOADS) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "there is no workload `%s`", options->elle_workload);
  }
  out->wfr_keys = options->wfr_keys;
  out->sequential_keys = options->sequential_keys;
  out->linearizable_keys = options->linearizable_keys;
  out->all = options->all;
  ISO_TRY(read_anomalies(options, out, error));
  return read_models(options, out, error);
}

/* The place of each transaction in the order that was given, from 1; 0 for those that are not in it.  *ranks is the
 * caller's, and NULL where none was given. */
static isoproof_status read_order(const isoproof_history *history, const isoproof_check_options *options,
                                  iso_elle_workload workload, uint32_t **ranks, isoproof_error *error) {
  *ranks = NULL;
  if (options->transaction_order == NULL) return ISOPROOF_OK;
  if (workload != ISO_ELLE_WORKLOAD_RW_REGISTER) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "an order of transactions goes with the workload rw-register only");
  }
  uint32_t *made = iso_alloc_zero(history->txns, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  for (size_t i = 0; i < options->transaction_order_count; i++) {
    uint64_t txn = options->transaction_order[i];
    if (txn >= history->txns || made[txn] != 0) {
      free(made);
      return iso_fail(error, ISOPROOF_ERR_USAGE, "transaction %llu is %s the order of transactions",
                      (unsigned long long)txn, txn < history->txns ? "twice in" : "none of the history, but in");
    }
    made[txn] = (uint32_t)i + 1;
  }
  *ranks = made;
  return ISOPROOF_OK;
}

/* ---- what is shown ---- */

static int by_anomaly(const void *a, const void *b) {
  const iso_elle_shown *x = a, *y = b;
  if (x->anomaly != y->anomaly) return x->anomaly < y->anomaly ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

static bool choose_shown(iso_elle_result *result) {
  const iso_elle *e = result->elle;
  size_t most = e->noncycle.list.count + e->cycles.cycles.count;
  result->shown = iso_alloc(most, sizeof *result->shown);
  if (result->shown == NULL) return false;
  bool reports[ISO_ANOMALY_COUNT];
  for (unsigned a = 0; a < ISO_ANOMALY_COUNT; a++) reports[a] = iso_elle_reports(e, (iso_anomaly)a);
  for (uint32_t i = 0; i < e->noncycle.list.count; i++) {
    iso_anomaly anomaly = (iso_anomaly)e->noncycle.list.items[i].anomaly;
    if (reports[anomaly]) result->shown[result->shown_count++] = (iso_elle_shown){anomaly, false, i};
  }
  for (uint32_t i = 0; i < e->cycles.cycles.count; i++) {
    iso_anomaly anomaly = e->cycles.cycles.items[i].anomaly;
    if (reports[anomaly]) result->shown[result->shown_count++] = (iso_elle_shown){anomaly, true, i};
  }
  if (result->shown_count > 1) qsort(result->shown, result->shown_count, sizeof *result->shown, by_anomaly);
  return true;
}

static const char **names_of(iso_level_set set) {
  const char **names = iso_alloc_zero(ISO_LEVEL_COUNT + 1, sizeof *names);
  size_t count = 0;
  for (unsigned i = 0; names != NULL && i < ISO_LEVEL_COUNT; i++) {
    bool model = isoproof_level_at(i)->family == ISOPROOF_LEVEL_MODEL;
    if (model && (set & ISO_LEVEL_BIT(i)) != 0) names[count++] = isoproof_level_at(i)->friendly;
  }
  return names;
}

/* Where nothing was inferred between transactions, what single reads rule out is said even though nobody asked. */
static bool name_models(isoproof_result *result, const iso_elle *e) {
  iso_level_set told = e->invalid || e->empty_graph ? e->ruled_out : 0;
  iso_level_set weakest = iso_level_weakest(told);
  result->elle_not = names_of(weakest);
  result->elle_also_not = names_of(told & ~weakest);
  result->elle_proved = names_of(iso_level_strongest(e->proved));
  return result->elle_not != NULL && result->elle_also_not != NULL && result->elle_proved != NULL;
}

static isoproof_verdict verdict_of(const iso_elle *e, unsigned level) {
  if ((e->ruled_out & ISO_LEVEL_BIT(level)) != 0) return ISOPROOF_VIOLATED;
  return (e->proved & ISO_LEVEL_BIT(level)) != 0 ? ISOPROOF_SATISFIED : ISOPROOF_UNDECIDED;
}

static bool enter_models(isoproof_result *result, const iso_elle *e) {
  result->strongest = iso_alloc_zero(ISO_LEVEL_COUNT + 1, sizeof *result->strongest);
  result->weakest_violated = iso_alloc_zero(ISO_LEVEL_COUNT + 1, sizeof *result->weakest_violated);
  if (result->strongest == NULL || result->weakest_violated == NULL) return false;
  iso_level_set satisfied = 0, violated = 0;
  for (unsigned i = 0; i < ISO_LEVEL_COUNT; i++) {
    if ((e->options.models & ISO_LEVEL_BIT(i)) == 0) continue;
    isoproof_verdict verdict = verdict_of(e, i);
    if (!iso_result_add_level(result, isoproof_level_at(i), verdict, true)) return false;
    if (verdict == ISOPROOF_SATISFIED) satisfied |= ISO_LEVEL_BIT(i);
    if (verdict == ISOPROOF_VIOLATED) violated |= ISO_LEVEL_BIT(i);
    if (verdict == ISOPROOF_UNDECIDED && result->unknown_reason == NULL) {
      result->unknown_reason = "nothing that the model forbids was found, and that does not prove that it holds";
    }
  }
  size_t strong = 0, weak = 0;
  for (unsigned i = 0; i < ISO_LEVEL_COUNT; i++) {
    const char *id = isoproof_level_at(i)->id;
    if ((iso_level_strongest(satisfied) & ISO_LEVEL_BIT(i)) != 0) result->strongest[strong++] = id;
    if ((iso_level_weakest(violated) & ISO_LEVEL_BIT(i)) != 0) result->weakest_violated[weak++] = id;
  }
  return true;
}

/* ---- the check ---- */

static isoproof_status verify_shown(const isoproof_result *result, const iso_elle_result *elle, isoproof_error *error) {
  enum { FIRST = 1000 }; /* the rest of a long list is verified as it is asked for */
  for (size_t i = 0; i < elle->shown_count && i < FIRST; i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    if (isoproof_result_anomaly_at(result, i, &anomaly)) continue;
    return iso_fail(error, ISOPROOF_ERR_INTERNAL, "the finding %s did not stand up to verification",
                    isoproof_anomaly_at(elle->shown[i].anomaly)->code);
  }
  return ISOPROOF_OK;
}

/* A limit reached before anything was found. */
static iso_elle *make_unknown(isoproof_history *history, const iso_elle_options *options, isoproof_status status) {
  iso_elle *e = iso_alloc_zero(1, sizeof *e);
  if (e == NULL) return NULL;
  e->history = history;
  e->options = *options;
  e->unknown_reason = status == ISOPROOF_ERR_TIMEOUT ? "the time limit was reached" : "memory ran out";
  return e;
}

static isoproof_status run(isoproof_history *history, const iso_elle_options *options, isoproof_task *task,
                           iso_elle **elle, isoproof_error *error) {
  isoproof_status status = iso_elle_run(history, options, task, elle, error);
  if (status != ISOPROOF_ERR_TIMEOUT && status != ISOPROOF_ERR_MEMORY) return status;
  *elle = make_unknown(history, options, status);
  return *elle != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_verdict elle_verdict(const iso_elle *e) {
  if (e->invalid) return ISOPROOF_VIOLATED;
  return e->unknown_reason != NULL ? ISOPROOF_UNDECIDED : ISOPROOF_SATISFIED;
}

static isoproof_status fill(isoproof_result *made, iso_elle_result *elle, const iso_elle_options *options,
                            isoproof_task *task, isoproof_error *error) {
  ISO_TRY(run(made->history, options, task, &elle->elle, error));
  made->unknown_reason = elle->elle->unknown_reason;
  made->elle_verdict = elle_verdict(elle->elle);
  made->elle_workload = iso_elle_workload_id(options->workload);
  bool filled = choose_shown(elle) && iso_result_set_anomalies(made, elle->shown_count) &&
                name_models(made, elle->elle) && enter_models(made, elle->elle);
  if (!filled) return iso_fail_memory(error);
  ISO_TRY(verify_shown(made, elle, error));
  return iso_result_rank(made) ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_anomaly *anomaly_of(void *state, size_t number, iso_arena *arena) {
  return iso_elle_result_anomaly(state, number, arena);
}

static void free_state(void *state) {
  iso_elle_result *elle = state;
  iso_elle_free(elle->elle);
  free(elle->shown);
  free(elle);
}

static const iso_result_engine engine = {.anomaly = anomaly_of, .free = free_state};

isoproof_status iso_elle_refuse_rows(const isoproof_history *history, isoproof_error *error) {
  if (!iso_history_has_rows(history)) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                  "Elle's workloads and models say nothing of rows (inserts, deletes, reads by predicate); levels do: "
                  "isoproof check --level=serializable");
}

isoproof_status iso_elle_check(isoproof_history *history, const isoproof_check_options *options, isoproof_task *task,
                               isoproof_result **result, isoproof_error *error) {
  iso_elle_options how;
  memset(&how, 0, sizeof how);
  ISO_TRY(read_options(history, options, &how, error));
  iso_elle_result *elle = iso_alloc_zero(1, sizeof *elle);
  if (elle == NULL) return iso_fail_memory(error);
  isoproof_result *made;
  uint32_t *ranks = NULL;
  ISO_TRY(iso_result_new(history, &engine, elle, &made, error));
  made->all = options->all;
  made->only_patterns = how.models == 0;
  isoproof_status status = read_order(history, options, how.workload, &ranks, error);
  how.txn_order_opt = ranks;
  if (status == ISOPROOF_OK) status = fill(made, elle, &how, task, error);
  free(ranks);
  if (elle->elle != NULL) elle->elle->options.txn_order_opt = NULL;
  if (status != ISOPROOF_OK) {
    isoproof_result_free(made);
    return status;
  }
  *result = made;
  return ISOPROOF_OK;
}
