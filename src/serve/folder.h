/* folder.h - looking below a directory without ever leaving it: every step is taken from an open descriptor, and no
 * symbolic link is followed.  Descriptors belong to the caller; a list of runs owns its names until iso_runs_free. */
#ifndef ISO_SERVE_FOLDER_H
#define ISO_SERVE_FOLDER_H

#include "base/error.h"
#include "base/vector.h"

/* Opens a regular file (or, with `directory`, a directory) below `root` by the names on the way; -1 when it is not
 * there or something else. */
int iso_folder_open(int root, const char *const *parts, uint32_t count, bool directory);
/* Everything in a file of at most `most` bytes, which must be freed; NULL when it is larger or cannot be read. */
char *iso_folder_read(int file, size_t most, size_t *size);

enum { ISO_RUN_PARTS = 2, ISO_RUNS_MOST = 500 };

/* A folder that has a result.json, or else a history: the run ended before it had a result. */
typedef struct iso_past_run {
  char *parts[ISO_RUN_PARTS];
  uint32_t part_count;
  bool complete; /* there is a result */
  bool live;     /* there is none yet, and the run told of late how it goes */
} iso_past_run;

typedef struct iso_past_runs {
  ISO_VEC(iso_past_run) list; /* by name, the last first, which is the newest; sorted in O(n log n) */
  bool more;                  /* than are listed */
} iso_past_runs;

bool iso_runs_find(int root, iso_past_runs *runs); /* false when memory is out */
void iso_runs_free(iso_past_runs *runs);

#endif
