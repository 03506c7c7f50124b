/* Reads the object of one transaction of isoproof's own text form, token by token. */
#include "format/jsonl_txn.h"

#include "format/jsonl_rows.h"
#include "format/register_ops.h"

typedef enum field {
  FIELD_UNKNOWN,
#define ISO_X(name, text) FIELD_##name,
  ISO_JSONL_FIELD_LIST(ISO_X)
#undef ISO_X
} field;

static field field_of(const iso_tokenizer *t) {
#define ISO_X(name, text)                                                                                              \
  if (iso_token_is(t, text)) return FIELD_##name;
  ISO_JSONL_FIELD_LIST(ISO_X)
#undef ISO_X
  return FIELD_UNKNOWN;
}

/* ---- scalars ---- */

/* The inside of {"none":true}, {"keyword":"x"} or {"symbol":"x"}. */
static isoproof_status wrapped_scalar(iso_jsonl_parser *r, iso_value *code) {
  iso_tokenizer *t = &r->t;
  ISO_TRY(iso_token_next(t));
  bool none = iso_token_is(t, "none"), keyword = iso_token_is(t, "keyword");
  if (!none && !keyword && !iso_token_is(t, "symbol")) return iso_token_expected(t, "none, keyword or symbol");
  ISO_TRY(iso_token_next(t));
  if (none) {
    if (t->type != ISO_TOKEN_SCALAR || t->scalar.type != ISOPROOF_SYMBOL || !iso_token_is(t, "true")) {
      return iso_token_expected(t, "true");
    }
    *code = ISO_VALUE_NONE;
  } else {
    if (t->type != ISO_TOKEN_SCALAR || t->scalar.type != ISOPROOF_STRING) return iso_token_expected(t, "a string");
    ISO_TRY(iso_pool_add_text(r->pool, keyword ? ISOPROOF_KEYWORD : ISOPROOF_SYMBOL, t->scalar.text, t->scalar.length,
                              code, &r->problem));
  }
  ISO_TRY(iso_token_next(t));
  return t->type == ISO_TOKEN_END ? ISOPROOF_OK : iso_token_expected(t, "`}`");
}

static isoproof_status any_scalar(iso_jsonl_parser *r, iso_value *code) {
  if (r->t.type == ISO_TOKEN_SCALAR) return iso_micro_op_code(&r->t, r->pool, code);
  if (r->t.type == ISO_TOKEN_BEGIN_MAP) return wrapped_scalar(r, code);
  return iso_token_expected(&r->t, "a number, a string, null, or an object (none, keyword, symbol)");
}

/* ---- operations ---- */

static bool kind_of(const iso_tokenizer *t, isoproof_op_kind *kind) {
#define ISOPROOF_X(name, own, jepsen, letter, observes, text)                                                          \
  if (iso_token_is(t, own)) {                                                                                          \
    *kind = ISOPROOF_OP_##name;                                                                                        \
    return true;                                                                                                       \
  }
  ISOPROOF_OP_LIST(ISOPROOF_X)
#undef ISOPROOF_X
  return false;
}

static isoproof_status elements(iso_jsonl_parser *r, iso_op_add *op) {
  iso_list_start start;
  ISO_TRY(iso_micro_op_recall(&r->micro, &r->t, op->key, &start));
  for (;;) {
    iso_value code = ISO_VALUE_NIL;
    ISO_TRY(iso_micro_op_integers(&r->micro, &r->t));
    ISO_TRY(iso_token_next(&r->t));
    if (r->t.type == ISO_TOKEN_END) break;
    ISO_TRY(any_scalar(r, &code));
    if (!iso_vec_push(&r->micro.elements, code)) return iso_fail_memory(&r->problem);
  }
  iso_micro_op_remember(&r->micro, &r->t, op->key, &start);
  size_t count = r->micro.elements.count - start.first;
  if (count >= ISO_VALUE_INLINE_LIMIT)
    return iso_fail(&r->problem, ISOPROOF_ERR_LIMIT, "a list of %zu elements", count);
  op->list = true;
  op->value = (iso_value)count;
  return ISOPROOF_OK;
}

static isoproof_status op_value(iso_jsonl_parser *r, iso_op_add *op) {
  if (iso_kind_is_list((isoproof_op_kind)op->kind)) {
    if (r->t.type == ISO_TOKEN_BEGIN_LIST) return elements(r, op);
    ISO_TRY(any_scalar(r, &op->value));
    if (op->value != ISO_VALUE_NIL && op->value != ISO_VALUE_NONE) {
      return iso_fail_at(&r->problem, ISOPROOF_ERR_FORMAT, iso_token_place(&r->t),
                         "expected a list of elements, null or none, found something else");
    }
    return ISOPROOF_OK;
  }
  ISO_TRY(any_scalar(r, &op->value));
  if (r->initial_is_zero && op->kind == ISOPROOF_OP_READ && op->value == 0) op->value = ISO_VALUE_NIL;
  return ISOPROOF_OK;
}

/* ["append",key,value] */
static isoproof_status operation(iso_jsonl_parser *r) {
  iso_tokenizer *t = &r->t;
  isoproof_op_kind kind;
  iso_op_add op = {0};
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "an operation (a list)");
  ISO_TRY(iso_token_next(t));
  if (!kind_of(t, &kind)) {
    iso_row_form form = iso_jsonl_row_form(t);
    if (form == ISO_ROW_NONE) return iso_token_expected(t, "the name of an operation");
    return iso_jsonl_read_row_op(t, r->pool, form, &r->micro);
  }
  op.kind = (uint8_t)kind;
  ISO_TRY(iso_token_next(t));
  ISO_TRY(any_scalar(r, &op.key));
  ISO_TRY(iso_token_next(t));
  ISO_TRY(op_value(r, &op));
  ISO_TRY(iso_token_next(t));
  if (t->type != ISO_TOKEN_END) return iso_token_expected(t, "the end of the operation");
  return iso_vec_push(&r->micro.ops, op) ? ISOPROOF_OK : iso_fail_memory(&r->problem);
}

static isoproof_status operations(iso_jsonl_parser *r) {
  iso_micro_op_clear(&r->micro);
  if (r->t.type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(&r->t, "a list of operations");
  iso_register_dialect dialect = {.nil_writes = true, .zero_is_initial = r->initial_is_zero};
  for (;;) {
    if (!iso_register_ops(&r->t, dialect, &r->micro)) return iso_fail_memory(&r->problem);
    ISO_TRY(iso_token_next(&r->t));
    if (r->t.type == ISO_TOKEN_END) return ISOPROOF_OK;
    ISO_TRY(operation(r));
  }
}

/* ---- transactions ---- */

static isoproof_status status_field(iso_jsonl_parser *r) {
  for (int s = ISOPROOF_TXN_COMMITTED; s <= ISOPROOF_TXN_UNKNOWN; s++) {
    const char *name = isoproof_txn_status_name((isoproof_txn_status)s);
    if (!iso_token_is_n(&r->t, name, strlen(name))) continue;
    r->info.status = (isoproof_txn_status)s;
    r->has_status = true;
    return ISOPROOF_OK;
  }
  return iso_token_expected(&r->t, "a status (committed, aborted or unknown)");
}

static isoproof_status integer(iso_jsonl_parser *r, int64_t *number) {
  if (!iso_token_is_integer(&r->t)) return iso_token_expected(&r->t, "an integer");
  *number = r->t.scalar.integer;
  return ISOPROOF_OK;
}

static isoproof_status index_field(iso_jsonl_parser *r, int64_t *number) {
  ISO_TRY(integer(r, number));
  return *number >= 0 ? ISOPROOF_OK : iso_token_expected(&r->t, "an index that is not negative");
}

static isoproof_status isolation_field(iso_jsonl_parser *r) {
  const isoproof_scalar *s = &r->t.scalar;
  r->info.isolation = ISO_ISOLATION_NONE;
  if (iso_token_is_nil(&r->t)) return ISOPROOF_OK;
  bool text = r->t.type == ISO_TOKEN_SCALAR && s->type == ISOPROOF_STRING;
  if (text && iso_txn_isolation_find(s->text, s->length, &r->info.isolation)) return ISOPROOF_OK;
  return iso_token_expected(&r->t, "an isolation level (" ISO_ISOLATION_NAMES ")");
}

/* Which statement each operation comes from: numbers, 0 for none. */
static isoproof_status statements(iso_jsonl_parser *r) {
  r->micro.sources.count = 0;
  if (r->t.type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(&r->t, "a list of numbers");
  for (;;) {
    int64_t number = 0;
    ISO_TRY(iso_token_next(&r->t));
    if (r->t.type == ISO_TOKEN_END) return ISOPROOF_OK;
    ISO_TRY(integer(r, &number));
    if (number < 0 || number > ISO_JSONL_FACTS) return iso_token_expected(&r->t, "the number of a statement");
    if (!iso_vec_push(&r->micro.sources, (uint32_t)number)) return iso_fail_memory(&r->problem);
  }
}

static isoproof_status one_field(iso_jsonl_parser *r, field name) {
  if (name != FIELD_SESSION && name != FIELD_UNKNOWN) r->has_more = true;
  switch (name) {
  case FIELD_SESSION:
    r->has_session = true;
    return any_scalar(r, &r->session);
  case FIELD_STATUS:
    return status_field(r);
  case FIELD_ID:
    r->info.has_id = true;
    return integer(r, &r->info.id);
  case FIELD_START:
    return integer(r, &r->info.start);
  case FIELD_END:
    return integer(r, &r->info.end);
  case FIELD_START_INDEX:
    return index_field(r, &r->info.start_index);
  case FIELD_END_INDEX:
    return index_field(r, &r->info.end_index);
  case FIELD_NODE:
    return any_scalar(r, &r->info.node);
  case FIELD_ERROR:
    return any_scalar(r, &r->info.error);
  case FIELD_ISOLATION:
    return isolation_field(r);
  case FIELD_OPS:
    return operations(r);
  case FIELD_NAME:
    return any_scalar(r, &r->info.name);
  case FIELD_STATEMENTS:
    return statements(r);
  case FIELD_UNKNOWN:
    break;
  }
  return iso_token_skip(&r->t);
}

isoproof_status iso_jsonl_begin(iso_jsonl_parser *r, bool plain) {
  r->info = iso_txn_unset();
  r->info.position = r->t.token_line;
  r->has_session = r->has_status = r->has_more = false;
  iso_micro_op_clear(&r->micro);
  r->micro.sources.count = 0;
  size_t taken = plain ? iso_jsonl_take_fields(r) : 0;
  ISO_TRY(iso_token_next(&r->t));
  r->is_txn = taken > 0 || !(iso_token_is(&r->t, ISO_JSONL_HEADER) || iso_token_is(&r->t, ISO_JSONL_INITIAL_ROWS) ||
                             iso_token_is(&r->t, ISO_JSONL_ROW_NAMES));
  return ISOPROOF_OK;
}

isoproof_status iso_jsonl_read_txn(iso_jsonl_parser *r) {
  while (r->t.type != ISO_TOKEN_END) {
    field name = field_of(&r->t);
    ISO_TRY(iso_token_next(&r->t));
    ISO_TRY(one_field(r, name));
    ISO_TRY(iso_token_next(&r->t));
  }
  bool numbered = r->micro.sources.count > 0;
  if (numbered && r->micro.sources.count != r->micro.ops.count - r->micro.first_op) {
    return iso_token_expected(&r->t, "as many numbers of statements as operations");
  }
  const char *missing = !r->has_session ? "a session" : r->has_more && !r->has_status ? "a status" : NULL;
  if (missing == NULL) return ISOPROOF_OK;
  iso_place place = {r->t.window.input != NULL ? iso_input_name(r->t.window.input) : NULL, r->info.position, 0, -1};
  return iso_fail_at(&r->problem, ISOPROOF_ERR_FORMAT, place, "expected %s in the transaction, found none", missing);
}
