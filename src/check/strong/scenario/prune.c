/* Pruning a tree of cases. */
#include <stdlib.h>

#include "check/strong/scenario/cases.h"

typedef struct {
  const iso_polygraph *problem;
  iso_scenario *out;
  size_t words;   /* a set of pairs */
  uint64_t *used; /* by case: the pairs whose assumed order the cycles below it use */
  uint32_t *real; /* by case: the case that stands for it */
} pruner;

static uint64_t *used_by(const pruner *p, uint32_t at) { return p->used + (size_t)at * p->words; }

static size_t pair_of(const pruner *p, uint32_t x, uint32_t y) { return iso_polygraph_find_pair(p->problem, x, y); }

static bool uses(const pruner *p, uint32_t at, size_t pair) { return used_by(p, at)[pair / 64] >> (pair % 64) & 1; }

static void note_leaf(const pruner *p, uint32_t at) {
  const iso_branch *leaf = &p->out->cases.items[at];
  for (uint32_t i = 0; i < leaf->links; i++) {
    const iso_link *link = &p->out->links.items[leaf->first_link + i];
    if (link->reason != ISO_ORDER_ASSUMED) continue;
    size_t pair = pair_of(p, link->kind == ISO_EDGE_RW ? link->version : link->from, link->to);
    used_by(p, at)[pair / 64] |= UINT64_C(1) << (pair % 64);
  }
}

static void note_inner(const pruner *p, uint32_t at) {
  iso_branch *inner = &p->out->cases.items[at];
  size_t pair = pair_of(p, inner->before, inner->after);
  for (int side = 0; side < 2; side++) {
    inner->then[side] = p->real[inner->then[side]];
    if (uses(p, inner->then[side], pair)) continue;
    p->real[at] = inner->then[side];
    return;
  }
  const uint64_t *one = used_by(p, inner->then[0]), *other = used_by(p, inner->then[1]);
  for (size_t i = 0; i < p->words; i++) used_by(p, at)[i] = one[i] | other[i];
  used_by(p, at)[pair / 64] &= ~(UINT64_C(1) << (pair % 64));
}

/* Copies what the root leads to, a case before the cases below it, and their cycles. */
static bool copy_rest(const pruner *p, uint32_t root, iso_scenario *fresh) {
  ISO_VEC(uint32_t) to_do = {0}; /* cases of the old tree, beside those of the new one */
  bool good = iso_vec_push(&to_do, root) && iso_vec_push(&fresh->cases, p->out->cases.items[root]);
  for (size_t i = 0; good && i < to_do.count; i++) {
    iso_branch made = p->out->cases.items[to_do.items[i]];
    if (made.is_leaf) {
      uint32_t first = made.first_link;
      made.first_link = (uint32_t)fresh->links.count;
      for (uint32_t k = 0; good && k < made.links; k++) {
        good = iso_vec_push(&fresh->links, p->out->links.items[first + k]);
      }
    }
    for (int side = 0; good && !made.is_leaf && side < 2; side++) {
      uint32_t below = made.then[side];
      made.then[side] = (uint32_t)fresh->cases.count;
      good = iso_vec_push(&to_do, below) && iso_vec_push(&fresh->cases, p->out->cases.items[below]);
    }
    if (good) fresh->cases.items[i] = made;
  }
  iso_vec_free(&to_do);
  return good;
}

isoproof_status iso_branches_prune(const iso_polygraph *problem, iso_scenario *out, isoproof_error *error) {
  size_t count = out->cases.count;
  if (count == 0) return ISOPROOF_OK;
  pruner p = {.problem = problem, .out = out, .words = problem->pairs.count / 64 + 1};
  p.used = iso_alloc_zero(count * p.words, sizeof *p.used); /* both factors are bounded by limits far below SIZE_MAX */
  p.real = iso_alloc(count, sizeof *p.real);
  iso_scenario fresh = {0};
  bool good = p.used != NULL && p.real != NULL;
  for (uint32_t at = (uint32_t)count; good && at-- > 0;) {
    p.real[at] = at;
    if (out->cases.items[at].is_leaf) {
      note_leaf(&p, at);
    } else {
      note_inner(&p, at);
    }
  }
  good = good && copy_rest(&p, p.real[0], &fresh);
  if (good) {
    iso_vec_free(&out->cases);
    iso_vec_free(&out->links);
    out->cases = fresh.cases;
    out->links = fresh.links;
  } else {
    iso_vec_free(&fresh.cases);
    iso_vec_free(&fresh.links);
  }
  free(p.used);
  free(p.real);
  return good ? ISOPROOF_OK : iso_fail_memory(error);
}
