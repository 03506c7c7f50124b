/* An anomaly of a saved result in full, as it was written. */
#include "report/document/read.h"

typedef struct reading {
  iso_arena *arena;
  bool failed; /* memory is out */
} reading;

/* "" where there is no such text. */
static const char *text_of(reading *r, const iso_json *tree) {
  if (tree == NULL || tree->type != ISO_TREE_TEXT) return "";
  const char *text = iso_document_text(r->arena, tree->text, tree->length, SIZE_MAX);
  if (text == NULL) r->failed = true;
  return text;
}

static isoproof_scalar scalar_of(reading *r, const iso_json *tree) {
  isoproof_scalar scalar = {.type = ISOPROOF_STRING, .text = ""};
  if (tree == NULL || tree->type != ISO_TREE_TEXT || tree->length > UINT32_MAX) return scalar;
  scalar.text = iso_arena_text(r->arena, tree->text, tree->length);
  scalar.length = (uint32_t)tree->length;
  if (scalar.text == NULL) r->failed = true;
  return scalar;
}

/* Room for the children of a list, one more than there are; how many. */
static void *room_for(reading *r, const iso_json *list, size_t size, size_t *count) {
  *count = 0;
  for (const iso_json *child = list != NULL ? list->first : NULL; child != NULL; child = child->next) (*count)++;
  void *room = iso_arena_alloc(r->arena, *count + 1, size);
  if (room == NULL) r->failed = true;
  return room;
}

static const iso_json *first_of(const reading *r, const iso_json *list) {
  return list != NULL && !r->failed ? list->first : NULL;
}

static iso_full_edge read_edge(reading *r, const iso_json *tree) {
  const iso_json *key = iso_json_find(tree, "key");
  iso_full_edge edge = {.from = text_of(r, iso_json_find(tree, "from")),
                        .to = text_of(r, iso_json_find(tree, "to")),
                        .kind = text_of(r, iso_json_find(tree, "kind")),
                        .has_key = key != NULL && key->type == ISO_TREE_TEXT,
                        .key = scalar_of(r, key),
                        .from_op = ISOPROOF_NO_NUMBER,
                        .to_op = ISOPROOF_NO_NUMBER};
  (void)iso_json_u64(iso_json_find(tree, "from_op"), &edge.from_op);
  (void)iso_json_u64(iso_json_find(tree, "to_op"), &edge.to_op);
  return edge;
}

bool iso_read_full_edge(iso_arena *arena, const iso_json *tree, iso_full_edge *out) {
  reading r = {.arena = arena};
  *out = read_edge(&r, tree);
  return !r.failed;
}

static const iso_full_edge *read_edges(reading *r, const iso_json *list, size_t *count) {
  iso_full_edge *edge = room_for(r, list, sizeof *edge, count), *edges = edge;
  for (const iso_json *child = first_of(r, list); child != NULL && !r->failed; child = child->next, edge++)
    *edge = read_edge(r, child);
  return edges;
}

static void read_case(reading *r, const iso_json *tree, iso_full_case *one) {
  const iso_json *list = iso_json_find(tree, "orders");
  iso_full_order *order = room_for(r, list, sizeof *order, &one->order_count);
  one->orders = order;
  for (const iso_json *child = first_of(r, list); child != NULL && !r->failed; child = child->next, order++)
    *order = (iso_full_order){text_of(r, iso_json_find(child, "before")), text_of(r, iso_json_find(child, "after")),
                              scalar_of(r, iso_json_find(child, "key"))};
  one->edges = read_edges(r, iso_json_find(tree, "edges"), &one->edge_count);
  one->explanation = text_of(r, iso_json_find(tree, "explanation"));
}

static void read_txns(reading *r, const iso_json *tree, iso_full_anomaly *out) {
  const iso_json *names = iso_json_find(tree, "transactions"), *ids = iso_json_find(tree, "ids");
  iso_full_txn *txn = room_for(r, names, sizeof *txn, &out->txn_count);
  const iso_json *id = ids != NULL ? ids->first : NULL;
  out->txns = txn;
  out->has_ids = ids != NULL && ids->type == ISO_TREE_LIST;
  for (const iso_json *child = first_of(r, names); child != NULL && !r->failed; child = child->next, txn++) {
    txn->name = text_of(r, child);
    txn->has_id = iso_json_i64(id, &txn->id);
    if (id != NULL) id = id->next;
  }
}

isoproof_count_kind iso_read_count(const iso_json *tree, uint64_t *count) {
  const iso_json *is = iso_json_find(tree, "count_is");
  *count = 0;
  if (!iso_json_u64(iso_json_find(tree, "count"), count)) return ISOPROOF_COUNT_UNKNOWN;
  bool least = is != NULL && is->type == ISO_TREE_TEXT &&
               strcmp(is->text, isoproof_count_kind_name(ISOPROOF_COUNT_AT_LEAST)) == 0;
  return least ? ISOPROOF_COUNT_AT_LEAST : ISOPROOF_COUNT_EXACT;
}

bool iso_read_full_anomaly(iso_arena *arena, const iso_json *tree, iso_full_anomaly *out) {
  reading r = {.arena = arena};
  const iso_json *key_list = iso_json_find(tree, "keys"), *case_list = iso_json_find(tree, "cases");
  *out = (iso_full_anomaly){.code = text_of(&r, iso_json_find(tree, "code")),
                            .name = text_of(&r, iso_json_find(tree, "name")),
                            .level = text_of(&r, iso_json_find(tree, "level")),
                            .explanation = text_of(&r, iso_json_find(tree, "explanation"))};
  out->count_is = iso_read_count(tree, &out->count);
  read_txns(&r, tree, out);
  isoproof_scalar *key = room_for(&r, key_list, sizeof *key, &out->key_count);
  out->keys = key;
  for (const iso_json *child = first_of(&r, key_list); child != NULL && !r.failed; child = child->next)
    *key++ = scalar_of(&r, child);
  out->edges = read_edges(&r, iso_json_find(tree, "edges"), &out->edge_count);
  iso_full_case *one = room_for(&r, case_list, sizeof *one, &out->case_count);
  out->cases = one;
  for (const iso_json *child = first_of(&r, case_list); child != NULL && !r.failed; child = child->next)
    read_case(&r, child, one++);
  return !r.failed;
}
