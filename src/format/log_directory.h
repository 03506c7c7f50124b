/* log_directory.h - directories that hold one log a session, T0.log, T1.log, ... (Cobra) or J0.log, ... (Viper).
 *
 * A listing owns its names until iso_logdir_free.
 */
#ifndef ISO_FORMAT_LOG_DIRECTORY_H
#define ISO_FORMAT_LOG_DIRECTORY_H

#include "base/error.h"

typedef struct iso_log_file {
  uint64_t number; /* of the session */
  char *path;
} iso_log_file;

typedef struct iso_logdir {
  iso_log_file *items; /* in order of their numbers */
  size_t count, capacity;
} iso_logdir;

/* The number in LETTER<number>.log, perhaps with .gz or .zst behind it; false when the name is another. */
bool iso_log_number(const char *name, char letter, uint64_t *number);
/* Lists the logs of a directory; other files are left alone.  Two files for one number are ISOPROOF_ERR_FORMAT. */
isoproof_status iso_logdir_list(const char *path, char letter, iso_logdir *logs, isoproof_error *error);
void iso_logdir_free(iso_logdir *logs);

#endif
