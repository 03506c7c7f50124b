/* Messages between the ranks of a check. */
#include "mpi/talk.h"

#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* MPI counts bytes by int. */
enum { AT_ONCE = 1 << 30, TAG_BYTES = 71 };
/* As the program has them. */
enum { EXIT_NO_MEMORY = 3, EXIT_BROKEN = 70 };

static uint64_t nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Between two looks.  At first others get the processor and nobody sleeps, since most answers are a few microseconds
 * away; a longer wait sleeps, for a part of what it has waited so far. */
static void pause_since(uint64_t began) {
  enum { AWAKE = 200000, MOST = 1000000 }; /* nanoseconds */
  uint64_t waited = nanoseconds() - began;
  if (waited < AWAKE) {
    (void)sched_yield();
    return;
  }
  struct timespec nap = {0, (long)(waited / 4 < MOST ? waited / 4 : MOST)};
  (void)nanosleep(&nap, NULL);
}

static void wait_for(MPI_Request *request) {
  uint64_t began = nanoseconds();
  for (int done = 0;;) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    pause_since(began);
  }
}

_Noreturn void talk_give_up(void) {
  (void)fputs("isoproof-mpi: out of memory\n", stderr);
  MPI_Abort(MPI_COMM_WORLD, EXIT_NO_MEMORY);
  abort();
}

void *talk_room(size_t count, size_t size) {
  void *room = iso_alloc_zero(count, size);
  if (room == NULL) talk_give_up();
  return room;
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

void talk_or(const talk *t, uint8_t *bits, size_t bytes) {
  MPI_Request request;
  MPI_Ireduce(t->rank == 0 ? MPI_IN_PLACE : bits, bits, (int)bytes, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD, &request);
  wait_for(&request);
}

uint64_t talk_most(const talk *t, uint64_t number) {
  (void)t;
  return reduce(number, MPI_MAX);
}

/* ---- all to all ---- */

/* What one rank tells another before it sends. */
typedef struct {
  uint32_t lists, ops; /* bytes */
  uint32_t failed;     /* it will not send, and says why in talk_agree */
  uint32_t more;       /* there will be another round */
} notice;

typedef struct {
  notice *out, *in;
  int *counts; /* sent, where these begin, got, where these begin: one row of each */
  uint8_t *sent, *got;
} parcels;

static bool parcels_make(parcels *p, size_t ranks) {
  p->out = iso_alloc_zero(2 * ranks, sizeof *p->out);
  p->counts = iso_alloc_zero(4 * ranks, sizeof *p->counts);
  if (p->out != NULL) p->in = p->out + ranks;
  return p->out != NULL && p->counts != NULL;
}

static void parcels_free(parcels *p) {
  free(p->out);
  free(p->counts);
  free(p->sent);
  free(p->got);
}

/* Says how much will come; false where somebody failed. */
static bool announce(talk *t, const iso_bytes *lists, const iso_bytes *ops, bool failed, bool *more, parcels *p) {
  MPI_Request request;
  bool good = true;
  for (int i = 0; i < t->ranks; i++) {
    p->out[i] = (notice){(uint32_t)lists[i].count, (uint32_t)ops[i].count, failed, *more};
    if (i != t->rank) t->exchanged += lists[i].count + ops[i].count;
  }
  MPI_Ialltoall(p->out, (int)sizeof *p->out, MPI_BYTE, p->in, (int)sizeof *p->in, MPI_BYTE, MPI_COMM_WORLD, &request);
  wait_for(&request);
  for (int i = 0; i < t->ranks; i++) {
    good = good && !p->in[i].failed;
    *more = *more || p->in[i].more;
  }
  return good;
}

static void carry(const talk *t, const iso_bytes *lists, const iso_bytes *ops, parcels *p) {
  size_t ranks = (size_t)t->ranks, total = 0, expected = 0;
  int *out = p->counts, *out_at = out + ranks, *in = out_at + ranks, *in_at = in + ranks;
  MPI_Request request;
  for (size_t i = 0; i < ranks; i++) {
    out[i] = (int)(p->out[i].lists + p->out[i].ops);
    in[i] = (int)(p->in[i].lists + p->in[i].ops);
    out_at[i] = (int)total;
    in_at[i] = (int)expected;
    total += (size_t)out[i];
    expected += (size_t)in[i];
  }
  p->sent = iso_alloc(total, 1);
  p->got = expected <= INT_MAX ? iso_alloc(expected, 1) : NULL;
  if (p->sent == NULL || p->got == NULL) talk_give_up();
  for (size_t i = 0; i < ranks; i++) {
    uint8_t *at = p->sent + out_at[i];
    if (lists[i].count > 0) memcpy(at, lists[i].items, lists[i].count);
    if (ops[i].count > 0) memcpy(at + lists[i].count, ops[i].items, ops[i].count);
  }
  MPI_Ialltoallv(p->sent, out, out_at, MPI_BYTE, p->got, in, in_at, MPI_BYTE, MPI_COMM_WORLD, &request);
  wait_for(&request);
}

static isoproof_status limit(const talk *t, const iso_bytes *lists, const iso_bytes *ops, isoproof_error *error) {
  uint64_t total = 0;
  for (int i = 0; i < t->ranks; i++) total += lists[i].count + ops[i].count;
  return total <= INT_MAX ? ISOPROOF_OK : iso_fail(error, ISOPROOF_ERR_LIMIT, "lists are too long to be exchanged");
}

isoproof_status talk_exchange(talk *t, isoproof_status status, const iso_bytes *lists, const iso_bytes *ops, bool *more,
                              iso_shipment *from, isoproof_error *error) {
  parcels p = {.out = NULL};
  if (!parcels_make(&p, (size_t)t->ranks)) talk_give_up();
  if (status == ISOPROOF_OK) status = limit(t, lists, ops, error);
  bool good = announce(t, lists, ops, status != ISOPROOF_OK, more, &p);
  if (good) carry(t, lists, ops, &p);
  for (int i = 0; good && i < t->ranks; i++) {
    const uint8_t *got = p.got + p.counts[3 * t->ranks + i];
    iso_put(&from[i].lists, got, p.in[i].lists);
    iso_put(&from[i].ops, got + p.in[i].lists, p.in[i].ops);
    if (from[i].lists.failed || from[i].ops.failed) talk_give_up();
  }
  parcels_free(&p);
  return good ? ISOPROOF_OK : talk_agree(t, status, error);
}

/* ---- from one to another ---- */

/* The first of the messages has the length of all in front; what is short is one message. */
static void send_bytes(int rank, const iso_bytes *bytes) {
  MPI_Request request;
  uint64_t length = bytes->count, first = length < AT_ONCE ? length : AT_ONCE;
  iso_bytes head = {.count = 0};
  iso_put_u64(&head, length);
  iso_put(&head, bytes->items, first);
  if (head.failed) talk_give_up();
  MPI_Isend(head.items, (int)head.count, MPI_BYTE, rank, TAG_BYTES, MPI_COMM_WORLD, &request);
  wait_for(&request);
  iso_bytes_free(&head);
  for (uint64_t at = first; at < length; at += AT_ONCE) {
    int count = (int)(length - at < AT_ONCE ? length - at : AT_ONCE);
    MPI_Isend(bytes->items + at, count, MPI_BYTE, rank, TAG_BYTES, MPI_COMM_WORLD, &request);
    wait_for(&request);
  }
}

/* The length of the message that comes from a rank. */
static int await_message(int rank, MPI_Message *coming) {
  MPI_Status status;
  uint64_t began = nanoseconds();
  int there = 0, bytes;
  for (;;) {
    MPI_Improbe(rank, TAG_BYTES, MPI_COMM_WORLD, &there, coming, &status);
    if (there) break;
    pause_since(began);
  }
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  return bytes;
}

static void take_bytes(int rank, iso_bytes *bytes) {
  MPI_Request request;
  MPI_Message coming;
  uint64_t length;
  size_t first = (size_t)await_message(rank, &coming);
  iso_bytes_free(bytes);
  uint8_t *room = iso_put_room(bytes, first);
  if (room == NULL) talk_give_up();
  MPI_Imrecv(room, (int)first, MPI_BYTE, &coming, &request);
  wait_for(&request);
  memcpy(&length, room, sizeof length);
  memmove(room, room + sizeof length, first - sizeof length);
  bytes->count = first - sizeof length;
  while (bytes->count < length) {
    uint64_t left = length - bytes->count, count = left < AT_ONCE ? left : AT_ONCE;
    room = iso_put_room(bytes, count);
    if (room == NULL) talk_give_up();
    MPI_Irecv(room, (int)count, MPI_BYTE, rank, TAG_BYTES, MPI_COMM_WORLD, &request);
    wait_for(&request);
  }
}

void talk_send(talk *t, int rank, const iso_bytes *bytes) {
  send_bytes(rank, bytes);
  t->exchanged += bytes->count;
}

void talk_take(const talk *t, int rank, iso_bytes *bytes) {
  (void)t;
  take_bytes(rank, bytes);
}

/* ---- questions ---- */

/* A question in one broadcast where it is short: its length, and its beginning. */
typedef struct {
  uint64_t length;
  uint8_t first[504];
} question;

static void tell(talk *t, const iso_bytes *asked) {
  question q = {.length = asked->count};
  size_t first = asked->count < sizeof q.first ? asked->count : sizeof q.first;
  memset(q.first, 0, sizeof q.first);
  memcpy(q.first, asked->items, first);
  talk_share(t, &q, sizeof q);
  if (asked->count > first) talk_share(t, asked->items + first, asked->count - first);
  t->asked += asked->count * (uint64_t)(t->ranks - 1);
}

static void hear(const talk *t, iso_bytes *asked) {
  question q;
  talk_share(t, &q, sizeof q);
  size_t first = q.length < sizeof q.first ? (size_t)q.length : sizeof q.first;
  asked->count = 0;
  uint8_t *room = iso_put_room(asked, q.length);
  if (room == NULL) talk_give_up();
  memcpy(room, q.first, first);
  if (q.length > first) talk_share(t, room + first, q.length - first);
}

static isoproof_status ask(iso_team *team, iso_bytes *asked, iso_bytes *answers, isoproof_error *error) {
  talk *t = team->context;
  talk_phase(t, team->questions == 0 ? "guess" : "search");
  tell(t, asked);
  isoproof_status status = iso_member_hear(&t->member, asked, error);
  if (status == ISOPROOF_OK) iso_part_answer(&t->member, t->part, t->task, &answers[0]);
  for (int rank = 1; rank < t->ranks; rank++) {
    take_bytes(rank, &answers[rank]);
    t->answered += answers[rank].count;
  }
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
    hear(t, &asked);
    status = iso_member_hear(&t->member, &asked, error);
    if (status == ISOPROOF_ERR_MEMORY) talk_give_up();
    if (status != ISOPROOF_OK) MPI_Abort(MPI_COMM_WORLD, EXIT_BROKEN);
    if ((t->member.head.asks & ISO_ASK_END) != 0) break;
    talk_phase(t, questions == 0 ? "guess" : "search");
    iso_part_answer(&t->member, t->part, t->task, &answer);
    if (answer.failed) talk_give_up();
    send_bytes(0, &answer);
    t->answered += answer.count;
  }
  iso_bytes_free(&asked);
  iso_bytes_free(&answer);
  return status;
}
