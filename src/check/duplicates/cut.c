/* One transaction after the other: for the reads of a key, somebody who wrote all of the values that they show. */
#include "check/duplicates/cut.h"

#include <stdlib.h>

#include "base/vector.h"
#include "history/resolve.h"

typedef struct {
  uint32_t key;
  iso_value value;
  uint32_t txn, op;
} written;

static int by_version(const void *a, const void *b) {
  const written *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return (x->op > y->op) - (x->op < y->op); /* and so by transaction */
}

typedef struct {
  isoproof_history *h;
  iso_resolution *resolution;
  written *writes;
  size_t count;
  uint8_t *listed;        /* by transaction: it is, or was, in `work` */
  ISO_VEC(uint32_t) work; /* whose reads are still to be explained */
  ISO_VEC(uint32_t) reads;
  iso_cut answer;
} chooser;

/* The writes of a version: the place of the first one that is not below it, and of the given transaction. */
static size_t place_of(const chooser *c, uint32_t key, iso_value value, uint32_t txn) {
  size_t low = 0, high = c->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const written *at = &c->writes[middle];
    bool below = at->key != key ? at->key < key : at->value != value ? at->value < value : at->txn < txn;
    if (below) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static bool is_version(const chooser *c, size_t place, uint32_t key, iso_value value) {
  return place < c->count && c->writes[place].key == key && c->writes[place].value == value;
}

/* The write of the version by that transaction; ISO_NO_OP where there is none. */
static uint32_t write_of(const chooser *c, uint32_t key, iso_value value, uint32_t txn) {
  if (txn == ISO_INITIAL) return value == iso_history_initial(c->h, key) ? ISO_FROM_INITIAL : ISO_NO_OP;
  size_t place = place_of(c, key, value, txn);
  return is_version(c, place, key, value) && c->writes[place].txn == txn ? c->writes[place].op : ISO_NO_OP;
}

/* A write that makes the read none of another transaction's version: an own one, or one that was rolled back. */
static uint32_t harmless_write(const chooser *c, uint32_t read, uint32_t txn) {
  uint32_t key = c->h->op_key[read], own = write_of(c, key, c->h->op_value[read], txn);
  if (own != ISO_NO_OP) return own;
  size_t place = place_of(c, key, c->h->op_value[read], 0);
  for (; is_version(c, place, key, c->h->op_value[read]); place++) {
    if (c->h->txn_status[c->writes[place].txn] == ISOPROOF_TXN_ABORTED) return c->writes[place].op;
  }
  return ISO_NO_OP;
}

/* Whether one transaction wrote all that the reads show. */
static bool explains(const chooser *c, uint32_t txn) {
  for (size_t i = 0; i < c->reads.count; i++) {
    uint32_t read = c->reads.items[i];
    if (write_of(c, c->h->op_key[read], c->h->op_value[read], txn) == ISO_NO_OP) return false;
  }
  return true;
}

/* Finds who that is: somebody who is certain, or the only one who is not. */
static void find_source(chooser *c, uint32_t *source) {
  uint32_t key = c->h->op_key[c->reads.items[0]], unknown = 0;
  iso_value value = c->h->op_value[c->reads.items[0]];
  *source = ISO_NO_TXN;
  if (explains(c, ISO_INITIAL)) *source = ISO_INITIAL;
  size_t place = place_of(c, key, value, 0);
  for (; *source == ISO_NO_TXN && is_version(c, place, key, value); place++) {
    uint32_t txn = c->writes[place].txn;
    if (c->h->txn_status[txn] == ISOPROOF_TXN_COMMITTED && explains(c, txn)) *source = txn;
  }
  if (*source != ISO_NO_TXN) return;
  for (place = place_of(c, key, value, 0); is_version(c, place, key, value); place++) {
    uint32_t txn = c->writes[place].txn;
    if (txn == *source || !explains(c, txn)) continue;
    *source = txn;
    unknown++;
  }
  if (unknown == 0) c->answer = ISO_CUT_IMPOSSIBLE;
  if (unknown > 1) c->answer = ISO_CUT_UNKNOWN;
}

/* Explains the reads of one key in `reads`. */
static bool explain_key(chooser *c) {
  uint32_t source;
  if (c->reads.count == 0) return true;
  find_source(c, &source);
  if (c->answer != ISO_CUT_POSSIBLE) return true;
  for (size_t i = 0; i < c->reads.count; i++) {
    uint32_t read = c->reads.items[i];
    c->resolution->writer[read] = write_of(c, c->h->op_key[read], c->h->op_value[read], source);
  }
  if (source == ISO_INITIAL || c->listed[source]) return true;
  c->listed[source] = 1; /* it took effect */
  return iso_vec_push(&c->work, source);
}

/* Whether a read of the key stands before the operation, so that all of them were explained together. */
static bool is_repeated(const isoproof_history *h, uint32_t first, uint32_t op) {
  for (uint32_t i = first; i < op; i++) {
    if (h->op_kind[i] == ISOPROOF_OP_READ && h->op_key[i] == h->op_key[op]) return true;
  }
  return false;
}

static bool explain_txn(chooser *c, uint32_t txn) {
  const isoproof_history *h = c->h;
  uint32_t first = h->txn_first_op[txn], end = h->txn_first_op[txn + 1];
  for (uint32_t op = first; op < end && c->answer == ISO_CUT_POSSIBLE; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_READ || is_repeated(h, first, op)) continue;
    c->reads.count = 0;
    for (uint32_t read = op; read < end; read++) {
      if (h->op_kind[read] != ISOPROOF_OP_READ || h->op_key[read] != h->op_key[op]) continue;
      if (h->op_value[read] == ISO_VALUE_NONE || c->resolution->writer[read] == ISO_FROM_NOBODY) continue;
      uint32_t harmless = harmless_write(c, read, txn);
      if (harmless != ISO_NO_OP) {
        c->resolution->writer[read] = harmless;
      } else if (!iso_vec_push(&c->reads, read)) {
        return false;
      }
    }
    if (!explain_key(c)) return false;
  }
  return true;
}

static bool list_writes(chooser *c) {
  const isoproof_history *h = c->h;
  c->writes = iso_alloc(h->ops, sizeof *c->writes);
  c->listed = iso_alloc(h->txns, 1);
  if (c->writes == NULL || c->listed == NULL) return false;
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    c->listed[txn] = h->txn_status[txn] == ISOPROOF_TXN_COMMITTED;
    for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
      if (h->op_kind[op] != ISOPROOF_OP_WRITE) continue;
      c->writes[c->count++] = (written){h->op_key[op], iso_history_version(h, op), txn, op};
    }
  }
  qsort(c->writes, c->count, sizeof *c->writes, by_version);
  return true;
}

static bool explain_all(chooser *c) {
  if (!list_writes(c)) return false;
  bool made = true;
  for (uint32_t txn = 0; made && txn < c->h->txns; txn++) {
    if (c->h->txn_status[txn] == ISOPROOF_TXN_COMMITTED) made = explain_txn(c, txn);
  }
  while (made && c->work.count > 0 && c->answer == ISO_CUT_POSSIBLE) {
    made = explain_txn(c, c->work.items[--c->work.count]);
  }
  return made;
}

isoproof_status iso_cut_choose(isoproof_history *history, isoproof_task *task, iso_cut *cut, isoproof_error *error) {
  const iso_resolution *resolution;
  *cut = ISO_CUT_UNKNOWN;
  ISO_TRY(iso_history_resolve(history, task, &resolution, error));
  if (resolution->rows != NULL) return ISOPROOF_OK;
  for (uint32_t op = 0; op < history->ops; op++) {
    if (history->op_kind[op] != ISOPROOF_OP_READ && history->op_kind[op] != ISOPROOF_OP_WRITE) return ISOPROOF_OK;
  }
  chooser c = {.h = history, .resolution = history->resolution, .answer = ISO_CUT_POSSIBLE};
  bool made = explain_all(&c);
  *cut = c.answer;
  free(c.writes);
  free(c.listed);
  iso_vec_free(&c.work);
  iso_vec_free(&c.reads);
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}
