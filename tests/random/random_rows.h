/* random_rows.h - small random histories of rows and predicates: drawn, written as text, and shrunk.
 * A history is a plain value of its caller's (tests/oracle/rows.h). */
#ifndef RANDOM_ROWS_H
#define RANDOM_ROWS_H

#include "tests/oracle/rows.h"

/* 2 to 5 transactions of 1 to 4 operations on 1 to 3 rows.  Reads return what some versions that were written would
 * give, of any transactions. */
void rows_draw_random(uint64_t *state, row_history *out);
/* The same run by a tiny store of versions: serially, on snapshots (with and without a check of conflicts, or old
 * ones), on a snapshot per statement, or on none; now and then one of its reads goes wrong. */
void rows_draw_store(uint64_t *state, row_history *out);

/* What both share: sessions, statuses, programs without results, fresh values, times in order or not. */
void rows_draw_shape(uint64_t *state, row_history *out);
/* What a read returns when it sees these versions; what should have missed a row, and finds one, becomes a read. */
void rows_answer(const row_history *history, row_op *op, const row_value seen[ROWS_KEYS]);
/* True that many times of a hundred. */
bool rows_chance(uint64_t *state, unsigned percent);
/* Gives times: transactions in the order of the given places, which overlap where the places do. */
void rows_draw_times(uint64_t *state, row_history *out);

/* The history as JSON lines (docs/format-jsonl.md); returns the length. */
size_t rows_text(const row_history *history, char *out, size_t size);
/* The same history, whose predicates ask of columns what the others ask of values. */
size_t rows_text_with_columns(const row_history *history, char *out, size_t size);

/* Leaves out transactions, operations, conditions and rows as long as it still fails. */
void rows_shrink(row_history *history, bool (*fails)(const row_history *history, void *user), void *user);

#endif
