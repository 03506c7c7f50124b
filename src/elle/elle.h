/* elle.h - the anomalies of Adya (1999) and of Elle (Kingsbury and Alvaro, VLDB 2020) in a history, and the models that
 * they rule out.
 *
 * Single transactions and single keys give away non-cycle anomalies; several transactions give away cycles of their
 * dependencies.  A report owns its columns until iso_elle_free and refers to the history.
 */
#ifndef ISO_ELLE_ELLE_H
#define ISO_ELLE_ELLE_H

#include <isoproof/check.h>

#include "base/arena.h"
#include "elle/cycle_search.h"
#include "elle/noncycle.h"
#include "history/history.h"

/* Workloads: C name, id. */
#define ISO_ELLE_WORKLOAD_LIST(X)                                                                                      \
  X(LIST_APPEND, "list-append")                                                                                        \
  X(RW_REGISTER, "rw-register")                                                                                        \
  X(CLOSED_PREDICATE, "closed-predicate")                                                                              \
  X(SET, "set")                                                                                                        \
  X(COUNTER, "counter")

typedef enum iso_elle_workload {
#define ISO_X(name, id) ISO_ELLE_WORKLOAD_##name,
  ISO_ELLE_WORKLOAD_LIST(ISO_X)
#undef ISO_X
      ISO_ELLE_WORKLOADS
} iso_elle_workload;

const char *iso_elle_workload_id(iso_elle_workload workload);
/* By id; ISO_ELLE_WORKLOADS when there is none. */
iso_elle_workload iso_elle_workload_find(const char *id);
/* By the operations of a history. */
iso_elle_workload iso_elle_workload_detect(const isoproof_history *history);

typedef struct iso_elle_options {
  iso_elle_workload workload;
  iso_level_set models;              /* whose prohibitions are reported */
  bool anomalies[ISO_ANOMALY_COUNT]; /* that are reported besides, with what counts as one of them */
  bool wfr_keys, sequential_keys, linearizable_keys;
  bool all;                      /* every instance */
  const uint32_t *txn_order_opt; /* registers: writes come by the ranks of their transactions; 0 for no rank */
  uint64_t budget;               /* of each search; 0 the usual */
} iso_elle_options;

enum { ISO_ELLE_EXACT_MOST = 8 };

typedef struct iso_elle {
  isoproof_history *history;
  iso_elle_options options;
  uint8_t *counts;
  iso_noncycle_anomalies noncycle;
  iso_dependency_cycles cycles;
  bool empty_graph;        /* nothing was inferred between transactions */
  iso_level_set ruled_out; /* by everything that was found */
  iso_level_set proved;    /* models that the history provably satisfies */
  bool invalid;            /* something reportable was found */
  const char *unknown_reason;
  isoproof_result *exact_results[ISO_ELLE_EXACT_MOST]; /* see elle/exact_checkers.h */
  struct iso_evidence *evidence;                       /* what explains the edges; see elle/evidence.h */
} iso_elle;

isoproof_status iso_elle_run(isoproof_history *history, const iso_elle_options *options, isoproof_task *task,
                             iso_elle **elle, isoproof_error *error);
void iso_elle_free(iso_elle *elle);

/* Whether an anomaly is among those asked for: a model asked for forbids it, or it counts as an anomaly asked for. */
bool iso_elle_reports(const iso_elle *elle, iso_anomaly anomaly);

#endif
