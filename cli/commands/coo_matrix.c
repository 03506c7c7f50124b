/* coo_matrix.c - the matrix in a terminal, as wide as that is. */
#include <inttypes.h>
#include <string.h>

#include "cli/commands/coo.h"

enum { LEAD = 12, NAME_LEAST = 16, LEVELS_MOST = 8, SHORT = 8 };

/* ---- what all outputs share ---- */

void coo_letters(const isoproof_coo_cell *cell, char out[COO_LETTERS]) {
  size_t used = 0;
  if (cell->runs == 0) {
    strcpy(out, "-");
    return;
  }
  out[used++] = isoproof_coo_result_letter(cell->result);
  for (int i = 0; i < ISOPROOF_COO_RESULTS; i++) {
    if ((isoproof_coo_result)i == cell->result || cell->counts[i] == 0) continue;
    out[used++] = '/';
    out[used++] = isoproof_coo_result_letter((isoproof_coo_result)i);
  }
  if (cell->broken) out[used++] = '!';
  if (cell->unexpected > 0) out[used++] = '*';
  out[used] = 0;
}

void coo_row_title(const isoproof_coo_row *row, char *out, size_t size) {
  if (row->number > 0)
    snprintf(out, size, "%u %s", row->number, row->name);
  else
    snprintf(out, size, "%s", row->name);
}

char coo_differs(const coo_view *view, const isoproof_coo_row *row, const char *level, const isoproof_coo_cell *cell) {
  if (!view->compare || view->hermitage || cell->runs == 0) return 0;
  char published = isoproof_coo_published(isoproof_coo_matrix_database(view->matrix), level, row->number);
  return published != 0 && published != isoproof_coo_result_letter(cell->result) ? published : 0;
}

void coo_headline(const coo_view *view, char *out, size_t size) {
  const isoproof_coo_matrix *matrix = view->matrix;
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_summary summary = {.struct_size = sizeof summary};
  size_t rows = 0, levels = 0, unexpected = isoproof_coo_matrix_unexpected(matrix);
  bool expected = false;
  while (isoproof_coo_matrix_row_at(matrix, rows, &row)) rows++;
  for (; isoproof_coo_matrix_summary_at(matrix, levels, &summary); levels++)
    expected = expected || summary.expected != NULL;
  int used = snprintf(out, size, "%s: %zu case%s at %zu level%s, ", isoproof_coo_matrix_database(matrix), rows,
                      rows == 1 ? "" : "s", levels, levels == 1 ? "" : "s");
  if (used < 0 || (size_t)used >= size) return;
  const char *stopped = isoproof_coo_matrix_complete(matrix) ? "" : "; stopped before the end";
  if (unexpected > 0)
    snprintf(out + used, size - (size_t)used, "%zu UNEXPECTED%s", unexpected, stopped);
  else
    snprintf(out + used, size - (size_t)used, "%s%s", expected ? "nothing unexpected" : "nothing was expected", stopped);
}

const char *coo_color_of(const coo_view *view, const isoproof_coo_cell *cell) {
  static const char *const colors[ISOPROOF_COO_RESULTS] = {[ISOPROOF_COO_PASS] = "\033[32m",
                                                           [ISOPROOF_COO_ANOMALY] = "\033[33m",
                                                           [ISOPROOF_COO_RULE] = "\033[36m",
                                                           [ISOPROOF_COO_DEADLOCK] = "\033[35m",
                                                           [ISOPROOF_COO_TIMEOUT] = "\033[34m"};
  if (!view->color || cell->runs == 0) return "";
  return cell->unexpected > 0 ? "\033[1;41;37m" : colors[cell->result];
}

/* ---- columns ---- */

/* How wide everything is, and what the columns are called. */
typedef struct layout {
  char heads[LEVELS_MOST][64];
  unsigned widths[LEVELS_MOST];
  size_t levels;
  unsigned name; /* with the space after it */
  bool is_short; /* the columns have abbreviations */
} layout;

/* "read uncommitted" is RU, "serializable" SER. */
static void abbreviate(const char *name, char out[SHORT]) {
  size_t used = 0;
  bool words = strpbrk(name, " -_") != NULL;
  for (size_t i = 0; name[i] != 0 && used < 4; i++) {
    bool begins = i == 0 || strchr(" -_", name[i - 1]) != NULL;
    if ((words && !begins) || (!words && used == 3)) continue;
    char c = name[i];
    if (c >= 'a' && c <= 'z') c = (char)(c - 'a' + 'A');
    if ((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) out[used++] = c;
  }
  out[used] = 0;
}

/* What is called like one before it has a number. */
static void shorten_head(layout *l, const char *name) {
  char text[SHORT];
  bool taken = false;
  abbreviate(name, text);
  for (size_t i = 0; i < l->levels; i++) taken = taken || strcmp(l->heads[i], text) == 0;
  if (taken || text[0] == 0)
    snprintf(l->heads[l->levels], sizeof l->heads[0], "%s%zu", text, l->levels + 1);
  else
    snprintf(l->heads[l->levels], sizeof l->heads[0], "%s", text);
}

static void cell_text(const coo_view *view, const isoproof_coo_row *row, size_t level, const isoproof_coo_cell *cell,
                      char out[64]) {
  char letters[COO_LETTERS];
  coo_letters(cell, letters);
  char published = coo_differs(view, row, isoproof_coo_matrix_level_at(view->matrix, level), cell);
  if (published != 0)
    snprintf(out, 64, "%s (paper: %c)", letters, published);
  else
    snprintf(out, 64, "%s", letters);
}

static unsigned columns_total(const layout *l) {
  unsigned total = 0;
  for (size_t i = 0; i < l->levels; i++) total += l->widths[i];
  return total;
}

static void measure(const coo_view *view, bool is_short, layout *l) {
  const isoproof_coo_matrix *matrix = view->matrix;
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  const char *level;
  *l = (layout){.is_short = is_short};
  for (; l->levels < LEVELS_MOST && (level = isoproof_coo_matrix_level_at(matrix, l->levels)) != NULL; l->levels++) {
    if (is_short)
      shorten_head(l, level);
    else
      snprintf(l->heads[l->levels], sizeof l->heads[0], "%s", level);
    l->widths[l->levels] = text_columns(l->heads[l->levels]) + 2;
  }
  for (size_t r = 0; isoproof_coo_matrix_row_at(matrix, r, &row); r++) {
    unsigned name = text_columns(row.name) + 2;
    if (name > l->name) l->name = name;
    for (size_t i = 0; i < l->levels && isoproof_coo_matrix_cell_at(matrix, r, i, &cell); i++) {
      char text[64];
      cell_text(view, &row, i, &cell, text);
      if (text_columns(text) + 2 > l->widths[i]) l->widths[i] = text_columns(text) + 2;
    }
  }
}

static void find_layout(const coo_view *view, layout *l) {
  measure(view, false, l);
  unsigned names = l->name < 34 ? l->name : 34;
  if (LEAD + names + columns_total(l) > view->width + 2) measure(view, true, l);
  unsigned used = LEAD + columns_total(l), room = view->width + 2 > used ? view->width + 2 - used : 0;
  if (l->name > room) l->name = room;
  if (l->name < NAME_LEAST) l->name = NAME_LEAST;
}

/* A text of unknown origin in so many columns, cut where it is longer; at least one space follows it. */
static void put_cell(const char *text, unsigned width) {
  char kept[256];
  unsigned columns = text_columns(text);
  size_t length = strlen(text);
  if (columns >= width && width > 4) {
    unsigned at = 0;
    size_t i = 0;
    for (; text[i] != 0 && i < sizeof kept - 8; i++) {
      if (((unsigned char)text[i] & 0xc0) != 0x80 && ++at > width - 4) break;
    }
    snprintf(kept, sizeof kept, "%.*s...", (int)i, text);
    text = kept;
    columns = width - 1;
  } else if (length >= sizeof kept) {
    columns = width;
  }
  put_escaped(stdout, text);
  printf("%*s", columns < width ? (int)(width - columns) : 1, "");
}

/* ---- parts ---- */

/* What was expected of each level, and what came of it. */
static void text_summary(const coo_view *view) {
  char line[COO_SENTENCE + 128];
  const char *level;
  coo_headline(view, line, sizeof line);
  bool bad = isoproof_coo_matrix_unexpected(view->matrix) > 0;
  if (view->color) fputs(bad ? "\033[1;31m" : "\033[1m", stdout);
  put_escaped(stdout, line);
  puts(view->color ? "\033[0m\n" : "\n");
  for (size_t i = 0; (level = isoproof_coo_matrix_level_at(view->matrix, i)) != NULL; i++) {
    fputs("  ", stdout);
    put_escaped(stdout, level);
    fputs(": ", stdout);
    isoproof_coo_matrix_sentence_at(view->matrix, i, line, sizeof line);
    print_wrapped(stdout, line, 4 + text_columns(level), 4, view->width);
    putchar('\n');
  }
}

static void text_unexpected_cell(const coo_view *view, const isoproof_coo_row *row, size_t r, size_t l,
                                 const isoproof_coo_cell *cell) {
  isoproof_coo_summary summary = {.struct_size = sizeof summary};
  isoproof_coo_event event = {.struct_size = sizeof event};
  char title[256];
  coo_row_title(row, title, sizeof title);
  if (!isoproof_coo_matrix_summary_at(view->matrix, l, &summary)) return;
  fputs("  ", stdout);
  put_escaped(stdout, title);
  fputs(" at ", stdout);
  put_escaped(stdout, isoproof_coo_matrix_level_at(view->matrix, l));
  printf(": %s forbids it", summary.expected);
  if (cell->runs > 1) printf(" (%u of %u runs)", cell->unexpected, cell->runs);
  putchar('\n');
  if (cell->executed != NULL) {
    fputs("    executed  ", stdout);
    put_escaped(stdout, cell->executed);
    putchar('\n');
  }
  for (size_t i = 0; isoproof_coo_cell_error_at(view->matrix, r, l, i, &event); i++) {
    printf("    session %u, ", event.session);
    put_escaped(stdout, event.step);
    fputs(": ", stdout);
    put_escaped(stdout, event.code);
    putchar(' ');
    put_escaped(stdout, event.message);
    putchar('\n');
  }
}

static void text_unexpected(const coo_view *view) {
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  if (isoproof_coo_matrix_unexpected(view->matrix) == 0) return;
  printf("\n%sUNEXPECTED%s\n", view->color ? "\033[1;41;37m" : "", view->color ? "\033[0m" : "");
  for (size_t r = 0; isoproof_coo_matrix_row_at(view->matrix, r, &row); r++) {
    for (size_t l = 0; isoproof_coo_matrix_cell_at(view->matrix, r, l, &cell); l++)
      if (cell.unexpected > 0) text_unexpected_cell(view, &row, r, l, &cell);
  }
}

static void text_table(const coo_view *view, const layout *l) {
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  printf("\n%4s %-6s ", "no", view->hermitage ? "" : "class");
  put_cell("case", l->name);
  for (size_t i = 0; i < l->levels; i++) {
    put_escaped(stdout, l->heads[i]);
    printf("%*s", i + 1 < l->levels ? (int)(l->widths[i] - text_columns(l->heads[i])) : 0, "");
  }
  putchar('\n');
  for (size_t r = 0; isoproof_coo_matrix_row_at(view->matrix, r, &row); r++) {
    if (row.number > 0)
      printf("%4u ", row.number);
    else
      printf("%4s ", "-");
    put_cell(view->hermitage ? "" : row.kind, 7);
    put_cell(row.name, l->name);
    for (size_t i = 0; i < l->levels && isoproof_coo_matrix_cell_at(view->matrix, r, i, &cell); i++) {
      char text[64];
      const char *color = coo_color_of(view, &cell);
      cell_text(view, &row, i, &cell, text);
      printf("%s%s%s%*s", color, text, *color != 0 ? "\033[0m" : "",
             i + 1 < l->levels ? (int)(l->widths[i] - text_columns(text)) : 0, "");
    }
    putchar('\n');
  }
}

static void text_hermitage(const coo_view *view, const layout *l) {
  const char *test;
  puts("\nAs hermitage has it: y prevented, n not prevented, r prevented for transactions");
  puts("that only read");
  unsigned name = 0;
  for (size_t i = 0; i < l->levels; i++)
    if (text_columns(l->heads[i]) + 2 > name) name = text_columns(l->heads[i]) + 2;
  put_cell("", name);
  for (size_t t = 0; (test = isoproof_coo_hermitage_test_at(t)) != NULL; t++) printf("%s%s", t > 0 ? "  " : "", test);
  putchar('\n');
  for (size_t i = 0; i < l->levels; i++) {
    put_cell(l->heads[i], name);
    for (size_t t = 0; (test = isoproof_coo_hermitage_test_at(t)) != NULL; t++) {
      bool last = isoproof_coo_hermitage_test_at(t + 1) == NULL;
      printf("%-*c", last ? 1 : (int)strlen(test) + 2, isoproof_coo_hermitage_letter(view->matrix, i, t));
    }
    putchar('\n');
  }
}

/* How often which result came, where it was not always the same. */
static void text_races(const coo_view *view) {
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  char title[256];
  for (size_t r = 0; isoproof_coo_matrix_row_at(view->matrix, r, &row); r++) {
    for (size_t l = 0; isoproof_coo_matrix_cell_at(view->matrix, r, l, &cell); l++) {
      if (cell.counts[cell.result] == cell.runs) continue;
      coo_row_title(&row, title, sizeof title);
      fputs("races: ", stdout);
      put_escaped(stdout, title);
      fputs(" at ", stdout);
      put_escaped(stdout, isoproof_coo_matrix_level_at(view->matrix, l));
      putchar(':');
      for (int i = 0; i < ISOPROOF_COO_RESULTS; i++) {
        if (cell.counts[i] > 0) printf(" %c %u", isoproof_coo_result_letter((isoproof_coo_result)i), cell.counts[i]);
      }
      printf(" of %u runs\n", cell.runs);
    }
  }
}

/* Which marks the cells have. */
typedef struct marks {
  unsigned broken, unexpected, differing, missing;
} marks;

static marks count_marks(const coo_view *view) {
  marks m = {0};
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  for (size_t r = 0; isoproof_coo_matrix_row_at(view->matrix, r, &row); r++) {
    for (size_t l = 0; isoproof_coo_matrix_cell_at(view->matrix, r, l, &cell); l++) {
      m.broken += cell.broken;
      m.unexpected += cell.unexpected > 0;
      m.missing += cell.runs == 0;
      m.differing += coo_differs(view, &row, isoproof_coo_matrix_level_at(view->matrix, l), &cell) != 0;
    }
  }
  return m;
}

static void text_legend(const coo_view *view, const layout *l) {
  marks m = count_marks(view);
  putchar('\n');
  for (int i = 0; i < ISOPROOF_COO_RESULTS; i++) {
    printf("%s%c %s", i > 0 ? ", " : "", isoproof_coo_result_letter((isoproof_coo_result)i),
           isoproof_coo_result_name((isoproof_coo_result)i));
  }
  if (m.missing > 0) fputs(", - not run", stdout);
  putchar('\n');
  for (size_t i = 0; l->is_short && i < l->levels; i++) {
    printf("%s%s ", i > 0 ? ", " : "", l->heads[i]);
    put_escaped(stdout, isoproof_coo_matrix_level_at(view->matrix, i));
  }
  if (l->is_short) putchar('\n');
  if (m.unexpected > 0) puts("*: the level that is expected forbids it");
  if (m.broken > 0) puts("!: a transaction was rolled back, and what committed is an anomaly all the same");
  if (isoproof_coo_matrix_left_out(view->matrix) > 0)
    printf("%" PRIu64 " more cycles within the limits were left out (--limit, --seed)\n",
           isoproof_coo_matrix_left_out(view->matrix));
  if (view->compare && !view->hermitage) printf("%u cells differ from the published ones\n", m.differing);
}

void coo_text(const coo_view *view) {
  layout l;
  find_layout(view, &l);
  text_summary(view);
  text_unexpected(view);
  text_table(view, &l);
  text_legend(view, &l);
  text_races(view);
  if (view->hermitage) text_hermitage(view, &l);
}
