/* suggest.h - "did you mean".  Candidates are looked at, never kept. */
#ifndef CLI_OPTIONS_SUGGEST_H
#define CLI_OPTIONS_SUGGEST_H

#include "cli/options/options.h"

/* Collects the best of the candidates offered for a mistyped word; the best is the one that was offered. */
typedef struct suggestion {
  const char *word;
  const char *best;
  unsigned distance;
} suggestion;

suggestion suggest_begin(const char *word);
void suggest_offer(suggestion *s, const char *candidate);
void suggest_offer_all(suggestion *s, choices_fn choices);
/* NULL when nothing is near enough. */
const char *suggest_best(const suggestion *s);

#endif
