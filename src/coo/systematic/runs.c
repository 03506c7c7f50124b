/* runs.c - runs every schedule within bounds at every level of a database. */
#include "coo/systematic/runs.h"

#include <inttypes.h>
#include <isoproof/level.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "coo/matrix.h"

enum { SETTLE_MS = 60, TIMEOUT_MS = 4000, TAG_BITS = 22 };

/* What a run of them all has in hand. */
typedef struct session {
  const isoproof_systematic_options *options;
  const isoproof_systematic_bounds *bounds;
  const iso_isolation *isolations[ISO_MOST_ISOLATIONS];
  iso_stepper *stepper;
  isoproof_systematic_walk *walk;
  iso_sys_run run;
} session;

/* ---- levels ---- */

static isoproof_status add_level(isoproof_systematic *runs, const iso_isolation *isolation, const char *expect,
                                 isoproof_error *error) {
  isoproof_systematic_level *level = &runs->levels[runs->level_count++].shown;
  iso_coo_claim claim;
  level->struct_size = sizeof *level;
  level->name = iso_arena_text(&runs->arena, isolation->name, strlen(isolation->name));
  if (level->name == NULL) return iso_fail_memory(error);
  ISO_TRY(iso_coo_expect(&runs->arena, isolation, expect, &claim, error));
  level->expected = claim.level;
  level->source = claim.source;
  level->note = claim.note;
  /* A statement that finds no row reads, as one that appends to a list does. */
  const isoproof_level_info *misses =
      expect == NULL && isolation->claims_lists != NULL ? isoproof_level_find(isolation->claims_lists) : NULL;
  level->expected_of_misses = misses != NULL ? misses->id : claim.level;
  return ISOPROOF_OK;
}

static isoproof_status find_levels(isoproof_systematic *runs, session *s, const iso_database *database,
                                   isoproof_error *error) {
  const isoproof_systematic_options *options = s->options;
  size_t count = 0;
  for (size_t i = 0; i < options->level_count; i++) {
    if (count == ISO_MOST_ISOLATIONS)
      return iso_fail(error, ISOPROOF_ERR_LIMIT, "expected at most %d levels", ISO_MOST_ISOLATIONS);
    ISO_TRY(iso_database_find_isolation(database, options->levels[i], &s->isolations[count++], error));
  }
  for (size_t i = 0; options->level_count == 0 && count < ISO_MOST_ISOLATIONS; i++) {
    if ((s->isolations[count] = iso_database_isolation(database, i)) == NULL) break;
    count++;
  }
  for (size_t i = 0; i < count; i++) ISO_TRY(add_level(runs, s->isolations[i], options->expect, error));
  return ISOPROOF_OK;
}

/* ---- running ---- */

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

static isoproof_status run_one(isoproof_systematic *runs, session *s, size_t level, uint64_t number, uint64_t *run,
                               isoproof_task *task, isoproof_error *error) {
  double began = iso_now();
  ISO_TRY(iso_sys_execute(s->stepper, &s->walk->schedule, (*run)++, s->isolations[level], &s->run, task, error));
  runs->levels[level].shown.seconds += iso_now() - began;
  return iso_sys_keep(runs, level, s->stepper, &s->run, number, s->options, error);
}

/* Every level before the next schedule, so that a later run can go on after the last one. */
static isoproof_status run_all(isoproof_systematic *runs, session *s, isoproof_task *task, isoproof_error *error) {
  isoproof_systematic_schedule schedule = {.struct_size = sizeof schedule};
  uint64_t total = count_ahead(s->bounds), run = 0;
  while (isoproof_systematic_walk_next(s->walk, &schedule)) {
    if (!s->bounds->drawn) runs->summary.next = schedule.number;
    for (size_t level = 0; level < runs->level_count; level++)
      ISO_TRY(run_one(runs, s, level, schedule.number, &run, task, error));
    runs->summary.schedules++;
    iso_task_progress(task, "running", "schedules", runs->summary.schedules, total);
  }
  if (runs->summary.schedules == 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "expected a number of a schedule within the bounds, found %" PRIu64,
                    s->bounds->first);
  /* A limit leaves some for later. */
  if (!s->bounds->drawn) runs->summary.next = runs->summary.schedules == s->bounds->limit ? schedule.number + 1 : 0;
  return ISOPROOF_OK;
}

static int compare_findings(const void *a, const void *b) {
  const iso_sys_finding *x = a, *y = b;
  if (x->steps != y->steps) return x->steps < y->steps ? -1 : 1;
  return x->shown.number < y->shown.number ? -1 : x->shown.number > y->shown.number;
}

/* Those that were drawn have come in any order. */
static void sort_findings(isoproof_systematic *runs) {
  for (size_t i = 0; i < runs->level_count; i++) {
    if (runs->levels[i].findings.count > 1)
      qsort(runs->levels[i].findings.items, runs->levels[i].findings.count, sizeof(iso_sys_finding), compare_findings);
  }
}

static isoproof_status run_on(isoproof_systematic *runs, session *s, iso_database *database, isoproof_task *task,
                              isoproof_error *error) {
  size_t nodes = iso_database_nodes(database);
  /* With several nodes, a second table holds the mark by which they are seen to follow each other. */
  iso_stepper_options stepping = {.settle_ms = s->options->settle_ms, .timeout_ms = s->options->timeout_ms};
  const char *version = iso_database_version(database);
  if (!iso_database_capabilities(database).predicates)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "%s has no rows that can be inserted and deleted", version);
  if (nodes > 1)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "expected one node for systematic schedules, found %zu", nodes);
  runs->summary.database = iso_arena_text(&runs->arena, version, strlen(version));
  if (runs->summary.database == NULL) return iso_fail_memory(error);
  ISO_TRY(find_levels(runs, s, database, error));
  ISO_TRY(isoproof_systematic_walk_new(s->bounds, &s->walk, error));
  ISO_TRY(iso_database_setup(database, error));
  isoproof_status status = iso_stepper_open(database, s->bounds->transactions, &stepping, &s->stepper, error);
  if (status == ISOPROOF_OK) status = run_all(runs, s, task, error);
  sort_findings(runs);
  iso_stepper_close(s->stepper);
  isoproof_error changed = {.offset = -1};
  if (iso_database_verify(database, &changed) == ISOPROOF_ERR_INTERFERENCE)
    status = iso_fail(error, ISOPROOF_ERR_INTERFERENCE, "interference: %.300s", changed.message);
  /* The error that counts is the first one. */
  isoproof_status removed = iso_database_teardown(database, status == ISOPROOF_OK ? error : NULL);
  return status != ISOPROOF_OK ? status : removed;
}

/* ---- options ---- */

static isoproof_status read_options(const isoproof_systematic_options *given, isoproof_systematic_options *known,
                                    isoproof_systematic_bounds *bounds, iso_layout *layout, isoproof_error *error) {
  *known = (isoproof_systematic_options){0};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_systematic_options, known, given, error));
  if (known->settle_ms == 0) known->settle_ms = SETTLE_MS;
  if (known->timeout_ms == 0) known->timeout_ms = TIMEOUT_MS;
  if (known->layout == NULL) known->layout = "keyed";
  ISO_TRY(iso_sys_bounds_read(known->bounds, bounds, error));
  if (!iso_layout_find(known->layout, layout))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "expected a layout (keyed, indexed, hashed, heap), found '%s'",
                    known->layout);
  return ISOPROOF_OK;
}

static void begin_summary(isoproof_systematic *runs, const isoproof_systematic_bounds *bounds, iso_layout layout) {
  runs->summary = (isoproof_systematic_summary){.struct_size = sizeof runs->summary,
                                                .layout = iso_layout_name(layout),
                                                .transactions = bounds->transactions,
                                                .operations = bounds->operations,
                                                .rows = bounds->rows,
                                                .predicates = bounds->predicates,
                                                .drawn = bounds->drawn,
                                                .seed = bounds->seed,
                                                .first = bounds->first};
}

static isoproof_status fill(isoproof_systematic *runs, session *s, isoproof_systematic_bounds *bounds,
                            iso_layout layout, isoproof_task *task, isoproof_error *error) {
  const isoproof_systematic_options *options = s->options;
  iso_database_options how = {.family = ISO_COO_FAMILY,
                              .lock_timeout_ms = options->timeout_ms,
                              .tag_bits = TAG_BITS,
                              .layout = layout,
                              .notice = options->notice,
                              .notice_user = options->notice_user,
                              .password = options->password};
  iso_database *database = NULL;
  double began = iso_now();
  begin_summary(runs, bounds, layout);
  ISO_TRY(iso_database_open(options->urls, options->url_count, &how, &database, error));
  bounds->duplicate_keys = bounds->duplicate_keys || iso_database_capabilities(database).keyless;
  isoproof_status status = run_on(runs, s, database, task, error);
  isoproof_systematic_walk_free(s->walk);
  iso_database_close(database);
  runs->summary.seconds = iso_now() - began;
  return status;
}

isoproof_status isoproof_systematic_run(const isoproof_systematic_options *options, isoproof_task *task,
                                        isoproof_systematic **runs, isoproof_error *error) {
  isoproof_systematic_options known;
  isoproof_systematic_bounds bounds;
  iso_layout layout;
  *runs = NULL;
  ISO_TRY(read_options(options, &known, &bounds, &layout, error));
  isoproof_systematic *made = iso_alloc_zero(1, sizeof *made);
  session *s = iso_alloc_zero(1, sizeof *s);
  if (made == NULL || s == NULL) {
    free(made);
    free(s);
    return iso_fail_memory(error);
  }
  s->options = &known;
  s->bounds = &bounds;
  isoproof_status status = fill(made, s, &bounds, layout, task, error);
  free(s);
  if (status != ISOPROOF_OK && made->summary.schedules == 0) {
    isoproof_systematic_free(made);
    return status;
  }
  *runs = made;
  return status;
}

/* ---- looking into it ---- */

void isoproof_systematic_free(isoproof_systematic *runs) {
  if (runs == NULL) return;
  for (size_t i = 0; i < runs->level_count; i++) iso_vec_free(&runs->levels[i].findings);
  iso_sys_judge_free(&runs->judge);
  iso_vec_free(&runs->text);
  iso_arena_free(&runs->arena);
  free(runs);
}

bool isoproof_systematic_summary_of(const isoproof_systematic *runs, isoproof_systematic_summary *out) {
  return ISO_STRUCT_GIVE(out, runs->summary);
}

bool isoproof_systematic_level_at(const isoproof_systematic *runs, size_t level, isoproof_systematic_level *out) {
  return level < runs->level_count && ISO_STRUCT_GIVE(out, runs->levels[level].shown);
}

static const iso_sys_finding *find_finding(const isoproof_systematic *runs, size_t number) {
  for (size_t i = 0; i < runs->level_count; i++) {
    if (number < runs->levels[i].findings.count) return &runs->levels[i].findings.items[number];
    number -= runs->levels[i].findings.count;
  }
  return NULL;
}

bool isoproof_systematic_finding_at(const isoproof_systematic *runs, size_t number, isoproof_systematic_finding *out) {
  const iso_sys_finding *finding = find_finding(runs, number);
  return finding != NULL && ISO_STRUCT_GIVE(out, finding->shown);
}

bool isoproof_systematic_event_at(const isoproof_systematic *runs, size_t finding, size_t number,
                                  isoproof_coo_event *out) {
  const iso_sys_finding *found = find_finding(runs, finding);
  return found != NULL && number < found->shown.event_count && ISO_STRUCT_GIVE(out, found->events[number]);
}
