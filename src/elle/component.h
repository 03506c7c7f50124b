/* component.h - one strongly connected component as a small graph of its own, and searches in it.
 * A component owns its columns until iso_component_free; they are used again for the next one. */
#ifndef ISO_ELLE_COMPONENT_H
#define ISO_ELLE_COMPONENT_H

#include "elle/cycle_search.h"
#include "graph/components.h"

typedef ISO_VEC(uint32_t) iso_numbers;

typedef struct iso_component {
  const iso_dependency_graph *graph;
  uint32_t *local; /* node of the graph -> node here; only valid for members */
  uint32_t nodes;
  const uint32_t *member; /* node here -> node of the graph */
  uint32_t txns;          /* how many members are transactions */
  /* Rows without repetitions; an edge has all kinds that lead from one to the other directly. */
  iso_numbers first;
  iso_numbers to;
  ISO_VEC(uint8_t) kinds;
  /* What is left of it for one search. */
  iso_numbers sub_first;
  iso_numbers sub_to;
  iso_numbers sub_edge; /* the edge above */
  iso_numbers part;     /* strongly connected part of what is left, by node; ISO_NO_COMPONENT */
  /* Breadth-first search over states (node, flags). */
  iso_numbers stamp;
  iso_numbers parent;
  iso_numbers parent_edge;
  iso_numbers queue;
  iso_numbers next_queue;
  iso_numbers path; /* edges of a walk, last first */
  uint32_t epoch;
  uint64_t budget;
  ISO_VEC(iso_cycle_step) found;
  ISO_VEC(iso_cycle_step) draft;
} iso_component;

isoproof_status iso_component_init(iso_component *c, const iso_dependency_graph *graph, isoproof_error *error);
void iso_component_free(iso_component *c);
/* Takes in the component with these members; linear in their edges. */
isoproof_status iso_component_load(iso_component *c, const uint32_t *component, const uint32_t *member, uint32_t count,
                                   isoproof_error *error);

/* States of a walk per node. */
enum { ISO_WALK_FLAGS = 4 };
/* Makes room for a walk and forgets the one before; false when memory is out. */
bool iso_component_begin_walk(iso_component *c);

/* How many anti-dependencies a cycle has. */
typedef enum iso_anti_count { ISO_ANTI_NONE, ISO_ANTI_ONE, ISO_ANTI_NONADJACENT, ISO_ANTI_MANY } iso_anti_count;

typedef struct iso_cycle_spec {
  iso_anomaly anomaly;
  iso_dependency_set dependencies, anti; /* kinds of steps: dependencies and anti-dependencies */
  iso_anti_count anti_count;
  iso_dependency_set required; /* a step of these kinds must occur: SO, RT or WR; 0 for none */
} iso_cycle_spec;

/* The shortest cycle of a type, in c->found; empty when there is none, or (with *gave_up) none was found.  A walk from
 * each edge that such a cycle can begin with: quadratic at worst, and limited by c->budget steps. */
isoproof_status iso_component_cycle(iso_component *c, const iso_cycle_spec *spec, isoproof_task *task, bool *gave_up,
                                    isoproof_error *error);
/* Some cycle of these kinds (`nonadjacent`: without two anti-dependencies in a row), in c->found; empty when there is
 * none. Exact, in linear time. */
isoproof_status iso_component_exists(iso_component *c, iso_dependency_set kinds, bool nonadjacent, isoproof_task *task,
                                     isoproof_error *error);

#endif
