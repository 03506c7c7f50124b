/* run.h - the documents of past runs, from below a directory.  They belong to the caller. */
#ifndef ISO_SERVE_RUN_H
#define ISO_SERVE_RUN_H

#include "report/document/document.h"
#include "serve/folder.h"

enum { ISO_RESULT_MOST = 64 << 20, ISO_RESULT_LISTED = 8 << 20 }; /* bytes */

/* The first document of a run; NULL when there is none that can be read.  With `history`, what the run recorded is read
 * too, if it is there; a result above `most` bytes is not read. */
isoproof_document *iso_run_open(int root, const char *const *parts, uint32_t count, bool history, size_t most);
/* What the head of the history says of a run that left no result: facts alone.  NULL when there is no such head. */
isoproof_document *iso_run_open_unfinished(int root, const char *const *parts, uint32_t count);

#endif
