/* shard.h - the part of many files that one of several machines takes.
 *
 * Nothing is kept of what is given.
 */
#ifndef CLI_COMMANDS_SHARD_H
#define CLI_COMMANDS_SHARD_H

#include "cli/commands/files.h"

/* Reads "I/N", I from 1 to N; false after a message. */
bool shard_read(const char *text, size_t *number, size_t *count);
/* Leaves only the files of shard `number` in a list, in their order.  Whoever has the same files with the same sizes
 * comes to the same parts, and these are of about the same size: the largest file goes to the machine that has the
 * least so far, and so on.  False when memory is out. */
bool shard_pick(file_list *list, size_t number, size_t count);

#endif
