/* history.h - the columnar history, inside the library.
 *
 * Columns of 32-bit numbers, not objects with pointers.  A history owns its columns (or the mapping they lie in) and
 * is immutable but for the indexes that are made on demand under its lock.
 *
 * Invariants: the operations of transaction t are txn_first_op[t] .. txn_first_op[t+1]-1; the transactions of session
 * s are session_first_txn[s] .. session_first_txn[s+1]-1; both in program and session order.  The *_opt columns are
 * NULL where no transaction has the fact.
 */
#ifndef ISO_HISTORY_HISTORY_H
#define ISO_HISTORY_HISTORY_H

#include <isoproof/format.h>
#include <isoproof/history.h>
#include <pthread.h>

#include "history/isolation.h"
#include "history/pool.h"
#include "history/rows.h"

/* Numbers of operations, transactions, sessions and keys are 32-bit; the last few values are marks. */
#define ISO_MAX_OPS UINT32_C(0xfffffff0)
#define ISO_MAX_TXNS UINT32_C(0xfffffff0)
#define ISO_MAX_KEYS UINT32_C(0xfffffff0)
#define ISO_NO_OP UINT32_C(0xffffffff)

/* What iso_history.txn_position counts. */
typedef enum iso_position_kind {
  ISO_POSITION_NONE,
  ISO_POSITION_LINE,        /* every operation of the transaction stands in that line */
  ISO_POSITION_LINE_PER_OP, /* operation i of the transaction stands i lines below it */
  ISO_POSITION_OFFSET       /* byte offset of the transaction */
} iso_position_kind;

/* A fact of the header (seed, command line, ...), both strings. */
typedef struct iso_fact {
  iso_value name, value;
} iso_fact;

/* Where a read got its value or its elements from, see history/resolve.h. */
typedef struct iso_resolution {
  uint32_t *writer; /* per operation: the write observed, or one of the marks below; ISO_NO_OP for what is no read */
  uint32_t *list_writer; /* per element of list_values: who appended or added it, or a mark */
  uint32_t *odd_writer;  /* the same for odd_values */
  /* Of rows: what each read of an absent row, of one that does not match, or of one that was perhaps counted is taken
   * to have observed is a guess where several versions fit.  NULL and 0 where there are no rows. */
  struct iso_row_versions *rows;
  uint64_t open_reads; /* that several versions fit */
  bool replayed;       /* rows: every read is as one serial order of all transactions shows it, which was found */
  isoproof_resolution counts;
  uint32_t duplicate_first, duplicate_second; /* the first pair of writes of one value; first may be ISO_FROM_INITIAL */
} iso_resolution;

#define ISO_FROM_INITIAL UINT32_C(0xfffffffe)
#define ISO_FROM_NOBODY UINT32_C(0xfffffffd)
/* An element of a set that several transactions added: nothing follows from having seen it. */
#define ISO_FROM_SEVERAL UINT32_C(0xfffffffc)

/* Among transactions: the initial one, which wrote the initial version of every key, and none. */
#define ISO_INITIAL ISO_FROM_INITIAL
#define ISO_NO_TXN ISO_NO_OP

struct isoproof_history {
  isoproof_format format; /* ISOPROOF_FORMATS when it was built by hand */
  char *file;             /* name for positions, NULL when built by hand */
  bool initial_is_zero;   /* in the input the initial version is 0, not nil (see iso_out_value) */

  uint32_t sessions, txns, ops, keys;
  uint32_t committed, aborted, unknown;

  uint8_t *op_kind; /* isoproof_op_kind */
  uint32_t *op_key;
  /* Scalar operations: the code of the value.  List and set reads: nil, none, the length of a prefix of the longest
   * known list of the key (below ISO_VALUE_INLINE_LIMIT), or ISO_VALUE_INTERNED | number of an odd list. */
  iso_value *op_value;
  uint32_t *op_statement_opt; /* number of the statement that did it, N of a fact statement.N; 0 none */
  uint32_t *op_line_opt;      /* where the lines of a transaction are not contiguous */

  /* Histories of rows (history/rows.h).  A row is a register whose absent versions are nil; a statement that observes
   * many rows is a run of READ operations, one per row. */
  uint8_t *op_form_opt;      /* iso_row_form; ISO_ROW_NONE for everything else */
  iso_statement *statements; /* in the order of their operations */
  uint32_t statement_count;
  iso_condition *conditions; /* of statements on columns, in the order of the statements */
  uint32_t condition_count;
  iso_content *contents; /* what versions have in columns */
  uint32_t content_count;
  iso_value *key_label_opt;   /* by key: what people call it ("accounts[id=7]"); nil where nothing is said */
  iso_value *key_initial_opt; /* by key: what a row was at the start; nil where it was absent, or is no row */

  uint32_t *txn_first_op; /* txns + 1 */
  uint32_t *txn_session;
  uint8_t *txn_status; /* isoproof_txn_status */
  int64_t *txn_id_opt;
  int64_t *txn_start_opt, *txn_end_opt;             /* both or none; ISOPROOF_NO_TIME where unknown */
  int64_t *txn_start_index_opt, *txn_end_index_opt; /* position of invocation and completion; -1 where unknown */
  iso_value *txn_node_opt, *txn_error_opt;
  iso_value *txn_name_opt;    /* the name of its kind, such as "transfer" */
  uint8_t *txn_isolation_opt; /* iso_txn_isolation: the level that is its own */
  uint64_t *txn_position_opt;
  iso_position_kind position_kind;

  uint32_t *session_first_txn; /* sessions + 1 */
  iso_value *session_name;
  iso_value *session_file_opt; /* where each session has a file of its own */
  bool sessions_are_numbers;   /* every name is a non-negative integer: s17t3 says 17, not a position */

  iso_value *key_name;
  uint64_t *list_first; /* keys + 1: the longest list known of each key, one after the other */
  iso_value *list_values;
  uint64_t *odd_first; /* odd_lists + 1: lists that are no prefix of the longest one */
  iso_value *odd_values;
  uint32_t odd_lists;

  iso_pool_view pool;
  iso_fact *facts;
  uint32_t fact_count;

  void *map; /* columns inside it are not freed one by one */
  size_t map_bytes;
  bool frugal; /* it may be larger than memory: whoever goes through operations lets go of what was read */

  pthread_mutex_t lock; /* for the indexes */
  iso_resolution *resolution;
  uint32_t *op_txn;   /* operation -> transaction */
  uint32_t *op_block; /* the same for the first operation of every ISO_OPS_PER_BLOCK */
};

/* The elements of a list or set read; NULL and 0 for nil and none. */
const iso_value *iso_history_list(const isoproof_history *history, uint32_t op, uint32_t *count);

static inline isoproof_scalar iso_history_scalar(const isoproof_history *history, iso_value value) {
  return iso_pool_scalar(&history->pool, value);
}

/* The version that a write of a register leaves, as a read shows it: where the initial version is 0, a write of 0 looks
 * like it. */
static inline iso_value iso_history_version(const isoproof_history *history, uint32_t write) {
  iso_value value = history->op_value[write];
  bool zero = value == 0 && history->initial_is_zero && history->op_kind[write] == ISOPROOF_OP_WRITE;
  return zero ? ISO_VALUE_NIL : value;
}

/* Whether there are rows: then an absent one may be the initial version or what any delete left. */
static inline bool iso_history_has_rows(const isoproof_history *history) {
  return history->op_form_opt != NULL || history->key_initial_opt != NULL || history->statement_count > 0;
}

/* What is initially in a key. */
static inline iso_value iso_history_initial(const isoproof_history *history, uint32_t key) {
  return history->key_initial_opt != NULL ? history->key_initial_opt[key] : ISO_VALUE_NIL;
}

static inline iso_row_form iso_history_form(const isoproof_history *history, uint32_t op) {
  return history->op_form_opt != NULL ? (iso_row_form)history->op_form_opt[op] : ISO_ROW_NONE;
}

/* The level that a transaction carries as its own. */
static inline iso_txn_isolation iso_history_isolation(const isoproof_history *history, uint32_t txn) {
  return history->txn_isolation_opt != NULL ? (iso_txn_isolation)history->txn_isolation_opt[txn] : ISO_ISOLATION_NONE;
}

/* The statement that an observation belongs to, NULL for any other operation: O(log statements). */
const iso_statement *iso_history_statement(const isoproof_history *history, uint32_t op);
/* All rows that statements can see: keys that are integers and no list, set or counter; ascending, freed by the caller.
 * NULL when memory is out. */
iso_seen_row *iso_history_seen_rows(const isoproof_history *history, size_t *count);
/* Those of them that a statement covers: from *first to before *end. */
void iso_history_covered(const iso_seen_row *rows, size_t count, const iso_statement *statement, size_t *first,
                         size_t *end);
/* Whether two operations are observations of one statement, and so in no order. */
bool iso_history_same_statement(const isoproof_history *history, uint32_t op, uint32_t other);
/* Whether a version (a value, or nil for absent) of the row that the operation reads can be what it saw, as far as that
 * operation alone tells. */
bool iso_history_read_fits(const isoproof_history *history, uint32_t read, iso_value version);

/* Operations as people count them: a statement that observes many rows is one. */
uint64_t iso_history_operations(const isoproof_history *history);

/* The first transaction of share `number` of `count`, each of which has about as many operations; that of share `count`
 * is behind the last one. */
uint32_t iso_history_share(const isoproof_history *history, uint32_t number, uint32_t count);

/* The transaction of an operation, by binary search: O(log transactions). */
uint32_t iso_history_txn_of(const isoproof_history *history, uint32_t op);

/* The transactions of operations in constant time, by an index that is small enough for the cache.  It is the history's
 * own (history/resolve.h makes it). */
enum { ISO_OPS_PER_BLOCK = 8 };
typedef struct iso_op_index {
  const isoproof_history *h;
  const uint32_t *block;
} iso_op_index;

static inline uint32_t iso_op_txn(const iso_op_index *index, uint32_t op) {
  const uint32_t *end = index->h->txn_first_op + 1;
  uint32_t txn = index->block[op / ISO_OPS_PER_BLOCK];
  for (int step = 0; step < ISO_OPS_PER_BLOCK; step++, txn++) {
    if (op < end[txn]) return txn;
  }
  return iso_history_txn_of(index->h, op); /* there are empty transactions on the way */
}

/* Announces to the memory that the transaction of an operation will be asked for: first far ahead, then near. */
static inline void iso_op_txn_announce(const iso_op_index *index, uint32_t op) {
  __builtin_prefetch(&index->block[op / ISO_OPS_PER_BLOCK]);
}
static inline void iso_op_txn_prefetch(const iso_op_index *index, uint32_t op) {
  __builtin_prefetch(&index->h->txn_first_op[index->block[op / ISO_OPS_PER_BLOCK] + 1]);
}

/* Whether the kind's value column holds a list rather than a scalar. */
static inline bool iso_kind_is_list(isoproof_op_kind kind) {
  return kind == ISOPROOF_OP_READ_LIST || kind == ISOPROOF_OP_READ_SET || kind == ISOPROOF_OP_READ_PREDICATE;
}

/* An empty history of the right shape to fill; isoproof_history_free frees it at any stage. */
isoproof_history *iso_history_new(void);
/* Fills the counts by status and sessions_are_numbers from the columns. */
void iso_history_count(isoproof_history *history);

#endif
