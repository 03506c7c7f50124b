/* The candidates of each read whose value several transactions wrote. */
#include "check/duplicates/choices.h"

#include <stdlib.h>
#include <string.h>

#include "history/real_time.h"
#include "history/resolve.h"

void iso_choices_free(iso_choices *c) {
  iso_vec_free(&c->reads);
  iso_vec_free(&c->candidates);
}

void iso_choose(iso_choices *c, size_t read, uint32_t chosen) {
  iso_choice *choice = &c->reads.items[read];
  choice->chosen = chosen;
  c->resolution->writer[choice->op] = c->candidates.items[choice->first + chosen];
}

/* All writes of registers, sorted by key and value. */
typedef struct {
  uint32_t key;
  iso_value value;
  uint32_t op;
} write_entry;

static int by_version(const void *a, const void *b) {
  const write_entry *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return (x->op > y->op) - (x->op < y->op);
}

typedef struct {
  iso_choices *c;
  write_entry *writes;
  size_t count;
  bool prune;
} gatherer;

static isoproof_status list_writes(gatherer *g, isoproof_error *error) {
  const isoproof_history *h = g->c->history;
  uint64_t duplicates = 0;
  g->writes = iso_alloc(h->ops, sizeof *g->writes);
  if (g->writes == NULL) return iso_fail_memory(error);
  for (uint32_t op = 0; op < h->ops; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_WRITE) continue;
    g->writes[g->count++] = (write_entry){h->op_key[op], iso_history_version(h, op), op};
  }
  qsort(g->writes, g->count, sizeof *g->writes, by_version);
  for (size_t i = 0; i < g->count; i++) {
    bool again = i > 0 && g->writes[i].key == g->writes[i - 1].key && g->writes[i].value == g->writes[i - 1].value;
    duplicates += again || g->writes[i].value == ISO_VALUE_NIL;
  }
  if (duplicates < g->c->resolution->counts.duplicate_writes) {
    return iso_history_require_unique(g->c->history, g->c->resolution, error);
  }
  return ISOPROOF_OK;
}

/* The first entry of the version. */
static size_t find_version(const gatherer *g, uint32_t key, iso_value value) {
  size_t low = 0, high = g->count;
  write_entry wanted = {key, value, 0};
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (by_version(&g->writes[middle], &wanted) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The latest own write of the key before the read, ISO_NO_OP for none. */
static uint32_t own_write(const isoproof_history *h, uint32_t txn, uint32_t read) {
  uint32_t own = ISO_NO_OP;
  for (uint32_t op = h->txn_first_op[txn]; op < read; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE && h->op_key[op] == h->op_key[read]) own = op;
  }
  return own;
}

static bool is_overwritten(const isoproof_history *h, uint32_t txn, uint32_t write) {
  for (uint32_t op = write + 1; op < h->txn_first_op[txn + 1]; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE && h->op_key[op] == h->op_key[write]) return true;
  }
  return false;
}

/* Whether observing that write can be right: it is the last one of another transaction that was not rolled back. */
static bool is_sound(const gatherer *g, uint32_t reader, uint32_t write) {
  const isoproof_history *h = g->c->history;
  if (write == ISO_FROM_INITIAL) return true;
  uint32_t txn = g->c->op_txn[write];
  return txn != reader && h->txn_status[txn] != ISOPROOF_TXN_ABORTED && !is_overwritten(h, txn, write);
}

/* Drops candidates that cannot be right, unless none can. */
static void prune(const gatherer *g, iso_choice *choice) {
  const isoproof_history *h = g->c->history;
  uint32_t *candidates = g->c->candidates.items + choice->first;
  uint32_t reader = g->c->op_txn[choice->op], own = own_write(h, reader, choice->op), kept = 0;
  if (own != ISO_NO_OP && iso_history_version(h, own) == h->op_value[choice->op]) {
    candidates[0] = own;
    choice->count = 1;
  } else if (own == ISO_NO_OP) {
    for (uint32_t i = 0; i < choice->count; i++) {
      if (is_sound(g, reader, candidates[i])) candidates[kept++] = candidates[i];
    }
    if (kept > 0) choice->count = kept;
  }
  g->c->candidates.count = choice->first + choice->count;
}

/* How far a transaction is through its session, for histories without times. */
static double progress_of(const iso_choices *c, uint32_t txn) {
  const isoproof_history *h = c->history;
  if (c->timed) return (double)iso_real_end(h, txn);
  uint32_t first = h->session_first_txn[h->txn_session[txn]], end = h->session_first_txn[h->txn_session[txn] + 1];
  return (double)(txn - first) / (double)(end - first);
}

/* The candidate that is the last one before the reader, or else the first one after it. */
static uint32_t likely(const iso_choices *c, const iso_choice *choice) {
  uint32_t reader = c->op_txn[choice->op], best = 0;
  double now = progress_of(c, reader), best_distance = 0;
  for (uint32_t i = 0; i < choice->count; i++) {
    uint32_t write = c->candidates.items[choice->first + i];
    double distance = write == ISO_FROM_INITIAL ? 0 : now - progress_of(c, c->op_txn[write]);
    if (write == ISO_FROM_INITIAL) distance = c->timed ? 1e18 : now;
    if (distance < 0) distance = 1e18 - distance;
    if (i == 0 || distance < best_distance) best = i, best_distance = distance;
  }
  return best;
}

static isoproof_status gather_read(const gatherer *g, uint32_t op, isoproof_error *error) {
  iso_choices *c = g->c;
  const isoproof_history *h = c->history;
  uint32_t key = h->op_key[op];
  iso_value value = h->op_value[op];
  size_t i = find_version(g, key, value);
  iso_choice choice = {.op = op, .first = (uint32_t)c->candidates.count};
  bool made = value != ISO_VALUE_NIL || iso_vec_push(&c->candidates, ISO_FROM_INITIAL);
  for (; made && i < g->count && g->writes[i].key == key && g->writes[i].value == value; i++) {
    made = iso_vec_push(&c->candidates, g->writes[i].op);
  }
  if (!made) return iso_fail_memory(error);
  choice.count = (uint32_t)c->candidates.count - choice.first;
  if (choice.count > 1 && g->prune) prune(g, &choice);
  if (choice.count == 1) c->resolution->writer[op] = c->candidates.items[choice.first];
  if (choice.count <= 1) {
    c->candidates.count = choice.first;
    return ISOPROOF_OK;
  }
  choice.chosen = likely(c, &choice);
  if (!iso_vec_push(&c->reads, choice)) return iso_fail_memory(error);
  iso_choose(c, c->reads.count - 1, choice.chosen);
  return ISOPROOF_OK;
}

static isoproof_status gather(gatherer *g, isoproof_task *task, isoproof_error *error) {
  const isoproof_history *h = g->c->history;
  ISO_TRY(list_writes(g, error));
  for (uint32_t op = 0; op < h->ops; op++) {
    bool is_read = h->op_kind[op] == ISOPROOF_OP_READ && h->op_value[op] != ISO_VALUE_NONE;
    if (is_read) ISO_TRY(gather_read(g, op, error));
    if (op % 65536 == 0) ISO_TRY(iso_task_check(task, error));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_choices_make(isoproof_history *history, bool prune_them, isoproof_task *task, iso_choices *c,
                                 isoproof_error *error) {
  memset(c, 0, sizeof *c);
  c->history = history;
  const iso_resolution *resolution;
  ISO_TRY(iso_history_resolve(history, task, &resolution, error));
  ISO_TRY(iso_history_op_txns(history, &c->op_txn, error));
  c->resolution = history->resolution;
  c->timed = iso_has_real_time(history);
  gatherer g = {.c = c, .prune = prune_them};
  isoproof_status status = gather(&g, task, error);
  free(g.writes);
  if (status != ISOPROOF_OK) iso_choices_free(c);
  return status;
}
