/* Opening and listing what is below a directory, step by step from descriptors, without following links. */
#include "serve/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int iso_folder_open(int root, const char *const *parts, uint32_t count, bool directory) {
  int at = dup(root);
  for (uint32_t i = 0; at >= 0 && i < count; i++) {
    bool last = i + 1 == count && !directory;
    /* Whatever waits when it is opened, such as a pipe, must not. */
    int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (last ? 0 : O_DIRECTORY);
    bool safe = strchr(parts[i], '/') == NULL && strcmp(parts[i], "..") != 0 && parts[i][0] != 0;
    int next = safe ? openat(at, parts[i], flags) : -1;
    close(at);
    at = next;
  }
  struct stat info;
  if (at < 0 || (fstat(at, &info) == 0 && (directory ? S_ISDIR(info.st_mode) : S_ISREG(info.st_mode)))) return at;
  close(at);
  return -1;
}

char *iso_folder_read(int file, size_t most, size_t *size) {
  struct stat info;
  if (fstat(file, &info) != 0 || info.st_size < 0 || (uint64_t)info.st_size > most) return NULL;
  size_t room = (size_t)info.st_size;
  char *bytes = iso_alloc(room + 1, 1);
  *size = 0;
  while (bytes != NULL && *size < room) {
    ssize_t got = read(file, bytes + *size, room - *size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    *size += (size_t)got;
  }
  return bytes;
}

/* ---- runs ---- */

static bool has_file(int folder, const char *name) {
  int file = iso_folder_open(folder, &name, 1, false);
  if (file >= 0) close(file);
  return file >= 0;
}

/* A run that was killed tells nothing any more, and leaves what it told last. */
static bool is_fresh(int folder, const char *name) {
  enum { FRESH_SECONDS = 15 };
  struct stat facts;
  int file = iso_folder_open(folder, &name, 1, false);
  if (file < 0) return false;
  bool fresh = fstat(file, &facts) == 0 && time(NULL) - facts.st_mtime <= FRESH_SECONDS;
  close(file);
  return fresh;
}

/* Adds a folder that a run left, if it is one; false when memory is out. */
static bool add_run(iso_past_runs *runs, int folder, const char *first, const char *second) {
  bool complete = has_file(folder, "result.json");
  if (!complete && !has_file(folder, "history.jsonl")) return true;
  iso_past_run run = {
      {first != NULL ? strdup(first) : NULL, second != NULL ? strdup(second) : NULL}, 0, complete, false};
  run.live = !complete && is_fresh(folder, "live.json");
  run.part_count = second != NULL ? 2 : first != NULL ? 1 : 0;
  bool good = (first == NULL || run.parts[0] != NULL) && (second == NULL || run.parts[1] != NULL);
  if (good && iso_vec_push(&runs->list, run)) return true;
  free(run.parts[0]);
  free(run.parts[1]);
  return false;
}

/* The folders in one, with a name that is not hidden, handed to `visit` until it returns false. */
typedef bool (*visit_fn)(iso_past_runs *runs, int folder, const char *parent, const char *name);

static bool visit_folders(iso_past_runs *runs, int folder, const char *parent, visit_fn visit) {
  enum { MOST_ENTRIES = 20000 };
  int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = copy >= 0 ? fdopendir(copy) : NULL;
  if (stream == NULL && copy >= 0) close(copy);
  bool good = true;
  for (int i = 0; stream != NULL && good && i < MOST_ENTRIES; i++) {
    const struct dirent *entry = readdir(stream);
    if (entry == NULL) break;
    const char *name = entry->d_name;
    if (name[0] == '.') continue;
    int inner = iso_folder_open(folder, &name, 1, true);
    if (inner < 0) continue;
    good = visit(runs, inner, parent, name);
    close(inner);
  }
  if (stream != NULL) closedir(stream);
  return good;
}

static bool visit_round(iso_past_runs *runs, int folder, const char *parent, const char *name) {
  return add_run(runs, folder, parent, name);
}

static bool visit_run(iso_past_runs *runs, int folder, const char *parent, const char *name) {
  (void)parent;
  if (!add_run(runs, folder, name, NULL)) return false;
  return visit_folders(runs, folder, name, visit_round);
}

/* Names with numbers, as round-2 and round-10, in the order of the numbers. */
static int by_name(const void *a, const void *b) {
  const iso_past_run *x = a, *y = b;
  for (uint32_t i = 0; i < x->part_count && i < y->part_count; i++) {
    int order = strverscmp(y->parts[i], x->parts[i]);
    if (order != 0) return order;
  }
  return (int)x->part_count - (int)y->part_count;
}

bool iso_runs_find(int root, iso_past_runs *runs) {
  memset(runs, 0, sizeof *runs);
  bool good = add_run(runs, root, NULL, NULL) && visit_folders(runs, root, NULL, visit_run);
  if (!good) {
    iso_runs_free(runs);
    return false;
  }
  if (runs->list.count > 1) qsort(runs->list.items, runs->list.count, sizeof *runs->list.items, by_name);
  runs->more = runs->list.count > ISO_RUNS_MOST;
  while (runs->list.count > ISO_RUNS_MOST) {
    const iso_past_run *last = &runs->list.items[--runs->list.count];
    free(last->parts[0]);
    free(last->parts[1]);
  }
  return true;
}

void iso_runs_free(iso_past_runs *runs) {
  for (size_t i = 0; i < runs->list.count; i++) {
    free(runs->list.items[i].parts[0]);
    free(runs->list.items[i].parts[1]);
  }
  iso_vec_free(&runs->list);
}
