/* rocksdb_library.h - the part of RocksDB's C API that is used, declared here, and found in librocksdb.so when a
 * database is opened.
 *
 * There is no build dependency: the library may be of any version that exports these functions.  Whoever loads an API
 * gives it back with iso_rocksdb_unload.
 */
#ifndef ISO_DATABASE_DRIVERS_ROCKSDB_LIBRARY_H
#define ISO_DATABASE_DRIVERS_ROCKSDB_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What only RocksDB knows. */
typedef struct rocksdb_iterator_t rocksdb_iterator_t;
typedef struct rocksdb_optimistictransaction_options_t rocksdb_optimistictransaction_options_t;
typedef struct rocksdb_optimistictransactiondb_t rocksdb_optimistictransactiondb_t;
typedef struct rocksdb_options_t rocksdb_options_t;
typedef struct rocksdb_readoptions_t rocksdb_readoptions_t;
typedef struct rocksdb_snapshot_t rocksdb_snapshot_t;
typedef struct rocksdb_transaction_t rocksdb_transaction_t;
typedef struct rocksdb_transaction_options_t rocksdb_transaction_options_t;
typedef struct rocksdb_transactiondb_t rocksdb_transactiondb_t;
typedef struct rocksdb_transactiondb_options_t rocksdb_transactiondb_options_t;
typedef struct rocksdb_writeoptions_t rocksdb_writeoptions_t;

/* What it returns, name without "rocksdb_", parameters. */
#define ROCKSDB_FUNCTIONS(X)                                                                                           \
  X(void, free, (void *memory))                                                                                        \
  X(void, iter_destroy, (rocksdb_iterator_t * at))                                                                     \
  X(void, iter_get_error, (const rocksdb_iterator_t *at, char **error))                                                \
  X(const char *, iter_key, (const rocksdb_iterator_t *at, size_t *key_bytes))                                         \
  X(void, iter_next, (rocksdb_iterator_t * at))                                                                        \
  X(void, iter_seek, (rocksdb_iterator_t * at, const char *key, size_t key_bytes))                                     \
  X(unsigned char, iter_valid, (const rocksdb_iterator_t *at))                                                         \
  X(const char *, iter_value, (const rocksdb_iterator_t *at, size_t *value_bytes))                                     \
  X(rocksdb_transaction_t *, optimistictransaction_begin,                                                              \
    (rocksdb_optimistictransactiondb_t * database, const rocksdb_writeoptions_t *write,                                \
     const rocksdb_optimistictransaction_options_t *options, rocksdb_transaction_t *old))                              \
  X(rocksdb_optimistictransaction_options_t *, optimistictransaction_options_create, (void))                           \
  X(void, optimistictransaction_options_destroy, (rocksdb_optimistictransaction_options_t * options))                  \
  X(void, optimistictransaction_options_set_set_snapshot,                                                              \
    (rocksdb_optimistictransaction_options_t * options, unsigned char on))                                             \
  X(void, optimistictransactiondb_close, (rocksdb_optimistictransactiondb_t * database))                               \
  X(rocksdb_optimistictransactiondb_t *, optimistictransactiondb_open,                                                 \
    (const rocksdb_options_t *options, const char *name, char **error))                                                \
  X(rocksdb_options_t *, options_create, (void))                                                                       \
  X(void, options_destroy, (rocksdb_options_t * options))                                                              \
  X(void, options_set_create_if_missing, (rocksdb_options_t * options, unsigned char on))                              \
  X(rocksdb_readoptions_t *, readoptions_create, (void))                                                               \
  X(void, readoptions_destroy, (rocksdb_readoptions_t * options))                                                      \
  X(void, readoptions_set_snapshot, (rocksdb_readoptions_t * options, const rocksdb_snapshot_t *snapshot))             \
  X(rocksdb_transaction_t *, transaction_begin,                                                                        \
    (rocksdb_transactiondb_t * database, const rocksdb_writeoptions_t *write,                                          \
     const rocksdb_transaction_options_t *options, rocksdb_transaction_t *old))                                        \
  X(void, transaction_commit, (rocksdb_transaction_t * transaction, char **error))                                     \
  X(rocksdb_iterator_t *, transaction_create_iterator,                                                                 \
    (rocksdb_transaction_t * transaction, const rocksdb_readoptions_t *options))                                       \
  X(void, transaction_delete, (rocksdb_transaction_t * transaction, const char *key, size_t key_bytes, char **error))  \
  X(void, transaction_destroy, (rocksdb_transaction_t * transaction))                                                  \
  X(char *, transaction_get,                                                                                           \
    (rocksdb_transaction_t * transaction, const rocksdb_readoptions_t *options, const char *key, size_t key_bytes,     \
     size_t *value_bytes, char **error))                                                                               \
  X(char *, transaction_get_for_update,                                                                                \
    (rocksdb_transaction_t * transaction, const rocksdb_readoptions_t *options, const char *key, size_t key_bytes,     \
     size_t *value_bytes, unsigned char exclusive, char **error))                                                      \
  X(const rocksdb_snapshot_t *, transaction_get_snapshot, (rocksdb_transaction_t * transaction))                       \
  X(rocksdb_transaction_options_t *, transaction_options_create, (void))                                               \
  X(void, transaction_options_destroy, (rocksdb_transaction_options_t * options))                                      \
  X(void, transaction_options_set_deadlock_detect, (rocksdb_transaction_options_t * options, unsigned char on))        \
  X(void, transaction_options_set_lock_timeout, (rocksdb_transaction_options_t * options, int64_t lock_timeout))       \
  X(void, transaction_options_set_set_snapshot, (rocksdb_transaction_options_t * options, unsigned char on))           \
  X(void, transaction_put,                                                                                             \
    (rocksdb_transaction_t * transaction, const char *key, size_t key_bytes, const char *value, size_t value_bytes,    \
     char **error))                                                                                                    \
  X(void, transaction_rollback, (rocksdb_transaction_t * transaction, char **error))                                   \
  X(void, transactiondb_close, (rocksdb_transactiondb_t * database))                                                   \
  X(rocksdb_transactiondb_t *, transactiondb_open,                                                                     \
    (const rocksdb_options_t *options, const rocksdb_transactiondb_options_t *database_options, const char *name,      \
     char **error))                                                                                                    \
  X(rocksdb_transactiondb_options_t *, transactiondb_options_create, (void))                                           \
  X(void, transactiondb_options_destroy, (rocksdb_transactiondb_options_t * options))                                  \
  X(rocksdb_writeoptions_t *, writeoptions_create, (void))                                                             \
  X(void, writeoptions_destroy, (rocksdb_writeoptions_t * options))                                                    \
  X(void, writeoptions_set_sync, (rocksdb_writeoptions_t * options, unsigned char on))

typedef struct iso_rocksdb_api {
  void *library;
#define ROCKSDB_X(type, name, parameters) type(*name) parameters;
  ROCKSDB_FUNCTIONS(ROCKSDB_X)
#undef ROCKSDB_X
} iso_rocksdb_api;

/* The variable of the environment that names the library. */
#define ISO_ROCKSDB_VARIABLE "ISOPROOF_LIBROCKSDB"

/* Loads the library: `path` if not NULL, else what the variable says, else by its usual names where the loader looks.
 * ISOPROOF_ERR_UNSUPPORTED: there is none, or it lacks a function, which the error names. */
isoproof_status iso_rocksdb_load(const char *path, iso_rocksdb_api *api, isoproof_error *error);
/* Accepts one that was never loaded, all zero. */
void iso_rocksdb_unload(iso_rocksdb_api *api);
/* Writes "RocksDB" and its version, as far as it is known: the C API has no function for it, the file is named so. */
void iso_rocksdb_name(const iso_rocksdb_api *api, char *buffer, size_t size);

#endif
