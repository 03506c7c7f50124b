/* builder_internal.h - the builder's state, shared by adding (builder.c) and finishing (builder_finish.c).  The builder
 * owns all of it until finish moves it into a history. */
#ifndef ISO_HISTORY_BUILDER_INTERNAL_H
#define ISO_HISTORY_BUILDER_INTERNAL_H

#include "base/vector.h"
#include "history/builder.h"

/* A contiguous piece of a transaction's operations, in order of arrival. */
typedef struct iso_op_run {
  uint32_t txn;
  uint32_t first_op;
  uint64_t position;
} iso_op_run;

/* A column that does not exist until somebody sets something other than the blank. */
typedef struct iso_lazy {
  int64_t *items;
  size_t count, capacity;
  int64_t blank;
} iso_lazy;

/* The longest list seen of a key. */
typedef struct iso_list {
  iso_value *items;
  size_t count, capacity;
} iso_list;

/* A read by predicate or a count as it came.  Which rows there are to be seen is known at the end only. */
typedef struct iso_raw_statement {
  iso_statement is; /* first_op: of the builder; txn and op_count: not yet */
  uint32_t run;     /* the run that it belongs to */
  uint32_t number;  /* in order of arrival */
  uint64_t first_row;
  uint32_t row_count; /* what it returned */
  uint32_t first_where, where_count;
  uint32_t source; /* the number that its text has, 0 none */
} iso_raw_statement;

/* A row: number of the key, and value. */
typedef struct iso_raw_row {
  uint32_t key;
  iso_value value;
} iso_raw_row;

/* What a key is called: codes of both. */
typedef struct iso_raw_label {
  iso_value key, label;
} iso_raw_label;

struct isoproof_builder {
  isoproof_format format;
  iso_position_kind positions;
  bool initial_is_zero;
  bool ambiguous_reads;
  uint8_t made; /* by what keys were changed in histories that this builder made before: MADE_* of builder_retype.c */
  char *file;
  uint32_t most_ops;

  iso_pool pool;
  iso_numbering keys, sessions;

  ISO_VEC(uint8_t) op_kind;
  ISO_VEC(uint32_t) op_key;
  ISO_VEC(uint32_t) op_value;
  ISO_VEC(uint8_t) op_form;       /* empty, or as long as the others */
  ISO_VEC(uint32_t) op_statement; /* empty, or not longer than the others */
  bool has_sources;               /* of statements */
  bool last_is_statement;         /* what was added last is the last of `statements` */
  ISO_VEC(iso_raw_statement) statements;
  ISO_VEC(iso_raw_row) returned, initial_rows;
  ISO_VEC(iso_condition) conditions;
  ISO_VEC(iso_content) contents;
  ISO_VEC(iso_raw_label) labels;

  ISO_VEC(iso_op_run) runs;
  bool open;
  ISO_VEC(uint32_t) txn_session;
  ISO_VEC(uint8_t) txn_status;
  iso_lazy txn_id, txn_start, txn_end, txn_start_index, txn_end_index, txn_node, txn_error, txn_isolation, txn_name;
  iso_lazy session_file;

  ISO_VEC(iso_list) lists; /* by key */
  ISO_VEC(uint64_t) odd_first;
  ISO_VEC(iso_value) odd_values;
  ISO_VEC(iso_fact) facts;
};

/* Frees everything and leaves an empty, zeroed builder. */
void iso_builder_clear(isoproof_builder *builder);
/* Names a row for every count that found some where the history has none: it saw what nobody wrote, and there must be a
 * row of which to say so. */
isoproof_status iso_builder_name_counted(isoproof_builder *builder, isoproof_error *error);
/* Puts the observations of the statements into the columns of the history, which has everything else.  `run_dest` says
 * where the runs of the builder went. */
isoproof_status iso_builder_expand(isoproof_builder *builder, isoproof_history *history, const uint32_t *run_dest,
                                   const uint32_t *new_txn, isoproof_error *error);
/* Conditions and contents, once the statements are in their places. */
isoproof_status iso_builder_take_columns(isoproof_builder *builder, isoproof_history *history, isoproof_error *error);
/* What keys are called. */
isoproof_status iso_builder_take_labels(isoproof_builder *builder, isoproof_history *history, isoproof_error *error);
/* Gives every read the kind that the other operations of its key (or, for a key nobody changes, of the history) imply;
 * false when memory is out. */
bool iso_builder_retype(isoproof_history *history, uint8_t *made, unsigned threads);
/* Makes a cleared builder usable. */
isoproof_status iso_builder_start(isoproof_builder *builder, isoproof_error *error);

#endif
