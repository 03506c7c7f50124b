/* builder.h - from a stream of sessions, transactions and operations to a columnar history.
 *
 * Transactions may arrive in any order and in pieces (a live log interleaves sessions): a piece is a run, and finish
 * sorts the runs by counting, in linear time, which costs nothing when they came in session order.  The builder owns
 * everything until finish.
 */
#ifndef ISO_HISTORY_BUILDER_H
#define ISO_HISTORY_BUILDER_H

#include "base/task.h"
#include "history/history.h"
#include "history/isolation.h"
#include "history/numbering.h"

/* What is known of a transaction; start from iso_txn_unset(). */
typedef struct iso_txn_info {
  isoproof_txn_status status;
  bool has_id;
  int64_t id;
  int64_t start, end;             /* ISOPROOF_NO_TIME */
  int64_t start_index, end_index; /* -1 */
  iso_value node, error;          /* ISO_VALUE_NIL */
  iso_txn_isolation isolation;    /* the level that is its own, ISO_ISOLATION_NONE */
  iso_value name;                 /* of its kind, ISO_VALUE_NIL */
  uint64_t position;              /* line or offset, 0 none */
} iso_txn_info;

static inline iso_txn_info iso_txn_unset(void) {
  return (iso_txn_info){.status = ISOPROOF_TXN_COMMITTED,
                        .start = ISOPROOF_NO_TIME,
                        .end = ISOPROOF_NO_TIME,
                        .start_index = -1,
                        .end_index = -1,
                        .node = ISO_VALUE_NIL,
                        .error = ISO_VALUE_NIL,
                        .name = ISO_VALUE_NIL};
}

/* An operation on its way from a reader to the builder. */
typedef struct iso_op_add {
  uint8_t kind; /* isoproof_op_kind */
  uint8_t form; /* iso_row_form; of a statement the value is its place among the statements */
  bool list;    /* has elements: value counts them */
  iso_value key;
  iso_value value;
} iso_op_add;

/* Makes an empty builder (isoproof_builder_new in isoproof/history.h). */
void iso_builder_origin(isoproof_builder *builder, isoproof_format format, iso_position_kind positions,
                        bool initial_is_zero);
/* Keeps a copy of the name of the input. */
isoproof_status iso_builder_file(isoproof_builder *builder, const char *name, isoproof_error *error);
/* The scalars of the history to come. */
iso_pool *iso_builder_pool(isoproof_builder *builder);

/* The session with that name (a code of the pool), made when new. */
isoproof_status iso_builder_session(isoproof_builder *builder, iso_value name, uint32_t *session,
                                    isoproof_error *error);
/* The file that a session was read from. */
isoproof_status iso_builder_session_file(isoproof_builder *builder, uint32_t session, const char *name,
                                         isoproof_error *error);
/* Starts a transaction at the end of its session and opens it; *txn (may be NULL) is its number for reopening, in
 * order of arrival. */
isoproof_status iso_builder_begin(isoproof_builder *builder, uint32_t session, const iso_txn_info *info, uint32_t *txn,
                                  isoproof_error *error);
/* Opens an earlier transaction again: following operations go to its end.  `position` is that of the next operation.
 */
isoproof_status iso_builder_reopen(isoproof_builder *builder, uint32_t txn, uint64_t position, isoproof_error *error);
/* Changes the facts of a transaction that has begun. */
isoproof_status iso_builder_update(isoproof_builder *builder, uint32_t txn, const iso_txn_info *info,
                                   isoproof_error *error);

/* Says at which isolation level a transaction that has begun runs, by the code. */
isoproof_status iso_builder_isolation(isoproof_builder *builder, uint32_t txn, iso_txn_isolation isolation,
                                      isoproof_error *error);

/* Adds an operation to the open transaction; key and value are codes of the pool (the value of a list read comes from
 * iso_builder_list). */
isoproof_status iso_builder_op(isoproof_builder *builder, isoproof_op_kind kind, iso_value key, iso_value value,
                               isoproof_error *error);
/* The same for many operations at once: kinds, keys and values of scalar operations. */
isoproof_status iso_builder_ops(isoproof_builder *builder, const iso_op_add *ops, size_t count, isoproof_error *error);
/* Adds a list, set or predicate read with its elements (codes of the pool) to the open transaction.  Lists that extend
 * each other share storage: a read that is a prefix of the longest list of its key, or extends it, costs a comparison
 * but no copy. */
isoproof_status iso_builder_list(isoproof_builder *builder, isoproof_op_kind kind, iso_value key,
                                 const iso_value *values, size_t count, isoproof_error *error);
/* Adds many scalar operations with non-negative integer keys and values at once: the hot path of the text readers. */
isoproof_status iso_builder_bulk(isoproof_builder *builder, const uint8_t *kinds, const uint64_t *keys,
                                 const uint64_t *values, size_t count, isoproof_error *error);

/* Adds what was done to one row: a form that writes, with its value (nil for a delete), or a miss. */
isoproof_status iso_builder_row(isoproof_builder *builder, iso_row_form form, iso_value key, iso_value value,
                                isoproof_error *error);
/* Adds a read by predicate with the rows that it returned, or a count (`rows` is NULL) with its answer.  Without
 * `answered` no answer came.  ISOPROOF_ERR_FORMAT for a row that the predicate does not pick. */
isoproof_status iso_builder_statement(isoproof_builder *builder, iso_row_form form, const iso_predicate *predicate,
                                      bool answered, const iso_row_value *rows, size_t count, int64_t counted,
                                      isoproof_error *error);
/* What the row that was written last (or, the second function, the initial row that was said last) has in a column:
 * nil, an integer or a string, codes of the pool. */
isoproof_status iso_builder_content(isoproof_builder *builder, iso_value column, iso_value content,
                                    isoproof_error *error);
isoproof_status iso_builder_initial_content(isoproof_builder *builder, iso_value column, iso_value content,
                                            isoproof_error *error);
/* One more condition of the statement that was added last.  ISOPROOF_ERR_FORMAT comes at the end, for a row that was
 * returned with contents that do not match. */
isoproof_status iso_builder_condition(isoproof_builder *builder, iso_value column, iso_comparison comparison,
                                      iso_value operand, bool or_next, isoproof_error *error);
/* The number of the text (N of a fact statement.N, from 1) of what was added last. */
isoproof_status iso_builder_source(isoproof_builder *builder, uint32_t number, isoproof_error *error);
/* What a key is called, if the history turns out to have it; of several names one counts. */
isoproof_status iso_builder_label(isoproof_builder *builder, iso_value key, iso_value label, isoproof_error *error);
/* Says that a row was there at the start, once per row. */
isoproof_status iso_builder_initial_row(isoproof_builder *builder, int64_t key, int64_t value, isoproof_error *error);

/* A fact for the header. */
isoproof_status iso_builder_fact(isoproof_builder *builder, const char *name, const char *value, size_t length,
                                 isoproof_error *error);
/* Says that reads came as ISOPROOF_OP_READ whatever their key holds ([:r k nil]); finish then gives each the kind that
 * the other operations of its key (or, for a key nobody changes, of the history) imply. */
void iso_builder_ambiguous_reads(isoproof_builder *builder);
/* Whether there is anything to tell it from.  A builder that makes several histories, pieces of one, goes by what it
 * has seen in all of them. */
bool iso_builder_knows_reads(const isoproof_builder *builder);
/* How many transactions have begun since the last finish. */
size_t iso_builder_txns(const isoproof_builder *builder);
/* Fills order[i] with the number that the transaction which began as number i will have in the history. */
isoproof_status iso_builder_order(const isoproof_builder *builder, uint64_t *order, isoproof_error *error);
/* Says how many operations are likely to come, so that columns need not grow by copying; a wrong guess only costs
 * address space. */
void iso_builder_expect(isoproof_builder *builder, uint64_t ops);
/* isoproof_builder_finish with the threads of a task (may be NULL). */
isoproof_status iso_builder_finish_for(isoproof_builder *builder, const isoproof_task *task, isoproof_history **history,
                                       isoproof_error *error);
/* Lowers the limit on operations, so that a test can reach it. */
void iso_builder_limit(isoproof_builder *builder, uint32_t most_ops);

#endif
