/* A proof in sentences, and as the lists of a witness. */
#include <string.h>

#include "explain/proof.h"
#include "explain/row_names.h"
#include "explain/row_words.h"
#include "explain/witness.h"
#include "history/row_text.h"

typedef struct {
  const isoproof_history *h;
  const iso_proof *proof;
  iso_words words;
  ISO_VEC(uint64_t) txns;
  ISO_VEC(uint64_t) ops;
  ISO_VEC(uint32_t) keys;
  ISO_VEC(isoproof_edge) edges;
  bool failed;
} teller;

static void note_txn(teller *t, uint32_t txn) {
  uint64_t number = txn == ISO_INITIAL ? ISOPROOF_INITIAL_TXN : txn;
  for (size_t i = 0; i < t->txns.count; i++) {
    if (t->txns.items[i] == number) return;
  }
  if (txn != ISO_INITIAL && !iso_vec_push(&t->txns, number)) t->failed = true;
}

static void note_op(teller *t, uint32_t op) {
  if (op >= t->h->ops) return;
  for (size_t i = 0; i < t->ops.count; i++) {
    if (t->ops.items[i] == op) return;
  }
  if (!iso_vec_push(&t->ops, (uint64_t)op)) t->failed = true;
}

static void note_key(teller *t, uint32_t key) {
  for (size_t i = 0; i < t->keys.count; i++) {
    if (t->keys.items[i] == key) return;
  }
  if (!iso_vec_push(&t->keys, key)) t->failed = true;
}

static void note_edge(teller *t, iso_edge_kind kind, uint32_t from, uint32_t to, uint32_t from_op, uint32_t to_op) {
  isoproof_edge edge = {.kind = iso_edge_name(kind),
                        .from_txn = from == ISO_INITIAL ? ISOPROOF_INITIAL_TXN : from,
                        .to_txn = to == ISO_INITIAL ? ISOPROOF_INITIAL_TXN : to,
                        .from_op = from_op < t->h->ops ? from_op : ISOPROOF_NO_NUMBER,
                        .to_op = to_op < t->h->ops ? to_op : ISOPROOF_NO_NUMBER};
  uint32_t op = to_op < t->h->ops ? to_op : from_op;
  if (op < t->h->ops) {
    edge.has_key = true;
    edge.key = iso_history_key_shown(t->h, t->h->op_key[op]);
    note_key(t, t->h->op_key[op]);
  }
  note_txn(t, from);
  note_txn(t, to);
  note_op(t, from_op);
  note_op(t, to_op);
  if (!iso_vec_push(&t->edges, edge)) t->failed = true;
}

static void say_txn(teller *t, uint32_t txn) {
  if (txn == ISO_INITIAL) {
    iso_words_add(&t->words, "the initial version");
  } else {
    iso_words_add_txn(&t->words, t->h, txn);
  }
}

/* Whether a list read shows the element of an append. */
static bool shows(const isoproof_history *h, uint32_t read_op, uint32_t append) {
  uint32_t count;
  const iso_value *list = iso_history_list(h, read_op, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (list[i] == h->op_value[append]) return true;
  }
  return false;
}

/* "s2t0 read key x = [1 2] (h.edn:3), where key x += 1 (h.edn:1) of s0t0 stands before key x += 2 (h.edn:2) of s1t0".
 */
static void say_appends(teller *t, const iso_proof_step *step) {
  bool both = shows(t->h, step->read_op, step->to_op);
  say_txn(t, step->reader);
  iso_words_add(&t->words, " read ");
  iso_words_add_op(&t->words, t->h, step->read_op);
  iso_words_add(&t->words, both ? ", where " : ", which shows ");
  iso_words_add_op(&t->words, t->h, step->write_op);
  iso_words_add(&t->words, " of ");
  say_txn(t, step->from);
  iso_words_add(&t->words, both ? " stands before " : " but not ");
  iso_words_add_op(&t->words, t->h, step->to_op);
  iso_words_add(&t->words, " of ");
  say_txn(t, step->to);
  if (!both) iso_words_add(&t->words, ", which must have come later");
  note_edge(t, ISO_EDGE_WW, step->from, step->to, step->write_op, step->to_op);
  note_txn(t, step->reader);
  note_op(t, step->read_op);
}

/* "s0t0 inserted row 1 = 5 (h:2)", or the transaction alone where the write is not known. */
static void say_change(teller *t, uint32_t txn, uint32_t write) {
  if (write < t->h->ops) {
    iso_words_add_changed(&t->words, t->h, write);
  } else {
    say_txn(t, txn);
  }
}

/* "s2t3 read key y = 4 (h.txt:9) from s1t2" or "s1t0 is before s1t2 in their session". */
static void say_plain(teller *t, const iso_proof_step *step) {
  if (step->kind == ISO_EDGE_WW) {
    say_appends(t, step);
    return;
  }
  if (step->kind == ISO_EDGE_SO) {
    say_txn(t, step->from);
    iso_words_add(&t->words, " is before ");
    say_txn(t, step->to);
    iso_words_add(&t->words, " in their session");
    note_edge(t, ISO_EDGE_SO, step->from, step->to, ISO_NO_OP, ISO_NO_OP);
    return;
  }
  if (iso_is_of_rows(t->h, step->read_op)) {
    iso_words_add_observed(&t->words, t->h, step->read_op);
    iso_words_add(&t->words, ", after ");
    say_change(t, step->from, step->write_op);
  } else {
    say_txn(t, step->to);
    iso_words_add(&t->words, " read ");
    iso_words_add_op(&t->words, t->h, step->read_op);
    iso_words_add(&t->words, " from ");
    say_txn(t, step->from);
  }
  note_edge(t, ISO_EDGE_WR, step->from, step->to, step->write_op, step->read_op);
}

static void say_reasons(teller *t, const iso_proof_step *forced) {
  const iso_proof_step *reasons = t->proof->reasons.items + forced->first_reason;
  for (uint32_t i = 0; i < forced->reasons; i++) {
    if (i > 0) iso_words_add(&t->words, i + 1 < forced->reasons ? ", " : " and ");
    say_plain(t, &reasons[i]);
    if (t->proof->axiom == ISO_AXIOM_READ_COMMITTED) iso_words_add(&t->words, " before that");
  }
}

/* "s3t0's select where key = 1 did not return row 1 (h:4), although s1t2 inserted row 1 = 5 (h:2) and ". */
static void say_missed_row(teller *t, const iso_proof_step *step) {
  iso_words_add_observed(&t->words, t->h, step->read_op);
  if (step->to == ISO_INITIAL) {
    iso_words_add(&t->words, ", as it was at the start");
  } else {
    iso_words_add(&t->words, ", as ");
    say_txn(t, step->to);
    iso_words_add(&t->words, " left it");
  }
  iso_words_add(&t->words, ", although ");
  say_change(t, step->from, step->write_op);
  iso_words_add(&t->words, " and ");
}

/* "s3t0 read key x = 1 from s0t0, although s1t2 wrote key x = 3 too and ...". */
static void say_missed(teller *t, const iso_proof_step *step) {
  if (iso_is_of_rows(t->h, step->read_op)) {
    say_missed_row(t, step);
    return;
  }
  say_txn(t, step->reader);
  iso_words_add(&t->words, " read ");
  iso_words_add_op(&t->words, t->h, step->read_op);
  iso_words_add(&t->words, step->to == ISO_INITIAL ? ", " : " from ");
  say_txn(t, step->to);
  iso_words_add(&t->words, ", although ");
  say_txn(t, step->from);
  iso_words_add(&t->words, " wrote ");
  iso_words_add_op(&t->words, t->h, step->write_op);
  iso_words_add(&t->words, " too and ");
}

/* The same, and what follows: ": so s1t2 must come before s0t0". */
static void say_forced(teller *t, const iso_proof_step *step) {
  say_missed(t, step);
  note_edge(t, ISO_EDGE_WR, step->to, step->reader, ISO_NO_OP, step->read_op);
  say_reasons(t, step);
  iso_words_add(&t->words, ": so ");
  say_txn(t, step->from);
  iso_words_add(&t->words, " must come before ");
  say_txn(t, step->to);
  note_edge(t, ISO_EDGE_CM, step->from, step->to, step->write_op, ISO_NO_OP);
}

static void say_cyclic(teller *t) {
  bool causal = iso_tap_is_causal(t->proof->tap), commas = causal && !iso_history_has_rows(t->h);
  iso_words_add(&t->words, causal ? "Causality runs in a cycle: " : "What must come before what runs in a cycle: ");
  for (size_t i = 0; i < t->proof->cycle.count; i++) {
    const char *more = commas ? ", " : "; ", *last = commas ? ", and " : "; and ";
    if (i > 0) iso_words_add(&t->words, "%s", i + 1 < t->proof->cycle.count ? more : last);
    say_plain(t, &t->proof->cycle.items[i]);
  }
  iso_words_add(&t->words, ".");
}

static void say_contradiction(teller *t) {
  const iso_proof_step *first = &t->proof->cycle.items[0];
  say_forced(t, first);
  if (first->to == ISO_INITIAL) {
    iso_words_add(&t->words, ", but nothing comes before the initial version.");
    return;
  }
  iso_words_add(&t->words, " in every commit order. But ");
  for (size_t i = 1; i < t->proof->cycle.count; i++) {
    const iso_proof_step *step = &t->proof->cycle.items[i];
    if (i > 1) iso_words_add(&t->words, "; ");
    if (step->kind == ISO_EDGE_CM) {
      say_forced(t, step);
    } else {
      say_plain(t, step);
    }
  }
  iso_words_add(&t->words, ": so ");
  say_txn(t, first->to);
  iso_words_add(&t->words, " must come before ");
  say_txn(t, first->from);
  iso_words_add(&t->words, " as well, a contradiction.");
}

static void say_moral(teller *t) {
  iso_anomaly name = iso_row_name_of_proof(t->h, t->proof, ISO_ANOMALY_COUNT);
  if (name == ISO_ANOMALY_COUNT) return;
  iso_words_add(&t->words, " ");
  iso_words_add_moral(&t->words, t->h, name, t->proof->cycle.items[0].read_op);
  if (!t->words.failed) t->words.length--; /* without the space at the end */
}

static void *copy(iso_arena *arena, const void *items, size_t count, size_t size) {
  void *made = iso_arena_alloc(arena, count, size);
  if (made != NULL && count > 0) memcpy(made, items, count * size);
  return made;
}

static bool hand_over(teller *t, iso_arena *arena, isoproof_anomaly *out) {
  isoproof_scalar *keys = iso_arena_alloc(arena, t->keys.count, sizeof *keys);
  if (keys == NULL || t->failed || t->words.failed) return false;
  for (size_t i = 0; i < t->keys.count; i++) keys[i] = iso_history_key_shown(t->h, t->keys.items[i]);
  out->keys = keys;
  out->key_count = t->keys.count;
  out->txns = copy(arena, t->txns.items, t->txns.count, sizeof *t->txns.items);
  out->txn_count = t->txns.count;
  out->ops = copy(arena, t->ops.items, t->ops.count, sizeof *t->ops.items);
  out->op_count = t->ops.count;
  out->edges = copy(arena, t->edges.items, t->edges.count, sizeof *t->edges.items);
  out->edge_count = t->edges.count;
  out->explanation = iso_arena_text(arena, t->words.text, t->words.length);
  return out->txns != NULL && out->ops != NULL && out->edges != NULL && out->explanation != NULL;
}

isoproof_status iso_explain_proof(const isoproof_history *history, const iso_proof *proof, iso_arena *arena,
                                  isoproof_anomaly *out, isoproof_error *error) {
  teller t = {.h = history, .proof = proof};
  if (iso_tap_of(proof->tap)->class == ISO_CLASS_CYCLE) {
    say_cyclic(&t);
  } else {
    say_contradiction(&t);
    say_moral(&t);
  }
  bool told = hand_over(&t, arena, out);
  iso_words_free(&t.words);
  iso_vec_free(&t.txns);
  iso_vec_free(&t.ops);
  iso_vec_free(&t.keys);
  iso_vec_free(&t.edges);
  return told ? ISOPROOF_OK : iso_fail_memory(error);
}
