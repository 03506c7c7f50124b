/* files.h - from the arguments of a command to the histories they name; directories are walked.
 *
 * A list owns its paths until files_free.
 */
#ifndef CLI_COMMANDS_FILES_H
#define CLI_COMMANDS_FILES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct file_entry {
  char *path;
  bool walked; /* found in a directory: it may turn out to be no history */
  int trouble; /* errno when a directory could not be read */
} file_entry;

typedef struct file_list {
  file_entry *items;
  size_t count, capacity;
  bool walked; /* some argument was a directory */
} file_list;

/* Collects, in the order of the arguments and within a directory by name.  A directory that is itself a history
 * (or that `format` says is one) is one entry.  Hidden files and links to directories are not followed.  Returns
 * false when memory is out. */
bool files_collect(file_list *list, const char *const *arguments, size_t count, const char *format);
void files_free(file_list *list);

#endif
