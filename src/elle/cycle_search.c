/* The table of types of cycles, and the search for them component by component. */
#include "elle/cycle_search.h"

#include <string.h>

#include "elle/component.h"

#define NONE ISO_ANTI_NONE
#define ONE ISO_ANTI_ONE
#define NONADJACENT ISO_ANTI_NONADJACENT
#define MANY ISO_ANTI_MANY
#define NO 0

static const iso_cycle_spec specs[] = {
#define CYCLE(anomaly, dependencies, anti, anti_count, required)                                                       \
  {ISO_ANOMALY_##anomaly, dependencies, anti, anti_count, required},
#define EXISTS(anomaly, model, kinds, nonadjacent)
#define WORSE(a, b)
#include "elle/cycles.def"
#undef CYCLE
#undef EXISTS
#undef WORSE
};

static const struct existence {
  iso_anomaly anomaly;
  iso_level model;
  iso_dependency_set kinds;
  bool nonadjacent;
} existences[] = {
#define CYCLE(anomaly, dependencies, anti, anti_count, required)
#define EXISTS(anomaly, model, kinds, nonadjacent) {ISO_ANOMALY_##anomaly, ISO_LEVEL_##model, kinds, nonadjacent},
#define WORSE(a, b)
#include "elle/cycles.def"
#undef CYCLE
#undef EXISTS
#undef WORSE
};

static const struct worse {
  iso_anomaly a, b;
} worse[] = {
#define CYCLE(anomaly, dependencies, anti, anti_count, required)
#define EXISTS(anomaly, model, kinds, nonadjacent)
#define WORSE(a, b) {ISO_ANOMALY_##a, ISO_ANOMALY_##b},
#include "elle/cycles.def"
#undef CYCLE
#undef EXISTS
#undef WORSE
};

enum {
  SPECS = sizeof specs / sizeof specs[0],
  EXISTENCES = sizeof existences / sizeof existences[0],
  WORSES = sizeof worse / sizeof worse[0]
};

/* Which searches are superfluous once a type was found: covers[i] has a bit for each of specs. */
typedef struct coverage {
  uint32_t covers[SPECS];
} coverage;
_Static_assert(SPECS <= 32, "a set of specs is one word");

static bool leads(const bool reached[ISO_ANOMALY_COUNT], iso_anomaly to) {
  for (unsigned a = 0; a < ISO_ANOMALY_COUNT; a++) {
    if (reached[a] && iso_anomaly_is((iso_anomaly)a, to)) return true;
  }
  return false;
}

/* Everything that counts as less severe than `from`, itself included. */
static void reach(iso_anomaly from, bool reached[ISO_ANOMALY_COUNT]) {
  memset(reached, 0, ISO_ANOMALY_COUNT * sizeof reached[0]);
  reached[from] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned i = 0; i < WORSES; i++) {
      if (reached[worse[i].b] || !leads(reached, worse[i].a)) continue;
      reached[worse[i].b] = changed = true;
    }
  }
}

static void make_coverage(coverage *c) {
  bool reached[ISO_ANOMALY_COUNT];
  for (unsigned i = 0; i < SPECS; i++) {
    c->covers[i] = 0;
    reach(specs[i].anomaly, reached);
    for (unsigned k = 0; k < SPECS; k++) {
      if (leads(reached, specs[k].anomaly)) c->covers[i] |= (uint32_t)1 << k;
    }
  }
}

typedef struct search {
  const iso_dependency_graph *graph;
  isoproof_task *task;
  iso_dependency_cycles *cycles;
  iso_component component;
  coverage coverage;
  iso_dependency_set present; /* kinds that occur in the graph */
  uint64_t budget;
  bool out_of_time;
} search;

static isoproof_status note(search *s, iso_anomaly anomaly, isoproof_error *error) {
  iso_dependency_cycles *out = s->cycles;
  const iso_component *c = &s->component;
  if (out->count[anomaly]++ > 0 && !out->all) {
    /* The shortest of all components is shown. */
    for (size_t i = 0; i < out->cycles.count; i++) {
      iso_dependency_cycle *old = &out->cycles.items[i];
      if (old->anomaly != anomaly || old->length <= c->found.count) continue;
      memcpy(out->steps.items + old->first, c->found.items, c->found.count * sizeof *c->found.items);
      old->length = (uint32_t)c->found.count;
    }
    return ISOPROOF_OK;
  }
  iso_dependency_cycle cycle = {anomaly, (uint32_t)out->steps.count, (uint32_t)c->found.count};
  if (!iso_vec_push(&out->cycles, cycle) || !iso_vec_reserve(&out->steps, c->found.count))
    return iso_fail_memory(error);
  memcpy(out->steps.items + out->steps.count, c->found.items, c->found.count * sizeof *c->found.items);
  out->steps.count += c->found.count;
  return ISOPROOF_OK;
}

/* Running out of time ends the search for short cycles, not the check. */
static isoproof_status excuse(search *s, isoproof_status status) {
  if (status != ISOPROOF_ERR_TIMEOUT) return status;
  s->out_of_time = s->cycles->gave_up = true;
  s->cycles->reason = "the time limit was reached while searching for short cycles";
  return ISOPROOF_OK;
}

/* Whether cycles by order of sessions or by real time would rule out nothing that cycles of data do not. */
static bool is_idle(const iso_cycle_spec *spec, iso_level_set ruled_out) {
  bool timed = (spec->required & ISO_DEPENDENCY_ORDERS) != 0;
  return timed && (iso_anomaly_rules_out(spec->anomaly) & ~ruled_out) == 0;
}

static isoproof_status search_component(search *s, isoproof_error *error) {
  uint32_t covered = 0;
  iso_level_set ruled_out = 0;
  for (unsigned i = 0; i < SPECS && !s->out_of_time; i++) {
    if ((covered & ((uint32_t)1 << i)) != 0) continue;
    bool possible = (specs[i].anti == 0 || (s->present & specs[i].anti) != 0) &&
                    (specs[i].required == 0 || (s->present & specs[i].required) != 0);
    if (!possible || is_idle(&specs[i], ruled_out)) continue;
    bool gave_up = false;
    s->component.budget = s->budget;
    ISO_TRY(excuse(s, iso_component_cycle(&s->component, &specs[i], s->task, &gave_up, error)));
    if (gave_up) {
      s->cycles->gave_up = true;
      s->cycles->reason = "a component of the dependency graph is too large to search for every type of cycle";
    }
    if (s->component.found.count == 0 || s->out_of_time) continue;
    ISO_TRY(note(s, specs[i].anomaly, error));
    covered |= s->coverage.covers[i];
    ruled_out |= iso_anomaly_rules_out(specs[i].anomaly);
  }
  return ISOPROOF_OK;
}

/* What the models that are still possible forbid, whether or not a cycle with a name was found. */
static isoproof_status search_existence(search *s, iso_level_set *ruled_out, isoproof_error *error) {
  for (unsigned i = 0; i < EXISTENCES; i++) {
    const struct existence *x = &existences[i];
    if ((*ruled_out & ISO_LEVEL_BIT(x->model)) != 0) continue;
    iso_dependency_set order = x->kinds & ISO_DEPENDENCY_ORDERS;
    if (order != 0 && (s->present & order) == 0) continue;
    /* Time is up, but a verdict is owed: this takes linear time. */
    ISO_TRY(iso_component_exists(&s->component, x->kinds, x->nonadjacent, s->out_of_time ? NULL : s->task, error));
    if (s->component.found.count == 0) continue;
    ISO_TRY(note(s, x->anomaly, error));
    *ruled_out |= iso_anomaly_rules_out(x->anomaly);
  }
  return ISOPROOF_OK;
}

static iso_level_set ruled_out_by(const iso_dependency_cycles *cycles) {
  iso_level_set set = 0;
  for (unsigned a = 0; a < ISO_ANOMALY_COUNT; a++) {
    if (cycles->count[a] > 0) set |= iso_anomaly_rules_out((iso_anomaly)a);
  }
  return set;
}

/* Both passes over all components; the second only asks for what the first, all of it, does not imply. */
static isoproof_status search_all(search *s, const iso_components *components, iso_level_set ruled_out,
                                  isoproof_error *error) {
  iso_component_rows rows;
  isoproof_status status = iso_component_rows_make(components, s->graph->nodes, &rows, error);
  for (int pass = 0; pass < 2 && status == ISOPROOF_OK; pass++) {
    ruled_out |= ruled_out_by(s->cycles);
    for (uint32_t i = 0; i < components->count && status == ISOPROOF_OK; i++) {
      const uint32_t *member = rows.node + rows.first[i];
      if (pass == 0 && s->out_of_time) break;
      status = iso_component_load(&s->component, components->of, member, rows.first[i + 1] - rows.first[i], error);
      if (status != ISOPROOF_OK || s->component.txns < 2) continue;
      if (pass == 0) s->cycles->components++;
      status = pass == 0 ? search_component(s, error) : search_existence(s, &ruled_out, error);
    }
  }
  iso_component_rows_free(&rows);
  return status;
}

isoproof_status iso_dependency_cycles_find(const iso_dependency_graph *graph, iso_level_set ruled_out, uint64_t budget,
                                           isoproof_task *task, iso_dependency_cycles *cycles, isoproof_error *error) {
  enum { USUAL_BUDGET = 4000000 };
  search s = {.graph = graph, .task = task, .cycles = cycles, .budget = budget != 0 ? budget : USUAL_BUDGET};
  iso_components components = {.of = iso_alloc(graph->nodes, sizeof *components.of)};
  if (components.of == NULL) return iso_fail_memory(error);
  iso_task_progress(task, "searching cycles", "transactions", 0, graph->txns);
  isoproof_status status = iso_components_of_rows(graph->first, graph->to, graph->nodes, task, &components, error);
  if (status == ISOPROOF_OK && components.count > 0) {
    for (uint32_t e = 0; e < graph->first[graph->nodes]; e++) s.present |= graph->kind[e];
    make_coverage(&s.coverage);
    status = iso_component_init(&s.component, graph, error);
    if (status == ISOPROOF_OK) status = search_all(&s, &components, ruled_out, error);
    iso_component_free(&s.component);
  }
  free(components.of);
  return status;
}

void iso_dependency_cycles_free(iso_dependency_cycles *cycles) {
  iso_vec_free(&cycles->cycles);
  iso_vec_free(&cycles->steps);
}
