/* Notices: written among the facts of a history, and found there again. */
#include "history/notice.h"

#include <stdio.h>
#include <string.h>

#include "base/abi.h"
#include "base/text.h"
#include "base/words.h"
#include "history/builder_internal.h"

enum { MOST_NOTICES = 100 };

static const struct {
  const char *code, *text;
} notices[ISOPROOF_NOTICES] = {
#define ISOPROOF_X(name, code_, text_) [ISOPROOF_NOTICE_##name] = {code_, text_},
    ISOPROOF_NOTICE_LIST(ISOPROOF_X)
#undef ISOPROOF_X
};

const char *isoproof_notice_code_name(isoproof_notice_code code) {
  return (unsigned)code < ISOPROOF_NOTICES ? notices[code].code : "";
}

const char *iso_notice_text(isoproof_notice_code code) {
  return (unsigned)code < ISOPROOF_NOTICES ? notices[code].text : "";
}

static bool is_notice_name(isoproof_scalar name) {
  size_t length = strlen(ISO_NOTICE_FACT);
  return name.type == ISOPROOF_STRING && name.length > length && memcmp(name.text, ISO_NOTICE_FACT, length) == 0;
}

/* Whether the builder has it already, from a header; `*number` becomes that of the next one. */
static bool has_notice(const isoproof_builder *builder, const char *text, size_t *number) {
  iso_pool_view pool = iso_pool_look(&builder->pool);
  for (size_t i = 0; i < builder->facts.count; i++) {
    isoproof_scalar value = iso_pool_scalar(&pool, builder->facts.items[i].value);
    if (!is_notice_name(iso_pool_scalar(&pool, builder->facts.items[i].name))) continue;
    if (value.length == strlen(text) && memcmp(value.text, text, value.length) == 0) return true;
    (*number)++;
  }
  return false;
}

isoproof_status iso_builder_notice(isoproof_builder *builder, isoproof_notice_code code, uint64_t line,
                                   const char *sentence, isoproof_error *error) {
  iso_words words = {NULL, 0, 0, false};
  iso_words_add(&words, "%s %llu %s", isoproof_notice_code_name(code), (unsigned long long)line,
                sentence != NULL ? sentence : iso_notice_text(code));
  char name[64];
  size_t number = 1;
  bool again = words.failed || has_notice(builder, words.text, &number);
  snprintf(name, sizeof name, ISO_NOTICE_FACT "%zu", number);
  isoproof_status status = words.failed ? iso_fail_memory(error) : ISOPROOF_OK;
  if (!again && number <= MOST_NOTICES) status = iso_builder_fact(builder, name, words.text, words.length, error);
  iso_words_free(&words);
  return status;
}

bool iso_notice_parse(isoproof_scalar name, isoproof_scalar value, isoproof_notice_code *code, uint64_t *line,
                      const char **sentence) {
  if (!is_notice_name(name) || value.type != ISOPROOF_STRING) return false;
  const char *end = value.text + value.length, *space = memchr(value.text, ' ', value.length);
  if (space == NULL) return false;
  const char *second = memchr(space + 1, ' ', (size_t)(end - space - 1));
  if (second == NULL || !iso_parse_u64(space + 1, (size_t)(second - space - 1), line)) return false;
  for (int i = 0; i < ISOPROOF_NOTICES; i++) {
    if (strlen(notices[i].code) != (size_t)(space - value.text)) continue;
    if (memcmp(notices[i].code, value.text, (size_t)(space - value.text)) != 0) continue;
    *code = (isoproof_notice_code)i;
    *sentence = second + 1;
    return true;
  }
  return false;
}

bool isoproof_history_notice_at(const isoproof_history *history, size_t number, isoproof_notice *out) {
  for (uint32_t i = 0; i < history->fact_count; i++) {
    isoproof_scalar name = iso_history_scalar(history, history->facts[i].name);
    isoproof_scalar value = iso_history_scalar(history, history->facts[i].value);
    isoproof_notice_code code;
    isoproof_notice made = {.struct_size = sizeof made};
    if (!iso_notice_parse(name, value, &code, &made.line, &made.message) || number-- > 0) continue;
    made.code = isoproof_notice_code_name(code);
    return ISO_STRUCT_GIVE(out, made);
  }
  return false;
}
