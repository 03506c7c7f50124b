/* matrix_read.c - looking into a matrix. */
#include <string.h>

#include "base/abi.h"
#include "coo/matrix.h"

const char *isoproof_coo_matrix_database(const isoproof_coo_matrix *matrix) { return matrix->database; }
double isoproof_coo_matrix_seconds(const isoproof_coo_matrix *matrix) { return matrix->seconds; }

const char *isoproof_coo_matrix_level_at(const isoproof_coo_matrix *matrix, size_t level) {
  return level < matrix->level_count ? matrix->levels[level] : NULL;
}

bool isoproof_coo_matrix_row_at(const isoproof_coo_matrix *matrix, size_t row, isoproof_coo_row *out) {
  if (row >= matrix->rows.count) return false;
  const iso_coo_row *r = &matrix->rows.items[row];
  isoproof_coo_row made = {.struct_size = sizeof made,
                           .number = r->number,
                           .name = r->name,
                           .kind = r->kind,
                           .plan = r->plan != NULL ? isoproof_schedule_text(r->plan) : NULL};
  return ISO_STRUCT_GIVE(out, made);
}

static const iso_coo_cell *find(const isoproof_coo_matrix *matrix, size_t row, size_t level) {
  if (row >= matrix->rows.count || level >= matrix->level_count) return NULL;
  return &matrix->cells[row * matrix->level_count + level];
}

bool isoproof_coo_matrix_cell_at(const isoproof_coo_matrix *matrix, size_t row, size_t level, isoproof_coo_cell *out) {
  const iso_coo_cell *cell = find(matrix, row, level);
  return cell != NULL && ISO_STRUCT_GIVE(out, cell->shown);
}

bool isoproof_coo_cell_verdict_at(const isoproof_coo_matrix *matrix, size_t row, size_t level, size_t number,
                                  isoproof_coo_verdict *out) {
  const iso_coo_cell *cell = find(matrix, row, level);
  if (cell == NULL || number >= cell->shown.verdict_count) return false;
  return ISO_STRUCT_GIVE(out, cell->verdicts[number]);
}

bool isoproof_coo_cell_event_at(const isoproof_coo_matrix *matrix, size_t row, size_t level, size_t number,
                                isoproof_coo_event *out) {
  const iso_coo_cell *cell = find(matrix, row, level);
  if (cell == NULL || number >= cell->shown.event_count) return false;
  return ISO_STRUCT_GIVE(out, cell->events[number]);
}

bool isoproof_coo_cell_error_at(const isoproof_coo_matrix *matrix, size_t row, size_t level, size_t number,
                                isoproof_coo_event *out) {
  const iso_coo_cell *cell = find(matrix, row, level);
  for (size_t i = 0; cell != NULL && i < cell->shown.event_count; i++) {
    if (cell->events[i].error != NULL && number-- == 0) return ISO_STRUCT_GIVE(out, cell->events[i]);
  }
  return false;
}

bool isoproof_coo_matrix_complete(const isoproof_coo_matrix *matrix) { return matrix->complete; }
uint64_t isoproof_coo_matrix_left_out(const isoproof_coo_matrix *matrix) { return matrix->left_out; }
isoproof_coo_suite isoproof_coo_matrix_suite(const isoproof_coo_matrix *matrix) { return matrix->suite; }
