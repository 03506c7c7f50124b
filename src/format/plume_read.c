/* Plume text: r(key,value,session,txn), one operation per line.
 *
 * Threads take blocks of whole lines in turn, parse them on their own, and merge them into the builder in the order of
 * the file.  So the parsing runs in parallel and the result does not depend on the number of threads. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/vector.h"
#include "format/format.h"
#include "format/plume_block.h"
#include "format/stream.h"
#include "format/txn_id_set.h"

/* The transaction a session is in the middle of. */
typedef struct {
  uint64_t id;
  uint32_t txn;
  bool aborted;
  bool any;
} session_state;

typedef struct {
  iso_input *input;
  isoproof_builder *builder;
  isoproof_task *task;
  isoproof_error *error;

  pthread_mutex_t take; /* guards the input and the carry */
  char *carry;          /* the incomplete last line of the block before */
  size_t carry_length;
  bool at_end;
  uint64_t blocks_taken;

  pthread_mutex_t turn; /* guards everything below */
  pthread_cond_t turned;
  uint64_t blocks_merged;
  isoproof_status status;
  uint64_t lines; /* merged so far */
  iso_txn_id_set ids;
  ISO_VEC(session_state) sessions;
  uint32_t open_txn; /* whose run the builder extends */
  uint64_t open_next_line;
  bool open;
} reader;

/* Takes the next block of whole lines; *number is its place in the file.  A block of length 0 says that it is over.
 * The caller holds `take`. */
static isoproof_status take_block(reader *r, iso_plume_block *block, uint64_t *number, isoproof_error *error) {
  block->length = 0;
  if (r->at_end) return ISOPROOF_OK;
  memcpy(block->text, r->carry, r->carry_length);
  size_t got;
  ISO_TRY(
      iso_input_read(r->input, block->text + r->carry_length, ISO_PLUME_BLOCK_BYTES - r->carry_length, &got, error));
  size_t filled = r->carry_length + got;
  r->carry_length = 0;
  if (filled < ISO_PLUME_BLOCK_BYTES) {
    r->at_end = true;
    block->length = filled;
  } else {
    const char *newline = memrchr(block->text, '\n', filled);
    /* A block without any newline is parsed as it is: no line of this format is that long, so it must be an error. */
    block->length = newline == NULL ? filled : (size_t)(newline - block->text) + 1;
    r->carry_length = filled - block->length;
    memcpy(r->carry, block->text + block->length, r->carry_length);
  }
  *number = r->blocks_taken;
  if (block->length > 0) r->blocks_taken++;
  return ISOPROOF_OK;
}

static iso_place place_of(const reader *r, uint64_t line, uint64_t column) {
  return (iso_place){iso_input_name(r->input), line, column, -1};
}

/* Starts a transaction that was not there before. */
static isoproof_status begin_txn(reader *r, const iso_plume_piece *piece, uint32_t session, uint64_t line) {
  session_state *state = &r->sessions.items[session];
  if (!piece->aborted) {
    switch (iso_txn_id_set_add(&r->ids, piece->txn)) {
    case ISO_ID_NEW:
      break;
    case ISO_ID_SEEN:
      return iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, place_of(r, line, 0),
                         "expected a new transaction in session %llu, found transaction %llu again: an id belongs to "
                         "one transaction, and transactions of one session cannot be interleaved",
                         (unsigned long long)piece->session, (unsigned long long)piece->txn);
    case ISO_ID_NO_MEMORY:
      return iso_fail_memory(r->error);
    }
  }
  iso_txn_info info = iso_txn_unset();
  info.status = piece->aborted ? ISOPROOF_TXN_ABORTED : ISOPROOF_TXN_COMMITTED;
  info.has_id = !piece->aborted;
  info.id = (int64_t)piece->txn;
  info.position = line;
  *state = (session_state){piece->txn, 0, piece->aborted, true};
  return iso_builder_begin(r->builder, session, &info, &state->txn, r->error);
}

/* Makes the transaction of a piece the one that operations go to. */
static isoproof_status open_piece(reader *r, const iso_plume_piece *piece, uint64_t line) {
  iso_value name;
  uint32_t session;
  ISO_TRY(iso_pool_add_u64(iso_builder_pool(r->builder), piece->session, &name, r->error));
  ISO_TRY(iso_builder_session(r->builder, name, &session, r->error));
  while (r->sessions.count <= session) {
    if (!iso_vec_push(&r->sessions, ((session_state){0}))) return iso_fail_memory(r->error);
  }
  const session_state *state = &r->sessions.items[session];
  bool same = state->any && state->aborted == piece->aborted && state->id == piece->txn;
  if (!same) {
    ISO_TRY(begin_txn(r, piece, session, line));
  } else if (!r->open || r->open_txn != state->txn || r->open_next_line != line) {
    ISO_TRY(iso_builder_reopen(r->builder, state->txn, line, r->error));
  }
  r->open = true;
  r->open_txn = r->sessions.items[session].txn;
  r->open_next_line = line + piece->count;
  return ISOPROOF_OK;
}

/* Adds a parsed block to the builder.  The caller holds `turn` and it is this block's turn. */
static isoproof_status merge_block(reader *r, const iso_plume_block *block) {
  for (size_t i = 0; i < block->piece_count; i++) {
    const iso_plume_piece *piece = &block->pieces[i];
    ISO_TRY(open_piece(r, piece, r->lines + piece->line + 1));
    ISO_TRY(iso_builder_bulk(r->builder, block->kinds + piece->first, block->keys + piece->first,
                             block->values + piece->first, piece->count, r->error));
  }
  if (block->expected != NULL) {
    char quoted[256];
    return iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, place_of(r, r->lines + block->lines + 1, block->error_column),
                       "expected %s, found %s", block->expected,
                       iso_quote(block->text + block->error_at, block->length - block->error_at, quoted));
  }
  r->lines += block->lines;
  return iso_task_check(r->task, r->error);
}

/* Waits for the block's turn and merges it, unless something failed before. */
static bool merge_in_turn(reader *r, const iso_plume_block *block, uint64_t number) {
  pthread_mutex_lock(&r->turn);
  while (r->blocks_merged != number) pthread_cond_wait(&r->turned, &r->turn);
  if (r->status == ISOPROOF_OK) r->status = merge_block(r, block);
  bool go_on = r->status == ISOPROOF_OK;
  r->blocks_merged++;
  pthread_cond_broadcast(&r->turned);
  pthread_mutex_unlock(&r->turn);
  return go_on;
}

/* A failure to read the input comes after all blocks that were taken before it. */
static void fail_in_turn(reader *r, isoproof_status status, const isoproof_error *error) {
  pthread_mutex_lock(&r->turn);
  if (r->status == ISOPROOF_OK) {
    r->status = status;
    if (r->error != NULL) *r->error = *error;
  }
  pthread_mutex_unlock(&r->turn);
}

static void work(void *context, unsigned thread, unsigned threads) {
  (void)threads;
  reader *r = context;
  iso_plume_block block;
  isoproof_error error = {.code = ISOPROOF_OK};
  isoproof_status status = iso_plume_block_init(&block) ? ISOPROOF_OK : iso_fail_memory(&error);
  bool go_on = status == ISOPROOF_OK;
  while (go_on) {
    uint64_t number = 0, done, total;
    pthread_mutex_lock(&r->take);
    status = take_block(r, &block, &number, &error);
    if (status != ISOPROOF_OK) r->at_end = true;
    if (thread == 0) iso_input_progress(r->input, &done, &total);
    pthread_mutex_unlock(&r->take);
    if (status != ISOPROOF_OK || block.length == 0) break;
    iso_plume_block_parse(&block);
    go_on = merge_in_turn(r, &block, number);
    if (thread == 0) iso_task_progress(r->task, "loading", "bytes", done, total);
  }
  if (status != ISOPROOF_OK) fail_in_turn(r, status, &error);
  iso_plume_block_free(&block);
}

isoproof_status iso_read_plume(iso_input *input, isoproof_builder *builder, isoproof_task *task,
                               isoproof_error *error) {
  reader r = {.input = input, .builder = builder, .task = task, .error = error};
  r.carry = iso_alloc(ISO_PLUME_BLOCK_BYTES, 1);
  if (r.carry == NULL) return iso_fail_memory(error);
  iso_builder_origin(builder, ISOPROOF_FORMAT_PLUME, ISO_POSITION_LINE_PER_OP, true);
  enum { USUAL_LINE_BYTES = 16 };
  uint64_t done, total;
  iso_input_progress(input, &done, &total);
  iso_builder_expect(builder, total / USUAL_LINE_BYTES);
  iso_txn_id_set_init(&r.ids);
  pthread_mutex_init(&r.take, NULL);
  pthread_mutex_init(&r.turn, NULL);
  pthread_cond_init(&r.turned, NULL);
  iso_parallel(iso_task_threads(task), work, &r);
  pthread_cond_destroy(&r.turned);
  pthread_mutex_destroy(&r.turn);
  pthread_mutex_destroy(&r.take);
  iso_txn_id_set_free(&r.ids);
  iso_vec_free(&r.sessions);
  free(r.carry);
  return r.status;
}

/* ---- piece by piece ---- */

typedef struct stream {
  reader r;
  iso_plume_block block;
} stream;

static void stream_free(void *state) {
  stream *s = state;
  if (s == NULL) return;
  iso_plume_block_free(&s->block);
  iso_txn_id_set_free(&s->r.ids);
  iso_vec_free(&s->r.sessions);
  free(s);
}

static isoproof_status begin_history(stream *s, isoproof_error *error) {
  iso_builder_origin(s->r.builder, ISOPROOF_FORMAT_PLUME, ISO_POSITION_LINE_PER_OP, true);
  return iso_builder_file(s->r.builder, iso_input_name(s->r.input), error);
}

static isoproof_status stream_open(iso_input *name, isoproof_builder *builder, void **made, isoproof_error *error) {
  stream *s = iso_alloc_zero(1, sizeof *s);
  if (s == NULL) return iso_fail_memory(error);
  s->r = (reader){.input = name, .builder = builder};
  iso_txn_id_set_init(&s->r.ids);
  isoproof_status status = iso_plume_block_init(&s->block) ? begin_history(s, error) : iso_fail_memory(error);
  if (status != ISOPROOF_OK) stream_free(s);
  *made = s;
  return status;
}

/* A block without any newline is parsed as it is: see take_block. */
static isoproof_status stream_feed(void *state, const char *bytes, size_t size, bool last, isoproof_error *error) {
  stream *s = state;
  (void)last;
  s->r.error = error;
  while (size > 0) {
    size_t part = size < ISO_PLUME_BLOCK_BYTES ? size : ISO_PLUME_BLOCK_BYTES;
    const char *newline = part < size ? memrchr(bytes, '\n', part) : NULL;
    if (newline != NULL) part = (size_t)(newline - bytes) + 1;
    memcpy(s->block.text, bytes, part);
    s->block.length = part;
    iso_plume_block_parse(&s->block);
    ISO_TRY(merge_block(&s->r, &s->block));
    bytes += part;
    size -= part;
  }
  return ISOPROOF_OK;
}

static isoproof_status stream_turned(void *state, const isoproof_history *done, const uint32_t *unfinished,
                                     isoproof_error *error) {
  stream *s = state;
  (void)done;
  for (size_t i = 0; i < s->r.sessions.count; i++) s->r.sessions.items[i].txn = unfinished[i];
  s->r.open = false;
  return begin_history(s, error);
}

const iso_stream_table iso_plume_stream = {.cut = ISO_CUT_LINES,
                                           .open_ended = true,
                                           .open = stream_open,
                                           .feed = stream_feed,
                                           .turned = stream_turned,
                                           .free = stream_free};
