/* saved.h - the bytes that a live checker is saved as: what writes and reads them.
 *
 * Numbers of the machine that writes them: a saved state is for the same program on the same machine, and is refused
 * anywhere else.  Scalars are written out, so that the pool of whoever reads them has only what is still referred to.
 */
#ifndef ISO_LIVE_SAVED_H
#define ISO_LIVE_SAVED_H

#include "base/vector.h"
#include "live/carried.h"
#include "live/examine.h"

#define ISO_SAVED_MAGIC UINT64_C(0x3330766c6f736900) /* and how a text file never begins */

/* What is written so far; whoever has it frees `bytes`. */
typedef struct iso_saver {
  isoproof_live *live;
  ISO_VEC(char) bytes;
  iso_pool_view pool;
  ISO_VEC(iso_live_held) txns; /* all that tracks hold, each once, by their addresses */
  bool failed;                 /* memory is out */
} iso_saver;

/* What is left to read.  Reading beyond the end, or what cannot be, sets `bad` and gives zeros. */
typedef struct iso_restorer {
  isoproof_live *live;
  const char *next, *end;
  iso_live_txn **txns;
  size_t txn_count;
  bool bad;
  isoproof_error *error;
} iso_restorer;

/* Everything that is needed to go on; violations apart, which cannot be saved. */
isoproof_status iso_live_write_state(isoproof_live *live, iso_saver *saver, isoproof_error *error);
/* The same into a live checker that is new. */
isoproof_status iso_live_read_state(isoproof_live *live, const char *bytes, size_t size, isoproof_error *error);
/* Values that nothing refers to any more leave the pool, when there are perhaps many of them, or at once. */
isoproof_status iso_live_renew(isoproof_live *live, bool at_once, isoproof_error *error);

#endif
