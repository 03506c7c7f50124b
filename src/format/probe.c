/* probe.c - the public question "what format is this?", answered without reading the whole input. */
#include <string.h>
#include <sys/stat.h>

#include "format/format.h"

enum { PROBE_BYTES = 65536 };

static isolde_status probe_file(const char *path, isolde_format *format, isolde_error *error) {
  iso_input *input;
  const char *bytes;
  size_t got;
  ISO_TRY(iso_input_open(path, &input, error));
  isolde_status status = iso_input_peek(input, PROBE_BYTES, &bytes, &got, error);
  if (status == ISOLDE_OK && !iso_detect_bytes(bytes, got, format)) {
    iso_place place = ISO_NOWHERE;
    place.file = path;
    status = iso_fail_at(error, ISOLDE_ERR_FORMAT, place, "in no format that isolde knows");
  }
  iso_input_close(input);
  return status;
}

isolde_status isolde_format_detect(const char *path, const isolde_format_info **info, isolde_error *error) {
  struct stat facts;
  isolde_format format = ISOLDE_FORMATS;
  if (strcmp(path, "-") == 0) return iso_fail(error, ISOLDE_ERR_USAGE, "cannot look ahead in standard input");
  if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) {
    iso_place place = ISO_NOWHERE;
    place.file = path;
    if (!iso_detect_directory(path, &format)) {
      return iso_fail_at(error, ISOLDE_ERR_FORMAT, place, "the directory is not itself a history");
    }
  } else {
    ISO_TRY(probe_file(path, &format, error));
  }
  if (info != NULL) *info = isolde_format_at((size_t)format);
  return ISOLDE_OK;
}
