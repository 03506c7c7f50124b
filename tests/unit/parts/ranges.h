/* ranges.h - random texts cut into ranges, each read on its own and put together, against the same texts read as a
 * whole: names, numbers, codes, facts and positions are the same, and so is every operation under its number.
 * A part of parts.c; nothing is owned. */
#ifndef TEST_PARTS_RANGES_H
#define TEST_PARTS_RANGES_H

#include <unistd.h>

#include "format/range.h"
#include "parts/merge.h"
#include "tests/scratch.h"
#include "tests/unit/format/format_bytes.h"
#include "tests/unit/unit.h"

enum { MOST_RANGES = 9 };

/* ---- texts ---- */

static void put_text(bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put_text(bytes *b, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  bytes_put(b, text, (size_t)length);
}

static const char *scalar_text(uint64_t *random) {
  static const char *const texts[] = {
      "1",     "7",  "2147483647",         "-5", "null", "\"x\"", "\"a longer text\"", "18446744073709551615", "3",
      "\"é\"", "12", "{\"keyword\":\"k\"}"};
  return texts[unit_below(random, sizeof texts / sizeof *texts)];
}

static void put_jsonl_txn(bytes *b, uint64_t *random) {
  static const char *const statuses[] = {"committed", "aborted", "unknown"};
  static const char *const sessions[] = {"0", "5", "2", "\"a\"", "99999999999"};
  put_text(b, "{\"session\":%s", sessions[unit_below(random, 5)]);
  if (unit_below(random, 12) == 0) {
    put_text(b, "}");
    return;
  }
  put_text(b, ",\"status\":\"%s\"", statuses[unit_below(random, 3)]);
  if (unit_below(random, 3) == 0) put_text(b, ",\"id\":%d", (int)unit_below(random, 50));
  if (unit_below(random, 2) == 0) put_text(b, ",\"start\":%d,\"end\":70", (int)unit_below(random, 60));
  if (unit_below(random, 4) == 0) put_text(b, ",\"start_index\":%d,\"end_index\":99", (int)unit_below(random, 50));
  if (unit_below(random, 4) == 0) put_text(b, ",\"node\":%s", scalar_text(random));
  if (unit_below(random, 4) == 0) put_text(b, ",\"error\":\"e%d\"", (int)unit_below(random, 3));
  if (unit_below(random, 4) == 0) put_text(b, ",\"name\":\"n%d\"", (int)unit_below(random, 3));
  if (unit_below(random, 6) == 0) put_text(b, ",\"isolation\":\"serializable\"");
  put_text(b, ",\"ops\":[");
  for (uint64_t i = 0, n = unit_below(random, 5); i < n; i++) {
    static const char *const lists[] = {"[]", "[1]", "[1,2]", "[1,2,3]", "[2,1]", "[1,\"x\"]", "null"};
    if (i > 0) put_text(b, ",");
    uint64_t kind = unit_below(random, 4);
    if (kind == 0) put_text(b, "[\"append\",10%d,%s]", (int)unit_below(random, 3), scalar_text(random));
    if (kind == 1) put_text(b, "[\"read-list\",10%d,%s]", (int)unit_below(random, 3), lists[unit_below(random, 7)]);
    if (kind >= 2) put_text(b, "[\"%s\",%s,%s]", kind == 2 ? "r" : "w", scalar_text(random), scalar_text(random));
  }
  put_text(b, "]}");
}

static void draw_jsonl(bytes *b, uint64_t *random, const char *end) {
  bool zero = unit_below(random, 2) == 0, ends = unit_below(random, 2) == 0;
  put_text(b, "{\"isoproof\":1,\"initial\":%s,\"seed\":\"7\"%s}%s", zero ? "0" : "null",
           ends ? ",\"finished\":\"no\"" : "", end);
  for (uint64_t i = 0, n = unit_below(random, 15); i < n; i++) {
    uint64_t what = unit_below(random, 12);
    if (what == 0) put_text(b, "{\"isoproof\":1,\"fact\":\"f%d\"}", (int)unit_below(random, 3));
    if (what > 1) put_jsonl_txn(b, random);
    put_text(b, "%s", end); /* or nothing: an empty line */
  }
  if (ends && unit_below(random, 2) == 0) put_text(b, "{\"isoproof\":1,\"finished\":\"yes\"}%s", end);
}

/* Sessions take turns, and a transaction goes on where it was left. */
static void draw_plume(bytes *b, uint64_t *random, const char *end) {
  int64_t txn[3] = {-1, -1, -1}, next = 1;
  for (uint64_t i = 0, n = 1 + unit_below(random, 30); i < n; i++) {
    uint64_t s = unit_below(random, 3);
    if (unit_below(random, 3) == 0) txn[s] = unit_below(random, 4) == 0 ? -1 : next++;
    put_text(b, "%c(%d,%llu,%d,%lld)%s", unit_below(random, 2) == 0 ? 'r' : 'w', (int)unit_below(random, 4),
             unit_below(random, 9) == 0 ? 18446744073709551615ULL : (unsigned long long)i, (int)s, (long long)txn[s],
             end);
    if (unit_below(random, 10) == 0) put_text(b, "%s", end);
  }
}

/* ---- comparing ---- */

static void same_column(const char *name, const void *a, const void *b, size_t size) {
  if ((a == NULL) != (b == NULL)) fail_msg("%s is there once only", name);
  if (a != NULL && size > 0 && memcmp(a, b, size) != 0) fail_msg("%s differs", name);
}

#define SAME(column, count) same_column(#column, whole->column, made->column, (count) * sizeof *whole->column)

static void same_frame(const isoproof_history *whole, const isoproof_history *made) {
  assert_int_equal(whole->sessions, made->sessions);
  assert_int_equal(whole->txns, made->txns);
  assert_int_equal(whole->fact_count, made->fact_count);
  assert_int_equal(whole->pool.count, made->pool.count);
  assert_int_equal(whole->pool.text_bytes, made->pool.text_bytes);
  assert_int_equal(whole->position_kind, made->position_kind);
  assert_true(whole->format == made->format && whole->initial_is_zero == made->initial_is_zero);
  assert_string_equal(whole->file, made->file);
  SAME(session_first_txn, whole->sessions + 1U);
  SAME(session_name, whole->sessions);
  SAME(txn_session, whole->txns);
  SAME(txn_status, whole->txns);
  SAME(txn_id_opt, whole->txns);
  SAME(txn_start_opt, whole->txns);
  SAME(txn_end_opt, whole->txns);
  SAME(txn_start_index_opt, whole->txns);
  SAME(txn_end_index_opt, whole->txns);
  SAME(txn_node_opt, whole->txns);
  SAME(txn_error_opt, whole->txns);
  SAME(txn_name_opt, whole->txns);
  SAME(txn_isolation_opt, whole->txns);
  SAME(txn_position_opt, whole->txns);
  SAME(facts, whole->fact_count);
  SAME(pool.entries, whole->pool.count);
  SAME(pool.text, whole->pool.text_bytes);
}

static void same_op(const isoproof_history *whole, uint32_t at, const isoproof_history *range, uint32_t op,
                    const iso_piece *piece) {
  assert_true(at < whole->ops);
  assert_int_equal(whole->op_kind[at], range->op_kind[op]);
  assert_int_equal(whole->key_name[whole->op_key[at]], iso_piece_code(piece, range->key_name[range->op_key[op]]));
  if (!iso_kind_is_list((isoproof_op_kind)range->op_kind[op])) {
    assert_int_equal(whole->op_value[at], iso_piece_code(piece, range->op_value[op]));
    return;
  }
  uint32_t count, other;
  const iso_value *elements = iso_history_list(whole, at, &count), *others = iso_history_list(range, op, &other);
  assert_int_equal(count, other);
  for (uint32_t i = 0; i < count; i++) assert_int_equal(elements[i], iso_piece_code(piece, others[i]));
}

static void same_ops(const isoproof_history *whole, const isoproof_history *range, const iso_range_map *map,
                     uint32_t *total) {
  iso_piece piece = iso_piece_of_range(range, map);
  for (uint32_t t = 0; t < range->txns; t++) {
    uint32_t at = whole->txn_first_op[map->number[t]] + map->place[t];
    assert_true(at + (range->txn_first_op[t + 1] - range->txn_first_op[t]) <= whole->txn_first_op[map->number[t] + 1]);
    for (uint32_t op = range->txn_first_op[t]; op < range->txn_first_op[t + 1]; op++, (*total)++)
      same_op(whole, at++, range, op, &piece);
  }
}

/* ---- reading ---- */

static isoproof_status feed_range(void *context, const char *lines, size_t size, isoproof_error *error) {
  return iso_range_feed(context, lines, size, error);
}

static isoproof_history *read_range(const char *path, const bytes *text, isoproof_format format, uint64_t from,
                                    uint64_t to, uint64_t *lines) {
  iso_range_reader reader;
  isoproof_history *history;
  isoproof_error error;
  const char *newline = memchr(text->data, '\n', text->count);
  size_t head = format == ISOPROOF_FORMAT_JSONL && from > 0 ? (size_t)(newline - text->data) + 1 : 0;
  assert_ok_error(iso_range_open(&reader, format, path, text->data, head, NULL, &error), error);
  assert_ok_error(iso_range_lines(path, from, to, true, feed_range, &reader, &error), error);
  assert_ok_error(iso_range_finish(&reader, &history, &error), error);
  *lines = reader.lines;
  iso_range_close(&reader);
  return history;
}

static void compare_ranges(const char *path, const bytes *text, isoproof_format format, size_t count) {
  isoproof_history *ranges[MOST_RANGES], *whole, *made;
  iso_merger merger;
  iso_bytes answers[MOST_RANGES] = {{.count = 0}};
  isoproof_error error;
  isoproof_open_options open = {.struct_size = sizeof open, .format = isoproof_format_at((size_t)format)->id};
  assert_ok_error(isoproof_history_open(path, &open, NULL, &whole, &error), error);
  assert_ok_error(iso_merger_init(&merger, format, path, count, &error), error);
  for (size_t i = 0; i < count; i++) {
    uint64_t lines;
    iso_bytes told = {.count = 0};
    ranges[i] = read_range(path, text, format, text->count * i / count, text->count * (i + 1) / count, &lines);
    iso_range_tell(ranges[i], lines, &told);
    assert_ok_error(iso_merger_add(&merger, &told, &error), error);
    iso_bytes_free(&told);
  }
  assert_ok_error(iso_merger_finish(&merger, NULL, &made, answers, &error), error);
  same_frame(whole, made);
  uint32_t total = 0;
  for (size_t i = 0; i < count; i++) {
    iso_range_map map;
    assert_ok_error(iso_range_hear(ranges[i], &answers[i], &map, &error), error);
    same_ops(whole, ranges[i], &map, &total);
    iso_range_map_free(&map);
    iso_bytes_free(&answers[i]);
    isoproof_history_free(ranges[i]);
  }
  assert_int_equal(total, whole->ops);
  iso_merger_free(&merger);
  isoproof_history_free(made);
  isoproof_history_free(whole);
}

static void ranges_are_the_whole(void **state) {
  (void)state;
  uint64_t random = 11;
  char path[SCRATCH_BYTES];
  int file = scratch_file(path);
  assert_true(file >= 0);
  for (int i = 0; i < UNLESS_SLOW(600, 100); i++) {
    bytes text = {NULL, 0, 0};
    const char *end = unit_below(&random, 4) == 0 ? "\r\n" : "\n";
    bool plume = i % 2 == 1, ended = unit_below(&random, 3) > 0;
    (plume ? draw_plume : draw_jsonl)(&text, &random, end);
    size_t shown = text.count - (ended ? 0 : strlen(end));
    text.count = memchr(text.data, '\n', shown) != NULL ? shown : text.count;
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(pwrite(file, text.data, text.count, 0), (ssize_t)text.count);
    compare_ranges(path, &text, plume ? ISOPROOF_FORMAT_PLUME : ISOPROOF_FORMAT_JSONL,
                   1 + unit_below(&random, MOST_RANGES));
    bytes_free(&text);
  }
  close(file);
  unlink(path);
}

#endif
