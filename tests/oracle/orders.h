/* orders.h - does one given order of transactions prove a level, straight from the definitions?
 *
 * For small histories, by relations (facts.h), in polynomial time; it shares no code with the library.  Everything is a
 * plain value of the caller's.
 */
#ifndef ORACLE_ORDERS_H
#define ORACLE_ORDERS_H

#include "tests/oracle/facts.h"

/* The levels that differ in what they ask of an order. */
typedef enum order_rule {
  ORDER_SERIALIZABLE,
  ORDER_SNAPSHOT,
  ORDER_PREFIX,
  ORDER_PARALLEL,
  ORDER_UPDATE_ATOMIC,
  ORDER_CAUSAL,
  ORDER_READ_ATOMIC,
  ORDER_READ_COMMITTED,
  ORDER_RULES
} order_rule;

/* Whether the events are begins and commits. */
static inline bool order_is_split(order_rule rule) { return rule == ORDER_SNAPSHOT || rule == ORDER_PREFIX; }

/* Places of the begin and the commit of each node (the same where the rule does not split); that of the initial
 * transaction is before all others. */
bool order_holds(const facts *f, order_rule rule, bool real_time, const int begin[FACTS_NODES],
                 const int commit[FACTS_NODES]);

#endif
