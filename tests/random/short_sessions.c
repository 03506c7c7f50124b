/* Cuts the sessions of a history into many short ones. */
#include "tests/random/short_sessions.h"

static isoproof_status copy_ops(const isoproof_history *history, const isoproof_txn *txn, isoproof_builder *builder,
                                isoproof_error *error) {
  for (uint64_t i = txn->first_op; i < txn->first_op + txn->op_count; i++) {
    isoproof_op op = {.struct_size = sizeof op};
    isoproof_history_op_at(history, i, &op);
    isoproof_status status = isoproof_builder_op(builder, op.kind, op.key, op.value, error);
    if (status != ISOPROOF_OK) return status;
  }
  return ISOPROOF_OK;
}

isoproof_status short_sessions(const isoproof_history *history, uint64_t length, isoproof_history **cut,
                               isoproof_error *error) {
  isoproof_builder *builder;
  isoproof_status status = isoproof_builder_new(&builder, error);
  if (status != ISOPROOF_OK) return status;
  isoproof_txn txn = {.struct_size = sizeof txn};
  int64_t name = -1;
  uint32_t session = 0;
  for (uint64_t i = 0; status == ISOPROOF_OK && isoproof_history_txn_at(history, i, &txn); i++) {
    if (txn.index % length == 0) status = isoproof_builder_session(builder, isoproof_integer(++name), &session, error);
    if (status == ISOPROOF_OK) status = isoproof_builder_begin(builder, session, txn.status, error);
    if (status == ISOPROOF_OK) status = copy_ops(history, &txn, builder, error);
  }
  if (status == ISOPROOF_OK) status = isoproof_builder_finish(builder, cut, error);
  isoproof_builder_free(builder);
  return status;
}
