/* run_report.c - a run in words. */
#include "cli/commands/run_report.h"

#include <inttypes.h>
#include <string.h>

#include "cli/terminal/message.h"
#include "cli/terminal/progress.h"

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

/* What is left, by whichever limit there is. */
static void remaining(const isoproof_run_progress *p, char *text, size_t size) {
  double left = -1;
  uint64_t done = p->counts->committed + p->counts->aborted + p->counts->unknown;
  if (p->seconds_limit > 0) left = p->seconds_limit - p->counts->seconds;
  if (p->txns_limit > done && p->rate > 0) {
    double by_count = (double)(p->txns_limit - done) / p->rate;
    if (left < 0 || by_count < left) left = by_count;
  }
  text[0] = 0;
  if (left >= 0) snprintf(text, size, "%.0f s left, ", left);
}

void run_progress(const isoproof_run_progress *p, void *user) {
  (void)user;
  char line[512], failed[256], p50[32], p99[32], left[64];
  errors(p->counts, failed, sizeof failed);
  duration(p->counts->p50_ns, p50);
  duration(p->counts->p99_ns, p99);
  remaining(p, left, sizeof left);
  snprintf(line, sizeof line, "%s%.0f tx/s, p50 %s, p99 %s, %" PRIu64 " committed, %" PRIu64 " aborted%s", left,
           p->rate, p50, p99, p->counts->committed, p->counts->aborted + p->counts->unknown, failed);
  progress_line(line);
}

void run_summary(FILE *out, const isoproof_run_summary *report) {
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
  if (c->committed > 0)
    fprintf(out, "  %.0f committed per second, latency p50 %s, p90 %s, p99 %s, max %s\n",
            c->seconds > 0 ? (double)c->committed / c->seconds : 0, p50, p90, p99, most);
  if (c->broken_totals > 0) fprintf(out, "  %" PRIu64 " reads of all accounts saw a wrong total\n", c->broken_totals);
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
  if (c->broken_totals > 0) json_count(j, "broken_totals", c->broken_totals);
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
