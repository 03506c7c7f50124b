/* choose_state.h - what the parts of choose.c share: clocks, versions in order, and the order as it moves.
 *
 * A chooser owns its arrays; choose.c frees them.
 */
#ifndef ISO_CHECK_CAUSAL_CHOOSE_STATE_H
#define ISO_CHECK_CAUSAL_CHOOSE_STATE_H

#include "base/clock_lines.h"
#include "check/causal/choose.h"
#include "check/order/moving_order.h"

typedef struct {
  uint32_t place, txn;
} iso_turn;

typedef struct {
  const iso_view *v;
  iso_sequence *s;
  iso_causal_questions *q;
  iso_moving_order o;
  uint8_t *allocated, *rows; /* clocks, by transaction: how many of each session are causally before */
  uint8_t *kept;             /* a row */
  size_t row;
  uint32_t *slot;       /* by key, from writer_first on: the versions so far, in the order of the sequence */
  uint32_t *slot_index; /* by version: where it is there */
  uint32_t *count;      /* by key: how many */
  uint32_t *slot_txn;
  uint32_t *left;                  /* by value: its versions that are not there yet */
  uint32_t *parked;                /* by value: the first transaction that waits for one of them, + 1 */
  uint32_t *next;                  /* by transaction: the next one that waits there, + 1 */
  uint8_t *lacks;                  /* by transaction: it waits for a version of which there is none at all */
  uint32_t *reader_first, *reader; /* by transaction: those who are known to have read from it, once for each read */
  uint32_t *behind; /* by transaction: those who come before it and are not done; UINT32_MAX: it is done */
  iso_turn *heap;   /* those whose turn it can be */
  uint32_t ready;
  uint32_t *first_order, done;
  uint32_t owner; /* the question at hand, + 1; 0 for none */
  bool blames;    /* what cannot be is somebody's fault */
  uint64_t unanswered;
} iso_chooser;

static inline uint8_t *iso_chooser_row(const iso_chooser *c, uint32_t txn) { return c->rows + txn * c->row; }

/* How the transaction stands in its session, from 1 on. */
static inline uint32_t iso_chooser_number(const iso_chooser *c, uint32_t txn) {
  const isoproof_history *h = c->v->h;
  return txn - h->session_first_txn[h->txn_session[txn]] + 1;
}

static inline bool iso_chooser_is_before(const iso_chooser *c, uint32_t earlier, uint32_t later) {
  const uint16_t *row = (const uint16_t *)(const void *)iso_chooser_row(c, later);
  return iso_chooser_number(c, earlier) <= row[c->v->h->txn_session[earlier]];
}

/* A transaction has seen another one, and what that has seen. */
static inline void iso_chooser_see(iso_chooser *c, uint32_t txn, uint32_t seen) {
  if (iso_chooser_is_before(c, seen, txn)) return;
  iso_clock_join(iso_chooser_row(c, txn), iso_chooser_row(c, seen), 0, c->row, true);
  iso_clock_note(iso_chooser_row(c, txn), c->v->h->txn_session[seen], iso_chooser_number(c, seen), 0, c->row, true);
}

static inline uint32_t iso_chooser_writer(const iso_chooser *c, uint32_t version) {
  return version == ISO_NO_ANSWER || version == 0 ? ISO_INITIAL : c->slot_txn[version - 1];
}

/* The neighbours of a transaction by what is known (moving_order.h). */
bool iso_chooser_list_next(void *chooser, uint32_t txn, bool before, iso_txn_list *list);
/* The version is there now, and belongs where its transaction stands. */
void iso_chooser_add_version(iso_chooser *chooser, uint32_t slot, uint32_t txn);
/* One comes before another from now on, as a reader has seen it (ISO_NO_TXN: read it); false where it cannot. */
bool iso_chooser_put_before(iso_chooser *chooser, uint32_t from, uint32_t to, uint32_t reader);
/* Has those writers of the key who are visible to a transaction come before the one that it read from; false where they
 * cannot. */
bool iso_chooser_settle(iso_chooser *chooser, uint32_t txn, uint32_t key, uint32_t from);

#endif
