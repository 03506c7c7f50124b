/* run_report.c - a run in words. */
#include "cli/commands/run_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/message.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal.h"

/* So late that it is worth a line. */
static const int64_t far_behind_ns = 100000000;

/* "850 us", "1.2 ms", "3.4 s" */
static void duration(int64_t ns, char text[32]) {
  if (ns < 1000000)
    snprintf(text, 32, "%.0f us", (double)ns / 1e3);
  else if (ns < 1000000000)
    snprintf(text, 32, "%.1f ms", (double)ns / 1e6);
  else
    snprintf(text, 32, "%.1f s", (double)ns / 1e9);
}

/* " (deadlock 2, busy 1)" or nothing. */
static void errors(const isoproof_run_counts *c, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; isoproof_error_class_at(i) != NULL && used < size; i++) {
    if (c->errors[i] == 0) continue;
    used += (size_t)snprintf(text + used, size - used, "%s%s %" PRIu64, used == 0 ? " (" : ", ",
                             isoproof_error_class_at(i), c->errors[i]);
  }
  if (used > 0 && used + 1 < size) memcpy(text + used, ")", 2);
}

/* What is left, by whichever limit there is; what has passed where there is none. */
static void remaining(const isoproof_run_progress *p, char *text, size_t size) {
  double left = -1;
  uint64_t done = p->counts->committed + p->counts->aborted + p->counts->unknown;
  if (p->seconds_limit > 0) left = p->seconds_limit > p->counts->seconds ? p->seconds_limit - p->counts->seconds : 0;
  if (p->txns_limit > done && p->rate > 0) {
    double by_count = (double)(p->txns_limit - done) / p->rate;
    if (left < 0 || by_count < left) left = by_count;
  }
  char duration_text[48];
  progress_duration(left >= 0 ? left : p->counts->seconds, duration_text, sizeof duration_text);
  if (left >= 0 && left < 0.5)
    snprintf(text, size, "ending");
  else
    snprintf(text, size, "%s%s", duration_text, left >= 0 ? " left" : "");
}

void run_progress(const isoproof_run_progress *p, void *user) {
  const char *const *further = user;
  char left[64], rate[48], committed[64], failed[320], fault[128], latency[96], errors_text[256], p50[32], p99[32];
  const char *parts[PROGRESS_PARTS] = {left, rate, committed, failed};
  size_t count = 4;
  const isoproof_run_counts *c = p->counts;
  errors(c, errors_text, sizeof errors_text);
  duration(c->p50_ns, p50);
  duration(c->p99_ns, p99);
  remaining(p, left, sizeof left);
  snprintf(rate, sizeof rate, "%.0f tx/s", p->rate);
  snprintf(committed, sizeof committed, "%" PRIu64 " committed", c->committed);
  snprintf(failed, sizeof failed, "%" PRIu64 " aborted%s", c->aborted + c->unknown, errors_text);
  /* Where the classes of errors do not fit, their number does. */
  if (strlen(failed) > 40) snprintf(failed, sizeof failed, "%" PRIu64 " aborted", c->aborted + c->unknown);
  if (p->fault != NULL) {
    snprintf(fault, sizeof fault, "fault: %s", p->fault);
    parts[count++] = fault;
  }
  for (size_t i = 0; further != NULL && i < 2; i++) parts[count++] = further[i];
  snprintf(latency, sizeof latency, "p50 %s, p99 %s", p50, p99);
  parts[count++] = latency;
  if (strlen(errors_text) > 3 && strlen(failed) < 20 && count < PROGRESS_PARTS) {
    errors_text[strlen(errors_text) - 1] = 0;
    parts[count++] = errors_text + 2;
  }
  progress_parts(parts, count);
}

/* How late transactions began, where there was a schedule. */
static void put_lag(FILE *out, const isoproof_run_counts *c) {
  char p50[32], p99[32], most[32], behind[32];
  duration(c->lag_p50_ns, p50);
  duration(c->lag_p99_ns, p99);
  duration(c->lag_max_ns, most);
  duration(c->behind_ns, behind);
  fprintf(out, "  behind the schedule p50 %s, p99 %s, max %s; latency counts from when transactions were due\n", p50,
          p99, most);
  if (c->behind_ns > far_behind_ns)
    fprintf(out, "  in the end transactions had been due for %s that no session was free to begin\n", behind);
}

static void put_summary(FILE *out, const void *about) {
  const isoproof_run_summary *report = about;
  const isoproof_run_counts *c = isoproof_run_summary_counts(report);
  char failed[512], p50[32], p90[32], p99[32], most[32];
  errors(c, failed, sizeof failed);
  duration(c->p50_ns, p50);
  duration(c->p90_ns, p90);
  duration(c->p99_ns, p99);
  duration(c->max_ns, most);
  put_escaped(out, isoproof_run_summary_database(report));
  fputs(", ", out);
  put_escaped(out, isoproof_run_summary_isolation(report));
  fprintf(out, ": %" PRIu64 " committed, %" PRIu64 " aborted, %" PRIu64 " unknown%s in %.1f s\n", c->committed,
          c->aborted, c->unknown, failed, c->seconds);
  if (isoproof_run_summary_cancelled(report)) fprintf(out, "  interrupted after %.1f s\n", c->seconds);
  if (c->committed > 0)
    fprintf(out, "  %.0f committed per second, latency p50 %s, p90 %s, p99 %s, max %s\n",
            c->seconds > 0 ? (double)c->committed / c->seconds : 0, p50, p90, p99, most);
  if (c->lag_max_ns > 0) put_lag(out, c);
  if (c->broken_totals > 0) fprintf(out, "  %" PRIu64 " reads of all accounts saw a wrong total\n", c->broken_totals);
}

/* Prints what `put` writes, wrapped. */
static void put_wrapped(FILE *out, void (*put)(FILE *, const void *), const void *about) {
  char *text = NULL;
  size_t bytes;
  FILE *lines = open_memstream(&text, &bytes);
  if (lines == NULL) return;
  put(lines, about);
  if (fclose(lines) == 0) print_lines(out, text);
  free(text);
}

void run_summary(FILE *out, const isoproof_run_summary *report) { put_wrapped(out, put_summary, report); }

/* ---- effort ---- */

/* "  chances of anomalies: lost update 12, write skew 3" and "  no chance: long fork"; which of the two is `some`. */
static void put_chances(FILE *out, const isoproof_effort *e, bool some) {
  const char *before = some ? "  chances of anomalies: " : "  no chance: ";
  for (size_t i = 0; isoproof_chance_at(i) != NULL; i++) {
    if ((e->chances[i] > 0) != some) continue;
    fprintf(out, "%s%s", before, isoproof_chance_at(i)->name);
    if (some) fprintf(out, " %s%" PRIu64, e->at_least ? "at least " : "", e->chances[i]);
    before = ", ";
  }
  if (before[0] == ',') fputc('\n', out);
}

static void put_effort(FILE *out, const void *about) {
  const isoproof_effort *e = about;
  fprintf(out, "  tried: %.1f at once (%" PRIu64 " at most), %.0f %% met a conflict, %" PRIu64 " version%s per key\n",
          e->concurrency_mean, e->concurrency_max, 100.0 * (double)e->conflicting / (double)e->transactions,
          e->versions_median, e->versions_median == 1 ? "" : "s");
  put_chances(out, e, true);
  put_chances(out, e, false);
}

void run_effort(FILE *out, const isoproof_effort *effort) {
  if (effort->has_times && effort->transactions > 0) put_wrapped(out, put_effort, effort);
}

static void json_count(isoproof_json *j, const char *name, uint64_t count) {
  isoproof_json_name(j, name);
  isoproof_json_u64(j, count);
}

static void json_milliseconds(isoproof_json *j, const char *name, int64_t ns) {
  isoproof_json_name(j, name);
  isoproof_json_number(j, (double)ns * 1e-6);
}

void run_json(isoproof_json *j, const isoproof_run_summary *report, uint64_t seed, const run_cluster *cluster) {
  const isoproof_run_counts *c = isoproof_run_summary_counts(report);
  isoproof_json_name(j, "run");
  isoproof_json_object(j);
  isoproof_json_name(j, "database");
  isoproof_json_string(j, isoproof_run_summary_database(report));
  isoproof_json_name(j, "driver");
  isoproof_json_string(j, isoproof_run_summary_driver(report));
  isoproof_json_name(j, "isolation");
  isoproof_json_string(j, isoproof_run_summary_isolation(report));
  isoproof_json_name(j, "claims");
  isoproof_json_string(j, isoproof_run_summary_claim(report));
  isoproof_json_name(j, "claims_source");
  isoproof_json_string(j, isoproof_run_summary_claim_source(report));
  json_count(j, "seed", seed);
  json_count(j, "committed", c->committed);
  json_count(j, "aborted", c->aborted);
  json_count(j, "unknown", c->unknown);
  json_count(j, "retried", c->retried);
  isoproof_json_name(j, "seconds");
  isoproof_json_number(j, c->seconds);
  isoproof_json_name(j, "errors");
  isoproof_json_object(j);
  for (size_t i = 0; isoproof_error_class_at(i) != NULL; i++)
    if (c->errors[i] > 0) json_count(j, isoproof_error_class_at(i), c->errors[i]);
  isoproof_json_end(j);
  isoproof_json_name(j, "latency_ms");
  isoproof_json_object(j);
  json_milliseconds(j, "p50", c->p50_ns);
  json_milliseconds(j, "p90", c->p90_ns);
  json_milliseconds(j, "p99", c->p99_ns);
  json_milliseconds(j, "max", c->max_ns);
  isoproof_json_end(j);
  if (c->lag_max_ns > 0) {
    isoproof_json_name(j, "lag_ms");
    isoproof_json_object(j);
    json_milliseconds(j, "p50", c->lag_p50_ns);
    json_milliseconds(j, "p99", c->lag_p99_ns);
    json_milliseconds(j, "max", c->lag_max_ns);
    json_milliseconds(j, "behind", c->behind_ns);
    isoproof_json_end(j);
  }
  if (c->broken_totals > 0) json_count(j, "broken_totals", c->broken_totals);
  if (isoproof_run_summary_cancelled(report)) {
    isoproof_json_name(j, "interrupted");
    isoproof_json_bool(j, true);
  }
  run_cluster_json(j, cluster);
  isoproof_json_end(j);
}

int run_exit(const isoproof_error *error, const char *path) {
  bool ours = path != NULL && strcmp(error->file, path) == 0;
  return error->code == ISOPROOF_ERR_IO && !ours ? EXIT_RUN : exit_of_status(error->code);
}

int run_was_useful(const isoproof_run_summary *report) {
  const isoproof_run_counts *c = isoproof_run_summary_counts(report);
  if (c->committed > 0 || isoproof_run_summary_cancelled(report)) return EXIT_SATISFIED;
  size_t worst = 0;
  for (size_t i = 0; isoproof_error_class_at(i) != NULL; i++)
    if (c->errors[i] > c->errors[worst]) worst = i;
  const char *words = isoproof_run_summary_last_error(report, worst);
  message("no transaction committed%s%s", words[0] != 0 ? "; the database says: " : "", words);
  return EXIT_RUN;
}
