/* tell.c - the history that a schedule tells, for the checkers of levels. */
#include "coo/schedule.h"

/* Counts from 1, so that 0 stays the initial value, as in the rows of a database. */
static isolde_scalar value_of(const isolde_schedule *schedule, uint32_t object, uint32_t version) {
  uint32_t step = iso_schedule_writer(schedule, object, version);
  return step == ISO_NO_STEP ? isolde_nil() : isolde_integer(iso_schedule_value(schedule, step));
}

static isolde_txn_status status_of(const isolde_schedule *schedule, uint32_t txn) {
  uint32_t end = schedule->end[txn];
  if (end == ISO_NO_STEP) return ISOLDE_UNKNOWN;
  return schedule->steps[end].kind == ISOLDE_STEP_COMMIT ? ISOLDE_COMMITTED : ISOLDE_ABORTED;
}

/* The version that was seen in the end, or else the last one that a committed transaction left. */
static uint32_t final_version(const isolde_schedule *schedule, uint32_t object) {
  if (schedule->has_final) return schedule->final[object];
  for (uint32_t i = schedule->step_count; i-- > 0;) {
    const isolde_step *s = &schedule->steps[i];
    if (s->kind == ISOLDE_STEP_WRITE && s->object == object && status_of(schedule, s->txn) == ISOLDE_COMMITTED) {
      return s->version;
    }
  }
  return 0;
}

static isolde_status add_txn(const isolde_schedule *schedule, uint32_t txn, isolde_builder *builder, uint32_t session,
                             isolde_error *error) {
  ISO_TRY(isolde_builder_begin(builder, session, status_of(schedule, txn), error));
  uint32_t first = 0;
  while (first < schedule->step_count && schedule->steps[first].txn != txn) first++;
  int64_t end = schedule->end[txn] == ISO_NO_STEP ? ISOLDE_NO_TIME : (int64_t)schedule->end[txn];
  ISO_TRY(isolde_builder_times(builder, first, end, error));
  for (uint32_t i = first; i < schedule->step_count; i++) {
    const isolde_step *s = &schedule->steps[i];
    if (s->txn != txn || (s->kind != ISOLDE_STEP_READ && s->kind != ISOLDE_STEP_WRITE)) continue;
    isolde_op_kind kind = s->kind == ISOLDE_STEP_READ ? ISOLDE_OP_READ : ISOLDE_OP_WRITE;
    isolde_scalar key = isolde_string(schedule->names[s->object]);
    ISO_TRY(isolde_builder_op(builder, kind, key, value_of(schedule, s->object, s->version), error));
  }
  return ISOLDE_OK;
}

/* The session looks at every object, twice over, so that whatever the order of versions is, it can be told from the
 * order of the reads. */
static isolde_status add_final(const isolde_schedule *schedule, isolde_builder *builder, uint32_t session,
                               isolde_error *error) {
  int64_t start = schedule->step_count;
  ISO_TRY(isolde_builder_begin(builder, session, ISOLDE_COMMITTED, error));
  ISO_TRY(isolde_builder_times(builder, start, start + 1, error));
  for (uint32_t i = 0; i < 2 * schedule->object_count; i++) {
    uint32_t object = i % schedule->object_count;
    isolde_scalar seen = value_of(schedule, object, final_version(schedule, object));
    ISO_TRY(isolde_builder_op(builder, ISOLDE_OP_READ, isolde_string(schedule->names[object]), seen, error));
  }
  return ISOLDE_OK;
}

static isolde_status tell(const isolde_schedule *schedule, isolde_builder *builder, isolde_history **history,
                          isolde_error *error) {
  for (uint32_t txn = 0; txn < schedule->txn_count; txn++) {
    uint32_t session;
    ISO_TRY(isolde_builder_session(builder, isolde_integer(schedule->labels[txn]), &session, error));
    ISO_TRY(add_txn(schedule, txn, builder, session, error));
    if (status_of(schedule, txn) == ISOLDE_COMMITTED) ISO_TRY(add_final(schedule, builder, session, error));
  }
  return isolde_builder_finish(builder, history, error);
}

isolde_status isolde_schedule_history(const isolde_schedule *schedule, isolde_history **history, isolde_error *error) {
  isolde_builder *builder = NULL;
  *history = NULL;
  ISO_TRY(isolde_builder_new(&builder, error));
  isolde_status status = tell(schedule, builder, history, error);
  isolde_builder_free(builder);
  return status;
}
