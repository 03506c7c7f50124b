/* Counterexample-guided refinement of a sequence: what it breaks becomes clauses, a solution moves its events. */
#include "check/strong/refine.h"

#include <string.h>

#include "check/strong/refine_steps.h"

void iso_refinement_free(iso_refinement *r) { iso_requirements_free(&r->all); }

/* Requirements handed to the solver between two questions to the task: one may link two nodes with every chain. */
enum { REQUIREMENTS_PER_LOOK = 64 };

static isoproof_status run(iso_refiner *r, const iso_examination *examination, iso_refine_limits most,
                           iso_refinement *out, isoproof_error *error) {
  isoproof_task *task = examination->task;
  const iso_solver_stats *stats = iso_solver_statistics(r->solver);
  for (;;) {
    uint64_t broken;
    size_t before = r->all.first.count;
    ISO_TRY(examination->rule->examine(examination, r->s, &r->all, &broken, error));
    if (broken == 0) {
      out->outcome = ISO_REFINED_EXPLAINED;
      return ISOPROOF_OK;
    }
    if (most.broken > 0 && broken > most.broken) return ISOPROOF_OK;
    out->rounds++;
    iso_task_progress(task, "refining", "orders", r->all.first.count, 0);
    for (size_t i = before; i < r->all.first.count; i++) {
      if (i % REQUIREMENTS_PER_LOOK == 0) ISO_TRY(iso_task_check(task, error));
      ISO_TRY(iso_refiner_require(r, i, error));
    }
    iso_solver_answer answer;
    iso_solver_limits limits = {.task = task};
    if (most.conflicts > 0) {
      if (stats->conflicts >= most.conflicts) return ISOPROOF_OK;
      limits.conflicts = most.conflicts - stats->conflicts;
    }
    ISO_TRY(iso_solver_solve(r->solver, NULL, 0, &limits, &answer, error));
    if (answer == ISO_SOLVER_UNSAT) out->outcome = ISO_REFINED_REFUTED;
    if (answer != ISO_SOLVER_SAT) return ISOPROOF_OK;
    ISO_TRY(iso_refiner_apply(r, task, error));
  }
}

isoproof_status iso_refine(const iso_examination *examination, iso_sequence *sequence, const iso_event_clocks *clocks,
                           iso_refine_limits limits, iso_refinement *out, isoproof_error *error) {
  memset(out, 0, sizeof *out);
  iso_refiner r;
  ISO_TRY(iso_refiner_make(examination->events, sequence, clocks, &r, error));
  isoproof_status status = run(&r, examination, limits, out, error);
  out->decisions = iso_solver_statistics(r.solver)->decisions;
  out->conflicts = iso_solver_statistics(r.solver)->conflicts;
  out->all = r.all;
  r.all = (iso_requirements){.failed = false};
  iso_refiner_free(&r);
  if (status != ISOPROOF_OK) iso_refinement_free(out);
  return status;
}
