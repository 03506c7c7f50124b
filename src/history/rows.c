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
