/* A range of a text, by the reader that otherwise reads texts piece by piece as they grow. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"
#include "format/range.h"

/* ---- a history of lines ---- */

/* What the first line says to all: the reader keeps it, the builder forgets it. */
static isoproof_status learn(iso_range_reader *r, const char *head, size_t bytes, isoproof_error *error) {
  isoproof_history *said;
  ISO_TRY(r->stream->feed(r->reader, head, bytes, false, error));
  ISO_TRY(isoproof_builder_finish(r->builder, &said, error));
  isoproof_status status = said->txns == 0 ? r->stream->turned(r->reader, said, NULL, error)
                                           : iso_fail(error, ISOPROOF_ERR_FORMAT, "the first line is no header");
  isoproof_history_free(said);
  if (status == ISOPROOF_OK && r->stream->skip != NULL) r->stream->skip(r->reader, 0);
  return status;
}

isoproof_status iso_range_open(iso_range_reader *r, isoproof_format format, const char *name, const char *head,
                               size_t head_bytes, isoproof_task *task, isoproof_error *error) {
  *r = (iso_range_reader){.stream = iso_stream_of(format), .task = task};
  isoproof_status status = iso_input_open_memory("", 0, name, &r->name, error);
  if (status == ISOPROOF_OK) status = isoproof_builder_new(&r->builder, error);
  if (status == ISOPROOF_OK) status = r->stream->open(r->name, r->builder, &r->reader, error);
  if (status != ISOPROOF_OK) r->reader = NULL;
  if (status == ISOPROOF_OK && head_bytes > 0) status = learn(r, head, head_bytes, error);
  if (status != ISOPROOF_OK) iso_range_close(r);
  return status;
}

void iso_range_close(iso_range_reader *r) {
  if (r->reader != NULL) r->stream->free(r->reader);
  isoproof_builder_free(r->builder);
  iso_input_close(r->name);
  *r = (iso_range_reader){.lines = 0};
}

/* A comma behind the last thing would be found by what comes next, which another one reads. */
static isoproof_status check_end(const char *lines, size_t bytes, isoproof_error *error) {
  while (bytes > 0 && strchr(" \n\r\t", lines[bytes - 1]) != NULL) bytes--;
  if (bytes == 0 || lines[bytes - 1] != ',') return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_FORMAT, "a line does not stand on its own");
}

isoproof_status iso_range_feed(iso_range_reader *r, const char *lines, size_t bytes, isoproof_error *error) {
  ISO_TRY(iso_task_check(r->task, error));
  ISO_TRY(check_end(lines, bytes, error));
  for (const char *at = lines, *end = lines + bytes; at < end; r->lines++) {
    at = memchr(at, '\n', (size_t)(end - at));
    if (at++ == NULL) break;
  }
  return r->stream->feed(r->reader, lines, bytes, false, error);
}

isoproof_status iso_range_finish(iso_range_reader *r, isoproof_history **history, isoproof_error *error) {
  return iso_builder_finish_for(r->builder, r->task, history, error);
}

/* ---- the lines of a range ---- */

enum { USUAL_BYTES = 1 << 20, MOST_BYTES = 1 << 26 };

typedef struct {
  const char *path;
  int file;
  uint64_t to;
  bool complete; /* a last line without an end gets one */
  char *buffer;
  size_t capacity, filled;
  uint64_t offset; /* of the buffer in the file */
} lines_at;

static isoproof_status fill(lines_at *l, size_t *got, isoproof_error *error) {
  ssize_t part;
  do {
    part = pread(l->file, l->buffer + l->filled, l->capacity - l->filled, (off_t)(l->offset + l->filled));
  } while (part < 0 && errno == EINTR);
  if (part < 0) return iso_fail_errno(error, l->path, "read it");
  *got = (size_t)part;
  l->filled += *got;
  return ISOPROOF_OK;
}

/* Goes to the first line that begins at `from` or behind it; false where there is none in the range. */
static isoproof_status find_begin(lines_at *l, uint64_t from, bool *found, isoproof_error *error) {
  *found = from < l->to;
  l->offset = from > 0 ? from - 1 : 0;
  while (from > 0 && *found) {
    size_t got = 0;
    l->filled = 0;
    ISO_TRY(fill(l, &got, error));
    const char *newline = memchr(l->buffer, '\n', got);
    l->offset += newline != NULL ? (uint64_t)(newline - l->buffer) + 1 : got;
    *found = l->offset < l->to && got > 0;
    if (newline != NULL) break;
  }
  l->filled = 0;
  return ISOPROOF_OK;
}

/* Behind the last whole line in the buffer that begins in the range; *over: no other one does. */
static size_t whole_lines(const lines_at *l, bool *over) {
  /* The newline that ends the last one is the first at this place or behind it. */
  uint64_t last = l->to - 1;
  size_t from = last > l->offset ? (size_t)(last - l->offset) : 0;
  const char *newline = from < l->filled ? memchr(l->buffer + from, '\n', l->filled - from) : NULL;
  *over = newline != NULL;
  if (newline == NULL) newline = memrchr(l->buffer, '\n', l->filled);
  return newline != NULL ? (size_t)(newline - l->buffer) + 1 : 0;
}

/* One byte is left for the end that the last line of a file may not have. */
static isoproof_status make_room(lines_at *l, isoproof_error *error) {
  if (l->filled + 1 < l->capacity) return ISOPROOF_OK;
  char *larger = l->capacity < MOST_BYTES ? realloc(l->buffer, 2 * l->capacity) : NULL;
  if (larger == NULL) return iso_fail(error, ISOPROOF_ERR_LIMIT, "a line of more than %zu bytes", l->filled);
  l->buffer = larger;
  l->capacity *= 2;
  return ISOPROOF_OK;
}

static isoproof_status go_through(lines_at *l, uint64_t from, iso_range_lines_fn each, void *context,
                                  isoproof_error *error) {
  bool found, over = false;
  ISO_TRY(find_begin(l, from, &found, error));
  while (found && !over) {
    size_t got = 0;
    ISO_TRY(make_room(l, error));
    ISO_TRY(fill(l, &got, error));
    if (got == 0 && l->filled > 0 && l->complete) l->buffer[l->filled++] = '\n';
    size_t whole = whole_lines(l, &over);
    if (whole > 0) ISO_TRY(each(context, l->buffer, whole, error));
    l->filled -= whole;
    l->offset += whole;
    memmove(l->buffer, l->buffer + whole, l->filled);
    found = got > 0 && l->offset < l->to;
  }
  return ISOPROOF_OK;
}

isoproof_status iso_range_lines(const char *path, uint64_t from, uint64_t to, bool complete, iso_range_lines_fn each,
                                void *context, isoproof_error *error) {
  lines_at l = {.path = path, .to = to, .complete = complete, .capacity = USUAL_BYTES};
  l.file = open(path, O_RDONLY | O_CLOEXEC);
  if (l.file < 0) return iso_fail_errno(error, path, "open it");
  l.buffer = malloc(l.capacity);
  isoproof_status status = l.buffer != NULL ? go_through(&l, from, each, context, error) : iso_fail_memory(error);
  free(l.buffer);
  close(l.file);
  return status;
}
