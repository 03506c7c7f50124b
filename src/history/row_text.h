/* row_text.h - statements on rows as whoever wrote them knows them, instead of row by row.
 * Text is added to the words of the caller; numbers are plain values. */
#ifndef ISO_HISTORY_ROW_TEXT_H
#define ISO_HISTORY_ROW_TEXT_H

#include "base/words.h"
#include "history/history.h"

/* What people call a key: its label, else its name. */
isoproof_scalar iso_history_key_shown(const isoproof_history *history, uint32_t key);

/* "where key between 1 and 4 and value mod 2 = 0", or, `brief`, "where key in 1..4 and value mod 2 = 0"; "of all rows"
 * where there is no condition.  Rows that a fact rows.LOW.HIGH names are "of accounts where balance < 100". */
void iso_words_add_conditions(iso_words *words, const isoproof_history *history, const iso_statement *statement,
                              bool brief);
/* What it returned: "1 = 5, 2 = 6", "no row", "3" of a count. */
void iso_words_add_answer(iso_words *words, const isoproof_history *history, const iso_statement *statement);

/* The operation that stands for one in what people see: the first of its statement, else itself. */
uint32_t iso_history_shown_op(const isoproof_history *history, uint32_t op);
/* The number of an operation within its transaction, and how many there are: a statement is one, as in the input. */
uint64_t iso_history_shown_number(const isoproof_history *history, uint32_t txn, uint32_t op);
uint64_t iso_history_shown_count(const isoproof_history *history, uint32_t txn);

#endif
