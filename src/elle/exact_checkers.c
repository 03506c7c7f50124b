/* Asking the checkers of the levels about models that inference left open. */
#include "elle/exact_checkers.h"

/* The level that asks the same as a model, and what its violation is called. */
static const struct counterpart {
  iso_level model;
  const char *level;
  iso_anomaly anomaly;
} counterparts[] = {
    {ISO_LEVEL_M_PL_SI, "PL-SI", ISO_ANOMALY_PL_SI_CYCLE_EXISTS},
    {ISO_LEVEL_M_PL_3, "PL-3", ISO_ANOMALY_PL_3_CYCLE_EXISTS},
    /* Without predicates repeatable read asks for the same. */
    {ISO_LEVEL_M_PL_2_99, "PL-3", ISO_ANOMALY_PL_2_99_CYCLE_EXISTS},
    {ISO_LEVEL_M_STRONG_SESSION_SI, "snapshot-isolation", ISO_ANOMALY_STRONG_SESSION_SI_CYCLE_EXISTS},
    {ISO_LEVEL_M_STRONG_SESSION_SER, "serializable", ISO_ANOMALY_STRONG_SESSION_SER_CYCLE_EXISTS},
    {ISO_LEVEL_M_STRONG_SI, "strong-snapshot-isolation", ISO_ANOMALY_STRONG_SI_CYCLE_EXISTS},
    {ISO_LEVEL_M_PL_SS, "strict-serializable", ISO_ANOMALY_PL_SS_CYCLE_EXISTS},
};
enum { COUNTERPARTS = sizeof counterparts / sizeof counterparts[0] };
_Static_assert((int)COUNTERPARTS <= (int)ISO_ELLE_EXACT_MOST, "a report keeps one result per counterpart");

/* The levels put a transaction of unknown outcome that somebody saw before the next one of its session; the models put
 * it before nobody.  Where there is such a one, only what is satisfied is satisfied in both. */
static bool orders_unknown(const iso_elle *e) {
  const isoproof_history *h = e->history;
  for (uint32_t t = 0; t + 1 < h->txns; t++) {
    bool unknown = e->counts[t] && h->txn_status[t] == ISOPROOF_TXN_UNKNOWN;
    if (unknown && h->txn_session[t] == h->txn_session[t + 1]) return true;
  }
  return false;
}

static bool refutes(const iso_elle *e, const struct counterpart *c, const isoproof_result *result) {
  if (isoproof_result_verdict_of(result, c->level) != ISOPROOF_VIOLATED) return false;
  bool plain = c->model == ISO_LEVEL_M_PL_SI || c->model == ISO_LEVEL_M_PL_3 || c->model == ISO_LEVEL_M_PL_2_99;
  return isoproof_result_anomaly_count(result) > 0 && (plain || !orders_unknown(e));
}

static isoproof_status ask(iso_elle *e, unsigned number, isoproof_task *task, isoproof_error *error) {
  const struct counterpart *c = &counterparts[number];
  isoproof_check_options options = {.struct_size = sizeof options, .levels = &c->level, .level_count = 1};
  isoproof_result *result;
  ISO_TRY(isoproof_check(e->history, &options, task, &result, error));
  if (isoproof_result_verdict_of(result, c->level) == ISOPROOF_SATISFIED) e->proved |= iso_level_implied(c->model);
  if (refutes(e, c, result)) {
    e->noncycle.count[c->anomaly]++;
    iso_noncycle_anomaly one = {(uint32_t)c->anomaly, ISO_NO_OP, ISO_NO_OP, ISO_NO_OP, 0};
    if (!iso_vec_push(&e->noncycle.list, one)) e->noncycle.failed = true;
    e->exact_results[number] = result;
    result = NULL;
  }
  isoproof_result_free(result);
  return e->noncycle.failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

isoproof_status iso_elle_ask_exact_checkers(iso_elle *e, isoproof_task *task, isoproof_error *error) {
  for (unsigned i = 0; i < COUNTERPARTS; i++) {
    iso_level_set bit = ISO_LEVEL_BIT(counterparts[i].model);
    if ((e->options.models & bit) != 0 && ((e->ruled_out | e->proved) & bit) == 0) ISO_TRY(ask(e, i, task, error));
  }
  return ISOPROOF_OK;
}

const isoproof_result *iso_elle_exact_result(const iso_elle *e, iso_anomaly anomaly) {
  for (unsigned i = 0; i < COUNTERPARTS; i++) {
    if (counterparts[i].anomaly == anomaly) return e->exact_results[i];
  }
  return NULL;
}
