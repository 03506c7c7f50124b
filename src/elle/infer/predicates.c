/* Versions of rows by stages of life, and what reads and queries say of them. */
#include "elle/infer/predicates.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "history/resolve.h"

/* A predicate, taken apart. */
typedef struct predicate {
  enum { ALWAYS, EQUAL, MODULO, NOT_UNDERSTOOD } kind;
  int64_t equal_number, divisor, rest;
} predicate;

typedef struct maker {
  iso_predicates *p;
  iso_dependency_list *edges;
  uint8_t *shown; /* by key: in the rows of the query at hand */
} maker;

enum { MANY = -2, NONE = -1 }; /* instead of the place of a version */

static bool is_text(isoproof_scalar s, isoproof_scalar_type type, const char *text) {
  return s.type == type && s.length == strlen(text) && memcmp(s.text, text, s.length) == 0;
}

static isoproof_scalar key_name(const isoproof_history *h, uint32_t key) {
  return iso_history_scalar(h, h->key_name[key]);
}

/* ---- versions ---- */

static void find_dead(iso_predicates *p) {
  p->dead = ISO_VALUE_NONE;
  for (uint32_t i = 0; i < p->h->pool.count; i++) {
    iso_value code = ISO_VALUE_INTERNED | i;
    if (is_text(iso_history_scalar(p->h, code), ISOPROOF_KEYWORD, "elle/dead")) p->dead = code;
  }
}

static bool is_initial_state(const isoproof_history *h, uint32_t txn) {
  uint32_t first = h->txn_first_op[txn];
  return first < h->txn_first_op[txn + 1] && h->op_kind[first] == ISOPROOF_OP_READ_PREDICATE &&
         h->op_value[first] == ISO_VALUE_NONE && is_text(key_name(h, h->op_key[first]), ISOPROOF_SYMBOL, "init");
}

static int by_stage(const void *a, const void *b) {
  const iso_row_version *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->stage != y->stage) return x->stage < y->stage ? -1 : 1;
  return (x->op > y->op) - (x->op < y->op);
}

/* What may have happened to keys although nobody knows. */
static bool collect_indeterminate(iso_predicates *p) {
  const isoproof_history *h = p->h;
  for (uint32_t t = 0; t < h->txns; t++) {
    if (p->counts[t] || h->txn_status[t] != ISOPROOF_TXN_UNKNOWN) continue;
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++) {
      if (h->op_kind[op] != ISOPROOF_OP_WRITE) continue;
      iso_stage stage = h->op_value[op] == p->dead ? ISO_STAGE_DEAD : ISO_STAGE_LIVING;
      if (!iso_vec_push(&p->indeterminate, ((iso_row_version){h->op_key[op], op, stage}))) return false;
    }
  }
  if (p->indeterminate.count > 1)
    qsort(p->indeterminate.items, p->indeterminate.count, sizeof *p->indeterminate.items, by_stage);
  return true;
}

/* The first of them about a key, or about one after it. */
static size_t first_indeterminate(const iso_predicates *p, uint32_t key) {
  size_t low = 0, high = p->indeterminate.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (p->indeterminate.items[middle].key < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static bool make_versions(iso_predicates *p) {
  const isoproof_history *h = p->h;
  ISO_VEC(iso_row_version) all = {NULL, 0, 0};
  for (uint32_t t = 0; t < h->txns; t++) {
    if (!p->counts[t]) continue;
    bool initial = is_initial_state(h, t);
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++) {
      if (h->op_kind[op] != ISOPROOF_OP_WRITE) continue;
      iso_stage stage = h->op_value[op] == p->dead ? ISO_STAGE_DEAD : initial ? ISO_STAGE_INITIAL : ISO_STAGE_LIVING;
      if (!iso_vec_push(&all, ((iso_row_version){h->op_key[op], op, stage}))) {
        iso_vec_free(&all);
        return false;
      }
    }
  }
  if (all.count > 1) qsort(all.items, all.count, sizeof *all.items, by_stage);
  p->versions = all.items != NULL ? all.items : iso_alloc(0, 1);
  p->version_first = iso_alloc_zero((size_t)h->keys + 1, sizeof *p->version_first);
  if (p->versions == NULL || p->version_first == NULL) return false;
  for (size_t i = 0; i < all.count; i++) p->version_first[all.items[i].key + 1]++;
  for (uint32_t k = 0; k < h->keys; k++) p->version_first[k + 1] += p->version_first[k];
  return true;
}

/* The initial state wrote the key: nobody after it finds the key unborn. */
static bool was_initial(const iso_predicates *p, uint32_t key) {
  uint32_t first = p->version_first[key];
  return first < p->version_first[key + 1] && p->versions[first].stage == ISO_STAGE_INITIAL;
}

/* ---- predicates ---- */

static bool next_number(const char **at, const char *end, int64_t *number) {
  const char *begin = *at;
  while (*at < end && **at != ' ') (*at)++;
  bool good = iso_parse_i64(begin, (size_t)(*at - begin), number);
  if (*at < end) (*at)++;
  return good;
}

static predicate read_predicate(const isoproof_history *h, uint32_t key) {
  isoproof_scalar name = key_name(h, key);
  predicate p = {.kind = NOT_UNDERSTOOD};
  if (name.type != ISOPROOF_SYMBOL) return p;
  const char *at = name.text, *end = name.text + name.length;
  if (is_text(name, ISOPROOF_SYMBOL, "true")) {
    p.kind = ALWAYS;
  } else if (name.length > 2 && memcmp(at, "= ", 2) == 0) {
    at += 2;
    if (next_number(&at, end, &p.equal_number) && at == end) p.kind = EQUAL;
  } else if (name.length > 4 && memcmp(at, "mod ", 4) == 0) {
    at += 4;
    bool good = next_number(&at, end, &p.divisor) && next_number(&at, end, &p.rest) && at == end;
    if (good && p.divisor > 0) p.kind = MODULO;
  }
  return p;
}

/* Whether a living value matches; *known false when that cannot be told. */
static bool matches(const isoproof_history *h, const predicate *p, iso_value value, bool *known) {
  int64_t number;
  bool is_number = iso_pool_integer(&h->pool, value, &number);
  if (p->kind == ALWAYS) return true;
  if (!is_number || p->kind == NOT_UNDERSTOOD) {
    *known = false;
    return false;
  }
  if (p->kind == EQUAL) return number == p->equal_number;
  int64_t rest = number % p->divisor;
  return (rest < 0 ? rest + p->divisor : rest) == p->rest;
}

/* ---- dependencies ---- */

static void depend(maker *m, uint32_t from, uint32_t to, uint32_t key, uint32_t from_op, uint32_t to_op,
                   iso_dependency_set kind) {
  if (from == to) return;
  iso_dependency_add(m->edges, from, to, kind);
  iso_row_dependency dependency = {from, to, key, from_op, to_op, kind};
  if (!iso_vec_push(&m->p->dependencies, dependency)) m->edges->failed = true;
}

/* The versions of the first stage after `stage` that the key has. */
static void next_stage(const iso_predicates *p, uint32_t key, iso_stage stage, uint32_t *first, uint32_t *end) {
  uint32_t last = p->version_first[key + 1];
  *first = p->version_first[key];
  while (*first < last && p->versions[*first].stage <= stage) (*first)++;
  *end = *first;
  while (*end < last && p->versions[*end].stage == p->versions[*first].stage) (*end)++;
}

static void write_edges(maker *m, uint32_t key) {
  const iso_predicates *p = m->p;
  for (uint32_t i = p->version_first[key]; i < p->version_first[key + 1]; i++) {
    uint32_t first, end, op = p->versions[i].op;
    next_stage(p, key, p->versions[i].stage, &first, &end);
    for (uint32_t k = first; k < end; k++) {
      uint32_t next = p->versions[k].op;
      depend(m, p->op_txn[op], p->op_txn[next], key, op, next, ISO_DEPENDENCY_WW);
    }
  }
}

/* A read of a version: after who made it, before who made the next. */
static void version_edges(maker *m, uint32_t txn, uint32_t op, uint32_t key, int64_t version, iso_dependency_set wr,
                          iso_dependency_set rw) {
  const iso_predicates *p = m->p;
  uint32_t first, end;
  iso_stage stage = version == NONE ? ISO_STAGE_UNBORN : p->versions[version].stage;
  if (version != NONE) {
    uint32_t made = p->versions[version].op;
    depend(m, p->op_txn[made], txn, key, made, op, wr);
  }
  next_stage(p, key, stage, &first, &end);
  for (uint32_t i = first; i < end; i++) {
    depend(m, txn, p->op_txn[p->versions[i].op], key, op, p->versions[i].op, rw);
  }
}

/* The version of a key with a value; NONE when there is none, MANY when several. */
static int64_t version_of(const iso_predicates *p, uint32_t key, iso_value value) {
  int64_t found = NONE;
  for (uint32_t i = p->version_first[key]; i < p->version_first[key + 1]; i++) {
    if (p->h->op_value[p->versions[i].op] == value) found = found == NONE ? (int64_t)i : MANY;
  }
  return found;
}

static bool may_be_dead(const iso_predicates *p, uint32_t key) {
  for (size_t i = first_indeterminate(p, key); i < p->indeterminate.count && p->indeterminate.items[i].key == key;
       i++) {
    if (p->indeterminate.items[i].stage == ISO_STAGE_DEAD) return true;
  }
  return false;
}

/* A read of nothing: the key is unborn or dead. */
static void read_nothing(maker *m, uint32_t txn, uint32_t op) {
  const iso_predicates *p = m->p;
  uint32_t key = p->h->op_key[op];
  int64_t dead = p->dead == ISO_VALUE_NONE ? NONE : version_of(p, key, p->dead);
  if (may_be_dead(p, key)) return;
  if (dead == NONE) {
    version_edges(m, txn, op, key, NONE, ISO_DEPENDENCY_WR, ISO_DEPENDENCY_RW);
  } else if (dead != MANY && was_initial(p, key)) {
    version_edges(m, txn, op, key, dead, ISO_DEPENDENCY_WR, ISO_DEPENDENCY_RW);
  }
}

/* What a query says about a key that it did not find: the only version that does not match, if there is but one. */
static bool judge_missing(maker *m, const predicate *q, uint32_t txn, uint32_t op, uint32_t key) {
  const iso_predicates *p = m->p;
  int64_t only = NONE;
  bool known = true;
  unsigned candidates = was_initial(p, key) ? 0 : 1; /* unborn */
  for (uint32_t i = p->version_first[key]; i < p->version_first[key + 1]; i++) {
    const iso_row_version *v = &p->versions[i];
    bool living = v->stage != ISO_STAGE_DEAD;
    if (living && matches(p->h, q, p->h->op_value[v->op], &known)) continue;
    candidates++;
    only = i;
  }
  for (size_t i = first_indeterminate(p, key); i < p->indeterminate.count && p->indeterminate.items[i].key == key;
       i++) {
    const iso_row_version *v = &p->indeterminate.items[i];
    if (v->stage == ISO_STAGE_DEAD || !matches(p->h, q, p->h->op_value[v->op], &known)) return true;
  }
  if (!known) return true;
  if (candidates == 0) return iso_vec_push(&m->p->misses, ((iso_row_miss){op, key}));
  if (candidates == 1) version_edges(m, txn, op, key, only, ISO_DEPENDENCY_WR_PREDICATE, ISO_DEPENDENCY_RW_PREDICATE);
  return true;
}

bool iso_predicates_key(const iso_predicates *p, iso_value name, uint32_t *key) {
  uint32_t low = 0, high = p->h->keys;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (p->names[middle] >> 32 < name) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == p->h->keys || p->names[low] >> 32 != name) return false;
  *key = (uint32_t)p->names[low];
  return true;
}

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static bool sort_names(iso_predicates *p) {
  const isoproof_history *h = p->h;
  p->names = iso_alloc(h->keys, sizeof *p->names);
  if (p->names == NULL) return false;
  for (uint32_t k = 0; k < h->keys; k++) p->names[k] = (uint64_t)h->key_name[k] << 32 | k;
  if (h->keys > 1) qsort(p->names, h->keys, sizeof *p->names, by_number);
  return true;
}

static bool query_edges(maker *m, uint32_t txn, uint32_t op) {
  const iso_predicates *p = m->p;
  const isoproof_history *h = p->h;
  predicate q = read_predicate(h, h->op_key[op]);
  uint32_t count, key;
  const iso_value *rows = iso_history_list(h, op, &count);
  memset(m->shown, 0, h->keys);
  for (uint32_t i = 0; rows != NULL && i + 1 < count; i += 2) {
    if (!iso_predicates_key(p, rows[i], &key)) continue;
    m->shown[key] = 1;
    int64_t version = version_of(p, key, rows[i + 1]);
    if (version >= 0) version_edges(m, txn, op, key, version, ISO_DEPENDENCY_WR_PREDICATE, ISO_DEPENDENCY_RW_PREDICATE);
  }
  for (uint32_t k = 0; k < h->keys; k++) {
    bool row = p->version_first[k] < p->version_first[k + 1];
    if (row && !m->shown[k] && !judge_missing(m, &q, txn, op, k)) return false;
  }
  return true;
}

static bool op_edges(maker *m, uint32_t txn, uint32_t op) {
  const isoproof_history *h = m->p->h;
  if (h->op_value[op] == ISO_VALUE_NONE) return true;
  if (h->op_kind[op] == ISOPROOF_OP_READ_PREDICATE) return query_edges(m, txn, op);
  if (h->op_kind[op] != ISOPROOF_OP_READ) return true;
  if (h->op_value[op] == ISO_VALUE_NIL) {
    read_nothing(m, txn, op);
    return true;
  }
  int64_t version = version_of(m->p, h->op_key[op], h->op_value[op]);
  if (version >= 0) version_edges(m, txn, op, h->op_key[op], version, ISO_DEPENDENCY_WR, ISO_DEPENDENCY_RW);
  return true;
}

static isoproof_status make(maker *m, isoproof_task *task, isoproof_error *error) {
  iso_predicates *p = m->p;
  const isoproof_history *h = p->h;
  find_dead(p);
  m->shown = iso_alloc_zero(h->keys, 1);
  if (m->shown == NULL || !sort_names(p) || !make_versions(p) || !collect_indeterminate(p))
    return iso_fail_memory(error);
  for (uint32_t k = 0; k < h->keys; k++) write_edges(m, k);
  for (uint32_t t = 0; t < h->txns; t++) {
    if ((t & 255) == 0) ISO_TRY(iso_task_check(task, error));
    if (!p->counts[t]) continue;
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++) {
      if (!op_edges(m, t, op)) return iso_fail_memory(error);
    }
  }
  return m->edges->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

isoproof_status iso_predicates_make(isoproof_history *history, const uint8_t *counts, isoproof_task *task,
                                    iso_predicates *p, iso_dependency_list *edges, isoproof_error *error) {
  memset(p, 0, sizeof *p);
  p->h = history;
  p->counts = counts;
  ISO_TRY(iso_history_op_txns(history, &p->op_txn, error));
  maker m = {.p = p, .edges = edges};
  isoproof_status status = make(&m, task, error);
  free(m.shown);
  if (status != ISOPROOF_OK) iso_predicates_free(p);
  return status;
}

void iso_predicates_free(iso_predicates *p) {
  free(p->versions);
  free(p->version_first);
  free(p->names);
  iso_vec_free(&p->dependencies);
  iso_vec_free(&p->misses);
  iso_vec_free(&p->indeterminate);
  memset(p, 0, sizeof *p);
}
