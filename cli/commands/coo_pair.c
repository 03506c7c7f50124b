/* coo_pair.c - two matrices against each other: only what differs. */
#include <string.h>

#include "cli/commands/coo.h"

/* How many names of what has no counterpart are shown. */
enum { UNMATCHED_MOST = 8 };

/* One difference with everything about it. */
typedef struct pair_cell {
  isoproof_coo_difference at;
  isoproof_coo_row row;
  isoproof_coo_cell cell, other;
  char title[256], letters[COO_LETTERS], other_letters[COO_LETTERS];
  const char *level;
} pair_cell;

static bool difference_at(const coo_pair *pair, size_t number, pair_cell *out) {
  *out = (pair_cell){.at.struct_size = sizeof out->at,
                     .row.struct_size = sizeof out->row,
                     .cell.struct_size = sizeof out->cell,
                     .other.struct_size = sizeof out->other};
  if (!isoproof_coo_comparison_difference_at(pair->comparison, number, &out->at)) return false;
  const isoproof_coo_difference *at = &out->at;
  if (!isoproof_coo_matrix_row_at(pair->view.matrix, at->row, &out->row) ||
      !isoproof_coo_matrix_cell_at(pair->view.matrix, at->row, at->level, &out->cell) ||
      !isoproof_coo_matrix_cell_at(pair->other.matrix, at->other_row, at->other_level, &out->other))
    return false;
  out->level = isoproof_coo_matrix_level_at(pair->view.matrix, at->level);
  coo_row_title(&out->row, out->title, sizeof out->title);
  coo_letters(&out->cell, out->letters);
  coo_letters(&out->other, out->other_letters);
  return true;
}

static size_t count_differences(const coo_pair *pair) {
  isoproof_coo_difference at = {.struct_size = sizeof at};
  size_t count = 0;
  while (isoproof_coo_comparison_difference_at(pair->comparison, count, &at)) count++;
  return count;
}

/* "3 of 132 cells differ". */
static void tell_count(const coo_pair *pair, char *out, size_t size) {
  size_t count = count_differences(pair), cells = isoproof_coo_comparison_cells(pair->comparison);
  if (cells == 0)
    snprintf(out, size, "no cell has a counterpart: nothing was compared");
  else if (count == 0)
    snprintf(out, size, "no cell of %zu differs", cells);
  else
    snprintf(out, size, "%zu of %zu cells differ%s", count, cells, count == 1 ? "s" : "");
}

/* ---- text ---- */

/* What has no counterpart, in a line for each kind and side. */
static void text_unmatched(const coo_pair *pair) {
  for (int kind = 0; kind < 4; kind++) {
    bool in_other = (kind & 1) != 0, is_level = kind < 2;
    isoproof_coo_unmatched one = {.struct_size = sizeof one};
    size_t count = 0, used = 0;
    char names[512] = "";
    for (size_t i = 0; isoproof_coo_comparison_unmatched_at(pair->comparison, i, &one); i++) {
      if (one.in_other != in_other || one.is_level != is_level) continue;
      if (count++ < UNMATCHED_MOST && used < sizeof names)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.60s", count > 1 ? ", " : "", one.name);
    }
    if (count == 0) continue;
    coo_put(&pair->view, 2, "only %s has the %s%s %s%s", in_other ? "the other" : "this one",
            is_level ? "level" : "case", count == 1 ? "" : "s", names, count > UNMATCHED_MOST ? ", ..." : "");
  }
}

static void text_letters(const coo_view *view, const isoproof_coo_cell *cell, const char *letters, unsigned width) {
  const char *color = coo_color_of(view, cell);
  unsigned columns = text_columns(letters);
  printf("%s%s%s%*s", color, letters, *color != 0 ? "\033[0m" : "", columns < width ? (int)(width - columns) : 0, "");
}

void coo_pair_text(const coo_pair *pair) {
  pair_cell d;
  unsigned level = 7, name = 6;
  char count[96];
  tell_count(pair, count, sizeof count);
  coo_put(&pair->view, 2, "%s against %s: %s", isoproof_coo_matrix_database(pair->view.matrix),
          isoproof_coo_matrix_database(pair->other.matrix), count);
  for (size_t i = 0; difference_at(pair, i, &d); i++) {
    if (text_columns(d.level) + 2 > level) level = text_columns(d.level) + 2;
    if (text_columns(d.title) + 2 > name) name = text_columns(d.title) + 2;
  }
  /* Beside the names: two spaces before them, and the letters of both. */
  unsigned fixed = 2 + level + 12;
  if (name + fixed > pair->view.width) name = pair->view.width > fixed + 16 ? pair->view.width - fixed : 16;
  for (size_t i = 0; difference_at(pair, i, &d); i++) {
    if (i == 0) {
      fputs("\n  ", stdout);
      coo_put_cell("level", level);
      coo_put_cell("case", name);
      puts("this  other");
    }
    fputs("  ", stdout);
    coo_put_cell(d.level, level);
    coo_put_cell(d.title, name);
    text_letters(&pair->view, &d.cell, d.letters, 6);
    text_letters(&pair->other, &d.other, d.other_letters, 0);
    putchar('\n');
  }
  putchar('\n');
  text_unmatched(pair);
  coo_put(&pair->view, 0, "P pass, A anomaly, R rule, D deadlock, T timeout; * unexpected, ! broken after a rollback");
}

void coo_pair_steps(const coo_pair *pair) {
  pair_cell d;
  coo_pair_text(pair);
  for (size_t i = 0; difference_at(pair, i, &d); i++) {
    putchar('\n');
    put_escaped(stdout, isoproof_coo_matrix_database(pair->view.matrix));
    putchar('\n');
    coo_steps_cell(&pair->view, d.at.row, d.at.level);
    putchar('\n');
    put_escaped(stdout, isoproof_coo_matrix_database(pair->other.matrix));
    putchar('\n');
    coo_steps_cell(&pair->other, d.at.other_row, d.at.other_level);
  }
}

/* ---- for other programs ---- */

void coo_pair_markdown(const coo_pair *pair) {
  pair_cell d;
  char count[96];
  fputs("**", stdout);
  coo_markdown_text(isoproof_coo_matrix_database(pair->view.matrix));
  fputs("** against **", stdout);
  coo_markdown_text(isoproof_coo_matrix_database(pair->other.matrix));
  tell_count(pair, count, sizeof count);
  printf("**: %s\n", count);
  for (size_t i = 0; difference_at(pair, i, &d); i++) {
    if (i == 0) fputs("\n| level | case | this | other |\n|---|---|---|---|\n", stdout);
    fputs("| ", stdout);
    coo_markdown_text(d.level);
    fputs(" | ", stdout);
    coo_markdown_text(d.title);
    fputs(" | ", stdout);
    coo_markdown_text(d.letters);
    fputs(" | ", stdout);
    coo_markdown_text(d.other_letters);
    puts(" |");
  }
}

void coo_pair_csv(const coo_pair *pair) {
  pair_cell d;
  puts("level,no,case,schedule,this,other,this_executed,other_executed,this_unexpected,other_unexpected");
  for (size_t i = 0; difference_at(pair, i, &d); i++) {
    coo_csv_field(d.level);
    printf(",%u,", d.row.number);
    coo_csv_field(d.row.name);
    putchar(',');
    coo_csv_field(d.row.plan);
    printf(",%s,%s,", d.letters, d.other_letters);
    coo_csv_field(d.cell.executed);
    putchar(',');
    coo_csv_field(d.other.executed);
    printf(",%u,%u\n", d.cell.unexpected, d.other.unexpected);
  }
}

void coo_pair_html(const coo_pair *pair) {
  isoproof_error error = {.offset = -1};
  if (isoproof_coo_comparison_write_html(pair->comparison, write_stream, stdout, &error) != ISOPROOF_OK &&
      !ferror(stdout))
    message_error(&error, NULL);
}

static void field(isoproof_json *j, const char *name, const char *value) {
  isoproof_json_name(j, name);
  isoproof_json_string(j, value);
}

static void json_unmatched(isoproof_json *j, const coo_pair *pair) {
  isoproof_coo_unmatched one = {.struct_size = sizeof one};
  isoproof_json_name(j, "unmatched");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_coo_comparison_unmatched_at(pair->comparison, i, &one); i++) {
    isoproof_json_object(j);
    field(j, "in", one.in_other ? "other" : "this");
    field(j, one.is_level ? "level" : "case", one.name);
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
}

void coo_pair_json(const coo_pair *pair) {
  isoproof_json *j = json_to(stdout);
  pair_cell d;
  if (j == NULL) return;
  isoproof_json_object(j);
  isoproof_json_name(j, "schema");
  isoproof_json_u64(j, 1);
  field(j, "database", isoproof_coo_matrix_database(pair->view.matrix));
  field(j, "against", isoproof_coo_matrix_database(pair->other.matrix));
  isoproof_json_name(j, "compared");
  isoproof_json_u64(j, isoproof_coo_comparison_cells(pair->comparison));
  isoproof_json_name(j, "differences");
  isoproof_json_list(j);
  for (size_t i = 0; difference_at(pair, i, &d); i++) {
    isoproof_coo_row other = {.struct_size = sizeof other};
    if (!isoproof_coo_matrix_row_at(pair->other.matrix, d.at.other_row, &other)) break;
    isoproof_json_object(j);
    isoproof_json_name(j, "no");
    if (d.row.number > 0)
      isoproof_json_u64(j, d.row.number);
    else
      isoproof_json_null(j);
    field(j, "name", d.row.name);
    field(j, "schedule", d.row.plan);
    field(j, "level", d.level);
    isoproof_json_name(j, "this");
    coo_json_cell(j, &pair->view, &d.row, d.at.row, d.at.level);
    isoproof_json_name(j, "other");
    coo_json_cell(j, &pair->other, &other, d.at.other_row, d.at.other_level);
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
  json_unmatched(j, pair);
  isoproof_json_end(j);
  isoproof_json_line(j);
  json_done(j);
}
