/* Reads isoproof's own text form: headers one by one, transactions in blocks of lines wherever nothing else comes. */
#include "base/text.h"
#include "format/format.h"
#include "format/jsonl_block.h"
#include "format/jsonl_rows.h"
#include "format/stream.h"
#include "history/notice.h"

typedef struct reader {
  iso_jsonl_parser p;
  isoproof_builder *builder;
  isoproof_task *task;
  bool has_header;
  bool unfinished; /* the writer said that an end would come, and did not come to it */
  bool finished;   /* it said so, and did */
  bool more;       /* another piece of the input will come, see format/stream.h */
  uint32_t facts;
  uint64_t objects;
  /* Blocks. */
  size_t block_bytes;   /* 0: none */
  uint64_t blocks_from; /* not before this byte */
  uint64_t patience;    /* bytes to read without blocks before they are tried again */
  unsigned threads;
  iso_list_cache *caches; /* one for each thread */
} reader;

/* ---- headers ---- */

static isoproof_status version(reader *r) {
  ISO_TRY(iso_token_next(&r->p.t));
  if (!iso_token_is_integer(&r->p.t)) return iso_token_expected(&r->p.t, "the version of the format");
  if (r->p.t.scalar.integer == ISO_JSONL_VERSION) return ISOPROOF_OK;
  return iso_fail_at(&r->p.problem, ISOPROOF_ERR_UNSUPPORTED, iso_token_place(&r->p.t),
                     "expected version %d of the format, found version %lld", ISO_JSONL_VERSION,
                     (long long)r->p.t.scalar.integer);
}

static isoproof_status initial(reader *r) {
  bool zero = iso_token_is_integer(&r->p.t) && r->p.t.scalar.integer == 0;
  if (!zero && !iso_token_is_nil(&r->p.t)) return iso_token_expected(&r->p.t, "null or 0");
  if (r->has_header && zero != r->p.initial_is_zero) {
    return iso_token_expected(&r->p.t, "the initial version of the first header");
  }
  r->p.initial_is_zero = zero;
  return ISOPROOF_OK;
}

static isoproof_status fact(reader *r, const char *name) {
  iso_tokenizer *t = &r->p.t;
  if (t->type != ISO_TOKEN_SCALAR) return iso_token_expected(t, "a string");
  if (t->scalar.type == ISOPROOF_NIL) return ISOPROOF_OK;
  if (++r->facts > ISO_JSONL_FACTS) {
    return iso_fail_at(&r->p.problem, ISOPROOF_ERR_LIMIT, iso_token_place(t), "more than %d facts", ISO_JSONL_FACTS);
  }
  if (strcmp(name, ISO_JSONL_FINISHED) == 0) {
    r->unfinished = iso_token_is(t, ISO_JSONL_FINISHED_NO);
    r->finished = !r->unfinished;
  }
  if (t->scalar.type == ISOPROOF_STRING) {
    return iso_builder_fact(r->builder, name, t->scalar.text, t->scalar.length, &r->p.problem);
  }
  return iso_builder_fact(r->builder, name, t->start, (size_t)(t->window.cur - t->start), &r->p.problem);
}

/* The rest of a header, whose first key is the current token. */
static isoproof_status header(reader *r) {
  iso_tokenizer *t = &r->p.t;
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
    iso_builder_origin(r->builder, ISOPROOF_FORMAT_JSONL, ISO_POSITION_LINE, r->p.initial_is_zero);
  }
  r->has_header = true;
  return ISOPROOF_OK;
}

/* ---- blocks ---- */

static void *new_block(void *context) {
  const reader *r = context;
  return iso_jsonl_block_new(r->p.initial_is_zero);
}

static void free_block(void *parsed) { iso_jsonl_block_free(parsed); }

static void parse_block(void *context, unsigned thread, iso_line_block *lines) {
  reader *r = context;
  iso_jsonl_block_parse(lines->parsed, &r->caches[thread], lines);
}

static isoproof_status merge_block(void *context, iso_line_block *lines, size_t *used, isoproof_error *error) {
  reader *r = context;
  iso_jsonl_block *block = lines->parsed;
  ISO_TRY(iso_jsonl_block_merge(block, r->p.t.line, r->builder, error));
  *used = block->used;
  r->p.t.line += block->lines;
  r->p.t.line_offset = lines->offset + block->line_begin;
  iso_json_top(&r->p.t, block->used > 0 && block->used < lines->length);
  return ISOPROOF_OK;
}

/* Reads transactions in blocks from the next line on, where there is much to read and nothing speaks against it. */
static isoproof_status in_blocks(reader *r) {
  iso_window *window = &r->p.t.window;
  if (r->block_bytes == 0 || iso_window_at(window) < r->blocks_from || !iso_token_next_line(&r->p.t))
    return ISOPROOF_OK;
  bool enough;
  ISO_TRY(iso_window_has(window, 2 * r->block_bytes, &enough, &r->p.problem));
  if (!enough) return ISOPROOF_OK;
  if (r->caches == NULL) r->caches = iso_alloc_zero(r->threads, sizeof *r->caches);
  if (r->caches == NULL) return iso_fail_memory(&r->p.problem);
  iso_line_job job = {.context = r,
                      .make = new_block,
                      .drop = free_block,
                      .parse = parse_block,
                      .merge = merge_block,
                      .block_bytes = r->block_bytes,
                      .threads = r->threads,
                      .task = r->task};
  ISO_TRY(iso_line_blocks(window, &job, &r->p.problem));
  r->blocks_from = iso_window_at(window) + r->patience;
  r->patience *= 2;
  return ISOPROOF_OK;
}

/* ---- the file ---- */

static isoproof_status add_txn(reader *r) {
  uint32_t session;
  ISO_TRY(iso_jsonl_read_txn(&r->p));
  ISO_TRY(iso_builder_session(r->builder, r->p.session, &session, &r->p.problem));
  if (!r->p.has_more) return ISOPROOF_OK;
  ISO_TRY(iso_builder_begin(r->builder, session, &r->p.info, NULL, &r->p.problem));
  iso_micro_ops part = iso_micro_op_at_hand(&r->p.micro);
  return iso_micro_op_emit(&part, r->builder, &r->p.problem);
}

static isoproof_status object(reader *r) {
  iso_tokenizer *t = &r->p.t;
  ISO_TRY(iso_jsonl_begin(&r->p, r->has_header));
  if (!r->p.is_txn && iso_token_is(t, ISO_JSONL_HEADER)) return header(r);
  if (!r->has_header) return iso_token_expected(t, "the header ({\"isoproof\":1,...})");
  if (r->p.is_txn) {
    ISO_TRY(add_txn(r));
    return in_blocks(r);
  }
  ISO_TRY(iso_token_is(t, ISO_JSONL_ROW_NAMES) ? iso_jsonl_read_row_names(t, r->builder)
                                               : iso_jsonl_read_initial_rows(t, r->builder));
  ISO_TRY(iso_token_next(t));
  return t->type == ISO_TOKEN_END ? ISOPROOF_OK : iso_token_expected(t, "the end of the initial rows");
}

static isoproof_status watch(reader *r) {
  uint64_t done, total;
  if (r->task == NULL || (++r->objects & 1023) != 0) return ISOPROOF_OK;
  iso_input_progress(r->p.t.window.input, &done, &total);
  iso_task_progress(r->task, "reading", "bytes", done, total);
  return iso_task_check(r->task, &r->p.problem);
}

static isoproof_status objects(reader *r) {
  iso_tokenizer *t = &r->p.t;
  for (;;) {
    ISO_TRY(watch(r));
    if (r->more && iso_tokenizer_used_up(t)) return ISOPROOF_OK;
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END_OF_INPUT) break;
    if (t->type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(t, "an object");
    ISO_TRY(object(r));
  }
  if (!r->has_header) return iso_token_expected(t, "the header ({\"isoproof\":1,...})");
  if (!r->unfinished) return ISOPROOF_OK;
  return iso_builder_notice(r->builder, ISOPROOF_NOTICE_UNFINISHED, 0, NULL, &r->p.problem);
}

/* Whether what could not be read is a last line that its writer did not finish. */
static isoproof_status forgive_truncation(reader *r, isoproof_status status) {
  iso_tokenizer *t = &r->p.t;
  uint64_t first = t->depth > 0 ? r->p.info.position : t->token_line;
  if (status != ISOPROOF_ERR_FORMAT || !t->failed || t->line != first || !r->has_header) return status;
  isoproof_error broken = r->p.problem;
  bool newline;
  ISO_TRY(iso_token_newline_follows(t, &newline));
  if (newline) {
    r->p.problem = broken;
    return status;
  }
  ISO_TRY(iso_builder_notice(r->builder, ISOPROOF_NOTICE_TRUNCATED, first, NULL, &r->p.problem));
  return iso_builder_fact(r->builder, "truncated", "1", 1, &r->p.problem);
}

static void reader_free(void *reader_) {
  reader *r = reader_;
  if (r == NULL) return;
  iso_tokenizer_free(&r->p.t);
  for (unsigned i = 0; r->caches != NULL && i < r->threads; i++) iso_list_cache_free(&r->caches[i]);
  free(r->caches);
  iso_micro_op_free(&r->p.micro);
  free(r);
}

static isoproof_status reader_new(iso_input *input, isoproof_builder *builder, void **made, isoproof_error *error) {
  reader *r = iso_alloc_zero(1, sizeof *r);
  if (r == NULL) return iso_fail_memory(error);
  r->builder = builder;
  r->p.pool = iso_builder_pool(builder);
  isoproof_status status = iso_builder_file(builder, iso_input_name(input), &r->p.problem);
  if (status == ISOPROOF_OK) status = iso_tokenizer_init(&r->p.t, input, ISO_TOKEN_DIALECT_JSON, &r->p.problem);
  *made = r;
  if (status == ISOPROOF_OK) return status;
  if (error != NULL) *error = r->p.problem;
  reader_free(r);
  return status;
}

isoproof_status iso_read_jsonl_in_blocks(iso_input *input, isoproof_builder *builder, isoproof_task *task,
                                         size_t block_bytes, isoproof_error *error) {
  enum { USUAL_OP_BYTES = 16 };
  uint64_t done, total;
  iso_input_progress(input, &done, &total);
  iso_builder_expect(builder, total / USUAL_OP_BYTES);
  void *made = NULL;
  ISO_TRY(reader_new(input, builder, &made, error));
  reader *r = made;
  r->task = task;
  r->threads = iso_task_threads(task);
  r->block_bytes = r->patience = block_bytes;
  isoproof_status status = forgive_truncation(r, objects(r));
  if (status != ISOPROOF_OK && error != NULL) *error = r->p.problem;
  reader_free(r);
  return status;
}

isoproof_status iso_read_jsonl(iso_input *input, isoproof_builder *builder, isoproof_task *task,
                               isoproof_error *error) {
  return iso_read_jsonl_in_blocks(input, builder, task, ISO_LINE_BLOCK_BYTES, error);
}

/* ---- piece by piece ---- */

static isoproof_status stream_feed(void *reader_, const char *bytes, size_t size, bool last, isoproof_error *error) {
  reader *r = reader_;
  r->more = !last;
  isoproof_status status = iso_tokenizer_feed(&r->p.t, bytes, size);
  if (status == ISOPROOF_OK) status = objects(r);
  if (last) status = forgive_truncation(r, status);
  if (status != ISOPROOF_OK && error != NULL) *error = r->p.problem;
  return status;
}

static isoproof_status stream_turned(void *reader_, const isoproof_history *done, const uint32_t *unfinished,
                                     isoproof_error *error) {
  reader *r = reader_;
  (void)unfinished;
  iso_list_cache_free(&r->p.micro.cache); /* its keys are codes of the batch that is gone */
  for (uint32_t s = 0; s < done->sessions; s++) {
    iso_value name;
    uint32_t session;
    ISO_TRY(iso_stream_code(done, r->builder, done->session_name[s], &name, error));
    ISO_TRY(iso_builder_session(r->builder, name, &session, error));
  }
  if (r->has_header) iso_builder_origin(r->builder, ISOPROOF_FORMAT_JSONL, ISO_POSITION_LINE, r->p.initial_is_zero);
  return iso_builder_file(r->builder, iso_input_name(r->p.t.window.input), error);
}

static bool stream_finished(const void *reader_) { return ((const reader *)reader_)->finished; }

static void stream_skip(void *reader_, uint64_t lines) {
  reader *r = reader_;
  const iso_window *window = &r->p.t.window;
  r->p.t.line = lines + 1;
  /* Ends of lines that were seen, and are still to be read. */
  for (const char *p = window->cur; p < window->end; p++) r->p.t.line -= *p == '\n';
}

const iso_stream_table iso_jsonl_stream = {.cut = ISO_CUT_JSON_ITEMS,
                                           .open = reader_new,
                                           .feed = stream_feed,
                                           .turned = stream_turned,
                                           .finished = stream_finished,
                                           .free = reader_free,
                                           .skip = stream_skip};
