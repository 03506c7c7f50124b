/* A finished history: freeing it, and its public accessors. */
#include "history/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/abi.h"
#include "base/text.h"
#include "history/resolve.h"

const char *isoproof_version(void) { return ISOPROOF_VERSION; }

const char *isoproof_op_kind_name(isoproof_op_kind kind) {
  static const char *const names[] = {
#define ISOPROOF_X(name, own, jepsen, letter, observes, text) own,
      ISOPROOF_OP_LIST(ISOPROOF_X)
#undef ISOPROOF_X
  };
  return (unsigned)kind < ISOPROOF_OP_KINDS ? names[kind] : "?";
}

bool isoproof_op_kind_observes(isoproof_op_kind kind) {
  static const bool observing[] = {
#define ISOPROOF_X(name, own, jepsen, letter, observes, text) observes,
      ISOPROOF_OP_LIST(ISOPROOF_X)
#undef ISOPROOF_X
  };
  return (unsigned)kind < ISOPROOF_OP_KINDS && observing[kind];
}

const char *isoproof_txn_status_name(isoproof_txn_status status) {
  switch (status) {
  case ISOPROOF_TXN_COMMITTED:
    return "committed";
  case ISOPROOF_TXN_ABORTED:
    return "aborted";
  case ISOPROOF_TXN_UNKNOWN:
    return "unknown";
  }
  return "?";
}

isoproof_history *iso_history_new(void) {
  isoproof_history *history = calloc(1, sizeof *history);
  if (history == NULL) return NULL;
  history->format = ISOPROOF_FORMATS;
  pthread_mutex_init(&history->lock, NULL);
  return history;
}

/* Frees a column unless it lies in the mapping. */
static void free_column(const isoproof_history *history, const void *column) {
  if (column == NULL) return;
  uintptr_t map = (uintptr_t)history->map, at = (uintptr_t)column;
  if (history->map != NULL && at >= map && at - map < history->map_bytes) return;
  free((void *)(uintptr_t)column);
}

void isoproof_history_free(isoproof_history *history) {
  if (history == NULL) return;
  const void *columns[] = {history->op_kind,
                           history->op_key,
                           history->op_value,
                           history->op_line_opt,
                           history->op_statement_opt,
                           history->op_form_opt,
                           history->statements,
                           history->conditions,
                           history->contents,
                           history->key_label_opt,
                           history->key_initial_opt,
                           history->txn_first_op,
                           history->txn_session,
                           history->txn_status,
                           history->txn_id_opt,
                           history->txn_start_opt,
                           history->txn_end_opt,
                           history->txn_start_index_opt,
                           history->txn_end_index_opt,
                           history->txn_node_opt,
                           history->txn_error_opt,
                           history->txn_name_opt,
                           history->txn_isolation_opt,
                           history->txn_position_opt,
                           history->session_first_txn,
                           history->session_name,
                           history->session_file_opt,
                           history->key_name,
                           history->list_first,
                           history->list_values,
                           history->odd_first,
                           history->odd_values,
                           history->pool.entries,
                           history->pool.text,
                           history->facts};
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) free_column(history, columns[i]);
  if (history->map != NULL) munmap(history->map, history->map_bytes);
  iso_resolution_free(history->resolution);
  free(history->op_txn);
  free(history->op_block);
  free(history->file);
  pthread_mutex_destroy(&history->lock);
  free(history);
}

void iso_history_count(isoproof_history *history) {
  uint32_t counts[3] = {0, 0, 0};
  for (uint32_t t = 0; t < history->txns; t++) counts[history->txn_status[t]]++;
  history->committed = counts[ISOPROOF_TXN_COMMITTED];
  history->aborted = counts[ISOPROOF_TXN_ABORTED];
  history->unknown = counts[ISOPROOF_TXN_UNKNOWN];
  history->sessions_are_numbers = true;
  for (uint32_t s = 0; s < history->sessions; s++) {
    uint64_t number;
    if (!iso_pool_unsigned(&history->pool, history->session_name[s], &number)) history->sessions_are_numbers = false;
  }
}

static bool has_times(const isoproof_history *history) {
  if (history->txn_start_opt == NULL || history->txns == 0) return false;
  for (uint32_t t = 0; t < history->txns; t++) {
    if (history->txn_start_opt[t] == ISOPROOF_NO_TIME) return false;
    if (history->txn_end_opt[t] == ISOPROOF_NO_TIME && history->txn_status[t] != ISOPROOF_TXN_UNKNOWN) return false;
  }
  return true;
}

uint64_t iso_history_operations(const isoproof_history *history) {
  uint64_t count = history->ops;
  for (uint32_t i = 0; i < history->statement_count; i++) count = count + 1 - history->statements[i].op_count;
  return count;
}

bool isoproof_history_counts(const isoproof_history *history, isoproof_counts *counts) {
  isoproof_counts made = {.struct_size = sizeof made,
                          .sessions = history->sessions,
                          .transactions = history->txns,
                          .committed = history->committed,
                          .aborted = history->aborted,
                          .unknown = history->unknown,
                          .operations = iso_history_operations(history),
                          .keys = history->keys,
                          .has_times = has_times(history)};
  return ISO_STRUCT_GIVE(counts, made);
}

const char *isoproof_history_format(const isoproof_history *history) {
  const isoproof_format_info *info = history->format < ISOPROOF_FORMATS ? isoproof_format_at(history->format) : NULL;
  return info != NULL ? info->id : "memory";
}

bool isoproof_history_session_at(const isoproof_history *history, uint64_t session, isoproof_session *out) {
  if (session >= history->sessions) return false;
  uint32_t first = history->session_first_txn[session];
  isoproof_session made = {.struct_size = sizeof made,
                           .name = iso_history_scalar(history, history->session_name[session]),
                           .first_txn = first,
                           .txn_count = history->session_first_txn[session + 1] - first};
  return ISO_STRUCT_GIVE(out, made);
}

/* Transactions and operations are asked for by the million: a caller that knows them in our length gets them without
 * another copy. */
static inline void show_txn(const isoproof_history *history, uint32_t t, isoproof_txn *out) {
  uint32_t session = history->txn_session[t];
  *out = (isoproof_txn){.struct_size = sizeof *out,
                        .session = session,
                        .index = t - history->session_first_txn[session],
                        .status = (isoproof_txn_status)history->txn_status[t],
                        .has_id = history->txn_id_opt != NULL,
                        .id = history->txn_id_opt != NULL ? history->txn_id_opt[t] : 0,
                        .start = history->txn_start_opt != NULL ? history->txn_start_opt[t] : ISOPROOF_NO_TIME,
                        .end = history->txn_end_opt != NULL ? history->txn_end_opt[t] : ISOPROOF_NO_TIME,
                        .first_op = history->txn_first_op[t],
                        .op_count = history->txn_first_op[t + 1] - history->txn_first_op[t]};
  if (out->has_id && out->id == INT64_MIN) out->has_id = false, out->id = 0;
  if (history->txn_node_opt != NULL) out->node = iso_history_scalar(history, history->txn_node_opt[t]);
  out->isolation = iso_txn_isolation_id(iso_history_isolation(history, t));
  if (history->txn_name_opt != NULL) out->called = iso_history_scalar(history, history->txn_name_opt[t]);
  if (history->txn_error_opt != NULL) out->error = iso_history_scalar(history, history->txn_error_opt[t]);
}

bool isoproof_history_txn_at(const isoproof_history *history, uint64_t txn, isoproof_txn *out) {
  if (txn >= history->txns) return false;
  isoproof_txn made;
  bool same = out->struct_size == sizeof made;
  show_txn(history, (uint32_t)txn, same ? out : &made);
  return same || ISO_STRUCT_GIVE(out, made);
}

const iso_value *iso_history_list(const isoproof_history *history, uint32_t op, uint32_t *count) {
  iso_value value = history->op_value[op];
  if (value == ISO_VALUE_NIL || value == ISO_VALUE_NONE) {
    *count = 0;
    return NULL;
  }
  if (value < ISO_VALUE_INLINE_LIMIT) {
    *count = value;
    return history->list_values + history->list_first[history->op_key[op]];
  }
  uint32_t odd = value & ~ISO_VALUE_INTERNED;
  *count = (uint32_t)(history->odd_first[odd + 1] - history->odd_first[odd]);
  return history->odd_values + history->odd_first[odd];
}

static inline void show_op(const isoproof_history *history, uint32_t op, isoproof_op *out) {
  isoproof_op_kind kind = (isoproof_op_kind)history->op_kind[op];
  *out = (isoproof_op){.struct_size = sizeof *out,
                       .kind = kind,
                       .key = iso_history_scalar(history, history->key_name[history->op_key[op]])};
  iso_value value = history->op_value[op];
  if (!iso_kind_is_list(kind) || value == ISO_VALUE_NIL || value == ISO_VALUE_NONE) {
    out->value = iso_history_scalar(history, value);
    return;
  }
  uint32_t count;
  (void)iso_history_list(history, op, &count);
  out->value = isoproof_integer(count);
  out->element_count = count;
}

bool isoproof_history_op_at(const isoproof_history *history, uint64_t op, isoproof_op *out) {
  if (op >= history->ops) return false;
  isoproof_op made;
  bool same = out->struct_size == sizeof made;
  show_op(history, (uint32_t)op, same ? out : &made);
  return same || ISO_STRUCT_GIVE(out, made);
}

bool isoproof_history_element_at(const isoproof_history *history, uint64_t op, uint64_t position,
                                 isoproof_scalar *out) {
  if (op >= history->ops || !iso_kind_is_list((isoproof_op_kind)history->op_kind[op])) return false;
  uint32_t count;
  const iso_value *list = iso_history_list(history, (uint32_t)op, &count);
  if (position >= count) return false;
  *out = iso_history_scalar(history, list[position]);
  return true;
}

uint32_t iso_history_share(const isoproof_history *history, uint32_t number, uint32_t count) {
  uint64_t op = (uint64_t)history->ops * number / count;
  uint32_t low = 0, high = history->txns;
  if (number == count) return history->txns;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (history->txn_first_op[middle] < op) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

uint32_t iso_history_txn_of(const isoproof_history *history, uint32_t op) {
  uint32_t low = 0, high = history->txns; /* txn_first_op[low] <= op < txn_first_op[high] */
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (history->txn_first_op[middle] <= op) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

size_t isoproof_history_txn_name(const isoproof_history *history, uint64_t txn, char *buffer, size_t size) {
  if (txn >= history->txns) return (size_t)snprintf(buffer, size, "%s", "init");
  uint32_t session = history->txn_session[txn];
  uint64_t number = session;
  if (history->sessions_are_numbers) (void)iso_pool_unsigned(&history->pool, history->session_name[session], &number);
  int length = snprintf(buffer, size, "s%llut%llu", (unsigned long long)number,
                        (unsigned long long)(txn - history->session_first_txn[session]));
  return length < 0 ? 0 : (size_t)length;
}

bool isoproof_history_position_of(const isoproof_history *history, uint64_t op, isoproof_position *out) {
  *out = (isoproof_position){.file = history->file, .offset = -1};
  if (op >= history->ops || history->position_kind == ISO_POSITION_NONE) return false;
  uint32_t txn = iso_history_txn_of(history, (uint32_t)op);
  if (history->session_file_opt != NULL) {
    isoproof_scalar file = iso_history_scalar(history, history->session_file_opt[history->txn_session[txn]]);
    if (file.type == ISOPROOF_STRING) out->file = file.text;
  }
  if (history->op_line_opt != NULL) {
    out->line = history->op_line_opt[op];
  } else if (history->txn_position_opt == NULL) {
    return false;
  } else if (history->position_kind == ISO_POSITION_OFFSET) {
    out->offset = (int64_t)history->txn_position_opt[txn];
  } else {
    out->line = history->txn_position_opt[txn];
    if (history->position_kind == ISO_POSITION_LINE_PER_OP) out->line += op - history->txn_first_op[txn];
  }
  return true;
}

const char *isoproof_history_fact(const isoproof_history *history, const char *name) {
  size_t length = strlen(name);
  for (uint32_t i = history->fact_count; i-- > 0;) {
    isoproof_scalar key = iso_history_scalar(history, history->facts[i].name);
    if (key.length != length || memcmp(key.text, name, length) != 0) continue;
    return iso_history_scalar(history, history->facts[i].value).text;
  }
  return NULL;
}
