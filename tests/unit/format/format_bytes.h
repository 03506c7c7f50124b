/* format_bytes.h - for tests of formats: growing byte strings, and opening them as histories.
 * A byte string owns its data until bytes_free. */
#ifndef TEST_FORMAT_BYTES_H
#define TEST_FORMAT_BYTES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <isoproof/isoproof.h>

typedef struct bytes {
  char *data;
  size_t count, capacity;
} bytes;

static inline bool bytes_put(void *user, const void *data, size_t size) {
  bytes *b = user;
  if (b->count + size > b->capacity) {
    b->capacity = 2 * (b->count + size);
    b->data = realloc(b->data, b->capacity);
    if (b->data == NULL) return false;
  }
  if (size > 0) memcpy(b->data + b->count, data, size);
  b->count += size;
  return true;
}

static inline void bytes_free(bytes *b) {
  free(b->data);
  *b = (bytes){NULL, 0, 0};
}

static inline void put_byte(bytes *b, int byte) {
  char c = (char)byte;
  bytes_put(b, &c, 1);
}

static inline void put_little64(bytes *b, uint64_t number) {
  for (int i = 0; i < 8; i++) put_byte(b, (int)(number >> (8 * i) & 255));
}

static inline void put_big64(bytes *b, uint64_t number) {
  for (int i = 7; i >= 0; i--) put_byte(b, (int)(number >> (8 * i) & 255));
}

/* Opens a copy that ends at the end of its allocation, so that a sanitizer sees every read beyond it. */
static inline isoproof_status open_bytes(const char *data, size_t size, const char *format, isoproof_history **history,
                                         isoproof_error *error) {
  char *copy = malloc(size > 0 ? size : 1);
  assert_non_null(copy);
  if (size > 0) memcpy(copy, data, size);
  isoproof_open_options options = {.struct_size = sizeof options, .format = format};
  isoproof_status status = isoproof_history_open_memory(copy, size, "test", &options, NULL, history, error);
  free(copy);
  return status;
}

/* Looks at everything in a history, so that a sanitizer sees what is wrong with it. */
static inline uint64_t touch_history(isoproof_history *history) {
  uint64_t sum = 0;
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  char text[64];
  for (uint64_t s = 0; s < counts.sessions; s++) {
    isoproof_session session = {.struct_size = sizeof session};
    assert_true(isoproof_history_session_at(history, s, &session));
    sum += isoproof_scalar_format(session.name, text, sizeof text);
  }
  for (uint64_t t = 0; t < counts.transactions; t++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    assert_true(isoproof_history_txn_at(history, t, &txn));
    sum += isoproof_scalar_format(txn.node, text, sizeof text) + isoproof_scalar_format(txn.error, text, sizeof text);
    sum += isoproof_history_txn_name(history, t, text, sizeof text);
  }
  for (uint64_t o = 0; o < counts.operations; o++) {
    isoproof_op op = {.struct_size = sizeof op};
    isoproof_position position;
    isoproof_scalar element;
    assert_true(isoproof_history_op_at(history, o, &op));
    sum += isoproof_scalar_format(op.key, text, sizeof text) + isoproof_scalar_format(op.value, text, sizeof text);
    for (uint64_t i = 0; i < op.element_count; i++) {
      assert_true(isoproof_history_element_at(history, o, i, &element));
      sum += isoproof_scalar_format(element, text, sizeof text);
    }
    (void)isoproof_history_position_of(history, o, &position);
  }
  (void)isoproof_history_fact(history, "seed");
  isoproof_resolution resolution = {.struct_size = sizeof resolution};
  assert_int_equal(isoproof_history_resolve(history, NULL, &resolution, NULL), ISOPROOF_OK);
  return sum + resolution.reads;
}

/* The input must be refused with that status and with these words in the message. */
static inline void expect_refused(const bytes *b, const char *format, isoproof_status status, const char *words) {
  isoproof_error error = {0};
  isoproof_history *history;
  assert_int_equal(open_bytes(b->data, b->count, format, &history, &error), status);
  assert_null(history);
  if (strstr(error.message, words) == NULL) fail_msg("expected '%s' in '%s'", words, error.message);
}

/* Where the shared data is; NULL (and a note) when it is not there. */
static inline const char *shared_corpus(void) {
  static char path[1024];
  const char *shared = getenv("ISOPROOF_SHARED");
  if (shared != NULL) {
    snprintf(path, sizeof path, "%s/data/corpus", shared);
  } else {
    snprintf(path, sizeof path, "%s/../shared/data/corpus", ISOPROOF_SOURCE_ROOT);
  }
  char manifest[1100];
  snprintf(manifest, sizeof manifest, "%s/MANIFEST.tsv", path);
  FILE *file = fopen(manifest, "r");
  if (file == NULL) {
    print_message("skipped: no corpus at %s\n", path);
    return NULL;
  }
  fclose(file);
  return path;
}

#endif
