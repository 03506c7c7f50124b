/* published.c - the results that the paper reports, to compare with. */
#include <isoproof/coo.h>
#include <string.h>

typedef struct column {
  const char *database, *level, *letters;
} column;

static const column columns[] = {
#define PUBLISHED(database, level, letters) {database, level, letters},
#include "coo/published.def"
#undef PUBLISHED
};

/* Equal but for case, with '-' and '_' taken as ' '. */
static bool same_level(const char *a, const char *b) {
  for (; *a != 0 && *b != 0; a++, b++) {
    char x = *a == '-' || *a == '_' ? ' ' : *a, y = *b;
    if (x >= 'A' && x <= 'Z') x = (char)(x - 'A' + 'a');
    if (x != y) return false;
  }
  return *a == *b;
}

char isoproof_coo_published(const char *database, const char *level, unsigned number) {
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
    const column *c = &columns[i];
    if (strncmp(database, c->database, strlen(c->database)) != 0 || !same_level(level, c->level)) continue;
    return number >= 1 && number <= ISOPROOF_COO_NAMED ? c->letters[number - 1] : 0;
  }
  return 0;
}
