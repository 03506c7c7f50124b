/* tap.h - the anomalous patterns of registers and lists: what each is made of.
 *
 * TAP-a to TAP-n are the transactional anomalous patterns of C4 and Plume; those after them need the known order of the
 * versions of lists.  Search, judge and explanation read what a pattern is from this table; each has one function per
 * pattern besides.  Everything here is constant.
 */
#ifndef ISO_LEVEL_TAP_H
#define ISO_LEVEL_TAP_H

#include "graph/edge.h"
#include "level/method.h"

/* What shows a pattern. */
typedef enum iso_tap_class {
  ISO_CLASS_READ,  /* one or two reads within a transaction: verify/finding.h judges them */
  ISO_CLASS_LIST,  /* reads of a list that do not fit together: so does it */
  ISO_CLASS_CYCLE, /* a cycle of what is known before any axiom is asked: result/proof.h */
  ISO_CLASS_AXIOM  /* an edge that an axiom forces: result/proof.h */
} iso_tap_class;

/* Whether an edge that an axiom forces contradicts CO outright, or only together with other forced edges. */
typedef enum iso_tap_form { ISO_FORM_NONE, ISO_FORM_CO, ISO_FORM_CM } iso_tap_form;

/* C name, code, class; of AXIOM its form and the axiom that it shows first; of CYCLE the kinds of its edges, each at
 * least once (but TAP-g may do without SO). */
#define ISO_TAP_LIST(X)                                                                                                \
  X(A, "TAP-a", READ, NONE, READ_COMMITTED, 0)                                                                         \
  X(B, "TAP-b", READ, NONE, READ_COMMITTED, 0)                                                                         \
  X(C, "TAP-c", READ, NONE, READ_COMMITTED, 0)                                                                         \
  X(D, "TAP-d", READ, NONE, READ_COMMITTED, 0)                                                                         \
  X(E, "TAP-e", READ, NONE, READ_COMMITTED, 0)                                                                         \
  X(F, "TAP-f", READ, NONE, READ_COMMITTED, 0)                                                                         \
  X(G, "TAP-g", CYCLE, NONE, READ_COMMITTED, ISO_EDGES_CO)                                                             \
  X(H, "TAP-h", AXIOM, CO, READ_COMMITTED, 0)                                                                          \
  X(I, "TAP-i", AXIOM, CM, READ_COMMITTED, 0)                                                                          \
  X(J, "TAP-j", READ, NONE, READ_ATOMIC, 0)                                                                            \
  X(K, "TAP-k", AXIOM, CO, READ_ATOMIC, 0)                                                                             \
  X(L, "TAP-l", AXIOM, CM, READ_ATOMIC, 0)                                                                             \
  X(M, "TAP-m", AXIOM, CO, CAUSAL, 0)                                                                                  \
  X(N, "TAP-n", AXIOM, CM, CAUSAL, 0)                                                                                  \
  X(G0, "G0", CYCLE, NONE, READ_COMMITTED, ISO_EDGE_BIT(ISO_EDGE_WW))                                                  \
  X(G1C, "G1c", CYCLE, NONE, READ_COMMITTED, ISO_EDGE_BIT(ISO_EDGE_WW) | ISO_EDGE_BIT(ISO_EDGE_WR))                    \
  X(G0_PROCESS, "G0-process", CYCLE, NONE, READ_COMMITTED, ISO_EDGE_BIT(ISO_EDGE_WW) | ISO_EDGE_BIT(ISO_EDGE_SO))      \
  X(G1C_PROCESS, "G1c-process", CYCLE, NONE, READ_COMMITTED, ISO_EDGES_KNOWN)                                          \
  X(INCOMPATIBLE_ORDER, "incompatible-order", LIST, NONE, READ_COMMITTED, 0)                                           \
  X(DUPLICATE_ELEMENTS, "duplicate-elements", LIST, NONE, READ_COMMITTED, 0)

typedef enum iso_tap {
#define ISO_X(name, code, class, form, axiom, edges) ISO_TAP_##name,
  ISO_TAP_LIST(ISO_X)
#undef ISO_X
      ISO_TAPS
} iso_tap;

typedef struct iso_tap_info {
  const char *code;
  iso_tap_class class;
  iso_tap_form form;
  iso_axiom axiom;
  iso_edge_set edges;
} iso_tap_info;

const iso_tap_info *iso_tap_of(iso_tap tap);
static inline const char *iso_tap_code(iso_tap tap) { return iso_tap_of(tap)->code; }
/* Whether reads alone show it, without a cycle. */
static inline bool iso_tap_is_of_reads(iso_tap tap) { return iso_tap_of(tap)->class <= ISO_CLASS_LIST; }
/* Whether its cycle is one of CO alone. */
static inline bool iso_tap_is_causal(iso_tap tap) { return iso_tap_of(tap)->edges == ISO_EDGES_CO; }
/* By code, name or alias; ISO_TAPS when there is none. */
iso_tap iso_tap_find(const char *name);

/* Whether the pattern breaks the level whatever the order of anything else: single reads and known cycles do. */
bool iso_tap_breaks(iso_tap tap, const isoproof_level_info *level);
/* Whether the axiom, once decided, shows the pattern: CO forms at their own axiom, CM forms in the commit order of that
 * axiom and of every stronger one up to causal. */
bool iso_tap_shows_at(iso_tap tap, iso_axiom axiom);

#endif
