/* hermitage.c - hermitage's own table, from the rows of its tests. */
#include "coo/matrix.h"

typedef struct hermitage_test {
  const char *name;
  unsigned rows[2];   /* numbers of rows that must not be anomalies; 0 none */
  unsigned write_row; /* the same with a write that depends on what was read; 0 none */
} hermitage_test;

static const hermitage_test tests[] = {
    {"G0", {1, 0}, 0},  {"G1a", {2, 0}, 0}, {"G1b", {3, 0}, 0},        {"G1c", {4, 0}, 0},      {"OTV", {5, 0}, 0},
    {"PMP", {6, 0}, 7}, {"P4", {8, 0}, 0},  {"G-single", {9, 10}, 11}, {"G2-item", {12, 0}, 0}, {"G2", {13, 14}, 0}};

enum { TESTS = sizeof tests / sizeof *tests };

const char *isoproof_coo_hermitage_test_at(size_t test) { return test < TESTS ? tests[test].name : NULL; }

/* 'n' when the row is an anomaly, 'y' when it is none, '-' when it was not run. */
static char row_letter(const isoproof_coo_matrix *matrix, size_t level, unsigned number) {
  for (size_t i = 0; i < matrix->rows.count; i++) {
    if (matrix->rows.items[i].number != number) continue;
    const isoproof_coo_cell *cell = &matrix->cells[i * matrix->level_count + level].shown;
    if (cell->runs == 0) break;
    return cell->counts[ISOPROOF_COO_ANOMALY] > 0 ? 'n' : 'y';
  }
  return '-';
}

char isoproof_coo_hermitage_letter(const isoproof_coo_matrix *matrix, size_t level, size_t test) {
  if (test >= TESTS || level >= matrix->level_count) return '-';
  const hermitage_test *t = &tests[test];
  char first = row_letter(matrix, level, t->rows[0]), second = row_letter(matrix, level, t->rows[1]);
  if (first == 'n' || second == 'n') return 'n';
  if (first == '-') return '-';
  return row_letter(matrix, level, t->write_row) == 'n' ? 'r' : 'y';
}
