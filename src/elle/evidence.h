/* evidence.h - what the dependencies of a workload were inferred from, to explain them afterwards.
 * The evidence owns what it holds until iso_evidence_free and refers to the history. */
#ifndef ISO_ELLE_EVIDENCE_H
#define ISO_ELLE_EVIDENCE_H

#include "elle/elle.h"
#include "elle/infer/counters.h"
#include "elle/infer/derived_orders.h"
#include "elle/infer/lists.h"
#include "elle/infer/predicates.h"
#include "elle/infer/registers.h"
#include "elle/infer/sets.h"

typedef struct iso_evidence {
  iso_elle_workload workload;
  const uint8_t *counts;
  bool has_lists;
  iso_lists lists;
  bool has_registers;
  iso_registers registers;
  iso_derived_orders derived_orders; /* what was found to follow, perhaps nothing */
  bool has_sets;
  iso_sets sets;
  bool has_counters;
  iso_counters counters;
  bool has_predicates;
  iso_predicates predicates;
} iso_evidence;

/* What the dependencies of a workload prove. */
typedef struct iso_proof_power {
  bool order;   /* transactions that have no cycle can be put in an order that explains all reads */
  bool absence; /* every dependency is known: what a model forbids and is not there is not there */
} iso_proof_power;

/* Infers what it can: scans into `cases`, dependencies into `edges`. */
isoproof_status iso_evidence_gather(isoproof_history *history, const iso_elle_options *options, const uint8_t *counts,
                                    isoproof_task *task, iso_evidence *evidence, iso_elle_cases *cases,
                                    iso_dependency_list *edges, iso_proof_power *power, isoproof_error *error);
void iso_evidence_free(iso_evidence *evidence);

/* Why `from` comes before `to` by a dependency of that kind. */
iso_why iso_evidence_explain(const iso_evidence *evidence, const isoproof_history *history, uint32_t from, uint32_t to,
                             iso_dependency_set kind);

#endif
