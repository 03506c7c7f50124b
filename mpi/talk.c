/* Messages between the ranks of a check. */
#include "mpi/talk.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* MPI counts bytes by int. */
enum { AT_ONCE = 1 << 30, TAG_ANSWER = 71 };

/* Looks, and sleeps longer and longer between looks. */
static void wait_for(MPI_Request *request) {
  enum { LEAST = 20000, MOST = 1000000 }; /* nanoseconds */
  struct timespec nap = {0, LEAST};
  int done = 0;
  for (;;) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    nanosleep(&nap, NULL);
    if (nap.tv_nsec < MOST) nap.tv_nsec += nap.tv_nsec / 2;
  }
}

void talk_begin(talk *t, isoproof_task *task) {
  memset(t, 0, sizeof *t);
  t->task = task;
  MPI_Comm_rank(MPI_COMM_WORLD, &t->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &t->ranks);
}

void talk_end(talk *t) { iso_member_free(&t->member); }

void talk_phase(const talk *t, const char *phase) {
  const char *wish = getenv("ISOPROOF_TEST_KILL");
  size_t length = strlen(phase);
  bool here = wish != NULL && strncmp(wish, phase, length) == 0 && wish[length] == ':';
  if (here && atoi(wish + length + 1) == t->rank) (void)raise(SIGKILL);
}

void talk_share(const talk *t, void *bytes, size_t length) {
  (void)t;
  for (size_t at = 0; at < length; at += AT_ONCE) {
    MPI_Request request;
    int count = (int)(length - at < AT_ONCE ? length - at : AT_ONCE);
    MPI_Ibcast((char *)bytes + at, count, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    wait_for(&request);
  }
}

isoproof_status talk_agree(const talk *t, isoproof_status status, isoproof_error *error) {
  MPI_Request request;
  int mine = status != ISOPROOF_OK ? t->rank : t->ranks, first;
  MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
  wait_for(&request);
  if (first == t->ranks) return ISOPROOF_OK;
  MPI_Ibcast(error, (int)sizeof *error, MPI_BYTE, first, MPI_COMM_WORLD, &request);
  wait_for(&request);
  return error->code != ISOPROOF_OK ? (isoproof_status)error->code : ISOPROOF_ERR_INTERNAL;
}

static uint64_t reduce(uint64_t number, MPI_Op how) {
  MPI_Request request;
  uint64_t all = 0;
  MPI_Iallreduce(&number, &all, 1, MPI_UINT64_T, how, MPI_COMM_WORLD, &request);
  wait_for(&request);
  return all;
}

uint64_t talk_sum(const talk *t, uint64_t number) {
  (void)t;
  return reduce(number, MPI_SUM);
}

uint64_t talk_most(const talk *t, uint64_t number) {
  (void)t;
  return reduce(number, MPI_MAX);
}

/* ---- all to all ---- */

typedef struct {
  int *out, *out_at, *in, *in_at;
  uint8_t *sent, *got;
} parcels;

static void parcels_free(parcels *p) {
  free(p->out);
  free(p->sent);
  free(p->got);
}

/* Lengths first, then the bytes. */
static isoproof_status swap(talk *t, const iso_bytes *to, parcels *p, isoproof_error *error) {
  size_t ranks = (size_t)t->ranks, total = 0, expected = 0;
  MPI_Request request;
  p->out = iso_alloc_zero(4 * ranks, sizeof *p->out);
  if (p->out == NULL) return iso_fail_memory(error);
  p->out_at = p->out + ranks;
  p->in = p->out_at + ranks;
  p->in_at = p->in + ranks;
  for (size_t i = 0; i < ranks; i++) {
    p->out[i] = (int)to[i].count;
    p->out_at[i] = (int)total;
    total += to[i].count;
    if ((int)i != t->rank) t->exchanged += to[i].count;
  }
  MPI_Ialltoall(p->out, 1, MPI_INT, p->in, 1, MPI_INT, MPI_COMM_WORLD, &request);
  wait_for(&request);
  for (size_t i = 0; i < ranks; i++) {
    p->in_at[i] = (int)expected;
    expected += (size_t)p->in[i];
  }
  p->sent = iso_alloc(total, 1);
  p->got = iso_alloc(expected, 1);
  isoproof_status status = p->sent != NULL && p->got != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  ISO_TRY(talk_agree(t, status, error));
  for (size_t i = 0; i < ranks; i++) {
    if (to[i].count > 0) memcpy(p->sent + p->out_at[i], to[i].items, to[i].count);
  }
  MPI_Ialltoallv(p->sent, p->out, p->out_at, MPI_BYTE, p->got, p->in, p->in_at, MPI_BYTE, MPI_COMM_WORLD, &request);
  wait_for(&request);
  return ISOPROOF_OK;
}

isoproof_status talk_exchange(talk *t, const iso_bytes *to, iso_bytes *from, isoproof_error *error) {
  parcels p = {.out = NULL};
  isoproof_status status = swap(t, to, &p, error);
  for (int i = 0; status == ISOPROOF_OK && i < t->ranks; i++) {
    iso_put(&from[i], p.got + p.in_at[i], (size_t)p.in[i]);
    if (from[i].failed) status = iso_fail_memory(error);
  }
  parcels_free(&p);
  return status;
}

/* ---- questions ---- */

static void send_answer(talk *t, const iso_bytes *answer) {
  MPI_Request request;
  uint64_t length = answer->count;
  MPI_Isend(&length, 1, MPI_UINT64_T, 0, TAG_ANSWER, MPI_COMM_WORLD, &request);
  wait_for(&request);
  for (uint64_t at = 0; at < length; at += AT_ONCE) {
    int count = (int)(length - at < AT_ONCE ? length - at : AT_ONCE);
    MPI_Isend(answer->items + at, count, MPI_BYTE, 0, TAG_ANSWER, MPI_COMM_WORLD, &request);
    wait_for(&request);
  }
  t->answered += length;
}

static isoproof_status take_answer(talk *t, int rank, iso_bytes *answer, isoproof_error *error) {
  MPI_Request request;
  uint64_t length;
  MPI_Irecv(&length, 1, MPI_UINT64_T, rank, TAG_ANSWER, MPI_COMM_WORLD, &request);
  wait_for(&request);
  iso_bytes_free(answer);
  uint8_t *room = iso_put_room(answer, length);
  if (room == NULL) return iso_fail_memory(error);
  for (uint64_t at = 0; at < length; at += AT_ONCE) {
    int count = (int)(length - at < AT_ONCE ? length - at : AT_ONCE);
    MPI_Irecv(room + at, count, MPI_BYTE, rank, TAG_ANSWER, MPI_COMM_WORLD, &request);
    wait_for(&request);
  }
  t->answered += length;
  return ISOPROOF_OK;
}

static void tell(talk *t, const iso_bytes *asked) {
  uint64_t length = asked->count;
  talk_share(t, &length, sizeof length);
  talk_share(t, asked->items, length);
  t->asked += length * (uint64_t)(t->ranks - 1);
}

static isoproof_status ask(iso_team *team, iso_bytes *asked, iso_bytes *answers, isoproof_error *error) {
  talk *t = team->context;
  talk_phase(t, team->questions == 0 ? "guess" : "search");
  tell(t, asked);
  ISO_TRY(iso_member_hear(&t->member, asked, error));
  iso_part_answer(&t->member, t->part, t->task, &answers[0]);
  isoproof_status status = ISOPROOF_OK;
  for (int rank = 1; rank < t->ranks && status == ISOPROOF_OK; rank++)
    status = take_answer(t, rank, &answers[rank], error);
  return status;
}

void talk_team(talk *t, iso_team *team) { *team = (iso_team){.parts = (uint32_t)t->ranks, .ask = ask, .context = t}; }

void talk_dismiss(talk *t) {
  iso_question_head head = {.asks = ISO_ASK_END};
  iso_bytes asked = {.items = (uint8_t *)&head, .count = sizeof head};
  if (!t->ended) tell(t, &asked);
  t->ended = true;
}

isoproof_status talk_serve(talk *t, isoproof_error *error) {
  iso_bytes asked = {.count = 0}, answer = {.count = 0};
  isoproof_status status = ISOPROOF_OK;
  for (uint64_t questions = 0;; questions++) {
    uint64_t length;
    talk_share(t, &length, sizeof length);
    asked.count = 0;
    /* Nobody could be told why there is no answer. */
    if (iso_put_room(&asked, length) == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
    talk_share(t, asked.items, length);
    status = iso_member_hear(&t->member, &asked, error);
    if (status != ISOPROOF_OK) MPI_Abort(MPI_COMM_WORLD, 70);
    if ((t->member.head.asks & ISO_ASK_END) != 0) break;
    talk_phase(t, questions == 0 ? "guess" : "search");
    iso_part_answer(&t->member, t->part, t->task, &answer);
    if (answer.failed) MPI_Abort(MPI_COMM_WORLD, 3);
    send_answer(t, &answer);
  }
  iso_bytes_free(&asked);
  iso_bytes_free(&answer);
  return status;
}
