/* short_sessions.h - the same transactions in sessions of a few each, as clients that connect anew leave them.
 *
 * The history that is made belongs to the caller, as does the one that it is made of.
 */
#ifndef SHORT_SESSIONS_H
#define SHORT_SESSIONS_H

#include <isoproof/isoproof.h>

/* Registers only.  Every session is cut after `length` transactions. */
isoproof_status short_sessions(const isoproof_history *history, uint64_t length, isoproof_history **cut,
                               isoproof_error *error);

#endif
