/* Mending a sequence of begins and commits: part after part where parts are made for a question, else all at once. */
#include "parts/mend.h"

#include <stdlib.h>

#include "base/pages.h"

/* ENOUGH: reads and writers of one part that are put right at a time.  ROUNDS: of one part, or of all together.
 * PASSES: over all parts, one after the other, the last of which must find nothing.  FLIPS: choices that are taken
 * back. */
enum { ENOUGH = 20000, ROUNDS = 48, PASSES = 6, FLIPS = 1000 };

typedef struct {
  iso_coordinator *c;
  iso_event_graph events;
  iso_sequence sequence;
  iso_requirements broken;
  ISO_VEC(iso_event_edge)
  other; /* by derived edge: the one that would have done as well; of an event to itself: none */
  uint32_t flips;
  bool gave_up;
} mending;

static bool has(const iso_sequence *s, const iso_event_edge *edge) { return s->place[edge->from] < s->place[edge->to]; }

/* The edges of a requirement; none where the sequence has one of them already. */
static size_t edges_of(const mending *m, size_t number, const iso_event_edge **edges) {
  const iso_requirements *q = &m->broken;
  size_t first = q->first.items[number];
  size_t end = number + 1 < q->first.count ? q->first.items[number + 1] : q->edges.count;
  *edges = q->edges.items + first;
  for (size_t i = first; i < end; i++) {
    if (has(&m->sequence, &q->edges.items[i])) return 0;
  }
  return end - first;
}

/* Which of them moves the least. */
static size_t least(const iso_sequence *s, const iso_event_edge *edges, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; i++) {
    uint32_t effort = s->place[edges[i].from] - s->place[edges[i].to];
    if (effort < s->place[edges[best].from] - s->place[edges[best].to]) best = i;
  }
  return best;
}

static isoproof_status add_edge(mending *m, iso_event_edge edge, iso_event_edge other, isoproof_error *error) {
  iso_derived added = {.from = edge.from, .to = edge.to, .reason = ISO_LIST, .round = 1};
  if (!iso_vec_push(&m->other, other)) return iso_fail_memory(error);
  return iso_event_graph_add(&m->events, added, error);
}

/* Adds one of the edges of a requirement. */
static isoproof_status add(mending *m, const iso_event_edge *edges, size_t count, size_t which, isoproof_error *error) {
  iso_event_edge other = count == 2 ? edges[1 - which] : (iso_event_edge){0, 0};
  return add_edge(m, edges[which], other, error);
}

static void drop(mending *m, uint32_t first) {
  iso_event_graph_drop(&m->events, first);
  m->other.count = first;
}

/* Moves events for the edges from number `first` on; *good is false where they make a cycle, and are taken back. */
static isoproof_status move(mending *m, uint32_t first, bool *good, isoproof_error *error) {
  bool cyclic = false;
  ISO_TRY(iso_sequence_repair(&m->events, first, &m->sequence, NULL, &cyclic, m->c->task, error));
  if (cyclic) drop(m, first);
  *good = !cyclic;
  return ISOPROOF_OK;
}

/* Adds the edges of all requirements that have one only, or the nearest of each of the others. */
static isoproof_status add_all(mending *m, bool single, isoproof_error *error) {
  for (size_t i = 0; i < m->broken.first.count; i++) {
    const iso_event_edge *edges;
    size_t count = edges_of(m, i, &edges);
    if (count == 0 || single != (count == 1)) continue;
    ISO_TRY(add(m, edges, count, least(&m->sequence, edges, count), error));
  }
  return ISOPROOF_OK;
}

typedef struct {
  uint32_t effort;
  uint32_t number; /* of the requirement */
} turn;

static int by_effort(const void *a, const void *b) {
  const turn *x = a, *y = b;
  if (x->effort != y->effort) return x->effort < y->effort ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

/* The requirements that are broken, those first that move the least. */
static uint32_t sort_turns(const mending *m, turn *turns) {
  uint32_t count = 0;
  for (size_t i = 0; i < m->broken.first.count; i++) {
    const iso_event_edge *edges;
    size_t open = edges_of(m, i, &edges);
    if (open == 0) continue;
    const iso_event_edge *edge = &edges[least(&m->sequence, edges, open)];
    turns[count++] = (turn){m->sequence.place[edge->from] - m->sequence.place[edge->to], (uint32_t)i};
  }
  qsort(turns, count, sizeof *turns, by_effort);
  return count;
}

/* Adds the nearest edges of some requirements, all or none of them. */
static isoproof_status add_some(mending *m, const turn *turns, uint32_t count, bool *good, bool *added,
                                isoproof_error *error) {
  uint32_t first = (uint32_t)m->events.derived.count;
  for (uint32_t i = 0; i < count; i++) {
    const iso_event_edge *edges;
    size_t open = edges_of(m, turns[i].number, &edges);
    if (open > 0) ISO_TRY(add(m, edges, open, least(&m->sequence, edges, open), error));
  }
  *good = true;
  if (m->events.derived.count == first) return ISOPROOF_OK;
  ISO_TRY(move(m, first, good, error));
  *added = *added || *good;
  return ISOPROOF_OK;
}

/* As many requirements at a time as make no cycle.  One that makes one by itself waits for the next round, when others
 * may have moved what is in its way. */
static isoproof_status add_by_turns(mending *m, const turn *turns, uint32_t count, bool *added, isoproof_error *error) {
  uint32_t at_once = count / 2 + 1;
  for (uint32_t i = 0; i < count;) {
    bool good;
    if (at_once > count - i) at_once = count - i;
    ISO_TRY(add_some(m, turns + i, at_once, &good, added, error));
    if (good || at_once == 1) i += at_once;
    at_once = good ? 2 * at_once : at_once / 2 > 0 ? at_once / 2 : 1;
  }
  return ISOPROOF_OK;
}

/* ---- choices that are taken back ---- */

typedef ISO_VEC(uint32_t) numbers;

/* The derived edge that leads from one event to another, + 1; 0 where the history has it. */
static uint32_t derived_edge(const iso_event_graph *e, uint32_t from, uint32_t to) {
  uint32_t edge = e->in[to];
  while (edge > 0 && e->derived.items[edge - 1].from != from) edge = e->derived.items[edge - 1].next_in;
  return edge;
}

/* What stands between the end of an edge and its beginning: the sequence has both the other way round, and everything
 * on a path between them lies between them.  next[place - first] becomes the event that a path goes on to, + 1. */
static bool find_path(const mending *m, iso_event_edge edge, uint32_t *next) {
  const iso_sequence *s = &m->sequence;
  uint32_t first = s->place[edge.to];
  numbers open = {.items = NULL};
  bool made = iso_vec_push(&open, edge.from);
  while (made && open.count > 0 && next[0] == 0) {
    uint32_t event = open.items[--open.count], before;
    uint64_t at = 0;
    while (made && (before = iso_next_before(&m->events, event, &at)) != ISO_NO_EVENT) {
      if (s->place[before] < first || next[s->place[before] - first] > 0) continue;
      next[s->place[before] - first] = event + 1;
      made = iso_vec_push(&open, before);
    }
  }
  iso_vec_free(&open);
  return made;
}

/* The choice on a path against an edge whose other edge moves the least; ISO_NO_EVENT where there is none. */
static uint32_t doubtful(const mending *m, iso_event_edge edge, const uint32_t *next) {
  const iso_sequence *s = &m->sequence;
  uint32_t first = s->place[edge.to], best = ISO_NO_EVENT, least_effort = UINT32_MAX;
  for (uint32_t event = edge.to; event != edge.from && next[s->place[event] - first] > 0;) {
    uint32_t after = next[s->place[event] - first] - 1, number = derived_edge(&m->events, event, after);
    event = after;
    if (number == 0) continue;
    iso_event_edge other = m->other.items[number - 1];
    if (other.from == other.to) continue;
    uint32_t effort = has(s, &other) ? 0 : s->place[other.from] - s->place[other.to];
    if (effort < least_effort) best = number - 1;
    if (effort < least_effort) least_effort = effort;
  }
  return best;
}

/* Takes a choice back for its other edge, which is kept then, and adds an edge that it was in the way of. */
static isoproof_status take_back(mending *m, uint32_t number, iso_event_edge edge, iso_event_edge its_other, bool *good,
                                 isoproof_error *error) {
  uint32_t count = (uint32_t)m->events.derived.count;
  iso_event_edge taken = {m->events.derived.items[number].from, m->events.derived.items[number].to};
  iso_event_edge instead = m->other.items[number], *kept = iso_alloc(2 * (size_t)count, sizeof *kept);
  if (kept == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < count; i++) {
    kept[2 * i] = (iso_event_edge){m->events.derived.items[i].from, m->events.derived.items[i].to};
    kept[2 * i + 1] = m->other.items[i];
  }
  drop(m, number);
  isoproof_status status = ISOPROOF_OK;
  for (uint32_t i = number + 1; i < count && status == ISOPROOF_OK; i++)
    status = add_edge(m, kept[2 * i], kept[2 * i + 1], error);
  free(kept);
  uint32_t first = count - 1;
  if (status == ISOPROOF_OK) status = add_edge(m, instead, (iso_event_edge){0, 0}, error);
  if (status == ISOPROOF_OK) status = add_edge(m, edge, its_other, error);
  if (status == ISOPROOF_OK) status = move(m, first, good, error);
  /* The sequence is as it was, and had the choice; it is not doubted again. */
  if (status == ISOPROOF_OK && !*good) status = add_edge(m, taken, (iso_event_edge){0, 0}, error);
  return status;
}

/* Finds out which choice is in the way of a requirement, and takes it back. */
static isoproof_status flip(mending *m, uint32_t number, bool *good, isoproof_error *error) {
  const iso_event_edge *edges;
  size_t open = edges_of(m, number, &edges);
  *good = open == 0;
  while (!*good && m->flips++ < FLIPS) {
    size_t which = least(&m->sequence, edges, open);
    iso_event_edge edge = edges[which], other = open == 2 ? edges[1 - which] : (iso_event_edge){0, 0};
    uint32_t width = m->sequence.place[edge.from] - m->sequence.place[edge.to] + 1;
    uint32_t *next = iso_alloc_zero(width, sizeof *next);
    if (next == NULL || !find_path(m, edge, next)) {
      free(next);
      return iso_fail_memory(error);
    }
    uint32_t choice = doubtful(m, edge, next);
    free(next);
    if (choice == ISO_NO_EVENT) return ISOPROOF_OK;
    ISO_TRY(take_back(m, choice, edge, other, good, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status add_carefully(mending *m, isoproof_error *error) {
  turn *turns = iso_alloc(m->broken.first.count, sizeof *turns);
  bool added = false;
  if (turns == NULL) return iso_fail_memory(error);
  uint32_t count = sort_turns(m, turns);
  isoproof_status status = add_by_turns(m, turns, count, &added, error);
  if (status == ISOPROOF_OK && !added && count > 0) status = flip(m, turns[0].number, &added, error);
  m->gave_up = !added;
  free(turns);
  return status;
}

/* Puts right what the parts named: first what must be, and what may be once the rest fits that. */
static isoproof_status mend(mending *m, isoproof_error *error) {
  uint32_t first = (uint32_t)m->events.derived.count;
  bool good = true;
  ISO_TRY(add_all(m, true, error));
  bool sure = m->events.derived.count > first;
  if (!sure) ISO_TRY(add_all(m, false, error));
  if (m->events.derived.count > first) {
    ISO_TRY(move(m, first, &good, error));
  } else {
    m->gave_up = true;
  }
  if (!good) ISO_TRY(add_carefully(m, error));
  iso_requirements_free(&m->broken);
  return ISOPROOF_OK;
}

/* Has one part carry the sequence out (`only` its number, + 1), or all of them (0). */
static isoproof_status carry_out(mending *m, uint32_t only, bool facts, uint64_t *broken, isoproof_error *error) {
  iso_coordinator *c = m->c;
  iso_question_head head = {.asks = ISO_ASK_EXECUTE, .rule = ISO_RULE_SNAPSHOT, .enough = ENOUGH, .only = only};
  if (facts) head.asks |= ISO_ASK_FACTS;
  ISO_TRY(iso_coordinator_ask(c, head, &m->events, &m->sequence, error));
  *broken = 0;
  for (uint32_t part = 0; part < c->team->parts; part++) {
    iso_taker in;
    if (only > 0 && part + 1 != only) continue;
    ISO_TRY(iso_answer_open(&c->answers[part], &in, error));
    if (facts) ISO_TRY(iso_coordinator_take_facts(c, &in, part, error));
    *broken += iso_take_u64(&in);
    if (!iso_take_requirements(&in, &m->broken)) return iso_fail_memory(error);
    iso_bytes_free(&c->answers[part]);
  }
  c->out->rounds++;
  return ISOPROOF_OK;
}

/* Carries out and mends until nothing is broken; *clean where nothing was from the beginning. */
static isoproof_status settle(mending *m, uint32_t only, bool facts, bool *clean, isoproof_error *error) {
  for (int round = 0; round < ROUNDS && !m->gave_up; round++) {
    uint64_t broken;
    ISO_TRY(carry_out(m, only, facts && round == 0, &broken, error));
    if (round == 0) *clean = broken == 0;
    if (broken == 0) return ISOPROOF_OK;
    ISO_TRY(mend(m, error));
  }
  m->gave_up = true;
  return ISOPROOF_OK;
}

/* Every part is made once in a pass.  What one of them moves another one has to see again. */
static isoproof_status go_through(mending *m, bool *fits, isoproof_error *error) {
  iso_coordinator *c = m->c;
  bool facts = !c->out->has_facts;
  for (int pass = 0; pass < PASSES && !*fits && !m->gave_up; pass++) {
    *fits = true;
    for (uint32_t part = 0; part < c->team->parts && !m->gave_up; part++) {
      bool clean = true;
      ISO_TRY(settle(m, part + 1, facts && pass == 0, &clean, error));
      *fits = *fits && clean;
    }
    if (!m->gave_up) c->out->has_facts = true;
  }
  *fits = *fits && !m->gave_up;
  /* Not all have told what they have: they will be asked again. */
  if (!c->out->has_facts) c->out->facts = (iso_part_facts){.suits = 1};
  return ISOPROOF_OK;
}

static isoproof_status run(mending *m, bool timed, bool *fits, isoproof_error *error) {
  iso_coordinator *c = m->c;
  iso_event_shape shape = {.split = true, .real_time = timed, .ungrouped = true};
  ISO_TRY(iso_event_graph_make(&c->view, shape, NULL, &m->events, error));
  ISO_TRY(iso_sequence_make(&m->events, c->task, &m->sequence, error));
  if (c->h->frugal) iso_pages_let_go(c->h->map, 0, c->h->map_bytes);
  if (m->sequence.count < m->sequence.total) return ISOPROOF_OK;
  if (c->team->one_by_one) return go_through(m, fits, error);
  bool facts = !c->out->has_facts, clean;
  ISO_TRY(settle(m, 0, facts, &clean, error));
  c->out->has_facts = true;
  *fits = !m->gave_up;
  return ISOPROOF_OK;
}

isoproof_status iso_mend_snapshots(iso_coordinator *c, bool timed, bool *fits, isoproof_error *error) {
  mending m = {.c = c};
  *fits = false;
  isoproof_status status = run(&m, timed, fits, error);
  iso_requirements_free(&m.broken);
  iso_vec_free(&m.other);
  iso_event_graph_free(&m.events);
  iso_sequence_free(&m.sequence);
  return status;
}
