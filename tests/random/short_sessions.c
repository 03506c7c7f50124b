#include "short_sessions.h"

static isolde_status copy_ops(const isolde_history *history, const isolde_txn *txn, isolde_builder *builder,
                              isolde_error *error) {
  for (uint64_t i = txn->first_op; i < txn->first_op + txn->ops; i++) {
    isolde_op op;
    isolde_history_op(history, i, &op);
    isolde_status status = isolde_builder_op(builder, op.kind, op.key, op.value, error);
    if (status != ISOLDE_OK) return status;
  }
  return ISOLDE_OK;
}

isolde_status short_sessions(const isolde_history *history, uint64_t length, isolde_history **cut,
                             isolde_error *error) {
  isolde_builder *builder;
  isolde_status status = isolde_builder_new(&builder, error);
  if (status != ISOLDE_OK) return status;
  isolde_txn txn;
  int64_t name = -1;
  uint32_t session = 0;
  for (uint64_t i = 0; status == ISOLDE_OK && isolde_history_txn(history, i, &txn); i++) {
    if (txn.index % length == 0) status = isolde_builder_session(builder, isolde_integer(++name), &session, error);
    if (status == ISOLDE_OK) status = isolde_builder_begin(builder, session, txn.status, error);
    if (status == ISOLDE_OK) status = copy_ops(history, &txn, builder, error);
  }
  if (status == ISOLDE_OK) status = isolde_builder_finish(builder, cut, error);
  isolde_builder_free(builder);
  return status;
}
