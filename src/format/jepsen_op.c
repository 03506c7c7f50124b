/* Reads one map of a Jepsen history, an invocation or a completion, into an operation. */
#include "format/jepsen.h"

#include "base/text.h"
#include "format/register_ops.h"

typedef enum field {
  FIELD_UNKNOWN,
#define ISO_X(name, text) FIELD_##name,
  ISO_JEPSEN_FIELD_LIST(ISO_X)
#undef ISO_X
} field;

static field field_of(const iso_tokenizer *t) {
#define ISO_X(name, text)                                                                                              \
  if (iso_token_is(t, text)) return FIELD_##name;
  ISO_JEPSEN_FIELD_LIST(ISO_X)
#undef ISO_X
  return FIELD_UNKNOWN;
}

static iso_jepsen_type type_of(const iso_tokenizer *t) {
#define ISO_X(name, text)                                                                                              \
  if (iso_token_is(t, text)) return ISO_JEPSEN_##name;
  ISO_JEPSEN_TYPE_LIST(ISO_X)
#undef ISO_X
  return ISO_JEPSEN_NO_TYPE;
}

/* ---- micro-operations ---- */

/* The kind that a micro-operation's name says; reads are sorted out by their value and by the builder. */
static bool kind_of(const iso_tokenizer *t, isoproof_op_kind *kind) {
#define ISO_X(name, value)                                                                                             \
  if (iso_token_is(t, name)) {                                                                                         \
    *kind = value;                                                                                                     \
    return true;                                                                                                       \
  }
  ISO_X("r", ISOPROOF_OP_READ)
  ISO_X("append", ISOPROOF_OP_APPEND)
  ISO_X("w", ISOPROOF_OP_WRITE)
  ISO_X("add", ISOPROOF_OP_ADD)
  ISO_X("inc", ISOPROOF_OP_INCREMENT)
  ISO_X("rp", ISOPROOF_OP_READ_PREDICATE)
  ISO_X("insert", ISOPROOF_OP_WRITE)
  ISO_X("delete", ISOPROOF_OP_WRITE)
#undef ISO_X
  return false;
}

/* The value of a read: nothing, nil, a scalar, a list or a set. */
static isoproof_status read_value(iso_tokenizer *t, iso_pool *pool, iso_micro_op *micro, iso_op_add *op) {
  switch (t->type) {
  case ISO_TOKEN_SCALAR:
    return iso_micro_op_code(t, pool, &op->value);
  case ISO_TOKEN_BEGIN_LIST:
  case ISO_TOKEN_BEGIN_SET:
    op->kind = t->type == ISO_TOKEN_BEGIN_LIST ? ISOPROOF_OP_READ_LIST : ISOPROOF_OP_READ_SET;
    op->list = true;
    if (op->kind == ISOPROOF_OP_READ_LIST) return iso_micro_op_list(micro, t, pool, op->key, &op->value);
    return iso_micro_op_elements(micro, t, pool, &op->value);
  default:
    return iso_token_expected(t, "what was read (nil, a value, a list or a set)");
  }
}

static isoproof_status written_value(iso_tokenizer *t, iso_pool *pool, iso_op_add *op) {
  if (t->type != ISO_TOKEN_SCALAR || t->scalar.type == ISOPROOF_NIL) {
    return iso_token_expected(t, "the value written (a number, text or keyword)");
  }
  if (op->kind == ISOPROOF_OP_INCREMENT && t->scalar.type != ISOPROOF_INTEGER) {
    return iso_token_expected(t, "the amount to add (an integer)");
  }
  return iso_micro_op_code(t, pool, &op->value);
}

/* ---- rows: queries by predicate, deletions, initial states ---- */

/* The keys of maps are texts in JSON even where they are numbers elsewhere. */
static isoproof_status row_key(iso_tokenizer *t, iso_pool *pool, iso_value *code) {
  int64_t number;
  bool text = t->dialect == ISO_TOKEN_DIALECT_JSON && t->type == ISO_TOKEN_SCALAR && t->scalar.type == ISOPROOF_STRING;
  if (text && iso_parse_i64(t->scalar.text, t->scalar.length, &number)) {
    return iso_pool_add_i64(pool, number, code, t->error);
  }
  if (t->type != ISO_TOKEN_SCALAR || t->scalar.type == ISOPROOF_NIL) {
    return iso_token_expected(t, "a key (a number, text or keyword)");
  }
  return iso_micro_op_code(t, pool, code);
}

static isoproof_status row_value(iso_tokenizer *t, iso_pool *pool, iso_value *code) {
  if (t->type != ISO_TOKEN_SCALAR || t->scalar.type == ISOPROOF_NIL) {
    return iso_token_expected(t, "the value of a row (a number, text or keyword)");
  }
  return iso_micro_op_code(t, pool, code);
}

/* Adds a word of a predicate to its text. */
static bool add_word(const iso_tokenizer *t, char *text, size_t size, size_t *used) {
  char word[64];
  isoproof_scalar scalar = t->scalar;
  if (t->type != ISO_TOKEN_SCALAR) return false;
  if (scalar.type == ISOPROOF_KEYWORD) scalar.type = ISOPROOF_STRING;
  size_t length = isoproof_scalar_format(scalar, word, sizeof word);
  if (length >= sizeof word || *used + length + 2 > size) return false;
  if (*used > 0) text[(*used)++] = ' ';
  memcpy(text + *used, word, length);
  *used += length;
  return true;
}

/* A predicate (true, [= 1], [mod 2 1]) as the name of what is read: its words with spaces between. */
static isoproof_status predicate(iso_tokenizer *t, iso_pool *pool, iso_value *code) {
  char text[160];
  size_t used = 0;
  bool good = true;
  if (t->type == ISO_TOKEN_BEGIN_LIST) {
    for (;;) {
      ISO_TRY(iso_token_next(t));
      if (t->type == ISO_TOKEN_END) break;
      good = add_word(t, text, sizeof text, &used);
      if (!good) break;
    }
  } else {
    good = add_word(t, text, sizeof text, &used);
  }
  if (!good || used == 0) return iso_token_expected(t, "a predicate (true, [= VALUE] or [mod N REST])");
  return iso_pool_add_text(pool, ISOPROOF_SYMBOL, text, used, code, t->error);
}

/* What a query found: nothing recorded, or a map of keys and values, which become elements in turn. */
static isoproof_status rows(iso_tokenizer *t, iso_pool *pool, iso_micro_op *micro, iso_op_add *op) {
  if (iso_token_is_nil(t)) return ISOPROOF_OK;
  if (t->type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(t, "the rows found (a map of keys and values)");
  size_t first = micro->elements.count;
  for (;;) {
    iso_value code;
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) break;
    ISO_TRY(row_key(t, pool, &code));
    if (!iso_vec_push(&micro->elements, code)) return iso_fail_memory(t->error);
    ISO_TRY(iso_token_next(t));
    ISO_TRY(row_value(t, pool, &code));
    if (!iso_vec_push(&micro->elements, code)) return iso_fail_memory(t->error);
  }
  size_t found = micro->elements.count - first;
  if (found >= ISO_VALUE_INLINE_LIMIT) {
    return iso_fail_at(t->error, ISOPROOF_ERR_LIMIT, iso_token_place(t), "a query with %zu rows", found / 2);
  }
  op->list = true;
  op->value = (iso_value)found;
  return ISOPROOF_OK;
}

/* The map of an initial state: a transaction that writes it, marked by a query of its own. */
static isoproof_status initial_state(iso_tokenizer *t, iso_pool *pool, iso_micro_op *micro) {
  iso_op_add mark = {.kind = ISOPROOF_OP_READ_PREDICATE, .value = ISO_VALUE_NONE};
  ISO_TRY(iso_pool_add_text(pool, ISOPROOF_SYMBOL, ISO_JEPSEN_INIT_MARK, strlen(ISO_JEPSEN_INIT_MARK), &mark.key,
                            t->error));
  if (!iso_vec_push(&micro->ops, mark)) return iso_fail_memory(t->error);
  for (;;) {
    iso_op_add op = {.kind = ISOPROOF_OP_WRITE};
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    ISO_TRY(row_key(t, pool, &op.key));
    ISO_TRY(iso_token_next(t));
    ISO_TRY(row_value(t, pool, &op.value));
    if (!iso_vec_push(&micro->ops, op)) return iso_fail_memory(t->error);
  }
}

/* What follows the key of a micro-operation up to its END, which is the current token then. */
static isoproof_status micro_value(iso_tokenizer *t, iso_pool *pool, iso_micro_op *micro, bool deletes,
                                   iso_op_add *op) {
  ISO_TRY(iso_token_next(t));
  if (deletes) {
    ISO_TRY(iso_pool_add_text(pool, ISOPROOF_KEYWORD, ISO_JEPSEN_DEAD, strlen(ISO_JEPSEN_DEAD), &op->value, t->error));
    return iso_token_is_nil(t) ? iso_token_next(t) : ISOPROOF_OK;
  }
  if (op->kind == ISOPROOF_OP_READ_PREDICATE && t->type != ISO_TOKEN_END) {
    ISO_TRY(rows(t, pool, micro, op));
    return iso_token_next(t);
  }
  if (!isoproof_op_kind_observes((isoproof_op_kind)op->kind)) {
    ISO_TRY(written_value(t, pool, op));
    return iso_token_next(t);
  }
  if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
  ISO_TRY(read_value(t, pool, micro, op));
  return iso_token_next(t);
}

/* What follows the name of a micro-operation: its key and its value, up to its END. */
static isoproof_status micro_operation(iso_tokenizer *t, iso_pool *pool, iso_micro_op *micro, isoproof_op_kind kind) {
  iso_op_add op = {.kind = (uint8_t)kind, .value = ISO_VALUE_NONE};
  bool deletes = kind == ISOPROOF_OP_WRITE && iso_token_is(t, "delete");
  ISO_TRY(iso_token_next(t));
  if (kind == ISOPROOF_OP_READ_PREDICATE) {
    ISO_TRY(predicate(t, pool, &op.key));
  } else {
    if (t->type != ISO_TOKEN_SCALAR || t->scalar.type == ISOPROOF_NIL) {
      return iso_token_expected(t, "a key (a number, text or keyword)");
    }
    ISO_TRY(iso_micro_op_code(t, pool, &op.key));
  }
  ISO_TRY(micro_value(t, pool, micro, deletes, &op));
  if (t->type != ISO_TOKEN_END) return iso_token_expected(t, "the end of the micro-operation");
  return iso_vec_push(&micro->ops, op) ? ISOPROOF_OK : iso_fail_memory(t->error);
}

/* The elements of the list that the current token opens.  Something that does not look like micro-operations at all
 * (a list of nodes, say) is no mistake. */
static isoproof_status micro_operations(iso_tokenizer *t, iso_pool *pool, iso_micro_op *micro,
                                        iso_jepsen_shape *shape) {
  *shape = ISO_JEPSEN_MICRO;
  for (;;) {
    if (!iso_register_ops(t, (iso_register_dialect){.nil_writes = false}, micro)) return iso_fail_memory(t->error);
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    if (t->type != ISO_TOKEN_BEGIN_LIST) break;
    ISO_TRY(iso_token_next(t));
    if (!iso_token_is_text(t)) break;
    isoproof_op_kind kind;
    if (!kind_of(t, &kind))
      return iso_token_expected(t, "a micro-operation (r, w, append, add, inc, rp, insert or delete)");
    ISO_TRY(micro_operation(t, pool, micro, kind));
  }
  *shape = ISO_JEPSEN_OTHER;
  return ISOPROOF_OK;
}

static isoproof_status value(iso_tokenizer *t, iso_pool *pool, iso_jepsen_op *op, iso_micro_op *micro,
                             isoproof_error *deferred) {
  iso_micro_op_clear(micro);
  op->shape = iso_token_is_nil(t) ? ISO_JEPSEN_NOTHING : ISO_JEPSEN_OTHER;
  if (op->is_init && t->type == ISO_TOKEN_BEGIN_MAP) {
    op->shape = ISO_JEPSEN_MICRO;
    return initial_state(t, pool, micro);
  }
  if (t->type != ISO_TOKEN_BEGIN_LIST || (op->has_f && !op->is_txn)) return iso_token_skip(t);
  uint32_t outside = t->depth - 1;
  isoproof_status status = micro_operations(t, pool, micro, &op->shape);
  if (status == ISOPROOF_ERR_FORMAT && !t->failed) {
    /* Whether it matters depends on the other fields. */
    op->shape = ISO_JEPSEN_BROKEN;
    if (t->error != NULL) *deferred = *t->error;
    status = ISOPROOF_OK;
  }
  ISO_TRY(status);
  return iso_token_leave(t, outside);
}

/* ---- fields ---- */

static isoproof_status integer(iso_tokenizer *t, int64_t missing, int64_t *number, const char *what) {
  *number = missing;
  if (iso_token_is_nil(t)) return ISOPROOF_OK;
  if (!iso_token_is_integer(t)) return iso_token_expected(t, what);
  *number = t->scalar.integer;
  return ISOPROOF_OK;
}

/* A scalar; anything compound is skipped and counts as nil where that is allowed. */
static isoproof_status scalar(iso_tokenizer *t, iso_pool *pool, iso_value *code, const char *needed) {
  *code = ISO_VALUE_NIL;
  if (t->type == ISO_TOKEN_SCALAR) return iso_micro_op_code(t, pool, code);
  return needed != NULL ? iso_token_expected(t, needed) : iso_token_skip(t);
}

static isoproof_status type(iso_tokenizer *t, iso_jepsen_op *op) {
  op->type = type_of(t);
  if (op->type == ISO_JEPSEN_NO_TYPE) return iso_token_expected(t, "a type (invoke, ok, fail or info)");
  return ISOPROOF_OK;
}

static isoproof_status index_field(iso_tokenizer *t, iso_jepsen_op *op) {
  op->has_index = true;
  ISO_TRY(integer(t, -1, &op->index, "an index (an integer or nil)"));
  if (op->index < 0 && !iso_token_is_nil(t)) op->has_index = false; /* Jepsen's mark for "not yet indexed" */
  if (op->index < 0) op->index = -1;
  return ISOPROOF_OK;
}

/* :serializable or "serializable". */
static isoproof_status isolation(iso_tokenizer *t, iso_jepsen_op *op) {
  op->isolation = ISO_ISOLATION_NONE;
  if (iso_token_is_nil(t)) return ISOPROOF_OK;
  bool text = t->type == ISO_TOKEN_SCALAR && (t->scalar.type == ISOPROOF_STRING || t->scalar.type == ISOPROOF_KEYWORD);
  if (text && iso_txn_isolation_find(t->scalar.text, t->scalar.length, &op->isolation)) return ISOPROOF_OK;
  return iso_token_expected(t, "an isolation level (" ISO_ISOLATION_NAMES ")");
}

static isoproof_status one_field(iso_tokenizer *t, iso_pool *pool, field name, iso_jepsen_op *op, iso_micro_op *micro,
                                 isoproof_error *deferred) {
  switch (name) {
  case FIELD_INDEX:
    return index_field(t, op);
  case FIELD_TIME:
    return integer(t, ISOPROOF_NO_TIME, &op->time, "a time (an integer or nil)");
  case FIELD_PROCESS:
    return scalar(t, pool, &op->process, "a process (a number, text or keyword)");
  case FIELD_TYPE:
    return type(t, op);
  case FIELD_F:
    op->has_f = !iso_token_is_nil(t);
    op->is_init = iso_token_is(t, "init");
    op->is_txn = op->is_init || iso_token_is(t, "txn");
    return iso_token_skip(t);
  case FIELD_VALUE:
    return value(t, pool, op, micro, deferred);
  case FIELD_ERROR:
    return scalar(t, pool, &op->error, NULL);
  case FIELD_NODE:
    return scalar(t, pool, &op->node, NULL);
  case FIELD_ID:
    op->has_id = iso_token_is_integer(t);
    op->id = op->has_id ? t->scalar.integer : 0;
    return iso_token_skip(t);
  case FIELD_INITIAL_READS:
    op->initial_reads = iso_token_is(t, "true");
    return iso_token_skip(t);
  case FIELD_ISOLATION:
    return isolation(t, op);
  case FIELD_UNKNOWN:
    break;
  }
  return iso_token_skip(t);
}

isoproof_status iso_jepsen_read_op(iso_tokenizer *t, iso_pool *pool, iso_jepsen_op *op, iso_micro_op *micro,
                                   isoproof_error *deferred) {
  *op = (iso_jepsen_op){.index = -1,
                        .time = ISOPROOF_NO_TIME,
                        .process = ISO_VALUE_NIL,
                        .node = ISO_VALUE_NIL,
                        .error = ISO_VALUE_NIL,
                        .line = t->token_line};
  iso_micro_op_clear(micro);
  for (;;) {
    iso_jepsen_take_fields(t, op);
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    field name = field_of(t);
    ISO_TRY(iso_token_skip(t));
    ISO_TRY(iso_token_next(t));
    ISO_TRY(one_field(t, pool, name, op, micro, deferred));
  }
}
