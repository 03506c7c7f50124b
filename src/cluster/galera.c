/* galera.c - a Galera cluster of which no node is left: the node that has most starts it again.
 *
 * Each server tells by --wsrep-recover how far its data are, which its state file does not know after a crash.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"
#include "cluster/cluster.h"

enum { RECOVER_SECONDS = 120, LOG_BYTES = 1 << 20, POSITION_BYTES = 64, ARGUMENTS_MOST = 80 };

static const char *const *with(isoproof_cluster *cluster, const char *const *arguments, const char *more,
                               const char *second) {
  const char *texts[ARGUMENTS_MOST];
  size_t count = 0;
  while (arguments[count] != NULL && count + 2 < ARGUMENTS_MOST) {
    texts[count] = arguments[count];
    count++;
  }
  texts[count++] = more;
  if (second != NULL) texts[count++] = second;
  return iso_cluster_list(cluster, texts, count);
}

/* "WSREP: Recovered position: 5fa2...:1234", the last one of the log. */
static bool read_position(const char *log, char position[POSITION_BYTES], int64_t *number) {
  static const char words[] = "Recovered position: ";
  char *text = iso_alloc(LOG_BYTES + 1, 1);
  int fd = text != NULL ? open(log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
  ssize_t got = fd >= 0 ? read(fd, text, LOG_BYTES) : -1;
  if (fd >= 0) close(fd);
  const char *last = NULL;
  if (got > 0) {
    text[got] = 0;
    for (const char *at = strstr(text, words); at != NULL; at = strstr(at + 1, words)) last = at + strlen(words);
  }
  size_t length = last != NULL ? strcspn(last, " ,\r\n") : 0;
  const char *colon = length > 0 ? memchr(last, ':', length) : NULL;
  bool good = colon != NULL && length < POSITION_BYTES;
  if (good) {
    snprintf(position, POSITION_BYTES, "%.*s", (int)length, last);
    *number = strtoll(colon + 1, NULL, 10);
  }
  free(text);
  return good;
}

static isoproof_status ask_position(isoproof_cluster *cluster, iso_node *node, char position[POSITION_BYTES],
                                    int64_t *number, isoproof_error *error) {
  const char *log = iso_cluster_text(cluster, "%s/recover.log", node->folder);
  const char *const *arguments = with(cluster, node->arguments, "--wsrep-recover", NULL);
  if (log == NULL || arguments == NULL) return iso_fail_memory(error);
  (void)unlink(log);
  ISO_TRY(iso_cluster_tool_to(cluster, node, log, arguments, RECOVER_SECONDS, error));
  if (read_position(log, position, number)) return ISOPROOF_OK;
  char line[200];
  iso_guardian_last_line(log, line, sizeof line);
  return iso_fail(error, ISOPROOF_ERR_IO, "node %zu does not tell how far its data are: %s", node->number, line);
}

/* Galera refuses to begin with a node that was not the last to leave, unless somebody who knows better says so. */
static isoproof_status allow_to_lead(isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  static const char words[] = "safe_to_bootstrap: ";
  char text[1024];
  const char *path = iso_cluster_text(cluster, "%s/data/grastate.dat", node->folder);
  if (path == NULL) return iso_fail_memory(error);
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  ssize_t got = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;
  text[got > 0 ? got : 0] = 0;
  const char *flag = strstr(text, words);
  bool good = flag != NULL && pwrite(fd, "1", 1, flag + strlen(words) - text) == 1;
  isoproof_status status = good ? ISOPROOF_OK : iso_fail_errno(error, path, "allow the node to start the cluster");
  if (fd >= 0) close(fd);
  return status;
}

isoproof_status iso_galera_recover(isoproof_cluster *cluster, size_t *first, isoproof_error *error) {
  char positions[ISOPROOF_CLUSTER_MOST_NODES][POSITION_BYTES];
  int64_t most = INT64_MIN;
  for (size_t i = 0; i < cluster->node_count; i++) {
    int64_t number = INT64_MIN;
    ISO_TRY(ask_position(cluster, &cluster->nodes[i], positions[i], &number, error));
    if (number <= most) continue;
    most = number;
    *first = i;
  }
  for (size_t i = 0; i < cluster->node_count; i++) {
    iso_node *node = &cluster->nodes[i];
    const char *start = iso_cluster_text(cluster, "--wsrep-start-position=%s", positions[i]);
    node->next_arguments = with(cluster, node->arguments, start, i == *first ? "--wsrep-new-cluster" : NULL);
    if (start == NULL || node->next_arguments == NULL) return iso_fail_memory(error);
  }
  return allow_to_lead(cluster, &cluster->nodes[*first], error);
}
