/* Reads resolved by a table of all values that were written, on several threads. */
#include "history/resolve_direct.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/vector.h"
#include "history/resolve.h"

/* What one thread counts. */
typedef struct {
  uint64_t writes, reads, initial, thin_air;
  uint32_t *end; /* by key: one more than the largest value written */
  bool unfit;    /* something was met that is none for the table */
} tally;

typedef struct {
  const isoproof_history *h;
  tally *tallies;
  uint32_t *end;   /* of all threads */
  uint64_t *first; /* by key: its place in the table; NULL where all keys share it, as no value is written to two */
  uint32_t *table; /* the write + 1; 0 for none */
  uint32_t *writer;
  bool unfit; /* atomic */
} direct;

/* First pass: how far the values go.  Reads and writes alternate at random, so that nothing may branch on them. */
static void measure(void *context, unsigned thread, unsigned threads) {
  direct *d = context;
  const isoproof_history *h = d->h;
  tally *t = &d->tallies[thread];
  uint64_t first, end, writes = 0;
  bool unfit = false;
  iso_parallel_range(h->ops, thread, threads, &first, &end);
  for (uint64_t op = first; op < end && !unfit; op++) {
    iso_value value = h->op_value[op];
    bool read = h->op_kind[op] == ISOPROOF_OP_READ, write = h->op_kind[op] == ISOPROOF_OP_WRITE;
    unfit = ((read | write) == 0) | (write & ((value >= ISO_VALUE_INLINE_LIMIT) | ((value == 0) & h->initial_is_zero)));
    uint32_t *most = &t->end[h->op_key[op]], past = write ? value + 1 : 0;
    *most = past > *most ? past : *most;
    writes += write;
  }
  t->writes = writes;
  t->unfit = unfit;
}

enum { AT_ONCE = 64 };

/* The operations of a kind among [op, end), at most AT_ONCE. */
static unsigned pick(const isoproof_history *h, uint64_t op, uint64_t end, isoproof_op_kind kind, uint32_t *picked) {
  unsigned count = 0;
  for (; op < end; op++) {
    picked[count] = (uint32_t)op;
    count += h->op_kind[op] == kind;
  }
  return count;
}

static inline uint64_t place_of(const direct *d, uint32_t op) {
  return (d->first != NULL ? d->first[d->h->op_key[op]] : 0) + d->h->op_value[op];
}

/* Second pass: the writes. */
static void enter(void *context, unsigned thread, unsigned threads) {
  direct *d = context;
  uint64_t first, end;
  uint32_t writes[AT_ONCE];
  bool twice = false;
  iso_parallel_range(d->h->ops, thread, threads, &first, &end);
  for (uint64_t op = first; op < end && !twice; op += AT_ONCE) {
    unsigned count = pick(d->h, op, end - op < AT_ONCE ? end : op + AT_ONCE, ISOPROOF_OP_WRITE, writes);
    for (unsigned i = 0; i < count; i++) __builtin_prefetch(&d->table[place_of(d, writes[i])], 1);
    for (unsigned i = 0; i < count; i++) {
      twice |= __atomic_exchange_n(&d->table[place_of(d, writes[i])], writes[i] + 1, __ATOMIC_RELAXED) != 0;
    }
  }
  if (twice) __atomic_store_n(&d->unfit, true, __ATOMIC_RELAXED);
}

/* Whether the value of a read is one that somebody may have written. */
static inline bool is_within(const direct *d, uint32_t op) { return d->h->op_value[op] < d->end[d->h->op_key[op]]; }

static inline uint32_t look_up(const direct *d, uint32_t op) {
  if (d->h->op_value[op] >= ISO_VALUE_COUNTED) return ISO_NO_OP;
  if (d->h->op_value[op] == ISO_VALUE_NIL) return ISO_FROM_INITIAL;
  uint32_t write = is_within(d, op) ? d->table[place_of(d, op)] : 0;
  if (write == 0 || (d->first == NULL && d->h->op_key[write - 1] != d->h->op_key[op])) return ISO_FROM_NOBODY;
  return write - 1;
}

/* Third pass: the reads. */
static void answer(void *context, unsigned thread, unsigned threads) {
  const direct *d = context;
  tally *t = &d->tallies[thread];
  uint64_t first, end, seen = 0, initial = 0, thin_air = 0;
  uint32_t reads[AT_ONCE];
  iso_parallel_range(d->h->ops, thread, threads, &first, &end);
  for (uint64_t op = first; op < end; op += AT_ONCE) {
    uint64_t part = end - op < AT_ONCE ? end : op + AT_ONCE;
    unsigned count = pick(d->h, op, part, ISOPROOF_OP_READ, reads);
    for (unsigned i = 0; i < count; i++) {
      if (is_within(d, reads[i])) __builtin_prefetch(&d->table[place_of(d, reads[i])]);
    }
    memset(d->writer + op, 0xff, (part - op) * sizeof *d->writer); /* ISO_NO_OP */
    for (unsigned i = 0; i < count; i++) {
      uint32_t found = look_up(d, reads[i]);
      d->writer[reads[i]] = found;
      initial += found == ISO_FROM_INITIAL;
      thin_air += found == ISO_FROM_NOBODY;
      seen += found != ISO_NO_OP;
    }
  }
  t->reads = seen;
  t->initial = initial;
  t->thin_air = thin_air;
}

/* Sums up what the first pass found, and decides how the table is laid out; false where there is to be none. */
static bool lay_out(direct *d, unsigned threads, uint64_t *size) {
  uint64_t writes = 0, longest = 0;
  for (unsigned t = 0; t < threads; t++) {
    writes += d->tallies[t].writes;
    if (d->tallies[t].unfit) return false;
  }
  uint64_t most = 2 * writes + 1024;
  *size = 0;
  d->end = d->tallies[0].end;
  for (uint32_t key = 0; key < d->h->keys; key++) {
    for (unsigned t = 1; t < threads; t++) {
      if (d->tallies[t].end[key] > d->end[key]) d->end[key] = d->tallies[t].end[key];
    }
    d->first[key] = *size;
    *size += d->end[key];
    if (d->end[key] > longest) longest = d->end[key];
  }
  if (*size <= most) return true;
  *size = longest;
  free(d->first);
  d->first = NULL;
  return longest <= most;
}

static bool allocate(direct *d, unsigned threads) {
  d->tallies = iso_alloc_zero(threads, sizeof *d->tallies);
  d->first = iso_alloc(d->h->keys, sizeof *d->first);
  bool made = d->tallies != NULL && d->first != NULL;
  for (unsigned t = 0; made && t < threads; t++) {
    d->tallies[t].end = iso_alloc_zero(d->h->keys, sizeof *d->tallies[t].end);
    made = d->tallies[t].end != NULL;
  }
  return made;
}

static iso_resolution *put_together(direct *d, unsigned threads) {
  iso_resolution *r = calloc(1, sizeof *r);
  if (r == NULL) return NULL;
  r->duplicate_first = r->duplicate_second = ISO_NO_OP;
  r->list_writer = iso_alloc(0, sizeof *r->list_writer);
  r->odd_writer = iso_alloc(0, sizeof *r->odd_writer);
  for (unsigned t = 0; t < threads; t++) {
    r->counts.reads += d->tallies[t].reads;
    r->counts.initial += d->tallies[t].initial;
    r->counts.thin_air += d->tallies[t].thin_air;
  }
  r->writer = d->writer;
  d->writer = NULL;
  if (r->list_writer != NULL && r->odd_writer != NULL) return r;
  iso_resolution_free(r);
  return NULL;
}

/* *out stays NULL where the history turns out to be none for a table. */
static bool run(direct *d, unsigned threads, iso_resolution **out) {
  uint64_t size;
  if (!allocate(d, threads)) return false;
  iso_parallel(threads, measure, d);
  if (!lay_out(d, threads, &size)) return true;
  d->table = iso_alloc_zero(size, sizeof *d->table);
  if (d->table == NULL) return false;
  iso_parallel(threads, enter, d);
  if (d->unfit) return true;
  d->writer = iso_alloc(d->h->ops, sizeof *d->writer);
  if (d->writer == NULL) return false;
  iso_parallel(threads, answer, d);
  *out = put_together(d, threads);
  return *out != NULL;
}

isoproof_status iso_resolve_direct(const isoproof_history *history, isoproof_task *task, iso_resolution **out,
                                   isoproof_error *error) {
  enum { SMALL = 65536 };
  *out = NULL;
  bool lists = history->list_first != NULL && history->list_first[history->keys] > 0;
  if (lists || history->odd_lists > 0 || iso_history_has_rows(history)) return ISOPROOF_OK;
  unsigned threads = history->ops < SMALL ? 1 : iso_task_threads(task);
  direct d = {.h = history};
  bool made = run(&d, threads, out);
  for (unsigned t = 0; d.tallies != NULL && t < threads; t++) free(d.tallies[t].end);
  free(d.tallies);
  free(d.first);
  free(d.table);
  free(d.writer);
  if (!made) return iso_fail_memory(error);
  isoproof_status status = iso_task_check(task, error);
  if (status != ISOPROOF_OK) {
    iso_resolution_free(*out);
    *out = NULL;
  }
  return status;
}
