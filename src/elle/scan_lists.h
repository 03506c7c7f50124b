/* scan_lists.h - what the reads of lists give away without looking at dependencies.
 * The lists and the cases belong to the caller. */
#ifndef ISO_ELLE_SCAN_LISTS_H
#define ISO_ELLE_SCAN_LISTS_H

#include "elle/elle.h"
#include "elle/infer/lists.h"

isoproof_status iso_elle_scan_lists(const iso_lists *lists, isoproof_task *task, iso_elle_cases *cases,
                                    isoproof_error *error);

#endif
