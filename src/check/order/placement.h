/* placement.h - a better first sequence, guessed from what was read, for histories whose sessions tell little.
 *
 * A version is read until somebody overwrites it: on average for the length of the history over the number of its key's
 * writers.  So whoever read a version stands near its writer, the nearer the more often the key is written, and these
 * distances, like springs, pull the transactions of a history into an order that is right but for its details
 * (springs.h).  The details are mended by moving transactions, begins or commits, with what depends on them, to
 * where they contradict the fewest reads (walk.h).  Nothing here proves anything: the sequence respects the known edges
 * and is examined like any other.
 */
#ifndef ISO_CHECK_ORDER_PLACEMENT_H
#define ISO_CHECK_ORDER_PLACEMENT_H

#include "check/order/accesses.h"
#include "check/order/sequence.h"
#include "check/order/value_classes.h"

typedef struct iso_placement {
  bool springs;   /* the order of the sequence at hand is no guess worth keeping */
  bool together;  /* begins and commits first move as one, which is the easier search and goes far */
  bool replay;    /* who finds what it read goes next, and nothing is moved after that */
  bool values;    /* whole transactions go to where the fewest reads find another value; nothing else is done */
  bool mends;     /* with `values`: the last few wrong reads are mended in windows, which takes up to some seconds */
  bool exclusive; /* writers of one key must not overlap */
  uint64_t seed;  /* another one leads elsewhere */
  const iso_value_classes *classes; /* what `replay` and `values` have to reproduce; NULL: the versions of the view */
  iso_line_choices *choices;        /* reads that moves may choose other versions for; NULL where there are none */
} iso_placement;

/* Whether a transaction writes a good part of all keys, so that hardly anybody can move without meeting everybody, and
 * `replay` is the better way. */
bool iso_is_crowded(const iso_view *view);

/* Puts another sequence of the same events in the place of `sequence`.  Some hundred passes over the operations at
 * worst, each with a sort of the events. */
isoproof_status iso_sequence_place(const iso_event_graph *events, iso_placement how, isoproof_task *task,
                                   iso_sequence *sequence, isoproof_error *error);

#endif
