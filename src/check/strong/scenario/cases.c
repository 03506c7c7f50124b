/* The tree of cases over undecided orders of writers, with a forbidden cycle at each leaf. */
#include "check/strong/scenario/cases.h"

#include <stdlib.h>
#include <string.h>

#include "check/strong/scenario/forbidden_cycle.h"

enum {
  MOST_CASES = 20000,   /* nobody reads more, by far */
  THOROUGH_PAIRS = 500, /* with more undecided pairs, the first order that is refuted will do */
  AHEAD_PAIRS = 48      /* up to so many undecided pairs, alternatives are tried out before one is taken */
};

/* A true alternative whose second case is still to come. */
typedef struct {
  size_t links, trail; /* what was there before */
  uint32_t at;         /* the case */
} fork;

typedef struct {
  const iso_polygraph *problem;
  iso_scenario *out;
  iso_link_stack stack;
  uint8_t *decided;        /* by pair: 0 while open */
  ISO_VEC(uint32_t) trail; /* pairs decided, in order */
  ISO_VEC(fork) forks;
  bool failed; /* memory was out */
} builder;

/* Adds what follows from `before` being before `after`: WW, and RW from everybody who read what `before` wrote. */
static bool push_order(builder *b, uint32_t before, uint32_t after, uint32_t key, iso_order_reason reason,
                       uint32_t order_op) {
  const iso_polygraph *s = b->problem;
  iso_link ww = {.kind = ISO_EDGE_WW,
                 .from = before,
                 .to = after,
                 .key = key,
                 .version = ISO_NO_TXN,
                 .read_op = ISO_NO_OP,
                 .reason = reason,
                 .order_op = order_op};
  if (!iso_link_stack_push(&b->stack, ww)) return false;
  for (size_t i = 0; i < s->links.count; i++) {
    const iso_link *read = &s->links.items[i];
    if (read->kind != ISO_EDGE_WR || read->from != before || read->to == after) continue;
    if (!iso_polygraph_is_writer(s, after, read->key)) continue;
    iso_link rw = {.kind = ISO_EDGE_RW,
                   .from = read->to,
                   .to = after,
                   .key = read->key,
                   .version = before,
                   .read_op = read->read_op,
                   .reason = reason,
                   .order_op = order_op};
    if (!iso_link_stack_push(&b->stack, rw)) return false;
  }
  return true;
}

static bool push_initial_reads(builder *b, const iso_link *read) {
  size_t first, end;
  iso_polygraph_writers(b->problem, read->key, &first, &end);
  for (size_t i = first; i < end; i++) {
    uint32_t writer = b->problem->writes.items[i].txn;
    if (writer == read->to) continue;
    iso_link rw = {.kind = ISO_EDGE_RW,
                   .from = read->to,
                   .to = writer,
                   .key = read->key,
                   .version = ISO_INITIAL,
                   .read_op = read->read_op,
                   .reason = ISO_ORDER_INITIAL,
                   .order_op = ISO_NO_OP};
    if (!iso_link_stack_push(&b->stack, rw)) return false;
  }
  return true;
}

/* What is certain: the dependencies, and the order of writers of which one depends on the other. */
static bool push_known(builder *b) {
  static const iso_order_reason reasons[ISO_EDGE_KINDS] = {[ISO_EDGE_SO] = ISO_ORDER_SO,
                                                           [ISO_EDGE_RT] = ISO_ORDER_RT,
                                                           [ISO_EDGE_WR] = ISO_ORDER_WR,
                                                           [ISO_EDGE_WW] = ISO_ORDER_LIST};
  const iso_polygraph *s = b->problem;
  for (size_t i = 0; i < s->links.count; i++) {
    const iso_link *link = &s->links.items[i];
    if (link->kind == ISO_EDGE_WR && link->from == ISO_INITIAL) {
      if (!push_initial_reads(b, link)) return false;
      continue;
    }
    if (link->kind != ISO_EDGE_WW && !iso_link_stack_push(&b->stack, *link)) return false;
    size_t pair = iso_polygraph_find_pair(s, link->from, link->to);
    uint8_t direction = link->from < link->to ? 1 : 2; /* both, where dependencies contradict each other */
    if (pair == s->pairs.count || (b->decided[pair] & direction) != 0) continue;
    b->decided[pair] |= direction;
    uint32_t op = link->kind == ISO_EDGE_WR ? link->read_op : link->order_op;
    uint32_t key = link->key != ISO_NO_KEY && link->kind == ISO_EDGE_WW ? link->key : s->pairs.items[pair].key;
    if (!push_order(b, link->from, link->to, key, reasons[link->kind], op)) return false;
  }
  return true;
}

/* The key to speak of: one that both write and somebody read from one of them, else any. */
static uint32_t telling_key(const iso_polygraph *s, const iso_polygraph_pair *pair) {
  for (size_t i = 0; i < s->links.count; i++) {
    const iso_link *read = &s->links.items[i];
    if (read->kind != ISO_EDGE_WR || (read->from != pair->a && read->from != pair->b)) continue;
    if (iso_polygraph_is_writer(s, pair->a, read->key) && iso_polygraph_is_writer(s, pair->b, read->key))
      return read->key;
  }
  return pair->key;
}

/* The length of the cycle that an order closes at once, 0 when it closes none shorter than `bound`. */
static size_t try_order(builder *b, size_t pair, bool swapped, size_t bound) {
  const iso_polygraph_pair *p = &b->problem->pairs.items[pair];
  size_t mark = b->stack.links.count, length = 0;
  bool done = push_order(b, swapped ? p->b : p->a, swapped ? p->a : p->b, p->key, ISO_ORDER_ASSUMED, ISO_NO_OP) &&
              iso_link_stack_search(&b->stack, mark, bound, &length);
  if (!done) b->failed = true;
  iso_link_stack_pop(&b->stack, mark);
  return length;
}

/* The pair that is best to look at next: refuted in both orders, else in one, by the shortest cycles. */
typedef struct {
  size_t pair;
  size_t length[2]; /* 0: not refuted in that order */
} choice;

static choice choose(builder *b) {
  const iso_polygraph *s = b->problem;
  choice best = {.pair = s->pairs.count};
  bool thorough = s->pairs.count - b->trail.count <= THOROUGH_PAIRS;
  for (size_t i = 0; i < s->pairs.count && !b->failed; i++) {
    if (b->decided[i]) continue;
    size_t one = try_order(b, i, false, SIZE_MAX), other = try_order(b, i, true, SIZE_MAX);
    if (one == 0 && other == 0) continue;
    bool both = one != 0 && other != 0, best_both = best.length[0] != 0 && best.length[1] != 0;
    bool better = best.pair == s->pairs.count || (both && !best_both) ||
                  (both == best_both && one + other < best.length[0] + best.length[1]);
    if (better) best = (choice){i, {one, other}};
    if (both && (one + other == 4 || !thorough)) break;
    if (!thorough) break;
  }
  return best;
}

static void decide(builder *b, size_t pair, bool swapped) {
  const iso_polygraph_pair *p = &b->problem->pairs.items[pair];
  b->decided[pair] = 1;
  bool done = iso_vec_push(&b->trail, (uint32_t)pair) &&
              push_order(b, swapped ? p->b : p->a, swapped ? p->a : p->b, p->key, ISO_ORDER_ASSUMED, ISO_NO_OP);
  if (!done) b->failed = true;
}

static void undo(builder *b, size_t links, size_t trail) {
  iso_link_stack_pop(&b->stack, links);
  while (b->trail.count > trail) b->decided[b->trail.items[--b->trail.count]] = 0;
}

/* How much an order brings: everything when a pair is then refuted both ways, else how many are in one. */
static size_t look_ahead(builder *b, size_t pair, bool swapped) {
  size_t links = b->stack.links.count, trail = b->trail.count, score = 0;
  decide(b, pair, swapped);
  for (size_t i = 0; i < b->problem->pairs.count && !b->failed; i++) {
    if (b->decided[i]) continue;
    bool one = try_order(b, i, false, SIZE_MAX) != 0, other = try_order(b, i, true, SIZE_MAX) != 0;
    score += one && other ? 1000 : one || other;
  }
  undo(b, links, trail);
  return score;
}

/* The pair for a true alternative; the number of pairs when none is left. */
static size_t choose_fork(builder *b) {
  const iso_polygraph *s = b->problem;
  size_t best = s->pairs.count, best_score = 0, open = 0;
  for (size_t i = 0; i < s->pairs.count; i++) open += !b->decided[i];
  for (size_t i = 0; i < s->pairs.count && !b->failed; i++) {
    if (b->decided[i]) continue;
    size_t score = 1;
    if (open <= AHEAD_PAIRS) {
      size_t one = look_ahead(b, i, false), other = look_ahead(b, i, true);
      score = (one + 1) * (other + 1);
    } else {
      for (size_t k = 0; k < s->links.count; k++) {
        const iso_link *l = &s->links.items[k];
        score += l->kind == ISO_EDGE_WR && (l->from == s->pairs.items[i].a || l->from == s->pairs.items[i].b);
      }
    }
    if (best == s->pairs.count || score > best_score) best = i, best_score = score;
  }
  return best;
}

static uint32_t add_case(builder *b, iso_branch made) {
  if (!iso_vec_push(&b->out->cases, made)) b->failed = true;
  return (uint32_t)b->out->cases.count - 1;
}

/* A leaf with the cycle that the net has just found. */
static uint32_t add_leaf(builder *b) {
  iso_branch leaf = {
      .is_leaf = true, .first_link = (uint32_t)b->out->links.count, .links = (uint32_t)b->stack.cycle.count};
  for (size_t i = 0; i < b->stack.cycle.count; i++) {
    if (!iso_vec_push(&b->out->links, b->stack.links.items[b->stack.cycle.items[i]])) b->failed = true;
  }
  return add_case(b, leaf);
}

static uint32_t add_inner(builder *b, size_t pair) {
  const iso_polygraph_pair *p = &b->problem->pairs.items[pair];
  return add_case(b, (iso_branch){.before = p->a, .after = p->b, .key = telling_key(b->problem, p)});
}

static uint32_t add_refuted(builder *b, size_t pair, bool swapped) {
  const iso_polygraph_pair *p = &b->problem->pairs.items[pair];
  size_t mark = b->stack.links.count, length = 0;
  bool done = push_order(b, swapped ? p->b : p->a, swapped ? p->a : p->b, p->key, ISO_ORDER_ASSUMED, ISO_NO_OP) &&
              iso_link_stack_search(&b->stack, mark, SIZE_MAX, &length);
  if (!done) b->failed = true;
  uint32_t leaf = add_leaf(b);
  iso_link_stack_pop(&b->stack, mark);
  return leaf;
}

/* Works on the case that stands next: adds an inner case and its refuted sides.  *at is then the place for the case
 * that remains, NULL when there is none. */
static void add_choice(builder *b, const choice *chosen, uint32_t *parent, unsigned *side) {
  uint32_t inner = add_inner(b, chosen->pair);
  if (*parent != ISO_NO_TXN) b->out->cases.items[*parent].then[*side] = inner;
  *parent = ISO_NO_TXN;
  for (unsigned i = 0; i < 2 && !b->failed; i++) {
    if (chosen->length[i] == 0) {
      *parent = inner;
      *side = i;
      continue;
    }
    uint32_t leaf = add_refuted(b, chosen->pair, i == 1);
    if (!b->failed) b->out->cases.items[inner].then[i] = leaf;
  }
  if (*parent != ISO_NO_TXN) decide(b, chosen->pair, *side == 1);
}

/* Takes up the second case of the last true alternative; false when there is none left. */
static bool take_fork(builder *b, uint32_t *parent, unsigned *side) {
  if (b->forks.count == 0) return false;
  fork last = b->forks.items[--b->forks.count];
  undo(b, last.links, last.trail);
  const iso_branch *c = &b->out->cases.items[last.at];
  *parent = last.at;
  *side = 1;
  decide(b, iso_polygraph_find_pair(b->problem, c->before, c->after), true);
  return true;
}

/* Splits where no order is refuted at once; false when nothing is left to split, so that there is a solution. */
static bool add_fork(builder *b, uint32_t *parent, unsigned *side) {
  size_t pair = choose_fork(b);
  if (pair == b->problem->pairs.count || b->failed) return false;
  uint32_t inner = add_inner(b, pair);
  if (*parent != ISO_NO_TXN && !b->failed) b->out->cases.items[*parent].then[*side] = inner;
  fork made = {b->stack.links.count, b->trail.count, inner};
  if (!iso_vec_push(&b->forks, made)) b->failed = true;
  *parent = inner;
  *side = 0;
  decide(b, pair, false);
  return true;
}

static isoproof_status grow(builder *b, isoproof_task *task, isoproof_error *error) {
  uint32_t parent = ISO_NO_TXN;
  unsigned side = 0;
  size_t length;
  if (!iso_link_stack_search(&b->stack, 0, SIZE_MAX, &length)) return iso_fail_memory(error);
  if (length != 0) {
    add_leaf(b);
    b->out->refuted = !b->failed;
    return b->failed ? iso_fail_memory(error) : ISOPROOF_OK;
  }
  for (bool more = true; more && !b->failed;) {
    ISO_TRY(iso_task_check(task, error));
    if (b->out->cases.count > MOST_CASES) {
      return iso_fail(error, ISOPROOF_ERR_LIMIT, "the violation takes more than %d cases to show", (int)MOST_CASES);
    }
    choice next = choose(b);
    if (b->failed) break;
    if (next.pair < b->problem->pairs.count) {
      add_choice(b, &next, &parent, &side);
      more = parent != ISO_NO_TXN || take_fork(b, &parent, &side);
    } else if (!add_fork(b, &parent, &side)) {
      return b->failed ? iso_fail_memory(error) : ISOPROOF_OK; /* a solution: nothing is refuted */
    }
  }
  b->out->refuted = !b->failed;
  return b->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

isoproof_status iso_branches_make(const iso_polygraph *problem, isoproof_task *task, iso_scenario *out,
                                  isoproof_error *error) {
  builder b = {.problem = problem, .out = out, .decided = iso_alloc_zero(problem->pairs.count, sizeof *b.decided)};
  isoproof_status status = b.decided != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = iso_link_stack_init(&b.stack, problem, error);
  if (status == ISOPROOF_OK) {
    status = push_known(&b) ? grow(&b, task, error) : iso_fail_memory(error);
    iso_link_stack_free(&b.stack);
  }
  free(b.decided);
  iso_vec_free(&b.trail);
  iso_vec_free(&b.forks);
  return status;
}
