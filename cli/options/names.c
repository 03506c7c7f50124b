/* names.c - choices from the library's tables. */
#include "cli/options/names.h"

#include <isoproof/check.h>
#include <string.h>
#include <strings.h>

#include "cli/terminal/message.h"

/* A model is offered by its everyday name, unless a level has that name too; one that shares even its id with a level
 * is not reachable. */
const char *level_name_at(size_t number) {
  for (size_t i = 0; isoproof_level_at(i) != NULL; i++) {
    const isoproof_level_info *level = isoproof_level_at(i);
    const char *name = isoproof_level_find(level->friendly) == level ? level->friendly : level->id;
    if (isoproof_level_find(name) == level && number-- == 0) return name;
  }
  return NULL;
}

bool level_known(const char *name) { return isoproof_level_find(name) != NULL; }

const char *pattern_name_at(size_t number) { return isoproof_check_pattern_at(number); }

/* Which codes make sense depends on what else is asked for: the library says so. */
bool pattern_known(const char *name) { return isoproof_anomaly_find(name) != NULL; }

const char *format_name_at(size_t number) {
  const isoproof_format_info *format = isoproof_format_at(number);
  return format != NULL ? format->id : NULL;
}

const char *writable_format_at(size_t number) {
  for (size_t i = 0; isoproof_format_at(i) != NULL; i++) {
    if (isoproof_format_at(i)->writable && number-- == 0) return isoproof_format_at(i)->id;
  }
  return NULL;
}

static bool ends_with(const char *text, size_t length, const char *ending) {
  size_t n = strlen(ending);
  return n > 0 && length > n && strncasecmp(text + length - n, ending, n) == 0;
}

const isoproof_format_info *format_by_ending(const char *path) {
  size_t length = strlen(path);
  if (ends_with(path, length, ".gz"))
    length -= 3;
  else if (ends_with(path, length, ".zst"))
    length -= 4;
  for (size_t i = 0; isoproof_format_at(i) != NULL; i++) {
    const isoproof_format_info *format = isoproof_format_at(i);
    if (format->writable && ends_with(path, length, format->ending)) return format;
  }
  return NULL;
}

const isoproof_format_info *format_for_output(const char *named, const char *path, const char *fallback) {
  if (named != NULL) return isoproof_format_find(named);
  const isoproof_format_info *format = format_by_ending(path);
  if (format == NULL && fallback != NULL && strcmp(path, "-") == 0) format = isoproof_format_find(fallback);
  if (format != NULL) return format;
  char endings[256] = "";
  size_t used = 0;
  for (size_t i = 0; isoproof_format_at(i) != NULL && used < sizeof endings; i++) {
    const isoproof_format_info *f = isoproof_format_at(i);
    if (f->writable) {
      used += (size_t)snprintf(endings + used, sizeof endings - used, "%s%s", used == 0 ? "" : ", ", f->ending);
    }
  }
  if (strcmp(path, "-") == 0)
    message("standard output has no file name ending: name the format");
  else
    message("%s: the ending names no format that can be written (%s); name the format", path, endings);
  return NULL;
}
