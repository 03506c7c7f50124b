/* quick.h - proves that an axiom holds, where all of a history is sound.
 *
 * Most histories are.  Where times tell the order in which transactions were carried out, that is all there is to see
 * (replay.h).  Else nobody asks which operation did what: it is enough to know which transaction wrote what
 * each read saw, and that its write was its last one to the key.  So the writes go into a table by value with the
 * number of their transaction, each read is looked up once, everything that a read can give away is judged on the spot,
 * and only the edges that a sort needs are kept.  As soon as anything is wrong, or not plain (lists, rows, unknown
 * outcomes, values that are no small numbers or repeat), this gives up, and the engines that tell what is wrong begin
 * from the start.  Nothing is kept.
 */
#ifndef ISO_CHECK_QUICK_QUICK_H
#define ISO_CHECK_QUICK_QUICK_H

#include "base/task.h"
#include "base/vector.h"
#include "history/history.h"
#include "level/method.h"

/* What is known after an attempt; where nothing is said, nothing is known. */
typedef struct iso_quick_proof {
  bool is_sound;    /* no pattern within transactions occurs, and no value is written twice to a key */
  bool is_proved;   /* and the axiom holds */
  bool is_serial;   /* and the history is serializable */
  bool is_strict;   /* and in an order that respects real time */
  bool is_snapshot; /* and it satisfies snapshot isolation */
  bool repeats;     /* is_serial and is_strict hold although values may be written twice: which write each read saw is
                       then a choice, and the order makes it; nothing else is said */
  iso_axiom axiom;  /* that was asked for */
  uint32_t slices;  /* that a table was divided into; 0: there was none, or there was memory for all of it */
} iso_quick_proof;

/* The strongest level that is proved; NULL: none. */
const isoproof_level_info *iso_quick_proved_level(const iso_quick_proof *proof);

/* No limit. */
#define ISO_QUICK_ALL_MEMORY UINT64_MAX

/* For read committed, read atomic and causal. */
isoproof_status iso_quick_prove(const isoproof_history *history, iso_axiom axiom, isoproof_task *task,
                                iso_quick_proof *proof, isoproof_error *error);

/* The same for a history that may be larger than memory, within so many bytes besides the pages of the file that are
 * read at a time (frugal.h): carried out in the order of its times, which proves every level; and for read committed
 * and read atomic by looking reads up, where `by_reads`. */
typedef ISO_VEC(uint32_t) iso_txns;

typedef struct iso_quick_wish {
  uint64_t memory;
  bool by_reads;
  bool snapshots; /* where reads are sound, snapshot isolation is tried, not the axiom (snapshots.h) */
  bool repeats;   /* values that repeat are no hindrance to carrying the history out: see iso_quick_proof */
  iso_axiom axiom;
  uint32_t fewest_slices; /* that a table is divided into; 0: as few as fit */
  /* Transactions that may show by themselves that the axiom does not hold are added here, if no value is written twice
   * to a key; NULL: nobody asks for them. */
  iso_txns *suspects;
} iso_quick_wish;

isoproof_status iso_quick_prove_frugally(const isoproof_history *history, const iso_quick_wish *wish,
                                         isoproof_task *task, iso_quick_proof *proof, isoproof_error *error);

#endif
