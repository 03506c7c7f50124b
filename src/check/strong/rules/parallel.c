/* Parallel snapshot isolation: does a sequence explain every read, where two RW in a cycle are allowed?
 *
 * A reader need not come before the writer that overtook it.  So the versions of each key are taken in the order of the
 * sequence, and what must not be is that a writer s of x, later than the version t of x that r read, comes before r by
 * any path of SO, WR and WW.  Then s has to come before t, or one of the WW orders on the path has to be turned round.
 */

#include <stdlib.h>
#include <string.h>

#include "check/order/event_path.h"
#include "check/strong/rules/rule.h"
#include "check/strong/scenario/shrink_paths.h"

typedef struct {
  iso_event_graph *e;
  const iso_event_clocks *known;
  const iso_sequence *s;
  iso_event_clocks clocks; /* with the WW orders of the sequence */
  iso_path_finder finder;
  iso_path path;
  iso_requirements *out;
  uint64_t broken;
} parallel;

/* Adds WW between versions that follow each other, where it is not known. */
static isoproof_status add_orders(parallel *p, isoproof_error *error) {
  const iso_view *v = p->e->view;
  uint32_t *current = iso_alloc_zero(v->h->keys, sizeof *current);
  if (current == NULL) return iso_fail_memory(error);
  isoproof_status status = ISOPROOF_OK;
  for (uint32_t i = 0; i < p->s->count && status == ISOPROOF_OK; i++) {
    uint32_t txn = iso_event_txn(p->e, p->s->event[i]);
    if (txn == ISO_NO_TXN) continue;
    for (uint32_t k = v->write_first[txn]; k < v->write_first[txn + 1] && status == ISOPROOF_OK; k++) {
      uint32_t before = current[v->write_key[k]];
      current[v->write_key[k]] = txn + 1;
      if (before == 0 || iso_reaches(p->e, p->known, before - 1, txn)) continue;
      iso_derived edge = {.from = before - 1, .to = txn, .read = v->write_key[k], .reason = ISO_CHOSEN};
      status = iso_event_graph_add(p->e, edge, error);
    }
  }
  free(current);
  return status;
}

/* s comes before r by the path: turn round one of the orders that were chosen, or put s before t. */
static isoproof_status require(parallel *p, uint32_t s, uint32_t r, uint32_t t, isoproof_error *error) {
  if (iso_path_find(&p->finder, s, r, &p->path) == UINT32_MAX) {
    if (p->finder.failed) return iso_fail_memory(error);
    return iso_fail(error, ISOPROOF_ERR_INTERNAL, "an order of the sequence has no reason");
  }
  iso_require(p->out);
  if (t != ISO_INITIAL) iso_require_edge(p->out, s, t);
  uint32_t since = s; /* what is known reaches from here */
  for (size_t i = 0; i < p->path.count; i++) {
    const iso_path_step *step = &p->path.items[i];
    if (step->derived == 0 || p->e->derived.items[step->derived - 1].reason != ISO_CHOSEN) continue;
    iso_require_edge(p->out, step->to, step->from);
    iso_require_also(p->out, since, step->from);
    since = step->to;
  }
  iso_require_also(p->out, since, r);
  p->broken++;
  return p->out->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

static isoproof_status examine_read(parallel *p, const struct iso_reader *reader, uint32_t key, isoproof_error *error) {
  const iso_event_graph *e = p->e;
  const iso_view *v = e->view;
  uint32_t t = v->reads[reader->read].from, r = reader->txn;
  const int32_t *seen = iso_event_clocks_before(&p->clocks, r);
  for (uint32_t group = e->group_first[key]; group < e->group_first[key + 1]; group++) {
    uint32_t bound = (uint32_t)seen[e->group_chain[group]], end = e->group_start[group + 1];
    while (end > e->group_start[group] && v->writer[end - 1] >= bound) end--;
    if (end == e->group_start[group]) continue;
    uint32_t s = v->writer[end - 1];
    if (s == t || s == r || (t != ISO_INITIAL && p->s->place[s] < p->s->place[t])) continue;
    ISO_TRY(require(p, s, r, t, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status examine_all(parallel *p, isoproof_task *task, isoproof_error *error) {
  enum { ENOUGH = 1000 }; /* the rest of what is broken shows in the next round */
  const iso_view *v = p->e->view;
  ISO_TRY(add_orders(p, error));
  ISO_TRY(iso_event_clocks_make(p->e, task, &p->clocks, error));
  size_t cells = (size_t)p->e->count * p->known->width;
  memcpy(p->clocks.before, p->known->before, cells * sizeof *p->clocks.before);
  memcpy(p->clocks.after, p->known->after, cells * sizeof *p->clocks.after);
  ISO_TRY(iso_event_clocks_update(p->e, p->s, task, &p->clocks, error));
  ISO_TRY(iso_path_finder_make(p->e, &p->clocks, &p->finder, error));
  p->finder.use_chosen = true;
  for (uint32_t key = 0; key < v->h->keys && p->broken < ENOUGH; key++) {
    for (uint32_t i = v->reader_first[key]; i < v->reader_first[key + 1] && p->broken < ENOUGH; i++) {
      ISO_TRY(examine_read(p, &v->readers[i], key, error));
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status examine(const iso_examination *x, const iso_sequence *sequence, iso_requirements *requirements,
                               uint64_t *broken, isoproof_error *error) {
  parallel p = {.e = x->events, .known = x->clocks, .s = sequence, .out = requirements};
  uint32_t first = (uint32_t)x->events->derived.count;
  isoproof_status status = examine_all(&p, x->task, error);
  *broken = p.broken;
  iso_event_graph_drop(x->events, first);
  iso_event_clocks_free(&p.clocks);
  iso_path_finder_free(&p.finder);
  iso_vec_free(&p.path);
  return status;
}

/* The second event of a transaction says that the way has used its only RW. */
static bool step(const iso_link *link, iso_link_levels levels, bool second, uint32_t *to) {
  (void)levels;
  bool missed = link->kind == ISO_EDGE_RW;
  *to = link->to * 2 + (missed || second);
  return !missed || !second;
}

/* Paths are looked for in solutions. */
static isoproof_status add_rival(iso_shrinker *shrinker, size_t read, uint32_t writer, isoproof_error *error) {
  (void)shrinker, (void)read, (void)writer, (void)error;
  return ISOPROOF_OK;
}

const iso_strong_rule iso_strong_rule_parallel = {.examine = examine,
                                                  .needs_clocks = true,
                                                  .saturates = true,
                                                  .step = step,
                                                  .has_passage = true,
                                                  .ends_second = true,
                                                  .add_rival = add_rival,
                                                  .refine = iso_shrinker_refine};
