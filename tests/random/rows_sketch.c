/* Small histories of rows from a line of text. */
#include "tests/random/rows_sketch.h"

#include <string.h>

static int64_t digit(char c) { return c - '0'; }
static row_value value_of(char c) { return c == '_' ? (row_value){false, 0} : (row_value){true, digit(c)}; }

/* The rows of "15,26". */
static void read_rows(const char *text, row_value rows[ROWS_KEYS]) {
  for (; *text >= '1' && *text <= '9'; text += text[2] == ',' ? 3 : 2) rows[digit(text[0]) - 1] = value_of(text[1]);
}

static row_op read_select(const char *word) {
  row_op op = {.kind = word[0] == 's' ? ROW_SELECT : ROW_COUNT, .answered = true};
  row_predicate *p = &op.predicate;
  const char *rest = word + (word[1] == '*' ? 2 : 4);
  p->of_keys = word[1] == 'k';
  p->of_values = word[1] == 'v';
  p->of_rest = word[1] == 'm';
  if (word[1] != '*') {
    p->key_low = p->value_low = p->divisor = digit(word[2]);
    p->key_high = p->value_high = p->rest = digit(word[3]);
  }
  if (op.kind == ROW_SELECT)
    read_rows(rest, op.rows);
  else
    op.counted = (unsigned)digit(rest[1]);
  return op;
}

static void read_word(row_history *h, row_txn *txn, const char *word) {
  static const char letters[] = "iupdxyr";
  const char *letter = strchr(letters, word[0]);
  if (word[0] == ':') {
    read_rows(word + 1, h->initial);
  } else if (word[0] == '!' || word[0] == '?') {
    txn->status = word[0] == '!' ? ISOPROOF_TXN_ABORTED : ISOPROOF_TXN_UNKNOWN;
  } else if (word[0] == '@') {
    h->timed = true;
    txn->start = digit(word[1]);
    txn->end = digit(word[3]);
  } else if (letter != NULL) {
    row_op op = {.kind = (row_op_kind)(letter - letters), .answered = true, .row = (unsigned)digit(word[1]) - 1};
    if (strchr("iupr", word[0]) != NULL) op.value = value_of(word[2]);
    txn->ops[txn->count++] = op;
  } else {
    txn->ops[txn->count++] = read_select(word);
  }
}

row_history rows_sketch(const char *text) {
  row_history h = {.rows = ROWS_KEYS, .count = 1};
  for (unsigned row = 0; row < h.rows; row++) h.keys[row] = row + 1;
  h.txns[0].status = ISOPROOF_TXN_COMMITTED;
  for (unsigned session = 0; *text != '\0'; text += strcspn(text, " "), text += strspn(text, " ")) {
    if (*text == '/' || *text == '|') {
      session += *text == '/';
      h.txns[h.count++] = (row_txn){.session = session, .status = ISOPROOF_TXN_COMMITTED};
    } else {
      read_word(&h, &h.txns[h.count - 1], text);
    }
  }
  return h;
}

bool rows_sketch_has_word(const char *words, const char *word) {
  size_t length = strlen(word);
  for (const char *at = words; (at = strstr(at, word)) != NULL; at++) {
    bool begins = at == words || at[-1] == ' ';
    if (begins && (at[length] == ' ' || at[length] == '\0')) return true;
  }
  return false;
}
