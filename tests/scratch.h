/* scratch.h - temporary files and folders of the unit tests: below TMPDIR, or else below /tmp, and of no fixed name.
 *
 * Who makes one removes it.
 */
#ifndef ISO_TESTS_SCRATCH_H
#define ISO_TESTS_SCRATCH_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SCRATCH_BYTES = 200 };

static inline bool scratch_name(char path[SCRATCH_BYTES]) {
  const char *parent = getenv("TMPDIR");
  if (parent == NULL || parent[0] != '/') parent = "/tmp";
  int length = snprintf(path, SCRATCH_BYTES, "%s/isoproof-unit-XXXXXX", parent);
  return length > 0 && length < SCRATCH_BYTES;
}

/* Makes an empty folder; false when that fails. */
static inline bool scratch_folder(char path[SCRATCH_BYTES]) { return scratch_name(path) && mkdtemp(path) != NULL; }

/* Makes an empty file, and opens it; -1 when that fails. */
static inline int scratch_file(char path[SCRATCH_BYTES]) { return scratch_name(path) ? mkstemp(path) : -1; }

#endif
