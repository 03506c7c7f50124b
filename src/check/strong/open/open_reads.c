/* Which reads are open, and which versions they could have seen. */
#include "check/strong/open/open_reads.h"

#include <stdlib.h>
#include <string.h>

#include "history/columns.h"
#include "history/resolve.h"
#include "history/row_versions.h"

void iso_open_reads_free(iso_open_reads *o) {
  free(o->slot_op);
  free(o->slot_txn);
  free(o->by_value);
  iso_matches_free(&o->matches);
  iso_vec_free(&o->reads);
  iso_vec_free(&o->counts);
  free(o->read_first);
  free(o->plain_end);
  free(o->count_first);
  memset(o, 0, sizeof *o);
}

iso_value iso_open_version(const iso_open_reads *o, uint32_t key, uint32_t version) {
  const isoproof_history *h = o->view->h;
  return version > 0 ? iso_history_version(h, o->slot_op[version - 1]) : iso_history_initial(h, key);
}

bool iso_open_matches(const iso_open_reads *o, const iso_statement *statement, uint32_t key, uint32_t version) {
  return iso_matches_version(&o->matches, statement, key, version, iso_open_version(o, key, version));
}

bool iso_open_fits(const iso_open_reads *o, const iso_open_read *read, uint32_t version) {
  iso_value value = o->view->h->op_value[read->op];
  if (value == ISO_VALUE_COUNTED) return true;
  if (read->statement != NULL) return !iso_open_matches(o, read->statement, read->key, version);
  return iso_open_version(o, read->key, version) == value;
}

void iso_open_settle(const iso_open_reads *o, iso_doubt *doubt, const iso_open_read *read, uint32_t version) {
  doubt->resolution->writer[read->op] = version > 0 ? o->slot_op[version - 1] : ISO_FROM_INITIAL;
}

uint32_t iso_open_previous(const iso_open_reads *o, uint32_t txn) {
  const isoproof_history *h = o->view->h;
  for (uint32_t t = txn; t-- > h->session_first_txn[h->txn_session[txn]];) {
    if (o->view->counts[t] && !iso_is_optional(o->doubt, t)) return t;
  }
  return ISO_NO_TXN;
}

uint32_t iso_open_next(const iso_open_reads *o, uint32_t txn) {
  const isoproof_history *h = o->view->h;
  for (uint32_t t = txn + 1; t < h->session_first_txn[h->txn_session[txn] + 1]; t++) {
    if (o->view->counts[t] && !iso_is_optional(o->doubt, t)) return t;
  }
  return ISO_NO_TXN;
}

/* ---- versions ---- */

typedef struct {
  iso_value value;
  uint32_t slot;
} valued;

static int by_value(const void *a, const void *b) {
  const valued *x = a, *y = b;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return (x->slot > y->slot) - (x->slot < y->slot);
}

/* `values` has what each of by_value is. */
static bool find_versions(iso_open_reads *o, iso_value *values) {
  const iso_view *v = o->view;
  const isoproof_history *h = v->h;
  uint32_t slots = v->write_first[h->txns];
  o->slot_op = iso_alloc(slots, sizeof *o->slot_op);
  o->slot_txn = iso_alloc(slots, sizeof *o->slot_txn);
  o->by_value = iso_alloc(slots, sizeof *o->by_value);
  valued *all = iso_alloc(slots, sizeof *all);
  uint32_t *next = iso_alloc(h->keys, sizeof *next);
  bool made = o->slot_op != NULL && o->slot_txn != NULL && o->by_value != NULL && all != NULL && next != NULL;
  if (made) memcpy(next, v->writer_first, h->keys * sizeof *next);
  for (uint32_t txn = 0; made && txn < h->txns; txn++) {
    if (v->write_first[txn] == v->write_first[txn + 1]) continue;
    for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
      bool writes = h->op_kind[op] == ISOPROOF_OP_WRITE || h->op_kind[op] == ISOPROOF_OP_APPEND;
      if (writes) o->slot_op[iso_view_slot(v, txn, h->op_key[op])] = op;
    }
    for (uint32_t slot = v->write_first[txn]; slot < v->write_first[txn + 1]; slot++) {
      o->slot_txn[slot] = txn;
      all[next[v->write_key[slot]]++] = (valued){iso_history_version(h, o->slot_op[slot]), slot};
    }
  }
  for (uint32_t key = 0; made && key < h->keys; key++) {
    uint32_t first = v->writer_first[key], count = v->writer_first[key + 1] - first;
    if (count > 1) qsort(all + first, count, sizeof *all, by_value);
    for (uint32_t i = first; i < first + count; i++) o->by_value[i] = all[i].slot, values[i] = all[i].value;
  }
  free(all);
  free(next);
  return made;
}

/* ---- reads ---- */

typedef struct {
  iso_open_reads *o;
  iso_doubt *doubt;
  iso_value *values;      /* by place in by_value */
  uint32_t *own, *own_of; /* by key: the last own write so far, of that transaction + 1 */
} lister;

/* Finds the versions with the value that a read shows. */
static void find_equal(const lister *l, iso_open_read *read) {
  const iso_view *v = l->o->view;
  iso_value value = v->h->op_value[read->op];
  uint32_t bounds[2], last = v->writer_first[read->key + 1];
  for (uint32_t behind = 0, low = v->writer_first[read->key]; behind < 2; behind++) {
    for (uint32_t high = last; low < high;) {
      uint32_t middle = low + (high - low) / 2;
      if (l->values[middle] < (uint64_t)value + behind) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    bounds[behind] = low;
  }
  read->first = bounds[0];
  read->end = bounds[1];
}

/* How many versions fit, counted up to two; *only is one of them. */
static uint32_t count_fitting(const iso_open_reads *o, const iso_open_read *read, uint32_t *only) {
  const iso_view *v = o->view;
  uint32_t fitting = iso_open_fits(o, read, 0);
  *only = 0;
  bool equal = read->statement == NULL;
  uint32_t first = equal ? read->first : v->writer_first[read->key];
  uint32_t end = equal ? read->end : v->writer_first[read->key + 1];
  for (uint32_t i = first; i < end && fitting < 2; i++) {
    uint32_t slot = o->by_value[i];
    if (o->slot_txn[slot] == read->txn || !(equal || iso_open_fits(o, read, slot + 1))) continue;
    fitting++;
    *only = slot + 1;
  }
  return fitting;
}

/* Nothing explains a transaction. */
static void give_up(lister *l, uint32_t txn) {
  if (iso_is_optional(l->doubt, txn)) {
    iso_doubt_rule_out(l->doubt, txn);
  } else {
    l->doubt->hopeless = true;
  }
}

/* A doubtful read of somebody who takes part: settled, where only one version can be what it saw, or open. */
static bool list_read(lister *l, uint32_t op, uint32_t txn) {
  iso_open_reads *o = l->o;
  const isoproof_history *h = o->view->h;
  uint32_t *writer = &l->doubt->resolution->writer[op], only;
  if (*writer != ISO_UNSETTLED) return true;
  iso_open_read read = {.op = op, .txn = txn, .key = h->op_key[op]};
  if (h->op_value[op] == ISO_VALUE_UNMATCHED || h->op_value[op] == ISO_VALUE_COUNTED)
    read.statement = iso_history_statement(h, op);
  if (l->own_of[read.key] == txn + 1) {
    *writer = l->own[read.key];
    l->doubt->hopeless = l->doubt->hopeless || !iso_history_read_fits(h, op, iso_history_version(h, *writer));
    return true;
  }
  if (read.statement == NULL) find_equal(l, &read);
  uint32_t fitting = count_fitting(o, &read, &only);
  if (fitting == 0) give_up(l, txn);
  if (fitting == 1 && !iso_is_optional(l->doubt, txn)) {
    iso_open_settle(o, l->doubt, &read, only);
    l->doubt->moved = true;
    return true;
  }
  return fitting == 0 || iso_vec_push(&o->reads, read);
}

/* The rows of a count that are open, and how many of them match. */
static bool list_count(lister *l, const iso_statement *s, uint32_t txn) {
  iso_open_reads *o = l->o;
  const isoproof_history *h = o->view->h;
  iso_predicate predicate = iso_history_predicate(h, s);
  iso_open_count count = {.statement = s, .txn = txn, .first = (uint32_t)o->reads.count, .missing = s->counted};
  for (uint32_t op = s->first_op; op < s->first_op + s->op_count; op++) {
    if (!list_read(l, op, txn)) return false;
    uint32_t write = l->doubt->resolution->writer[op], key = h->op_key[op];
    if (write == ISO_UNSETTLED) continue;
    iso_value version = write < h->ops ? iso_history_version(h, write) : iso_history_initial(h, key);
    count.missing -= iso_version_matches(h, &predicate, key, version);
  }
  count.reads = (uint32_t)o->reads.count - count.first;
  if (count.missing < 0 || count.missing > (int64_t)count.reads) give_up(l, txn);
  return count.reads == 0 || iso_vec_push(&o->counts, count);
}

/* First the reads that stand for themselves, then counts. */
static bool list_txn(lister *l, const iso_doubt_read *reads, size_t count, uint32_t txn, bool counts) {
  const isoproof_history *h = l->o->view->h;
  size_t at = 0;
  for (uint32_t op = h->txn_first_op[txn]; at < count && op < h->txn_first_op[txn + 1]; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE) l->own[h->op_key[op]] = op, l->own_of[h->op_key[op]] = txn + 1;
    if (reads[at].op != op) continue;
    at++;
    bool counted = h->op_value[op] == ISO_VALUE_COUNTED;
    if (!counted && !counts && !list_read(l, op, txn)) return false;
    if (!counted || !counts) continue;
    const iso_statement *s = iso_history_statement(h, op);
    if (s->first_op == op && !list_count(l, s, txn)) return false;
  }
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) l->own_of[h->op_key[op]] = 0;
  return true;
}

static bool list_all(lister *l) {
  iso_open_reads *o = l->o;
  const iso_doubt *doubt = l->doubt;
  const isoproof_history *h = o->view->h;
  size_t at = 0;
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    size_t first = at;
    while (at < doubt->reads.count && doubt->reads.items[at].op < h->txn_first_op[txn + 1]) at++;
    bool listed = at > first && o->view->counts[txn];
    const iso_doubt_read *reads = doubt->reads.items + first;
    o->read_first[txn] = (uint32_t)o->reads.count;
    o->count_first[txn] = (uint32_t)o->counts.count;
    if (listed && !list_txn(l, reads, at - first, txn, false)) return false;
    o->plain_end[txn] = (uint32_t)o->reads.count;
    if (listed && h->statement_count > 0 && !list_txn(l, reads, at - first, txn, true)) return false;
  }
  o->read_first[h->txns] = (uint32_t)o->reads.count;
  o->count_first[h->txns] = (uint32_t)o->counts.count;
  return true;
}

isoproof_status iso_open_reads_make(iso_view *view, iso_doubt *doubt, iso_open_reads *o, isoproof_error *error) {
  const isoproof_history *h = view->h;
  memset(o, 0, sizeof *o);
  o->view = view;
  o->doubt = doubt;
  ISO_TRY(iso_view_need_writers(view, error));
  isoproof_status status = iso_matches_make(h, view->write_first[h->txns], &o->matches, error);
  if (status != ISOPROOF_OK) iso_open_reads_free(o);
  if (status != ISOPROOF_OK) return status;
  lister l = {.o = o, .doubt = doubt};
  l.own = iso_alloc(h->keys, sizeof *l.own);
  l.own_of = iso_alloc_zero(h->keys, sizeof *l.own_of);
  l.values = iso_alloc(view->write_first[h->txns], sizeof *l.values);
  o->read_first = iso_alloc((size_t)h->txns + 1, sizeof *o->read_first);
  o->plain_end = iso_alloc((size_t)h->txns + 1, sizeof *o->plain_end);
  o->count_first = iso_alloc((size_t)h->txns + 1, sizeof *o->count_first);
  bool made = l.own != NULL && l.own_of != NULL && l.values != NULL && o->read_first != NULL && o->plain_end != NULL &&
              o->count_first != NULL && find_versions(o, l.values) && list_all(&l);
  free(l.own);
  free(l.own_of);
  free(l.values);
  if (made) return ISOPROOF_OK;
  iso_open_reads_free(o);
  return iso_fail_memory(error);
}

isoproof_status iso_open_reads_list(iso_doubt *doubt, isoproof_task *task, iso_view *view, iso_open_reads *open,
                                    isoproof_error *error) {
  do {
    iso_open_reads_free(open);
    iso_view_free(view);
    ISO_TRY(iso_doubt_update(doubt, task, error));
    ISO_TRY(iso_view_make_with(doubt->history, doubt->optional, task, view, error));
    ISO_TRY(iso_open_reads_make(view, doubt, open, error));
  } while (doubt->moved && !doubt->hopeless);
  return ISOPROOF_OK;
}
