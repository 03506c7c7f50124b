/* driver_async.c - requests that are started, polled and finished: a thread of the connection does them.
 *
 * A thread serves every driver alike.  The non-blocking interfaces of the client libraries would serve two of them, at
 * the price of a second way through each driver.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "database/driver_table.h"

typedef enum phase { RESTING, ASKED, ANSWERED, LEAVING } phase;

struct iso_worker {
  iso_connection *connection;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  phase phase;
  iso_driver_request request;
  char *sql; /* a copy of the request's */
  iso_reply reply;
};

static void *work(void *user) {
  iso_worker *worker = user;
  pthread_mutex_lock(&worker->mutex);
  for (;;) {
    while (worker->phase != ASKED && worker->phase != LEAVING) pthread_cond_wait(&worker->changed, &worker->mutex);
    if (worker->phase == LEAVING) break;
    pthread_mutex_unlock(&worker->mutex);
    iso_do(worker->connection, &worker->request, &worker->reply);
    pthread_mutex_lock(&worker->mutex);
    if (worker->phase == ASKED) worker->phase = ANSWERED;
    pthread_cond_broadcast(&worker->changed);
  }
  pthread_mutex_unlock(&worker->mutex);
  return NULL;
}

static bool make_primitives(iso_worker *worker) {
  pthread_condattr_t attributes;
  if (pthread_mutex_init(&worker->mutex, NULL) != 0) return false;
  if (pthread_condattr_init(&attributes) != 0) {
    pthread_mutex_destroy(&worker->mutex);
    return false;
  }
  bool made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
              pthread_cond_init(&worker->changed, &attributes) == 0;
  pthread_condattr_destroy(&attributes);
  if (!made) pthread_mutex_destroy(&worker->mutex);
  return made;
}

static isoproof_status make_worker(iso_connection *connection, isoproof_error *error) {
  iso_worker *worker = iso_alloc_zero(1, sizeof *worker);
  if (worker == NULL) return iso_fail_memory(error);
  worker->connection = connection;
  if (!make_primitives(worker)) {
    free(worker);
    return iso_fail_memory(error);
  }
  int failed = pthread_create(&worker->thread, NULL, work, worker);
  if (failed != 0) {
    pthread_cond_destroy(&worker->changed);
    pthread_mutex_destroy(&worker->mutex);
    free(worker);
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "cannot start a thread for a connection: %s", strerror(failed));
  }
  connection->worker = worker;
  return ISOPROOF_OK;
}

void iso_worker_free(iso_worker *worker) {
  if (worker == NULL) return;
  pthread_mutex_lock(&worker->mutex);
  bool busy = worker->phase == ASKED;
  worker->phase = LEAVING;
  pthread_cond_broadcast(&worker->changed);
  pthread_mutex_unlock(&worker->mutex);
  /* Nobody will take the answer: do not wait for a lock any longer. */
  if (busy) iso_cancel(worker->connection);
  pthread_join(worker->thread, NULL);
  pthread_cond_destroy(&worker->changed);
  pthread_mutex_destroy(&worker->mutex);
  iso_reply_free(&worker->reply);
  free(worker->sql);
  free(worker);
}

isoproof_status iso_start(iso_connection *connection, const iso_driver_request *request, isoproof_error *error) {
  if (connection->worker == NULL) ISO_TRY(make_worker(connection, error));
  iso_worker *worker = connection->worker;
  pthread_mutex_lock(&worker->mutex);
  isoproof_status status = ISOPROOF_OK;
  if (worker->phase != RESTING) {
    status = iso_fail(error, ISOPROOF_ERR_USAGE, "a request of this connection is under way already");
  } else {
    free(worker->sql);
    worker->sql = request->sql != NULL ? strdup(request->sql) : NULL;
    if (request->sql != NULL && worker->sql == NULL) status = iso_fail_memory(error);
  }
  if (status == ISOPROOF_OK) {
    worker->request = *request;
    worker->request.sql = worker->sql;
    worker->phase = ASKED;
    pthread_cond_broadcast(&worker->changed);
  }
  pthread_mutex_unlock(&worker->mutex);
  return status;
}

bool iso_poll(iso_connection *connection, uint32_t timeout_ms) {
  iso_worker *worker = connection->worker;
  if (worker == NULL) return true;
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += timeout_ms / 1000;
  until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  pthread_mutex_lock(&worker->mutex);
  int waited = 0;
  while (worker->phase == ASKED && timeout_ms > 0 && waited != ETIMEDOUT)
    waited = pthread_cond_timedwait(&worker->changed, &worker->mutex, &until);
  bool answered = worker->phase != ASKED;
  pthread_mutex_unlock(&worker->mutex);
  return answered;
}

iso_outcome iso_finish(iso_connection *connection, iso_reply *reply) {
  iso_worker *worker = connection->worker;
  if (worker == NULL) {
    iso_driver_request nothing = {.kind = ISO_REQUEST_KINDS};
    return iso_do(connection, &nothing, reply);
  }
  pthread_mutex_lock(&worker->mutex);
  while (worker->phase == ASKED) pthread_cond_wait(&worker->changed, &worker->mutex);
  bool answered = worker->phase == ANSWERED;
  if (answered) {
    /* The buffers change hands: the worker goes on with those of the caller. */
    iso_reply taken = *reply;
    *reply = worker->reply;
    worker->reply = taken;
    worker->phase = RESTING;
  }
  pthread_mutex_unlock(&worker->mutex);
  if (answered) return reply->outcome;
  iso_driver_request nothing = {.kind = ISO_REQUEST_KINDS};
  return iso_do(connection, &nothing, reply);
}
