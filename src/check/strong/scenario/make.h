/* make.h - from transactions that violate a strong level to the smallest scenario that shows it.
 * The scenario belongs to the caller. */
#ifndef ISO_CHECK_STRONG_SCENARIO_MAKE_H
#define ISO_CHECK_STRONG_SCENARIO_MAKE_H

#include "base/task.h"
#include "check/view/versions.h"
#include "result/scenario.h"

/* Makes the scenario of a level that the given transactions (which all take part, in any order) violate by themselves.
 * Only their reads and the keys they wrote are looked at.
 * `versions` may be NULL where the history has no lists.  ISOPROOF_ERR_LIMIT when the cases are too many to show. */
isoproof_status iso_scenario_make(const iso_view *view, const iso_strong_level *level, const iso_versions *versions,
                                  const uint32_t *txns, size_t count, isoproof_task *task, iso_scenario *out,
                                  isoproof_error *error);

#endif
