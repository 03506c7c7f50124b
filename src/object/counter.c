/* A counter: a read shows at least what had been added for certain when it began, and at most what may have been added
 * when it ended. */
#include <stdlib.h>
#include <string.h>

#include "object/object.h"

/* Sums of additions by place: `done` of those that ended well before it, `tried` of those that began before it and did
 * not fail. */
typedef struct sums {
  int64_t *done_up, *done_down, *tried_up, *tried_down;
} sums;

static isoproof_status number_of(const iso_object_history *h, const iso_object_op *op, int64_t *number,
                                 isoproof_error *error) {
  iso_pool_view view = iso_pool_look(&h->pool);
  *number = 0;
  if (op->shape == ISO_SHAPE_SCALAR && iso_pool_integer(&view, *iso_object_values(h, op), number)) return ISOPROOF_OK;
  return iso_object_expected(h, op, "an integer", error);
}

static bool add_at(int64_t *sums_by_place, uint32_t place, int64_t number) {
  return !__builtin_add_overflow(sums_by_place[place + 1], number, &sums_by_place[place + 1]);
}

static isoproof_status add_up(const iso_object_history *h, sums *s, isoproof_error *error) {
  for (size_t i = 0; i < h->ops.count; i++) {
    const iso_object_op *op = &h->ops.items[i];
    int64_t number;
    if (op->f != ISO_OBJECT_F_ADD || op->outcome == ISOPROOF_TXN_ABORTED) continue;
    ISO_TRY(number_of(h, op, &number, error));
    bool good = add_at(number > 0 ? s->tried_up : s->tried_down, op->invoked, number);
    if (op->outcome == ISOPROOF_TXN_COMMITTED)
      good &= add_at(number > 0 ? s->done_up : s->done_down, op->completed, number);
    if (!good) return iso_object_expected(h, op, "numbers that can be added up", error);
  }
  int64_t *all[] = {s->done_up, s->done_down, s->tried_up, s->tried_down};
  for (unsigned a = 0; a < 4; a++) {
    for (uint32_t p = 0; p < h->places; p++) {
      if (!__builtin_add_overflow(all[a][p + 1], all[a][p], &all[a][p + 1])) continue;
      return iso_fail(error, ISOPROOF_ERR_LIMIT, "what was added to the counter is too large");
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status judge(const iso_object_history *h, const sums *s, iso_object_report *report,
                             isoproof_error *error) {
  for (size_t i = 0; i < h->ops.count; i++) {
    const iso_object_op *op = &h->ops.items[i];
    int64_t number, least, most;
    if (op->f != ISO_OBJECT_F_READ || op->outcome != ISOPROOF_TXN_COMMITTED) continue;
    ISO_TRY(number_of(h, op, &number, error));
    bool large = __builtin_add_overflow(s->done_up[op->invoked], s->tried_down[op->completed], &least);
    large |= __builtin_add_overflow(s->tried_up[op->completed], s->done_down[op->invoked], &most);
    if (large) return iso_fail(error, ISOPROOF_ERR_LIMIT, "what was added to the counter is too large");
    if (number >= least && number <= most) continue;
    if (!iso_object_problem(report)) continue;
    iso_words_add(&report->words, "line %llu: %lld was read, where only %lld to %lld is possible",
                  (unsigned long long)op->line, (long long)number, (long long)least, (long long)most);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_object_check_counter(const iso_object_history *h, const isoproof_object_options *options,
                                         isoproof_task *task, iso_object_report *report, isoproof_error *error) {
  (void)options;
  sums s;
  size_t places = (size_t)h->places + 1;
  int64_t *all = iso_alloc_zero(places * 4, sizeof *all);
  if (all == NULL) return iso_fail_memory(error);
  s = (sums){all, all + places, all + 2 * places, all + 3 * places};
  isoproof_status status = iso_task_check(task, error);
  if (status == ISOPROOF_OK) status = add_up(h, &s, error);
  if (status == ISOPROOF_OK) status = judge(h, &s, report, error);
  free(all);
  return status;
}
