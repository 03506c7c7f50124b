/* Private servers without servers: the guardian, trees of processes, the proxy, and what the options refuse. */
#include "tests/scratch.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cluster/cluster.h"
#include "cluster/fault.h"
#include "cluster/process_tree.h"

/* ---- helpers ---- */

static void wait_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static bool there(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0;
}

/* The state letter of a process, 0 when there is none. */
static char state_of(pid_t pid) {
  char path[64], text[512] = "";
  snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
  FILE *file = fopen(path, "re");
  if (file == NULL) return 0;
  size_t got = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  const char *end = got > 0 ? strrchr(text, ')') : NULL;
  return end != NULL ? end[2] : 0;
}

/* Dead, or only waiting for whoever adopted it. */
static bool gone(pid_t pid) {
  char state = state_of(pid);
  return state == 0 || state == 'Z' || state == 'X';
}

static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};

typedef struct home {
  char folder[SCRATCH_BYTES], log[SCRATCH_BYTES + 8], pids[SCRATCH_BYTES + 8];
  iso_guardian guardian;
} home;

static void open_home(home *h) {
  isoproof_error error = {.offset = -1};
  assert_true(scratch_folder(h->folder));
  snprintf(h->log, sizeof h->log, "%s/log", h->folder);
  snprintf(h->pids, sizeof h->pids, "%s/pids", h->folder);
  assert_ok_error(iso_guardian_start(&h->guardian, h->folder, false, &error), error);
}

static iso_command shell(const home *h, const char *const *arguments) {
  return (iso_command){
      .arguments = arguments, .environment = environment, .directory = h->folder, .log = h->log, .end_signal = SIGKILL};
}

/* Reads the pids that a script wrote, one per line, once there are `count`. */
static void read_pids(const home *h, pid_t *pids, size_t count) {
  for (int tries = 0; tries < 3000; tries++, wait_ms(10)) {
    FILE *file = fopen(h->pids, "re");
    if (file == NULL) continue;
    size_t got = 0;
    char line[32];
    while (got < count && fgets(line, sizeof line, file) != NULL && strchr(line, '\n') != NULL)
      pids[got++] = (pid_t)strtol(line, NULL, 10);
    fclose(file);
    if (got == count) return;
  }
  fail_msg("the processes did not start");
}

static void assert_gone(const pid_t *pids, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (int tries = 0; tries < 3000 && !gone(pids[i]); tries++) wait_ms(10);
    assert_true(gone(pids[i]));
  }
}

/* A server with a child, a child in a session of its own, and an orphan. */
static const char *const family[] = {"/bin/sh", "-c",
                                     "sleep 1000 & echo $! >>pids; setsid sleep 1000 & echo $! >>pids; "
                                     "(sleep 1000 & echo $! >>pids); echo $$ >>pids; wait",
                                     NULL};
enum { FAMILY = 4 };

/* ---- the guardian ---- */

static void tools_run_and_fail(void **state) {
  (void)state;
  home h;
  isoproof_error error = {.offset = -1};
  open_home(&h);
  const char *const good[] = {"/bin/sh", "-c", "echo made >here", NULL};
  iso_command command = shell(&h, good);
  assert_ok_error(iso_guardian_run(&h.guardian, &command, 60, NULL, &error), error);
  char path[SCRATCH_BYTES + 8];
  snprintf(path, sizeof path, "%s/here", h.folder);
  assert_true(there(path));
  const char *const bad[] = {"/bin/sh", "-c", "echo ERROR no luck; echo bye; exit 3", NULL};
  command = shell(&h, bad);
  assert_int_equal(iso_guardian_run(&h.guardian, &command, 60, NULL, &error), ISOPROOF_ERR_IO);
  assert_non_null(strstr(error.message, "code 3: ERROR no luck"));
  const char *const missing[] = {"/nowhere/at-all", NULL};
  command = shell(&h, missing);
  assert_int_equal(iso_guardian_run(&h.guardian, &command, 60, NULL, &error), ISOPROOF_ERR_IO);
  assert_non_null(strstr(error.message, "code 127"));
  const char *const slow[] = {"/bin/sleep", "1000", NULL};
  command = shell(&h, slow);
  assert_int_equal(iso_guardian_run(&h.guardian, &command, 0.05, NULL, &error), ISOPROOF_ERR_TIMEOUT);
  iso_guardian_end(&h.guardian);
  assert_false(there(h.folder));
}

static void a_slot_holds_one(void **state) {
  (void)state;
  home h;
  isoproof_error error = {.offset = -1};
  open_home(&h);
  const char *const slow[] = {"/bin/sleep", "1000", NULL};
  iso_command command = shell(&h, slow);
  assert_ok_error(iso_guardian_spawn(&h.guardian, 0, &command, &error), error);
  assert_int_equal(iso_guardian_spawn(&h.guardian, 0, &command, &error), ISOPROOF_ERR_IO);
  iso_process_state now = {.running = false};
  assert_ok(iso_guardian_state(&h.guardian, 0, &now, NULL));
  assert_true(now.running);
  assert_ok(iso_guardian_signal(&h.guardian, 0, SIGTERM, NULL));
  assert_ok(iso_guardian_wait(&h.guardian, 0, 60, &now, NULL, NULL));
  assert_true(WIFSIGNALED(now.status) && WTERMSIG(now.status) == SIGTERM);
  assert_ok_error(iso_guardian_spawn(&h.guardian, 0, &command, &error), error);
  iso_guardian_end(&h.guardian);
}

static void arguments_may_be_too_long(void **state) {
  (void)state;
  home h;
  isoproof_error error = {.offset = -1};
  static char text[ISO_GUARDIAN_PACKET + 1];
  open_home(&h);
  memset(text, 'x', sizeof text - 1);
  const char *const longest[] = {"/bin/true", text, NULL};
  iso_command command = shell(&h, longest);
  assert_int_equal(iso_guardian_spawn(&h.guardian, 0, &command, &error), ISOPROOF_ERR_LIMIT);
  iso_guardian_end(&h.guardian);
}

static void a_family_stops_and_goes_on(void **state) {
  (void)state;
  home h;
  pid_t pids[FAMILY];
  open_home(&h);
  iso_command command = shell(&h, family);
  assert_ok(iso_guardian_spawn(&h.guardian, 0, &command, NULL));
  read_pids(&h, pids, FAMILY);
  assert_ok(iso_guardian_signal(&h.guardian, 0, SIGSTOP, NULL));
  /* The orphan belongs to the guardian now, not to the server. */
  for (int i = 0; i < FAMILY; i++) assert_int_equal(state_of(pids[i]) == 'T', i != 2);
  assert_ok(iso_guardian_signal(&h.guardian, 0, SIGCONT, NULL));
  for (int i = 0; i < FAMILY; i++) {
    for (int tries = 0; tries < 3000 && state_of(pids[i]) != 'S'; tries++) wait_ms(10);
    assert_int_equal(state_of(pids[i]), 'S');
  }
  assert_ok(iso_guardian_signal(&h.guardian, 0, SIGKILL, NULL));
  iso_process_state now;
  assert_ok(iso_guardian_wait(&h.guardian, 0, 60, &now, NULL, NULL));
  assert_true(WIFSIGNALED(now.status) && WTERMSIG(now.status) == SIGKILL);
  assert_gone(pids, 2);
  assert_false(gone(pids[2]));
  iso_guardian_end(&h.guardian);
  assert_gone(pids, FAMILY);
  assert_false(there(h.folder));
}

static void stopped_processes_end_too(void **state) {
  (void)state;
  home h;
  pid_t pids[FAMILY];
  open_home(&h);
  iso_command command = shell(&h, family);
  command.end_signal = SIGQUIT;
  assert_ok(iso_guardian_spawn(&h.guardian, 0, &command, NULL));
  read_pids(&h, pids, FAMILY);
  assert_ok(iso_guardian_signal(&h.guardian, 0, SIGSTOP, NULL));
  iso_guardian_end(&h.guardian);
  assert_gone(pids, FAMILY);
  assert_false(there(h.folder));
}

/* Whoever started it is killed: nothing is left all the same. */
static void a_crash_leaves_nothing(void **state) {
  (void)state;
  home *h = mmap(NULL, sizeof *h, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(h != MAP_FAILED);
  pid_t owner = fork();
  if (owner == 0) {
    open_home(h);
    iso_command command = shell(h, family);
    if (iso_guardian_spawn(&h->guardian, 0, &command, NULL) != ISOPROOF_OK) _exit(1);
    pid_t pids[FAMILY];
    read_pids(h, pids, FAMILY);
    kill(getpid(), SIGKILL);
  }
  int status;
  assert_int_equal(waitpid(owner, &status, 0), owner);
  assert_true(WIFSIGNALED(status));
  for (int tries = 0; tries < 3000 && there(h->folder); tries++) wait_ms(10);
  assert_false(there(h->folder));
  assert_gone(&h->guardian.pid, 1);
  munmap(h, sizeof *h);
}

/* The guardian is killed: the kernel kills the server, and calls fail. */
static void a_dead_guardian_is_an_error(void **state) {
  (void)state;
  home h;
  isoproof_error error = {.offset = -1};
  open_home(&h);
  const char *const slow[] = {"/bin/sh", "-c", "echo $$ >pids; exec sleep 1000", NULL};
  iso_command command = shell(&h, slow);
  pid_t pid;
  assert_ok(iso_guardian_spawn(&h.guardian, 0, &command, NULL));
  read_pids(&h, &pid, 1);
  kill(h.guardian.pid, SIGKILL);
  assert_gone(&pid, 1);
  assert_int_equal(iso_guardian_signal(&h.guardian, 0, SIGTERM, &error), ISOPROOF_ERR_IO);
  iso_guardian_end(&h.guardian);
  unlink(h.pids);
  unlink(h.log);
  assert_int_equal(rmdir(h.folder), 0);
}

/* ---- the proxy ---- */

typedef struct echo {
  int listener;
  pthread_t thread;
} echo;

static void *echo_main(void *user) {
  const echo *e = user;
  int fd;
  while ((fd = accept(e->listener, NULL, NULL)) >= 0) {
    char buffer[8192];
    ssize_t got;
    while ((got = read(fd, buffer, sizeof buffer)) > 0)
      for (ssize_t sent = 0; sent < got;) {
        ssize_t wrote = send(fd, buffer + sent, (size_t)(got - sent), MSG_NOSIGNAL);
        if (wrote <= 0) break;
        sent += wrote;
      }
    close(fd);
  }
  return NULL;
}

static void start_echo(echo *e, const struct sockaddr *address, socklen_t size) {
  e->listener = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_true(e->listener >= 0);
  assert_int_equal(bind(e->listener, address, size), 0);
  assert_int_equal(listen(e->listener, 8), 0);
  assert_int_equal(pthread_create(&e->thread, NULL, echo_main, e), 0);
}

static void stop_echo(echo *e) {
  shutdown(e->listener, SHUT_RDWR);
  pthread_join(e->thread, NULL);
  close(e->listener);
}

static uint16_t start_tcp_echo(echo *e) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  start_echo(e, (struct sockaddr *)&address, size);
  assert_int_equal(getsockname(e->listener, (struct sockaddr *)&address, &size), 0);
  return ntohs(address.sin_port);
}

static int connect_to(uint16_t port) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
  return fd;
}

static bool readable(int fd, int ms) {
  struct pollfd p = {.fd = fd, .events = POLLIN};
  return poll(&p, 1, ms) > 0;
}

static void exchange(int fd, const char *text) {
  char buffer[64] = "";
  assert_int_equal(write(fd, text, strlen(text)), strlen(text));
  assert_true(readable(fd, 30000));
  assert_int_equal(read(fd, buffer, sizeof buffer - 1), strlen(text));
  assert_string_equal(buffer, text);
}

static void silence_keeps_bytes(void **state) {
  (void)state;
  echo e;
  iso_proxy *proxy;
  assert_ok(iso_proxy_start(start_tcp_echo(&e), NULL, &proxy, NULL));
  int fd = connect_to(iso_proxy_port(proxy));
  exchange(fd, "hello");
  iso_proxy_silence(proxy, true);
  assert_int_equal(write(fd, "later", 5), 5);
  int other = connect_to(iso_proxy_port(proxy)); /* the kernel says yes, the proxy nothing */
  assert_int_equal(write(other, "new", 3), 3);
  assert_false(readable(fd, 100));
  assert_false(readable(other, 0));
  iso_proxy_silence(proxy, false);
  char buffer[8] = "";
  assert_true(readable(fd, 30000));
  assert_int_equal(read(fd, buffer, sizeof buffer), 5);
  assert_string_equal(buffer, "later");
  close(fd);
  assert_true(readable(other, 30000));
  close(other);
  iso_proxy_stop(proxy);
  stop_echo(&e);
}

enum { MUCH = 4 << 20 };

static void *send_much(void *user) {
  const int *fd = user;
  static char bytes[65536];
  for (size_t sent = 0; sent < MUCH;) {
    ssize_t wrote = write(*fd, bytes, sizeof bytes < MUCH - sent ? sizeof bytes : MUCH - sent);
    if (wrote <= 0) return NULL;
    sent += (size_t)wrote;
  }
  shutdown(*fd, SHUT_WR);
  return NULL;
}

/* More than all buffers hold, both ways at once, and the end of the stream arrives. */
static void much_gets_through(void **state) {
  (void)state;
  echo e;
  iso_proxy *proxy;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char folder[SCRATCH_BYTES];
  assert_true(scratch_folder(folder));
  assert_in_range(snprintf(address.sun_path, sizeof address.sun_path, "%s/s", folder), 1, sizeof address.sun_path - 1);
  start_echo(&e, (struct sockaddr *)&address, sizeof address);
  assert_ok(iso_proxy_start(0, address.sun_path, &proxy, NULL));
  int fd = connect_to(iso_proxy_port(proxy));
  pthread_t sender;
  assert_int_equal(pthread_create(&sender, NULL, send_much, &fd), 0);
  size_t got = 0;
  char buffer[16384];
  ssize_t now;
  while ((now = read(fd, buffer, sizeof buffer)) > 0) got += (size_t)now;
  assert_int_equal(got, MUCH);
  pthread_join(sender, NULL);
  close(fd);
  iso_proxy_stop(proxy);
  stop_echo(&e);
  unlink(address.sun_path);
  assert_int_equal(rmdir(folder), 0);
}

/* A port that is held is given to nobody, but to a server that asks for it; before it comes and after it has gone. */
static void ports_are_held(void **state) {
  (void)state;
  iso_ports held, more;
  assert_ok(iso_hold_ports(&held, 3, NULL));
  const uint16_t *p = held.ports;
  assert_true(p[0] != p[1] && p[1] != p[2] && p[0] != p[2]);
  for (int round = 0; round < 2; round++) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(p[0]), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_not_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    close(connect_to(p[0]));
    close(fd);
  }
  assert_ok(iso_hold_ports(&more, ISO_MOST_PORTS, NULL));
  for (size_t i = 0; i < more.count; i++) assert_true(more.ports[i] != p[0] && more.ports[i] != p[1]);
  iso_release_ports(&more);
  iso_release_ports(&held);
}

static void nobody_behind_the_proxy(void **state) {
  (void)state;
  iso_ports held;
  iso_proxy *proxy;
  isoproof_error error = {.offset = -1};
  assert_int_equal(iso_hold_ports(&held, 100000, &error), ISOPROOF_ERR_LIMIT);
  assert_ok(iso_hold_ports(&held, 1, NULL));
  assert_ok(iso_proxy_start(held.ports[0], NULL, &proxy, NULL));
  int fd = connect_to(iso_proxy_port(proxy));
  char byte;
  assert_true(readable(fd, 30000));
  assert_true(read(fd, &byte, 1) <= 0);
  close(fd);
  iso_proxy_stop(proxy);
  iso_release_ports(&held);
  iso_proxy_stop(NULL);
  char path[200];
  memset(path, 'x', sizeof path - 1);
  path[sizeof path - 1] = 0;
  assert_int_equal(iso_proxy_start(0, path, &proxy, &error), ISOPROOF_ERR_LIMIT);
  assert_null(proxy);
}

/* ---- options ---- */

static void refuse(const char *kind, unsigned faults, const char *words) {
  isoproof_error error = {.offset = -1};
  isoproof_cluster *cluster = NULL;
  isoproof_cluster_options options = {.struct_size = sizeof options, .kind = kind, .faults = faults};
  assert_int_equal(isoproof_cluster_start(&options, NULL, &cluster, &error), ISOPROOF_ERR_USAGE);
  assert_null(cluster);
  assert_non_null(strstr(error.message, words));
}

static void kinds_are_checked(void **state) {
  (void)state;
  static const char *const wrong[] = {"",         "mysql",   "galera:0",   "galera:10",
                                      "galera:x", "galera:", "postgres:2", "galera3"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) refuse(wrong[i], 0, "expected postgres");
  refuse(NULL, 0, "expected postgres");
  refuse("galera:3", 1U << ISOPROOF_FAULT_CLOCK, "clock cannot happen to galera");
  refuse("mariadb", 1U << ISOPROOF_FAULT_CLOCK, "clock cannot happen to mariadb");
  isoproof_cluster *cluster;
  isoproof_cluster_options small = {.struct_size = 1};
  assert_int_equal(isoproof_cluster_start(&small, NULL, &cluster, NULL), ISOPROOF_ERR_USAGE);
  isoproof_cluster_stop(NULL);
  for (size_t i = 0; i < ISOPROOF_CLUSTER_KINDS; i++)
    assert_true(isoproof_cluster_kind_at(i) != NULL && isoproof_cluster_kind_title(i) != NULL);
  assert_null(isoproof_cluster_kind_at(ISOPROOF_CLUSTER_KINDS));
  assert_null(isoproof_fault_kind_at(ISOPROOF_FAULTS));
}

/* Looking for a server starts none, and says what is missing. */
static void servers_are_found_or_missed(void **state) {
  (void)state;
  char path[1024];
  for (size_t i = 0; i < ISOPROOF_CLUSTER_KINDS; i++) {
    isoproof_error error = {.offset = -1};
    path[0] = 0;
    isoproof_status status = isoproof_cluster_find(isoproof_cluster_kind_at(i), path, sizeof path, &error);
    if (status == ISOPROOF_OK) {
      assert_int_equal(access(path, X_OK), 0);
    } else {
      assert_int_equal(status, ISOPROOF_ERR_UNSUPPORTED);
      assert_true(error.message[0] != 0);
    }
  }
  assert_int_equal(isoproof_cluster_find("mysql", path, sizeof path, NULL), ISOPROOF_ERR_USAGE);
}

static void expect_choice(const char *text, size_t nodes, size_t sync, const char *delay, size_t settings) {
  iso_arena arena = {0};
  iso_cluster_choice choice;
  assert_ok(iso_cluster_parse(text, &arena, &choice, NULL));
  assert_int_equal(choice.nodes, nodes);
  assert_int_equal(choice.sync, sync);
  assert_int_equal(choice.setting_count, settings);
  assert_true(delay == NULL ? choice.delay == NULL : choice.delay != NULL && strcmp(choice.delay, delay) == 0);
  if (settings > 0) assert_string_equal(choice.settings[settings - 1].value, "a=b");
  iso_arena_free(&arena);
}

static void options_are_taken_apart(void **state) {
  (void)state;
  expect_choice("postgres", 1, 0, NULL, 0);
  expect_choice("postgres:standby", 2, 0, NULL, 0);
  expect_choice("postgres:standby,sync,delay=500ms,standbys=3", 4, 1, "500ms", 0);
  expect_choice("postgres:standby,standbys=2,sync=2,set.x=1,set.y.z=a=b", 3, 2, NULL, 2);
  expect_choice("postgres:standby,delay=5s", 2, 0, "5s", 0);
  expect_choice("galera:5,set.innodb_x=a=b", 5, 0, NULL, 1);
  static const char *const wrong[] = {"postgres,sync",
                                      "postgres,",
                                      "postgres:standby,,sync",
                                      "postgres:standby,sync=9",
                                      "postgres:standby,delay=",
                                      "postgres:standby,delay=5",
                                      "postgres:standby,delay=5001ms",
                                      "postgres:standby,delay=99999999999999999999s",
                                      "postgres:standby,standbys=0",
                                      "galera:3,set.",
                                      "galera:3,set.=1",
                                      "galera:3,set.a b=1",
                                      "mariadb,set.a=\n"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) refuse(wrong[i], 0, "set.NAME=VALUE");
  refuse("postgres:standby,sync=2", 0, "more standbys than there are");
  refuse("postgres", 1U << ISOPROOF_FAULT_PROMOTE, "promote cannot happen to postgres");
  refuse("mariadb", 1U << ISOPROOF_FAULT_REINDEX, "reindex cannot happen to mariadb");
  char many[1024] = "mariadb";
  for (int i = 0; i <= ISO_MOST_SERVER_SETTINGS; i++) strcat(many, ",set.a=b");
  refuse(many, 0, "set.NAME=VALUE");
}

/* "maintenance" is what the servers have of it. */
static void maintenance_is_many(void **state) {
  (void)state;
  isoproof_cluster cluster = {.type = &iso_cluster_mariadb};
  unsigned both = 1U << ISOPROOF_FAULT_ANALYZE | 1U << ISOPROOF_FAULT_OPTIMIZE;
  assert_int_equal(iso_fault_expand(&cluster, 1U << ISOPROOF_FAULT_MAINTENANCE), both);
  assert_int_equal(iso_fault_expand(&cluster, 1U << ISOPROOF_FAULT_KILL), 1U << ISOPROOF_FAULT_KILL);
  cluster.type = &iso_cluster_postgres;
  unsigned faults = iso_fault_expand(&cluster, 1U << ISOPROOF_FAULT_MAINTENANCE);
  assert_true((faults & 1U << ISOPROOF_FAULT_VACUUM) != 0 && (faults & 1U << ISOPROOF_FAULT_OPTIMIZE) == 0);
}

/* Servers of a folder: found in its bin, looked for links to their libraries, and nothing is written into it. */
static void a_folder_of_servers(void **state) {
  (void)state;
  char folder[SCRATCH_BYTES], own[SCRATCH_BYTES], path[SCRATCH_BYTES + 64];
  assert_true(scratch_folder(folder) && scratch_folder(own));
  isoproof_cluster_options options = {.struct_size = sizeof options, .kind = "postgres", .server = folder};
  isoproof_error error = {.offset = -1};
  isoproof_cluster *cluster = NULL;
  isoproof_status status = isoproof_cluster_start(&options, NULL, &cluster, &error);
  assert_int_equal(status, ISOPROOF_ERR_UNSUPPORTED);
  assert_true(strstr(error.message, "expected postgres in") != NULL || strstr(error.message, "as root") != NULL);
  options.server = "/nowhere/at/all";
  assert_int_equal(isoproof_cluster_start(&options, NULL, &cluster, &error), ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error.message, "found nothing at"));
  static const char *const names[] = {"bin", "lib", "bin/postgres", "lib/libx.so.60.2", "lib/liby.so.1", "lib/liby.so"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    if (i < 2) assert_int_equal(mkdir(path, 0755), 0);
    if (i >= 2) assert_true(close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0755)) == 0);
  }
  isoproof_cluster made = {.type = &iso_cluster_postgres, .folder = own, .server_folder = folder};
  static const char *const wanted[] = {"postgres", NULL}, *const missing[] = {"initdb", NULL};
  const char *found;
  assert_ok(iso_server_folder_find(&made, wanted, &made.server, NULL));
  assert_int_equal(iso_server_folder_find(&made, missing, &found, &error), ISOPROOF_ERR_UNSUPPORTED);
  assert_string_equal(iso_server_folder_root(&made, made.server), folder);
  assert_ok(iso_server_folder_link(&made, NULL));
  assert_non_null(made.libraries);
  static const char *const links[] = {"libx.so.60", "libx.so"};
  for (size_t i = 0; i < 2; i++) {
    char target[SCRATCH_BYTES + 64];
    snprintf(path, sizeof path, "%s/lib/%s", own, links[i]);
    ssize_t length = readlink(path, target, sizeof target - 1);
    assert_true(length > 0);
    target[length] = 0;
    assert_non_null(strstr(target, "lib/libx.so.60.2"));
    assert_int_equal(unlink(path), 0);
  }
  snprintf(path, sizeof path, "%s/lib", own);
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(rmdir(own), 0);
  for (size_t i = sizeof names / sizeof *names; i-- > 0;) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    assert_int_equal(i < 2 ? rmdir(path) : unlink(path), 0);
  }
  assert_int_equal(rmdir(folder), 0);
  iso_arena_free(&made.arena);
}

/* A proxy goes elsewhere from the next connection on. */
static void a_proxy_is_aimed_elsewhere(void **state) {
  (void)state;
  iso_ports held;
  iso_proxy *proxy;
  echo e;
  uint16_t elsewhere = start_tcp_echo(&e);
  assert_ok(iso_hold_ports(&held, 1, NULL));
  assert_ok(iso_proxy_start(held.ports[0], NULL, &proxy, NULL));
  iso_proxy_aim_at(proxy, elsewhere);
  int fd = connect_to(iso_proxy_port(proxy));
  char byte = 'x';
  assert_int_equal(write(fd, &byte, 1), 1);
  assert_true(readable(fd, 30000));
  assert_int_equal(read(fd, &byte, 1), 1);
  close(fd);
  iso_proxy_stop(proxy);
  iso_release_ports(&held);
  stop_echo(&e);
}

static void faults_are_checked(void **state) {
  (void)state;
  isoproof_cluster cluster = {.type = &iso_cluster_postgres, .faults = 1U << ISOPROOF_FAULT_KILL, .node_count = 2};
  isoproof_error error = {.offset = -1};
  isoproof_fault_injector *faults;
  const size_t targets[] = {0, 2};
  isoproof_fault_options options = {.struct_size = sizeof options};
  assert_int_equal(isoproof_fault_injector_new(&cluster, &options, &faults, &error), ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error.message, "at least one"));
  options.faults = 1U << ISOPROOF_FAULT_PAUSE;
  assert_int_equal(isoproof_fault_injector_new(&cluster, &options, &faults, &error), ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error.message, "not prepared for pause"));
  options.faults = 1U << ISOPROOF_FAULT_KILL;
  options.target = targets;
  options.target_count = 2;
  assert_int_equal(isoproof_fault_injector_new(&cluster, &options, &faults, &error), ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error.message, "nodes 0 to 1"));
  options.target_count = 1;
  options.interval = -1;
  assert_int_equal(isoproof_fault_injector_new(&cluster, &options, &faults, &error), ISOPROOF_ERR_USAGE);
  options.interval = 1;
  assert_ok(isoproof_fault_injector_new(&cluster, &options, &faults, NULL));
  assert_int_equal(isoproof_fault_injector_count(faults, ISOPROOF_FAULT_KILL), 0);
  assert_string_equal(isoproof_fault_injector_problem(faults), "");
  isoproof_fault_injector_free(faults);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tools_run_and_fail),
      cmocka_unit_test(a_slot_holds_one),
      cmocka_unit_test(arguments_may_be_too_long),
      cmocka_unit_test(a_family_stops_and_goes_on),
      cmocka_unit_test(stopped_processes_end_too),
      cmocka_unit_test(a_crash_leaves_nothing),
      cmocka_unit_test(a_dead_guardian_is_an_error),
      cmocka_unit_test(silence_keeps_bytes),
      cmocka_unit_test(much_gets_through),
      cmocka_unit_test(nobody_behind_the_proxy),
      cmocka_unit_test(ports_are_held),
      cmocka_unit_test(servers_are_found_or_missed),
      cmocka_unit_test(kinds_are_checked),
      cmocka_unit_test(options_are_taken_apart),
      cmocka_unit_test(maintenance_is_many),
      cmocka_unit_test(a_folder_of_servers),
      cmocka_unit_test(a_proxy_is_aimed_elsewhere),
      cmocka_unit_test(faults_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
