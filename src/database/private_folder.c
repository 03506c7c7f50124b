/* private_folder.c - temporary folders of embedded databases, made and removed. */
#include "database/private_folder.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

/* Folders that are open at the same time while one is removed. */
enum { OPEN_FOLDERS = 8 };

isoproof_status iso_private_folder_make(const char *database, char folder[ISO_FOLDER_BYTES], isoproof_error *error) {
  const char *base = getenv("TMPDIR");
  if (base == NULL || base[0] == 0) base = "/tmp";
  int length = snprintf(folder, ISO_FOLDER_BYTES, "%s/isoproof-%s-XXXXXX", base, database);
  if (length < 0 || length >= ISO_FOLDER_BYTES) {
    folder[0] = 0;
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "TMPDIR: expected at most %d bytes", ISO_FOLDER_BYTES - 32);
  }
  if (mkdtemp(folder) != NULL) return ISOPROOF_OK;
  folder[0] = 0;
  return iso_fail_errno(error, base, "make a temporary folder");
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *place) {
  (void)about, (void)type, (void)place;
  (void)remove(path); /* what cannot be removed keeps its folder, and nothing else */
  return 0;
}

void iso_private_folder_remove(const char *folder) {
  if (folder[0] != 0) nftw(folder, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
