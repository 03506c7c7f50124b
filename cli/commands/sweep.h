/* sweep.h - `isoproof test --sweep`: many short runs, each of another combination of workload, contention, jitter,
 * layout, access path and way of sending; more of those whose transactions get in each other's way.
 *
 * A sweep owns its combinations until sweep_free; the names in them are constants of the library.
 */
#ifndef CLI_COMMANDS_SWEEP_H
#define CLI_COMMANDS_SWEEP_H

#include "cli/commands/test_round.h"

/* What became of a combination: C name, name, in words. */
#define SWEEP_STATE_LIST(X)                                                                                            \
  X(UNTRIED, "untried", "there was no time for it")                                                                    \
  X(UNAVAILABLE, "unavailable", "the database does not have it")                                                       \
  X(SATISFIED, "satisfied", "the level held in every slice")                                                           \
  X(UNKNOWN, "unknown", "a slice could not be decided")                                                                \
  X(VIOLATED, "violated", "a slice violated the level")

typedef enum sweep_state {
#define SWEEP_X(name, id, text) SWEEP_##name,
  SWEEP_STATE_LIST(SWEEP_X)
#undef SWEEP_X
      SWEEP_STATES
} sweep_state;

const char *sweep_state_name(sweep_state state);

typedef struct sweep_combination {
  isoproof_workload_kind workload;
  uint32_t sessions;
  double jitter; /* microseconds; below 0: several scales */
  const char *layout, *access, *statements, *round_trips;
  bool more_sessions; /* than the workload has by itself */
  uint32_t unusual;   /* how many of these are not what a run has by itself */
  uint32_t turn;      /* among those of its workload */
  uint32_t rank;      /* of its workload */
  /* What came of it. */
  sweep_state state;
  uint64_t slices, transactions, conflicts, aborts;
  double seconds; /* of its runs */
  double spent;   /* with judging, and all that goes with it */
} sweep_combination;

typedef struct sweep {
  sweep_combination *items;
  size_t count, room;
  uint64_t random;
  uint64_t slices;
  double seconds;    /* so far */
  size_t violation;  /* the first combination that was violated; SIZE_MAX none */
  const char *level; /* that was expected; NULL none */

} sweep;

/* Every combination that the command line leaves open, the usual ones first; false when memory is out. */
bool sweep_make(sweep *s, const tester *t);
void sweep_free(sweep *s);
/* "first-insert, bitmap, plain": its workload, and what is unusual about it. */
void sweep_describe(const sweep_combination *c, char *text, size_t size);
/* Which one is next.  Workloads share the time, those whose transactions get in each other's way more than others; of a
 * workload every second slice is one that was not tried yet, the usual ones first, and the others go to what was tried,
 * in proportion to the same.  SIZE_MAX when none is left. */
size_t sweep_next(sweep *s);
/* What a slice adds to what is known of a combination; those that need the same of the database go with it when that is
 * not available. */
void sweep_learn(sweep_combination *c, const judgement *j);
void sweep_unavailable(sweep *s, const sweep_combination *c);

/* The table in words, on standard output; as a line of JSON; and as sweep.json and sweep.md in the folder (false after
 * a message). */
void sweep_print(const sweep *s, FILE *out);
bool sweep_print_json(const sweep *s, FILE *out);
bool sweep_save(const sweep *s, const test_folder *folder);

/* All of it: an exit code as for a test. */
int sweep_run(tester *t);

#endif
