/* columns.h - contents of columns that versions of rows carry, and predicates that ask for them.
 *
 * Contents belong to a version, a key and a value: whoever writes the same value into the same row writes the same
 * contents.  Comparisons are those of SQL: with an absent content (NULL) nothing is met but IS NULL, integers are
 * compared with integers, and text is equal to text byte by byte.  Nothing is owned.
 */
#ifndef ISO_HISTORY_COLUMNS_H
#define ISO_HISTORY_COLUMNS_H

#include "history/history.h"

/* The predicate of a statement of the history, with its conditions on columns. */
iso_predicate iso_history_predicate(const isoproof_history *history, const iso_statement *statement);
/* The contents of a version; NULL and 0 where it has none. */
const iso_content *iso_history_contents(const isoproof_history *history, uint32_t key, iso_value version,
                                        size_t *count);
/* Whether a version that is there meets the conditions of a predicate on columns. */
bool iso_history_meets(const isoproof_history *history, const iso_predicate *predicate, uint32_t key,
                       iso_value version);
/* One comparison, of codes of a pool. */
bool iso_comparison_holds(const iso_pool_view *pool, iso_comparison comparison, iso_value content, iso_value operand);
/* Whether a comparison with such a value is one that histories know: only equality for text. */
bool iso_comparison_takes(iso_comparison comparison, isoproof_scalar_type type);

#endif
