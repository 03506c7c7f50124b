/* Several machines: what is certain of clocks that are shifted and drift, histories joined by it, machines that were
 * lost, and two clients that share a run. */
#include "tests/scratch.h"
#include "tests/unit/unit.h"

#include <inttypes.h>
#include <pthread.h>

#include "run/join.h"
#include "run/run.h"

/* ---- a world with a true time ---- */

enum {
  MACHINES = 3,
  SESSIONS = 6, /* number N is on machine N modulo 3 */
  KNOT = 100 * 1000 * 1000,
  KNOTS = 40,
  SECONDS = 2,
  MOST_TXNS = 4000,
  KEYS = 5,
  LEAST_WAY = 100 * 1000 /* nanoseconds of a message */
};

/* Clocks run at up to 99 ppm more or less than true time, each at another rate in every tenth of a second. */
typedef struct world {
  uint64_t random;
  int64_t knots[MACHINES][KNOTS + 1];
} world;

static void world_make(world *w, uint64_t seed) {
  w->random = seed * 2654435761 + 88172645463325252;
  for (int m = 0; m < MACHINES; m++) {
    w->knots[m][0] = (int64_t)unit_below(&w->random, UINT64_C(1000000000000000));
    for (int i = 0; i < KNOTS; i++) {
      int64_t ppm = (int64_t)unit_below(&w->random, 199) - 99;
      w->knots[m][i + 1] = w->knots[m][i] + KNOT + KNOT / 1000000 * ppm;
    }
  }
}

static int64_t clock_at(const world *w, int machine, int64_t moment) {
  int64_t knot = moment / KNOT, rest = moment % KNOT;
  assert_true(moment >= 0 && knot < KNOTS);
  int64_t step = w->knots[machine][knot + 1] - w->knots[machine][knot];
  return w->knots[machine][knot] + (int64_t)((__int128)step * rest / KNOT);
}

/* Ways are usually short, sometimes long, and never the same in both directions. */
static int64_t way(world *w) {
  int64_t usual = LEAST_WAY + (int64_t)unit_below(&w->random, 400 * 1000);
  return unit_below(&w->random, 5) == 0 ? usual * 20 : usual;
}

static iso_round_trip trip_at(world *w, int machine, int64_t moment) {
  int64_t there = moment + way(w), answered = there + (int64_t)unit_below(&w->random, 50000);
  return (iso_round_trip){.sent = clock_at(w, 0, moment),
                          .received = clock_at(w, machine, there),
                          .answered = clock_at(w, machine, answered),
                          .returned = clock_at(w, 0, answered + way(w))};
}

/* ---- clocks ---- */

static void bounds_hold_the_truth(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    world w;
    iso_clock clock = {.adrift = false};
    world_make(&w, seed);
    int64_t narrowest = INT64_MAX;
    for (int64_t at = 0; at < SECONDS * INT64_C(1000000000);
         at += 20000000 + (int64_t)unit_below(&w.random, 200000000)) {
      iso_round_trip trip = trip_at(&w, 1, at);
      int64_t width = trip.returned - trip.sent - (trip.answered - trip.received);
      if (width < narrowest) narrowest = width;
      assert_true(iso_clock_add(&clock, trip));
    }
    iso_clock_settle(&clock);
    assert_true(iso_clock_is_known(&clock));
    for (int i = 0; i < 200; i++) {
      int64_t at = (int64_t)unit_below(&w.random, (SECONDS + 1) * UINT64_C(1000000000));
      int64_t moment = clock_at(&w, 1, at), offset = moment - clock_at(&w, 0, at);
      iso_clock_bound bound = iso_clock_at(&clock, moment);
      assert_true(bound.low - 2 <= offset && offset <= bound.high + 2); /* the world rounds */
      /* No wider than the best trip and what the clocks can run apart in three seconds. */
      assert_true(bound.high - bound.low <= narrowest + 2 * ISO_CLOCK_DRIFT_PPM * 3000 + 100);
    }
    iso_clock_free(&clock);
  }
}

/* A clock that is set, or a machine that slept, is found out. */
static void jumps_set_a_clock_adrift(void **state) {
  (void)state;
  world w;
  iso_clock clock = {.adrift = false};
  world_make(&w, 7);
  for (int i = 0; i < 10; i++) {
    iso_round_trip trip = trip_at(&w, 1, (int64_t)i * KNOT);
    if (i >= 5) trip.received += 20000000, trip.answered += 20000000;
    assert_true(iso_clock_add(&clock, trip));
  }
  iso_clock_settle(&clock);
  assert_false(iso_clock_is_known(&clock));
  iso_clock_free(&clock);
  iso_clock back = {.adrift = false};
  iso_round_trip trip = {.sent = 10, .received = 100, .answered = 99, .returned = 30};
  assert_true(iso_clock_add(&back, trip) && !iso_clock_is_known(&back));
  iso_clock_free(&back);
}

/* ---- a database that respects real time, seen by machines ---- */

typedef struct sim_txn {
  int session;
  int64_t start, effect, end; /* true time */
  int key, other;
  int64_t read, written;
} sim_txn;

typedef struct sim {
  world w;
  sim_txn txns[MOST_TXNS];
  int count;
  int64_t base[MACHINES];
  char folder[SCRATCH_BYTES];
} sim;

static int by_effect(const void *a, const void *b) {
  int64_t x = ((const sim_txn *)a)->effect, y = ((const sim_txn *)b)->effect;
  return (x > y) - (x < y);
}

static int by_session(const void *a, const void *b) {
  const sim_txn *x = a, *y = b;
  return x->session != y->session ? x->session - y->session : (x->start > y->start) - (x->start < y->start);
}

/* Every transaction reads one key and writes another, at one moment between its start and its end. */
static void sim_run(sim *s, uint64_t seed) {
  world_make(&s->w, seed);
  s->count = 0;
  uint64_t *random = &s->w.random;
  for (int session = 0; session < SESSIONS; session++) {
    int64_t at = 1000000 + (int64_t)unit_below(random, 1000000);
    while (at < 200 * 1000 * 1000 && s->count < MOST_TXNS) {
      int64_t length = 20000 + (int64_t)unit_below(random, 2000000);
      s->txns[s->count++] = (sim_txn){.session = session,
                                      .start = at,
                                      .effect = at + 1 + (int64_t)unit_below(random, (uint64_t)length - 1),
                                      .end = at + length,
                                      .key = (int)unit_below(random, KEYS),
                                      .other = (int)unit_below(random, KEYS)};
      at += length + (int64_t)unit_below(random, 300000);
    }
  }
  int64_t store[KEYS] = {0}, used[SESSIONS] = {0};
  qsort(s->txns, (size_t)s->count, sizeof *s->txns, by_effect);
  for (int i = 0; i < s->count; i++) {
    sim_txn *t = &s->txns[i];
    t->read = store[t->key];
    t->written = used[t->session]++ * SESSIONS + t->session + 1; /* as the generator gives them out */
    store[t->other] = t->written;
  }
  qsort(s->txns, (size_t)s->count, sizeof *s->txns, by_session);
}

static FILE *open_in(const sim *s, const char *name) {
  char path[SCRATCH_BYTES + 64];
  snprintf(path, sizeof path, "%s/%s", s->folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  return file;
}

static void write_part(sim *s, int machine, int most, bool ends) {
  char name[64];
  snprintf(name, sizeof name, ISO_JOIN_PART, (unsigned)machine);
  FILE *file = open_in(s, name);
  s->base[machine] = clock_at(&s->w, machine, (int64_t)unit_below(&s->w.random, 1000000));
  fprintf(file, "{\"isoproof\":1,\"initial\":null,\"workload\":\"mixed\",\"sessions\":\"%d\",\"finished\":\"no\"}\n",
          SESSIONS);
  fprintf(file, "{\"isoproof\":1,\"clock-base\":\"%" PRId64 "\",\"machine\":\"%d\",\"machines\":\"%d\"}\n",
          s->base[machine], machine, MACHINES);
  int written = 0;
  for (int i = 0; i < s->count && written < most; i++) {
    const sim_txn *t = &s->txns[i];
    if (t->session % MACHINES != machine) continue;
    fprintf(file,
            "{\"session\":%d,\"status\":\"committed\",\"start\":%" PRId64 ",\"end\":%" PRId64 ",\"ops\":[[\"r\",%d,",
            t->session, clock_at(&s->w, machine, t->start) - s->base[machine],
            clock_at(&s->w, machine, t->end) - s->base[machine], t->key);
    fprintf(file, t->read != 0 ? "%" PRId64 : "null", t->read);
    fprintf(file, "],[\"w\",%d,%" PRId64 "]]}\n", t->other, t->written);
    written++;
  }
  fprintf(file, ends ? "{\"isoproof\":1,\"finished\":\"yes\"}\n" : "{\"session\":%d,\"stat", machine);
  assert_int_equal(fclose(file), 0);
}

/* `trusting`: as if every clock said the same as the first machine's at one moment, as NTP would have it. */
static void write_clocks(sim *s, bool trusting) {
  FILE *file = open_in(s, ISO_JOIN_CLOCKS);
  for (int m = 1; m < MACHINES; m++) {
    for (int64_t at = 0; at < 250 * 1000 * 1000; at += 10000000) {
      iso_round_trip trip = trip_at(&s->w, m, at);
      int64_t offset = trip.received - trip.sent;
      if (trusting && at > 0) break;
      if (trusting) trip = (iso_round_trip){trip.sent, trip.sent + offset, trip.sent + offset, trip.sent};
      iso_join_write_trip(file, (uint32_t)m, trip);
    }
  }
  assert_int_equal(fclose(file), 0);
}

static void write_all(sim *s, int lost, int most) {
  for (int m = 0; m < MACHINES; m++) write_part(s, m, m == lost ? most : MOST_TXNS, m != lost);
  write_clocks(s, false);
}

static void remove_all(sim *s) {
  static const char *const names[] = {"part-0.jsonl", "part-1.jsonl", "part-2.jsonl", "clocks.jsonl", "joined.jsonl"};
  char path[SCRATCH_BYTES + 64];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", s->folder, names[i]);
    unlink(path);
  }
  rmdir(s->folder);
}

/* Joins, and judges one level. */
static isoproof_verdict judge(sim *s, const char *level, iso_joined *joined) {
  char path[SCRATCH_BYTES + 64];
  isoproof_error error = {.offset = -1};
  isoproof_history *history;
  isoproof_result *result;
  isoproof_notice notice = {.struct_size = sizeof notice};
  snprintf(path, sizeof path, "%s/joined.jsonl", s->folder);
  assert_ok_error(iso_join(s->folder, path, NULL, joined, &error), error);
  assert_ok_error(isoproof_history_open(path, NULL, NULL, &history, &error), error);
  isoproof_counts counts = {.struct_size = sizeof counts};
  assert_true(isoproof_history_counts(history, &counts) && counts.has_times);
  assert_true(isoproof_history_notice_at(history, 0, &notice));
  assert_string_equal(notice.code, "clocks");
  assert_non_null(isoproof_history_fact(history, "clock-uncertainty"));
  isoproof_check_options how = {.struct_size = sizeof how, .levels = &level, .level_count = 1};
  assert_ok_error(isoproof_check(history, &how, NULL, &result, &error), error);
  isoproof_verdict verdict = isoproof_result_verdict(result);
  isoproof_result_free(result);
  isoproof_history_free(history);
  return verdict;
}

static sim *sim_new(void) {
  sim *s = calloc(1, sizeof *s);
  assert_true(s != NULL && scratch_folder(s->folder));
  return s;
}

/* What respects real time is never said not to; believing in clocks would have said so. */
static void joined_times_are_sound(void **state) {
  (void)state;
  sim *s = sim_new();
  iso_joined joined;
  int wrong = 0;
  for (uint64_t seed = 1; seed <= UNLESS_SLOW(12, 3); seed++) {
    sim_run(s, seed);
    write_all(s, -1, 0);
    assert_int_equal(judge(s, "strict-serializable", &joined), ISOPROOF_SATISFIED);
    assert_true(joined.count == MACHINES && joined.lost == 0 && joined.adrift == 0);
    assert_true(joined.txns == (uint64_t)s->count && joined.uncertainty >= 2 * LEAST_WAY);
    iso_joined_free(&joined);
    write_clocks(s, true);
    wrong += judge(s, "strict-serializable", &joined) == ISOPROOF_VIOLATED;
    iso_joined_free(&joined);
  }
  assert_true(wrong > 0);
  remove_all(s);
  free(s);
}

/* A read that is older than what is certain is found; one that is not cannot be. */
static void stale_reads_are_found(void **state) {
  (void)state;
  static const int64_t gaps[] = {1000, 60 * 1000 * 1000};
  static const isoproof_verdict expected[] = {ISOPROOF_SATISFIED, ISOPROOF_VIOLATED};
  for (int i = 0; i < 2; i++) {
    sim *s = sim_new();
    iso_joined joined;
    world_make(&s->w, 5);
    /* Machine 0 writes, and then machine 1 reads what was there before. */
    s->txns[0] = (sim_txn){.session = 0, .start = 2000000, .end = 3000000, .key = 1, .other = 0, .written = 1};
    s->txns[1] = (sim_txn){.session = 1, .start = 3000000 + gaps[i], .end = 4000000 + gaps[i], .key = 0, .other = 2};
    s->txns[1].written = 2;
    s->count = 2;
    write_all(s, -1, 0);
    assert_int_equal(judge(s, "strict-serializable", &joined), expected[i]);
    iso_joined_free(&joined);
    assert_int_equal(judge(s, "serializable", &joined), ISOPROOF_SATISFIED);
    iso_joined_free(&joined);
    remove_all(s);
    free(s);
  }
}

/* Nothing is held against the database that a machine did not live to record. */
static void lost_machines_are_unknown(void **state) {
  (void)state;
  sim *s = sim_new();
  iso_joined joined;
  for (uint64_t seed = 1; seed <= UNLESS_SLOW(6, 2); seed++) {
    for (int lost = 0; lost < MACHINES; lost++) {
      sim_run(s, seed);
      write_all(s, lost, 40);
      assert_int_equal(judge(s, "strict-serializable", &joined), ISOPROOF_SATISFIED);
      assert_true(joined.lost == 1 && joined.lost_writes > 0 && joined.machines[lost].txns == 40);
      iso_joined_free(&joined);
    }
  }
  /* A value that nobody wrote, and no lost machine can have written, stays one. */
  s->txns[0].read = 1000000 * SESSIONS + 1; /* of session 0, on machine 0 */
  write_all(s, 1, 40);
  assert_int_equal(judge(s, "read-committed", &joined), ISOPROOF_VIOLATED);
  iso_joined_free(&joined);
  write_all(s, 0, MOST_TXNS);
  assert_int_equal(judge(s, "read-committed", &joined), ISOPROOF_SATISFIED);
  iso_joined_free(&joined);
  remove_all(s);
  free(s);
}

/* Without round trips real time says nothing about the machine, and everything else is judged. */
static void clocks_that_say_nothing(void **state) {
  (void)state;
  sim *s = sim_new();
  iso_joined joined;
  sim_run(s, 3);
  write_all(s, -1, 0);
  assert_int_equal(fclose(open_in(s, ISO_JOIN_CLOCKS)), 0);
  assert_int_equal(judge(s, "strict-serializable", &joined), ISOPROOF_SATISFIED);
  assert_int_equal(joined.adrift, 2);
  iso_joined_free(&joined);
  remove_all(s);
  free(s);
}

static void what_is_no_part_is_refused(void **state) {
  (void)state;
  static const char *const lines[] = {"{\"session\":\"x\",\"status\":\"committed\"}\n", "nonsense\n",
                                      "{\"session\":1,\"status\":\"committed\",\"start\":1e9,\"ops\":[]}\n",
                                      "{\"session\":1,\"status\":\"committed\",\"ops\":[]}\n"};
  sim *s = sim_new();
  iso_joined joined;
  isoproof_error error = {.offset = -1};
  char path[SCRATCH_BYTES + 64];
  snprintf(path, sizeof path, "%s/joined.jsonl", s->folder);
  assert_int_equal(iso_join(s->folder, path, NULL, &joined, &error), ISOPROOF_ERR_USAGE);
  iso_joined_free(&joined);
  sim_run(s, 1);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    write_all(s, -1, 0);
    FILE *file = open_in(s, "part-1.jsonl");
    fprintf(file, "{\"isoproof\":1,\"clock-base\":\"5\",\"machine\":\"1\",\"machines\":\"3\"}\n%s", lines[i]);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(iso_join(s->folder, path, NULL, &joined, &error), ISOPROOF_ERR_FORMAT);
    assert_true(error.line == 2 && access(path, F_OK) != 0);
    iso_joined_free(&joined);
  }
  write_all(s, -1, 0);
  FILE *file = open_in(s, ISO_JOIN_CLOCKS);
  fputs("{\"machine\":3,\"sent\":1,\"received\":1,\"answered\":1,\"returned\":1}\n", file);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(iso_join(s->folder, path, NULL, &joined, &error), ISOPROOF_ERR_FORMAT);
  iso_joined_free(&joined);
  remove_all(s);
  free(s);
}

/* ---- clients that share a run ---- */

typedef struct meeting_place {
  pthread_barrier_t barrier;
  pthread_mutex_t lock;
  uint64_t most[3];
} meeting_place;

static isoproof_status meet(isoproof_run_point point, uint64_t *most, void *user, isoproof_error *error) {
  meeting_place *place = user;
  (void)error;
  pthread_mutex_lock(&place->lock);
  if (*most > place->most[point]) place->most[point] = *most;
  pthread_mutex_unlock(&place->lock);
  pthread_barrier_wait(&place->barrier);
  *most = place->most[point];
  return ISOPROOF_OK;
}

typedef struct client {
  isoproof_run_options options;
  isoproof_run_share share;
  isoproof_run_summary *summary;
  isoproof_status status;
  isoproof_error error;
  pthread_t thread;
} client;

static void *client_main(void *argument) {
  client *c = argument;
  c->status = isoproof_run(&c->options, NULL, &c->summary, &c->error);
  return NULL;
}

/* Two clients on one file of SQLite: one of them makes the table, all values differ, and all is gone in the end. */
static void clients_share_a_run(void **state) {
  (void)state;
  sim *s = sim_new();
  char url[SCRATCH_BYTES + 64], paths[2][SCRATCH_BYTES + 64];
  snprintf(url, sizeof url, "sqlite:%s/database", s->folder);
  const char *urls[] = {url};
  meeting_place place = {.lock = PTHREAD_MUTEX_INITIALIZER};
  assert_int_equal(pthread_barrier_init(&place.barrier, NULL, 2), 0);
  static const isoproof_workload_kind kinds[] = {ISOPROOF_WORKLOAD_MIXED, ISOPROOF_WORKLOAD_LIST_APPEND};
  for (size_t k = 0; k < 2; k++) {
    isoproof_workload_options workload = {.struct_size = sizeof workload};
    assert_true(isoproof_workload_defaults(kinds[k], &workload));
    workload.struct_size = sizeof workload;
    workload.kind = kinds[k];
    workload.sessions = 3;
    workload.txns = 90;
    client clients[2] = {0};
    for (uint32_t i = 0; i < 2; i++) {
      client *c = &clients[i];
      snprintf(paths[i], sizeof paths[i], "%s/part-%u.jsonl", s->folder, i);
      c->options.struct_size = sizeof c->options;
      assert_true(isoproof_run_defaults(&c->options));
      c->share = (isoproof_run_share){
          .struct_size = sizeof c->share, .number = i, .count = 2, .run = 4711 + k, .meet = meet, .user = &place};
      c->options.urls = urls;
      c->options.url_count = 1;
      c->options.workload = &workload;
      c->options.seconds = 0;
      c->options.path = paths[i];
      c->options.share = &c->share;
    }
    assert_int_equal(pthread_create(&clients[1].thread, NULL, client_main, &clients[1]), 0);
    client_main(&clients[0]);
    pthread_join(clients[1].thread, NULL);
    uint64_t done = 0;
    for (int i = 0; i < 2; i++) {
      assert_ok_error(clients[i].status, clients[i].error);
      const isoproof_run_counts *counts = isoproof_run_summary_counts(clients[i].summary);
      done += counts->committed + counts->aborted + counts->unknown;
      isoproof_run_summary_free(clients[i].summary);
    }
    assert_true(done >= 90); /* and the final reads */
    FILE *file = open_in(s, ISO_JOIN_CLOCKS);
    iso_join_write_trip(file, 1, (iso_round_trip){1, 2, 2, 3});
    assert_int_equal(fclose(file), 0);
    iso_joined joined;
    assert_int_equal(judge(s, "serializable", &joined), ISOPROOF_SATISFIED);
    assert_true(joined.count == 2 && joined.lost == 0 && joined.txns == done);
    iso_joined_free(&joined);
  }
  pthread_barrier_destroy(&place.barrier);
  unlink(url + strlen("sqlite:"));
  remove_all(s);
  free(s);
}

static void shares_that_make_no_sense(void **state) {
  (void)state;
  static const char *const urls[] = {"sqlite:"};
  static const struct {
    uint32_t number, count, sessions;
    uint64_t run;
    isoproof_workload_kind kind;
    isoproof_status expected;
  } cases[] = {{2, 2, 4, 1, ISOPROOF_WORKLOAD_MIXED, ISOPROOF_ERR_USAGE},
               {0, 0, 4, 1, ISOPROOF_WORKLOAD_MIXED, ISOPROOF_ERR_USAGE},
               {0, 2, 4, 0, ISOPROOF_WORKLOAD_MIXED, ISOPROOF_ERR_USAGE},
               {0, 5, 4, 1, ISOPROOF_WORKLOAD_MIXED, ISOPROOF_ERR_USAGE},
               {0, 2, 4, 1, ISOPROOF_WORKLOAD_MINI, ISOPROOF_ERR_UNSUPPORTED}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    isoproof_run_options options = {.struct_size = sizeof options};
    assert_true(isoproof_run_defaults(&options));
    isoproof_workload_options workload = {.struct_size = sizeof workload};
    isoproof_workload_defaults(cases[i].kind, &workload);
    workload.struct_size = sizeof workload;
    workload.kind = cases[i].kind;
    workload.sessions = cases[i].sessions;
    isoproof_run_share share = {.struct_size = sizeof share,
                                .number = cases[i].number,
                                .count = cases[i].count,
                                .run = cases[i].run,
                                .meet = meet};
    isoproof_run_summary *summary;
    isoproof_error error = {.offset = -1};
    options.urls = urls;
    options.workload = &workload;
    options.path = "/dev/null";
    options.share = &share;
    assert_int_equal(isoproof_run(&options, NULL, &summary, &error), cases[i].expected);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounds_hold_the_truth),      cmocka_unit_test(jumps_set_a_clock_adrift),
      cmocka_unit_test(joined_times_are_sound),     cmocka_unit_test(stale_reads_are_found),
      cmocka_unit_test(lost_machines_are_unknown),  cmocka_unit_test(clocks_that_say_nothing),
      cmocka_unit_test(what_is_no_part_is_refused), cmocka_unit_test(clients_share_a_run),
      cmocka_unit_test(shares_that_make_no_sense),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
