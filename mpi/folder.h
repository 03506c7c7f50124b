/* folder.h - a folder of parts, which the machines of a run have recorded (run/join.h), read as one history by the
 * ranks.
 *
 * All parts, one behind the other, are one text, of which each rank reads a range and joins its lines on the way.  What
 * was read belongs to the spread.
 */
#ifndef MPI_FOLDER_H
#define MPI_FOLDER_H

#include "mpi/spread.h"

/* Whether a path is such a folder: it has the part of the first machine. */
bool folder_is_parts(const char *path);

/* Every rank reads its range.  *good is false where one machine was lost, or something is wrong: then the whole has to
 * be joined. */
isoproof_status folder_read(talk *t, const char *folder, spread *s, bool *good, isoproof_error *error);

/* Joins all parts into a temporary file, which is gone afterwards, and opens that. */
isoproof_status folder_open_whole(const char *folder, isoproof_task *task, isoproof_history **history,
                                  isoproof_error *error);

#endif
