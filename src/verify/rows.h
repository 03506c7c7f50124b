/* rows.h - what reads of rows show, as the judge understands the definitions.
 *
 * A row that a statement did not return was absent, or its value did not meet the conditions; which of the two, and in
 * which version, is not recorded.  Nothing is owned.
 */
#ifndef ISO_VERIFY_ROWS_H
#define ISO_VERIFY_ROWS_H

#include "history/history.h"

/* What a key holds at the start. */
iso_value iso_verify_initial(const isoproof_history *history, uint32_t key);
/* Whether a read of a register or row can have shown that version of its key. */
bool iso_verify_shows(const isoproof_history *history, uint32_t read, iso_value version);
/* Whether a row of that key, in that version, meets the conditions of a statement. */
bool iso_verify_meets(const isoproof_history *history, const iso_statement *statement, uint32_t key, iso_value version);
/* Whether two reads of one transaction are in an order: not within one statement. */
bool iso_verify_in_order(const isoproof_history *history, uint32_t before, uint32_t after);

#endif
