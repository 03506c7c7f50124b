/* Reads what is done to rows: writes, misses, reads by predicate, counts, and the rows at the start. */
#include "format/jsonl_rows.h"

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

/* The conditions of a predicate; the current token opens it. */
static isoproof_status read_predicate(iso_tokenizer *t, iso_predicate *p) {
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
    } else {
      return iso_token_expected(t, "keys, values or mod");
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
static isoproof_status read_statement(iso_tokenizer *t, iso_row_form form, iso_micro_op *micro) {
  iso_micro_statement s = {.answered = true, .first_row = micro->rows.count};
  ISO_TRY(iso_token_next(t));
  ISO_TRY(read_predicate(t, &s.predicate));
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
  if (form >= ISO_ROW_PREDICATE) return read_statement(t, form, micro);
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
    ISO_TRY(next_end(t, "the end of a row"));
    ISO_TRY(iso_builder_initial_row(builder, row.key, row.value, t->error));
  }
}
