/* Statements on rows in words, and their place in a transaction. */
#include "history/row_text.h"

#include <string.h>

#include "base/text.h"
#include "history/columns.h"

static void add_range(iso_words *words, const char *what, int64_t low, int64_t high, bool brief) {
  iso_words_add(words, "%s %s %lld", what, low == high ? "=" : brief ? "in" : "between", (long long)low);
  if (low != high) iso_words_add(words, "%s%lld", brief ? ".." : " and ", (long long)high);
}

/* balance < 100, kind in (red, blue) */
static void add_columns(iso_words *words, const isoproof_history *h, const iso_statement *s, const char *more) {
  iso_predicate predicate = iso_history_predicate(h, s);
  for (uint32_t i = 0; i < predicate.where_count; i++) {
    const iso_condition *c = &h->conditions[predicate.first_where + i];
    bool lists = c->or_next != 0;
    iso_words_add(words, "%s", more);
    isoproof_scalar column = iso_history_scalar(h, c->column);
    iso_words_add_hostile(words, column.text, column.length, 60);
    iso_words_add(words, " %s", lists ? "in (" : iso_comparison_name((iso_comparison)c->comparison));
    if (c->comparison < ISO_COMPARE_IS_NULL) {
      if (!lists) iso_words_add(words, " ");
      iso_words_add_scalar(words, iso_history_scalar(h, c->operand));
    }
    for (; c->or_next != 0; i++) {
      c++;
      iso_words_add(words, ", ");
      iso_words_add_scalar(words, iso_history_scalar(h, c->operand));
    }
    if (lists) iso_words_add(words, ")");
    more = " and ";
  }
}

isoproof_scalar iso_history_key_shown(const isoproof_history *h, uint32_t key) {
  isoproof_scalar label = isoproof_nil();
  if (h->key_label_opt != NULL) label = iso_history_scalar(h, h->key_label_opt[key]);
  if (label.type != ISOPROOF_STRING) return iso_history_scalar(h, h->key_name[key]);
  label.type = ISOPROOF_SYMBOL; /* a name, not a text in quotes */
  return label;
}

/* The name of the rows [low, high], or of more, by a fact rows.LOW.HIGH; *all: of just these, or all above `low`. */
static isoproof_scalar range_name(const isoproof_history *h, int64_t low, int64_t high, bool *all) {
  for (uint32_t i = 0; i < h->fact_count; i++) {
    isoproof_scalar fact = iso_history_scalar(h, h->facts[i].name);
    const char *dot = fact.length > 5 && memcmp(fact.text, "rows.", 5) == 0 ? strchr(fact.text + 5, '.') : NULL;
    int64_t first, last;
    if (dot == NULL || !iso_parse_i64(fact.text + 5, (size_t)(dot - fact.text - 5), &first)) continue;
    if (!iso_parse_i64(dot + 1, strlen(dot + 1), &last) || low < first || high > last) continue;
    *all = high == last;
    return iso_history_scalar(h, h->facts[i].value);
  }
  return isoproof_nil();
}

/* Which rows: of a table by its name, of one row by its own, or by numbers; returns what joins the next condition. */
static const char *add_keys(iso_words *words, const isoproof_history *h, const iso_statement *s, bool brief) {
  bool all = false;
  isoproof_scalar name = range_name(h, s->key_low, s->key_high, &all);
  if (s->key_low == s->key_high) {
    for (uint32_t key = 0; h->key_label_opt != NULL && key < h->keys; key++) {
      int64_t number;
      if (!iso_pool_integer(&h->pool, h->key_name[key], &number) || number != s->key_low) continue;
      if (h->key_label_opt[key] != ISO_VALUE_NIL) name = iso_history_scalar(h, h->key_label_opt[key]), all = true;
    }
  }
  if (name.type == ISOPROOF_STRING) {
    iso_words_add(words, "of ");
    iso_words_add_hostile(words, name.text, name.length, 200);
    if (all) return " where ";
    iso_words_add(words, " ");
  }
  iso_words_add(words, "where ");
  add_range(words, "key", s->key_low, s->key_high, brief);
  return " and ";
}

void iso_words_add_conditions(iso_words *words, const isoproof_history *h, const iso_statement *s, bool brief) {
  const char *more = "where ";
  if ((s->conditions & ISO_CONDITION_KEYS) != 0) more = add_keys(words, h, s, brief);
  if ((s->conditions & ISO_CONDITION_VALUES) != 0) {
    iso_words_add(words, "%s", more);
    add_range(words, "value", s->value_low, s->value_high, brief);
    more = " and ";
  }
  if ((s->conditions & ISO_CONDITION_REST) != 0) {
    iso_words_add(words, "%svalue mod %lld = %lld", more, (long long)s->divisor, (long long)s->rest);
    more = " and ";
  }
  add_columns(words, h, s, more);
  if (s->conditions == 0) iso_words_add(words, "of all rows");
}

void iso_words_add_answer(iso_words *words, const isoproof_history *h, const iso_statement *s) {
  enum { SHOWN = 8 };
  uint32_t returned = 0;
  if (s->form == ISO_ROW_COUNT) {
    iso_words_add(words, "%lld", (long long)s->counted);
    return;
  }
  for (uint32_t op = s->first_op; op < s->first_op + s->op_count; op++) {
    iso_value value = h->op_value[op];
    if (value == ISO_VALUE_NIL || value == ISO_VALUE_UNMATCHED || returned++ >= SHOWN) continue;
    if (returned > 1) iso_words_add(words, ", ");
    iso_words_add_scalar(words, iso_history_key_shown(h, h->op_key[op]));
    iso_words_add(words, " = ");
    iso_words_add_scalar(words, iso_history_scalar(h, value));
  }
  if (returned == 0) iso_words_add(words, "no row");
  if (returned > SHOWN) iso_words_add(words, ", and %u more", returned - SHOWN);
}

uint32_t iso_history_shown_op(const isoproof_history *h, uint32_t op) {
  const iso_statement *s = iso_history_form(h, op) >= ISO_ROW_PREDICATE ? iso_history_statement(h, op) : NULL;
  return s != NULL ? s->first_op : op;
}

/* The first statement of a transaction, or of one after it. */
static uint32_t first_statement(const isoproof_history *h, uint32_t txn) {
  uint32_t low = 0, high = h->statement_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (h->statements[middle].txn < txn) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Of the operations of a transaction before `end`, each statement counted once: those that begin there, and, at the
 * end of the transaction, those that observed nothing. */
static uint64_t count_before(const isoproof_history *h, uint32_t txn, uint32_t end, bool all) {
  uint64_t count = end - h->txn_first_op[txn];
  for (uint32_t i = first_statement(h, txn); i < h->statement_count && h->statements[i].txn == txn; i++) {
    const iso_statement *s = &h->statements[i];
    bool before = s->first_op < end || (s->first_op == end && (all || s->op_count == 0));
    if (before) count = count + 1 - s->op_count;
  }
  return count;
}

uint64_t iso_history_shown_number(const isoproof_history *h, uint32_t txn, uint32_t op) {
  return count_before(h, txn, iso_history_shown_op(h, op), false);
}

uint64_t iso_history_shown_count(const isoproof_history *h, uint32_t txn) {
  return count_before(h, txn, h->txn_first_op[txn + 1], true);
}
