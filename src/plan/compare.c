/* compare.c - two tables of outcomes, cell by cell: what changed, and what of it is for the worse. */
#include <isoproof/json.h>
#include <stdio.h>
#include <string.h>

#include "base/abi.h"
#include "plan/results.h"
#include "report/escape.h"

#define NOWHERE SIZE_MAX

/* What changed in a cell: C name, name, in words. */
#define CHANGE_LIST(X)                                                                                                 \
  X(SAME, "same", "the same")                                                                                          \
  X(WORSE, "worse", "for the worse")                                                                                   \
  X(BETTER, "better", "for the better")                                                                                \
  X(OTHER, "other", "otherwise")                                                                                       \
  X(GONE, "gone", "gone")                                                                                              \
  X(NEW, "new", "new")

typedef enum change {
#define ISO_X(name, id, text) CHANGE_##name,
  CHANGE_LIST(ISO_X)
#undef ISO_X
} change;

static const char *const change_names[] = {
#define ISO_X(name, id, text) id,
    CHANGE_LIST(ISO_X)
#undef ISO_X
};

typedef struct pair {
  size_t before, after; /* NOWHERE */
  change verdict;       /* in verdict, levels and anomalies */
  bool slower;          /* in throughput or latency, by more than the tolerance */
} pair;

struct isoproof_plan_comparison {
  const isoproof_plan_results *before, *after;
  double tolerance;
  ISO_VEC(pair) pairs;
};

/* ---- judging ---- */

/* Higher is worse. */
static int badness(const isoproof_plan_outcome *o) {
  switch (iso_plan_meaning_of(o)) {
  case ISO_PLAN_AS_EXPECTED:
    return 0;
  case ISO_PLAN_NOT_TRIED:
    return 1;
  case ISO_PLAN_UNKNOWN:
    return 2;
  default:
    return 3;
  }
}

static bool same_text(const char *a, const char *b) { return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0; }

/* Whether a list with commas has something that the other one lacks. */
static bool has_more(const char *list, const char *other) {
  char word[128];
  for (const char *at = list; at != NULL && *at != '\0';) {
    size_t length = strcspn(at, ",");
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), at);
    if (other == NULL || strstr(other, word) == NULL) return true;
    at += length + strspn(at + length, ", ");
  }
  return false;
}

static change judge(const isoproof_plan_outcome *a, const isoproof_plan_outcome *b) {
  int worse = badness(b) - badness(a);
  if (worse != 0) return worse > 0 ? CHANGE_WORSE : CHANGE_BETTER;
  if (has_more(b->anomalies, a->anomalies)) return CHANGE_WORSE;
  if (has_more(a->anomalies, b->anomalies)) return CHANGE_BETTER;
  /* What holds beyond what is expected depends on how long the test ran; it is told, and decides nothing. */
  return same_text(a->strongest, b->strongest) && a->verdict == b->verdict ? CHANGE_SAME : CHANGE_OTHER;
}

static double per_second(const isoproof_plan_outcome *o) {
  return o->seconds > 0 ? (double)o->committed / o->seconds : 0;
}

static bool is_slower(const isoproof_plan_outcome *a, const isoproof_plan_outcome *b, double tolerance) {
  if (!(tolerance > 0) || a->committed == 0 || b->committed == 0) return false;
  return per_second(b) < per_second(a) * (1 - tolerance) || b->p99_ms > a->p99_ms * (1 + tolerance);
}

static size_t find(const isoproof_plan_results *in, const isoproof_plan_outcome *row) {
  for (size_t i = 0; i < in->rows.count; i++) {
    const isoproof_plan_outcome *other = &in->rows.items[i];
    if (strcmp(row->database, other->database) == 0 && strcmp(row->isolation, other->isolation) == 0 &&
        strcmp(row->workload, other->workload) == 0)
      return i;
  }
  return NOWHERE;
}

static isoproof_status match(isoproof_plan_comparison *c, isoproof_error *error) {
  const isoproof_plan_results *a = c->before, *b = c->after;
  bool alone = a->rows.count == 1 && b->rows.count == 1;
  for (size_t i = 0; i < a->rows.count; i++) {
    pair one = {.before = i, .after = alone ? 0 : find(b, &a->rows.items[i]), .verdict = CHANGE_GONE};
    if (one.after != NOWHERE) {
      one.verdict = judge(&a->rows.items[i], &b->rows.items[one.after]);
      one.slower = is_slower(&a->rows.items[i], &b->rows.items[one.after], c->tolerance);
    }
    if (!iso_vec_push(&c->pairs, one)) return iso_fail_memory(error);
  }
  for (size_t i = 0; i < b->rows.count && !alone; i++) {
    pair one = {.before = NOWHERE, .after = i, .verdict = CHANGE_NEW};
    if (find(a, &b->rows.items[i]) == NOWHERE && !iso_vec_push(&c->pairs, one)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

isoproof_status isoproof_plan_compare(const isoproof_plan_results *before, const isoproof_plan_results *after,
                                      const isoproof_plan_compare_options *options,
                                      isoproof_plan_comparison **comparison, isoproof_error *error) {
  isoproof_plan_compare_options own = {.struct_size = sizeof own};
  *comparison = NULL;
  ISO_TRY(ISO_OPTIONS_READ(isoproof_plan_compare_options, &own, options, error));
  if (!(own.tolerance >= 0 && own.tolerance <= 1e6))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "tolerance: expected a share, found %g", own.tolerance);
  isoproof_plan_comparison *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->before = before;
  made->after = after;
  made->tolerance = own.tolerance;
  isoproof_status status = match(made, error);
  if (status != ISOPROOF_OK) {
    isoproof_plan_comparison_free(made);
    return status;
  }
  *comparison = made;
  return ISOPROOF_OK;
}

void isoproof_plan_comparison_free(isoproof_plan_comparison *comparison) {
  if (comparison == NULL) return;
  iso_vec_free(&comparison->pairs);
  free(comparison);
}

/* A cell that is new is for the worse when it is not as expected. */
static bool is_worse(const isoproof_plan_comparison *c, const pair *one) {
  if (one->verdict == CHANGE_NEW) return badness(&c->after->rows.items[one->after]) > 0;
  return one->verdict == CHANGE_WORSE || one->verdict == CHANGE_GONE || one->slower;
}

size_t isoproof_plan_comparison_worse(const isoproof_plan_comparison *comparison) {
  size_t count = 0;
  for (size_t i = 0; i < comparison->pairs.count; i++) count += is_worse(comparison, &comparison->pairs.items[i]);
  return count;
}

size_t isoproof_plan_comparison_changes(const isoproof_plan_comparison *comparison) {
  size_t count = 0;
  for (size_t i = 0; i < comparison->pairs.count; i++)
    count += comparison->pairs.items[i].verdict != CHANGE_SAME || comparison->pairs.items[i].slower;
  return count;
}

/* ---- text ---- */

static void put_side(iso_output *out, const char *side, const isoproof_plan_outcome *o) {
  char text[512];
  iso_plan_verdict_text(o, text, sizeof text);
  iso_out_printf(out, "    %s  ", side);
  iso_put_terminal(out, text);
  if (o->product != NULL) {
    iso_out_text(out, " (");
    iso_put_terminal(out, o->product);
    iso_out_char(out, ')');
  }
  if (o->strongest != NULL && o->strongest[0] != '\0') {
    iso_out_text(out, "; holds: ");
    iso_put_terminal(out, o->strongest);
  }
  iso_out_char(out, '\n');
}

static double percent(double before, double after) { return before > 0 ? 100 * (after - before) / before : 0; }

/* Figures change with every run: they are told, and count only beyond a tolerance. */
static void put_figures(iso_output *out, const isoproof_plan_outcome *a, const isoproof_plan_outcome *b, bool slower) {
  if (a->committed == 0 || b->committed == 0) return;
  iso_out_printf(
      out,
      "    %s %.0f to %.0f committed per second (%+.0f %%), p50 %.2f to %.2f ms (%+.0f %%), p99 %.2f to %.2f "
      "ms (%+.0f %%)\n",
      slower ? "slower:" : "load:  ", per_second(a), per_second(b), percent(per_second(a), per_second(b)), a->p50_ms,
      b->p50_ms, percent(a->p50_ms, b->p50_ms), a->p99_ms, b->p99_ms, percent(a->p99_ms, b->p99_ms));
}

static void put_pair(iso_output *out, const isoproof_plan_comparison *c, const pair *one) {
  const isoproof_plan_outcome *a = one->before != NOWHERE ? &c->before->rows.items[one->before] : NULL;
  const isoproof_plan_outcome *b = one->after != NOWHERE ? &c->after->rows.items[one->after] : NULL;
  const isoproof_plan_outcome *name = b != NULL ? b : a;
  if (name == NULL) return;
  iso_out_printf(out, "  %-7s", one->slower && one->verdict == CHANGE_SAME ? "slower" : change_names[one->verdict]);
  iso_put_terminal(out, name->database);
  iso_out_text(out, ", ");
  iso_put_terminal(out, iso_plan_isolation_text(name));
  iso_out_text(out, ", ");
  iso_put_terminal(out, name->workload);
  iso_out_char(out, '\n');
  if (one->verdict != CHANGE_SAME && a != NULL) put_side(out, "before:", a);
  if (one->verdict != CHANGE_SAME && b != NULL) put_side(out, "after: ", b);
  if (a != NULL && b != NULL) put_figures(out, a, b, one->slower);
}

isoproof_status isoproof_plan_comparison_write_text(const isoproof_plan_comparison *c, isoproof_write_fn write,
                                                    void *user, isoproof_error *error) {
  iso_output *out = NULL;
  size_t changes = isoproof_plan_comparison_changes(c), worse = isoproof_plan_comparison_worse(c);
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &out, error));
  iso_out_printf(out, "%zu cell%s compared: ", c->pairs.count, c->pairs.count == 1 ? "" : "s");
  if (changes == 0)
    iso_out_text(out, "nothing changed\n");
  else
    iso_out_printf(out, "%zu changed, %zu for the worse\n", changes, worse);
  for (size_t i = 0; i < c->pairs.count; i++) put_pair(out, c, &c->pairs.items[i]);
  return iso_output_close(out, error);
}

/* ---- JSON ---- */

static void json_side(isoproof_json *j, const char *name, const isoproof_plan_outcome *o) {
  isoproof_json_name(j, name);
  if (o == NULL) {
    isoproof_json_null(j);
    return;
  }
  isoproof_json_object(j);
  isoproof_json_name(j, "verdict");
  isoproof_json_string(j, o->rounds > 0 ? isoproof_verdict_name(o->verdict) : NULL);
  isoproof_json_name(j, "means");
  isoproof_json_string(j, iso_plan_meaning_name(iso_plan_meaning_of(o)));
  isoproof_json_name(j, "anomalies");
  isoproof_json_string(j, o->anomalies);
  isoproof_json_name(j, "strongest");
  isoproof_json_string(j, o->strongest);
  isoproof_json_name(j, "product");
  isoproof_json_string(j, o->product);
  isoproof_json_name(j, "per_second");
  isoproof_json_number(j, per_second(o));
  isoproof_json_name(j, "p50_ms");
  isoproof_json_number(j, o->p50_ms);
  isoproof_json_name(j, "p99_ms");
  isoproof_json_number(j, o->p99_ms);
  isoproof_json_end(j);
}

static void json_pair(isoproof_json *j, const isoproof_plan_comparison *c, const pair *one) {
  const isoproof_plan_outcome *a = one->before != NOWHERE ? &c->before->rows.items[one->before] : NULL;
  const isoproof_plan_outcome *b = one->after != NOWHERE ? &c->after->rows.items[one->after] : NULL;
  const isoproof_plan_outcome *name = b != NULL ? b : a;
  if (name == NULL) return;
  isoproof_json_object(j);
  isoproof_json_name(j, "database");
  isoproof_json_string(j, name->database);
  isoproof_json_name(j, "isolation");
  isoproof_json_string(j, name->isolation[0] != '\0' ? name->isolation : NULL);
  isoproof_json_name(j, "workload");
  isoproof_json_string(j, name->workload);
  isoproof_json_name(j, "change");
  isoproof_json_string(j, change_names[one->verdict]);
  isoproof_json_name(j, "slower");
  isoproof_json_bool(j, one->slower);
  json_side(j, "before", a);
  json_side(j, "after", b);
  isoproof_json_end(j);
}

isoproof_status isoproof_plan_comparison_write_json(const isoproof_plan_comparison *c, isoproof_write_fn write,
                                                    void *user, isoproof_error *error) {
  isoproof_json *j;
  ISO_TRY(isoproof_json_open(write, user, &j, error));
  isoproof_json_object(j);
  isoproof_json_name(j, "schema");
  isoproof_json_u64(j, 1);
  isoproof_json_name(j, "changes");
  isoproof_json_u64(j, isoproof_plan_comparison_changes(c));
  isoproof_json_name(j, "worse");
  isoproof_json_u64(j, isoproof_plan_comparison_worse(c));
  isoproof_json_name(j, "compared");
  isoproof_json_list(j);
  for (size_t i = 0; i < c->pairs.count; i++) json_pair(j, c, &c->pairs.items[i]);
  isoproof_json_end(j);
  isoproof_json_end(j);
  isoproof_json_line(j);
  return isoproof_json_close(j, error);
}
