/* Names, transactions and facts of ranges, put together in the order of the text. */
#include "parts/merge.h"

#include <stdlib.h>
#include <string.h>

#include "format/jsonl.h"
#include "history/notice.h"

/* The columns of transactions that may be there: name, element type. */
#define COLUMNS(X)                                                                                                     \
  X(txn_id_opt, int64_t)                                                                                               \
  X(txn_start_opt, int64_t)                                                                                            \
  X(txn_end_opt, int64_t)                                                                                              \
  X(txn_start_index_opt, int64_t)                                                                                      \
  X(txn_end_index_opt, int64_t)                                                                                        \
  X(txn_node_opt, iso_value)                                                                                           \
  X(txn_error_opt, iso_value)                                                                                          \
  X(txn_name_opt, iso_value)                                                                                           \
  X(txn_isolation_opt, uint8_t)                                                                                        \
  X(txn_position_opt, uint64_t)

typedef struct {
  uint64_t lines, text_bytes;
  uint32_t sessions, txns, entries, facts;
  uint32_t position_kind, initial_is_zero;
  uint32_t rows;    /* it has rows: only the whole tells what they were */
  uint32_t columns; /* which of them are there, one bit each */
} range_head;

/* A range as it was told: where its columns begin in the message, unaligned. */
typedef struct {
  range_head head;
  const uint8_t *entries, *text, *session_name, *session_first, *last_ops, *status, *facts;
#define X(name, type) const uint8_t *name;
  COLUMNS(X)
#undef X
} told_range;

static uint32_t u32_at(const uint8_t *column, size_t at) {
  uint32_t number;
  memcpy(&number, column + at * sizeof number, sizeof number);
  return number;
}

static int64_t i64_at(const uint8_t *column, size_t at, int64_t blank) {
  int64_t number = blank;
  if (column != NULL) memcpy(&number, column + at * sizeof number, sizeof number);
  return number;
}

/* ---- telling ---- */

static void put_columns(const isoproof_history *h, iso_bytes *out) {
#define X(name, type)                                                                                                  \
  if (h->name != NULL) iso_put(out, h->name, h->txns * sizeof(type));
  COLUMNS(X)
#undef X
}

void iso_range_tell(const isoproof_history *h, uint64_t lines, iso_bytes *out) {
  range_head head = {.lines = lines,
                     .text_bytes = h->pool.text_bytes,
                     .sessions = h->sessions,
                     .txns = h->txns,
                     .entries = h->pool.count,
                     .facts = h->fact_count,
                     .position_kind = h->format != ISOPROOF_FORMATS ? h->position_kind : ISO_POSITION_NONE,
                     .initial_is_zero = h->initial_is_zero,
                     .rows = iso_history_has_rows(h)};
  uint32_t bit = 1;
#define X(name, type)                                                                                                  \
  if (h->name != NULL) head.columns |= bit;                                                                            \
  bit <<= 1;
  COLUMNS(X)
#undef X
  iso_put(out, &head, sizeof head);
  iso_put(out, h->pool.entries, h->pool.count * sizeof *h->pool.entries);
  iso_put(out, h->pool.text, h->pool.text_bytes);
  iso_put(out, h->session_name, h->sessions * sizeof *h->session_name);
  iso_put(out, h->session_first_txn, ((size_t)h->sessions + 1) * sizeof *h->session_first_txn);
  for (uint32_t s = 0; s < h->sessions; s++) {
    uint32_t end = h->session_first_txn[s + 1];
    bool any = h->session_first_txn[s] < end;
    iso_put_u32(out, any ? h->txn_first_op[end] - h->txn_first_op[end - 1] : 0);
  }
  iso_put(out, h->txn_status, h->txns);
  iso_put(out, h->facts, h->fact_count * sizeof *h->facts);
  put_columns(h, out);
}

static bool take_range(const iso_bytes *told, told_range *r) {
  iso_taker in = iso_take_from(told->items, told->count);
  memset(r, 0, sizeof *r);
  iso_take(&in, &r->head, sizeof r->head);
  const range_head *head = &r->head;
  r->entries = iso_take_bytes(&in, head->entries * sizeof(iso_pool_entry));
  r->text = iso_take_bytes(&in, head->text_bytes);
  r->session_name = iso_take_bytes(&in, head->sessions * sizeof(iso_value));
  r->session_first = iso_take_bytes(&in, ((size_t)head->sessions + 1) * sizeof(uint32_t));
  r->last_ops = iso_take_bytes(&in, head->sessions * sizeof(uint32_t));
  r->status = iso_take_bytes(&in, head->txns);
  r->facts = iso_take_bytes(&in, head->facts * sizeof(iso_fact));
  uint32_t bits = head->columns;
#define X(name, type)                                                                                                  \
  if ((bits & 1) != 0) r->name = iso_take_bytes(&in, head->txns * sizeof(type));                                       \
  bits >>= 1;
  COLUMNS(X)
#undef X
  return !in.failed && in.at == in.end;
}

/* ---- merging ---- */

isoproof_status iso_merger_init(iso_merger *m, isoproof_format format, const char *name, size_t ranges,
                                isoproof_error *error) {
  *m = (iso_merger){.format = format, .open_ended = format == ISOPROOF_FORMAT_PLUME, .count = ranges};
  iso_txn_id_set_init(&m->ids);
  m->ranges = iso_alloc_zero(ranges, sizeof *m->ranges);
  if (m->ranges == NULL) return iso_fail_memory(error);
  isoproof_status status = isoproof_builder_new(&m->builder, error);
  return status == ISOPROOF_OK ? iso_builder_file(m->builder, name, error) : status;
}

void iso_merger_free(iso_merger *m) {
  for (size_t i = 0; m->ranges != NULL && i < m->count; i++) {
    iso_vec_free(&m->ranges[i].places);
    iso_vec_free(&m->ranges[i].codes);
  }
  free(m->ranges);
  iso_vec_free(&m->sessions);
  iso_txn_id_set_free(&m->ids);
  isoproof_builder_free(m->builder);
  memset(m, 0, sizeof *m);
}

static isoproof_status not_one(isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_FORMAT, "its lines do not stand on their own");
}

/* Entries get the codes that a reader of the whole gives them: the order of the text is that of the ranges, and of the
 * entries in them. */
static isoproof_status add_pool(iso_merger *m, const told_range *r, iso_merged_range *range, isoproof_error *error) {
  iso_pool *pool = iso_builder_pool(m->builder);
  if (!iso_vec_reserve(&range->codes, r->head.entries)) return iso_fail_memory(error);
  for (uint32_t i = 0; i < r->head.entries; i++) {
    iso_pool_entry entry;
    memcpy(&entry, r->entries + i * sizeof entry, sizeof entry);
    const iso_pool_view one = {
        .entries = &entry, .text = (const char *)r->text, .text_bytes = r->head.text_bytes, .count = 1};
    iso_value code;
    ISO_TRY(iso_pool_add(pool, iso_pool_scalar(&one, ISO_VALUE_INTERNED), &code, error));
    if (!iso_vec_push(&range->codes, code)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

static iso_value code_of(const iso_merged_range *range, iso_value value) {
  bool own = value < ISO_VALUE_INTERNED || value >= ISO_VALUE_COUNTED;
  return own ? value : range->codes.items[value & ~ISO_VALUE_INTERNED];
}

static isoproof_status add_facts(iso_merger *m, const told_range *r, const iso_merged_range *range,
                                 isoproof_error *error) {
  m->facts += r->head.facts;
  if (m->facts > ISO_JSONL_FACTS) return not_one(error);
  for (uint32_t i = 0; i < r->head.facts; i++) {
    iso_pool_view pool = iso_pool_look(iso_builder_pool(m->builder));
    isoproof_scalar name = iso_pool_scalar(&pool, code_of(range, u32_at(r->facts, 2 * (size_t)i)));
    isoproof_scalar value = iso_pool_scalar(&pool, code_of(range, u32_at(r->facts, 2 * (size_t)i + 1)));
    /* Copies, since the pool may move. */
    char *both = iso_alloc(name.length + value.length + 2, 1);
    if (both == NULL) return iso_fail_memory(error);
    memcpy(both, name.text, name.length);
    both[name.length] = '\0';
    memcpy(both + name.length + 1, value.text, value.length);
    both[name.length + 1 + value.length] = '\0';
    if (strcmp(both, ISO_JSONL_FINISHED) == 0)
      m->unfinished = strcmp(both + name.length + 1, ISO_JSONL_FINISHED_NO) == 0;
    isoproof_status status = iso_builder_fact(m->builder, both, both + name.length + 1, value.length, error);
    free(both);
    ISO_TRY(status);
  }
  return ISOPROOF_OK;
}

static iso_txn_info info_of(const iso_merger *m, const told_range *r, const iso_merged_range *range, uint32_t t) {
  iso_txn_info info = iso_txn_unset();
  info.status = (isoproof_txn_status)r->status[t];
  info.id = i64_at(r->txn_id_opt, t, INT64_MIN);
  info.has_id = info.id != INT64_MIN;
  info.start = i64_at(r->txn_start_opt, t, ISOPROOF_NO_TIME);
  info.end = i64_at(r->txn_end_opt, t, ISOPROOF_NO_TIME);
  info.start_index = i64_at(r->txn_start_index_opt, t, -1);
  info.end_index = i64_at(r->txn_end_index_opt, t, -1);
  if (r->txn_node_opt != NULL) info.node = code_of(range, u32_at(r->txn_node_opt, t));
  if (r->txn_error_opt != NULL) info.error = code_of(range, u32_at(r->txn_error_opt, t));
  if (r->txn_name_opt != NULL) info.name = code_of(range, u32_at(r->txn_name_opt, t));
  if (r->txn_isolation_opt != NULL) info.isolation = (iso_txn_isolation)r->txn_isolation_opt[t];
  info.position = (uint64_t)i64_at(r->txn_position_opt, t, 0);
  if (info.position != 0) info.position += m->lines;
  return info;
}

/* Whether the first transaction of a session in this range is the last one of the ranges before. */
static bool goes_on(const iso_merger *m, const iso_merged_session *s, const iso_txn_info *info) {
  bool aborted = info->status == ISOPROOF_TXN_ABORTED;
  return m->open_ended && s->txns > 0 && s->last_aborted == aborted && (aborted || s->last_id == info->id);
}

static isoproof_status add_txn(iso_merger *m, uint32_t session, const iso_txn_info *info, isoproof_error *error) {
  iso_merged_session *s = &m->sessions.items[session];
  bool aborted = info->status == ISOPROOF_TXN_ABORTED;
  if (m->open_ended && !aborted && iso_txn_id_set_add(&m->ids, (uint64_t)info->id) != ISO_ID_NEW) return not_one(error);
  s->txns++;
  s->last_ops = 0;
  s->last_id = info->id;
  s->last_aborted = aborted;
  return iso_builder_begin(m->builder, session, info, NULL, error);
}

static isoproof_status add_session(iso_merger *m, const told_range *r, iso_merged_range *range, uint32_t number,
                                   isoproof_error *error) {
  uint32_t session, first = u32_at(r->session_first, number), end = u32_at(r->session_first, (size_t)number + 1);
  iso_value name = code_of(range, u32_at(r->session_name, number));
  ISO_TRY(iso_builder_session(m->builder, name, &session, error));
  while (m->sessions.count <= session) {
    if (!iso_vec_push(&m->sessions, ((iso_merged_session){.txns = 0}))) return iso_fail_memory(error);
  }
  iso_merged_session *s = &m->sessions.items[session];
  iso_range_place place = {session, s->txns, 0};
  for (uint32_t t = first; t < end; t++) {
    iso_txn_info info = info_of(m, r, range, t);
    if (t == first && goes_on(m, s, &info)) {
      place.first--;
      place.first_place = s->last_ops;
    } else {
      ISO_TRY(add_txn(m, session, &info, error));
    }
  }
  if (first < end) s->last_ops += u32_at(r->last_ops, number);
  return iso_vec_push(&range->places, place) ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_merger_add(iso_merger *m, const iso_bytes *told, isoproof_error *error) {
  told_range r;
  if (!take_range(told, &r) || m->done >= m->count)
    return iso_fail(error, ISOPROOF_ERR_INTERNAL, "a range did not arrive as it was sent");
  iso_merged_range *range = &m->ranges[m->done++];
  if (r.head.rows) return not_one(error);
  if (!m->begun && r.head.position_kind != ISO_POSITION_NONE) {
    iso_builder_origin(m->builder, m->format, (iso_position_kind)r.head.position_kind, r.head.initial_is_zero != 0);
    m->begun = true;
  }
  ISO_TRY(add_pool(m, &r, range, error));
  ISO_TRY(add_facts(m, &r, range, error));
  for (uint32_t s = 0; s < r.head.sessions; s++) ISO_TRY(add_session(m, &r, range, s, error));
  m->lines += r.head.lines;
  return ISOPROOF_OK;
}

isoproof_status iso_merger_finish(iso_merger *m, isoproof_task *task, isoproof_history **skeleton, iso_bytes *answers,
                                  isoproof_error *error) {
  /* As the reader of the whole says it at its end. */
  if (m->unfinished) ISO_TRY(iso_builder_notice(m->builder, ISOPROOF_NOTICE_UNFINISHED, 0, NULL, error));
  ISO_TRY(iso_builder_finish_for(m->builder, task, skeleton, error));
  for (size_t i = 0; i < m->count; i++) {
    const iso_merged_range *range = &m->ranges[i];
    for (size_t s = 0; s < range->places.count; s++) {
      const iso_range_place *place = &range->places.items[s];
      iso_put_u32(&answers[i], (*skeleton)->session_first_txn[place->session] + place->first);
      iso_put_u32(&answers[i], place->first_place);
    }
    iso_put(&answers[i], range->codes.items, range->codes.count * sizeof *range->codes.items);
    if (answers[i].failed) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

/* ---- hearing ---- */

void iso_range_map_free(iso_range_map *map) {
  free(map->number);
  free(map->place);
  free(map->code);
  memset(map, 0, sizeof *map);
}

isoproof_status iso_range_hear(const isoproof_history *h, const iso_bytes *answer, iso_range_map *map,
                               isoproof_error *error) {
  iso_taker in = iso_take_from(answer->items, answer->count);
  map->number = iso_alloc(h->txns, sizeof *map->number);
  map->place = iso_alloc_zero(h->txns, sizeof *map->place);
  map->code = iso_alloc(h->pool.count, sizeof *map->code);
  if (map->number == NULL || map->place == NULL || map->code == NULL) return iso_fail_memory(error);
  for (uint32_t s = 0; s < h->sessions; s++) {
    uint32_t first = h->session_first_txn[s], number = iso_take_u32(&in), place = iso_take_u32(&in);
    for (uint32_t t = first; t < h->session_first_txn[s + 1]; t++) map->number[t] = number + (t - first);
    if (first < h->session_first_txn[s + 1]) map->place[first] = place;
  }
  iso_take(&in, map->code, h->pool.count * sizeof *map->code);
  if (!in.failed && in.at == in.end) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_INTERNAL, "numbers did not arrive as they were sent");
}

iso_piece iso_piece_of_range(const isoproof_history *h, const iso_range_map *map) {
  iso_piece piece = iso_piece_of(h);
  piece.number = map->number;
  piece.place = map->place;
  piece.code = map->code;
  return piece;
}
