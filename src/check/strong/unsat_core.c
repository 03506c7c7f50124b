/* Requirements as assumptions of a fresh solver; what fails is a core, and is made smaller. */
#include "check/strong/unsat_core.h"

#include <stdlib.h>
#include <string.h>

#include "check/strong/solver_events.h"

/* A problem made of some of the requirements. */
typedef struct {
  const iso_event_graph *e;
  const iso_event_clocks *clocks;
  bool assume_known; /* the known edges are assumptions too */
  iso_solver *solver;
  uint32_t solver_nodes;
  iso_solver_events nodes;
  ISO_VEC(iso_lit) assumptions; /* one a requirement, then the known edges */
  iso_event_edges known;
  ISO_VEC(iso_lit) clause;
} problem;

static void problem_free(problem *p) {
  iso_solver_free(p->solver);
  iso_solver_events_free(&p->nodes);
  iso_vec_free(&p->assumptions);
  iso_vec_free(&p->known);
  iso_vec_free(&p->clause);
}

static isoproof_status make_nodes(problem *p, isoproof_error *error) {
  while (p->clocks != NULL && p->solver_nodes < p->nodes.event.count) {
    uint32_t node;
    ISO_TRY(iso_solver_node(p->solver, &node, error));
    p->solver_nodes++;
  }
  return ISOPROOF_OK;
}

static isoproof_status take_known(void *context, uint32_t from, uint32_t to, isoproof_error *error) {
  problem *p = context;
  ISO_TRY(make_nodes(p, error));
  if (!p->assume_known) return iso_solver_fixed_edge(p->solver, from, to, error);
  iso_event_edge edge = {p->nodes.event.items[from], p->nodes.event.items[to]};
  return iso_vec_push(&p->known, edge) ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status add_requirement(problem *p, const iso_requirements *all, size_t i, isoproof_error *error) {
  size_t end = i + 1 < all->first.count ? all->first.items[i + 1] : all->edges.count;
  iso_lit selector;
  bool is_new;
  ISO_TRY(iso_solver_var(p->solver, &selector, error));
  p->clause.count = 0;
  bool kept = iso_vec_push(&p->clause, iso_lit_not(selector)) && iso_vec_push(&p->assumptions, selector);
  for (size_t k = all->first.items[i]; kept && k < end; k++) {
    uint32_t from, to;
    iso_lit literal;
    ISO_TRY(iso_solver_event(&p->nodes, all->edges.items[k].from, take_known, p, &from, &is_new, error));
    ISO_TRY(iso_solver_event(&p->nodes, all->edges.items[k].to, take_known, p, &to, &is_new, error));
    ISO_TRY(make_nodes(p, error));
    ISO_TRY(iso_solver_edge(p->solver, from, to, &literal, error));
    kept = iso_vec_push(&p->clause, literal);
  }
  if (!kept) return iso_fail_memory(error);
  return iso_solver_clause(p->solver, p->clause.items, p->clause.count, error);
}

static isoproof_status tell_everything(problem *p, isoproof_error *error) {
  for (uint32_t event = 0; event < p->e->count; event++) {
    uint32_t before;
    uint64_t at = 0;
    if (!iso_event_counts(p->e, event)) continue;
    while ((before = iso_next_before(p->e, event, &at)) != ISO_NO_EVENT) {
      ISO_TRY(iso_solver_fixed_edge(p->solver, before, event, error));
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status build(problem *p, const iso_requirements *all, const uint32_t *chosen, size_t count,
                             isoproof_error *error) {
  ISO_TRY(iso_solver_events_make(p->e, p->clocks, &p->nodes, error));
  p->solver_nodes = p->clocks == NULL ? p->e->count : 0;
  ISO_TRY(iso_solver_new(p->solver_nodes, &p->solver, error));
  if (p->clocks == NULL) ISO_TRY(tell_everything(p, error));
  for (size_t i = 0; i < count; i++) ISO_TRY(add_requirement(p, all, chosen[i], error));
  for (size_t i = 0; i < p->known.count; i++) {
    iso_lit literal;
    uint32_t from = p->nodes.node[p->known.items[i].from] - 1, to = p->nodes.node[p->known.items[i].to] - 1;
    ISO_TRY(iso_solver_edge(p->solver, from, to, &literal, error));
    if (!iso_vec_push(&p->assumptions, literal)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

static isoproof_status refute(problem *p, isoproof_task *task, const iso_lit **core, size_t *core_count,
                              isoproof_error *error) {
  iso_solver_answer answer;
  iso_solver_limits limits = {.task = task};
  ISO_TRY(iso_solver_solve(p->solver, p->assumptions.items, p->assumptions.count, &limits, &answer, error));
  if (answer != ISO_SOLVER_UNSAT) return iso_fail(error, ISOPROOF_ERR_INTERNAL, "a refutation does not repeat itself");
  *core_count = iso_solver_core(p->solver, core);
  return ISOPROOF_OK;
}

static bool contains(const iso_lit *core, size_t count, iso_lit literal) {
  for (size_t i = 0; i < count; i++) {
    if (core[i] == literal) return true;
  }
  return false;
}

static int by_literal(const void *a, const void *b) {
  iso_lit x = *(const iso_lit *)a, y = *(const iso_lit *)b;
  return (x > y) - (x < y);
}

static bool contains_sorted(const iso_lit *core, size_t count, iso_lit literal) {
  if (count < 16) return contains(core, count, literal);
  return bsearch(&literal, core, count, sizeof *core, by_literal) != NULL;
}

/* One more try with the requirements that failed last time. */
static isoproof_status shrink(problem *p, const iso_requirements *all, uint32_t *chosen, size_t *count,
                              iso_event_edges *edges, isoproof_task *task, isoproof_error *error) {
  const iso_lit *core = NULL;
  size_t core_count = 0, kept = 0;
  ISO_TRY(build(p, all, chosen, *count, error));
  ISO_TRY(refute(p, task, &core, &core_count, error));
  iso_lit *sorted = iso_alloc(core_count, sizeof *sorted);
  if (sorted == NULL) return iso_fail_memory(error);
  if (core_count > 0) memcpy(sorted, core, core_count * sizeof *sorted);
  qsort(sorted, core_count, sizeof *sorted, by_literal);
  bool made = true;
  for (size_t i = 0; i < p->assumptions.count && made; i++) {
    if (!contains_sorted(sorted, core_count, p->assumptions.items[i])) continue;
    if (i < *count) {
      chosen[kept++] = chosen[i];
    } else {
      made = iso_vec_push(edges, p->known.items[i - *count]);
    }
  }
  *count = kept;
  free(sorted);
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}

static void copy_requirement(const iso_requirements *all, size_t i, iso_requirements *core) {
  bool last = i + 1 == all->first.count;
  size_t end = last ? all->edges.count : all->first.items[i + 1];
  size_t also_end = last ? all->also.count : all->also_first.items[i + 1];
  iso_require(core);
  for (size_t k = all->first.items[i]; k < end; k++) {
    iso_require_edge(core, all->edges.items[k].from, all->edges.items[k].to);
  }
  for (size_t k = all->also_first.items[i]; k < also_end; k++) {
    iso_require_also(core, all->also.items[k].from, all->also.items[k].to);
  }
}

isoproof_status iso_unsat_core_find(const iso_event_graph *events, const iso_event_clocks *clocks,
                                    const iso_requirements *all, isoproof_task *task, iso_requirements *core,
                                    iso_event_edges *core_edges, isoproof_error *error) {
  enum { TRIES = 8 };
  size_t count = all->first.count;
  uint32_t *chosen = iso_alloc(count, sizeof *chosen);
  if (chosen == NULL) return iso_fail_memory(error);
  for (size_t i = 0; i < count; i++) chosen[i] = (uint32_t)i;
  isoproof_status status = ISOPROOF_OK;
  for (int try = 0; try < TRIES && status == ISOPROOF_OK; try++) {
    size_t before = count;
    problem p = {.e = events, .clocks = clocks};
    status = shrink(&p, all, chosen, &count, core_edges, task, error);
    problem_free(&p);
    if (count == before) break;
  }
  if (status == ISOPROOF_OK && clocks != NULL) {
    problem p = {.e = events, .clocks = clocks, .assume_known = true};
    status = shrink(&p, all, chosen, &count, core_edges, task, error);
    problem_free(&p);
  }
  for (size_t i = 0; i < count && status == ISOPROOF_OK; i++) copy_requirement(all, chosen[i], core);
  free(chosen);
  return status == ISOPROOF_OK && core->failed ? iso_fail_memory(error) : status;
}
