/* rocksdb_library.c - librocksdb.so, and in it the functions that are used.
 *
 * Linked, it would cost every start of the program more than everything else together: constructors and relocations.
 */
#include "database/drivers/rocksdb_library.h"

#include <stdio.h>
#include <string.h>

#include "database/drivers/library.h"

static const iso_library_function functions[] = {
#define ROCKSDB_X(type, name, parameters) {"rocksdb_" #name, offsetof(iso_rocksdb_api, name)},
    ROCKSDB_FUNCTIONS(ROCKSDB_X)
#undef ROCKSDB_X
};

static const iso_library library = {.product = "RocksDB",
                                    .scheme = "rocksdb",
                                    .file = "librocksdb.so",
                                    .variable = ISO_ROCKSDB_VARIABLE,
                                    .oldest_major = 6,
                                    .newest_major = 12,
                                    .newest_minor = 30,
                                    .functions = functions,
                                    .function_count = sizeof functions / sizeof *functions};

isoproof_status iso_rocksdb_load(const char *path, iso_rocksdb_api *api, isoproof_error *error) {
  memset(api, 0, sizeof *api);
  return iso_library_load(&library, path, &api->library, api, error);
}

void iso_rocksdb_unload(iso_rocksdb_api *api) {
  iso_library_unload(api->library);
  memset(api, 0, sizeof *api);
}

void iso_rocksdb_name(const iso_rocksdb_api *api, char *buffer, size_t size) {
  char version[32];
  void *function;
  memcpy(&function, &api->options_create, sizeof function);
  iso_library_version(function, version, sizeof version);
  snprintf(buffer, size, "RocksDB%s%s", version[0] != 0 ? " " : "", version);
}
