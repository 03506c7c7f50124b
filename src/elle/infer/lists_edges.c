/* Dependencies between transactions from the versions of lists. */
#include <stdlib.h>

#include "elle/infer/lists.h"

/* Keys whose last version somebody appended to without anybody seeing it: who read that version, and who appended. */
typedef struct unseen {
  const iso_lists *l;
  iso_dependency_list *edges;
  uint8_t *has; /* by key */
  ISO_VEC(uint64_t) readers;
  ISO_VEC(uint64_t) writers; /* key << 32 | transaction */
  ISO_VEC(uint32_t) sources;
  ISO_VEC(uint32_t) targets;
} unseen;

static void order_edges(const iso_lists *l, iso_dependency_list *edges) {
  for (uint32_t k = 0; k < l->h->keys; k++) {
    uint32_t last = iso_lists_last_version(l, k);
    for (uint32_t v = 2; v <= last; v++) {
      iso_dependency_add(edges, iso_lists_writer(l, k, v - 1), iso_lists_writer(l, k, v), ISO_DEPENDENCY_WW);
    }
  }
}

/* A read of another order still saw its last element. */
static void odd_read_edges(const iso_lists *l, uint32_t txn, uint32_t op, iso_dependency_list *edges) {
  uint32_t count;
  const uint32_t *appends = iso_lists_appends(l, op, &count);
  for (uint32_t i = count; appends != NULL && i-- > 0;) {
    if (appends[i] >= l->h->ops || l->op_txn[appends[i]] == txn || !l->counts[l->op_txn[appends[i]]]) continue;
    iso_dependency_add(edges, l->op_txn[appends[i]], txn, ISO_DEPENDENCY_WR);
    return;
  }
}

static bool read_edges(unseen *u, uint32_t txn, uint32_t op) {
  const iso_lists *l = u->l;
  uint32_t version, key = l->h->op_key[op];
  if (l->h->op_value[op] == ISO_VALUE_NONE) return true;
  if (!iso_lists_version(l, op, &version)) {
    odd_read_edges(l, txn, op, u->edges);
  } else if (version > 0) {
    iso_dependency_add(u->edges, iso_lists_writer(l, key, version), txn, ISO_DEPENDENCY_WR);
  }
  if (!iso_lists_missed_after(l, op, &version)) return true;
  if (version < iso_lists_last_version(l, key)) {
    iso_dependency_add(u->edges, txn, iso_lists_writer(l, key, version + 1), ISO_DEPENDENCY_RW);
    return true;
  }
  return !u->has[key] || iso_vec_push(&u->readers, (uint64_t)key << 32 | txn);
}

static bool is_unseen_append(const iso_lists *l, uint32_t op) {
  return l->h->op_kind[op] == ISOPROOF_OP_APPEND && l->place[op] == 0;
}

static bool find_unseen(unseen *u) {
  const isoproof_history *h = u->l->h;
  u->has = iso_alloc_zero(h->keys, 1);
  if (u->has == NULL) return false;
  for (uint32_t t = 0; t < h->txns; t++) {
    if (!u->l->counts[t]) continue;
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++) {
      if (!is_unseen_append(u->l, op)) continue;
      u->has[h->op_key[op]] = 1;
      if (!iso_vec_push(&u->writers, (uint64_t)h->op_key[op] << 32 | t)) return false;
    }
  }
  return true;
}

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* The transactions of a key, each once; *at moves behind them. */
#define TAKE(list, at, key, out)                                                                                       \
  do {                                                                                                                 \
    (out)->count = 0;                                                                                                  \
    for (; *(at) < (list)->count && (list)->items[*(at)] >> 32 == (key); (*(at))++) {                                  \
      uint32_t txn = (uint32_t)(list)->items[*(at)];                                                                   \
      bool again = (out)->count > 0 && (out)->items[(out)->count - 1] == txn;                                          \
      if (!again && !iso_vec_push(out, txn)) return false;                                                             \
    }                                                                                                                  \
  } while (0)

/* What nobody saw comes after the last version that somebody saw. */
static bool unseen_edges(unseen *u) {
  if (u->writers.count > 1) qsort(u->writers.items, u->writers.count, sizeof(uint64_t), by_number);
  if (u->readers.count > 1) qsort(u->readers.items, u->readers.count, sizeof(uint64_t), by_number);
  size_t reader = 0, writer = 0;
  while (writer < u->writers.count) {
    uint32_t key = (uint32_t)(u->writers.items[writer] >> 32), last = iso_lists_last_version(u->l, key);
    TAKE(&u->writers, &writer, key, &u->targets);
    while (reader < u->readers.count && u->readers.items[reader] >> 32 < key) reader++;
    TAKE(&u->readers, &reader, key, &u->sources);
    iso_dependency_add_bipartite(u->edges, u->sources.items, u->sources.count, u->targets.items, u->targets.count,
                                 ISO_DEPENDENCY_RW);
    if (last == 0) continue;
    uint32_t maker = iso_lists_writer(u->l, key, last);
    iso_dependency_add_bipartite(u->edges, &maker, 1, u->targets.items, u->targets.count, ISO_DEPENDENCY_WW);
  }
  return true;
}

static isoproof_status make_edges(unseen *u, isoproof_task *task, isoproof_error *error) {
  const isoproof_history *h = u->l->h;
  order_edges(u->l, u->edges);
  if (!find_unseen(u)) return iso_fail_memory(error);
  for (uint32_t t = 0; t < h->txns; t++) {
    if ((t & 8191) == 0) ISO_TRY(iso_task_check(task, error));
    if (!u->l->counts[t]) continue;
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++) {
      if (h->op_kind[op] == ISOPROOF_OP_READ_LIST && !read_edges(u, t, op)) return iso_fail_memory(error);
    }
  }
  return unseen_edges(u) ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_lists_edges(const iso_lists *lists, isoproof_task *task, iso_dependency_list *edges,
                                isoproof_error *error) {
  unseen u = {.l = lists, .edges = edges};
  isoproof_status status = make_edges(&u, task, error);
  free(u.has);
  iso_vec_free(&u.readers);
  iso_vec_free(&u.writers);
  iso_vec_free(&u.sources);
  iso_vec_free(&u.targets);
  return status;
}
