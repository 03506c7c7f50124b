/* The binary form: it says everything, and no damaged or hostile file does harm. */
#include <unistd.h>

#include "base/hash.h"
#include "format/binary.h"
#include "history/builder.h"
#include "tests/scratch.h"
#include "tests/unit/format/binary_shares.h"
#include "tests/unit/format/format_bytes.h"
#include "tests/unit/format/same_history.h"
#include "tests/unit/unit.h"

static iso_value text_code(isoproof_builder *b, isoproof_scalar_type type, const char *text) {
  iso_value value;
  assert_int_equal(iso_pool_add_text(iso_builder_pool(b), type, text, strlen(text), &value, NULL), ISOPROOF_OK);
  return value;
}

/* Two sessions with some of everything: lists that extend each other and one that does not, big numbers, texts. */
static isoproof_history *rich_history(void) {
  isoproof_builder *b;
  isoproof_history *history;
  uint32_t sessions[2];
  iso_value big, negative;
  assert_int_equal(isoproof_builder_new(&b, NULL), ISOPROOF_OK);
  iso_value name = text_code(b, ISOPROOF_STRING, "client \xc3\xa9"), keyword = text_code(b, ISOPROOF_KEYWORD, "x");
  assert_int_equal(iso_pool_add_u64(iso_builder_pool(b), UINT64_MAX, &big, NULL), ISOPROOF_OK);
  assert_int_equal(iso_pool_add_i64(iso_builder_pool(b), -5, &negative, NULL), ISOPROOF_OK);
  assert_int_equal(iso_builder_session(b, name, &sessions[0], NULL), ISOPROOF_OK);
  assert_int_equal(iso_builder_session(b, 3, &sessions[1], NULL), ISOPROOF_OK);
  const iso_value list[] = {1, 2, 3}, odd[] = {2, 1};
  for (uint32_t t = 0; t < 4; t++) {
    iso_txn_info info = iso_txn_unset();
    info.status = (isoproof_txn_status)(t % 3);
    info.has_id = true;
    info.id = 100 + t;
    info.start = 10 * t;
    info.end = t == 2 ? ISOPROOF_NO_TIME : 10 * (int64_t)t + 5;
    info.start_index = 2 * t;
    info.end_index = t == 2 ? -1 : 2 * (int64_t)t + 1;
    if (t == 3) info.isolation = ISO_ISOLATION_SERIALIZABLE;
    if (t == 1) info.node = text_code(b, ISOPROOF_STRING, "node-a"), info.error = text_code(b, ISOPROOF_SYMBOL, "1.5");
    assert_int_equal(iso_builder_begin(b, sessions[t / 2], &info, NULL, NULL), ISOPROOF_OK);
    assert_int_equal(iso_builder_op(b, ISOPROOF_OP_WRITE, keyword, big, NULL), ISOPROOF_OK);
    assert_int_equal(iso_builder_op(b, ISOPROOF_OP_READ, keyword, t == 3 ? ISO_VALUE_NONE : ISO_VALUE_NIL, NULL), 0);
    assert_int_equal(iso_builder_op(b, ISOPROOF_OP_APPEND, 8, t, NULL), ISOPROOF_OK);
    assert_int_equal(iso_builder_list(b, ISOPROOF_OP_READ_LIST, 8, list, t, NULL), ISOPROOF_OK);
    assert_int_equal(iso_builder_op(b, ISOPROOF_OP_INCREMENT, 9, negative, NULL), ISOPROOF_OK);
  }
  assert_int_equal(iso_builder_list(b, ISOPROOF_OP_READ_LIST, 8, odd, 2, NULL), ISOPROOF_OK);
  assert_int_equal(iso_builder_op(b, ISOPROOF_OP_READ_LIST, 8, ISO_VALUE_NIL, NULL), ISOPROOF_OK);
  assert_int_equal(iso_builder_fact(b, "seed", "42", 2, NULL), ISOPROOF_OK);
  assert_int_equal(isoproof_builder_finish(b, &history, NULL), ISOPROOF_OK);
  isoproof_builder_free(b);
  return history;
}

static bytes packed(const isoproof_history *history) {
  bytes out = {NULL, 0, 0};
  isoproof_error error = {0};
  isoproof_status status =
      isoproof_history_write_to(history, ISOPROOF_FORMAT_BINARY, bytes_put, &out, NULL, NULL, NULL, &error);
  if (status != ISOPROOF_OK) fail_msg("%s", error.message);
  return out;
}

static void test_says_everything(void **state) {
  (void)state;
  isoproof_history *history = rich_history(), *again;
  bytes b = packed(history);
  isoproof_error error = {0};
  assert_int_equal(open_bytes(b.data, b.count, NULL, &again, &error), ISOPROOF_OK);
  assert_string_equal(isoproof_history_format(again), "binary");
  same_history(history, again, (same_options){0}, "binary");
  assert_string_equal(isoproof_history_fact(again, "seed"), "42");
  isoproof_txn txn = {.struct_size = sizeof txn};
  assert_true(isoproof_history_txn_at(again, 1, &txn));
  assert_int_equal(txn.id, 101);
  assert_int_equal(txn.node.length, 6);
  assert_memory_equal(txn.node.text, "node-a", 6);
  assert_int_equal(txn.error.type, ISOPROOF_SYMBOL);
  touch_history(again);
  bytes b2 = packed(again);
  assert_int_equal(b.count, b2.count);
  assert_memory_equal(b.data, b2.data, b.count);
  isoproof_history_free(again);
  isoproof_history_free(history);
  bytes_free(&b), bytes_free(&b2);
}

static void test_mapped_and_compressed(void **state) {
  (void)state;
  isoproof_history *history = rich_history(), *again;
  isoproof_error error = {0};
  static const isoproof_compression ways[] = {ISOPROOF_COMPRESS_NO, ISOPROOF_COMPRESS_GZIP, ISOPROOF_COMPRESS_ZSTD};
  for (size_t i = 0; i < 3; i++) {
    char path[SCRATCH_BYTES];
    close(scratch_file(path));
    isoproof_write_options options = {.struct_size = sizeof options, .compression = ways[i]};
    assert_int_equal(isoproof_history_write(history, ISOPROOF_FORMAT_BINARY, path, &options, NULL, NULL, &error), 0);
    assert_int_equal(isoproof_history_open(path, NULL, NULL, &again, &error), ISOPROOF_OK);
    unlink(path);
    same_history(history, again, (same_options){0}, "binary file");
    touch_history(again);
    isoproof_history_free(again);
  }
  isoproof_history_free(history);
}

static void test_empty_history(void **state) {
  (void)state;
  isoproof_builder *builder;
  isoproof_history *history, *again;
  isoproof_error error = {0};
  assert_int_equal(isoproof_builder_new(&builder, NULL), ISOPROOF_OK);
  assert_int_equal(isoproof_builder_finish(builder, &history, NULL), ISOPROOF_OK);
  isoproof_builder_free(builder);
  bytes b = packed(history);
  assert_int_equal(open_bytes(b.data, b.count, NULL, &again, &error), ISOPROOF_OK);
  touch_history(again);
  isoproof_history_free(again);
  isoproof_history_free(history);
  bytes_free(&b);
}

static void test_truncated_everywhere(void **state) {
  (void)state;
  isoproof_history *history = rich_history(), *again;
  bytes b = packed(history);
  for (size_t cut = 0; cut < b.count; cut++) {
    assert_int_equal(open_bytes(b.data, cut, "binary", &again, NULL), ISOPROOF_ERR_FORMAT);
  }
  put_byte(&b, 0);
  assert_int_equal(open_bytes(b.data, b.count, "binary", &again, NULL), ISOPROOF_ERR_FORMAT);
  isoproof_history_free(history);
  bytes_free(&b);
}

static void test_flipped_everywhere(void **state) {
  (void)state;
  isoproof_history *history = rich_history(), *again;
  bytes b = packed(history);
  size_t unnoticed = 0;
  for (size_t i = 0; i < b.count; i += UNIT_STEP) {
    for (int bit = 0; bit < 8; bit++) {
      b.data[i] = (char)(b.data[i] ^ 1 << bit);
      if (open_bytes(b.data, b.count, "binary", &again, NULL) == ISOPROOF_OK) {
        same_history(history, again, (same_options){0}, "flipped"); /* only padding may change unnoticed */
        unnoticed++;
        isoproof_history_free(again);
      }
      b.data[i] = (char)(b.data[i] ^ 1 << bit);
    }
  }
  assert_true(unnoticed < b.count * 8 / 2);
  isoproof_history_free(history);
  bytes_free(&b);
}

/* Makes the checksums right again, where that is possible. */
static void forge(bytes *b) {
  iso_binary_header header;
  memcpy(&header, b->data, sizeof header);
  uint64_t table_bytes = header.section_count * (uint64_t)sizeof(iso_binary_section);
  if (sizeof header + table_bytes > b->count) return;
  iso_binary_section *table = malloc(table_bytes > 0 ? table_bytes : 1);
  assert_non_null(table);
  memcpy(table, b->data + sizeof header, table_bytes);
  for (uint32_t i = 0; i < header.section_count; i++) {
    if (table[i].offset > b->count || table[i].bytes > b->count - table[i].offset) continue;
    table[i].checksum = iso_hash_bytes(b->data + table[i].offset, table[i].bytes, 0);
  }
  header.checksum = iso_binary_header_checksum(&header, table);
  memcpy(b->data, &header, sizeof header);
  memcpy(b->data + sizeof header, table, table_bytes);
  free(table);
}

/* Right checksums around wrong contents: validation alone must hold. */
static void test_forged_everywhere(void **state) {
  (void)state;
  static const int changes[] = {0x01, 0x02, 0x04, 0x80, 0xff, 0x7f};
  isoproof_history *history = rich_history(), *again;
  bytes b = packed(history), copy = {NULL, 0, 0};
  size_t accepted = 0, refused = 0;
  for (size_t i = 0; i < b.count; i += UNIT_STEP) {
    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
      copy.count = 0;
      bytes_put(&copy, b.data, b.count);
      copy.data[i] = (char)(copy.data[i] ^ changes[c]);
      forge(&copy);
      if (open_bytes(copy.data, copy.count, "binary", &again, NULL) == ISOPROOF_OK) {
        touch_history(again);
        isoproof_history_free(again);
        accepted++;
      } else {
        refused++;
      }
    }
  }
  print_message("%zu accepted, %zu refused\n", accepted, refused);
  assert_true(refused > accepted / 4);
  isoproof_history_free(history);
  bytes_free(&b), bytes_free(&copy);
}

/* What several processes check is what one does: every byte is changed once, with checksums that are right and wrong.
 */
static void test_shares(void **state) {
  (void)state;
  static const int changes[] = {0x01, 0x02, 0x04, 0x80, 0xff, 0x7f};
  isoproof_history *history = rich_history(), *again;
  bytes b = packed(history), copy = {NULL, 0, 0};
  char path[SCRATCH_BYTES];
  int file = scratch_file(path);
  size_t accepted = 0;
  assert_true(file >= 0);
  for (size_t i = 0; i <= b.count; i++) {
    copy.count = 0;
    bytes_put(&copy, b.data, b.count);
    if (i > 0) copy.data[i - 1] = (char)(copy.data[i - 1] ^ changes[i % 6]);
    if (i % 4 != 0) forge(&copy);
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(pwrite(file, copy.data, copy.count, 0), (ssize_t)copy.count);
    bool good = open_bytes(copy.data, copy.count, "binary", &again, NULL) == ISOPROOF_OK;
    if (good) isoproof_history_free(again);
    if (good_in_shares(path, 1 + (uint32_t)(i % 5)) != good) fail_msg("change %zu: %d as a whole", i, good);
    accepted += good;
  }
  assert_true(accepted > 0 && accepted < b.count);
  close(file);
  unlink(path);
  isoproof_history_free(history);
  bytes_free(&b), bytes_free(&copy);
}

/* Every kind of thing that is done to rows. */
static isoproof_history *row_history(void) {
  static const char text[] =
      "{\"isoproof\":1,\"initial\":null}\n"
      "{\"initial_rows\":[[1,10,{\"n\":5,\"t\":\"red\"}],[2,-20]]}\n"
      "{\"row_names\":[[1,\"accounts[id=1]\"],[4,\"accounts[id=4]\"],[77,\"nobody\"]]}\n"
      "{\"session\":0,\"status\":\"committed\",\"ops\":[[\"rp\",{},[[1,10],[2,-20]]],[\"insert\",3,30],"
      "[\"delete\",1,null]]}\n"
      "{\"session\":0,\"status\":\"committed\",\"ops\":[[\"rp\",{\"keys\":[7,9]},{\"none\":true}],"
      "[\"missed-update\",4,null]]}\n"
      "{\"session\":1,\"status\":\"aborted\",\"ops\":[[\"count\",{\"values\":[0,25]},1],[\"update\",2,21],"
      "[\"upsert\",4,40],[\"rp\",{\"keys\":[1,3],\"mod\":[3,0]},[[3,30]]],[\"count\",{\"keys\":[4,4]},0],"
      "[\"missed-delete\",5,null]]}\n"
      "{\"session\":1,\"status\":\"committed\",\"name\":\"move\",\"statements\":[1,2,0,1],\"ops\":[[\"rp\",{\"keys\":["
      "0,9],\"where\":["
      "[\"n\",\"<\",6],[\"t\",\"in\",[\"red\",\"blue\"]]]},[[1,10]]],[\"update\",1,11,{\"n\":-7000000000,\"t\":null}],"
      "[\"rp\",{\"where\":[[\"t\",\"is "
      "null\"],[\"n\",\"<>\",7]]},[[1,11]]],[\"count\",{\"where\":[[\"n\",\">=\",5]]},0]]}\n";
  isoproof_history *history;
  isoproof_error error = {0};
  if (open_bytes(text, sizeof text - 1, "jsonl", &history, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
  return history;
}

static bytes as_text(const isoproof_history *history) {
  bytes out = {NULL, 0, 0};
  isoproof_error error = {0};
  isoproof_status status =
      isoproof_history_write_to(history, ISOPROOF_FORMAT_JSONL, bytes_put, &out, NULL, NULL, NULL, &error);
  if (status != ISOPROOF_OK) fail_msg("%s", error.message);
  return out;
}

/* Rows survive, and what is accepted of a forged file can be written and read again. */
static void test_rows(void **state) {
  (void)state;
  static const int changes[] = {0x01, 0x02, 0x04, 0x80, 0xff, 0x7f};
  isoproof_history *history = row_history(), *again, *third;
  bytes b = packed(history), copy = {NULL, 0, 0}, text = as_text(history);
  assert_int_equal(open_bytes(b.data, b.count, "binary", &again, NULL), ISOPROOF_OK);
  bytes same = as_text(again);
  assert_int_equal(text.count, same.count);
  assert_memory_equal(text.data, same.data, text.count);
  isoproof_history_free(again);
  bytes_free(&same);
  for (size_t i = 0; i < 6 * b.count; i += UNIT_STEP) {
    copy.count = 0;
    bytes_put(&copy, b.data, b.count);
    copy.data[i / 6] = (char)(copy.data[i / 6] ^ changes[i % 6]);
    forge(&copy);
    if (open_bytes(copy.data, copy.count, "binary", &again, NULL) != ISOPROOF_OK) continue;
    touch_history(again);
    same = as_text(again);
    assert_int_equal(open_bytes(same.data, same.count, "jsonl", &third, NULL), ISOPROOF_OK);
    isoproof_history_free(third);
    bytes_free(&same);
    isoproof_history_free(again);
  }
  isoproof_history_free(history);
  bytes_free(&b), bytes_free(&copy), bytes_free(&text);
}

/* Sets 32 bits of a section's element and says what must come of it. */
static void expect_forged(const bytes *b, uint32_t section, size_t at, const void *value, size_t size,
                          const char *words) {
  bytes copy = {NULL, 0, 0};
  iso_binary_header header;
  iso_binary_section entry = {0};
  bytes_put(&copy, b->data, b->count);
  memcpy(&header, b->data, sizeof header);
  for (uint32_t i = 0; i < header.section_count && entry.number != section; i++) {
    memcpy(&entry, b->data + sizeof header + i * sizeof entry, sizeof entry);
  }
  assert_int_equal(entry.number, section);
  assert_true(at + size <= entry.bytes);
  memcpy(copy.data + entry.offset + at, value, size);
  forge(&copy);
  expect_refused(&copy, "binary", ISOPROOF_ERR_FORMAT, words);
  bytes_free(&copy);
}

static void test_forged_fields(void **state) {
  (void)state;
  isoproof_history *history = rich_history();
  bytes b = packed(history);
  const uint32_t huge = 0x7ffffff0, interned = 0x80001000, one = 1;
  const uint8_t kind = 200;
  const uint64_t far = UINT64_C(1) << 60;
  expect_forged(&b, ISO_SECTION_OP_KIND, 2, &kind, 1, "OP_KIND, element 2: expected a known kind");
  expect_forged(&b, ISO_SECTION_OP_KEY, 8, &huge, 4, "OP_KEY, element 2: expected the number of a key");
  expect_forged(&b, ISO_SECTION_OP_VALUE, 0, &interned, 4, "OP_VALUE, element 0");
  expect_forged(&b, ISO_SECTION_OP_VALUE, 12, &huge, 4, "OP_VALUE, element 3");     /* longer than the list */
  expect_forged(&b, ISO_SECTION_OP_VALUE, 12, &interned, 4, "OP_VALUE, element 3"); /* no such odd list */
  expect_forged(&b, ISO_SECTION_TXN_FIRST_OP, 0, &one, 4, "TXN_FIRST_OP, element 0: expected 0");
  expect_forged(&b, ISO_SECTION_TXN_FIRST_OP, 4, &huge, 4, "TXN_FIRST_OP, element 2");
  expect_forged(&b, ISO_SECTION_TXN_FIRST_OP, 16, &huge, 4, "TXN_FIRST_OP, element 4");
  expect_forged(&b, ISO_SECTION_TXN_SESSION, 0, &one, 4, "TXN_SESSION, element 0");
  expect_forged(&b, ISO_SECTION_TXN_STATUS, 1, &kind, 1, "TXN_STATUS, element 1");
  expect_forged(&b, ISO_SECTION_TXN_ISOLATION, 3, &kind, 1, "TXN_ISOLATION, element 3");
  expect_forged(&b, ISO_SECTION_TXN_NODE, 4, &interned, 4, "TXN_NODE, element 1");
  expect_forged(&b, ISO_SECTION_SESSION_FIRST_TXN, 4, &huge, 4, "SESSION_FIRST_TXN");
  expect_forged(&b, ISO_SECTION_SESSION_NAME, 4, &interned, 4, "SESSION_NAME, element 1");
  expect_forged(&b, ISO_SECTION_KEY_NAME, 0, &interned, 4, "KEY_NAME, element 0");
  expect_forged(&b, ISO_SECTION_LIST_FIRST, 8, &far, 8, "LIST_FIRST, element 1");
  expect_forged(&b, ISO_SECTION_LIST_VALUES, 0, &interned, 4, "LIST_VALUES, element 0");
  expect_forged(&b, ISO_SECTION_ODD_FIRST, 8, &far, 8, "ODD_FIRST, element 1");
  expect_forged(&b, ISO_SECTION_ODD_VALUES, 4, &interned, 4, "ODD_VALUES, element 1");
  expect_forged(&b, ISO_SECTION_POOL_ENTRIES, 0, &far, 8, "POOL_ENTRIES, element 0");
  expect_forged(&b, ISO_SECTION_POOL_ENTRIES, 8, &huge, 4, "POOL_ENTRIES, element 0");
  expect_forged(&b, ISO_SECTION_POOL_TEXT, 0, "\xff", 1, "POOL_ENTRIES, element 0");
  expect_forged(&b, ISO_SECTION_FACTS, 0, &one, 4, "FACTS, element 0");
  isoproof_history_free(history);
  bytes_free(&b);
}

/* Two sessions, keys, texts and facts whose names differ in one letter; a keyword that is spelled like a string. */
static isoproof_history *twin_history(void) {
  isoproof_builder *b;
  isoproof_history *history;
  uint32_t session;
  iso_txn_info info = iso_txn_unset();
  assert_int_equal(isoproof_builder_new(&b, NULL), ISOPROOF_OK);
  const iso_value names[] = {text_code(b, ISOPROOF_STRING, "aa"), text_code(b, ISOPROOF_STRING, "ab"),
                             text_code(b, ISOPROOF_KEYWORD, "aa")};
  iso_value numbers[2];
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(iso_pool_add_i64(iso_builder_pool(b), -1 - (int64_t)i, &numbers[i], NULL), ISOPROOF_OK);
  }
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(iso_builder_session(b, names[i], &session, NULL), ISOPROOF_OK);
    assert_int_equal(iso_builder_begin(b, session, &info, NULL, NULL), ISOPROOF_OK);
    assert_int_equal(iso_builder_op(b, ISOPROOF_OP_WRITE, names[i], numbers[i % 2], NULL), ISOPROOF_OK);
  }
  assert_int_equal(iso_builder_fact(b, "aa", "1", 1, NULL), ISOPROOF_OK);
  assert_int_equal(iso_builder_fact(b, "ab", "1", 1, NULL), ISOPROOF_OK);
  assert_int_equal(isoproof_builder_finish(b, &history, NULL), ISOPROOF_OK);
  isoproof_builder_free(b);
  return history;
}

/* Numbers stand for names only while no name has two. */
/* Where the initial version is 0, a read of it is one of nil: a read of 0 beside that would see what nobody expects. */
static void test_forged_zero(void **state) {
  (void)state;
  const char text[] = "{\"isoproof\":1,\"initial\":0}\n"
                      "{\"session\":1,\"status\":\"committed\",\"ops\":[[\"r\",1,0],[\"w\",1,0],[\"w\",1,2]]}\n";
  isoproof_history *history, *again;
  assert_int_equal(open_bytes(text, sizeof text - 1, "jsonl", &history, NULL), ISOPROOF_OK);
  bytes b = packed(history);
  assert_int_equal(open_bytes(b.data, b.count, "binary", &again, NULL), ISOPROOF_OK);
  isoproof_history_free(again);
  const uint32_t zero = 0;
  expect_forged(&b, ISO_SECTION_OP_VALUE, 0, &zero, 4, "OP_VALUE, element 0: expected nil");
  isoproof_history_free(history);
  bytes_free(&b);
}

static void test_forged_twins(void **state) {
  (void)state;
  isoproof_history *history = twin_history(), *again;
  bytes b = packed(history);
  isoproof_error error = {0};
  assert_int_equal(open_bytes(b.data, b.count, "binary", &again, &error), ISOPROOF_OK);
  same_history(history, again, (same_options){0}, "twins");
  isoproof_history_free(again);
  const iso_value first = ISO_VALUE_INTERNED, second = ISO_VALUE_INTERNED | 1;
  const uint32_t zero = 0;
  const int64_t number = -1;
  expect_forged(&b, ISO_SECTION_SESSION_NAME, 4, &first, 4,
                "SESSION_NAME, element 1: expected a name of its own, found the same as in element 0");
  expect_forged(&b, ISO_SECTION_KEY_NAME, 8, &second, 4,
                "KEY_NAME, element 2: expected a name of its own, found the same as in element 1");
  expect_forged(&b, ISO_SECTION_FACTS, 8, &first, 4,
                "FACTS, element 1: expected a name of its own, found the same as in element 0");
  expect_forged(&b, ISO_SECTION_POOL_TEXT, 4, "a", 1,
                "POOL_ENTRIES, element 1: expected a scalar of its own, found the same as in element 0");
  expect_forged(&b, ISO_SECTION_POOL_ENTRIES, 4 * sizeof(iso_pool_entry), &number, 8,
                "POOL_ENTRIES, element 4: expected a scalar of its own, found the same as in element 3");
  expect_forged(&b, ISO_SECTION_OP_KEY, 4, &zero, 4, "KEY_NAME, element 1: expected a key that an operation has");
  isoproof_history_free(history);
  bytes_free(&b);
}

/* Names of facts and files are handed out as C strings. */
static void test_forged_terminators(void **state) {
  (void)state;
  isoproof_history *history = twin_history();
  bytes b = packed(history);
  const uint32_t length = 3;
  expect_forged(&b, ISO_SECTION_POOL_TEXT, 2, "x", 1, "POOL_ENTRIES, element 0: expected a large number, or a termin");
  expect_forged(&b, ISO_SECTION_POOL_TEXT, history->pool.text_bytes - 1, "x", 1, "POOL_ENTRIES, element 5");
  expect_forged(&b, ISO_SECTION_POOL_ENTRIES, 8, &length, 4, "POOL_ENTRIES, element 0");
  expect_forged(&b, ISO_SECTION_POOL_ENTRIES, 5 * sizeof(iso_pool_entry) + 8, &length, 4, "POOL_ENTRIES, element 5");
  isoproof_history_free(history);
  bytes_free(&b);
}

/* More entries than are hashed ahead, all different but for the last. */
static void test_forged_in_a_large_pool(void **state) {
  (void)state;
  enum { ENTRIES = 5000 };
  isoproof_builder *b;
  isoproof_history *history, *again;
  uint32_t session;
  iso_txn_info info = iso_txn_unset();
  assert_int_equal(isoproof_builder_new(&b, NULL), ISOPROOF_OK);
  assert_int_equal(iso_builder_session(b, 0, &session, NULL), ISOPROOF_OK);
  assert_int_equal(iso_builder_begin(b, session, &info, NULL, NULL), ISOPROOF_OK);
  for (int64_t i = 0; i < ENTRIES; i++) {
    iso_value value;
    assert_int_equal(iso_pool_add_i64(iso_builder_pool(b), -1 - i, &value, NULL), ISOPROOF_OK);
    assert_int_equal(iso_builder_op(b, ISOPROOF_OP_WRITE, 0, value, NULL), ISOPROOF_OK);
  }
  assert_int_equal(isoproof_builder_finish(b, &history, NULL), ISOPROOF_OK);
  isoproof_builder_free(b);
  bytes out = packed(history);
  assert_int_equal(open_bytes(out.data, out.count, "binary", &again, NULL), ISOPROOF_OK);
  isoproof_history_free(again);
  const int64_t number = -1234;
  expect_forged(&out, ISO_SECTION_POOL_ENTRIES, (ENTRIES - 1) * sizeof(iso_pool_entry), &number, 8,
                "POOL_ENTRIES, element 4999: expected a scalar of its own, found the same as in element 1233");
  isoproof_history_free(history);
  bytes_free(&out);
}

static void test_forged_header(void **state) {
  (void)state;
  isoproof_history *history = rich_history();
  bytes b = packed(history);
  iso_binary_header good, h;
  memcpy(&good, b.data, sizeof good);
  static const struct {
    size_t offset, size;
    uint64_t value;
    const char *words;
  } cases[] = {
      {offsetof(iso_binary_header, version), 4, 2, "expected version 1"},
      {offsetof(iso_binary_header, endian), 4, 0x04030201, "byte order"},
      {offsetof(iso_binary_header, file_bytes), 8, UINT64_MAX, "truncated"},
      {offsetof(iso_binary_header, section_count), 4, 0xffffffff, "sections"},
      {offsetof(iso_binary_header, section_count), 4, 3, "expected the end after the last section"},
      {offsetof(iso_binary_header, ops), 4, 0xffffffff, "limits"},
      {offsetof(iso_binary_header, ops), 4, 0xfffffff0, "expected section OP_KIND to have 4294967280 bytes"},
      {offsetof(iso_binary_header, keys), 4, 0, "expected section KEY_NAME"},
      {offsetof(iso_binary_header, list_values), 8, UINT64_MAX, "limits"},
      {offsetof(iso_binary_header, list_values), 8, UINT64_C(1) << 61, "limits"},
      {offsetof(iso_binary_header, flags), 4, 2, "limits"},
      {offsetof(iso_binary_header, statements), 4, 1, "expected a section STATEMENTS"},
      {offsetof(iso_binary_header, padding) + 23, 1, 1, "reserved"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    h = good;
    memcpy((char *)&h + cases[i].offset, &cases[i].value, cases[i].size);
    memcpy(b.data, &h, sizeof h);
    forge(&b);
    expect_refused(&b, "binary", ISOPROOF_ERR_FORMAT, cases[i].words);
  }
  isoproof_history_free(history);
  bytes_free(&b);
}

/* Large enough for several threads. */
static void test_large(void **state) {
  (void)state;
  enum { TXNS = 40000, OPS = 10 };
  isoproof_builder *b;
  isoproof_history *history, *again;
  isoproof_task *task;
  isoproof_error error = {0};
  uint32_t session;
  assert_int_equal(isoproof_builder_new(&b, NULL), ISOPROOF_OK);
  for (uint32_t t = 0; t < TXNS; t++) {
    iso_txn_info info = iso_txn_unset();
    uint8_t kinds[OPS];
    uint64_t keys[OPS], values[OPS];
    for (uint32_t i = 0; i < OPS; i++) {
      kinds[i] = i % 2 ? ISOPROOF_OP_WRITE : ISOPROOF_OP_READ;
      keys[i] = (t * 7 + i) % 1000;
      values[i] = (uint64_t)t * OPS + i + 1;
    }
    assert_int_equal(iso_builder_session(b, t / 10000, &session, NULL), ISOPROOF_OK);
    assert_int_equal(iso_builder_begin(b, session, &info, NULL, NULL), ISOPROOF_OK);
    assert_int_equal(iso_builder_bulk(b, kinds, keys, values, OPS, NULL), ISOPROOF_OK);
  }
  assert_int_equal(isoproof_builder_finish(b, &history, NULL), ISOPROOF_OK);
  isoproof_builder_free(b);
  bytes packed_bytes = packed(history);
  assert_int_equal(isoproof_task_new(&task), ISOPROOF_OK);
  isoproof_task_set_threads(task, 4);
  assert_int_equal(
      isoproof_history_open_memory(packed_bytes.data, packed_bytes.count, "large", NULL, task, &again, &error),
      ISOPROOF_OK);
  same_history(history, again, (same_options){0}, "large");
  isoproof_history_free(again);
  const uint32_t interned = 0x80000000;
  expect_forged(&packed_bytes, ISO_SECTION_OP_VALUE, 4 * (size_t)(TXNS * OPS - 3), &interned, 4,
                "OP_VALUE, element 399997");
  packed_bytes.data[packed_bytes.count / 2] ^= 1;
  assert_int_equal(
      isoproof_history_open_memory(packed_bytes.data, packed_bytes.count, "large", NULL, task, &again, &error),
      ISOPROOF_ERR_FORMAT);
  assert_non_null(strstr(error.message, "checksum of section"));
  packed_bytes.data[packed_bytes.count / 2] ^= 1;
  isoproof_task_cancel(task);
  assert_int_equal(
      isoproof_history_open_memory(packed_bytes.data, packed_bytes.count, "large", NULL, task, &again, &error),
      ISOPROOF_ERR_CANCELLED);
  isoproof_task_free(task);
  isoproof_history_free(history);
  bytes_free(&packed_bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_says_everything),
                                     cmocka_unit_test(test_mapped_and_compressed),
                                     cmocka_unit_test(test_empty_history),
                                     cmocka_unit_test(test_truncated_everywhere),
                                     cmocka_unit_test(test_flipped_everywhere),
                                     cmocka_unit_test(test_forged_everywhere),
                                     cmocka_unit_test(test_shares),
                                     cmocka_unit_test(test_rows),
                                     cmocka_unit_test(test_forged_fields),
                                     cmocka_unit_test(test_forged_zero),
                                     cmocka_unit_test(test_forged_twins),
                                     cmocka_unit_test(test_forged_terminators),
                                     cmocka_unit_test(test_forged_in_a_large_pool),
                                     cmocka_unit_test(test_forged_header),
                                     cmocka_unit_test(test_large)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
