/* Logs of single operations as histories: a call is a transaction of one operation, or of two where it compares and
 * sets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/format.h"
#include "format/single_log.h"
#include "history/notice.h"

typedef struct taker {
  const char *file;
  bool porcupine;
  isoproof_builder *builder;
  iso_pool *pool;
  iso_value lone_key; /* of a log that has but one register */
  iso_numbering processes;
  ISO_VEC(uint32_t) crashed; /* by process: how many of its calls had no known outcome */
  bool missed;
  isoproof_error *error;
} taker;

/* Porcupine's logs have texts only.  A text that is a number becomes one: equal stays equal. */
static isoproof_status number_of(taker *k, iso_value *code) {
  int64_t number;
  char canonical[32];
  iso_pool_view view = iso_pool_look(k->pool);
  isoproof_scalar s = iso_pool_scalar(&view, *code);
  if (s.type != ISOPROOF_STRING || !iso_parse_i64(s.text, s.length, &number)) return ISOPROOF_OK;
  int length = snprintf(canonical, sizeof canonical, "%lld", (long long)number);
  if ((size_t)length != s.length || memcmp(canonical, s.text, s.length) != 0) return ISOPROOF_OK;
  return iso_pool_add_i64(k->pool, number, code, k->error);
}

static isoproof_status value_of(taker *k, iso_value *code) {
  iso_pool_view view = iso_pool_look(k->pool);
  isoproof_scalar s = iso_pool_scalar(&view, *code);
  if (k->porcupine && s.type == ISOPROOF_STRING && s.length == 0) {
    *code = ISO_VALUE_NIL; /* what is not there reads as the empty text */
    return ISOPROOF_OK;
  }
  return number_of(k, code);
}

/* What a client of unknown outcome does next is not after it: it goes on as another session. */
static isoproof_status session_of(taker *k, const iso_single_call *call, uint32_t *session) {
  uint32_t process;
  iso_value name = call->process;
  ISO_TRY(iso_numbering_add(&k->processes, call->process, &process, k->error));
  if (process == k->crashed.count && !iso_vec_push(&k->crashed, 0)) return iso_fail_memory(k->error);
  uint32_t crashed = k->crashed.items[process];
  if (call->outcome == ISOPROOF_TXN_UNKNOWN) k->crashed.items[process]++;
  if (crashed > 0) {
    char text[160];
    iso_pool_view view = iso_pool_look(k->pool);
    size_t used = isoproof_scalar_format(iso_pool_scalar(&view, name), text, sizeof text / 2);
    if (used > sizeof text / 2) used = sizeof text / 2 - 1;
    int more = snprintf(text + used, sizeof text - used, "+%u", crashed);
    ISO_TRY(iso_pool_add_text(k->pool, ISOPROOF_STRING, text, used + (size_t)more, &name, k->error));
  }
  return iso_builder_session(k->builder, name, session, k->error);
}

static isoproof_status take(taker *k, const iso_single_call *call) {
  uint32_t session;
  iso_value key = call->key, value[2] = {call->value[0], call->value[1]};
  if (call->f == ISO_SINGLE_APPEND || call->f == ISO_SINGLE_DELETE) {
    return iso_fail_at(k->error, ISOPROOF_ERR_UNSUPPORTED, (iso_place){k->file, call->line, 0, -1},
                       "appends and deletions of texts are no part of a history of transactions; `check "
                       "--level=linearizable` judges them");
  }
  if (key == ISO_VALUE_NIL) key = k->lone_key;
  ISO_TRY(number_of(k, &key));
  for (int i = 0; i < 2; i++) ISO_TRY(value_of(k, &value[i]));
  iso_txn_info info = iso_txn_unset();
  info.status = call->missed ? ISOPROOF_TXN_ABORTED : (isoproof_txn_status)call->outcome;
  info.start_index = call->invoked;
  info.end_index = call->completed == ISO_SINGLE_NEVER ? -1 : (int64_t)call->completed;
  info.position = call->line;
  k->missed = k->missed || call->missed;
  ISO_TRY(session_of(k, call, &session));
  ISO_TRY(iso_builder_begin(k->builder, session, &info, NULL, k->error));
  bool reads = call->f == ISO_SINGLE_GET || call->f == ISO_SINGLE_READ;
  if (reads && call->outcome != ISOPROOF_TXN_COMMITTED) value[0] = ISO_VALUE_NONE;
  if (reads || call->f == ISO_SINGLE_CAS) {
    ISO_TRY(iso_builder_op(k->builder, ISOPROOF_OP_READ, key, value[0], k->error));
  }
  if (reads) return ISOPROOF_OK;
  iso_value written = call->f == ISO_SINGLE_CAS ? value[1] : value[0];
  if (written == ISO_VALUE_NIL) {
    return iso_fail_at(k->error, ISOPROOF_ERR_UNSUPPORTED, (iso_place){k->file, call->line, 0, -1},
                       "a write of what was there at first is no part of a history of transactions; `check "
                       "--level=linearizable` judges it");
  }
  return iso_builder_op(k->builder, ISOPROOF_OP_WRITE, key, written, k->error);
}

static isoproof_status read_log(iso_input *input, bool porcupine, isoproof_builder *builder, isoproof_task *task,
                                isoproof_error *error) {
  taker k = {.file = iso_input_name(input),
             .porcupine = porcupine,
             .builder = builder,
             .pool = iso_builder_pool(builder),
             .error = error};
  iso_single_calls calls;
  iso_builder_origin(builder, porcupine ? ISOPROOF_FORMAT_PORCUPINE : ISOPROOF_FORMAT_JEPSEN_LOG, ISO_POSITION_LINE,
                     false);
  ISO_TRY(iso_single_log_read(input, porcupine, k.pool, task, &calls, error));
  iso_numbering_init(&k.processes);
  isoproof_status status = iso_pool_add_text(k.pool, ISOPROOF_STRING, "register", 8, &k.lone_key, error);
  for (size_t i = 0; i < calls.count && status == ISOPROOF_OK; i++) {
    if ((i & 1023) == 0) status = iso_task_check(task, error);
    if (status == ISOPROOF_OK) status = take(&k, &calls.items[i]);
  }
  if (status == ISOPROOF_OK && k.missed) {
    status = iso_builder_notice(builder, ISOPROOF_NOTICE_LEFT_OUT, 0,
                                "what compare-and-sets that failed say about the value is left out", error);
  }
  iso_numbering_free(&k.processes);
  iso_vec_free(&k.crashed);
  iso_vec_free(&calls);
  return status;
}

isoproof_status iso_read_porcupine(iso_input *input, isoproof_builder *builder, isoproof_task *task,
                                   isoproof_error *error) {
  return read_log(input, true, builder, task, error);
}

isoproof_status iso_read_jepsen_log(iso_input *input, isoproof_builder *builder, isoproof_task *task,
                                    isoproof_error *error) {
  return read_log(input, false, builder, task, error);
}
