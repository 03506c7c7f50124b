/* witness.h - from a finding to a witness that a person can follow: transactions, operations, edges, sentences.
 * Everything in a witness belongs to the arena it was made in. */
#ifndef ISO_EXPLAIN_WITNESS_H
#define ISO_EXPLAIN_WITNESS_H

#include <isoproof/check.h>

#include "base/arena.h"
#include "base/words.h"
#include "result/finding.h"

/* Fills everything of *out but code, name, level and count. */
isoproof_status iso_explain_finding(const isoproof_history *history, const iso_resolution *resolution,
                                    const iso_finding *finding, iso_arena *arena, isoproof_anomaly *out,
                                    isoproof_error *error);

/* Adds " (h.txt:3)" for an operation whose place in the input is known. */
void iso_words_add_position(iso_words *words, const isoproof_history *history, uint32_t op);
/* Adds "key 1 = 4 (h.txt:3)" for an operation. */
void iso_words_add_op(iso_words *words, const isoproof_history *history, uint32_t op);
/* Adds "s2t3". */
void iso_words_add_txn(iso_words *words, const isoproof_history *history, uint32_t txn);

#endif
