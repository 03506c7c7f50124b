#include "format/jepsen.h"

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
static bool kind_of(const iso_tokenizer *t, isolde_op_kind *kind) {
  if (iso_token_is(t, "r")) {
    *kind = ISOLDE_OP_READ;
  } else if (iso_token_is(t, "append")) {
    *kind = ISOLDE_OP_APPEND;
  } else if (iso_token_is(t, "w")) {
    *kind = ISOLDE_OP_WRITE;
  } else if (iso_token_is(t, "add")) {
    *kind = ISOLDE_OP_ADD;
  } else if (iso_token_is(t, "inc")) {
    *kind = ISOLDE_OP_INCREMENT;
  } else {
    return false;
  }
  return true;
}

/* The value of a read: nothing, nil, a scalar, a list or a set. */
static isolde_status read_value(iso_tokenizer *t, iso_pool *pool, iso_micro *micro, iso_micro_op *op) {
  switch (t->type) {
  case ISO_TOKEN_SCALAR:
    return iso_micro_code(t, pool, &op->value);
  case ISO_TOKEN_BEGIN_LIST:
  case ISO_TOKEN_BEGIN_SET:
    op->kind = t->type == ISO_TOKEN_BEGIN_LIST ? ISOLDE_OP_READ_LIST : ISOLDE_OP_READ_SET;
    op->list = true;
    return iso_micro_elements(micro, t, pool, &op->value);
  default:
    return iso_token_expected(t, "what was read (nil, a value, a list or a set)");
  }
}

static isolde_status written_value(iso_tokenizer *t, iso_pool *pool, iso_micro_op *op) {
  if (t->type != ISO_TOKEN_SCALAR || t->scalar.type == ISOLDE_NIL) {
    return iso_token_expected(t, "the value written (a number, text or keyword)");
  }
  if (op->kind == ISOLDE_OP_INCREMENT && t->scalar.type != ISOLDE_INTEGER) {
    return iso_token_expected(t, "the amount to add (an integer)");
  }
  return iso_micro_code(t, pool, &op->value);
}

/* What follows the name of a micro-operation: its key and its value, up to its END. */
static isolde_status micro_operation(iso_tokenizer *t, iso_pool *pool, iso_micro *micro, isolde_op_kind kind) {
  iso_micro_op op = {.kind = (uint8_t)kind, .value = ISO_VALUE_NONE};
  ISO_TRY(iso_token_next(t));
  if (t->type != ISO_TOKEN_SCALAR || t->scalar.type == ISOLDE_NIL) {
    return iso_token_expected(t, "a key (a number, text or keyword)");
  }
  ISO_TRY(iso_micro_code(t, pool, &op.key));
  ISO_TRY(iso_token_next(t));
  if (kind != ISOLDE_OP_READ) {
    ISO_TRY(written_value(t, pool, &op));
    ISO_TRY(iso_token_next(t));
  } else if (t->type != ISO_TOKEN_END) {
    ISO_TRY(read_value(t, pool, micro, &op));
    ISO_TRY(iso_token_next(t));
  }
  if (t->type != ISO_TOKEN_END) return iso_token_expected(t, "the end of the micro-operation");
  return iso_vec_push(&micro->ops, op) ? ISOLDE_OK : iso_fail_memory(t->error);
}

/* The elements of the list that the current token opens.  Something that does not look like micro-operations at all
 * (a list of nodes, say) is no mistake. */
static isolde_status micro_operations(iso_tokenizer *t, iso_pool *pool, iso_micro *micro, iso_jepsen_shape *shape) {
  *shape = ISO_JEPSEN_MICRO;
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOLDE_OK;
    if (t->type != ISO_TOKEN_BEGIN_LIST) break;
    ISO_TRY(iso_token_next(t));
    if (!iso_token_is_text(t)) break;
    isolde_op_kind kind;
    if (!kind_of(t, &kind)) return iso_token_expected(t, "a micro-operation (r, w, append, add or inc)");
    ISO_TRY(micro_operation(t, pool, micro, kind));
  }
  *shape = ISO_JEPSEN_OTHER;
  return ISOLDE_OK;
}

static isolde_status value(iso_tokenizer *t, iso_pool *pool, iso_jepsen_op *op, iso_micro *micro,
                           isolde_error *deferred) {
  iso_micro_clear(micro);
  op->shape = iso_token_is_nil(t) ? ISO_JEPSEN_NOTHING : ISO_JEPSEN_OTHER;
  if (t->type != ISO_TOKEN_BEGIN_LIST || (op->has_f && !op->is_txn)) return iso_token_skip(t);
  uint32_t outside = t->depth - 1;
  isolde_status status = micro_operations(t, pool, micro, &op->shape);
  if (status == ISOLDE_ERR_FORMAT && !t->failed) {
    /* Whether it matters depends on the other fields. */
    op->shape = ISO_JEPSEN_BROKEN;
    if (t->error != NULL) *deferred = *t->error;
    status = ISOLDE_OK;
  }
  ISO_TRY(status);
  return iso_token_leave(t, outside);
}

/* ---- fields ---- */

static isolde_status integer(iso_tokenizer *t, int64_t missing, int64_t *number, const char *what) {
  *number = missing;
  if (iso_token_is_nil(t)) return ISOLDE_OK;
  if (!iso_token_is_integer(t)) return iso_token_expected(t, what);
  *number = t->scalar.integer;
  return ISOLDE_OK;
}

/* A scalar; anything compound is skipped and counts as nil where that is allowed. */
static isolde_status scalar(iso_tokenizer *t, iso_pool *pool, iso_value *code, const char *needed) {
  *code = ISO_VALUE_NIL;
  if (t->type == ISO_TOKEN_SCALAR) return iso_micro_code(t, pool, code);
  return needed != NULL ? iso_token_expected(t, needed) : iso_token_skip(t);
}

static isolde_status type(iso_tokenizer *t, iso_jepsen_op *op) {
  op->type = type_of(t);
  if (op->type == ISO_JEPSEN_NO_TYPE) return iso_token_expected(t, "a type (invoke, ok, fail or info)");
  return ISOLDE_OK;
}

static isolde_status index_field(iso_tokenizer *t, iso_jepsen_op *op) {
  op->has_index = true;
  ISO_TRY(integer(t, -1, &op->index, "an index (an integer or nil)"));
  if (op->index < 0 && !iso_token_is_nil(t)) op->has_index = false; /* Jepsen's mark for "not yet indexed" */
  if (op->index < 0) op->index = -1;
  return ISOLDE_OK;
}

static isolde_status one_field(iso_tokenizer *t, iso_pool *pool, field name, iso_jepsen_op *op, iso_micro *micro,
                               isolde_error *deferred) {
  switch (name) {
  case FIELD_INDEX:
    return index_field(t, op);
  case FIELD_TIME:
    return integer(t, ISOLDE_NO_TIME, &op->time, "a time (an integer or nil)");
  case FIELD_PROCESS:
    return scalar(t, pool, &op->process, "a process (a number, text or keyword)");
  case FIELD_TYPE:
    return type(t, op);
  case FIELD_F:
    op->has_f = !iso_token_is_nil(t);
    op->is_txn = iso_token_is(t, "txn");
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
  case FIELD_UNKNOWN:
    break;
  }
  return iso_token_skip(t);
}

isolde_status iso_jepsen_read_op(iso_tokenizer *t, iso_pool *pool, iso_jepsen_op *op, iso_micro *micro,
                                 isolde_error *deferred) {
  *op = (iso_jepsen_op){.index = -1,
                        .time = ISOLDE_NO_TIME,
                        .process = ISO_VALUE_NIL,
                        .node = ISO_VALUE_NIL,
                        .error = ISO_VALUE_NIL,
                        .line = t->token_line};
  iso_micro_clear(micro);
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOLDE_OK;
    field name = field_of(t);
    ISO_TRY(iso_token_skip(t));
    ISO_TRY(iso_token_next(t));
    ISO_TRY(one_field(t, pool, name, op, micro, deferred));
  }
}
