/* sweep_report.c - what a sweep tried, in words, as JSON and as Markdown. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/run_report.h"
#include "cli/commands/sweep.h"
#include "cli/terminal/message.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

enum { LINES_SHOWN = 20 };

static void jitter_of(const sweep_combination *c, char text[32]) {
  if (!isoproof_workload_meets(c->workload))
    snprintf(text, 32, "-");
  else if (c->jitter < 0)
    snprintf(text, 32, "scales");
  else
    snprintf(text, 32, "%g us", c->jitter);
}

static bool was_tried(const sweep_combination *c) { return c->slices > 0; }

/* "51 of 612 combinations tried in 120 slices, 130.2 s: 50 satisfied, 1 violated; 40 are not to be had here" */
static void put_counts(const sweep *s, FILE *out) {
  uint64_t states[SWEEP_STATES] = {0}, tried = 0;
  for (size_t i = 0; i < s->count; i++) {
    states[s->items[i].state]++;
    tried += was_tried(&s->items[i]);
  }
  fprintf(out,
          "%" PRIu64 " of %zu combinations tried in %" PRIu64 " slice%s, %.1f s: %" PRIu64 " satisfied, %" PRIu64
          " violated, %" PRIu64 " unknown",
          tried, s->count, s->slices, s->slices == 1 ? "" : "s", s->seconds, states[SWEEP_SATISFIED],
          states[SWEEP_VIOLATED], states[SWEEP_UNKNOWN]);
  if (states[SWEEP_UNAVAILABLE] > 0)
    fprintf(out, "; %" PRIu64 " need what the database does not have", states[SWEEP_UNAVAILABLE]);
  fputc('\n', out);
}

/* ---- in words ---- */

/* Violated ones first, then those that were tried longest. */
static int by_interest(const void *a, const void *b) {
  const sweep_combination *x = *(const sweep_combination *const *)a, *y = *(const sweep_combination *const *)b;
  if (x->state != y->state) return (x->state < y->state) - (x->state > y->state);
  return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static const sweep_combination **tried_ones(const sweep *s, size_t *count) {
  const sweep_combination **list = malloc((s->count + 1) * sizeof *list);
  *count = 0;
  for (size_t i = 0; list != NULL && i < s->count; i++)
    if (was_tried(&s->items[i])) list[(*count)++] = &s->items[i];
  if (*count > 0) qsort(list, *count, sizeof *list, by_interest);
  return list;
}

static void put_line(FILE *out, const sweep_combination *c) {
  char what[256];
  sweep_describe(c, what, sizeof what);
  fprintf(out, "  %-9s %9" PRIu64 " %9" PRIu64 " %8" PRIu64 " %7.1f  %s\n", sweep_state_name(c->state), c->transactions,
          c->conflicts, c->aborts, c->seconds, what);
}

void sweep_print(const sweep *s, FILE *out) {
  size_t count;
  const sweep_combination **list = tried_ones(s, &count);
  char *text = NULL;
  size_t bytes;
  FILE *counts = open_memstream(&text, &bytes);
  if (counts != NULL) {
    put_counts(s, counts);
    if (fclose(counts) == 0) print_lines(out, text);
    free(text);
  }
  if (count > 0)
    fprintf(out, "  %-9s %9s %9s %8s %7s  %s\n", "verdict", "txns", "conflicts", "aborts", "seconds", "combination");
  for (size_t i = 0; i < count && i < LINES_SHOWN; i++) put_line(out, list[i]);
  if (count > LINES_SHOWN) fprintf(out, "  and %zu more, in sweep.md\n", count - LINES_SHOWN);
  free(list);
}

/* ---- JSON ---- */

static void put_name(isoproof_json *j, const char *name, const char *text) {
  isoproof_json_name(j, name);
  isoproof_json_string(j, text);
}

static void put_count(isoproof_json *j, const char *name, uint64_t count) {
  isoproof_json_name(j, name);
  isoproof_json_u64(j, count);
}

static void put_combination(isoproof_json *j, const sweep_combination *c) {
  isoproof_json_object(j);
  put_name(j, "workload", isoproof_workload_at(c->workload));
  put_count(j, "sessions", c->sessions);
  isoproof_json_name(j, "jitter_us");
  if (isoproof_workload_meets(c->workload) && c->jitter >= 0)
    isoproof_json_number(j, c->jitter);
  else
    isoproof_json_null(j);
  put_name(j, "layout", c->layout);
  put_name(j, "access", c->access);
  put_name(j, "statements", c->statements);
  put_name(j, "round_trips", c->round_trips);
  put_name(j, "verdict", sweep_state_name(c->state));
  put_count(j, "slices", c->slices);
  put_count(j, "transactions", c->transactions);
  put_count(j, "conflicts", c->conflicts);
  put_count(j, "aborts", c->aborts);
  isoproof_json_name(j, "seconds");
  isoproof_json_number(j, c->seconds);
  isoproof_json_end(j);
}

bool sweep_print_json(const sweep *s, FILE *out) {
  isoproof_json *j;
  isoproof_error error = {.offset = -1};
  if (isoproof_json_open(write_stream, out, &j, &error) != ISOPROOF_OK) {
    message_error(&error, NULL);
    return false;
  }
  isoproof_json_object(j);
  isoproof_json_name(j, "sweep");
  isoproof_json_object(j);
  put_name(j, "expected", s->level);
  put_count(j, "combinations", s->count);
  put_count(j, "slices", s->slices);
  isoproof_json_name(j, "seconds");
  isoproof_json_number(j, s->seconds);
  isoproof_json_name(j, "tried");
  isoproof_json_list(j);
  for (size_t i = 0; i < s->count; i++)
    if (was_tried(&s->items[i])) put_combination(j, &s->items[i]);
  isoproof_json_end(j);
  isoproof_json_end(j);
  isoproof_json_end(j);
  isoproof_json_line(j);
  if (isoproof_json_close(j, &error) == ISOPROOF_OK) return true;
  if (out != stdout || !output_gone()) message_error(&error, NULL);
  return false;
}

/* ---- Markdown ---- */

static void put_markdown(const sweep *s, FILE *out) {
  size_t count;
  const sweep_combination **list = tried_ones(s, &count);
  put_counts(s, out);
  fputs("\n| workload | sessions | jitter | layout | access | statements | round trips | transactions | conflicts | "
        "aborts | seconds | verdict |\n|---|--:|---|---|---|---|---|--:|--:|--:|--:|---|\n",
        out);
  for (size_t i = 0; i < count; i++) {
    const sweep_combination *c = list[i];
    char jitter[32];
    jitter_of(c, jitter);
    fprintf(out, "| %s | %u | %s | %s | %s | %s | %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %.1f | %s |\n",
            isoproof_workload_at(c->workload), c->sessions, jitter, c->layout, c->access, c->statements, c->round_trips,
            c->transactions, c->conflicts, c->aborts, c->seconds, sweep_state_name(c->state));
  }
  free(list);
}

bool sweep_save(const sweep *s, const test_folder *folder) {
  FILE *out = test_file_open_in(folder->path, "sweep.json");
  if (out == NULL) return false;
  bool good = sweep_print_json(s, out);
  good = test_file_close_in(out, folder->path, "sweep.json") && good;
  out = test_file_open_in(folder->path, "sweep.md");
  if (out == NULL) return false;
  put_markdown(s, out);
  return test_file_close_in(out, folder->path, "sweep.md") && good;
}
