/* An anomaly of a saved result, as pages and drawings show it: as many of its parts as the limits allow, and none that
 * refers to what is not there. */
#include "graph/edge.h"
#include "history/isolation.h"
#include "history/rows.h"
#include "report/document/read.h"

typedef struct reading {
  iso_arena *arena;
  isoproof_document_anomaly *out;
  isoproof_document_txn *txns;
} reading;

/* NULL where there is no such text, which the caller tells from a lack of memory by `good`. */
static const char *text_of(reading *r, const iso_json *tree, size_t most, bool *good) {
  if (tree == NULL || tree->type != ISO_TREE_TEXT) return NULL;
  const char *text = iso_document_text(r->arena, tree->text, tree->length, most);
  if (text == NULL) *good = false;
  return text;
}

/* The same, "" where there is none. */
static const char *text_or(reading *r, const iso_json *tree, size_t most, bool *good) {
  const char *text = text_of(r, tree, most, good);
  return text != NULL ? text : "";
}

/* How many children there are, at most `most`. */
static uint32_t count_of(const iso_json *list, uint32_t most) {
  uint32_t count = 0;
  for (const iso_json *child = list != NULL ? list->first : NULL; child != NULL && count < most; child = child->next)
    count++;
  return count;
}

/* ---- transactions ---- */

static const char *status_of(const iso_json *tree) {
  static const char *const known[] = {"committed", "aborted", "unknown", "initial"};
  for (size_t i = 0; tree != NULL && tree->type == ISO_TREE_TEXT && i < sizeof known / sizeof *known; i++) {
    if (strcmp(tree->text, known[i]) == 0) return known[i];
  }
  return "unknown";
}

/* What was done: of an operation on rows in the words of its statement. */
static const char *kind_of(const iso_json *tree) {
  const char *text = tree != NULL && tree->type == ISO_TREE_TEXT ? tree->text : "r";
  for (int i = 0; i < ISOPROOF_OP_KINDS; i++) {
    if (strcmp(text, isoproof_op_kind_name((isoproof_op_kind)i)) == 0)
      return isoproof_op_kind_name((isoproof_op_kind)i);
  }
  for (int i = ISO_ROW_NONE + 1; i < ISO_ROW_FORMS; i++) {
    if (strcmp(text, iso_row_form_name((iso_row_form)i)) == 0) return iso_row_form_name((iso_row_form)i);
  }
  return isoproof_op_kind_name(ISOPROOF_OP_READ);
}

static bool read_op(reading *r, const iso_json *tree, isoproof_document_op *op) {
  bool good = true;
  uint64_t number = 0, offset;
  (void)iso_json_u64(iso_json_find(tree, "number"), &number);
  *op = (isoproof_document_op){.number = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX - 1,
                               .kind = kind_of(iso_json_find(tree, "kind")),
                               .key = text_or(r, iso_json_find(tree, "key"), ISO_DOCUMENT_SCALAR, &good),
                               .value = text_of(r, iso_json_find(tree, "value"), ISO_DOCUMENT_SCALAR, &good),
                               .file = text_of(r, iso_json_find(tree, "file"), ISO_DOCUMENT_FACT, &good),
                               .offset = -1,
                               .involved = iso_json_is(iso_json_find(tree, "involved"), "true")};
  (void)iso_json_u64(iso_json_find(tree, "line"), &op->line);
  op->is_balance = iso_json_i64(iso_json_find(tree, "balance"), &op->balance);
  if (iso_json_u64(iso_json_find(tree, "offset"), &offset) && offset <= INT64_MAX) op->offset = (int64_t)offset;
  return good;
}

/* A level that transactions can carry; anything else is none. */
static const char *isolation_of(const iso_json *tree) {
  iso_txn_isolation isolation;
  bool known =
      tree != NULL && tree->type == ISO_TREE_TEXT && iso_txn_isolation_find(tree->text, tree->length, &isolation);
  return known ? iso_txn_isolation_id(isolation) : NULL;
}

static bool read_txn(reading *r, const iso_json *tree, isoproof_document_txn *txn) {
  bool good = true;
  const iso_json *list = iso_json_find(tree, "operations");
  *txn = (isoproof_document_txn){.name = text_or(r, iso_json_find(tree, "name"), ISO_DOCUMENT_SCALAR, &good),
                                 .id = text_of(r, iso_json_find(tree, "id"), ISO_DOCUMENT_SCALAR, &good),
                                 .session = text_or(r, iso_json_find(tree, "session"), ISO_DOCUMENT_SCALAR, &good),
                                 .status = status_of(iso_json_find(tree, "status")),
                                 .start = ISOPROOF_NO_TIME,
                                 .end = ISOPROOF_NO_TIME,
                                 .node = text_of(r, iso_json_find(tree, "node"), ISO_DOCUMENT_SCALAR, &good),
                                 .error = text_of(r, iso_json_find(tree, "error"), ISO_DOCUMENT_SCALAR, &good),
                                 .called = text_of(r, iso_json_find(tree, "called"), ISO_DOCUMENT_SCALAR, &good),
                                 .isolation = isolation_of(iso_json_find(tree, "isolation")),
                                 .number = ISOPROOF_INITIAL_TXN,
                                 .op_count = count_of(list, ISOPROOF_DOCUMENT_OPS)};
  (void)iso_json_i64(iso_json_find(tree, "start"), &txn->start);
  (void)iso_json_i64(iso_json_find(tree, "end"), &txn->end);
  (void)iso_json_u64(iso_json_find(tree, "number"), &txn->number);
  (void)iso_json_u64(iso_json_find(tree, "more"), &txn->more);
  isoproof_document_op *ops = iso_arena_alloc(r->arena, (size_t)txn->op_count + 1, sizeof *ops);
  if (ops == NULL) return false;
  const iso_json *child = list != NULL ? list->first : NULL;
  for (uint32_t i = 0; child != NULL && i < txn->op_count && good; i++, child = child->next)
    good = read_op(r, child, &ops[i]);
  txn->ops = ops;
  return good;
}

static bool read_txns(reading *r, const iso_json *list) {
  uint32_t count = count_of(list, ISO_DOCUMENT_TXNS);
  r->txns = iso_arena_alloc(r->arena, (size_t)count + 1, sizeof *r->txns);
  if (r->txns == NULL) return false;
  const iso_json *child = list != NULL ? list->first : NULL;
  for (uint32_t i = 0; child != NULL && i < count; i++, child = child->next) {
    if (!read_txn(r, child, &r->txns[i])) return false;
  }
  r->out->txns = r->txns;
  r->out->txn_count = count;
  return true;
}

/* A result of an earlier version has names only. */
static bool read_bare_txns(reading *r, const iso_json *list) {
  uint32_t count = count_of(list, ISO_DOCUMENT_TXNS);
  bool good = true;
  r->txns = iso_arena_alloc(r->arena, (size_t)count + 1, sizeof *r->txns);
  if (r->txns == NULL) return false;
  const iso_json *child = list != NULL ? list->first : NULL;
  for (uint32_t i = 0; child != NULL && i < count && good; i++, child = child->next) {
    const char *name = text_or(r, child, ISO_DOCUMENT_SCALAR, &good);
    r->txns[i] = (isoproof_document_txn){.name = name,
                                         .session = name,
                                         .status = "unknown",
                                         .start = ISOPROOF_NO_TIME,
                                         .end = ISOPROOF_NO_TIME,
                                         .number = UINT64_MAX - 2 - i};
  }
  r->out->txns = r->txns;
  r->out->txn_count = count;
  return good;
}

/* ---- edges and cases ---- */

static uint32_t place_of(const reading *r, const iso_json *name) {
  for (uint32_t i = 0; name != NULL && name->type == ISO_TREE_TEXT && i < r->out->txn_count; i++) {
    if (strcmp(r->txns[i].name, name->text) == 0) return i;
  }
  return ISOPROOF_NO_INDEX;
}

static uint32_t place_of_op(const reading *r, uint32_t txn, const iso_json *number) {
  uint64_t wanted;
  if (!iso_json_u64(number, &wanted)) return ISOPROOF_NO_INDEX;
  for (uint32_t i = 0; i < r->txns[txn].op_count; i++) {
    if (r->txns[txn].ops[i].number == wanted) return i;
  }
  return ISOPROOF_NO_INDEX;
}

/* NULL where nobody knows such a kind. */
static const char *edge_kind_of(const iso_json *tree) {
  iso_edge_kind kind;
  bool known = tree != NULL && tree->type == ISO_TREE_TEXT && iso_edge_find(tree->text, &kind);
  return known ? iso_edge_name(kind) : NULL;
}

static bool read_edges(reading *r, const iso_json *list, const isoproof_document_edge **out, uint32_t *out_count) {
  uint32_t count = count_of(list, ISO_DOCUMENT_EDGES);
  bool good = true;
  isoproof_document_edge *edges = iso_arena_alloc(r->arena, (size_t)count + 1, sizeof *edges);
  if (edges == NULL) return false;
  *out = edges;
  *out_count = 0;
  const iso_json *child = list != NULL ? list->first : NULL;
  for (uint32_t i = 0; child != NULL && i < count && good; i++, child = child->next) {
    uint32_t from = place_of(r, iso_json_find(child, "from")), to = place_of(r, iso_json_find(child, "to"));
    const char *kind = edge_kind_of(iso_json_find(child, "kind"));
    if (from == ISOPROOF_NO_INDEX || to == ISOPROOF_NO_INDEX || kind == NULL) continue;
    isoproof_document_edge edge = {.kind = kind,
                                   .from = from,
                                   .to = to,
                                   .from_op = place_of_op(r, from, iso_json_find(child, "from_op")),
                                   .to_op = place_of_op(r, to, iso_json_find(child, "to_op")),
                                   .key = text_of(r, iso_json_find(child, "key"), ISO_DOCUMENT_SCALAR, &good)};
    iso_document_add_edge(edges, out_count, edge);
  }
  return good;
}

static bool read_case(reading *r, const iso_json *tree, isoproof_document_case *one) {
  const iso_json *list = iso_json_find(tree, "orders");
  uint32_t count = count_of(list, ISO_DOCUMENT_EDGES);
  bool good = true;
  isoproof_document_order *orders = iso_arena_alloc(r->arena, (size_t)count + 1, sizeof *orders);
  if (orders == NULL) return false;
  *one = (isoproof_document_case){.orders = orders,
                                  .explanation = text_or(r, iso_json_find(tree, "explanation"), SIZE_MAX, &good)};
  const iso_json *child = list != NULL ? list->first : NULL;
  for (uint32_t i = 0; child != NULL && i < count && good; i++, child = child->next) {
    uint32_t before = place_of(r, iso_json_find(child, "before")), after = place_of(r, iso_json_find(child, "after"));
    if (before == ISOPROOF_NO_INDEX || after == ISOPROOF_NO_INDEX) continue;
    const char *key = text_or(r, iso_json_find(child, "key"), ISO_DOCUMENT_SCALAR, &good);
    orders[one->order_count++] = (isoproof_document_order){before, after, key};
  }
  return good && read_edges(r, iso_json_find(tree, "edges"), &one->edges, &one->edge_count);
}

static bool read_cases(reading *r, const iso_json *list) {
  uint32_t count = count_of(list, ISO_DOCUMENT_CASES);
  isoproof_document_case *cases = iso_arena_alloc(r->arena, (size_t)count + 1, sizeof *cases);
  if (cases == NULL) return false;
  const iso_json *child = list != NULL ? list->first : NULL;
  for (uint32_t i = 0; child != NULL && i < count; i++, child = child->next) {
    if (!read_case(r, child, &cases[i])) return false;
  }
  r->out->cases = cases;
  r->out->case_count = count;
  return true;
}

static bool read_keys(reading *r, const iso_json *list) {
  uint32_t count = count_of(list, ISO_DOCUMENT_KEYS);
  bool good = true;
  const char **keys = iso_arena_alloc(r->arena, (size_t)count + 1, sizeof *keys);
  if (keys == NULL) return false;
  const iso_json *child = list != NULL ? list->first : NULL;
  for (uint32_t i = 0; child != NULL && i < count && good; i++, child = child->next)
    keys[i] = text_or(r, child, ISO_DOCUMENT_SCALAR, &good);
  r->out->keys = keys;
  r->out->key_count = count;
  return good;
}

static bool read_limited(iso_arena *arena, const iso_json *tree, isoproof_document_anomaly *out) {
  bool good = true;
  reading r = {.arena = arena, .out = out};
  *out = (isoproof_document_anomaly){.meaning = ""};
  out->code = text_or(&r, iso_json_find(tree, "code"), ISO_DOCUMENT_SCALAR, &good);
  out->name = text_or(&r, iso_json_find(tree, "name"), ISO_DOCUMENT_SCALAR, &good);
  out->level = text_or(&r, iso_json_find(tree, "level"), ISO_DOCUMENT_SCALAR, &good);
  out->explanation = text_or(&r, iso_json_find(tree, "explanation"), SIZE_MAX, &good);
  out->count_is = iso_read_count(tree, &out->count);
  const iso_json *details = iso_json_find(tree, "details");
  good = good && (details != NULL ? read_txns(&r, details) : read_bare_txns(&r, iso_json_find(tree, "transactions")));
  return good && read_keys(&r, iso_json_find(tree, "keys")) &&
         read_edges(&r, iso_json_find(tree, "edges"), &out->edges, &out->edge_count) &&
         read_cases(&r, iso_json_find(tree, "cases")) && iso_document_sentences(arena, out);
}

bool iso_read_anomaly(iso_arena *arena, const iso_json *tree, iso_full_anomaly *out) {
  if (!iso_read_full_anomaly(arena, tree, out)) return false;
  out->has_details = iso_json_find(tree, "details") != NULL;
  return read_limited(arena, tree, &out->limited);
}
