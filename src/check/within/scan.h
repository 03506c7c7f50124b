/* scan.h - the state of the scan within transactions, shared by the scans of registers and of lists.
 * A scan belongs to one thread and owns its key table until iso_scan_free. */
#ifndef ISO_CHECK_WITHIN_SCAN_H
#define ISO_CHECK_WITHIN_SCAN_H

#include "result/finding.h"

/* What is the same for all threads. */
typedef struct iso_scan_shared {
  const isoproof_history *h;
  const iso_resolution *resolution;
  iso_op_index op_index;
  const uint8_t *counts; /* committed or committed in effect, by transaction */
  uint64_t *overwritten; /* one bit per operation: a write that its own transaction overwrote */
  uint64_t *suspect;     /* the same, and writes of those who were rolled back */
  uint8_t *plain;        /* one byte per transaction: iso_scan_is_plain; NULL where that is no use */
  /* By key: how many leading elements of its stored list were all put there by somebody who was not rolled back; NULL
   * where there are no lists. */
  uint32_t *sound;
} iso_scan_shared;

/* What the transaction at hand did to a key so far. */
typedef struct iso_key_state {
  uint32_t key;
  uint32_t own_write;  /* its latest write, ISO_NO_OP */
  uint32_t own_writes; /* how many */
  uint32_t appends;    /* how many appends the whole transaction makes */
  uint32_t first_read; /* the first read that saw another transaction's version, ISO_NO_OP */
  uint32_t first_from; /* the transaction it saw; ISO_FROM_INITIAL for the initial version */
  int64_t counter;     /* counters: what the first read saw less the own increments before it */
  int64_t own_sum;     /* counters: own increments so far */
  bool varied;         /* TAP-j was reported for this key */
} iso_key_state;

/* Longer transactions touch too many stamps to be told from those that access a key twice. */
enum { ISO_SCAN_STAMP_BITS = 10, ISO_SCAN_MOST_PLAIN = 64 };

/* A small open-addressing table, emptied for each transaction. */
typedef struct iso_scan {
  const iso_scan_shared *shared;
  iso_findings findings;
  iso_key_state *states;
  uint32_t *slots; /* state number + 1 */
  size_t slot_mask, state_count, capacity;
  uint32_t stamps[1 << ISO_SCAN_STAMP_BITS]; /* by hash of a key: the last transaction that accessed such a one, + 1 */
  ISO_VEC(iso_value) here, there, own;       /* scratch for comparing sets */
} iso_scan;

void iso_scan_free(iso_scan *scan);
/* Empties the table and makes it fit a transaction with that many operations; false when memory is out. */
bool iso_scan_begin(iso_scan *scan, uint32_t ops);
/* The state of a key in the transaction at hand, fresh when it was not touched before. */
iso_key_state *iso_scan_key(iso_scan *scan, uint32_t key);

static inline bool iso_scan_overwritten(const iso_scan_shared *shared, uint32_t op) {
  return (shared->overwritten[op / 64] >> (op % 64) & 1) != 0;
}

/* Whether the transaction reads and writes registers only, and no key twice; it may well say no where it is so.  To be
 * asked once per transaction. */
bool iso_scan_is_plain(iso_scan *scan, uint32_t txn);
/* Whether no pattern can show in a plain transaction. */
bool iso_scan_is_sound(const iso_scan *scan, uint32_t txn);

/* The write of `key` after `op` in the same transaction. */
uint32_t iso_scan_next_write(const iso_scan_shared *shared, uint32_t op);

/* Notes that a read saw the version of another transaction (or the initial one), and TAP-j when it saw another before.
 */
void iso_scan_saw(iso_scan *scan, iso_key_state *state, uint32_t op, uint32_t from_txn);

void iso_scan_found(iso_scan *scan, iso_tap tap, uint32_t op, uint32_t seen, uint32_t other, uint32_t element);

void iso_scan_register_read(iso_scan *scan, uint32_t txn, uint32_t op);
void iso_scan_list_read(iso_scan *scan, uint32_t txn, uint32_t op);
void iso_scan_set_read(iso_scan *scan, uint32_t txn, uint32_t op);
void iso_scan_counter_read(iso_scan *scan, uint32_t op);
void iso_scan_write(iso_scan *scan, uint32_t op);

#endif
