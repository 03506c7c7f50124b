/* team_state.h - the inside of a team: its messages, and what its two threads share.  Nothing is owned but what team.c
 * frees. */
#ifndef MPI_TEAM_STATE_H
#define MPI_TEAM_STATE_H

#include <pthread.h>

#include "mpi/team.h"
#include "mpi/wire.h"

enum { TEAM_TEXT = 400, TEAM_CHUNK = 32 << 10, TEAM_POSTS = 16, TEAM_PATH = 4096 };

/* WIRE_PING: `sent`; WIRE_PONG: all but `returned`.  WIRE_DATA: bytes of the part. */

/* WIRE_CONTROL, from rank 0. */
typedef enum team_order {
  TEAM_BEGIN,  /* a round */
  TEAM_TABLES, /* are there */
  TEAM_GO,
  TEAM_STOP,
  TEAM_END, /* of the round; `flag`: parts can be removed */
  TEAM_OVER /* there is no other round; `flag`: end at once, somebody is gone */
} team_order;

typedef struct team_control {
  team_order order;
  bool flag;
  team_round round;
} team_control;

/* WIRE_STATE, to rank 0. */
typedef enum team_news {
  TEAM_READY,
  TEAM_ENDED, /* its sessions; `most` */
  TEAM_FAILED,
  TEAM_DONE /* `bytes` are recorded, and `counted` counts */
} team_news;

typedef struct team_state {
  team_news news;
  isoproof_status status;
  uint64_t most, bytes;
  char text[TEAM_TEXT];
  iso_report_counts counted;
} team_state;

/* What rank 0 knows of another rank. */
typedef struct team_member {
  bool lost, ready, ended, failed, done, unanswered;
  isoproof_status status;
  char text[TEAM_TEXT];
  uint64_t most, bytes, received;
  int64_t pinged, next_ping, fed; /* moments: of the last ping, the next one, and the last news or data */
  uint64_t trips;
  iso_round_trip best; /* of the burst */
  int part;            /* the file; -1 none */
  iso_report_counts counted;
} team_member;

struct team {
  wire *w;
  int rank, size;
  int64_t patience;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  /* What the main thread wants to be sent: to all others, or to rank 0. */
  team_control orders[TEAM_POSTS];
  unsigned order_count;
  team_state *news;
  unsigned news_count;
  /* Rank 0. */
  team_member *members;
  bool in_round, begun, comparing;
  FILE *clocks;
  char folder[TEAM_PATH];
  char problem[TEAM_TEXT]; /* a file of the folder that cannot be written */
  /* The others. */
  int64_t heard; /* of rank 0 */
  bool has_round, tables, go, stop, ended, drops, over, abrupt, leader_gone;
  team_round round;
  int part;
  uint64_t sent;
};

/* The handlers of the wire: team_lead.c and team_follow.c. */
void team_lead_receive(int rank, wire_tag tag, const void *bytes, size_t size, int64_t moment, void *user);
void team_lead_turn(void *user);
void team_follow_receive(int rank, wire_tag tag, const void *bytes, size_t size, int64_t moment, void *user);
void team_follow_turn(void *user);

/* For the main thread, under the lock. */
isoproof_status team_lead_meet(team *t, isoproof_run_point point, uint64_t *most, isoproof_error *error);
isoproof_status team_follow_meet(team *t, isoproof_run_point point, uint64_t *most, isoproof_error *error);
void team_order_all(team *t, team_control control);
void team_tell(team *t, const team_state *state);
/* Waits until `is_so`, or for so many seconds (below 0: no limit); with `heeds` no longer than a moment after Ctrl-C.
 * Whether it is so. */
bool team_wait(team *t, bool (*is_so)(const team *t), double seconds, bool heeds);

#endif
