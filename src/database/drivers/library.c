/* library.c - finding a client library, and in it the functions that are used. */
#include "database/drivers/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Threads and variables of a library may outlast the last database: it stays in memory, where the next one finds it.
 */
static void *open_library(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); }

/* By one of its names: without a version, then from the newest to the oldest. */
static void *open_named(const iso_library *library, const char *file) {
  char name[64];
  void *found = library->numbered ? NULL : open_library(file);
  for (int major = library->newest_major; found == NULL && major >= library->oldest_major; major--) {
    snprintf(name, sizeof name, "%s.%d", file, major);
    found = open_library(name);
    for (int minor = library->newest_minor; found == NULL && minor >= 0; minor--) {
      snprintf(name, sizeof name, "%s.%d.%d", file, major, minor);
      found = open_library(name);
    }
  }
  return found;
}

static void *open_usual(const iso_library *library) {
  void *found = open_named(library, library->file);
  return found != NULL || library->other == NULL ? found : open_named(library, library->other);
}

/* The file that is looked for, as one would look for it. */
static void write_name(const iso_library *library, char *buffer, size_t size) {
  if (library->numbered)
    snprintf(buffer, size, "%s.%d", library->file, library->newest_major);
  else
    snprintf(buffer, size, "%s", library->file);
}

static isoproof_status fail_missing(const iso_library *library, isoproof_error *error) {
  char name[64];
  write_name(library, name, sizeof name);
  if (library->numbered)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                    "%s: %s was not found where the loader looks; install it (Debian: %s), or name it in %s",
                    library->scheme, name, library->package, library->variable);
  return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                  "%s: %s was not found where the loader looks; name it by lib=/path/%s in the URL or in %s",
                  library->scheme, name, library->file, library->variable);
}

static isoproof_status find_library(const iso_library *library, const char *path, void **handle,
                                    isoproof_error *error) {
  const char *from = "lib";
  if (path == NULL) {
    path = getenv(library->variable);
    from = library->variable;
  }
  if (path != NULL && path[0] != 0) {
    *handle = open_library(path);
    const char *why = *handle == NULL ? dlerror() : "";
    if (*handle == NULL)
      return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "%s: cannot load %s: %s", from, library->product,
                      why != NULL ? why : path);
    return ISOPROOF_OK;
  }
  *handle = open_usual(library);
  return *handle != NULL ? ISOPROOF_OK : fail_missing(library, error);
}

void iso_library_missing(const iso_library *library, char *buffer, size_t size) {
  char name[64];
  write_name(library, name, sizeof name);
  if (library->package != NULL)
    snprintf(buffer, size, "%s not found (Debian: %s)", name, library->package);
  else
    snprintf(buffer, size, "%s not found", name);
}

/* What libraries do when they are initialized is theirs, and not made for several threads. */
static isoproof_status initialize(const iso_library *library, const void *functions, isoproof_error *error) {
  static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
  if (library->initialize == NULL) return ISOPROOF_OK;
  pthread_mutex_lock(&one);
  isoproof_status status = library->initialize(functions, error);
  pthread_mutex_unlock(&one);
  return status;
}

static isoproof_status find_functions(const iso_library *library, void *handle, void *functions,
                                      isoproof_error *error) {
  for (size_t i = 0; i < library->function_count; i++) {
    void *found = dlsym(handle, library->functions[i].name);
    if (found == NULL)
      return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                      "%s: the library has no function %s: it is not %s, or of a version that is not known here",
                      library->scheme, library->functions[i].name, library->product);
    memcpy((char *)functions + library->functions[i].offset, &found, sizeof found);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_library_load(const iso_library *library, const char *path, void **handle, void *functions,
                                 isoproof_error *error) {
  *handle = NULL;
  ISO_TRY(find_library(library, path, handle, error));
  isoproof_status status = find_functions(library, *handle, functions, error);
  if (status == ISOPROOF_OK) status = initialize(library, functions, error);
  if (status == ISOPROOF_OK) return ISOPROOF_OK;
  iso_library_unload(*handle);
  *handle = NULL;
  return status;
}

void iso_library_unload(void *handle) {
  if (handle != NULL) dlclose(handle);
}

void iso_library_version(const void *function, char *buffer, size_t size) {
  Dl_info where;
  buffer[0] = 0;
  if (dladdr(function, &where) == 0 || where.dli_fname == NULL) return;
  char *path = realpath(where.dli_fname, NULL);
  const char *version = path != NULL ? strstr(path, ".so.") : NULL;
  if (version != NULL) snprintf(buffer, size, "%s", version + 4);
  free(path);
}
