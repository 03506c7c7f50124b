/* scan.h - text of a script cut into statements, backslash commands and lines that open sections.
 *
 * A scanner borrows the text; what it found lies in the arena of the script. */
#ifndef ISO_SCRIPT_SCAN_H
#define ISO_SCRIPT_SCAN_H

#include "script/script.h"

typedef struct iso_scanner {
  iso_arena *arena;
  const char *file;
  const char *start, *at, *end;
  uint64_t line;
  iso_script_quoting quoting;
  isoproof_error *error;
} iso_scanner;

typedef enum iso_scanned_kind {
  ISO_SCANNED_END,
  ISO_SCANNED_SQL,     /* source, parts; followed by `;`, a backslash command or the end */
  ISO_SCANNED_COMMAND, /* source without the backslash: "set x 1" */
  ISO_SCANNED_COMMENT  /* a line that begins with --: its text, without blanks around it */
} iso_scanned_kind;

typedef struct iso_scanned {
  iso_scanned_kind kind;
  uint64_t line;
  const char *source; /* terminated */
  size_t length;
  const iso_part *parts;
  size_t part_count;
  bool open; /* SQL that ended at a backslash, not with a semicolon */
} iso_scanned;

isoproof_status iso_scan(iso_scanner *scanner, iso_scanned *found);

/* The parts of a short text with :variables, such as that of \sleep. */
isoproof_status iso_scan_parts(iso_arena *arena, const char *text, size_t length, const iso_part **parts, size_t *count,
                               isoproof_error *error);

#endif
