/* Comments: whoever sees a write sees all writes that had ended before it began. */
#include <stdlib.h>
#include <string.h>

#include "object/object.h"

/* A write, by its value. */
typedef struct comment {
  iso_value value;
  uint32_t began; /* first */
  uint32_t ended; /* ISO_OBJECT_NEVER where it did not end well */
  uint64_t seen;  /* by which read last, + 1 */
} comment;

typedef struct comments {
  const iso_object_history *h;
  iso_object_report *report;
  ISO_VEC(comment) all;  /* by value */
  ISO_VEC(uint32_t) end; /* of those that ended, in order of their ends: places in `all` */
} comments;

static int by_value(const void *a, const void *b) {
  const comment *x = a, *y = b;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return (x->began > y->began) - (x->began < y->began);
}

static int by_end(const void *a, const void *b, void *context) {
  const comment *all = context;
  uint32_t x = all[*(const uint32_t *)a].ended, y = all[*(const uint32_t *)b].ended;
  return (x > y) - (x < y);
}

static isoproof_status collect(comments *c, isoproof_error *error) {
  const iso_object_history *h = c->h;
  for (size_t i = 0; i < h->ops.count; i++) {
    const iso_object_op *op = &h->ops.items[i];
    if (op->f != ISO_OBJECT_F_WRITE || op->outcome == ISOPROOF_TXN_ABORTED) continue;
    if (op->shape != ISO_SHAPE_SCALAR) return iso_object_expected(h, op, "what was written", error);
    comment one = {*iso_object_values(h, op), op->invoked, ISO_OBJECT_NEVER, 0};
    if (op->outcome == ISOPROOF_TXN_COMMITTED) one.ended = op->completed;
    if (!iso_vec_push(&c->all, one)) return iso_fail_memory(error);
  }
  if (c->all.count > 1) qsort(c->all.items, c->all.count, sizeof(comment), by_value);
  for (size_t i = 1; i < c->all.count; i++) {
    if (c->all.items[i].value == c->all.items[i - 1].value) {
      c->report->undecided = "a value is written more than once";
      return ISOPROOF_OK;
    }
  }
  for (uint32_t i = 0; i < c->all.count; i++) {
    if (c->all.items[i].ended != ISO_OBJECT_NEVER && !iso_vec_push(&c->end, i)) return iso_fail_memory(error);
  }
  if (c->end.count > 1) qsort_r(c->end.items, c->end.count, sizeof(uint32_t), by_end, c->all.items);
  return ISOPROOF_OK;
}

static void judge_read(comments *c, const iso_object_op *read, uint64_t number) {
  const iso_value *values = iso_object_values(c->h, read);
  const comment *latest = NULL;
  for (uint32_t i = 0; i < read->count; i++) {
    comment wanted = {.value = values[i]};
    size_t low = 0, high = c->all.count;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (c->all.items[middle].value < wanted.value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == c->all.count || c->all.items[low].value != wanted.value) continue;
    c->all.items[low].seen = number;
    if (latest == NULL || c->all.items[low].began > latest->began) latest = &c->all.items[low];
  }
  for (size_t i = 0; latest != NULL && i < c->end.count; i++) {
    const comment *earlier = &c->all.items[c->end.items[i]];
    if (earlier->ended > latest->began) break;
    if (earlier->seen == number || !iso_object_problem(c->report)) continue;
    iso_words_add(&c->report->words, "line %llu: the read shows ", (unsigned long long)read->line);
    iso_object_say(c->report, c->h, latest->value);
    iso_words_add(&c->report->words, ", but not ");
    iso_object_say(c->report, c->h, earlier->value);
    iso_words_add(&c->report->words, ", the write of which had ended before");
  }
}

isoproof_status iso_object_check_comments(const iso_object_history *h, const isoproof_object_options *options,
                                          isoproof_task *task, iso_object_report *report, isoproof_error *error) {
  (void)options;
  comments c = {.h = h, .report = report};
  isoproof_status status = collect(&c, error);
  for (size_t i = 0; status == ISOPROOF_OK && report->undecided == NULL && i < h->ops.count; i++) {
    const iso_object_op *op = &h->ops.items[i];
    if (op->f != ISO_OBJECT_F_READ || op->outcome != ISOPROOF_TXN_COMMITTED) continue;
    status = iso_task_check(task, error);
    if (status == ISOPROOF_OK && op->shape != ISO_SHAPE_LIST) {
      status = iso_object_expected(h, op, "a list or a set of what was written", error);
    }
    if (status == ISOPROOF_OK) judge_read(&c, op, (uint64_t)i + 1);
  }
  iso_vec_free(&c.all);
  iso_vec_free(&c.end);
  return status;
}
