/* Cobra logs: T<number>.log, one per session, big-endian records (S, W, R, C) of fixed lengths.
 *
 * The write-id names the version, so it is the value of the history; the value that the application stored says
 * nothing more.  INIT and NULL, as write-id or as writer, mean the initial version.  Two write-ids stand for garbage
 * collection: Cobra's collector overwrites a flag with one or the other again and again, so they name no single
 * version.  A read of such a version constrains nothing (its value is not recorded), and such a write, or one of the
 * initial version, is left out: no read can tell it from its like, and leaving out a write that nobody reads from
 * never makes a valid history invalid.
 */
#include "format/cobra.h"

#include <string.h>

#include "base/words.h"
#include "format/format.h"
#include "format/log_directory.h"
#include "history/notice.h"

#define COBRA_INIT UINT64_C(0xbebeebee)
#define COBRA_NULL UINT64_C(0xdeadbeef)
#define COBRA_GC_TRUE UINT64_C(0x23332333)
#define COBRA_GC_FALSE UINT64_C(0x66666666)

enum { RECORD_MOST = 33, CHECK_EVERY = 4096 };

typedef struct cobra_log {
  iso_window window;
  const char *name;
  isoproof_builder *builder;
  uint32_t session;
  bool open; /* a transaction has begun */
  uint32_t txn;
  uint64_t txn_id;
  iso_txn_info info;
} cobra_log;

static uint64_t big64(const char *bytes) {
  uint64_t number;
  __builtin_memcpy(&number, bytes, sizeof number);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  number = __builtin_bswap64(number);
#endif
  return number;
}

static iso_place place(const cobra_log *log) {
  return (iso_place){log->name, 0, 0, (int64_t)iso_window_at(&log->window)};
}

static bool is_initial(uint64_t id) { return id == COBRA_INIT || id == COBRA_NULL; }
static bool is_collected(uint64_t id) { return id == COBRA_GC_TRUE || id == COBRA_GC_FALSE; }

static isoproof_status begin(cobra_log *log, isoproof_error *error) {
  log->txn_id = big64(log->window.cur + 1);
  log->info = iso_txn_unset();
  log->info.status = ISOPROOF_TXN_ABORTED; /* until its C comes */
  log->info.has_id = log->txn_id <= INT64_MAX;
  log->info.id = log->info.has_id ? (int64_t)log->txn_id : 0;
  log->info.position = iso_window_at(&log->window);
  log->open = true;
  return iso_builder_begin(log->builder, log->session, &log->info, &log->txn, error);
}

static isoproof_status commit(cobra_log *log, isoproof_error *error) {
  uint64_t id = big64(log->window.cur + 1);
  if (id != log->txn_id) {
    return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place(log),
                       "expected the commit of transaction %llu, found that of transaction %llu",
                       (unsigned long long)log->txn_id, (unsigned long long)id);
  }
  log->open = false;
  log->info.status = ISOPROOF_TXN_COMMITTED;
  return iso_builder_update(log->builder, log->txn, &log->info, error);
}

static isoproof_status operation(cobra_log *log, isoproof_error *error) {
  const char *at = log->window.cur;
  bool read = *at == 'R';
  uint64_t writer = read ? big64(at + 1) : 0;
  uint64_t write_id = big64(at + (read ? 9 : 1));
  iso_pool *pool = iso_builder_pool(log->builder);
  iso_value key, value = ISO_VALUE_NONE;
  ISO_TRY(iso_pool_add_u64(pool, big64(at + (read ? 17 : 9)), &key, error));
  bool initial = is_initial(write_id) || (read && is_initial(writer));
  if (!read && (initial || is_collected(write_id))) return ISOPROOF_OK;
  if (initial) {
    value = ISO_VALUE_NIL;
  } else if (!is_collected(write_id)) {
    ISO_TRY(iso_pool_add_u64(pool, write_id, &value, error));
  }
  return iso_builder_op(log->builder, read ? ISOPROOF_OP_READ : ISOPROOF_OP_WRITE, key, value, error);
}

/* The record at cur, which is complete. */
static isoproof_status record(cobra_log *log, isoproof_error *error) {
  char letter = *log->window.cur;
  if (letter == 'S') return begin(log, error);
  if (!log->open) {
    return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place(log), "expected S, the start of a transaction, found %c",
                       letter);
  }
  return letter == 'C' ? commit(log, error) : operation(log, error);
}

/* Makes sure that a whole record is in the window; *ended when the log ends before it. */
static isoproof_status fetch(cobra_log *log, bool *ended, isoproof_error *error) {
  iso_window *w = &log->window;
  *ended = false;
  if (w->end - w->cur >= RECORD_MOST) return ISOPROOF_OK;
  while (w->end - w->cur < RECORD_MOST && !w->at_end) ISO_TRY(iso_window_more(w, NULL, SIZE_MAX, error));
  *ended = w->cur == w->end;
  return ISOPROOF_OK;
}

/* Whoever reads from such a transaction is said to have read aborted work, which a log cut short would make wrong. */
static isoproof_status tell_unfinished(const cobra_log *log, isoproof_error *error) {
  iso_words words = {NULL, 0, 0, false};
  const char *slash = strrchr(log->name, '/');
  iso_words_add_hostile(&words, slash != NULL ? slash + 1 : log->name, strlen(slash != NULL ? slash + 1 : log->name),
                        200);
  iso_words_add(&words, " ends within transaction %llu, which counts as not committed",
                (unsigned long long)log->txn_id);
  isoproof_status status = words.failed
                               ? iso_fail_memory(error)
                               : iso_builder_notice(log->builder, ISOPROOF_NOTICE_UNFINISHED, 0, words.text, error);
  iso_words_free(&words);
  return status;
}

static isoproof_status read_records(cobra_log *log, iso_input *input, isoproof_task *task, isoproof_error *error) {
  for (uint64_t count = 1;; count++) {
    bool ended;
    ISO_TRY(fetch(log, &ended, error));
    if (ended) return log->open ? tell_unfinished(log, error) : ISOPROOF_OK;
    size_t there = (size_t)(log->window.end - log->window.cur), bytes = iso_cobra_record_bytes(*log->window.cur);
    if (bytes == 0) {
      char quoted[256];
      return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place(log), "expected a record (S, W, R or C), found %s",
                         iso_quote(log->window.cur, 1, quoted));
    }
    if (bytes > there) {
      return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place(log),
                         "truncated log: expected a record %c of %zu bytes, found only %zu before the end",
                         *log->window.cur, bytes, there);
    }
    ISO_TRY(record(log, error));
    log->window.cur += bytes;
    if (count % CHECK_EVERY == 0) {
      uint64_t done, total;
      iso_input_progress(input, &done, &total);
      iso_task_progress(task, "loading", "bytes", done, total);
      ISO_TRY(iso_task_check(task, error));
    }
  }
}

isoproof_status iso_read_cobra_log(iso_input *input, uint64_t session, isoproof_builder *builder, isoproof_task *task,
                                   isoproof_error *error) {
  iso_builder_origin(builder, ISOPROOF_FORMAT_COBRA, ISO_POSITION_OFFSET, false);
  cobra_log log = {.name = iso_input_name(input), .builder = builder};
  iso_value name;
  ISO_TRY(iso_pool_add_u64(iso_builder_pool(builder), session, &name, error));
  ISO_TRY(iso_builder_session(builder, name, &log.session, error));
  isoproof_status status = iso_window_init(&log.window, input, error);
  if (status == ISOPROOF_OK) status = read_records(&log, input, task, error);
  iso_window_free(&log.window);
  return status;
}

static isoproof_status read_file(const iso_log_file *file, isoproof_builder *builder, isoproof_task *task,
                                 isoproof_error *error) {
  iso_input *input;
  ISO_TRY(iso_input_open_for(file->path, task, &input, error));
  isoproof_status status = iso_read_cobra_log(input, file->number, builder, task, error);
  iso_input_close(input);
  ISO_TRY(status);
  iso_value name;
  uint32_t session;
  ISO_TRY(iso_pool_add_u64(iso_builder_pool(builder), file->number, &name, error));
  ISO_TRY(iso_builder_session(builder, name, &session, error));
  return iso_builder_session_file(builder, session, file->path, error);
}

isoproof_status iso_read_cobra(const char *path, isoproof_builder *builder, isoproof_task *task,
                               isoproof_error *error) {
  iso_log_directory logs;
  ISO_TRY(iso_log_directory_list(path, 'T', &logs, error));
  isoproof_status status = ISOPROOF_OK;
  if (logs.count == 0) {
    status = iso_fail_at(error, ISOPROOF_ERR_FORMAT, (iso_place){path, 0, 0, -1},
                         "expected a directory of Cobra logs T0.log, T1.log, ..., found none");
  }
  for (size_t i = 0; status == ISOPROOF_OK && i < logs.count; i++) {
    status = read_file(&logs.items[i], builder, task, error);
  }
  iso_log_directory_free(&logs);
  return status;
}
