/* judge.h - the result of a check in parts: as that of the whole where everything is satisfied, else by the whole where
 * it fits into memory, else by what the parts found. */
#ifndef ISO_PARTS_JUDGE_H
#define ISO_PARTS_JUDGE_H

#include <isoproof/check.h>

#include "parts/coordinator.h"

/* How to get at the whole history. */
typedef struct iso_whole {
  /* Opens it; ISOPROOF_ERR_MEMORY where it does not fit.  NULL: the parts are asked for all operations. */
  isoproof_status (*open)(void *context, isoproof_history **history, isoproof_error *error);
  void *context;
  bool fits;          /* into memory */
  const char *needed; /* the reason why it is needed whatever the verdicts are; NULL: it is not */
  /* Called before it is opened: nothing will be asked of the parts any more, which may go.  May be NULL. */
  void (*release)(void *context);
} iso_whole;

typedef struct iso_parts_result {
  isoproof_result *result;
  isoproof_history *history; /* what the result refers to; NULL: the skeleton */
  bool by_whole;             /* the whole history was judged in the end */
  const char *why;           /* the reason for that, or for what is unknown; may be NULL */
} iso_parts_result;

void iso_parts_result_free(iso_parts_result *result);

/* Judges.  Options that ask for more than verdicts and witnesses go to the whole at once.  The skeleton keeps its
 * counts of operations and keys. */
isoproof_status iso_judge_parts(iso_team *team, isoproof_history *skeleton, const isoproof_check_options *options,
                                const iso_whole *whole, isoproof_task *task, iso_parts_result *result,
                                isoproof_error *error);

/* Judges without parts, where everything that is asked for can be proved by reading the columns of a history in a few
 * passes, within so many bytes besides the pages that are read at a time (check/quick/frugal.h), or where a few
 * transactions found on the way violate all of it.  Where neither is so, the result stays empty, and nothing is known.
 */
isoproof_status iso_judge_by_columns(isoproof_history *history, const isoproof_check_options *options, uint64_t memory,
                                     isoproof_task *task, iso_parts_result *result, isoproof_error *error);

#endif
