/* execute.h - does a sequence of events explain every read?
 *
 * The events are run one after the other on a store that holds the last version of each key.  Where a read does not
 * find the version it saw, or two writers of a key overlap that must not, what would have to change is put down as a
 * requirement: one of a few edges must be added.  A sequence without broken requirements is a proof that the level is
 * satisfied.  Requirements own their arrays until they are freed.
 */
#ifndef ISO_CHECK_STRONG_EXECUTE_H
#define ISO_CHECK_STRONG_EXECUTE_H

#include "check/order/version_store.h"

typedef struct iso_event_edge {
  uint32_t from, to;
} iso_event_edge;

typedef struct iso_event_edges {
  iso_event_edge *items;
  size_t count, capacity;
} iso_event_edges;

/* Requirement i asks for one of edges [first[i], first[i+1]); the last `first` is missing.  `also` has the known orders
 * that it rests on, in the same way; an event before itself stands for its transaction alone. */
typedef struct iso_requirements {
  iso_event_edges edges;
  ISO_VEC(uint32_t) first;
  iso_event_edges also;
  ISO_VEC(uint32_t) also_first;
  bool failed;   /* memory was out */
  bool unwanted; /* only how much is broken is asked for, not what would have to change */
} iso_requirements;

void iso_requirements_free(iso_requirements *requirements);
/* Starts one; its edges and reasons follow. */
void iso_require(iso_requirements *requirements);
void iso_require_edge(iso_requirements *requirements, uint32_t from, uint32_t to);
void iso_require_also(iso_requirements *requirements, uint32_t from, uint32_t to);

struct iso_examination;

/* Runs the sequence and appends what is broken; *broken counts reads and writers.  Linear in the operations.  For rules
 * that are executed (check/strong/rules/rule.h). */
isoproof_status iso_execute(const struct iso_examination *examination, const iso_sequence *sequence,
                            iso_requirements *requirements, uint64_t *broken, isoproof_error *error);

#endif
