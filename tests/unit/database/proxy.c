/* proxy.c - a TCP proxy that loses connections on demand. */
#include "tests/unit/database/proxy.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/unit.h"

enum { MOST_PAIRS = 64, POLL_MS = 2 };

typedef struct pair {
  int client, server;
} pair;

struct proxy {
  uint32_t port, target;
  int listener;
  pthread_t thread;
  atomic_int wanted, applied;
  atomic_uint steps; /* done, each in one mode */
  atomic_uint left;  /* bytes of answers in PROXY_PART */
  atomic_bool leave;
  pair pairs[MOST_PAIRS];
  size_t count;
};

static int connect_to(uint32_t port) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
    close(fd);
    return -1;
  }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  return fd;
}

static void drop(proxy *p, size_t at) {
  close(p->pairs[at].client);
  close(p->pairs[at].server);
  p->pairs[at] = p->pairs[--p->count];
}

static void take(proxy *p) {
  int client = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC);
  if (client < 0) return;
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  int server = p->applied == PROXY_CUT || p->count == MOST_PAIRS ? -1 : connect_to(p->target);
  if (server < 0) {
    close(client);
    return;
  }
  p->pairs[p->count++] = (pair){client, server};
}

/* Moves what is there, up to a limit unless that is NULL; false when the pair is to be closed. */
static bool move(int from, int to, atomic_uint *left) {
  char buffer[65536];
  ssize_t got = read(from, buffer, sizeof buffer);
  bool over = left != NULL && got > 0 && (unsigned)got >= atomic_load(left);
  if (over) got = (ssize_t)atomic_load(left);
  if (left != NULL && got > 0) atomic_fetch_sub(left, (unsigned)got);
  for (ssize_t sent = 0; sent < got;) {
    ssize_t wrote = send(to, buffer + sent, (size_t)(got - sent), MSG_NOSIGNAL);
    if (wrote <= 0) return false;
    sent += wrote;
  }
  return got > 0 && !over;
}

static void step(proxy *p) {
  struct pollfd fds[1 + 2 * MOST_PAIRS] = {{.fd = p->listener, .events = POLLIN}};
  size_t count = p->applied == PROXY_STALL ? 0 : p->count;
  for (size_t i = 0; i < count; i++) {
    fds[1 + 2 * i] = (struct pollfd){.fd = p->pairs[i].client, .events = POLLIN};
    fds[2 + 2 * i] = (struct pollfd){.fd = p->pairs[i].server, .events = POLLIN};
  }
  if (poll(fds, (nfds_t)(1 + 2 * count), POLL_MS) <= 0) return;
  for (size_t i = count; i > 0; i--) {
    const pair *both = &p->pairs[i - 1];
    bool open = true;
    if (fds[2 * i].revents != 0)
      open =
          p->applied != PROXY_SWALLOW && move(both->server, both->client, p->applied == PROXY_PART ? &p->left : NULL);
    if (open && fds[2 * i - 1].revents != 0) open = move(both->client, both->server, NULL);
    if (!open) drop(p, i - 1);
  }
  if (fds[0].revents != 0) take(p);
}

static void *work(void *user) {
  proxy *p = user;
  while (!atomic_load(&p->leave)) {
    atomic_store(&p->applied, atomic_load(&p->wanted));
    while (p->applied == PROXY_CUT && p->count > 0) drop(p, p->count - 1);
    step(p);
    atomic_fetch_add(&p->steps, 1);
  }
  return NULL;
}

proxy *proxy_start(uint32_t port) {
  proxy *p = calloc(1, sizeof *p);
  assert_non_null(p);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  p->target = port;
  p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(bind(p->listener, (struct sockaddr *)&address, sizeof address), 0);
  assert_int_equal(listen(p->listener, 16), 0);
  assert_int_equal(getsockname(p->listener, (struct sockaddr *)&address, &size), 0);
  p->port = ntohs(address.sin_port);
  assert_int_equal(pthread_create(&p->thread, NULL, work, p), 0);
  return p;
}

uint32_t proxy_port(const proxy *p) { return p->port; }

void proxy_set(proxy *p, proxy_mode mode) {
  atomic_store(&p->wanted, (int)mode);
  while (atomic_load(&p->applied) != (int)mode) usleep(500);
  /* And what begins with the mode, such as cutting connections, has been done. */
  unsigned before = atomic_load(&p->steps);
  while (atomic_load(&p->steps) == before) usleep(500);
}

void proxy_limit(proxy *p, uint32_t bytes) { atomic_store(&p->left, bytes); }

void proxy_stop(proxy *p) {
  atomic_store(&p->leave, true);
  pthread_join(p->thread, NULL);
  while (p->count > 0) drop(p, p->count - 1);
  close(p->listener);
  free(p);
}
