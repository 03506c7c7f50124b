/* edge.h - the one vocabulary of edges: why a transaction comes before another one.
 *
 * Every room that speaks of edges uses these kinds: the proofs of the weak levels, the scenarios of the strong ones,
 * the dependencies that Elle infers, and every output.  Constants only.
 */
#ifndef ISO_GRAPH_EDGE_H
#define ISO_GRAPH_EDGE_H

#include <stdbool.h>

/* C name, name in witnesses, what it says of `from` and `to`. */
#define ISO_EDGE_LIST(X)                                                                                               \
  X(SO, "SO", "from is before to in their session")                                                                    \
  X(WR, "WR", "to read the version that from wrote")                                                                   \
  X(WW, "WW", "the version that from wrote comes before that of to")                                                   \
  X(RW, "RW", "from read a version that comes before that of to")                                                      \
  X(RT, "RT", "from ended before to began")                                                                            \
  X(CM, "CM", "the axiom of the level forces from before to in the commit order")                                      \
  X(PO, "PO", "from and to are operations of one transaction, in this order")

typedef enum iso_edge_kind {
#define ISO_X(name, id, text) ISO_EDGE_##name,
  ISO_EDGE_LIST(ISO_X)
#undef ISO_X
      ISO_EDGE_KINDS
} iso_edge_kind;

/* A set of kinds: bit `kind` for each. */
typedef unsigned iso_edge_set;
#define ISO_EDGE_BIT(kind) (1u << (unsigned)(kind))
#define ISO_EDGES_CO (ISO_EDGE_BIT(ISO_EDGE_SO) | ISO_EDGE_BIT(ISO_EDGE_WR)) /* causal order is its closure */
#define ISO_EDGES_KNOWN (ISO_EDGES_CO | ISO_EDGE_BIT(ISO_EDGE_WW))           /* of a history with lists */

/* "SO", "WR", ... */
const char *iso_edge_name(iso_edge_kind kind);
/* The kind of a name; false when there is none. */
bool iso_edge_find(const char *name, iso_edge_kind *kind);

#endif
