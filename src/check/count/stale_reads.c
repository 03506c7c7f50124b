/* Stale reads: a version that had been replaced, by somebody who had ended, before the reader began. */
#include "check/count/counting.h"
#include "history/real_time.h"

typedef struct {
  int64_t start, end;
  uint32_t txn;
  uint32_t earliest; /* place of the earliest end from here on */
} moment;

typedef struct {
  iso_counting *c;
  moment *writers; /* of one key, by start */
  uint32_t count;
  bool undecided;
} stale;

static int by_start(const void *a, const void *b) {
  const moment *x = a, *y = b;
  if (x->start != y->start) return x->start < y->start ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

static void gather(stale *s, uint32_t key) {
  const iso_view *v = s->c->view;
  s->count = 0;
  for (uint32_t i = v->writer_first[key]; i < v->writer_first[key + 1]; i++) {
    uint32_t txn = v->writer[i];
    s->writers[s->count++] = (moment){iso_real_start(v->h, txn), iso_real_end(v->h, txn), txn, 0};
  }
  if (s->count > 1) qsort(s->writers, s->count, sizeof *s->writers, by_start);
  for (uint32_t i = s->count; i-- > 0;) {
    bool later = i + 1 < s->count && s->writers[s->writers[i + 1].earliest].end < s->writers[i].end;
    s->writers[i].earliest = later ? s->writers[i + 1].earliest : i;
  }
}

/* The writer that began after `since` and ended first. */
static const moment *first_after(const stale *s, int64_t since) {
  uint32_t low = 0, high = s->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (s->writers[middle].start > since) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low < s->count ? &s->writers[s->writers[low].earliest] : NULL;
}

/* The same by what was read, by sessions, by lists. */
static uint32_t replaced_otherwise(stale *s, uint32_t read, int64_t began) {
  iso_counting *c = s->c;
  const iso_view *v = c->view;
  uint32_t key = v->reads[read].key, version = v->reads[read].from, group;
  for (uint32_t i = c->seen_first[version]; i < c->seen_first[version + 1] && iso_counting_step(c, 1); i++) {
    uint32_t txn = c->seen_by[i];
    if (iso_real_end(v->h, txn) < began && iso_view_writes(v, txn, key)) return txn;
  }
  if (c->level->session_order && iso_view_group(v, key, v->h->txn_session[version], &group)) {
    for (uint32_t i = v->group_start[group + 1]; i-- > v->group_start[group] && v->writer[i] > version;) {
      if (!iso_counting_step(c, 1)) return ISO_NO_TXN;
      if (iso_real_end(v->h, v->writer[i]) < began) return v->writer[i];
    }
  }
  uint32_t place = iso_versions_place(v, c->versions, version, key);
  if (place == ISO_NO_PLACE) return ISO_NO_TXN;
  for (uint32_t i = 0; i < s->count && s->writers[i].start < began && iso_counting_step(c, 1); i++) {
    if (s->writers[i].end < began && iso_versions_place(v, c->versions, s->writers[i].txn, key) > place)
      return s->writers[i].txn;
  }
  return ISO_NO_TXN;
}

/* Who replaced what was read and had ended before the reader began; ISO_NO_TXN for nobody. */
static uint32_t replaced_before(stale *s, uint32_t reader, uint32_t read) {
  iso_counting *c = s->c;
  const iso_view *v = c->view;
  int64_t began = iso_real_start(v->h, reader);
  uint32_t version = v->reads[read].from;
  bool initial = version == ISO_INITIAL;
  const moment *first = initial && s->count > 0 ? &s->writers[s->writers[0].earliest] : NULL;
  if (!initial) first = first_after(s, iso_real_end(v->h, version));
  if (first != NULL && first->end < began && first->txn != version) return first->txn;
  return initial ? ISO_NO_TXN : replaced_otherwise(s, read, began);
}

/* Whether somebody who had ended may have replaced it: nothing tells. */
static bool may_be_replaced(stale *s, uint32_t reader, uint32_t read) {
  const iso_view *v = s->c->view;
  int64_t began = iso_real_start(v->h, reader);
  uint32_t key = v->reads[read].key, version = v->reads[read].from;
  if (version == ISO_INITIAL || iso_is_listed_key(s->c, key)) return false;
  for (uint32_t i = 0; i < s->count; i++) {
    const moment *m = &s->writers[i];
    if (!iso_counting_step(s->c, 1)) return true;
    if (m->start >= began) break;
    if (m->end >= began || m->end < iso_real_start(v->h, version)) continue;
    if (m->txn != version && !iso_is_before(s->c, key, m->txn, version)) return true;
  }
  return false;
}

static bool count_read(stale *s, uint32_t reader, uint32_t read) {
  uint32_t by = replaced_before(s, reader, read);
  if (by == ISO_NO_TXN || s->c->stopped) return false;
  iso_counting_add(s->c, (iso_occurrence){{by, reader}, {read, 0, 0, 0}});
  return true;
}

static bool doubt_read(stale *s, uint32_t reader, uint32_t read) {
  if (replaced_before(s, reader, read) != ISO_NO_TXN) return true;
  s->undecided = s->undecided || may_be_replaced(s, reader, read);
  return false;
}

/* Goes through the reads of all keys, until `visit` is done with a reader of a key. */
static bool visit_reads(iso_counting *c, bool (*visit)(stale *s, uint32_t reader, uint32_t read)) {
  const iso_view *v = c->view;
  uint32_t most = 0;
  for (uint32_t key = 0; key < v->h->keys; key++) {
    uint32_t writers = v->writer_first[key + 1] - v->writer_first[key];
    if (writers > most) most = writers;
  }
  stale s = {.c = c, .writers = iso_alloc(most, sizeof *s.writers)};
  if (s.writers == NULL) c->status = ISOPROOF_ERR_MEMORY;
  for (uint32_t key = 0; s.writers != NULL && key < v->h->keys; key++) {
    uint32_t done = ISO_NO_TXN; /* readers are in order of transactions */
    gather(&s, key);
    for (uint32_t i = v->reader_first[key]; i < v->reader_first[key + 1]; i++) {
      uint32_t reader = v->readers[i].txn;
      if (reader != done && visit(&s, reader, v->readers[i].read)) done = reader;
      if (s.undecided || !iso_counting_step(c, 1)) break;
    }
    if (s.undecided || c->stopped) break;
  }
  free(s.writers);
  return s.undecided;
}

void iso_count_stale_reads(iso_counting *c) { (void)visit_reads(c, count_read); }

bool iso_stale_read_undecided(iso_counting *c) { return visit_reads(c, doubt_read); }
