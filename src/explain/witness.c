/* Findings of single reads as witnesses with sentences. */
#include "explain/witness.h"

#include <stdio.h>
#include <string.h>

#include "explain/row_words.h"
#include "history/bank.h"
#include "history/resolve.h"
#include "history/row_text.h"

void iso_words_add_txn(iso_words *words, const isoproof_history *history, uint32_t txn) {
  char name[64];
  isoproof_history_txn_name(history, txn, name, sizeof name);
  iso_words_add(words, "%s", name);
  isoproof_scalar kind = isoproof_nil();
  if (history->txn_name_opt != NULL && txn < history->txns)
    kind = iso_history_scalar(history, history->txn_name_opt[txn]);
  if (kind.type != ISOPROOF_STRING) return;
  iso_words_add(words, " (");
  iso_words_add_hostile(words, kind.text, kind.length, 60);
  iso_words_add(words, ")");
}

/* The text of the statement that did it, where the history has it: a fact statement.N. */
static void add_statement_text(iso_words *words, const isoproof_history *h, uint32_t op) {
  char name[32];
  if (h->op_statement_opt == NULL || op >= h->ops || h->op_statement_opt[op] == 0) return;
  snprintf(name, sizeof name, "statement.%u", h->op_statement_opt[op]);
  const char *text = isoproof_history_fact(h, name);
  if (text == NULL) return;
  iso_words_add(words, ", by ");
  iso_words_add_hostile(words, text, strlen(text), 120);
}

void iso_words_add_position(iso_words *words, const isoproof_history *history, uint32_t op) {
  isoproof_position at;
  if (!isoproof_history_position_of(history, op, &at)) return;
  iso_words_add(words, " (");
  if (at.file != NULL) {
    const char *slash = strrchr(at.file, '/');
    const char *base = slash != NULL && slash[1] != '\0' ? slash + 1 : at.file;
    iso_words_add_hostile(words, base, strlen(base), 80);
    iso_words_add(words, ":");
  }
  if (at.line != 0) {
    iso_words_add(words, "%llu", (unsigned long long)at.line);
  } else {
    iso_words_add(words, "byte %lld", (long long)at.offset);
  }
  add_statement_text(words, history, op);
  iso_words_add(words, ")");
}

static void add_value(iso_words *words, const isoproof_history *h, uint32_t op) {
  enum { SHOWN = 6 };
  iso_value value = h->op_value[op];
  bool empty = value == ISO_VALUE_NIL || value >= ISO_VALUE_COUNTED;
  if (!iso_kind_is_list((isoproof_op_kind)h->op_kind[op]) || empty) {
    if (value == ISO_VALUE_NIL && h->initial_is_zero) {
      iso_words_add(words, "0");
    } else {
      iso_words_add_scalar(words, iso_history_scalar(h, value));
    }
    return;
  }
  uint32_t count;
  const iso_value *list = iso_history_list(h, op, &count);
  bool set = h->op_kind[op] == ISOPROOF_OP_READ_SET;
  iso_words_add(words, set ? "{" : "[");
  /* The end of a long list says more than its beginning. */
  uint32_t first = count > SHOWN ? count - SHOWN : 0;
  if (first > 0) iso_words_add(words, "... ");
  for (uint32_t i = first; i < count; i++) {
    if (i > first) iso_words_add(words, " ");
    iso_words_add_scalar(words, iso_history_scalar(h, list[i]));
  }
  iso_words_add(words, set ? "}" : "]");
}

/* "balance 97 of account 3", in the history of a bank. */
static bool add_balance(iso_words *words, const isoproof_history *h, uint32_t op) {
  int64_t balance;
  isoproof_op_kind kind = (isoproof_op_kind)h->op_kind[op];
  if ((kind != ISOPROOF_OP_READ && kind != ISOPROOF_OP_WRITE) || !iso_history_is_bank(h)) return false;
  if (!iso_bank_balance(iso_history_scalar(h, h->op_value[op]), &balance)) return false;
  iso_words_add(words, "balance %lld of account ", (long long)balance);
  iso_words_add_scalar(words, iso_history_key_shown(h, h->op_key[op]));
  iso_words_add_position(words, h, op);
  return true;
}

void iso_words_add_op(iso_words *words, const isoproof_history *h, uint32_t op) {
  if (add_balance(words, h, op)) return;
  iso_words_add(words, "key ");
  iso_words_add_scalar(words, iso_history_key_shown(h, h->op_key[op]));
  isoproof_op_kind kind = (isoproof_op_kind)h->op_kind[op];
  bool adds = kind == ISOPROOF_OP_APPEND || kind == ISOPROOF_OP_ADD || kind == ISOPROOF_OP_INCREMENT;
  iso_words_add(words, adds ? " += " : " = ");
  add_value(words, h, op);
  iso_words_add_position(words, h, op);
}

/* A witness in the making; three transactions, three operations and two edges are enough for these patterns. */
typedef struct {
  const isoproof_history *h;
  const iso_resolution *resolution;
  const iso_finding *f;
  uint64_t txns[3], ops[3];
  isoproof_edge edges[2];
  size_t txn_count, op_count, edge_count;
  iso_words words;
} draft;

static void add_txn(draft *d, uint64_t txn) {
  for (size_t i = 0; i < d->txn_count; i++) {
    if (d->txns[i] == txn) return;
  }
  d->txns[d->txn_count++] = txn;
}

static uint64_t add_op(draft *d, uint32_t op) {
  uint64_t txn = iso_history_txn_of(d->h, op);
  add_txn(d, txn);
  d->ops[d->op_count++] = op;
  return txn;
}

static isoproof_scalar key_of(const draft *d) { return iso_history_key_shown(d->h, d->h->op_key[d->f->op]); }

/* An edge from the writer of a version (the initial transaction when `from` is no operation) to an operation. */
static void add_edge(draft *d, iso_edge_kind kind, uint32_t from, uint32_t to) {
  isoproof_edge edge = {.kind = iso_edge_name(kind),
                        .from_txn = ISOPROOF_INITIAL_TXN,
                        .to_txn = iso_history_txn_of(d->h, to),
                        .from_op = ISOPROOF_NO_NUMBER,
                        .to_op = to,
                        .has_key = true,
                        .key = key_of(d)};
  if (from < d->h->ops) edge.from_op = from, edge.from_txn = iso_history_txn_of(d->h, from);
  d->edges[d->edge_count++] = edge;
}

static bool of_rows(const draft *d) { return iso_is_of_rows(d->h, d->f->op); }

static void say_read(draft *d) {
  if (of_rows(d)) {
    iso_words_add_observed(&d->words, d->h, d->f->op);
    return;
  }
  iso_words_add_txn(&d->words, d->h, iso_history_txn_of(d->h, d->f->op));
  iso_words_add(&d->words, " read ");
  iso_words_add_op(&d->words, d->h, d->f->op);
}

/* Why no version of the row, or of the rows counted, explains the answer. */
static void say_unfounded(draft *d) {
  iso_value value = d->h->op_value[d->f->op];
  const iso_statement *s = iso_history_statement(d->h, d->f->op);
  if (value == ISO_VALUE_COUNTED && s != NULL) {
    iso_words_add_txn(&d->words, d->h, s->txn);
    iso_words_add(&d->words, "'s count ");
    iso_words_add_conditions(&d->words, d->h, s, false);
    iso_words_add(&d->words, " returned %lld", (long long)s->counted);
    iso_words_add_position(&d->words, d->h, d->f->op);
    iso_words_add(&d->words, ", but no versions of the rows make up for that number.");
    return;
  }
  say_read(d);
  iso_words_add(&d->words, value == ISO_VALUE_UNMATCHED
                               ? ", but it was there all the time, and every version of it matches."
                           : value == ISO_VALUE_NIL ? ", but it was there all the time: no transaction removed it."
                                                    : ", but no transaction gave that value to that row.");
}

static void draft_thin_air(draft *d) {
  add_op(d, d->f->op);
  if (of_rows(d)) {
    say_unfounded(d);
    return;
  }
  say_read(d);
  iso_words_add(&d->words, ", but no transaction ");
  if (iso_kind_is_list((isoproof_op_kind)d->h->op_kind[d->f->op])) {
    uint32_t count;
    const iso_value *list = iso_history_list(d->h, d->f->op, &count);
    iso_words_add(&d->words, "put ");
    iso_words_add_scalar(&d->words, iso_history_scalar(d->h, list[d->f->element]));
    iso_words_add(&d->words, " there.");
  } else {
    iso_words_add(&d->words, "wrote that value to that key.");
  }
}

static void say_write(draft *d, uint32_t op) {
  if (iso_is_of_rows(d->h, op)) {
    iso_words_add_change(&d->words, d->h, op);
  } else {
    iso_words_add_op(&d->words, d->h, op);
  }
}

/* ", which shows the write key 1 = 5 (h:2) of s0t0", or "... the insert of row 1 = 5 (h:2) of s0t0". */
static void say_shown(draft *d, uint64_t writer) {
  iso_words_add(&d->words, of_rows(d) ? ", which shows the " : ", which shows the write ");
  say_write(d, d->f->seen);
  iso_words_add(&d->words, " of ");
  iso_words_add_txn(&d->words, d->h, (uint32_t)writer);
}

static void draft_aborted(draft *d) {
  add_edge(d, ISO_EDGE_WR, d->f->seen, d->f->op);
  uint64_t writer = add_op(d, d->f->seen);
  add_op(d, d->f->op);
  say_read(d);
  say_shown(d, writer);
  iso_words_add(&d->words, "; but that transaction was rolled back, so nobody may see its writes.");
}

static void draft_future(draft *d) {
  add_edge(d, ISO_EDGE_WR, d->f->seen, d->f->op);
  add_op(d, d->f->op);
  add_op(d, d->f->seen);
  say_read(d);
  iso_words_add(&d->words, of_rows(d) ? ", although it made the " : ", although it made the write ");
  say_write(d, d->f->seen);
  iso_words_add(&d->words, " itself, and only afterwards.");
}

static void draft_own_missed(draft *d) {
  add_edge(d, ISO_EDGE_PO, d->f->other, d->f->op);
  add_edge(d, ISO_EDGE_WR, d->f->seen, d->f->op);
  if (d->f->seen < d->h->ops) add_op(d, d->f->seen);
  uint64_t reader = add_op(d, d->f->other);
  add_op(d, d->f->op);
  if (of_rows(d)) {
    iso_words_add_changed(&d->words, d->h, d->f->other);
    iso_words_add(&d->words, ", and then ");
    iso_words_add_observed(&d->words, d->h, d->f->op);
  } else {
    iso_words_add_txn(&d->words, d->h, (uint32_t)reader);
    iso_words_add(&d->words, " wrote ");
    iso_words_add_op(&d->words, d->h, d->f->other);
    iso_words_add(&d->words, " and then read ");
    iso_words_add_op(&d->words, d->h, d->f->op);
  }
  if (d->f->seen < d->h->ops) {
    iso_words_add(&d->words, ", the version of ");
    iso_words_add_txn(&d->words, d->h, iso_history_txn_of(d->h, d->f->seen));
    iso_words_add(&d->words, ", instead of its own write.");
  } else if (d->h->op_kind[d->f->op] == ISOPROOF_OP_READ_SET) {
    iso_words_add(&d->words, ", where its own addition is missing.");
  } else {
    iso_words_add(&d->words, ", a version from before its own write.");
  }
}

static void draft_not_last(draft *d) {
  add_edge(d, ISO_EDGE_WR, d->f->seen, d->f->op);
  add_edge(d, ISO_EDGE_PO, d->f->other, d->f->op);
  add_op(d, d->f->seen);
  add_op(d, d->f->other);
  uint64_t reader = add_op(d, d->f->op);
  if (of_rows(d)) {
    iso_words_add_changed(&d->words, d->h, d->f->seen);
    iso_words_add(&d->words, ", made the ");
    say_write(d, d->f->other);
    iso_words_add(&d->words, ", and then ");
    iso_words_add_observed(&d->words, d->h, d->f->op);
  } else {
    iso_words_add_txn(&d->words, d->h, (uint32_t)reader);
    iso_words_add(&d->words, " wrote ");
    iso_words_add_op(&d->words, d->h, d->f->seen);
    iso_words_add(&d->words, ", then wrote ");
    iso_words_add_op(&d->words, d->h, d->f->other);
    iso_words_add(&d->words, ", and then read ");
    iso_words_add_op(&d->words, d->h, d->f->op);
  }
  iso_words_add(&d->words, ", which is not its latest write.");
}

static void draft_intermediate(draft *d) {
  add_edge(d, ISO_EDGE_WR, d->f->seen, d->f->op);
  add_edge(d, ISO_EDGE_PO, d->f->seen, d->f->other);
  uint64_t writer = add_op(d, d->f->seen);
  add_op(d, d->f->other);
  add_op(d, d->f->op);
  say_read(d);
  say_shown(d, writer);
  iso_words_add(&d->words,
                of_rows(d) ? "; but that transaction went on with the " : "; but that transaction went on to write ");
  say_write(d, d->f->other);
  iso_words_add(&d->words, ", so the version was never committed.");
}

/* The write whose version a register read saw, ISO_FROM_INITIAL, or ISO_NO_OP where the kind does not tell. */
static uint32_t seen_by(const draft *d, uint32_t read) {
  return d->h->op_kind[read] == ISOPROOF_OP_READ ? d->resolution->writer[read] : ISO_NO_OP;
}

static void say_version(draft *d, uint32_t read) {
  uint32_t seen = seen_by(d, read);
  if (iso_is_of_rows(d->h, read)) {
    iso_words_add_observed(&d->words, d->h, read);
    if (seen < d->h->ops) {
      iso_words_add(&d->words, ", after ");
      iso_words_add_changed(&d->words, d->h, seen);
    }
    return;
  }
  iso_words_add_op(&d->words, d->h, read);
  if (seen < d->h->ops) {
    iso_words_add(&d->words, " from ");
    iso_words_add_txn(&d->words, d->h, iso_history_txn_of(d->h, seen));
  } else if (seen == ISO_FROM_INITIAL) {
    iso_words_add(&d->words, " from the initial version");
  }
}

static void say_row_versions(draft *d) {
  bool once = iso_history_same_statement(d->h, d->f->op, d->f->other);
  say_version(d, d->f->other);
  iso_words_add(&d->words, once ? "; and " : "; later ");
  say_version(d, d->f->op);
  iso_words_add(&d->words,
                once ? ": one statement returned one row twice."
                     : ": one transaction saw two versions of one row, and the difference is not its own doing.");
}

static void draft_varying(draft *d) {
  uint32_t reads[2] = {d->f->other, d->f->op};
  for (int i = 0; i < 2; i++) {
    uint32_t seen = seen_by(d, reads[i]);
    if (seen != ISO_NO_OP) add_edge(d, ISO_EDGE_WR, seen, reads[i]);
    if (seen < d->h->ops) add_txn(d, iso_history_txn_of(d->h, seen));
  }
  uint64_t reader = add_op(d, d->f->other);
  add_op(d, d->f->op);
  if (of_rows(d)) {
    say_row_versions(d);
    return;
  }
  iso_words_add_txn(&d->words, d->h, (uint32_t)reader);
  iso_words_add(&d->words, " read ");
  say_version(d, d->f->other);
  iso_words_add(&d->words, " and later ");
  say_version(d, d->f->op);
  iso_words_add(&d->words, ": one transaction saw two versions of one key, and the difference is not its own doing.");
}

static void say_element(draft *d, uint32_t read, uint32_t element) {
  uint32_t count;
  const iso_value *list = iso_history_list(d->h, read, &count);
  iso_words_add_scalar(&d->words, iso_history_scalar(d->h, list[element]));
}

static void draft_misordered(draft *d) {
  uint64_t writer = add_op(d, d->f->other);
  add_edge(d, ISO_EDGE_PO, d->f->other, d->f->seen);
  add_op(d, d->f->seen);
  add_op(d, d->f->op);
  say_read(d);
  iso_words_add(&d->words, ", which shows the append ");
  iso_words_add_op(&d->words, d->h, d->f->seen);
  iso_words_add(&d->words, " of ");
  iso_words_add_txn(&d->words, d->h, (uint32_t)writer);
  iso_words_add(&d->words, " without, before it, ");
  iso_words_add_op(&d->words, d->h, d->f->other);
  iso_words_add(&d->words, ", which that transaction had appended first.");
}

static void draft_incompatible(draft *d) {
  if (d->h->op_kind[d->f->other] != ISOPROOF_OP_READ_LIST) {
    draft_misordered(d);
    return;
  }
  uint64_t other = add_op(d, d->f->other);
  add_op(d, d->f->op);
  say_read(d);
  iso_words_add(&d->words, " and ");
  iso_words_add_txn(&d->words, d->h, (uint32_t)other);
  iso_words_add(&d->words, " read ");
  iso_words_add_op(&d->words, d->h, d->f->other);
  iso_words_add(&d->words, ": element %u is ", d->f->element + 1);
  say_element(d, d->f->op, d->f->element);
  iso_words_add(&d->words, " in the one and ");
  say_element(d, d->f->other, d->f->element);
  iso_words_add(&d->words, " in the other; a list that only grows at its end cannot have been both.");
}

static void draft_duplicate(draft *d) {
  add_edge(d, ISO_EDGE_WR, d->f->seen, d->f->op);
  uint64_t writer = add_op(d, d->f->seen);
  add_op(d, d->f->op);
  say_read(d);
  iso_words_add(&d->words, ", which shows the append ");
  iso_words_add_op(&d->words, d->h, d->f->seen);
  iso_words_add(&d->words, " of ");
  iso_words_add_txn(&d->words, d->h, (uint32_t)writer);
  iso_words_add(&d->words, " more than once.");
}

static void *copy(iso_arena *arena, const void *items, size_t count, size_t size) {
  void *made = iso_arena_alloc(arena, count, size);
  if (made != NULL && count > 0) memcpy(made, items, count * size);
  return made;
}

isoproof_status iso_explain_finding(const isoproof_history *history, const iso_resolution *resolution,
                                    const iso_finding *finding, iso_arena *arena, isoproof_anomaly *out,
                                    isoproof_error *error) {
  static void (*const drafts[])(draft *) = {
      [ISO_TAP_A] = draft_thin_air,
      [ISO_TAP_B] = draft_aborted,
      [ISO_TAP_C] = draft_future,
      [ISO_TAP_D] = draft_own_missed,
      [ISO_TAP_E] = draft_not_last,
      [ISO_TAP_F] = draft_intermediate,
      [ISO_TAP_J] = draft_varying,
      [ISO_TAP_INCOMPATIBLE_ORDER] = draft_incompatible,
      [ISO_TAP_DUPLICATE_ELEMENTS] = draft_duplicate,
  };
  draft d = {.h = history, .resolution = resolution, .f = finding};
  drafts[finding->tap](&d);
  isoproof_scalar key = key_of(&d);
  out->txns = copy(arena, d.txns, d.txn_count, sizeof *d.txns);
  out->txn_count = d.txn_count;
  out->ops = copy(arena, d.ops, d.op_count, sizeof *d.ops);
  out->op_count = d.op_count;
  out->keys = copy(arena, &key, 1, sizeof key);
  out->key_count = 1;
  out->edges = copy(arena, d.edges, d.edge_count, sizeof *d.edges);
  out->edge_count = d.edge_count;
  out->explanation = d.words.failed ? NULL : iso_arena_text(arena, d.words.text, d.words.length);
  iso_words_free(&d.words);
  bool made =
      out->txns != NULL && out->ops != NULL && out->keys != NULL && out->edges != NULL && out->explanation != NULL;
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}
