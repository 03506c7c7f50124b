/* Breadth-first search for the shortest forbidden cycle, over two events per transaction, 2t and 2t + 1: for a rule
 * with begins and commits they are these two; for one that counts RW they say whether the way has used its only RW. */
#include "check/strong/scenario/forbidden_cycle.h"

#include <stdlib.h>
#include <string.h>

#define NO_LINK UINT32_MAX
#define WITHIN (UINT32_MAX - 1) /* from the first event of a transaction to its second */
#define FAR UINT32_MAX

isoproof_status iso_link_stack_init(iso_link_stack *stack, const iso_polygraph *problem, isoproof_error *error) {
  uint32_t count = problem->count;
  *stack = (iso_link_stack){
      .rule = iso_strong_rule_of(problem->level->rule), .h = problem->view->h, .txn = problem->txn, .count = count};
  stack->head = iso_alloc(count, sizeof *stack->head);
  stack->distance = iso_alloc((size_t)count * 2, sizeof *stack->distance);
  stack->queue = iso_alloc((size_t)count * 2, sizeof *stack->queue);
  stack->via = iso_alloc((size_t)count * 2, sizeof *stack->via);
  if (stack->head == NULL || stack->distance == NULL || stack->queue == NULL || stack->via == NULL) {
    iso_link_stack_free(stack);
    return iso_fail_memory(error);
  }
  for (uint32_t i = 0; i < count; i++) stack->head[i] = NO_LINK;
  return ISOPROOF_OK;
}

void iso_link_stack_free(iso_link_stack *stack) {
  free(stack->head);
  free(stack->distance);
  free(stack->queue);
  free(stack->via);
  iso_vec_free(&stack->links);
  iso_vec_free(&stack->next);
  iso_vec_free(&stack->cycle);
  memset(stack, 0, sizeof *stack);
}

bool iso_link_stack_push(iso_link_stack *stack, iso_link link) {
  if (!iso_vec_reserve(&stack->links, 1) || !iso_vec_reserve(&stack->next, 1)) return false;
  stack->next.items[stack->next.count++] = stack->head[link.from];
  stack->head[link.from] = (uint32_t)stack->links.count;
  stack->links.items[stack->links.count++] = link;
  return true;
}

void iso_link_stack_pop(iso_link_stack *stack, size_t left) {
  while (stack->links.count > left) {
    stack->links.count--;
    stack->head[stack->links.items[stack->links.count].from] = stack->next.items[--stack->next.count];
  }
}

static iso_txn_isolation level_of(const iso_link_stack *stack, uint32_t txn) {
  return stack->rule->own_levels ? iso_history_isolation(stack->h, stack->txn[txn]) : ISO_ISOLATION_NONE;
}

/* Where a link leads from the first or second event of its transaction; false where it is no step. */
static bool step(const iso_link_stack *stack, uint32_t link, bool second, uint32_t *to) {
  const iso_link *l = &stack->links.items[link];
  return stack->rule->step(l, (iso_link_levels){level_of(stack, l->from), level_of(stack, l->to)}, second, to);
}

static void reach(iso_link_stack *stack, uint32_t event, uint32_t distance, uint32_t via, uint32_t *tail) {
  if (stack->distance[event] <= distance) return;
  stack->distance[event] = distance;
  stack->via[event] = via;
  stack->queue[(*tail)++] = event;
}

/* Shortest way from one event to another, in links; FAR when there is none shorter than `bound`.  A way within a
 * transaction costs nothing: an event reached is followed by its second one at once, which keeps the queue in order of
 * distance, so that each event enters it once. */
static uint32_t find_way(iso_link_stack *stack, uint32_t from, uint32_t to, size_t bound) {
  uint32_t head = 0, tail = 0;
  for (uint32_t i = 0; i < stack->count * 2; i++) stack->distance[i] = FAR;
  reach(stack, from, 0, NO_LINK, &tail);
  if (stack->rule->has_passage && (from & 1) == 0) reach(stack, from + 1, 0, WITHIN, &tail);
  while (head < tail) {
    uint32_t event = stack->queue[head++], distance = stack->distance[event];
    if (event == to) return distance;
    if ((size_t)distance + 1 >= bound) continue;
    for (uint32_t i = stack->head[event / 2]; i != NO_LINK; i = stack->next.items[i]) {
      uint32_t next;
      if (!step(stack, i, event & 1, &next)) continue;
      reach(stack, next, distance + 1, i, &tail);
      if (stack->rule->has_passage && (next & 1) == 0) reach(stack, next + 1, distance + 1, WITHIN, &tail);
    }
  }
  return FAR;
}

/* Puts down a cycle: a link and then the way just found from its end back to its start. */
static bool note_cycle(iso_link_stack *stack, uint32_t link, uint32_t end) {
  stack->cycle.count = 0;
  if (!iso_vec_push(&stack->cycle, link)) return false;
  for (uint32_t event = end; stack->via[event] != NO_LINK;) {
    uint32_t via = stack->via[event];
    if (via == WITHIN) {
      event--;
      continue;
    }
    if (!iso_vec_push(&stack->cycle, via)) return false;
    /* Where the link left: the event of its transaction from which the step leads here. */
    uint32_t next, start = stack->links.items[via].from * 2;
    bool second =
        !(step(stack, via, false, &next) && next == event && stack->distance[start] + 1 == stack->distance[event]);
    event = start + second;
  }
  for (size_t i = 1, k = stack->cycle.count - 1; i < k; i++, k--) {
    uint32_t swap = stack->cycle.items[i];
    stack->cycle.items[i] = stack->cycle.items[k];
    stack->cycle.items[k] = swap;
  }
  return true;
}

/* An RW and one other link that lead back. */
static bool find_two(iso_link_stack *stack, uint32_t link, size_t bound, size_t *length) {
  const iso_link *one = &stack->links.items[link];
  if (bound <= 2) return true;
  for (uint32_t i = stack->head[one->to]; i != NO_LINK; i = stack->next.items[i]) {
    const iso_link *other = &stack->links.items[i];
    if (other->to != one->from || (other->kind == ISO_EDGE_RW) == (one->kind == ISO_EDGE_RW)) continue;
    stack->cycle.count = 0;
    if (!iso_vec_push(&stack->cycle, link) || !iso_vec_push(&stack->cycle, i)) return false;
    *length = 2;
    return true;
  }
  return true;
}

/* ---- what is missed under an axiom of SO and WR, the level of the one who missed it ---- */

static bool is_weak_miss(const iso_link_stack *stack, const iso_link *link) {
  iso_txn_isolation level = level_of(stack, link->from);
  return link->kind == ISO_EDGE_RW && level != ISO_ISOLATION_NONE && level < ISO_ISOLATION_PREFIX;
}

/* One link that leads back from the writer and shows it to the reader. */
static bool find_shown(iso_link_stack *stack, uint32_t miss, size_t bound, size_t *length) {
  const iso_link *l = &stack->links.items[miss];
  for (uint32_t i = stack->head[l->to]; i != NO_LINK && bound > 2; i = stack->next.items[i]) {
    const iso_link *by = &stack->links.items[i];
    if (by->to != l->from || !iso_shows_directly(stack->h, level_of(stack, l->from), by, l->key, l->read_op)) continue;
    stack->cycle.count = 0;
    if (!iso_vec_push(&stack->cycle, miss) || !iso_vec_push(&stack->cycle, i)) return false;
    *length = 2;
    return true;
  }
  return true;
}

/* The shortest path of SO and WR that leads back; the events stand for their transactions. */
static bool find_causal(iso_link_stack *stack, uint32_t miss, size_t bound, size_t *length) {
  const iso_link *l = &stack->links.items[miss];
  uint32_t head = 0, tail = 0;
  for (uint32_t i = 0; i < stack->count; i++) stack->distance[i] = FAR;
  reach(stack, l->to, 0, NO_LINK, &tail);
  while (head < tail && stack->distance[l->from] == FAR) {
    uint32_t at = stack->queue[head++];
    for (uint32_t i = stack->head[at]; i != NO_LINK; i = stack->next.items[i]) {
      const iso_link *by = &stack->links.items[i];
      if (by->kind == ISO_EDGE_SO || by->kind == ISO_EDGE_WR) reach(stack, by->to, stack->distance[at] + 1, i, &tail);
    }
  }
  uint32_t distance = stack->distance[l->from];
  if (distance == FAR || (size_t)distance + 1 >= bound) return true;
  stack->cycle.count = 0;
  if (!iso_vec_reserve(&stack->cycle, (size_t)distance + 1)) return false;
  stack->cycle.count = (size_t)distance + 1;
  stack->cycle.items[0] = miss;
  for (uint32_t at = l->from, place = distance; place > 0; place--) {
    stack->cycle.items[place] = stack->via[at];
    at = stack->links.items[stack->via[at]].from;
  }
  *length = (size_t)distance + 1;
  return true;
}

/* The shortest forbidden cycle through one link. */
static bool search_through(iso_link_stack *stack, uint32_t link, size_t bound, size_t *length) {
  const iso_link *l = &stack->links.items[link];
  if (stack->rule->pairs_missed) {
    if (!find_two(stack, link, bound, length)) return false;
    if (*length != 0 || l->kind == ISO_EDGE_RW) return true;
  }
  if (is_weak_miss(stack, l)) {
    bool causal = level_of(stack, l->from) == ISO_ISOLATION_CAUSAL;
    return (causal ? find_causal : find_shown)(stack, link, bound, length);
  }
  for (int second = 0; second < 2; second++) {
    uint32_t to;
    if (second == 1 && stack->rule->starts_once) break;
    if (!step(stack, link, second, &to)) continue;
    uint32_t from = l->from * 2 + (uint32_t)second;
    /* A cycle without RW is forbidden as well as one with its single RW: it may end having used one. */
    uint32_t goal = stack->rule->ends_second ? from | 1 : from;
    uint32_t distance = find_way(stack, to, goal, bound - 1);
    if (distance == FAR || (size_t)distance + 1 >= bound) continue;
    *length = (size_t)distance + 1;
    return note_cycle(stack, link, goal);
  }
  return true;
}

bool iso_link_stack_search(iso_link_stack *stack, size_t first, size_t bound, size_t *length) {
  *length = 0;
  for (size_t i = first; i < stack->links.count; i++) {
    size_t found = 0;
    if (!search_through(stack, (uint32_t)i, *length != 0 ? *length : bound, &found)) return false;
    if (found != 0) *length = found;
  }
  return true;
}
