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
  free(list->items);
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
    bool ok = expand(path, pending, &trouble);
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
