/* Windows of an order that backward edges span: every cycle lies within one. */
#include "check/causal/window.h"

#include <stdlib.h>
#include <string.h>

/* A write inside a window. */
typedef struct {
  uint32_t key, place;
} window_write;

typedef struct {
  const iso_view *v;
  const iso_sequence *s;
  uint32_t *first; /* by place: the first place of its window */
  uint32_t *end;   /* by place: the last place of its window, + 1; 0 outside of all */
  ISO_VEC(window_write) writes;
  iso_window_pairs *out;
} windows;

/* Joins the intervals between the ends of backward edges. */
static bool find_windows(windows *w, const iso_between *backward, size_t count) {
  uint32_t places = w->s->count;
  int32_t *change = iso_alloc_zero((size_t)places + 1, sizeof *change), open = 0;
  w->first = iso_alloc(places, sizeof *w->first);
  w->end = iso_alloc_zero(places, sizeof *w->end);
  if (change == NULL || w->first == NULL || w->end == NULL) {
    free(change);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    uint32_t t1 = w->v->reads[backward[i].read].from;
    if (t1 == ISO_INITIAL) continue;
    change[w->s->place[t1]]++;
    change[backward[i].writer]--;
  }
  for (uint32_t place = 0, first = 0; place < places; place++) {
    bool inside = open > 0;
    open += change[place];
    if (!inside && open > 0) first = place;
    w->first[place] = first;
    for (uint32_t i = first; inside && open == 0 && i <= place; i++) w->end[i] = place + 1;
  }
  free(change);
  return true;
}

static int by_key(const void *a, const void *b) {
  const window_write *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

static bool collect_writes(windows *w) {
  const iso_view *v = w->v;
  for (uint32_t place = 0; place < w->s->count; place++) {
    if (w->end[place] == 0) continue;
    uint32_t txn = w->s->event[place];
    for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
      if (!iso_vec_push(&w->writes, ((window_write){v->write_key[i], place}))) return false;
    }
  }
  if (w->writes.count > 1) qsort(w->writes.items, w->writes.count, sizeof *w->writes.items, by_key);
  return true;
}

/* The first write at or behind this one. */
static size_t find_write(const windows *w, window_write write) {
  size_t low = 0, high = w->writes.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (by_key(&w->writes.items[middle], &write) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The writers of a read's key in the window of the version that it saw. */
static void pair_up(windows *w, const uint32_t *depth, uint32_t place, uint32_t read) {
  enum { MOST = 1 << 24 };
  uint32_t key = w->v->reads[read].key, from = w->s->place[w->v->reads[read].from], end = w->end[from];
  for (size_t i = find_write(w, (window_write){key, w->first[from]}); i < w->writes.count; i++) {
    uint32_t writer = w->writes.items[i].place;
    if (w->writes.items[i].key != key || writer >= end || writer >= place) break;
    if (writer == from || depth[w->s->event[writer]] >= depth[w->s->event[place]]) continue;
    if (w->out->items.count == MOST) {
      w->out->too_many = true;
      return;
    }
    if (!iso_vec_push(&w->out->items, ((iso_far){writer, place, read}))) w->out->failed = true;
  }
}

void iso_window_pairs_find(const iso_view *view, const iso_sequence *sequence, const uint32_t *depth,
                           const iso_between *backward, size_t count, iso_window_pairs *pairs) {
  memset(pairs, 0, sizeof *pairs);
  windows w = {.v = view, .s = sequence, .out = pairs};
  pairs->failed = !find_windows(&w, backward, count) || !collect_writes(&w);
  for (uint32_t place = 0; place < sequence->count; place++) {
    uint32_t txn = sequence->event[place];
    for (uint32_t i = view->read_first[txn]; i < view->read_first[txn + 1]; i++) {
      if (pairs->failed || pairs->too_many) break;
      uint32_t from = view->reads[i].from;
      if (from != ISO_INITIAL && w.end[sequence->place[from]] != 0) pair_up(&w, depth, place, i);
    }
  }
  free(w.first);
  free(w.end);
  iso_vec_free(&w.writes);
}
