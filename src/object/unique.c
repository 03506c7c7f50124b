/* Registers whose writes all differ: a read says which write it observed, and the times of clusters decide. */
#include <stdlib.h>

#include "history/clusters.h"
#include "object/calls.h"

/* Who wrote a value. */
typedef struct written {
  iso_value value;
  uint32_t cluster;
} written;

typedef struct judge {
  const iso_calls *calls;
  size_t first, count;
  written *writes;
  uint32_t write_count;
  iso_timed_op *ops;
  size_t *call; /* of each operation */
  iso_object_report *report;
} judge;

static int by_value(const void *a, const void *b) {
  const written *x = a, *y = b;
  return (x->value > y->value) - (x->value < y->value);
}

/* Lists the writes; false where two write the same, or somebody does anything but read and write. */
static bool list_writes(judge *j) {
  for (size_t i = 0; i < j->count; i++) {
    const iso_call *c = &j->calls->items[j->first + i];
    if (c->kind != ISO_CALL_READ && c->kind != ISO_CALL_WRITE) return false;
    if (c->kind != ISO_CALL_WRITE) continue;
    if (c->to == j->calls->initial) return false;
    j->writes[j->write_count] = (written){c->to, j->write_count};
    j->write_count++;
  }
  if (j->write_count > 1) qsort(j->writes, j->write_count, sizeof *j->writes, by_value);
  for (uint32_t i = 1; i < j->write_count; i++) {
    if (j->writes[i].value == j->writes[i - 1].value) return false;
  }
  return true;
}

/* A read of what nobody wrote is told at once; a write of unknown outcome that nobody read did not happen. */
static uint32_t gather(judge *j) {
  uint32_t count = 0, cluster = 0;
  for (size_t i = 0; i < j->count; i++) {
    const iso_call *c = &j->calls->items[j->first + i];
    iso_timed_op op = {.start = c->invoked, .end = c->known ? (int64_t)c->completed : INT64_MAX};
    op.is_write = c->kind == ISO_CALL_WRITE;
    if (op.is_write) {
      op.cluster = cluster++;
    } else if (c->from == j->calls->initial) {
      op.cluster = j->write_count;
    } else {
      written wanted = {.value = c->from};
      const written *found =
          j->write_count > 0 ? bsearch(&wanted, j->writes, j->write_count, sizeof *j->writes, by_value) : NULL;
      if (found == NULL) {
        if (!iso_object_problem(j->report)) continue;
        iso_call_say(j->report, j->calls, c);
        iso_words_add(&j->report->words, ", which nobody wrote");
        continue;
      }
      op.cluster = found->cluster;
    }
    j->call[count] = j->first + i;
    j->ops[count++] = op;
  }
  return count;
}

/* Drops writes of unknown outcome that nobody read: their clusters are they alone. */
static uint32_t drop_unseen(judge *j, uint32_t count) {
  uint8_t *seen = iso_alloc_zero((size_t)j->write_count + 1, 1);
  if (seen == NULL) return count;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) seen[j->ops[i].cluster] |= !j->ops[i].is_write;
  for (uint32_t i = 0; i < count; i++) {
    if (j->ops[i].is_write && j->ops[i].end == INT64_MAX && !seen[j->ops[i].cluster]) continue;
    j->call[kept] = j->call[i];
    j->ops[kept++] = j->ops[i];
  }
  free(seen);
  return kept;
}

static isoproof_status decide(judge *j, isoproof_task *task, isoproof_error *error) {
  uint32_t count = drop_unseen(j, gather(j));
  iso_timed_ops ops = {.items = j->ops, .count = count, .keys = 1, .writes = j->write_count};
  iso_cluster_verdict verdict;
  ISO_TRY(iso_clusters_judge(&ops, task, NULL, &verdict, error));
  if (!verdict.violated || !iso_object_problem(j->report)) return ISOPROOF_OK;
  iso_words_add(&j->report->words, "no order explains these by themselves: ");
  for (uint32_t i = 0; i < verdict.blamed_count; i++) {
    if (i > 0) iso_words_add(&j->report->words, "; ");
    iso_call_say(j->report, j->calls, &j->calls->items[j->call[verdict.blamed[i]]]);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_calls_judge_unique(const iso_calls *calls, size_t first, size_t end, isoproof_task *task,
                                       iso_object_report *report, bool *decided, isoproof_error *error) {
  judge j = {.calls = calls, .first = first, .count = end - first, .report = report};
  j.writes = iso_alloc(j.count, sizeof *j.writes);
  j.ops = iso_alloc(j.count, sizeof *j.ops);
  j.call = iso_alloc(j.count, sizeof *j.call);
  bool made = j.writes != NULL && j.ops != NULL && j.call != NULL;
  isoproof_status status = made ? ISOPROOF_OK : iso_fail_memory(error);
  *decided = made && list_writes(&j);
  if (*decided) status = decide(&j, task, error);
  free(j.writes);
  free(j.ops);
  free(j.call);
  return status;
}
