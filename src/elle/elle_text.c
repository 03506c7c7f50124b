/* Witnesses of what elle/elle.h found: transactions, edges and sentences. */
#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "elle/elle_result.h"
#include "elle/evidence.h"
#include "elle/exact_checkers.h"

typedef struct teller {
  const isoproof_history *h;
  const iso_elle *e;
  isoproof_anomaly *out;
  iso_words words;
  ISO_VEC(uint64_t) txns;
  ISO_VEC(uint64_t) ops;
  ISO_VEC(isoproof_scalar) keys;
  ISO_VEC(isoproof_edge) edges;
  bool failed;
} teller;

/* ---- what a witness names ---- */

static void name_txn(teller *t, uint32_t txn) {
  for (size_t i = 0; i < t->txns.count; i++) {
    if (t->txns.items[i] == txn) return;
  }
  if (!iso_vec_push(&t->txns, (uint64_t)txn)) t->failed = true;
}

static void name_key(teller *t, uint32_t key) {
  isoproof_scalar name = iso_history_scalar(t->h, t->h->key_name[key]);
  for (size_t i = 0; i < t->keys.count; i++) {
    if (isoproof_scalar_equal(t->keys.items[i], name)) return;
  }
  if (!iso_vec_push(&t->keys, name)) t->failed = true;
}

static void name_op(teller *t, uint32_t op) {
  if (op >= t->h->ops) return;
  name_txn(t, iso_history_txn_of(t->h, op));
  name_key(t, t->h->op_key[op]);
  if (!iso_vec_push(&t->ops, (uint64_t)op)) t->failed = true;
}

static uint64_t number_of(uint32_t op) { return op == ISO_NO_OP ? ISOPROOF_NO_NUMBER : op; }

/* ---- words ---- */

static void say_txn(teller *t, uint32_t txn) {
  char name[64];
  isoproof_history_txn_name(t->h, txn, name, sizeof name);
  iso_words_add(&t->words, "%s", name);
}

static void say_key(teller *t, uint32_t key) {
  iso_words_add_scalar(&t->words, iso_history_scalar(t->h, t->h->key_name[key]));
}

/* What a read or a write is about: nil, 4, [1 2 3]; of a long list the end. */
static void say_value(teller *t, uint32_t op) {
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

static void say_op(teller *t, uint32_t op) {
  iso_words_add(&t->words, "%s ", verb_of(t->h->op_kind[op]));
  say_key(t, t->h->op_key[op]);
  iso_words_add(&t->words, " ");
  say_value(t, op);
}

/* "s1t2 (r x [1 2], append y 3)". */
static void say_whole_txn(teller *t, uint32_t txn) {
  enum { SHOWN = 12 };
  uint32_t first = t->h->txn_first_op[txn], end = t->h->txn_first_op[txn + 1];
  say_txn(t, txn);
  iso_words_add(&t->words, " (");
  for (uint32_t op = first; op < end && op - first < SHOWN; op++) {
    if (op > first) iso_words_add(&t->words, ", ");
    say_op(t, op);
  }
  iso_words_add(&t->words, end - first > SHOWN ? ", ...)" : ")");
}

/* ---- cycles ---- */

/* The steps of a cycle that begin with transactions; those between them stand for somebody who is not known. */
typedef struct told_step {
  uint32_t from, to; /* places of transactions on the cycle, as in T1, T2 */
  uint32_t from_txn, to_txn;
  iso_dependency_set kind;
  iso_dependency_reason reason;
} told_step;

/* "else s2t0, which came after T1, would not have seen x = 2". */
static void say_derived(teller *t, const iso_dependency_reason *reason, const char *before, const char *after) {
  uint32_t read = reason->derived_from - 1;
  iso_words_add(&t->words, "%s", before);
  say_txn(t, iso_history_txn_of(t->h, read));
  iso_words_add(&t->words, ", which came after %s, would not have seen ", after);
  say_key(t, reason->key);
  iso_words_add(&t->words, " = ");
  say_value(t, read);
  name_op(t, read);
}

static void say_because(teller *t, const told_step *s) {
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
    say_key(t, s->reason.key);
    iso_words_add(w, " = ");
    say_value(t, s->reason.from_op);
    iso_words_add(w, " without what T%u did (", b);
    say_op(t, s->reason.to_op);
    iso_words_add(w, ")");
    if (s->reason.derived_from != 0) say_derived(t, &s->reason, ", which was later: else ", "the write that it saw");
    return;
  }
  iso_words_add(w, "T%u did ", a);
  say_op(t, s->reason.from_op);
  bool reads = (s->kind & ISO_DEPENDENCY_ANY_WR) != 0;
  if (reads) {
    iso_words_add(w, ", which T%u saw (", b);
  } else {
    iso_words_add(w, ", and T%u came after it with ", b);
  }
  say_op(t, s->reason.to_op);
  if (reads) iso_words_add(w, ")");
  if (s->reason.derived_from != 0) {
    char name[32];
    snprintf(name, sizeof name, "T%u", a);
    say_derived(t, &s->reason, ": else ", name);
  }
}

static void add_edge(teller *t, const told_step *s) {
  isoproof_edge edge = {.kind = iso_edge_name(iso_dependency_kind_of(s->kind).edge),
                        .from_txn = s->from_txn,
                        .to_txn = s->to_txn,
                        .from_op = s->reason.known ? number_of(s->reason.from_op) : ISOPROOF_NO_NUMBER,
                        .to_op = s->reason.known ? number_of(s->reason.to_op) : ISOPROOF_NO_NUMBER,
                        .has_key = s->reason.known};
  if (s->reason.known) {
    edge.key = iso_history_scalar(t->h, t->h->key_name[s->reason.key]);
    name_key(t, s->reason.key);
    if (s->reason.from_op < t->h->ops) name_op(t, s->reason.from_op);
    if (s->reason.to_op < t->h->ops) name_op(t, s->reason.to_op);
  }
  if (!iso_vec_push(&t->edges, edge)) t->failed = true;
}

/* The step of the cycle that begins at place i, *next where the step after it begins. */
static told_step step_at(const teller *t, const iso_cycle_step *steps, uint32_t length, uint32_t i, uint32_t place,
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

static bool tell_cycle(teller *t, const iso_dependency_cycle *cycle) {
  const iso_cycle_step *steps = t->e->cycles.steps.items + cycle->first;
  uint32_t places = 0, place = 0;
  for (uint32_t i = 0; i < cycle->length; i++) {
    if (steps[i].txn >= t->h->txns) continue;
    iso_words_add(&t->words, "%s T%u = ", places == 0 ? "Let" : ",", places + 1);
    places++;
    name_txn(t, steps[i].txn);
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

/* ---- anomalies that are no cycles ---- */

static void say_doing(teller *t, uint32_t op) {
  say_txn(t, iso_history_txn_of(t->h, op));
  iso_words_add(&t->words, " did ");
  say_op(t, op);
}

static void say_version(teller *t, uint32_t version) {
  if (version < t->h->ops) {
    say_value(t, version);
    name_op(t, version);
  } else {
    iso_words_add(&t->words, version < t->h->ops + t->h->keys ? "nil" : "a value that nobody wrote");
  }
}

static void tell_element(teller *t, const iso_noncycle_anomaly *c, const char *what, const char *who) {
  say_doing(t, c->op);
  iso_words_add(&t->words, " and saw%s", what);
  if (c->other < t->h->ops) {
    iso_words_add(&t->words, c->anomaly == ISO_ANOMALY_DUPLICATE_ELEMENTS ? ": " : " ");
    say_value(t, c->other);
    iso_words_add(&t->words, ", which ");
    say_txn(t, iso_history_txn_of(t->h, c->other));
    iso_words_add(&t->words, " wrote %s", who);
  }
  iso_words_add(&t->words, ".");
}

/* Anomalies of a read that saw something it should not; false for others. */
static bool tell_seen(teller *t, const iso_noncycle_anomaly *c) {
  static const struct {
    iso_anomaly anomaly;
    const char *what, *who;
  } seen[] = {{ISO_ANOMALY_G1A, "", "and aborted"},
              {ISO_ANOMALY_G1B, "", "and replaced before it committed"},
              {ISO_ANOMALY_FUTURE_READ, " its own", "only afterwards"},
              {ISO_ANOMALY_GARBAGE_READ, " something that nobody wrote", ""},
              {ISO_ANOMALY_DUPLICATE_ELEMENTS, " an element more than once", "once"}};
  for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++) {
    if ((iso_anomaly)c->anomaly != seen[i].anomaly) continue;
    tell_element(t, c, seen[i].what, seen[i].who);
    return true;
  }
  return false;
}

static void say_noncycle(teller *t, const iso_noncycle_anomaly *c) {
  iso_words *w = &t->words;
  if (tell_seen(t, c)) return;
  switch ((iso_anomaly)c->anomaly) {
  case ISO_ANOMALY_PREDICATE_READ_MISS:
    say_doing(t, c->op);
    iso_words_add(w, " and missed key ");
    say_key(t, c->key);
    iso_words_add(w, ", every version of which matches.");
    return;
  case ISO_ANOMALY_INTERNAL:
    say_doing(t, c->op);
    iso_words_add(w, ", which contradicts its own earlier ");
    say_op(t, c->other);
    iso_words_add(w, ".");
    return;
  case ISO_ANOMALY_INCOMPATIBLE_ORDER:
    say_doing(t, c->op);
    if (c->other < t->h->ops) {
      iso_words_add(w, ", but ");
      say_doing(t, c->other);
    }
    iso_words_add(w, ": neither is the beginning of the other.");
    return;
  case ISO_ANOMALY_DIRTY_UPDATE:
    say_doing(t, c->op);
    iso_words_add(w, " on top of ");
    say_op(t, c->other);
    iso_words_add(w, " of ");
    say_txn(t, iso_history_txn_of(t->h, c->other));
    iso_words_add(w, ", which aborted.");
    return;
  case ISO_ANOMALY_LOST_UPDATE:
    say_doing(t, c->op);
    iso_words_add(w, " and ");
    say_doing(t, c->other);
    iso_words_add(w, ": both saw one version of the key, and both changed it.");
    return;
  case ISO_ANOMALY_CYCLIC_VERSIONS:
    iso_words_add(w, "Of key ");
    say_key(t, c->key);
    iso_words_add(w, ", ");
    say_version(t, c->op);
    iso_words_add(w, " comes before ");
    say_version(t, c->other);
    iso_words_add(w, ", and that before it.");
    return;
  default:
    say_doing(t, c->op);
    iso_words_add(w, ".");
    return;
  }
}

static void tell_noncycle(teller *t, const iso_noncycle_anomaly *c) {
  say_noncycle(t, c);
  if (c->anomaly == ISO_ANOMALY_CYCLIC_VERSIONS) {
    name_key(t, c->key);
    return;
  }
  name_op(t, c->op);
  name_op(t, c->other);
  if (c->key < t->h->keys) name_key(t, c->key);
}

/* ---- a witness ---- */

static bool move_in(iso_arena *arena, const void *items, size_t count, size_t size, void *place) {
  void *copy = iso_arena_alloc(arena, count > 0 ? count : 1, size);
  if (copy == NULL) return false;
  if (count > 0) memcpy(copy, items, count * size);
  memcpy(place, &copy, sizeof copy);
  return true;
}

static bool settle(teller *t, iso_arena *arena) {
  isoproof_anomaly *out = t->out;
  if (t->failed || t->words.failed || t->words.text == NULL) return false;
  out->txn_count = t->txns.count;
  out->op_count = t->ops.count;
  out->key_count = t->keys.count;
  out->edge_count = t->edges.count;
  out->explanation = iso_arena_text(arena, t->words.text, t->words.length);
  return out->explanation != NULL && move_in(arena, t->txns.items, t->txns.count, sizeof *t->txns.items, &out->txns) &&
         move_in(arena, t->ops.items, t->ops.count, sizeof *t->ops.items, &out->ops) &&
         move_in(arena, t->keys.items, t->keys.count, sizeof *t->keys.items, &out->keys) &&
         move_in(arena, t->edges.items, t->edges.count, sizeof *t->edges.items, &out->edges);
}

/* The witness of an exact checker under our name for it. */
static bool borrow(const iso_elle *e, iso_anomaly anomaly, isoproof_anomaly *out) {
  const isoproof_result *other = iso_elle_exact_result(e, anomaly);
  isoproof_anomaly theirs;
  if (other == NULL || !isoproof_result_anomaly(other, 0, &theirs)) return false;
  theirs.code = out->code;
  theirs.name = out->name;
  theirs.level = out->level;
  theirs.count = out->count;
  *out = theirs;
  return true;
}

isoproof_anomaly *iso_elle_result_anomaly(const iso_elle_result *result, size_t number, iso_arena *arena) {
  const iso_elle_shown *shown = &result->shown[number];
  const iso_elle *e = result->elle;
  const isoproof_anomaly_info *info = isoproof_anomaly_at(shown->anomaly);
  const isoproof_level_info *weakest = isoproof_anomaly_rules_out(info, 0);
  isoproof_anomaly *out = iso_arena_alloc(arena, 1, sizeof *out);
  if (out == NULL) return NULL;
  teller t = {.h = e->history, .e = e, .out = out};
  out->code = info->code;
  out->name = info->name;
  out->level = weakest != NULL ? weakest->friendly : info->level != NULL ? info->level : "";
  uint64_t count = shown->is_cycle ? e->cycles.count[shown->anomaly] : e->noncycle.count[shown->anomaly];
  out->count = e->options.all ? 1 : count;
  if (!shown->is_cycle && e->noncycle.list.items[shown->number].op == ISO_NO_OP) {
    return borrow(e, shown->anomaly, out) ? out : NULL;
  }
  bool good = true;
  if (shown->is_cycle) {
    good = tell_cycle(&t, &e->cycles.cycles.items[shown->number]);
  } else {
    tell_noncycle(&t, &e->noncycle.list.items[shown->number]);
  }
  good = good && settle(&t, arena);
  iso_words_free(&t.words);
  iso_vec_free(&t.txns);
  iso_vec_free(&t.ops);
  iso_vec_free(&t.keys);
  iso_vec_free(&t.edges);
  return good ? out : NULL;
}
