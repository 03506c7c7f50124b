/* ranges.h - a text that the ranks read in ranges, each its own, and agree about.
 *
 * A reading says how a file is read; rank 0 makes it and all have it.  What was read belongs to the spread.
 */
#ifndef MPI_RANGES_H
#define MPI_RANGES_H

#include <isoproof/format.h>

#include "mpi/spread.h"

typedef enum { READ_WHOLE, READ_MAPPED, READ_RANGES, READ_PARTS } reading_way;

enum { READING_HEAD = 65536 };

typedef struct reading {
  reading_way way;
  isoproof_format format;
  uint64_t bytes;      /* of the file */
  uint32_t head_bytes; /* of its first line, 0: later lines need not know it */
  char head[READING_HEAD];
} reading;

/* Rank 0: looks at a file.  What is wrong with it whoever reads it says. */
void reading_plan(const char *path, const char *format, reading *plan);

/* Reads this rank's range and puts the ranges together.  *good: they are one history; where they are not, the whole has
 * to be read. */
isoproof_status ranges_read(talk *t, const char *path, const reading *plan, spread *s, bool *good,
                            isoproof_error *error);

/* What each rank has read (s->range, of so many lines; NULL where it failed) becomes one history, in the order of the
 * ranks. */
isoproof_status ranges_put_together(talk *t, const char *name, isoproof_format format, uint64_t lines, spread *s,
                                    bool *good, isoproof_error *error);

#endif
