/* coo_export.c - the matrix for pages and spreadsheets: Markdown, CSV, HTML. */
#include <string.h>

#include "cli/commands/coo.h"

/* ---- Markdown ---- */

void coo_markdown_text(const char *text) {
  for (; *text != 0; text++) {
    if (strchr("\\`*_[]<>|#&", *text) != NULL) putchar('\\');
    putchar((unsigned char)*text < 0x20 ? ' ' : *text);
  }
}

static void markdown_hermitage(const coo_view *view) {
  const char *level, *test;
  fputs("\n| |", stdout);
  for (size_t t = 0; (test = isoproof_coo_hermitage_test_at(t)) != NULL; t++) printf(" %s |", test);
  fputs("\n|---|", stdout);
  for (size_t t = 0; isoproof_coo_hermitage_test_at(t) != NULL; t++) fputs("---|", stdout);
  putchar('\n');
  for (size_t i = 0; (level = isoproof_coo_matrix_level_at(view->matrix, i)) != NULL; i++) {
    fputs("| ", stdout);
    coo_markdown_text(level);
    fputs(" |", stdout);
    for (size_t t = 0; isoproof_coo_hermitage_test_at(t) != NULL; t++)
      printf(" %c |", isoproof_coo_hermitage_letter(view->matrix, i, t));
    putchar('\n');
  }
}

static void markdown_summary(const coo_view *view) {
  char line[COO_SENTENCE + 128];
  const char *level;
  coo_headline(view, line, sizeof line);
  fputs("**", stdout);
  coo_markdown_text(line);
  puts("**\n");
  for (size_t i = 0; (level = isoproof_coo_matrix_level_at(view->matrix, i)) != NULL; i++) {
    fputs("- ", stdout);
    coo_markdown_text(level);
    isoproof_coo_matrix_sentence_at(view->matrix, i, line, sizeof line);
    printf(": %s\n", line);
  }
  putchar('\n');
}

static void markdown_cell(const coo_view *view, const isoproof_coo_row *row, size_t l, const isoproof_coo_cell *cell) {
  char letters[COO_LETTERS], published = coo_differs(view, row, isoproof_coo_matrix_level_at(view->matrix, l), cell);
  coo_letters(cell, letters);
  fputs(cell->unexpected > 0 || published != 0 ? " **" : " ", stdout);
  coo_markdown_text(letters);
  if (cell->unexpected > 0 || published != 0) fputs("**", stdout);
  if (published != 0) printf(" (paper: %c)", published);
  fputs(" |", stdout);
}

void coo_markdown(const coo_view *view) {
  const isoproof_coo_matrix *matrix = view->matrix;
  const char *level;
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  markdown_summary(view);
  printf("| no | %s | case |", view->hermitage ? "what" : "class");
  for (size_t i = 0; (level = isoproof_coo_matrix_level_at(matrix, i)) != NULL; i++) {
    putchar(' ');
    coo_markdown_text(level);
    fputs(" |", stdout);
  }
  fputs("\n|---|---|---|", stdout);
  for (size_t i = 0; isoproof_coo_matrix_level_at(matrix, i) != NULL; i++) fputs("---|", stdout);
  putchar('\n');
  for (size_t r = 0; isoproof_coo_matrix_row_at(matrix, r, &row); r++) {
    if (row.number > 0)
      printf("| %u | ", row.number);
    else
      fputs("| - | ", stdout);
    coo_markdown_text(row.kind);
    fputs(" | ", stdout);
    coo_markdown_text(row.name);
    fputs(" |", stdout);
    for (size_t l = 0; isoproof_coo_matrix_cell_at(matrix, r, l, &cell); l++) markdown_cell(view, &row, l, &cell);
    putchar('\n');
  }
  if (view->hermitage) markdown_hermitage(view);
}

/* ---- CSV ---- */

void coo_csv_field(const char *text) {
  putchar('"');
  for (; text != NULL && *text != 0; text++) {
    if (*text == '"') putchar('"');
    putchar(*text);
  }
  putchar('"');
}

static void csv_cell(const coo_view *view, const isoproof_coo_row *row, size_t l, const isoproof_coo_cell *cell) {
  const isoproof_coo_matrix *matrix = view->matrix;
  const char *level = isoproof_coo_matrix_level_at(matrix, l);
  isoproof_coo_summary summary = {.struct_size = sizeof summary};
  char published =
      isoproof_coo_published(isoproof_coo_matrix_database(matrix), level, view->hermitage ? 0 : row->number);
  (void)isoproof_coo_matrix_summary_at(matrix, l, &summary);
  coo_csv_field(isoproof_coo_matrix_database(matrix));
  putchar(',');
  coo_csv_field(level);
  printf(",%u,", row->number);
  coo_csv_field(row->name);
  putchar(',');
  coo_csv_field(row->kind);
  printf(",%c,%u,", isoproof_coo_result_letter(cell->result), cell->runs);
  coo_csv_field(cell->executed);
  putchar(',');
  coo_csv_field(cell->cycle);
  putchar(',');
  coo_csv_field(cell->phenomenon);
  printf(",%s,%s,%.3f,", cell->broken ? "yes" : "no", published != 0 ? (const char[]){published, 0} : "",
         cell->seconds);
  coo_csv_field(row->plan);
  putchar(',');
  coo_csv_field(summary.expected);
  printf(",%u\n", cell->unexpected);
}

void coo_csv(const coo_view *view) {
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  puts("database,level,no,case,class,result,runs,executed,cycle,phenomenon,broken,published,seconds,schedule,expected,"
       "unexpected");
  for (size_t r = 0; isoproof_coo_matrix_row_at(view->matrix, r, &row); r++) {
    for (size_t l = 0; isoproof_coo_matrix_cell_at(view->matrix, r, l, &cell); l++)
      if (cell.runs > 0) csv_cell(view, &row, l, &cell);
  }
}

/* ---- HTML ---- */

void coo_html(const coo_view *view) {
  isoproof_error error = {.offset = -1};
  /* A failure of standard output is noticed in the end. */
  if (isoproof_coo_matrix_write_html(view->matrix, view->compare, write_stream, stdout, &error) != ISOPROOF_OK &&
      !ferror(stdout))
    message_error(&error, NULL);
}
