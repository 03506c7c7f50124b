/* cases.h - from a small problem without a solution to a tree of cases with a forbidden cycle at each leaf.
 * The tree is put into the scenario, which owns it. */
#ifndef ISO_EXPLAIN_CASES_H
#define ISO_EXPLAIN_CASES_H

#include "explain/small.h"

/* Fills out->cases and out->links, in the numbers of the small problem, and out->refuted.  Orders whose opposite closes
 * a cycle at once are preferred to true alternatives, short cycles to long ones.  ISOLDE_ERR_LIMIT when the cases are
 * too many. */
isolde_status iso_branches_make(const iso_small *small, isolde_task *task, iso_scenario *out, isolde_error *error);
/* Takes out of the tree every alternative of which one side gets by without its assumption. */
isolde_status iso_branches_prune(const iso_small *small, iso_scenario *out, isolde_error *error);

#endif
