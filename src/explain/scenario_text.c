/* A scenario in sentences, and as the lists of a witness. */
#include <stdlib.h>
#include <string.h>

#include "explain/own_levels.h"
#include "explain/row_words.h"
#include "explain/scenario.h"
#include "explain/witness.h"
#include "explain/witness_parts.h"
#include "history/row_text.h"

enum { TOLD_LEAVES = 24 }; /* more cases are counted, not told */

typedef struct {
  const isoproof_history *h;
  const iso_scenario *s;
  iso_words words;
} teller;

/* ---- operations ---- */

static bool is_write(const isoproof_history *h, uint32_t op) {
  return h->op_kind[op] == ISOPROOF_OP_WRITE || h->op_kind[op] == ISOPROOF_OP_APPEND;
}

/* The last write of a transaction to a key. */
static uint32_t write_of(const isoproof_history *h, uint32_t txn, uint32_t key) {
  for (uint32_t op = h->txn_first_op[txn + 1]; op-- > h->txn_first_op[txn];) {
    if (is_write(h, op) && h->op_key[op] == key) return op;
  }
  return ISO_NO_OP;
}

/* The write of a transaction that a read shows: the very one for a register, the last one for a list. */
static uint32_t write_seen(const isoproof_history *h, uint32_t txn, uint32_t read) {
  if (txn >= h->txns) return ISO_NO_OP;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    bool same = h->op_kind[op] == ISOPROOF_OP_WRITE && h->op_key[op] == h->op_key[read];
    if (same && (h->op_kind[read] == ISOPROOF_OP_READ ? iso_history_read_fits(h, read, h->op_value[op])
                                                      : h->op_value[op] == h->op_value[read])) {
      return op;
    }
  }
  return write_of(h, txn, h->op_key[read]);
}

/* ---- words ---- */

static void say(teller *t, const char *text) { iso_words_add(&t->words, "%s", text); }
static void say_txn(teller *t, uint32_t txn) { iso_words_add_txn(&t->words, t->h, txn); }

static void say_op(teller *t, uint32_t op) {
  if (op < t->h->ops) iso_words_add_op(&t->words, t->h, op);
}

static void say_write(teller *t, uint32_t txn, uint32_t key) {
  uint32_t write = write_of(t->h, txn, key);
  if (write < t->h->ops && iso_is_of_rows(t->h, write)) {
    iso_words_add_change(&t->words, t->h, write);
  } else {
    say_op(t, write);
  }
}

static bool is_of_rows(const teller *t, uint32_t op) { return op < t->h->ops && iso_is_of_rows(t->h, op); }

/* Why the version of `before` is older, in addition to what was said already: ", having read key 2 = 1 from s0t0". */
static void say_reason(teller *t, const iso_link *link, uint32_t before) {
  switch (link->reason) {
  case ISO_ORDER_LIST:
    say(t, ", as ");
    say_txn(t, iso_history_txn_of(t->h, link->order_op));
    say(t, "'s read of ");
    say_op(t, link->order_op);
    say(t, " shows");
    break;
  case ISO_ORDER_SO:
    say(t, " later in the session of ");
    say_txn(t, before);
    break;
  case ISO_ORDER_RT:
    say(t, ", having begun after ");
    say_txn(t, before);
    say(t, " had ended");
    break;
  case ISO_ORDER_WR:
    if (link->kind == ISO_EDGE_RW && t->h->op_key[link->order_op] == link->key) break; /* it read what it overwrote */
    if (is_of_rows(t, link->order_op)) {
      say(t, " (");
      iso_words_add_observed(&t->words, t->h, link->order_op);
      say(t, " after ");
      say_txn(t, before);
      say(t, ")");
      break;
    }
    say(t, ", having read ");
    say_op(t, link->order_op);
    say(t, " from ");
    say_txn(t, before);
    break;
  case ISO_ORDER_NONE:
  case ISO_ORDER_INITIAL:
  case ISO_ORDER_ASSUMED:
    break;
  }
}

/* "s0t0's count where key = 1 returned 0, without row 1 (h:2), before s1t0 inserted row 1 = 5 (h:3)". */
static void say_missed_row(teller *t, const iso_link *link) {
  uint32_t write = write_of(t->h, link->to, link->key);
  iso_words_add_observed(&t->words, t->h, link->read_op);
  if (link->version < t->h->txns && link->version != link->from) {
    say(t, ", as ");
    say_txn(t, link->version);
    say(t, " left it");
  }
  say(t, ", before ");
  if (write < t->h->ops) iso_words_add_changed(&t->words, t->h, write);
  say_reason(t, link, link->version);
}

static void say_missed(teller *t, const iso_link *link) {
  if (is_of_rows(t, link->read_op)) {
    say_missed_row(t, link);
    return;
  }
  say_txn(t, link->from);
  say(t, " read ");
  say_op(t, link->read_op);
  if (link->version == ISO_INITIAL) {
    say(t, ", the initial version");
  } else {
    say(t, " from ");
    say_txn(t, link->version);
  }
  say(t, ", which ");
  say_txn(t, link->to);
  uint32_t write = write_of(t->h, link->to, link->key);
  bool appends = write < t->h->ops && t->h->op_kind[write] == ISOPROOF_OP_APPEND;
  say(t, appends ? " extended with " : " overwrote with ");
  say_op(t, write);
  say_reason(t, link, link->version);
}

/* "s1t0's select where key = 1 returned row 1 = 5 (h:3), which s0t0 inserted (h:2)". */
static void say_seen(teller *t, const iso_link *link) {
  if (is_of_rows(t, link->read_op)) {
    uint32_t write = write_seen(t->h, link->from, link->read_op);
    iso_words_add_observed(&t->words, t->h, link->read_op);
    say(t, ", after ");
    if (write < t->h->ops) {
      iso_words_add_changed(&t->words, t->h, write);
    } else {
      say_txn(t, link->from);
    }
    return;
  }
  say_txn(t, link->to);
  say(t, " read ");
  say_op(t, link->read_op);
  say(t, " from ");
  say_txn(t, link->from);
}

/* "s1t0 wrote key 1 = 5 (h:3) after key 1 = 4 (h:2) of s0t0". */
static void say_replaced(teller *t, const iso_link *link) {
  uint32_t write = write_of(t->h, link->to, link->key), before = write_of(t->h, link->from, link->key);
  if (is_of_rows(t, write) && before < t->h->ops) {
    iso_words_add_changed(&t->words, t->h, write);
    say(t, " after ");
    iso_words_add_changed(&t->words, t->h, before);
  } else {
    say_txn(t, link->to);
    say(t, " wrote ");
    say_write(t, link->to, link->key);
    say(t, " after ");
    say_write(t, link->from, link->key);
    say(t, " of ");
    say_txn(t, link->from);
  }
  say_reason(t, link, link->from);
}

static void say_link(teller *t, const iso_link *link) {
  switch (link->kind) {
  case ISO_EDGE_SO:
  case ISO_EDGE_RT:
    say_txn(t, link->from);
    say(t, link->kind == ISO_EDGE_SO ? " is before " : " ended before ");
    say_txn(t, link->to);
    say(t, link->kind == ISO_EDGE_SO ? " in their session" : " began");
    return;
  case ISO_EDGE_WR:
    say_seen(t, link);
    return;
  case ISO_EDGE_WW:
    if (link->reason == ISO_ORDER_ASSUMED) { /* said where it was assumed */
      say_txn(t, link->from);
      say(t, " comes before ");
      say_txn(t, link->to);
      return;
    }
    say_replaced(t, link);
    return;
  case ISO_EDGE_RW:
    say_missed(t, link);
    return;
  default:
    break;
  }
}

static void say_cycle(teller *t, const iso_branch *leaf) {
  for (uint32_t i = 0; i < leaf->links; i++) {
    if (i > 0) say(t, i + 1 < leaf->links ? "; " : "; and ");
    say_link(t, &t->s->links.items[leaf->first_link + i]);
  }
}

/* "s1t2's key 1 = 5 (h.txt:3) came before s2t3's key 1 = 7 (h.txt:9)". */
static void say_order(teller *t, const iso_branch *inner, bool swapped, const char *verb) {
  uint32_t first = swapped ? inner->after : inner->before, second = swapped ? inner->before : inner->after;
  say_txn(t, first);
  say(t, "'s ");
  say_write(t, first, inner->key);
  say(t, verb);
  say_txn(t, second);
  say(t, "'s ");
  say_write(t, second, inner->key);
}

/* What the level forbids. */
static void say_rule(teller *t) {
  if (t->s->level->rule == ISO_RULE_MIXED) {
    iso_words_add_own_levels(&t->words, t->h, t->s);
    return;
  }
  iso_words_add(&t->words, "%s %s.", isoproof_level_at(t->s->level->level)->friendly, iso_rule_text(t->s->level->rule));
}

/* ---- the tree ---- */

typedef struct {
  uint32_t at;
  uint32_t number; /* of the case; 0: not one of a numbered pair */
  bool swapped;    /* the order assumed, of the case above */
  uint32_t above;
} visit;

static bool is_leaf(const teller *t, uint32_t at) { return t->s->cases.items[at].is_leaf; }

/* An inner case of which one side, or both, close a cycle at once. */
static void say_sides(teller *t, const iso_branch *inner) {
  bool both = is_leaf(t, inner->then[0]) && is_leaf(t, inner->then[1]);
  unsigned refuted = is_leaf(t, inner->then[0]) ? 0 : 1;
  if (both) {
    say(t, "If ");
    say_order(t, inner, false, " came before ");
    say(t, ": ");
    say_cycle(t, &t->s->cases.items[inner->then[0]]);
    say(t, ", a cycle. If ");
    say_order(t, inner, true, " came before ");
    say(t, ": ");
    say_cycle(t, &t->s->cases.items[inner->then[1]]);
    say(t, ", a cycle again. ");
    return;
  }
  say_order(t, inner, refuted == 0, " must have come before ");
  say(t, ", because otherwise ");
  say_cycle(t, &t->s->cases.items[inner->then[refuted]]);
  say(t, ", a cycle. ");
}

static void say_tree(teller *t) {
  ISO_VEC(visit) stack = {0};
  uint32_t numbers = 0, told = 0;
  bool good = iso_vec_push(&stack, ((visit){0, 0, false, 0}));
  while (good && stack.count > 0 && told < TOLD_LEAVES) {
    visit v = stack.items[--stack.count];
    const iso_branch *c = &t->s->cases.items[v.at];
    if (v.number > 0) {
      iso_words_add(&t->words, "Case %u: ", v.number);
      say_order(t, &t->s->cases.items[v.above], v.swapped, " came before ");
      say(t, ". ");
    }
    bool one = is_leaf(t, c->then[0]), other = is_leaf(t, c->then[1]);
    if (one || other) {
      say_sides(t, c);
      told += (uint32_t)one + other;
      if (one && other) continue;
      good = iso_vec_push(&stack, ((visit){c->then[one ? 1 : 0], 0, false, v.at}));
    } else {
      numbers += 2;
      good = iso_vec_push(&stack, ((visit){c->then[1], numbers, true, v.at})) &&
             iso_vec_push(&stack, ((visit){c->then[0], numbers - 1, false, v.at}));
    }
  }
  if (stack.count > 0) say(t, "The other cases lead to cycles as well. ");
  if (!good) t->words.failed = true;
  iso_vec_free(&stack);
}

/* "s1t0 and s2t0 both read key 1 = 1 (h.txt:2) from s0t0 and both overwrote it. " */
static void say_lost_update(teller *t) {
  for (size_t i = 0; i < t->s->links.count; i++) {
    const iso_link *one = &t->s->links.items[i];
    for (size_t k = 0; one->kind == ISO_EDGE_RW && k < i; k++) {
      const iso_link *other = &t->s->links.items[k];
      if (other->kind != ISO_EDGE_RW || other->from != one->to || other->to != one->from || other->key != one->key ||
          other->version != one->version) {
        continue;
      }
      const iso_link *first = one->from < other->from ? one : other;
      say_txn(t, first->from);
      say(t, " and ");
      say_txn(t, first->to);
      if (is_of_rows(t, first->read_op)) {
        say(t, " both saw the same version of row ");
        iso_words_add_scalar(&t->words, iso_history_key_shown(t->h, first->key));
        say(t, ", and both changed it. ");
        return;
      }
      say(t, " both read ");
      say_op(t, first->read_op);
      if (one->version == ISO_INITIAL) {
        say(t, ", the initial version,");
      } else {
        say(t, " from ");
        say_txn(t, one->version);
      }
      say(t, " and both overwrote it. ");
      return;
    }
  }
}

/* The read that missed something, ISO_NO_OP where there is none. */
static uint32_t first_miss(const iso_scenario *s) {
  for (size_t i = 0; i < s->links.count; i++) {
    if (s->links.items[i].kind == ISO_EDGE_RW) return s->links.items[i].read_op;
  }
  return ISO_NO_OP;
}

static void say_scenario(teller *t) {
  const iso_branch *root = &t->s->cases.items[0];
  iso_anomaly name = iso_scenario_name(t->h, t->s);
  if (name == ISO_ANOMALY_LOST_UPDATE || name == ISO_ANOMALY_LOST_DELETE) say_lost_update(t);
  if (root->is_leaf) {
    say_cycle(t, root);
    say(t, ": a cycle of what must come before what. ");
  } else {
    say_tree(t);
    say(t, "Whatever the order of the writes is, there is a cycle. ");
  }
  iso_words_add_moral(&t->words, t->h, name, first_miss(t->s));
  say_rule(t);
}

/* ---- lists ---- */

static void note_link(const teller *t, iso_witness_parts *n, const iso_link *link) {
  uint32_t from_op = ISO_NO_OP, to_op = ISO_NO_OP;
  if (link->kind == ISO_EDGE_WR) {
    from_op = write_seen(t->h, link->from, link->read_op);
    to_op = link->read_op;
  } else if (link->kind == ISO_EDGE_WW) {
    from_op = write_of(t->h, link->from, link->key);
    to_op = write_of(t->h, link->to, link->key);
  } else if (link->kind == ISO_EDGE_RW) {
    from_op = link->read_op;
    to_op = write_of(t->h, link->to, link->key);
  }
  if (link->reason == ISO_ORDER_LIST || link->reason == ISO_ORDER_WR) iso_witness_parts_op(n, link->order_op);
  iso_witness_parts_edge(n, iso_edge_name(link->kind), link->from, link->to, from_op, to_op);
}

static char *take_words(teller *t, iso_arena *arena) {
  char *text = t->words.failed || t->words.text == NULL ? NULL : iso_arena_text(arena, t->words.text, t->words.length);
  iso_words_free(&t->words);
  t->words = (iso_words){NULL, 0, 0, false};
  return text;
}

/* The orders assumed on the way to a leaf, outermost first. */
static bool list_orders(const teller *t, const uint32_t *parent, uint32_t leaf, iso_arena *arena,
                        isoproof_anomaly_case *out) {
  for (uint32_t at = leaf; at != 0; at = parent[at]) out->order_count++;
  isoproof_write_order *orders = iso_arena_alloc(arena, out->order_count, sizeof *orders);
  if (orders == NULL) return false;
  size_t place = out->order_count;
  for (uint32_t at = leaf; at != 0; at = parent[at]) {
    const iso_branch *above = &t->s->cases.items[parent[at]];
    bool swapped = above->then[1] == at;
    orders[--place] = (isoproof_write_order){.before_txn = swapped ? above->after : above->before,
                                             .after_txn = swapped ? above->before : above->after,
                                             .key = iso_history_key_shown(t->h, above->key)};
  }
  out->orders = orders;
  return true;
}

static void say_case(teller *t, const uint32_t *parent, uint32_t leaf) {
  const char *word = "If ";
  for (uint32_t at = leaf; at != 0; at = parent[at]) {
    const iso_branch *above = &t->s->cases.items[parent[at]];
    say(t, word);
    say_order(t, above, above->then[1] == at, " came before ");
    word = " and ";
  }
  say(t, ": ");
  say_cycle(t, &t->s->cases.items[leaf]);
  say(t, ", a cycle.");
}

static bool list_case(teller *t, const uint32_t *parent, uint32_t leaf, iso_arena *arena, iso_witness_parts *all,
                      isoproof_anomaly_case *out) {
  iso_witness_parts parts = {.h = t->h};
  const iso_branch *c = &t->s->cases.items[leaf];
  for (uint32_t i = 0; i < c->links; i++) note_link(t, &parts, &t->s->links.items[c->first_link + i]);
  for (size_t i = 0; i < parts.ops.count; i++) iso_witness_parts_op(all, (uint32_t)parts.ops.items[i]);
  for (size_t i = 0; i < parts.txns.count; i++) iso_witness_parts_txn(all, (uint32_t)parts.txns.items[i]);
  out->edges = iso_witness_parts_copy_edges(&parts, arena);
  out->edge_count = parts.edges.count;
  iso_witness_parts_free(&parts);
  say_case(t, parent, leaf);
  out->explanation = take_words(t, arena);
  return out->edges != NULL && out->explanation != NULL && list_orders(t, parent, leaf, arena, out);
}

static bool list_cases(teller *t, iso_arena *arena, iso_witness_parts *parts, isoproof_anomaly *out) {
  size_t count = t->s->cases.count, leaves = 0;
  uint32_t *parent = iso_alloc_zero(count, sizeof *parent);
  for (uint32_t i = 0; parent != NULL && i < count; i++) {
    const iso_branch *c = &t->s->cases.items[i];
    leaves += c->is_leaf;
    if (!c->is_leaf) parent[c->then[0]] = parent[c->then[1]] = i;
  }
  isoproof_anomaly_case *cases = iso_arena_alloc(arena, leaves, sizeof *cases);
  bool good = parent != NULL && cases != NULL;
  for (uint32_t i = 0; good && i < count; i++) {
    if (t->s->cases.items[i].is_leaf) good = list_case(t, parent, i, arena, parts, &cases[out->case_count++]);
  }
  free(parent);
  out->cases = cases;
  return good;
}

isoproof_status iso_explain_scenario(const isoproof_history *history, const iso_scenario *scenario, iso_arena *arena,
                                     isoproof_anomaly *out, isoproof_error *error) {
  teller t = {.h = history, .s = scenario};
  iso_witness_parts parts = {.h = history};
  bool certain = scenario->cases.items[0].is_leaf;
  out->cases = NULL;
  out->case_count = 0;
  for (size_t i = 0; certain && i < scenario->links.count; i++) note_link(&t, &parts, &scenario->links.items[i]);
  for (size_t i = 0; i < scenario->known.count; i++) note_link(&t, &parts, &scenario->known.items[i]);
  for (size_t i = 0; i < scenario->txns.count; i++) iso_witness_parts_txn(&parts, scenario->txns.items[i]);
  say_scenario(&t);
  out->explanation = take_words(&t, arena);
  bool told = out->explanation != NULL && (certain || list_cases(&t, arena, &parts, out)) &&
              iso_witness_parts_hand_over(&parts, arena, out);
  iso_witness_parts_free(&parts);
  return told ? ISOPROOF_OK : iso_fail_memory(error);
}
