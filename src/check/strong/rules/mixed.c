/* Mixed levels: one commit order, and each transaction held to the level that is its own.
 *
 * Serializable transactions read when they commit; those of snapshot isolation and prefix consistency when they begin.
 * Causal, read atomic and read committed are axioms of SO and WR: whom the axiom shows to a reader must not have
 * overwritten what it reads later than that (check/strong/forced_orders.h).  In terms of cycles: one is forbidden when
 * every missed write in it is one that the level of whoever missed it does not allow there.
 */
#include <stdlib.h>

#include "base/vector.h"
#include "check/strong/rules/rule.h"
#include "check/strong/scenario/shrink.h"

static bool is_snapshot(iso_txn_isolation level) {
  return level == ISO_ISOLATION_PREFIX || level == ISO_ISOLATION_SNAPSHOT_ISOLATION;
}

/* SO, WR and WW leave a commit, RW a begin.  A serializable transaction has both in one: everything arrives at its
 * begin, from which its commit is reached.  No missed write of weaker levels is a step by itself. */
static bool step(const iso_link *link, iso_link_levels levels, bool second, uint32_t *to) {
  bool missed = link->kind == ISO_EDGE_RW, early = false;
  if (levels.to == ISO_ISOLATION_SERIALIZABLE) early = true;
  if (is_snapshot(levels.to)) early = !missed;
  if (levels.to == ISO_ISOLATION_PREFIX && link->kind == ISO_EDGE_WW) early = false;
  *to = link->to * 2 + !early;
  return missed ? !second && levels.from >= ISO_ISOLATION_PREFIX : second;
}

/* ---- the smallest scenario ---- */

static iso_txn_isolation level_of(const iso_shrinker *r, uint32_t txn) {
  return iso_history_isolation(r->problem->view->h, r->problem->txn[txn]);
}

/* The writer must come before the version read, unless the other link is switched off. */
static isoproof_status forbid(iso_shrinker *r, size_t read, uint32_t writer, size_t other, isoproof_error *error) {
  const iso_link *l = &r->problem->links.items[read];
  iso_shrinker_open(r);
  iso_shrinker_if_link(r, read);
  iso_shrinker_if_txn(r, writer);
  if (other != SIZE_MAX) iso_shrinker_if_link(r, other);
  if (l->from != ISO_INITIAL) ISO_TRY(iso_shrinker_add_before(r, writer, l->from, error));
  return iso_shrinker_close(r, error);
}

/* Read committed and read atomic: a single link from the writer to the reader. */
static isoproof_status add_direct(iso_shrinker *r, size_t read, uint32_t writer, isoproof_error *error) {
  const iso_polygraph *s = r->problem;
  const iso_link *l = &s->links.items[read];
  iso_txn_isolation level = level_of(r, l->to);
  for (size_t i = 0; i < s->links.count; i++) {
    if (iso_polygraph_shows(s, level, i, read, writer)) ISO_TRY(forbid(r, read, writer, i, error));
  }
  bool so = level == ISO_ISOLATION_READ_ATOMIC && !r->by_link && iso_polygraph_so(s, writer, l->to);
  return so ? forbid(r, read, writer, SIZE_MAX, error) : ISOPROOF_OK;
}

static isoproof_status add_rival(iso_shrinker *r, size_t read, uint32_t writer, isoproof_error *error) {
  iso_txn_isolation level = level_of(r, r->problem->links.items[read].to);
  if (level >= ISO_ISOLATION_PREFIX) return iso_shrinker_add_rival(r, read, writer, error);
  /* Causal paths are looked for in solutions. */
  return level == ISO_ISOLATION_CAUSAL ? ISOPROOF_OK : add_direct(r, read, writer, error);
}

/* ---- causal paths, of what is switched on ---- */

/* Breadth first by SO and WR. */
typedef struct {
  const iso_shrinker *r;
  size_t *via; /* by transaction: the link that led there; NONE, or SESSION for order in a session without a link */
  uint32_t *before, *queue; /* by transaction */
  uint8_t *seen;
} walk;

#define NONE SIZE_MAX
#define SESSION (SIZE_MAX - 1)

static bool is_on(const iso_shrinker *r, size_t link) {
  const iso_link *l = &r->problem->links.items[link];
  if (r->by_link) return iso_solver_value(r->solver, r->lit[link]);
  return iso_solver_value(r->solver, r->lit[l->from]) && iso_solver_value(r->solver, r->lit[l->to]);
}

static void meet(walk *w, uint32_t from, uint32_t to, size_t link, uint32_t *tail) {
  if (w->seen[to]) return;
  w->seen[to] = 1;
  w->via[to] = link;
  w->before[to] = from;
  w->queue[(*tail)++] = to;
}

static void walk_from(walk *w, uint32_t start) {
  const iso_polygraph *s = w->r->problem;
  uint32_t head = 0, tail = 0;
  for (uint32_t i = 0; i < s->count; i++) w->seen[i] = 0;
  meet(w, start, start, NONE, &tail);
  while (head < tail) {
    uint32_t at = w->queue[head++];
    /* Transactions of a session are in order, also by way of those that are switched off. */
    for (uint32_t next = at + 1; !w->r->by_link && next < s->count && iso_polygraph_so(s, at, next); next++) {
      meet(w, at, next, SESSION, &tail);
    }
    for (size_t i = 0; i < s->links.count; i++) {
      const iso_link *l = &s->links.items[i];
      bool step = l->from == at && (l->kind == ISO_EDGE_SO || l->kind == ISO_EDGE_WR);
      if (step && is_on(w->r, i)) meet(w, at, l->to, i, &tail);
    }
  }
}

/* The read missed the writer, from whom the walk came to the reader. */
static isoproof_status forbid_path(iso_shrinker *r, const walk *w, size_t read, uint32_t writer, bool *refined,
                                   isoproof_error *error) {
  const iso_link *l = &r->problem->links.items[read];
  iso_lit before;
  if (l->from != ISO_INITIAL) {
    ISO_TRY(iso_shrinker_before(r, writer, l->from, &before, error));
    if (iso_solver_value(r->solver, before)) return ISOPROOF_OK;
  }
  iso_shrinker_open(r);
  iso_shrinker_if_link(r, read);
  iso_shrinker_if_txn(r, writer);
  if (l->from != ISO_INITIAL) iso_shrinker_add(r, before);
  for (uint32_t at = l->to; w->via[at] != NONE; at = w->before[at]) {
    if (w->via[at] != SESSION) iso_shrinker_if_link(r, w->via[at]);
  }
  *refined = true;
  return iso_shrinker_close(r, error);
}

/* The causal reads that a solution breaks: whoever the writer is, with what comes after it. */
static isoproof_status refine_writer(iso_shrinker *r, walk *w, uint32_t writer, bool *refined, isoproof_error *error) {
  const iso_polygraph *s = r->problem;
  bool walked = false;
  for (size_t i = 0; i < s->links.count; i++) {
    const iso_link *l = &s->links.items[i];
    if (l->kind != ISO_EDGE_WR || l->to == writer || l->from == writer) continue;
    if (level_of(r, l->to) != ISO_ISOLATION_CAUSAL || !iso_polygraph_is_writer(s, writer, l->key)) continue;
    bool on = r->by_link ? is_on(r, i)
                         : iso_solver_value(r->solver, r->lit[writer]) && iso_solver_value(r->solver, r->lit[l->to]) &&
                               (l->from == ISO_INITIAL || iso_solver_value(r->solver, r->lit[l->from]));
    if (!on) continue;
    if (!walked) walk_from(w, writer);
    walked = true;
    if (w->seen[l->to]) ISO_TRY(forbid_path(r, w, i, writer, refined, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status refine(iso_shrinker *r, bool *refined, isoproof_error *error) {
  uint32_t count = r->problem->count;
  *refined = false;
  walk w = {.r = r,
            .via = iso_alloc(count, sizeof *w.via),
            .before = iso_alloc(count, sizeof *w.before),
            .queue = iso_alloc(count, sizeof *w.queue),
            .seen = iso_alloc(count, sizeof *w.seen)};
  bool made = w.via != NULL && w.before != NULL && w.queue != NULL && w.seen != NULL;
  isoproof_status status = made ? ISOPROOF_OK : iso_fail_memory(error);
  for (uint32_t writer = 0; status == ISOPROOF_OK && writer < count; writer++) {
    status = refine_writer(r, &w, writer, refined, error);
  }
  free(w.via);
  free(w.before);
  free(w.queue);
  free(w.seen);
  return status;
}

const iso_strong_rule iso_strong_rule_mixed = {.split = true,
                                               .own_levels = true,
                                               .examine = iso_execute,
                                               .is_executed = true,
                                               .exclusive = true,
                                               .saturates = true,
                                               .overtakes = true,
                                               .step = step,
                                               .has_passage = true,
                                               .add_rival = add_rival,
                                               .refine = refine};
