/* Which of several longest reads of a key is taken for its order: one that makes the writes run in a cycle, if any. */
#include <stdlib.h>
#include <string.h>

#include "elle/infer/lists.h"
#include "graph/components.h"

/* A read of the greatest length of its key. */
typedef struct candidate {
  uint32_t key;
  uint32_t odd; /* as in iso_lists.odd_order */
} candidate;

typedef ISO_VEC(uint32_t) numbers;

typedef struct chooser {
  iso_lists *l;
  const iso_dependency_list *orders;
  ISO_VEC(candidate) candidates; /* of keys that have several, by key, no two of them the same list */
  numbers first;                 /* by tied key: its first candidate; and the end */
  uint32_t *append_first;        /* keys + 1 */
  uint32_t *append;              /* the appends to each key that count */
  uint32_t *stamp;               /* by operation: the walk that met it last */
  uint32_t walks;
  iso_dependency_list fixed; /* WW of the keys where there is nothing to choose */
} chooser;

/* How many candidates of one key are looked at, and how many choices at most: all there are, or as many as look at
 * about WORK edges together. */
enum { CANDIDATES = 16, CHOICES = 4096, WORK = 20000000 };

/* What writes run into: the higher the better as a choice. */
typedef enum finding { NOTHING, WITH_ORDERS, BY_THEMSELVES } finding;

/* ---- candidates ---- */

static const iso_value *values_of(const iso_lists *l, candidate c) {
  const isoproof_history *h = l->h;
  return c.odd == ISO_NO_OP ? h->list_values + h->list_first[c.key] : h->odd_values + h->odd_first[c.odd];
}

static const uint32_t *appends_of(const iso_lists *l, candidate c) {
  const isoproof_history *h = l->h;
  return c.odd == ISO_NO_OP ? l->resolution->list_writer + h->list_first[c.key]
                            : l->resolution->odd_writer + h->odd_first[c.odd];
}

static bool is_longest(const iso_lists *l, uint32_t op, candidate *out) {
  const isoproof_history *h = l->h;
  uint32_t count = 0, key = h->op_key[op];
  if (h->op_kind[op] != ISOPROOF_OP_READ_LIST || iso_history_list(h, op, &count) == NULL) return false;
  bool odd = (h->op_value[op] & ISO_VALUE_INTERNED) != 0;
  *out = (candidate){key, odd ? h->op_value[op] & ~ISO_VALUE_INTERNED : ISO_NO_OP};
  return count > 0 && count == l->length[key];
}

static int by_key(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->odd > y->odd) - (x->odd < y->odd);
}

static bool is_new(const chooser *c, size_t first, size_t end, candidate one) {
  size_t bytes = c->l->length[one.key] * sizeof(iso_value);
  for (size_t i = first; i < end; i++) {
    if (memcmp(values_of(c->l, c->candidates.items[i]), values_of(c->l, one), bytes) == 0) return false;
  }
  return true;
}

/* Leaves the keys that have several candidates. */
static bool keep_tied(chooser *c) {
  size_t kept = 0;
  for (size_t i = 0; i < c->candidates.count;) {
    size_t begun = kept;
    uint32_t key = c->candidates.items[i].key;
    for (; i < c->candidates.count && c->candidates.items[i].key == key; i++) {
      bool wanted = kept - begun < CANDIDATES && is_new(c, begun, kept, c->candidates.items[i]);
      if (wanted) c->candidates.items[kept++] = c->candidates.items[i];
    }
    if (kept - begun < 2) {
      kept = begun;
    } else if (!iso_vec_push(&c->first, (uint32_t)begun)) {
      return false;
    }
  }
  c->candidates.count = kept;
  return iso_vec_push(&c->first, (uint32_t)kept);
}

static bool find_candidates(chooser *c) {
  const isoproof_history *h = c->l->h;
  candidate one;
  for (uint32_t op = 0; op < h->ops; op++) {
    bool wanted = c->l->counts[c->l->op_txn[op]] && is_longest(c->l, op, &one);
    bool again = wanted && c->candidates.count > 0 &&
                 memcmp(&c->candidates.items[c->candidates.count - 1], &one, sizeof one) == 0;
    if (wanted && !again && !iso_vec_push(&c->candidates, one)) return false;
  }
  if (c->candidates.count > 1) {
    qsort(c->candidates.items, c->candidates.count, sizeof *c->candidates.items, by_key);
  }
  return keep_tied(c);
}

/* ---- writes in order ---- */

static bool collect_appends(chooser *c) {
  const isoproof_history *h = c->l->h;
  c->append_first = iso_alloc_zero((size_t)h->keys + 2, sizeof *c->append_first);
  c->append = iso_alloc(h->ops, sizeof *c->append);
  c->stamp = iso_alloc_zero(h->ops, sizeof *c->stamp);
  if (c->append_first == NULL || c->append == NULL || c->stamp == NULL) return false;
  uint32_t *next = c->append_first + 1;
  for (uint32_t pass = 0; pass < 2; pass++) {
    for (uint32_t op = 0; op < h->ops; op++) {
      if (h->op_kind[op] != ISOPROOF_OP_APPEND || !c->l->counts[c->l->op_txn[op]]) continue;
      if (pass == 0) {
        next[h->op_key[op] + 1]++;
      } else {
        c->append[next[h->op_key[op]]++] = op;
      }
    }
    for (uint32_t k = 0; pass == 0 && k < h->keys; k++) next[k + 1] += next[k];
  }
  return true;
}

/* WW of a key by the order of a candidate: each append after the one before it, and what is not shown after the last.
 */
static void add_order(chooser *c, candidate one, iso_dependency_list *edges) {
  const iso_lists *l = c->l;
  const uint32_t *appends = appends_of(l, one);
  uint32_t last = ISO_NO_OP, walk = ++c->walks;
  for (uint32_t i = 0; i < l->length[one.key]; i++) {
    uint32_t op = appends[i];
    if (op >= l->h->ops || c->stamp[op] == walk || !l->counts[l->op_txn[op]]) continue;
    c->stamp[op] = walk;
    if (last != ISO_NO_OP) iso_dependency_add(edges, l->op_txn[last], l->op_txn[op], ISO_DEPENDENCY_WW);
    last = op;
  }
  for (uint32_t i = c->append_first[one.key]; last != ISO_NO_OP && i < c->append_first[one.key + 1]; i++) {
    if (c->stamp[c->append[i]] == walk) continue;
    iso_dependency_add(edges, l->op_txn[last], l->op_txn[c->append[i]], ISO_DEPENDENCY_WW);
  }
}

static void add_fixed(chooser *c) {
  const iso_lists *l = c->l;
  size_t tied = 0;
  iso_dependency_list_init(&c->fixed, l->h->txns);
  for (uint32_t k = 0; k < l->h->keys; k++) {
    while (c->candidates.items[c->first.items[tied]].key < k && tied + 2 < c->first.count) tied++;
    bool fixed = c->candidates.items[c->first.items[tied]].key != k;
    if (fixed && l->length[k] > 0) add_order(c, (candidate){k, l->odd_order[k]}, &c->fixed);
  }
}

static void add_all(const iso_dependency_list *from, iso_dependency_list *to) {
  if (from->nodes > to->nodes) to->nodes = from->nodes;
  to->failed |= from->failed;
  for (size_t i = 0; i < from->from.count; i++) {
    iso_dependency_add(to, from->from.items[i], from->to.items[i], from->kind.items[i]);
  }
}

/* Whether edges run in a cycle; frees them. */
static isoproof_status is_cyclic(iso_dependency_list *edges, isoproof_task *task, bool *cyclic, isoproof_error *error) {
  iso_dependency_graph graph;
  ISO_TRY(iso_dependency_graph_make(edges, &graph, error));
  iso_components components = {.of = iso_alloc(graph.nodes, sizeof *components.of)};
  isoproof_status status = components.of != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK) {
    status = iso_components_of_rows(graph.first, graph.to, graph.nodes, task, &components, error);
  }
  *cyclic = status == ISOPROOF_OK && components.count > 0;
  free(components.of);
  iso_dependency_graph_free(&graph);
  return status;
}

/* ---- choices ---- */

/* `choice` has a candidate for each tied key; NULL for all of them at once. */
static isoproof_status judge(chooser *c, const uint32_t *choice, isoproof_task *task, finding *out,
                             isoproof_error *error) {
  *out = NOTHING;
  for (finding kind = BY_THEMSELVES; kind != NOTHING; kind--) {
    iso_dependency_list edges;
    bool cyclic;
    if (kind == WITH_ORDERS && c->orders->from.count == 0) break;
    iso_dependency_list_init(&edges, c->l->h->txns);
    if (kind == WITH_ORDERS) add_all(c->orders, &edges);
    add_all(&c->fixed, &edges);
    for (uint32_t i = 0; i < c->candidates.count; i++) {
      bool taken = choice == NULL;
      for (size_t t = 0; !taken && t + 1 < c->first.count; t++) taken = choice[t] == i;
      if (taken) add_order(c, c->candidates.items[i], &edges);
    }
    ISO_TRY(is_cyclic(&edges, task, &cyclic, error));
    if (!cyclic) continue;
    *out = kind;
    break;
  }
  return ISOPROOF_OK;
}

/* Choice number i where there are too many to try all: a cycle of few keys is met soon, however many keys are tied. */
static void scatter(const chooser *c, uint64_t i, uint32_t *choice) {
  for (size_t t = 0; t + 1 < c->first.count; t++) {
    uint64_t mixed = (i * 0x9e3779b97f4a7c15u) ^ ((t + 1) * 0xbf58476d1ce4e5b9u);
    mixed = (mixed ^ mixed >> 31) * 0x94d049bb133111ebu;
    choice[t] = c->first.items[t] + (uint32_t)((mixed >> 32) % (c->first.items[t + 1] - c->first.items[t]));
  }
}

static bool can_try_all(const chooser *c, size_t limit) {
  size_t choices = 1;
  for (size_t t = 0; t + 1 < c->first.count && choices <= limit; t++) {
    choices *= c->first.items[t + 1] - c->first.items[t];
  }
  return choices <= limit;
}

/* The next choice, as a number whose digits are the candidates of each key; false after the last one. */
static bool advance(const chooser *c, uint32_t *choice) {
  for (size_t t = 0; t + 1 < c->first.count; t++) {
    if (++choice[t] < c->first.items[t + 1]) return true;
    choice[t] = c->first.items[t];
  }
  return false;
}

static void take(const chooser *c, const uint32_t *choice) {
  for (size_t t = 0; t + 1 < c->first.count; t++) {
    candidate one = c->candidates.items[choice[t]];
    c->l->odd_order[one.key] = one.odd;
  }
}

static isoproof_status try_choices(chooser *c, uint32_t *choice, isoproof_task *task, isoproof_error *error) {
  finding best = NOTHING, most, now;
  ISO_TRY(judge(c, NULL, task, &most, error));
  size_t size = c->fixed.from.count + c->orders->from.count + c->l->h->txns + 1;
  size_t limit = WORK / size < CHOICES ? WORK / size + 1 : CHOICES;
  bool all = can_try_all(c, limit);
  memcpy(choice, c->first.items, (c->first.count - 1) * sizeof *choice);
  for (size_t i = 0; i < limit && best < most; i++) {
    ISO_TRY(judge(c, choice, task, &now, error));
    if (now > best) take(c, choice);
    if (now > best) best = now;
    if (all && !advance(c, choice)) break;
    if (!all) scatter(c, i, choice);
  }
  return ISOPROOF_OK;
}

static isoproof_status choose(chooser *c, isoproof_task *task, isoproof_error *error) {
  if (!find_candidates(c)) return iso_fail_memory(error);
  if (c->candidates.count == 0) return ISOPROOF_OK;
  if (!collect_appends(c)) return iso_fail_memory(error);
  add_fixed(c);
  uint32_t *choice = iso_alloc(c->first.count, sizeof *choice);
  isoproof_status status = choice != NULL ? try_choices(c, choice, task, error) : iso_fail_memory(error);
  free(choice);
  return status;
}

isoproof_status iso_lists_choose(iso_lists *lists, const iso_dependency_list *orders, isoproof_task *task,
                                 isoproof_error *error) {
  if (lists->odd_order == NULL) return ISOPROOF_OK;
  chooser c = {.l = lists, .orders = orders};
  isoproof_status status = choose(&c, task, error);
  iso_vec_free(&c.candidates);
  iso_vec_free(&c.first);
  free(c.append_first);
  free(c.append);
  free(c.stamp);
  iso_dependency_list_free(&c.fixed);
  return status;
}
