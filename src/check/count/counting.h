/* counting.h - what all counters share: who is known to have replaced a version, steps, and where instances go.
 *
 * A counting borrows the view and the versions, and owns its indexes until iso_counting_free.
 */
#ifndef ISO_CHECK_COUNT_COUNTING_H
#define ISO_CHECK_COUNT_COUNTING_H

#include "check/count/chains.h"
#include "check/count/occurrences.h"
#include "check/count/sequence.h"

typedef struct iso_counting {
  iso_view *view;
  const iso_versions *versions;
  const iso_strong_level *level;
  isoproof_task *task;
  iso_occurrences *out;
  size_t keep;

  iso_run_sequence sequence;
  iso_chains chains;           /* none where the sequence does not respect what is known */
  uint32_t *writers;           /* of each key, as view->writer_first has them, in order of the sequence */
  uint32_t *seen_first;        /* txns + 1 */
  uint32_t *seen_by;           /* who read from each transaction, in order of the sequence; may repeat */
  ISO_VEC(uint32_t) replacers; /* what iso_find_replacers found */
  uint64_t steps, most_steps;  /* of counting, and again of looking for what is undecided */
  bool stopped;                /* after too many steps, or too much time */
  isoproof_status status;      /* memory ran out, or the task was cancelled */
} iso_counting;

/* Makes the indexes; the sequence, and those that depend on it, where wanted. */
isoproof_status iso_counting_init(iso_counting *counting, bool sequenced, isoproof_error *error);
void iso_counting_free(iso_counting *counting);

/* Takes steps; false when it is time to stop. */
bool iso_counting_step(iso_counting *counting, uint64_t steps);
/* Counts one more. */
void iso_counting_add(iso_counting *counting, iso_occurrence one);

/* Why `later`, who writes the key, is known to have replaced a version of it: ISO_ORDER_NONE when it is not known.
 * *order_op is the operation that tells, or ISO_NO_OP. */
iso_order_reason iso_replaced_because(const iso_view *view, const iso_versions *versions, const iso_strong_level *level,
                                      uint32_t key, uint32_t version, uint32_t later, uint32_t *order_op);
bool iso_is_replaced(iso_counting *counting, uint32_t key, uint32_t version, uint32_t later);
/* Whether what `earlier` wrote to the key is known to have come before what `later` wrote, if only by way of others. */
bool iso_is_before(iso_counting *counting, uint32_t key, uint32_t earlier, uint32_t later);
/* Whether nothing tells which of the version and what `other` wrote to the key came first. */
bool iso_is_undecided(iso_counting *counting, uint32_t key, uint32_t version, uint32_t other);
/* Everybody who is known to have replaced the version that was read and comes before the reader in the sequence, in
 * `replacers`; some may be there twice.  False when it is time to stop.
 *
 * Why only these: transactions that missed each other cannot all come before what they missed.  In a cycle of missed
 * and seen writes one missed write at least comes before the reader, and in a good sequence few do.  Where what is
 * known has cycles no sequence respects it, and all replacers are found. */
bool iso_find_replacers(iso_counting *counting, uint32_t reader, uint32_t read);
/* Whether list reads tell the order of all versions of the key that somebody read; whether they do, or all versions
 * were made from each other. */
bool iso_is_listed_key(const iso_counting *counting, uint32_t key);
bool iso_is_ordered_key(const iso_counting *counting, uint32_t key);

/* The counters: each counts what is proved, then says whether anything else is possible but undecided. */
typedef void (*iso_count_fn)(iso_counting *counting);
typedef bool (*iso_undecided_fn)(iso_counting *counting);

void iso_count_lost_updates(iso_counting *counting);
void iso_count_write_skews(iso_counting *counting);
bool iso_write_skew_undecided(iso_counting *counting);
void iso_count_long_forks(iso_counting *counting);
bool iso_long_fork_undecided(iso_counting *counting);
void iso_count_stale_reads(iso_counting *counting);
bool iso_stale_read_undecided(iso_counting *counting);

#endif
