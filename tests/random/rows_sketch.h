/* rows_sketch.h - small histories of rows from a line of text.  Plain values: nothing is owned.
 *
 * Sessions are parted by '/', transactions by '|'; rows and values are digits.  i15 inserts row 1 with value 5, u and p
 * update and upsert, d1 deletes row 1, x1 and y1 are an update and a delete that find no row, r15 reads it, r1_ finds
 * it absent.  s*15,26 selects all rows and gets two, sk12 those of keys 1 to 2, sv16 of values 1 to 6, sm21 of odd
 * values; c*=2 counts.  '!' aborted, '?' unknown, @1-4 begins at 1 and ends at 4, :15 is there at the start.
 */
#ifndef RANDOM_ROWS_SKETCH_H
#define RANDOM_ROWS_SKETCH_H

#include "tests/oracle/rows.h"

row_history rows_sketch(const char *text);

/* Whether a list of words, parted by spaces, has the word. */
bool rows_sketch_has_word(const char *words, const char *word);

#endif
