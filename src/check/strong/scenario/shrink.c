/* A polygraph as clauses and edges of a solver, with a switch for each transaction or link. */
#include "check/strong/scenario/shrink.h"

#include <stdlib.h>
#include <string.h>

#include "check/strong/scenario/shrink_paths.h"
#include "history/real_time.h"

void iso_shrinker_free(iso_shrinker *r) {
  iso_solver_free(r->solver);
  free(r->lit);
  free(r->guards);
  free(r->into_first);
  free(r->into);
  free(r->edges);
  memset(r, 0, sizeof *r);
}

/* ---- events and edges ---- */

/* Begin and commit where the rule has them. */
static uint32_t event(const iso_shrinker *r, uint32_t txn, bool commit) {
  return r->rule->split ? txn * 2 + commit : txn;
}

static iso_txn_isolation own_level(const iso_shrinker *r, uint32_t txn) {
  return iso_history_isolation(r->problem->view->h, r->problem->txn[txn]);
}

/* Where a transaction reads: with levels of their own, only snapshots are taken at the begin. */
static uint32_t reads_at(const iso_shrinker *r, uint32_t txn) {
  iso_txn_isolation own = r->rule->own_levels ? own_level(r, txn) : ISO_ISOLATION_PREFIX;
  return event(r, txn, own != ISO_ISOLATION_PREFIX && own != ISO_ISOLATION_SNAPSHOT_ISOLATION);
}

static uint32_t leaves(const iso_shrinker *r, iso_edge_kind kind, uint32_t from) {
  return kind == ISO_EDGE_RW ? reads_at(r, from) : event(r, from, true);
}

static uint32_t arrives(const iso_shrinker *r, iso_edge_kind kind, uint32_t to) {
  bool late = r->rule->ww_to_commit || (r->rule->own_levels && own_level(r, to) != ISO_ISOLATION_SNAPSHOT_ISOLATION);
  if (kind == ISO_EDGE_RW || (kind == ISO_EDGE_WW && late)) return event(r, to, true);
  return reads_at(r, to);
}

static isoproof_status note_edge(iso_shrinker *r, uint32_t from, uint32_t to, iso_lit lit, isoproof_error *error) {
  if (r->rule->refine == NULL) return ISOPROOF_OK;
  if (r->edge_count == r->edge_capacity &&
      !iso_vec_grow((void **)&r->edges, &r->edge_capacity, r->edge_count + 1, sizeof *r->edges)) {
    return iso_fail_memory(error);
  }
  r->edges[r->edge_count++] = (struct iso_shrinker_edge){from, to, lit};
  return ISOPROOF_OK;
}

static isoproof_status fix(iso_shrinker *r, iso_edge_kind kind, uint32_t from, uint32_t to, isoproof_error *error) {
  uint32_t a = leaves(r, kind, from), b = arrives(r, kind, to);
  ISO_TRY(iso_solver_fixed_edge(r->solver, a, b, error));
  return note_edge(r, a, b, ISO_LIT_NONE, error);
}

/* The literal of the edge that stands for a link. */
static isoproof_status edge_of(iso_shrinker *r, iso_edge_kind kind, uint32_t from, uint32_t to, iso_lit *lit,
                               isoproof_error *error) {
  uint32_t a = leaves(r, kind, from), b = arrives(r, kind, to);
  ISO_TRY(iso_solver_edge(r->solver, a, b, lit, error));
  return note_edge(r, a, b, *lit, error);
}

/* ---- clauses: what is switched on implies something ---- */

void iso_shrinker_open(iso_shrinker *r) { r->guard_count = 0; }

void iso_shrinker_add(iso_shrinker *r, iso_lit lit) { r->guards[r->guard_count++] = lit; }

void iso_shrinker_if_txn(iso_shrinker *r, uint32_t txn) {
  if (!r->by_link && txn != ISO_INITIAL) iso_shrinker_add(r, iso_lit_not(r->lit[txn]));
}

void iso_shrinker_if_link(iso_shrinker *r, size_t link) {
  const iso_link *l = &r->problem->links.items[link];
  if (r->by_link) {
    iso_shrinker_add(r, iso_lit_not(r->lit[link]));
  } else {
    iso_shrinker_if_txn(r, l->from);
    iso_shrinker_if_txn(r, l->to);
  }
}

isoproof_status iso_shrinker_close(iso_shrinker *r, isoproof_error *error) {
  return iso_solver_clause(r->solver, r->guards, r->guard_count, error);
}

isoproof_status iso_shrinker_before(iso_shrinker *r, uint32_t x, uint32_t y, iso_lit *lit, isoproof_error *error) {
  return edge_of(r, ISO_EDGE_WW, x, y, lit, error);
}

/* Adds "x is before y" to the open clause. */
isoproof_status iso_shrinker_add_before(iso_shrinker *r, uint32_t x, uint32_t y, isoproof_error *error) {
  iso_lit lit;
  ISO_TRY(iso_shrinker_before(r, x, y, &lit, error));
  iso_shrinker_add(r, lit);
  return ISOPROOF_OK;
}

/* Sorts the links by where they lead. */
static isoproof_status index_links(iso_shrinker *r, isoproof_error *error) {
  const iso_polygraph *s = r->problem;
  r->into_first = iso_alloc_zero((size_t)s->count + 2, sizeof *r->into_first);
  r->into = iso_alloc(s->links.count, sizeof *r->into);
  if (r->into_first == NULL || r->into == NULL) return iso_fail_memory(error);
  /* Counts two places up, so that filling leaves the first places where they belong. */
  for (size_t i = 0; i < s->links.count; i++) r->into_first[s->links.items[i].to + 2]++;
  for (uint32_t t = 0; t < s->count; t++) r->into_first[t + 2] += r->into_first[t + 1];
  for (size_t i = 0; i < s->links.count; i++) r->into[r->into_first[s->links.items[i].to + 1]++] = (uint32_t)i;
  return ISOPROOF_OK;
}

/* A read, and another writer of its key: that one is before the version read, or after the reader. */
isoproof_status iso_shrinker_add_rival(iso_shrinker *r, size_t read, uint32_t writer, isoproof_error *error) {
  const iso_link *l = &r->problem->links.items[read];
  iso_lit lit;
  iso_shrinker_open(r);
  iso_shrinker_if_link(r, read);
  iso_shrinker_if_txn(r, writer);
  if (l->from != ISO_INITIAL) ISO_TRY(iso_shrinker_add_before(r, writer, l->from, error));
  ISO_TRY(edge_of(r, ISO_EDGE_RW, l->to, writer, &lit, error));
  iso_shrinker_add(r, lit);
  return iso_shrinker_close(r, error);
}

static isoproof_status add_link(iso_shrinker *r, size_t link, isoproof_error *error) {
  const iso_polygraph *s = r->problem;
  const iso_link *l = &s->links.items[link];
  if (l->from != ISO_INITIAL) {
    iso_lit lit;
    iso_shrinker_open(r);
    iso_shrinker_if_link(r, link);
    ISO_TRY(edge_of(r, l->kind, l->from, l->to, &lit, error));
    iso_shrinker_add(r, lit);
    ISO_TRY(iso_shrinker_close(r, error));
  }
  if (l->kind != ISO_EDGE_WR) return ISOPROOF_OK;
  size_t first, end;
  iso_polygraph_writers(s, l->key, &first, &end);
  for (size_t i = first; i < end; i++) {
    uint32_t writer = s->writes.items[i].txn;
    if (writer != l->to && writer != l->from) ISO_TRY(r->rule->add_rival(r, link, writer, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status add_pair(iso_shrinker *r, const iso_polygraph_pair *pair, isoproof_error *error) {
  iso_shrinker_open(r);
  iso_shrinker_if_txn(r, pair->a);
  iso_shrinker_if_txn(r, pair->b);
  ISO_TRY(iso_shrinker_add_before(r, pair->a, pair->b, error));
  ISO_TRY(iso_shrinker_add_before(r, pair->b, pair->a, error));
  return iso_shrinker_close(r, error);
}

/* ---- orders that go through transactions that are switched off ---- */

static const isoproof_history *history_of(const iso_shrinker *r) { return r->problem->view->h; }

static isoproof_status fix_sessions(iso_shrinker *r, isoproof_error *error) {
  const iso_polygraph *s = r->problem;
  for (uint32_t i = 1; i < s->count; i++) {
    if (iso_polygraph_so(s, i - 1, i)) ISO_TRY(fix(r, ISO_EDGE_SO, i - 1, i, error));
  }
  return ISOPROOF_OK;
}

typedef struct {
  int64_t time;
  uint32_t txn;
} ending;

static int by_time(const void *a, const void *b) {
  const ending *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

/* An edge that is there while the transaction is switched on. */
static isoproof_status tie(iso_shrinker *r, uint32_t txn, uint32_t from, uint32_t to, isoproof_error *error) {
  iso_lit lit;
  ISO_TRY(iso_solver_edge(r->solver, from, to, &lit, error));
  iso_shrinker_open(r);
  iso_shrinker_if_txn(r, txn);
  iso_shrinker_add(r, lit);
  return iso_shrinker_close(r, error);
}

/* A chain of nodes, one for each end in order of time: an end leads to its node, a node to what begins after it.
 * Session order and real time do not follow from each other where times are missing, so that a way from the one to the
 * other through a transaction needs that transaction. */
static isoproof_status fix_times(iso_shrinker *r, isoproof_error *error) {
  const iso_polygraph *s = r->problem;
  ending *ends = iso_alloc(s->count, sizeof *ends);
  if (ends == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < s->count; i++) ends[i] = (ending){iso_real_end(history_of(r), s->txn[i]), i};
  qsort(ends, s->count, sizeof *ends, by_time);
  isoproof_status status = ISOPROOF_OK;
  uint32_t first = 0;
  for (uint32_t i = 0; status == ISOPROOF_OK && i < s->count; i++) {
    uint32_t node;
    status = iso_solver_node(r->solver, &node, error);
    if (i == 0) first = node;
    if (status == ISOPROOF_OK && i > 0) status = iso_solver_fixed_edge(r->solver, node - 1, node, error);
    if (status == ISOPROOF_OK) status = tie(r, ends[i].txn, event(r, ends[i].txn, true), node, error);
  }
  for (uint32_t i = 0; status == ISOPROOF_OK && i < s->count; i++) {
    int64_t start = iso_real_start(history_of(r), s->txn[i]);
    uint32_t low = 0, high = s->count; /* how many ended before it began */
    while (low < high) {
      uint32_t middle = low + (high - low) / 2;
      if (ends[middle].time < start) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low > 0) status = tie(r, i, first + low - 1, event(r, i, false), error);
  }
  free(ends);
  return status;
}

static isoproof_status encode(iso_shrinker *r, isoproof_error *error) {
  const iso_polygraph *s = r->problem;
  for (uint32_t i = 0; i < r->switches; i++) ISO_TRY(iso_solver_var(r->solver, &r->lit[i], error));
  for (uint32_t i = 0; r->rule->split && i < s->count; i++) {
    ISO_TRY(iso_solver_fixed_edge(r->solver, event(r, i, false), event(r, i, true), error));
  }
  if (!r->by_link && s->level->session_order) ISO_TRY(fix_sessions(r, error));
  if (!r->by_link && s->level->real_time && iso_has_real_time(history_of(r))) ISO_TRY(fix_times(r, error));
  if (r->rule->pairs_missed) ISO_TRY(index_links(r, error));
  for (size_t i = 0; i < s->links.count; i++) ISO_TRY(add_link(r, i, error));
  for (size_t i = 0; i < s->pairs.count; i++) ISO_TRY(add_pair(r, &s->pairs.items[i], error));
  return ISOPROOF_OK;
}

isoproof_status iso_shrinker_init(iso_shrinker *r, const iso_polygraph *problem, bool by_link, isoproof_error *error) {
  if (problem->count > UINT32_MAX / 4 || problem->links.count > ISO_SOLVER_MOST) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "too many transactions to explain");
  }
  *r = (iso_shrinker){.problem = problem, .rule = iso_strong_rule_of(problem->level->rule), .by_link = by_link};
  r->switches = by_link ? (uint32_t)problem->links.count : problem->count;
  uint32_t nodes = r->rule->split ? problem->count * 2 : problem->count;
  r->lit = iso_alloc(r->switches, sizeof *r->lit);
  /* The longest clause is a path with its guards, two for each link. */
  r->guards = iso_alloc((size_t)problem->count * 2 + 16, sizeof *r->guards);
  isoproof_status status = r->lit != NULL && r->guards != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = iso_solver_new(nodes, &r->solver, error);
  if (status == ISOPROOF_OK) status = encode(r, error);
  if (status != ISOPROOF_OK) iso_shrinker_free(r);
  return status;
}

/* ---- taking things away ---- */

/* Keeps of `on` what the core mentions. */
static bool keep_core(iso_shrinker *r, uint32_t *on, size_t *count) {
  const iso_lit *core;
  size_t size = iso_solver_core(r->solver, &core), kept = 0;
  uint8_t *in_core = iso_alloc_zero(r->switches, sizeof *in_core);
  if (in_core == NULL) return false;
  for (size_t i = 0; i < size; i++) {
    /* Switches were the first variables of the solver, in order. */
    uint32_t number = iso_lit_var(core[i]) - iso_lit_var(r->lit[0]);
    if (number < r->switches) in_core[number] = 1;
  }
  for (size_t i = 0; i < *count; i++) {
    if (in_core[on[i]]) on[kept++] = on[i];
  }
  *count = kept;
  free(in_core);
  return true;
}

isoproof_status iso_shrinker_fails(iso_shrinker *r, uint32_t *on, size_t *count, isoproof_task *task, bool *fails,
                                   isoproof_error *error) {
  iso_solver_answer answer = ISO_SOLVER_UNKNOWN;
  iso_solver_limits limits = {.task = task};
  iso_lit *assumed = iso_alloc(*count, sizeof *assumed);
  if (assumed == NULL) return iso_fail_memory(error);
  for (size_t i = 0; i < *count; i++) assumed[i] = r->lit[on[i]];
  isoproof_status status;
  bool refined = true;
  do {
    status = iso_solver_solve(r->solver, assumed, *count, &limits, &answer, error);
    if (status != ISOPROOF_OK || answer != ISO_SOLVER_SAT || r->rule->refine == NULL) break;
    status = r->rule->refine(r, &refined, error);
  } while (status == ISOPROOF_OK && refined);
  free(assumed);
  *fails = status == ISOPROOF_OK && answer == ISO_SOLVER_UNSAT;
  if (*fails && !keep_core(r, on, count)) status = iso_fail_memory(error);
  return status;
}

isoproof_status iso_shrinker_run(iso_shrinker *r, uint32_t *on, size_t *count, isoproof_task *task,
                                 isoproof_error *error) {
  uint32_t *rest = iso_alloc(*count, sizeof *rest);
  if (rest == NULL) return iso_fail_memory(error);
  isoproof_status status = ISOPROOF_OK;
  for (size_t chunk = *count / 2 + 1; chunk > 0 && status == ISOPROOF_OK; chunk /= 2) {
    for (size_t at = 0; at < *count && status == ISOPROOF_OK;) {
      size_t end = at + chunk < *count ? at + chunk : *count, left = 0;
      bool fails = false;
      for (size_t i = 0; i < *count; i++) {
        if (i < at || i >= end) rest[left++] = on[i];
      }
      status = iso_shrinker_fails(r, rest, &left, task, &fails, error);
      if (fails) {
        /* What was found to be needed before is still there, so that `at` stands where it stood. */
        memcpy(on, rest, left * sizeof *on);
        *count = left;
        if (chunk > 1) at = 0;
      } else {
        at = end;
      }
    }
  }
  free(rest);
  return status;
}
