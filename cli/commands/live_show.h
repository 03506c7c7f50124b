/* live_show.h - what is known while a history is judged: for the terminal, for messages, for other programs.
 *
 * A teller remembers what it has told; it owns nothing.
 */
#ifndef CLI_COMMANDS_LIVE_SHOW_H
#define CLI_COMMANDS_LIVE_SHOW_H

#include "cli/commands/live_judge.h"

enum { LIVE_PART_BYTES = 160 };

/* "serializable satisfied so far", "3 levels violated": the verdict in a few words. */
void live_words(const live_status *status, char text[LIVE_PART_BYTES]);
/* "checker up to date", "checker 1200 transactions (0.4 s) behind". */
void live_lag_words(const live_status *status, char text[LIVE_PART_BYTES]);
/* One line that moves: verdict, transactions, rate, lag, memory. */
void live_progress(const live_status *status);

typedef struct live_teller {
  const char *told[LIVE_LEVELS]; /* violated for good */
  size_t count;
  bool witness; /* the first violation was explained */
} live_teller;

/* A message about the levels that are violated for good since the last call, the first time with an explanation. */
void live_tell(live_teller *teller, const live_status *status, const char *path);

/* The fields "verdict", "levels", "judged", "lag", ... of an object that is open. */
void live_fields(isoproof_json *json, const live_status *status);

#endif
