/* Depth-first search for an order of a few transactions in which every read finds its value. */
#include "check/order/value_window.h"

#include <stdlib.h>
#include <string.h>

void iso_value_window_free(iso_value_window *w) {
  iso_vec_free(&w->txns);
  iso_vec_free(&w->accesses);
  iso_vec_free(&w->keys);
}

/* Where the search can go back to: who was placed until then, and who else may go next. */
typedef struct {
  uint32_t placed;      /* how many */
  uint32_t first, next; /* among the options: its own, and the one to try */
} junction;

typedef struct {
  iso_value_window *w;
  uint32_t count;
  uint32_t *order; /* who is placed */
  uint8_t *is_placed;
  uint32_t placed;
  uint32_t *now;      /* by key: its class */
  uint32_t *old;      /* beside the accesses: the class that a write took away */
  uint32_t *readers;  /* by class: who reads it and is not placed, */
  uint32_t *updaters; /* those of them who overwrite it, */
  uint32_t *writers;  /* and who writes it and is not placed */
  ISO_VEC(uint32_t) options;
  ISO_VEC(junction) junctions;
  uint64_t *seen; /* a hash table of states that were tried */
  uint64_t state; /* the hash of this one */
  uint64_t steps;
} search;

enum { TABLE = 1 << 16 };

static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static uint64_t hash_of_txn(uint32_t txn) { return mix(UINT64_C(0x9e3779b97f4a7c15) * (txn + 1)); }
static uint64_t hash_of_class(uint32_t of) { return mix(UINT64_C(0xd1342543de82ef95) * ((uint64_t)of + (1 << 20))); }

/* ---- placing ---- */

/* Counts an access as open, or as done. */
static void count_access(search *s, const iso_value_window_access *a, uint32_t by) {
  if (a->read != ISO_NO_CLASS) s->readers[a->read] += by;
  if (a->read != ISO_NO_CLASS && a->write != ISO_NO_CLASS && a->write != a->read) s->updaters[a->read] += by;
  if (a->write != ISO_NO_CLASS) s->writers[a->write] += by;
}

static void set_class(search *s, uint32_t key, uint32_t of) {
  s->state ^= hash_of_class(s->now[key]) ^ hash_of_class(of);
  s->now[key] = of;
}

static void place(search *s, uint32_t txn) {
  const iso_value_window_txn *t = &s->w->txns.items[txn];
  for (uint32_t i = t->first; i < t->end; i++) {
    const iso_value_window_access *a = &s->w->accesses.items[i];
    count_access(s, a, UINT32_MAX);
    s->old[i] = s->now[a->key];
    if (a->write != ISO_NO_CLASS) set_class(s, a->key, a->write);
  }
  s->is_placed[txn] = 1;
  s->order[s->placed++] = txn;
  s->state ^= hash_of_txn(txn);
}

static void take_back(search *s) {
  uint32_t txn = s->order[--s->placed];
  const iso_value_window_txn *t = &s->w->txns.items[txn];
  for (uint32_t i = t->end; i-- > t->first;) {
    const iso_value_window_access *a = &s->w->accesses.items[i];
    count_access(s, a, 1);
    if (a->write != ISO_NO_CLASS) set_class(s, a->key, s->old[i]);
  }
  s->is_placed[txn] = 0;
  s->state ^= hash_of_txn(txn);
}

/* ---- who may go next ---- */

/* When the first of those ends who are not placed: who starts later has to wait for it. */
static uint32_t first_end(search *s) {
  uint32_t first = UINT32_MAX;
  for (uint32_t i = 0; i < s->count; i++) {
    if (!s->is_placed[i] && s->w->txns.items[i].ends < first) first = s->w->txns.items[i].ends;
  }
  s->steps += s->count;
  return first;
}

static bool may_go(const search *s, uint32_t txn, uint32_t until) {
  const iso_value_window_txn *t = &s->w->txns.items[txn];
  if (s->is_placed[txn] || t->starts > until || (t->before != ISO_NO_TXN && !s->is_placed[t->before])) return false;
  for (uint32_t i = t->first; i < t->end; i++) {
    const iso_value_window_access *a = &s->w->accesses.items[i];
    if (a->read != ISO_NO_CLASS && a->read != s->now[a->key]) return false;
  }
  return true;
}

/* Whether a transaction that may go leaves everything as it is: then it may as well go at once.  One that writes what
 * is there without having read it could write it when it is needed again. */
static bool is_harmless(const search *s, uint32_t txn) {
  const iso_value_window_txn *t = &s->w->txns.items[txn];
  for (uint32_t i = t->first; i < t->end; i++) {
    const iso_value_window_access *a = &s->w->accesses.items[i];
    if (a->write != ISO_NO_CLASS && (a->read == ISO_NO_CLASS || a->write != a->read)) return false;
  }
  return true;
}

static void place_harmless(search *s) {
  for (bool again = true; again;) {
    uint32_t until = first_end(s);
    again = false;
    for (uint32_t i = 0; i < s->count; i++) {
      if (!may_go(s, i, until) || !is_harmless(s, i)) continue;
      place(s, i);
      again = true;
    }
    s->steps += s->count;
  }
}

/* Whether what the last one took away is found by all who still have to find it: somebody writes it again, and as often
 * as it is overwritten. */
static bool is_hopeless(const search *s) {
  uint32_t txn = s->order[s->placed - 1];
  const iso_value_window_txn *t = &s->w->txns.items[txn];
  for (uint32_t i = t->first; i < t->end; i++) {
    uint32_t of = s->old[i];
    if (s->w->accesses.items[i].write == ISO_NO_CLASS || of == s->now[s->w->accesses.items[i].key]) continue;
    if (s->readers[of] > 0 && s->writers[of] == 0) return true;
    if (s->updaters[of] > s->writers[of]) return true;
  }
  return false;
}

/* ---- the search ---- */

/* Notes the state; false where it was tried before. */
static bool is_new(search *s) {
  uint64_t state = s->state | 1;
  for (uint32_t i = 0, at = (uint32_t)(state >> 32) % TABLE; i < 16; i++, at = (at + 1) % TABLE) {
    if (s->seen[at] == state) return false;
    if (s->seen[at] == 0) {
      s->seen[at] = state;
      return true;
    }
  }
  return true;
}

static bool is_done(const search *s) {
  if (s->placed < s->count) return false;
  for (uint32_t key = 0; key < s->w->keys.count; key++) {
    uint32_t wanted = s->w->keys.items[key].wanted;
    if (wanted != ISO_NO_CLASS && s->now[key] != wanted) return false;
  }
  return true;
}

/* A junction where somebody has to change something. */
static bool branch(search *s) {
  junction j = {.placed = s->placed, .first = (uint32_t)s->options.count, .next = (uint32_t)s->options.count};
  uint32_t until = first_end(s);
  for (uint32_t i = 0; i < s->count; i++) {
    if (may_go(s, i, until) && !iso_vec_push(&s->options, i)) return false;
  }
  s->steps += s->count;
  return iso_vec_push(&s->junctions, j);
}

/* Goes back to the last junction with another option, and takes it; false where there is none. */
static bool go_on(search *s) {
  while (s->junctions.count > 0) {
    junction *j = &s->junctions.items[s->junctions.count - 1];
    while (s->placed > j->placed) take_back(s);
    if (j->next < s->options.count) {
      place(s, s->options.items[j->next++]);
      return true;
    }
    s->options.count = j->first;
    s->junctions.count--;
  }
  return false;
}

static bool run(search *s, bool *found) {
  place_harmless(s);
  if (!is_done(s) && !branch(s)) return false;
  while (!is_done(s)) {
    if (s->steps > s->w->most_steps || !go_on(s)) return true;
    if (is_hopeless(s)) continue;
    place_harmless(s);
    if (is_done(s)) break;
    if (is_new(s) && !branch(s)) return false;
  }
  *found = true;
  return true;
}

/* What is wanted at the end is like a transaction that comes last and overwrites it. */
static void count_all(search *s) {
  for (size_t i = 0; i < s->w->accesses.count; i++) count_access(s, &s->w->accesses.items[i], 1);
  for (uint32_t key = 0; key < s->w->keys.count; key++) {
    const iso_value_window_key *k = &s->w->keys.items[key];
    s->now[key] = k->now;
    if (k->wanted == ISO_NO_CLASS) continue;
    s->readers[k->wanted]++;
    s->updaters[k->wanted]++;
  }
}

isoproof_status iso_value_window_solve(iso_value_window *w, uint32_t *order, bool *found, isoproof_error *error) {
  search s = {.w = w, .count = (uint32_t)w->txns.count, .order = order};
  s.is_placed = iso_alloc_zero(s.count, 1);
  s.now = iso_alloc_zero(w->keys.count, sizeof *s.now);
  s.old = iso_alloc_zero(w->accesses.count, sizeof *s.old);
  s.readers = iso_alloc_zero(w->classes, sizeof *s.readers);
  s.updaters = iso_alloc_zero(w->classes, sizeof *s.updaters);
  s.writers = iso_alloc_zero(w->classes, sizeof *s.writers);
  s.seen = iso_alloc_zero(TABLE, sizeof *s.seen);
  bool made = s.is_placed != NULL && s.now != NULL && s.old != NULL && s.readers != NULL && s.updaters != NULL &&
              s.writers != NULL && s.seen != NULL;
  *found = false;
  if (made) {
    count_all(&s);
    made = run(&s, found);
  }
  w->steps = s.steps + s.count;
  free(s.is_placed);
  free(s.now);
  free(s.old);
  free(s.readers);
  free(s.updaters);
  free(s.writers);
  free(s.seen);
  iso_vec_free(&s.options);
  iso_vec_free(&s.junctions);
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}
