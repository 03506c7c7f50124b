/* The solver as solver.h shows it: making and freeing, adding to the problem, solving and its results. */
#include "solver/solver_internal.h"

#include <string.h>

enum { LONGEST_JUMP = 100, FIRST_CREDIT = 1 << 10, FIRST_REDUCTION = 1000 };

isoproof_status iso_solver_new(uint32_t nodes, iso_solver **solver, isoproof_error *error) {
  iso_solver *s = iso_alloc_zero(1, sizeof *s);
  if (s == NULL) return iso_fail_memory(error);
  s->heap.bump = 1;
  s->longest_jump = LONGEST_JUMP;
  s->reach_credit = FIRST_CREDIT;
  s->next_reduction = FIRST_REDUCTION;
  isoproof_status status = iso_dag_init(&s->graph, nodes, &s->stats, error);
  if (status != ISOPROOF_OK) {
    iso_solver_free(s);
    return status;
  }
  *solver = s;
  return ISOPROOF_OK;
}

void iso_solver_free(iso_solver *s) {
  if (s == NULL) return;
  iso_dag_free(&s->graph);
  iso_heap_free(&s->heap);
  for (size_t i = 0; i < 2 * (size_t)s->vars; i++) free(s->watches[i].items);
  free(s->watches);
  void *arrays[] = {s->value, s->var,    s->phase,    s->edge,   s->seen,  s->model,  s->level_mark,
                    s->trail, s->levels, s->conflict, s->clause, s->stack, s->cleanup};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
  iso_vec_free(&s->arena);
  iso_vec_free(&s->learned);
  iso_vec_free(&s->reasons);
  iso_vec_free(&s->assumptions);
  iso_vec_free(&s->core);
  iso_vec_free(&s->given);
  free(s);
}

isoproof_status iso_solver_node(iso_solver *s, uint32_t *node, isoproof_error *error) {
  return iso_dag_add_node(&s->graph, node, error);
}

isoproof_status iso_solver_hint(iso_solver *s, const uint32_t *order, size_t count, isoproof_error *error) {
  return iso_dag_add_hint(&s->graph, order, count, error);
}

isoproof_status iso_solver_fixed_edge(iso_solver *s, uint32_t from, uint32_t to, isoproof_error *error) {
  return iso_dag_add_fixed(&s->graph, from, to, error);
}

static bool resize(void **array, size_t count, size_t size) {
  void *moved = iso_realloc(*array, count, size);
  if (moved != NULL) *array = moved;
  return moved != NULL;
}

/* Makes room for one more variable in everything that has room for all of them. */
static isoproof_status reserve_var(iso_solver *s, isoproof_error *error) {
  enum { FIRST_ROOM = 32 };
  if (s->vars >= ISO_SOLVER_MOST) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "more than %d variables", ISO_SOLVER_MOST);
  }
  if (s->vars < s->var_room) return ISOPROOF_OK;
  size_t room = s->var_room == 0 ? FIRST_ROOM : s->var_room + s->var_room / 2;
  bool fits =
      resize((void **)&s->value, 2 * room, sizeof *s->value) && resize((void **)&s->var, room, sizeof *s->var) &&
      resize((void **)&s->phase, room, sizeof *s->phase) && resize((void **)&s->edge, room, sizeof *s->edge) &&
      resize((void **)&s->seen, room, sizeof *s->seen) && resize((void **)&s->model, room, sizeof *s->model) &&
      resize((void **)&s->watches, 2 * room, sizeof *s->watches) &&
      resize((void **)&s->trail, room, sizeof *s->trail) &&
      resize((void **)&s->conflict, room + 1, sizeof *s->conflict) &&
      resize((void **)&s->clause, room + 1, sizeof *s->clause) && resize((void **)&s->stack, room, sizeof *s->stack) &&
      resize((void **)&s->cleanup, room, sizeof *s->cleanup) && iso_heap_reserve(&s->heap, room);
  if (!fits) return iso_fail_memory(error);
  s->var_room = room;
  return ISOPROOF_OK;
}

/* Makes a variable, for which there is room. */
static iso_lit make_var(iso_solver *s, uint32_t edge) {
  uint32_t var = s->vars++;
  iso_lit literal = 2 * var;
  s->value[literal] = s->value[literal + 1] = 0;
  s->watches[literal] = s->watches[literal + 1] = (iso_watches){NULL, 0, 0};
  s->var[var] = (iso_var_state){0, ISO_REASON_NONE, 0};
  s->phase[var] = 0;
  s->edge[var] = edge;
  s->seen[var] = 0;
  iso_heap_new(&s->heap, var);
  return literal;
}

isoproof_status iso_solver_var(iso_solver *s, iso_lit *literal, isoproof_error *error) {
  ISO_TRY(reserve_var(s, error));
  *literal = make_var(s, ISO_NONE);
  return ISOPROOF_OK;
}

isoproof_status iso_solver_edge(iso_solver *s, uint32_t from, uint32_t to, iso_lit *literal, isoproof_error *error) {
  uint32_t edge = iso_dag_find(&s->graph, from, to);
  if (edge != ISO_NONE) {
    *literal = s->graph.edges.items[edge].literal;
    return ISOPROOF_OK;
  }
  ISO_TRY(reserve_var(s, error));
  ISO_TRY(iso_dag_add_optional(&s->graph, from, to, 2 * s->vars, &edge, error));
  *literal = make_var(s, edge);
  if (from == to) iso_sat_assign(s, iso_lit_not(*literal), 0, ISO_REASON_NONE, 0);
  return ISOPROOF_OK;
}

static isoproof_status known_literal(const iso_solver *s, iso_lit literal, isoproof_error *error) {
  if (iso_lit_var(literal) < s->vars) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_INTERNAL, "a literal of variable %u: there are %u variables",
                  iso_lit_var(literal), s->vars);
}

/* Copies the literals to s->given, without those that are false anyway and without repetitions.  Returns false when the
 * clause is true anyway. */
static bool simplify(iso_solver *s, const iso_lit *literals, size_t count) {
  bool open = true;
  s->given.count = 0;
  for (size_t i = 0; i < count && open; i++) {
    iso_lit literal = literals[i];
    uint8_t *seen = &s->seen[iso_lit_var(literal)], bit = (uint8_t)(1u << (literal & 1));
    if (s->value[literal] > 0 || (*seen != 0 && *seen != bit)) open = false;
    if (s->value[literal] != 0 || *seen != 0) continue;
    *seen = bit;
    s->given.items[s->given.count++] = literal;
  }
  for (size_t i = 0; i < s->given.count; i++) s->seen[iso_lit_var(s->given.items[i])] = 0;
  return open;
}

isoproof_status iso_solver_clause(iso_solver *s, const iso_lit *literals, size_t count, isoproof_error *error) {
  uint32_t clause;
  for (size_t i = 0; i < count; i++) ISO_TRY(known_literal(s, literals[i], error));
  if (!iso_vec_reserve(&s->given, count)) return iso_fail_memory(error);
  if (s->unsatisfiable || !simplify(s, literals, count)) return ISOPROOF_OK;
  if (s->given.count == 0) {
    s->unsatisfiable = true;
  } else if (s->given.count == 1) {
    iso_sat_assign(s, s->given.items[0], 0, ISO_REASON_NONE, 0);
  } else {
    return iso_clause_store(s, s->given.items, (uint32_t)s->given.count, 0, &clause, error);
  }
  return ISOPROOF_OK;
}

void iso_solver_phase(iso_solver *s, iso_lit preferred) {
  if (iso_lit_var(preferred) < s->vars) s->phase[iso_lit_var(preferred)] = (preferred & 1) != 0 ? -1 : 1;
}

/* Everything that a search needs room for before it begins. */
static isoproof_status prepare(iso_solver *s, const iso_lit *assumptions, size_t count, isoproof_error *error) {
  for (size_t i = 0; i < count; i++) ISO_TRY(known_literal(s, assumptions[i], error));
  if (count >= ISO_SOLVER_MOST) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "%zu assumptions: expected fewer than %d", count, ISO_SOLVER_MOST);
  }
  s->assumptions.count = 0;
  if (!iso_vec_reserve(&s->assumptions, count)) return iso_fail_memory(error);
  if (count > 0) memcpy(s->assumptions.items, assumptions, count * sizeof *assumptions);
  s->assumptions.count = count;
  size_t levels = s->vars + count + 1;
  if (levels > s->level_room) {
    size_t room = levels + levels / 4;
    if (!resize((void **)&s->levels, room, sizeof *s->levels)) return iso_fail_memory(error);
    if (!resize((void **)&s->level_mark, room, sizeof *s->level_mark)) return iso_fail_memory(error);
    memset(s->level_mark, 0, room * sizeof *s->level_mark);
    s->level_room = room;
  }
  return ISOPROOF_OK;
}

isoproof_status iso_solver_solve(iso_solver *s, const iso_lit *assumptions, size_t count,
                                 const iso_solver_limits *limits, iso_solver_answer *answer, isoproof_error *error) {
  *answer = ISO_SOLVER_UNKNOWN;
  s->core.count = 0;
  s->stats.solves++;
  ISO_TRY(prepare(s, assumptions, count, error));
  if (!s->unsatisfiable) {
    bool acyclic;
    const isoproof_task *task = limits == NULL ? NULL : limits->task;
    ISO_TRY(iso_task_check(task, error));
    ISO_TRY(iso_dag_settle(&s->graph, task, &acyclic, error));
    s->unsatisfiable = !acyclic;
  }
  if (s->unsatisfiable) {
    *answer = ISO_SOLVER_UNSAT;
    return ISOPROOF_OK;
  }
  isoproof_status status = iso_sat_search(s, limits, answer, error);
  iso_sat_backtrack(s, 0);
  /* A failure may have left level 0 half propagated. */
  if (status != ISOPROOF_OK) s->clause_head = 0;
  return status;
}

bool iso_solver_value(const iso_solver *s, iso_lit literal) {
  bool truth = iso_lit_var(literal) < s->model_vars && s->model[iso_lit_var(literal)] > 0;
  return truth != ((literal & 1) != 0);
}

size_t iso_solver_core(const iso_solver *s, const iso_lit **core) {
  *core = s->core.items;
  return s->core.count;
}

const iso_solver_stats *iso_solver_statistics(const iso_solver *s) { return &s->stats; }
