/* Filling errors: messages made printable, positions, and the texts of status codes. */
#define ISO_ERROR_DEFINITIONS
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

const char *isoproof_status_name(isoproof_status status) {
  switch (status) {
#define ISOPROOF_X(name, number, id, text)                                                                             \
  case ISOPROOF_##name:                                                                                                \
    return id;
    ISOPROOF_STATUS_LIST(ISOPROOF_X)
#undef ISOPROOF_X
  }
  return "internal";
}

/* Copies text into a fixed buffer, escaping what a terminal or a JSON reader could choke on. */
static size_t copy_printable(char *out, size_t size, const char *text, size_t length) {
  size_t o = 0;
  for (size_t i = 0; i < length;) {
    size_t step = iso_printable_step(text + i, length - i);
    unsigned char c = (unsigned char)text[i];
    if (step == 0) {
      if (o + 5 > size) break;
      static const char digits[] = "0123456789abcdef";
      out[o++] = '\\', out[o++] = 'x', out[o++] = digits[c >> 4], out[o++] = digits[c & 15];
      i += 1;
      continue;
    }
    if (o + step + 1 > size) break;
    memcpy(out + o, text + i, step);
    o += step;
    i += step;
  }
  out[o] = '\0';
  return o;
}

/* The words of others come in lines: their breaks and tabs become blanks. */
static void flatten(char *text) {
  size_t to = 0;
  for (size_t i = 0; text[i] != '\0'; i++) {
    bool breaks = text[i] == '\n' || text[i] == '\r' || text[i] == '\t';
    if (breaks && to > 0 && text[to - 1] == ' ') continue;
    text[to++] = (char)(breaks ? ' ' : text[i]);
  }
  while (to > 0 && text[to - 1] == ' ') to--;
  text[to] = '\0';
}

static void fill(isoproof_error *error, isoproof_status code, iso_place place, const char *format, va_list arguments) {
  if (error == NULL) return;
  char message[2 * ISOPROOF_ERROR_MESSAGE_BYTES];
  vsnprintf(message, sizeof message, format, arguments);
  flatten(message);
  memset(error, 0, sizeof *error);
  error->code = code;
  error->line = place.line;
  error->column = place.column;
  error->offset = place.offset;
  if (place.file != NULL) copy_printable(error->file, sizeof error->file, place.file, strlen(place.file));
  copy_printable(error->message, sizeof error->message, message, strlen(message));
}

isoproof_status iso_fail(isoproof_error *error, isoproof_status code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fill(error, code, ISO_NOWHERE, format, arguments);
  va_end(arguments);
  return code;
}

isoproof_status iso_fail_at(isoproof_error *error, isoproof_status code, iso_place place, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fill(error, code, place, format, arguments);
  va_end(arguments);
  return code;
}

isoproof_status iso_fail_memory(isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_MEMORY, "out of memory (or over the memory limit)");
}

isoproof_status iso_fail_errno(isoproof_error *error, const char *file, const char *doing) {
  char text[128];
  int number = errno;
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
  const char *words = strerror_r(number, text, sizeof text);
#else
  const char *words = strerror_r(number, text, sizeof text) == 0 ? text : "unknown error";
#endif
  return iso_fail_at(error, ISOPROOF_ERR_IO, (iso_place){file, 0, 0, -1}, "cannot %s: %s", doing, words);
}

const char *iso_quote(const char *bytes, size_t length, char buffer[256]) {
  enum { SHOWN = 40 };
  if (length == 0) return "the end of the input";
  size_t shown = length < SHOWN ? length : SHOWN;
  /* Do not cut a character in two. */
  while (shown < length && shown > SHOWN - 4 && ((unsigned char)bytes[shown] & 0xc0) == 0x80) shown--;
  buffer[0] = '`';
  size_t used = 1 + copy_printable(buffer + 1, 250, bytes, shown);
  memcpy(buffer + used, shown < length ? "`..." : "`", shown < length ? 5 : 2);
  return buffer;
}

size_t isoproof_error_format(const isoproof_error *error, char *buffer, size_t size) {
  char place[ISOPROOF_ERROR_FILE_BYTES + 96] = "";
  size_t used = 0;
  if (error->file[0] != '\0') used = (size_t)snprintf(place, sizeof place, "%s:", error->file);
  if (error->line != 0) {
    if (error->column != 0) {
      used += (size_t)snprintf(place + used, sizeof place - used, "%llu:%llu:", (unsigned long long)error->line,
                               (unsigned long long)error->column);
    } else {
      used += (size_t)snprintf(place + used, sizeof place - used, "%llu:", (unsigned long long)error->line);
    }
  } else if (error->offset >= 0) {
    used += (size_t)snprintf(place + used, sizeof place - used, "%sbyte %lld:", used > 0 ? " " : "",
                             (long long)error->offset);
  }
  int length = snprintf(buffer, size, "%s%s%s", place, used > 0 ? " " : "", error->message);
  return length < 0 ? 0 : (size_t)length;
}
