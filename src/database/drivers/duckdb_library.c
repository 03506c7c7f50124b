/* duckdb_library.c - finding libduckdb.so, and in it the functions that are used. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "database/drivers/duckdb.h"

static const struct {
  const char *name;
  size_t offset;
} functions[] = {
#define DUCKDB_X(type, name, parameters) {"duckdb_" #name, offsetof(iso_duckdb, name)},
    DUCKDB_FUNCTIONS(DUCKDB_X)
#undef DUCKDB_X
};

/* Threads and variables of the library may outlast the last database: it stays in memory, where the next one finds it.
 */
static void *open_library(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); }

static isoproof_status find_library(const char *path, iso_duckdb *api, isoproof_error *error) {
  static const char *const usual[] = {"libduckdb.so", "libduckdb.so.1"};
  const char *from = "lib";
  if (path == NULL) {
    path = getenv(ISO_DUCKDB_VARIABLE);
    from = ISO_DUCKDB_VARIABLE;
  }
  if (path != NULL && path[0] != 0) {
    api->library = open_library(path);
    const char *why = api->library == NULL ? dlerror() : "";
    if (api->library == NULL)
      return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "%s: cannot load DuckDB: %s", from, why != NULL ? why : path);
    return ISOPROOF_OK;
  }
  for (size_t i = 0; api->library == NULL && i < sizeof usual / sizeof *usual; i++)
    api->library = open_library(usual[i]);
  if (api->library != NULL) return ISOPROOF_OK;
  return iso_fail(
      error, ISOPROOF_ERR_UNSUPPORTED,
      "duckdb: libduckdb.so was not found where the loader looks; name it by duckdb:FILE?lib=/path/libduckdb.so "
      "or in " ISO_DUCKDB_VARIABLE);
}

isoproof_status iso_duckdb_load(const char *path, iso_duckdb *api, isoproof_error *error) {
  memset(api, 0, sizeof *api);
  ISO_TRY(find_library(path, api, error));
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *found = dlsym(api->library, functions[i].name);
    if (found == NULL) {
      iso_duckdb_unload(api);
      return iso_fail(
          error, ISOPROOF_ERR_UNSUPPORTED,
          "duckdb: the library has no function %s: it is not DuckDB, or of a version that is not known here",
          functions[i].name);
    }
    memcpy((char *)api + functions[i].offset, &found, sizeof found);
  }
  return ISOPROOF_OK;
}

void iso_duckdb_unload(iso_duckdb *api) {
  if (api->library != NULL) dlclose(api->library);
  memset(api, 0, sizeof *api);
}
