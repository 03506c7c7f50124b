/* coo_matrix.c - the matrix for people and for spreadsheets: text, Markdown, CSV, HTML. */
#include <string.h>

#include "cli/commands/coo.h"

enum { NAME = 32, COLUMN = 18, BEFORE = 12 }; /* columns of a name, of a level, and of what stands before names */

void coo_letters(const isoproof_coo_cell *cell, char out[32]) {
  size_t used = 0;
  out[used++] = isoproof_coo_result_letter(cell->result);
  for (int i = 0; i < ISOPROOF_COO_RESULTS; i++) {
    if ((isoproof_coo_result)i == cell->result || cell->counts[i] == 0) continue;
    out[used++] = '/';
    out[used++] = isoproof_coo_result_letter((isoproof_coo_result)i);
  }
  if (cell->broken) out[used++] = '!';
  out[used] = 0;
}

char coo_differs(const coo_view *view, const isoproof_coo_row *row, const char *level, const isoproof_coo_cell *cell) {
  if (!view->compare || view->hermitage) return 0;
  char published = isoproof_coo_published(isoproof_coo_matrix_database(view->matrix), level, row->number);
  return published != 0 && published != isoproof_coo_result_letter(cell->result) ? published : 0;
}

/* ---- hermitage's table ---- */

typedef struct hermitage_test {
  const char *name;
  unsigned rows[2];   /* numbers of rows that must not be anomalies; 0 none */
  unsigned write_row; /* the same with a write that depends on what was read; 0 none */
} hermitage_test;

static const hermitage_test tests[] = {
    {"G0", {1, 0}, 0},  {"G1a", {2, 0}, 0}, {"G1b", {3, 0}, 0},        {"G1c", {4, 0}, 0},      {"OTV", {5, 0}, 0},
    {"PMP", {6, 0}, 7}, {"P4", {8, 0}, 0},  {"G-single", {9, 10}, 11}, {"G2-item", {12, 0}, 0}, {"G2", {13, 14}, 0}};

const char *coo_hermitage_test(size_t test) { return test < COUNT_OF(tests) ? tests[test].name : NULL; }

/* 'n' when the row is an anomaly, 'y' when it is none, '-' when it was not run. */
static char row_letter(const isoproof_coo_matrix *matrix, size_t level, unsigned number) {
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  for (size_t i = 0; isoproof_coo_matrix_row_at(matrix, i, &row); i++) {
    if (row.number == number && isoproof_coo_matrix_cell_at(matrix, i, level, &cell)) {
      return cell.counts[ISOPROOF_COO_ANOMALY] > 0 ? 'n' : 'y';
    }
  }
  return '-';
}

char coo_hermitage_letter(const isoproof_coo_matrix *matrix, size_t level, size_t test) {
  const hermitage_test *t = &tests[test];
  char first = row_letter(matrix, level, t->rows[0]), second = row_letter(matrix, level, t->rows[1]);
  if (first == 'n' || second == 'n') return 'n';
  if (first == '-') return '-';
  return row_letter(matrix, level, t->write_row) == 'n' ? 'r' : 'y';
}

/* ---- text ---- */

static const char *color_of(const coo_view *view, isoproof_coo_result result) {
  static const char *const colors[ISOPROOF_COO_RESULTS] = {[ISOPROOF_COO_PASS] = "\033[32m",
                                                           [ISOPROOF_COO_ANOMALY] = "\033[1;31m",
                                                           [ISOPROOF_COO_RULE] = "\033[36m",
                                                           [ISOPROOF_COO_DEADLOCK] = "\033[35m",
                                                           [ISOPROOF_COO_TIMEOUT] = "\033[33m"};
  return view->color ? colors[result] : "";
}

/* The columns of the table in the terminal: of names, and of each level. */
typedef struct shape {
  int name, level;
  bool lettered; /* levels are letters, and a list below says which */
} shape;

static size_t longest_level(const coo_view *view, size_t *count) {
  const char *level;
  size_t longest = 0;
  for (*count = 0; (level = isoproof_coo_matrix_level_at(view->matrix, *count)) != NULL; (*count)++)
    if (strlen(level) > longest) longest = strlen(level);
  return longest;
}

/* As wide as ever where that fits; then as narrow as the names allow; then without the names of the levels. */
static shape choose_shape(const coo_view *view) {
  size_t count, longest = longest_level(view, &count), name = 0, room = report_room();
  isoproof_coo_row row = {.struct_size = sizeof row};
  for (size_t r = 0; isoproof_coo_matrix_row_at(view->matrix, r, &row); r++)
    if (strlen(row.name) > name) name = strlen(row.name);
  size_t note = view->compare && !view->hermitage ? strlen("P/A! (paper: P)") : strlen("P/A/D");
  if (longest < note) longest = note;
  if (BEFORE + NAME + count * COLUMN <= room) return (shape){NAME, COLUMN, false};
  if (name + 2 > NAME) name = NAME - 2;
  if (BEFORE + name + 2 + count * (longest + 2) <= room) return (shape){(int)name + 2, (int)longest + 2, false};
  size_t each = room > BEFORE + name + 2 && count > 0 ? (room - BEFORE - name - 2) / count : 4;
  return (shape){(int)name + 2, each > 4 ? (int)each : 4, true};
}

static void text_levels(const coo_view *view, const shape *s) {
  const char *level;
  for (size_t i = 0; (level = isoproof_coo_matrix_level_at(view->matrix, i)) != NULL; i++) {
    char letter[2] = {(char)('a' + i % 26), 0};
    int width = isoproof_coo_matrix_level_at(view->matrix, i + 1) != NULL ? s->level : 0;
    printf("%-*s", width, s->lettered ? letter : level);
  }
  putchar('\n');
}

static void text_letters(const coo_view *view, const shape *s) {
  const char *level;
  for (size_t i = 0; s->lettered && (level = isoproof_coo_matrix_level_at(view->matrix, i)) != NULL; i++)
    printf("%s%c: %s\n", i == 0 ? "\n" : "", (int)('a' + i % 26), level);
}

static void text_cell(const coo_view *view, const isoproof_coo_row *row, const char *level,
                      const isoproof_coo_cell *cell, int width, bool last) {
  char letters[32], note[48] = "";
  coo_letters(cell, letters);
  char published = coo_differs(view, row, level, cell);
  if (published != 0) snprintf(note, sizeof note, " (paper: %c)", published);
  int pad = width - (int)strlen(letters) - (int)strlen(note);
  printf("%s%s%s%s%*s", color_of(view, cell->result), letters, view->color ? "\033[0m" : "", note,
         last      ? 0
         : pad > 0 ? pad
                   : 1,
         "");
}

/* A line per level, where the table would be too wide. */
static void text_hermitage_list(const coo_view *view) {
  const char *level;
  for (size_t i = 0; (level = isoproof_coo_matrix_level_at(view->matrix, i)) != NULL; i++) {
    char line[512];
    size_t used = (size_t)snprintf(line, sizeof line, "%s:", level);
    for (size_t t = 0; coo_hermitage_test(t) != NULL && used < sizeof line; t++)
      used += (size_t)snprintf(line + used, sizeof line - used, "%s %s %c", t > 0 ? "," : "", coo_hermitage_test(t),
                               coo_hermitage_letter(view->matrix, i, t));
    print_lines(stdout, line);
    putchar('\n');
  }
}

static void text_hermitage(const coo_view *view) {
  enum { WIDE = NAME + 90 };
  const char *level;
  print_lines(stdout,
              "\nAs hermitage has it: y prevented, n not prevented, r prevented for transactions that only read\n");
  if (report_room() < WIDE) {
    text_hermitage_list(view);
    return;
  }
  printf("%-*s", NAME, "");
  for (size_t t = 0; coo_hermitage_test(t) != NULL; t++) {
    printf(coo_hermitage_test(t + 1) != NULL ? " %-8s" : " %s", coo_hermitage_test(t));
  }
  putchar('\n');
  for (size_t i = 0; (level = isoproof_coo_matrix_level_at(view->matrix, i)) != NULL; i++) {
    printf("%-*s", NAME, level);
    for (size_t t = 0; coo_hermitage_test(t) != NULL; t++)
      printf(coo_hermitage_test(t + 1) != NULL ? " %-8c" : " %c", coo_hermitage_letter(view->matrix, i, t));
    putchar('\n');
  }
}

/* How often which result came, where it was not always the same. */
static void text_races(const coo_view *view) {
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  for (size_t r = 0; isoproof_coo_matrix_row_at(view->matrix, r, &row); r++) {
    for (size_t l = 0; isoproof_coo_matrix_cell_at(view->matrix, r, l, &cell); l++) {
      if (cell.counts[cell.result] == cell.runs) continue;
      printf("races: %u %s at %s:", row.number, row.name, isoproof_coo_matrix_level_at(view->matrix, l));
      for (int i = 0; i < ISOPROOF_COO_RESULTS; i++) {
        if (cell.counts[i] > 0) printf(" %c %u", isoproof_coo_result_letter((isoproof_coo_result)i), cell.counts[i]);
      }
      printf(" of %u runs\n", cell.runs);
    }
  }
}

static void text_legend(const coo_view *view) {
  unsigned broken = 0, differing = 0;
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  for (size_t r = 0; isoproof_coo_matrix_row_at(view->matrix, r, &row); r++) {
    for (size_t l = 0; isoproof_coo_matrix_cell_at(view->matrix, r, l, &cell); l++) {
      if (cell.broken) broken++;
      if (coo_differs(view, &row, isoproof_coo_matrix_level_at(view->matrix, l), &cell) != 0) differing++;
    }
  }
  putchar('\n');
  for (int i = 0; i < ISOPROOF_COO_RESULTS; i++) {
    printf("%s%c %s", i > 0 ? ", " : "", isoproof_coo_result_letter((isoproof_coo_result)i),
           isoproof_coo_result_name((isoproof_coo_result)i));
  }
  putchar('\n');
  if (broken > 0)
    print_lines(stdout, "!: a transaction was rolled back, and what committed is an anomaly all the same\n");
  if (view->compare && !view->hermitage) printf("%u cells differ from the published ones\n", differing);
}

void coo_text(const coo_view *view) {
  const isoproof_coo_matrix *matrix = view->matrix;
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  shape s = choose_shape(view);
  printf("%s\n\n%4s %-6s %-*s", isoproof_coo_matrix_database(matrix), "no", view->hermitage ? "" : "class", s.name,
         "case");
  text_levels(view, &s);
  for (size_t r = 0; isoproof_coo_matrix_row_at(matrix, r, &row); r++) {
    printf("%4u %-6s %-*s", row.number, view->hermitage ? "" : row.kind, s.name, row.name);
    for (size_t l = 0; isoproof_coo_matrix_cell_at(matrix, r, l, &cell); l++) {
      text_cell(view, &row, isoproof_coo_matrix_level_at(matrix, l), &cell, s.level,
                isoproof_coo_matrix_level_at(matrix, l + 1) == NULL);
    }
    putchar('\n');
  }
  text_letters(view, &s);
  text_legend(view);
  text_races(view);
  if (view->hermitage) text_hermitage(view);
}

/* ---- Markdown, CSV, HTML ---- */

static void markdown_hermitage(const coo_view *view) {
  const char *level;
  fputs("\n| |", stdout);
  for (size_t t = 0; coo_hermitage_test(t) != NULL; t++) printf(" %s |", coo_hermitage_test(t));
  fputs("\n|---|", stdout);
  for (size_t t = 0; coo_hermitage_test(t) != NULL; t++) fputs("---|", stdout);
  putchar('\n');
  for (size_t i = 0; (level = isoproof_coo_matrix_level_at(view->matrix, i)) != NULL; i++) {
    printf("| %s |", level);
    for (size_t t = 0; coo_hermitage_test(t) != NULL; t++) printf(" %c |", coo_hermitage_letter(view->matrix, i, t));
    putchar('\n');
  }
}

void coo_markdown(const coo_view *view) {
  const isoproof_coo_matrix *matrix = view->matrix;
  const char *level;
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  printf("%s\n\n| no | %s | case |", isoproof_coo_matrix_database(matrix), view->hermitage ? "what" : "class");
  for (size_t i = 0; (level = isoproof_coo_matrix_level_at(matrix, i)) != NULL; i++) printf(" %s |", level);
  fputs("\n|---|---|---|", stdout);
  for (size_t i = 0; isoproof_coo_matrix_level_at(matrix, i) != NULL; i++) fputs("---|", stdout);
  putchar('\n');
  for (size_t r = 0; isoproof_coo_matrix_row_at(matrix, r, &row); r++) {
    printf("| %u | %s | %s |", row.number, row.kind, row.name);
    for (size_t l = 0; isoproof_coo_matrix_cell_at(matrix, r, l, &cell); l++) {
      char letters[32], published = coo_differs(view, &row, isoproof_coo_matrix_level_at(matrix, l), &cell);
      coo_letters(&cell, letters);
      printf(published != 0 ? " **%s** (paper: %c) |" : " %s |", letters, published);
    }
    putchar('\n');
  }
  if (view->hermitage) markdown_hermitage(view);
}

/* A field of a CSV file; quotes are doubled. */
static void csv_field(const char *text) {
  putchar('"');
  for (; text != NULL && *text != 0; text++) {
    if (*text == '"') putchar('"');
    putchar(*text);
  }
  putchar('"');
}

void coo_csv(const coo_view *view) {
  const isoproof_coo_matrix *matrix = view->matrix;
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  puts("database,level,no,case,class,result,runs,executed,cycle,phenomenon,broken,published,seconds");
  for (size_t r = 0; isoproof_coo_matrix_row_at(matrix, r, &row); r++) {
    for (size_t l = 0; isoproof_coo_matrix_cell_at(matrix, r, l, &cell); l++) {
      const char *level = isoproof_coo_matrix_level_at(matrix, l);
      char published =
          isoproof_coo_published(isoproof_coo_matrix_database(matrix), level, view->hermitage ? 0 : row.number);
      csv_field(isoproof_coo_matrix_database(matrix));
      putchar(',');
      csv_field(level);
      printf(",%u,", row.number);
      csv_field(row.name);
      putchar(',');
      csv_field(row.kind);
      printf(",%c,%u,", isoproof_coo_result_letter(cell.result), cell.runs);
      csv_field(cell.executed);
      putchar(',');
      csv_field(cell.cycle);
      putchar(',');
      csv_field(cell.phenomenon);
      printf(",%s,%s,%.3f\n", cell.broken ? "yes" : "no", published != 0 ? (const char[]){published, 0} : "",
             cell.seconds);
    }
  }
}

static void html_text(const char *text) {
  for (; text != NULL && *text != 0; text++) {
    const char *entity = *text == '<'   ? "&lt;"
                         : *text == '>' ? "&gt;"
                         : *text == '&' ? "&amp;"
                         : *text == '"' ? "&quot;"
                                        : NULL;
    if (entity != NULL)
      fputs(entity, stdout);
    else
      putchar(*text);
  }
}

static void html_cell(const coo_view *view, const isoproof_coo_row *row, size_t r, size_t l,
                      const isoproof_coo_cell *cell) {
  char letters[32], published = coo_differs(view, row, isoproof_coo_matrix_level_at(view->matrix, l), cell);
  isoproof_coo_event event = {.struct_size = sizeof event};
  coo_letters(cell, letters);
  printf("<td class=\"%c%s\" title=\"", isoproof_coo_result_letter(cell->result), published != 0 ? " differs" : "");
  html_text(cell->executed);
  for (size_t i = 0; isoproof_coo_cell_error_at(view->matrix, r, l, i, &event); i++) {
    printf("&#10;T%u: ", event.session);
    html_text(event.code);
    putchar(' ');
    html_text(event.message);
  }
  printf("\">%s", letters);
  if (published != 0) printf(" <small>(paper: %c)</small>", published);
  fputs("</td>", stdout);
}

static void html_hermitage(const coo_view *view) {
  const char *level;
  fputs("<table>\n<tr><th>", stdout);
  for (size_t t = 0; coo_hermitage_test(t) != NULL; t++) printf("<th>%s", coo_hermitage_test(t));
  putchar('\n');
  for (size_t i = 0; (level = isoproof_coo_matrix_level_at(view->matrix, i)) != NULL; i++) {
    fputs("<tr><td>", stdout);
    html_text(level);
    fputs("</td>", stdout);
    for (size_t t = 0; coo_hermitage_test(t) != NULL; t++) {
      char letter = coo_hermitage_letter(view->matrix, i, t);
      printf("<td class=\"%c\">%c</td>", letter == 'n' ? 'A' : letter == 'y' ? 'P' : 'T', letter);
    }
    puts("</tr>");
  }
  puts("</table>\n<p>y: prevented; n: not prevented; r: prevented for transactions that only read.</p>");
}

void coo_html(const coo_view *view) {
  const isoproof_coo_matrix *matrix = view->matrix;
  const char *level;
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>", stdout);
  html_text(isoproof_coo_matrix_database(matrix));
  fputs("</title>\n<style>body{font-family:sans-serif}table{border-collapse:collapse}td,th{border:1px solid "
        "#bbb;padding:2px "
        "8px;text-align:left}.P{background:#e4f5e4}.A{background:#f8c8c8;font-weight:bold}.R{background:#dcecf8}"
        ".D{background:#ecdff5}.T{background:#f8eecb}.differs{outline:2px solid #c00}</style>\n<h1>",
        stdout);
  html_text(isoproof_coo_matrix_database(matrix));
  fputs("</h1>\n<table>\n<tr><th>no<th>class<th>case<th>schedule", stdout);
  for (size_t i = 0; (level = isoproof_coo_matrix_level_at(matrix, i)) != NULL; i++) {
    fputs("<th>", stdout);
    html_text(level);
  }
  putchar('\n');
  for (size_t r = 0; isoproof_coo_matrix_row_at(matrix, r, &row); r++) {
    printf("<tr><td>%u</td><td>%s</td><td>", row.number, row.kind);
    html_text(row.name);
    fputs("</td><td>", stdout);
    html_text(row.plan);
    fputs("</td>", stdout);
    for (size_t l = 0; isoproof_coo_matrix_cell_at(matrix, r, l, &cell); l++) html_cell(view, &row, r, l, &cell);
    puts("</tr>");
  }
  fputs("</table>\n<p>", stdout);
  for (int i = 0; i < ISOPROOF_COO_RESULTS; i++) {
    printf("%s%c: %s", i > 0 ? "; " : "", isoproof_coo_result_letter((isoproof_coo_result)i),
           isoproof_coo_result_meaning((isoproof_coo_result)i));
  }
  puts(".</p>");
  if (view->hermitage) html_hermitage(view);
  puts("</html>");
}
