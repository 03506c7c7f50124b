/* expectation.c - whether an invariant returned what it must, and both in words. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "base/words.h"
#include "script/script.h"

enum { MOST_ROWS = 10, MOST_CELL = 100 };

static const char *const signs[] = {
#define ISO_X(name, sign) sign,
    ISO_EXPECT_LIST(ISO_X)
#undef ISO_X
};

/* The text of a cell, or what its variable is. */
static const char *text_of(const iso_expected_cell *cell, const iso_script_variables *variables) {
  const char *name = cell->text + 1;
  if (cell->text[0] != ':') return cell->text;
  const iso_script_variable *found = iso_script_variable_find(variables, name, strlen(name));
  return found != NULL ? found->text : cell->text;
}

/* -1, 0, 1 as numbers; false when one of them is none. */
static bool compare_numbers(const char *a, const char *b, int *order) {
  int64_t i, k;
  if (iso_parse_i64(a, strlen(a), &i) && iso_parse_i64(b, strlen(b), &k)) {
    *order = (i > k) - (i < k);
    return true;
  }
  iso_script_value x, y;
  if (!iso_script_read_value(a, &x) || !iso_script_read_value(b, &y)) return false;
  bool numbers = (x.type == ISO_SCRIPT_INTEGER || x.type == ISO_SCRIPT_DOUBLE) &&
                 (y.type == ISO_SCRIPT_INTEGER || y.type == ISO_SCRIPT_DOUBLE);
  if (!numbers) return false;
  double d = x.type == ISO_SCRIPT_DOUBLE ? x.real : (double)x.integer;
  double e = y.type == ISO_SCRIPT_DOUBLE ? y.real : (double)y.integer;
  *order = (d > e) - (d < e);
  return true;
}

static bool cell_holds(const iso_expected_cell *cell, const iso_script_variables *variables, const char *found) {
  const char *expected = text_of(cell, variables);
  if (found == NULL || strcasecmp(expected, "null") == 0) {
    bool same = found == NULL && strcasecmp(expected, "null") == 0;
    return cell->sign == ISO_EXPECT_EQUAL ? same : cell->sign == ISO_EXPECT_DIFFERENT && !same;
  }
  int order = 0;
  if (!compare_numbers(found, expected, &order)) order = strcmp(found, expected);
  switch (cell->sign) {
  case ISO_EXPECT_AT_LEAST:
    return order >= 0;
  case ISO_EXPECT_AT_MOST:
    return order <= 0;
  case ISO_EXPECT_DIFFERENT:
    return order != 0;
  case ISO_EXPECT_GREATER:
    return order > 0;
  case ISO_EXPECT_LESS:
    return order < 0;
  default:
    return order == 0;
  }
}

bool iso_expectation_holds(const iso_section *invariant, const iso_script_variables *variables,
                           const char *(*cell)(const void *user, size_t row, uint32_t column), const void *user,
                           size_t rows, uint32_t columns) {
  if (rows != invariant->rows.count) return false;
  for (size_t r = 0; r < rows; r++) {
    const iso_expected_row *row = &invariant->rows.items[r];
    if (row->count != columns) return false;
    for (uint32_t c = 0; c < columns; c++)
      if (!cell_holds(&row->cells[c], variables, cell(user, r, c))) return false;
  }
  return true;
}

/* ---- in words ---- */

static void add_cell(iso_words *words, const char *text) {
  if (text == NULL)
    iso_words_add(words, "null");
  else if (text[0] == 0)
    iso_words_add(words, "''");
  else
    iso_words_add_hostile(words, text, strlen(text), MOST_CELL);
}

static char *hand_over(iso_words *words) {
  if (words->failed) {
    iso_words_free(words);
    return NULL;
  }
  return words->text;
}

char *iso_expectation_words(const iso_section *invariant, const iso_script_variables *variables) {
  iso_words words = {NULL, 0, 0, false};
  size_t rows = invariant->rows.count;
  if (rows == 0) iso_words_add(&words, "no row");
  if (rows > 1) iso_words_add(&words, "%zu rows: ", rows);
  for (size_t r = 0; r < rows && r < MOST_ROWS; r++) {
    const iso_expected_row *row = &invariant->rows.items[r];
    if (r > 0) iso_words_add(&words, "; ");
    for (size_t c = 0; c < row->count; c++) {
      if (c > 0) iso_words_add(&words, " | ");
      if (row->cells[c].sign != ISO_EXPECT_EQUAL) iso_words_add(&words, "%s ", signs[row->cells[c].sign]);
      add_cell(&words, text_of(&row->cells[c], variables));
    }
  }
  if (rows > MOST_ROWS) iso_words_add(&words, "; ...");
  return hand_over(&words);
}

char *iso_expectation_found(const char *(*cell)(const void *user, size_t row, uint32_t column), const void *user,
                            size_t rows, uint32_t columns) {
  iso_words words = {NULL, 0, 0, false};
  if (rows == 0) iso_words_add(&words, "no row");
  if (rows > 1) iso_words_add(&words, "%zu rows: ", rows);
  for (size_t r = 0; r < rows && r < MOST_ROWS; r++) {
    if (r > 0) iso_words_add(&words, "; ");
    for (uint32_t c = 0; c < columns; c++) {
      if (c > 0) iso_words_add(&words, " | ");
      add_cell(&words, cell(user, r, c));
    }
  }
  if (rows > MOST_ROWS) iso_words_add(&words, "; ...");
  return hand_over(&words);
}
