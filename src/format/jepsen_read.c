/* Reads Jepsen and Elle histories, EDN or JSON: maps one after the other, or lists of them, in blocks of lines wherever
 * each line is one operation. */
#include "format/format.h"
#include "format/jepsen_block.h"
#include "format/stream.h"

typedef struct reader {
  iso_tokenizer t;
  isoproof_error problem, deferred;
  isoproof_task *task;
  iso_jepsen_pairs pairs;
  iso_jepsen_op op;
  iso_micro_op micro;
  iso_jepsen_around around; /* of the blocks at hand */
  size_t block_bytes;       /* 0: no blocks */
  uint64_t blocks_from;     /* not before this byte */
  uint64_t patience;        /* bytes to read without blocks before they are tried again */
  isoproof_format format;
  bool more; /* another piece of the input will come, see format/stream.h */
  unsigned threads;
  iso_list_cache *caches; /* one for each thread */
} reader;

/* ---- blocks ---- */

static void *new_block(void *context) {
  (void)context;
  return iso_jepsen_block_new();
}

static void free_block(void *parsed) { iso_jepsen_block_free(parsed); }

static void parse_block(void *context, unsigned thread, iso_line_block *lines) {
  const reader *r = context;
  iso_jepsen_block_parse(lines->parsed, r->around, &r->caches[thread], lines);
}

static isoproof_status merge_block(void *context, iso_line_block *lines, size_t *used, isoproof_error *error) {
  (void)error; /* the pairs have it */
  reader *r = context;
  iso_jepsen_block *block = lines->parsed;
  ISO_TRY(iso_jepsen_block_merge(block, r->t.line, &r->pairs));
  *used = block->used;
  r->t.line += block->lines;
  r->t.line_offset = lines->offset + block->line_begin;
  bool whole = block->used == lines->length;
  if (r->around.dialect == ISO_TOKEN_DIALECT_JSON) iso_json_top(&r->t, block->used > 0 && !whole);
  return ISOPROOF_OK;
}

/* Reads operations in blocks from the next line on, where there is much to read and nothing speaks against it.  JSON
 * lists have commas between their elements, which no block could tell from those that are missing. */
static isoproof_status in_blocks(reader *r) {
  iso_window *window = &r->t.window;
  bool json = r->t.dialect == ISO_TOKEN_DIALECT_JSON, enough;
  if (r->block_bytes == 0 || r->t.depth > (json ? 0 : 1) || r->t.discarding != 0) return ISOPROOF_OK;
  if (iso_window_at(window) < r->blocks_from || !iso_token_next_line(&r->t)) return ISOPROOF_OK;
  ISO_TRY(iso_window_has(window, 2 * r->block_bytes, &enough, &r->problem));
  if (!enough) return ISOPROOF_OK;
  r->around = (iso_jepsen_around){r->t.dialect, r->t.depth, r->t.kinds[r->t.depth]};
  if (r->caches == NULL) r->caches = iso_alloc_zero(r->threads, sizeof *r->caches);
  if (r->caches == NULL) return iso_fail_memory(&r->problem);
  iso_line_job job = {.context = r,
                      .make = new_block,
                      .drop = free_block,
                      .parse = parse_block,
                      .merge = merge_block,
                      .block_bytes = r->block_bytes,
                      .threads = r->threads,
                      .task = r->task};
  ISO_TRY(iso_line_blocks(window, &job, &r->problem));
  r->blocks_from = iso_window_at(window) + r->patience;
  r->patience *= 2;
  return ISOPROOF_OK;
}

/* ---- the file ---- */

static isoproof_status operation(reader *r) {
  ISO_TRY(iso_jepsen_read_op(&r->t, r->pairs.pool, &r->op, &r->micro, &r->deferred));
  if (r->op.shape == ISO_JEPSEN_BROKEN && !iso_jepsen_is_other(&r->op)) {
    r->problem = r->deferred;
    return r->problem.code;
  }
  iso_micro_ops part = iso_micro_op_at_hand(&r->micro);
  ISO_TRY(iso_jepsen_pairs_add(&r->pairs, &r->op, &part));
  ISO_TRY(iso_jepsen_pairs_own(&r->pairs));
  return in_blocks(r);
}

static isoproof_status watch(reader *r) {
  uint64_t done, total;
  if (r->task == NULL || (r->pairs.ordinal & 1023) != 0) return ISOPROOF_OK;
  iso_input_progress(r->t.window.input, &done, &total);
  iso_task_progress(r->task, "reading", "bytes", done, total);
  return iso_task_check(r->task, &r->problem);
}

/* Maps one after the other, or lists of maps. */
static isoproof_status operations(reader *r) {
  for (;;) {
    ISO_TRY(watch(r));
    if (r->more && iso_tokenizer_used_up(&r->t)) return ISOPROOF_OK;
    ISO_TRY(iso_token_next(&r->t));
    if (r->t.type == ISO_TOKEN_END_OF_INPUT) return iso_jepsen_pairs_finish(&r->pairs);
    if (r->t.type == ISO_TOKEN_BEGIN_MAP) {
      ISO_TRY(operation(r));
    } else if (r->t.type != ISO_TOKEN_END && (r->t.type != ISO_TOKEN_BEGIN_LIST || r->t.depth != 1)) {
      return iso_token_expected(&r->t,
                                r->t.depth == 0 ? "an operation (a map) or a list of them" : "an operation (a map)");
    }
  }
}

static void reader_free(void *reader_) {
  reader *r = reader_;
  if (r == NULL) return;
  iso_tokenizer_free(&r->t);
  iso_jepsen_pairs_free(&r->pairs);
  for (unsigned i = 0; r->caches != NULL && i < r->threads; i++) iso_list_cache_free(&r->caches[i]);
  free(r->caches);
  iso_micro_op_free(&r->micro);
  free(r);
}

/* Says what every history of the format has in common. */
static isoproof_status begin_history(reader *r, isoproof_error *error) {
  iso_builder_origin(r->pairs.builder, r->format, ISO_POSITION_LINE, false);
  iso_builder_ambiguous_reads(r->pairs.builder);
  return iso_builder_file(r->pairs.builder, r->pairs.name, error);
}

static isoproof_status reader_new(iso_input *input, isoproof_format format, isoproof_builder *builder, void **made,
                                  isoproof_error *error) {
  reader *r = iso_alloc_zero(1, sizeof *r);
  if (r == NULL) return iso_fail_memory(error);
  iso_jepsen_pairs_init(&r->pairs, builder, iso_input_name(input), &r->problem);
  r->format = format;
  iso_token_dialect dialect = format == ISOPROOF_FORMAT_EDN ? ISO_TOKEN_DIALECT_EDN : ISO_TOKEN_DIALECT_JSON;
  isoproof_status status = iso_tokenizer_init(&r->t, input, dialect, &r->problem);
  if (status == ISOPROOF_OK) status = begin_history(r, &r->problem);
  *made = r;
  if (status == ISOPROOF_OK) return status;
  if (error != NULL) *error = r->problem;
  reader_free(r);
  return status;
}

isoproof_status iso_read_jepsen_in_blocks(iso_input *input, isoproof_format format, isoproof_builder *builder,
                                          isoproof_task *task, size_t block_bytes, isoproof_error *error) {
  enum { USUAL_OP_BYTES = 16 };
  uint64_t done, total;
  iso_input_progress(input, &done, &total);
  iso_builder_expect(builder, total / USUAL_OP_BYTES);
  void *made = NULL;
  ISO_TRY(reader_new(input, format, builder, &made, error));
  reader *r = made;
  r->task = task;
  r->threads = iso_task_threads(task);
  r->block_bytes = r->patience = block_bytes;
  isoproof_status status = operations(r);
  if (status != ISOPROOF_OK && error != NULL) *error = r->problem;
  reader_free(r);
  return status;
}

isoproof_status iso_read_edn(iso_input *input, isoproof_builder *builder, isoproof_task *task, isoproof_error *error) {
  return iso_read_jepsen_in_blocks(input, ISOPROOF_FORMAT_EDN, builder, task, ISO_LINE_BLOCK_BYTES, error);
}

isoproof_status iso_read_json(iso_input *input, isoproof_builder *builder, isoproof_task *task, isoproof_error *error) {
  return iso_read_jepsen_in_blocks(input, ISOPROOF_FORMAT_JSON, builder, task, ISO_LINE_BLOCK_BYTES, error);
}

/* ---- piece by piece ---- */

static isoproof_status open_edn(iso_input *name, isoproof_builder *builder, void **made, isoproof_error *error) {
  return reader_new(name, ISOPROOF_FORMAT_EDN, builder, made, error);
}

static isoproof_status open_json(iso_input *name, isoproof_builder *builder, void **made, isoproof_error *error) {
  return reader_new(name, ISOPROOF_FORMAT_JSON, builder, made, error);
}

static isoproof_status stream_feed(void *reader_, const char *bytes, size_t size, bool last, isoproof_error *error) {
  reader *r = reader_;
  r->more = !last;
  isoproof_status status = iso_tokenizer_feed(&r->t, bytes, size);
  if (status == ISOPROOF_OK) status = operations(r);
  if (status != ISOPROOF_OK && error != NULL) *error = r->problem;
  return status;
}

static isoproof_status stream_turned(void *reader_, const isoproof_history *done, const uint32_t *unfinished,
                                     isoproof_error *error) {
  reader *r = reader_;
  (void)unfinished;
  iso_list_cache_free(&r->micro.cache);
  ISO_TRY(begin_history(r, error));
  return iso_jepsen_pairs_carry(&r->pairs, done, error);
}

/* What [:r k nil] reads is known once something else was done to a key. */
static bool stream_ready(const void *reader_) {
  return iso_builder_knows_reads(((const reader *)reader_)->pairs.builder);
}

const iso_stream_table iso_edn_stream = {.cut = ISO_CUT_EDN_ITEMS,
                                         .open = open_edn,
                                         .feed = stream_feed,
                                         .turned = stream_turned,
                                         .ready = stream_ready,
                                         .free = reader_free};
const iso_stream_table iso_json_stream = {.cut = ISO_CUT_JSON_ITEMS,
                                          .open = open_json,
                                          .feed = stream_feed,
                                          .turned = stream_turned,
                                          .ready = stream_ready,
                                          .free = reader_free};
