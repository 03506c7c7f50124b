/* transaction_order.h - `--transaction-order=FILE`: the order in which transactions took effect, by their names.
 * An order owns its numbers until transaction_order_free. */
#ifndef CLI_OPTIONS_TRANSACTION_ORDER_H
#define CLI_OPTIONS_TRANSACTION_ORDER_H

#include <isoproof/history.h>

typedef struct transaction_order {
  uint64_t *txns; /* NULL when no file was named */
  size_t count;
} transaction_order;

/* Reads a file with one name a line ("s0t1"), the first transaction first; what comes after '#' is a remark.  `path`
 * may be NULL, for no order. */
isoproof_status transaction_order_read(const char *path, const isoproof_history *history, transaction_order *out,
                                       isoproof_error *error);
void transaction_order_free(transaction_order *order);

#endif
