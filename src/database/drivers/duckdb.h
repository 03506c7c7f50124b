/* duckdb.h - the part of DuckDB's C API that is used, declared here, and found in libduckdb.so when a database is
 * opened.
 *
 * There is no build dependency: the library may be of any version that exports these functions.  Whoever loads an API
 * gives it back with iso_duckdb_unload.
 */
#ifndef ISO_DATABASE_DRIVERS_DUCKDB_H
#define ISO_DATABASE_DRIVERS_DUCKDB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Handles are pointers to what only DuckDB knows. */
typedef void *duckdb_database, *duckdb_connection, *duckdb_config, *duckdb_statement, *duckdb_pending;

typedef enum duckdb_state { DUCKDB_SUCCESS = 0, DUCKDB_ERROR = 1 } duckdb_state;
typedef enum duckdb_progress {
  DUCKDB_READY = 0,
  DUCKDB_NOT_READY = 1,
  DUCKDB_FAILED = 2,
  DUCKDB_NO_TASKS = 3
} duckdb_progress;
typedef enum duckdb_return {
  DUCKDB_INVALID = 0,
  DUCKDB_CHANGED_ROWS = 1,
  DUCKDB_NOTHING = 2,
  DUCKDB_ROWS = 3
} duckdb_return;

typedef struct duckdb_result {
  uint64_t deprecated[3];
  void *columns;
  char *message;
  void *internal;
} duckdb_result;

/* Freed by duckdb_free. */
typedef struct duckdb_string {
  char *data;
  uint64_t size;
} duckdb_string;

/* What it returns, name without "duckdb_", parameters. */
#define DUCKDB_FUNCTIONS(X)                                                                                            \
  X(const char *, library_version, (void))                                                                             \
  X(duckdb_state, create_config, (duckdb_config * config))                                                             \
  X(duckdb_state, set_config, (duckdb_config config, const char *name, const char *value))                             \
  X(void, destroy_config, (duckdb_config * config))                                                                    \
  X(duckdb_state, open_ext, (const char *path, duckdb_database *database, duckdb_config config, char **error))         \
  X(void, close, (duckdb_database * database))                                                                         \
  X(duckdb_state, connect, (duckdb_database database, duckdb_connection * connection))                                 \
  X(void, disconnect, (duckdb_connection * connection))                                                                \
  X(void, interrupt, (duckdb_connection connection))                                                                   \
  X(void, free, (void *memory))                                                                                        \
  X(duckdb_state, query, (duckdb_connection connection, const char *sql, duckdb_result *result))                       \
  X(duckdb_state, prepare, (duckdb_connection connection, const char *sql, duckdb_statement *statement))               \
  X(const char *, prepare_error, (duckdb_statement statement))                                                         \
  X(void, destroy_prepare, (duckdb_statement * statement))                                                             \
  X(duckdb_state, bind_int64, (duckdb_statement statement, uint64_t number, int64_t value))                            \
  X(duckdb_state, bind_varchar_length,                                                                                 \
    (duckdb_statement statement, uint64_t number, const char *text, uint64_t length))                                  \
  X(duckdb_state, pending_prepared, (duckdb_statement statement, duckdb_pending * pending))                            \
  X(duckdb_progress, pending_execute_task, (duckdb_pending pending))                                                   \
  X(const char *, pending_error, (duckdb_pending pending))                                                             \
  X(duckdb_state, execute_pending, (duckdb_pending pending, duckdb_result * result))                                   \
  X(void, destroy_pending, (duckdb_pending * pending))                                                                 \
  X(const char *, result_error, (duckdb_result * result))                                                              \
  X(duckdb_return, result_return_type, (duckdb_result result))                                                         \
  X(void, destroy_result, (duckdb_result * result))                                                                    \
  X(uint64_t, column_count, (duckdb_result * result))                                                                  \
  X(uint64_t, row_count, (duckdb_result * result))                                                                     \
  X(uint64_t, rows_changed, (duckdb_result * result))                                                                  \
  X(bool, value_is_null, (duckdb_result * result, uint64_t column, uint64_t row))                                      \
  X(int64_t, value_int64, (duckdb_result * result, uint64_t column, uint64_t row))                                     \
  X(duckdb_string, value_string, (duckdb_result * result, uint64_t column, uint64_t row))

typedef struct iso_duckdb {
  void *library;
#define DUCKDB_X(type, name, parameters) type(*name) parameters;
  DUCKDB_FUNCTIONS(DUCKDB_X)
#undef DUCKDB_X
} iso_duckdb;

/* The variable of the environment that names the library. */
#define ISO_DUCKDB_VARIABLE "ISOPROOF_LIBDUCKDB"

/* Loads the library: `path` if not NULL, else what the variable says, else by its usual names where the loader looks.
 * ISOPROOF_ERR_UNSUPPORTED: there is none, or it lacks a function, which the error names. */
isoproof_status iso_duckdb_load(const char *path, iso_duckdb *api, isoproof_error *error);
/* Accepts one that was never loaded, all zero. */
void iso_duckdb_unload(iso_duckdb *api);

#endif
