/* Witnesses of what elle/elle.h found: transactions, edges and sentences. */
#include <string.h>

#include "elle/elle_result.h"
#include "elle/exact_checkers.h"
#include "elle/teller.h"

/* ---- anomalies that are no cycles ---- */

static void say_doing(iso_teller *t, uint32_t op) {
  iso_teller_say_txn(t, iso_history_txn_of(t->h, op));
  iso_words_add(&t->words, " did ");
  iso_teller_say_op(t, op);
}

static void say_version(iso_teller *t, uint32_t version) {
  if (version < t->h->ops) {
    iso_teller_say_value(t, version);
    iso_teller_name_op(t, version);
  } else {
    iso_words_add(&t->words, version < t->h->ops + t->h->keys ? "nil" : "a value that nobody wrote");
  }
}

static void tell_element(iso_teller *t, const iso_noncycle_anomaly *c, const char *what, const char *who) {
  say_doing(t, c->op);
  iso_words_add(&t->words, " and saw%s", what);
  if (c->other < t->h->ops) {
    iso_words_add(&t->words, c->anomaly == ISO_ANOMALY_DUPLICATE_ELEMENTS ? ": " : " ");
    iso_teller_say_value(t, c->other);
    iso_words_add(&t->words, ", which ");
    iso_teller_say_txn(t, iso_history_txn_of(t->h, c->other));
    iso_words_add(&t->words, " wrote %s", who);
  }
  iso_words_add(&t->words, ".");
}

/* Anomalies of a read that saw something it should not; false for others. */
static bool tell_seen(iso_teller *t, const iso_noncycle_anomaly *c) {
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

static void say_noncycle(iso_teller *t, const iso_noncycle_anomaly *c) {
  iso_words *w = &t->words;
  if (tell_seen(t, c)) return;
  switch ((iso_anomaly)c->anomaly) {
  case ISO_ANOMALY_PREDICATE_READ_MISS:
    say_doing(t, c->op);
    iso_words_add(w, " and missed key ");
    iso_teller_say_key(t, c->key);
    iso_words_add(w, ", every version of which matches.");
    return;
  case ISO_ANOMALY_INTERNAL:
    say_doing(t, c->op);
    iso_words_add(w, ", which contradicts its own earlier ");
    iso_teller_say_op(t, c->other);
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
    iso_teller_say_op(t, c->other);
    iso_words_add(w, " of ");
    iso_teller_say_txn(t, iso_history_txn_of(t->h, c->other));
    iso_words_add(w, ", which aborted.");
    return;
  case ISO_ANOMALY_CYCLIC_VERSIONS:
    iso_words_add(w, "Of key ");
    iso_teller_say_key(t, c->key);
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

static bool tell_noncycle(iso_teller *t, const iso_noncycle_anomaly *c) {
  if (c->anomaly == ISO_ANOMALY_LOST_UPDATE) return iso_teller_tell_lost_update(t, c);
  say_noncycle(t, c);
  if (c->anomaly == ISO_ANOMALY_CYCLIC_VERSIONS) {
    iso_teller_name_key(t, c->key);
    return true;
  }
  iso_teller_name_op(t, c->op);
  iso_teller_name_op(t, c->other);
  if (c->key < t->h->keys) iso_teller_name_key(t, c->key);
  return true;
}

/* ---- a witness ---- */

static bool move_in(iso_arena *arena, const void *items, size_t count, size_t size, void *place) {
  void *copy = iso_arena_alloc(arena, count > 0 ? count : 1, size);
  if (copy == NULL) return false;
  if (count > 0) memcpy(copy, items, count * size);
  memcpy(place, &copy, sizeof copy);
  return true;
}

static bool settle(const iso_teller *t, iso_arena *arena, isoproof_anomaly *out) {
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
static bool borrow(const iso_elle *e, iso_anomaly anomaly, iso_arena *arena, isoproof_anomaly *out) {
  const isoproof_result *other = iso_elle_exact_result(e, anomaly);
  isoproof_anomaly theirs = {.struct_size = sizeof theirs};
  if (other == NULL || !isoproof_result_anomaly_at(other, 0, &theirs)) return false;
  theirs.code = out->code;
  theirs.name = out->name;
  theirs.level = out->level;
  theirs.count = 0; /* that there is one is known, not how many */
  theirs.count_is = ISOPROOF_COUNT_UNKNOWN;
  if (anomaly == ISO_ANOMALY_PL_2_99_CYCLE_EXISTS) {
    iso_words words = {NULL, 0, 0, false};
    iso_words_add(&words, "%s Where nobody queries by predicate, neither does repeatable-read.", theirs.explanation);
    theirs.explanation = words.failed ? NULL : iso_arena_text(arena, words.text, words.length);
    iso_words_free(&words);
  }
  *out = theirs;
  return theirs.explanation != NULL;
}

isoproof_anomaly *iso_elle_result_anomaly(const iso_elle_result *result, size_t number, iso_arena *arena) {
  const iso_elle_shown *shown = &result->shown[number];
  const iso_elle *e = result->elle;
  const isoproof_anomaly_info *info = isoproof_anomaly_at(shown->anomaly);
  const isoproof_level_info *weakest = isoproof_anomaly_rules_out_at(info, 0);
  isoproof_anomaly *out = iso_arena_alloc(arena, 1, sizeof *out);
  if (out == NULL) return NULL;
  iso_teller t = {.h = e->history, .e = e};
  out->struct_size = sizeof *out;
  out->code = info->code;
  out->name = info->name;
  out->level = weakest != NULL ? weakest->friendly : info->level != NULL ? info->level : "";
  uint64_t count = shown->is_cycle ? e->cycles.count[shown->anomaly] : e->noncycle.count[shown->anomaly];
  out->count = e->options.all ? 1 : count;
  /* Of cycles the components are counted, each of which has one at least. */
  bool components = shown->is_cycle || shown->anomaly == ISO_ANOMALY_CYCLIC_VERSIONS;
  out->count_is = components && !e->options.all ? ISOPROOF_COUNT_AT_LEAST : ISOPROOF_COUNT_EXACT;
  if (!shown->is_cycle && e->noncycle.list.items[shown->number].op == ISO_NO_OP) {
    return borrow(e, shown->anomaly, arena, out) ? out : NULL;
  }
  bool good = shown->is_cycle ? iso_teller_tell_cycle(&t, &e->cycles.cycles.items[shown->number])
                              : tell_noncycle(&t, &e->noncycle.list.items[shown->number]);
  good = good && settle(&t, arena, out);
  iso_teller_free(&t);
  return good ? out : NULL;
}
