/* The builder as isoproof/history.h shows it: scalars instead of codes, and every argument checked. */
#include "history/builder_internal.h"

#include <stdlib.h>
#include <string.h>

isoproof_status isoproof_builder_session(isoproof_builder *builder, isoproof_scalar name, uint32_t *session,
                                         isoproof_error *error) {
  iso_value code;
  ISO_TRY(iso_pool_add(&builder->pool, name, &code, error));
  return iso_builder_session(builder, code, session, error);
}

isoproof_status isoproof_builder_begin(isoproof_builder *builder, uint32_t session, isoproof_txn_status status,
                                       isoproof_error *error) {
  if (session >= builder->sessions.count) return iso_fail(error, ISOPROOF_ERR_USAGE, "there is no session %u", session);
  if ((unsigned)status > ISOPROOF_TXN_UNKNOWN)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "there is no status %d", (int)status);
  iso_txn_info info = iso_txn_unset();
  info.status = status;
  return iso_builder_begin(builder, session, &info, NULL, error);
}

isoproof_status isoproof_builder_times(isoproof_builder *builder, int64_t start, int64_t end, isoproof_error *error) {
  if (!builder->open) return iso_fail(error, ISOPROOF_ERR_USAGE, "times outside a transaction");
  uint32_t txn = builder->runs.items[builder->runs.count - 1].txn;
  iso_txn_info info = iso_txn_unset();
  info.status = (isoproof_txn_status)builder->txn_status.items[txn];
  if (txn < builder->txn_isolation.count) info.isolation = (iso_txn_isolation)builder->txn_isolation.items[txn];
  info.start = start;
  info.end = end;
  return iso_builder_update(builder, txn, &info, error);
}

isoproof_status isoproof_builder_isolation(isoproof_builder *builder, const char *level, isoproof_error *error) {
  iso_txn_isolation isolation = ISO_ISOLATION_NONE;
  if (!builder->open) return iso_fail(error, ISOPROOF_ERR_USAGE, "an isolation level outside a transaction");
  if (level != NULL && !iso_txn_isolation_find(level, strlen(level), &isolation)) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "isolation: expected " ISO_ISOLATION_NAMES ", found `%s`", level);
  }
  return iso_builder_isolation(builder, builder->runs.items[builder->runs.count - 1].txn, isolation, error);
}

static isoproof_status check_kind(isoproof_op_kind kind, isoproof_error *error) {
  if ((unsigned)kind < ISOPROOF_OP_KINDS) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_USAGE, "there is no kind of operation %d", (int)kind);
}

isoproof_status isoproof_builder_op(isoproof_builder *builder, isoproof_op_kind kind, isoproof_scalar key,
                                    isoproof_scalar value, isoproof_error *error) {
  iso_value key_code, value_code;
  ISO_TRY(check_kind(kind, error));
  bool unset = value.type == ISOPROOF_NIL || value.type == ISOPROOF_NONE;
  if (iso_kind_is_list(kind) && !unset) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "the elements of a list go through isoproof_builder_elements");
  }
  if (!isoproof_op_kind_observes(kind) && unset) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "an operation that changes a key needs a value");
  }
  bool counts = kind == ISOPROOF_OP_INCREMENT || (kind == ISOPROOF_OP_READ_COUNTER && !unset);
  if (counts && value.type != ISOPROOF_INTEGER)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "a counter needs an integer");
  if (key.type == ISOPROOF_NIL || key.type == ISOPROOF_NONE)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "a key that is nil");
  ISO_TRY(iso_pool_add(&builder->pool, key, &key_code, error));
  ISO_TRY(iso_pool_add(&builder->pool, value, &value_code, error));
  return iso_builder_op(builder, kind, key_code, value_code, error);
}

isoproof_status isoproof_builder_elements(isoproof_builder *builder, isoproof_op_kind kind, isoproof_scalar key,
                                          const isoproof_scalar *elements, size_t count, isoproof_error *error) {
  ISO_TRY(check_kind(kind, error));
  if (!iso_kind_is_list(kind)) return iso_fail(error, ISOPROOF_ERR_USAGE, "only list and set reads have elements");
  if (key.type == ISOPROOF_NIL || key.type == ISOPROOF_NONE)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "a key that is nil");
  iso_value key_code;
  ISO_TRY(iso_pool_add(&builder->pool, key, &key_code, error));
  iso_value *codes = iso_alloc(count, sizeof *codes);
  if (codes == NULL) return iso_fail_memory(error);
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; i < count && status == ISOPROOF_OK; i++) {
    if (elements[i].type == ISOPROOF_NIL || elements[i].type == ISOPROOF_NONE) {
      status = iso_fail(error, ISOPROOF_ERR_USAGE, "an element that is nil");
    } else {
      status = iso_pool_add(&builder->pool, elements[i], &codes[i], error);
    }
  }
  if (status == ISOPROOF_OK) status = iso_builder_list(builder, kind, key_code, codes, count, error);
  free(codes);
  return status;
}
