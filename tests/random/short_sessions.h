/* short_sessions.h - the same transactions in sessions of a few each, as clients that connect anew leave them.
 *
 * The history that is made belongs to the caller, as does the one that it is made of.
 */
#ifndef SHORT_SESSIONS_H
#define SHORT_SESSIONS_H

#include <isoproof/isoproof.h>

/* Registers only.  Every session is cut after `length` transactions. */
isolde_status short_sessions(const isolde_history *history, uint64_t length, isolde_history **cut, isolde_error *error);

#endif
