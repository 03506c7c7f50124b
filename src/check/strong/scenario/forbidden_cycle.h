/* forbidden_cycle.h - a growing set of links, and the shortest cycle in it that a rule forbids.
 *
 * Links come and go like a stack.  A stack owns its arrays until iso_link_stack_free.
 */
#ifndef ISO_CHECK_STRONG_SCENARIO_FORBIDDEN_CYCLE_H
#define ISO_CHECK_STRONG_SCENARIO_FORBIDDEN_CYCLE_H

#include "check/strong/rules/rule.h"
#include "check/strong/scenario/polygraph.h"

typedef struct iso_link_stack {
  const iso_strong_rule *rule;
  const isoproof_history *h;
  const uint32_t *txn; /* their numbers in the history */
  uint32_t count;      /* transactions */
  ISO_VEC(iso_link) links;
  ISO_VEC(uint32_t) next;     /* beside links: the next one out of the same transaction */
  uint32_t *head;             /* by transaction */
  uint32_t *distance, *queue; /* by event: two per transaction */
  uint32_t *via;              /* by event: the link that led there, or a mark */
  ISO_VEC(uint32_t) cycle;    /* the last cycle found: numbers of links, in order */
} iso_link_stack;

/* For links between the transactions of a polygraph, to which the stack refers. */
isoproof_status iso_link_stack_init(iso_link_stack *stack, const iso_polygraph *problem, isoproof_error *error);
void iso_link_stack_free(iso_link_stack *stack);
bool iso_link_stack_push(iso_link_stack *stack, iso_link link);
/* Takes links away until `left` are there. */
void iso_link_stack_pop(iso_link_stack *stack, size_t left);

/* The length of the shortest forbidden cycle through one of the links from number `first` on, which is then in
 * stack->cycle; 0 when there is none shorter than `bound`.  False when memory is out. */
bool iso_link_stack_search(iso_link_stack *stack, size_t first, size_t bound, size_t *length);

#endif
