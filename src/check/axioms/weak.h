/* weak.h - read committed, read atomic, causal and the session guarantees, decided exactly by their axioms.
 *
 * Each axiom forces edges into the commit order (check/axioms/scan.h).  A history satisfies the level exactly when CO,
 * the known WW of lists and those edges have no cycle, because the conditions of these axioms do not mention the commit
 * order themselves.  Only when there is a cycle is anything classified: a forced edge t2 -> t1 is an instance of a
 * pattern exactly when t1 and t2 lie in one strongly connected component.  An edge with t1 known to be before t2
 * contradicts that by itself; it is counted as the CO form of its pattern and taken away before the CM forms are looked
 * for, or else every edge that shares a component with it would count.  A weak result owns everything in it until
 * iso_weak_free.
 */
#ifndef ISO_CHECK_AXIOMS_WEAK_H
#define ISO_CHECK_AXIOMS_WEAK_H

#include "check/axioms/scan.h"
#include "check/causal/causal_order.h"
#include "result/finding.h"

/* A forced edge on a cycle: the read of x by t3 from t1 = reads[read].from, and t2. */
typedef struct iso_instance {
  uint32_t t1; /* ISO_INITIAL for the initial transaction */
  uint32_t t2, t3;
  uint32_t read;     /* place in view.reads */
  bool causal_cycle; /* t1 is before t2 in a known order, causally or as a version of a list: a CO form */
  bool redundant;    /* t2 is known to be before t1: nothing is forced that was not so anyway, and it is no instance */
} iso_instance;

/* What an axiom came to. */
typedef struct iso_axiom_result {
  bool decided, violated;
  bool only_co_forms; /* violated, and without its CO forms it would not be; forced and order are empty then */
  /* Where violated: the cycles that are left when the forced edges that contradict CO outright, the CO forms, are taken
   * away; they are what the CM forms are about.  `order` has their components. */
  iso_edges forced;
  iso_order order;
  uint32_t *all_component;         /* of the graph with all forced edges */
  ISO_VEC(iso_instance) instances; /* sorted by t1, t2, t3, read */
} iso_axiom_result;

typedef struct iso_weak {
  iso_view view;
  iso_versions versions; /* of lists */
  iso_edges known_edges; /* the WW of lists, nothing else */
  iso_order co;          /* of CO alone, with its components */
  iso_order known;       /* of CO and WW, with its components; empty where there are no lists */
  iso_clocks clocks;     /* of all sessions, or without rows where they did not fit */
  /* How many columns of clocks are made at a time; 0: as many as fit half a gigabyte, and none at all where causal can
   * be decided without. */
  uint32_t block_columns;
  bool tried_causal; /* for the sake of a weaker axiom, and without success unless causal is decided */
  /* What the search for an order found to be forced where causal has its cycles; a scan with clocks is not needed. */
  bool has_forced;
  iso_forced_pairs forced;
  iso_axiom_result axioms[ISO_AXIOMS];
} iso_weak;

/* Makes the view and the versions, and orders what is known.  The result must stay where it is. */
isoproof_status iso_weak_begin(isoproof_history *history, isoproof_task *task, iso_weak *weak, isoproof_error *error);
/* Decides an axiom, and finds its instances when it is violated. */
isoproof_status iso_weak_decide(iso_weak *weak, iso_axiom axiom, isoproof_task *task, isoproof_error *error);
/* Takes back what a decision left that did not come to its end. */
void iso_weak_forget(iso_weak *weak, iso_axiom axiom);
/* The commit order that proves an axiom that is satisfied; the caller frees it with iso_order_free. */
isoproof_status iso_weak_order(iso_weak *weak, iso_axiom axiom, isoproof_task *task, iso_order *order,
                               isoproof_error *error);
void iso_weak_free(iso_weak *weak);

/* Adds what is wrong before any axiom is asked to the findings: lists that do not fit together, and known cycles. */
isoproof_status iso_weak_report_known(const iso_weak *weak, iso_findings *findings, isoproof_error *error);

/* Adds the instances of violated axioms to the findings, each pattern from the first axiom of the table that shows it;
 * the session guarantees only where `sessions` says so, as causal shows all that they do.  Patterns that are among the
 * findings already stay as they are, so that it can be called again when more was decided. */
void iso_weak_report(const iso_weak *weak, bool sessions, iso_findings *findings);

/* Whether instance `number` of the axiom counts as one of the pattern. */
bool iso_weak_is_reported(const iso_weak *weak, iso_axiom axiom, uint32_t number, iso_tap tap);

/* The pattern of an instance, the most specific one. */
iso_tap iso_weak_pattern(const iso_weak *weak, const iso_instance *instance);

#endif
