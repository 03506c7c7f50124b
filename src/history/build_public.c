/* The builder as isoproof/history.h shows it: scalars instead of codes, and every argument checked. */
#include "history/builder_internal.h"

#include <stdlib.h>

isolde_status isolde_builder_session(isolde_builder *builder, isolde_scalar name, uint32_t *session,
                                     isolde_error *error) {
  iso_value code;
  ISO_TRY(iso_pool_add(&builder->pool, name, &code, error));
  return iso_builder_session(builder, code, session, error);
}

isolde_status isolde_builder_begin(isolde_builder *builder, uint32_t session, isolde_txn_status status,
                                   isolde_error *error) {
  if (session >= builder->sessions.count) return iso_fail(error, ISOLDE_ERR_USAGE, "there is no session %u", session);
  if ((unsigned)status > ISOLDE_UNKNOWN) return iso_fail(error, ISOLDE_ERR_USAGE, "there is no status %d", (int)status);
  iso_txn_info info = iso_txn_unset();
  info.status = status;
  return iso_builder_begin(builder, session, &info, NULL, error);
}

isolde_status isolde_builder_times(isolde_builder *builder, int64_t start, int64_t end, isolde_error *error) {
  if (!builder->open) return iso_fail(error, ISOLDE_ERR_USAGE, "times outside a transaction");
  uint32_t txn = builder->runs.items[builder->runs.count - 1].txn;
  iso_txn_info info = iso_txn_unset();
  info.status = (isolde_txn_status)builder->txn_status.items[txn];
  info.start = start;
  info.end = end;
  return iso_builder_update(builder, txn, &info, error);
}

static isolde_status check_kind(isolde_op_kind kind, isolde_error *error) {
  if ((unsigned)kind < ISOLDE_OP_KINDS) return ISOLDE_OK;
  return iso_fail(error, ISOLDE_ERR_USAGE, "there is no kind of operation %d", (int)kind);
}

isolde_status isolde_builder_op(isolde_builder *builder, isolde_op_kind kind, isolde_scalar key, isolde_scalar value,
                                isolde_error *error) {
  iso_value key_code, value_code;
  ISO_TRY(check_kind(kind, error));
  bool unset = value.type == ISOLDE_NIL || value.type == ISOLDE_NONE;
  if (iso_kind_is_list(kind) && !unset) {
    return iso_fail(error, ISOLDE_ERR_USAGE, "the elements of a list go through isolde_builder_elements");
  }
  if (!isolde_op_kind_observes(kind) && unset) {
    return iso_fail(error, ISOLDE_ERR_USAGE, "an operation that changes a key needs a value");
  }
  bool counts = kind == ISOLDE_OP_INCREMENT || (kind == ISOLDE_OP_READ_COUNTER && !unset);
  if (counts && value.type != ISOLDE_INTEGER) return iso_fail(error, ISOLDE_ERR_USAGE, "a counter needs an integer");
  if (key.type == ISOLDE_NIL || key.type == ISOLDE_NONE) return iso_fail(error, ISOLDE_ERR_USAGE, "a key that is nil");
  ISO_TRY(iso_pool_add(&builder->pool, key, &key_code, error));
  ISO_TRY(iso_pool_add(&builder->pool, value, &value_code, error));
  return iso_builder_op(builder, kind, key_code, value_code, error);
}

isolde_status isolde_builder_elements(isolde_builder *builder, isolde_op_kind kind, isolde_scalar key,
                                      const isolde_scalar *elements, size_t count, isolde_error *error) {
  ISO_TRY(check_kind(kind, error));
  if (!iso_kind_is_list(kind)) return iso_fail(error, ISOLDE_ERR_USAGE, "only list and set reads have elements");
  if (key.type == ISOLDE_NIL || key.type == ISOLDE_NONE) return iso_fail(error, ISOLDE_ERR_USAGE, "a key that is nil");
  iso_value key_code;
  ISO_TRY(iso_pool_add(&builder->pool, key, &key_code, error));
  iso_value *codes = iso_alloc(count, sizeof *codes);
  if (codes == NULL) return iso_fail_memory(error);
  isolde_status status = ISOLDE_OK;
  for (size_t i = 0; i < count && status == ISOLDE_OK; i++) {
    if (elements[i].type == ISOLDE_NIL || elements[i].type == ISOLDE_NONE) {
      status = iso_fail(error, ISOLDE_ERR_USAGE, "an element that is nil");
    } else {
      status = iso_pool_add(&builder->pool, elements[i], &codes[i], error);
    }
  }
  if (status == ISOLDE_OK) status = iso_builder_list(builder, kind, key_code, codes, count, error);
  free(codes);
  return status;
}
