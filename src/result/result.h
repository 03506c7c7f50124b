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
  const char *unknown_reason;
  const char *unexplained;                    /* a level whose violation takes too many cases to show */
  bool only_patterns;                         /* no level was judged, but patterns were asked for */
  const char **strongest, **weakest_violated; /* NULL-terminated */

  bool has_certificates; /* they were asked for */
  iso_certificates certificates;
  const char *uncertified; /* why they are missing; NULL when they are not */
  bool has_stats;          /* where figures about the search were asked for */
  struct iso_search_figures *searches;
  size_t search_count;

  pthread_mutex_t lock; /* guards the arena, the verifier and the cache: witnesses are made when they are asked for */
  iso_arena arena;
  iso_verifier verifier;
  iso_prover prover;  /* made when the first cycle is asked for */
  iso_finding *shown; /* the findings behind isoproof_result_anomaly, in its order */
  size_t shown_count;
  size_t told[ISO_STRONG_MOST]; /* decisions whose scenarios are shown after those */
  size_t told_count;
  isoproof_anomaly **cache;

  struct iso_elle_result *elle; /* where a workload or models were asked for; see elle/elle_result.h */
};

/* A result without verdicts and anomalies, which takes over the state of the engine, also when memory is out. */
isoproof_status iso_result_new(isoproof_history *history, const iso_result_engine *engine, void *state,
                               isoproof_result **result, isoproof_error *error);
/* Enters a level; false when memory is out. */
bool iso_result_add_level(isoproof_result *result, const isoproof_level_info *info, isoproof_verdict verdict,
                          bool asked);
/* Finds the strongest satisfied and the weakest violated levels of those entered; false when memory is out. */
bool iso_result_find_extremes(isoproof_result *result);
/* Says how many anomalies there are; false when memory is out. */
bool iso_result_set_anomalies(isoproof_result *result, size_t count);

#endif
