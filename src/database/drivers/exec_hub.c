/* exec_hub.c - a process and the sessions that share it: whoever waits first reads for all.
 *
 * A process of its own has one session, and every line is for that.  A shared process says of each line for which
 * session it is; the session that happens to read it puts it into that one's box.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/task.h"
#include "database/drivers/exec.h"

struct iso_exec_hub {
  iso_exec_process process;
  bool shared;
  pthread_mutex_t lock;     /* for all below */
  pthread_mutex_t speaking; /* one line at a time */
  pthread_cond_t news;
  bool reading;       /* some session reads for all */
  iso_exec_heard end; /* why nothing comes any more; ISO_EXEC_LINE: it does */
  bool retired;       /* another one has taken its place */
  iso_exec_box *boxes;
  uint64_t last_session;
};

isoproof_status iso_exec_hub_new(const char *command, iso_exec_hub **hub, isoproof_error *error) {
  iso_exec_hub *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&made->lock, NULL);
  pthread_mutex_init(&made->speaking, NULL);
  pthread_cond_init(&made->news, &monotonic);
  pthread_condattr_destroy(&monotonic);
  *hub = made;
  return iso_exec_start(&made->process, command, error);
}

void iso_exec_hub_free(iso_exec_hub *hub) {
  if (hub == NULL) return;
  iso_exec_stop(&hub->process);
  pthread_cond_destroy(&hub->news);
  pthread_mutex_destroy(&hub->speaking);
  pthread_mutex_destroy(&hub->lock);
  free(hub);
}

void iso_exec_hub_share(iso_exec_hub *hub) { hub->shared = true; }
pid_t iso_exec_hub_pid(const iso_exec_hub *hub) { return hub->process.pid; }

void iso_exec_hub_join(iso_exec_hub *hub, iso_exec_box *box) {
  pthread_mutex_lock(&hub->lock);
  box->hub = hub;
  box->session = ++hub->last_session;
  box->next = hub->boxes;
  hub->boxes = box;
  pthread_mutex_unlock(&hub->lock);
}

void iso_exec_hub_leave(iso_exec_box *box) {
  iso_exec_hub *hub = box->hub;
  if (hub == NULL) return;
  pthread_mutex_lock(&hub->lock);
  for (iso_exec_box **at = &hub->boxes; *at != NULL; at = &(*at)->next) {
    if (*at != box) continue;
    *at = box->next;
    break;
  }
  bool last = hub->retired && hub->boxes == NULL;
  pthread_mutex_unlock(&hub->lock);
  iso_vec_free(&box->line.text);
  iso_vec_free(&box->arrived.text);
  box->hub = NULL;
  if (last) iso_exec_hub_free(hub);
}

bool iso_exec_hub_ended(iso_exec_hub *hub) {
  pthread_mutex_lock(&hub->lock);
  bool ended = hub->end != ISO_EXEC_LINE;
  pthread_mutex_unlock(&hub->lock);
  return ended;
}

bool iso_exec_hub_retire(iso_exec_hub *hub) {
  pthread_mutex_lock(&hub->lock);
  hub->retired = true;
  bool empty = hub->boxes == NULL;
  pthread_mutex_unlock(&hub->lock);
  return empty;
}

bool iso_exec_hub_send(iso_exec_box *box, const char *text, size_t length, uint32_t timeout_ms) {
  iso_exec_hub *hub = box->hub;
  pthread_mutex_lock(&hub->speaking);
  bool sent = iso_exec_send(&hub->process, text, length, timeout_ms);
  pthread_mutex_unlock(&hub->speaking);
  if (sent) return true;
  /* It no longer listens, or has half a line: nobody is understood any more. */
  pthread_mutex_lock(&hub->lock);
  if (hub->end == ISO_EXEC_LINE) hub->end = ISO_EXEC_CLOSED;
  pthread_cond_broadcast(&hub->news);
  pthread_mutex_unlock(&hub->lock);
  return false;
}

/* Puts a line where it belongs; the lock is held.  What nobody waits for any more is let go. */
static bool deliver(iso_exec_hub *hub, const char *line, size_t length) {
  uint64_t session = 0;
  if (hub->shared && !iso_exec_read_session(line, length, &session)) return false;
  for (iso_exec_box *box = hub->boxes; box != NULL; box = box->next) {
    if (hub->shared && box->session != session) continue;
    box->arrived.text.count = 0;
    if (!iso_vec_reserve(&box->arrived.text, length + 1)) return false;
    memcpy(box->arrived.text.items, line, length + 1);
    box->arrived.text.count = length;
    box->full = true;
    break;
  }
  return true;
}

/* Reads one line for whoever it is for; the lock is held, but not while waiting. */
static void read_for_all(iso_exec_hub *hub, uint32_t timeout_ms) {
  char *line;
  size_t length;
  hub->reading = true;
  pthread_mutex_unlock(&hub->lock);
  iso_exec_heard heard = iso_exec_hear(&hub->process, timeout_ms, &line, &length);
  pthread_mutex_lock(&hub->lock);
  hub->reading = false;
  if (heard == ISO_EXEC_LINE && !deliver(hub, line, length)) heard = ISO_EXEC_TOO_LONG;
  if (heard == ISO_EXEC_CLOSED || heard == ISO_EXEC_TOO_LONG) hub->end = heard;
  if (heard == ISO_EXEC_WOKEN) iso_exec_rest(&hub->process);
  pthread_cond_broadcast(&hub->news);
}

static void wait_for_news(iso_exec_hub *hub, double until) {
  struct timespec at = {.tv_sec = (time_t)until, .tv_nsec = (long)((until - (double)(time_t)until) * 1e9)};
  if (until > 0)
    pthread_cond_timedwait(&hub->news, &hub->lock, &at);
  else
    pthread_cond_wait(&hub->news, &hub->lock);
}

iso_exec_heard iso_exec_hub_hear(iso_exec_box *box, uint32_t timeout_ms) {
  iso_exec_hub *hub = box->hub;
  double until = timeout_ms > 0 ? iso_now() + timeout_ms / 1000.0 : 0;
  iso_exec_heard heard = ISO_EXEC_SILENT;
  pthread_mutex_lock(&hub->lock);
  for (;;) {
    double left = until > 0 ? until - iso_now() : 1;
    if (box->full || atomic_load(&box->woken) || hub->end != ISO_EXEC_LINE || left <= 0) break;
    if (hub->reading)
      wait_for_news(hub, until);
    else
      read_for_all(hub, until > 0 ? (uint32_t)(left * 1000) + 1 : 0);
  }
  if (box->full) {
    /* A program may say more than it was asked: that never reaches a line that is being read. */
    iso_exec_text taken = box->arrived;
    box->arrived = box->line;
    box->line = taken;
    heard = ISO_EXEC_LINE;
  } else if (atomic_load(&box->woken)) {
    heard = ISO_EXEC_WOKEN;
  } else if (hub->end != ISO_EXEC_LINE) {
    heard = hub->end;
  }
  box->full = false;
  pthread_mutex_unlock(&hub->lock);
  return heard;
}

void iso_exec_hub_wake(iso_exec_box *box) {
  atomic_store(&box->woken, true);
  iso_exec_wake(&box->hub->process);
  pthread_mutex_lock(&box->hub->lock);
  pthread_cond_broadcast(&box->hub->news);
  pthread_mutex_unlock(&box->hub->lock);
}
