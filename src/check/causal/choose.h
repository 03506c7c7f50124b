/* choose.h - which of several writes reads observed, so that the causal axiom holds: one good guess.
 *
 * Transactions are taken in a commit order.  The causal axiom has a read see the last of the writers of its key that
 * are causally before the reader; so whoever that is among what is chosen already, if its value fits, is observed, and
 * nothing else becomes visible by that.  Else it is a writer behind it in the commit order, one that makes the fewest
 * others visible whom other reads of the transaction miss.  What the guess is worth is for others to find out.
 */
#ifndef ISO_CHECK_CAUSAL_CHOOSE_H
#define ISO_CHECK_CAUSAL_CHOOSE_H

#include "check/order/sequence.h"

#define ISO_NO_ANSWER UINT32_MAX
#define ISO_NO_VALUE UINT32_MAX

/* A read that several versions fit. */
typedef struct iso_causal_question {
  uint32_t txn, key;
  uint32_t value;             /* those in `values` that are equal to it fit; ISO_NO_VALUE: none of them */
  bool initial;               /* the initial version fits, too */
  uint32_t answer;            /* the place of the version in view->write_key, + 1; 0 for the initial one */
  uint32_t blame;             /* in how many ways that answer was in the way of other reads */
  uint32_t disliked, penalty; /* an answer that is not liked, and how much */
} iso_causal_question;

/* A writer that is known to get behind the version that a transaction read of its key, unless that is prevented. */
typedef struct iso_causal_warning {
  uint32_t txn, key, writer;
} iso_causal_warning;

typedef struct iso_causal_questions {
  iso_causal_question *items;
  const iso_causal_warning *warnings; /* by transaction and key */
  size_t warning_count;
  const uint32_t *first;  /* by transaction, and one more */
  const uint32_t *values; /* by place in view->write_key: equal numbers for equal values of a key */
} iso_causal_questions;

/* For qsort. */
static inline int iso_causal_by_warning(const void *a, const void *b) {
  const iso_causal_warning *x = a, *y = b;
  if (x->txn != y->txn) return x->txn < y->txn ? -1 : 1;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->writer > y->writer) - (x->writer < y->writer);
}

/* Whether the clocks that this takes are worth their memory. */
bool iso_causal_may_choose(const iso_view *view);

/* Answers all questions; *unanswered becomes how many have no answer: those of ISO_NO_ANSWER.  The view is without
 * these reads, and the sequence, of all its transactions, respects CO; afterwards it is the order in which the reads
 * saw what they are taken to have seen. */
isoproof_status iso_causal_choose(const iso_view *view, iso_sequence *sequence, iso_causal_questions *questions,
                                  uint64_t *unanswered, isoproof_task *task, isoproof_error *error);

#endif
