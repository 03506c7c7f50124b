/* jepsen_rows.h - which operations on rows can be written to a Jepsen history, and their predicates taken apart.
 * Everything refers to the history; nothing is owned. */
#ifndef ISO_FORMAT_JEPSEN_ROWS_H
#define ISO_FORMAT_JEPSEN_ROWS_H

#include "history/history.h"

/* Whether an operation is a query whose predicate can be written: one or more words, without rows or with whole ones.
 */
bool iso_rows_writable(const isoproof_history *history, uint32_t op);
/* Whether a transaction is the initial state: the mark of it, and then nothing but writes of values. */
bool iso_rows_initial(const isoproof_history *history, uint32_t txn);
/* Whether a write is a deletion. */
bool iso_rows_deletes(const isoproof_history *history, uint32_t op);
/* The next word of a predicate from *at on, which moves behind it; its length, 0 when there is none. */
size_t iso_rows_word(isoproof_scalar predicate, size_t *at, const char **word);

#endif
