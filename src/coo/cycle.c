/* cycle.c - the chordless cycles of a POP graph: those that cannot be made shorter.
 *
 * A cycle of transactions that has a chord contains a shorter cycle; so the cycles that theorem 3.11 leaves are those
 * without chords.  They are found by a search along paths without chords, from the least transaction of each cycle.
 * There may be exponentially many: cycles and work are capped.
 */
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "coo/names.h"
#include "coo/pop.h"

/* What a hostile schedule may cost. */
enum { CYCLES_MOST = 256, WORK_MOST = 2000000 };

typedef struct search {
  isoproof_pop_graph *graph;
  uint64_t before[ISOPROOF_SCHEDULE_TXNS]; /* bit i of before[j]: some POP leads from i to j */
  uint32_t path[ISOPROOF_SCHEDULE_TXNS];
  uint64_t left[ISOPROOF_SCHEDULE_TXNS]; /* successors still to try, by depth */
  uint64_t on_path;
  uint32_t depth;
  uint32_t work;
} search;

/* ---- from POPs to a cycle ---- */

static bool same_pop(const isoproof_pop *a, const isoproof_pop *b) {
  return a->kind == b->kind && a->from == b->from && a->to == b->to && a->object == b->object;
}

/* Whether a cycle is there already, but for which of several like steps its POPs stand on. */
static bool is_known(const isoproof_pop_graph *graph, const isoproof_pop *pops, uint32_t length) {
  for (size_t c = 0; c < graph->cycles.count; c++) {
    const iso_cycle *known = &graph->cycles.items[c];
    uint32_t same = 0;
    while (known->length == length && same < length &&
           same_pop(&graph->members.items[known->first + same], &pops[same])) {
      same++;
    }
    if (same == length) return true;
  }
  return false;
}

/* Keeps a cycle whose POPs are in their final order; false when memory is out. */
static bool keep(isoproof_pop_graph *graph, const isoproof_pop *pops, uint32_t length) {
  iso_cycle cycle = {.first = (uint32_t)graph->members.count, .length = length};
  if (is_known(graph, pops, length)) return true;
  if (graph->cycles.count >= CYCLES_MOST) {
    graph->more = true;
    return true;
  }
  for (uint32_t i = 0; i < length; i++) {
    uint32_t closed = iso_pop_closed(&pops[i]);
    if (closed > cycle.closed) cycle.closed = closed;
    cycle.state = cycle.state || iso_pop_is_end(pops[i].kind);
    if (!iso_vec_push(&graph->members, pops[i])) return false;
  }
  return iso_vec_push(&graph->cycles, cycle);
}

/* Turns the cycle so that it begins with the POP that closes first. */
static bool keep_turned(isoproof_pop_graph *graph, const isoproof_pop *pops, uint32_t length) {
  isoproof_pop turned[ISOPROOF_SCHEDULE_TXNS];
  uint32_t first = 0;
  for (uint32_t i = 1; i < length; i++) {
    if (iso_pop_closed(&pops[i]) < iso_pop_closed(&pops[first])) first = i;
  }
  for (uint32_t i = 0; i < length; i++) turned[i] = pops[(first + i) % length];
  return keep(graph, turned, length);
}

/* ---- two transactions ---- */

/* Whether an end leads back from what the POP did: RA from a dirty read, WC and WA from a dirty overwrite. */
static bool is_back(const isoproof_pop *pop, const isoproof_pop *end) {
  return end->kind == ISOPROOF_POP_RA ? pop->kind == ISOPROOF_POP_WR : pop->kind == ISOPROOF_POP_WW;
}

/* Cycles of one object have a step in the middle that both POPs share; every other form of one contains such a form.
 * `starts` tells the POPs that begin at a step: places in `order`. */
static bool keep_single(search *s, const uint32_t *order, const uint32_t *starts) {
  isoproof_pop_graph *graph = s->graph;
  for (size_t i = 0; i < graph->pops.count && !graph->more; i++) {
    isoproof_pop two[2] = {graph->pops.items[i]};
    if (iso_pop_is_end(two[0].kind)) continue;
    for (uint32_t k = starts[two[0].to_step]; k < starts[two[0].to_step + 1]; k++) {
      two[1] = graph->pops.items[order[k]];
      if (++s->work > WORK_MOST) graph->more = true;
      if (two[1].to != two[0].from || (iso_pop_is_end(two[1].kind) && !is_back(&two[0], &two[1]))) continue;
      if (!keep(graph, two, 2)) return false;
    }
  }
  return true;
}

/* Sorts the POPs by the step that they begin at, and keeps the cycles of one object. */
static bool find_single(search *s) {
  const isoproof_pop_graph *graph = s->graph;
  uint32_t starts[ISOPROOF_SCHEDULE_STEPS + 1] = {0}, at[ISOPROOF_SCHEDULE_STEPS];
  uint32_t *order = iso_alloc(graph->pops.count, sizeof *order);
  if (order == NULL) return false;
  for (size_t i = 0; i < graph->pops.count; i++) starts[graph->pops.items[i].from_step + 1]++;
  for (size_t i = 0; i < ISOPROOF_SCHEDULE_STEPS; i++) {
    starts[i + 1] += starts[i];
    at[i] = starts[i];
  }
  for (uint32_t i = 0; i < graph->pops.count; i++) order[at[graph->pops.items[i].from_step]++] = i;
  bool kept = keep_single(s, order, starts);
  free(order);
  return kept;
}

/* The POPs from one transaction to another, one of each sort: a range of `distinct`. */
static uint32_t choices(const isoproof_pop_graph *graph, uint32_t from, uint32_t to, uint32_t *end) {
  uint32_t group = from * ISOPROOF_SCHEDULE_TXNS + to;
  *end = graph->group[group + 1];
  return graph->group[group];
}

static const isoproof_pop *choice(const isoproof_pop_graph *graph, uint32_t place) {
  return &graph->pops.items[graph->distinct.items[place]];
}

/* Cycles of two transactions and two objects. */
static bool find_double(isoproof_pop_graph *graph, uint32_t a, uint32_t b) {
  uint32_t there_end, back_end;
  uint32_t there_begin = choices(graph, a, b, &there_end), back_begin = choices(graph, b, a, &back_end);
  for (uint32_t there = there_begin; there < there_end; there++) {
    for (uint32_t back = back_begin; back < back_end && !graph->more; back++) {
      isoproof_pop two[2] = {*choice(graph, there), *choice(graph, back)};
      if (two[0].object != two[1].object && !keep_turned(graph, two, 2)) return false;
    }
  }
  return true;
}

/* ---- longer cycles ---- */

/* Every choice of POPs along a cycle of transactions, like the digits of a number. */
static bool keep_choices(isoproof_pop_graph *graph, const uint32_t *path, uint32_t length) {
  uint32_t digit[ISOPROOF_SCHEDULE_TXNS], begin[ISOPROOF_SCHEDULE_TXNS], end[ISOPROOF_SCHEDULE_TXNS];
  isoproof_pop pops[ISOPROOF_SCHEDULE_TXNS];
  for (uint32_t i = 0; i < length; i++) {
    begin[i] = digit[i] = choices(graph, path[i], path[(i + 1) % length], &end[i]);
  }
  while (!graph->more) {
    for (uint32_t i = 0; i < length; i++) pops[i] = *choice(graph, digit[i]);
    if (!keep_turned(graph, pops, length)) return false;
    uint32_t place = length;
    while (place > 0 && ++digit[place - 1] == end[place - 1]) {
      digit[place - 1] = begin[place - 1];
      place--;
    }
    if (place == 0) return true;
  }
  return true;
}

/* Whether `txn` can follow the path: it is above the first one, and has no POP with a transaction of the path other
 * than from its last, and perhaps to its first. */
static bool fits(const search *s, uint32_t txn) {
  uint64_t first = UINT64_C(1) << s->path[0], last = UINT64_C(1) << s->path[s->depth];
  if (txn <= s->path[0] || (s->on_path >> txn & 1) != 0) return false;
  uint64_t from_path = s->before[txn] & s->on_path & ~last;
  uint64_t to_path = s->graph->next[txn] & s->on_path & ~first;
  return from_path == 0 && to_path == 0;
}

/* Takes the next step of the search from the end of the path; false when memory is out. */
static bool advance(search *s) {
  uint64_t *left = &s->left[s->depth];
  if (*left == 0) {
    s->on_path &= ~(UINT64_C(1) << s->path[s->depth]);
    if (s->depth > 0) s->depth--;
    return true;
  }
  uint32_t txn = (uint32_t)__builtin_ctzll(*left);
  *left &= *left - 1;
  if (!fits(s, txn)) return true;
  s->path[s->depth + 1] = txn;
  bool closes = (s->graph->next[txn] >> s->path[0] & 1) != 0;
  if (closes && s->depth == 0) return true; /* two transactions: their POPs were paired before */
  if (closes) return keep_choices(s->graph, s->path, s->depth + 2);
  s->depth++;
  s->on_path |= UINT64_C(1) << txn;
  s->left[s->depth] = s->graph->next[txn];
  return true;
}

static bool search_from(search *s, uint32_t start) {
  s->path[0] = start;
  s->depth = 0;
  s->on_path = UINT64_C(1) << start;
  s->left[0] = s->graph->next[start];
  while (s->on_path != 0 && !s->graph->more) {
    if (++s->work > WORK_MOST) s->graph->more = true;
    if (!advance(s)) return false;
  }
  return true;
}

/* ---- order ---- */

static uint32_t count_objects(const isoproof_pop_graph *graph, const iso_cycle *cycle) {
  uint64_t seen = 0;
  for (uint32_t i = 0; i < cycle->length; i++) seen |= UINT64_C(1) << graph->members.items[cycle->first + i].object;
  return (uint32_t)__builtin_popcountll(seen);
}

static int compare(const void *a, const void *b, void *context) {
  const iso_cycle *x = a, *y = b;
  const isoproof_pop_graph *graph = context;
  if (x->state != y->state) return x->state ? 1 : -1;
  if (x->length != y->length) return x->length < y->length ? -1 : 1;
  uint32_t x_objects = count_objects(graph, x), y_objects = count_objects(graph, y);
  if (x_objects != y_objects) return x_objects < y_objects ? -1 : 1;
  if (x->closed != y->closed) return x->closed < y->closed ? -1 : 1;
  return x->first < y->first ? -1 : x->first > y->first;
}

isoproof_status iso_cycles_find(isoproof_pop_graph *graph, isoproof_error *error) {
  search s = {.graph = graph};
  uint32_t txns = graph->schedule->txn_count;
  for (uint32_t i = 0; i < txns; i++) {
    for (uint32_t k = 0; k < txns; k++) s.before[k] |= (graph->next[i] >> k & 1) << i;
  }
  if (!find_single(&s)) return iso_fail_memory(error);
  for (uint32_t start = 0; start < txns; start++) {
    for (uint32_t other = start + 1; other < txns; other++) {
      if (!find_double(graph, start, other)) return iso_fail_memory(error);
    }
    if (!search_from(&s, start)) return iso_fail_memory(error);
  }
  if (graph->cycles.count > 0) {
    qsort_r(graph->cycles.items, graph->cycles.count, sizeof *graph->cycles.items, compare, graph);
  }
  return ISOPROOF_OK;
}

bool isoproof_pop_graph_cycle_at(const isoproof_pop_graph *graph, size_t number, isoproof_pop_cycle *out) {
  if (number >= graph->cycles.count) return false;
  const iso_cycle *cycle = &graph->cycles.items[number];
  const isoproof_schedule *schedule = graph->schedule;
  isoproof_pop_kind kinds[ISOPROOF_SCHEDULE_TXNS];
  isoproof_pop_cycle made = {.struct_size = sizeof made};
  made.pops = &graph->members.items[cycle->first];
  made.length = cycle->length;
  made.object_count = count_objects(graph, cycle);
  made.committed = true;
  for (uint32_t i = 0; i < cycle->length; i++) {
    uint32_t end = schedule->end[made.pops[i].from];
    kinds[i] = made.pops[i].kind;
    if (end == ISO_NO_STEP || schedule->steps[end].kind != ISOPROOF_STEP_COMMIT) made.committed = false;
  }
  made.kind = iso_coo_class(kinds, cycle->length);
  made.size = iso_coo_size(cycle->length, made.object_count);
  made.number = iso_coo_name(kinds, cycle->length, made.object_count, &made.name);
  return ISO_STRUCT_GIVE(out, made);
}
