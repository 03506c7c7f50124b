/* Writes isoproof's own text form, line by line or a whole history. */
#include "format/jsonl.h"

#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "format/format.h"
#include "history/columns.h"

/* ---- single lines ---- */

#define PUT(output, literal) iso_out_bytes(output, literal, sizeof(literal) - 1)

static void scalar(iso_output *output, const isoproof_scalar *s) {
  switch (s->type) {
  case ISOPROOF_NIL:
    PUT(output, "null");
    return;
  case ISOPROOF_NONE:
    PUT(output, "{\"none\":true}");
    return;
  case ISOPROOF_INTEGER:
    iso_out_i64(output, s->integer);
    return;
  case ISOPROOF_UNSIGNED:
    iso_out_u64(output, (uint64_t)s->integer);
    return;
  case ISOPROOF_STRING:
    iso_out_json_string(output, s->text, s->length);
    return;
  case ISOPROOF_KEYWORD:
    PUT(output, "{\"keyword\":");
    break;
  case ISOPROOF_SYMBOL:
    PUT(output, "{\"symbol\":");
    break;
  }
  iso_out_json_string(output, s->text, s->length);
  iso_out_char(output, '}');
}

static void range(iso_output *output, const char *name, int64_t first, int64_t second, bool *more) {
  if (*more) iso_out_char(output, ',');
  *more = true;
  iso_out_printf(output, "\"%s\":[", name);
  iso_out_i64(output, first);
  iso_out_char(output, ',');
  iso_out_i64(output, second);
  iso_out_char(output, ']');
}

/* ["column","=",5], ["column","is null"], ["column","in",[1,2]]: alternatives are those of one column for equality. */
static void conditions(iso_output *output, const iso_jsonl_condition *where, size_t count) {
  PUT(output, "\"where\":[");
  for (size_t i = 0; i < count; i++) {
    const iso_jsonl_condition *c = &where[i];
    bool lists = c->or_next, unary = c->comparison >= ISO_COMPARE_IS_NULL;
    if (i > 0) iso_out_char(output, ',');
    iso_out_char(output, '[');
    scalar(output, &c->column);
    iso_out_printf(output, ",\"%s\"", lists ? "in" : iso_comparison_name(c->comparison));
    if (!unary) PUT(output, ",");
    if (lists) iso_out_char(output, '[');
    if (!unary) scalar(output, &c->operand);
    for (; where[i].or_next && i + 1 < count; i++) {
      iso_out_char(output, ',');
      scalar(output, &where[i + 1].operand);
    }
    if (lists) iso_out_char(output, ']');
    iso_out_char(output, ']');
  }
  iso_out_char(output, ']');
}

static void predicate_of(iso_output *output, const iso_jsonl_op *op) {
  const iso_predicate *p = &op->predicate;
  bool more = false;
  iso_out_char(output, '{');
  if (p->of_keys) range(output, "keys", p->key_low, p->key_high, &more);
  if (p->of_values) range(output, "values", p->value_low, p->value_high, &more);
  if (p->of_rest) range(output, "mod", p->divisor, p->rest, &more);
  if (op->where_count > 0) {
    if (more) iso_out_char(output, ',');
    conditions(output, op->where, op->where_count);
  }
  iso_out_char(output, '}');
}

static void rows_of(iso_output *output, const iso_row_value *rows, size_t count) {
  iso_out_char(output, '[');
  for (size_t i = 0; i < count; i++) {
    if (i > 0) iso_out_char(output, ',');
    iso_out_char(output, '[');
    iso_out_i64(output, rows[i].key);
    iso_out_char(output, ',');
    iso_out_i64(output, rows[i].value);
    iso_out_char(output, ']');
  }
  iso_out_char(output, ']');
}

/* ,{"column":content,...} */
static void contents(iso_output *output, const iso_jsonl_column *columns, size_t count) {
  if (count == 0) return;
  PUT(output, ",{");
  for (size_t i = 0; i < count; i++) {
    if (i > 0) iso_out_char(output, ',');
    iso_out_json_string(output, columns[i].name.text, columns[i].name.length);
    iso_out_char(output, ':');
    scalar(output, &columns[i].content);
  }
  iso_out_char(output, '}');
}

static void operation(iso_output *output, const iso_jsonl_op *op) {
  bool by_predicate = op->form == ISO_ROW_PREDICATE || op->form == ISO_ROW_COUNT;
  PUT(output, "[\"");
  iso_out_text(output, op->form != ISO_ROW_NONE ? iso_row_form_name(op->form) : isoproof_op_kind_name(op->kind));
  PUT(output, "\",");
  if (by_predicate)
    predicate_of(output, op);
  else
    scalar(output, &op->key);
  iso_out_char(output, ',');
  if (op->rows != NULL) {
    rows_of(output, op->rows, op->count);
  } else if (op->elements == NULL) {
    scalar(output, &op->value);
  } else {
    iso_out_char(output, '[');
    for (size_t i = 0; i < op->count; i++) {
      if (i > 0) iso_out_char(output, ',');
      scalar(output, &op->elements[i]);
    }
    iso_out_char(output, ']');
  }
  contents(output, op->columns, op->column_count);
  iso_out_char(output, ']');
}

static void number(iso_output *output, const char *name, int64_t value) {
  iso_out_text(output, name);
  iso_out_i64(output, value);
}

void iso_jsonl_write_header(iso_output *output, bool initial_is_zero, const iso_jsonl_fact *facts, size_t count) {
  iso_out_printf(output, "{\"isoproof\":%d,\"initial\":%s", ISO_JSONL_VERSION, initial_is_zero ? "0" : "null");
  for (size_t i = 0; i < count; i++) {
    iso_out_char(output, ',');
    iso_out_json_string(output, facts[i].name, facts[i].name_length);
    iso_out_char(output, ':');
    iso_out_json_string(output, facts[i].value, facts[i].value_length);
  }
  PUT(output, "}\n");
}

void iso_jsonl_write_initial_rows(iso_output *output, const iso_row_value *rows, size_t count) {
  PUT(output, "{\"initial_rows\":");
  rows_of(output, rows, count);
  PUT(output, "}\n");
}

static void one_row(iso_output *output, const iso_jsonl_row *row) {
  iso_out_char(output, '[');
  iso_out_i64(output, row->key);
  iso_out_char(output, ',');
  iso_out_i64(output, row->value);
  contents(output, row->columns, row->column_count);
  iso_out_char(output, ']');
}

void iso_jsonl_write_initial_contents(iso_output *output, const iso_jsonl_row *rows, size_t count) {
  PUT(output, "{\"initial_rows\":[");
  for (size_t i = 0; i < count; i++) {
    if (i > 0) iso_out_char(output, ',');
    one_row(output, &rows[i]);
  }
  PUT(output, "]}\n");
}

void iso_jsonl_write_row_names(iso_output *output, const iso_jsonl_row_name *names, size_t count) {
  PUT(output, "{\"row_names\":[");
  for (size_t i = 0; i < count; i++) {
    if (i > 0) iso_out_char(output, ',');
    iso_out_char(output, '[');
    iso_out_i64(output, names[i].key);
    iso_out_char(output, ',');
    iso_out_json_string(output, names[i].name, strlen(names[i].name));
    iso_out_char(output, ']');
  }
  PUT(output, "]}\n");
}

void iso_jsonl_write_session(iso_output *output, isoproof_scalar name) {
  PUT(output, "{\"session\":");
  scalar(output, &name);
  PUT(output, "}\n");
}

/* The numbers of the statements that did the operations, where they are known. */
static void statement_numbers(iso_output *output, const iso_jsonl_txn *txn) {
  size_t known = 0;
  while (known < txn->count && txn->ops[known].statement == 0) known++;
  if (known == txn->count) return;
  PUT(output, ",\"statements\":[");
  for (size_t i = 0; i < txn->count; i++) {
    if (i > 0) iso_out_char(output, ',');
    iso_out_u64(output, txn->ops[i].statement);
  }
  iso_out_char(output, ']');
}

void iso_jsonl_write_txn(iso_output *output, const iso_jsonl_txn *txn) {
  PUT(output, "{\"session\":");
  scalar(output, &txn->session);
  PUT(output, ",\"status\":\"");
  iso_out_text(output, isoproof_txn_status_name(txn->status));
  iso_out_char(output, '"');
  if (txn->has_id) number(output, ",\"id\":", txn->id);
  if (txn->start != ISOPROOF_NO_TIME) number(output, ",\"start\":", txn->start);
  if (txn->end != ISOPROOF_NO_TIME) number(output, ",\"end\":", txn->end);
  if (txn->start_index >= 0) number(output, ",\"start_index\":", txn->start_index);
  if (txn->end_index >= 0) number(output, ",\"end_index\":", txn->end_index);
  if (txn->node.type != ISOPROOF_NIL) {
    PUT(output, ",\"node\":");
    scalar(output, &txn->node);
  }
  if (txn->error.type != ISOPROOF_NIL) {
    PUT(output, ",\"error\":");
    scalar(output, &txn->error);
  }
  if (txn->name.type != ISOPROOF_NIL) {
    PUT(output, ",\"name\":");
    scalar(output, &txn->name);
  }
  statement_numbers(output, txn);
  if (txn->isolation != ISO_ISOLATION_NONE) {
    PUT(output, ",\"isolation\":\"");
    iso_out_text(output, iso_txn_isolation_id(txn->isolation));
    iso_out_char(output, '"');
  }
  PUT(output, ",\"ops\":[");
  for (size_t i = 0; i < txn->count; i++) {
    if (i > 0) iso_out_char(output, ',');
    operation(output, &txn->ops[i]);
  }
  PUT(output, "]}\n");
}

/* ---- a whole history ---- */

typedef struct writer {
  iso_write_job *job;
  ISO_VEC(iso_jsonl_op) ops;
  ISO_VEC(isoproof_scalar) elements;
  ISO_VEC(iso_row_value) rows;
  ISO_VEC(iso_jsonl_column) columns;       /* those of operations are found by number first, since growing moves them */
  ISO_VEC(iso_jsonl_condition) conditions; /* likewise */
  uint32_t next_statement;
} writer;

/* JSON holds no text but UTF-8. */
static isoproof_status check_texts(const iso_write_job *job) {
  const iso_pool_view *pool = &job->history->pool;
  for (uint32_t i = 0; i < pool->count; i++) {
    const iso_pool_entry *entry = &pool->entries[i];
    if (entry->type < ISOPROOF_STRING || iso_utf8_valid(pool->text + entry->payload, entry->length)) continue;
    char quoted[256];
    return iso_fail(job->error, ISOPROOF_ERR_UNSUPPORTED, "expected UTF-8, found the text %s",
                    iso_quote(pool->text + entry->payload, entry->length, quoted));
  }
  return ISOPROOF_OK;
}

static bool is_named(isoproof_scalar name, const char *text) {
  return name.length == strlen(text) && memcmp(name.text, text, name.length) == 0;
}

/* Facts in order of appearance, each with its last value. */
static isoproof_status write_header(const iso_write_job *job) {
  const isoproof_history *h = job->history;
  iso_jsonl_fact *facts = iso_alloc(h->fact_count, sizeof *facts);
  if (facts == NULL) return iso_fail_memory(job->error);
  size_t count = 0;
  for (uint32_t i = 0; i < h->fact_count; i++) {
    isoproof_scalar name = iso_history_scalar(h, h->facts[i].name), value = iso_history_scalar(h, h->facts[i].value);
    iso_jsonl_fact fact = {name.text, value.text, name.length, value.length};
    size_t at = 0;
    while (at < count &&
           (facts[at].name_length != fact.name_length || memcmp(facts[at].name, fact.name, fact.name_length) != 0)) {
      at++;
    }
    if (is_named(name, "isoproof") || is_named(name, "initial")) continue; /* the header has its own */
    facts[at] = fact;
    if (at == count) count++;
  }
  iso_jsonl_write_header(job->output, h->initial_is_zero, facts, count);
  free(facts);
  return ISOPROOF_OK;
}

/* What a version has in its columns, behind those that are there. */
static isoproof_status collect_contents(writer *w, uint32_t key, iso_value version, size_t *count) {
  const isoproof_history *h = w->job->history;
  const iso_content *contents = iso_history_contents(h, key, version, count);
  for (size_t i = 0; i < *count; i++) {
    iso_jsonl_column made = {iso_history_scalar(h, contents[i].column), iso_history_scalar(h, contents[i].content)};
    if (!iso_vec_push(&w->columns, made)) return iso_fail_memory(w->job->error);
  }
  return ISOPROOF_OK;
}

/* Collects an operation.  The elements of a list are found by number first, since growing moves them. */
static isoproof_status collect(writer *w, uint32_t op) {
  const isoproof_history *h = w->job->history;
  iso_jsonl_op made = {.kind = (isoproof_op_kind)h->op_kind[op],
                       .form = iso_history_form(h, op),
                       .key = iso_history_scalar(h, h->key_name[h->op_key[op]])};
  iso_value value = h->op_value[op];
  if (made.kind == ISOPROOF_OP_WRITE && made.form != ISO_ROW_NONE) {
    ISO_TRY(collect_contents(w, h->op_key[op], value, &made.column_count));
  }
  if (!iso_kind_is_list(made.kind) || value == ISO_VALUE_NIL || value == ISO_VALUE_NONE) {
    made.value = iso_history_scalar(h, value);
  } else {
    uint32_t count;
    const iso_value *items = iso_history_list(h, op, &count);
    made.value.integer = (int64_t)w->elements.count;
    made.value.type = ISOPROOF_INTEGER;
    made.count = count;
    /* One more, so that an empty list has an address. */
    if (!iso_vec_reserve(&w->elements, (size_t)count + 1)) return iso_fail_memory(w->job->error);
    for (uint32_t i = 0; i < count; i++) w->elements.items[w->elements.count++] = iso_history_scalar(h, items[i]);
    w->elements.count++;
  }
  if (h->op_statement_opt != NULL) made.statement = h->op_statement_opt[op];
  return iso_vec_push(&w->ops, made) ? ISOPROOF_OK : iso_fail_memory(w->job->error);
}

/* The row of an observation that returned one. */
static bool returned_row(const isoproof_history *h, uint32_t op, iso_row_value *row) {
  return h->op_value[op] != ISO_VALUE_NIL && iso_pool_integer(&h->pool, h->op_value[op], &row->value) &&
         iso_pool_integer(&h->pool, h->key_name[h->op_key[op]], &row->key);
}

/* Collects a read by predicate or a count, as it was read.  Its rows are found by number first, since growing moves
 * them. */
static isoproof_status collect_statement(writer *w, const iso_statement *s) {
  const isoproof_history *h = w->job->history;
  iso_jsonl_op made = {.kind = ISOPROOF_OP_READ,
                       .form = (iso_row_form)s->form,
                       .predicate = iso_history_predicate(h, s),
                       .value = {.type = ISOPROOF_NONE}};
  made.where_count = made.predicate.where_count;
  if (h->op_statement_opt != NULL && s->op_count > 0) made.statement = h->op_statement_opt[s->first_op];
  for (uint32_t i = 0; i < made.where_count; i++) {
    const iso_condition *c = &h->conditions[made.predicate.first_where + i];
    iso_jsonl_condition shown = {.column = iso_history_scalar(h, c->column),
                                 .operand = iso_history_scalar(h, c->operand),
                                 .comparison = (iso_comparison)c->comparison,
                                 .or_next = c->or_next != 0};
    if (!iso_vec_push(&w->conditions, shown)) return iso_fail_memory(w->job->error);
  }
  if (s->answered && s->form == ISO_ROW_COUNT) made.value = isoproof_integer(s->counted);
  if (s->answered && s->form == ISO_ROW_PREDICATE) {
    made.value = isoproof_integer((int64_t)w->rows.count);
    /* One more, so that no rows have an address. */
    if (!iso_vec_reserve(&w->rows, (size_t)s->op_count + 1)) return iso_fail_memory(w->job->error);
    for (uint32_t op = s->first_op; op < s->first_op + s->op_count; op++) {
      if (returned_row(w->job->history, op, &w->rows.items[w->rows.count + made.count])) made.count++;
    }
    w->rows.count += made.count + 1;
  }
  return iso_vec_push(&w->ops, made) ? ISOPROOF_OK : iso_fail_memory(w->job->error);
}

/* The operations of a transaction, each statement in one piece. */
static isoproof_status collect_txn(writer *w, uint32_t t) {
  const isoproof_history *h = w->job->history;
  uint32_t op = h->txn_first_op[t], end = h->txn_first_op[t + 1];
  w->ops.count = w->elements.count = w->rows.count = w->columns.count = w->conditions.count = 0;
  for (;;) {
    const iso_statement *s = w->next_statement < h->statement_count ? &h->statements[w->next_statement] : NULL;
    if (s != NULL && s->txn == t && s->first_op == op) {
      ISO_TRY(collect_statement(w, s));
      op += s->op_count;
      w->next_statement++;
    } else if (op < end) {
      ISO_TRY(collect(w, op++));
    } else {
      return ISOPROOF_OK;
    }
  }
}

static isoproof_status write_txn(writer *w, uint32_t t) {
  const isoproof_history *h = w->job->history;
  ISO_TRY(collect_txn(w, t));
  size_t columns = 0, conditions_so_far = 0;
  for (size_t i = 0; i < w->ops.count; i++) {
    iso_jsonl_op *op = &w->ops.items[i];
    if (op->column_count > 0) op->columns = w->columns.items + columns;
    if (op->where_count > 0) op->where = w->conditions.items + conditions_so_far;
    columns += op->column_count;
    conditions_so_far += op->where_count;
    if (op->value.type != ISOPROOF_INTEGER) continue;
    if (op->form == ISO_ROW_PREDICATE) op->rows = w->rows.items + op->value.integer;
    if (iso_kind_is_list(op->kind)) op->elements = w->elements.items + op->value.integer;
  }
  iso_jsonl_txn txn = {.session = iso_history_scalar(h, h->session_name[h->txn_session[t]]),
                       .status = (isoproof_txn_status)h->txn_status[t],
                       .start = h->txn_start_opt != NULL ? h->txn_start_opt[t] : ISOPROOF_NO_TIME,
                       .end = h->txn_end_opt != NULL ? h->txn_end_opt[t] : ISOPROOF_NO_TIME,
                       .start_index = h->txn_start_index_opt != NULL ? h->txn_start_index_opt[t] : -1,
                       .end_index = h->txn_end_index_opt != NULL ? h->txn_end_index_opt[t] : -1,
                       .node = h->txn_node_opt != NULL ? iso_history_scalar(h, h->txn_node_opt[t]) : isoproof_nil(),
                       .error = h->txn_error_opt != NULL ? iso_history_scalar(h, h->txn_error_opt[t]) : isoproof_nil(),
                       .name = h->txn_name_opt != NULL ? iso_history_scalar(h, h->txn_name_opt[t]) : isoproof_nil(),
                       .isolation = iso_history_isolation(h, t),
                       .ops = w->ops.items,
                       .count = w->ops.count};
  txn.has_id = h->txn_id_opt != NULL && h->txn_id_opt[t] != INT64_MIN;
  if (txn.has_id) txn.id = h->txn_id_opt[t];
  iso_jsonl_write_txn(w->job->output, &txn);
  return ISOPROOF_OK;
}

/* The rows at the start, one after the other. */
static isoproof_status write_initial_rows(writer *w) {
  const isoproof_history *h = w->job->history;
  iso_output *output = w->job->output;
  bool first = true;
  for (uint32_t key = 0; h->key_initial_opt != NULL && key < h->keys; key++) {
    iso_jsonl_row row = {.column_count = 0};
    bool there = h->key_initial_opt[key] != ISO_VALUE_NIL &&
                 iso_pool_integer(&h->pool, h->key_initial_opt[key], &row.value) &&
                 iso_pool_integer(&h->pool, h->key_name[key], &row.key);
    if (!there) continue;
    w->columns.count = 0;
    ISO_TRY(collect_contents(w, key, h->key_initial_opt[key], &row.column_count));
    row.columns = w->columns.items;
    iso_out_text(output, first ? "{\"initial_rows\":[" : ",");
    one_row(output, &row);
    first = false;
  }
  if (!first) PUT(output, "]}\n");
  return ISOPROOF_OK;
}

static void write_names(const writer *w) {
  const isoproof_history *h = w->job->history;
  iso_output *output = w->job->output;
  bool first = true;
  for (uint32_t key = 0; h->key_label_opt != NULL && key < h->keys; key++) {
    int64_t number_of_row;
    isoproof_scalar name = iso_history_scalar(h, h->key_label_opt[key]);
    if (name.type != ISOPROOF_STRING || !iso_pool_integer(&h->pool, h->key_name[key], &number_of_row)) continue;
    iso_out_text(output, first ? "{\"row_names\":[[" : ",[");
    iso_out_i64(output, number_of_row);
    iso_out_char(output, ',');
    iso_out_json_string(output, name.text, name.length);
    iso_out_char(output, ']');
    first = false;
  }
  if (!first) PUT(output, "]}\n");
}

static isoproof_status write_sessions(writer *w) {
  const isoproof_history *h = w->job->history;
  for (uint32_t s = 0; s < h->sessions && !iso_output_failed(w->job->output); s++) {
    uint32_t first = h->session_first_txn[s], end = h->session_first_txn[s + 1];
    if (first == end) iso_jsonl_write_session(w->job->output, iso_history_scalar(h, h->session_name[s]));
    for (uint32_t t = first; t < end; t++) {
      if ((t & 4095) == 0) {
        ISO_TRY(iso_task_check(w->job->task, w->job->error));
        iso_task_progress(w->job->task, "writing", "transactions", t, h->txns);
        if (iso_output_failed(w->job->output)) break;
      }
      ISO_TRY(write_txn(w, t));
    }
  }
  return ISOPROOF_OK;
}

isoproof_status iso_write_jsonl(iso_write_job *job) {
  writer w = {.job = job};
  ISO_TRY(check_texts(job));
  ISO_TRY(write_header(job));
  isoproof_status status = write_initial_rows(&w);
  if (status == ISOPROOF_OK) write_names(&w);
  if (status == ISOPROOF_OK) status = write_sessions(&w);
  iso_vec_free(&w.rows);
  iso_vec_free(&w.ops);
  iso_vec_free(&w.elements);
  iso_vec_free(&w.columns);
  iso_vec_free(&w.conditions);
  return status;
}
