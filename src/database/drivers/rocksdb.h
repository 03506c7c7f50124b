/* rocksdb.h - what the files of the driver for RocksDB share.
 *
 * The database owns the store and its options, a connection its session; both free them when they are closed.
 */
#ifndef ISO_DATABASE_DRIVERS_ROCKSDB_H
#define ISO_DATABASE_DRIVERS_ROCKSDB_H

#include "database/driver_table.h"
#include "database/drivers/rocksdb_library.h"
#include "database/private_folder.h"

/* Keys: these words and the run (8 bytes), then what it is (1 byte) and the key (8 bytes, in the order of numbers). */
#define ISO_ROCKSDB_DATA "isoproof data "
#define ISO_ROCKSDB_MARK "isoproof mark "
enum { ISO_ROCKSDB_PREFIX = sizeof ISO_ROCKSDB_DATA - 1 + 8, ISO_ROCKSDB_KEY = ISO_ROCKSDB_PREFIX + 1 + 8 };

typedef enum iso_rocksdb_what { ISO_ROCKSDB_ROW = 'r', ISO_ROCKSDB_LIST = 'l' } iso_rocksdb_what;

typedef struct iso_rocksdb {
  iso_rocksdb_api api;
  /* One of the two. */
  rocksdb_transactiondb_t *pessimistic;
  rocksdb_optimistictransactiondb_t *optimistic;
  rocksdb_options_t *options;
  rocksdb_writeoptions_t *write;
  /* Without and with a snapshot from the start. */
  rocksdb_transaction_options_t *plain, *snapshot;
  rocksdb_optimistictransaction_options_t *optimistic_plain, *optimistic_snapshot;
  char folder[ISO_FOLDER_BYTES]; /* a private one, removed in the end; "" when there is none */
  char *path;
} iso_rocksdb;

/* How a transaction reads. */
typedef enum iso_rocksdb_reads {
  ISO_ROCKSDB_NEWEST,   /* what is committed now */
  ISO_ROCKSDB_SNAPSHOT, /* what was committed when it began */
  ISO_ROCKSDB_LOCKING   /* what is committed now, and stays so: GetForUpdate */
} iso_rocksdb_reads;

typedef struct iso_rocksdb_session {
  const iso_rocksdb_api *api;
  iso_connection *connection;
  rocksdb_transaction_t *transaction; /* used again and again; NULL before the first */
  rocksdb_readoptions_t *read;
  iso_rocksdb_reads reads;
  double began;         /* the request under way, on the clock of iso_now */
  bool timed_out;       /* the statement, not a lock */
  atomic_uint attempts; /* to take a lock, in vain */
} iso_rocksdb_session;

/* Begins a transaction that reads as told. */
void iso_rocksdb_begin(iso_rocksdb_session *s, iso_rocksdb_reads reads);
/* Writes the first bytes of all keys of a run, or of its mark. */
void iso_rocksdb_prefix(const char *words, uint64_t run, char prefix[ISO_ROCKSDB_PREFIX]);

/* ---- rocksdb_store.c: the store itself ---- */

/* Finds or makes the folder and opens the store in it.  A folder that is not empty and was not made by isoproof is
 * refused, and left as it is. */
isoproof_status iso_rocksdb_open(iso_database *database, isoproof_error *error);
void iso_rocksdb_close(iso_database *database);
/* The mark of the run, and the end of what runs that are gone have left. */
isoproof_status iso_rocksdb_setup(iso_database *database, isoproof_error *error);
isoproof_status iso_rocksdb_teardown(iso_database *database, isoproof_error *error);

#endif
