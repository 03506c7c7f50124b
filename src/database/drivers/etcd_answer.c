/* etcd_answer.c - reads the answers of etcd's JSON gateway, and writes bytes in base64 for it. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "database/drivers/etcd.h"
#include "format/token.h"

/* ---- base64 ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void iso_etcd_field_bytes(isoproof_json *json, const char *name, const char *bytes, size_t length) {
  iso_json_field(json, name);
  iso_output *out = iso_json_begin_string(json);
  for (size_t i = 0; i < length; i += 3) {
    size_t here = length - i < 3 ? length - i : 3;
    uint32_t group = 0;
    for (size_t j = 0; j < 3; j++) group = group << 8 | (j < here ? (unsigned char)bytes[i + j] : 0U);
    for (size_t j = 0; j < 4; j++) iso_out_char(out, j <= here ? digits[group >> (18 - 6 * j) & 63] : '=');
  }
  iso_json_end_string(json);
}

void iso_etcd_field_text(isoproof_json *json, const char *name, const char *text) {
  iso_etcd_field_bytes(json, name, text, strlen(text));
}

/* Appends the bytes to the text of the answer, terminated. */
static bool decode(const char *text, size_t length, iso_etcd_answer *answer, size_t *start, size_t *size) {
  uint32_t group = 0;
  unsigned bits = 0;
  *start = answer->text.count;
  if (!iso_vec_reserve(&answer->text, length + 1)) return false;
  for (size_t i = 0; i < length && text[i] != '='; i++) {
    const char *digit = text[i] != 0 ? strchr(digits, text[i]) : NULL;
    if (digit == NULL) return false;
    group = group << 6 | (uint32_t)(digit - digits);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    answer->text.items[answer->text.count++] = (char)(group >> bits & 255);
  }
  *size = answer->text.count - *start;
  answer->text.items[answer->text.count++] = 0;
  return true;
}

/* ---- fields ---- */

/* Numbers of 64 bits come as texts. */
static isoproof_status take_number(iso_tokenizer *t, int64_t *number) {
  uint64_t large;
  if (iso_token_is_integer(t)) {
    *number = t->scalar.integer;
    return ISOPROOF_OK;
  }
  if (iso_token_is_text(t) && iso_parse_i64(t->scalar.text, t->scalar.length, number)) return ISOPROOF_OK;
  /* Ids of members have all 64 bits. */
  if (!iso_token_is_text(t) || !iso_parse_u64(t->scalar.text, t->scalar.length, &large))
    return iso_token_expected(t, "a number");
  *number = (int64_t)large;
  return ISOPROOF_OK;
}

static isoproof_status take_text(iso_tokenizer *t, char *out, size_t size) {
  if (!iso_token_is_text(t)) return iso_token_expected(t, "a text");
  snprintf(out, size, "%.*s", (int)(t->scalar.length < size ? t->scalar.length : size - 1), t->scalar.text);
  return ISOPROOF_OK;
}

static isoproof_status take_bytes(iso_tokenizer *t, iso_etcd_answer *answer, size_t *start, size_t *size) {
  if (!iso_token_is_text(t)) return iso_token_expected(t, "bytes in base64");
  return decode(t->scalar.text, t->scalar.length, answer, start, size) ? ISOPROOF_OK
                                                                       : iso_token_expected(t, "bytes in base64");
}

static isoproof_status take_header(iso_tokenizer *t, iso_etcd_answer *answer) {
  if (t->type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(t, "an object");
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    bool revision = iso_token_is(t, "revision"), member = iso_token_is(t, "member_id");
    ISO_TRY(iso_token_next(t));
    if (revision)
      ISO_TRY(take_number(t, &answer->revision));
    else if (member)
      ISO_TRY(take_number(t, &answer->member));
    else
      ISO_TRY(iso_token_skip(t));
  }
}

static isoproof_status take_pair(iso_tokenizer *t, iso_etcd_answer *answer) {
  iso_etcd_pair pair = {.key = 0};
  if (t->type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(t, "a key and its value");
  /* What is empty is left out. */
  if (!decode("", 0, answer, &pair.value, &pair.value_length)) return iso_fail_memory(t->error);
  pair.key = pair.value;
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) break;
    bool key = iso_token_is(t, "key"), value = iso_token_is(t, "value"), revision = iso_token_is(t, "mod_revision");
    ISO_TRY(iso_token_next(t));
    if (key)
      ISO_TRY(take_bytes(t, answer, &pair.key, &pair.key_length));
    else if (value)
      ISO_TRY(take_bytes(t, answer, &pair.value, &pair.value_length));
    else if (revision)
      ISO_TRY(take_number(t, &pair.revision));
    else
      ISO_TRY(iso_token_skip(t));
  }
  return iso_vec_push(&answer->pairs, pair) ? ISOPROOF_OK : iso_fail_memory(t->error);
}

static isoproof_status take_pairs(iso_tokenizer *t, iso_etcd_answer *answer) {
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a list");
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    ISO_TRY(take_pair(t, answer));
  }
}

static isoproof_status count_members(iso_tokenizer *t, iso_etcd_answer *answer) {
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a list");
  for (;; answer->members++) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    ISO_TRY(iso_token_skip(t));
  }
}

static isoproof_status take_success(iso_tokenizer *t, iso_etcd_answer *answer) {
  answer->succeeded = iso_token_is(t, "true");
  return answer->succeeded || iso_token_is(t, "false") ? ISOPROOF_OK : iso_token_expected(t, "true or false");
}

/* ---- answers ---- */

#define FIELDS(X)                                                                                                      \
  X(header, take_header(t, answer))                                                                                    \
  X(kvs, take_pairs(t, answer))                                                                                        \
  X(members, count_members(t, answer))                                                                                 \
  X(succeeded, take_success(t, answer))                                                                                \
  X(count, take_number(t, &answer->count))                                                                             \
  X(code, take_number(t, &answer->code))                                                                               \
  X(leader, take_number(t, &answer->leader))                                                                           \
  X(message, take_text(t, answer->message, sizeof answer->message))                                                    \
  X(token, take_text(t, answer->token, sizeof answer->token))                                                          \
  X(version, take_text(t, answer->version, sizeof answer->version))

typedef enum field {
#define ISO_X(name, take) FIELD_##name,
  FIELDS(ISO_X)
#undef ISO_X
      FIELD_OTHER
} field;

static field field_of(const iso_tokenizer *t) {
  static const char *const names[] = {
#define ISO_X(name, take) #name,
      FIELDS(ISO_X)
#undef ISO_X
  };
  for (int i = 0; i < FIELD_OTHER; i++)
    if (iso_token_is_n(t, names[i], strlen(names[i]))) return (field)i;
  return FIELD_OTHER;
}

static isoproof_status take_field(iso_tokenizer *t, field which, iso_etcd_answer *answer) {
  switch (which) {
#define ISO_X(name, take)                                                                                              \
  case FIELD_##name:                                                                                                   \
    return take;
    FIELDS(ISO_X)
#undef ISO_X
  default:
    return iso_token_skip(t);
  }
}

static isoproof_status read_fields(iso_tokenizer *t, iso_etcd_answer *answer) {
  ISO_TRY(iso_token_next(t));
  if (t->type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(t, "an object");
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    field which = field_of(t);
    ISO_TRY(iso_token_next(t));
    ISO_TRY(take_field(t, which, answer));
  }
}

isoproof_status iso_etcd_read_answer(const char *text, size_t length, iso_etcd_answer *answer, isoproof_error *error) {
  iso_input *input;
  iso_tokenizer t;
  ISO_TRY(iso_input_open_memory(text, length, "the answer", &input, error));
  isoproof_status status = iso_tokenizer_init(&t, input, ISO_TOKEN_DIALECT_JSON, error);
  if (status == ISOPROOF_OK) {
    status = read_fields(&t, answer);
    iso_tokenizer_free(&t);
  }
  iso_input_close(input);
  return status;
}

void iso_etcd_answer_free(iso_etcd_answer *answer) {
  iso_vec_free(&answer->pairs);
  iso_vec_free(&answer->text);
}
