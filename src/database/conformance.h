/* conformance.h - the checks of a client, and what they share.  Everything belongs to the run of the checks. */
#ifndef ISO_DATABASE_CONFORMANCE_H
#define ISO_DATABASE_CONFORMANCE_H

#include "database/driver.h"

enum { ISO_CONFORMANCE_SESSIONS = 64, ISO_CONFORMANCE_WORDS = 320 };

typedef struct iso_conformance {
  iso_database *database;
  iso_connection *one, *two;         /* two sessions without a transaction, when a check begins */
  iso_reply reply, second;           /* of each */
  int64_t next_key;                  /* no check has used it, or a later one */
  char found[ISO_CONFORMANCE_WORDS]; /* what is wrong, when a check fails */
} iso_conformance;

/* What a check needs. */
typedef enum iso_conformance_need { ISO_NEED_NOTHING, ISO_NEED_ROWS, ISO_NEED_LISTS } iso_conformance_need;

/* Checks: C name, what has to be so, what it needs. */
#define ISO_CONFORMANCE_LIST(X)                                                                                        \
  X(absent, "a key that nobody wrote has no value", NOTHING)                                                           \
  X(own_writes, "a transaction sees its own writes, the last one of each key", NOTHING)                                \
  X(commit, "what was committed is there for another session", NOTHING)                                                \
  X(abort, "what was aborted is not", NOTHING)                                                                         \
  X(isolations, "a transaction can run at every isolation level that is offered", NOTHING)                             \
  X(numbers, "negative, large and zero numbers come back as they were written", NOTHING)                               \
  X(rows, "rows are inserted, updated, deleted, found by keys and by values, and counted", ROWS)                       \
  X(missed_rows, "an update and a delete of a row that is not there change none, and say so", ROWS)                    \
  X(duplicate_key, "an insert of a row that is there is an error of the class constraint", ROWS)                       \
  X(lists, "elements are appended in order, and a list that is not there is none", LISTS)                              \
  X(unknown_operation, "a request that the program does not know is an error, and harms nothing", NOTHING)             \
  X(broken_session, "a session that ends in the middle of a transaction leaves nothing of it", NOTHING)                \
  X(conflict, "two sessions that write one key: whoever is told committed, is", NOTHING)                               \
  X(many_sessions, "64 sessions commit, and all of it is there", NOTHING)

#define ISO_X(name, text, need) bool iso_conformance_##name(iso_conformance *c);
ISO_CONFORMANCE_LIST(ISO_X)
#undef ISO_X

#endif
