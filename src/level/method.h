/* method.h - how each level is decided: by which engine, under which rule, with which orders.
 *
 * The last column of levels.def and models.def says it, so that a level is one row.  An axiom forces edges into a
 * commit order; a rule says which cycles of version orders are forbidden.  Engines (src/check) and the judge
 * (src/verify) each have their own functions for axioms and rules, and share only these names.  Everything here is
 * constant.
 */
#ifndef ISO_LEVEL_METHOD_H
#define ISO_LEVEL_METHOD_H

#include "level/levels.h"

typedef enum iso_engine {
  ISO_ENGINE_WITHIN, /* single transactions tell: check/within */
  ISO_ENGINE_AXIOM,  /* an axiom on a commit order: check/axioms */
  ISO_ENGINE_STRONG, /* version orders have to be searched for: check/strong */
  ISO_ENGINE_ELLE    /* what was inferred rules it out, or proves it: elle */
} iso_engine;

/* The axioms.  Each has the form: for a read of x by t3 from t1 and another writer t2 of x, a condition on t2 and t3
 * forces t2 before t1 (Biswas and Enea, OOPSLA 2019).  Weaker ones first up to causal, then the session guarantees.
 * C name, the condition. */
#define ISO_AXIOM_LIST(X)                                                                                              \
  X(READ_COMMITTED, "t3 read another key from t2 before")                                                              \
  X(READ_ATOMIC, "t2 is before t3 in its session, or t3 reads from t2")                                                \
  X(CAUSAL, "t2 is causally before t3")                                                                                \
  X(READ_YOUR_WRITES, "t2 is before t3 in its session")                                                                \
  X(MONOTONIC_READS, "the session of t3 read from t2 before")                                                          \
  X(MONOTONIC_WRITES, "t3 reads from a transaction that follows t2 in its session")                                    \
  X(WRITES_FOLLOW_READS, "t3 reads from a transaction whose session read from t2 before")

typedef enum iso_axiom {
#define ISO_X(name, text) ISO_AXIOM_##name,
  ISO_AXIOM_LIST(ISO_X)
#undef ISO_X
      ISO_AXIOMS
} iso_axiom;

/* The level that an axiom decides. */
const isoproof_level_info *iso_axiom_level(iso_axiom axiom);

/* The rules of version orders.  With b and c for the begin and the commit of a transaction, and t for all of it, the
 * dependencies become edges between events, and something must not be (Adya 1999; Cerone and Gotsman 2018):
 *
 *   rule           SO, WR     WW         RW         what must not be
 *   SERIALIZABLE   t -> t     t -> t     t -> t     a cycle
 *   SNAPSHOT       c -> b     c -> b     b -> c     a cycle
 *   PREFIX         c -> b     c -> c     b -> c     a cycle
 *   PARALLEL       t -> t     t -> t     -          a cycle, or a path from s to r where r must come before s (RW)
 *   UPDATE_ATOMIC  t -> t     t -> t     -          a cycle, or one edge from s to r where r must come before s (RW)
 *   MIXED          the edges to and from a transaction are those of its own level; the axioms of weaker levels, which
 *                  speak of SO and WR alone, are edges c -> c
 *
 * So a read of x by r from t and another writer s of x come down to a choice: s before t, or t before s and then r
 * before s.  C name, name in C of its functions, what it allows, after the name of the level. */
#define ISO_RULE_LIST(X)                                                                                               \
  X(SERIALIZABLE, serializable, "allows no cycle")                                                                     \
  X(SNAPSHOT, snapshot, "allows a cycle only where two missed writes follow each other in it")                         \
  X(PREFIX, prefix,                                                                                                    \
    "allows no cycle in which whoever missed a write stands right after one that it read from or followed")            \
  X(PARALLEL, parallel, "allows no cycle with fewer than two missed writes")                                           \
  X(UPDATE_ATOMIC, update_atomic,                                                                                      \
    "allows no cycle without a missed write, and none of a missed write and one other step")                           \
  X(MIXED, mixed, "allows no cycle in which every missed write is one that the level of whoever missed it forbids")

typedef enum iso_rule {
#define ISO_X(name, function, text) ISO_RULE_##name,
  ISO_RULE_LIST(ISO_X)
#undef ISO_X
      ISO_RULES
} iso_rule;

/* What the rule allows, as the end of a sentence about a level. */
const char *iso_rule_text(iso_rule rule);

/* What a level of the engine STRONG asks. */
typedef struct iso_strong_level {
  iso_level level;
  const char *id; /* canonical */
  iso_rule rule;
  bool session_order; /* SO counts */
  bool real_time;     /* RT counts, and times are needed */
  bool single;        /* only for transactions of one operation */
} iso_strong_level;

typedef struct iso_level_method {
  iso_engine engine;
  iso_axiom axiom;         /* of AXIOM */
  iso_strong_level strong; /* of STRONG */
} iso_level_method;

const iso_level_method *iso_level_method_of(const isoproof_level_info *info);

/* The levels of the engine STRONG, weaker ones first: in the order of levels.def, a model right before the level that
 * it is the same as; NULL after the last. */
const iso_strong_level *iso_strong_level_at(size_t number);
/* NULL when the level is not one of these. */
const iso_strong_level *iso_strong_level_of(const isoproof_level_info *info);

#endif
