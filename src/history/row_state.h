/* row_state.h - a history of rows as it is carried out: what every row holds, who has read, who has written.
 *
 * A transaction begins when it reads and is done when it has written.  A state owns its arrays until
 * iso_row_state_free and refers to the history, to its versions and to the resolution, where it puts what open reads
 * see.
 */
#ifndef ISO_HISTORY_ROW_STATE_H
#define ISO_HISTORY_ROW_STATE_H

#include "base/vector.h"
#include "history/row_versions.h"

typedef enum iso_row_stage { ISO_STAGE_OUT, ISO_STAGE_WAITS, ISO_STAGE_BEGUN, ISO_STAGE_DONE } iso_row_stage;

/* A transaction began, or is done. */
typedef struct iso_row_event {
  uint32_t txn;
  bool done;
} iso_row_event;

typedef struct iso_row_before {
  uint32_t key, write;
} iso_row_before;

/* How many events can be taken back. */
enum { ISO_ROW_EVENTS_KEPT = 1024 };

typedef struct iso_row_state {
  const isoproof_history *h;
  const iso_row_versions *v;
  iso_resolution *r;
  uint32_t *op_txn;
  uint8_t *stage;    /* by transaction; ISO_STAGE_OUT for those that take no part */
  uint32_t *current; /* by session: the transaction that is to be done next, or the end of the session */
  uint32_t *now;     /* by key: the write that it holds, or ISO_FROM_INITIAL */
  uint32_t *oldest;  /* by key: the first place among its versions that is not done */
  uint8_t *absent;   /* by key: how many versions are absent, at most 2 */
  /* Chains of reads, by number + 1, some of them begun by now: reads known to be of a write (behind them, of the
   * initial version of a key), and open reads of a key by those who are in.  Of a write, `next` says whether its own
   * transaction overwrites it. */
  uint32_t *readers, *needs, *next;
  uint32_t *own; /* by key: the own write of the transaction in own_txn (+ 1) */
  uint32_t *own_txn;
  ISO_VEC(const iso_statement *) counts; /* of those who are in */
  ISO_VEC(iso_row_event) events;         /* all that happened */
  ISO_VEC(iso_row_before) before;        /* what the writes of those who are done overwrote */
  uint32_t *begun_at;                    /* by transaction: the number of events before it began */
  bool out_of_memory;
} iso_row_state;

isoproof_status iso_row_state_make(const isoproof_history *history, iso_resolution *resolution, iso_row_state *state,
                                   isoproof_error *error);
void iso_row_state_free(iso_row_state *state);

/* A transaction is in: from now on its open reads are among the needs.  False when memory is out. */
bool iso_row_state_enter(iso_row_state *state, uint32_t txn);

/* Which operation of the transaction does not find what it found, ISO_NO_OP for none.  A write may be asked for, too:
 * a row that is inserted was absent, and one that is changed or removed was there; no level asks for that, but
 * databases do. */
uint32_t iso_row_state_unfit(const iso_row_state *state, uint32_t txn, bool with_writes);
/* Resolves what the transaction sees, as far as it fits. */
void iso_row_state_begin(iso_row_state *state, uint32_t txn);
/* Has it write. */
void iso_row_state_finish(iso_row_state *state, uint32_t txn);

/* Takes back everything but the first events, at most ISO_ROW_EVENTS_KEPT of them. */
void iso_row_state_undo(iso_row_state *state, size_t events);

/* Whether a transaction began so long ago that this is not taken back. */
static inline bool iso_row_state_is_past(const iso_row_state *s, uint32_t txn) {
  return s->stage[txn] != ISO_STAGE_WAITS && s->begun_at[txn] + (size_t)ISO_ROW_EVENTS_KEPT < s->events.count;
}

/* A transaction other than `txn` that has not begun, and is known to have read what `write` overwrites. */
uint32_t iso_row_state_reader(iso_row_state *state, uint32_t txn, uint32_t write);

/* What a write of `key` has to be. */
typedef struct iso_row_wish {
  uint32_t read;           /* to fit this read */
  const iso_statement *of; /* or, unless NULL, to be picked by it or not */
  bool present;            /* or, where read is ISO_NO_OP and `of` is NULL, to be there or not */
} iso_row_wish;

bool iso_row_state_is_wished(const iso_row_state *state, const iso_row_wish *wish, uint32_t key, iso_value version);
/* How many rows a count finds beyond its answer. */
int64_t iso_row_state_excess(iso_row_state *state, uint32_t txn, const iso_statement *count);

static inline iso_value iso_row_state_version(const iso_row_state *s, uint32_t key, uint32_t write) {
  return write < s->h->ops ? iso_history_version(s->h, write) : iso_history_initial(s->h, key);
}
/* Whether it writes what others see of the row afterwards. */
static inline bool iso_row_state_is_last_write(const iso_row_state *s, uint32_t op) {
  return s->h->op_kind[op] == ISOPROOF_OP_WRITE && s->next[op] == 0;
}
static inline bool iso_row_state_is_open(iso_value value) {
  return value == ISO_VALUE_UNMATCHED || value == ISO_VALUE_COUNTED;
}

#endif
