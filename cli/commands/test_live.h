/* test_live.h - `isoproof test --live`: the history is judged while the database runs.
 *
 * A live test borrows the tester and owns its judge, which ends with it.
 */
#ifndef CLI_COMMANDS_TEST_LIVE_H
#define CLI_COMMANDS_TEST_LIVE_H

#include <stdatomic.h>

#include "cli/commands/live_show.h"
#include "cli/commands/test_round.h"

typedef struct test_live {
  tester *t;
  bool wanted;
  live_judge *judge; /* NULL until the run has begun */
  live_teller teller;
  live_status status;
  atomic_bool held; /* sessions are to wait for the checker */
  double saved;     /* when live.json was written, in seconds of the run */
} test_live;

/* Decides whether the run is to be judged live, and makes the run tell how it goes. */
void test_live_prepare(test_live *live, tester *t);
/* After the run: waits until everything that it recorded is judged.  A checker that failed says so, and the test goes
 * on without it. */
void test_live_end(test_live *live);
void test_live_free(test_live *live);

/* Whether the history is so long that the report is made of what is known already. */
bool test_live_is_long(const test_live *live);
isoproof_status test_live_document(const test_live *live, const char *file, isoproof_document **document,
                                   isoproof_error *error);
/* Whether the verdict of a check of the whole is that of the live checker, as far as both are known; false after a
 * message. */
bool test_live_agrees(const test_live *live, isoproof_verdict verdict);

#endif
