/* Compares two histories, field by field. */
#include "tests/unit/format/same_history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define DIFFER(what, ...)                                                                                              \
  do {                                                                                                                 \
    print_error("%s: ", what);                                                                                         \
    fail_msg(__VA_ARGS__);                                                                                             \
  } while (0)

static void same_scalar(isoproof_scalar a, isoproof_scalar b, const char *what, const char *field, uint64_t number) {
  if (isoproof_scalar_equal(a, b)) return;
  char left[200], right[200];
  isoproof_scalar_format(a, left, sizeof left);
  isoproof_scalar_format(b, right, sizeof right);
  DIFFER(what, "%s of %llu: %s (type %d) became %s (type %d)", field, (unsigned long long)number, left, (int)a.type,
         right, (int)b.type);
}

static bool has_element(const isoproof_history *h, uint64_t op, uint64_t count, isoproof_scalar wanted) {
  isoproof_scalar element;
  for (uint64_t i = 0; i < count; i++)
    if (isoproof_history_element_at(h, op, i, &element) && isoproof_scalar_equal(element, wanted)) return true;
  return false;
}

static void same_op(const isoproof_history *a, const isoproof_history *b, uint64_t op_a, uint64_t op_b,
                    const char *what) {
  isoproof_op left = {.struct_size = sizeof left}, right = {.struct_size = sizeof right};
  isoproof_scalar x, y;
  assert_true(isoproof_history_op_at(a, op_a, &left));
  assert_true(isoproof_history_op_at(b, op_b, &right));
  if (left.kind != right.kind)
    DIFFER(what, "kind of operation %llu: %s became %s", (unsigned long long)op_a, isoproof_op_kind_name(left.kind),
           isoproof_op_kind_name(right.kind));
  same_scalar(left.key, right.key, what, "key", op_a);
  same_scalar(left.value, right.value, what, "value", op_a);
  if (left.element_count != right.element_count) DIFFER(what, "elements of operation %llu", (unsigned long long)op_a);
  for (uint64_t i = 0; i < left.element_count; i++) {
    assert_true(isoproof_history_element_at(a, op_a, i, &x));
    assert_true(isoproof_history_element_at(b, op_b, i, &y));
    if (left.kind == ISOPROOF_OP_READ_SET) {
      if (!has_element(b, op_b, right.element_count, x)) DIFFER(what, "an element of a set is missing");
    } else {
      same_scalar(x, y, what, "element", op_a);
    }
  }
}

static void same_txn(const isoproof_history *a, const isoproof_history *b, uint64_t txn_a, uint64_t txn_b,
                     same_options options, const char *what) {
  isoproof_txn left = {.struct_size = sizeof left}, right = {.struct_size = sizeof right};
  assert_true(isoproof_history_txn_at(a, txn_a, &left));
  assert_true(isoproof_history_txn_at(b, txn_b, &right));
  unsigned long long number = txn_a;
  if (left.status != right.status)
    DIFFER(what, "status of transaction %llu: %s became %s", number, isoproof_txn_status_name(left.status),
           isoproof_txn_status_name(right.status));
  if (!options.no_times && (left.start != right.start || left.end != right.end))
    DIFFER(what, "times of transaction %llu (%s): %lld %lld became %lld %lld", number,
           isoproof_txn_status_name(left.status), (long long)left.start, (long long)left.end, (long long)right.start,
           (long long)right.end);
  if (strcmp(left.isolation != NULL ? left.isolation : "", right.isolation != NULL ? right.isolation : "") != 0)
    DIFFER(what, "isolation of transaction %llu", number);
  if (left.op_count != right.op_count)
    DIFFER(what, "operations of transaction %llu: %llu became %llu", number, (unsigned long long)left.op_count,
           (unsigned long long)right.op_count);
  for (uint64_t i = 0; i < left.op_count; i++) same_op(a, b, left.first_op + i, right.first_op + i, what);
}

/* The session of `b` with the name of session `number` of `a`: formats may list sessions in another order. */
static isoproof_session partner(const isoproof_history *b, uint64_t sessions, uint64_t number, isoproof_scalar name,
                                same_options options, const char *what) {
  isoproof_session session = {.struct_size = sizeof session};
  for (uint64_t i = options.by_position ? number : 0; i < sessions; i++) {
    assert_true(isoproof_history_session_at(b, i, &session));
    if (options.by_position || isoproof_scalar_equal(session.name, name)) return session;
  }
  char text[200];
  isoproof_scalar_format(name, text, sizeof text);
  DIFFER(what, "session %s is gone", text);
  return session;
}

void same_history(const isoproof_history *a, const isoproof_history *b, same_options options, const char *what) {
  isoproof_counts left = {.struct_size = sizeof left}, right = {.struct_size = sizeof right};
  isoproof_session session = {.struct_size = sizeof session};
  isoproof_history_counts(a, &left);
  isoproof_history_counts(b, &right);
  if (left.sessions != right.sessions || left.transactions != right.transactions || left.operations != right.operations)
    DIFFER(what, "%llu sessions, %llu transactions, %llu operations became %llu, %llu, %llu",
           (unsigned long long)left.sessions, (unsigned long long)left.transactions,
           (unsigned long long)left.operations, (unsigned long long)right.sessions,
           (unsigned long long)right.transactions, (unsigned long long)right.operations);
  if (left.keys != right.keys) DIFFER(what, "number of keys");
  if (!options.no_times && left.has_times != right.has_times) DIFFER(what, "has_times");
  for (uint64_t s = 0; s < left.sessions; s++) {
    assert_true(isoproof_history_session_at(a, s, &session));
    isoproof_session other = partner(b, right.sessions, s, session.name, options, what);
    if (session.txn_count != other.txn_count) DIFFER(what, "transactions of session %llu", (unsigned long long)s);
    for (uint64_t t = 0; t < session.txn_count; t++)
      same_txn(a, b, session.first_txn + t, other.first_txn + t, options, what);
  }
}
