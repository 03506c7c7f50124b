/* exec_answer.c - reads what a client says: a JSON object per line. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "database/drivers/exec.h"
#include "format/token.h"

/* ---- pieces ---- */

static void take_text(const iso_tokenizer *t, char *out, size_t size) {
  snprintf(out, size, "%.*s", (int)t->scalar.length, t->scalar.text);
}

static isoproof_status take_integer(iso_tokenizer *t, int64_t *number) {
  if (!iso_token_is_integer(t)) return iso_token_expected(t, "an integer");
  *number = t->scalar.integer;
  return ISOPROOF_OK;
}

static isoproof_status take_bool(iso_tokenizer *t, bool *value) {
  *value = iso_token_is(t, "true");
  return *value || iso_token_is(t, "false") ? ISOPROOF_OK : iso_token_expected(t, "true or false");
}

static isoproof_status need_text(iso_tokenizer *t, char *out, size_t size) {
  if (!iso_token_is_text(t)) return iso_token_expected(t, "a text");
  take_text(t, out, size);
  return ISOPROOF_OK;
}

/* ---- answers ---- */

static isoproof_status take_value(iso_tokenizer *t, iso_exec_answer *answer, iso_reply *reply) {
  answer->has_value = true;
  reply->present = !iso_token_is_nil(t);
  return reply->present ? take_integer(t, &reply->value) : ISOPROOF_OK;
}

static isoproof_status take_list(iso_tokenizer *t, iso_exec_answer *answer, iso_reply *reply) {
  answer->has_list = true;
  reply->present = !iso_token_is_nil(t);
  reply->list.count = 0;
  if (!reply->present) return ISOPROOF_OK;
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a list of integers, or null");
  for (;;) {
    int64_t number = 0;
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    ISO_TRY(take_integer(t, &number));
    if (reply->list.count >= ISO_MOST_LIST || !iso_vec_push(&reply->list, number)) return iso_fail_memory(t->error);
  }
}

static isoproof_status take_rows(iso_tokenizer *t, iso_exec_answer *answer, iso_reply *reply) {
  answer->has_rows = true;
  reply->rows.count = 0;
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a list of [key, value]");
  for (;;) {
    iso_row row = {0, 0};
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "[key, value]");
    ISO_TRY(iso_token_next(t));
    ISO_TRY(take_integer(t, &row.key));
    ISO_TRY(iso_token_next(t));
    ISO_TRY(take_integer(t, &row.value));
    ISO_TRY(iso_token_next(t));
    if (t->type != ISO_TOKEN_END) return iso_token_expected(t, "the end of [key, value]");
    if (!iso_reply_add_row(reply, row.key, row.value)) return iso_fail_memory(t->error);
  }
}

static isoproof_status take_class(iso_tokenizer *t, iso_exec_answer *answer) {
  for (int i = ISO_CLASS_NONE + 1; i < ISO_ERROR_CLASSES; i++) {
    const char *name = iso_error_class_name((iso_error_class)i);
    if (!iso_token_is_n(t, name, strlen(name))) continue;
    answer->error_class = (iso_error_class)i;
    return ISOPROOF_OK;
  }
  return iso_token_expected(t, "a class of errors, such as \"serialization\"");
}

static isoproof_status take_txn(iso_tokenizer *t, iso_exec_answer *answer) {
  static const struct {
    const char *name;
    iso_txn_state state;
  } states[] = {{"active", ISO_TXN_ACTIVE}, {"aborted", ISO_TXN_ABORTED}, {"unknown", ISO_TXN_UNKNOWN}};
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
    if (!iso_token_is_n(t, states[i].name, strlen(states[i].name))) continue;
    answer->has_txn = true;
    answer->txn = states[i].state;
    return ISOPROOF_OK;
  }
  return iso_token_expected(t, "\"active\", \"aborted\" or \"unknown\"");
}

/* The fields of an answer; the next token is the value. */
typedef enum answer_field {
  OK,
  VALUE,
  LIST,
  ROWS,
  COUNT,
  AFFECTED,
  ERROR,
  CODE,
  MESSAGE,
  TRANSACTION,
  OTHER
} answer_field;

static answer_field field_of(const iso_tokenizer *t) {
  static const char *const names[] = {"ok",       "value", "list", "rows",    "count",
                                      "affected", "error", "code", "message", "transaction"};
  for (int i = 0; i < OTHER; i++)
    if (iso_token_is_n(t, names[i], strlen(names[i]))) return (answer_field)i;
  return OTHER;
}

static isoproof_status take_field(iso_tokenizer *t, answer_field field, iso_exec_answer *answer, iso_reply *reply) {
  switch (field) {
  case OK:
    return take_bool(t, &answer->ok);
  case VALUE:
    return take_value(t, answer, reply);
  case LIST:
    return take_list(t, answer, reply);
  case ROWS:
    return take_rows(t, answer, reply);
  case COUNT:
    answer->has_count = true;
    return take_integer(t, &reply->value);
  case AFFECTED:
    answer->has_affected = true;
    return take_integer(t, &reply->affected);
  case ERROR:
    return take_class(t, answer);
  case CODE:
    return need_text(t, answer->code, sizeof answer->code);
  case MESSAGE:
    return need_text(t, answer->message, sizeof answer->message);
  case TRANSACTION:
    return take_txn(t, answer);
  case OTHER:
    break;
  }
  return iso_token_skip(t);
}

static isoproof_status read_answer(iso_tokenizer *t, iso_exec_answer *answer, iso_reply *reply) {
  ISO_TRY(iso_token_next(t));
  if (t->type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(t, "an object");
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) break;
    answer_field field = field_of(t);
    ISO_TRY(iso_token_next(t));
    ISO_TRY(take_field(t, field, answer, reply));
  }
  if (answer->ok == (answer->error_class != ISO_CLASS_NONE))
    return iso_fail(t->error, ISOPROOF_ERR_FORMAT, "expected \"ok\":true, or an \"error\"");
  return ISOPROOF_OK;
}

/* ---- the first answer ---- */

static isoproof_status take_isolation(iso_tokenizer *t, iso_exec_hello *hello) {
  iso_exec_isolation made = {.name = ""};
  if (t->type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(t, "an object with name, level, note");
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) break;
    bool is_name = iso_token_is(t, "name"), is_level = iso_token_is(t, "level"), is_note = iso_token_is(t, "note");
    bool is_default = iso_token_is(t, "default"), chosen = false;
    ISO_TRY(iso_token_next(t));
    if (is_name) ISO_TRY(need_text(t, made.name, sizeof made.name));
    if (is_level && !iso_token_is_nil(t)) ISO_TRY(need_text(t, made.level, sizeof made.level));
    if (is_note) ISO_TRY(need_text(t, made.note, sizeof made.note));
    if (is_default) ISO_TRY(take_bool(t, &chosen));
    if (chosen) hello->default_isolation = hello->isolation_count;
    if (!is_name && !is_level && !is_note && !is_default) ISO_TRY(iso_token_skip(t));
  }
  if (made.name[0] == 0 || hello->isolation_count >= ISO_MOST_ISOLATIONS)
    return iso_fail(t->error, ISOPROOF_ERR_FORMAT, "isolations: expected a name of each, and at most %d",
                    ISO_MOST_ISOLATIONS);
  hello->isolations[hello->isolation_count++] = made;
  return ISOPROOF_OK;
}

static isoproof_status take_isolations(iso_tokenizer *t, iso_exec_hello *hello) {
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a list of isolations");
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    ISO_TRY(take_isolation(t, hello));
  }
}

static isoproof_status take_capabilities(iso_tokenizer *t, iso_exec_hello *hello) {
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a list of capabilities");
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    if (iso_token_is(t, "lists"))
      hello->can.lists = true;
    else if (iso_token_is(t, "rows"))
      hello->can.predicates = true;
    else if (iso_token_is(t, "concurrent"))
      hello->can.concurrent = true;
    else if (!iso_token_is(t, "registers"))
      return iso_token_expected(t, "registers, lists, rows or concurrent");
  }
}

static isoproof_status read_hello(iso_tokenizer *t, iso_exec_hello *hello) {
  int64_t version = 0;
  ISO_TRY(iso_token_next(t));
  if (t->type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(t, "an object");
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) break;
    bool is_version = iso_token_is(t, "isoproof"), is_database = iso_token_is(t, "database");
    bool is_can = iso_token_is(t, "capabilities"), is_isolations = iso_token_is(t, "isolations");
    bool is_shared = iso_token_is(t, "one_process");
    ISO_TRY(iso_token_next(t));
    if (is_version) ISO_TRY(take_integer(t, &version));
    if (is_database) ISO_TRY(need_text(t, hello->version, sizeof hello->version));
    if (is_can) ISO_TRY(take_capabilities(t, hello));
    if (is_isolations) ISO_TRY(take_isolations(t, hello));
    if (is_shared) ISO_TRY(take_bool(t, &hello->shared));
    if (!is_version && !is_database && !is_can && !is_isolations && !is_shared) ISO_TRY(iso_token_skip(t));
  }
  if (version != ISO_EXEC_VERSION)
    return iso_fail(t->error, ISOPROOF_ERR_FORMAT, "expected \"isoproof\":%d, found %lld", ISO_EXEC_VERSION,
                    (long long)version);
  if (hello->version[0] == 0 || hello->isolation_count == 0)
    return iso_fail(t->error, ISOPROOF_ERR_FORMAT, "expected a \"database\" and at least one of \"isolations\"");
  return ISOPROOF_OK;
}

/* ---- both ---- */

static isoproof_status read_session(iso_tokenizer *t, uint64_t *session) {
  ISO_TRY(iso_token_next(t));
  if (t->type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(t, "an object");
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return iso_token_expected(t, "a session");
    bool is_session = iso_token_is(t, "session");
    ISO_TRY(iso_token_next(t));
    if (!is_session) {
      ISO_TRY(iso_token_skip(t));
      continue;
    }
    int64_t number = 0;
    ISO_TRY(take_integer(t, &number));
    *session = (uint64_t)number;
    return ISOPROOF_OK;
  }
}

bool iso_exec_read_session(const char *line, size_t length, uint64_t *session) {
  iso_input *input;
  iso_tokenizer t;
  if (iso_input_open_memory(line, length, "the answer", &input, NULL) != ISOPROOF_OK) return false;
  isoproof_status status = iso_tokenizer_init(&t, input, ISO_TOKEN_DIALECT_JSON, NULL);
  if (status == ISOPROOF_OK) {
    status = read_session(&t, session);
    iso_tokenizer_free(&t);
  }
  iso_input_close(input);
  return status == ISOPROOF_OK;
}

isoproof_status iso_exec_read_answer(const char *line, size_t length, iso_exec_answer *answer, iso_reply *reply,
                                     isoproof_error *error) {
  iso_input *input;
  iso_tokenizer t;
  *answer = (iso_exec_answer){.ok = false};
  ISO_TRY(iso_input_open_memory(line, length, "the answer", &input, error));
  isoproof_status status = iso_tokenizer_init(&t, input, ISO_TOKEN_DIALECT_JSON, error);
  if (status == ISOPROOF_OK) {
    status = read_answer(&t, answer, reply);
    iso_tokenizer_free(&t);
  }
  iso_input_close(input);
  return status;
}

isoproof_status iso_exec_read_hello(const char *line, size_t length, iso_exec_hello *hello, isoproof_error *error) {
  iso_input *input;
  iso_tokenizer t;
  *hello = (iso_exec_hello){.isolation_count = 0};
  ISO_TRY(iso_input_open_memory(line, length, "the first answer", &input, error));
  isoproof_status status = iso_tokenizer_init(&t, input, ISO_TOKEN_DIALECT_JSON, error);
  if (status == ISOPROOF_OK) {
    status = read_hello(&t, hello);
    iso_tokenizer_free(&t);
  }
  iso_input_close(input);
  return status;
}
