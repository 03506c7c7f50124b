/* proxy.c - connections in pairs, each with one buffer per direction, served by one thread. */
#include "cluster/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/vector.h"

enum { MOST_PAIRS = 1024, BUFFER_BYTES = 65536, FIXED_FDS = 2 };

/* Bytes on their way from one socket to the other. */
typedef struct stream {
  char bytes[BUFFER_BYTES];
  size_t start, end;
  bool closed; /* the sender has no more */
  bool shut;   /* and the receiver knows */
} stream;

typedef struct pair {
  int fd[2];         /* client, server */
  stream streams[2]; /* from fd[i] to the other one */
} pair;

struct iso_proxy {
  int listener, wake;
  uint16_t port;
  struct sockaddr_storage target; /* of IPv4, or a Unix socket for good; under the lock */
  socklen_t target_size;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool silent, applied, leave; /* under the lock */
  pair **pairs;
  struct pollfd *fds;
  size_t count;
};

/* ---- sockets ---- */

static struct sockaddr_in loopback(uint16_t port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* A socket that is bound to a free port, and lets a server that asks for the same one share it; -1. */
static int bind_free(uint16_t *port) {
  struct sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) == 0 &&
      bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
      getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
    *port = ntohs(address.sin_port);
    return fd;
  }
  close(fd);
  return -1;
}

isoproof_status iso_hold_ports(iso_ports *held, size_t count, isoproof_error *error) {
  if (count > ISO_MOST_PORTS) return iso_fail(error, ISOPROOF_ERR_LIMIT, "expected at most %d ports", ISO_MOST_PORTS);
  for (held->count = 0; held->count < count; held->count++) {
    held->sockets[held->count] = bind_free(&held->ports[held->count]);
    if (held->sockets[held->count] >= 0) continue;
    isoproof_status status = iso_fail_errno(error, "127.0.0.1", "find free ports");
    iso_release_ports(held);
    return status;
  }
  return ISOPROOF_OK;
}

void iso_release_ports(iso_ports *held) {
  while (held->count > 0) close(held->sockets[--held->count]);
}

static void no_delay(int fd) { (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)); }

/* ---- pairs ---- */

static void drop(iso_proxy *proxy, size_t at) {
  pair *p = proxy->pairs[at];
  close(p->fd[0]);
  close(p->fd[1]);
  free(p);
  proxy->pairs[at] = proxy->pairs[--proxy->count];
}

static void take(iso_proxy *proxy) {
  int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (client < 0) return;
  pthread_mutex_lock(&proxy->lock);
  struct sockaddr_storage target = proxy->target;
  socklen_t target_size = proxy->target_size;
  pthread_mutex_unlock(&proxy->lock);
  int server = socket(target.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  pair *p = proxy->count < MOST_PAIRS ? iso_alloc(1, sizeof *p) : NULL;
  /* On loopback a connection is made or refused at once, so this may block. */
  if (p == NULL || server < 0 || connect(server, (struct sockaddr *)&target, target_size) != 0 ||
      fcntl(server, F_SETFL, O_NONBLOCK) != 0) {
    close(client);
    if (server >= 0) close(server);
    free(p);
    return;
  }
  no_delay(client);
  if (target.ss_family == AF_INET) no_delay(server);
  p->fd[0] = client;
  p->fd[1] = server;
  for (int i = 0; i < 2; i++) {
    p->streams[i].start = p->streams[i].end = 0;
    p->streams[i].closed = p->streams[i].shut = false;
  }
  proxy->pairs[proxy->count++] = p;
}

static bool would_block(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/* Moves what is possible one way; false when the connection broke. */
static bool move(stream *s, int from, int to, bool readable) {
  if (readable && !s->closed && s->start == s->end) {
    ssize_t got = read(from, s->bytes, sizeof s->bytes);
    if (got < 0 && !would_block()) return false;
    if (got == 0) s->closed = true;
    s->start = 0;
    s->end = got > 0 ? (size_t)got : 0;
  }
  while (s->start < s->end) {
    ssize_t sent = send(to, s->bytes + s->start, s->end - s->start, MSG_NOSIGNAL);
    if (sent < 0) return would_block();
    s->start += (size_t)sent;
  }
  if (s->closed && !s->shut) {
    shutdown(to, SHUT_WR);
    s->shut = true;
  }
  return true;
}

/* False when the pair is done. */
static bool serve(pair *p, const struct pollfd *fds) {
  for (int i = 0; i < 2; i++) {
    if ((fds[i].revents & (POLLERR | POLLNVAL)) != 0) return false;
    if (!move(&p->streams[i], p->fd[i], p->fd[1 - i], (fds[i].revents & (POLLIN | POLLHUP)) != 0)) return false;
  }
  return !(p->streams[0].shut && p->streams[1].shut);
}

static void prepare(const pair *p, struct pollfd *fds) {
  for (int i = 0; i < 2; i++) {
    const stream *out = &p->streams[i], *in = &p->streams[1 - i];
    short events = 0;
    if (!out->closed && out->start == out->end) events = POLLIN;
    if (in->start < in->end) events = (short)(events | POLLOUT);
    /* Without any interest poll would still report a hang-up, again and again. */
    fds[i] = (struct pollfd){.fd = events != 0 ? p->fd[i] : -1, .events = events};
  }
}

static void step(iso_proxy *proxy, bool silent) {
  size_t count = silent ? 0 : proxy->count;
  proxy->fds[0] = (struct pollfd){.fd = proxy->wake, .events = POLLIN};
  proxy->fds[1] = (struct pollfd){.fd = silent ? -1 : proxy->listener, .events = POLLIN};
  for (size_t i = 0; i < count; i++) prepare(proxy->pairs[i], &proxy->fds[FIXED_FDS + 2 * i]);
  if (poll(proxy->fds, (nfds_t)(FIXED_FDS + 2 * count), -1) <= 0) return;
  uint64_t ignored;
  if (proxy->fds[0].revents != 0 && read(proxy->wake, &ignored, sizeof ignored) < 0) return;
  for (size_t i = count; i > 0; i--)
    if (!serve(proxy->pairs[i - 1], &proxy->fds[FIXED_FDS + 2 * (i - 1)])) drop(proxy, i - 1);
  if (proxy->fds[1].revents != 0) take(proxy);
}

static void *work(void *user) {
  iso_proxy *proxy = user;
  for (;;) {
    pthread_mutex_lock(&proxy->lock);
    bool leave = proxy->leave, silent = proxy->applied = proxy->silent;
    pthread_cond_broadcast(&proxy->changed);
    pthread_mutex_unlock(&proxy->lock);
    if (leave) return NULL;
    step(proxy, silent);
  }
}

/* ---- from outside ---- */

static void wake(iso_proxy *proxy) {
  uint64_t one = 1;
  ssize_t wrote = write(proxy->wake, &one, sizeof one);
  (void)wrote; /* A counter that is full wakes as well. */
}

uint16_t iso_proxy_port(const iso_proxy *proxy) { return proxy->port; }

void iso_proxy_silence(iso_proxy *proxy, bool silent) {
  pthread_mutex_lock(&proxy->lock);
  proxy->silent = silent;
  wake(proxy);
  while (proxy->applied != silent) pthread_cond_wait(&proxy->changed, &proxy->lock);
  pthread_mutex_unlock(&proxy->lock);
}

void iso_proxy_aim_at(iso_proxy *proxy, uint16_t target) {
  struct sockaddr_in address = loopback(target);
  pthread_mutex_lock(&proxy->lock);
  memcpy(&proxy->target, &address, sizeof address);
  proxy->target_size = sizeof address;
  pthread_mutex_unlock(&proxy->lock);
}

static void free_proxy(iso_proxy *proxy) {
  while (proxy->count > 0) drop(proxy, proxy->count - 1);
  if (proxy->listener >= 0) close(proxy->listener);
  if (proxy->wake >= 0) close(proxy->wake);
  free(proxy->pairs);
  free(proxy->fds);
  pthread_cond_destroy(&proxy->changed);
  pthread_mutex_destroy(&proxy->lock);
  free(proxy);
}

static isoproof_status aim(iso_proxy *proxy, uint16_t target, const char *path, isoproof_error *error) {
  struct sockaddr_in internet = loopback(target);
  struct sockaddr_un local = {.sun_family = AF_UNIX};
  if (path == NULL) {
    memcpy(&proxy->target, &internet, sizeof internet);
    proxy->target_size = sizeof internet;
    return ISOPROOF_OK;
  }
  if (strlen(path) >= sizeof local.sun_path)
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "%s: expected the path of a socket of fewer than %zu bytes", path,
                    sizeof local.sun_path);
  memcpy(local.sun_path, path, strlen(path) + 1);
  memcpy(&proxy->target, &local, sizeof local);
  proxy->target_size = sizeof local;
  return ISOPROOF_OK;
}

/* The thread is deaf to signals: they are for the caller's. */
static int start_thread(iso_proxy *proxy) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int problem = pthread_create(&proxy->thread, NULL, work, proxy);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return problem;
}

isoproof_status iso_proxy_start(uint16_t target, const char *path, iso_proxy **out, isoproof_error *error) {
  iso_proxy *proxy = iso_alloc_zero(1, sizeof *proxy);
  *out = NULL;
  if (proxy == NULL) return iso_fail_memory(error);
  pthread_mutex_init(&proxy->lock, NULL);
  pthread_cond_init(&proxy->changed, NULL);
  proxy->listener = bind_free(&proxy->port);
  proxy->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  proxy->pairs = iso_alloc(MOST_PAIRS, sizeof(pair *));
  proxy->fds = iso_alloc(FIXED_FDS + 2 * MOST_PAIRS, sizeof *proxy->fds);
  isoproof_status status = aim(proxy, target, path, error);
  if (status == ISOPROOF_OK && (proxy->pairs == NULL || proxy->fds == NULL)) status = iso_fail_memory(error);
  if (status == ISOPROOF_OK && (proxy->listener < 0 || proxy->wake < 0 || listen(proxy->listener, 128) != 0 ||
                                (errno = start_thread(proxy)) != 0))
    status = iso_fail_errno(error, "127.0.0.1", "start a proxy");
  if (status != ISOPROOF_OK)
    free_proxy(proxy);
  else
    *out = proxy;
  return status;
}

void iso_proxy_stop(iso_proxy *proxy) {
  if (proxy == NULL) return;
  pthread_mutex_lock(&proxy->lock);
  proxy->leave = true;
  wake(proxy);
  pthread_mutex_unlock(&proxy->lock);
  pthread_join(proxy->thread, NULL);
  free_proxy(proxy);
}
