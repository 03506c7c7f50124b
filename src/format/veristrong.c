/* VeriStrong's list text: the number of lines, then `session txn R key n a1 .. an` or `session txn A key v`.
 *
 * Sessions may be interleaved, the transactions of one session may not.  Every transaction is committed. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "format/format.h"
#include "format/stream.h"
#include "format/txn_id_set.h"
#include "history/notice.h"

enum { LINE_MOST = 256 << 20, CHECK_EVERY = 4096 };

/* The transaction at the end of a session. */
typedef struct last_txn {
  bool any;
  int64_t id;
  uint32_t txn; /* in the builder */
} last_txn;

typedef struct veri_reader {
  iso_input *input;
  iso_window window;
  isoproof_builder *builder;
  isoproof_task *task;
  isoproof_error *error;
  uint64_t line;         /* number of the current line, from 1 */
  bool unended;          /* it has no newline behind it */
  bool more;             /* another piece of the input will come, see format/stream.h */
  bool counted;          /* the first line was read */
  uint64_t lines, taken; /* promised by it, and read since */
  const char *start, *cur, *end;
  ISO_VEC(last_txn) sessions;
  uint32_t open; /* the builder's open transaction */
  bool any_open;
  iso_pool id_pool;    /* transaction ids as codes that outlive a batch */
  iso_numbering ids;   /* and as 32-bit numbers */
  iso_txn_id_set seen; /* session and number of the id */
  ISO_VEC(iso_value) elements;
} veri_reader;

static iso_place place_at(const veri_reader *r, const char *where) {
  return (iso_place){iso_input_name(r->input), r->line, (uint64_t)(where - r->start) + 1, -1};
}

/* The next line without its end; *ended when there is none. */
static isoproof_status next_line(veri_reader *r, bool *ended) {
  iso_window *w = &r->window;
  const char *start = w->cur, *newline = NULL;
  size_t searched = 0;
  for (;;) {
    newline = memchr(start + searched, '\n', (size_t)(w->end - start) - searched);
    if (newline != NULL || w->at_end) break;
    searched = (size_t)(w->end - start);
    ISO_TRY(iso_window_more(w, &start, LINE_MOST, r->error));
  }
  *ended = newline == NULL && start == w->end;
  r->line++;
  r->start = r->cur = start;
  r->unended = newline == NULL;
  r->end = newline != NULL ? newline : w->end;
  w->cur = newline != NULL ? newline + 1 : w->end;
  if (r->end > r->start && r->end[-1] == '\r') r->end--;
  return ISOPROOF_OK;
}

static void skip_blanks(veri_reader *r) {
  while (r->cur < r->end && (*r->cur == ' ' || *r->cur == '\t')) r->cur++;
}

static isoproof_status expected(veri_reader *r, const char *token, const char *what) {
  char quoted[256];
  size_t left = (size_t)(r->end - token);
  (void)iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, place_at(r, token), "expected %s, found %s", what,
                    left > 0 ? iso_quote(token, left, quoted) : "the end of the line");
  return ISOPROOF_ERR_FORMAT;
}

static const char *next_token(veri_reader *r, size_t *length) {
  skip_blanks(r);
  const char *token = r->cur;
  while (r->cur < r->end && *r->cur != ' ' && *r->cur != '\t') r->cur++;
  *length = (size_t)(r->cur - token);
  return token;
}

static isoproof_status get_integer(veri_reader *r, const char *what, int64_t *number) {
  size_t length;
  const char *token = next_token(r, &length);
  return iso_parse_i64(token, length, number) ? ISOPROOF_OK : expected(r, token, what);
}

static isoproof_status get_value(veri_reader *r, const char *what, iso_value *value) {
  size_t length;
  const char *token = next_token(r, &length);
  iso_pool *pool = iso_builder_pool(r->builder);
  int64_t number;
  uint64_t large;
  if (iso_parse_i64(token, length, &number)) return iso_pool_add_i64(pool, number, value, r->error);
  if (iso_parse_u64(token, length, &large)) return iso_pool_add_u64(pool, large, value, r->error);
  return expected(r, token, what);
}

/* Remembers that the session had a transaction of that id; it must be the first time. */
static isoproof_status note_txn(veri_reader *r, uint32_t session, int64_t id, const char *where) {
  iso_value code;
  uint32_t number;
  ISO_TRY(iso_pool_add_i64(&r->id_pool, id, &code, r->error));
  ISO_TRY(iso_numbering_add(&r->ids, code, &number, r->error));
  iso_txn_id_set_result result = iso_txn_id_set_add(&r->seen, (uint64_t)session << 32 | number);
  if (result == ISO_ID_NO_MEMORY) return iso_fail_memory(r->error);
  if (result == ISO_ID_NEW) return ISOPROOF_OK;
  return iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, place_at(r, where),
                     "expected a new transaction or the current one of the session, found transaction %lld again "
                     "after another one",
                     (long long)id);
}

static last_txn *last_of(veri_reader *r, uint32_t session) {
  while (r->sessions.count <= session) {
    last_txn none = {.any = false};
    if (!iso_vec_push(&r->sessions, none)) return NULL;
  }
  return &r->sessions.items[session];
}

/* Makes the transaction of this line the open one. */
static isoproof_status open_txn(veri_reader *r) {
  iso_value name = ISO_VALUE_NIL;
  uint32_t session;
  int64_t id;
  ISO_TRY(get_value(r, "the number of a session", &name));
  ISO_TRY(iso_builder_session(r->builder, name, &session, r->error));
  skip_blanks(r);
  const char *where = r->cur;
  ISO_TRY(get_integer(r, "the number of a transaction", &id));
  last_txn *last = last_of(r, session);
  if (last == NULL) return iso_fail_memory(r->error);
  if (last->any && last->id == id) {
    if (r->any_open && r->open == last->txn) return ISOPROOF_OK;
    r->open = last->txn;
    r->any_open = true;
    return iso_builder_reopen(r->builder, last->txn, r->line, r->error);
  }
  ISO_TRY(note_txn(r, session, id, where));
  iso_txn_info info = iso_txn_unset();
  info.has_id = true;
  info.id = id;
  info.position = r->line;
  ISO_TRY(iso_builder_begin(r->builder, session, &info, &r->open, r->error));
  *last = (last_txn){true, id, r->open};
  r->any_open = true;
  return ISOPROOF_OK;
}

static isoproof_status read_list(veri_reader *r, iso_value key) {
  int64_t count;
  skip_blanks(r);
  const char *where = r->cur;
  ISO_TRY(get_integer(r, "the number of elements", &count));
  if (count < 0) return expected(r, where, "the number of elements");
  r->elements.count = 0;
  for (int64_t i = 0; i < count; i++) {
    iso_value value = ISO_VALUE_NIL;
    ISO_TRY(get_value(r, "an element", &value));
    if (!iso_vec_push(&r->elements, value)) return iso_fail_memory(r->error);
  }
  return iso_builder_list(r->builder, ISOPROOF_OP_READ_LIST, key, r->elements.items, r->elements.count, r->error);
}

static isoproof_status read_line(veri_reader *r) {
  size_t length;
  iso_value key = ISO_VALUE_NIL, value = ISO_VALUE_NIL;
  ISO_TRY(open_txn(r));
  const char *letter = next_token(r, &length);
  if (length != 1 || (*letter != 'R' && *letter != 'A')) return expected(r, letter, "R (read) or A (append)");
  ISO_TRY(get_value(r, "a key", &key));
  if (*letter == 'R') {
    ISO_TRY(read_list(r, key));
  } else {
    ISO_TRY(get_value(r, "the element appended", &value));
    ISO_TRY(iso_builder_op(r->builder, ISOPROOF_OP_APPEND, key, value, r->error));
  }
  skip_blanks(r);
  return r->cur == r->end ? ISOPROOF_OK : expected(r, r->cur, "the end of the line");
}

/* Whether the rest comes with the next piece. */
static bool is_used_up(const veri_reader *r) { return r->more && r->window.cur == r->window.end; }

/* After the promised lines only blanks may come. */
static isoproof_status read_end(veri_reader *r) {
  while (!is_used_up(r)) {
    bool ended;
    ISO_TRY(next_line(r, &ended));
    if (ended) return ISOPROOF_OK;
    skip_blanks(r);
    if (r->cur == r->end) continue;
    return iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, place_at(r, r->cur),
                       "expected %llu lines, as the first line says, found more", (unsigned long long)r->lines);
  }
  return ISOPROOF_OK;
}

static isoproof_status read_count(veri_reader *r) {
  bool ended;
  size_t length;
  ISO_TRY(next_line(r, &ended));
  const char *token = next_token(r, &length);
  if (!iso_parse_u64(token, length, &r->lines)) return expected(r, token, "the number of lines");
  skip_blanks(r);
  if (r->cur != r->end) return expected(r, r->cur, "the end of the line");
  r->counted = true;
  return ISOPROOF_OK;
}

static isoproof_status watch(const veri_reader *r) {
  uint64_t done, total;
  if (r->task == NULL || r->taken % CHECK_EVERY != 0) return ISOPROOF_OK;
  iso_input_progress(r->input, &done, &total);
  iso_task_progress(r->task, "loading", "bytes", done, total);
  return iso_task_check(r->task, r->error);
}

static isoproof_status read_all(veri_reader *r) {
  if (is_used_up(r)) return ISOPROOF_OK;
  if (!r->counted) ISO_TRY(read_count(r));
  for (; r->taken < r->lines; r->taken++) {
    bool ended;
    if (is_used_up(r)) return ISOPROOF_OK;
    ISO_TRY(next_line(r, &ended));
    if (ended) {
      return iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, place_at(r, r->start),
                         "expected %llu lines, as the first line says, found the end after %llu",
                         (unsigned long long)r->lines, (unsigned long long)r->taken);
    }
    ISO_TRY(read_line(r));
    ISO_TRY(watch(r));
    /* A number that was cut off is still a number. */
    if (r->taken + 1 == r->lines && r->unended)
      ISO_TRY(iso_builder_notice(r->builder, ISOPROOF_NOTICE_MAYBE_TRUNCATED, r->line, NULL, r->error));
  }
  return read_end(r);
}

static void reader_free(void *reader) {
  veri_reader *r = reader;
  if (r == NULL) return;
  iso_window_free(&r->window);
  iso_numbering_free(&r->ids);
  iso_pool_free(&r->id_pool);
  iso_txn_id_set_free(&r->seen);
  iso_vec_free(&r->sessions);
  iso_vec_free(&r->elements);
  free(r);
}

static isoproof_status begin_history(veri_reader *r, isoproof_error *error) {
  iso_builder_origin(r->builder, ISOPROOF_FORMAT_VERISTRONG, ISO_POSITION_LINE_PER_OP, false);
  return iso_builder_file(r->builder, iso_input_name(r->input), error);
}

static isoproof_status reader_new(iso_input *input, isoproof_builder *builder, void **made, isoproof_error *error) {
  veri_reader *r = iso_alloc_zero(1, sizeof *r);
  if (r == NULL) return iso_fail_memory(error);
  r->input = input;
  r->builder = builder;
  iso_numbering_init(&r->ids);
  iso_txn_id_set_init(&r->seen);
  isoproof_status status = iso_pool_init(&r->id_pool, error);
  if (status == ISOPROOF_OK) status = iso_window_init(&r->window, input, error);
  if (status == ISOPROOF_OK) status = begin_history(r, error);
  if (status != ISOPROOF_OK) reader_free(r);
  *made = r;
  return status;
}

isoproof_status iso_read_veristrong(iso_input *input, isoproof_builder *builder, isoproof_task *task,
                                    isoproof_error *error) {
  void *made;
  ISO_TRY(reader_new(input, builder, &made, error));
  veri_reader *r = made;
  r->task = task;
  r->error = error;
  isoproof_status status = read_all(r);
  reader_free(r);
  return status;
}

/* ---- piece by piece ---- */

static isoproof_status stream_feed(void *reader, const char *bytes, size_t size, bool last, isoproof_error *error) {
  veri_reader *r = reader;
  r->error = error;
  r->more = !last;
  ISO_TRY(iso_window_feed(&r->window, bytes, size, error));
  return read_all(r);
}

static isoproof_status stream_turned(void *reader, const isoproof_history *done, const uint32_t *unfinished,
                                     isoproof_error *error) {
  veri_reader *r = reader;
  (void)done;
  for (size_t i = 0; i < r->sessions.count; i++) r->sessions.items[i].txn = unfinished[i];
  r->any_open = false;
  return begin_history(r, error);
}

const iso_stream_table iso_veristrong_stream = {.cut = ISO_CUT_LINES,
                                                .open_ended = true,
                                                .open = reader_new,
                                                .feed = stream_feed,
                                                .turned = stream_turned,
                                                .free = reader_free};
