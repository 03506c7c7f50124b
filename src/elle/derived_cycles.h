/* derived_cycles.h - registers: cycles of dependencies that need orders of versions derived from other dependencies
 * (elle/infer/derived_orders.h).  What is found belongs to the report. */
#ifndef ISO_ELLE_DERIVED_CYCLES_H
#define ISO_ELLE_DERIVED_CYCLES_H

#include "elle/elle.h"

/* For a report without any anomaly; `graph` holds what it knows.  A cycle with a derived step is at least one with a
 * single anti-dependency, for either that step is wrong, which makes such a cycle, or it closes the one that is told.
 */
isoproof_status iso_elle_derive_cycles(iso_elle *elle, const iso_dependency_graph *graph, isoproof_task *task,
                                       isoproof_error *error);

#endif
