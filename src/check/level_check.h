/* level_check.h - the state behind a result by levels: what the engines found, and which of it is shown.
 * A check owns what is in it until iso_level_check_free. */
#ifndef ISO_CHECK_LEVEL_CHECK_H
#define ISO_CHECK_LEVEL_CHECK_H

#include "check/axioms/shortest_proof.h"
#include "check/count/occurrences.h"
#include "check/quick/quick.h"
#include "check/strong/strong_levels.h"
#include "result/result.h"
#include "verify/finding.h"

/* An anomaly of one of the results of Elle's way. */
typedef struct iso_model_anomaly {
  const isoproof_result *result;
  size_t number;
} iso_model_anomaly;

typedef struct iso_level_check {
  isoproof_history *history;
  iso_findings findings;
  iso_quick_proof proof; /* what is known without the engines */
  bool has_weak;         /* the levels between transactions were looked at */
  iso_weak weak;
  iso_strong_set strong;           /* the levels that had to be searched for */
  const iso_first_sequence *first; /* what their search begins with; NULL for nothing in particular */
  bool violated;                   /* what was asked for is, and any witness will do */

  iso_finding *shown; /* the findings behind the first anomalies, in their order */
  size_t shown_count;
  size_t told[ISO_STRONG_MOST];                 /* the decisions whose scenarios are shown after those */
  iso_occurrences occurrences[ISO_STRONG_MOST]; /* how often there are anomalies of the same name as those */
  size_t told_count;
  bool uncounted;                           /* what a read observed was chosen, not known: numbers say nothing */
  isoproof_result *models[ISO_LEVEL_COUNT]; /* of the levels that Elle's way decides: together, then some alone */
  size_t model_count;
  iso_model_anomaly *model_shown; /* of their anomalies, those that are shown after all others */
  size_t model_shown_count;
  const char *unknown_reason;      /* why nothing can be said; NULL otherwise */
  const char *unexplained;         /* a level whose violation takes too many cases to show; NULL otherwise */
  const char *left_reason;         /* why levels that nobody asked for were left; NULL when none was */
  bool too_large[ISO_LEVEL_COUNT]; /* of those, the ones that the history is too large for */

  iso_verifier verifier;
  iso_prover prover; /* made when the first cycle is asked for */
} iso_level_check;

isoproof_status iso_level_check_new(isoproof_history *history, iso_level_check **check, isoproof_error *error);
void iso_level_check_free(iso_level_check *check);

/* How many anomalies are shown for a scenario that is told: itself, or every instance that is kept. */
size_t iso_level_check_told(const iso_level_check *check, size_t told);

/* Makes the prover, where it is not there. */
isoproof_status iso_level_check_need_prover(iso_level_check *check, isoproof_error *error);

/* Its witnesses: of findings by verify/finding.h and explain/witness.h, of cycles by a proof, of strong levels by a
 * scenario, each judged before it is told. */
extern const iso_result_engine iso_level_engine;

/* Makes the certificates of the levels that were entered in the result as satisfied. */
isoproof_status iso_certify(isoproof_result *result, iso_level_check *check, isoproof_task *task,
                            isoproof_error *error);

#endif
