/* exec.h - a client in any language: a program that speaks JSON lines on its standard streams (docs/exec.md).
 *
 * Every session has a process of its own, or one process serves all sessions of a node, as the program says.  A process
 * owns its streams until iso_exec_stop; one thread at a time sends and one hears, and any may wake.
 */
#ifndef ISO_DATABASE_DRIVERS_EXEC_H
#define ISO_DATABASE_DRIVERS_EXEC_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "database/driver_table.h"

enum {
  ISO_EXEC_VERSION = 1,
  ISO_EXEC_MOST_LINE = ISO_MOST_REPLY_BYTES,
  ISO_EXEC_MOST_NAME = 64,
  ISO_EXEC_MOST_NOTE = 200
};

/* ---- exec_process.c: the process and its lines ---- */

typedef struct iso_exec_process {
  pid_t pid; /* 0: none */
  int to, from, wake;
  ISO_VEC(char) input; /* what came and was not handed out yet */
  size_t taken;        /* of it: the line that was handed out */
} iso_exec_process;

typedef enum iso_exec_heard {
  ISO_EXEC_LINE,
  ISO_EXEC_CLOSED,  /* the program ended, or closed its output */
  ISO_EXEC_SILENT,  /* no line came in time */
  ISO_EXEC_WOKEN,   /* iso_exec_wake was called */
  ISO_EXEC_TOO_LONG /* a line of more than ISO_EXEC_MOST_LINE bytes, or no memory for it */
} iso_exec_heard;

/* Starts a command of the shell, with pipes as its standard input and output; its errors go where ours do. */
isoproof_status iso_exec_start(iso_exec_process *process, const char *command, isoproof_error *error);
/* Closes its streams, waits for its end for a while, and then kills it with everything that it started. */
void iso_exec_stop(iso_exec_process *process);
/* Sends a line; false when the program no longer listens, or does not for so long. */
bool iso_exec_send(iso_exec_process *process, const char *text, size_t length, uint32_t timeout_ms);
/* The next line, terminated in place of its newline and valid until the next call; timeout_ms 0: waits for ever. */
iso_exec_heard iso_exec_hear(iso_exec_process *process, uint32_t timeout_ms, char **line, size_t *length);
/* Ends the waiting of another thread; iso_exec_rest makes waiting possible again. */
void iso_exec_wake(const iso_exec_process *process);
void iso_exec_rest(const iso_exec_process *process);

/* ---- exec_hub.c: a process and its sessions ---- */

typedef struct iso_exec_hub iso_exec_hub;

typedef struct iso_exec_text {
  ISO_VEC(char) text;
} iso_exec_text;

/* Where the answers of a session arrive.  The session owns it, and has the hub until it leaves. */
typedef struct iso_exec_box {
  iso_exec_hub *hub; /* NULL: none */
  uint64_t session;
  iso_exec_text line;    /* the answer, terminated, as it was heard: the session's alone */
  iso_exec_text arrived; /* what came since, when it is full: under the lock of the hub */
  bool full;
  atomic_bool woken;
  struct iso_exec_box *next;
} iso_exec_box;

/* Starts a process; *hub is to be freed also after a failure, when it is not NULL.  Frees after all have left. */
isoproof_status iso_exec_hub_new(const char *command, iso_exec_hub **hub, isoproof_error *error);
void iso_exec_hub_free(iso_exec_hub *hub);
/* From now on every line says which session it is for. */
void iso_exec_hub_share(iso_exec_hub *hub);
pid_t iso_exec_hub_pid(const iso_exec_hub *hub);
void iso_exec_hub_join(iso_exec_hub *hub, iso_exec_box *box);
/* Frees the hub, too, when nobody else is left in one that is retired. */
void iso_exec_hub_leave(iso_exec_box *box);
/* Whether nothing comes any more, as a session has found out. */
bool iso_exec_hub_ended(iso_exec_hub *hub);
/* Nobody joins any more: true when nobody is left, and the caller frees it; else the last to leave does. */
bool iso_exec_hub_retire(iso_exec_hub *hub);
bool iso_exec_hub_send(iso_exec_box *box, const char *text, size_t length, uint32_t timeout_ms);
/* Waits for the next line of the session; timeout_ms 0: for ever. */
iso_exec_heard iso_exec_hub_hear(iso_exec_box *box, uint32_t timeout_ms);
/* Ends the waiting of the session, now and later; from any thread. */
void iso_exec_hub_wake(iso_exec_box *box);

/* ---- exec_answer.c: what a line says ---- */

/* What an answer can say beside its results, which go into the reply. */
typedef struct iso_exec_answer {
  bool ok;
  iso_error_class error_class; /* of what is not ok */
  bool has_txn;
  iso_txn_state txn; /* what it says has become of the transaction */
  char code[ISO_CODE_BYTES], message[ISO_MESSAGE_BYTES];
  bool has_value, has_list, has_rows, has_count, has_affected;
} iso_exec_answer;

/* Which session a line is for. */
bool iso_exec_read_session(const char *line, size_t length, uint64_t *session);
/* Reads an answer; the error says what is wrong with it. */
isoproof_status iso_exec_read_answer(const char *line, size_t length, iso_exec_answer *answer, iso_reply *reply,
                                     isoproof_error *error);

/* What a program says of itself. */
typedef struct iso_exec_isolation {
  char name[ISO_EXEC_MOST_NAME], level[ISO_EXEC_MOST_NAME], note[ISO_EXEC_MOST_NOTE];
} iso_exec_isolation;

typedef struct iso_exec_hello {
  bool shared; /* one process serves all sessions of a node */
  char version[ISO_VERSION_BYTES];
  iso_capabilities can;
  iso_exec_isolation isolations[ISO_MOST_ISOLATIONS];
  size_t isolation_count, default_isolation;
} iso_exec_hello;

isoproof_status iso_exec_read_hello(const char *line, size_t length, iso_exec_hello *hello, isoproof_error *error);

#endif
