/* Sessions that wait for each other: all go at once, nobody waits for who is gone, and nobody after the end. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_go_through_every_round),
      cmocka_unit_test(who_comes_back_joins_the_current_round),
      cmocka_unit_test(nobody_waits_after_the_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
