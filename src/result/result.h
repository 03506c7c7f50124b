/* result.h - what isoproof_check found, inside the library.
 * A result refers to its history and owns everything else until isoproof_result_free. */
#ifndef ISO_RESULT_RESULT_H
#define ISO_RESULT_RESULT_H

#include <isoproof/check.h>
#include <isoproof/level.h>
#include <pthread.h>

#include "base/arena.h"
#include "check/axioms/shortest_proof.h"
#include "check/axioms/weak.h"
#include "check/certificate.h"
#include "check/strong/strong_levels.h"
#include "result/finding.h"
#include "verify/finding.h"

struct isoproof_result {
  isoproof_history *history;
  iso_findings findings;
  bool has_weak; /* the levels between transactions were looked at */
  iso_weak weak;
  iso_strong_set strong; /* the levels that had to be searched for */

  /* One entry a level that was decided or asked for, in the order of the table of levels. */
  struct iso_level_entry {
    const isoproof_level_info *info;
    isoproof_verdict verdict;
    bool asked;
  } * levels;
  size_t level_count;
  const char *unknown_reason;
  const char *unexplained; /* a level whose violation takes too many cases to show */
  bool only_patterns;      /* no level was judged, but patterns were asked for */

  const char **strongest, **weakest_violated; /* NULL-terminated */
  bool has_certificates;                      /* they were asked for */
  iso_certificates certificates;
  const char *uncertified; /* why they are missing; NULL when they are not */
  bool has_stats;          /* where figures about the search were asked for */

  pthread_mutex_t lock; /* guards the arena, the verifier and the cache: witnesses are made when they are asked for */
  iso_arena arena;
  iso_verifier verifier;
  iso_prover prover;  /* made when the first cycle is asked for */
  iso_finding *shown; /* the findings behind isoproof_result_anomaly, in its order */
  size_t shown_count;
  size_t told[ISO_STRONG_MOST]; /* decisions whose scenarios are shown after those */
  size_t told_count;
  isoproof_anomaly **cache;

  struct iso_elle_result *elle; /* where a workload or models were asked for; see elle/elle_result.h */
};

/* Makes the certificates of the levels that were entered as satisfied. */
isoproof_status iso_result_certify(isoproof_result *result, isoproof_task *task, isoproof_error *error);

#endif
