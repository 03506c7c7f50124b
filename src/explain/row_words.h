/* row_words.h - operations on rows in words: statements as whoever wrote them knows them, with what they returned.
 * Everything is added to the words of the caller, which own the text. */
#ifndef ISO_EXPLAIN_ROW_WORDS_H
#define ISO_EXPLAIN_ROW_WORDS_H

#include "base/words.h"
#include "history/history.h"
#include "level/anomalies.h"

/* Whether an operation is told in the words of rows: it has a form, or reads a row. */
bool iso_is_of_rows(const isoproof_history *history, uint32_t op);

/* "s0t0 read row 1 = 5 (h:2)", "s0t0 found no row 1 (h:2)", "s0t0's count where key = 1 returned 0, without row 1
 * (h:2)"
 */
void iso_words_add_observed(iso_words *words, const isoproof_history *history, uint32_t op);
/* "s1t0 inserted row 1 = 5 (h:3)", "s1t0 deleted row 1 (h:3)" */
void iso_words_add_changed(iso_words *words, const isoproof_history *history, uint32_t op);
/* "insert of row 1 = 5 (h:3)", "delete of row 1 (h:3)" */
void iso_words_add_change(iso_words *words, const isoproof_history *history, uint32_t op);

/* What follows from an anomaly of rows, in a sentence that ends with a space; nothing for names of registers. */
void iso_words_add_moral(iso_words *words, const isoproof_history *history, iso_anomaly name, uint32_t read);

#endif
