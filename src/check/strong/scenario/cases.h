/* cases.h - from a polygraph without a solution to a tree of cases with a forbidden cycle at each leaf.
 * The tree is put into the scenario, which owns it. */
#ifndef ISO_CHECK_STRONG_SCENARIO_CASES_H
#define ISO_CHECK_STRONG_SCENARIO_CASES_H

#include "check/strong/scenario/polygraph.h"

/* Fills out->cases and out->links, in the numbers of the polygraph, and out->refuted.  Orders whose opposite closes
 * a cycle at once are preferred to true alternatives, short cycles to long ones.  ISOPROOF_ERR_LIMIT when the cases are
 * more than 20,000: their number is exponential in the undecided pairs at worst. */
isoproof_status iso_branches_make(const iso_polygraph *problem, isoproof_task *task, iso_scenario *out,
                                  isoproof_error *error);
/* Takes out of the tree every alternative of which one side gets by without its assumption. */
isoproof_status iso_branches_prune(const iso_polygraph *problem, iso_scenario *out, isoproof_error *error);

#endif
