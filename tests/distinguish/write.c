/* Writes what a search found as the table that the library is built with. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tests/distinguish/search.h"

static const char *const kinds[] = {
#define ISO_X(name, format) #name,
    ISO_DISTINCTION_KIND_LIST(ISO_X)
#undef ISO_X
};

static const char *const names[] = {
#define LEVEL(name, id, aliases, family, times, friendly, same_as, example, title, summary, definition, decided) #name,
#include "level/levels.def"
#include "level/models.def"
#undef LEVEL
};

static void write_text(const char *text) {
  for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
    fputs("            \"", stdout);
    for (const char *c = line; *c != '\n'; c++) {
      if (*c == '"') putchar('\\');
      putchar(*c);
    }
    fputs("\\n\"\n", stdout);
  }
}

static void write_set(const char *macro, iso_level_set set) {
  int column = printf("            %s(", macro);
  bool first = true;
  for (unsigned l = 0; l < ISO_LEVEL_COUNT; l++) {
    if ((set & ISO_LEVEL_BIT(l)) == 0) continue;
    if (!first && column + (int)strlen(names[l]) + 8 > 120)
      column = printf(" |\n                  ") - 3;
    else if (!first)
      column += printf(" | ");
    column += printf("L(%s)", names[l]);
    first = false;
  }
  fputs(first ? "0)" : ")", stdout);
}

void search_write(const search_bounds *bounds, const search_outcome *outcome) {
  puts("/* distinctions.def - made by `make distinguish`, by the search of tests/distinguish; do not edit.\n"
       " *\n"
       " * SEARCHED(kind, transactions, operations, judged): all histories of a kind with that many transactions and "
       "up to\n"
       " * that many operations were judged, so many.  DISTINCTION(kind, transactions, operations, sessions, keys, "
       "history,\n"
       " * what was asked, what of it holds): histories each of which is the smallest one for some pair of levels, "
       "smaller\n"
       " * ones of a kind first. */\n");
  for (unsigned k = 0; k < ISO_DISTINCTION_KINDS; k++) {
    for (unsigned t = 1; t <= SMALL_TXNS; t++) {
      if (bounds->operations[k][t] > 0)
        printf("SEARCHED(%s, %u, %u, %llu)\n", kinds[k], t, bounds->operations[k][t],
               (unsigned long long)outcome->judged[k][t]);
    }
  }
  for (size_t i = 0; i < outcome->count; i++) {
    const search_row *row = &outcome->rows[i];
    char text[SMALL_TEXT];
    small_text(&row->history, &row->frame, text);
    printf("\nDISTINCTION(%s, %u, %u, %u, %u,\n", kinds[row->kind], row->history.txns, row->history.ops,
           row->history.sessions, row->history.keys);
    write_text(text);
    fputs("            ,\n", stdout);
    write_set("ASKED", row->asked);
    fputs(",\n", stdout);
    write_set("HOLDS", row->holds);
    puts(")");
  }
}
