/* strong_levels.h - all levels of the engine STRONG that somebody wants to know about, the strongest first.
 *
 * What follows from a level that was decided is not decided again.  A violated level gets a scenario that explains it,
 * unless a weaker level explains it already.  The set owns its decisions and scenarios until iso_strong_set_free.
 */
#ifndef ISO_CHECK_STRONG_STRONG_LEVELS_H
#define ISO_CHECK_STRONG_STRONG_LEVELS_H

#include <isoproof/check.h>

#include "check/strong/strong.h"
#include "result/scenario.h"

enum { ISO_STRONG_MOST = ISO_LEVEL_COUNT };

typedef struct iso_strong_set {
  iso_strong items[ISO_STRONG_MOST];       /* in the order in which they were decided */
  iso_scenario scenarios[ISO_STRONG_MOST]; /* beside them; empty where none was made */
  size_t count;
  const char *reason; /* why a wanted level could not be decided; NULL when all were */
} iso_strong_set;

/* Whether the level is wanted. */
typedef bool (*iso_wanted_fn)(const isoproof_level_info *level, void *user);

/* Decides the wanted levels.  `versions` are those of lists.  Without `asked`, levels that the history cannot decide,
 * for want of times or because its transactions have several operations, are left out without a word. */
isoproof_status iso_strong_run(iso_view *view, const iso_versions *versions, iso_wanted_fn wanted, void *user,
                               bool asked, const iso_strong_options *options, isoproof_task *task, iso_strong_set *set,
                               isoproof_error *error);
/* Decides one level as the next item of the set.  ISOPROOF_ERR_LIMIT where the history is too large for it, for the
 * reason below. */
isoproof_status iso_strong_run_one(iso_view *view, const iso_versions *versions, const iso_strong_level *level,
                                   const iso_strong_options *options, isoproof_task *task, iso_strong_set *set,
                                   isoproof_error *error);
extern const char iso_strong_too_large[];
/* Takes the last item back. */
void iso_strong_forget(iso_strong_set *set);
void iso_strong_set_free(iso_strong_set *set);

/* Why the history cannot decide the level, for want of times or because its transactions have several operations; NULL
 * when it can. */
const char *iso_strong_hindrance(const iso_view *view, const iso_strong_level *level);

/* The same for mixed levels: why the transactions' own levels cannot be judged. */
const char *iso_own_levels_lacking(const isoproof_history *history);

/* What the decisions say about a level, directly or by implication. */
isoproof_verdict iso_strong_verdict(const iso_strong_set *set, const isoproof_level_info *level);

/* Makes the scenario of decision `number`, which found its level violated. */
isoproof_status iso_strong_explain(const iso_view *view, const iso_versions *versions, iso_strong_set *set,
                                   size_t number, isoproof_task *task, isoproof_error *error);

#endif
