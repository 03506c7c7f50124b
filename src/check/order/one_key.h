/* one_key.h - the order of a history of one key, without a search.
 *
 * A version and its readers stand together, and whoever overwrites what it read comes right behind them.  So versions
 * form chains, and sessions are all that orders these: a topological order of chains is one of the transactions.
 */
#ifndef ISO_CHECK_ORDER_ONE_KEY_H
#define ISO_CHECK_ORDER_ONE_KEY_H

#include "check/order/events.h"

/* Places by event; *when stays NULL where there are other keys, or no such order.  Linear in the transactions. */
isoproof_status iso_one_key_order(const iso_event_graph *events, int64_t **when, isoproof_error *error);

#endif
