/* Rows as answers tell them: JSON arrays of the key, versions, and contents of columns. */
#include <string.h>

#include "format/token.h"
#include "track/plan.h"

typedef struct {
  iso_tracker *tracker;
  const iso_table *table;
  iso_told_form form;
  iso_arena *arena;
  iso_told_rows *rows;
  iso_tokenizer *t;
  isoproof_error *error;
} reader;

static isoproof_status bad(const reader *r, const char *found) {
  return iso_fail(r->error, ISOPROOF_ERR_UNSUPPORTED, "the answer does not tell the rows of %s: %s", r->table->name,
                  found);
}

/* The content of a column as a history has it. */
static isoproof_status content(const reader *r, const iso_column *column, isoproof_scalar *made) {
  const iso_tokenizer *t = r->t;
  if (t->type != ISO_TOKEN_SCALAR) return bad(r, "a list where a value was expected");
  *made = t->scalar;
  bool text = column->kind == ISO_COLUMN_TEXT, label = column->kind == ISO_COLUMN_LABEL;
  switch (t->scalar.type) {
  case ISOPROOF_NIL:
    return ISOPROOF_OK;
  case ISOPROOF_INTEGER:
    if (text) break;
    return ISOPROOF_OK;
  case ISOPROOF_STRING:
    if (!text && !label) break;
    made->text = iso_arena_text(r->arena, t->scalar.text, t->scalar.length);
    return made->text != NULL ? ISOPROOF_OK : iso_fail_memory(r->error);
  default:
    break;
  }
  if (iso_token_is(t, "true") || iso_token_is(t, "false")) {
    *made = isoproof_integer(iso_token_is(t, "true"));
    return ISOPROOF_OK;
  }
  return iso_fail(r->error, ISOPROOF_ERR_UNSUPPORTED,
                  "column %s of %s holds %.*s, which is not of the type of the column: what statements ask for cannot "
                  "be told exactly",
                  column->name, r->table->name, (int)(t->scalar.length > 40 ? 40 : t->scalar.length),
                  t->scalar.text != NULL ? t->scalar.text : "");
}

static isoproof_status key_part(const reader *r, size_t number, iso_key_part *part, bool *null) {
  isoproof_scalar scalar = isoproof_nil();
  ISO_TRY(content(r, &r->table->columns.items[r->table->key.items[number]], &scalar));
  *null = *null || scalar.type == ISOPROOF_NIL;
  *part = (iso_key_part){.is_text = scalar.type == ISOPROOF_STRING,
                         .integer = scalar.integer,
                         .text = scalar.text,
                         .length = scalar.length};
  return ISOPROOF_OK;
}

static isoproof_status contents_of(const reader *r, iso_told_row *row) {
  row->column_count = iso_table_asked(r->table);
  row->columns = iso_arena_alloc(r->arena, row->column_count + 1, sizeof *row->columns);
  if (row->columns == NULL) return iso_fail_memory(r->error);
  size_t made = 0;
  for (size_t i = 0; i < r->table->columns.count; i++) {
    const iso_column *column = &r->table->columns.items[i];
    if (!column->asked) continue;
    ISO_TRY(iso_token_next(r->t));
    row->columns[made].name =
        (isoproof_scalar){.type = ISOPROOF_STRING, .text = column->name, .length = (uint32_t)strlen(column->name)};
    ISO_TRY(content(r, column, &row->columns[made++].content));
  }
  return ISOPROOF_OK;
}

/* [key..., version..., contents...]; the current token opens it. */
static isoproof_status one_row(const reader *r) {
  iso_told_row row = {.table = r->table};
  iso_key_part parts[ISO_MOST_KEY_PARTS];
  bool null = false;
  if (r->t->type != ISO_TOKEN_BEGIN_LIST) return bad(r, "no list");
  for (size_t i = 0; i < r->table->key.count; i++) {
    ISO_TRY(iso_token_next(r->t));
    ISO_TRY(key_part(r, i, &parts[i], &null));
  }
  for (int i = 0; i < r->form.numbers; i++) {
    ISO_TRY(iso_token_next(r->t));
    row.null[i] = iso_token_is_nil(r->t);
    if (!row.null[i] && !iso_token_is_integer(r->t)) return bad(r, "a version that is no number");
    row.numbers[i] = row.null[i] ? 0 : r->t->scalar.integer;
  }
  row.absent = null && row.null[0];
  if (null && !row.absent) return bad(r, "a row whose key is NULL");
  if (r->form.contents) ISO_TRY(contents_of(r, &row));
  ISO_TRY(iso_token_next(r->t));
  if (r->t->type != ISO_TOKEN_END) return bad(r, "a list that is too long");
  if (!row.absent)
    ISO_TRY(iso_row_book_find(&r->tracker->rows, r->table, parts, r->form.initial, &row.key, &row.initial, r->error));
  return iso_vec_push(r->rows, row) ? ISOPROOF_OK : iso_fail_memory(r->error);
}

static isoproof_status read_all(const reader *r) {
  ISO_TRY(iso_token_next(r->t));
  if (!r->form.several) return one_row(r);
  if (r->t->type != ISO_TOKEN_BEGIN_LIST) return bad(r, "no list");
  for (;;) {
    ISO_TRY(iso_token_next(r->t));
    if (r->t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    ISO_TRY(one_row(r));
  }
}

isoproof_status iso_told_read(iso_tracker *tracker, const iso_table *table, const char *text, iso_told_form form,
                              iso_arena *arena, iso_told_rows *rows, isoproof_error *error) {
  iso_tokenizer t;
  memset(&t, 0, sizeof t);
  reader r = {tracker, table, form, arena, rows, &t, error};
  if (text == NULL) return ISOPROOF_OK; /* an aggregate of no rows */
  iso_tokenizer_on_text(&t, ISO_TOKEN_DIALECT_JSON, text, strlen(text), error);
  isoproof_status status = read_all(&r);
  iso_vec_free(&t.text);
  if (status == ISOPROOF_ERR_FORMAT)
    status = iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "the answer does not tell the rows of %s: it is cut, or no JSON",
                      table->name);
  return status;
}
