/* coo_matrix.c - the matrix in a terminal, as wide as that is. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/coo.h"

enum { LEAD = 12, NAME_LEAST = 16, LEVELS_MOST = 8 };

/* ---- what all outputs share ---- */

void coo_letters(const isoproof_coo_cell *cell, char out[COO_LETTERS]) {
  size_t used = 0;
  if (cell->runs == 0) {
    snprintf(out, COO_LETTERS, "-");
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
    snprintf(out + used, size - (size_t)used, "%s%s", expected ? "nothing unexpected" : "nothing was expected",
             stopped);
}

/* The text with everything in it that is no text made visible; NULL when memory is out. */
static char *escaped(const char *text) {
  char *made = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&made, &size);
  if (stream == NULL) return NULL;
  put_escaped(stream, text);
  fclose(stream);
  return made;
}

void coo_put(const coo_view *view, unsigned indent, const char *format, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  /* The first tab is that of the format: what may have others comes after it. */
  char *tab = strchr(format, '\t') != NULL ? strchr(text, '\t') : NULL;
  char *rest = tab != NULL ? tab + 1 : text + strspn(text, " ");
  char *safe = escaped(rest);
  size_t lead = (size_t)((tab != NULL ? tab : rest) - text);
  fwrite(text, 1, lead, stdout);
  if (safe != NULL) print_wrapped(stdout, safe, (unsigned)lead, indent, view->width);
  putchar('\n');
  free(safe);
  free(text);
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
      isoproof_coo_matrix_level_short(matrix, l->levels, l->heads[l->levels]);
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

void coo_put_cell(const char *text, unsigned width) {
  char kept[256];
  unsigned columns = text_columns(text);
  size_t length = strlen(text);
  if (columns >= width && width > 4) {
    unsigned at = 0;
    size_t i = 0;
    for (; i < sizeof kept - 8 && text[i] != 0; i++) {
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
  coo_put(view, 2, "%s", line);
  puts(view->color ? "\033[0m" : "");
  for (size_t i = 0; (level = isoproof_coo_matrix_level_at(view->matrix, i)) != NULL; i++) {
    isoproof_coo_matrix_sentence_at(view->matrix, i, line, sizeof line);
    coo_put(view, 4, "  %s: %s", level, line);
  }
}

static void text_unexpected_cell(const coo_view *view, const isoproof_coo_row *row, size_t r, size_t l,
                                 const isoproof_coo_cell *cell) {
  isoproof_coo_summary summary = {.struct_size = sizeof summary};
  isoproof_coo_event event = {.struct_size = sizeof event};
  char title[256], runs[64] = "";
  coo_row_title(row, title, sizeof title);
  if (!isoproof_coo_matrix_summary_at(view->matrix, l, &summary)) return;
  if (cell->runs > 1) snprintf(runs, sizeof runs, " (%u of %u runs)", cell->unexpected, cell->runs);
  coo_put(view, 4, "  %s at %s: %s forbids it%s", title, isoproof_coo_matrix_level_at(view->matrix, l),
          summary.expected, runs);
  if (cell->executed != NULL) coo_put(view, 14, "    executed  \t%s", cell->executed);
  for (size_t i = 0; isoproof_coo_cell_error_at(view->matrix, r, l, i, &event); i++)
    coo_put(view, 6, "    session %u, %s: %s %s", event.session, event.step, event.code, event.message);
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
  coo_put_cell("case", l->name);
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
    coo_put_cell(view->hermitage ? "" : row.kind, 7);
    coo_put_cell(row.name, l->name);
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
  putchar('\n');
  coo_put(view, 0, "As hermitage has it: y prevented, n not prevented, r prevented for transactions that only read");
  unsigned name = 0;
  for (size_t i = 0; i < l->levels; i++)
    if (text_columns(l->heads[i]) + 2 > name) name = text_columns(l->heads[i]) + 2;
  coo_put_cell("", name);
  for (size_t t = 0; (test = isoproof_coo_hermitage_test_at(t)) != NULL; t++) printf("%s%s", t > 0 ? "  " : "", test);
  putchar('\n');
  for (size_t i = 0; i < l->levels; i++) {
    coo_put_cell(l->heads[i], name);
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
      char counts[128] = "";
      size_t used = 0;
      if (cell.counts[cell.result] == cell.runs) continue;
      coo_row_title(&row, title, sizeof title);
      for (int i = 0; i < ISOPROOF_COO_RESULTS && used < sizeof counts; i++) {
        if (cell.counts[i] == 0) continue;
        used += (size_t)snprintf(counts + used, sizeof counts - used, " %c %u",
                                 isoproof_coo_result_letter((isoproof_coo_result)i), cell.counts[i]);
      }
      coo_put(view, 7, "races: %s at %s:%s of %u runs", title, isoproof_coo_matrix_level_at(view->matrix, l), counts,
              cell.runs);
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
  char names[LEVELS_MOST * 80] = "";
  size_t used = 0;
  for (size_t i = 0; l->is_short && i < l->levels && used < sizeof names; i++)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s %.60s", i > 0 ? ", " : "", l->heads[i],
                             isoproof_coo_matrix_level_at(view->matrix, i));
  if (l->is_short) coo_put(view, 0, "%s", names);
  if (m.unexpected > 0) puts("*: the level that is expected forbids it");
  if (m.broken > 0) coo_put(view, 3, "!: a transaction was rolled back, and what committed is an anomaly all the same");
  if (isoproof_coo_matrix_left_out(view->matrix) > 0)
    coo_put(view, 0, "%" PRIu64 " more cycles within the limits were left out (--limit, --seed)",
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
