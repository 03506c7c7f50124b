/* A partitioned hash join of reads with writes, by key and value, on several threads. */
#include "history/resolve_join.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "history/resolve.h"

/* What is joined: writes on one side; register reads, elements of the longest lists, elements of odd lists on the
 * other. */
enum { SIDE_WRITES, SIDE_READS, SIDE_LISTS, SIDE_ODDS, SIDES };

/* A write, a read or an element of a list on its way to its partition. */
typedef struct {
  uint32_t key;
  iso_value value;
  uint32_t at; /* operation, or place among the elements */
} entry;

/* What one thread counts while it works. */
typedef struct {
  uint64_t reads, initial, thin_air, duplicates;
  uint32_t duplicate_first, duplicate_second;
  bool failed;
} tally;

/* A cell holds the entries of one side of one partition; cell = partition * SIDES + side, so that a partition lies in
 * one piece. */
typedef struct {
  const isoproof_history *history;
  isoproof_task *task;
  uint64_t seed, factor;
  unsigned bits;            /* 2^bits partitions */
  uint64_t elements[SIDES]; /* how many answers a side has */
  uint32_t *answer[SIDES];  /* by entry.at; none for the writes */
  uint32_t *odd_key;        /* of each odd list */
  entry *entries;           /* NULL in the first pass, which only counts */
  uint64_t *place;          /* [thread * cells + cell]: where the thread puts its next entry */
  uint64_t *first;          /* cells + 1 */
  tally *tallies;
  uint32_t next_partition; /* atomic */
} join;

static size_t partitions(const join *j) { return (size_t)1 << j->bits; }
static size_t cells(const join *j) { return partitions(j) * SIDES; }

/* Multiply-shift hashing with a secret odd factor: universal in its high bits, and one multiplication. */
static inline uint64_t hash_of(const join *j, uint32_t key, iso_value value) {
  return (((uint64_t)key << 32 | value) ^ j->seed) * j->factor;
}

/* The highest bits choose the partition, the next ones the slot within its table. */
static inline size_t cell_of(const join *j, uint64_t hash, unsigned side) {
  return (size_t)(hash >> 1 >> (63 - j->bits)) * SIDES + side;
}

static inline size_t slot_of(const join *j, uint64_t hash, unsigned slot_bits) {
  return (size_t)(hash << j->bits >> (64 - slot_bits));
}

/* The side of a kind of operation, SIDES for one that does not take part. */
static const uint8_t kind_side[ISOPROOF_OP_KINDS] = {
    [ISOPROOF_OP_READ] = SIDE_READS,    [ISOPROOF_OP_WRITE] = SIDE_WRITES, [ISOPROOF_OP_APPEND] = SIDE_WRITES,
    [ISOPROOF_OP_ADD] = SIDE_WRITES,    [ISOPROOF_OP_READ_LIST] = SIDES,   [ISOPROOF_OP_READ_SET] = SIDES,
    [ISOPROOF_OP_READ_COUNTER] = SIDES, [ISOPROOF_OP_INCREMENT] = SIDES,   [ISOPROOF_OP_READ_PREDICATE] = SIDES,
};

/* Counts an entry (first pass) or puts it into its cell (second pass). */
static inline void pass_on(const join *j, uint64_t *places, unsigned side, entry e) {
  uint64_t place = places[cell_of(j, hash_of(j, e.key, e.value), side)]++;
  if (j->entries != NULL) j->entries[place] = e;
}

static void pass_ops(join *j, unsigned thread, unsigned threads) {
  const isoproof_history *h = j->history;
  uint64_t first, end, initial = 0;
  uint64_t *places = j->place + thread * cells(j);
  bool rows = iso_history_has_rows(h);
  iso_parallel_range(h->ops, thread, threads, &first, &end);
  for (uint32_t op = (uint32_t)first; op < end; op++) {
    unsigned side = kind_side[h->op_kind[op]];
    iso_value value = h->op_value[op];
    /* Reads and writes alternate at random: only what is rare may branch. */
    bool initial_read = (side == SIDE_READS) & (value == ISO_VALUE_NIL);
    bool nothing_read = (side == SIDE_READS) & (value >= ISO_VALUE_COUNTED); /* not by a value, at any rate */
    if (rows) {
      initial_read |= (side == SIDE_READS) & (value == iso_history_initial(h, h->op_key[op]));
      nothing_read |= (side == SIDE_WRITES) & (value == ISO_VALUE_NIL);
    }
    if (initial_read | nothing_read | (side == SIDES)) {
      initial += initial_read;
      if (j->entries == NULL) j->answer[SIDE_READS][op] = initial_read ? ISO_FROM_INITIAL : ISO_NO_OP;
      continue;
    }
    if (j->entries == NULL) j->answer[SIDE_READS][op] = ISO_NO_OP;
    pass_on(j, places, side, (entry){h->op_key[op], value, op});
  }
  j->tallies[thread].initial = initial;
}

/* The row of `at` in rows of which row i is [first[i], first[i + 1]). */
static uint64_t row_of(const uint64_t *first, uint64_t rows, uint64_t at) {
  uint64_t low = 0, high = rows;
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    if (first[middle] <= at) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

static void pass_elements(join *j, unsigned side, unsigned thread, unsigned threads) {
  const isoproof_history *h = j->history;
  if (j->elements[side] == 0) return;
  const uint64_t *rows_first = side == SIDE_LISTS ? h->list_first : h->odd_first;
  const iso_value *values = side == SIDE_LISTS ? h->list_values : h->odd_values;
  uint64_t *places = j->place + thread * cells(j);
  uint64_t first, end;
  iso_parallel_range(j->elements[side], thread, threads, &first, &end);
  if (first == end) return;
  uint64_t row = row_of(rows_first, side == SIDE_LISTS ? h->keys : h->odd_lists, first);
  for (uint64_t i = first; i < end; i++) {
    while (rows_first[row + 1] <= i) row++;
    uint32_t key = side == SIDE_LISTS ? (uint32_t)row : j->odd_key[row];
    pass_on(j, places, side, (entry){key, values[i], (uint32_t)i});
  }
}

static void pass_phase(void *context, unsigned thread, unsigned threads) {
  join *j = context;
  pass_ops(j, thread, threads);
  pass_elements(j, SIDE_LISTS, thread, threads);
  pass_elements(j, SIDE_ODDS, thread, threads);
}

/* Turns counts into places: cell by cell, within a cell thread by thread, so that a cell keeps the order of operations
 * whatever the number of threads. */
static uint64_t lay_out(join *j, unsigned threads) {
  uint64_t at = 0;
  for (size_t c = 0; c < cells(j); c++) {
    j->first[c] = at;
    for (unsigned t = 0; t < threads; t++) {
      uint64_t count = j->place[t * cells(j) + c];
      j->place[t * cells(j) + c] = at;
      at += count;
    }
  }
  j->first[cells(j)] = at;
  return at;
}

static void note_duplicate(tally *t, uint32_t first, uint32_t second) {
  t->duplicates++;
  if (second < t->duplicate_second) t->duplicate_first = first, t->duplicate_second = second;
}

/* The table of one partition: numbers of its writes + 1, 0 where free. */
typedef struct {
  uint32_t *slots;
  size_t capacity;
  unsigned bits;
  const entry *writes;
} table;

/* The mark of a slot whose element several transactions may have added. */
#define SEVERAL UINT32_C(0x80000000)

/* The slot of (key, value): that of an equal write, or the free one where it belongs. */
static inline uint32_t *find_slot(const join *j, const table *t, const entry *wanted) {
  size_t mask = ((size_t)1 << t->bits) - 1;
  size_t at = slot_of(j, hash_of(j, wanted->key, wanted->value), t->bits);
  while (t->slots[at] != 0) {
    const entry *write = &t->writes[(t->slots[at] & ~SEVERAL) - 1];
    if (write->key == wanted->key && write->value == wanted->value) break;
    at = (at + 1) & mask;
  }
  return &t->slots[at];
}

static bool is_aborted(const isoproof_history *h, uint32_t op) {
  return h->txn_status[iso_history_txn_of(h, op)] == ISOPROOF_TXN_ABORTED;
}

/* Another transaction adds an element that the set may have already, which is no mistake.  An aborted adder gives way
 * to one that is not; of two that are not, nobody can say whose addition a read saw. */
static void add_again(const isoproof_history *h, const entry *writes, uint32_t *slot, uint64_t again) {
  if (is_aborted(h, writes[again].at)) return;
  if (is_aborted(h, writes[(*slot & ~SEVERAL) - 1].at)) {
    *slot = (uint32_t)again + 1;
  } else {
    *slot |= SEVERAL;
  }
}

static void index_writes(const join *j, const table *t, uint64_t count, tally *sum) {
  const isoproof_history *h = j->history;
  for (uint64_t i = 0; i < count; i++) {
    const entry *write = &t->writes[i];
    uint32_t *slot = find_slot(j, t, write);
    if (*slot == 0) {
      *slot = (uint32_t)i + 1;
      /* The kind of the operation is far away in memory: it is looked up only where it matters. */
      bool zero = write->value == 0 && h->initial_is_zero && h->op_kind[write->at] == ISOPROOF_OP_WRITE;
      if (zero) note_duplicate(sum, ISO_FROM_INITIAL, write->at);
    } else if (h->op_kind[write->at] == ISOPROOF_OP_ADD) {
      add_again(h, t->writes, slot, i);
    } else {
      note_duplicate(sum, t->writes[(*slot & ~SEVERAL) - 1].at, write->at);
    }
  }
}

static void join_partition(const join *j, size_t p, table *t, tally *sum) {
  const uint64_t *first = j->first + p * SIDES;
  t->writes = j->entries + first[SIDE_WRITES];
  index_writes(j, t, first[SIDE_WRITES + 1] - first[SIDE_WRITES], sum);
  for (int side = SIDE_READS; side < SIDES; side++) {
    uint64_t thin_air = 0;
    for (uint64_t i = first[side]; i < first[side + 1]; i++) {
      uint32_t slot = *find_slot(j, t, &j->entries[i]);
      uint32_t answer = slot == 0 ? ISO_FROM_NOBODY : (slot & SEVERAL) != 0 ? ISO_FROM_SEVERAL : t->writes[slot - 1].at;
      thin_air += slot == 0;
      j->answer[side][j->entries[i].at] = answer;
    }
    if (side == SIDE_READS) sum->reads += first[side + 1] - first[side], sum->thin_air += thin_air;
  }
}

/* An empty table, at most half full with `count` writes; false when memory is out. */
static bool make_table(table *t, uint64_t count) {
  t->bits = 4;
  while (((uint64_t)1 << t->bits) < 2 * count) t->bits++;
  size_t needed = (size_t)1 << t->bits;
  if (needed > t->capacity) {
    free(t->slots);
    t->slots = iso_alloc(needed, sizeof *t->slots);
    t->capacity = t->slots == NULL ? 0 : needed;
  }
  if (t->slots == NULL) return false;
  memset(t->slots, 0, needed * sizeof *t->slots);
  return true;
}

static void join_phase(void *context, unsigned thread, unsigned threads) {
  (void)threads;
  join *j = context;
  tally *sum = &j->tallies[thread];
  table t = {.slots = NULL};
  for (;;) {
    uint32_t p = __atomic_fetch_add(&j->next_partition, 1, __ATOMIC_RELAXED);
    if (p >= partitions(j) || iso_task_check(j->task, NULL) != ISOPROOF_OK) break;
    const uint64_t *first = j->first + p * SIDES;
    if (!make_table(&t, first[SIDE_WRITES + 1] - first[SIDE_WRITES])) {
      sum->failed = true;
      break;
    }
    join_partition(j, p, &t, sum);
  }
  free(t.slots);
}

/* The key of each odd list, which only the operation that read it knows. */
static bool find_odd_keys(join *j) {
  const isoproof_history *h = j->history;
  j->odd_key = iso_alloc_zero(h->odd_lists, sizeof *j->odd_key);
  if (j->odd_key == NULL) return false;
  for (uint32_t op = 0; h->odd_lists > 0 && op < h->ops; op++) {
    iso_value value = h->op_value[op];
    if (!iso_kind_is_list((isoproof_op_kind)h->op_kind[op]) || value == ISO_VALUE_NONE) continue;
    if (value >= ISO_VALUE_INTERNED) j->odd_key[value & ~ISO_VALUE_INTERNED] = h->op_key[op];
  }
  return true;
}

static bool allocate(join *j, unsigned threads) {
  j->tallies = iso_alloc_zero(threads, sizeof *j->tallies);
  j->place = iso_alloc_zero(threads * cells(j), sizeof *j->place);
  j->first = iso_alloc_zero(cells(j) + 1, sizeof *j->first);
  bool made = j->tallies != NULL && j->place != NULL && j->first != NULL && find_odd_keys(j);
  for (int side = SIDE_READS; side < SIDES; side++) {
    j->answer[side] = iso_alloc(j->elements[side], sizeof *j->answer[side]);
    made = made && j->answer[side] != NULL;
  }
  for (unsigned t = 0; made && t < threads; t++) j->tallies[t].duplicate_second = ISO_NO_OP;
  return made;
}

static bool run_join(join *j, unsigned threads) {
  if (!allocate(j, threads)) return false;
  iso_parallel(threads, pass_phase, j);
  j->entries = iso_alloc(lay_out(j, threads), sizeof *j->entries);
  if (j->entries == NULL) return false;
  iso_parallel(threads, pass_phase, j);
  iso_parallel(threads, join_phase, j);
  for (unsigned t = 0; t < threads; t++) {
    if (j->tallies[t].failed) return false;
  }
  return true;
}

static void sum_tallies(const join *j, unsigned threads, iso_resolution *r) {
  r->duplicate_first = r->duplicate_second = ISO_NO_OP;
  for (unsigned i = 0; i < threads; i++) {
    const tally *t = &j->tallies[i];
    r->counts.reads += t->reads + t->initial;
    r->counts.initial += t->initial;
    r->counts.thin_air += t->thin_air;
    r->counts.duplicate_writes += t->duplicates;
    if (t->duplicate_second < r->duplicate_second) {
      r->duplicate_first = t->duplicate_first;
      r->duplicate_second = t->duplicate_second;
    }
  }
}

static void free_join(join *j) {
  free(j->tallies);
  free(j->odd_key);
  free(j->entries);
  free(j->place);
  free(j->first);
  for (int side = 0; side < SIDES; side++) free(j->answer[side]);
}

isoproof_status iso_resolve_join(const isoproof_history *history, isoproof_task *task, iso_resolution **out,
                                 isoproof_error *error) {
  enum { PARTITION_ENTRIES = 65536, MOST_BITS = 11, SMALL = 65536 };
  join j = {.history = history, .task = task, .seed = iso_hash_seed(), .factor = iso_hash_seed() | 1};
  j.elements[SIDE_READS] = history->ops;
  if (history->list_first != NULL) j.elements[SIDE_LISTS] = history->list_first[history->keys];
  if (history->odd_lists > 0) j.elements[SIDE_ODDS] = history->odd_first[history->odd_lists];
  if (j.elements[SIDE_LISTS] > UINT32_MAX || j.elements[SIDE_ODDS] > UINT32_MAX) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "more than %u elements in distinct lists", UINT32_MAX);
  }
  uint64_t work = history->ops + j.elements[SIDE_LISTS] + j.elements[SIDE_ODDS];
  unsigned threads = work < SMALL ? 1 : iso_task_threads(task);
  while (j.bits < MOST_BITS && ((uint64_t)PARTITION_ENTRIES << j.bits) < work) j.bits++;
  iso_resolution *r = calloc(1, sizeof *r);
  bool made = r != NULL && run_join(&j, threads);
  isoproof_status status = made ? iso_task_check(task, error) : iso_fail_memory(error);
  if (status == ISOPROOF_OK) {
    sum_tallies(&j, threads, r);
    r->writer = j.answer[SIDE_READS];
    r->list_writer = j.answer[SIDE_LISTS];
    r->odd_writer = j.answer[SIDE_ODDS];
    memset(j.answer, 0, sizeof j.answer);
    *out = r;
  } else {
    free(r);
  }
  free_join(&j);
  return status;
}
