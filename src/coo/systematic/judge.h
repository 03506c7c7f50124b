/* judge.h - verdicts on many tiny histories: the same text is judged once, whichever thread asks.
 * A judge owns what it hands out until iso_sys_judge_free. */
#ifndef ISO_COO_SYSTEMATIC_JUDGE_H
#define ISO_COO_SYSTEMATIC_JUDGE_H

#include <isoproof/check.h>
#include <pthread.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vector.h"

typedef struct iso_sys_verdict {
  isoproof_verdict expected;     /* of the level that was asked for; none without one */
  isoproof_verdict serializable; /* of serializability */
  /* Where the level is violated: what shows it. */
  const char *code, *name, *explanation;
} iso_sys_verdict;

typedef struct iso_sys_judged {
  uint64_t hash[2]; /* of the text and the level; both 0 in a free place */
  iso_sys_verdict verdict;
} iso_sys_judged;

typedef struct iso_sys_judge {
  pthread_mutex_t mutex; /* of all that follows */
  iso_arena arena;
  iso_sys_judged *table;
  size_t count, room;
} iso_sys_judge;

isoproof_status iso_sys_judge_open(iso_sys_judge *judge, isoproof_error *error);
/* `level` is an id, or NULL where none is expected. */
isoproof_status iso_sys_judge_text(iso_sys_judge *judge, const char *text, size_t length, const char *level,
                                   iso_sys_verdict *verdict, isoproof_error *error);
void iso_sys_judge_free(iso_sys_judge *judge);

#endif
