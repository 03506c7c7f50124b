/* live_stream.h - the live checker on streams that never end, with nothing recorded: memory over time, and how soon a
 * violation is reported.
 *
 * The cases `stream-...` take transactions straight from a small database in memory (stream.h) and print a table of the
 * memory of the checker and of the process; `lost-update-...` lose one update in the middle: how long the poll that
 * reports it takes.  `--sim N` takes N transactions of the database `sim:` instead.  `--paced SECONDS` takes 50,000 a
 * second, by the clock, loses one update in the middle, and prints the seconds from its last transaction to the report.
 */
#ifndef BENCH_LIVE_STREAM_H
#define BENCH_LIVE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct live_stream_options {
  uint64_t seed;
  const char *only;    /* the case; with --sim and --paced the level; NULL: all */
  uint64_t txns;       /* of each case */
  uint64_t sim, paced; /* not 0: that alone */
} live_stream_options;

/* False when a verdict is wrong, or something failed. */
bool live_streams(const live_stream_options *options);

#endif
