/* firebird_watch.c - a thread that ends calls which take too long: the client library of Firebird waits for ever.
 *
 * A call is cancelled first, which the server answers; when even that is not answered the connection is given up. Calls
 * only note their limits, so that nothing is paid for them; the thread looks at these a few times in a second.
 */
#include <time.h>

#include "base/task.h"
#include "database/drivers/firebird.h"

enum { LOOK_EVERY_MS = 20 };

static uint64_t now_ms(void) { return (uint64_t)(iso_now() * 1000); }

static void look_at(iso_fire_session *session, uint64_t now) {
  ISC_STATUS_ARRAY status;
  uint64_t cancel_at = atomic_load(&session->cancel_at), abort_at = atomic_load(&session->abort_at);
  if (abort_at != 0 && now >= abort_at) {
    /* A call that ended meanwhile has taken its limits away: then it is not ours to end. */
    if (!atomic_compare_exchange_strong(&session->abort_at, &abort_at, 0)) return;
    session->fb->fb_cancel_operation(status, &session->attachment, fb_cancel_abort);
  } else if (cancel_at != 0 && now >= cancel_at) {
    if (!atomic_compare_exchange_strong(&session->cancel_at, &cancel_at, 0)) return;
    atomic_store(&session->timed_out, true);
    session->fb->fb_cancel_operation(status, &session->attachment, fb_cancel_raise);
  }
}

static void *run(void *user) {
  iso_fire_watch *watch = user;
  pthread_mutex_lock(&watch->mutex);
  while (!watch->ends) {
    uint64_t now = now_ms();
    for (iso_fire_session *s = watch->sessions; s != NULL; s = s->next) look_at(s, now);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_EVERY_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    if (!watch->ends) pthread_cond_timedwait(&watch->ended, &watch->mutex, &until);
  }
  pthread_mutex_unlock(&watch->mutex);
  return NULL;
}

isoproof_status iso_fire_watch_start(iso_fire_watch *watch, isoproof_error *error) {
  pthread_mutex_init(&watch->mutex, NULL);
  pthread_cond_init(&watch->ended, NULL);
  watch->running = pthread_create(&watch->thread, NULL, run, watch) == 0;
  return watch->running ? ISOPROOF_OK : iso_fail(error, ISOPROOF_ERR_IO, "cannot start a thread");
}

void iso_fire_watch_stop(iso_fire_watch *watch) {
  if (watch->running) {
    pthread_mutex_lock(&watch->mutex);
    watch->ends = true;
    pthread_cond_signal(&watch->ended);
    pthread_mutex_unlock(&watch->mutex);
    pthread_join(watch->thread, NULL);
  }
  pthread_mutex_destroy(&watch->mutex);
  pthread_cond_destroy(&watch->ended);
}

void iso_fire_watch_add(iso_fire_watch *watch, iso_fire_session *session) {
  pthread_mutex_lock(&watch->mutex);
  session->next = watch->sessions;
  watch->sessions = session;
  pthread_mutex_unlock(&watch->mutex);
}

void iso_fire_watch_remove(iso_fire_watch *watch, iso_fire_session *session) {
  pthread_mutex_lock(&watch->mutex);
  for (iso_fire_session **at = &watch->sessions; *at != NULL; at = &(*at)->next) {
    if (*at != session) continue;
    *at = session->next;
    break;
  }
  pthread_mutex_unlock(&watch->mutex);
}

void iso_fire_limit(iso_fire_session *session, uint32_t cancel_ms, uint32_t abort_ms) {
  uint64_t now = cancel_ms > 0 || abort_ms > 0 ? now_ms() : 0;
  atomic_store(&session->cancel_at, cancel_ms > 0 ? now + cancel_ms : 0);
  atomic_store(&session->abort_at, abort_ms > 0 ? now + abort_ms : 0);
}
