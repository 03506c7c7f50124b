/* Reads isoproof's own text form: JSON lines of headers and transactions. */
#include "base/text.h"
#include "format/format.h"
#include "format/jsonl.h"
#include "format/jsonl_rows.h"
#include "format/register_ops.h"
#include "format/stream.h"
#include "history/notice.h"

typedef enum field {
  FIELD_UNKNOWN,
#define ISO_X(name, text) FIELD_##name,
  ISO_JSONL_FIELD_LIST(ISO_X)
#undef ISO_X
} field;

typedef struct reader {
  iso_tokenizer t;
  isoproof_builder *builder;
  iso_pool *pool;
  isoproof_error problem;
  iso_micro_op micro;
  bool has_header, initial_is_zero;
  bool unfinished; /* the writer said that an end would come, and did not come to it */
  bool finished;   /* it said so, and did */
  bool more;       /* another piece of the input will come, see format/stream.h */
  uint32_t facts;
  uint64_t lines;
  /* The transaction being read. */
  iso_txn_info info;
  iso_value session;
  bool has_session, has_status, has_more;
} reader;

static field field_of(const iso_tokenizer *t) {
#define ISO_X(name, text)                                                                                              \
  if (iso_token_is(t, text)) return FIELD_##name;
  ISO_JSONL_FIELD_LIST(ISO_X)
#undef ISO_X
  return FIELD_UNKNOWN;
}

/* ---- scalars ---- */

/* The inside of {"none":true}, {"keyword":"x"} or {"symbol":"x"}. */
static isoproof_status wrapped_scalar(reader *r, iso_value *code) {
  iso_tokenizer *t = &r->t;
  ISO_TRY(iso_token_next(t));
  bool none = iso_token_is(t, "none"), keyword = iso_token_is(t, "keyword");
  if (!none && !keyword && !iso_token_is(t, "symbol")) return iso_token_expected(t, "none, keyword or symbol");
  ISO_TRY(iso_token_next(t));
  if (none) {
    if (t->type != ISO_TOKEN_SCALAR || t->scalar.type != ISOPROOF_SYMBOL || !iso_token_is(t, "true")) {
      return iso_token_expected(t, "true");
    }
    *code = ISO_VALUE_NONE;
  } else {
    if (t->type != ISO_TOKEN_SCALAR || t->scalar.type != ISOPROOF_STRING) return iso_token_expected(t, "a string");
    ISO_TRY(iso_pool_add_text(r->pool, keyword ? ISOPROOF_KEYWORD : ISOPROOF_SYMBOL, t->scalar.text, t->scalar.length,
                              code, &r->problem));
  }
  ISO_TRY(iso_token_next(t));
  return t->type == ISO_TOKEN_END ? ISOPROOF_OK : iso_token_expected(t, "`}`");
}

static isoproof_status any_scalar(reader *r, iso_value *code) {
  if (r->t.type == ISO_TOKEN_SCALAR) return iso_micro_op_code(&r->t, r->pool, code);
  if (r->t.type == ISO_TOKEN_BEGIN_MAP) return wrapped_scalar(r, code);
  return iso_token_expected(&r->t, "a number, a string, null, or an object (none, keyword, symbol)");
}

/* ---- operations ---- */

static bool kind_of(const iso_tokenizer *t, isoproof_op_kind *kind) {
#define ISOPROOF_X(name, own, jepsen, letter, observes, text)                                                          \
  if (iso_token_is(t, own)) {                                                                                          \
    *kind = ISOPROOF_OP_##name;                                                                                        \
    return true;                                                                                                       \
  }
  ISOPROOF_OP_LIST(ISOPROOF_X)
#undef ISOPROOF_X
  return false;
}

static isoproof_status elements(reader *r, iso_micro_op_add *op) {
  size_t first = r->micro.elements.count;
  for (;;) {
    iso_value code = ISO_VALUE_NIL;
    ISO_TRY(iso_token_next(&r->t));
    if (r->t.type == ISO_TOKEN_END) break;
    ISO_TRY(any_scalar(r, &code));
    if (!iso_vec_push(&r->micro.elements, code)) return iso_fail_memory(&r->problem);
  }
  size_t count = r->micro.elements.count - first;
  if (count >= ISO_VALUE_INLINE_LIMIT)
    return iso_fail(&r->problem, ISOPROOF_ERR_LIMIT, "a list of %zu elements", count);
  op->list = true;
  op->value = (iso_value)count;
  return ISOPROOF_OK;
}

static isoproof_status op_value(reader *r, iso_micro_op_add *op) {
  if (iso_kind_is_list((isoproof_op_kind)op->kind)) {
    if (r->t.type == ISO_TOKEN_BEGIN_LIST) return elements(r, op);
    ISO_TRY(any_scalar(r, &op->value));
    if (op->value != ISO_VALUE_NIL && op->value != ISO_VALUE_NONE) {
      return iso_fail_at(&r->problem, ISOPROOF_ERR_FORMAT, iso_token_place(&r->t),
                         "expected a list of elements, null or none, found something else");
    }
    return ISOPROOF_OK;
  }
  ISO_TRY(any_scalar(r, &op->value));
  if (r->initial_is_zero && op->kind == ISOPROOF_OP_READ && op->value == 0) op->value = ISO_VALUE_NIL;
  return ISOPROOF_OK;
}

/* ["append",key,value] */
static isoproof_status operation(reader *r) {
  iso_tokenizer *t = &r->t;
  isoproof_op_kind kind;
  iso_micro_op_add op = {0};
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "an operation (a list)");
  ISO_TRY(iso_token_next(t));
  if (!kind_of(t, &kind)) {
    iso_row_form form = iso_jsonl_row_form(t);
    if (form == ISO_ROW_NONE) return iso_token_expected(t, "the name of an operation");
    return iso_jsonl_read_row_op(t, r->pool, form, &r->micro);
  }
  op.kind = (uint8_t)kind;
  ISO_TRY(iso_token_next(t));
  ISO_TRY(any_scalar(r, &op.key));
  ISO_TRY(iso_token_next(t));
  ISO_TRY(op_value(r, &op));
  ISO_TRY(iso_token_next(t));
  if (t->type != ISO_TOKEN_END) return iso_token_expected(t, "the end of the operation");
  return iso_vec_push(&r->micro.ops, op) ? ISOPROOF_OK : iso_fail_memory(&r->problem);
}

static isoproof_status operations(reader *r) {
  iso_micro_op_clear(&r->micro);
  if (r->t.type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(&r->t, "a list of operations");
  iso_register_dialect dialect = {.nil_writes = true, .zero_is_initial = r->initial_is_zero};
  for (;;) {
    if (!iso_register_ops(&r->t, dialect, &r->micro)) return iso_fail_memory(&r->problem);
    ISO_TRY(iso_token_next(&r->t));
    if (r->t.type == ISO_TOKEN_END) return ISOPROOF_OK;
    ISO_TRY(operation(r));
  }
}

/* ---- transactions ---- */

static isoproof_status status_field(reader *r) {
  for (int s = ISOPROOF_TXN_COMMITTED; s <= ISOPROOF_TXN_UNKNOWN; s++) {
    const char *name = isoproof_txn_status_name((isoproof_txn_status)s);
    if (!iso_token_is_n(&r->t, name, strlen(name))) continue;
    r->info.status = (isoproof_txn_status)s;
    r->has_status = true;
    return ISOPROOF_OK;
  }
  return iso_token_expected(&r->t, "a status (committed, aborted or unknown)");
}

static isoproof_status integer(reader *r, int64_t *number) {
  if (!iso_token_is_integer(&r->t)) return iso_token_expected(&r->t, "an integer");
  *number = r->t.scalar.integer;
  return ISOPROOF_OK;
}

static isoproof_status index_field(reader *r, int64_t *number) {
  ISO_TRY(integer(r, number));
  return *number >= 0 ? ISOPROOF_OK : iso_token_expected(&r->t, "an index that is not negative");
}

static isoproof_status one_field(reader *r, field name) {
  if (name != FIELD_SESSION && name != FIELD_UNKNOWN) r->has_more = true;
  switch (name) {
  case FIELD_SESSION:
    r->has_session = true;
    return any_scalar(r, &r->session);
  case FIELD_STATUS:
    return status_field(r);
  case FIELD_ID:
    r->info.has_id = true;
    return integer(r, &r->info.id);
  case FIELD_START:
    return integer(r, &r->info.start);
  case FIELD_END:
    return integer(r, &r->info.end);
  case FIELD_START_INDEX:
    return index_field(r, &r->info.start_index);
  case FIELD_END_INDEX:
    return index_field(r, &r->info.end_index);
  case FIELD_NODE:
    return any_scalar(r, &r->info.node);
  case FIELD_ERROR:
    return any_scalar(r, &r->info.error);
  case FIELD_OPS:
    return operations(r);
  case FIELD_UNKNOWN:
    break;
  }
  return iso_token_skip(&r->t);
}

/* What the object of a transaction adds up to, once it is complete. */
static isoproof_status add_txn(reader *r) {
  iso_place place = {iso_input_name(r->t.window.input), r->info.position, 0, -1};
  uint32_t session;
  if (!r->has_session) {
    return iso_fail_at(&r->problem, ISOPROOF_ERR_FORMAT, place, "expected a session in the transaction, found none");
  }
  ISO_TRY(iso_builder_session(r->builder, r->session, &session, &r->problem));
  if (!r->has_more) return ISOPROOF_OK;
  if (!r->has_status) {
    return iso_fail_at(&r->problem, ISOPROOF_ERR_FORMAT, place, "expected a status in the transaction, found none");
  }
  ISO_TRY(iso_builder_begin(r->builder, session, &r->info, NULL, &r->problem));
  return iso_micro_op_emit(&r->micro, r->builder, &r->problem);
}

/* The rest of an object whose first key is the current token. */
static isoproof_status transaction(reader *r) {
  r->has_session = r->has_status = r->has_more = false;
  iso_micro_op_clear(&r->micro);
  while (r->t.type != ISO_TOKEN_END) {
    field name = field_of(&r->t);
    ISO_TRY(iso_token_next(&r->t));
    ISO_TRY(one_field(r, name));
    ISO_TRY(iso_token_next(&r->t));
  }
  return add_txn(r);
}

/* ---- headers ---- */

static isoproof_status version(reader *r) {
  ISO_TRY(iso_token_next(&r->t));
  if (!iso_token_is_integer(&r->t)) return iso_token_expected(&r->t, "the version of the format");
  if (r->t.scalar.integer == ISO_JSONL_VERSION) return ISOPROOF_OK;
  return iso_fail_at(&r->problem, ISOPROOF_ERR_UNSUPPORTED, iso_token_place(&r->t),
                     "expected version %d of the format, found version %lld", ISO_JSONL_VERSION,
                     (long long)r->t.scalar.integer);
}

static isoproof_status initial(reader *r) {
  bool zero = iso_token_is_integer(&r->t) && r->t.scalar.integer == 0;
  if (!zero && !iso_token_is_nil(&r->t)) return iso_token_expected(&r->t, "null or 0");
  if (r->has_header && zero != r->initial_is_zero) {
    return iso_token_expected(&r->t, "the initial version of the first header");
  }
  r->initial_is_zero = zero;
  return ISOPROOF_OK;
}

static isoproof_status fact(reader *r, const char *name) {
  iso_tokenizer *t = &r->t;
  if (t->type != ISO_TOKEN_SCALAR) return iso_token_expected(t, "a string");
  if (t->scalar.type == ISOPROOF_NIL) return ISOPROOF_OK;
  if (++r->facts > ISO_JSONL_FACTS) {
    return iso_fail_at(&r->problem, ISOPROOF_ERR_LIMIT, iso_token_place(t), "more than %d facts", ISO_JSONL_FACTS);
  }
  if (strcmp(name, ISO_JSONL_FINISHED) == 0) {
    r->unfinished = iso_token_is(t, ISO_JSONL_FINISHED_NO);
    r->finished = !r->unfinished;
  }
  if (t->scalar.type == ISOPROOF_STRING) {
    return iso_builder_fact(r->builder, name, t->scalar.text, t->scalar.length, &r->problem);
  }
  return iso_builder_fact(r->builder, name, t->start, (size_t)(t->window.cur - t->start), &r->problem);
}

/* The rest of a header, whose first key is the current token. */
static isoproof_status header(reader *r) {
  iso_tokenizer *t = &r->t;
  ISO_TRY(version(r));
  for (;;) {
    char name[ISO_JSONL_FACT_NAME + 1];
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) break;
    if (t->scalar.length > ISO_JSONL_FACT_NAME || memchr(t->scalar.text, '\0', t->scalar.length) != NULL) {
      return iso_token_expected(t, "the name of a fact (at most 255 bytes)");
    }
    memcpy(name, t->scalar.text, t->scalar.length);
    name[t->scalar.length] = '\0';
    ISO_TRY(iso_token_next(t));
    ISO_TRY(strcmp(name, "initial") == 0 ? initial(r) : fact(r, name));
  }
  if (!r->has_header) {
    iso_builder_origin(r->builder, ISOPROOF_FORMAT_JSONL, ISO_POSITION_LINE, r->initial_is_zero);
  }
  r->has_header = true;
  return ISOPROOF_OK;
}

/* ---- the file ---- */

static isoproof_status object(reader *r) {
  r->info = iso_txn_unset();
  r->info.position = r->t.token_line;
  ISO_TRY(iso_token_next(&r->t));
  if (iso_token_is(&r->t, "isoproof")) return header(r);
  if (!r->has_header) return iso_token_expected(&r->t, "the header ({\"isoproof\":1,...})");
  if (iso_token_is(&r->t, ISO_JSONL_INITIAL_ROWS)) {
    ISO_TRY(iso_jsonl_read_initial_rows(&r->t, r->builder));
    ISO_TRY(iso_token_next(&r->t));
    return r->t.type == ISO_TOKEN_END ? ISOPROOF_OK : iso_token_expected(&r->t, "the end of the initial rows");
  }
  return transaction(r);
}

static isoproof_status watch(reader *r, isoproof_task *task) {
  uint64_t done, total;
  if (task == NULL || (++r->lines & 1023) != 0) return ISOPROOF_OK;
  iso_input_progress(r->t.window.input, &done, &total);
  iso_task_progress(task, "reading", "bytes", done, total);
  return iso_task_check(task, &r->problem);
}

static isoproof_status objects(reader *r, isoproof_task *task) {
  for (;;) {
    ISO_TRY(watch(r, task));
    if (r->more && iso_tokenizer_used_up(&r->t)) return ISOPROOF_OK;
    ISO_TRY(iso_token_next(&r->t));
    if (r->t.type == ISO_TOKEN_END_OF_INPUT) break;
    if (r->t.type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(&r->t, "an object");
    ISO_TRY(object(r));
  }
  if (!r->has_header) return iso_token_expected(&r->t, "the header ({\"isoproof\":1,...})");
  return r->unfinished ? iso_builder_notice(r->builder, ISOPROOF_NOTICE_UNFINISHED, 0, NULL, &r->problem) : ISOPROOF_OK;
}

/* Whether what could not be read is a last line that its writer did not finish. */
static isoproof_status forgive_truncation(reader *r, isoproof_status status) {
  uint64_t first = r->t.depth > 0 ? r->info.position : r->t.token_line;
  if (status != ISOPROOF_ERR_FORMAT || !r->t.failed || r->t.line != first || !r->has_header) return status;
  isoproof_error broken = r->problem;
  bool newline;
  ISO_TRY(iso_token_newline_follows(&r->t, &newline));
  if (newline) {
    r->problem = broken;
    return status;
  }
  ISO_TRY(iso_builder_notice(r->builder, ISOPROOF_NOTICE_TRUNCATED, first, NULL, &r->problem));
  return iso_builder_fact(r->builder, "truncated", "1", 1, &r->problem);
}

static void reader_free(void *reader_) {
  reader *r = reader_;
  if (r == NULL) return;
  iso_tokenizer_free(&r->t);
  iso_micro_op_free(&r->micro);
  free(r);
}

static isoproof_status reader_new(iso_input *input, isoproof_builder *builder, void **made, isoproof_error *error) {
  reader *r = iso_alloc_zero(1, sizeof *r);
  if (r == NULL) return iso_fail_memory(error);
  r->builder = builder;
  r->pool = iso_builder_pool(builder);
  isoproof_status status = iso_builder_file(builder, iso_input_name(input), &r->problem);
  if (status == ISOPROOF_OK) status = iso_tokenizer_init(&r->t, input, ISO_TOKEN_DIALECT_JSON, &r->problem);
  *made = r;
  if (status == ISOPROOF_OK) return status;
  if (error != NULL) *error = r->problem;
  reader_free(r);
  return status;
}

isoproof_status iso_read_jsonl(iso_input *input, isoproof_builder *builder, isoproof_task *task,
                               isoproof_error *error) {
  enum { USUAL_OP_BYTES = 16 };
  uint64_t done, total;
  iso_input_progress(input, &done, &total);
  iso_builder_expect(builder, total / USUAL_OP_BYTES);
  void *made = NULL;
  ISO_TRY(reader_new(input, builder, &made, error));
  reader *r = made;
  isoproof_status status = forgive_truncation(r, objects(r, task));
  if (status != ISOPROOF_OK && error != NULL) *error = r->problem;
  reader_free(r);
  return status;
}

/* ---- piece by piece ---- */

static isoproof_status stream_feed(void *reader_, const char *bytes, size_t size, bool last, isoproof_error *error) {
  reader *r = reader_;
  r->more = !last;
  isoproof_status status = iso_tokenizer_feed(&r->t, bytes, size);
  if (status == ISOPROOF_OK) status = objects(r, NULL);
  if (last) status = forgive_truncation(r, status);
  if (status != ISOPROOF_OK && error != NULL) *error = r->problem;
  return status;
}

static isoproof_status stream_turned(void *reader_, const isoproof_history *done, const uint32_t *unfinished,
                                     isoproof_error *error) {
  reader *r = reader_;
  (void)unfinished;
  iso_list_cache_free(&r->micro.cache); /* its keys are codes of the batch that is gone */
  for (uint32_t s = 0; s < done->sessions; s++) {
    iso_value name;
    uint32_t session;
    ISO_TRY(iso_stream_code(done, r->builder, done->session_name[s], &name, error));
    ISO_TRY(iso_builder_session(r->builder, name, &session, error));
  }
  if (r->has_header) iso_builder_origin(r->builder, ISOPROOF_FORMAT_JSONL, ISO_POSITION_LINE, r->initial_is_zero);
  return iso_builder_file(r->builder, iso_input_name(r->t.window.input), error);
}

static bool stream_finished(const void *reader_) { return ((const reader *)reader_)->finished; }

const iso_stream_table iso_jsonl_stream = {.cut = ISO_CUT_JSON_ITEMS,
                                           .open = reader_new,
                                           .feed = stream_feed,
                                           .turned = stream_turned,
                                           .finished = stream_finished,
                                           .free = reader_free};
