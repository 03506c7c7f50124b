/* live_source.h - small histories that are pushed into a live checker, in the order in which their transactions arrive.
 * A source is a plain value of its caller's. */
#ifndef LIVE_SOURCE_H
#define LIVE_SOURCE_H

#include "tests/random/random_history.h"
#include "tests/random/random_objects.h"
#include "tests/random/random_rows.h"

enum { LIVE_SOURCE_TEXT = 16384, LIVE_SOURCE_TXNS = 8 };

typedef struct live_source {
  bool of_rows;
  bool repeats; /* values: then a later write may explain what looked violated for good */
  bool of_objects;
  sketch registers; /* or lists */
  row_history rows;
  objects_history objects;
} live_source;

/* Draws registers, lists, rows, sets, counters or words; or rows alone. */
void live_source_draw(uint64_t *state, bool rows_only, live_source *out);
/* Registers and lists from a line of text: "/" between transactions, of which each has its session ("1:"), perhaps "!"
 * (aborted) or "?" (unknown outcome), its times ("@3-5"), and its operations: "w01" writes 1 to key 0, "r01" reads it,
 * "a01" appends it, "l0=12" reads the list 1, 2. */
live_source live_source_of(const char *text);

unsigned live_source_count(const live_source *s);
bool live_source_is_timed(const live_source *s);
/* The transactions from `first` to before `end`, as a history that the caller frees. */
isoproof_history *live_source_part(const live_source *s, unsigned first, unsigned end);
/* The numbers that these have in that history, in the order of arrival. */
void live_source_number(const live_source *s, const isoproof_history *batch, unsigned first, unsigned end,
                        uint64_t *order);

/* Makes it smaller as long as it fails. */
void live_source_shrink(live_source *s, bool (*fails)(live_source *s, void *user), void *user);
/* As text, for messages. */
void live_source_print(const live_source *s, char *out, size_t size);

#endif
