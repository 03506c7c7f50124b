/* Writes of each key in the likely order of their versions. */
#include "history/row_versions.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "history/columns.h"
#include "history/real_time.h"

void iso_row_versions_free(iso_row_versions *v) {
  if (v == NULL) return;
  free(v->first);
  free(v->write);
  free(v->txn);
  free(v->start);
  free(v->end);
  free(v);
}

bool iso_version_matches(const isoproof_history *h, const iso_predicate *predicate, uint32_t key, iso_value version) {
  int64_t name, value;
  return version != ISO_VALUE_NIL && iso_pool_integer(&h->pool, version, &value) &&
         iso_pool_integer(&h->pool, h->key_name[key], &name) && iso_predicate_matches(predicate, name, value) &&
         iso_history_meets(h, predicate, key, version);
}

/* When transactions began and ended.  Without times: how far they are through their sessions. */
static bool find_moments(iso_row_versions *v) {
  enum { WHOLE = 1 << 30 };
  const isoproof_history *h = v->h;
  bool timed = iso_has_real_time(h);
  v->start = iso_alloc(h->txns, sizeof *v->start);
  v->end = iso_alloc(h->txns, sizeof *v->end);
  if (v->start == NULL || v->end == NULL) return false;
  for (uint32_t t = 0; t < h->txns; t++) {
    if (timed) {
      v->start[t] = iso_real_start(h, t);
      v->end[t] = iso_real_end(h, t);
      continue;
    }
    uint32_t session = h->txn_session[t], first = h->session_first_txn[session];
    uint64_t count = h->session_first_txn[session + 1] - first;
    v->start[t] = (int64_t)((t - first) * (uint64_t)WHOLE / count);
    v->end[t] = (int64_t)(((uint64_t)t - first + 1) * WHOLE / count) - 1;
  }
  return true;
}

typedef struct {
  int64_t end;
  uint32_t write, txn;
} sorted_write;

static int by_end(const void *a, const void *b) {
  const sorted_write *x = a, *y = b;
  if (x->end != y->end) return x->end < y->end ? -1 : 1;
  return (x->write > y->write) - (x->write < y->write);
}

/* The writes of each key by the end of their transactions: all writes are sorted by it once, and then dealt out. */
static bool deal_out(iso_row_versions *v, uint32_t total) {
  const isoproof_history *h = v->h;
  sorted_write *all = iso_alloc(total, sizeof *all);
  uint32_t at = 0;
  if (all == NULL) return false;
  for (uint32_t t = 0; t < h->txns; t++) {
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++) {
      if (h->op_kind[op] == ISOPROOF_OP_WRITE) all[at++] = (sorted_write){v->end[t], op, t};
    }
  }
  qsort(all, at, sizeof *all, by_end);
  for (uint32_t i = 0; i < at; i++) {
    uint32_t place = v->first[h->op_key[all[i].write]]++;
    v->write[place] = all[i].write;
    v->txn[place] = all[i].txn;
  }
  memmove(v->first + 1, v->first, h->keys * sizeof *v->first);
  v->first[0] = 0;
  free(all);
  return true;
}

static bool make(iso_row_versions *v) {
  const isoproof_history *h = v->h;
  uint32_t total = 0;
  v->first = iso_alloc_zero((size_t)h->keys + 1, sizeof *v->first);
  if (v->first == NULL || !find_moments(v)) return false;
  for (uint32_t op = 0; op < h->ops; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE) v->first[h->op_key[op]]++;
  }
  for (uint32_t k = 0; k <= h->keys; k++) {
    uint32_t count = v->first[k];
    v->first[k] = total;
    total += count;
  }
  v->write = iso_alloc(total, sizeof *v->write);
  v->txn = iso_alloc(total, sizeof *v->txn);
  return v->write != NULL && v->txn != NULL && deal_out(v, total);
}

isoproof_status iso_row_versions_make(const isoproof_history *history, iso_row_versions **versions,
                                      isoproof_error *error) {
  iso_row_versions *v = calloc(1, sizeof *v);
  if (v == NULL) return iso_fail_memory(error);
  v->h = history;
  if (!make(v)) {
    iso_row_versions_free(v);
    return iso_fail_memory(error);
  }
  *versions = v;
  return ISOPROOF_OK;
}

bool iso_count_is_possible(const iso_row_versions *v, const iso_statement *s) {
  const isoproof_history *h = v->h;
  iso_predicate predicate = iso_history_predicate(h, s);
  int64_t least = 0, most = 0;
  for (uint32_t op = s->first_op; op < s->first_op + s->op_count; op++) {
    uint32_t key = h->op_key[op];
    bool matches = iso_version_matches(h, &predicate, key, iso_history_initial(h, key)), always = matches;
    for (uint32_t i = v->first[key]; i < v->first[key + 1] && matches == always; i++) {
      bool does = iso_version_matches(h, &predicate, key, h->op_value[v->write[i]]);
      matches = matches || does;
      always = always && does;
    }
    least += always;
    most += matches;
  }
  return s->counted >= least && s->counted <= most;
}
