/* test_files.h - where `isoproof test` keeps what it saw: DIRECTORY/TIME/ with a link DIRECTORY/latest.
 *
 * A folder owns its paths until test_folder_free.
 */
#ifndef CLI_COMMANDS_TEST_FILES_H
#define CLI_COMMANDS_TEST_FILES_H

#include <isoproof/run.h>
#include <stdio.h>

typedef struct test_folder {
  char *path;    /* of this test */
  char *round;   /* of the round: the same, or PATH/round-N */
  char *history; /* ROUND/history.jsonl */
} test_folder;

/* Makes DIRECTORY/TIME and the link; false after a message. */
bool test_folder_make(test_folder *folder, const char *directory);
void test_folder_free(test_folder *folder);
/* Prepares round number `round` from 1; with `many`, in a folder of its own.  False after a message. */
bool test_folder_round(test_folder *folder, uint64_t round, bool many);
/* Removes the files of the round. */
void test_folder_forget(const test_folder *folder);

/* Opens FOLDER/NAME for writing; NULL after a message.  Closes it; false after a message. */
FILE *test_file_open_in(const char *folder, const char *name);
bool test_file_close_in(FILE *file, const char *folder, const char *name);
/* Opens ROUND/NAME for writing; NULL after a message. */
FILE *test_file_open(const test_folder *folder, const char *name);
/* Closes it; false after a message. */
bool test_file_close(FILE *file, const test_folder *folder, const char *name);
/* Writes ROUND/server.txt: version, URLs, level, settings; false after a message. */
bool test_write_server(const test_folder *folder, const isoproof_run_summary *report);

#endif
