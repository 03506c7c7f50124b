/* schedule_history.c - the history that a schedule tells, for the checkers of levels. */
#include "coo/schedule.h"

/* Counts from 1, so that 0 stays the initial value, as in the rows of a database. */
static isoproof_scalar value_of(const isoproof_schedule *schedule, uint32_t object, uint32_t version) {
  uint32_t step = iso_schedule_writer(schedule, object, version);
  return step == ISO_NO_STEP ? isoproof_nil() : isoproof_integer(iso_schedule_value(schedule, step));
}

static isoproof_txn_status status_of(const isoproof_schedule *schedule, uint32_t txn) {
  uint32_t end = schedule->end[txn];
  if (end == ISO_NO_STEP) return ISOPROOF_TXN_UNKNOWN;
  return schedule->steps[end].kind == ISOPROOF_STEP_COMMIT ? ISOPROOF_TXN_COMMITTED : ISOPROOF_TXN_ABORTED;
}

/* The version that was seen in the end, or else the last one that a committed transaction left. */
static uint32_t final_version(const isoproof_schedule *schedule, uint32_t object) {
  if (schedule->has_final) return schedule->final[object];
  for (uint32_t i = schedule->step_count; i-- > 0;) {
    const isoproof_schedule_step *s = &schedule->steps[i];
    if (s->kind == ISOPROOF_STEP_WRITE && s->object == object &&
        status_of(schedule, s->txn) == ISOPROOF_TXN_COMMITTED) {
      return s->version;
    }
  }
  return 0;
}

static isoproof_status add_txn(const isoproof_schedule *schedule, uint32_t txn, isoproof_builder *builder,
                               uint32_t session, isoproof_error *error) {
  ISO_TRY(isoproof_builder_begin(builder, session, status_of(schedule, txn), error));
  uint32_t first = 0;
  while (first < schedule->step_count && schedule->steps[first].txn != txn) first++;
  int64_t end = schedule->end[txn] == ISO_NO_STEP ? ISOPROOF_NO_TIME : (int64_t)schedule->end[txn];
  ISO_TRY(isoproof_builder_times(builder, first, end, error));
  for (uint32_t i = first; i < schedule->step_count; i++) {
    const isoproof_schedule_step *s = &schedule->steps[i];
    if (s->txn != txn || (s->kind != ISOPROOF_STEP_READ && s->kind != ISOPROOF_STEP_WRITE)) continue;
    isoproof_op_kind kind = s->kind == ISOPROOF_STEP_READ ? ISOPROOF_OP_READ : ISOPROOF_OP_WRITE;
    isoproof_scalar key = isoproof_string(schedule->names[s->object]);
    ISO_TRY(isoproof_builder_op(builder, kind, key, value_of(schedule, s->object, s->version), error));
  }
  return ISOPROOF_OK;
}

/* The session looks at every object, twice over, so that whatever the order of versions is, it can be told from the
 * order of the reads. */
static isoproof_status add_final(const isoproof_schedule *schedule, isoproof_builder *builder, uint32_t session,
                                 isoproof_error *error) {
  int64_t start = schedule->step_count;
  ISO_TRY(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, error));
  ISO_TRY(isoproof_builder_times(builder, start, start + 1, error));
  for (uint32_t i = 0; i < 2 * schedule->object_count; i++) {
    uint32_t object = i % schedule->object_count;
    isoproof_scalar seen = value_of(schedule, object, final_version(schedule, object));
    ISO_TRY(isoproof_builder_op(builder, ISOPROOF_OP_READ, isoproof_string(schedule->names[object]), seen, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status tell(const isoproof_schedule *schedule, isoproof_builder *builder, isoproof_history **history,
                            isoproof_error *error) {
  for (uint32_t txn = 0; txn < schedule->txn_count; txn++) {
    uint32_t session;
    ISO_TRY(isoproof_builder_session(builder, isoproof_integer(schedule->labels[txn]), &session, error));
    ISO_TRY(add_txn(schedule, txn, builder, session, error));
    if (status_of(schedule, txn) == ISOPROOF_TXN_COMMITTED) ISO_TRY(add_final(schedule, builder, session, error));
  }
  return isoproof_builder_finish(builder, history, error);
}

isoproof_status isoproof_schedule_history(const isoproof_schedule *schedule, isoproof_history **history,
                                          isoproof_error *error) {
  isoproof_builder *builder = NULL;
  *history = NULL;
  ISO_TRY(isoproof_builder_new(&builder, error));
  isoproof_status status = tell(schedule, builder, history, error);
  isoproof_builder_free(builder);
  return status;
}
