/* lanes.c - schedules side by side: each lane has a table and connections of its own, and outcomes are kept in the
 * order of the schedules, whichever lane was quicker.
 *
 * Lanes mostly wait, for locks and for answers, so that there are more of them than processors.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "coo/systematic/runs.h"

enum {
  LANES = 8,   /* unless somebody says how many */
  WINDOW = 256 /* most schedules under way or done that wait for an earlier one to be kept */
};

/* A schedule that was taken, and what came of it at every level. */
typedef struct ticket {
  iso_sys_schedule schedule;
  uint64_t number;
  bool done;
  iso_sys_outcome outcomes[ISO_MOST_ISOLATIONS];
} ticket;

typedef struct lanes {
  isoproof_systematic *runs;
  const iso_sys_plan *plan;
  isoproof_task *task;
  uint64_t total; /* of schedules, for progress; 0 where nobody knows */
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  /* All that follows belongs to the mutex. */
  ticket window[WINDOW]; /* tickets by number modulo WINDOW */
  uint64_t taken, kept;  /* tickets */
  bool over;             /* nothing is left, or something failed */
  isoproof_status status;
  isoproof_error error; /* the first one */
} lanes;

typedef struct lane {
  lanes *all;
  iso_database *database;
  bool owned;
  iso_stepper *stepper;
  const iso_isolation *isolations[ISO_MOST_ISOLATIONS];
  uint64_t ran;
  iso_sys_run run;
  iso_sys_text_buffer text;
  bool first; /* runs in the thread of the caller */
  pthread_t thread;
  bool threaded; /* for that thread alone */
} lane;

/* ---- taking and keeping ---- */

/* The next schedule; NULL when there is none. */
static ticket *take(lanes *all) {
  isoproof_systematic_schedule schedule = {.struct_size = sizeof schedule};
  ticket *taken = NULL;
  pthread_mutex_lock(&all->mutex);
  while (!all->over && all->taken - all->kept == WINDOW) pthread_cond_wait(&all->changed, &all->mutex);
  if (!all->over && isoproof_systematic_walk_next(all->plan->walk, &schedule)) {
    taken = &all->window[all->taken++ % WINDOW];
    taken->schedule = all->plan->walk->schedule;
    taken->number = schedule.number;
    taken->done = false;
  }
  all->over = all->over || taken == NULL;
  pthread_cond_broadcast(&all->changed);
  pthread_mutex_unlock(&all->mutex);
  return taken;
}

/* With the mutex: keeps what came of one schedule at every level. */
static isoproof_status keep(lanes *all, ticket *which, isoproof_error *error) {
  isoproof_systematic *runs = all->runs;
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; i < runs->level_count; i++) {
    if (status == ISOPROOF_OK)
      status = iso_sys_keep(runs, i, &which->schedule, which->number, &which->outcomes[i], all->plan->options, error);
    iso_sys_outcome_free(&which->outcomes[i]);
  }
  if (status != ISOPROOF_OK) return status;
  runs->summary.schedules++;
  runs->summary.reused_schedules += iso_sys_reuses_key(&which->schedule.family);
  return ISOPROOF_OK;
}

/* With the mutex: no more is taken, and the first failure is the one that is told. */
static void fail(lanes *all, isoproof_status status, const isoproof_error *error) {
  all->over = true;
  if (all->status != ISOPROOF_OK) return;
  all->status = status;
  all->error = *error;
}

/* Hands in a schedule, done or failed, and keeps all that can be kept in order. */
static void hand_in(lanes *all, ticket *which, isoproof_status status, isoproof_error *error) {
  pthread_mutex_lock(&all->mutex);
  if (status != ISOPROOF_OK) fail(all, status, error);
  which->done = status == ISOPROOF_OK;
  while (all->kept < all->taken && all->window[all->kept % WINDOW].done) {
    ticket *next = &all->window[all->kept % WINDOW];
    status = keep(all, next, error);
    next->done = false;
    if (status != ISOPROOF_OK) {
      fail(all, status, error);
      break;
    }
    all->kept++;
  }
  pthread_cond_broadcast(&all->changed);
  pthread_mutex_unlock(&all->mutex);
}

/* ---- a lane ---- */

static isoproof_status run_one(lane *l, ticket *which, isoproof_error *error) {
  isoproof_systematic *runs = l->all->runs;
  bool recorded = l->all->plan->options->record != NULL;
  for (size_t i = 0; i < runs->level_count; i++) {
    double began = iso_now();
    ISO_TRY(iso_sys_execute(l->stepper, &which->schedule, l->ran++, l->isolations[i], &l->run, l->all->task, error));
    which->outcomes[i].seconds = iso_now() - began;
    ISO_TRY(iso_sys_conclude(runs, i, l->stepper, &l->run, recorded, &l->text, &which->outcomes[i], error));
  }
  return ISOPROOF_OK;
}

static void *run_lane(void *user) {
  lane *l = user;
  ticket *which;
  while ((which = take(l->all)) != NULL) {
    isoproof_error error = {.offset = -1};
    isoproof_status status = run_one(l, which, &error);
    hand_in(l->all, which, status, &error);
    if (!l->first) continue;
    /* Progress is told by the thread of the caller. */
    pthread_mutex_lock(&l->all->mutex);
    uint64_t kept = l->all->kept;
    pthread_mutex_unlock(&l->all->mutex);
    iso_task_progress(l->all->task, "running", "schedules", kept, l->all->total);
  }
  return NULL;
}

static isoproof_status find_isolations(lane *l, isoproof_error *error) {
  const isoproof_systematic *runs = l->all->runs;
  for (size_t i = 0; i < runs->level_count; i++)
    ISO_TRY(iso_database_find_isolation(l->database, runs->levels[i].groups[0].name, &l->isolations[i], error));
  return ISOPROOF_OK;
}

/* Makes its table and connects; the first lane has a database already. */
static isoproof_status open_lane(lane *l, isoproof_error *error) {
  const iso_sys_plan *plan = l->all->plan;
  const isoproof_systematic_options *options = plan->options;
  iso_stepper_options stepping = {.settle_ms = options->settle_ms, .timeout_ms = options->timeout_ms};
  iso_database_options quietly = *plan->how;
  quietly.notice = NULL;
  if (l->database == NULL) {
    l->owned = true;
    ISO_TRY(iso_database_open(options->urls, options->url_count, &quietly, &l->database, error));
  }
  ISO_TRY(find_isolations(l, error));
  ISO_TRY(iso_database_setup(l->database, error));
  return iso_stepper_open(l->database, plan->bounds->transactions, &stepping, &l->stepper, error);
}

/* Gives everything back; whatever fails in it counts unless something else failed before. */
static isoproof_status close_lane(lane *l, isoproof_status status, isoproof_error *error) {
  isoproof_error changed = {.offset = -1};
  iso_stepper_close(l->stepper);
  iso_vec_free(&l->text);
  if (l->database == NULL) return status;
  if (l->stepper != NULL && iso_database_verify(l->database, &changed) == ISOPROOF_ERR_INTERFERENCE)
    status = iso_fail(error, ISOPROOF_ERR_INTERFERENCE, "interference: %.300s", changed.message);
  isoproof_status removed = iso_database_teardown(l->database, status == ISOPROOF_OK ? error : NULL);
  if (l->owned) iso_database_close(l->database);
  return status != ISOPROOF_OK ? status : removed;
}

/* ---- all of them ---- */

/* How many there will be, for progress; counting takes longer than it is worth where there are millions. */
static uint64_t count_ahead(const isoproof_systematic_bounds *bounds) {
  isoproof_systematic_walk *walk = NULL;
  uint64_t count = 0;
  if (bounds->limit > 0 || bounds->transactions * bounds->operations > 4) return bounds->limit;
  if (isoproof_systematic_walk_new(bounds, &walk, NULL) != ISOPROOF_OK) return 0;
  isoproof_systematic_schedule schedule = {.struct_size = sizeof schedule};
  while (isoproof_systematic_walk_next(walk, &schedule)) count++;
  isoproof_systematic_walk_free(walk);
  return count;
}

static uint32_t lane_count(const iso_sys_plan *plan, const iso_database *database, uint64_t total) {
  uint32_t jobs = plan->options->jobs;
  iso_capabilities can = iso_database_capabilities(database);
  /* What is private, each lane has for itself. */
  if (!can.apart && can.persistent) return 1;
  if (jobs == 0) jobs = LANES;
  return total > 0 && total < jobs ? (uint32_t)total : jobs;
}

/* What was asked for has been run, or not: where a later run can go on. */
static isoproof_status find_next(lanes *all, isoproof_error *error) {
  isoproof_systematic_summary *summary = &all->runs->summary;
  const isoproof_systematic_bounds *bounds = all->plan->bounds;
  uint64_t last = bounds->first + summary->schedules;
  if (!bounds->drawn) summary->next = last;
  if (all->status != ISOPROOF_OK) {
    *error = all->error;
    return all->status;
  }
  if (summary->schedules == 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "expected a number of a schedule within the bounds, found %" PRIu64,
                    bounds->first);
  /* A limit leaves some for later. */
  if (summary->schedules != bounds->limit || bounds->drawn) summary->next = 0;
  return ISOPROOF_OK;
}

/* Opens lanes; a database that lets in fewer than there could be has fewer, unless so many were asked for. */
static isoproof_status open_lanes(lane *made, uint32_t *count, const isoproof_systematic_options *options,
                                  isoproof_error *error) {
  for (uint32_t i = 0; i < *count; i++) {
    isoproof_error own = {.offset = -1};
    isoproof_status status = open_lane(&made[i], &own);
    if (status == ISOPROOF_OK) continue;
    if (i == 0 || options->jobs > 0) {
      *error = own;
      *count = i + 1; /* to be closed */
      return status;
    }
    (void)close_lane(&made[i], status, &own);
    *count = i;
  }
  return ISOPROOF_OK;
}

static void run_threads(lane *made, uint32_t count) {
  /* A lane without a thread has nothing to do; the first one runs in this thread. */
  for (uint32_t i = 1; i < count; i++)
    made[i].threaded = pthread_create(&made[i].thread, NULL, run_lane, &made[i]) == 0;
  run_lane(&made[0]);
  for (uint32_t i = 1; i < count; i++)
    if (made[i].threaded) pthread_join(made[i].thread, NULL);
}

static isoproof_status run_made(lanes *all, lane *made, uint32_t count, iso_database *database, isoproof_error *error) {
  isoproof_systematic *runs = all->runs;
  for (uint32_t i = 0; i < count; i++) made[i].all = all;
  made[0].first = true;
  made[0].database = database;
  isoproof_status status = open_lanes(made, &count, all->plan->options, error);
  runs->summary.jobs = count;
  if (status == ISOPROOF_OK) {
    run_threads(made, count);
    status = find_next(all, error);
  }
  for (uint32_t i = 0; i < count; i++) status = close_lane(&made[i], status, error);
  for (size_t i = 0; i < WINDOW; i++)
    for (size_t level = 0; level < runs->level_count; level++) iso_sys_outcome_free(&all->window[i].outcomes[level]);
  /* Lanes share the time. */
  for (size_t i = 0; i < runs->level_count; i++)
    for (int group = 0; group < 2; group++) runs->levels[i].groups[group].seconds /= count;
  return status;
}

isoproof_status iso_sys_run_lanes(isoproof_systematic *runs, iso_sys_plan *plan, iso_database *database,
                                  isoproof_task *task, isoproof_error *error) {
  uint64_t total = count_ahead(plan->bounds);
  uint32_t count = lane_count(plan, database, total);
  lanes *all = iso_alloc_zero(1, sizeof *all);
  lane *made = iso_alloc_zero(count, sizeof *made);
  bool mutex = all != NULL && pthread_mutex_init(&all->mutex, NULL) == 0;
  bool changed = mutex && pthread_cond_init(&all->changed, NULL) == 0;
  isoproof_status status;
  if (made == NULL || !changed) {
    status = iso_fail_memory(error);
  } else {
    all->runs = runs;
    all->plan = plan;
    all->task = task;
    all->total = total;
    status = run_made(all, made, count, database, error);
  }
  if (changed) pthread_cond_destroy(&all->changed);
  if (mutex) pthread_mutex_destroy(&all->mutex);
  free(all);
  free(made);
  return status;
}
