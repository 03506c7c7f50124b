/* results.c - tables of outcomes: made, filled, and what they mean. */
#include "plan/results.h"

#include <stdio.h>
#include <string.h>

#include "base/abi.h"

/* ---- texts ---- */

/* The members that are texts. */
#define TEXT_LIST(X)                                                                                                   \
  X(database) X(isolation) X(workload) X(expected) X(problem) X(product) X(anomalies) X(strongest) X(folder)

static isoproof_status copy_texts(isoproof_plan_results *results, isoproof_plan_outcome *row, isoproof_error *error) {
#define ISO_X(member)                                                                                                  \
  if (row->member != NULL &&                                                                                           \
      (row->member = iso_arena_text(&results->arena, row->member, strlen(row->member))) == NULL)                       \
    return iso_fail_memory(error);
  TEXT_LIST(ISO_X)
#undef ISO_X
  return ISOPROOF_OK;
}

/* ---- making ---- */

static isoproof_status add_cells(isoproof_plan_results *results, const isoproof_plan *plan, isoproof_error *error) {
  isoproof_plan_cell cell = {.struct_size = sizeof cell};
  for (size_t i = 0; plan != NULL && isoproof_plan_cell_at(plan, i, &cell); i++) {
    isoproof_plan_outcome row = {.struct_size = sizeof row,
                                 .database = cell.database,
                                 .isolation = cell.isolation,
                                 .workload = cell.workload,
                                 .expected = cell.expected,
                                 .wanted = cell.wanted};
    ISO_TRY(isoproof_plan_results_set(results, i, &row, error));
  }
  return ISOPROOF_OK;
}

isoproof_status isoproof_plan_results_new(const isoproof_plan *plan, const char *title, isoproof_plan_results **results,
                                          isoproof_error *error) {
  *results = NULL;
  isoproof_plan_results *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->seconds = -1;
  made->title = iso_arena_text(&made->arena, title != NULL ? title : "", title != NULL ? strlen(title) : 0);
  isoproof_status status = made->title != NULL ? add_cells(made, plan, error) : iso_fail_memory(error);
  if (status != ISOPROOF_OK) {
    isoproof_plan_results_free(made);
    return status;
  }
  *results = made;
  return ISOPROOF_OK;
}

void isoproof_plan_results_free(isoproof_plan_results *results) {
  if (results == NULL) return;
  iso_arena_free(&results->arena);
  iso_vec_free(&results->rows);
  free(results);
}

isoproof_status isoproof_plan_results_set(isoproof_plan_results *results, size_t number,
                                          const isoproof_plan_outcome *outcome, isoproof_error *error) {
  isoproof_plan_outcome row = {.struct_size = sizeof row, .database = "", .isolation = "", .workload = ""};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_plan_outcome, &row, outcome, error));
  if (number > results->rows.count)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "number: expected at most %zu, found %zu", results->rows.count, number);
  ISO_TRY(copy_texts(results, &row, error));
  if (number < results->rows.count)
    results->rows.items[number] = row;
  else if (!iso_vec_push(&results->rows, row))
    return iso_fail_memory(error);
  return ISOPROOF_OK;
}

bool isoproof_plan_results_at(const isoproof_plan_results *results, size_t number, isoproof_plan_outcome *out) {
  return number < results->rows.count && ISO_STRUCT_GIVE(out, results->rows.items[number]);
}

void isoproof_plan_results_set_seconds(isoproof_plan_results *results, double seconds) { results->seconds = seconds; }

/* ---- what it means ---- */

const char *iso_plan_meaning_name(iso_plan_meaning meaning) {
  static const char *const names[] = {
#define ISO_X(name, text) text,
      ISO_PLAN_MEANING_LIST(ISO_X)
#undef ISO_X
  };
  return names[meaning];
}

iso_plan_meaning iso_plan_meaning_of(const isoproof_plan_outcome *outcome) {
  /* A violation stays one, whatever came after it. */
  if (outcome->verdict == ISOPROOF_VIOLATED)
    return outcome->wanted == ISOPROOF_SATISFIED ? ISO_PLAN_VIOLATED : ISO_PLAN_AS_EXPECTED;
  if (outcome->problem != NULL) return ISO_PLAN_FAILED;
  if (outcome->verdict == ISOPROOF_UNDECIDED) return ISO_PLAN_UNKNOWN;
  if (outcome->rounds == 0) return ISO_PLAN_NOT_TRIED;
  return outcome->wanted == ISOPROOF_VIOLATED ? ISO_PLAN_NOT_VIOLATED : ISO_PLAN_AS_EXPECTED;
}

const char *isoproof_plan_outcome_means(const isoproof_plan_outcome *outcome) {
  isoproof_plan_outcome own = {.struct_size = sizeof own};
  if (ISO_OPTIONS_READ(isoproof_plan_outcome, &own, outcome, NULL) != ISOPROOF_OK) return "";
  return iso_plan_meaning_name(iso_plan_meaning_of(&own));
}

void iso_plan_count(const isoproof_plan_results *results, size_t counts[ISO_PLAN_MEANINGS]) {
  memset(counts, 0, ISO_PLAN_MEANINGS * sizeof *counts);
  for (size_t i = 0; i < results->rows.count; i++) counts[iso_plan_meaning_of(&results->rows.items[i])]++;
}

/* ---- in words ---- */

const char *iso_plan_isolation_text(const isoproof_plan_outcome *outcome) {
  return outcome->isolation[0] != '\0' ? outcome->isolation : "the default";
}

/* The first of them, and how many there are beyond. */
static void put_violation(const char *anomalies, char *text, size_t size) {
  enum { SHOWN = 3 };
  size_t shown = 0, more = 0;
  for (const char *c = anomalies; c != NULL && (c = strchr(c, ',')) != NULL; c++)
    if (++more == SHOWN) shown = (size_t)(c - anomalies);
  if (anomalies == NULL)
    snprintf(text, size, "violated");
  else if (more < SHOWN)
    snprintf(text, size, "violated: %s", anomalies);
  else
    snprintf(text, size, "violated: %.*s and %zu more", (int)shown, anomalies, more - SHOWN + 1);
}

void iso_plan_verdict_text(const isoproof_plan_outcome *o, char *text, size_t size) {
  if (o->verdict == ISOPROOF_VIOLATED)
    put_violation(o->anomalies, text, size);
  else if (o->problem != NULL)
    snprintf(text, size, "failed: %s", o->problem);
  else if (o->rounds == 0)
    snprintf(text, size, "not tried");
  else if (o->verdict == ISOPROOF_VERDICT_NONE)
    snprintf(text, size, "no level to hold");
  else
    snprintf(text, size, "%s", isoproof_verdict_name(o->verdict));
}

void iso_plan_put_counts(iso_output *out, const isoproof_plan_results *results) {
  size_t counts[ISO_PLAN_MEANINGS];
  const char *before = ": ";
  iso_plan_count(results, counts);
  iso_out_printf(out, "%zu cell%s", results->rows.count, results->rows.count == 1 ? "" : "s");
  if (results->seconds >= 0) iso_out_printf(out, " in %.1f s", results->seconds);
  for (int i = 0; i < ISO_PLAN_MEANINGS; i++) {
    if (counts[i] == 0) continue;
    iso_out_printf(out, "%s%zu %s", before, counts[i], iso_plan_meaning_name((iso_plan_meaning)i));
    before = ", ";
  }
}
