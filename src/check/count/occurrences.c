/* Which anomalies can be counted, under which rules, and how far counting goes. */
#include "check/count/occurrences.h"

#include <string.h>

#include "check/count/counting.h"
#include "history/real_time.h"

#define RULE(name) (1u << ISO_RULE_##name)

/* The anomaly, its counter, who says whether there may be more (nobody: no order of versions matters, and the number is
 * exact), the rules that forbid each instance, and whether that takes real time. */
static const struct counter {
  iso_anomaly anomaly;
  iso_count_fn count;
  iso_undecided_fn undecided;
  unsigned rules;
  bool timed;
} counters[] = {
    {ISO_ANOMALY_LOST_UPDATE, iso_count_lost_updates, NULL,
     RULE(SERIALIZABLE) | RULE(SNAPSHOT) | RULE(PARALLEL) | RULE(UPDATE_ATOMIC), false},
    {ISO_ANOMALY_WRITE_SKEW, iso_count_write_skews, iso_write_skew_undecided, RULE(SERIALIZABLE), false},
    {ISO_ANOMALY_LONG_FORK, iso_count_long_forks, iso_long_fork_undecided,
     RULE(SERIALIZABLE) | RULE(SNAPSHOT) | RULE(PREFIX), false},
    {ISO_ANOMALY_STALE_READ, iso_count_stale_reads, iso_stale_read_undecided,
     RULE(SERIALIZABLE) | RULE(SNAPSHOT) | RULE(PREFIX) | RULE(PARALLEL) | RULE(UPDATE_ATOMIC), true},
};

static const struct counter *counter_of(iso_anomaly anomaly, const iso_strong_level *level) {
  for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
    const struct counter *counter = &counters[i];
    bool fits = counter->anomaly == anomaly && (counter->rules & (1u << level->rule)) != 0;
    if (fits && (!counter->timed || level->real_time)) return counter;
  }
  return NULL;
}

void iso_occurrences_free(iso_occurrences *occurrences) {
  iso_vec_free(&occurrences->list);
  memset(occurrences, 0, sizeof *occurrences);
}

static uint64_t most_steps(const iso_view *v) {
  enum { STEPS_AT_LEAST = 1 << 18, STEPS_PER_OP = 24 };
  return STEPS_AT_LEAST + (uint64_t)STEPS_PER_OP * v->h->ops;
}

/* Counts, then asks with steps of its own whether there may be more. */
static void count(const struct counter *counter, iso_counting *c) {
  c->most_steps = most_steps(c->view);
  counter->count(c);
  bool more = c->stopped;
  c->steps = 0;
  if (!more && counter->undecided != NULL) more = counter->undecided(c) || c->stopped;
  c->out->kind = more ? ISOPROOF_COUNT_AT_LEAST : ISOPROOF_COUNT_EXACT;
  if (c->out->count == 0) c->out->kind = ISOPROOF_COUNT_UNKNOWN;
}

isoproof_status iso_occurrences_find(iso_view *view, const iso_versions *versions, const iso_strong_level *level,
                                     iso_anomaly anomaly, size_t keep, isoproof_task *task, iso_occurrences *out,
                                     isoproof_error *error) {
  const struct counter *counter = counter_of(anomaly, level);
  *out = (iso_occurrences){.anomaly = anomaly, .kind = ISOPROOF_COUNT_UNKNOWN};
  if (counter == NULL || (counter->timed && !iso_has_real_time(view->h))) return ISOPROOF_OK;
  iso_counting c = {.view = view,
                    .versions = versions,
                    .level = level,
                    .task = task,
                    .out = out,
                    .keep = keep,
                    .status = ISOPROOF_OK};
  isoproof_status status = iso_counting_init(&c, counter->undecided != NULL, error);
  if (status == ISOPROOF_OK) count(counter, &c);
  iso_counting_free(&c);
  if (status == ISOPROOF_OK && c.status == ISOPROOF_ERR_CANCELLED) status = iso_task_check(task, error);
  if (status == ISOPROOF_OK && c.status == ISOPROOF_ERR_MEMORY) status = iso_fail_memory(error);
  if (status != ISOPROOF_OK) iso_occurrences_free(out);
  return status;
}

isoproof_status iso_occurrences_any(iso_view *view, const iso_versions *versions, const iso_strong_level *level,
                                    isoproof_task *task, iso_occurrences *out, isoproof_error *error) {
  *out = (iso_occurrences){.kind = ISOPROOF_COUNT_UNKNOWN};
  iso_counting c = {.view = view, .versions = versions, .level = level, .task = task, .out = out, .keep = 1};
  c.status = iso_counting_init(&c, true, error);
  c.most_steps = most_steps(view);
  for (size_t i = 0; i < sizeof counters / sizeof *counters && c.status == ISOPROOF_OK && out->count == 0; i++) {
    const struct counter *counter = counter_of(counters[i].anomaly, level);
    if (counter == NULL || (counter->timed && !iso_has_real_time(view->h))) continue;
    c.steps = 0;
    c.stopped = false;
    out->anomaly = counter->anomaly;
    counter->count(&c);
  }
  isoproof_status status = c.status;
  iso_counting_free(&c);
  if (status == ISOPROOF_ERR_CANCELLED) status = iso_task_check(task, error);
  if (status != ISOPROOF_OK) iso_occurrences_free(out);
  return status == ISOPROOF_ERR_MEMORY ? iso_fail_memory(error) : status;
}
