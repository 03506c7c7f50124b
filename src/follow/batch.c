/* Makes batches of what a reader has built so far; what may still go on is carried over to the next one. */
#include "follow/batch.h"

#include <stdlib.h>
#include <string.h>

isoproof_status iso_batcher_open(iso_batcher *b, isoproof_format format, const char *name, isoproof_error *error) {
  *b = (iso_batcher){.stream = iso_stream_of(format)};
  if (b->stream == NULL)
    return iso_fail_at(error, ISOPROOF_ERR_UNSUPPORTED, (iso_place){name, 0, 0, -1},
                       "the format %s cannot be followed, since it does not grow at its end; jsonl, edn, json, plume "
                       "and veristrong can",
                       isoproof_format_at((size_t)format)->id);
  iso_cutter_init(&b->cutter, b->stream->cut);
  isoproof_status status = iso_input_open_memory("", 0, name, &b->name, error);
  if (status == ISOPROOF_OK) status = isoproof_builder_new(&b->builder, error);
  if (status == ISOPROOF_OK) status = b->stream->open(b->name, b->builder, &b->reader, error);
  if (status != ISOPROOF_OK) {
    b->reader = NULL;
    iso_batcher_close(b);
  }
  return status;
}

void iso_batcher_close(iso_batcher *b) {
  if (b->reader != NULL) b->stream->free(b->reader);
  isoproof_builder_free(b->builder);
  iso_input_close(b->name);
  iso_vec_free(&b->bytes);
  b->reader = NULL;
  b->builder = NULL;
  b->name = NULL;
}

isoproof_status iso_batcher_skip(iso_batcher *b, uint64_t bytes, uint64_t lines, isoproof_error *error) {
  if (b->stream->skip == NULL || b->bytes.count > 0 || iso_batcher_txns(b) > 0)
    return iso_fail_at(error, ISOPROOF_ERR_UNSUPPORTED, (iso_place){iso_input_name(b->name), 0, 0, -1},
                       "this input cannot be followed from its middle on");
  b->stream->skip(b->reader, lines);
  b->offset = bytes;
  b->lines = lines;
  return ISOPROOF_OK;
}

static uint64_t count_lines(const char *bytes, size_t size) {
  uint64_t lines = 0;
  for (const char *end = bytes + size, *at = bytes; size > 0 && (at = memchr(at, '\n', (size_t)(end - at))) != NULL;) {
    lines++;
    if (++at == end) break;
  }
  return lines;
}

isoproof_status iso_batcher_feed(iso_batcher *b, const char *bytes, size_t size, bool last, isoproof_error *error) {
  size_t at, kept = b->bytes.count;
  if (!iso_vec_reserve(&b->bytes, size)) return iso_fail_memory(error);
  if (size > 0) memcpy(b->bytes.items + kept, bytes, size);
  b->bytes.count += size;
  if (iso_cutter_look(&b->cutter, bytes, size, &at)) b->cut = kept + at;
  size_t piece = last ? b->bytes.count : b->cut;
  if (piece == 0 && !last) return ISOPROOF_OK;
  ISO_TRY(b->stream->feed(b->reader, b->bytes.items, piece, last, error));
  b->offset += piece;
  b->lines += count_lines(b->bytes.items, piece);
  b->bytes.count -= piece;
  if (b->bytes.count > 0) memmove(b->bytes.items, b->bytes.items + piece, b->bytes.count);
  b->cut = 0;
  return ISOPROOF_OK;
}

/* In formats whose transactions go on until the next, one per session is left behind, which is no batch. */
bool iso_batcher_ready(const iso_batcher *b) {
  size_t left = b->stream->open_ended ? (size_t)b->sessions : 0;
  return iso_batcher_txns(b) > left && (b->stream->ready == NULL || b->stream->ready(b->reader));
}

bool iso_batcher_finished(const iso_batcher *b) {
  return b->stream->finished != NULL && b->stream->finished(b->reader) && b->bytes.count == 0;
}

size_t iso_batcher_txns(const iso_batcher *b) { return iso_builder_txns(b->builder); }

/* ---- transactions that may go on ---- */

/* Copies between builders what formats without rows, times and nodes can say. */
typedef struct carrier {
  const isoproof_history *from;
  isoproof_builder *to;
  isoproof_error *error;
  ISO_VEC(iso_value) list; /* scratch */
} carrier;

static isoproof_status carry_op(carrier *c, uint32_t op) {
  const isoproof_history *h = c->from;
  isoproof_op_kind kind = (isoproof_op_kind)h->op_kind[op];
  iso_value key, value = h->op_value[op];
  ISO_TRY(iso_stream_code(h, c->to, h->key_name[h->op_key[op]], &key, c->error));
  if (!iso_kind_is_list(kind) || value == ISO_VALUE_NIL || value == ISO_VALUE_NONE) {
    ISO_TRY(iso_stream_code(h, c->to, value, &value, c->error));
    return iso_builder_op(c->to, kind, key, value, c->error);
  }
  uint32_t count;
  const iso_value *elements = iso_history_list(h, op, &count);
  c->list.count = 0;
  if (!iso_vec_reserve(&c->list, count)) return iso_fail_memory(c->error);
  for (uint32_t i = 0; i < count; i++)
    ISO_TRY(iso_stream_code(h, c->to, elements[i], &c->list.items[c->list.count++], c->error));
  return iso_builder_list(c->to, kind, key, c->list.items, c->list.count, c->error);
}

static uint64_t line_of(const isoproof_history *h, uint32_t op) {
  isoproof_position position;
  return isoproof_history_position_of(h, op, &position) ? position.line : 0;
}

static isoproof_status carry_txn(carrier *c, uint32_t txn, uint32_t *arrival) {
  const isoproof_history *h = c->from;
  uint32_t first = h->txn_first_op[txn], end = h->txn_first_op[txn + 1], session;
  isoproof_txn shown = {.struct_size = sizeof shown};
  iso_txn_info info = iso_txn_unset();
  iso_value name;
  isoproof_history_txn_at(h, txn, &shown);
  info.status = shown.status;
  info.has_id = shown.has_id;
  info.id = shown.id;
  info.position = line_of(h, first);
  ISO_TRY(iso_stream_code(h, c->to, h->session_name[h->txn_session[txn]], &name, c->error));
  ISO_TRY(iso_builder_session(c->to, name, &session, c->error));
  ISO_TRY(iso_builder_begin(c->to, session, &info, arrival, c->error));
  uint64_t next = info.position;
  for (uint32_t op = first; op < end; op++, next++) {
    uint64_t line = line_of(h, op);
    if (line != next) ISO_TRY(iso_builder_reopen(c->to, *arrival, line, c->error));
    next = line;
    ISO_TRY(carry_op(c, op));
  }
  return ISOPROOF_OK;
}

/* Divides a history: the last transaction of each session goes back to the reader's builder, the others to another. */
static isoproof_status divide(iso_batcher *b, const isoproof_history *all, const uint64_t *order,
                              isoproof_builder *ended, uint32_t *unfinished, isoproof_error *error) {
  carrier back = {.from = all, .to = b->builder, .error = error};
  carrier on = {.from = all, .to = ended, .error = error};
  isoproof_status status = ISOPROOF_OK;
  iso_builder_origin(ended, all->format, all->position_kind, all->initial_is_zero);
  if (all->file != NULL) status = iso_builder_file(ended, all->file, error);
  for (uint32_t s = 0; status == ISOPROOF_OK && s < all->sessions; s++) {
    iso_value name;
    uint32_t session;
    status = iso_stream_code(all, b->builder, all->session_name[s], &name, error);
    if (status == ISOPROOF_OK) status = iso_builder_session(b->builder, name, &session, error);
  }
  for (uint32_t i = 0; status == ISOPROOF_OK && i < all->txns; i++) {
    uint32_t txn = (uint32_t)order[i], session = all->txn_session[txn], arrival;
    bool goes_on = txn + 1 == all->session_first_txn[session + 1];
    status = carry_txn(goes_on ? &back : &on, txn, goes_on ? &unfinished[session] : &arrival);
  }
  iso_vec_free(&back.list);
  iso_vec_free(&on.list);
  return status;
}

static isoproof_status order_of(const isoproof_builder *builder, uint64_t **order, isoproof_error *error) {
  *order = iso_alloc(iso_builder_txns(builder), sizeof **order);
  if (*order == NULL) return iso_fail_memory(error);
  isoproof_status status = iso_builder_order(builder, *order, error);
  if (status != ISOPROOF_OK) free(*order);
  return status;
}

static isoproof_status take_ended(iso_batcher *b, isoproof_history *all, uint64_t *all_order,
                                  isoproof_history **history, uint64_t **order, isoproof_error *error) {
  isoproof_builder *ended;
  ISO_TRY(isoproof_builder_new(&ended, error));
  uint32_t *unfinished = iso_alloc_zero(all->sessions, sizeof *unfinished);
  isoproof_status status =
      unfinished != NULL ? divide(b, all, all_order, ended, unfinished, error) : iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = b->stream->turned(b->reader, all, unfinished, error);
  if (status == ISOPROOF_OK) status = order_of(ended, order, error);
  if (status == ISOPROOF_OK) {
    status = isoproof_builder_finish(ended, history, error);
    if (status != ISOPROOF_OK) free(*order);
  }
  free(unfinished);
  isoproof_builder_free(ended);
  return status;
}

isoproof_status iso_batcher_take(iso_batcher *b, bool last, isoproof_history **history, uint64_t **order,
                                 isoproof_error *error) {
  isoproof_history *all;
  uint64_t *all_order;
  ISO_TRY(order_of(b->builder, &all_order, error));
  isoproof_status status = isoproof_builder_finish(b->builder, &all, error);
  if (status != ISOPROOF_OK) {
    free(all_order);
    return status;
  }
  b->sessions = all->sessions;
  if (b->stream->open_ended && !last) {
    status = take_ended(b, all, all_order, history, order, error);
  } else {
    status = last ? ISOPROOF_OK : b->stream->turned(b->reader, all, NULL, error);
    if (status == ISOPROOF_OK) {
      *history = all;
      *order = all_order;
      return ISOPROOF_OK;
    }
  }
  free(all_order);
  isoproof_history_free(all);
  return status;
}
