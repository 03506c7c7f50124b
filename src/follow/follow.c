/* Follows a history that is still being written, and reads the beginning of one again. */
#include <isoproof/follow.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/vector.h"
#include "follow/batch.h"
#include "follow/source.h"

enum { READ_BYTES = 256 * 1024, TXN_BYTES = 64, DETECT_BYTES = 65536, USUAL_BATCH = 20000, IDLE_MS = 100 };

typedef struct follower {
  isoproof_follow_options options;
  isoproof_task *task;
  isoproof_error *error;
  iso_source source;
  iso_batcher batcher;
  isoproof_format format; /* ISOPROOF_FORMATS until it is known */
  ISO_VEC(char) bytes;    /* read, and not yet given to the batcher, which comes when the format is known */
  uint64_t transactions;
  double next_call;
} follower;

/* ---- the format ---- */

static isoproof_status asked_format(const char *id, isoproof_format *format, isoproof_error *error) {
  *format = ISOPROOF_FORMATS;
  if (id == NULL) return ISOPROOF_OK;
  const isoproof_format_info *info = isoproof_format_find(id);
  char quoted[256];
  if (info == NULL) return iso_fail(error, ISOPROOF_ERR_USAGE, "unknown format %s", iso_quote(id, strlen(id), quoted));
  *format = info->format;
  return ISOPROOF_OK;
}

static size_t whole_lines(const follower *f) {
  const char *newline = f->bytes.count > 0 ? memrchr(f->bytes.items, '\n', f->bytes.count) : NULL;
  return newline == NULL ? 0 : (size_t)(newline - f->bytes.items) + 1;
}

/* The reader of all formats says best what is wrong with bytes that are in none of them. */
static isoproof_status not_recognised(const follower *f) {
  isoproof_history *history = NULL;
  isoproof_status status =
      isoproof_history_open_memory(f->bytes.items, f->bytes.count, f->source.name, NULL, f->task, &history, f->error);
  isoproof_history_free(history);
  if (status != ISOPROOF_OK) return status;
  return iso_fail_at(f->error, ISOPROOF_ERR_FORMAT, (iso_place){f->source.name, 0, 0, 0},
                     "the format cannot be recognised from the first lines; say it (format)");
}

/* From whole lines, as a half one may look like anything; formats without lines are recognised all the same. */
static isoproof_status recognise(follower *f, bool ended) {
  size_t lines = whole_lines(f), size = ended || lines == 0 ? f->bytes.count : lines;
  isoproof_format found;
  if (size > DETECT_BYTES) size = DETECT_BYTES;
  bool detected = size > 0 && iso_detect_bytes(f->bytes.items, size, &found);
  if (detected && (lines > 0 || ended || iso_stream_of(found) == NULL)) {
    f->format = found;
  } else if (ended || f->bytes.count >= DETECT_BYTES) {
    return not_recognised(f);
  }
  return ISOPROOF_OK;
}

static isoproof_status need_batcher(follower *f, bool ended) {
  if (f->batcher.stream != NULL) return ISOPROOF_OK;
  if (f->format == ISOPROOF_FORMATS) ISO_TRY(recognise(f, ended));
  if (f->format == ISOPROOF_FORMATS) return ISOPROOF_OK;
  return iso_batcher_open(&f->batcher, f->format, f->source.name, f->error);
}

/* ---- batches ---- */

/* Frees what nobody keeps. */
static isoproof_status call(follower *f, isoproof_history *history, uint64_t *order, bool last) {
  isoproof_follow_batch batch = {.struct_size = sizeof batch,
                                 .history = history,
                                 .order = order,
                                 .transactions = f->transactions,
                                 .offset = f->batcher.offset,
                                 .waiting = iso_source_waiting(&f->source) + f->bytes.count + f->batcher.bytes.count,
                                 .last = last,
                                 .lines = f->batcher.lines};
  f->next_call = iso_now() + IDLE_MS * 1e-3;
  isoproof_status status = f->options.take(f->options.user, &batch, f->error);
  if (batch.kept) return status;
  isoproof_history_free(history);
  free(order);
  return status;
}

static isoproof_status hand_over(follower *f, bool last) {
  isoproof_history *history;
  uint64_t *order;
  ISO_TRY(iso_batcher_take(&f->batcher, last, &history, &order, f->error));
  f->transactions += history->txns;
  return call(f, history, order, last);
}

static isoproof_status feed(follower *f, bool last) {
  isoproof_status status = iso_batcher_feed(&f->batcher, f->bytes.items, f->bytes.count, last, f->error);
  f->bytes.count = 0;
  return status;
}

/* One look at the source; *over once everything was handed over. */
static isoproof_status step(follower *f, bool *over) {
  size_t got;
  bool ended;
  ISO_TRY(iso_task_check(f->task, f->error));
  /* Where batches are to be small, so are the pieces that they are made of. */
  size_t part = f->options.most < READ_BYTES / TXN_BYTES ? (size_t)f->options.most * TXN_BYTES : READ_BYTES;
  if (!iso_vec_reserve(&f->bytes, part)) return iso_fail_memory(f->error);
  ISO_TRY(iso_source_read(&f->source, f->bytes.items + f->bytes.count, part, &got, &ended, f->error));
  f->bytes.count += got;
  if (got == 0 && f->batcher.stream != NULL && iso_batcher_finished(&f->batcher)) ended = true;
  ISO_TRY(need_batcher(f, ended));
  if (f->batcher.stream != NULL) {
    ISO_TRY(feed(f, ended));
    *over = ended;
    if (ended) return hand_over(f, true);
    bool due = got == 0 || iso_batcher_txns(&f->batcher) >= f->options.most || iso_source_waiting(&f->source) == 0;
    if (due && iso_batcher_ready(&f->batcher)) ISO_TRY(hand_over(f, false));
  }
  if (iso_now() >= f->next_call) ISO_TRY(call(f, NULL, NULL, false));
  if (got == 0) iso_source_wait(&f->source);
  return ISOPROOF_OK;
}

/* Begins in the middle: the first line says what the reader has to know. */
static isoproof_status begin_after(follower *f) {
  char *line;
  size_t length;
  if (f->options.offset == 0) return ISOPROOF_OK;
  ISO_TRY(iso_source_skip(&f->source, f->options.offset, &line, &length, f->error));
  bool had_room = iso_vec_reserve(&f->bytes, length);
  if (had_room) memcpy(f->bytes.items, line, length), f->bytes.count = length;
  free(line);
  if (!had_room) return iso_fail_memory(f->error);
  ISO_TRY(need_batcher(f, true));
  ISO_TRY(feed(f, false));
  f->transactions = f->options.transactions;
  return iso_batcher_skip(&f->batcher, f->options.offset, f->options.lines, f->error);
}

isoproof_status isoproof_follow(const char *path, const isoproof_follow_options *given, isoproof_task *task,
                                isoproof_error *error) {
  follower f = {.task = task, .error = error};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_follow_options, &f.options, given, error));
  if (f.options.take == NULL) return iso_fail(error, ISOPROOF_ERR_USAGE, "take: expected a function");
  if (f.options.most == 0) f.options.most = USUAL_BATCH;
  ISO_TRY(asked_format(f.options.format, &f.format, error));
  ISO_TRY(iso_source_open(&f.source, path, f.options.to_end, task, error));
  bool over = false;
  isoproof_status status = begin_after(&f);
  while (status == ISOPROOF_OK && !over) status = step(&f, &over);
  iso_batcher_close(&f.batcher);
  iso_vec_free(&f.bytes);
  iso_source_close(&f.source);
  return status;
}

/* ---- the beginning of a file, again ---- */

static isoproof_status read_part(follower *f, uint64_t bytes, bool ended) {
  for (uint64_t done = 0; done < bytes;) {
    size_t got;
    bool over;
    ISO_TRY(iso_task_check(f->task, f->error));
    if (!iso_vec_reserve(&f->bytes, READ_BYTES)) return iso_fail_memory(f->error);
    ISO_TRY(iso_source_read(&f->source, f->bytes.items + f->bytes.count,
                            bytes - done < READ_BYTES ? (size_t)(bytes - done) : READ_BYTES, &got, &over, f->error));
    if (got == 0)
      return iso_fail_at(f->error, ISOPROOF_ERR_IO, (iso_place){f->source.name, 0, 0, -1},
                         "the file became shorter while it was followed: it ends before byte %llu",
                         (unsigned long long)bytes);
    f->bytes.count += got;
    done += got;
    ISO_TRY(need_batcher(f, false));
    if (f->batcher.stream != NULL) ISO_TRY(feed(f, false));
  }
  ISO_TRY(need_batcher(f, true));
  return feed(f, ended);
}

isoproof_status isoproof_follow_part(const char *path, const char *format, uint64_t bytes, bool ended,
                                     isoproof_task *task, isoproof_history **history, isoproof_error *error) {
  follower f = {.task = task, .error = error};
  *history = NULL;
  ISO_TRY(asked_format(format, &f.format, error));
  ISO_TRY(iso_source_open(&f.source, path, true, task, error));
  uint64_t *order = NULL;
  isoproof_status status = read_part(&f, bytes, ended);
  if (status == ISOPROOF_OK) status = iso_batcher_take(&f.batcher, ended, history, &order, error);
  free(order);
  iso_batcher_close(&f.batcher);
  iso_vec_free(&f.bytes);
  iso_source_close(&f.source);
  return status;
}
