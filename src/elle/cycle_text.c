/* Cycles of dependencies told: who comes before whom, and because of what. */
#include <stdio.h>

#include "elle/evidence.h"
#include "elle/teller.h"

static uint64_t number_of(uint32_t op) { return op == ISO_NO_OP ? ISOPROOF_NO_NUMBER : op; }

/* "s1t2 (r x [1 2], append y 3)". */
static void say_whole_txn(iso_teller *t, uint32_t txn) {
  enum { SHOWN = 12 };
  uint32_t first = t->h->txn_first_op[txn], end = t->h->txn_first_op[txn + 1];
  iso_teller_say_txn(t, txn);
  iso_words_add(&t->words, " (");
  for (uint32_t op = first; op < end && op - first < SHOWN; op++) {
    if (op > first) iso_words_add(&t->words, ", ");
    iso_teller_say_op(t, op);
  }
  iso_words_add(&t->words, end - first > SHOWN ? ", ...)" : ")");
}

/* The steps of a cycle that begin with transactions; those between them stand for somebody who is not known. */
typedef struct told_step {
  uint32_t from, to; /* places of transactions on the cycle, as in T1, T2 */
  uint32_t from_txn, to_txn;
  iso_dependency_set kind;
  iso_dependency_reason reason;
} told_step;

/* "else s2t0, which came after T1, would not have seen x = 2". */
static void say_derived(iso_teller *t, const iso_dependency_reason *reason, const char *before, const char *after) {
  uint32_t read = reason->derived_from - 1;
  iso_words_add(&t->words, "%s", before);
  iso_teller_say_txn(t, iso_history_txn_of(t->h, read));
  iso_words_add(&t->words, ", which came after %s, would not have seen ", after);
  iso_teller_say_key(t, reason->key);
  iso_words_add(&t->words, " = ");
  iso_teller_say_value(t, read);
  iso_teller_name_op(t, read);
}

/* ", as s2t0 shows (r x [1 2])", where others show something else. */
static void say_order_read(iso_teller *t, uint32_t key) {
  uint32_t read = iso_evidence_order_read(t->e->evidence, key);
  if (read == ISO_NO_OP) return;
  iso_words_add(&t->words, ", as ");
  iso_teller_say_txn(t, iso_history_txn_of(t->h, read));
  iso_words_add(&t->words, " shows (");
  iso_teller_say_op(t, read);
  iso_words_add(&t->words, ")");
  iso_teller_name_op(t, read);
}

static void say_because(iso_teller *t, const told_step *s) {
  unsigned a = s->from + 1, b = s->to + 1;
  iso_words *w = &t->words;
  if (s->kind == ISO_DEPENDENCY_SO) {
    iso_words_add(w, "T%u came before T%u in the same session", a, b);
    return;
  }
  if (s->kind == ISO_DEPENDENCY_RT) {
    iso_words_add(w, "T%u had ended before T%u began", a, b);
    return;
  }
  if (!s->reason.known) {
    iso_words_add(w, "T%u saw a state that T%u found changed", a, b);
    return;
  }
  bool read_first = (s->kind & ISO_DEPENDENCY_ANY_RW) != 0;
  if (read_first) {
    iso_words_add(w, "T%u saw ", a);
    iso_teller_say_key(t, s->reason.key);
    iso_words_add(w, " = ");
    iso_teller_say_value(t, s->reason.from_op);
    iso_words_add(w, " without what T%u did (", b);
    iso_teller_say_op(t, s->reason.to_op);
    iso_words_add(w, ")");
    if (s->reason.derived_from != 0) say_derived(t, &s->reason, ", which was later: else ", "the write that it saw");
    return;
  }
  iso_words_add(w, "T%u did ", a);
  iso_teller_say_op(t, s->reason.from_op);
  bool reads = (s->kind & ISO_DEPENDENCY_ANY_WR) != 0;
  if (reads) {
    iso_words_add(w, ", which T%u saw (", b);
  } else {
    iso_words_add(w, ", and T%u came after it with ", b);
  }
  iso_teller_say_op(t, s->reason.to_op);
  if (reads) iso_words_add(w, ")");
  if (!reads) say_order_read(t, s->reason.key);
  if (s->reason.derived_from != 0) {
    char name[32];
    snprintf(name, sizeof name, "T%u", a);
    say_derived(t, &s->reason, ": else ", name);
  }
}

static void add_edge(iso_teller *t, const told_step *s) {
  isoproof_edge edge = {.kind = iso_edge_name(iso_dependency_kind_of(s->kind).edge),
                        .from_txn = s->from_txn,
                        .to_txn = s->to_txn,
                        .from_op = s->reason.known ? number_of(s->reason.from_op) : ISOPROOF_NO_NUMBER,
                        .to_op = s->reason.known ? number_of(s->reason.to_op) : ISOPROOF_NO_NUMBER,
                        .has_key = s->reason.known};
  if (s->reason.known) {
    edge.key = iso_history_scalar(t->h, t->h->key_name[s->reason.key]);
    iso_teller_name_key(t, s->reason.key);
    if (s->reason.from_op < t->h->ops) iso_teller_name_op(t, s->reason.from_op);
    if (s->reason.to_op < t->h->ops) iso_teller_name_op(t, s->reason.to_op);
  }
  if (!iso_vec_push(&t->edges, edge)) t->failed = true;
}

/* The step of the cycle that begins at place i, *next where the step after it begins. */
static told_step step_at(const iso_teller *t, const iso_cycle_step *steps, uint32_t length, uint32_t i, uint32_t place,
                         uint32_t places, uint32_t *next) {
  told_step s = {.from = place, .to = (place + 1) % places, .from_txn = steps[i].txn, .kind = steps[i].kind};
  *next = i + 1;
  while (*next < length && steps[*next].txn >= t->h->txns) (*next)++;
  s.to_txn = steps[*next < length ? *next : 0].txn;
  bool direct = *next == i + 1;
  s.reason = direct ? iso_evidence_explain(t->e->evidence, t->h, s.from_txn, s.to_txn, s.kind)
                    : (iso_dependency_reason){false, 0, ISO_NO_OP, ISO_NO_OP, 0};
  return s;
}

bool iso_teller_tell_cycle(iso_teller *t, const iso_dependency_cycle *cycle) {
  const iso_cycle_step *steps = t->e->cycles.steps.items + cycle->first;
  uint32_t places = 0, place = 0;
  for (uint32_t i = 0; i < cycle->length; i++) {
    if (steps[i].txn >= t->h->txns) continue;
    iso_words_add(&t->words, "%s T%u = ", places == 0 ? "Let" : ",", places + 1);
    places++;
    iso_teller_name_txn(t, steps[i].txn);
    say_whole_txn(t, steps[i].txn);
  }
  if (places < 2) return false;
  iso_words_add(&t->words, ". Then ");
  for (uint32_t i = 0, next; i < cycle->length; i = next, place++) {
    told_step s = step_at(t, steps, cycle->length, i, place, places, &next);
    /* Data that the evidence does not explain was never a dependency. */
    bool data = (s.kind & ISO_DEPENDENCY_DATA) != 0;
    if (data && next == i + 1 && !s.reason.known) return false;
    bool last = next >= cycle->length;
    iso_words_add(&t->words, "%sT%u < T%u, because ",
                  place == 0 ? ""
                  : last     ? "; however, "
                             : "; ",
                  s.from + 1, s.to + 1);
    say_because(t, &s);
    add_edge(t, &s);
  }
  iso_words_add(&t->words, ": a contradiction.");
  return true;
}
