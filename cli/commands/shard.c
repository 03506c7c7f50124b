/* shard.c - longest processing time first: Graham's rule, whose longest part is at most 4/3 of the best possible. */
#include "cli/commands/shard.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/terminal/message.h"

enum { MOST_SHARDS = 1000000 };

bool shard_read(const char *text, size_t *number, size_t *count) {
  unsigned long i, n;
  char slash, rest;
  bool digits = strspn(text, "0123456789/") == strlen(text);
  if (digits && sscanf(text, "%lu%c%lu%c", &i, &slash, &n, &rest) == 3 && slash == '/' && i >= 1 && i <= n &&
      n <= MOST_SHARDS) {
    *number = i - 1;
    *count = n;
    return true;
  }
  message("--shard: expected I/N with I from 1 to N, such as 3/8, found '%s'", text);
  return false;
}

typedef struct weighed {
  uint64_t bytes;
  size_t place; /* in the list */
  const char *path;
} weighed;

/* A history may be a directory of logs. */
static uint64_t bytes_of(const char *path) {
  struct stat s;
  if (stat(path, &s) != 0) return 0;
  if (!S_ISDIR(s.st_mode)) return (uint64_t)s.st_size;
  uint64_t sum = 0;
  DIR *directory = opendir(path);
  if (directory == NULL) return 0;
  for (struct dirent *e; (e = readdir(directory)) != NULL;) {
    if (fstatat(dirfd(directory), e->d_name, &s, 0) == 0 && S_ISREG(s.st_mode)) sum += (uint64_t)s.st_size;
  }
  closedir(directory);
  return sum;
}

static int larger_first(const void *a, const void *b) {
  const weighed *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  int names = strcmp(x->path, y->path);
  return names != 0 ? names : x->place < y->place ? -1 : x->place > y->place;
}

typedef struct load {
  uint64_t bytes;
  size_t shard;
} load;

static bool lighter(const load *a, const load *b) {
  return a->bytes != b->bytes ? a->bytes < b->bytes : a->shard < b->shard;
}

/* The root of a heap became heavier: it sinks to where it belongs. */
static void sink(load *heap, size_t count) {
  for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && lighter(&heap[child + 1], &heap[child])) child++;
    if (!lighter(&heap[child], &heap[at])) return;
    load kept = heap[at];
    heap[at] = heap[child];
    heap[child] = kept;
  }
}

/* Which files stay. */
static void assign(const weighed *files, size_t file_count, load *heap, size_t count, size_t number, bool *stays) {
  for (size_t i = 0; i < count; i++) heap[i] = (load){0, i};
  for (size_t i = 0; i < file_count; i++) {
    stays[files[i].place] = heap[0].shard == number;
    /* Every file costs something, however small. */
    heap[0].bytes += files[i].bytes + 4096;
    sink(heap, count);
  }
}

static void keep(file_list *list, const bool *stays) {
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++) {
    if (stays[i])
      list->items[kept++] = list->items[i];
    else
      free(list->items[i].path);
  }
  list->count = kept;
}

bool shard_pick(file_list *list, size_t number, size_t count) {
  if (list->count == 0) return true;
  weighed *files = malloc(list->count * sizeof *files);
  load *heap = malloc(count * sizeof *heap);
  bool *stays = calloc(list->count, sizeof *stays), ready = files != NULL && heap != NULL && stays != NULL;
  if (ready) {
    for (size_t i = 0; i < list->count; i++)
      files[i] = (weighed){bytes_of(list->items[i].path), i, list->items[i].path};
    qsort(files, list->count, sizeof *files, larger_first);
    assign(files, list->count, heap, count, number, stays);
    keep(list, stays);
  }
  free(files);
  free(heap);
  free(stays);
  return ready;
}
