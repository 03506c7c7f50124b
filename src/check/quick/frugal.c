/* What fits where memory is limited. */
#include "check/quick/frugal.h"

#include <stdlib.h>

/* So much of a column is mapped around each place where a pass reads; and how many columns it reads. */
enum { AROUND = 1 << 16, COLUMNS = 6 };
enum { MOST_SLICES = 64, LEAST_SUSPICIONS = 16, MOST_SUSPICIONS = 1 << 19, PER_SUSPICION = 16 };

static uint64_t at_most(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

/* What of the file stays where passes go on, besides what they let go of: around their places, and times, which are
 * read at random. */
static uint64_t mapped(const iso_quick *q, uint64_t places) {
  const isoproof_history *h = q->h;
  return h->frugal ? places * COLUMNS * AROUND + (uint64_t)h->txns * sizeof(int64_t) : 0;
}

unsigned iso_quick_plan_replay(iso_quick *q) {
  const isoproof_history *h = q->h;
  if (q->memory == ISO_QUICK_ALL_MEMORY) return q->threads;
  for (unsigned threads = q->threads; threads > 0; threads = threads > 1 ? 1 : 0) {
    uint64_t kept = (uint64_t)h->txns * 2 * sizeof(uint32_t) + (uint64_t)h->keys * 2 * sizeof(uint32_t) * threads;
    uint64_t room = less(q->memory, kept + mapped(q, (uint64_t)h->sessions));
    q->window = room / 2 / threads;
    if (room > q->memory / 8) return threads;
  }
  return 0;
}

/* Shares out what is left once everything has its room but the table and, when that has gone, what is found. */
static void share_room(iso_quick *q, uint64_t room) {
  uint64_t threads = q->threads, suspicions = room / 8 / threads / PER_SUSPICION;
  suspicions = at_most(suspicions, q->h->ops); /* few operations do not make many */
  suspicions = suspicions > LEAST_SUSPICIONS ? suspicions : LEAST_SUSPICIONS;
  q->most_suspicions = (uint32_t)at_most(suspicions, MOST_SUSPICIONS);
  /* Where the sources of transactions are, how many, and what sessions have seen. */
  uint64_t each = sizeof *q->source_first + sizeof *q->source_count + sizeof *q->seen_at;
  q->most_kept = less(room, q->h->txns * each + threads * q->most_suspicions * PER_SUSPICION) / threads;
}

bool iso_quick_plan_slices(iso_quick *q) {
  const isoproof_history *h = q->h;
  uint64_t txns = h->txns, keys = h->keys, writes = 0, threads = q->threads;
  for (unsigned t = 0; t < q->threads; t++) writes += q->shares[t].writes;
  /* Everything is a read or a write.  By key: where its values are, and what a session knows of it. */
  uint64_t kept = keys * sizeof(uint32_t) * (1 + threads) + txns * (sizeof *q->keys + sizeof *q->repeats) +
                  (h->ops - writes) * sizeof *q->entries;
  if (mapped(q, h->sessions) > q->memory / 4) q->most_turns = 0;
  uint64_t places = h->sessions > q->most_turns ? threads : h->sessions, window = q->memory / 8;
  uint64_t room = less(q->memory, kept + mapped(q, places) + window);
  uint64_t table = q->size * (q->is_shared ? 2 : 1) * sizeof *q->table;
  q->window = window / threads;
  share_room(q, room);
  if (room == 0 || table / room >= MOST_SLICES) return false;
  uint32_t slices = (uint32_t)(table / room) + 1;
  q->slices = slices > q->slices ? slices : q->slices;
  return true;
}

bool iso_quick_plan_snapshots(iso_quick *q, size_t per_place, size_t per_txn) {
  const isoproof_history *h = q->h;
  if (q->memory == ISO_QUICK_ALL_MEMORY) return true;
  /* The order and how it is made, by transaction; where values are and the first writer, by key. */
  uint64_t txns = h->txns * (per_txn + 2 * sizeof(uint32_t)), keys = (uint64_t)h->keys * 2 * sizeof(uint32_t);
  uint64_t room = less(q->memory, q->size * per_place + txns + keys + mapped(q, h->sessions));
  q->window = room / 2;
  return room > q->memory / 16;
}

void iso_quick_release(iso_quick *q) {
  free(q->keys);
  free(q->repeats);
  free(q->first);
  free(q->seen_at);
  q->keys = NULL;
  q->repeats = NULL;
  q->first = q->seen_at = NULL;
}
