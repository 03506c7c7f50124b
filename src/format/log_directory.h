/* log_directory.h - directories that hold one log per session, T0.log, T1.log, ... (Cobra) or J0.log, ... (Viper).
 *
 * A listing owns its names until iso_log_directory_free.
 */
#ifndef ISO_FORMAT_LOG_DIRECTORY_H
#define ISO_FORMAT_LOG_DIRECTORY_H

#include "base/error.h"

typedef struct iso_log_file {
  uint64_t number; /* of the session */
  char *path;
} iso_log_file;

typedef struct iso_log_directory {
  iso_log_file *items; /* in order of their numbers */
  size_t count, capacity;
} iso_log_directory;

/* The number in LETTER<number>.log, perhaps with .gz or .zst behind it; false when the name is another. */
bool iso_log_number(const char *name, char letter, uint64_t *number);
/* Lists the logs of a directory, O(n log n) for n of them; other files are left alone.  Two files for one number are
 * ISOPROOF_ERR_FORMAT. */
isoproof_status iso_log_directory_list(const char *path, char letter, iso_log_directory *logs, isoproof_error *error);
void iso_log_directory_free(iso_log_directory *logs);

#endif
