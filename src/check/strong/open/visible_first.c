/* The first choices of open reads: versions that make nobody visible who is not already. */
#include <stdlib.h>

#include "check/strong/open/visible_steps.h"

/* How good a first choice a version is: optional transactions come last. */
static int64_t rank_of(const iso_watcher *w, const iso_open_read *read, uint32_t version) {
  const int64_t far = INT64_C(1) << 34;
  const iso_event_clocks *clocks = w->refiner.clocks;
  bool known = version == 0 || (clocks != NULL && iso_reaches(w->e, clocks, iso_watcher_writer(w, version), read->txn));
  bool optional = version > 0 && iso_is_optional(w->open->doubt, iso_watcher_writer(w, version));
  int64_t distance = iso_open_distance(w->open, w->e, w->s, read->txn, version);
  return iso_possible_rank(known, distance) + (optional ? 2 * far : 0);
}

/* The best possible version of a read; of a row of a count, of those that match or not as `wanted` says (-1: any).
 * UINT32_MAX where there is none. */
static isoproof_status best_choice(iso_watcher *w, const iso_open_read *read, int wanted, int64_t *rank,
                                   uint32_t *best) {
  if (w->open->doubt->optional == NULL) {
    *best = iso_possible_nearest(&w->possible, read, w->s, wanted, rank);
    return ISOPROOF_OK;
  }
  ISO_TRY(iso_possible_find(&w->possible, read, w->error));
  *rank = INT64_MAX;
  *best = UINT32_MAX;
  for (size_t i = 0; i < w->possible.versions.count; i++) {
    uint32_t version = w->possible.versions.items[i];
    if (wanted >= 0 && iso_open_matches(w->open, read->statement, read->key, version) != (wanted > 0)) continue;
    int64_t own = rank_of(w, read, version);
    if (own < *rank) *rank = own, *best = version;
  }
  return ISOPROOF_OK;
}

/* A row of a count with another choice, and how bad that one is. */
typedef struct {
  int64_t rank;
  uint32_t read, version;
} change;

static int by_rank(const void *a, const void *b) {
  const change *x = a, *y = b;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return (x->read > y->read) - (x->read < y->read);
}

/* Changes the first choices of the rows of a count until as many match as it says, the best ones first. */
static isoproof_status balance(iso_watcher *w, const iso_open_count *count, int64_t excess) {
  const iso_open_reads *o = w->open;
  size_t found = 0, needed = (size_t)(excess > 0 ? excess : -excess);
  change *changes = iso_alloc(count->reads, sizeof *changes);
  if (changes == NULL) return iso_fail_memory(w->error);
  isoproof_status status = ISOPROOF_OK;
  for (uint32_t i = count->first; i < count->first + count->reads && status == ISOPROOF_OK; i++) {
    const iso_open_read *read = &o->reads.items[i];
    if (iso_open_matches(o, count->statement, read->key, w->now[i]) != (excess > 0)) continue;
    change *c = &changes[found];
    status = best_choice(w, read, excess > 0 ? 0 : 1, &c->rank, &c->version);
    c->read = i;
    found += c->version != UINT32_MAX;
  }
  if (status == ISOPROOF_OK) qsort(changes, found, sizeof *changes, by_rank);
  for (size_t i = 0; i < needed && i < found && status == ISOPROOF_OK; i++) {
    w->now[changes[i].read] = changes[i].version;
  }
  free(changes);
  return status;
}

static int64_t excess_of(const iso_watcher *w, const iso_open_count *count) {
  int64_t matching = 0;
  for (uint32_t i = count->first; i < count->first + count->reads; i++) {
    matching += iso_open_matches(w->open, count->statement, w->open->reads.items[i].key, w->now[i]);
  }
  return matching - count->missing;
}

/* What the read is said to have observed; UINT32_MAX where nothing is. */
static uint32_t started_with(const iso_watcher *w, const iso_open_start *start, const iso_open_read *read) {
  uint32_t write = start != NULL ? start->writer[read->op] : ISO_UNSETTLED;
  if (write == ISO_UNSETTLED) return UINT32_MAX;
  return write == ISO_FROM_INITIAL ? 0 : iso_view_slot(w->v, w->open->doubt->op_txn[write], read->key) + 1;
}

isoproof_status iso_watcher_choose(iso_watcher *w, const iso_open_start *start, bool *impossible) {
  const iso_open_reads *o = w->open;
  int64_t rank;
  *impossible = false;
  for (uint32_t i = 0; i < o->reads.count && !*impossible; i++) {
    w->now[i] = started_with(w, start, &o->reads.items[i]);
    if (w->now[i] != UINT32_MAX) continue;
    ISO_TRY(best_choice(w, &o->reads.items[i], -1, &rank, &w->now[i]));
    if (w->now[i] != UINT32_MAX) continue;
    *impossible = !iso_is_optional(o->doubt, o->reads.items[i].txn);
    w->now[i] = 0;
    if (!*impossible) ISO_TRY(iso_menus_list(&w->menus, i, w->error)); /* it takes no part */
  }
  for (uint32_t i = 0; i < o->counts.count && !*impossible; i++) {
    const iso_open_count *count = &o->counts.items[i];
    int64_t excess = excess_of(w, count);
    if (excess != 0) ISO_TRY(balance(w, count, excess));
    if (excess_of(w, count) == 0) continue;
    ISO_TRY(iso_menus_state(&w->menus, i, w->now + count->first, w->error));
    w->listed = true;
  }
  return ISOPROOF_OK;
}
