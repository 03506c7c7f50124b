/* The summary of a run: counts and percentiles summed over the sessions, and copies of what the database said. */
#include "run/summary.h"

#include <stdio.h>
#include <string.h>

enum { MOST_SETTINGS = 1000 };

typedef struct setting {
  char *name, *value;
} setting;

struct isoproof_run_summary {
  isoproof_run_counts counts;
  char *database, *driver, *isolation, *claim, *note, *source, *table;
  ISO_VEC(setting) settings;
  ISO_VEC(char *) urls;
  uint64_t broken_invariants;
  char messages[ISO_ERROR_CLASSES][ISO_MESSAGE_BYTES];
  bool cancelled;
  iso_histogram_sum latency, lag;
};

const char *isoproof_error_class_at(size_t number) {
  return number < ISO_ERROR_CLASSES ? iso_error_class_name((iso_error_class)number) : NULL;
}

/* ---- counting ---- */

static uint64_t get(const _Atomic uint64_t *counter) { return atomic_load_explicit(counter, memory_order_relaxed); }

static void fill_quantiles(isoproof_run_counts *counts, const iso_histogram_sum *latency,
                           const iso_histogram_sum *lag) {
  counts->p50_ns = iso_histogram_quantile(latency, 0.5);
  counts->p90_ns = iso_histogram_quantile(latency, 0.9);
  counts->p99_ns = iso_histogram_quantile(latency, 0.99);
  counts->max_ns = latency->most;
  counts->lag_p50_ns = iso_histogram_quantile(lag, 0.5);
  counts->lag_p99_ns = iso_histogram_quantile(lag, 0.99);
  counts->lag_max_ns = lag->most;
}

static void count_all(isoproof_run_handle *run, double seconds, isoproof_run_counts *counts, iso_histogram_sum *latency,
                      iso_histogram_sum *lag) {
  memset(latency, 0, sizeof *latency);
  memset(lag, 0, sizeof *lag);
  *counts = (isoproof_run_counts){.seconds = seconds};
  for (uint32_t i = 0; i <= run->session_count; i++) {
    const iso_session_counts *c = &run->sessions[i].counts;
    counts->committed += get(&c->committed);
    counts->aborted += get(&c->aborted);
    counts->unknown += get(&c->unknown);
    counts->retried += get(&c->retried);
    counts->broken_totals += get(&c->broken_totals);
    for (int e = 0; e < ISO_ERROR_CLASSES; e++) counts->errors[e] += get(&c->errors[e]);
    iso_histogram_gather(latency, &c->latency);
    iso_histogram_gather(lag, &c->lag);
  }
  fill_quantiles(counts, latency, lag);
  counts->behind_ns = iso_load_behind(&run->load, (int64_t)(seconds * 1e9));
}

void iso_run_count(isoproof_run_handle *run, double seconds, isoproof_run_counts *counts) {
  iso_histogram_sum latency, lag;
  count_all(run, seconds, counts, &latency, &lag);
}

/* ---- several clients ---- */

void iso_report_counted(const isoproof_run_summary *report, iso_report_counts *counted) {
  memset(counted, 0, sizeof *counted);
  counted->counts = report->counts;
  counted->latency = report->latency;
  counted->lag = report->lag;
}

static void add_histogram(iso_histogram_sum *sum, const iso_histogram_sum *other) {
  for (size_t i = 0; i < ISO_HISTOGRAM_BUCKETS; i++) sum->buckets[i] += other->buckets[i];
  sum->count += other->count;
  if (other->most > sum->most) sum->most = other->most;
}

void iso_report_add(isoproof_run_summary *report, const iso_report_counts *other) {
  isoproof_run_counts *all = &report->counts;
  const isoproof_run_counts *c = &other->counts;
  all->committed += c->committed;
  all->aborted += c->aborted;
  all->unknown += c->unknown;
  all->retried += c->retried;
  all->broken_totals += c->broken_totals;
  for (int e = 0; e < ISOPROOF_ERROR_CLASS_ROOM; e++) all->errors[e] += c->errors[e];
  if (c->seconds > all->seconds) all->seconds = c->seconds;
  if (c->behind_ns > all->behind_ns) all->behind_ns = c->behind_ns;
  add_histogram(&report->latency, &other->latency);
  add_histogram(&report->lag, &other->lag);
  fill_quantiles(all, &report->latency, &report->lag);
}

/* ---- making ---- */

static char *copy(const char *text, bool *good) {
  char *made = strdup(text != NULL ? text : "");
  if (made == NULL) *good = false;
  return made;
}

static bool copy_all(isoproof_run_summary *report, isoproof_run_handle *run) {
  bool good = true;
  const iso_isolation *isolation = run->isolation;
  report->database = copy(iso_database_version(run->database), &good);
  report->driver = copy(iso_driver_name(iso_database_driver(run->database)), &good);
  report->isolation = copy(isolation->name, &good);
  bool sql = iso_database_capabilities(run->database).sql;
  report->table = copy(sql && run->script == NULL ? iso_database_table_name(run->database) : "", &good);
  /* Appends, and statements that look for the row that they change, read what others may not see yet. */
  isoproof_workload_need need = isoproof_workload_needs(run->workload->kind);
  bool changes = need == ISOPROOF_NEED_LISTS || need == ISOPROOF_NEED_ROWS;
  changes |= run->script != NULL;
  const char *claim = changes && isolation->claims_lists != NULL ? isolation->claims_lists : isolation->claims;
  if (run->script != NULL && run->script->mixed) claim = "mixed";
  if (claim != NULL) report->claim = copy(claim, &good);
  report->note = copy(isolation->note, &good);
  char source[512] = "";
  if (isolation->source != NULL) snprintf(source, sizeof source, "%s, %s", isolation->source, isolation->url);
  report->source = copy(source, &good);
  const iso_setting *s;
  for (size_t i = 0; i < MOST_SETTINGS && (s = iso_database_setting(run->database, i)) != NULL; i++) {
    setting made = {copy(s->name, &good), copy(s->value, &good)};
    if (!iso_vec_push(&report->settings, made)) {
      free(made.name);
      free(made.value);
      return false;
    }
  }
  for (size_t i = 0; i < iso_database_nodes(run->database); i++) {
    char *url = copy(iso_database_url(run->database, i), &good);
    if (!iso_vec_push(&report->urls, url)) {
      free(url);
      return false;
    }
  }
  for (uint32_t i = 0; i <= run->session_count; i++) {
    for (int e = 0; run->sessions[i].messages != NULL && e < ISO_ERROR_CLASSES; e++) {
      if (run->sessions[i].messages[e][0] != 0)
        memcpy(report->messages[e], run->sessions[i].messages[e], sizeof report->messages[e]);
    }
  }
  return good;
}

isoproof_status iso_report_new(isoproof_run_handle *run, bool cancelled, double seconds, isoproof_run_summary **report,
                               isoproof_error *error) {
  isoproof_run_summary *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL || !copy_all(made, run)) {
    isoproof_run_summary_free(made);
    return iso_fail_memory(error);
  }
  made->cancelled = cancelled;
  for (size_t i = 0; run->script != NULL && i < run->script->invariants.count; i++)
    made->broken_invariants += run->script->invariants.items[i].broken > 0;
  count_all(run, seconds, &made->counts, &made->latency, &made->lag);
  *report = made;
  return ISOPROOF_OK;
}

void isoproof_run_summary_free(isoproof_run_summary *report) {
  if (report == NULL) return;
  free(report->database);
  free(report->driver);
  free(report->isolation);
  free(report->claim);
  free(report->note);
  free(report->table);
  free(report->source);
  for (size_t i = 0; i < report->settings.count; i++) {
    free(report->settings.items[i].name);
    free(report->settings.items[i].value);
  }
  for (size_t i = 0; i < report->urls.count; i++) free(report->urls.items[i]);
  iso_vec_free(&report->settings);
  iso_vec_free(&report->urls);
  free(report);
}

/* ---- looking ---- */

const isoproof_run_counts *isoproof_run_summary_counts(const isoproof_run_summary *report) { return &report->counts; }
const char *isoproof_run_summary_database(const isoproof_run_summary *report) { return report->database; }
const char *isoproof_run_summary_driver(const isoproof_run_summary *report) { return report->driver; }
const char *isoproof_run_summary_isolation(const isoproof_run_summary *report) { return report->isolation; }
const char *isoproof_run_summary_table(const isoproof_run_summary *report) { return report->table; }
const char *isoproof_run_summary_claim(const isoproof_run_summary *report) { return report->claim; }
const char *isoproof_run_summary_claim_note(const isoproof_run_summary *report) { return report->note; }
const char *isoproof_run_summary_claim_source(const isoproof_run_summary *report) { return report->source; }
bool isoproof_run_summary_cancelled(const isoproof_run_summary *report) { return report->cancelled; }

bool isoproof_run_summary_setting_at(const isoproof_run_summary *report, size_t number, const char **name,
                                     const char **value) {
  if (number >= report->settings.count) return false;
  *name = report->settings.items[number].name;
  *value = report->settings.items[number].value;
  return true;
}

const char *isoproof_run_summary_url_at(const isoproof_run_summary *report, size_t node) {
  return node < report->urls.count ? report->urls.items[node] : NULL;
}

const char *isoproof_run_summary_last_error(const isoproof_run_summary *report, size_t error_class) {
  return error_class < ISO_ERROR_CLASSES ? report->messages[error_class] : "";
}

uint64_t isoproof_run_summary_broken_invariants(const isoproof_run_summary *report) {
  return report->broken_invariants;
}
