/* rows.c - the names of what is done to rows, and which rows a predicate picks. */
#include "history/rows.h"

const char *iso_row_form_name(iso_row_form form) {
  static const char *const names[] = {
#define ISO_X(name, text, writes) text,
      ISO_ROW_FORM_LIST(ISO_X)
#undef ISO_X
  };
  return form < ISO_ROW_FORMS ? names[form] : "";
}

const char *iso_comparison_name(iso_comparison comparison) {
  static const char *const names[] = {
#define ISO_X(name, text) text,
      ISO_COMPARISON_LIST(ISO_X)
#undef ISO_X
  };
  return comparison < ISO_COMPARISONS ? names[comparison] : "";
}

bool iso_predicate_covers(const iso_predicate *predicate, int64_t key) {
  return !predicate->of_keys || (key >= predicate->key_low && key <= predicate->key_high);
}

bool iso_predicate_matches(const iso_predicate *predicate, int64_t key, int64_t value) {
  if (!iso_predicate_covers(predicate, key)) return false;
  if (predicate->of_values && (value < predicate->value_low || value > predicate->value_high)) return false;
  if (!predicate->of_rest) return true;
  int64_t rest = value % predicate->divisor;
  return (rest < 0 ? rest + predicate->divisor : rest) == predicate->rest;
}

iso_predicate iso_statement_predicate(const iso_statement *s) {
  return (iso_predicate){.of_keys = (s->conditions & ISO_CONDITION_KEYS) != 0,
                         .of_values = (s->conditions & ISO_CONDITION_VALUES) != 0,
                         .of_rest = (s->conditions & ISO_CONDITION_REST) != 0,
                         .key_low = s->key_low,
                         .key_high = s->key_high,
                         .value_low = s->value_low,
                         .value_high = s->value_high,
                         .divisor = s->divisor,
                         .rest = s->rest};
}

void iso_statement_set_predicate(iso_statement *s, const iso_predicate *p) {
  s->conditions = (uint8_t)((s->conditions & ISO_CONDITION_COLUMNS) | (p->of_keys ? ISO_CONDITION_KEYS : 0) |
                            (p->of_values ? ISO_CONDITION_VALUES : 0) | (p->of_rest ? ISO_CONDITION_REST : 0));
  s->key_low = p->of_keys ? p->key_low : 0;
  s->key_high = p->of_keys ? p->key_high : 0;
  s->value_low = p->of_values ? p->value_low : 0;
  s->value_high = p->of_values ? p->value_high : 0;
  s->divisor = p->of_rest ? p->divisor : 0;
  s->rest = p->of_rest ? p->rest : 0;
}
