/* The transactions, operations, keys and edges of a witness, each once. */
#include "explain/witness_parts.h"
#include "history/row_text.h"

#include <string.h>

void iso_witness_parts_free(iso_witness_parts *parts) {
  iso_vec_free(&parts->txns);
  iso_vec_free(&parts->ops);
  iso_vec_free(&parts->keys);
  iso_vec_free(&parts->edges);
}

static uint64_t public_txn(uint32_t txn) { return txn == ISO_FROM_INITIAL ? ISOPROOF_INITIAL_TXN : txn; }

static bool holds(const uint64_t *items, size_t count, uint64_t item) {
  for (size_t i = 0; i < count; i++) {
    if (items[i] == item) return true;
  }
  return false;
}

void iso_witness_parts_txn(iso_witness_parts *n, uint32_t txn) {
  if (txn >= n->h->txns || holds(n->txns.items, n->txns.count, txn)) return;
  if (!iso_vec_push(&n->txns, (uint64_t)txn)) n->failed = true;
}

void iso_witness_parts_op(iso_witness_parts *n, uint32_t op) {
  if (op >= n->h->ops || holds(n->ops.items, n->ops.count, op)) return;
  if (!iso_vec_push(&n->ops, (uint64_t)op)) n->failed = true;
}

static void note_key(iso_witness_parts *n, uint32_t key) {
  for (size_t i = 0; i < n->keys.count; i++) {
    if (n->keys.items[i] == key) return;
  }
  if (!iso_vec_push(&n->keys, key)) n->failed = true;
}

static bool same_edge(const isoproof_edge *a, const isoproof_edge *b) {
  return a->from_txn == b->from_txn && a->to_txn == b->to_txn && a->from_op == b->from_op && a->to_op == b->to_op &&
         strcmp(a->kind, b->kind) == 0;
}

void iso_witness_parts_edge(iso_witness_parts *n, const char *kind, uint32_t from, uint32_t to, uint32_t from_op,
                            uint32_t to_op) {
  isoproof_edge edge = {.kind = kind,
                        .from_txn = public_txn(from),
                        .to_txn = public_txn(to),
                        .from_op = from_op < n->h->ops ? from_op : ISOPROOF_NO_NUMBER,
                        .to_op = to_op < n->h->ops ? to_op : ISOPROOF_NO_NUMBER};
  uint32_t op = to_op < n->h->ops ? to_op : from_op;
  if (op < n->h->ops) {
    edge.has_key = true;
    edge.key = iso_history_key_shown(n->h, n->h->op_key[op]);
    note_key(n, n->h->op_key[op]);
  }
  iso_witness_parts_txn(n, from);
  iso_witness_parts_txn(n, to);
  iso_witness_parts_op(n, from_op);
  iso_witness_parts_op(n, to_op);
  for (size_t i = 0; i < n->edges.count; i++) {
    if (same_edge(&n->edges.items[i], &edge)) return;
  }
  if (!iso_vec_push(&n->edges, edge)) n->failed = true;
}

static void *copy(iso_arena *arena, const void *items, size_t count, size_t size) {
  void *made = iso_arena_alloc(arena, count, size);
  if (made != NULL && count > 0) memcpy(made, items, count * size);
  return made;
}

const isoproof_edge *iso_witness_parts_copy_edges(const iso_witness_parts *n, iso_arena *arena) {
  return n->failed ? NULL : copy(arena, n->edges.items, n->edges.count, sizeof *n->edges.items);
}

bool iso_witness_parts_hand_over(const iso_witness_parts *n, iso_arena *arena, isoproof_anomaly *out) {
  isoproof_scalar *keys = iso_arena_alloc(arena, n->keys.count, sizeof *keys);
  if (keys == NULL || n->failed) return false;
  for (size_t i = 0; i < n->keys.count; i++) keys[i] = iso_history_key_shown(n->h, n->keys.items[i]);
  out->keys = keys;
  out->key_count = n->keys.count;
  out->txns = copy(arena, n->txns.items, n->txns.count, sizeof *n->txns.items);
  out->txn_count = n->txns.count;
  out->ops = copy(arena, n->ops.items, n->ops.count, sizeof *n->ops.items);
  out->op_count = n->ops.count;
  out->edges = iso_witness_parts_copy_edges(n, arena);
  out->edge_count = n->edges.count;
  return out->txns != NULL && out->ops != NULL && out->edges != NULL;
}
