/* dbcop's history.bincode: little-endian, counts before contents, 18 bytes per event.
 *
 * The five numbers of the header are informative and nothing depends on them.  Value 0 is the initial version.
 * Unsuccessful events say nothing and are left out; so a read without a recorded value is written as one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/format.h"

enum { EVENT_BYTES = 18, BATCH = 512, HEADER_FIELDS = 5, TEXT_MOST = 1 << 20, CHECK_EVERY = 1024 };

/* The strings of the header, kept as facts. */
static const char *const fact_names[] = {"dbcop-info", "dbcop-start", "dbcop-end"};

/* ---- reading ---- */

typedef struct dbcop_reader {
  iso_input *input;
  iso_window window;
  isoproof_builder *builder;
  isoproof_task *task;
  isoproof_error *error;
} dbcop_reader;

static uint64_t little64(const char *bytes) {
  uint64_t number;
  memcpy(&number, bytes, sizeof number);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  number = __builtin_bswap64(number);
#endif
  return number;
}

static iso_place place(const dbcop_reader *r) {
  return (iso_place){iso_input_name(r->input), 0, 0, (int64_t)iso_window_at(&r->window)};
}

/* Makes sure that `size` more bytes are in the window (at most TEXT_MOST). */
static isoproof_status need(dbcop_reader *r, size_t size, const char *what) {
  iso_window *w = &r->window;
  while ((size_t)(w->end - w->cur) < size && !w->at_end) ISO_TRY(iso_window_more(w, NULL, SIZE_MAX, r->error));
  size_t there = (size_t)(w->end - w->cur);
  if (there >= size) return ISOPROOF_OK;
  return iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, place(r),
                     "truncated: expected %s of %zu bytes, found only %zu before the end", what, size, there);
}

static isoproof_status get_u64(dbcop_reader *r, const char *what, uint64_t *number) {
  ISO_TRY(need(r, 8, what));
  *number = little64(r->window.cur);
  r->window.cur += 8;
  return ISOPROOF_OK;
}

static isoproof_status get_string(dbcop_reader *r, const char *name) {
  uint64_t length;
  ISO_TRY(get_u64(r, "the length of a string", &length));
  if (length > TEXT_MOST) {
    return iso_fail_at(r->error, ISOPROOF_ERR_LIMIT, place(r),
                       "expected a string of at most %d bytes, found one of %llu", TEXT_MOST,
                       (unsigned long long)length);
  }
  ISO_TRY(need(r, (size_t)length, "a string"));
  if (!iso_utf8_valid(r->window.cur, (size_t)length)) {
    char quoted[256];
    return iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, place(r), "expected a string in UTF-8, found %s",
                       iso_quote(r->window.cur, (size_t)length, quoted));
  }
  ISO_TRY(iso_builder_fact(r->builder, name, r->window.cur, (size_t)length, r->error));
  r->window.cur += length;
  return ISOPROOF_OK;
}

static isoproof_status bad_bool(dbcop_reader *r, size_t distance, const char *what) {
  iso_place at = place(r);
  at.offset += (int64_t)distance;
  return iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, at, "expected 0 or 1 for %s, found %u", what,
                     (unsigned)(unsigned char)r->window.cur[distance]);
}

/* Adds up to `count` events that are in the window whole. */
static isoproof_status add_events(dbcop_reader *r, size_t count) {
  uint8_t kinds[BATCH];
  uint64_t keys[BATCH], values[BATCH];
  size_t kept = 0;
  const char *at = r->window.cur;
  for (size_t i = 0; i < count; i++, at += EVENT_BYTES) {
    if ((unsigned char)at[0] > 1) return bad_bool(r, i * EVENT_BYTES, "is_write");
    if ((unsigned char)at[17] > 1) return bad_bool(r, i * EVENT_BYTES + 17, "the success of an event");
    kinds[kept] = at[0] ? ISOPROOF_OP_WRITE : ISOPROOF_OP_READ;
    keys[kept] = little64(at + 1);
    values[kept] = little64(at + 9);
    kept += (size_t)at[17];
  }
  r->window.cur = at;
  return kept > 0 ? iso_builder_bulk(r->builder, kinds, keys, values, kept, r->error) : ISOPROOF_OK;
}

static isoproof_status read_txn(dbcop_reader *r, uint32_t session) {
  iso_txn_info info = iso_txn_unset();
  uint64_t events;
  uint32_t txn;
  info.position = iso_window_at(&r->window);
  ISO_TRY(get_u64(r, "the number of events of a transaction", &events));
  ISO_TRY(iso_builder_begin(r->builder, session, &info, &txn, r->error));
  while (events > 0) {
    ISO_TRY(need(r, EVENT_BYTES, "an event"));
    uint64_t part = (uint64_t)(r->window.end - r->window.cur) / EVENT_BYTES;
    if (part > events) part = events;
    if (part > BATCH) part = BATCH;
    ISO_TRY(add_events(r, (size_t)part));
    events -= part;
  }
  ISO_TRY(need(r, 1, "the success of a transaction"));
  if ((unsigned char)*r->window.cur > 1) return bad_bool(r, 0, "the success of a transaction");
  if (*r->window.cur++ == 1) return ISOPROOF_OK;
  info.status = ISOPROOF_TXN_ABORTED;
  return iso_builder_update(r->builder, txn, &info, r->error);
}

static isoproof_status read_sessions(dbcop_reader *r) {
  uint64_t sessions, txns, done, total;
  ISO_TRY(get_u64(r, "the number of sessions", &sessions));
  for (uint64_t s = 0; s < sessions; s++) {
    iso_value name;
    uint32_t session;
    ISO_TRY(get_u64(r, "the number of transactions of a session", &txns));
    ISO_TRY(iso_pool_add_u64(iso_builder_pool(r->builder), s, &name, r->error));
    ISO_TRY(iso_builder_session(r->builder, name, &session, r->error));
    for (uint64_t t = 0; t < txns; t++) {
      ISO_TRY(read_txn(r, session));
      if (t % CHECK_EVERY != 0) continue;
      iso_input_progress(r->input, &done, &total);
      iso_task_progress(r->task, "loading", "bytes", done, total);
      ISO_TRY(iso_task_check(r->task, r->error));
    }
    if (s % CHECK_EVERY == 0) ISO_TRY(iso_task_check(r->task, r->error));
  }
  return ISOPROOF_OK;
}

static isoproof_status read_all(dbcop_reader *r) {
  uint64_t informative;
  for (int i = 0; i < HEADER_FIELDS; i++) ISO_TRY(get_u64(r, "a number of the header", &informative));
  for (int i = 0; i < 3; i++) ISO_TRY(get_string(r, fact_names[i]));
  ISO_TRY(read_sessions(r));
  if (r->window.cur == r->window.end) ISO_TRY(iso_window_more(&r->window, NULL, SIZE_MAX, r->error));
  if (r->window.cur == r->window.end) return ISOPROOF_OK;
  return iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, place(r),
                     "expected the end after the last session, found more bytes");
}

isoproof_status iso_read_dbcop(iso_input *input, isoproof_builder *builder, isoproof_task *task,
                               isoproof_error *error) {
  dbcop_reader r = {.input = input, .builder = builder, .task = task, .error = error};
  iso_builder_origin(builder, ISOPROOF_FORMAT_DBCOP, ISO_POSITION_OFFSET, true);
  isoproof_status status = iso_window_init(&r.window, input, error);
  if (status == ISOPROOF_OK) status = read_all(&r);
  iso_window_free(&r.window);
  return status;
}

/* ---- writing ---- */

static void put_u64(iso_output *out, uint64_t number) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  number = __builtin_bswap64(number);
#endif
  iso_out_bytes(out, &number, sizeof number);
}

static void put_string(iso_output *out, const char *text) {
  put_u64(out, strlen(text));
  iso_out_text(out, text);
}

static isoproof_status cannot(const iso_write_job *job, uint32_t op, const char *what) {
  const isoproof_history *h = job->history;
  char name[64];
  isoproof_position at;
  isoproof_history_txn_name(h, iso_history_txn_of(h, op), name, sizeof name);
  isoproof_history_position_of(h, op, &at);
  return iso_fail_at(job->error, ISOPROOF_ERR_UNSUPPORTED, (iso_place){at.file, at.line, 0, at.offset},
                     "dbcop's format cannot express %s (in %s)", what, name);
}

static isoproof_status put_event(const iso_write_job *job, uint32_t op) {
  const isoproof_history *h = job->history;
  isoproof_op_kind kind = (isoproof_op_kind)h->op_kind[op];
  uint64_t key, value = 0;
  bool recorded = h->op_value[op] != ISO_VALUE_NONE;
  if (kind != ISOPROOF_OP_READ && kind != ISOPROOF_OP_WRITE) {
    return cannot(job, op, "lists, sets, counters or predicates");
  }
  if (!iso_pool_unsigned(&h->pool, h->key_name[h->op_key[op]], &key)) {
    return cannot(job, op, "a key that is not a number without sign");
  }
  if (!recorded) {
    if (!job->lossy) return cannot(job, op, "a read without a recorded value");
    job->loss->unrecorded_reads++;
  } else if (h->op_value[op] != ISO_VALUE_NIL) {
    if (!iso_pool_unsigned(&h->pool, h->op_value[op], &value)) {
      return cannot(job, op, "a value that is not a number without sign");
    }
    if (value == 0 && !h->initial_is_zero) return cannot(job, op, "the value 0, which is its initial version,");
  }
  iso_out_char(job->output, kind == ISOPROOF_OP_WRITE);
  put_u64(job->output, key);
  put_u64(job->output, value);
  iso_out_char(job->output, recorded);
  return ISOPROOF_OK;
}

static void put_header(const iso_write_job *job) {
  const isoproof_history *h = job->history;
  uint32_t most_txns = 0, most_ops = 0;
  for (uint32_t s = 0; s < h->sessions; s++) {
    uint32_t txns = h->session_first_txn[s + 1] - h->session_first_txn[s];
    if (txns > most_txns) most_txns = txns;
    uint64_t name;
    if (!iso_pool_unsigned(&h->pool, h->session_name[s], &name) || name != s) job->loss->session_names = true;
  }
  for (uint32_t t = 0; t < h->txns; t++) {
    uint32_t ops = h->txn_first_op[t + 1] - h->txn_first_op[t];
    if (ops > most_ops) most_ops = ops;
  }
  const uint64_t fields[HEADER_FIELDS] = {0, h->sessions, h->keys, most_txns, most_ops};
  for (int i = 0; i < HEADER_FIELDS; i++) put_u64(job->output, fields[i]);
  static const char *const blanks[] = {"isoproof", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"};
  for (int i = 0; i < 3; i++) {
    const char *fact = isoproof_history_fact(h, fact_names[i]);
    put_string(job->output, fact != NULL ? fact : blanks[i]);
  }
}

static isoproof_status put_session(const iso_write_job *job, uint32_t session, const uint8_t *as) {
  const isoproof_history *h = job->history;
  uint32_t first = h->session_first_txn[session], end = h->session_first_txn[session + 1];
  uint64_t written = 0;
  for (uint32_t t = first; t < end; t++) written += as[t] != ISO_WRITE_NOT;
  put_u64(job->output, written);
  for (uint32_t t = first; t < end; t++) {
    if (as[t] == ISO_WRITE_NOT) continue;
    put_u64(job->output, h->txn_first_op[t + 1] - h->txn_first_op[t]);
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++) ISO_TRY(put_event(job, op));
    iso_out_char(job->output, as[t] == ISO_WRITE_COMMITTED);
    if (t % CHECK_EVERY == 0) {
      ISO_TRY(iso_task_check(job->task, job->error));
      iso_task_progress(job->task, "writing", "transactions", t, h->txns);
    }
  }
  return ISOPROOF_OK;
}

isoproof_status iso_write_dbcop(iso_write_job *job) {
  const isoproof_history *h = job->history;
  uint8_t *as;
  ISO_TRY(iso_write_outcomes(job, "dbcop's format", &as));
  put_header(job);
  put_u64(job->output, h->sessions);
  isoproof_status status = ISOPROOF_OK;
  for (uint32_t s = 0; s < h->sessions && status == ISOPROOF_OK; s++) status = put_session(job, s, as);
  if (h->txn_start_opt != NULL) job->loss->times = true;
  if (h->txn_node_opt != NULL) job->loss->nodes = true;
  if (h->txn_id_opt != NULL) job->loss->ids = true;
  free(as);
  return status;
}
