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

struct isoproof_builder {
  isoproof_format format;
  iso_position_kind positions;
  bool initial_is_zero;
  bool ambiguous_reads;
  char *file;
  uint32_t most_ops;

  iso_pool pool;
  iso_numbering keys, sessions;

  ISO_VEC(uint8_t) op_kind;
  ISO_VEC(uint32_t) op_key;
  ISO_VEC(uint32_t) op_value;

  ISO_VEC(iso_op_run) runs;
  bool open;
  ISO_VEC(uint32_t) txn_session;
  ISO_VEC(uint8_t) txn_status;
  iso_lazy txn_id, txn_start, txn_end, txn_start_index, txn_end_index, txn_node, txn_error;
  iso_lazy session_file;

  ISO_VEC(iso_list) lists; /* by key */
  ISO_VEC(uint64_t) odd_first;
  ISO_VEC(iso_value) odd_values;
  ISO_VEC(iso_fact) facts;
};

/* Frees everything and leaves an empty, zeroed builder. */
void iso_builder_clear(isoproof_builder *builder);
/* Makes a cleared builder usable. */
isoproof_status iso_builder_start(isoproof_builder *builder, isoproof_error *error);

#endif
