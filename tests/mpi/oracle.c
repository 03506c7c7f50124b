/* Random histories and files on several ranks, against isoproof_check: `mpirun -n N mpi_oracle HISTORIES SEED
 * [FILE...]` exits with 1 at the first difference.  Every rank draws the same histories; of each, rank 0 decides by the
 * parts and compares with what the library says of the whole, at every level. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/spread.h"
#include "parts/coordinator.h"
#include "tests/random/random_history.h"

static uint64_t compared, left, judged_files, unread_files;

/* Rank 0: whether both ways come to the same, at every level that the parts decide. */
static bool same(const iso_coordination *c, const isoproof_result *result, const char *name) {
  const isoproof_level_info *level;
  for (size_t i = 0; (level = isoproof_level_at(i)) != NULL; i++) {
    isoproof_verdict right = isoproof_result_verdict_of(result, level->id), verdict = c->verdict[i];
    if (level->family == ISOPROOF_LEVEL_MODEL || right == ISOPROOF_UNDECIDED) continue;
    (*(verdict == ISOPROOF_UNDECIDED ? &left : &compared))++;
    if (verdict == ISOPROOF_UNDECIDED || verdict == right) continue;
    fprintf(stderr, "%s: %s is %s, not %s\n", name, level->id, isoproof_verdict_name(right),
            isoproof_verdict_name(verdict));
    return false;
  }
  return true;
}

static bool decide(talk *t, const isoproof_history *h, const isoproof_result *result, const char *name) {
  iso_team team;
  iso_coordination c;
  isoproof_error error;
  talk_team(t, &team);
  if (iso_coordinate(&team, h, ~(iso_level_set)0, NULL, &c, &error) != ISOPROOF_OK) {
    fprintf(stderr, "%s: %s\n", name, error.message);
    return false;
  }
  bool good = same(&c, result, name);
  iso_coordination_free(&c);
  return good;
}

/* Takes the history over, which ranks besides 0 have where it is spread in ranges. */
static bool try_history(isoproof_history *h, bool in_ranges, const char *name) {
  talk t;
  spread s;
  isoproof_error error;
  isoproof_result *result = NULL;
  talk_begin(&t, NULL);
  int good = 1, judged = t.rank != 0 || isoproof_check(h, NULL, NULL, &result, &error) == ISOPROOF_OK;
  bool rows = t.rank == 0 && iso_history_has_rows(h);
  if (rows) judged = 0;
  talk_share(&t, &judged, sizeof judged);
  if (!judged) {
    isoproof_history_free(h);
  } else if (spread_history(&t, h, in_ranges, &s, &error) != ISOPROOF_OK) {
    good = error.code == ISOPROOF_ERR_LIMIT;
  } else {
    if (t.rank == 0) good = decide(&t, s.history, result, name);
    if (t.rank == 0) talk_dismiss(&t);
    if (t.rank != 0) good = talk_serve(&t, &error) == ISOPROOF_OK;
  }
  isoproof_result_free(result);
  if (judged && good) spread_free(&s);
  talk_share(&t, &good, sizeof good);
  talk_end(&t);
  return good != 0;
}

/* Seeds that are near each other begin far from each other (the finalizer of SplitMix64). */
static uint64_t begin_random(uint64_t seed) {
  seed = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
  seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
  seed ^= seed >> 31;
  return seed != 0 ? seed : 1;
}

static bool try_random(uint64_t histories, uint64_t seed, int rank) {
  uint64_t random = begin_random(seed);
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    char name[64], text[4096];
    (i % 5 < 3 ? sketch_draw : sketch_draw_lists)(&random, &s);
    if (sketch_below(&random, 2) == 0) sketch_draw_times(&random, &s);
    bool in_ranges = sketch_below(&random, 2) == 0;
    snprintf(name, sizeof name, "history %llu", (unsigned long long)i);
    if (try_history(rank == 0 || in_ranges ? sketch_history(&s) : NULL, in_ranges, name)) continue;
    sketch_print(&s, text, sizeof text);
    if (rank == 0) fprintf(stderr, "%s\n", text);
    return false;
  }
  return true;
}

static bool try_files(char **paths, int count, int rank) {
  for (int i = 0; i < count; i++) {
    isoproof_history *h = NULL;
    isoproof_error error;
    int opened = rank != 0 || isoproof_history_open(paths[i], NULL, NULL, &h, &error) == ISOPROOF_OK;
    if (!opened) fprintf(stderr, "%s: %s\n", paths[i], error.message);
    MPI_Bcast(&opened, 1, MPI_INT, 0, MPI_COMM_WORLD);
    (*(opened ? &judged_files : &unread_files))++;
    if (opened && !try_history(h, false, paths[i])) return false;
  }
  return true;
}

int main(int argc, char **argv) {
  int level, rank, ranks;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  uint64_t histories = argc > 1 ? strtoull(argv[1], NULL, 10) : 100, seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  bool good = try_random(histories, seed, rank) && (argc <= 3 || try_files(argv + 3, argc - 3, rank));
  if (good && rank == 0)
    printf("%d ranks, seed %llu: %llu histories, %llu files, %llu unread: %llu verdicts as those of the whole, %llu "
           "left to it\n",
           ranks, (unsigned long long)seed, (unsigned long long)histories, (unsigned long long)judged_files,
           (unsigned long long)unread_files, (unsigned long long)compared, (unsigned long long)left);
  MPI_Finalize();
  return good ? 0 : 1;
}
