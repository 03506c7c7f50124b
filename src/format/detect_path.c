/* detect_path.c - isoproof_format_detect: the format of what is at a path, told from its beginning. */
#include <string.h>
#include <sys/stat.h>

#include "format/format.h"

enum { PROBE_BYTES = 65536 };

static isoproof_status probe_file(const char *path, isoproof_format *format, isoproof_error *error) {
  iso_input *input;
  const char *bytes;
  size_t got;
  ISO_TRY(iso_input_open(path, &input, error));
  isoproof_status status = iso_input_peek(input, PROBE_BYTES, &bytes, &got, error);
  if (status == ISOPROOF_OK && !iso_detect_bytes(bytes, got, format)) {
    iso_place place = ISO_NOWHERE;
    place.file = path;
    status = iso_fail_at(error, ISOPROOF_ERR_FORMAT, place, "in no format that isoproof knows");
  }
  iso_input_close(input);
  return status;
}

isoproof_status isoproof_format_detect(const char *path, const isoproof_format_info **info, isoproof_error *error) {
  struct stat facts;
  isoproof_format format = ISOPROOF_FORMATS;
  if (strcmp(path, "-") == 0) return iso_fail(error, ISOPROOF_ERR_USAGE, "cannot look ahead in standard input");
  if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) {
    iso_place place = ISO_NOWHERE;
    place.file = path;
    if (!iso_detect_directory(path, &format)) {
      return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place, "the directory is not itself a history");
    }
  } else {
    ISO_TRY(probe_file(path, &format, error));
  }
  if (info != NULL) *info = isoproof_format_at((size_t)format);
  return ISOPROOF_OK;
}
