/* dag.h - a directed graph that edges enter and leave as a stack, with a topological order at every moment.
 *
 * A graph owns its nodes, edges and scratch memory until iso_dag_free.
 *
 * Every node has a label, and every edge in the graph goes from a smaller label to a larger one.  This is incremental
 * topological order by two-way search: an edge that enters against the labels starts a search from both its ends,
 * within the affected region between their labels (Pearce and Kelly 2006), forward from its head and backward from its
 * tail, always on the side that has cost less (Alpern et al. 1990).  When the searches meet, there is a cycle.  When
 * one of them ends, what it found moves past the other end, for which the order is an order-maintenance list
 * (dag_order.h).  Leaving changes no label: an order of many edges is one of fewer. */
#ifndef ISO_SOLVER_DAG_H
#define ISO_SOLVER_DAG_H

#include "base/task.h"
#include "base/vector.h"
#include "solver/solver.h"

#define ISO_NONE UINT32_MAX

typedef struct iso_dag_node {
  uint64_t label;               /* see label.h */
  uint32_t previous, next;      /* in the order */
  uint32_t out, in;             /* first entered edge, ISO_NONE at the end of the list */
  uint32_t fixed_out, fixed_in; /* where its sorted fixed edges start; those of the next node end them */
  uint32_t outs, ins;           /* how many entered edges there are */
  uint32_t optional_out;        /* first optional edge, entered or not */
  uint32_t mark;                /* which search found it, and how */
  uint32_t via_node, via_edge;  /* from where; via_edge is ISO_NONE for a sorted fixed edge */
} iso_dag_node;

typedef struct iso_dag_edge {
  uint32_t from, to;
  iso_lit literal;            /* ISO_LIT_NONE: a fixed edge that came after the sort; `from` is ISO_NONE once it is
                                 sorted, too */
  uint32_t next_out, next_in; /* while it is entered */
  uint32_t next_optional;
  bool permanent; /* entered for good: explanations need not mention it */
} iso_dag_edge;

typedef struct iso_dag_pair {
  uint32_t from, to;
} iso_dag_pair;

typedef enum iso_dag_direction { ISO_FORWARD, ISO_BACKWARD } iso_dag_direction;

/* One of the two searches.  Nodes reached through permanent edges alone come before those that cost one more literal,
 * so that cycles have few literals: `now` has the nodes of the present cost, `later` those of one more. */
typedef struct iso_dag_side {
  uint32_t *now, *later, *found;
  uint32_t now_count, later_count, found_count;
  uint64_t cost; /* arcs looked at */
} iso_dag_side;

typedef struct iso_dag {
  ISO_VEC(iso_dag_node) nodes; /* and one more at the end, for its fixed_out and fixed_in */
  ISO_VEC(iso_dag_edge) edges;
  ISO_VEC(iso_dag_pair) pending; /* fixed edges that are not sorted or entered yet */
  ISO_VEC(uint32_t) hint;
  uint32_t *fixed_to, *fixed_from; /* the sorted fixed edges: heads by tail, tails by head */
  uint32_t *table;                 /* from pairs of nodes to optional edges: edge number + 1, 0 empty */
  uint32_t table_bits, table_count;
  uint64_t seed;
  uint32_t settled; /* nodes in the order */
  bool sorted;
  uint32_t resort_least; /* as many new fixed edges or fewer enter one by one */
  uint32_t first, last;  /* of the order */

  void *scratch; /* what follows points into it */
  uint32_t scratch_nodes;
  iso_dag_side side[2];
  iso_lit *path; /* literals of the last cycle or path */
  uint32_t path_count;
  struct iso_dag_rank *ranks;

  uint32_t stamp;                         /* marks below it are old */
  uint32_t meet_from, meet_to, meet_edge; /* where the searches met */
  iso_solver_stats *stats;
} iso_dag;

static inline uint32_t iso_dag_nodes(const iso_dag *graph) { return (uint32_t)graph->nodes.count - 1; }

/* dag.c: what there is */
isoproof_status iso_dag_init(iso_dag *graph, uint32_t nodes, iso_solver_stats *stats, isoproof_error *error);
void iso_dag_free(iso_dag *graph);
isoproof_status iso_dag_add_node(iso_dag *graph, uint32_t *node, isoproof_error *error);
isoproof_status iso_dag_add_hint(iso_dag *graph, const uint32_t *order, size_t count, isoproof_error *error);
isoproof_status iso_dag_add_fixed(iso_dag *graph, uint32_t from, uint32_t to, isoproof_error *error);
/* The optional edge between two nodes, ISO_NONE when there is none yet.  O(1) expected. */
uint32_t iso_dag_find(const iso_dag *graph, uint32_t from, uint32_t to);
/* Makes an optional edge that is not there yet. */
isoproof_status iso_dag_add_optional(iso_dag *graph, uint32_t from, uint32_t to, iso_lit literal, uint32_t *edge,
                                     isoproof_error *error);

/* dag_sort.c: makes the order of everything that was added; *acyclic false when fixed and permanent edges have a cycle,
 * after which the graph is of no more use.  No edge may be in the graph but permanent ones.  Linear where the hint is a
 * topological order, else O(edges + nodes log nodes); few edges after the first time enter one by one. */
isoproof_status iso_dag_settle(iso_dag *graph, const isoproof_task *task, bool *acyclic, isoproof_error *error);

/* dag_enter.c: an edge enters; false when it would close a cycle, whose literals without that of the edge itself are
 * then in graph->path, and the edge stays outside.  O(1) for an edge that fits the order; else about twice the arcs of
 * the cheaper search, and O(k log k + k log nodes), amortized, to move the k nodes that it found. */
bool iso_dag_enter(iso_dag *graph, uint32_t edge, bool permanent);
/* An edge that left enters again; no edge may have come meanwhile that did not leave.  O(1). */
void iso_dag_link(iso_dag *graph, uint32_t edge);
/* The last edge that entered leaves.  O(1). */
void iso_dag_leave(iso_dag *graph, uint32_t edge);

/* dag_search.c: the searches.  A new one forgets the old. */
void iso_dag_search_begin(iso_dag *graph, uint32_t forward_from, uint32_t backward_from);
/* Looks at the next node of a side, within labels between `low` and `high`.  Returns true when the sides met. */
bool iso_dag_search_expand(iso_dag *graph, iso_dag_direction direction, uint64_t low, uint64_t high);
/* Whether the side has nodes left; the next one is on top of `now` then. */
bool iso_dag_search_more(iso_dag *graph, iso_dag_direction direction);
/* How many arcs the next node has. */
uint32_t iso_dag_search_degree(const iso_dag *graph, iso_dag_direction direction);
/* Appends the literals between a node found by a side and the start of that side to graph->path. */
void iso_dag_search_trace(iso_dag *graph, uint32_t node);
/* Whether the backward search of the present pair found the node. */
static inline bool iso_dag_search_found_backward(const iso_dag *graph, uint32_t node) {
  return graph->nodes.items[node].mark - graph->stamp >= 2 && graph->nodes.items[node].mark >= graph->stamp;
}

#endif
