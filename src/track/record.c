/* From rows that answers tell to operations of the history. */
#include <string.h>

#include "track/session.h"

static isoproof_status push(iso_track_session *s, iso_jsonl_op op, isoproof_error *error) {
  op.statement = s->statement + 1;
  return iso_vec_push(&s->ops, op) ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status read_row(iso_track_session *s, int64_t key, isoproof_scalar value, isoproof_error *error) {
  return push(s, (iso_jsonl_op){.kind = ISOPROOF_OP_READ, .key = isoproof_integer(key), .value = value}, error);
}

/* The version that a row had when the statement read it, by the number that is told first or second. */
static isoproof_status version_of(const iso_track_session *s, const iso_told_row *row, int which, int64_t *version,
                                  isoproof_error *error) {
  int64_t stored = row->numbers[which];
  if (stored == 0 && !row->null[which]) {
    *version = 0;
    if (row->initial) return ISOPROOF_OK;
    return iso_fail(error, ISOPROOF_ERR_INTERFERENCE,
                    "somebody else writes %s: it has a row that this run did not make", row->table->name);
  }
  bool ours = !row->null[which] && iso_value_tag_get(&s->tracker->tag, stored, version) && *version > 0;
  return ours ? ISOPROOF_OK
              : iso_fail(error, ISOPROOF_ERR_INTERFERENCE,
                         "somebody else writes %s: it has a version that this run did not write", row->table->name);
}

/* A read by predicate: the rows [first, end) of those told, with the versions that they had. */
static isoproof_status read_predicate(iso_track_session *s, int64_t low, int64_t high, const iso_row_value *rows,
                                      size_t count, isoproof_error *error) {
  iso_jsonl_op op = {.kind = ISOPROOF_OP_READ,
                     .form = ISO_ROW_PREDICATE,
                     .rows = rows,
                     .count = count,
                     .where = s->where,
                     .where_count = s->where_count};
  op.predicate = (iso_predicate){.of_keys = true, .key_low = low, .key_high = high};
  return push(s, op, error);
}

/* What the statement found of the rows that it asked for. */
static isoproof_status record_reads(iso_track_session *s, int which, isoproof_error *error) {
  iso_row_value *rows = iso_arena_alloc(&s->arena, s->told.count + 1, sizeof *rows);
  size_t count = 0;
  if (rows == NULL) return iso_fail_memory(error);
  for (size_t i = 0; i < s->told.count; i++) {
    const iso_told_row *row = &s->told.items[i];
    if (row->absent) continue;
    rows[count].key = row->key;
    ISO_TRY(version_of(s, row, which, &rows[count].value, error));
    count++;
  }
  if (s->whole && !s->plan->pinned) return read_predicate(s, s->key_low, s->key_high, rows, count, error);
  for (size_t i = 0; i < count; i++) ISO_TRY(read_row(s, rows[i].key, isoproof_integer(rows[i].value), error));
  return ISOPROOF_OK;
}

static bool is_told(const iso_track_session *s, int64_t key) {
  for (size_t i = 0; i < s->told.count; i++) {
    if (s->told.items[i].key == key) return true;
  }
  return false;
}

/* Rows that were asked for by their keys, and did not come. */
static isoproof_status record_misses(iso_track_session *s, isoproof_error *error) {
  iso_shape_kind kind = s->plan->shape.kind;
  for (size_t i = 0; s->whole && s->plan->pinned && i < s->key_count; i++) {
    bool again = false;
    for (size_t j = 0; j < i; j++) again = again || s->keys[j] == s->keys[i];
    if (again || is_told(s, s->keys[i])) continue;
    if (s->where_count > 0) {
      ISO_TRY(
          read_predicate(s, s->keys[i], s->keys[i], iso_arena_alloc(&s->arena, 1, sizeof(iso_row_value)), 0, error));
    } else if (kind == ISO_SHAPE_SELECT) {
      ISO_TRY(read_row(s, s->keys[i], isoproof_nil(), error));
    } else {
      iso_jsonl_op op = {.kind = ISOPROOF_OP_READ, .key = isoproof_integer(s->keys[i]), .value = isoproof_nil()};
      op.form = kind == ISO_SHAPE_UPDATE ? ISO_ROW_MISSED_UPDATE : ISO_ROW_MISSED_DELETE;
      ISO_TRY(push(s, op, error));
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status write_row(iso_track_session *s, iso_row_form form, const iso_told_row *row,
                                 isoproof_error *error) {
  iso_jsonl_op op = {
      .kind = ISOPROOF_OP_WRITE, .form = form, .key = isoproof_integer(row->key), .value = isoproof_nil()};
  if (form != ISO_ROW_DELETE) {
    op.value = isoproof_integer(s->version);
    op.columns = row->columns;
    op.column_count = row->column_count;
  }
  return push(s, op, error);
}

/* The row has the version that this statement gave it. */
static isoproof_status check_written(const iso_track_session *s, const iso_told_row *row, isoproof_error *error) {
  int64_t version;
  ISO_TRY(version_of(s, row, 0, &version, error));
  if (version == s->version) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_INTERFERENCE,
                  "something else changes %s while it is written: a row does not have the version that was put into it",
                  row->table->name);
}

static isoproof_status record_inserts(iso_track_session *s, isoproof_error *error) {
  for (size_t i = 0; i < s->told.count; i++) {
    const iso_told_row *row = &s->told.items[i];
    int64_t before;
    ISO_TRY(check_written(s, row, error));
    if (row->null[1]) {
      ISO_TRY(write_row(s, ISO_ROW_INSERT, row, error));
      continue;
    }
    ISO_TRY(version_of(s, row, 1, &before, error));
    ISO_TRY(read_row(s, row->key, isoproof_integer(before), error));
    ISO_TRY(write_row(s, ISO_ROW_UPDATE, row, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status record_changes(iso_track_session *s, isoproof_error *error) {
  bool deletes = s->plan->shape.kind == ISO_SHAPE_DELETE;
  ISO_TRY(record_reads(s, deletes || s->plan->logged ? 0 : 1, error));
  ISO_TRY(record_misses(s, error));
  for (size_t i = 0; i < s->told.count; i++) {
    if (!deletes && !s->plan->logged) ISO_TRY(check_written(s, &s->told.items[i], error));
    ISO_TRY(write_row(s, deletes ? ISO_ROW_DELETE : ISO_ROW_UPDATE, &s->told.items[i], error));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_session_record(iso_track_session *s, isoproof_error *error) {
  switch (s->plan->shape.kind) {
  case ISO_SHAPE_SELECT:
    ISO_TRY(record_reads(s, 0, error));
    return record_misses(s, error);
  case ISO_SHAPE_INSERT:
    return record_inserts(s, error);
  case ISO_SHAPE_UPDATE:
  case ISO_SHAPE_DELETE:
    return record_changes(s, error);
  default:
    return ISOPROOF_OK;
  }
}

/* ---- savepoints ---- */

static bool is_among(const iso_jsonl_op *ops, const size_t *taken, size_t count, int64_t key) {
  for (size_t i = 0; i < count; i++) {
    if (ops[taken[i]].key.integer == key) return true;
  }
  return false;
}

/* A read by predicate that saw own writes which were taken back: what is left of it are reads of other rows. */
static isoproof_status keep_predicate(iso_track_session *s, const iso_jsonl_op *ops, const size_t *taken, size_t count,
                                      const iso_jsonl_op *op, isoproof_error *error) {
  bool touched = false;
  for (size_t i = 0; i < count; i++) {
    int64_t key = ops[taken[i]].key.integer;
    touched = touched || (key >= op->predicate.key_low && key <= op->predicate.key_high);
  }
  if (!touched) return iso_vec_push(&s->ops, *op) ? ISOPROOF_OK : iso_fail_memory(error);
  for (size_t i = 0; i < op->count; i++) {
    iso_jsonl_op made = {.kind = ISOPROOF_OP_READ,
                         .key = isoproof_integer(op->rows[i].key),
                         .value = isoproof_integer(op->rows[i].value),
                         .statement = op->statement};
    if (!is_among(ops, taken, count, op->rows[i].key) && !iso_vec_push(&s->ops, made)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

/* Writes are out; reads stay, but for those of rows that were so written before. */
static isoproof_status sift(iso_track_session *s, const iso_jsonl_op *ops, size_t count, size_t *taken,
                            isoproof_error *error) {
  size_t gone = 0;
  for (size_t i = 0; i < count; i++) {
    const iso_jsonl_op *op = &ops[i];
    if (op->kind == ISOPROOF_OP_WRITE) {
      taken[gone++] = i;
    } else if (op->form == ISO_ROW_PREDICATE) {
      ISO_TRY(keep_predicate(s, ops, taken, gone, op, error));
    } else if (!is_among(ops, taken, gone, op->key.integer) && !iso_vec_push(&s->ops, *op)) {
      return iso_fail_memory(error);
    }
  }
  return ISOPROOF_OK;
}

isoproof_status iso_session_take_back(iso_track_session *s, const char *name, isoproof_error *error) {
  size_t at = s->points.count;
  while (at > 0 && !iso_sql_same_name(s->tracker->dialect, s->points.items[at - 1].name, name)) at--;
  if (at == 0)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "a savepoint %s that the tracked statements did not make", name);
  s->points.count = at;
  size_t first = s->points.items[at - 1].ops, count = s->ops.count - first;
  iso_jsonl_op *ops = iso_arena_alloc(&s->arena, count + 1, sizeof *ops);
  size_t *taken = iso_arena_alloc(&s->arena, count + 1, sizeof *taken);
  if (ops == NULL || taken == NULL) return iso_fail_memory(error);
  if (count > 0) memcpy(ops, s->ops.items + first, count * sizeof *ops);
  s->ops.count = first;
  return sift(s, ops, count, taken, error);
}
