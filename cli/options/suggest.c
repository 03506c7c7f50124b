/* suggest.c - edit distance with transpositions, and prefixes. */
#include "cli/options/suggest.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST_WORD = 64, NOTHING = 1000 };

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* The edits (insert, delete, replace, swap of neighbours) between two words, without regard to case. */
static unsigned edits(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b);
  if (n > LONGEST_WORD || m > LONGEST_WORD) return NOTHING;
  unsigned rows[3][LONGEST_WORD + 1];
  for (size_t j = 0; j <= m; j++) rows[0][j] = (unsigned)j;
  for (size_t i = 1; i <= n; i++) {
    unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= m; j++) {
      int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
      row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (x != y));
      bool swapped = i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && tolower((unsigned char)a[i - 2]) == y;
      if (swapped) row[j] = least(row[j], two_above[j - 2] + 1);
    }
  }
  return rows[n % 3][m];
}

suggestion suggest_begin(const char *word) { return (suggestion){word, NULL, NOTHING}; }

void suggest_offer(suggestion *s, const char *candidate) {
  unsigned distance = edits(s->word, candidate);
  size_t length = strlen(s->word);
  unsigned tolerated = length <= 3 ? 1 : length <= 7 ? 2 : 3;
  /* Somebody who types the beginning of a long word means that word. */
  if (length >= 2 && strncasecmp(s->word, candidate, length) == 0) distance = least(distance, 1);
  if (distance <= tolerated && distance < s->distance) {
    s->best = candidate;
    s->distance = distance;
  }
}

void suggest_offer_all(suggestion *s, choices_fn choices) {
  for (size_t i = 0; choices != NULL && choices(i) != NULL; i++) suggest_offer(s, choices(i));
}

const char *suggest_best(const suggestion *s) { return s->best; }
