/* Predicates, initial states and deletions of rows, as Jepsen histories can say them. */
#include "format/jepsen_rows.h"

#include <string.h>

#include "format/jepsen.h"

/* As long as the reader takes them. */
enum { LONGEST_WORD = 63, LONGEST_PREDICATE = 150 };

static bool is_text(isoproof_scalar s, isoproof_scalar_type type, const char *text) {
  return s.type == type && s.length == strlen(text) && memcmp(s.text, text, s.length) == 0;
}

static isoproof_scalar key_of(const isoproof_history *h, uint32_t op) {
  return iso_history_scalar(h, h->key_name[h->op_key[op]]);
}

size_t iso_rows_word(isoproof_scalar predicate, size_t *at, const char **word) {
  if (*at >= predicate.length) return 0;
  const char *begin = predicate.text + *at, *space = memchr(begin, ' ', predicate.length - *at);
  size_t length = space != NULL ? (size_t)(space - begin) : predicate.length - *at;
  *word = begin;
  *at += length + 1;
  return length;
}

static bool is_mark(const isoproof_history *h, uint32_t op) {
  return h->op_kind[op] == ISOPROOF_OP_READ_PREDICATE && h->op_value[op] == ISO_VALUE_NONE &&
         is_text(key_of(h, op), ISOPROOF_SYMBOL, ISO_JEPSEN_INIT_MARK);
}

bool iso_rows_writable(const isoproof_history *h, uint32_t op) {
  isoproof_scalar predicate = key_of(h, op);
  const char *word;
  size_t at = 0;
  uint32_t count;
  if (h->op_kind[op] != ISOPROOF_OP_READ_PREDICATE || predicate.type != ISOPROOF_SYMBOL || is_mark(h, op)) return false;
  if (predicate.length == 0 || predicate.length > LONGEST_PREDICATE || h->op_value[op] == ISO_VALUE_NIL) return false;
  while (at <= predicate.length) {
    size_t length = iso_rows_word(predicate, &at, &word);
    if (length == 0 || length > LONGEST_WORD) return false;
    for (size_t i = 0; i < length; i++) {
      if (word[i] <= ' ' || word[i] == 127 || word[i] == '"' || word[i] == '\\') return false;
    }
  }
  const iso_value *rows = iso_history_list(h, op, &count);
  bool good = count % 2 == 0;
  for (uint32_t i = 0; rows != NULL && i < count; i++) good &= (rows[i] & ISO_VALUE_NIL) != ISO_VALUE_NIL;
  return good;
}

bool iso_rows_deletes(const isoproof_history *h, uint32_t op) {
  return h->op_kind[op] == ISOPROOF_OP_WRITE &&
         is_text(iso_history_scalar(h, h->op_value[op]), ISOPROOF_KEYWORD, ISO_JEPSEN_DEAD);
}

bool iso_rows_initial(const isoproof_history *h, uint32_t txn) {
  uint32_t first = h->txn_first_op[txn], end = h->txn_first_op[txn + 1];
  if (first == end || !is_mark(h, first)) return false;
  for (uint32_t op = first + 1; op < end; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_WRITE) return false;
  }
  return true;
}
