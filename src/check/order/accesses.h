/* accesses.h - what moves on the line, what it does to which keys, and what that contradicts.
 *
 * A private header of placement.c and what it is made of.  An item is what moves: an event, or in whole mode a
 * transaction, which goes by its commit.  place[item] says where it stands.  An access is what an item does to a key;
 * the accesses of a key are kept in the order of their places.  A contradiction is a writer between a read and what it
 * saw, or where writers are exclusive a commit between the begin and the commit of another writer of its key.
 */
#ifndef ISO_CHECK_ORDER_ACCESSES_H
#define ISO_CHECK_ORDER_ACCESSES_H

#include "check/order/events.h"
#include "check/order/value_classes.h"

/* What an item does to a key. */
enum { ISO_READS = 1, ISO_WRITES = 2, ISO_BEGINS = 4 /* to write it */ };
/* Beside that, for who looks for contradictions again after moves: noted, to be looked at. */
enum { ISO_IS_NOTED = 8, ISO_IS_DUE = 16 };
/* A read that another version would explain as well. */
enum { ISO_IS_OPEN = 32 };

typedef struct iso_access {
  uint32_t item;
  uint32_t source;  /* of a read: the item that wrote it, ISO_NO_EVENT for the initial version */
  uint32_t weight;  /* of a read or a begin: how much a contradiction of it counts, 1 at first */
  uint32_t readers; /* of a write: the weights of those who read it */
  uint32_t what;
  uint32_t home; /* its number among the keys of its item (item_key) */
} iso_access;

typedef struct iso_moved {
  uint32_t key, item;
} iso_moved;
#define ISO_ALL_MOVED UINT32_MAX

/* A read in the list of those of what one transaction wrote. */
typedef struct iso_line_reader {
  uint32_t next; /* the next read of the list, + 1; 0 for none */
  uint32_t txn;  /* who reads */
} iso_line_reader;

/* Reads that saw one version of a class, no matter which (choices.h); the caller's. */
typedef struct iso_line_choices {
  const iso_value_classes *classes;
  iso_external_read *reads; /* the view's own, which follow the choices */
  uint32_t *wanted;         /* by read of the view: the class */
  uint32_t *open, *kept;    /* which of them are open, and what was chosen for each when that was remembered */
  uint32_t count;
} iso_line_choices;

typedef struct iso_line {
  const iso_event_graph *e;
  bool whole;                /* begin and commit are one */
  bool exclusive;            /* not in whole mode */
  double *place;             /* by event; the caller's */
  uint32_t *first;           /* keys + 1 */
  iso_access *accesses;      /* by key, in the order of their places */
  uint32_t *item_first;      /* items + 1 */
  uint32_t *item_key;        /* the keys of an item, ascending */
  uint32_t *item_at;         /* beside them: where the item stands among the accesses of that key */
  uint32_t *reader_first;    /* by transaction: the first of the view's reads of what it wrote, + 1; 0 for none */
  iso_line_reader *readers;  /* by read of the view */
  uint32_t *write_readers;   /* beside the writes of the view: how many read each */
  uint32_t *chosen_first;    /* items + 1: derived edges that leave it */
  uint32_t *chosen;          /* where they lead */
  iso_line_choices *choices; /* NULL where all reads are known */
  uint32_t *touched_as;      /* by key: its place in `touched`, + 1; 0 where nothing moved */
  uint32_t *touched;         /* keys where something moved since the caller emptied it */
  uint32_t touched_count;
  uint32_t *noted;          /* by key: how many of its accesses are in `moved`; ISO_ALL_MOVED for no matter which */
  ISO_VEC(iso_moved) moved; /* who moved at a key, and past whom; each once */
  uint64_t steps;           /* accesses that were passed, a measure of the work */
} iso_line;

/* Makes the accesses of all that take part, and sorts them by the places. */
isoproof_status iso_line_make(const iso_event_graph *events, bool whole, bool exclusive, double *place,
                              iso_line_choices *choices, iso_line *line, isoproof_error *error);
void iso_line_free(iso_line *line);
/* Makes the places whole numbers again, so that there is room between any two; false when memory is out. */
bool iso_line_renumber(iso_line *line);

/* As if something had moved at every key. */
void iso_line_touch_all(iso_line *line);
/* As if the access had moved. */
void iso_line_note(iso_line *line, uint32_t key, uint32_t at);
/* Puts the items back to places that they had, each with a weight of 1; false when memory is out. */
bool iso_line_restore(iso_line *line, const double *place);

/* Where the item stands among the accesses of a key that it has. */
uint32_t iso_line_find(const iso_line *line, uint32_t key, uint32_t item);
/* What the contradictions count more when one access passes another from left to right. */
static inline int32_t iso_line_passing(const iso_access *mine, const iso_access *other) {
  int32_t more = 0;
  if (mine->what & ISO_WRITES) {
    if (other->what & ISO_READS) more -= (int32_t)other->weight; /* leaves the time between a version and its reader, */
    if (other->what & ISO_WRITES) more += (int32_t)other->readers - (int32_t)mine->readers; /* enters others */
    if (other->what & ISO_BEGINS) more += (int32_t)other->weight;
  }
  if ((mine->what & ISO_READS) && (other->what & ISO_WRITES)) more += (int32_t)mine->weight;
  if ((mine->what & ISO_BEGINS) && (other->what & ISO_WRITES)) more -= (int32_t)mine->weight;
  return more;
}
/* Moves an item; returns how many contradictions more there are.  Takes as long as there are accesses between. */
int32_t iso_line_move(iso_line *line, uint32_t item, double place);
/* What a move would return if all that is marked with the number of a group moved with the item; *steps grows by what
 * it took. */
int32_t iso_line_change(const iso_line *line, uint32_t item, double place, const uint32_t *mark, uint32_t group,
                        uint64_t *steps);

/* The item that reads for a transaction. */
static inline uint32_t iso_line_reading(const iso_line *line, uint32_t txn) {
  return line->whole ? iso_event_commit(line->e, txn) : iso_event_begin(line->e, txn);
}
/* The items that must come right before and right after one, one by one: start with *at = 0; ISO_NO_EVENT after the
 * last. */
uint32_t iso_line_before(const iso_line *line, uint32_t item, uint64_t *at);
uint32_t iso_line_after(const iso_line *line, uint32_t item, uint64_t *at);

#endif
