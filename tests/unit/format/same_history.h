/* same_history.h - for tests: compares two histories field by field through the public API.  Owns nothing. */
#ifndef TEST_SAME_HISTORY_H
#define TEST_SAME_HISTORY_H

#include <isoproof/isoproof.h>

/* What a format may change without being wrong. */
typedef struct same_options {
  bool by_position; /* sessions have no names in the format: match the first with the first, ... */
  bool no_times;    /* the format has no times */
} same_options;

/* Fails the running cmocka test at the first difference, which it prints after `what`. */
void same_history(const isoproof_history *a, const isoproof_history *b, same_options options, const char *what);

#endif
