/* solver.c - the solver on problems of the kinds that it meets.
 *
 *     solver [--case NAME] [--seed N]
 *
 * Prints for each case its size, the answer, processor seconds to build and to solve, and what the solver counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/random/polygraph.h"

typedef struct shape {
  const char *name;
  polygraph_spec spec;
  bool hint;
  iso_solver_answer expected;
} shape;

static const shape shapes[] = {
    {"small", {2000, 20, 10000, 15, 100, 0, 0, 1}, false, ISO_SOLVER_SAT},
    {"close", {5000, 20, 1000, 15, 40, 0, 0, 1}, false, ISO_SOLVER_SAT},
    {"close-hint", {5000, 20, 1000, 15, 40, 0, 0, 1}, true, ISO_SOLVER_SAT},
    {"wide", {2000, 50, 300, 8, 200, 0, 0, 1}, false, ISO_SOLVER_SAT},
    {"many", {100000, 20, 100000, 15, 60, 0, 0, 1}, false, ISO_SOLVER_SAT},
    {"many-hint", {100000, 20, 100000, 15, 60, 0, 0, 1}, true, ISO_SOLVER_SAT},
    {"large-hint", {1000000, 20, 1000000, 15, 40, 0, 0, 1}, true, ISO_SOLVER_SAT},
    {"broken", {5000, 20, 1000, 15, 40, 1, 0, 1}, false, ISO_SOLVER_UNSAT},
    {"many-broken", {100000, 20, 100000, 15, 60, 1, 0, 1}, true, ISO_SOLVER_UNSAT},
    {"dense", {200000, 100, 20000, 8, 150, 0, 0, 1}, false, ISO_SOLVER_SAT},
    {"dense-hint", {200000, 100, 20000, 8, 150, 0, 0, 1}, true, ISO_SOLVER_SAT},
    {"stale", {1000, 50, 200, 8, 200, 0, 4, 1}, false, ISO_SOLVER_UNKNOWN},
    {"hard", {150, 30, 20, 6, 150, 0, 0, 1}, false, ISO_SOLVER_SAT},
    {"hard-stale", {100, 40, 30, 5, 100, 0, 10, 1}, false, ISO_SOLVER_UNKNOWN},
};

/* Seconds of processor time: the solver has one thread, and other processes should not count. */
static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static const char *const answers[] = {"unknown", "sat", "unsat"};

static bool run_polygraph(const shape *sh, uint64_t seed) {
  polygraph_spec spec = sh->spec;
  polygraph p;
  iso_solver *solver;
  isoproof_error error;
  iso_solver_answer answer;
  spec.seed = seed;
  if (!polygraph_make(&spec, &p)) return false;
  double start = seconds();
  bool made = polygraph_solver(&p, sh->hint, &solver, &error) == ISOPROOF_OK;
  double built = seconds();
  if (!made) {
    polygraph_free(&p);
    return false;
  }
  bool solved = iso_solver_solve(solver, NULL, 0, NULL, &answer, &error) == ISOPROOF_OK;
  double end = seconds();
  solved = solved && (sh->expected == ISO_SOLVER_UNKNOWN || answer == sh->expected) &&
           (answer != ISO_SOLVER_SAT || polygraph_solved(&p, solver));
  printf("%-12s %8u nodes %9zu fixed %8zu clauses  %-7s build %6.3f s  solve %7.3f s%s\n", sh->name, p.txns,
         p.fixed.count, p.choices.count, answers[answer], built - start, end - built, solved ? "" : "  WRONG");
  const iso_solver_stats *stats = iso_solver_statistics(solver);
#define PRINT(name, text)                                                                                              \
  if (stats->name > 0) printf("    %-18s %12llu  %s\n", #name, (unsigned long long)stats->name, text);
  ISO_SOLVER_STATS(PRINT)
#undef PRINT
  iso_solver_free(solver);
  polygraph_free(&p);
  return solved;
}

/* Twenty thousand solvers of twenty nodes each. */
static bool run_tiny(uint64_t seed) {
  enum { SOLVERS = 20000 };
  polygraph_spec spec = {20, 4, 8, 4, 20, 0, 0, seed};
  polygraph p;
  if (!polygraph_make(&spec, &p)) return false;
  bool fine = true;
  double start = seconds();
  for (int i = 0; i < SOLVERS && fine; i++) {
    iso_solver *solver;
    iso_solver_answer answer;
    fine = polygraph_solver(&p, false, &solver, NULL) == ISOPROOF_OK;
    if (!fine) break;
    fine = iso_solver_solve(solver, NULL, 0, NULL, &answer, NULL) == ISOPROOF_OK && answer == ISO_SOLVER_SAT;
    iso_solver_free(solver);
  }
  printf("%-12s %8u nodes %9zu fixed %8zu clauses, %d times: %.1f us each\n", "tiny", p.txns, p.fixed.count,
         p.choices.count, SOLVERS, (seconds() - start) / SOLVERS * 1e6);
  polygraph_free(&p);
  return fine;
}

int main(int argc, char **argv) {
  const char *only = NULL;
  uint64_t seed = 1;
  bool fine = true;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--case") == 0 && i + 1 < argc) {
      only = argv[++i];
    } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
      seed = strtoull(argv[++i], NULL, 10);
    } else {
      fprintf(stderr, "usage: solver [--case NAME] [--seed N]\n");
      return 2;
    }
  }
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    if (only == NULL || strcmp(only, shapes[i].name) == 0) fine &= run_polygraph(&shapes[i], seed);
  }
  if (only == NULL || strcmp(only, "tiny") == 0) fine &= run_tiny(seed);
  return fine ? 0 : 1;
}
