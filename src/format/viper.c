/* Viper logs: a directory of J*.log, one log per session, one transaction per line.
 *
 * {"value": [["r", 1, 1, true], ["w", 2, 1, true]]}: the last element says whether the operation succeeded; one that
 * did not says nothing. */
#include "format/format.h"
#include "format/log_directory.h"
#include "format/micro_op.h"

typedef struct log_reader {
  iso_tokenizer t;
  isoproof_builder *builder;
  iso_pool *pool;
  isoproof_error *error;
  iso_micro_op micro;
  uint32_t session;
  uint64_t lines;
} log_reader;

/* The key and value of an operation; a read of 0 or null is one of the initial version. */
static isoproof_status key_and_value(log_reader *log, iso_op_add *op) {
  iso_tokenizer *t = &log->t;
  ISO_TRY(iso_token_next(t));
  if (t->type != ISO_TOKEN_SCALAR || t->scalar.type == ISOPROOF_NIL) {
    return iso_token_expected(t, "a key (a number or a string)");
  }
  ISO_TRY(iso_micro_op_code(t, log->pool, &op->key));
  ISO_TRY(iso_token_next(t));
  bool nil = iso_token_is_nil(t);
  if (!iso_token_is_integer(t) && !(nil && op->kind == ISOPROOF_OP_READ)) {
    return iso_token_expected(t, "a value (an integer of 64 bits)");
  }
  ISO_TRY(iso_micro_op_code(t, log->pool, &op->value));
  if (op->kind == ISOPROOF_OP_READ && op->value == 0) op->value = ISO_VALUE_NIL;
  return ISOPROOF_OK;
}

/* ["r", key, value, success] */
static isoproof_status operation(log_reader *log) {
  iso_tokenizer *t = &log->t;
  iso_op_add op = {0};
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "an operation (a list)");
  ISO_TRY(iso_token_next(t));
  bool read = iso_token_is(t, "r");
  if (!read && !iso_token_is(t, "w")) return iso_token_expected(t, "an operation (\"r\" or \"w\")");
  op.kind = read ? ISOPROOF_OP_READ : ISOPROOF_OP_WRITE;
  ISO_TRY(key_and_value(log, &op));
  ISO_TRY(iso_token_next(t));
  bool success = true;
  if (t->type != ISO_TOKEN_END) {
    success = t->scalar.type == ISOPROOF_SYMBOL && iso_token_is(t, "true");
    bool failure = t->scalar.type == ISOPROOF_SYMBOL && iso_token_is(t, "false");
    if (!success && !failure) return iso_token_expected(t, "true or false (whether the operation succeeded)");
    ISO_TRY(iso_token_next(t));
    if (t->type != ISO_TOKEN_END) return iso_token_expected(t, "the end of the operation");
  }
  if (!success) return ISOPROOF_OK;
  return iso_vec_push(&log->micro.ops, op) ? ISOPROOF_OK : iso_fail_memory(log->error);
}

static isoproof_status operations(log_reader *log) {
  iso_micro_op_clear(&log->micro);
  if (log->t.type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(&log->t, "a list of operations");
  for (;;) {
    ISO_TRY(iso_token_next(&log->t));
    if (log->t.type == ISO_TOKEN_END) return ISOPROOF_OK;
    ISO_TRY(operation(log));
  }
}

static isoproof_status transaction(log_reader *log) {
  iso_txn_info info = iso_txn_unset();
  info.position = log->t.token_line;
  bool has_value = false;
  for (;;) {
    ISO_TRY(iso_token_next(&log->t));
    if (log->t.type == ISO_TOKEN_END) break;
    bool is_value = iso_token_is(&log->t, "value");
    ISO_TRY(iso_token_next(&log->t));
    ISO_TRY(is_value ? operations(log) : iso_token_skip(&log->t));
    has_value = has_value || is_value;
  }
  if (!has_value) return iso_token_expected(&log->t, "a \"value\" in the transaction that ends here");
  ISO_TRY(iso_builder_begin(log->builder, log->session, &info, NULL, log->error));
  iso_micro_ops part = iso_micro_op_at_hand(&log->micro);
  return iso_micro_op_emit(&part, log->builder, log->error);
}

static isoproof_status transactions(log_reader *log, isoproof_task *task) {
  for (;;) {
    if (task != NULL && (log->lines++ & 1023) == 0) {
      uint64_t done, total;
      iso_input_progress(log->t.window.input, &done, &total);
      iso_task_progress(task, "reading", "bytes", done, total);
      ISO_TRY(iso_task_check(task, log->error));
    }
    ISO_TRY(iso_token_next(&log->t));
    if (log->t.type == ISO_TOKEN_END_OF_INPUT) return ISOPROOF_OK;
    if (log->t.type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(&log->t, "a transaction (an object)");
    ISO_TRY(transaction(log));
  }
}

isoproof_status iso_read_viper_log(iso_input *input, uint64_t session, isoproof_builder *builder, isoproof_task *task,
                                   isoproof_error *error) {
  log_reader log = {.builder = builder, .pool = iso_builder_pool(builder), .error = error};
  iso_value name;
  iso_builder_origin(builder, ISOPROOF_FORMAT_VIPER, ISO_POSITION_LINE, true);
  ISO_TRY(iso_pool_add_u64(log.pool, session, &name, error));
  ISO_TRY(iso_builder_session(builder, name, &log.session, error));
  ISO_TRY(iso_builder_session_file(builder, log.session, iso_input_name(input), error));
  ISO_TRY(iso_builder_file(builder, iso_input_name(input), error));
  ISO_TRY(iso_tokenizer_init(&log.t, input, ISO_TOKEN_DIALECT_JSON, error));
  isoproof_status status = transactions(&log, task);
  iso_tokenizer_free(&log.t);
  iso_micro_op_free(&log.micro);
  return status;
}

isoproof_status iso_read_viper(const char *path, isoproof_builder *builder, isoproof_task *task,
                               isoproof_error *error) {
  iso_log_directory logs;
  ISO_TRY(iso_log_directory_list(path, 'J', &logs, error));
  isoproof_status status = ISOPROOF_OK;
  if (logs.count == 0) {
    status = iso_fail_at(error, ISOPROOF_ERR_FORMAT, (iso_place){path, 0, 0, -1},
                         "expected a directory of Viper logs J0.log, J1.log, ..., found none");
  }
  for (size_t i = 0; status == ISOPROOF_OK && i < logs.count; i++) {
    iso_input *input;
    status = iso_input_open_for(logs.items[i].path, task, &input, error);
    if (status != ISOPROOF_OK) break;
    status = iso_read_viper_log(input, logs.items[i].number, builder, task, error);
    iso_input_close(input);
  }
  iso_log_directory_free(&logs);
  return status == ISOPROOF_OK ? iso_builder_file(builder, path, error) : status;
}
