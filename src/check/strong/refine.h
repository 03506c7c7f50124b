/* refine.h - from a sequence that explains most reads to one that explains all, or to the proof that there is none.
 *
 * Executing a sequence (check/strong/execute.h) shows which requirements it breaks.  They go to a solver that knows the
 * events they are about and, through the clocks, everything that is known about the order of those; its solution moves
 * a few events of the sequence, which is executed again.  A requirement that no sequence breaks is never put down: most
 * pairs of writers are in the right order by luck, and there are too many to look at all of them.  This ends, as each
 * round puts down a new requirement; when the solver finds no solution, there is no sequence at all.
 * The problem is NP-complete (Papadimitriou 1979; Biswas and Enea 2019), so that rounds can be exponential at worst.
 */
#ifndef ISO_CHECK_STRONG_REFINE_H
#define ISO_CHECK_STRONG_REFINE_H

#include "check/strong/rules/rule.h"

typedef enum iso_refined { ISO_REFINED_UNKNOWN, ISO_REFINED_EXPLAINED, ISO_REFINED_REFUTED } iso_refined;

typedef struct iso_refinement {
  iso_refined outcome;
  uint32_t rounds;
  uint64_t decisions, conflicts; /* of the solver */
  iso_requirements all;          /* what was put to the solver; where refuted, they cannot all be met */
} iso_refinement;

/* Where to stop; 0 for nowhere. */
typedef struct iso_refine_limits {
  uint64_t conflicts; /* of the solver */
  uint64_t broken;    /* reads and writers that a solution leaves broken: it leads astray */
} iso_refine_limits;

/* Refines the sequence by what the rule of the examination says that it breaks.  Without `clocks`, the solver gets the
 * whole graph.  Past a limit, the outcome is unknown. */
isoproof_status iso_refine(const iso_examination *examination, iso_sequence *sequence, const iso_event_clocks *clocks,
                           iso_refine_limits limits, iso_refinement *refinement, isoproof_error *error);
void iso_refinement_free(iso_refinement *refinement);

#endif
