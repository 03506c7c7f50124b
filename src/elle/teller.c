/* Names and words of what a witness speaks of. */
#include "elle/teller.h"

/* ---- what a witness names ---- */

void iso_teller_name_txn(iso_teller *t, uint32_t txn) {
  for (size_t i = 0; i < t->txns.count; i++) {
    if (t->txns.items[i] == txn) return;
  }
  if (!iso_vec_push(&t->txns, (uint64_t)txn)) t->failed = true;
}

void iso_teller_name_key(iso_teller *t, uint32_t key) {
  isoproof_scalar name = iso_history_scalar(t->h, t->h->key_name[key]);
  for (size_t i = 0; i < t->keys.count; i++) {
    if (isoproof_scalar_equal(t->keys.items[i], name)) return;
  }
  if (!iso_vec_push(&t->keys, name)) t->failed = true;
}

void iso_teller_name_op(iso_teller *t, uint32_t op) {
  if (op >= t->h->ops) return;
  iso_teller_name_txn(t, iso_history_txn_of(t->h, op));
  iso_teller_name_key(t, t->h->op_key[op]);
  if (!iso_vec_push(&t->ops, (uint64_t)op)) t->failed = true;
}

/* ---- words ---- */

void iso_teller_say_txn(iso_teller *t, uint32_t txn) {
  char name[64];
  isoproof_history_txn_name(t->h, txn, name, sizeof name);
  iso_words_add(&t->words, "%s", name);
}

void iso_teller_say_key(iso_teller *t, uint32_t key) {
  iso_words_add_scalar(&t->words, iso_history_scalar(t->h, t->h->key_name[key]));
}

void iso_teller_say_value(iso_teller *t, uint32_t op) {
  enum { SHOWN = 8 };
  const isoproof_history *h = t->h;
  iso_value value = h->op_value[op];
  bool empty = value == ISO_VALUE_NIL || value == ISO_VALUE_NONE;
  if (!iso_kind_is_list((isoproof_op_kind)h->op_kind[op]) || empty) {
    iso_words_add_scalar(&t->words, iso_history_scalar(h, value));
    return;
  }
  uint32_t count;
  const iso_value *list = iso_history_list(h, op, &count);
  uint32_t first = count > SHOWN ? count - SHOWN : 0;
  bool set = h->op_kind[op] != ISOPROOF_OP_READ_LIST;
  iso_words_add(&t->words, "%s%s", set ? "{" : "[", first > 0 ? "... " : "");
  for (uint32_t i = first; i < count; i++) {
    if (i > first) iso_words_add(&t->words, " ");
    iso_words_add_scalar(&t->words, iso_history_scalar(h, list[i]));
  }
  iso_words_add(&t->words, set ? "}" : "]");
}

static const char *verb_of(uint8_t kind) {
  switch ((isoproof_op_kind)kind) {
  case ISOPROOF_OP_WRITE:
    return "w";
  case ISOPROOF_OP_APPEND:
    return "append";
  case ISOPROOF_OP_ADD:
    return "add";
  case ISOPROOF_OP_INCREMENT:
    return "inc";
  case ISOPROOF_OP_READ_PREDICATE:
    return "rp";
  default:
    return "r";
  }
}

void iso_teller_say_op(iso_teller *t, uint32_t op) {
  iso_words_add(&t->words, "%s ", verb_of(t->h->op_kind[op]));
  iso_teller_say_key(t, t->h->op_key[op]);
  iso_words_add(&t->words, " ");
  iso_teller_say_value(t, op);
}

void iso_teller_free(iso_teller *t) {
  iso_words_free(&t->words);
  iso_vec_free(&t->txns);
  iso_vec_free(&t->ops);
  iso_vec_free(&t->keys);
  iso_vec_free(&t->edges);
}
