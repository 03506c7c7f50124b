/* files.c - walking directories with a stack of our own, so that depth costs memory and not stack. */
#include "cli/commands/files.h"

#include <dirent.h>
#include <errno.h>
#include <isoproof/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Takes the path, which is freed when memory is out. */
static bool push(file_list *list, char *path, bool walked, int trouble) {
  if (path != NULL && list->count == list->capacity) {
    size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
    file_entry *items = realloc(list->items, capacity * sizeof *items);
    if (items == NULL) {
      free(path);
      path = NULL;
    } else {
      list->items = items;
      list->capacity = capacity;
    }
  }
  if (path == NULL) return false;
  list->items[list->count++] = (file_entry){path, walked, trouble};
  return true;
}

void files_free(file_list *list) {
  for (size_t i = 0; i < list->count; i++) free(list->items[i].path);
  for (size_t i = 0; i < list->left_count; i++) free(list->left[i].name);
  free(list->items);
  free(list->runs);
  free(list->left);
  *list = (file_list){0};
}

static char *join(const char *directory, const char *name) {
  size_t length = strlen(directory);
  const char *slash = length > 0 && directory[length - 1] == '/' ? "" : "/";
  size_t bytes = length + strlen(name) + 2;
  char *path = malloc(bytes);
  if (path != NULL) snprintf(path, bytes, "%s%s%s", directory, slash, name);
  return path;
}

static int by_path_descending(const void *a, const void *b) {
  return strcmp(((const file_entry *)b)->path, ((const file_entry *)a)->path);
}

/* Pushes what a directory holds, the first name on top.  Gives *trouble when it cannot be read. */
static bool expand(const char *directory, file_list *pending, int *trouble) {
  size_t first = pending->count;
  DIR *stream = opendir(directory);
  *trouble = stream == NULL ? errno : 0;
  if (stream == NULL) return true;
  bool ok = true;
  for (struct dirent *entry; ok && (entry = readdir(stream)) != NULL;) {
    if (entry->d_name[0] != '.') ok = push(pending, join(directory, entry->d_name), true, 0);
  }
  closedir(stream);
  if (pending->count > first) {
    qsort(pending->items + first, pending->count - first, sizeof *pending->items, by_path_descending);
  }
  return ok;
}

/* ---- runs of a Jepsen store ---- */

/* Makes room for one more element; false when memory is out. */
static bool grow(void **items, size_t count, size_t *capacity, size_t size) {
  if (count < *capacity) return true;
  size_t wanted = *capacity == 0 ? 16 : *capacity * 2;
  void *grown = realloc(*items, wanted * size);
  if (grown == NULL) return false;
  *items = grown;
  *capacity = wanted;
  return true;
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* The path of that name among those; NULL when there is none. */
static file_entry *find_name(file_entry *items, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(base_name(items[i].path), name) == 0) return &items[i];
  }
  return NULL;
}

/* The history of a run, the plain form first; NULL when there is none. */
static file_entry *find_history(file_entry *items, size_t count) {
  static const char *const names[] = {"history.edn", "history.edn.zst", "history.edn.gz"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    file_entry *found = find_name(items, count, names[i]);
    if (found != NULL) return found;
  }
  return NULL;
}

/* Whether a directory with these entries is a run: what Jepsen alone writes is there, or a history with its results. */
static bool is_run(file_entry *items, size_t count) {
  static const char *const alone[] = {"jepsen.log", "test.jepsen", "test.fressian"};
  for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
    if (find_name(items, count, alone[i]) != NULL) return true;
  }
  bool beside = find_name(items, count, "results.edn") != NULL || find_name(items, count, "history.txt") != NULL;
  return beside && find_history(items, count) != NULL;
}

/* Counts a name among those left alone, sorted; false when memory is out. */
static bool leave_alone(file_list *list, const char *name) {
  size_t at = 0;
  while (at < list->left_count && strcmp(list->left[at].name, name) < 0) at++;
  if (at < list->left_count && strcmp(list->left[at].name, name) == 0) {
    list->left[at].count++;
    return true;
  }
  char *copy = strdup(name);
  if (copy == NULL || !grow((void **)&list->left, list->left_count, &list->left_capacity, sizeof *list->left)) {
    free(copy);
    return false;
  }
  memmove(&list->left[at + 1], &list->left[at], (list->left_count - at) * sizeof *list->left);
  list->left[at] = (left_name){copy, 1};
  list->left_count++;
  return true;
}

/* Whether the run was met before, by another path; else notes it.  *ok is false when memory is out. */
static bool was_met(file_list *list, const struct stat *info, bool *ok) {
  for (size_t i = 0; i < list->run_count; i++) {
    if (list->runs[i].device == info->st_dev && list->runs[i].number == info->st_ino) return true;
  }
  *ok = grow((void **)&list->runs, list->run_count, &list->run_capacity, sizeof *list->runs);
  if (*ok) list->runs[list->run_count++] = (run_directory){info->st_dev, info->st_ino};
  return false;
}

/* Takes the entries of a run off the stack: its history joins the list, everything else is left alone. */
static bool take_run(file_list *list, file_list *pending, size_t first, const struct stat *info) {
  bool ok = true, met = was_met(list, info, &ok);
  file_entry *history = find_history(pending->items + first, pending->count - first);
  size_t chosen = history != NULL ? (size_t)(history - pending->items) : pending->count;
  if (!met && history == NULL) list->runs_without++;
  for (size_t i = first; i < pending->count; i++) {
    char *path = pending->items[i].path;
    if (ok && !met && i == chosen) {
      ok = push(list, path, false, 0);
      continue;
    }
    if (ok && !met) ok = leave_alone(list, base_name(path));
    free(path);
  }
  pending->count = first;
  return ok;
}

/* ---- directories ---- */

static bool is_directory_history(const char *path, const char *format) {
  if (format != NULL) return strcmp(format, "cobra") == 0 || strcmp(format, "viper") == 0;
  return isoproof_format_detect(path, NULL, NULL) == ISOPROOF_OK;
}

/* Handles one path: a file joins the list, a directory is expanded onto the stack. */
static bool visit(file_list *list, file_list *pending, char *path, bool walked, const char *format) {
  struct stat info, link;
  bool known = stat(path, &info) == 0;
  if (known && S_ISDIR(info.st_mode)) {
    int trouble;
    bool is_link = walked && lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
    if (is_link) return free(path), true;
    if (is_directory_history(path, format)) return push(list, path, walked, 0);
    list->walked = true;
    size_t first = pending->count;
    bool ok = expand(path, pending, &trouble);
    if (ok && is_run(pending->items + first, pending->count - first)) ok = take_run(list, pending, first, &info);
    if (trouble != 0) return push(list, path, walked, trouble) && ok;
    free(path);
    return ok;
  }
  /* A pipe or device in a directory could block for ever; a dangling link is nothing to read. */
  if (walked && !(known && S_ISREG(info.st_mode))) return free(path), true;
  return push(list, path, walked, 0);
}

bool files_collect(file_list *list, const char *const *arguments, size_t count, const char *format) {
  file_list pending = {0};
  bool ok = true;
  *list = (file_list){0};
  for (size_t i = 0; ok && i < count; i++) {
    ok = push(&pending, strdup(arguments[i]), false, 0);
    while (ok && pending.count > 0) {
      file_entry top = pending.items[--pending.count];
      ok = strcmp(top.path, "-") == 0 && !top.walked ? push(list, top.path, false, 0)
                                                     : visit(list, &pending, top.path, top.walked, format);
    }
  }
  files_free(&pending);
  return ok;
}
