/* Who read and wrote which version, pairs of versions in order, and keys whose versions are cyclic. */
#include "elle/infer/registers.h"

#include <stdlib.h>
#include <string.h>

#include "graph/components.h"
#include "history/resolve.h"

typedef ISO_VEC(uint32_t) numbers;
typedef ISO_VEC(uint64_t) pairs; /* two numbers of 32 bits each, the first one to sort by */

typedef struct maker {
  iso_registers *r;
  const iso_register_options *options;
  ISO_VEC(iso_key_access) accesses;
  pairs garbage;    /* key << 32 | value of each read of a value that nobody wrote; sorted, each once */
  numbers from, to; /* pairs of versions */
} maker;

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* ---- versions ---- */

static bool is_read(const isoproof_history *h, uint32_t op) {
  return h->op_kind[op] == ISOPROOF_OP_READ && h->op_value[op] != ISO_VALUE_NONE;
}

static bool collect_garbage(maker *m) {
  const isoproof_history *h = m->r->h;
  for (uint32_t op = 0; op < h->ops; op++) {
    if (!is_read(h, op) || m->r->resolution->writer[op] != ISO_FROM_NOBODY) continue;
    if (!iso_vec_push(&m->garbage, (uint64_t)h->op_key[op] << 32 | h->op_value[op])) return false;
  }
  if (m->garbage.count > 1) qsort(m->garbage.items, m->garbage.count, sizeof(uint64_t), by_number);
  size_t kept = 0;
  for (size_t i = 0; i < m->garbage.count; i++) {
    if (i == 0 || m->garbage.items[i] != m->garbage.items[i - 1]) m->garbage.items[kept++] = m->garbage.items[i];
  }
  m->garbage.count = kept;
  return kept < UINT32_MAX - 16 - (size_t)h->ops - h->keys;
}

static uint32_t version_seen(const maker *m, uint32_t op) {
  const isoproof_history *h = m->r->h;
  uint32_t writer = m->r->resolution->writer[op];
  if (writer == ISO_FROM_INITIAL) return h->ops + h->op_key[op];
  if (writer < h->ops) return writer;
  uint64_t wanted = (uint64_t)h->op_key[op] << 32 | h->op_value[op];
  size_t low = 0, high = m->garbage.count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (m->garbage.items[middle] <= wanted) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return h->ops + h->keys + (uint32_t)low;
}

/* ---- accesses ---- */

static bool collect_accesses(maker *m, uint32_t txn, uint32_t *latest) {
  const isoproof_history *h = m->r->h;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    bool reads = is_read(h, op), writes = h->op_kind[op] == ISOPROOF_OP_WRITE;
    if (!reads && !writes) continue;
    uint32_t key = h->op_key[op];
    if (latest[key] == UINT32_MAX || m->accesses.items[latest[key]].txn != txn) {
      iso_key_access fresh = {key, txn, ISO_NO_VERSION, ISO_NO_VERSION, ISO_NO_OP, false};
      latest[key] = (uint32_t)m->accesses.count;
      if (!iso_vec_push(&m->accesses, fresh)) return false;
    }
    iso_key_access *access = &m->accesses.items[latest[key]];
    if (writes) {
      access->written = op;
      access->wrote = true;
    } else if (!access->wrote && access->read_op == ISO_NO_OP) {
      access->read = version_seen(m, op);
      access->read_op = op;
    }
  }
  return true;
}

/* Collects what transactions did to keys and sorts it by key. */
static bool make_accesses(maker *m) {
  iso_registers *r = m->r;
  const isoproof_history *h = r->h;
  uint32_t *latest = iso_alloc(h->keys, sizeof *latest);
  bool made = latest != NULL;
  if (made) memset(latest, 0xff, (size_t)h->keys * sizeof *latest);
  for (uint32_t t = 0; made && t < h->txns; t++) made = !r->counts[t] || collect_accesses(m, t, latest);
  free(latest);
  r->accesses = iso_alloc(m->accesses.count, sizeof *r->accesses);
  r->access_first = iso_alloc_zero((size_t)h->keys + 2, sizeof *r->access_first);
  if (!made || r->accesses == NULL || r->access_first == NULL) return false;
  uint32_t *next = r->access_first + 1;
  for (size_t i = 0; i < m->accesses.count; i++) next[m->accesses.items[i].key + 1]++;
  for (uint32_t k = 0; k < h->keys; k++) next[k + 1] += next[k];
  for (size_t i = 0; i < m->accesses.count; i++) r->accesses[next[m->accesses.items[i].key]++] = m->accesses.items[i];
  return true;
}

static bool mark_installed(iso_registers *r) {
  r->installed = iso_alloc_zero(r->versions, 1);
  for (uint32_t i = 0; r->installed != NULL && i < r->access_first[r->h->keys]; i++) {
    if (r->accesses[i].wrote) r->installed[r->accesses[i].written] = 1;
  }
  return r->installed != NULL;
}

/* ---- pairs of versions ---- */

static bool pair(maker *m, uint32_t a, uint32_t b) {
  if (a == b || a == ISO_NO_VERSION || b == ISO_NO_VERSION) return true;
  return iso_vec_push(&m->from, a) && iso_vec_push(&m->to, b);
}

static uint32_t left_behind(const iso_key_access *access) { return access->wrote ? access->written : access->read; }

static bool is_committed(const iso_registers *r, const iso_key_access *access) {
  return r->h->txn_status[access->txn] == ISOPROOF_TXN_COMMITTED;
}

/* What one transaction left behind is not after what the next one of its session found, and before what it wrote. */
static bool pair_sessions(maker *m, uint32_t key) {
  const iso_registers *r = m->r;
  const iso_key_access *last = NULL;
  for (uint32_t i = r->access_first[key]; i < r->access_first[key + 1]; i++) {
    const iso_key_access *access = &r->accesses[i];
    bool same = last != NULL && r->h->txn_session[last->txn] == r->h->txn_session[access->txn];
    if (same && !(pair(m, left_behind(last), access->read) && pair(m, left_behind(last), access->written)))
      return false;
    if (!same) last = NULL;
    if (is_committed(r, access) && left_behind(access) != ISO_NO_VERSION) last = access;
  }
  return true;
}

static bool pair_by_rank(maker *m, uint32_t key) {
  const iso_registers *r = m->r;
  pairs ranked = {NULL, 0, 0};
  bool made = true;
  for (uint32_t i = r->access_first[key]; made && i < r->access_first[key + 1]; i++) {
    const iso_key_access *access = &r->accesses[i];
    uint64_t rank = m->options->txn_order_opt[access->txn];
    if (access->wrote && rank != 0) made = iso_vec_push(&ranked, rank << 32 | access->written);
  }
  if (ranked.count > 1) qsort(ranked.items, ranked.count, sizeof(uint64_t), by_number);
  for (size_t i = 1; made && i < ranked.count; i++) {
    made = pair(m, (uint32_t)ranked.items[i - 1], (uint32_t)ranked.items[i]);
  }
  iso_vec_free(&ranked);
  return made;
}

static bool make_pairs(maker *m) {
  const iso_registers *r = m->r;
  for (uint32_t k = 0; k < r->h->keys; k++) {
    for (uint32_t i = r->access_first[k]; m->options->wfr_keys && i < r->access_first[k + 1]; i++) {
      if (!pair(m, r->accesses[i].read, r->accesses[i].written)) return false;
    }
    if (m->options->sequential_keys && !pair_sessions(m, k)) return false;
    if (m->options->txn_order_opt != NULL && !pair_by_rank(m, k)) return false;
  }
  return true;
}

static bool make_rows(maker *m) {
  iso_registers *r = m->r;
  r->after_first = iso_alloc_zero((size_t)r->versions + 2, sizeof *r->after_first);
  r->after = iso_alloc(m->from.count, sizeof *r->after);
  if (r->after_first == NULL || r->after == NULL) return false;
  uint32_t *next = r->after_first + 1;
  for (size_t i = 0; i < m->from.count; i++) next[m->from.items[i] + 1]++;
  for (uint32_t v = 0; v < r->versions; v++) next[v + 1] += next[v];
  for (size_t i = 0; i < m->from.count; i++) r->after[next[m->from.items[i]]++] = m->to.items[i];
  return true;
}

/* ---- real time ---- */

static void enter_at(iso_registers *r, uint32_t version, uint32_t instant) {
  if (version == ISO_NO_VERSION || instant == ISO_NO_INSTANT) return;
  if (instant + 1 > r->entered[version]) r->entered[version] = instant + 1;
}

static isoproof_status make_instants(iso_registers *r, isoproof_error *error) {
  iso_instants instants;
  r->left = iso_alloc(r->versions, sizeof *r->left);
  r->entered = iso_alloc_zero(r->versions, sizeof *r->entered);
  if (r->left == NULL || r->entered == NULL) return iso_fail_memory(error);
  memset(r->left, 0xff, (size_t)r->versions * sizeof *r->left);
  ISO_TRY(iso_instants_make(r->h, r->counts, &instants, error));
  for (uint32_t i = 0; i < r->access_first[r->h->keys]; i++) {
    const iso_key_access *access = &r->accesses[i];
    uint32_t left = left_behind(access), ended = instants.ended[access->txn];
    enter_at(r, access->read, instants.begun[access->txn]);
    enter_at(r, access->written, instants.begun[access->txn]);
    if (left != ISO_NO_VERSION && ended < r->left[left]) r->left[left] = ended;
  }
  iso_instants_free(&instants);
  return ISOPROOF_OK;
}

/* ---- cycles of versions ---- */

/* The versions of a key that somebody found or wrote, the initial one included, each once, ascending. */
static bool versions_of(const iso_registers *r, uint32_t key, numbers *out) {
  out->count = 0;
  for (uint32_t i = r->access_first[key]; i < r->access_first[key + 1]; i++) {
    const iso_key_access *access = &r->accesses[i];
    if (access->read != ISO_NO_VERSION && !iso_vec_push(out, access->read)) return false;
    if (access->wrote && !iso_vec_push(out, access->written)) return false;
  }
  return iso_vec_push(out, r->h->ops + key);
}

/* A chain of instants of one key: a version leads to the instant it was left at, and a instant to what was entered
 * after. A version that leads back to itself that way was merely seen twice. */
static bool chain_instants(const iso_registers *r, const numbers *versions, iso_dependency_list *edges, pairs *sorted) {
  sorted->count = 0;
  for (size_t i = 0; i < versions->count; i++) {
    uint32_t v = versions->items[i];
    if (r->entered[v] == 0) continue;
    if (!iso_vec_push(sorted, (uint64_t)(r->entered[v] - 1) << 32 | v)) return false;
  }
  if (sorted->count == 0) return true;
  qsort(sorted->items, sorted->count, sizeof(uint64_t), by_number);
  uint32_t base = edges->nodes;
  for (size_t i = 0; i < sorted->count; i++) {
    uint32_t node = iso_dependency_node(edges);
    iso_dependency_add(edges, node, (uint32_t)sorted->items[i], ISO_PASSAGE);
    if (i + 1 < sorted->count) iso_dependency_add(edges, node, node + 1, ISO_PASSAGE);
  }
  for (size_t i = 0; i < versions->count; i++) {
    uint32_t v = versions->items[i];
    if (r->left[v] == ISO_NO_INSTANT) continue;
    size_t low = 0, high = sorted->count; /* the first entrance that is not before */
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (sorted->items[middle] >> 32 < r->left[v]) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low < sorted->count) iso_dependency_add(edges, v, base + (uint32_t)low, ISO_PASSAGE);
  }
  return true;
}

/* Everything known about versions as one graph: pairs, the initial version first, and real time. */
static bool version_edges(const iso_registers *r, iso_dependency_list *edges) {
  numbers versions = {NULL, 0, 0};
  pairs sorted = {NULL, 0, 0};
  bool made = true;
  for (uint32_t k = 0; made && k < r->h->keys; k++) {
    made = versions_of(r, k, &versions);
    for (size_t i = 0; made && i < versions.count; i++) {
      uint32_t v = versions.items[i];
      iso_dependency_add(edges, r->h->ops + k, v, ISO_PASSAGE);
      for (uint32_t e = r->after_first[v]; e < r->after_first[v + 1]; e++)
        iso_dependency_add(edges, v, r->after[e], ISO_PASSAGE);
    }
    if (made && r->left != NULL) made = chain_instants(r, &versions, edges, &sorted);
  }
  iso_vec_free(&versions);
  iso_vec_free(&sorted);
  return made && !edges->failed;
}

static uint32_t key_of_version(const maker *m, uint32_t version) {
  const isoproof_history *h = m->r->h;
  if (version < h->ops) return h->op_key[version];
  if (version < h->ops + h->keys) return version - h->ops;
  return (uint32_t)(m->garbage.items[version - h->ops - h->keys] >> 32);
}

/* Two versions in one component come before each other. */
static isoproof_status mark_cyclic(const maker *m, const iso_components *components, isoproof_error *error) {
  enum { UNSEEN = -1, COUNTED = -2 };
  iso_registers *r = m->r;
  const uint32_t *component = components->of;
  int64_t *one = iso_alloc(components->count, sizeof *one);
  if (one == NULL) return iso_fail_memory(error);
  for (uint32_t c = 0; c < components->count; c++) one[c] = UNSEEN;
  for (uint32_t v = 0; v < r->versions; v++) {
    if (component[v] == ISO_NO_COMPONENT || one[component[v]] == COUNTED) continue;
    if (one[component[v]] == UNSEEN) {
      one[component[v]] = v;
      continue;
    }
    uint32_t key = key_of_version(m, v);
    if (r->cyclic[key]++ == 0) {
      r->cyclic_one[key] = (uint32_t)one[component[v]];
      r->cyclic_other[key] = v;
    }
    one[component[v]] = COUNTED;
  }
  free(one);
  return ISOPROOF_OK;
}

static isoproof_status find_cycles(const maker *m, isoproof_task *task, isoproof_error *error) {
  iso_registers *r = m->r;
  iso_dependency_list edges;
  iso_dependency_graph graph;
  r->cyclic = iso_alloc_zero(r->h->keys, sizeof *r->cyclic);
  r->cyclic_one = iso_alloc(r->h->keys, sizeof *r->cyclic_one);
  r->cyclic_other = iso_alloc(r->h->keys, sizeof *r->cyclic_other);
  if (r->cyclic == NULL || r->cyclic_one == NULL || r->cyclic_other == NULL) return iso_fail_memory(error);
  if (m->from.count == 0 && r->left == NULL) return ISOPROOF_OK; /* the initial version alone makes no cycles */
  iso_dependency_list_init(&edges, r->versions);
  if (!version_edges(r, &edges)) edges.failed = true;
  ISO_TRY(iso_dependency_graph_make(&edges, &graph, error));
  iso_components components = {.of = iso_alloc(graph.nodes, sizeof *components.of)};
  isoproof_status status = components.of != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK) {
    status = iso_components_of_rows(graph.first, graph.to, graph.nodes, task, &components, error);
  }
  if (status == ISOPROOF_OK) status = mark_cyclic(m, &components, error);
  free(components.of);
  iso_dependency_graph_free(&graph);
  return status;
}

static isoproof_status make(maker *m, isoproof_task *task, isoproof_error *error) {
  iso_registers *r = m->r;
  if (!collect_garbage(m)) return iso_fail_memory(error);
  r->versions = r->h->ops + r->h->keys + (uint32_t)m->garbage.count;
  if (!make_accesses(m) || !mark_installed(r) || !make_pairs(m) || !make_rows(m)) return iso_fail_memory(error);
  if (m->options->linearizable_keys) ISO_TRY(make_instants(r, error));
  return find_cycles(m, task, error);
}

isoproof_status iso_registers_make(isoproof_history *history, const uint8_t *counts,
                                   const iso_register_options *options, isoproof_task *task, iso_registers *registers,
                                   isoproof_error *error) {
  memset(registers, 0, sizeof *registers);
  maker m = {.r = registers, .options = options};
  registers->h = history;
  registers->counts = counts;
  ISO_TRY(iso_history_resolve(history, task, &registers->resolution, error));
  ISO_TRY(iso_history_op_txns(history, &registers->op_txn, error));
  if ((uint64_t)history->ops + history->keys >= UINT32_MAX / 2) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "%u operations are too many for this check", history->ops);
  }
  isoproof_status status = make(&m, task, error);
  iso_vec_free(&m.accesses);
  iso_vec_free(&m.garbage);
  iso_vec_free(&m.from);
  iso_vec_free(&m.to);
  if (status != ISOPROOF_OK) iso_registers_free(registers);
  return status;
}

void iso_registers_free(iso_registers *r) {
  free(r->accesses);
  free(r->access_first);
  free(r->installed);
  free(r->after_first);
  free(r->after);
  free(r->left);
  free(r->entered);
  free(r->cyclic);
  free(r->cyclic_one);
  free(r->cyclic_other);
  memset(r, 0, sizeof *r);
}

static bool is_among(const numbers *list, uint32_t version) {
  for (size_t i = 0; i < list->count; i++) {
    if (list->items[i] == version) return true;
  }
  return false;
}

/* Whether known pairs lead from one version to another, with nothing installed between them. */
static bool leads(const iso_registers *r, uint32_t a, uint32_t b) {
  numbers queue = {NULL, 0, 0};
  bool found = false, room = iso_vec_push(&queue, a);
  for (size_t i = 0; room && !found && i < queue.count; i++) {
    for (uint32_t e = r->after_first[queue.items[i]]; e < r->after_first[queue.items[i] + 1] && !found && room; e++) {
      uint32_t next = r->after[e];
      found = next == b;
      if (!found && !r->installed[next] && !is_among(&queue, next)) room = iso_vec_push(&queue, next);
    }
  }
  iso_vec_free(&queue);
  return found;
}

bool iso_registers_before(const iso_registers *r, uint32_t a, uint32_t b) {
  if (a == b) return false;
  if (a >= r->h->ops && a < r->h->ops + r->h->keys) return true;
  if (r->left != NULL && r->left[a] != ISO_NO_INSTANT && r->entered[b] != 0 && r->left[a] <= r->entered[b] - 1) {
    return true;
  }
  return leads(r, a, b);
}
