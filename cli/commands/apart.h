/* apart.h - a history that tells two levels apart, judged anew before it is shown.
 *
 * apart_find fills a struct that owns the history and the result until apart_free; the rest is borrowed from the
 * library's tables.
 */
#ifndef CLI_COMMANDS_APART_H
#define CLI_COMMANDS_APART_H

#include <isoproof/check.h>
#include <isoproof/distinguish.h>
#include <stdio.h>

typedef enum apart_outcome {
  APART_FOUND,
  APART_IMPLIED, /* there is none: the first level implies the second */
  APART_UNKNOWN, /* a model that was not searched for */
  APART_FAILED   /* an internal error, which was told */
} apart_outcome;

typedef struct apart {
  const isoproof_level_info *allows, *forbids;
  isoproof_distinction found;
  isoproof_history *history;
  isoproof_result *result;
  isoproof_anomaly anomaly; /* why the second level forbids it */
} apart;

apart_outcome apart_find(const isoproof_level_info *allows, const isoproof_level_info *forbids, apart *out);
void apart_free(apart *a);

/* "2 transactions, 4 operations". */
enum { APART_SIZE = 64 };
const char *apart_size(const apart *a, char text[APART_SIZE]);
/* A line for each session with its transactions, in the places of their times where they have times. */
void apart_draw(const apart *a, FILE *out, unsigned indent);

/* `isoproof levels --distinguish`: the history or the proof, and the exit code. */
int distinguish(const char *allows, const char *forbids, bool as_json);
/* The same for every pair that there is an answer for, as JSON, a line each. */
int distinguish_all(void);

#endif
