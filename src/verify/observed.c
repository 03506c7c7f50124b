/* The versions that an order gives each key, and which of them each read saw. */
#include "verify/observed.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "history/resolve.h"
#include "verify/rows.h"

void iso_observed_free(iso_observed *c) {
  free(c->wrote_first);
  free(c->wrote);
  free(c->saw_first);
  free(c->saw);
  free(c->version_first);
  free(c->version_txn);
  free(c->version_end);
  free(c->content_first);
  free(c->content);
  free(c->agrees);
  memset(c, 0, sizeof *c);
}

const iso_observed_write *iso_observed_wrote(const iso_observed *c, uint32_t txn, uint32_t key) {
  uint32_t low = c->wrote_first[txn], high = c->wrote_first[txn + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (c->wrote[middle].key < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < c->wrote_first[txn + 1] && c->wrote[low].key == key ? &c->wrote[low] : NULL;
}

static bool is_write(const isoproof_history *h, uint32_t op) {
  return h->op_kind[op] == ISOPROOF_OP_WRITE || h->op_kind[op] == ISOPROOF_OP_APPEND;
}

/* ---- what was written ---- */

static int by_key(const void *a, const void *b) {
  const iso_observed_write *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->last_op > y->last_op) - (x->last_op < y->last_op);
}

/* Keeps the last write to each key. */
static void gather_writes(iso_observed *c) {
  const isoproof_history *h = c->h;
  uint32_t at = 0;
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    uint32_t first = at, kept = at;
    c->wrote_first[txn] = at;
    for (uint32_t op = h->txn_first_op[txn]; c->p->counts[txn] && op < h->txn_first_op[txn + 1]; op++) {
      if (is_write(h, op)) c->wrote[at++] = (iso_observed_write){.key = h->op_key[op], .last_op = op};
    }
    if (at - first > 1) qsort(c->wrote + first, at - first, sizeof *c->wrote, by_key);
    for (uint32_t i = first; i < at; i++) {
      bool last = i + 1 == at || c->wrote[i + 1].key != c->wrote[i].key;
      if (last) c->wrote[kept++] = c->wrote[i];
    }
    at = kept;
  }
  c->wrote_first[h->txns] = at;
}

static void sum_up(uint32_t *first, uint32_t rows) {
  for (uint32_t i = 0; i < rows; i++) first[i + 1] += first[i];
}

/* Appends what the transaction appended to the lists. */
static void append_elements(iso_observed *c, uint32_t txn, uint32_t *length) {
  const isoproof_history *h = c->h;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_APPEND) continue;
    uint32_t key = h->op_key[op], at = length[key]++;
    c->content[c->content_first[key] + at] = h->op_value[op];
    if (c->agrees[key] < at || h->list_first == NULL) continue;
    uint64_t longest = h->list_first[key + 1] - h->list_first[key];
    if (at < longest && h->list_values[h->list_first[key] + at] == h->op_value[op]) c->agrees[key] = at + 1;
  }
}

/* The versions of each key in the order of the transactions. */
static bool line_up(iso_observed *c) {
  const isoproof_history *h = c->h;
  for (uint32_t i = 0; i < c->wrote_first[h->txns]; i++) c->version_first[c->wrote[i].key + 1]++;
  for (uint32_t op = 0; op < h->ops; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_APPEND) c->content_first[h->op_key[op] + 1]++;
  }
  sum_up(c->version_first, h->keys);
  sum_up(c->content_first, h->keys);
  uint32_t *versions = iso_alloc_zero(h->keys, sizeof *versions);
  uint32_t *length = iso_alloc_zero(h->keys, sizeof *length);
  bool made = versions != NULL && length != NULL;
  for (size_t i = 0; made && i < c->p->claim->count; i++) {
    if (c->p->claim->events[i].kind == ISOPROOF_EVENT_BEGIN) continue;
    uint32_t txn = (uint32_t)c->p->claim->events[i].txn;
    append_elements(c, txn, length);
    for (uint32_t k = c->wrote_first[txn]; k < c->wrote_first[txn + 1]; k++) {
      uint32_t key = c->wrote[k].key, at = c->version_first[key] + versions[key];
      c->wrote[k].version = versions[key]++;
      c->version_txn[at] = txn;
      c->version_end[at] = length[key];
    }
  }
  free(versions);
  free(length);
  return made;
}

/* ---- what was read ---- */

/* What the transaction in `txn` (+ 1) did to a key so far. */
typedef struct {
  uint32_t txn;
  uint32_t written;  /* the last write, + 1 */
  uint32_t appended; /* how many elements */
} own_writes;

typedef struct {
  iso_observed *c;
  const iso_resolution *resolution;
  const uint32_t *op_txn;
  own_writes *own; /* by key */
  uint32_t count;  /* of what was seen */
} reading;

static own_writes *own_of(const reading *r, uint32_t txn, uint32_t key) {
  own_writes *own = &r->own[key];
  if (own->txn != txn + 1) *own = (own_writes){.txn = txn + 1};
  return own;
}

/* A register: the last own write, or the last write of another transaction that took effect. */
static const char *see_register(reading *r, uint32_t txn, uint32_t op) {
  const iso_observed *c = r->c;
  uint32_t key = c->h->op_key[op], written = own_of(r, txn, key)->written;
  bool claimed = c->p->claimed != NULL && c->p->claimed[op] != ISO_NO_OP;
  uint32_t source = claimed ? c->p->claimed[op] : r->resolution->writer[op];
  if (source < c->h->ops ? !iso_verify_shows(c->h, op, iso_history_version(c->h, source))
                         : !iso_verify_shows(c->h, op, iso_verify_initial(c->h, key))) {
    return "is taken to have read what it did not";
  }
  if (written > 0) return source == written - 1 ? NULL : "does not read its own last write";
  iso_observed_read saw = {.key = key, .from = ISO_NO_OP, .op = op};
  if (source != ISO_FROM_INITIAL) {
    if (source >= c->h->ops || r->op_txn[source] == txn) return "reads what nobody had written";
    saw.from = r->op_txn[source];
    const iso_observed_write *wrote = c->p->counts[saw.from] ? iso_observed_wrote(c, saw.from, key) : NULL;
    if (wrote == NULL || wrote->last_op != source) return "reads what is nobody's last write";
    if (c->p->commit[saw.from] > c->p->commit[txn]) return "comes before one that it reads from";
    saw.version = wrote->version + 1;
  }
  c->saw[r->count++] = saw;
  return NULL;
}

/* The version of a list after which it has that many elements, + 1; 0 for none of them, UINT32_MAX when there is none.
 */
static uint32_t version_of_length(const iso_observed *c, uint32_t key, uint32_t length) {
  if (length == 0) return 0;
  uint32_t low = c->version_first[key], high = c->version_first[key + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (c->version_end[middle] < length) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  bool found = low < c->version_first[key + 1] && c->version_end[low] == length;
  return found ? low - c->version_first[key] + 1 : UINT32_MAX;
}

/* Where the own appends of a transaction begin in a list. */
static uint32_t own_start(const iso_observed *c, uint32_t txn, uint32_t key) {
  const iso_observed_write *wrote = iso_observed_wrote(c, txn, key);
  return wrote != NULL && wrote->version > 0 ? c->version_end[c->version_first[key] + wrote->version - 1] : 0;
}

/* A list: everything up to some version, and the own appends so far behind it, where they stand in the end. */
static const char *see_list(reading *r, uint32_t txn, uint32_t op) {
  const iso_observed *c = r->c;
  const isoproof_history *h = c->h;
  uint32_t count, key = h->op_key[op], appended = own_of(r, txn, key)->appended;
  const iso_value *list = iso_history_list(h, op, &count);
  if (count < appended) return "does not read its own appends";
  uint32_t foreign = count - appended;
  if (appended > 0 && foreign != own_start(c, txn, key)) return "reads its own appends in another place";
  iso_observed_read saw = {.key = key, .from = ISO_NO_OP, .version = version_of_length(c, key, foreign), .op = op};
  if (saw.version == UINT32_MAX) return "reads a list that never was";
  bool shared = h->op_value[op] < ISO_VALUE_INLINE_LIMIT;
  bool same = count == 0 || (shared ? c->agrees[key] >= count
                                    : memcmp(list, c->content + c->content_first[key], count * sizeof *list) == 0);
  if (!same) return "reads a list of other elements";
  if (saw.version > 0) {
    saw.from = c->version_txn[c->version_first[key] + saw.version - 1];
    if (c->p->commit[saw.from] >= c->p->commit[txn]) return "comes before one that it reads from";
  }
  c->saw[r->count++] = saw;
  return NULL;
}

static const char *see(reading *r, uint32_t txn, uint32_t op) {
  const isoproof_history *h = r->c->h;
  switch ((isoproof_op_kind)h->op_kind[op]) {
  case ISOPROOF_OP_WRITE:
    own_of(r, txn, h->op_key[op])->written = op + 1;
    return NULL;
  case ISOPROOF_OP_APPEND:
    own_of(r, txn, h->op_key[op])->appended++;
    return NULL;
  case ISOPROOF_OP_READ:
    return h->op_value[op] == ISO_VALUE_NONE ? NULL : see_register(r, txn, op);
  case ISOPROOF_OP_READ_LIST:
    return h->op_value[op] == ISO_VALUE_NONE ? NULL : see_list(r, txn, op);
  default:
    return "does what no order explains";
  }
}

/* The number that a count gave is that of the rows in the versions that it is taken to have seen. */
static const char *see_counts(reading *r) {
  const isoproof_history *h = r->c->h;
  for (uint32_t i = 0; i < h->statement_count; i++) {
    const iso_statement *s = &h->statements[i];
    int64_t met = 0;
    if (s->form != ISO_ROW_COUNT || !s->answered || !r->c->p->counts[s->txn]) continue;
    for (uint32_t op = s->first_op; op < s->first_op + s->op_count; op++) {
      uint32_t source = r->resolution->writer[op];
      iso_value version = source < h->ops ? iso_history_version(h, source) : iso_verify_initial(h, h->op_key[op]);
      met += iso_verify_meets(h, s, h->op_key[op], version);
    }
    if (met != s->counted) return "counts rows that were not there";
  }
  return NULL;
}

static isoproof_status see_all(reading *r, isoproof_error *error) {
  enum { STEPS = 8192 };
  const isoproof_history *h = r->c->h;
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    r->c->saw_first[txn] = r->count;
    for (uint32_t op = h->txn_first_op[txn]; r->c->p->counts[txn] && op < h->txn_first_op[txn + 1]; op++) {
      const char *why = see(r, txn, op);
      if (why != NULL) return iso_refuse(r->c->p, txn, why, error);
    }
    if (txn % STEPS == 0) ISO_TRY(iso_task_check(r->c->p->task, error));
  }
  r->c->saw_first[h->txns] = r->count;
  const char *why = see_counts(r);
  return why == NULL ? ISOPROOF_OK : iso_refuse(r->c->p, 0, why, error);
}

static bool make_arrays(iso_observed *c) {
  const isoproof_history *h = c->h;
  size_t writes = 0, reads = 0, appends = 0;
  for (uint32_t op = 0; op < h->ops; op++) {
    writes += is_write(h, op);
    appends += h->op_kind[op] == ISOPROOF_OP_APPEND;
    reads += h->op_kind[op] == ISOPROOF_OP_READ || h->op_kind[op] == ISOPROOF_OP_READ_LIST;
  }
  c->wrote_first = iso_alloc((size_t)h->txns + 1, sizeof *c->wrote_first);
  c->wrote = iso_alloc(writes, sizeof *c->wrote);
  c->saw_first = iso_alloc((size_t)h->txns + 1, sizeof *c->saw_first);
  c->saw = iso_alloc(reads, sizeof *c->saw);
  c->version_first = iso_alloc_zero((size_t)h->keys + 1, sizeof *c->version_first);
  c->version_txn = iso_alloc(writes, sizeof *c->version_txn);
  c->version_end = iso_alloc(writes, sizeof *c->version_end);
  c->content_first = iso_alloc_zero((size_t)h->keys + 1, sizeof *c->content_first);
  c->content = iso_alloc(appends, sizeof *c->content);
  c->agrees = iso_alloc_zero(h->keys, sizeof *c->agrees);
  return c->wrote_first != NULL && c->wrote != NULL && c->saw_first != NULL && c->saw != NULL &&
         c->version_first != NULL && c->version_txn != NULL && c->version_end != NULL && c->content_first != NULL &&
         c->content != NULL && c->agrees != NULL;
}

isoproof_status iso_observed_make(const iso_placed *placed, iso_observed *c, isoproof_error *error) {
  memset(c, 0, sizeof *c);
  c->p = placed;
  c->h = placed->h;
  reading r = {.c = c};
  isoproof_status status = iso_history_resolve(placed->h, placed->task, &r.resolution, error);
  if (status == ISOPROOF_OK) status = iso_history_op_txns(placed->h, &r.op_txn, error);
  if (status == ISOPROOF_OK && !make_arrays(c)) status = iso_fail_memory(error);
  if (status == ISOPROOF_OK) {
    gather_writes(c);
    r.own = iso_alloc_zero(c->h->keys, sizeof *r.own);
    if (r.own == NULL || !line_up(c)) status = iso_fail_memory(error);
  }
  if (status == ISOPROOF_OK) status = see_all(&r, error);
  free(r.own);
  if (status != ISOPROOF_OK) iso_observed_free(c);
  return status;
}
