/* runs.c - runs every schedule within bounds at every level of a database. */
#include "coo/systematic/runs.h"

#include <isoproof/level.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "coo/matrix.h"

enum { SETTLE_MS = 60, TIMEOUT_MS = 4000, TAG_BITS = 22 };

/* ---- levels ---- */

static isoproof_status add_level(isoproof_systematic *runs, const iso_isolation *isolation, const char *expect,
                                 isoproof_error *error) {
  iso_sys_level *made = &runs->levels[runs->level_count++];
  isoproof_systematic_level *level = &made->groups[0];
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
  made->groups[1] = made->groups[0];
  return ISOPROOF_OK;
}

static isoproof_status find_levels(isoproof_systematic *runs, iso_sys_plan *plan, const iso_database *database,
                                   isoproof_error *error) {
  const isoproof_systematic_options *options = plan->options;
  size_t count = 0;
  for (size_t i = 0; i < options->level_count; i++) {
    if (count == ISO_MOST_ISOLATIONS)
      return iso_fail(error, ISOPROOF_ERR_LIMIT, "expected at most %d levels", ISO_MOST_ISOLATIONS);
    ISO_TRY(iso_database_find_isolation(database, options->levels[i], &plan->isolations[count++], error));
  }
  for (size_t i = 0; options->level_count == 0 && count < ISO_MOST_ISOLATIONS; i++) {
    if ((plan->isolations[count] = iso_database_isolation(database, i)) == NULL) break;
    count++;
  }
  for (size_t i = 0; i < count; i++) ISO_TRY(add_level(runs, plan->isolations[i], options->expect, error));
  return ISOPROOF_OK;
}

/* ---- running ---- */

static isoproof_status run_on(isoproof_systematic *runs, iso_sys_plan *plan, iso_database *database,
                              isoproof_task *task, isoproof_error *error) {
  size_t nodes = iso_database_nodes(database);
  const char *version = iso_database_version(database);
  if (!iso_database_capabilities(database).predicates)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "%s has no rows that can be inserted and deleted", version);
  if (nodes > 1)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "expected one node for systematic schedules, found %zu", nodes);
  runs->summary.database = iso_arena_text(&runs->arena, version, strlen(version));
  if (runs->summary.database == NULL) return iso_fail_memory(error);
  ISO_TRY(find_levels(runs, plan, database, error));
  ISO_TRY(isoproof_systematic_walk_new(plan->bounds, &plan->walk, error));
  isoproof_status status = iso_sys_run_lanes(runs, plan, database, task, error);
  isoproof_status arranged = iso_sys_arrange(runs, status == ISOPROOF_OK ? error : NULL);
  return status != ISOPROOF_OK ? status : arranged;
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
  if (known->jobs > ISOPROOF_SYSTEMATIC_JOBS)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "expected at most %d jobs, found %u", ISOPROOF_SYSTEMATIC_JOBS,
                    known->jobs);
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

static isoproof_status fill(isoproof_systematic *runs, const isoproof_systematic_options *options,
                            isoproof_systematic_bounds *bounds, iso_layout layout, isoproof_task *task,
                            isoproof_error *error) {
  iso_database_options how = {.family = ISO_COO_FAMILY,
                              .lock_timeout_ms = options->timeout_ms,
                              .tag_bits = TAG_BITS,
                              .layout = layout,
                              .notice = options->notice,
                              .notice_user = options->notice_user,
                              .password = options->password};
  iso_sys_plan plan = {.options = options, .how = &how, .bounds = bounds};
  iso_database *database = NULL;
  double began = iso_now();
  begin_summary(runs, bounds, layout);
  ISO_TRY(iso_database_open(options->urls, options->url_count, &how, &database, error));
  bounds->duplicate_keys = bounds->duplicate_keys || iso_database_capabilities(database).keyless;
  isoproof_status status = run_on(runs, &plan, database, task, error);
  isoproof_systematic_walk_free(plan.walk);
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
  if (made == NULL) return iso_fail_memory(error);
  isoproof_status status = iso_sys_judge_open(&made->judge, error);
  if (status != ISOPROOF_OK) {
    free(made);
    return status;
  }
  status = fill(made, &known, &bounds, layout, task, error);
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
  for (size_t i = 0; i < runs->level_count; i++) {
    iso_vec_free(&runs->levels[i].findings);
    iso_vec_free(&runs->levels[i].minimal);
  }
  iso_sys_judge_free(&runs->judge);
  iso_vec_free(&runs->listed);
  iso_arena_free(&runs->arena);
  free(runs);
}

bool isoproof_systematic_summary_of(const isoproof_systematic *runs, isoproof_systematic_summary *out) {
  return ISO_STRUCT_GIVE(out, runs->summary);
}

bool isoproof_systematic_level_at(const isoproof_systematic *runs, size_t level, isoproof_systematic_level *out) {
  return level < runs->level_count && ISO_STRUCT_GIVE(out, runs->levels[level].groups[0]);
}

bool isoproof_systematic_reused_at(const isoproof_systematic *runs, size_t level, isoproof_systematic_level *out) {
  return level < runs->level_count && ISO_STRUCT_GIVE(out, runs->levels[level].groups[1]);
}

static const iso_sys_finding *find_finding(const isoproof_systematic *runs, size_t number) {
  if (number >= runs->listed.count) return NULL;
  iso_sys_listed listed = runs->listed.items[number];
  return &runs->levels[listed.level].findings.items[listed.finding];
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
