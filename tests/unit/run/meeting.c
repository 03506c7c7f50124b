/* When sessions begin: they wait for each other (all go at once, nobody waits for who is gone, and nobody after the
 * end), for their phase, and for the schedule. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "run/load.h"
#include "run/meeting.h"

enum { SESSIONS = 4, ROUNDS = 500, LEAVES = 200 };

typedef struct world {
  iso_meeting meeting;
  atomic_bool over;
  atomic_uint inside[ROUNDS + 2]; /* how many went through a round */
  atomic_uint ready;              /* rounds that were made ready */
  atomic_uint early;              /* sessions that went before the round was ready, or before all were there */
} world;

static int64_t now(void *user) {
  (void)user;
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static bool over(void *user) { return atomic_load(&((world *)user)->over); }
static bool ready(void *user, uint64_t round) {
  world *w = user;
  atomic_store(&w->ready, (unsigned)round);
  return !over(user);
}

typedef struct guest {
  world *w;
  uint64_t rounds; /* then it leaves */
} guest;

static void *attend(void *argument) {
  guest *g = argument;
  world *w = g->w;
  for (uint64_t round = 1; round <= g->rounds; round++) {
    if (!iso_meeting_wait(&w->meeting, round, round % 7 * 1000)) break;
    if (atomic_load(&w->ready) < round) atomic_fetch_add(&w->early, 1);
    atomic_fetch_add(&w->inside[round], 1);
  }
  iso_meeting_leave(&w->meeting);
  return NULL;
}

static world *make_world(void) {
  world *w = calloc(1, sizeof *w);
  assert_non_null(w);
  assert_true(iso_meeting_init(&w->meeting, ready, now, over, w));
  return w;
}

static void all_go_through_every_round(void **state) {
  (void)state;
  world *w = make_world();
  guest guests[SESSIONS];
  pthread_t threads[SESSIONS];
  w->meeting.parties = SESSIONS;
  for (int i = 0; i < SESSIONS; i++) {
    guests[i] = (guest){w, i == 0 ? LEAVES : ROUNDS};
    assert_int_equal(pthread_create(&threads[i], NULL, attend, &guests[i]), 0);
  }
  for (int i = 0; i < SESSIONS; i++) pthread_join(threads[i], NULL);
  for (int round = 1; round <= ROUNDS; round++)
    assert_int_equal(atomic_load(&w->inside[round]), round <= LEAVES ? SESSIONS : SESSIONS - 1);
  assert_int_equal(atomic_load(&w->early), 0);
  assert_int_equal(iso_meeting_round(&w->meeting), ROUNDS + 1);
  iso_meeting_destroy(&w->meeting);
  free(w);
}

static void who_comes_back_joins_the_current_round(void **state) {
  (void)state;
  world *w = make_world();
  assert_int_equal(iso_meeting_join(&w->meeting), 1);
  assert_true(iso_meeting_wait(&w->meeting, 1, 0)); /* alone */
  assert_int_equal(iso_meeting_join(&w->meeting), 2);
  /* That round has begun long ago. */
  assert_false(iso_meeting_wait(&w->meeting, 1, 0));
  iso_meeting_leave(&w->meeting);
  assert_true(iso_meeting_wait(&w->meeting, 2, 0));
  iso_meeting_leave(&w->meeting);
  iso_meeting_destroy(&w->meeting);
  free(w);
}

static void *end_soon(void *argument) {
  world *w = argument;
  struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
  nanosleep(&moment, NULL);
  atomic_store(&w->over, true);
  return NULL;
}

static void nobody_waits_after_the_end(void **state) {
  (void)state;
  world *w = make_world();
  pthread_t thread;
  w->meeting.parties = 2; /* the other one never comes */
  assert_int_equal(pthread_create(&thread, NULL, end_soon, w), 0);
  assert_false(iso_meeting_wait(&w->meeting, 1, 0));
  pthread_join(thread, NULL);
  iso_meeting_destroy(&w->meeting);
  free(w);
}

/* ---- the load ---- */

static const int64_t second = 1000000000;

static void a_ramp_lets_sessions_begin_one_by_one(void **state) {
  (void)state;
  isoproof_run_options options = {.struct_size = sizeof options, .ramp = 8};
  iso_load load;
  assert_true(iso_load_init(&load, &options, 4, 1));
  for (uint32_t i = 0; i < 4; i++) {
    assert_int_equal(iso_load_active(&load, i, 0), 2 * i * second);
    assert_int_equal(iso_load_active(&load, i, 7 * second), 7 * second);
  }
  assert_int_equal(iso_load_take(&load), ISO_UNSCHEDULED);
  iso_load_destroy(&load);
}

static void phases_say_who_takes_part(void **state) {
  (void)state;
  static const uint32_t sessions[] = {2, 6, 1};
  static const double seconds[] = {10, 20, 5};
  isoproof_run_options options = {
      .struct_size = sizeof options, .ramp = 4, .phase_sessions = sessions, .phase_seconds = seconds, .phase_count = 3};
  iso_load load;
  isoproof_error error = {.offset = -1};
  char text[128];
  assert_ok_error(iso_load_check(&options, 6, &error), error);
  assert_int_equal(iso_load_check(&options, 5, &error), ISOPROOF_ERR_USAGE);
  assert_true(iso_load_init(&load, &options, 6, 1));
  assert_int_equal(iso_load_active(&load, 0, 0), 0);
  assert_int_equal(iso_load_active(&load, 1, 0), 2 * second); /* the ramp of two */
  assert_int_equal(iso_load_active(&load, 2, 0), 10 * second);
  assert_int_equal(iso_load_active(&load, 5, 0), 13 * second); /* the last of the four that come then */
  assert_int_equal(iso_load_active(&load, 1, 10 * second), 10 * second);
  assert_int_equal(iso_load_active(&load, 5, 29 * second), 29 * second);
  assert_int_equal(iso_load_active(&load, 5, 30 * second), ISO_NEVER);
  assert_int_equal(iso_load_active(&load, 0, 34 * second), 34 * second);
  assert_int_equal(iso_load_active(&load, 0, 35 * second), ISO_NEVER);
  iso_load_describe_phases(&options, text, sizeof text);
  assert_string_equal(text, "2 for 10 s, 6 for 20 s, 1 for 5 s");
  iso_load_destroy(&load);
}

/* 20,000 exponential times: their mean is within 5 % of what it should be, seven standard deviations. */
static void the_schedule_keeps_its_rate(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  isoproof_run_options options = {.struct_size = sizeof options, .rate = 1000, .think_time = 0.01};
  iso_load load, again;
  assert_true(iso_load_init(&load, &options, 4, 7) && iso_load_init(&again, &options, 4, 7));
  int64_t due = 0;
  for (int i = 0; i < COUNT; i++) {
    int64_t next = iso_load_take(&load);
    assert_true(next >= due);
    due = next;
    assert_int_equal(iso_load_take(&again), due); /* by the seed */
  }
  assert_in_range(due, 19 * second, 21 * second);
  /* What was due while nobody may begin is forgotten. */
  assert_true(iso_load_behind(&load, due + second) > 0);
  iso_load_skip(&load, due + second);
  assert_int_equal(iso_load_behind(&load, due + second), 0);
  assert_true(iso_load_take(&load) >= due + second);
  iso_random random;
  iso_random_seed(&random, 1, 1);
  assert_int_equal(iso_load_think(&load, &random), second / 100);
  options.think_exponential = true;
  int64_t sum = 0;
  for (int i = 0; i < COUNT; i++) sum += iso_load_think(&load, &random);
  assert_in_range(sum / COUNT, second / 105, second / 95);
  iso_load_destroy(&load);
  iso_load_destroy(&again);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_go_through_every_round), cmocka_unit_test(who_comes_back_joins_the_current_round),
      cmocka_unit_test(nobody_waits_after_the_end), cmocka_unit_test(a_ramp_lets_sessions_begin_one_by_one),
      cmocka_unit_test(phases_say_who_takes_part),  cmocka_unit_test(the_schedule_keeps_its_rate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
