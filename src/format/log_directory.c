/* Lists the logs of a directory, one per session, by the numbers in their names. */
#include "format/log_directory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"

bool iso_log_number(const char *name, char letter, uint64_t *number) {
  if (name[0] != letter) return false;
  const char *digits = name + 1;
  size_t count = strspn(digits, "0123456789");
  const char *ending = digits + count;
  bool known = strcmp(ending, ".log") == 0 || strcmp(ending, ".log.gz") == 0 || strcmp(ending, ".log.zst") == 0;
  return known && iso_parse_u64(digits, count, number);
}

static int by_number(const void *a, const void *b) {
  const iso_log_file *x = a, *y = b;
  return x->number < y->number ? -1 : x->number > y->number;
}

static isoproof_status collect(DIR *directory, const char *path, char letter, iso_log_directory *logs,
                               isoproof_error *error) {
  for (;;) {
    errno = 0;
    /* The stream belongs to this call alone. */
    const struct dirent *entry = readdir(directory); // NOLINT(concurrency-mt-unsafe)
    if (entry == NULL) return errno == 0 ? ISOPROOF_OK : iso_fail_errno(error, path, "read the directory");
    iso_log_file file;
    if (!iso_log_number(entry->d_name, letter, &file.number)) continue;
    if (asprintf(&file.path, "%s/%s", path, entry->d_name) < 0) return iso_fail_memory(error);
    if (!iso_vec_push(logs, file)) {
      free(file.path);
      return iso_fail_memory(error);
    }
  }
}

isoproof_status iso_log_directory_list(const char *path, char letter, iso_log_directory *logs, isoproof_error *error) {
  *logs = (iso_log_directory){NULL, 0, 0};
  DIR *directory = opendir(path);
  if (directory == NULL) return iso_fail_errno(error, path, "open the directory");
  isoproof_status status = collect(directory, path, letter, logs, error);
  closedir(directory);
  if (status == ISOPROOF_OK && logs->count > 0) qsort(logs->items, logs->count, sizeof *logs->items, by_number);
  for (size_t i = 1; status == ISOPROOF_OK && i < logs->count; i++) {
    if (logs->items[i].number != logs->items[i - 1].number) continue;
    status = iso_fail_at(error, ISOPROOF_ERR_FORMAT, (iso_place){logs->items[i].path, 0, 0, -1},
                         "expected one log per session, found a second one for session %llu",
                         (unsigned long long)logs->items[i].number);
  }
  if (status != ISOPROOF_OK) iso_log_directory_free(logs);
  return status;
}

void iso_log_directory_free(iso_log_directory *logs) {
  for (size_t i = 0; i < logs->count; i++) free(logs->items[i].path);
  free(logs->items);
  *logs = (iso_log_directory){NULL, 0, 0};
}
