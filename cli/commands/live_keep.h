/* live_keep.h - FILE.live: what was judged of a file that grows, so that a later run can go on from there.
 *
 * Lines of text, and behind them the state of the live checker.  The file is written beside its name and renamed, so
 * that it is whole at any moment; it is tied to the file that was judged, and refused where anything does not match.
 * Whoever reads it frees it with live_kept_free.
 */
#ifndef CLI_COMMANDS_LIVE_KEEP_H
#define CLI_COMMANDS_LIVE_KEEP_H

#include <isoproof/isoproof.h>
#include <stdbool.h>

enum { LIVE_KEPT_LEVELS = 64, LIVE_KEPT_REASON = 256 };

typedef struct live_kept {
  bool found;            /* there is such a file */
  uint64_t transactions; /* that were judged */
  const char *violated[LIVE_KEPT_LEVELS];
  uint64_t since[LIVE_KEPT_LEVELS];
  size_t violated_count;
  /* Where to go on; only with a state, which need not be there. */
  uint64_t offset, lines;
  uint64_t committed, aborted, unknown, operations;
  bool finished; /* its writer said so: no more is waited for */
  void *state;
  size_t state_size;
  char reason[LIVE_KEPT_REASON]; /* why there is no state, or none that can be used; "" none */
} live_kept;

/* Writes it for the file `path`; false after a message.  A file that does not end with a line up to the offset is noted
 * without its state. */
bool live_keep(const char *path, const live_kept *kept);
/* Reads what was kept of the file. */
void live_keep_recall(const char *path, live_kept *kept);
void live_kept_free(live_kept *kept);

#endif
