/* solver_internal.h - what the files of the solver share: assignment, clauses, watches, statistics.
 *
 * The solver owns every array here; arrays by variable or literal have room for `var_room` variables. */
#ifndef ISO_SOLVER_SOLVER_INTERNAL_H
#define ISO_SOLVER_SOLVER_INTERNAL_H

#include "solver/dag.h"
#include "solver/heap.h"

/* Why a variable has its value. */
typedef enum iso_reason_kind {
  ISO_REASON_NONE,   /* decided, assumed, or true anyway */
  ISO_REASON_BINARY, /* value: the other literal of the clause, which is false */
  ISO_REASON_CLAUSE, /* value: the clause, whose first literal this is */
  ISO_REASON_GRAPH   /* value: where its reason starts in `reasons` */
} iso_reason_kind;

typedef struct iso_var_state {
  uint32_t level;
  uint32_t kind; /* iso_reason_kind */
  uint32_t value;
} iso_var_state;

/* A clause in the arena: these words, then its literals, of which the first two are watched.  Clauses of two literals
 * are in the watches alone. */
typedef struct iso_clause {
  uint32_t size;
  uint32_t glue;    /* LBD: distinct decision levels when last seen in a conflict; 0 for a clause that was given */
  uint32_t forward; /* where it goes, while the arena is compacted */
  uint16_t used;    /* recently in conflicts */
  uint16_t garbage;
  iso_lit literals[];
} iso_clause;

enum { ISO_CLAUSE_WORDS = sizeof(iso_clause) / sizeof(uint32_t) };
/* In place of a clause in a watch: it has two literals, and the blocker is the other one. */
#define ISO_BINARY_GIVEN UINT32_MAX
#define ISO_BINARY_LEARNED (UINT32_MAX - 1)

typedef struct iso_watch {
  iso_lit blocker; /* when it is true, the clause need not be looked at */
  uint32_t clause;
} iso_watch;

/* The clauses to look at when a literal becomes false. */
typedef struct iso_watches {
  iso_watch *items;
  uint32_t count, room;
} iso_watches;

/* Where a decision level starts. */
typedef struct iso_decision_level {
  uint32_t trail, reasons;
} iso_decision_level;

/* Averages that decide on restarts. */
typedef struct iso_restarts {
  double fast, slow;           /* of the glue of learned clauses */
  double fast_left, slow_left; /* how much of the start value is still in them */
  uint64_t next;               /* conflicts before which there is none */
  uint64_t mode_end;           /* conflicts until the other mode */
  uint64_t last;               /* propagations at the last restart */
  uint32_t mode, luby;         /* odd modes are stable: restarts are rare and follow Luby's sequence */
} iso_restarts;

struct iso_solver {
  iso_solver_stats stats;
  iso_dag graph;
  bool unsatisfiable; /* without assumptions */

  uint32_t vars;
  size_t var_room;
  int8_t *value;        /* by literal: 1 true, -1 false, 0 neither */
  iso_var_state *var;   /* by variable */
  int8_t *phase;        /* last value; 0 none yet */
  uint32_t *edge;       /* by variable: its edge in the graph, or ISO_NONE */
  uint8_t *seen;        /* in analysis */
  int8_t *model;        /* by variable: 1 true */
  uint32_t model_vars;  /* how many there were */
  uint32_t *level_mark; /* by level: stamp of the last clause whose levels were counted */
  uint32_t level_stamp;
  iso_watches *watches; /* by literal */
  iso_heap heap;        /* of variables by activity */

  iso_lit *trail; /* true literals in the order in which they became so */
  uint32_t trail_count;
  uint32_t clause_head;       /* the clauses know of those before it */
  uint32_t graph_head;        /* the graph knows of those before it */
  uint32_t out_of_order;      /* literals whose level is lower than that of their place; see assign.c */
  uint32_t longest_jump;      /* conflicts that would go back by more levels than this go back by one */
  iso_decision_level *levels; /* of the levels from 1 on, at their number - 1 */
  size_t level_room;
  uint32_t level;

  ISO_VEC(uint32_t) arena;   /* of clauses */
  ISO_VEC(uint32_t) learned; /* the learned ones */
  ISO_VEC(iso_lit) reasons;  /* given by the graph: a count, then literals that are false */

  /* Work of one conflict, each with room for all variables. */
  iso_lit *conflict; /* literals that are all false */
  uint32_t conflict_count;
  uint32_t conflict_clause; /* where they come from, or ISO_NONE */
  iso_lit *clause;          /* the clause to learn */
  uint32_t clause_count;
  uint32_t *stack, *cleanup;
  uint32_t cleanup_count;

  ISO_VEC(iso_lit) assumptions;
  ISO_VEC(iso_lit) core;
  ISO_VEC(iso_lit) given; /* a clause while it is added */

  iso_restarts restarts;
  uint64_t next_reduction; /* in conflicts */
  uint32_t simplified;     /* literals of the trail that were true anyway at the last reduction */
  uint64_t reach_credit;   /* arcs that searches for forbidden edges may look at */
};

static inline iso_clause *iso_clause_at(const iso_solver *s, uint32_t clause) {
  return (iso_clause *)(void *)&s->arena.items[clause];
}
static inline iso_var_state *iso_var_of(const iso_solver *s, iso_lit literal) { return &s->var[literal >> 1]; }
/* Whether the literal is true at level 0, whatever is decided. */
static inline bool iso_sat_holds_always(const iso_solver *s, iso_lit literal) {
  return s->value[literal] > 0 && iso_var_of(s, literal)->level == 0;
}

/* After SAT, until the next solve: whether `a` comes before `b` in the topological order of the fixed edges and all
 * true edge literals.  Tests judge solutions by it. */
static inline bool iso_solver_before(const iso_solver *s, uint32_t a, uint32_t b) {
  return s->graph.nodes.items[a].label < s->graph.nodes.items[b].label;
}

/* assign.c: the trail of assigned literals */
void iso_sat_assign(iso_solver *s, iso_lit literal, uint32_t level, iso_reason_kind kind, uint32_t value);
/* Opens a level and decides a literal; ISO_LIT_NONE opens an empty level. */
void iso_sat_decide(iso_solver *s, iso_lit literal);
/* Takes back what was assigned at higher levels. */
void iso_sat_backtrack(iso_solver *s, uint32_t level);
/* The level at which these false literals make another one true. */
uint32_t iso_sat_level_of(const iso_solver *s, const iso_lit *literals, uint32_t count);

/* clause.c: clauses and their watches */
bool iso_sat_watch_add(iso_solver *s, iso_lit literal, iso_watch watch);
/* Takes a clause of at least two literals, the first two of which are to be watched; gives ISO_NONE for one of two. */
isoproof_status iso_clause_store(iso_solver *s, const iso_lit *literals, uint32_t count, uint32_t glue,
                                 uint32_t *clause, isoproof_error *error);
/* Removes clauses that are marked garbage and those of the binary ones that level 0 satisfies. */
void iso_clause_collect(iso_solver *s);

/* propagate.c: everything that follows from the assignment, in clauses and in the graph.  *conflict says whether
 * s->conflict was filled instead. */
isoproof_status iso_sat_propagate(iso_solver *s, bool *conflict, isoproof_error *error);

/* propagate_graph.c: what the graph says about the next literals of the trail.  Stops after literals became false. */
isoproof_status iso_sat_propagate_graph(iso_solver *s, bool *conflict, isoproof_error *error);

/* analyze.c: from s->conflict to s->clause, which begins with the negated first unique implication point; its second
 * literal is one of the level to go back to. */
void iso_sat_analyze(iso_solver *s, uint32_t *back, uint32_t *glue);
/* The literals that made this one true, all false. */
const iso_lit *iso_sat_reason_of(const iso_solver *s, uint32_t var, uint32_t *count);
/* How many levels the literals have (their LBD). */
uint32_t iso_sat_glue(iso_solver *s, const iso_lit *literals, uint32_t count);

/* failed_assumptions.c: from an assumption that is false to assumptions that cannot all hold, in s->core. */
isoproof_status iso_sat_find_failed_assumptions(iso_solver *s, iso_lit assumption, isoproof_error *error);

/* reduce.c: deletes the less useful half of the learned clauses that were not used lately.  O(n log n) for n learned
 * clauses, and linear in all clauses. */
isoproof_status iso_sat_reduce(iso_solver *s, isoproof_error *error);

/* search.c: the CDCL loop, until there is an answer or a limit. */
isoproof_status iso_sat_search(iso_solver *s, const iso_solver_limits *limits, iso_solver_answer *answer,
                               isoproof_error *error);

/* restart.c: when to begin again from the top */
void iso_sat_restart_begin(iso_solver *s);
void iso_sat_restart_note(iso_solver *s, uint32_t glue);
bool iso_sat_restart_due(const iso_solver *s);
/* Goes back to the first level that would be decided differently now. */
void iso_sat_restart(iso_solver *s);

#endif
