/* isoproof/minimize.h - the smallest part of a history that still violates a level.
 *
 * A part is made of whole transactions first, then of operations.  Leaving something out never invents an anomaly: a
 * read whose write is left out goes with it, and an element of a list or a set goes with its append or addition.  The
 * result is smallest in the sense that no single transaction or operation more can be left out.
 */
#ifndef ISOPROOF_MINIMIZE_H
#define ISOPROOF_MINIMIZE_H

#include <isoproof/check.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isoproof_minimize_options {
  size_t struct_size; /* sizeof(isoproof_minimize_options) */
  const char *level;  /* id or alias; required */
  /* As for isoproof_check: writes of one value to one key are expected; they are accepted without this as well.  A read
   * goes with any of the writes that it may have observed. */
  bool duplicate_values;
} isoproof_minimize_options;

typedef struct isoproof_minimized {
  size_t struct_size;       /* sizeof(isoproof_minimized), set by the caller */
  isoproof_verdict verdict; /* on the whole history; only a violated one has a smaller part */
  bool finished;            /* false: the time limit was reached first, and the part is the smallest found by then */
  uint64_t checks;          /* how many parts were judged */
} isoproof_minimized;

/* Makes *smaller, which the caller frees, from a history that violates the level; NULL when it does not, or when that
 * could not be decided.  Each part is judged by isoproof_check.  `task` may be NULL; `report` may be NULL.
 * ISOPROOF_ERR_USAGE when there is no such level. */
ISOPROOF_API isoproof_status isoproof_minimize(isoproof_history *history, const isoproof_minimize_options *options,
                                               isoproof_task *task, isoproof_history **smaller,
                                               isoproof_minimized *report, isoproof_error *error);

#ifdef __cplusplus
}
#endif

#endif
