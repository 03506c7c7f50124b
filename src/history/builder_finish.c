/* From the builder's order of arrival to the history's order: sessions, then transactions, then operations. */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "history/builder_internal.h"

/* What finish needs to know before it moves anything. */
typedef struct {
  uint32_t *new_txn;  /* arrival number -> number in the history */
  uint32_t *run_dest; /* run -> first operation in the history */
  bool txns_in_order, ops_in_order;
  bool single_runs; /* run number i is transaction number i */
  unsigned threads;
} plan;

static uint32_t run_length(const isoproof_builder *b, size_t run) {
  size_t end = run + 1 < b->runs.count ? b->runs.items[run + 1].first_op : b->op_kind.count;
  return (uint32_t)(end - b->runs.items[run].first_op);
}

/* Numbers the transactions session by session (a stable counting sort). */
static bool place_txns(const isoproof_builder *b, isoproof_history *h, plan *p) {
  h->sessions = (uint32_t)b->sessions.count;
  h->txns = (uint32_t)b->txn_session.count;
  h->session_first_txn = iso_alloc_zero((size_t)h->sessions + 1, sizeof *h->session_first_txn);
  uint32_t *next = iso_alloc((size_t)h->sessions + 1, sizeof *next);
  p->new_txn = iso_alloc(h->txns, sizeof *p->new_txn);
  bool made = h->session_first_txn != NULL && next != NULL && p->new_txn != NULL;
  if (made) {
    for (uint32_t t = 0; t < h->txns; t++) h->session_first_txn[b->txn_session.items[t] + 1]++;
    for (uint32_t s = 0; s < h->sessions; s++) h->session_first_txn[s + 1] += h->session_first_txn[s];
    memcpy(next, h->session_first_txn, ((size_t)h->sessions + 1) * sizeof *next);
    p->txns_in_order = true;
    for (uint32_t t = 0; t < h->txns; t++) {
      p->new_txn[t] = next[b->txn_session.items[t]]++;
      if (p->new_txn[t] != t) p->txns_in_order = false;
    }
  }
  free(next);
  return made;
}

/* ---- operations ---- */

/* Where each run of operations goes, where transactions are of one run each. */
static void place_single_runs(const isoproof_builder *b, isoproof_history *h, plan *p) {
  for (size_t r = 0; r < b->runs.count; r++) h->txn_first_op[p->new_txn[r] + 1] = run_length(b, r);
  for (uint32_t t = 0; t < h->txns; t++) h->txn_first_op[t + 1] += h->txn_first_op[t];
  for (size_t r = 0; r < b->runs.count; r++) p->run_dest[r] = h->txn_first_op[p->new_txn[r]];
}

/* The same where they come in pieces. */
static bool place_pieces(const isoproof_builder *b, isoproof_history *h, plan *p) {
  for (size_t r = 0; r < b->runs.count; r++) {
    h->txn_first_op[p->new_txn[b->runs.items[r].txn] + 1] += run_length(b, r);
  }
  for (uint32_t t = 0; t < h->txns; t++) h->txn_first_op[t + 1] += h->txn_first_op[t];
  uint32_t *next = iso_alloc((size_t)h->txns + 1, sizeof *next);
  if (next == NULL) return false;
  memcpy(next, h->txn_first_op, ((size_t)h->txns + 1) * sizeof *next);
  for (size_t r = 0; r < b->runs.count; r++) {
    uint32_t txn = p->new_txn[b->runs.items[r].txn];
    p->run_dest[r] = next[txn];
    next[txn] += run_length(b, r);
  }
  free(next);
  return true;
}

static bool place_ops(const isoproof_builder *b, isoproof_history *h, plan *p) {
  h->ops = (uint32_t)b->op_kind.count;
  h->txn_first_op = iso_alloc_zero((size_t)h->txns + 1, sizeof *h->txn_first_op);
  p->run_dest = iso_alloc(b->runs.count, sizeof *p->run_dest);
  if (h->txn_first_op == NULL || p->run_dest == NULL) return false;
  p->single_runs = b->runs.count == h->txns;
  if (p->single_runs) {
    place_single_runs(b, h, p);
  } else if (!place_pieces(b, h, p)) {
    return false;
  }
  p->ops_in_order = true;
  for (size_t r = 0; r < b->runs.count && p->ops_in_order; r++) {
    p->ops_in_order = p->run_dest[r] == b->runs.items[r].first_op;
  }
  return true;
}

typedef struct {
  const isoproof_builder *b;
  const plan *p;
  char *from, *to;
  size_t size;
} op_move;

static void move_runs(void *context, unsigned thread, unsigned threads) {
  const op_move *m = context;
  const iso_op_run *runs = m->b->runs.items;
  uint64_t first, end;
  iso_parallel_range(m->b->runs.count, thread, threads, &first, &end);
  for (uint64_t r = first; r < end; r++) {
    memcpy(m->to + m->p->run_dest[r] * m->size, m->from + runs[r].first_op * m->size, run_length(m->b, r) * m->size);
  }
}

/* Takes a column of operations over.  Where runs are out of order it moves them into `spare` (of the same size) or,
 * when that is NULL, into a new column; *items is then left with the old one, for the next column to move into. */
static void *take_ops(const isoproof_builder *b, const plan *p, void **items, size_t size, void *spare) {
  char *old = *items;
  size_t count = b->op_kind.count;
  if (p->ops_in_order) {
    char *shrunk = iso_realloc(old, count, size);
    *items = NULL;
    return shrunk != NULL ? shrunk : old;
  }
  char *column = spare != NULL ? spare : iso_alloc(count, size);
  if (column == NULL) return NULL;
  op_move move = {b, p, old, column, size};
  iso_parallel(p->threads, move_runs, &move);
  return column;
}

/* What was done to rows: a column that exists where there are rows, and may be shorter than the others. */
static bool take_forms(isoproof_builder *b, isoproof_history *h, const plan *p) {
  size_t count = b->op_form.count;
  if (count == 0) return true;
  if (!iso_vec_reserve(&b->op_form, b->op_kind.count - count)) return false;
  memset(b->op_form.items + count, ISO_ROW_NONE, b->op_kind.count - count);
  h->op_form_opt = take_ops(b, p, (void **)&b->op_form.items, sizeof *h->op_form_opt, NULL);
  return h->op_form_opt != NULL;
}

/* The statements that operations come from, where somebody said so. */
static bool take_sources(isoproof_builder *b, isoproof_history *h, const plan *p) {
  size_t count = b->op_statement.count, missing = b->op_kind.count - count;
  if (count == 0 && !b->has_sources) return true;
  if (!iso_vec_reserve(&b->op_statement, missing + 1)) return false;
  if (missing > 0) memset(b->op_statement.items + count, 0, missing * sizeof *b->op_statement.items);
  h->op_statement_opt = take_ops(b, p, (void **)&b->op_statement.items, sizeof *h->op_statement_opt, NULL);
  return h->op_statement_opt != NULL;
}

static bool take_op_columns(isoproof_builder *b, isoproof_history *h, const plan *p) {
  if (b->op_kind.count == 0) {
    h->op_kind = iso_alloc(0, 1);
    h->op_key = iso_alloc(0, 1);
    h->op_value = iso_alloc(0, 1);
    if (b->has_sources) h->op_statement_opt = iso_alloc(0, 1);
    bool sourced = b->has_sources == (h->op_statement_opt != NULL);
    return sourced && h->op_kind != NULL && h->op_key != NULL && h->op_value != NULL;
  }
  h->op_kind = take_ops(b, p, (void **)&b->op_kind.items, sizeof *h->op_kind, NULL);
  h->op_key = take_ops(b, p, (void **)&b->op_key.items, sizeof *h->op_key, NULL);
  if (h->op_kind == NULL || h->op_key == NULL) return false;
  /* Values move into what the keys left: memory that is there already costs nothing. */
  void *spare = b->op_key.items;
  b->op_key.items = NULL;
  h->op_value = take_ops(b, p, (void **)&b->op_value.items, sizeof *h->op_value, spare);
  if (h->op_value != NULL && spare == h->op_value) {
    uint32_t *shrunk = iso_realloc(h->op_value, b->op_kind.count, sizeof *shrunk);
    if (shrunk != NULL) h->op_value = shrunk;
  }
  return h->op_value != NULL && take_forms(b, h, p) && take_sources(b, h, p);
}

/* Positions: one per transaction where its operations are in one place, else one per operation. */
static bool take_positions(const isoproof_builder *b, isoproof_history *h, const plan *p) {
  h->position_kind = b->positions;
  if (b->positions == ISO_POSITION_NONE) return true;
  h->txn_position_opt = iso_alloc(h->txns, sizeof *h->txn_position_opt);
  if (h->txn_position_opt == NULL) return false;
  for (size_t r = b->runs.count; r-- > 0;) {
    h->txn_position_opt[p->new_txn[b->runs.items[r].txn]] = b->runs.items[r].position;
  }
  if (p->single_runs || b->positions != ISO_POSITION_LINE_PER_OP) return true;
  h->op_line_opt = iso_alloc(h->ops, sizeof *h->op_line_opt);
  if (h->op_line_opt == NULL) return false;
  for (size_t r = 0; r < b->runs.count; r++) {
    uint32_t length = run_length(b, r);
    for (uint32_t i = 0; i < length; i++) {
      uint64_t line = b->runs.items[r].position + i;
      h->op_line_opt[p->run_dest[r] + i] = line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
    }
  }
  return true;
}

/* ---- transactions ---- */

/* A column of 64-bit facts that is on its way to the order of the history. */
typedef struct {
  const iso_lazy *column;
  const uint32_t *new_txn;
  size_t count;
  int64_t *to;
} fact_move;

static void move_facts(void *context, unsigned thread, unsigned threads) {
  const fact_move *m = context;
  uint64_t first, end;
  iso_parallel_range(m->count, thread, threads, &first, &end);
  for (uint64_t i = first; i < end; i++) {
    m->to[m->new_txn[i]] = i < m->column->count ? m->column->items[i] : m->column->blank;
  }
}

/* Takes a lazy column over in the history's order; NULL in *out when nobody set anything.  Where transactions move,
 * they move into what the column before left, if there is one: memory that is there already costs nothing. */
static bool take_lazy64(iso_lazy *column, const plan *p, size_t count, iso_lazy *spare, int64_t **out) {
  if (column->items == NULL) return true;
  iso_lazy *room = p->txns_in_order ? column : spare;
  if (room->capacity < count || (p->txns_in_order && room->capacity > count)) {
    int64_t *items = iso_realloc(room->items, count, sizeof *items);
    if (items == NULL) return false;
    room->items = items;
    room->capacity = count;
  }
  *out = room->items;
  if (p->txns_in_order) {
    for (size_t i = column->count; i < count; i++) (*out)[i] = column->blank;
    column->items = NULL;
    return true;
  }
  fact_move move = {column, p->new_txn, count, *out};
  iso_parallel(p->threads, move_facts, &move);
  *spare = *column;
  column->items = NULL;
  return true;
}

static bool take_lazy8(const iso_lazy *column, const plan *p, size_t count, uint8_t **out) {
  if (column->items == NULL) return true;
  *out = iso_alloc(count, sizeof **out);
  if (*out == NULL) return false;
  for (size_t i = 0; i < count; i++) {
    (*out)[p->new_txn[i]] = (uint8_t)(i < column->count ? column->items[i] : column->blank);
  }
  return true;
}

static bool take_lazy32(const iso_lazy *column, const plan *p, size_t count, uint32_t **out) {
  if (column->items == NULL) return true;
  *out = iso_alloc(count, sizeof **out);
  if (*out == NULL) return false;
  for (size_t i = 0; i < count; i++) {
    (*out)[p != NULL ? p->new_txn[i] : i] = (uint32_t)(i < column->count ? column->items[i] : column->blank);
  }
  return true;
}

/* Times and indexes come in pairs: where one side exists the other does, too. */
static bool complete_pair(int64_t **a, int64_t **b, size_t count, int64_t blank) {
  if ((*a == NULL) == (*b == NULL)) return true;
  int64_t **missing = *a == NULL ? a : b;
  *missing = iso_alloc(count, sizeof **missing);
  if (*missing == NULL) return false;
  for (size_t i = 0; i < count; i++) (*missing)[i] = blank;
  return true;
}

static bool take_facts(isoproof_builder *b, isoproof_history *h, const plan *p) {
  iso_lazy spare = {NULL, 0, 0, 0};
  bool taken = take_lazy64(&b->txn_id, p, h->txns, &spare, &h->txn_id_opt) &&
               take_lazy64(&b->txn_start, p, h->txns, &spare, &h->txn_start_opt) &&
               take_lazy64(&b->txn_end, p, h->txns, &spare, &h->txn_end_opt) &&
               complete_pair(&h->txn_start_opt, &h->txn_end_opt, h->txns, ISOPROOF_NO_TIME) &&
               take_lazy64(&b->txn_start_index, p, h->txns, &spare, &h->txn_start_index_opt) &&
               take_lazy64(&b->txn_end_index, p, h->txns, &spare, &h->txn_end_index_opt) &&
               complete_pair(&h->txn_start_index_opt, &h->txn_end_index_opt, h->txns, -1);
  free(spare.items);
  return taken && take_lazy32(&b->txn_node, p, h->txns, &h->txn_node_opt) &&
         take_lazy32(&b->txn_error, p, h->txns, &h->txn_error_opt) &&
         take_lazy32(&b->txn_name, p, h->txns, &h->txn_name_opt) &&
         take_lazy8(&b->txn_isolation, p, h->txns, &h->txn_isolation_opt) &&
         take_lazy32(&b->session_file, NULL, h->sessions, &h->session_file_opt);
}

static bool take_txn_columns(isoproof_builder *b, isoproof_history *h, const plan *p) {
  h->txn_session = iso_alloc(h->txns, sizeof *h->txn_session);
  h->txn_status = iso_alloc(h->txns, sizeof *h->txn_status);
  if (h->txn_session == NULL || h->txn_status == NULL) return false;
  for (uint32_t t = 0; t < h->txns; t++) {
    h->txn_session[p->new_txn[t]] = b->txn_session.items[t];
    h->txn_status[p->new_txn[t]] = b->txn_status.items[t];
  }
  return take_facts(b, h, p);
}

/* Puts the longest lists of all keys one after the other, freeing each as it goes. */
static bool take_lists(isoproof_builder *b, isoproof_history *h) {
  if (b->lists.count == 0) return true;
  uint64_t total = 0;
  for (size_t k = 0; k < b->lists.count; k++) total += b->lists.items[k].count;
  h->list_first = iso_alloc((size_t)h->keys + 1, sizeof *h->list_first);
  h->list_values = iso_alloc(total, sizeof *h->list_values);
  if (h->list_first == NULL || h->list_values == NULL) return false;
  uint64_t at = 0;
  for (size_t k = 0; k < h->keys; k++) {
    h->list_first[k] = at;
    if (k >= b->lists.count || b->lists.items[k].count == 0) continue;
    iso_list *list = &b->lists.items[k];
    memcpy(h->list_values + at, list->items, list->count * sizeof *list->items);
    at += list->count;
    free(list->items);
    *list = (iso_list){NULL, 0, 0};
  }
  h->list_first[h->keys] = at;
  if (b->odd_first.count == 0) return true;
  h->odd_lists = (uint32_t)b->odd_first.count;
  if (!iso_vec_push(&b->odd_first, (uint64_t)b->odd_values.count)) return false;
  h->odd_first = b->odd_first.items;
  h->odd_values = b->odd_values.items;
  b->odd_first.items = NULL;
  b->odd_values.items = NULL;
  if (h->odd_values == NULL) h->odd_values = iso_alloc(0, 1);
  return h->odd_values != NULL;
}

static void take_names(isoproof_builder *b, isoproof_history *h) {
  h->keys = (uint32_t)b->keys.count;
  h->key_name = b->keys.names;
  b->keys.names = NULL;
  h->session_name = b->sessions.names;
  b->sessions.names = NULL;
  h->pool = iso_pool_look(&b->pool);
  b->pool.entries = NULL;
  b->pool.text = NULL;
  h->facts = b->facts.items;
  h->fact_count = (uint32_t)b->facts.count;
  b->facts.items = NULL;
  h->format = b->format;
  h->initial_is_zero = b->initial_is_zero;
  h->file = b->file;
  b->file = NULL;
}

size_t iso_builder_txns(const isoproof_builder *b) { return b->txn_session.count; }

isoproof_status iso_builder_order(const isoproof_builder *b, uint64_t *order, isoproof_error *error) {
  uint64_t *next = iso_alloc_zero(b->sessions.count + 1, sizeof *next);
  if (next == NULL) return iso_fail_memory(error);
  for (size_t t = 0; t < b->txn_session.count; t++) next[b->txn_session.items[t] + 1]++;
  for (size_t s = 0; s < b->sessions.count; s++) next[s + 1] += next[s];
  for (size_t t = 0; t < b->txn_session.count; t++) order[t] = next[b->txn_session.items[t]]++;
  free(next);
  return ISOPROOF_OK;
}

isoproof_status isoproof_builder_finish(isoproof_builder *builder, isoproof_history **history, isoproof_error *error) {
  return iso_builder_finish_for(builder, NULL, history, error);
}

isoproof_status iso_builder_finish_for(isoproof_builder *builder, const isoproof_task *task, isoproof_history **history,
                                       isoproof_error *error) {
  enum { MANY = 1 << 18 }; /* operations that are worth a second thread */
  isoproof_history *h = iso_history_new();
  if (h == NULL) return iso_fail_memory(error);
  plan p = {.threads = builder->op_kind.count >= MANY ? iso_task_threads(task) : 1};
  isoproof_status named = iso_builder_name_counted(builder, error);
  bool made = named == ISOPROOF_OK && place_txns(builder, h, &p) && place_ops(builder, h, &p);
  if (made) take_names(builder, h);
  made = made && take_op_columns(builder, h, &p) && take_positions(builder, h, &p) &&
         take_txn_columns(builder, h, &p) && take_lists(builder, h) &&
         (!builder->ambiguous_reads || iso_builder_retype(h, &builder->made, p.threads));
  isoproof_status status = named;
  if (named == ISOPROOF_OK)
    status = made ? iso_builder_expand(builder, h, p.run_dest, p.new_txn, error) : iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = iso_builder_take_columns(builder, h, error);
  if (status == ISOPROOF_OK) status = iso_builder_take_labels(builder, h, error);
  free(p.new_txn);
  free(p.run_dest);
  uint8_t so_far = builder->made;
  iso_builder_clear(builder);
  isoproof_status restarted = iso_builder_start(builder, status == ISOPROOF_OK ? error : NULL);
  builder->made = so_far;
  if (status == ISOPROOF_OK) status = restarted;
  if (status != ISOPROOF_OK) {
    isoproof_history_free(h);
    return status;
  }
  iso_history_count(h);
  *history = h;
  return ISOPROOF_OK;
}
