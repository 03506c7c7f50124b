/* wire.c - messages by MPI that are started and asked after, never waited for. */
#include "mpi/wire.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NAP_US = 200, AWAKE_US = 300, CLOSE_MS = 3000, START_SECONDS = 60, FINALIZE_SECONDS = 20 };

/* One that is on its way, in a list: the oldest first. */
typedef struct letter {
  struct letter *next;
  MPI_Request request;
  int rank;
  wire_tag tag;
  int size;
  int64_t moment;
  unsigned char bytes[];
} letter;

struct wire {
  int rank, size;
  bool started;
  pthread_t thread;
  atomic_bool ends;
  wire_handler handler;
  letter *sent, *coming;
  unsigned *unsent; /* by rank */
  bool *gone;       /* by rank */
  bool somebody_gone;
  int64_t awake; /* until then the thread takes no nap: another message for the clocks may come at once */
};

int64_t wire_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- the beginning and the end, where MPI waits for all ranks: not for ever ---- */

static volatile sig_atomic_t code_at_last, beginning;

static void end_now(int signal_number) {
  static const char text[] = "isoproof-mpi: MPI does not start: not all processes are there\n";
  (void)signal_number;
  if (beginning && write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit((int)code_at_last);
  _exit((int)code_at_last);
}

static void limit_begin(int seconds, int code, bool at_start) {
  code_at_last = code;
  beginning = at_start;
  signal(SIGALRM, end_now);
  alarm((unsigned)seconds);
}

static void limit_end(void) { alarm(0); }

wire *wire_open(int code) {
  int level;
  wire *w = calloc(1, sizeof *w);
  limit_begin(START_SECONDS, code, true);
  bool good = w != NULL && MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) == MPI_SUCCESS;
  limit_end();
  if (!good) {
    free(w);
    return NULL;
  }
  /* An error of one rank must not end this one. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &w->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &w->size);
  w->unsent = calloc((size_t)w->size, sizeof *w->unsent);
  w->gone = calloc((size_t)w->size, sizeof *w->gone);
  return w;
}

int wire_rank(const wire *w) { return w->rank; }
int wire_size(const wire *w) { return w->size; }
unsigned wire_unsent(const wire *w, int rank) { return w->unsent[rank]; }

static letter *letter_new(int rank, wire_tag tag, int size) {
  letter *made = malloc(sizeof *made + (size_t)size);
  if (made == NULL) return NULL;
  *made = (letter){.rank = rank, .tag = tag, .size = size, .request = MPI_REQUEST_NULL};
  return made;
}

static void put_last(letter **list, letter *one) {
  while (*list != NULL) list = &(*list)->next;
  *list = one;
}

static void stay_awake(wire *w, wire_tag tag) {
  if (tag == WIRE_PING || tag == WIRE_PONG) w->awake = wire_now() + (int64_t)AWAKE_US * 1000;
}

bool wire_send(wire *w, int rank, wire_tag tag, const void *bytes, size_t size) {
  if (w->gone[rank]) return true;
  letter *one = letter_new(rank, tag, (int)size);
  if (one == NULL) return false;
  memcpy(one->bytes, bytes, size);
  if (MPI_Isend(one->bytes, one->size, MPI_BYTE, rank, (int)tag, MPI_COMM_WORLD, &one->request) != MPI_SUCCESS) {
    free(one);
    wire_give_up(w, rank);
    return true;
  }
  w->unsent[rank]++;
  put_last(&w->sent, one);
  stay_awake(w, tag);
  return true;
}

/* Its letters are left where they are: MPI may still write to them. */
void wire_give_up(wire *w, int rank) { w->gone[rank] = w->somebody_gone = true; }

/* ---- the thread ---- */

static bool is_done(wire *w, letter *one) {
  int done = 0;
  if (w->gone[one->rank]) return false;
  if (MPI_Test(&one->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) wire_give_up(w, one->rank);
  return done != 0 && !w->gone[one->rank];
}

static void forget_sent(wire *w) {
  for (letter **at = &w->sent; *at != NULL;) {
    letter *one = *at;
    if (!is_done(w, one)) {
      at = &one->next;
      continue;
    }
    *at = one->next;
    w->unsent[one->rank]--;
    free(one);
  }
}

/* Begins to receive what has arrived, at most a few messages at a time; false when nothing has. */
static bool begin_receiving(wire *w) {
  int there = 0, size = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS || !there) return false;
  int64_t moment = wire_now();
  MPI_Get_count(&status, MPI_BYTE, &size);
  letter *one = size >= 0 && size <= WIRE_MOST_BYTES && status.MPI_TAG >= 0 && status.MPI_TAG < WIRE_TAGS
                    ? letter_new(status.MPI_SOURCE, (wire_tag)status.MPI_TAG, size)
                    : NULL;
  if (one == NULL) return false;
  one->moment = moment;
  if (MPI_Irecv(one->bytes, size, MPI_BYTE, one->rank, (int)one->tag, MPI_COMM_WORLD, &one->request) != MPI_SUCCESS) {
    wire_give_up(w, one->rank);
    free(one);
    return true;
  }
  put_last(&w->coming, one);
  return true;
}

/* Hands on what has come, of each rank in order. */
static void hand_on(wire *w) {
  for (letter **at = &w->coming; *at != NULL;) {
    letter *one = *at;
    bool behind = false;
    for (const letter *before = w->coming; before != one; before = before->next)
      behind = behind || before->rank == one->rank;
    if (behind || !is_done(w, one)) {
      at = &one->next;
      continue;
    }
    *at = one->next;
    w->handler.receive(one->rank, one->tag, one->bytes, (size_t)one->size, one->moment, w->handler.user);
    free(one);
  }
}

static void *main_of_thread(void *argument) {
  wire *w = argument;
  int64_t limit = 0;
  for (;;) {
    enum { AT_ONCE = 16 };
    for (int i = 0; i < AT_ONCE && begin_receiving(w); i++) continue;
    hand_on(w);
    forget_sent(w);
    w->handler.turn(w->handler.user);
    if (limit > 0) { /* the turn has sent what there was to send */
      bool busy = false, late = wire_now() >= limit;
      for (int i = 0; i < w->size; i++) busy = busy || (w->unsent[i] > 0 && !w->gone[i]);
      if (busy && late) w->somebody_gone = true;
      if (!busy || late) return NULL;
    }
    if (limit == 0 && atomic_load(&w->ends)) limit = wire_now() + (int64_t)CLOSE_MS * 1000000;
    if (wire_now() < w->awake)
      sched_yield();
    else
      nanosleep(&(struct timespec){.tv_nsec = NAP_US * 1000L}, NULL);
  }
}

bool wire_start(wire *w, wire_handler handler) {
  if (w->unsent == NULL || w->gone == NULL) return false;
  w->handler = handler;
  w->started = pthread_create(&w->thread, NULL, main_of_thread, w) == 0;
  return w->started;
}

bool wire_close(wire *w, int code, bool whole) {
  atomic_store(&w->ends, true);
  if (w->started) pthread_join(w->thread, NULL);
  if (!whole || w->somebody_gone) return false;
  /* A rank that dies now would be waited for. */
  limit_begin(FINALIZE_SECONDS, code, false);
  MPI_Finalize();
  limit_end();
  free(w->unsent);
  free(w->gone);
  free(w);
  return true;
}
