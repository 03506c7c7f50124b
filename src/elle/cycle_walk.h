/* cycle_walk.h - a walk through a component from one edge back to where it begins: a cycle, if it is of the type
 * wanted. A walk owns nothing: what it finds is in `found` of its component. */
#ifndef ISO_ELLE_CYCLE_WALK_H
#define ISO_ELLE_CYCLE_WALK_H

#include "elle/component.h"

typedef struct iso_cycle_walk {
  iso_component *c;
  const iso_cycle_spec *spec; /* NULL: any cycle of `kinds` */
  iso_dependency_set kinds;
  bool nonadjacent; /* of any cycle: two anti-dependencies in a row do not count */
  uint32_t start_edge, start, limit;
} iso_cycle_walk;

/* Walks from the start edge back to the node it begins at, shortest ways first, in fewer than `limit` steps; linear in
 * the component. */
isoproof_status iso_cycle_walk_run(iso_cycle_walk *walk, isoproof_error *error);

#endif
