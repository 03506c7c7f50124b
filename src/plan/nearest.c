/* nearest.c - the key that somebody may have meant. */
#include <string.h>

#include "plan/plan.h"

enum { WORD_MOST = 32 };

/* How many letters to add, leave out or replace (Levenshtein); large for long words. */
static size_t distance(const char *a, const char *b) {
  size_t row[WORD_MOST + 1], m = strlen(a), n = strlen(b);
  if (m > WORD_MOST || n > WORD_MOST) return WORD_MOST;
  for (size_t j = 0; j <= n; j++) row[j] = j;
  for (size_t i = 1; i <= m; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= n; j++) {
      size_t above = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
      if (above + 1 < best) best = above + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      diagonal = above;
      row[j] = best;
    }
  }
  return row[n];
}

const char *iso_plan_nearest(const char *word, const char *const *names, size_t count) {
  const char *best = NULL;
  size_t least = 3;
  for (size_t i = 0; i < count; i++) {
    size_t steps = distance(word, names[i]);
    if (steps >= least || steps >= strlen(names[i])) continue;
    least = steps;
    best = names[i];
  }
  return best;
}
