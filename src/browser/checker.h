/* checker.h - what the worker of the page calls (web/worker.js), and what it provides (imports.js).
 *
 * A checker owns its history, result and document until browser_free.  Text that is handed over lives until the next
 * call on the same checker.
 */
#ifndef ISO_BROWSER_CHECKER_H
#define ISO_BROWSER_CHECKER_H

#include <isoproof/isoproof.h>

/* Outputs: C name, number that the worker uses. */
#define BROWSER_OUTPUT_LIST(X)                                                                                         \
  X(DATA, 0)    /* what the page shows, as JSON */                                                                     \
  X(HTML, 1)    /* the report */                                                                                       \
  X(JSON, 2)    /* as `isoproof check --json` has it */                                                                \
  X(SVG, 3)     /* one anomaly, by its number */                                                                       \
  X(TEXT, 4)    /* as a terminal shows it */                                                                           \
  X(HISTORY, 5) /* the history, in the format that it came in where that can be written, else as JSON lines */

typedef enum browser_output {
#define BROWSER_X(name, number) BROWSER_##name = (number),
  BROWSER_OUTPUT_LIST(BROWSER_X)
#undef BROWSER_X
} browser_output;

typedef struct browser_checker browser_checker;

/* NULL when memory is out. */
browser_checker *browser_new(void);
void browser_free(browser_checker *checker);

/* Loads and judges the history at `path`.  Names are separated by commas: levels (none means all), or models, which are
 * judged Elle's way with a workload ("auto" finds it out; "" for the levels).  `timeout` in seconds, 0 for none. */
isoproof_status browser_check(browser_checker *checker, const char *path, const char *levels, const char *models,
                              const char *workload, bool duplicate_values, double timeout);
/* Makes `smaller` a checker of the smallest part of the history that still violates a level, judged as the whole was.
 * ISOPROOF_ERR_UNSUPPORTED where the level is not violated. */
isoproof_status browser_minimize(browser_checker *checker, browser_checker *smaller, const char *level, double timeout);
/* Hands an output to browser_bytes, piece by piece. */
isoproof_status browser_write(browser_checker *checker, browser_output output, unsigned number);
/* The last failure as people read it. */
const char *browser_error(const browser_checker *checker);
/* What can be asked for, as JSON: version, formats, levels, models, workloads. */
isoproof_status browser_list(void);

/* ---- provided by the worker ---- */

void browser_bytes(const void *bytes, size_t size);
/* `level` is NULL where none is being decided. */
void browser_progress(const char *stage, const char *unit, double done, double total, const char *level,
                      uint32_t levels_decided, uint32_t levels_total);
void browser_random(void *bytes, size_t size);

#endif
