/* talk.h - how the ranks of `isoproof-mpi check` talk: agreement on failures, blocks of bytes from all to all, and the
 * questions of rank 0 with everybody's answers.
 *
 * Whoever waits lets others have the processor between looks, and sleeps when it takes longer, so that more ranks than
 * processors do not stand in each other's way.
 * What is sent is counted.  A talk owns what it says until talk_end.
 */
#ifndef MPI_TALK_H
#define MPI_TALK_H

#include "parts/team.h"

typedef struct talk {
  int rank, ranks;
  uint64_t exchanged; /* bytes that this rank sent to others when the history was read and exchanged */
  uint64_t asked;     /* bytes of questions, once per rank that hears them */
  uint64_t answered;  /* bytes of answers that went to rank 0 */
  bool ended;         /* rank 0: the others were told that nothing more will be asked */
  iso_part *part;     /* of this rank */
  iso_member member;
  isoproof_task *task;
} talk;

void talk_begin(talk *t, isoproof_task *task);
void talk_end(talk *t);

/* Ends this process where the environment says so (ISOPROOF_TEST_KILL=PHASE:RANK), for tests of what then happens. */
void talk_phase(const talk *t, const char *phase);

/* Memory is out where nobody could be told: all ranks end. */
_Noreturn void talk_give_up(void);
/* Zeroed memory, which is always there: without it all end. */
void *talk_room(size_t count, size_t size);

/* Everybody's status: where one rank failed all fail, with its error. */
isoproof_status talk_agree(const talk *t, isoproof_status status, isoproof_error *error);
/* Hands bytes of rank 0 to all; the others' `bytes` are as long. */
void talk_share(const talk *t, void *bytes, size_t length);
/* Hands lists[rank] and ops[rank] to each rank, and appends what came from each to from[rank].  A rank whose `status`
 * says so has failed, and with it all.  *more: this rank has more to send; becomes true where any has. */
isoproof_status talk_exchange(talk *t, isoproof_status status, const iso_bytes *lists, const iso_bytes *ops, bool *more,
                              iso_shipment *from, isoproof_error *error);
/* Sends to a rank, and waits for what another one sends, of any length. */
void talk_send(talk *t, int rank, const iso_bytes *bytes);
void talk_take(const talk *t, int rank, iso_bytes *bytes);
/* The sum over all ranks. */
uint64_t talk_sum(const talk *t, uint64_t number);
/* Bits that any rank has set; on rank 0. */
void talk_or(const talk *t, uint8_t *bits, size_t bytes);
uint64_t talk_most(const talk *t, uint64_t number);

/* Rank 0: a team whose parts are the ranks. */
void talk_team(talk *t, iso_team *team);
/* Rank 0: says that nothing more will be asked, once. */
void talk_dismiss(talk *t);
/* The others: answer until nothing more is asked. */
isoproof_status talk_serve(talk *t, isoproof_error *error);

#endif
