/* duckdb_library.c - libduckdb.so, and in it the functions that are used. */
#include <string.h>

#include "database/drivers/duckdb.h"
#include "database/drivers/library.h"

static const iso_library_function functions[] = {
#define DUCKDB_X(type, name, parameters) {"duckdb_" #name, offsetof(iso_duckdb, name)},
    DUCKDB_FUNCTIONS(DUCKDB_X)
#undef DUCKDB_X
};

static const iso_library library = {.product = "DuckDB",
                                    .scheme = "duckdb",
                                    .file = "libduckdb.so",
                                    .variable = ISO_DUCKDB_VARIABLE,
                                    .oldest_major = 1,
                                    .newest_major = 1,
                                    .newest_minor = -1,
                                    .functions = functions,
                                    .function_count = sizeof functions / sizeof *functions};

isoproof_status iso_duckdb_load(const char *path, iso_duckdb *api, isoproof_error *error) {
  memset(api, 0, sizeof *api);
  return iso_library_load(&library, path, &api->library, api, error);
}

void iso_duckdb_unload(iso_duckdb *api) {
  iso_library_unload(api->library);
  memset(api, 0, sizeof *api);
}
