/* An HTTP server with one thread per connection, few of them, each with a deadline: a slow client holds up nobody but
 * itself. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <isoproof/serve.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/abi.h"
#include "base/task.h"
#include "serve/response.h"

enum { MOST_CLIENTS = 16, LISTENERS = 2, READ_SECONDS = 10, WRITE_SECONDS = 60, LOOK_MS = 200 };

typedef enum client_state { FREE, BUSY, DONE } client_state;

typedef struct client {
  pthread_t thread;
  _Atomic client_state state;
  int given;         /* the socket, for its thread */
  atomic_int socket; /* the same until somebody undertakes to close it, then -1 */
  const isoproof_server *server;
} client;

struct isoproof_server {
  int root;
  int listeners[LISTENERS];
  uint16_t port;
  char url[64];
  client clients[MOST_CLIENTS];
};

/* ---- one connection ---- */

/* Waits until the socket is ready; false when the time is over. */
static bool wait_for(int socket_, short what, double deadline) {
  for (;;) {
    double left = deadline - iso_now();
    if (left <= 0) return false;
    struct pollfd one = {.fd = socket_, .events = what};
    int ready = poll(&one, 1, (int)(left * 1000) + 1);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

/* Reads until the head is complete; its length, or 0 with the status to answer with, which is 0 for silence. */
static size_t read_head(int socket_, char *buffer, int *status) {
  size_t used = 0;
  double deadline = iso_now() + READ_SECONDS;
  *status = 0;
  while (used < ISO_REQUEST_BYTES) {
    if (!wait_for(socket_, POLLIN, deadline)) {
      *status = 408;
      return 0;
    }
    ssize_t got = recv(socket_, buffer + used, ISO_REQUEST_BYTES - used, 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return 0;
    used += (size_t)got;
    size_t end = iso_http_request_end(buffer, used);
    if (end > 0) return end;
  }
  *status = 431;
  return 0;
}

static bool send_all(int socket_, const char *bytes, size_t size, double deadline) {
  while (size > 0) {
    if (!wait_for(socket_, POLLOUT, deadline)) return false;
    ssize_t sent = send(socket_, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent <= 0) return false;
    bytes += sent;
    size -= (size_t)sent;
  }
  return true;
}

static void talk(const isoproof_server *server, int socket_) {
  char buffer[ISO_REQUEST_BYTES], head[1024];
  iso_http_request request;
  iso_response response;
  int status;
  memset(&request, 0, sizeof request);
  size_t length = read_head(socket_, buffer, &status);
  if (length == 0 && status == 0) return;
  if (length > 0) status = iso_http_request_read(buffer, length, server->port, &request);
  iso_response_make(server->root, status, &request, &response);
  size_t size = iso_response_head(&response, head, sizeof head);
  double deadline = iso_now() + WRITE_SECONDS;
  if (send_all(socket_, head, size, deadline) && !request.head_only)
    (void)send_all(socket_, response.body.items, response.body.count, deadline);
  iso_response_free(&response);
  shutdown(socket_, SHUT_WR);
  /* What the client still sends is read for a moment: closing at once could take back what was sent. */
  double linger = iso_now() + 1;
  while (wait_for(socket_, POLLIN, linger) && recv(socket_, buffer, sizeof buffer, 0) > 0) {
  }
}

static void *serve_client(void *argument) {
  client *c = argument;
  talk(c->server, c->given);
  /* Whoever ends the server must not shut down a descriptor that is somebody else's by now. */
  if (atomic_exchange(&c->socket, -1) >= 0) close(c->given);
  atomic_store(&c->state, DONE);
  return NULL;
}

/* ---- all connections ---- */

static void reap(isoproof_server *server) {
  for (size_t i = 0; i < MOST_CLIENTS; i++) {
    client *c = &server->clients[i];
    if (atomic_load(&c->state) != DONE) continue;
    pthread_join(c->thread, NULL);
    atomic_store(&c->state, FREE);
  }
}

static void refuse(int socket_) {
  static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  (void)!send(socket_, busy, sizeof busy - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  close(socket_);
}

static void take(isoproof_server *server, int listener) {
  int socket_ = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket_ < 0) return;
  for (size_t i = 0; i < MOST_CLIENTS; i++) {
    client *c = &server->clients[i];
    if (atomic_load(&c->state) != FREE) continue;
    c->server = server;
    c->given = socket_;
    atomic_store(&c->socket, socket_);
    atomic_store(&c->state, BUSY);
    if (pthread_create(&c->thread, NULL, serve_client, c) == 0) return;
    atomic_store(&c->state, FREE);
    break;
  }
  refuse(socket_);
}

static void end_clients(isoproof_server *server) {
  for (size_t i = 0; i < MOST_CLIENTS; i++) {
    client *c = &server->clients[i];
    if (atomic_load(&c->state) == FREE) continue;
    int socket_ = atomic_exchange(&c->socket, -1);
    if (socket_ >= 0) shutdown(socket_, SHUT_RDWR);
    pthread_join(c->thread, NULL);
    if (socket_ >= 0) close(socket_);
    atomic_store(&c->state, FREE);
  }
}

isoproof_status isoproof_server_run(isoproof_server *server, isoproof_task *task, isoproof_error *error) {
  isoproof_status status = ISOPROOF_OK;
  while (iso_task_check(task, NULL) == ISOPROOF_OK) {
    struct pollfd waiting[LISTENERS];
    for (size_t i = 0; i < LISTENERS; i++) waiting[i] = (struct pollfd){.fd = server->listeners[i], .events = POLLIN};
    int ready = poll(waiting, LISTENERS, LOOK_MS);
    reap(server);
    if (ready < 0 && errno != EINTR) {
      status = iso_fail_errno(error, "", "wait for connections");
      break;
    }
    for (size_t i = 0; ready > 0 && i < LISTENERS; i++) {
      if (waiting[i].revents != 0) take(server, server->listeners[i]);
    }
  }
  end_clients(server);
  return status;
}

/* ---- opening ---- */

static int listen_at(const struct sockaddr *address, socklen_t size) {
  int on = 1, socket_ = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_ < 0) return -1;
  setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address->sa_family == AF_INET6) setsockopt(socket_, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (bind(socket_, address, size) == 0 && listen(socket_, 64) == 0) return socket_;
  int why = errno;
  close(socket_);
  errno = why;
  return -1;
}

static isoproof_status listen_here(isoproof_server *server, uint16_t port, isoproof_error *error) {
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  socklen_t size = sizeof four;
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  server->listeners[0] = listen_at((const struct sockaddr *)&four, sizeof four);
  if (server->listeners[0] < 0) {
    char what[64];
    snprintf(what, sizeof what, "listen on port %u of 127.0.0.1", port);
    return iso_fail_errno(error, "", what);
  }
  if (getsockname(server->listeners[0], (struct sockaddr *)&four, &size) != 0)
    return iso_fail_errno(error, "", "learn the port");
  server->port = ntohs(four.sin_port);
  six.sin6_port = four.sin_port;
  /* A machine without IPv6 is served without it. */
  server->listeners[1] = listen_at((const struct sockaddr *)&six, sizeof six);
  snprintf(server->url, sizeof server->url, "http://127.0.0.1:%u/", server->port);
  return ISOPROOF_OK;
}

isoproof_status isoproof_server_open(const isoproof_server_options *options, isoproof_server **out,
                                     isoproof_error *error) {
  isoproof_server_options known = {0};
  *out = NULL;
  ISO_TRY(ISO_OPTIONS_READ(isoproof_server_options, &known, options, error));
  if (known.directory == NULL) return iso_fail(error, ISOPROOF_ERR_USAGE, "a server needs a directory");
  isoproof_server *server = iso_alloc_zero(1, sizeof *server);
  if (server == NULL) return iso_fail_memory(error);
  server->listeners[0] = server->listeners[1] = -1;
  server->root = open(known.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  isoproof_status status = server->root < 0 ? iso_fail_errno(error, known.directory, "open the directory")
                                            : listen_here(server, known.port, error);
  if (status != ISOPROOF_OK) {
    isoproof_server_free(server);
    return status;
  }
  *out = server;
  return ISOPROOF_OK;
}

const char *isoproof_server_url(const isoproof_server *server) { return server->url; }

void isoproof_server_free(isoproof_server *server) {
  if (server == NULL) return;
  for (size_t i = 0; i < LISTENERS; i++) {
    if (server->listeners[i] >= 0) close(server->listeners[i]);
  }
  if (server->root >= 0) close(server->root);
  free(server);
}
