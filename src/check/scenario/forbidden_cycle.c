#include "check/scenario/forbidden_cycle.h"

#include <stdlib.h>
#include <string.h>

#define NO_LINK UINT32_MAX
#define WITHIN (UINT32_MAX - 1) /* from the first event of a transaction to its second */
#define FAR UINT32_MAX

isoproof_status iso_net_init(iso_net *net, iso_rule rule, uint32_t count, isoproof_error *error) {
  *net = (iso_net){.rule = rule, .count = count};
  net->head = iso_alloc(count, sizeof *net->head);
  net->distance = iso_alloc((size_t)count * 2, sizeof *net->distance);
  net->queue = iso_alloc((size_t)count * 2, sizeof *net->queue);
  net->via = iso_alloc((size_t)count * 2, sizeof *net->via);
  if (net->head == NULL || net->distance == NULL || net->queue == NULL || net->via == NULL) {
    iso_net_free(net);
    return iso_fail_memory(error);
  }
  for (uint32_t i = 0; i < count; i++) net->head[i] = NO_LINK;
  return ISOPROOF_OK;
}

void iso_net_free(iso_net *net) {
  free(net->head);
  free(net->distance);
  free(net->queue);
  free(net->via);
  iso_vec_free(&net->links);
  iso_vec_free(&net->next);
  iso_vec_free(&net->cycle);
  memset(net, 0, sizeof *net);
}

bool iso_net_push(iso_net *net, iso_link link) {
  if (!iso_vec_reserve(&net->links, 1) || !iso_vec_reserve(&net->next, 1)) return false;
  net->next.items[net->next.count++] = net->head[link.from];
  net->head[link.from] = (uint32_t)net->links.count;
  net->links.items[net->links.count++] = link;
  return true;
}

void iso_net_pop(iso_net *net, size_t left) {
  while (net->links.count > left) {
    net->links.count--;
    net->head[net->links.items[net->links.count].from] = net->next.items[--net->next.count];
  }
}

/* Two events a transaction, numbered 2t and 2t + 1, of which the first leads to the second.  For a rule with begin and
 * commit they are these two; for one that counts RW they say whether the way has used its only RW.  Fills where the
 * link leaves and arrives; false where the rule knows no such step. */
static bool step(iso_rule rule, const iso_link *link, bool second, uint32_t *to) {
  bool rw = link->kind == ISO_LINK_RW, ww = link->kind == ISO_LINK_WW;
  bool leaves_second = false, arrives_second = false;
  switch (rule) {
  case ISO_RULE_SERIALIZABLE:
    leaves_second = arrives_second = second;
    break;
  case ISO_RULE_SNAPSHOT:
    leaves_second = !rw;
    arrives_second = rw;
    break;
  case ISO_RULE_PREFIX:
    leaves_second = !rw;
    arrives_second = rw || ww;
    break;
  case ISO_RULE_PARALLEL:
    leaves_second = rw ? false : second;
    arrives_second = rw ? true : second;
    break;
  case ISO_RULE_UPDATE_ATOMIC: /* an RW counts with one other link only, see find_two */
    if (rw) return false;
    leaves_second = arrives_second = second;
    break;
  case ISO_RULES:
    return false;
  }
  *to = link->to * 2 + arrives_second;
  return leaves_second == second;
}

/* Whether the first event of a transaction leads to its second without a step. */
static bool has_within(iso_rule rule) {
  return rule == ISO_RULE_SNAPSHOT || rule == ISO_RULE_PREFIX || rule == ISO_RULE_PARALLEL;
}

static void reach(iso_net *net, uint32_t event, uint32_t distance, uint32_t via, uint32_t *tail) {
  if (net->distance[event] <= distance) return;
  net->distance[event] = distance;
  net->via[event] = via;
  net->queue[(*tail)++] = event;
}

/* Shortest way from one event to another, in links; FAR when there is none shorter than `bound`.  A way within a
 * transaction costs nothing: an event reached is followed by its second one at once, which keeps the queue in order of
 * distance, so that each event enters it once. */
static uint32_t find_way(iso_net *net, uint32_t from, uint32_t to, size_t bound) {
  uint32_t head = 0, tail = 0;
  for (uint32_t i = 0; i < net->count * 2; i++) net->distance[i] = FAR;
  reach(net, from, 0, NO_LINK, &tail);
  if (has_within(net->rule) && (from & 1) == 0) reach(net, from + 1, 0, WITHIN, &tail);
  while (head < tail) {
    uint32_t event = net->queue[head++], distance = net->distance[event];
    if (event == to) return distance;
    if ((size_t)distance + 1 >= bound) continue;
    for (uint32_t i = net->head[event / 2]; i != NO_LINK; i = net->next.items[i]) {
      uint32_t next;
      if (!step(net->rule, &net->links.items[i], event & 1, &next)) continue;
      reach(net, next, distance + 1, i, &tail);
      if (has_within(net->rule) && (next & 1) == 0) reach(net, next + 1, distance + 1, WITHIN, &tail);
    }
  }
  return FAR;
}

/* Puts down a cycle: a link and then the way just found from its end back to its start. */
static bool note_cycle(iso_net *net, uint32_t link, uint32_t end) {
  net->cycle.count = 0;
  if (!iso_vec_push(&net->cycle, link)) return false;
  for (uint32_t event = end; net->via[event] != NO_LINK;) {
    uint32_t via = net->via[event];
    if (via == WITHIN) {
      event--;
      continue;
    }
    if (!iso_vec_push(&net->cycle, via)) return false;
    /* Where the link left: the event of its transaction from which the step leads here. */
    uint32_t next, start = net->links.items[via].from * 2;
    bool second = !(step(net->rule, &net->links.items[via], false, &next) && next == event &&
                    net->distance[start] + 1 == net->distance[event]);
    event = start + second;
  }
  for (size_t i = 1, k = net->cycle.count - 1; i < k; i++, k--) {
    uint32_t swap = net->cycle.items[i];
    net->cycle.items[i] = net->cycle.items[k];
    net->cycle.items[k] = swap;
  }
  return true;
}

/* For UPDATE_ATOMIC: an RW and one other link that lead back. */
static bool find_two(iso_net *net, uint32_t link, size_t bound, size_t *length) {
  const iso_link *one = &net->links.items[link];
  if (bound <= 2) return true;
  for (uint32_t i = net->head[one->to]; i != NO_LINK; i = net->next.items[i]) {
    const iso_link *other = &net->links.items[i];
    if (other->to != one->from || (other->kind == ISO_LINK_RW) == (one->kind == ISO_LINK_RW)) continue;
    net->cycle.count = 0;
    if (!iso_vec_push(&net->cycle, link) || !iso_vec_push(&net->cycle, i)) return false;
    *length = 2;
    return true;
  }
  return true;
}

/* The shortest forbidden cycle through one link. */
static bool search_through(iso_net *net, uint32_t link, size_t bound, size_t *length) {
  const iso_link *l = &net->links.items[link];
  if (net->rule == ISO_RULE_UPDATE_ATOMIC) {
    if (!find_two(net, link, bound, length)) return false;
    if (*length != 0 || l->kind == ISO_LINK_RW) return true;
  }
  for (int second = 0; second < 2; second++) {
    uint32_t to;
    if (second == 1 && (net->rule == ISO_RULE_SERIALIZABLE || net->rule == ISO_RULE_UPDATE_ATOMIC)) break;
    if (!step(net->rule, l, second, &to)) continue;
    uint32_t from = l->from * 2 + (uint32_t)second;
    /* A cycle without RW is forbidden as well as one with its single RW: it may end having used one. */
    uint32_t goal = net->rule == ISO_RULE_PARALLEL ? from | 1 : from;
    uint32_t distance = find_way(net, to, goal, bound - 1);
    if (distance == FAR || (size_t)distance + 1 >= bound) continue;
    *length = (size_t)distance + 1;
    return note_cycle(net, link, goal);
  }
  return true;
}

bool iso_net_search(iso_net *net, size_t first, size_t bound, size_t *length) {
  *length = 0;
  for (size_t i = first; i < net->links.count; i++) {
    size_t found = 0;
    if (!search_through(net, (uint32_t)i, *length != 0 ? *length : bound, &found)) return false;
    if (found != 0) *length = found;
  }
  return true;
}
