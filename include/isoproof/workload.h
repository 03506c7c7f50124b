/* isoproof/workload.h - what the clients of a database under test do, decided by a seed.
 *
 * A workload hands each session one transaction after the other.  Which operations those have, and on which keys, is
 * decided by the seed alone, except that workloads with rotating keys (list-append, predicate) move on to fresh keys
 * when the old ones have had enough writes of all sessions together.  No value is written twice in a run.
 *
 * Workloads that provoke run in rounds: before each transaction the sessions wait for each other, and then each waits a
 * moment of its own (the jitter), so that their statements meet in ever new ways.
 *
 * Options are plain values of the caller; nothing here is owned or freed.
 */
#ifndef ISOPROOF_WORKLOAD_H
#define ISOPROOF_WORKLOAD_H

#include <isoproof/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a workload needs of a database. */
typedef enum isoproof_workload_need {
  ISOPROOF_NEED_REGISTERS, /* read and write of a key */
  ISOPROOF_NEED_LISTS,     /* read of a list, append to it */
  ISOPROOF_NEED_ROWS       /* registers, and insert, update, delete, count and reads of ranges of rows */
} isoproof_workload_need;

/* Values of the workload bank: the balance is in their low bits, below a number that makes them unique; an account that
 * nobody wrote yet has the first balance. */
enum { ISOPROOF_BANK_BALANCE_BITS = 20, ISOPROOF_BANK_FIRST_BALANCE = 100 };

/* Workloads: C name, id, needs, default keys, least and most operations, share of reads, of read-modify-writes among
 * the writes, writes per key, sessions that meet before each transaction, what it stresses.  0 operations: the workload
 * has transactions of its own shape.  0 sessions that meet: there are no rounds. */
#define ISOPROOF_WORKLOAD_LIST(X)                                                                                      \
  X(MIXED, "mixed", REGISTERS, 20, 2, 4, 0.5, 0.5, 0, 0,                                                               \
    "everything at once on few keys: short general transactions, lost updates, write skew, reads of many keys")        \
  X(GENERAL, "general", REGISTERS, 1000, 8, 8, 0.5, 0, 0, 0,                                                           \
    "reads and blind writes in any mix, on keys of any distribution")                                                  \
  X(LIST_APPEND, "list-append", LISTS, 10, 1, 4, 0.5, 0, 32, 0,                                                        \
    "appends to lists and reads of them, on keys that rotate; every key is read in the end")                           \
  X(RMW, "read-modify-write", REGISTERS, 100, 2, 8, 0.5, 1, 0, 0, "every write comes after a read of its key")         \
  X(LOST_UPDATE, "lost-update", REGISTERS, 10, 0, 0, 0, 1, 0, 0,                                                       \
    "one key per transaction: read it, then overwrite it")                                                             \
  X(WRITE_SKEW, "write-skew", REGISTERS, 20, 0, 0, 0, 0, 0, 0, "pairs of keys: read both, overwrite one")              \
  X(BANK, "bank", REGISTERS, 10, 0, 0, 0, 1, 0, 0,                                                                     \
    "transfers between accounts, and reads of all whose total must hold")                                              \
  X(TPCC, "tpcc", REGISTERS, 1, 0, 0, 0, 1, 0, 0,                                                                      \
    "a wholesaler after TPC-C: orders, payments, deliveries; the keys are its warehouses")                             \
  X(RUBIS, "rubis", REGISTERS, 1000, 0, 0, 0, 1, 0, 0,                                                                 \
    "auctions after RUBiS: browse, bid, buy, comment; the keys are the items, a tenth as many are users")              \
  X(TWITTER, "twitter", REGISTERS, 1000, 0, 0, 0, 1, 0, 0,                                                             \
    "short messages: post, follow, unfollow, timelines; the keys are the users, by zipf's law")                        \
  X(PREDICATE, "predicate", ROWS, 4, 0, 0, 0, 0, 8, 0,                                                                 \
    "ranges of rows: read a range, insert into it, delete from it; finds phantoms; the keys are the ranges")           \
  X(FIRST_INSERT, "first-insert", ROWS, 1, 0, 0, 0, 0, 0, 2,                                                           \
    "a fresh, empty, indexed table each time that the sessions meet: read it (a key of it, or all), "                  \
    "insert into it")                                                                                                  \
  X(DELETE_UPDATE, "delete-update", ROWS, 4, 0, 0, 0, 0, 0, 3,                                                         \
    "one deletes a row that others update or read at the same time")                                                   \
  X(UPSERT, "upsert", ROWS, 3, 0, 0, 0, 0, 0, 4, "upserts, inserts, deletes and reads of the same few rows")           \
  X(RANGE_SKEW, "range-skew", ROWS, 2, 0, 0, 0, 0, 0, 2,                                                               \
    "read one range of rows and write into the other, whose reader writes into the first")                             \
  X(PHANTOM, "phantom", ROWS, 1, 0, 0, 0, 0, 8, 4,                                                                     \
    "read a range of rows again and again in a transaction while others insert into it and delete from it")            \
  X(COUNTER_BY_READ, "counter-by-read", ROWS, 2, 0, 0, 0, 1, 0, 4, "read a row, then update it, all at once")          \
  X(MINI, "mini", REGISTERS, 4, 0, 0, 0, 0, 0, 4,                                                                      \
    "transactions of two operations: read and overwrite a key, read one and write another, read two")

typedef enum isoproof_workload_kind {
#define ISOPROOF_X(name, id, needs, keys, least, most, reads, rmw, writes, meet, text) ISOPROOF_WORKLOAD_##name,
  ISOPROOF_WORKLOAD_LIST(ISOPROOF_X)
#undef ISOPROOF_X
      ISOPROOF_WORKLOADS
} isoproof_workload_kind;

/* Presets of the general workload and of lists, as in published evaluations: C name, id, workload, sessions,
 * transactions per session, operations, share of reads, keys, distribution, share and size of long transactions. */
#define ISOPROOF_PRESET_LIST(X)                                                                                        \
  X(POLYSI, "polysi", GENERAL, 20, 100, 15, 15, 0.5, 10000, ZIPF, 0, 0)                                                \
  X(PLUME, "plume", GENERAL, 25, 200, 20, 20, 0.5, 10000, UNIFORM, 0, 0)                                               \
  X(GENERAL_RH, "general-rh", GENERAL, 25, 400, 8, 8, 0.95, 10000, ZIPF, 0, 0)                                         \
  X(GENERAL_RW, "general-rw", GENERAL, 25, 400, 8, 8, 0.5, 10000, ZIPF, 0, 0)                                          \
  X(GENERAL_WH, "general-wh", GENERAL, 25, 400, 8, 8, 0.3, 10000, ZIPF, 0, 0)                                          \
  X(POLYSI_LARGE, "polysi-large", GENERAL, 20, 50000, 15, 15, 0.5, 1000000000, ZIPF, 0.1, 150)                         \
  X(GALERA, "galera", GENERAL, 10, 100, 25, 25, 0.5, 10000, UNIFORM, 0, 0)                                             \
  X(ANTIDOTE, "antidote", GENERAL, 6, 20, 20, 20, 0.5, 10000, UNIFORM, 0, 0)                                           \
  X(JEPSEN, "jepsen", LIST_APPEND, 10, 1000, 1, 4, 0.5, 10, EXPONENTIAL, 0, 0)

typedef enum isoproof_workload_preset {
#define ISOPROOF_X(name, id, kind, sessions, txns, least, most, reads, keys, distribution, share, size)                \
  ISOPROOF_PRESET_##name,
  ISOPROOF_PRESET_LIST(ISOPROOF_X)
#undef ISOPROOF_X
      ISOPROOF_PRESETS
} isoproof_workload_preset;

typedef struct isoproof_workload_options {
  size_t struct_size; /* sizeof(isoproof_workload_options) */
  isoproof_workload_kind kind;
  uint64_t seed;
  uint32_t sessions;
  uint64_t txns;             /* in all sessions together, a fair share each; 0: no limit */
  uint32_t ops_min, ops_max; /* per transaction */
  double read_share;         /* of operations */
  double rmw_share;          /* of writes that come after a read of their key */
  double abort_share;        /* of transactions that their client rolls back */
  double long_share;         /* of transactions that have long_ops operations */
  uint32_t long_ops;
  uint32_t keys;
  isoproof_key_distribution distribution;
  double skew, hot_share, hot_keys_share;
  uint32_t writes_per_key; /* of rotating keys: a fresh key after that many */
  bool final_reads;        /* one more session reads every key in the end, where the keys are numbers */
  /* Workloads in rounds: when all are there, each session waits up to that many microseconds; below 0: as many as a
   * scale allows that is drawn for the round, none to thousands. */
  double jitter;
} isoproof_workload_options;

/* Fills in the defaults of a workload, up to the struct_size that is set; false when it is not set. */
ISOPROOF_API bool isoproof_workload_defaults(isoproof_workload_kind kind, isoproof_workload_options *options);
/* The same for a preset. */
ISOPROOF_API bool isoproof_workload_preset_defaults(isoproof_workload_preset preset,
                                                    isoproof_workload_options *options);

/* By id; false when there is none. */
ISOPROOF_API bool isoproof_workload_find(const char *id, isoproof_workload_kind *kind);
ISOPROOF_API bool isoproof_workload_preset_find(const char *id, isoproof_workload_preset *preset);
/* The id; NULL after the last. */
ISOPROOF_API const char *isoproof_workload_at(size_t number);
ISOPROOF_API const char *isoproof_workload_preset_at(size_t number);
ISOPROOF_API isoproof_workload_need isoproof_workload_needs(isoproof_workload_kind kind);
/* Whether its sessions run in rounds. */
ISOPROOF_API bool isoproof_workload_meets(isoproof_workload_kind kind);

/* Writes the workload as JSON lines, sessions in turn: a header, then one object per transaction, with its session and
 * its operations: [kind, key] for reads, [kind, key, value] for writes (docs/databases.md).  `options` NULL means those
 * of the mixed workload; but their `txns` must not be 0.  ISOPROOF_ERR_USAGE names the option that makes no sense. */
ISOPROOF_API isoproof_status isoproof_workload_write(const isoproof_workload_options *options, isoproof_write_fn write,
                                                     void *user, isoproof_task *task, isoproof_error *error);

#ifdef __cplusplus
}
#endif

#endif
