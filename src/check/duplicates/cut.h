/* cut.h - which writes reads observed, so that no transaction reads one key from two others, wherever that is possible.
 */
#ifndef ISO_CHECK_DUPLICATES_CUT_H
#define ISO_CHECK_DUPLICATES_CUT_H

#include "base/task.h"
#include "history/history.h"

typedef enum iso_cut { ISO_CUT_UNKNOWN, ISO_CUT_POSSIBLE, ISO_CUT_IMPOSSIBLE } iso_cut;

/* Puts the choices into the resolution where they are possible.  Unknown: of rows, lists and counters, and where
 * several transactions of unknown outcome could be what was read. */
isoproof_status iso_cut_choose(isoproof_history *history, isoproof_task *task, iso_cut *cut, isoproof_error *error);

#endif
