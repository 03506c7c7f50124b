/* Cycles of SO, WR and the WW of lists, by the strongly connected components of each set of kinds. */
#include "check/axioms/known_cycles.h"

#include <stdlib.h>
#include <string.h>

#include "graph/components.h"

/* The components of the graph of every set of kinds. */
typedef struct {
  const iso_view *v;
  const iso_edges *edges;
  const uint32_t *known; /* components of all kinds */
  uint32_t *members;     /* the transactions on cycles of all kinds */
  uint32_t count;
  unsigned kinds; /* of the graph at hand */
  const uint32_t *of[ISO_EDGES_KNOWN + 1];
  uint32_t *made[ISO_EDGES_KNOWN + 1]; /* those of `of` that must be freed */
} graphs;

static uint32_t next_inside(const void *graph, uint32_t txn, uint64_t *cursor) {
  const graphs *g = graph;
  uint32_t at = (uint32_t)*cursor, inside = UINT32_MAX;
  iso_predecessor edge;
  while (inside == UINT32_MAX && iso_next_of_kinds(g->v, g->edges, g->kinds, txn, &at, &edge)) {
    if (g->known[edge.from] == g->known[txn]) inside = edge.from;
  }
  *cursor = at;
  return inside;
}

static isoproof_status make_graph(graphs *g, unsigned kinds, isoproof_error *error) {
  iso_components out = {.of = iso_alloc(g->v->h->txns, sizeof *out.of)};
  g->of[kinds] = g->made[kinds] = out.of;
  g->kinds = kinds;
  if (out.of == NULL) return iso_fail_memory(error);
  const iso_neighbours inside = {g, next_inside};
  return iso_components_of_members(&inside, g->v->h->txns, g->members, g->count, NULL, &out, error);
}

static bool is_inside(const graphs *g, unsigned kinds, uint32_t from, uint32_t to) {
  return g->of[kinds] != NULL && g->of[kinds][to] != ISO_NO_TXN && g->of[kinds][from] == g->of[kinds][to];
}

/* Whether every cycle through the edge that keeps to these kinds has all of them, and there is one. */
static bool needs_all(const graphs *g, unsigned kinds, const iso_predecessor *edge, uint32_t to) {
  if (!is_inside(g, kinds, edge->from, to)) return false;
  for (unsigned fewer = 1; fewer < kinds; fewer++) {
    bool part = (fewer & ~kinds) == 0 && (fewer & ISO_EDGE_BIT(edge->kind)) != 0;
    if (part && is_inside(g, fewer, edge->from, to)) return false;
  }
  return true;
}

static bool report_pattern(const graphs *g, iso_tap tap, iso_findings *findings) {
  iso_edge_set kinds = iso_tap_of(tap)->edges;
  uint8_t *reported = iso_alloc_zero(g->count, 1);
  for (uint32_t i = 0; reported != NULL && i < g->count; i++) {
    uint32_t txn = g->members[i], number = g->of[kinds][txn], at = 0;
    iso_predecessor edge;
    if (number == ISO_NO_TXN) continue;
    while (!reported[number] && iso_next_of_kinds(g->v, g->edges, kinds, txn, &at, &edge)) {
      if (!needs_all(g, kinds, &edge, txn)) continue;
      reported[number] = 1;
      iso_findings_add(findings, (iso_finding){(uint32_t)tap, g->v->h->txn_first_op[txn], txn, 0, 0});
    }
  }
  free(reported);
  return reported != NULL;
}

static isoproof_status report_patterns(graphs *g, iso_findings *findings, isoproof_error *error) {
  static const unsigned kinds[] = {ISO_EDGE_BIT(ISO_EDGE_WR), ISO_EDGE_BIT(ISO_EDGE_WW),
                                   ISO_EDGE_BIT(ISO_EDGE_WW) | ISO_EDGE_BIT(ISO_EDGE_SO),
                                   ISO_EDGE_BIT(ISO_EDGE_WW) | ISO_EDGE_BIT(ISO_EDGE_WR)};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) ISO_TRY(make_graph(g, kinds[i], error));
  for (int i = 0; i < ISO_TAPS; i++) {
    const iso_tap_info *tap = iso_tap_of((iso_tap)i);
    if (tap->class != ISO_CLASS_CYCLE || iso_tap_is_causal((iso_tap)i)) continue;
    if (!report_pattern(g, (iso_tap)i, findings)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

/* TAP-g: components are numbered as they close; the first member met stands for its component. */
static void report_causal(const iso_view *v, const iso_order *co, iso_findings *findings) {
  uint32_t next = 0;
  for (uint32_t i = co->count; i < v->taking_part && co->component != NULL; i++) {
    uint32_t txn = co->sequence[i];
    if (co->component[txn] != next) continue;
    next++;
    iso_findings_add(findings, (iso_finding){ISO_TAP_G, v->h->txn_first_op[txn], txn, 0, 0});
  }
}

isoproof_status iso_known_cycles_report(const iso_view *view, const iso_edges *edges, const iso_order *co,
                                        const iso_order *known, iso_findings *findings, isoproof_error *error) {
  report_causal(view, co, findings);
  if (edges->known == NULL || edges->known->ww_first == NULL || known->component == NULL) return ISOPROOF_OK;
  graphs g = {.v = view, .edges = edges, .known = known->component};
  g.of[ISO_EDGES_CO] = co->component;
  g.of[ISO_EDGES_KNOWN] = known->component;
  g.members = iso_alloc(view->taking_part - known->count, sizeof *g.members);
  isoproof_status status = g.members != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK) {
    for (uint32_t txn = 0; txn < view->h->txns; txn++) {
      if (known->component[txn] != ISO_NO_TXN) g.members[g.count++] = txn;
    }
    status = report_patterns(&g, findings, error);
  }
  free(g.members);
  for (unsigned kinds = 0; kinds <= ISO_EDGES_KNOWN; kinds++) free(g.made[kinds]);
  return status;
}
