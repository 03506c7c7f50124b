/* The versions that one read can have seen, and those of them that cannot be right. */
#include <stdlib.h>
#include <string.h>

#include "check/duplicates/choices.h"

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
static bool is_sound(const iso_choices *c, uint32_t reader, uint32_t write) {
  const isoproof_history *h = c->history;
  if (write == ISO_FROM_INITIAL) return true;
  uint32_t txn = c->op_txn[write];
  return txn != reader && h->txn_status[txn] != ISOPROOF_TXN_ABORTED && !is_overwritten(h, txn, write);
}

/* How likely candidates are, the least first: what was guessed, then by distance in time. */
typedef struct {
  uint64_t distance;
  uint32_t write;
} ranked;

static int by_rank(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
  return (x->write > y->write) - (x->write < y->write);
}

/* What is the last one before the reader comes first, what comes after the reader last. */
static uint64_t distance_of(const iso_choices *c, uint32_t reader, uint32_t write) {
  int64_t now = c->versions->end[reader];
  if (write == ISO_FROM_INITIAL) return (uint64_t)INT64_MAX;
  int64_t then = c->versions->end[c->op_txn[write]];
  uint64_t apart = now > then ? (uint64_t)now - (uint64_t)then : (uint64_t)then - (uint64_t)now;
  return then <= now ? apart / 2 : (uint64_t)INT64_MAX + 1 + apart / 2;
}

static bool sort_candidates(const iso_choices *c, const iso_choice *choice) {
  uint32_t *candidates = c->candidates.items + choice->first, reader = c->op_txn[choice->op];
  /* Of rows a guess is there, which knows more than the time. */
  uint32_t guessed = c->resolution->rows != NULL || c->wish.keep ? c->resolution->writer[choice->op] : ISO_NO_OP;
  ranked *all = iso_alloc(choice->count, sizeof *all);
  if (all == NULL) return false;
  for (uint32_t i = 0; i < choice->count; i++) {
    all[i] = (ranked){candidates[i] == guessed ? 0 : 1 + distance_of(c, reader, candidates[i]), candidates[i]};
  }
  qsort(all, choice->count, sizeof *all, by_rank);
  for (uint32_t i = 0; i < choice->count; i++) candidates[i] = all[i].write;
  free(all);
  return true;
}

/* ---- what comes too late or too early ---- */

/* The first of the writers [low, high) of a key that is not below `txn`. */
static uint32_t place_from(const uint32_t *writers, uint32_t low, uint32_t high, uint32_t txn) {
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (writers[middle] < txn) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* By session, of those who wrote the key and come before the reader, the last one.  Of a session these are the first
 * ones, so that a key with a million versions is not gone through for each of its readers. */
static uint32_t find_seen_writers(const iso_choices *c, uint32_t key, uint32_t reader, uint32_t *seen, uint32_t most) {
  const uint32_t *writers = c->writers;
  const isoproof_history *h = c->history;
  uint32_t count = 0, end = c->versions->first[key + 1], next;
  if (!c->reach.known[reader]) return 0;
  for (uint32_t first = c->versions->first[key]; first < end && count < most; first = next) {
    uint32_t session = h->txn_session[writers[first]], begin = h->session_first_txn[session];
    uint32_t limit = begin + c->reach.clock[(size_t)reader * h->sessions + session];
    next = place_from(writers, first, end, h->session_first_txn[session + 1]);
    uint32_t behind = place_from(writers, first, next, session == h->txn_session[reader] ? reader : limit);
    while (behind > first && h->txn_status[writers[behind - 1]] != ISOPROOF_TXN_COMMITTED) behind--;
    if (behind > first) seen[count++] = writers[behind - 1];
  }
  return count;
}

static bool is_misplaced(const iso_choices *c, uint32_t reader, uint32_t write, const uint32_t *seen, uint32_t count) {
  uint32_t writer = write == ISO_FROM_INITIAL ? ISO_INITIAL : c->op_txn[write];
  if (writer != ISO_INITIAL && iso_reach_before(&c->reach, reader, writer)) return true;
  if (!c->wish.causal) return false;
  for (uint32_t k = 0; k < count; k++) {
    if (writer == ISO_INITIAL || iso_reach_before(&c->reach, writer, seen[k])) return true;
  }
  return false;
}

/* Drops the candidates that the known order forbids.  Where it forbids all of them, the first one says so. */
static void drop_misplaced(iso_choices *c, iso_choice *choice) {
  enum { MOST_SESSIONS = 256 };
  uint32_t seen[MOST_SESSIONS], *candidates = c->candidates.items + choice->first, reader = c->op_txn[choice->op];
  if (c->reach.clock == NULL) return;
  uint32_t count = find_seen_writers(c, c->history->op_key[choice->op], reader, seen, MOST_SESSIONS), kept = 0;
  for (uint32_t i = 0; i < choice->count; i++) {
    if (!is_misplaced(c, reader, candidates[i], seen, count)) candidates[kept++] = candidates[i];
  }
  choice->count = kept > 0 ? kept : 1;
}

/* Drops candidates that cannot be right, unless none can. */
static void narrow_down(iso_choices *c, iso_choice *choice) {
  const isoproof_history *h = c->history;
  uint32_t *candidates = c->candidates.items + choice->first, kept = 0;
  uint32_t reader = c->op_txn[choice->op], own = own_write(h, reader, choice->op);
  if (own != ISO_NO_OP) {
    if (!iso_history_read_fits(h, choice->op, iso_history_version(h, own))) return;
    candidates[0] = own;
    choice->count = 1;
    return;
  }
  for (uint32_t i = 0; i < choice->count; i++) {
    if (is_sound(c, reader, candidates[i])) candidates[kept++] = candidates[i];
  }
  if (kept > 0) choice->count = kept;
  if (kept > 1 && c->has_reach && h->txn_status[reader] == ISOPROOF_TXN_COMMITTED) drop_misplaced(c, choice);
}

/* ---- versions by value ---- */

typedef struct {
  iso_value value;
  uint32_t place;
} valued;

static int by_value(const void *a, const void *b) {
  const valued *x = a, *y = b;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

isoproof_status iso_candidates_index(iso_choices *c, isoproof_error *error) {
  const iso_row_versions *v = c->versions;
  const isoproof_history *h = c->history;
  uint32_t total = v->first[h->keys];
  valued *all = iso_alloc(total, sizeof *all);
  c->by_value = iso_alloc(total, sizeof *c->by_value);
  bool made = all != NULL && c->by_value != NULL;
  for (uint32_t i = 0; made && i < total; i++) all[i] = (valued){iso_history_version(h, v->write[i]), i};
  for (uint32_t key = 0; made && key < h->keys; key++) {
    uint32_t first = v->first[key], count = v->first[key + 1] - first;
    if (count > 1) qsort(all + first, count, sizeof *all, by_value);
  }
  for (uint32_t i = 0; made && i < total; i++) c->by_value[i] = all[i].place;
  free(all);
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}

/* The first place of by_value, of those of the key, whose version is not below `value`; with `behind` not even that. */
static uint32_t find_value(const iso_choices *c, uint32_t key, iso_value value, bool behind) {
  uint32_t low = c->versions->first[key], high = c->versions->first[key + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    iso_value at = iso_history_version(c->history, c->versions->write[c->by_value[middle]]);
    if (at < value || (behind && at == value)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Puts the writes that fit a read behind the candidates: found by its value where it shows one, as a key may have a
 * hundred thousand others. */
static bool add_fitting(iso_choices *c, uint32_t op) {
  const isoproof_history *h = c->history;
  const iso_row_versions *v = c->versions;
  uint32_t key = h->op_key[op];
  iso_value value = h->op_value[op];
  bool made = true;
  if (c->by_value != NULL && value != ISO_VALUE_UNMATCHED && value != ISO_VALUE_COUNTED) {
    uint32_t end = find_value(c, key, value, true);
    for (uint32_t i = find_value(c, key, value, false); made && i < end; i++) {
      made = iso_vec_push(&c->candidates, v->write[c->by_value[i]]);
    }
    return made;
  }
  for (uint32_t i = v->first[key]; made && i < v->first[key + 1]; i++) {
    if (!iso_history_read_fits(h, op, iso_history_version(h, v->write[i]))) continue;
    made = iso_vec_push(&c->candidates, v->write[i]);
  }
  return made;
}

isoproof_status iso_candidates_list(iso_choices *c, uint32_t op, bool narrow, iso_choice *choice,
                                    isoproof_error *error) {
  enum { MOST_CANDIDATES = 1 << 24 };
  const isoproof_history *h = c->history;
  uint32_t key = h->op_key[op];
  *choice = (iso_choice){.op = op, .first = (uint32_t)c->candidates.count};
  bool made =
      !iso_history_read_fits(h, op, iso_history_initial(h, key)) || iso_vec_push(&c->candidates, ISO_FROM_INITIAL);
  if (!made || !add_fitting(c, op)) return iso_fail_memory(error);
  choice->count = (uint32_t)c->candidates.count - choice->first;
  if (choice->count > 1 && !sort_candidates(c, choice)) return iso_fail_memory(error);
  if (choice->count > 1 && narrow && c->wish.prune) narrow_down(c, choice);
  c->candidates.count = choice->first + choice->count;
  if (c->candidates.count <= MOST_CANDIDATES) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_LIMIT, "too many versions could have been observed");
}
