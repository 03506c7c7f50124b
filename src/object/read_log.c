/* Logs of single operations as operations on a store or on a register. */
#include <stdlib.h>
#include <string.h>

#include "format/single_log.h"
#include "object/object.h"

static iso_object_f f_of(const iso_single_call *call) {
  static const iso_object_f fs[ISO_SINGLE_FS] = {
      [ISO_SINGLE_GET] = ISO_OBJECT_F_GET,       [ISO_SINGLE_PUT] = ISO_OBJECT_F_PUT,
      [ISO_SINGLE_APPEND] = ISO_OBJECT_F_APPEND, [ISO_SINGLE_DELETE] = ISO_OBJECT_F_DELETE,
      [ISO_SINGLE_READ] = ISO_OBJECT_F_READ,     [ISO_SINGLE_WRITE] = ISO_OBJECT_F_WRITE,
      [ISO_SINGLE_CAS] = ISO_OBJECT_F_CAS};
  return call->missed ? ISO_OBJECT_F_MISS : fs[call->f];
}

static bool take(iso_object_history *h, const iso_single_call *call) {
  bool swaps = call->f == ISO_SINGLE_CAS;
  iso_object_op op = {.f = (uint8_t)f_of(call),
                      .shape = swaps ? ISO_SHAPE_LIST : ISO_SHAPE_SCALAR,
                      .outcome = call->outcome,
                      .key = call->key,
                      .count = swaps ? 2 : 1,
                      .first = h->values.count,
                      .invoked = call->invoked,
                      .completed = call->completed == ISO_SINGLE_NEVER ? ISO_OBJECT_NEVER : call->completed,
                      .line = call->line};
  for (uint32_t i = 0; i < op.count; i++) {
    if (!iso_vec_push(&h->values, call->value[i])) return false;
  }
  return iso_vec_push(&h->ops, op);
}

isoproof_status iso_object_read_log(iso_input *input, bool porcupine, isoproof_task *task, iso_object_history *history,
                                    isoproof_error *error) {
  iso_single_calls calls;
  memset(history, 0, sizeof *history);
  history->nil_is_seen = true;
  history->name = strdup(iso_input_name(input));
  isoproof_status status = history->name != NULL ? iso_pool_init(&history->pool, error) : iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = iso_single_log_read(input, porcupine, &history->pool, task, &calls, error);
  if (status == ISOPROOF_OK) {
    history->places = calls.places;
    for (size_t i = 0; i < calls.count && status == ISOPROOF_OK; i++) {
      if (!take(history, &calls.items[i])) status = iso_fail_memory(error);
    }
    iso_vec_free(&calls);
  }
  if (status != ISOPROOF_OK) iso_object_free(history);
  return status;
}
