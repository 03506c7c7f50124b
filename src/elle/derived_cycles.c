/* Searching cycles again with derived orders, and naming them by what they prove. */
#include "elle/derived_cycles.h"

#include <string.h>

#include "elle/evidence.h"

/* What a cycle with derived steps is called, where its own type would say too much. */
static iso_anomaly name_of(iso_anomaly type) {
  switch (type) {
  case ISO_ANOMALY_G0:
  case ISO_ANOMALY_G1C:
  case ISO_ANOMALY_PL_1_CYCLE_EXISTS:
  case ISO_ANOMALY_PL_2_CYCLE_EXISTS:
    return ISO_ANOMALY_G_SINGLE_ITEM;
  case ISO_ANOMALY_G0_PROCESS:
  case ISO_ANOMALY_G1C_PROCESS:
  case ISO_ANOMALY_STRONG_SESSION_PL_1_CYCLE_EXISTS:
  case ISO_ANOMALY_STRONG_SESSION_PL_2_CYCLE_EXISTS:
    return ISO_ANOMALY_G_SINGLE_ITEM_PROCESS;
  case ISO_ANOMALY_G0_REALTIME:
  case ISO_ANOMALY_G1C_REALTIME:
  case ISO_ANOMALY_STRONG_PL_1_CYCLE_EXISTS:
  case ISO_ANOMALY_STRONG_PL_2_CYCLE_EXISTS:
    return ISO_ANOMALY_G_SINGLE_ITEM_REALTIME;
  default:
    return type;
  }
}

static void rename_cycles(iso_dependency_cycles *cycles) {
  uint64_t count[ISO_ANOMALY_COUNT] = {0};
  for (unsigned a = 0; a < ISO_ANOMALY_COUNT; a++) count[name_of((iso_anomaly)a)] += cycles->count[a];
  memcpy(cycles->count, count, sizeof count);
  size_t kept = 0;
  for (size_t i = 0; i < cycles->cycles.count; i++) {
    iso_dependency_cycle cycle = cycles->cycles.items[i];
    bool again = false;
    cycle.anomaly = name_of(cycle.anomaly);
    for (size_t k = 0; k < kept && !cycles->all; k++) again |= cycles->cycles.items[k].anomaly == cycle.anomaly;
    if (!again) cycles->cycles.items[kept++] = cycle;
  }
  cycles->cycles.count = kept;
}

static isoproof_status search(iso_elle *elle, const iso_dependency_graph *graph, isoproof_task *task,
                              isoproof_error *error) {
  iso_evidence *evidence = elle->evidence;
  iso_dependency_list edges;
  iso_dependency_graph whole;
  iso_dependency_cycles cycles;
  memset(&cycles, 0, sizeof cycles);
  cycles.all = elle->options.all;
  iso_dependency_list_init(&edges, elle->history->txns);
  isoproof_status status =
      iso_derived_orders_edges(&evidence->derived_orders, &evidence->registers, graph, &edges, error);
  if (status != ISOPROOF_OK) {
    iso_dependency_list_free(&edges);
    return status;
  }
  ISO_TRY(iso_dependency_graph_make(&edges, &whole, error));
  status = iso_dependency_cycles_find(&whole, elle->ruled_out, elle->options.budget, task, &cycles, error);
  iso_dependency_graph_free(&whole);
  if (status != ISOPROOF_OK) {
    iso_dependency_cycles_free(&cycles);
    return status;
  }
  rename_cycles(&cycles);
  cycles.gave_up |= elle->cycles.gave_up;
  if (cycles.reason == NULL) cycles.reason = elle->cycles.reason;
  iso_dependency_cycles_free(&elle->cycles);
  elle->cycles = cycles;
  return ISOPROOF_OK;
}

isoproof_status iso_elle_derive_cycles(iso_elle *elle, const iso_dependency_graph *graph, isoproof_task *task,
                                       isoproof_error *error) {
  iso_evidence *evidence = elle->evidence;
  isoproof_status status = iso_derived_orders_find(&evidence->registers, graph, elle->options.budget, task,
                                                   &evidence->derived_orders, error);
  if (status == ISOPROOF_ERR_TIMEOUT) {
    evidence->derived_orders.gave_up = true;
    return ISOPROOF_OK;
  }
  ISO_TRY(status);
  return evidence->derived_orders.pairs.count > 0 ? search(elle, graph, task, error) : ISOPROOF_OK;
}
