/* files.h - from the arguments of a command to the histories they name; directories are walked.
 *
 * A list owns its paths until files_free.
 */
#ifndef CLI_COMMANDS_FILES_H
#define CLI_COMMANDS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct file_entry {
  char *path;
  bool walked; /* found in a directory: it may turn out to be no history */
  int trouble; /* errno when a directory could not be read */
} file_entry;

/* A directory of a run in a Jepsen store, by which it is known again. */
typedef struct run_directory {
  dev_t device;
  ino_t number;
} run_directory;

/* A name of files that were left alone, and how many had it. */
typedef struct left_name {
  char *name;
  size_t count;
} left_name;

typedef struct file_list {
  file_entry *items;
  size_t count, capacity;
  bool walked;         /* some argument was a directory */
  run_directory *runs; /* of Jepsen stores, each once */
  size_t run_count, run_capacity;
  size_t runs_without; /* of them, those without a history */
  left_name *left;     /* beside their histories, by name */
  size_t left_count, left_capacity;
} file_list;

/* Collects, in the order of the arguments and within a directory by name.  A directory that is itself a history
 * (or that `format` says is one) is one entry.  Of a run in a Jepsen store (it has a history.edn beside results.edn,
 * jepsen.log, ..., or a jepsen.log or test.jepsen alone) the history is the only entry, plain or compressed, and each
 * run is there once.  Hidden files and links to directories are not followed.  Returns false when memory is out. */
bool files_collect(file_list *list, const char *const *arguments, size_t count, const char *format);
void files_free(file_list *list);

#endif
