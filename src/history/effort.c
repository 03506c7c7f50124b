/* How hard a run tried: what overlapped in time on common keys, and which anomalies that gave a chance to appear. */
#include <isoproof/stats.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/task.h"
#include "base/vector.h"
#include "history/history.h"
#include "history/overlap.h"

/* What is beyond these is not looked at, and the counts are said to be lower bounds. */
enum { MOST_OPS = 1000000, MOST_PAIR_PARTS = 500000, MOST_PAIRS_PER_TXN = 64 };

/* Roles on a key.  A read counts where the transaction had not written the key itself. */
enum { READS = 1, WRITES = 2, UPDATES = 4, READS_TWICE = 8, WRITES_TWICE = 16, WRITES_IN_VAIN = 32 };
/* Roles on two keys, the one with the smaller number first. */
enum { READS_BOTH = 1, WRITES_BOTH = 2, READS_FIRST = 4, READS_SECOND = 8, FORKS = 16 };

/* Which pairs give an anomaly its chance: on one key or on two, and the roles of either side. */
static const struct chance_rule {
  isoproof_chance chance;
  bool two_keys;
  uint32_t one, other;
} rules[] = {{ISOPROOF_CHANCE_ABORTED_READ, false, WRITES_IN_VAIN, READS},
             {ISOPROOF_CHANCE_INTERMEDIATE_READ, false, WRITES_TWICE, READS},
             {ISOPROOF_CHANCE_NON_REPEATABLE_READ, false, READS_TWICE, WRITES},
             {ISOPROOF_CHANCE_LOST_UPDATE, false, UPDATES, UPDATES},
             {ISOPROOF_CHANCE_DIRTY_WRITE, true, WRITES_BOTH, WRITES_BOTH},
             {ISOPROOF_CHANCE_FRACTURED_READ, true, WRITES_BOTH, READS_BOTH},
             {ISOPROOF_CHANCE_LONG_FORK, true, FORKS, FORKS},
             {ISOPROOF_CHANCE_WRITE_SKEW, true, READS_FIRST, READS_SECOND}};

typedef ISO_VEC(iso_part) part_list;

typedef struct effort {
  const isoproof_history *history;
  int64_t until; /* transactions that start later are not looked at */
  bool partly;   /* something was not looked at */
  part_list keys, pairs;
  size_t *first; /* keys + 1: where the parts of a key begin */
  /* Of those that write a key: starts and ends, each sorted, and sums of the numbers of transactions up to each place.
   */
  size_t *writer_first;
  int64_t *writer_start, *writer_end;
  uint64_t *start_sum, *end_sum;
  uint32_t *slot; /* per key: its place among the parts of the transaction at hand, plus one */
  bool *conflict; /* per transaction */
  iso_overlap overlap;
} effort;

/* ---- parts on keys ---- */

static bool is_looked_at(const effort *e, uint32_t txn) {
  int64_t start = e->history->txn_start_opt[txn];
  return start != ISOPROOF_NO_TIME && start <= e->until;
}

static iso_part part_of(const effort *e, uint32_t txn) {
  int64_t start = e->history->txn_start_opt[txn], end = e->history->txn_end_opt[txn];
  if (end == ISOPROOF_NO_TIME) end = INT64_MAX;
  if (end <= start) end = start < INT64_MAX ? start + 1 : INT64_MAX;
  return (iso_part){.start = start, .end = end, .txn = txn};
}

static void note_op(iso_part *part, bool reads, bool in_vain) {
  if (reads && (part->roles & WRITES) == 0) {
    part->roles |= (part->roles & READS) != 0 ? READS_TWICE : READS;
  } else if (!reads) {
    if ((part->roles & WRITES) != 0) part->roles |= WRITES_TWICE;
    if ((part->roles & READS) != 0) part->roles |= UPDATES;
    part->roles |= in_vain ? WRITES | WRITES_IN_VAIN : WRITES;
  }
}

/* Appends what a transaction did on each of its keys. */
static bool add_keys(effort *e, uint32_t txn) {
  const isoproof_history *h = e->history;
  size_t before = e->keys.count;
  bool in_vain = h->txn_status[txn] == ISOPROOF_TXN_ABORTED, good = true;
  for (uint32_t op = h->txn_first_op[txn]; good && op < h->txn_first_op[txn + 1]; op++) {
    uint32_t key = h->op_key[op];
    if (e->slot[key] == 0) {
      iso_part part = part_of(e, txn);
      part.group = key;
      good = iso_vec_push(&e->keys, part);
      e->slot[key] = (uint32_t)(e->keys.count - before);
    }
    if (good)
      note_op(&e->keys.items[before + e->slot[key] - 1], isoproof_op_kind_observes((isoproof_op_kind)h->op_kind[op]),
              in_vain);
  }
  for (size_t i = before; i < e->keys.count; i++) e->slot[e->keys.items[i].group] = 0;
  return good;
}

static int by_group_and_start(const void *a, const void *b) {
  const iso_part *x = a, *y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  return (x->start > y->start) - (x->start < y->start);
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* ---- who wrote a key, and when ---- */

typedef struct ending {
  int64_t end;
  uint32_t txn;
} ending;

static int by_end(const void *a, const void *b) {
  return ascending(&((const ending *)a)->end, &((const ending *)b)->end);
}

/* Sorts the ends of the writers of a key into place; the starts are sorted already. */
static bool index_writers(effort *e, uint32_t key, ending *room) {
  size_t at = e->writer_first[key], count = 0;
  uint64_t sum = 0;
  for (size_t i = e->first[key]; i < e->first[key + 1]; i++) {
    const iso_part *part = &e->keys.items[i];
    if ((part->roles & WRITES) == 0) continue;
    sum += part->txn;
    e->writer_start[at + count] = part->start;
    e->start_sum[at + count] = sum;
    room[count++] = (ending){part->end, part->txn};
  }
  qsort(room, count, sizeof *room, by_end);
  sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += room[i].txn;
    e->writer_end[at + i] = room[i].end;
    e->end_sum[at + i] = sum;
  }
  e->writer_first[key + 1] = at + count;
  return true;
}

/* How many others wrote the key while a transaction ran; *only is the one, where it is one. */
static uint64_t writers_during(const effort *e, const iso_part *part, uint64_t *only) {
  size_t from = e->writer_first[part->group], count = e->writer_first[part->group + 1] - from;
  size_t begun = iso_times_below(e->writer_start + from, count, part->end);
  size_t ended = iso_times_until(e->writer_end + from, count, part->start);
  uint64_t sum = (begun > 0 ? e->start_sum[from + begun - 1] : 0) - (ended > 0 ? e->end_sum[from + ended - 1] : 0);
  bool self = (part->roles & WRITES) != 0;
  *only = sum - (self ? part->txn : 0);
  return begun - ended - (self ? 1 : 0);
}

/* ---- parts on two keys ---- */

/* Whether different others wrote the two keys while the transaction read them. */
static bool forks(const effort *e, const iso_part *a, const iso_part *b) {
  uint64_t one, other, ones = writers_during(e, a, &one), others = writers_during(e, b, &other);
  return ones > 0 && others > 0 && (ones > 1 || others > 1 || one != other);
}

static uint32_t pair_roles(const effort *e, const iso_part *a, const iso_part *b) {
  uint32_t roles = 0;
  bool reads_a = (a->roles & READS) != 0, reads_b = (b->roles & READS) != 0;
  bool writes_a = (a->roles & WRITES) != 0, writes_b = (b->roles & WRITES) != 0;
  if (reads_a && reads_b) roles |= READS_BOTH | (forks(e, a, b) ? FORKS : 0);
  if (writes_a && writes_b) roles |= WRITES_BOTH;
  if (reads_a && writes_b) roles |= READS_FIRST;
  if (reads_b && writes_a) roles |= READS_SECOND;
  return roles;
}

/* Appends what a transaction did on each two of its keys, up to a number of them. */
static bool add_pairs(effort *e, const iso_part *parts, size_t count, size_t most) {
  size_t made = 0;
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < i; k++) {
      const iso_part *a = &parts[parts[i].group < parts[k].group ? i : k];
      const iso_part *b = a == &parts[i] ? &parts[k] : &parts[i];
      uint32_t roles = pair_roles(e, a, b);
      if (roles == 0) continue;
      if (made++ == most) {
        e->partly = true;
        return true;
      }
      iso_part part = *a;
      part.group = a->group * e->history->keys + b->group;
      part.roles = roles;
      if (!iso_vec_push(&e->pairs, part)) return false;
    }
  }
  return true;
}

/* ---- the whole ---- */

static bool make_room(effort *e) {
  const isoproof_history *h = e->history;
  e->slot = iso_alloc_zero(h->keys + 1, sizeof *e->slot);
  e->conflict = iso_alloc_zero(h->txns + 1, sizeof *e->conflict);
  e->first = iso_alloc_zero((size_t)h->keys + 1, sizeof *e->first);
  e->writer_first = iso_alloc_zero((size_t)h->keys + 1, sizeof *e->writer_first);
  return e->slot != NULL && e->conflict != NULL && e->first != NULL && e->writer_first != NULL;
}

/* Chooses the first transactions by time, where there are too many operations. */
static bool choose_until(effort *e) {
  const isoproof_history *h = e->history;
  e->until = INT64_MAX;
  if (h->ops <= MOST_OPS) return true;
  int64_t *starts = iso_alloc(h->txns, sizeof *starts);
  if (starts == NULL) return false;
  memcpy(starts, h->txn_start_opt, h->txns * sizeof *starts);
  qsort(starts, h->txns, sizeof *starts, ascending);
  e->until = starts[(uint64_t)h->txns * MOST_OPS / h->ops];
  e->partly = true;
  free(starts);
  return true;
}

static bool gather_keys(effort *e, isoproof_effort *out) {
  const isoproof_history *h = e->history;
  for (uint32_t t = 0; t < h->txns; t++) {
    if (!is_looked_at(e, t)) continue;
    out->transactions++;
    if (!add_keys(e, t)) return false;
  }
  return true;
}

/* Two keys at a time, while the parts on keys still stand by transaction; they are sorted by key afterwards. */
static bool gather_pairs(effort *e, const part_list *by_txn, uint64_t transactions) {
  uint64_t most = MOST_PAIR_PARTS / (transactions > 0 ? transactions : 1);
  most = most < 1 ? 1 : most > MOST_PAIRS_PER_TXN ? MOST_PAIRS_PER_TXN : most;
  for (size_t i = 0, end; i < by_txn->count; i = end) {
    for (end = i + 1; end < by_txn->count && by_txn->items[end].txn == by_txn->items[i].txn;) end++;
    if (!add_pairs(e, by_txn->items + i, end - i, most)) return false;
  }
  return true;
}

/* Sorts the parts on keys, and indexes the writers of each. */
static bool index_keys(effort *e) {
  uint32_t keys = e->history->keys;
  size_t largest = 0;
  if (e->keys.count > 1) qsort(e->keys.items, e->keys.count, sizeof *e->keys.items, by_group_and_start);
  for (size_t i = 0; i < e->keys.count; i++) e->first[e->keys.items[i].group + 1]++;
  for (uint32_t k = 0; k < keys; k++) {
    if (e->first[k + 1] > largest) largest = e->first[k + 1];
    e->first[k + 1] += e->first[k];
  }
  size_t all = e->keys.count + 1;
  ending *room = iso_alloc(largest + 1, sizeof *room);
  e->writer_start = iso_alloc(all, sizeof *e->writer_start);
  e->writer_end = iso_alloc(all, sizeof *e->writer_end);
  e->start_sum = iso_alloc(all, sizeof *e->start_sum);
  e->end_sum = iso_alloc(all, sizeof *e->end_sum);
  bool good =
      room != NULL && e->writer_start != NULL && e->writer_end != NULL && e->start_sum != NULL && e->end_sum != NULL;
  for (uint32_t k = 0; good && k < keys; k++) good = index_writers(e, k, room);
  free(room);
  return good;
}

static void count_group(effort *e, const iso_part *parts, size_t count, bool two_keys, isoproof_effort *out) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    if (rules[i].two_keys == two_keys)
      out->chances[rules[i].chance] += iso_overlap_pairs(&e->overlap, parts, count, rules[i].one, rules[i].other);
  }
  if (!two_keys) iso_overlap_conflicts(&e->overlap, parts, count, WRITES, e->conflict);
}

static bool count_chances(effort *e, const part_list *list, bool two_keys, isoproof_effort *out) {
  if (!iso_overlap_init(&e->overlap, list->count)) return false;
  for (size_t i = 0, end; i < list->count; i = end) {
    for (end = i + 1; end < list->count && list->items[end].group == list->items[i].group;) end++;
    count_group(e, list->items + i, end - i, two_keys, out);
  }
  iso_overlap_free(&e->overlap);
  return true;
}

static bool measure_chances(effort *e, isoproof_effort *out) {
  part_list by_txn = {NULL, 0, 0};
  bool good = make_room(e) && choose_until(e) && gather_keys(e, out);
  if (good && e->keys.count > 0) {
    good = iso_vec_reserve(&by_txn, e->keys.count);
    if (good) memcpy(by_txn.items, e->keys.items, e->keys.count * sizeof *by_txn.items);
    by_txn.count = good ? e->keys.count : 0;
  }
  good = good && index_keys(e) && gather_pairs(e, &by_txn, out->transactions);
  iso_vec_free(&by_txn);
  if (good && e->pairs.count > 1) qsort(e->pairs.items, e->pairs.count, sizeof *e->pairs.items, by_group_and_start);
  good = good && count_chances(e, &e->keys, false, out) && count_chances(e, &e->pairs, true, out);
  for (uint32_t t = 0; good && t < e->history->txns; t++) out->conflicting += e->conflict[t];
  out->at_least = e->partly;
  return good;
}

static void free_effort(effort *e) {
  iso_vec_free(&e->keys);
  iso_vec_free(&e->pairs);
  free(e->first);
  free(e->writer_first);
  free(e->writer_start);
  free(e->writer_end);
  free(e->start_sum);
  free(e->end_sum);
  free(e->slot);
  free(e->conflict);
}

/* Versions that committed transactions left, of the keys that have any. */
static bool measure_versions(const isoproof_history *h, isoproof_effort *out) {
  int64_t *versions = iso_alloc_zero((size_t)h->keys + 1, sizeof *versions);
  if (versions == NULL) return false;
  for (uint32_t t = 0; t < h->txns; t++) {
    if (h->txn_status[t] != ISOPROOF_TXN_COMMITTED) continue;
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++)
      if (!isoproof_op_kind_observes((isoproof_op_kind)h->op_kind[op])) versions[h->op_key[op]]++;
  }
  qsort(versions, h->keys, sizeof *versions, ascending);
  size_t none = iso_times_until(versions, h->keys, 0);
  out->keys_written = h->keys - none;
  if (out->keys_written > 0) {
    out->versions_min = (uint64_t)versions[none];
    out->versions_median = (uint64_t)versions[none + (out->keys_written - 1) / 2];
    out->versions_max = (uint64_t)versions[h->keys - 1];
  }
  free(versions);
  return true;
}

isoproof_status isoproof_history_effort(const isoproof_history *history, isoproof_task *task, isoproof_effort *out,
                                        isoproof_error *error) {
  isoproof_effort made = {.struct_size = sizeof made, .transactions = 0};
  ISO_TRY(ISO_STRUCT_CHECK(isoproof_effort, out, error));
  if (!measure_versions(history, &made)) return iso_fail_memory(error);
  made.has_times = history->txn_start_opt != NULL;
  if (made.has_times) {
    isoproof_stats stats = {.struct_size = sizeof stats};
    effort e = {.history = history};
    ISO_TRY(isoproof_history_stats(history, task, &stats, error));
    made.has_times = stats.first_start != ISOPROOF_NO_TIME;
    made.concurrency_mean = stats.concurrency_mean;
    made.concurrency_max = stats.concurrency_max;
    bool good = !made.has_times || measure_chances(&e, &made);
    free_effort(&e);
    if (!good) return iso_fail_memory(error);
  }
  (void)ISO_STRUCT_GIVE(out, made);
  return ISOPROOF_OK;
}

/* ---- names ---- */

static const isoproof_chance_info infos[] = {
#define ISO_X(name, code, title, what) {code, title, what},
    ISOPROOF_CHANCE_LIST(ISO_X)
#undef ISO_X
};

const isoproof_chance_info *isoproof_chance_at(size_t number) {
  return number < ISOPROOF_CHANCES ? &infos[number] : NULL;
}
