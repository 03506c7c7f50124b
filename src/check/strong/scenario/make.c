/* Takes away transactions, then dependencies, then cases, until none can be left out. */
#include "check/strong/scenario/make.h"

#include <stdlib.h>
#include <string.h>

#include "check/strong/scenario/cases.h"
#include "check/strong/scenario/shrink.h"

enum {
  REPEATED_SMALL = 64, /* so many transactions are worth several tries at the fewest */
  TRIES = 4
};

/* What all steps share. */
typedef struct {
  const iso_view *view;
  const iso_strong_level *level;
  const iso_versions *versions;
  isoproof_task *task;
  uint32_t *txns; /* those still needed, as numbers of the history */
  size_t count;
} work;

/* Puts numbers in one of a few orders: as they are, backwards, or shuffled in a way that is always the same. */
static void arrange(uint32_t *numbers, size_t count, unsigned way) {
  for (size_t i = 0; way == 1 && i < count / 2; i++) {
    uint32_t swap = numbers[i];
    numbers[i] = numbers[count - 1 - i];
    numbers[count - 1 - i] = swap;
  }
  uint64_t state = UINT64_C(0x9e3779b97f4a7c15) * way;
  for (size_t i = count; way > 1 && i > 1; i--) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    size_t other = (size_t)((state >> 33) % i);
    uint32_t swap = numbers[i - 1];
    numbers[i - 1] = numbers[other];
    numbers[other] = swap;
  }
}

/* Shrinks in several orders, and keeps the fewest. */
static isoproof_status shrink_best(iso_shrinker *shrinker, uint32_t *on, size_t *count, isoproof_task *task,
                                   isoproof_error *error) {
  size_t tries = *count <= REPEATED_SMALL ? TRIES : 1, best = SIZE_MAX;
  uint32_t *one = iso_alloc(*count, sizeof *one), *kept = iso_alloc(*count, sizeof *kept);
  isoproof_status status = one != NULL && kept != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  for (unsigned way = 0; status == ISOPROOF_OK && way < tries; way++) {
    size_t left = *count;
    memcpy(one, on, left * sizeof *one);
    arrange(one, left, way);
    status = iso_shrinker_run(shrinker, one, &left, task, error);
    if (status != ISOPROOF_OK || left >= best) continue;
    best = left;
    memcpy(kept, one, left * sizeof *kept);
  }
  if (status == ISOPROOF_OK) {
    memcpy(on, kept, best * sizeof *on);
    *count = best;
  }
  free(one);
  free(kept);
  return status;
}

/* One round: what a failed core mentions, and with `finish` a set of which no transaction can be left out. */
static isoproof_status fewer_txns(work *w, bool finish, bool *fails, isoproof_error *error) {
  iso_polygraph problem;
  iso_shrinker shrinker;
  ISO_TRY(iso_polygraph_make(w->view, w->level, w->versions, w->txns, w->count, false, &problem, error));
  isoproof_status status = iso_shrinker_init(&shrinker, &problem, false, error);
  if (status == ISOPROOF_OK) {
    size_t count = problem.count;
    uint32_t *on = iso_alloc(count, sizeof *on);
    if (on == NULL) status = iso_fail_memory(error);
    for (uint32_t i = 0; on != NULL && i < count; i++) on[i] = i;
    if (status == ISOPROOF_OK) status = iso_shrinker_fails(&shrinker, on, &count, w->task, fails, error);
    if (status == ISOPROOF_OK && *fails && finish) status = shrink_best(&shrinker, on, &count, w->task, error);
    for (size_t i = 0; status == ISOPROOF_OK && *fails && i < count; i++) w->txns[i] = problem.txn[on[i]];
    if (status == ISOPROOF_OK && *fails) w->count = count;
    free(on);
    iso_shrinker_free(&shrinker);
  }
  iso_polygraph_free(&problem);
  return status;
}

/* The first set is made smaller by cores of ever smaller problems, as long as that brings much. */
static isoproof_status fewest_txns(work *w, bool *fails, isoproof_error *error) {
  enum { ROUNDS = 8, LARGE = 32 };
  *fails = true;
  for (int round = 0; round < ROUNDS && *fails && w->count > LARGE; round++) {
    size_t before = w->count;
    ISO_TRY(fewer_txns(w, false, fails, error));
    if (w->count > before - before / 8) break;
  }
  return *fails ? fewer_txns(w, true, fails, error) : ISOPROOF_OK;
}

/* Tries to do without all links of a kind at once: a story without times is simpler than one with. */
static isoproof_status without_kind(iso_shrinker *shrinker, iso_edge_kind kind, uint32_t *on, size_t *count,
                                    isoproof_task *task, isoproof_error *error) {
  uint32_t *rest = iso_alloc(*count, sizeof *rest);
  if (rest == NULL) return iso_fail_memory(error);
  size_t left = 0;
  bool fails = false;
  for (size_t i = 0; i < *count; i++) {
    if (shrinker->problem->links.items[on[i]].kind != kind) rest[left++] = on[i];
  }
  isoproof_status status = left < *count ? iso_shrinker_fails(shrinker, rest, &left, task, &fails, error) : ISOPROOF_OK;
  if (status == ISOPROOF_OK && fails) {
    memcpy(on, rest, left * sizeof *on);
    *count = left;
  }
  free(rest);
  return status;
}

/* Leaves in the small problem only links of which none can be left out. */
static isoproof_status fewest_links(iso_polygraph *problem, isoproof_task *task, bool *fails, isoproof_error *error) {
  iso_shrinker shrinker;
  ISO_TRY(iso_shrinker_init(&shrinker, problem, true, error));
  size_t count = 0;
  uint32_t *on = iso_alloc(problem->links.count, sizeof *on);
  isoproof_status status = on != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  /* The kinds that are given up first stand first. */
  static const iso_edge_kind order[] = {ISO_EDGE_RT, ISO_EDGE_SO, ISO_EDGE_WW, ISO_EDGE_WR};
  for (size_t k = 0; on != NULL && k < sizeof order / sizeof order[0]; k++) {
    for (size_t i = 0; i < problem->links.count; i++) {
      if (problem->links.items[i].kind == order[k]) on[count++] = (uint32_t)i;
    }
  }
  for (size_t k = 0; k < 3 && status == ISOPROOF_OK; k++) {
    status = without_kind(&shrinker, order[k], on, &count, task, error);
  }
  if (status == ISOPROOF_OK) status = iso_shrinker_fails(&shrinker, on, &count, task, fails, error);
  if (status == ISOPROOF_OK && *fails) status = shrink_best(&shrinker, on, &count, task, error);
  if (status == ISOPROOF_OK && *fails) {
    uint8_t *keep = iso_alloc_zero(problem->links.count, sizeof *keep);
    size_t kept = 0;
    if (keep == NULL) status = iso_fail_memory(error);
    for (size_t i = 0; keep != NULL && i < count; i++) keep[on[i]] = 1;
    for (size_t i = 0; keep != NULL && i < problem->links.count; i++) {
      if (keep[i]) problem->links.items[kept++] = problem->links.items[i];
    }
    if (keep != NULL) problem->links.count = kept;
    free(keep);
  }
  free(on);
  iso_shrinker_free(&shrinker);
  return status;
}

static uint32_t real_number(const iso_polygraph *problem, uint32_t txn) {
  return txn == ISO_INITIAL || txn == ISO_NO_TXN ? txn : problem->txn[txn];
}

static void to_real_numbers(const iso_polygraph *problem, iso_link *link) {
  link->from = real_number(problem, link->from);
  link->to = real_number(problem, link->to);
  link->version = real_number(problem, link->version);
}

/* Lets a cycle begin where its first transaction is. */
static bool rotate(iso_link *cycle, uint32_t count) {
  iso_link *copy = iso_alloc(count, sizeof *copy);
  if (copy == NULL) return false;
  uint32_t start = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (cycle[i].from < cycle[start].from) start = i;
  }
  for (uint32_t i = 0; i < count; i++) copy[i] = cycle[(start + i) % count];
  memcpy(cycle, copy, count * sizeof *copy);
  free(copy);
  return true;
}

/* From numbers of the small problem to those of the history. */
static bool hand_over(const iso_polygraph *problem, iso_scenario *out) {
  for (uint32_t i = 0; i < problem->count; i++) {
    if (!iso_vec_push(&out->txns, problem->txn[i])) return false;
  }
  for (size_t i = 0; i < problem->links.count; i++) {
    iso_link link = problem->links.items[i];
    to_real_numbers(problem, &link);
    if (!iso_vec_push(&out->known, link)) return false;
  }
  for (size_t i = 0; i < out->links.count; i++) to_real_numbers(problem, &out->links.items[i]);
  for (size_t i = 0; i < out->cases.count; i++) {
    iso_branch *c = &out->cases.items[i];
    if (c->is_leaf && !rotate(out->links.items + c->first_link, c->links)) return false;
    if (c->is_leaf) continue;
    c->before = real_number(problem, c->before);
    c->after = real_number(problem, c->after);
  }
  return true;
}

/* The links that are needed among the transactions that are, and the cases. */
static isoproof_status spell_out(const work *w, iso_scenario *out, isoproof_error *error) {
  iso_polygraph problem;
  bool fails = false;
  ISO_TRY(iso_polygraph_make(w->view, w->level, w->versions, w->txns, w->count, true, &problem, error));
  isoproof_status status = fewest_links(&problem, w->task, &fails, error);
  if (status == ISOPROOF_OK && fails) {
    status = iso_branches_make(&problem, w->task, out, error);
    if (status == ISOPROOF_OK && out->refuted) status = iso_branches_prune(&problem, out, error);
    if (status == ISOPROOF_OK && out->refuted && !hand_over(&problem, out)) status = iso_fail_memory(error);
  }
  if (status == ISOPROOF_OK && !out->refuted) {
    status =
        iso_fail(error, ISOPROOF_ERR_INTERNAL, "the solver and the cases disagree on a violation of %s", w->level->id);
  }
  iso_polygraph_free(&problem);
  return status;
}

isoproof_status iso_scenario_make(const iso_view *view, const iso_strong_level *level, const iso_versions *versions,
                                  const uint32_t *txns, size_t count, isoproof_task *task, iso_scenario *out,
                                  isoproof_error *error) {
  *out = (iso_scenario){.level = level};
  work w = {.view = view, .level = level, .versions = versions, .task = task, .count = count};
  w.txns = iso_alloc(count, sizeof *w.txns);
  if (w.txns == NULL) return iso_fail_memory(error);
  if (count > 0) memcpy(w.txns, txns, count * sizeof *txns);
  bool fails = false;
  isoproof_status status = fewest_txns(&w, &fails, error);
  if (status == ISOPROOF_OK && fails) status = spell_out(&w, out, error);
  free(w.txns);
  if (status != ISOPROOF_OK) iso_scenario_free(out);
  return status;
}
