/* results.h - a table of outcomes, inside.  It owns all of its texts. */
#ifndef ISO_PLAN_RESULTS_H
#define ISO_PLAN_RESULTS_H

#include <isoproof/plan.h>

#include "base/arena.h"
#include "base/output.h"
#include "base/vector.h"

struct isoproof_plan_results {
  iso_arena arena; /* texts that were replaced stay there until the end */
  const char *title;
  double seconds; /* -1 where unknown */
  ISO_VEC(isoproof_plan_outcome) rows;
};

/* What an outcome means for who expects something: C name, in words. */
#define ISO_PLAN_MEANING_LIST(X)                                                                                       \
  X(AS_EXPECTED, "as expected")                                                                                        \
  X(VIOLATED, "violated")         /* although it was to hold */                                                        \
  X(NOT_VIOLATED, "not violated") /* although it was to be */                                                          \
  X(UNKNOWN, "unknown")                                                                                                \
  X(FAILED, "failed")                                                                                                  \
  X(NOT_TRIED, "not tried")

typedef enum iso_plan_meaning {
#define ISO_X(name, text) ISO_PLAN_##name,
  ISO_PLAN_MEANING_LIST(ISO_X)
#undef ISO_X
      ISO_PLAN_MEANINGS
} iso_plan_meaning;

const char *iso_plan_meaning_name(iso_plan_meaning meaning);
iso_plan_meaning iso_plan_meaning_of(const isoproof_plan_outcome *outcome);
/* How many rows have each meaning. */
void iso_plan_count(const isoproof_plan_results *results, size_t counts[ISO_PLAN_MEANINGS]);
/* "satisfied", "violated: lost-update", "not tried", "failed: ...": in one line, without escapes. */
void iso_plan_verdict_text(const isoproof_plan_outcome *outcome, char *text, size_t size);
/* "the default" where the plan names no level. */
const char *iso_plan_isolation_text(const isoproof_plan_outcome *outcome);
/* "6 cells in 12.3 s: 5 as expected, 1 violated", on one line. */
void iso_plan_put_counts(iso_output *out, const isoproof_plan_results *results);

#endif
