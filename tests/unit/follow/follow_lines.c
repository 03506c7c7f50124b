/* Whether a line is complete in itself: what is said of many bytes at a time is what a look at each byte says. */
#include "follow/line.h"
#include "tests/unit/unit.h"

enum { ROUNDS = 200000, LONGEST = 300 };

/* Byte by byte; *special: there is one that takes a closer look. */
static bool is_closed(const char *bytes, size_t size, bool *special) {
  int depth = 0;
  bool in_string = false;
  *special = false;
  for (size_t i = 0; i < size; i++) {
    *special |= bytes[i] == '\\' || bytes[i] == ';';
    if (bytes[i] == '"') in_string = !in_string;
    if (in_string || bytes[i] == '\0') continue;
    depth += strchr("{[(", bytes[i]) != NULL;
    depth -= strchr("}])", bytes[i]) != NULL;
  }
  return depth == 0 && !in_string;
}

/* Mostly lines that are nearly closed: pairs, of which now and then a half is missing. */
static size_t draw(uint64_t *random, char *bytes) {
  static const char *const pieces[] = {"{}",  "[]",       "()", "\"a\"", "\"{\"", "\"](\"", "[\"r\",1,null]",
                                       "abc", "\x7f\xff;"};
  static const char *const halves[] = {"{", "]", "\"", "\\", ")", "("};
  size_t size = 0, wanted = (size_t)unit_below(random, LONGEST);
  while (size < wanted) {
    uint64_t kind = unit_below(random, 100);
    const char *piece = kind == 0 ? halves[unit_below(random, 6)] : pieces[unit_below(random, kind == 1 ? 9 : 8)];
    size_t length = strlen(piece);
    memcpy(bytes + size, piece, length);
    size += length;
  }
  return size;
}

static void agrees_with_every_byte(void **state) {
  (void)state;
  uint64_t random = 20261116, closed = 0;
  char bytes[LONGEST + 16];
  for (int i = 0; i < ROUNDS; i++) {
    size_t size = draw(&random, bytes);
    bool special, is = is_closed(bytes, size, &special), said = iso_line_is_closed(bytes, size);
    if (said && (special || !is)) fail_msg("closed, it says: %.*s", (int)size, bytes);
#ifdef __SSE2__
    if (!said && is && !special) fail_msg("not closed, it says: %.*s", (int)size, bytes);
#endif
    closed += is;
  }
  assert_in_range(closed, ROUNDS / 10, ROUNDS - ROUNDS / 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_every_byte)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
