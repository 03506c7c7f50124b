/* private_folder.h - a temporary folder for an embedded database of nobody else's, removed in the end.  Nothing is
 * owned: paths are written into buffers of the caller. */
#ifndef ISO_DATABASE_PRIVATE_FOLDER_H
#define ISO_DATABASE_PRIVATE_FOLDER_H

#include "base/error.h"

enum { ISO_FOLDER_BYTES = 256 };

/* Makes an empty folder below TMPDIR, or else below /tmp, whose name says which database it is for.  After a failure
 * `folder` is "". */
isoproof_status iso_private_folder_make(const char *database, char folder[ISO_FOLDER_BYTES], isoproof_error *error);
/* Removes it with all that is in it; links are removed, never followed.  "" is no folder. */
void iso_private_folder_remove(const char *folder);

#endif
