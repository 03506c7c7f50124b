/* Reachability by bit sets: one sweep over a strip of transactions carries a bit for each of some hundred writers. */
#include "check/causal/sweep.h"

#include <stdlib.h>
#include <string.h>

bool iso_sweeper_make(const iso_strip *strip, iso_sweeper *s) {
  memset(s, 0, sizeof *s);
  s->strip = strip;
  s->key = iso_alloc_zero(strip->keys, sizeof *s->key); /* none at all where only pairs are asked for */
  return s->key != NULL;
}

void iso_sweeper_free(iso_sweeper *s) {
  free(s->bits);
  free(s->key);
  iso_vec_free(&s->masks);
  iso_vec_free(&s->found);
}

/* Who of the block writes which key. */
static void mark_writers(iso_sweeper *s, uint32_t first, uint32_t last) {
  const iso_strip *strip = s->strip;
  s->masks.count = 0;
  for (uint32_t place = first; place < last; place++) {
    for (uint32_t i = strip->write_first[place]; i < strip->write_first[place + 1]; i++) {
      struct iso_key_mask *key = &s->key[strip->write_key[i]];
      if (key->sweep != s->sweeps) {
        if (!iso_vec_reserve(&s->masks, ISO_SWEEP_WORDS)) {
          s->failed = true;
          return;
        }
        key->sweep = s->sweeps;
        key->slot = (uint32_t)(s->masks.count / ISO_SWEEP_WORDS);
        memset(s->masks.items + s->masks.count, 0, ISO_SWEEP_WORDS * sizeof *s->masks.items);
        s->masks.count += ISO_SWEEP_WORDS;
      }
      uint32_t bit = place - first;
      s->masks.items[(size_t)key->slot * ISO_SWEEP_WORDS + bit / 64] |= UINT64_C(1) << (bit % 64);
    }
  }
}

/* Notes the writers of one word, or some of them, the latest first, as the others follow soon enough. */
static void note(iso_sweeper *s, uint32_t first, uint32_t word, uint64_t hits, uint32_t read) {
  enum { FEW = 4 };
  for (int n = 0; (n < FEW || s->all) && hits != 0; n++) {
    uint32_t bit = 63 - (uint32_t)__builtin_clzll(hits);
    hits &= ~(UINT64_C(1) << bit);
    if (!iso_vec_push(&s->found, ((iso_between){first + word * 64 + bit, read}))) s->failed = true;
  }
}

/* The writers of the block after the version that was read, if they are before this place. */
static void look(iso_sweeper *s, uint32_t first, const struct iso_strip_read *read, const uint64_t *here) {
  const uint64_t *mask = s->masks.items + (size_t)s->key[read->key].slot * ISO_SWEEP_WORDS;
  uint32_t skip = read->from > first ? read->from - first : 0; /* up to the version itself */
  for (uint32_t word = skip / 64; word < ISO_SWEEP_WORDS; word++) {
    uint64_t hits = mask[word] & here[word];
    if (word == skip / 64) hits &= ~UINT64_C(0) << (skip % 64);
    if (hits != 0) note(s, first, word, hits, read->read);
  }
}

/* Makes room for the bits of that many places. */
static bool make_room(iso_sweeper *s, size_t span) {
  if (span <= s->capacity) return true;
  uint64_t *grown = iso_realloc(s->bits, span * ISO_SWEEP_WORDS, sizeof *grown);
  if (grown == NULL) {
    s->failed = true;
    return false;
  }
  s->bits = grown;
  s->capacity = span;
  return true;
}

/* What is before a place, of what is marked from `first` on. */
static inline void gather(const iso_sweeper *s, uint32_t first, uint32_t place, uint64_t *sum) {
  const iso_strip *strip = s->strip;
  for (uint32_t i = strip->before_first[place]; i < strip->before_first[place + 1]; i++) {
    if (strip->before[i] < first) continue;
    const uint64_t *other = s->bits + (size_t)(strip->before[i] - first) * ISO_SWEEP_WORDS;
    for (int w = 0; w < ISO_SWEEP_WORDS; w++) sum[w] |= other[w];
  }
}

static inline void keep(iso_sweeper *s, uint32_t first, uint32_t place, const uint64_t *sum) {
  memcpy(s->bits + (size_t)(place - first) * ISO_SWEEP_WORDS, sum, ISO_SWEEP_WORDS * sizeof *sum);
}

void iso_sweep(iso_sweeper *s, uint32_t block, uint32_t end) {
  const iso_strip *strip = s->strip;
  uint32_t first = block * ISO_SWEEP_BITS, last = first + ISO_SWEEP_BITS;
  if (last > strip->count) last = strip->count;
  if (!make_room(s, end - first + 1)) return;
  s->sweeps++;
  mark_writers(s, first, last);
  for (uint32_t place = first; place <= end && !s->failed; place++) {
    uint64_t sum[ISO_SWEEP_WORDS] = {0};
    gather(s, first, place, sum);
    for (uint32_t i = strip->read_first[place]; i < strip->read_first[place + 1]; i++) {
      const struct iso_strip_read *read = &strip->reads[i];
      if (read->from <= last && s->key[read->key].sweep == s->sweeps) look(s, first, read, sum);
    }
    if (place < last) sum[(place - first) / 64] |= UINT64_C(1) << ((place - first) % 64);
    keep(s, first, place, sum);
  }
}

/* ---- far writers ---- */

/* Pairs that are far apart after the others, so that these have short sweeps. */
static int by_writer(const void *a, const void *b) {
  enum { NEAR = 1 << 13 };
  const iso_far *x = a, *y = b;
  bool x_far = x->reader - x->writer > NEAR, y_far = y->reader - y->writer > NEAR;
  if (x_far != y_far) return x_far ? 1 : -1;
  return (x->writer > y->writer) - (x->writer < y->writer);
}

static int by_reader(const void *a, const void *b) {
  const iso_far *x = a, *y = b;
  return (x->reader > y->reader) - (x->reader < y->reader);
}

static uint32_t bit_of(const uint32_t *writers, uint32_t count, uint32_t writer) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (writers[middle] < writer) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* One sweep from the first writer to the last reader of the items, which are in the order of their readers. */
static void sweep_items(iso_sweeper *s, const iso_far *items, size_t count, const uint32_t *writers, uint32_t bits) {
  uint32_t first = writers[0], end = items[count - 1].reader, next_bit = 0;
  size_t next = 0;
  if (!make_room(s, (size_t)end - first + 1)) return;
  for (uint32_t place = first; place <= end && !s->failed; place++) {
    uint64_t sum[ISO_SWEEP_WORDS] = {0};
    gather(s, first, place, sum);
    for (; next < count && items[next].reader == place; next++) {
      uint32_t bit = bit_of(writers, bits, items[next].writer);
      if ((sum[bit / 64] >> (bit % 64) & 1) == 0) continue;
      if (!iso_vec_push(&s->found, ((iso_between){items[next].writer, items[next].read}))) s->failed = true;
    }
    if (next_bit < bits && writers[next_bit] == place) sum[next_bit / 64] |= UINT64_C(1) << (next_bit % 64), next_bit++;
    keep(s, first, place, sum);
  }
}

void iso_sweep_far(iso_sweeper *s, iso_far *items, size_t count) {
  uint32_t writers[ISO_SWEEP_BITS];
  if (count == 0) return;
  qsort(items, count, sizeof *items, by_writer);
  for (size_t begin = 0; begin < count && !s->failed;) {
    size_t end = begin;
    uint32_t bits = 0;
    for (; end < count; end++) {
      if (bits > 0 && writers[bits - 1] == items[end].writer) continue;
      /* The writers start again where the far ones begin. */
      if (bits == ISO_SWEEP_BITS || (bits > 0 && writers[bits - 1] > items[end].writer)) break;
      writers[bits++] = items[end].writer;
    }
    qsort(items + begin, end - begin, sizeof *items, by_reader);
    sweep_items(s, items + begin, end - begin, writers, bits);
    begin = end;
  }
}
