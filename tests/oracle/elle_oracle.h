/* elle_oracle.h - which models a small history of lists or registers rules out: at least, and at most.
 *
 * At least: what Elle's inference shows (Kingsbury and Alvaro, VLDB 2020, and what the published tool documents),
 * written down a second time and searched for cycles by matrices.  At most: what every order of the versions shows that
 * the reads and the assumptions allow, all of them tried.  The longest read of a list is its order; where several are
 * the longest, what one of them shows counts.  Shares no code with the library but for the tables of models and
 * anomalies.
 */
#ifndef ORACLE_ELLE_ORACLE_H
#define ORACLE_ELLE_ORACLE_H

#include <isoproof/isoproof.h>

typedef struct elle_question {
  bool lists;
  bool realtime;                /* real time, which contains sessions; else sessions */
  bool wfr, sequential, linear; /* registers: what may be assumed of keys */
  const uint64_t *order;        /* registers: transactions in the order of their writes, of all of them; or NULL */
} elle_question;

/* Sets of models: a bit for each number of isoproof_level_at. */
typedef struct elle_bounds {
  uint64_t least, most;
  bool lost_update;
} elle_bounds;

/* False when there is too much to try. */
bool elle_oracle_judge(const isoproof_history *history, const elle_question *question, elle_bounds *out);
/* The models that imply one of a set, itself included. */
uint64_t elle_oracle_implying(uint64_t models);

#endif
