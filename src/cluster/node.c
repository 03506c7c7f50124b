/* node.c - what the kinds of clusters share: texts, programs, starting a server, and asking it. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/vector.h"
#include "cluster/cluster.h"
#include "database/driver.h"

enum { ENVIRONMENT_MOST = 16, ASK_TIMEOUT_MS = 3000, READY_EVERY_MS = 100 };

/* ---- texts ---- */

const char *iso_cluster_text(isoproof_cluster *cluster, const char *format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= sizeof text) return NULL;
  return iso_arena_text(&cluster->arena, text, (size_t)length);
}

const char *const *iso_cluster_list(isoproof_cluster *cluster, const char *const *texts, size_t count) {
  const char **list = iso_arena_alloc(&cluster->arena, count + 1, sizeof *list);
  for (size_t i = 0; list != NULL && i < count; i++) {
    if (texts[i] == NULL) return NULL;
    list[i] = texts[i];
  }
  return list;
}

const char *const *iso_cluster_environment(isoproof_cluster *cluster, const iso_node *node, const char *const *more,
                                           size_t count) {
  const char *texts[ENVIRONMENT_MOST] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                         "LC_ALL=C", "TZ=UTC"};
  size_t used = 3;
  texts[used++] = iso_cluster_text(cluster, "HOME=%s", node->folder);
  texts[used++] = iso_cluster_text(cluster, "TMPDIR=%s/tmp", node->folder);
  if (cluster->libraries != NULL) texts[used++] = cluster->libraries;
  for (size_t i = 0; i < count && used < ENVIRONMENT_MOST; i++) texts[used++] = more[i];
  return iso_cluster_list(cluster, texts, used);
}

/* ---- programs ---- */

static const char *find_pattern(isoproof_cluster *cluster, const char *pattern) {
  glob_t matches;
  const char *found = NULL;
  if (glob(pattern, 0, NULL, &matches) != 0) return NULL;
  /* The last one: names end in versions. */
  for (size_t i = matches.gl_pathc; i > 0 && found == NULL; i--)
    if (access(matches.gl_pathv[i - 1], R_OK) == 0) found = iso_cluster_text(cluster, "%s", matches.gl_pathv[i - 1]);
  globfree(&matches);
  return found;
}

static const char *find_in_path(isoproof_cluster *cluster, const char *name) {
  const char *path = getenv("PATH");
  while (path != NULL && *path != 0) {
    size_t length = strcspn(path, ":");
    char candidate[4096];
    snprintf(candidate, sizeof candidate, "%.*s/%s", (int)(length < 2048 ? length : 2048), path, name);
    if (path[0] == '/' && access(candidate, X_OK) == 0) return iso_cluster_text(cluster, "%s", candidate);
    path += length + (path[length] == ':');
  }
  return NULL;
}

isoproof_status iso_cluster_find(isoproof_cluster *cluster, const char *name, const char *const *patterns,
                                 const char *package, const char **found, isoproof_error *error) {
  *found = NULL;
  for (; *found == NULL && *patterns != NULL; patterns++) *found = find_pattern(cluster, *patterns);
  if (*found == NULL) *found = find_in_path(cluster, name);
  if (*found != NULL) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                  "%s is needed for this and was not found; on Debian it is in the package %s", name, package);
}

static iso_command command_of(const isoproof_cluster *cluster, const iso_node *node, const char *const *arguments) {
  return (iso_command){.arguments = arguments,
                       .environment = node->environment,
                       .directory = node->folder,
                       .log = node->log,
                       .lock_file = node->lock_file,
                       .end_signal = cluster->type->end_signal,
                       .change_user = cluster->change_user,
                       .user = cluster->user,
                       .group = cluster->group};
}

isoproof_status iso_cluster_tool(isoproof_cluster *cluster, const iso_node *node, const char *const *arguments,
                                 double seconds, isoproof_task *task, isoproof_error *error) {
  iso_command command = command_of(cluster, node, arguments);
  command.end_signal = SIGKILL;
  command.lock_file = NULL;
  return iso_guardian_run(&cluster->guardian, &command, seconds, task, error);
}

isoproof_status iso_cluster_tool_to(isoproof_cluster *cluster, const iso_node *node, const char *log,
                                    const char *const *arguments, double seconds, isoproof_error *error) {
  iso_command command = command_of(cluster, node, arguments);
  command.end_signal = SIGKILL;
  command.lock_file = NULL;
  command.log = log;
  return iso_guardian_run(&cluster->guardian, &command, seconds, NULL, error);
}

isoproof_status iso_node_spawn(isoproof_cluster *cluster, iso_node *node, bool first, isoproof_error *error) {
  const char *const *arguments = node->arguments;
  if (node->next_arguments != NULL)
    arguments = node->next_arguments;
  else if (first && node->first_arguments != NULL)
    arguments = node->first_arguments;
  node->next_arguments = NULL;
  iso_command command = command_of(cluster, node, arguments);
  return iso_guardian_spawn(&cluster->guardian, (unsigned)node->number, &command, error);
}

isoproof_status iso_cluster_write(const isoproof_cluster *cluster, const char *path, const char *text,
                                  isoproof_error *error) {
  if (path == NULL || text == NULL) return iso_fail_memory(error);
  size_t length = strlen(text);
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  bool good = fd >= 0 && (!cluster->change_user || fchown(fd, cluster->user, cluster->group) == 0) &&
              ftruncate(fd, 0) == 0 && pwrite(fd, text, length, 0) == (ssize_t)length;
  isoproof_status status = good ? ISOPROOF_OK : iso_fail_errno(error, path, "write it");
  if (fd >= 0) close(fd);
  return status;
}

isoproof_status iso_node_set_clock(const isoproof_cluster *cluster, const iso_node *node, int seconds,
                                   isoproof_error *error) {
  char text[32];
  snprintf(text, sizeof text, "%+d\n", seconds);
  return iso_cluster_write(cluster, node->clock, text, error);
}

/* ---- asking ---- */

static isoproof_status execute(iso_connection *connection, const iso_node *node, const char *sql, uint32_t column,
                               char *answer, size_t size, isoproof_error *error) {
  iso_reply reply = {0};
  isoproof_status status = ISOPROOF_OK;
  if (iso_execute(connection, sql, &reply) != ISO_OUTCOME_OK) {
    status = iso_fail(error, ISOPROOF_ERR_IO, "node %zu answers %s to: %s", node->number, reply.message, sql);
  } else if (answer != NULL) {
    const char *cell = reply.cells.count > 0 ? iso_reply_cell(&reply, 0, column) : NULL;
    snprintf(answer, size, "%s", cell != NULL ? cell : "");
  }
  iso_reply_free(&reply);
  return status;
}

static isoproof_status ask_within(const iso_node *node, uint32_t timeout_ms, const char *sql, uint32_t column,
                                  char *answer, size_t size, isoproof_error *error) {
  const iso_database_options how = {.connect_timeout_ms = ASK_TIMEOUT_MS, .statement_timeout_ms = timeout_ms};
  iso_database *database = NULL;
  iso_connection *connection = NULL;
  isoproof_status status = iso_database_open(&node->direct, 1, &how, &database, error);
  if (status == ISOPROOF_OK) status = iso_connect(database, 0, &connection, error);
  if (status == ISOPROOF_OK) status = execute(connection, node, sql, column, answer, size, error);
  iso_disconnect(connection);
  iso_database_close(database);
  return status;
}

isoproof_status iso_node_ask(const iso_node *node, const char *sql, uint32_t column, char *answer, size_t size,
                             isoproof_error *error) {
  return ask_within(node, ASK_TIMEOUT_MS, sql, column, answer, size, error);
}

isoproof_status iso_node_execute(const iso_node *node, const char *sql, uint32_t timeout_ms, isoproof_error *error) {
  return ask_within(node, timeout_ms, sql, 0, NULL, 0, error);
}

isoproof_status iso_node_wait(isoproof_cluster *cluster, const iso_node *node, double seconds, isoproof_task *task,
                              isoproof_error *error) {
  double until = iso_now() + seconds;
  isoproof_error reason = {.offset = -1};
  for (;;) {
    isoproof_status status = cluster->type->ready(cluster, node, &reason);
    if (status == ISOPROOF_OK) return ISOPROOF_OK;
    iso_process_state state;
    ISO_TRY(iso_guardian_state(&cluster->guardian, (unsigned)node->number, &state, error));
    ISO_TRY(iso_task_check(task, error));
    if (!state.running) {
      char line[300];
      iso_guardian_last_line(node->log, line, sizeof line);
      return iso_fail(error, ISOPROOF_ERR_IO, "the server of node %zu ended: %s", node->number, line);
    }
    /* Without its driver no server ever looks ready. */
    if (status == ISOPROOF_ERR_UNSUPPORTED || status == ISOPROOF_ERR_MEMORY || iso_now() >= until)
      return iso_fail(error, status, "node %zu does not serve: %s", node->number, reason.message);
    nanosleep(&(struct timespec){.tv_nsec = READY_EVERY_MS * 1000000L}, NULL);
  }
}
