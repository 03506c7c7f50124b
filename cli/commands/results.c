/* results.c - one write per line, and the names of what is there already. */
#include "cli/commands/results.h"

#include <errno.h>
#include <fcntl.h>
#include <isoproof/level.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands/saved.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/message.h"

struct results {
  const char *path;
  int file;
  pthread_mutex_t lock;
  saved before;
  const char **names; /* of what is there already, sorted */
};

static int compare(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

bool results_has(const results *r, const char *path) {
  return r->before.count > 0 && bsearch(&path, r->names, r->before.count, sizeof *r->names, compare) != NULL;
}

size_t results_count(const results *r) { return r->before.count; }

bool results_add(results *r, const char *line, size_t bytes) {
  bool done = true;
  pthread_mutex_lock(&r->lock);
  off_t end = lseek(r->file, 0, SEEK_END);
  for (size_t at = 0; done && at < bytes;) {
    ssize_t wrote = write(r->file, line + at, bytes - at);
    if (wrote > 0)
      at += (size_t)wrote;
    else if (errno != EINTR)
      done = false;
  }
  if (!done) {
    message_errno(r->path, "write");
    /* A full disk: nothing of the line is better than a part of it. */
    if (end >= 0 && ftruncate(r->file, end) != 0) message_errno(r->path, "take a part of a line back");
  }
  pthread_mutex_unlock(&r->lock);
  return done;
}

/* Whether a result is about the levels that are asked for now. */
static bool same_levels(const isoproof_document *document, const char *const *levels, size_t count) {
  isoproof_level_verdict v = {.struct_size = sizeof v};
  if (isoproof_document_problem(document) != NULL) return true;
  if (count == 0) return isoproof_document_verdict(document) == ISOPROOF_VERDICT_NONE;
  for (size_t i = 0; i < count; i++) {
    const isoproof_level_info *info = isoproof_level_find(levels[i]);
    bool found = info == NULL;
    for (size_t k = 0; !found && isoproof_document_level(document, k, &v); k++) found = strcmp(v.level, info->id) == 0;
    if (!found && isoproof_document_verdict(document) != ISOPROOF_UNDECIDED) return false;
  }
  return true;
}

/* Everything up to the last newline; NULL after a message.  What is behind it is cut off. */
static char *whole_lines(int file, const char *path, size_t *bytes) {
  struct stat s;
  if (fstat(file, &s) != 0) {
    message_errno(path, "read");
    return NULL;
  }
  size_t size = (size_t)s.st_size, at = 0;
  char *text = malloc(size + 1);
  while (text != NULL && at < size) {
    ssize_t got = pread(file, text + at, size - at, (off_t)at);
    if (got > 0) {
      at += (size_t)got;
    } else if (got == 0 || errno != EINTR) {
      message_errno(path, "read");
      free(text);
      return NULL;
    }
  }
  if (text == NULL) {
    message("out of memory");
    return NULL;
  }
  while (at > 0 && text[at - 1] != '\n') at--;
  if (at < size && ftruncate(file, (off_t)at) != 0) {
    message_errno(path, "take a part of a line away");
    free(text);
    return NULL;
  }
  *bytes = at;
  return text;
}

/* Learns what is there already: an exit code. */
static int learn(results *r, const char *const *levels, size_t level_count, int *worst) {
  size_t bytes = 0;
  char *text = whole_lines(r->file, r->path, &bytes);
  if (text == NULL) return EXIT_USAGE;
  isoproof_task *task = interrupt_task_new();
  int code = task == NULL ? EXIT_UNKNOWN : saved_collect_text(&r->before, text, bytes, r->path, task);
  interrupt_task_free(task);
  free(text);
  if (code != EXIT_SATISFIED) return code;
  r->names = malloc((r->before.count + 1) * sizeof *r->names);
  if (r->names == NULL) {
    message("out of memory");
    return EXIT_UNKNOWN;
  }
  for (size_t i = 0; i < r->before.count; i++) {
    r->names[i] = isoproof_document_file(r->before.items[i]);
    *worst = exit_worse(*worst, saved_exit(r->before.items[i]));
    if (same_levels(r->before.items[i], levels, level_count)) continue;
    message("%s: has results of other levels; give the levels of the first run, or another file", r->path);
    return EXIT_USAGE;
  }
  qsort(r->names, r->before.count, sizeof *r->names, compare);
  return EXIT_SATISFIED;
}

/* Opens and locks the file; false after a message. */
static bool open_file(results *r, bool resume) {
  r->file = open(r->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (resume ? 0 : O_EXCL), 0666);
  if (r->file < 0 && errno == EEXIST)
    message("%s: exists already; --resume goes on with it", r->path);
  else if (r->file < 0)
    message_errno(r->path, "open");
  else if (flock(r->file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    message("%s: another process is writing it", r->path);
  else
    return true;
  return false;
}

results *results_open(const char *path, bool resume, const char *const *levels, size_t level_count, int *code) {
  results *r = calloc(1, sizeof *r);
  int worst = EXIT_SATISFIED;
  if (r == NULL) {
    message("out of memory");
    *code = EXIT_UNKNOWN;
    return NULL;
  }
  *r = (results){.path = path, .file = -1, .lock = PTHREAD_MUTEX_INITIALIZER};
  *code = open_file(r, resume) ? learn(r, levels, level_count, &worst) : EXIT_USAGE;
  if (*code != EXIT_SATISFIED) {
    results_close(r);
    return NULL;
  }
  *code = worst;
  return r;
}

void results_close(results *r) {
  if (r == NULL) return;
  if (r->file >= 0 && close(r->file) != 0) message_errno(r->path, "write");
  saved_free(&r->before);
  free(r->names);
  free(r);
}
