/* Reads what is done to rows: writes, misses, reads by predicate, counts, and the rows at the start. */
#include "format/jsonl_rows.h"

#include "history/columns.h"

iso_row_form iso_jsonl_row_form(const iso_tokenizer *t) {
  for (int form = ISO_ROW_NONE + 1; form < ISO_ROW_FORMS; form++) {
    const char *name = iso_row_form_name((iso_row_form)form);
    if (iso_token_is_n(t, name, strlen(name))) return (iso_row_form)form;
  }
  return ISO_ROW_NONE;
}

static isoproof_status next_integer(iso_tokenizer *t, const char *what, int64_t *number) {
  ISO_TRY(iso_token_next(t));
  if (!iso_token_is_integer(t)) return iso_token_expected(t, what);
  *number = t->scalar.integer;
  return ISOPROOF_OK;
}

static isoproof_status next_end(iso_tokenizer *t, const char *what) {
  ISO_TRY(iso_token_next(t));
  return t->type == ISO_TOKEN_END ? ISOPROOF_OK : iso_token_expected(t, what);
}

/* [a,b]; the current token is the one before. */
static isoproof_status pair(iso_tokenizer *t, int64_t *first, int64_t *second) {
  ISO_TRY(iso_token_next(t));
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a list of two integers");
  ISO_TRY(next_integer(t, "an integer", first));
  ISO_TRY(next_integer(t, "an integer", second));
  return next_end(t, "the end of two integers");
}

/* A content of a column: null, an integer or a string. */
static isoproof_status content(iso_tokenizer *t, iso_pool *pool, iso_value *code) {
  bool known = t->type == ISO_TOKEN_SCALAR && (t->scalar.type == ISOPROOF_NIL || t->scalar.type == ISOPROOF_INTEGER ||
                                               t->scalar.type == ISOPROOF_STRING);
  return known ? iso_micro_op_code(t, pool, code) : iso_token_expected(t, "null, an integer or a string");
}

static isoproof_status column_name(iso_tokenizer *t, iso_pool *pool, iso_value *code) {
  bool text = t->type == ISO_TOKEN_SCALAR && t->scalar.type == ISOPROOF_STRING;
  return text ? iso_micro_op_code(t, pool, code) : iso_token_expected(t, "the name of a column (a string)");
}

/* The operand of a comparison, whose token is the current one. */
static isoproof_status add_condition(iso_tokenizer *t, iso_pool *pool, iso_condition c, iso_micro_op *micro) {
  c.operand = ISO_VALUE_NIL;
  if (c.comparison < ISO_COMPARE_IS_NULL) {
    bool takes = t->type == ISO_TOKEN_SCALAR && iso_comparison_takes((iso_comparison)c.comparison, t->scalar.type);
    if (!takes) return iso_token_expected(t, "an integer (or, for equality, a string)");
    ISO_TRY(iso_micro_op_code(t, pool, &c.operand));
  }
  return iso_vec_push(&micro->where, c) ? ISOPROOF_OK : iso_fail_memory(t->error);
}

/* [1,2,...]; the current token opens it. */
static isoproof_status read_alternatives(iso_tokenizer *t, iso_pool *pool, iso_condition c, iso_micro_op *micro) {
  size_t first = micro->where.count;
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a list of values");
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) break;
    c.comparison = ISO_COMPARE_EQUAL;
    c.or_next = 1;
    ISO_TRY(add_condition(t, pool, c, micro));
  }
  if (micro->where.count == first) return iso_token_expected(t, "at least one value");
  micro->where.items[micro->where.count - 1].or_next = 0;
  return ISOPROOF_OK;
}

/* ["column","<",5], ["column","is null"] or ["column","in",[1,2]]; the current token opens it. */
static isoproof_status read_condition(iso_tokenizer *t, iso_pool *pool, iso_micro_op *micro) {
  iso_condition c = {.comparison = ISO_COMPARISONS};
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a condition (a list)");
  ISO_TRY(iso_token_next(t));
  ISO_TRY(column_name(t, pool, &c.column));
  ISO_TRY(iso_token_next(t));
  bool in = iso_token_is(t, "in");
  for (int i = 0; i < ISO_COMPARISONS; i++) {
    const char *name = iso_comparison_name((iso_comparison)i);
    if (iso_token_is_n(t, name, strlen(name))) c.comparison = (uint8_t)i;
  }
  if (!in && c.comparison == ISO_COMPARISONS) {
    return iso_token_expected(t, "=, <>, <, <=, >, >=, in, is null or is not null");
  }
  if (in || c.comparison < ISO_COMPARE_IS_NULL) ISO_TRY(iso_token_next(t));
  ISO_TRY(in ? read_alternatives(t, pool, c, micro) : add_condition(t, pool, c, micro));
  return next_end(t, "the end of a condition");
}

static isoproof_status read_where(iso_tokenizer *t, iso_pool *pool, iso_micro_op *micro) {
  ISO_TRY(iso_token_next(t));
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a list of conditions");
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    ISO_TRY(read_condition(t, pool, micro));
  }
}

/* What comes behind the value of a row: its end, or {"column":content,...} and its end.  `add` takes each. */
typedef isoproof_status (*content_taker)(void *context, iso_value column, iso_value content, isoproof_error *error);

static isoproof_status read_contents(iso_tokenizer *t, iso_pool *pool, content_taker add, void *context,
                                     const char *what) {
  ISO_TRY(iso_token_next(t));
  if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
  if (t->type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(t, what);
  for (;;) {
    iso_value column, code;
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return next_end(t, what);
    ISO_TRY(column_name(t, pool, &column));
    ISO_TRY(iso_token_next(t));
    ISO_TRY(content(t, pool, &code));
    ISO_TRY(add(context, column, code, t->error));
  }
}

static isoproof_status add_to_op(void *context, iso_value column, iso_value code, isoproof_error *error) {
  iso_micro_op *micro = context;
  iso_micro_content made = {micro->ops.count - micro->first_op, column, code};
  return iso_vec_push(&micro->contents, made) ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status add_to_initial(void *context, iso_value column, iso_value code, isoproof_error *error) {
  return iso_builder_initial_content(context, column, code, error);
}

/* The conditions of a predicate; the current token opens it. */
static isoproof_status read_predicate(iso_tokenizer *t, iso_pool *pool, iso_predicate *p, iso_micro_op *micro) {
  if (t->type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(t, "a predicate (an object)");
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    if (iso_token_is(t, "keys")) {
      p->of_keys = true;
      ISO_TRY(pair(t, &p->key_low, &p->key_high));
    } else if (iso_token_is(t, "values")) {
      p->of_values = true;
      ISO_TRY(pair(t, &p->value_low, &p->value_high));
    } else if (iso_token_is(t, "mod")) {
      p->of_rest = true;
      ISO_TRY(pair(t, &p->divisor, &p->rest));
      if (p->divisor < 1 || p->rest < 0 || p->rest >= p->divisor) {
        return iso_token_expected(t, "a divisor of at least 1 and a rest below it");
      }
    } else if (iso_token_is(t, "where")) {
      ISO_TRY(read_where(t, pool, micro));
    } else {
      return iso_token_expected(t, "keys, values, mod or where");
    }
  }
}

/* [[k,v],...]; the current token opens it. */
static isoproof_status read_rows(iso_tokenizer *t, const iso_predicate *p, iso_micro_op *micro) {
  for (;;) {
    iso_row_value row = {0, 0};
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a row: [key,value]");
    ISO_TRY(next_integer(t, "the key of a row (an integer)", &row.key));
    ISO_TRY(next_integer(t, "the value of a row (an integer)", &row.value));
    if (!iso_predicate_matches(p, row.key, row.value)) {
      return iso_fail_at(t->error, ISOPROOF_ERR_FORMAT, iso_token_place(t),
                         "expected rows that the predicate picks, found row %lld with value %lld", (long long)row.key,
                         (long long)row.value);
    }
    ISO_TRY(next_end(t, "the end of a row"));
    if (!iso_vec_push(&micro->rows, row)) return iso_fail_memory(t->error);
  }
}

/* {"none":true}, whose first token is the current one. */
static isoproof_status read_none(iso_tokenizer *t) {
  ISO_TRY(iso_token_next(t));
  if (!iso_token_is(t, "none")) return iso_token_expected(t, "none");
  ISO_TRY(iso_token_next(t));
  if (!iso_token_is(t, "true")) return iso_token_expected(t, "true");
  return next_end(t, "`}`");
}

/* ["rp",{...},[[k,v],...]] or ["count",{...},n], after its name. */
static isoproof_status read_statement(iso_tokenizer *t, iso_pool *pool, iso_row_form form, iso_micro_op *micro) {
  iso_micro_statement s = {.answered = true, .first_row = micro->rows.count, .first_where = micro->where.count};
  ISO_TRY(iso_token_next(t));
  ISO_TRY(read_predicate(t, pool, &s.predicate, micro));
  s.where_count = micro->where.count - s.first_where;
  ISO_TRY(iso_token_next(t));
  if (t->type == ISO_TOKEN_BEGIN_MAP) {
    s.answered = false;
    ISO_TRY(read_none(t));
  } else if (form == ISO_ROW_COUNT) {
    if (!iso_token_is_integer(t) || t->scalar.integer < 0) return iso_token_expected(t, "a number of rows, or none");
    s.counted = t->scalar.integer;
  } else if (t->type == ISO_TOKEN_BEGIN_LIST) {
    ISO_TRY(read_rows(t, &s.predicate, micro));
    s.row_count = micro->rows.count - s.first_row;
  } else {
    return iso_token_expected(t, "a list of rows, or none");
  }
  ISO_TRY(next_end(t, "the end of the operation"));
  iso_op_add op = {.form = (uint8_t)form, .value = (iso_value)micro->statements.count};
  bool added = iso_vec_push(&micro->statements, s) && iso_vec_push(&micro->ops, op);
  return added ? ISOPROOF_OK : iso_fail_memory(t->error);
}

isoproof_status iso_jsonl_read_row_op(iso_tokenizer *t, iso_pool *pool, iso_row_form form, iso_micro_op *micro) {
  if (form >= ISO_ROW_PREDICATE) return read_statement(t, pool, form, micro);
  iso_op_add op = {.form = (uint8_t)form, .value = ISO_VALUE_NIL};
  int64_t key = 0, value = 0;
  ISO_TRY(next_integer(t, "the key of a row (an integer)", &key));
  ISO_TRY(iso_pool_add_i64(pool, key, &op.key, t->error));
  if (form >= ISO_ROW_DELETE) {
    ISO_TRY(iso_token_next(t));
    if (!iso_token_is_nil(t)) return iso_token_expected(t, "null: the row is absent");
  } else {
    ISO_TRY(next_integer(t, "the value of a row (an integer)", &value));
    ISO_TRY(iso_pool_add_i64(pool, value, &op.value, t->error));
    ISO_TRY(read_contents(t, pool, add_to_op, micro, "contents of columns (an object), or the end of the operation"));
    return iso_vec_push(&micro->ops, op) ? ISOPROOF_OK : iso_fail_memory(t->error);
  }
  ISO_TRY(next_end(t, "the end of the operation"));
  return iso_vec_push(&micro->ops, op) ? ISOPROOF_OK : iso_fail_memory(t->error);
}

isoproof_status iso_jsonl_read_initial_rows(iso_tokenizer *t, isoproof_builder *builder) {
  ISO_TRY(iso_token_next(t));
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a list of rows");
  for (;;) {
    iso_row_value row = {0, 0};
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a row: [key,value]");
    ISO_TRY(next_integer(t, "the key of a row (an integer)", &row.key));
    ISO_TRY(next_integer(t, "the value of a row (an integer)", &row.value));
    ISO_TRY(iso_builder_initial_row(builder, row.key, row.value, t->error));
    ISO_TRY(read_contents(t, iso_builder_pool(builder), add_to_initial, builder, "the end of a row"));
  }
}

isoproof_status iso_jsonl_read_row_names(iso_tokenizer *t, isoproof_builder *builder) {
  iso_pool *pool = iso_builder_pool(builder);
  ISO_TRY(iso_token_next(t));
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a list of names");
  for (;;) {
    int64_t key = 0;
    iso_value code, name;
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a row and its name: [key,name]");
    ISO_TRY(next_integer(t, "the key of a row (an integer)", &key));
    ISO_TRY(iso_pool_add_i64(pool, key, &code, t->error));
    ISO_TRY(iso_token_next(t));
    if (t->type != ISO_TOKEN_SCALAR || t->scalar.type != ISOPROOF_STRING)
      return iso_token_expected(t, "a name (a string)");
    ISO_TRY(iso_micro_op_code(t, pool, &name));
    ISO_TRY(next_end(t, "the end of a name"));
    ISO_TRY(iso_builder_label(builder, code, name, t->error));
  }
}
