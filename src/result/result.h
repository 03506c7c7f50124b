/* result.h - what isoproof_check found, inside the library: verdicts, and an engine that makes witnesses on demand.
 *
 * A result refers to its history and owns everything else until isoproof_result_free, the state of its engine too.
 */
#ifndef ISO_RESULT_RESULT_H
#define ISO_RESULT_RESULT_H

#include <isoproof/check.h>
#include <isoproof/level.h>
#include <pthread.h>

#include "base/arena.h"
#include "result/certificate.h"

/* What stands behind the anomalies of a result. */
typedef struct iso_result_engine {
  /* The witness of anomaly `number`, verified; NULL when it does not stand up, or memory is out.  Called by one thread
   * at a time, once per anomaly; everything in the witness belongs to the arena. */
  isoproof_anomaly *(*anomaly)(void *state, size_t number, iso_arena *arena);
  void (*free)(void *state);
} iso_result_engine;

/* A level that was decided or asked for. */
struct iso_level_entry {
  const isoproof_level_info *info;
  isoproof_verdict verdict;
  bool asked;
  const char *called; /* what the user calls it */
};

/* A level that nobody asked for and that was left, and why. */
struct iso_left_level {
  const isoproof_level_info *info;
  const char *reason;
};

/* What the search for one level took. */
struct iso_search_figures {
  const char *level;
  isoproof_search_stat *figures;
  size_t count;
};

struct isoproof_result {
  isoproof_history *history;
  bool all;                       /* every instance was asked for: each entry stands for one */
  struct iso_level_entry *levels; /* in the order of the table of levels */
  size_t level_count;
  struct iso_left_level *left; /* could be decided, but were not; in the order of the table */
  size_t left_count;
  const char *unknown_reason;
  bool repeated_values;                       /* nobody said that values are not unique, but they are not */
  const char *unexplained;                    /* a level whose violation takes too many cases to show */
  bool only_patterns;                         /* no level was judged, but patterns were asked for */
  const char **strongest, **weakest_violated; /* NULL-terminated */

  bool has_certificates; /* they were asked for */
  iso_certificates certificates;
  const char *uncertified; /* why they are missing; NULL when they are not */
  bool has_stats;          /* where figures about the search were asked for */
  struct iso_search_figures *searches;
  size_t search_count;

  /* Of Elle's way; NULL otherwise. */
  const char *elle_workload;
  isoproof_verdict elle_verdict;
  const char **elle_not, **elle_also_not, **elle_proved; /* NULL-terminated */

  size_t anomaly_count;
  uint64_t anomalies_found; /* as many, or more where some are not listed */
  isoproof_count_kind found_is;
  isoproof_anomaly **cache; /* by anomaly; made when it is asked for */
  uint32_t *order;          /* the anomalies as they are shown; NULL: as the engine numbers them */
  pthread_mutex_t lock;     /* guards the arena, the cache and the state of the engine */
  iso_arena arena;
  const iso_result_engine *engine;
  void *state;
};

/* A result without verdicts and anomalies, which takes over the state of the engine, also when memory is out. */
isoproof_status iso_result_new(isoproof_history *history, const iso_result_engine *engine, void *state,
                               isoproof_result **result, isoproof_error *error);
/* Enters a level; false when memory is out. */
bool iso_result_add_level(isoproof_result *result, const isoproof_level_info *info, isoproof_verdict verdict,
                          bool asked);
/* Enters a level that was left; false when memory is out. */
bool iso_result_leave_level(isoproof_result *result, const isoproof_level_info *info, const char *reason);
/* Says by which names levels, or models of Elle's, were asked for. */
void iso_result_call_levels(isoproof_result *result, const char *const *names, size_t count, bool models);
/* Finds the strongest satisfied and the weakest violated levels of those entered; false when memory is out. */
bool iso_result_find_extremes(isoproof_result *result);
/* Says how many anomalies there are, all of them listed; false when memory is out. */
bool iso_result_set_anomalies(isoproof_result *result, size_t count);
/* Puts the most telling anomaly first, which every output follows: what breaks a level that was asked for and is
 * violated; then what breaks the weakest level; then what takes the fewest transactions.  Makes all witnesses of lists
 * that are not long; false when memory is out. */
bool iso_result_rank(isoproof_result *result);
/* Where each level was judged under a choice of its own of what reads observed, and the anomalies are those of
 * `level`: leaves out those that break a level which another choice satisfies.  Where nothing else is left, they stay
 * as what breaks `level` under this choice. */
void iso_result_drop_contradicted(isoproof_result *result, const char *level);

#endif
