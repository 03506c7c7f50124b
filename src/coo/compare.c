/* compare.c - two matrices, cell by cell: what differs, and what has no counterpart. */
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "coo/compare.h"

#define NOWHERE SIZE_MAX

/* Rows of a matrix by a text of theirs, in order. */
typedef struct row_key {
  const char *text;
  size_t row;
} row_key;

static int by_text(const void *a, const void *b) {
  const row_key *x = a, *y = b;
  int order = strcmp(x->text, y->text);
  if (order != 0) return order;
  return x->row < y->row ? -1 : x->row > y->row;
}

static const char *plan_of(const iso_coo_row *row) {
  return row->plan != NULL ? isoproof_schedule_text(row->plan) : "";
}
static const char *name_of(const iso_coo_row *row) { return row->name; }

static row_key *sort_rows(const isoproof_coo_matrix *matrix, const char *(*text)(const iso_coo_row *)) {
  row_key *keys = iso_alloc(matrix->rows.count + 1, sizeof *keys);
  if (keys == NULL) return NULL;
  for (size_t i = 0; i < matrix->rows.count; i++) keys[i] = (row_key){text(&matrix->rows.items[i]), i};
  qsort(keys, matrix->rows.count, sizeof *keys, by_text);
  return keys;
}

/* The first row with that text that nobody has taken. */
static size_t find_row(const row_key *keys, size_t count, const char *text, const bool *taken) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strcmp(keys[middle].text, text) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (; text[0] != '\0' && low < count && strcmp(keys[low].text, text) == 0; low++)
    if (!taken[keys[low].row]) return keys[low].row;
  return NOWHERE;
}

/* By name first: a case stays what it is when another version plans it otherwise. */
static isoproof_status match_rows(isoproof_coo_comparison *c, isoproof_error *error) {
  size_t count = c->matrix->rows.count, others = c->other->rows.count;
  row_key *names = sort_rows(c->other, name_of), *plans = sort_rows(c->other, plan_of);
  c->row_of = iso_alloc(count + 1, sizeof *c->row_of);
  c->taken = iso_alloc_zero(others + 1, sizeof *c->taken);
  bool good = names != NULL && plans != NULL && c->row_of != NULL && c->taken != NULL;
  for (size_t i = 0; good && i < count; i++) {
    c->row_of[i] = find_row(names, others, c->matrix->rows.items[i].name, c->taken);
    if (c->row_of[i] != NOWHERE) c->taken[c->row_of[i]] = true;
  }
  for (size_t i = 0; good && i < count; i++) {
    if (c->row_of[i] != NOWHERE) continue;
    c->row_of[i] = find_row(plans, others, plan_of(&c->matrix->rows.items[i]), c->taken);
    if (c->row_of[i] != NOWHERE) c->taken[c->row_of[i]] = true;
  }
  free(names);
  free(plans);
  return good ? ISOPROOF_OK : iso_fail_memory(error);
}

/* Equal but for case, with '-' and '_' taken as ' '. */
static bool same_level(const char *a, const char *b) {
  for (;; a++, b++) {
    char x = *a == '-' || *a == '_' ? ' ' : *a, y = *b == '-' || *b == '_' ? ' ' : *b;
    if (x >= 'A' && x <= 'Z') x = (char)(x - 'A' + 'a');
    if (y >= 'A' && y <= 'Z') y = (char)(y - 'A' + 'a');
    if (x != y) return false;
    if (x == '\0') return true;
  }
}

static size_t find_level(const isoproof_coo_matrix *matrix, const char *name) {
  for (size_t i = 0; i < matrix->level_count; i++)
    if (same_level(matrix->levels[i], name)) return i;
  return NOWHERE;
}

/* ---- cells ---- */

static const isoproof_coo_cell *cell_of(const isoproof_coo_matrix *matrix, size_t row, size_t level) {
  return &matrix->cells[row * matrix->level_count + level].shown;
}

static bool differ(const isoproof_coo_cell *a, const isoproof_coo_cell *b) {
  for (int i = 0; i < ISOPROOF_COO_RESULTS; i++)
    if ((a->counts[i] > 0) != (b->counts[i] > 0)) return true;
  return a->broken != b->broken || (a->unexpected > 0) != (b->unexpected > 0);
}

static isoproof_status compare_level(isoproof_coo_comparison *c, size_t level, size_t other, isoproof_error *error) {
  for (size_t row = 0; row < c->matrix->rows.count; row++) {
    if (c->row_of[row] == NOWHERE) continue;
    const isoproof_coo_cell *a = cell_of(c->matrix, row, level), *b = cell_of(c->other, c->row_of[row], other);
    if (a->runs == 0 || b->runs == 0) continue;
    c->cells++;
    isoproof_coo_difference found = {
        .struct_size = sizeof found, .row = row, .level = level, .other_row = c->row_of[row], .other_level = other};
    if (differ(a, b) && !iso_vec_push(&c->differences, found)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

static isoproof_status note_unmatched(isoproof_coo_comparison *c, bool in_other, bool is_level, const char *name,
                                      isoproof_error *error) {
  isoproof_coo_unmatched one = {.struct_size = sizeof one, .in_other = in_other, .is_level = is_level, .name = name};
  return iso_vec_push(&c->unmatched, one) ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status compare_all(isoproof_coo_comparison *c, isoproof_error *error) {
  const isoproof_coo_matrix *a = c->matrix, *b = c->other;
  ISO_TRY(match_rows(c, error));
  for (size_t i = 0; i < a->level_count; i++) {
    size_t other = find_level(b, a->levels[i]);
    if (other == NOWHERE)
      ISO_TRY(note_unmatched(c, false, true, a->levels[i], error));
    else
      ISO_TRY(compare_level(c, i, other, error));
  }
  for (size_t i = 0; i < b->level_count; i++)
    if (find_level(a, b->levels[i]) == NOWHERE) ISO_TRY(note_unmatched(c, true, true, b->levels[i], error));
  for (size_t i = 0; i < a->rows.count; i++)
    if (c->row_of[i] == NOWHERE) ISO_TRY(note_unmatched(c, false, false, a->rows.items[i].name, error));
  for (size_t i = 0; i < b->rows.count; i++)
    if (!c->taken[i]) ISO_TRY(note_unmatched(c, true, false, b->rows.items[i].name, error));
  return ISOPROOF_OK;
}

isoproof_status isoproof_coo_compare(const isoproof_coo_matrix *matrix, const isoproof_coo_matrix *other,
                                     isoproof_coo_comparison **comparison, isoproof_error *error) {
  *comparison = NULL;
  isoproof_coo_comparison *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->matrix = matrix;
  made->other = other;
  isoproof_status status = compare_all(made, error);
  if (status != ISOPROOF_OK) {
    isoproof_coo_comparison_free(made);
    return status;
  }
  *comparison = made;
  return ISOPROOF_OK;
}

void isoproof_coo_comparison_free(isoproof_coo_comparison *comparison) {
  if (comparison == NULL) return;
  free(comparison->row_of);
  free(comparison->taken);
  iso_vec_free(&comparison->differences);
  iso_vec_free(&comparison->unmatched);
  free(comparison);
}

size_t isoproof_coo_comparison_cells(const isoproof_coo_comparison *comparison) { return comparison->cells; }

bool isoproof_coo_comparison_difference_at(const isoproof_coo_comparison *comparison, size_t number,
                                           isoproof_coo_difference *out) {
  return number < comparison->differences.count && ISO_STRUCT_GIVE(out, comparison->differences.items[number]);
}

bool isoproof_coo_comparison_unmatched_at(const isoproof_coo_comparison *comparison, size_t number,
                                          isoproof_coo_unmatched *out) {
  return number < comparison->unmatched.count && ISO_STRUCT_GIVE(out, comparison->unmatched.items[number]);
}
