/* Judging a history the way of Elle: infer, search, rule out and prove models. */
#include "elle/elle.h"

#include <stdlib.h>
#include <string.h>

#include "elle/derived_cycles.h"
#include "elle/evidence.h"
#include "elle/exact_checkers.h"
#include "elle/infer/orders.h"
#include "history/effect.h"
#include "history/resolve.h"

static const char *const workload_ids[] = {
#define ISO_X(name, id) id,
    ISO_ELLE_WORKLOAD_LIST(ISO_X)
#undef ISO_X
};

const char *iso_elle_workload_id(iso_elle_workload workload) {
  return (unsigned)workload < ISO_ELLE_WORKLOADS ? workload_ids[workload] : "?";
}

iso_elle_workload iso_elle_workload_find(const char *id) {
  for (unsigned i = 0; i < ISO_ELLE_WORKLOADS; i++) {
    if (iso_level_same_name(workload_ids[i], id)) return (iso_elle_workload)i;
  }
  return ISO_ELLE_WORKLOADS;
}

iso_elle_workload iso_elle_workload_detect(const isoproof_history *h) {
  bool seen[ISOPROOF_OP_KINDS] = {false};
  for (uint32_t op = 0; op < h->ops; op++) seen[h->op_kind[op]] = true;
  if (seen[ISOPROOF_OP_READ_PREDICATE]) return ISO_ELLE_WORKLOAD_CLOSED_PREDICATE;
  if (seen[ISOPROOF_OP_APPEND] || seen[ISOPROOF_OP_READ_LIST]) return ISO_ELLE_WORKLOAD_LIST_APPEND;
  if (seen[ISOPROOF_OP_ADD] || seen[ISOPROOF_OP_READ_SET]) return ISO_ELLE_WORKLOAD_SET;
  if (seen[ISOPROOF_OP_INCREMENT] || seen[ISOPROOF_OP_READ_COUNTER]) return ISO_ELLE_WORKLOAD_COUNTER;
  return ISO_ELLE_WORKLOAD_RW_REGISTER;
}

bool iso_elle_reports(const iso_elle *elle, iso_anomaly anomaly) {
  if ((iso_anomaly_rules_out(anomaly) & elle->options.models) != 0) return true;
  for (unsigned a = 0; a < ISO_ANOMALY_COUNT; a++) {
    if (elle->options.anomalies[a] && iso_anomaly_is(anomaly, (iso_anomaly)a)) return true;
  }
  return false;
}

/* Which orders matter to what was asked. */
static void wanted_orders(const iso_elle *elle, bool *session, bool *realtime) {
  static const iso_anomaly with_session[] = {ISO_ANOMALY_G0_PROCESS,       ISO_ANOMALY_G1C_PROCESS,
                                             ISO_ANOMALY_G_SINGLE_PROCESS, ISO_ANOMALY_G_NONADJACENT_PROCESS,
                                             ISO_ANOMALY_G2_PROCESS,       ISO_ANOMALY_G_SINGLE_ITEM_PROCESS,
                                             ISO_ANOMALY_G2_ITEM_PROCESS};
  static const iso_anomaly with_realtime[] = {ISO_ANOMALY_G0_REALTIME,       ISO_ANOMALY_G1C_REALTIME,
                                              ISO_ANOMALY_G_SINGLE_REALTIME, ISO_ANOMALY_G_NONADJACENT_REALTIME,
                                              ISO_ANOMALY_G2_REALTIME,       ISO_ANOMALY_G_SINGLE_ITEM_REALTIME,
                                              ISO_ANOMALY_G2_ITEM_REALTIME};
  *session = *realtime = false;
  for (size_t i = 0; i < sizeof with_session / sizeof with_session[0]; i++) {
    *session |= iso_elle_reports(elle, with_session[i]);
    *realtime |= iso_elle_reports(elle, with_realtime[i]);
  }
}

/* Whether real time says something about every transaction that counts. */
static bool all_timed(const isoproof_history *h, const uint8_t *counts) {
  bool indexes = h->txn_start_index_opt != NULL;
  const int64_t *starts = indexes ? h->txn_start_index_opt : h->txn_start_opt;
  const int64_t *ends = indexes ? h->txn_end_index_opt : h->txn_end_opt;
  int64_t blank = indexes ? -1 : ISOPROOF_NO_TIME;
  if (starts == NULL) return false;
  for (uint32_t t = 0; t < h->txns; t++) {
    if (!counts[t]) continue;
    if (starts[t] == blank || (ends[t] == blank && h->txn_status[t] == ISOPROOF_TXN_COMMITTED)) return false;
  }
  return true;
}

/* Some transaction began, and some ended: real time may say something. */
static bool any_timed(const isoproof_history *h, const uint8_t *counts) {
  bool indexes = h->txn_start_index_opt != NULL;
  const int64_t *starts = indexes ? h->txn_start_index_opt : h->txn_start_opt;
  int64_t blank = indexes ? -1 : ISOPROOF_NO_TIME;
  for (uint32_t t = 0; starts != NULL && t < h->txns; t++) {
    if (counts[t] && starts[t] != blank) return true;
  }
  return false;
}

typedef struct known_orders {
  bool session, realtime; /* that there are edges of */
  bool all_timed;         /* real time says something about every transaction */
} known_orders;

/* Real time mostly contains the order of sessions; that is added where it does not, or is not wanted or known. */
static isoproof_status add_orders(const iso_elle *elle, iso_dependency_list *edges, known_orders *known,
                                  isoproof_error *error) {
  bool session, realtime;
  iso_instants instants;
  wanted_orders(elle, &session, &realtime);
  known->realtime = realtime && any_timed(elle->history, elle->counts);
  known->session = (session || realtime) && !known->realtime;
  known->all_timed = known->realtime && all_timed(elle->history, elle->counts);
  if (known->session) iso_session_edges(elle->history, elle->counts, NULL, edges);
  if (!known->realtime) return ISOPROOF_OK;
  ISO_TRY(iso_instants_make(elle->history, elle->counts, &instants, error));
  iso_realtime_edges(elle->history, &instants, edges);
  iso_session_edges(elle->history, elle->counts, &instants, edges);
  iso_instants_free(&instants);
  return ISOPROOF_OK;
}

/* ---- verdicts ---- */

static iso_level_set only_models(iso_level_set set) {
  for (unsigned i = 0; i < ISO_LEVEL_COUNT; i++) {
    if (isoproof_level_at(i)->family != ISOPROOF_LEVEL_MODEL) set &= ~ISO_LEVEL_BIT(i);
  }
  return set;
}

/* What holds when no cycle of any kind is there: then some order of the transactions explains everything, with the
 * writes that nobody saw at the end. */
static iso_level_set proved_by_order(const known_orders *known) {
  if (known->all_timed) return iso_level_implied(ISO_LEVEL_M_PL_SS);
  if (known->session) return iso_level_implied(ISO_LEVEL_M_STRONG_SESSION_SER);
  return iso_level_implied(ISO_LEVEL_M_PL_3);
}

/* What holds when every dependency is known, by the absence of what the models forbid. */
static iso_level_set proved_by_absence(const iso_elle *elle, const known_orders *known) {
  static const iso_level plain[] = {ISO_LEVEL_M_PL_1, ISO_LEVEL_M_PL_2, ISO_LEVEL_M_PL_SI, ISO_LEVEL_M_PL_2_99,
                                    ISO_LEVEL_M_PL_3};
  static const iso_level session[] = {ISO_LEVEL_M_STRONG_SESSION_PL_1, ISO_LEVEL_M_STRONG_SESSION_PL_2,
                                      ISO_LEVEL_M_STRONG_SESSION_SI, ISO_LEVEL_M_STRONG_SESSION_SER};
  static const iso_level timed[] = {ISO_LEVEL_M_STRONG_PL_1, ISO_LEVEL_M_STRONG_PL_2, ISO_LEVEL_M_STRONG_SI,
                                    ISO_LEVEL_M_PL_SS};
  iso_level_set set = 0;
#define ENTER(list, when)                                                                                              \
  for (size_t i = 0; (when) && i < sizeof(list) / sizeof(list)[0]; i++) {                                              \
    if ((elle->ruled_out & ISO_LEVEL_BIT((list)[i])) == 0) set |= iso_level_implied((list)[i]);                        \
  }
  ENTER(plain, true)
  ENTER(session, known->session)
  ENTER(timed, known->all_timed)
#undef ENTER
  bool single = (elle->ruled_out & ISO_LEVEL_BIT(ISO_LEVEL_M_PL_2_PLUS)) != 0;
  if (!single && !elle->cycles.gave_up) set |= iso_level_implied(ISO_LEVEL_M_PL_2_PLUS);
  return set;
}

/* What was found rules out models. */
static void rule_out_models(iso_elle *elle) {
  for (unsigned a = 0; a < ISO_ANOMALY_COUNT; a++) {
    if (elle->noncycle.count[a] + elle->cycles.count[a] == 0) continue;
    elle->ruled_out |= iso_anomaly_rules_out((iso_anomaly)a);
    elle->invalid |= iso_elle_reports(elle, (iso_anomaly)a);
  }
}

static void judge(iso_elle *elle, const known_orders *known, const iso_completeness *completeness) {
  uint64_t other_anomalies = 0;
  for (unsigned a = 0; a < ISO_ANOMALY_COUNT; a++) {
    if (a != ISO_ANOMALY_LOST_UPDATE) other_anomalies += elle->noncycle.count[a];
  }
  rule_out_models(elle);
  if (elle->cycles.gave_up) elle->unknown_reason = elle->cycles.reason;
  if (other_anomalies > 0) return;
  if (completeness->serializable_if_acyclic && elle->cycles.components == 0 &&
      elle->noncycle.count[ISO_ANOMALY_LOST_UPDATE] == 0) {
    elle->proved = proved_by_order(known);
  } else if (completeness->all_dependencies) {
    elle->proved = proved_by_absence(elle, known);
  }
  elle->proved = only_models(elle->proved) & ~elle->ruled_out;
}

/* Registers: every value read was written, so that the exact checkers mean what this check means. */
static bool exact_checkers_apply(const iso_elle *elle) {
  const isoproof_history *h = elle->history;
  if (elle->options.workload != ISO_ELLE_WORKLOAD_RW_REGISTER || elle->invalid) return false;
  for (uint32_t op = 0; op < h->ops; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_READ && h->op_kind[op] != ISOPROOF_OP_WRITE) return false;
  }
  return h->resolution->counts.thin_air == 0;
}

static isoproof_status ask_exact_checkers(iso_elle *elle, isoproof_task *task, isoproof_error *error) {
  if (!exact_checkers_apply(elle)) return ISOPROOF_OK;
  ISO_TRY(iso_elle_ask_exact_checkers(elle, task, error));
  rule_out_models(elle);
  elle->proved = only_models(elle->proved) & ~elle->ruled_out;
  return ISOPROOF_OK;
}

/* Registers: nothing was found so far, and not every model that was asked for is proved. */
static bool may_derive(const iso_elle *elle) {
  if (elle->options.workload != ISO_ELLE_WORKLOAD_RW_REGISTER || elle->empty_graph) return false;
  for (unsigned a = 0; a < ISO_ANOMALY_COUNT; a++) {
    bool exact = iso_elle_exact_result(elle, (iso_anomaly)a) != NULL;
    if (elle->cycles.count[a] > 0 || (elle->noncycle.count[a] > 0 && !exact)) return false;
  }
  return elle->options.models == 0 || (elle->options.models & ~elle->proved) != 0;
}

/* What the exact checkers find has no name, and they are not there for every model. */
static isoproof_status finish_registers(iso_elle *elle, const iso_dependency_graph *graph, isoproof_task *task,
                                        isoproof_error *error) {
  ISO_TRY(ask_exact_checkers(elle, task, error));
  if (!may_derive(elle)) return ISOPROOF_OK;
  ISO_TRY(iso_elle_derive_cycles(elle, graph, task, error));
  if (elle->unknown_reason == NULL && elle->evidence->derived_orders.gave_up) {
    elle->unknown_reason = "the search for orders of versions that follow from others reached its limit";
  }
  if (elle->unknown_reason == NULL && elle->cycles.gave_up) elle->unknown_reason = elle->cycles.reason;
  rule_out_models(elle);
  elle->proved &= ~elle->ruled_out;
  return ISOPROOF_OK;
}

/* ---- the check ---- */

/* Kinds of operations that a workload consists of, one bit each. */
static unsigned kinds_of(iso_elle_workload workload) {
#define BIT(kind) (1u << ISOPROOF_OP_##kind)
  switch (workload) {
  case ISO_ELLE_WORKLOAD_LIST_APPEND:
    return BIT(APPEND) | BIT(READ_LIST);
  case ISO_ELLE_WORKLOAD_RW_REGISTER:
    return BIT(WRITE) | BIT(READ);
  case ISO_ELLE_WORKLOAD_CLOSED_PREDICATE:
    return BIT(WRITE) | BIT(READ) | BIT(READ_PREDICATE);
  case ISO_ELLE_WORKLOAD_SET:
    return BIT(ADD) | BIT(READ_SET);
  case ISO_ELLE_WORKLOAD_COUNTER:
    return BIT(INCREMENT) | BIT(READ_COUNTER);
  case ISO_ELLE_WORKLOADS:
    break;
  }
#undef BIT
  return 0;
}

/* What is no part of the workload would be passed over in silence, and the verdict be about something else.  A read of
 * nothing may be one of anything. */
static isoproof_status check_kinds(const isoproof_history *h, iso_elle_workload workload, isoproof_error *error) {
  unsigned kinds = kinds_of(workload);
  for (uint32_t op = 0; op < h->ops; op++) {
    bool nothing = h->op_value[op] == ISO_VALUE_NIL || h->op_value[op] == ISO_VALUE_NONE;
    if ((kinds >> h->op_kind[op] & 1) != 0) continue;
    if (nothing && isoproof_op_kind_observes((isoproof_op_kind)h->op_kind[op])) continue;
    isoproof_position at;
    iso_place place = ISO_NOWHERE;
    if (isoproof_history_position_of(h, op, &at)) place = (iso_place){at.file, at.line, 0, at.offset};
    return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place,
                       "expected an operation of the workload %s, found one of kind %s", iso_elle_workload_id(workload),
                       isoproof_op_kind_name((isoproof_op_kind)h->op_kind[op]));
  }
  return ISOPROOF_OK;
}

static isoproof_status check_unique(isoproof_history *history, const iso_elle_options *options, isoproof_task *task,
                                    isoproof_error *error) {
  const iso_resolution *resolution;
  ISO_TRY(iso_history_resolve(history, task, &resolution, error));
  bool must = options->workload == ISO_ELLE_WORKLOAD_LIST_APPEND || options->workload == ISO_ELLE_WORKLOAD_RW_REGISTER;
  return must ? iso_history_require_unique(history, resolution, error) : ISOPROOF_OK;
}

static isoproof_status run(iso_elle *elle, isoproof_task *task, isoproof_error *error) {
  iso_dependency_list edges;
  iso_dependency_graph graph;
  known_orders known = {false, false, false};
  iso_completeness completeness = {false, false};
  ISO_TRY(check_kinds(elle->history, elle->options.workload, error));
  ISO_TRY(check_unique(elle->history, &elle->options, task, error));
  ISO_TRY(iso_history_effect(elle->history, task, &elle->counts, error));
  iso_dependency_list_init(&edges, elle->history->txns);
  isoproof_status status = add_orders(elle, &edges, &known, error);
  if (status == ISOPROOF_OK) {
    status = iso_evidence_gather(elle->history, &elle->options, elle->counts, task, elle->evidence, &elle->noncycle,
                                 &edges, &completeness, error);
  }
  if (status != ISOPROOF_OK) {
    iso_dependency_list_free(&edges);
    return status;
  }
  elle->empty_graph = edges.from.count == 0;
  ISO_TRY(iso_dependency_graph_make(&edges, &graph, error));
  iso_level_set ruled_out = 0;
  for (unsigned a = 0; a < ISO_ANOMALY_COUNT; a++) {
    if (elle->noncycle.count[a] > 0) ruled_out |= iso_anomaly_rules_out((iso_anomaly)a);
  }
  status = iso_dependency_cycles_find(&graph, ruled_out, elle->options.budget, task, &elle->cycles, error);
  if (status == ISOPROOF_OK) {
    judge(elle, &known, &completeness);
    status = finish_registers(elle, &graph, task, error);
  }
  iso_dependency_graph_free(&graph);
  return status;
}

isoproof_status iso_elle_run(isoproof_history *history, const iso_elle_options *options, isoproof_task *task,
                             iso_elle **elle, isoproof_error *error) {
  iso_elle *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->history = history;
  made->options = *options;
  made->noncycle.all = made->cycles.all = options->all;
  made->evidence = iso_alloc_zero(1, sizeof *made->evidence);
  isoproof_status status = made->evidence != NULL ? run(made, task, error) : iso_fail_memory(error);
  if (status != ISOPROOF_OK) {
    iso_elle_free(made);
    return status;
  }
  *elle = made;
  return ISOPROOF_OK;
}

void iso_elle_free(iso_elle *elle) {
  if (elle == NULL) return;
  if (elle->evidence != NULL) iso_evidence_free(elle->evidence);
  free(elle->evidence);
  free(elle->counts);
  for (size_t i = 0; i < ISO_ELLE_EXACT_MOST; i++) isoproof_result_free(elle->exact_results[i]);
  iso_vec_free(&elle->noncycle.list);
  iso_dependency_cycles_free(&elle->cycles);
  free(elle);
}
