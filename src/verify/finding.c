/* One judge per pattern of reads, from the columns of the history alone. */
#include "verify/finding.h"

#include <stdlib.h>
#include <string.h>

#include "verify/rows.h"

void iso_verifier_init(iso_verifier *verifier, const isoproof_history *history) {
  *verifier = (iso_verifier){.h = history};
}

void iso_verifier_free(iso_verifier *verifier) {
  free(verifier->written);
  *verifier = (iso_verifier){.h = NULL};
}

static bool is_write(const isoproof_history *h, uint32_t op) {
  return op < h->ops && !isoproof_op_kind_observes((isoproof_op_kind)h->op_kind[op]);
}

static bool is_read(const isoproof_history *h, uint32_t op) {
  return op < h->ops && isoproof_op_kind_observes((isoproof_op_kind)h->op_kind[op]) &&
         h->op_value[op] != ISO_VALUE_NONE;
}

static bool same_key(const isoproof_history *h, uint32_t a, uint32_t b) { return h->op_key[a] == h->op_key[b]; }

static bool same_txn(const isoproof_history *h, uint32_t a, uint32_t b) {
  return iso_history_txn_of(h, a) == iso_history_txn_of(h, b);
}

static int ascending(const void *a, const void *b) {
  const iso_written *x = a, *y = b;
  if (x->key_and_value != y->key_and_value) return x->key_and_value < y->key_and_value ? -1 : 1;
  return (x->op > y->op) - (x->op < y->op);
}

static int by_key_and_value(const void *a, const void *b) {
  const iso_written *x = a, *y = b;
  return (x->key_and_value > y->key_and_value) - (x->key_and_value < y->key_and_value);
}

/* Somebody's write of the value to the key, ISO_NO_OP when nobody wrote it. */
static uint32_t who_wrote(iso_verifier *v, uint32_t key, iso_value value) {
  const isoproof_history *h = v->h;
  if (v->written == NULL) {
    v->written = iso_alloc(h->ops, sizeof *v->written);
    if (v->written == NULL) {
      v->failed = true;
      return ISO_NO_OP;
    }
    for (uint32_t op = 0; op < h->ops; op++) {
      /* An increment leaves behind a sum, not its own value. */
      if (!is_write(h, op) || h->op_kind[op] == ISOPROOF_OP_INCREMENT) continue;
      v->written[v->written_count++] = (iso_written){(uint64_t)h->op_key[op] << 32 | h->op_value[op], op};
    }
    qsort(v->written, v->written_count, sizeof *v->written, ascending);
  }
  iso_written wanted = {(uint64_t)key << 32 | value, 0};
  if (v->written_count == 0) return ISO_NO_OP;
  const iso_written *found = bsearch(&wanted, v->written, v->written_count, sizeof wanted, by_key_and_value);
  return found != NULL ? found->op : ISO_NO_OP;
}

/* Whether the read shows the value that the write wrote: as its value, or as an element. */
static bool shows(const isoproof_history *h, uint32_t read, uint32_t write) {
  if (!is_read(h, read) || !is_write(h, write) || !same_key(h, read, write)) return false;
  if (!iso_kind_is_list((isoproof_op_kind)h->op_kind[read])) {
    return iso_verify_shows(h, read, iso_history_version(h, write));
  }
  uint32_t count;
  const iso_value *list = iso_history_list(h, read, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (list[i] == h->op_value[write]) return true;
  }
  return false;
}

uint32_t iso_verify_foreign_length(const isoproof_history *h, uint32_t read) {
  uint32_t count, txn = iso_history_txn_of(h, read);
  const iso_value *list = iso_history_list(h, read, &count);
  for (; count > 0; count--) {
    bool own = false;
    for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
      if (is_write(h, op) && same_key(h, op, read) && h->op_value[op] == list[count - 1]) own = true;
    }
    if (!own) break;
  }
  return count;
}

/* Whether a read that is not of a set or counter saw the write as the newest version not its own. */
static bool observes(const isoproof_history *h, uint32_t read, uint32_t write) {
  if (h->op_kind[read] == ISOPROOF_OP_READ) return shows(h, read, write);
  if (h->op_kind[read] != ISOPROOF_OP_READ_LIST || !shows(h, read, write)) return false;
  uint32_t count, foreign = iso_verify_foreign_length(h, read);
  const iso_value *list = iso_history_list(h, read, &count);
  return foreign > 0 && list[foreign - 1] == h->op_value[write];
}

/* Where the writes of a key begin in the sorted list. */
static size_t first_of_key(iso_verifier *v, uint32_t key) {
  (void)who_wrote(v, key, 0);
  size_t low = 0, high = v->written_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (v->written[middle].key_and_value < (uint64_t)key << 32) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Whether a row can be in a version that meets the conditions of a statement, or in one that does not. */
static bool can_be(iso_verifier *v, const iso_statement *s, uint32_t key, bool meeting) {
  const isoproof_history *h = v->h;
  if (iso_verify_meets(h, s, key, iso_verify_initial(h, key)) == meeting) return true;
  for (size_t i = first_of_key(v, key); i < v->written_count && v->written[i].key_and_value >> 32 == key; i++) {
    if (iso_verify_meets(h, s, key, iso_history_version(h, v->written[i].op)) == meeting) return true;
  }
  return false;
}

/* Whether no versions of the rows make up for what a count counted. */
static bool is_impossible(iso_verifier *v, const iso_statement *s) {
  int64_t least = 0, most = 0;
  for (uint32_t op = s->first_op; op < s->first_op + s->op_count; op++) {
    least += !can_be(v, s, v->h->op_key[op], false);
    most += can_be(v, s, v->h->op_key[op], true);
  }
  return s->counted < least || s->counted > most;
}

/* Whether nobody wrote a version that a read of a register or row can have shown. */
static bool is_from_nobody(iso_verifier *v, uint32_t op) {
  const isoproof_history *h = v->h;
  uint32_t key = h->op_key[op];
  const iso_statement *s = iso_history_statement(h, op);
  if (h->op_value[op] == ISO_VALUE_COUNTED) return s != NULL && is_impossible(v, s);
  if (h->op_value[op] == ISO_VALUE_UNMATCHED) return s != NULL && !can_be(v, s, key, false);
  return !iso_verify_shows(h, op, iso_verify_initial(h, key)) && who_wrote(v, key, h->op_value[op]) == ISO_NO_OP;
}

static bool verify_thin_air(iso_verifier *v, const iso_finding *f) {
  const isoproof_history *h = v->h;
  if (!iso_kind_is_list((isoproof_op_kind)h->op_kind[f->op])) {
    return h->op_kind[f->op] == ISOPROOF_OP_READ && is_from_nobody(v, f->op);
  }
  uint32_t count;
  const iso_value *list = iso_history_list(h, f->op, &count);
  return f->element < count && who_wrote(v, h->op_key[f->op], list[f->element]) == ISO_NO_OP;
}

/* TAP-d: `other` is an own write before the read, and the read does not show it (a later own write may hide it only
 * in a register). */
static bool verify_own_missed(iso_verifier *v, const iso_finding *f) {
  const isoproof_history *h = v->h;
  if (!is_write(h, f->other) || f->other > f->op || !same_txn(h, f->op, f->other) || !same_key(h, f->op, f->other)) {
    return false;
  }
  if (f->seen != ISO_FROM_INITIAL && (!shows(h, f->op, f->seen) || same_txn(h, f->op, f->seen))) return false;
  if (h->op_kind[f->op] == ISOPROOF_OP_READ) {
    return f->seen != ISO_FROM_INITIAL || iso_verify_shows(h, f->op, iso_verify_initial(h, h->op_key[f->op]));
  }
  uint32_t count;
  (void)iso_history_list(h, f->op, &count);
  bool ends_foreign = h->op_kind[f->op] == ISOPROOF_OP_READ_LIST && iso_verify_foreign_length(h, f->op) == count;
  return ends_foreign || !shows(h, f->op, f->other);
}

/* What a counter read saw, less the own increments before it. */
static int64_t foreign_sum(const isoproof_history *h, uint32_t read) {
  int64_t value = 0, sum = 0;
  uint32_t txn = iso_history_txn_of(h, read);
  if (h->op_value[read] != ISO_VALUE_NIL) (void)iso_pool_integer(&h->pool, h->op_value[read], &value);
  for (uint32_t op = h->txn_first_op[txn]; op < read; op++) {
    int64_t increment;
    if (h->op_kind[op] != ISOPROOF_OP_INCREMENT || !same_key(h, op, read)) continue;
    if (iso_pool_integer(&h->pool, h->op_value[op], &increment)) sum = (int64_t)((uint64_t)sum + (uint64_t)increment);
  }
  return (int64_t)((uint64_t)value - (uint64_t)sum);
}

/* An element of one set read that another lacks, and that the transaction does not add itself. */
static bool shows_more(const isoproof_history *h, uint32_t read, uint32_t other) {
  uint32_t count, other_count, txn = iso_history_txn_of(h, read);
  const iso_value *list = iso_history_list(h, read, &count), *rest = iso_history_list(h, other, &other_count);
  for (uint32_t i = 0; i < count; i++) {
    bool explained = false;
    for (uint32_t k = 0; k < other_count; k++) explained |= rest[k] == list[i];
    for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
      explained |= is_write(h, op) && same_key(h, op, read) && h->op_value[op] == list[i];
    }
    if (!explained) return true;
  }
  return false;
}

/* The value that stands for the version of others that a register or list read saw; nil for the initial one. */
static iso_value foreign_version(const isoproof_history *h, uint32_t read) {
  if (h->op_kind[read] == ISOPROOF_OP_READ) return h->op_value[read];
  uint32_t count, foreign = iso_verify_foreign_length(h, read);
  const iso_value *list = iso_history_list(h, read, &count);
  return foreign > 0 ? list[foreign - 1] : ISO_VALUE_NIL;
}

/* The transaction that wrote the version that a read saw, ISO_FROM_INITIAL for nil, ISO_NO_OP for nobody.  Where
 * several could have, the columns do not tell: then it is the one that the read is taken to have observed. */
static uint32_t writer_of(iso_verifier *v, uint32_t read) {
  const isoproof_history *h = v->h;
  uint32_t key = h->op_key[read];
  iso_value version = foreign_version(h, read);
  bool open = h->resolution != NULL && (h->resolution->counts.duplicate_writes > 0 || iso_history_has_rows(h));
  if (h->op_kind[read] == ISOPROOF_OP_READ && open) {
    uint32_t write = h->resolution->writer[read];
    return write < h->ops ? iso_history_txn_of(h, write) : write == ISO_FROM_INITIAL ? ISO_FROM_INITIAL : ISO_NO_OP;
  }
  if (version == ISO_VALUE_NIL) return ISO_FROM_INITIAL;
  uint32_t op = who_wrote(v, key, version);
  return op < v->h->ops ? iso_history_txn_of(v->h, op) : ISO_NO_OP;
}

static bool verify_varying(iso_verifier *v, const iso_finding *f) {
  const isoproof_history *h = v->h;
  if (!is_read(h, f->other) || f->other >= f->op || !same_txn(h, f->op, f->other) || !same_key(h, f->op, f->other)) {
    return false;
  }
  if (h->op_kind[f->op] != h->op_kind[f->other]) return false;
  switch ((isoproof_op_kind)h->op_kind[f->op]) {
  case ISOPROOF_OP_READ_COUNTER:
    return foreign_sum(h, f->op) != foreign_sum(h, f->other);
  case ISOPROOF_OP_READ_SET:
    return shows_more(h, f->op, f->other) || shows_more(h, f->other, f->op);
  default:
    break;
  }
  /* Two values of one writer are TAP-f, not two versions of two transactions. */
  uint32_t here = writer_of(v, f->op), there = writer_of(v, f->other);
  uint32_t reader = iso_history_txn_of(h, f->op);
  return here != there && here != reader && there != reader && here != ISO_NO_OP && there != ISO_NO_OP;
}

static bool is_list_read(const isoproof_history *h, uint32_t op) {
  return is_read(h, op) && h->op_kind[op] == ISOPROOF_OP_READ_LIST;
}

/* Two lists of one key that differ where both have an element; or a list that shows an append without, before it, the
 * one that the same transaction made before. */
static bool verify_order(iso_verifier *v, const iso_finding *f) {
  const isoproof_history *h = v->h;
  uint32_t count, other_count;
  if (!is_list_read(h, f->op) || f->other >= h->ops || !same_key(h, f->op, f->other)) return false;
  const iso_value *list = iso_history_list(h, f->op, &count);
  if (f->element >= count) return false;
  if (is_list_read(h, f->other)) {
    const iso_value *other = iso_history_list(h, f->other, &other_count);
    bool aborted = h->txn_status[iso_history_txn_of(h, f->other)] == ISOPROOF_TXN_ABORTED;
    return !aborted && f->element < other_count && list[f->element] != other[f->element];
  }
  if (!is_write(h, f->other) || !is_write(h, f->seen) || !same_key(h, f->seen, f->other)) return false;
  if (!same_txn(h, f->seen, f->other) || f->other >= f->seen || list[f->element] != h->op_value[f->seen]) return false;
  for (uint32_t i = 0; i < f->element; i++) {
    if (list[i] == h->op_value[f->other]) return false;
  }
  return true;
}

static bool verify_duplicate(iso_verifier *v, const iso_finding *f) {
  const isoproof_history *h = v->h;
  uint32_t count;
  if (!is_list_read(h, f->op) || !is_write(h, f->seen) || !same_key(h, f->op, f->seen)) return false;
  const iso_value *list = iso_history_list(h, f->op, &count);
  if (f->element >= count || list[f->element] != h->op_value[f->seen]) return false;
  for (uint32_t i = 0; i < f->element; i++) {
    if (list[i] == list[f->element]) return true;
  }
  return false;
}

static bool verify_aborted(iso_verifier *v, const iso_finding *f) {
  const isoproof_history *h = v->h;
  return shows(h, f->op, f->seen) && h->txn_status[iso_history_txn_of(h, f->seen)] == ISOPROOF_TXN_ABORTED &&
         !same_txn(h, f->op, f->seen);
}

static bool verify_future(iso_verifier *v, const iso_finding *f) {
  return shows(v->h, f->op, f->seen) && same_txn(v->h, f->op, f->seen) && f->seen > f->op;
}

static bool verify_not_last(iso_verifier *v, const iso_finding *f) {
  const isoproof_history *h = v->h;
  return shows(h, f->op, f->seen) && is_write(h, f->other) && same_key(h, f->op, f->other) &&
         same_txn(h, f->op, f->seen) && same_txn(h, f->op, f->other) && f->seen < f->other && f->other < f->op;
}

static bool verify_intermediate(iso_verifier *v, const iso_finding *f) {
  const isoproof_history *h = v->h;
  return observes(h, f->op, f->seen) && is_write(h, f->other) && same_key(h, f->op, f->other) &&
         same_txn(h, f->seen, f->other) && f->seen < f->other && !same_txn(h, f->op, f->seen);
}

bool iso_verify(iso_verifier *v, const iso_finding *f) {
  /* Cycles are proved otherwise, see verify/proof.h. */
  static bool (*const judges[ISO_TAPS])(iso_verifier *, const iso_finding *) = {
      [ISO_TAP_A] = verify_thin_air,
      [ISO_TAP_B] = verify_aborted,
      [ISO_TAP_C] = verify_future,
      [ISO_TAP_D] = verify_own_missed,
      [ISO_TAP_E] = verify_not_last,
      [ISO_TAP_F] = verify_intermediate,
      [ISO_TAP_J] = verify_varying,
      [ISO_TAP_INCOMPATIBLE_ORDER] = verify_order,
      [ISO_TAP_DUPLICATE_ELEMENTS] = verify_duplicate,
  };
  const isoproof_history *h = v->h;
  if (f->tap >= ISO_TAPS || judges[f->tap] == NULL) return false;
  if (!is_read(h, f->op) || h->txn_status[iso_history_txn_of(h, f->op)] == ISOPROOF_TXN_ABORTED) return false;
  return judges[f->tap](v, f);
}
