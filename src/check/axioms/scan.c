/* The scan of the axioms session by session, and the steps that it is made of. */
#include "check/axioms/scan.h"

#include <stdlib.h>
#include <string.h>

#include "check/axioms/rule.h"
#include "check/axioms/scan_steps.h"

/* Up to so many reads are gone through one by one. */
enum { FEW = 32 };
/* So many writes are gone through in the time in which one is searched for. */
enum { MUCH_MORE = 8 };

/* A read of the transaction at hand: its key and its place in view->reads. */
typedef struct {
  uint32_t key, read;
} keyed_read;

/* A transaction that the one at hand reads from: where it does so first, and where first with another key. */
typedef struct {
  uint32_t txn, first_key, first, second;
} source;

/* Who reads from whom, by the one read from. */
typedef struct {
  uint32_t *first, *reader;
} readers;

struct iso_scanner {
  const iso_scan_request *request;
  const iso_view *v;
  void *context;
  uint32_t session_first; /* of the session at hand */
  uint32_t *last_write;   /* by key: the last transaction of the session at hand that wrote it, + 1 */
  uint32_t *last;         /* by group: the last writer remembered, + 1 */
  uint32_t *last_session; /* by group: for which session, + 1 */
  ISO_VEC(keyed_read) sorted;
  uint32_t *sorted_for; /* by key: the last transaction whose reads were sorted and have the key, + 1 */
  ISO_VEC(source) sources;
  readers readers;        /* of scans that go backwards */
  uint32_t *source_place; /* by transaction: its place in sources, if it is there */
  bool failed;
};

/* Whether nothing can follow from a read. */
static bool is_left_out(const iso_scanner *s, uint32_t read) {
  uint32_t t1 = s->v->reads[read].from;
  if (s->request->only != NULL) return !s->request->only[read];
  return s->request->component != NULL && t1 != ISO_INITIAL && s->request->component[t1] == ISO_NO_TXN;
}

static void force(const iso_scanner *s, uint32_t t2, uint32_t t3, uint32_t read) {
  uint32_t t1 = s->v->reads[read].from;
  if (t2 == t1 || t2 == t3 || is_left_out(s, read)) return;
  const iso_clocks *c = s->request->clocks;
  if (c != NULL && t1 != ISO_INITIAL && iso_clock_before(c, s->v->h, t2, t1)) return;
  const iso_versions *versions = s->request->versions;
  if (versions != NULL && t1 != ISO_INITIAL && iso_versions_before(s->v, versions, s->v->reads[read].key, t2, t1))
    return;
  s->request->forced(s->context, t2, t3, read);
}

static int by_key(const void *a, const void *b) {
  const keyed_read *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->read > y->read) - (x->read < y->read);
}

/* The reads of t3 sorted by key. */
static void sort_reads(iso_scanner *s, uint32_t t3) {
  const iso_view *v = s->v;
  uint32_t first = v->read_first[t3], end = v->read_first[t3 + 1];
  s->sorted.count = 0;
  for (uint32_t i = first; i < end; i++) {
    keyed_read item = {v->reads[i].key, i};
    s->sorted_for[item.key] = t3 + 1;
    size_t k = s->sorted.count++;
    if (end - first <= FEW) {
      for (; k > 0 && s->sorted.items[k - 1].key > item.key; k--) s->sorted.items[k] = s->sorted.items[k - 1];
    }
    s->sorted.items[k] = item;
  }
  if (end - first > FEW) qsort(s->sorted.items, s->sorted.count, sizeof *s->sorted.items, by_key);
}

/* The source of a transaction with few reads: there is no need for a table of all transactions. */
static void add_source(iso_scanner *s, uint32_t read) {
  const iso_external_read *r = &s->v->reads[read];
  size_t k = 0;
  while (k < s->sources.count && s->sources.items[k].txn != r->from) k++;
  if (k == s->sources.count) {
    s->sources.items[s->sources.count++] = (source){r->from, r->key, read, ISO_NO_OP};
  } else if (s->sources.items[k].second == ISO_NO_OP && s->sources.items[k].first_key != r->key) {
    s->sources.items[k].second = read;
  }
}

/* The transactions that t3 reads from. */
bool iso_scan_collect(iso_scanner *s, uint32_t t3) {
  const iso_view *v = s->v;
  uint32_t first = v->read_first[t3], end = v->read_first[t3 + 1];
  s->sorted.count = s->sources.count = 0;
  if (first == end) return true;
  if (!iso_vec_reserve(&s->sorted, end - first) || !iso_vec_reserve(&s->sources, end - first)) {
    s->failed = true;
    return false;
  }
  if (end - first <= FEW) {
    for (uint32_t i = first; i < end; i++) {
      if (v->reads[i].from != ISO_INITIAL) add_source(s, i);
    }
    return true;
  }
  for (uint32_t i = first; i < end; i++) {
    uint32_t from = v->reads[i].from;
    if (from == ISO_INITIAL) continue;
    size_t k = s->source_place[from];
    if (k >= s->sources.count || s->sources.items[k].txn != from) {
      s->source_place[from] = (uint32_t)s->sources.count;
      s->sources.items[s->sources.count++] = (source){from, v->reads[i].key, i, ISO_NO_OP};
    } else if (s->sources.items[k].second == ISO_NO_OP && s->sources.items[k].first_key != v->reads[i].key) {
      s->sources.items[k].second = i;
    }
  }
  return true;
}

/* The first place in the sorted reads whose key is not below `key`. */
static size_t find_key(const iso_scanner *s, uint32_t key) {
  size_t low = 0, high = s->sorted.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (s->sorted.items[middle].key < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The reads of t3 of a key that t2 = source->txn wrote too. */
static void force_key(const iso_scanner *s, const source *from, uint32_t t3, size_t place, bool in_program_order) {
  uint32_t key = s->sorted.items[place].key;
  uint32_t before = from->first_key != key ? from->first : from->second;
  for (; place < s->sorted.count && s->sorted.items[place].key == key; place++) {
    uint32_t read = s->sorted.items[place].read;
    if (in_program_order && (before == ISO_NO_OP || before >= read)) continue;
    /* What is between two observations of one statement belongs to it, too. */
    if (in_program_order && iso_history_same_statement(s->v->h, s->v->reads[before].op, s->v->reads[read].op)) continue;
    force(s, from->txn, t3, read);
  }
}

/* Whether t2 can have written anything that t3 reads from somebody else. */
static bool may_overwrite(const iso_scanner *s, uint32_t t2, uint32_t t3) {
  const iso_view *v = s->v;
  uint64_t bits = 0;
  if (v->read_first[t3 + 1] - v->read_first[t3] > FEW) return true;
  for (uint32_t i = v->read_first[t3]; i < v->read_first[t3 + 1]; i++) {
    bits |= v->reads[i].from != t2 ? iso_view_key_bit(v->reads[i].key) : 0;
  }
  return (bits & v->write_bits[t2]) != 0;
}

/* t2 that t3 reads from: intersects what t2 wrote with what t3 reads.  What t2 wrote is gone through unless it is much
 * more. */
void iso_scan_force_sources(iso_scanner *s, uint32_t t3, bool in_program_order) {
  const iso_view *v = s->v;
  for (size_t i = 0; i < s->sources.count; i++) {
    const source *from = &s->sources.items[i];
    if (!may_overwrite(s, from->txn, t3)) continue;
    if (s->sorted.count == 0) sort_reads(s, t3);
    uint32_t first = v->write_first[from->txn], end = v->write_first[from->txn + 1];
    if ((end - first) / MUCH_MORE <= s->sorted.count) {
      for (uint32_t w = first; w < end; w++) {
        if (s->sorted_for[v->write_key[w]] != t3 + 1) continue;
        force_key(s, from, t3, find_key(s, v->write_key[w]), in_program_order);
      }
    } else {
      for (size_t place = 0; place < s->sorted.count; place++) {
        uint32_t key = s->sorted.items[place].key;
        if (place > 0 && s->sorted.items[place - 1].key == key) continue;
        if (iso_view_writes(v, from->txn, key)) force_key(s, from, t3, place, in_program_order);
      }
    }
  }
}

/* t2 before t3 in its session: the last writer of the key there. */
void iso_scan_force_own_session(const iso_scanner *s, uint32_t t3) {
  for (uint32_t i = s->v->read_first[t3]; i < s->v->read_first[t3 + 1]; i++) {
    uint32_t last = s->last_write[s->v->reads[i].key];
    if (last > s->session_first) force(s, last - 1, t3, i);
  }
}

/* Remembers, for every key that the transactions just read from wrote, the last such writer of each session. */
void iso_scan_remember_sources(iso_scanner *s, uint32_t session) {
  const iso_view *v = s->v;
  for (size_t i = 0; i < s->sources.count; i++) {
    uint32_t t2 = s->sources.items[i].txn;
    for (uint32_t w = v->write_first[t2]; w < v->write_first[t2 + 1]; w++) {
      uint32_t group;
      if (!iso_view_group(v, v->write_key[w], v->h->txn_session[t2], &group)) continue;
      if (s->last_session[group] != session + 1) s->last_session[group] = session + 1, s->last[group] = 0;
      if (s->last[group] < t2 + 1) s->last[group] = t2 + 1;
    }
  }
}

/* t2 that the session at hand remembers: forced by every read of t3 of a key that t2 wrote. */
void iso_scan_force_remembered(const iso_scanner *s, uint32_t session, uint32_t t3) {
  const iso_view *v = s->v;
  for (uint32_t i = v->read_first[t3]; i < v->read_first[t3 + 1]; i++) {
    uint32_t key = v->reads[i].key;
    if (is_left_out(s, i)) continue;
    for (uint32_t g = v->group_first[key]; g < v->group_first[key + 1]; g++) {
      if (s->last_session[g] == session + 1) force(s, s->last[g] - 1, t3, i);
    }
  }
}

/* t2 before a transaction that t3 reads from, in the session of that one. */
void iso_scan_force_before_sources(const iso_scanner *s, uint32_t t3) {
  const iso_view *v = s->v;
  for (size_t i = 0; i < s->sources.count; i++) {
    uint32_t middle = s->sources.items[i].txn, session = v->h->txn_session[middle];
    for (uint32_t r = v->read_first[t3]; r < v->read_first[t3 + 1]; r++) {
      uint32_t group;
      if (is_left_out(s, r)) continue;
      if (!iso_view_group(v, v->reads[r].key, session, &group)) continue;
      uint32_t t2 = iso_view_last_writer(v, group, middle);
      if (t2 != ISO_NO_TXN) force(s, t2, t3, r);
    }
  }
}

void iso_scan_note_writes(const iso_scanner *s, uint32_t txn) {
  const iso_view *v = s->v;
  for (uint32_t w = v->write_first[txn]; w < v->write_first[txn + 1]; w++) s->last_write[v->write_key[w]] = txn + 1;
}

/* Whether a transaction has no read that anything can follow from. */
bool iso_scan_is_idle(const iso_scanner *s, uint32_t txn) {
  for (uint32_t i = s->v->read_first[txn]; i < s->v->read_first[txn + 1]; i++) {
    if (!is_left_out(s, i)) return false;
  }
  return true;
}

static bool make_readers(const iso_view *v, readers *r) {
  uint32_t txns = v->h->txns;
  r->first = iso_alloc_zero((size_t)txns + 2, sizeof *r->first);
  r->reader = iso_alloc(v->read_first[txns], sizeof *r->reader);
  if (r->first == NULL || r->reader == NULL) return false;
  for (uint32_t i = 0; i < v->read_first[txns]; i++) {
    if (v->reads[i].from != ISO_INITIAL) r->first[v->reads[i].from + 2]++;
  }
  for (uint32_t t = 0; t <= txns; t++) r->first[t + 1] += r->first[t];
  for (uint32_t t = 0; t < txns; t++) {
    for (uint32_t i = v->read_first[t]; i < v->read_first[t + 1]; i++) {
      if (v->reads[i].from != ISO_INITIAL) r->reader[r->first[v->reads[i].from + 1]++] = t;
    }
  }
  return true;
}

void iso_scan_force_readers(const iso_scanner *s, uint32_t session, uint32_t middle) {
  const readers *r = &s->readers;
  uint32_t last = ISO_NO_TXN;
  for (uint32_t i = r->first[middle]; i < r->first[middle + 1]; i++) {
    if (r->reader[i] != last) iso_scan_force_remembered(s, session, r->reader[i]);
    last = r->reader[i];
  }
}

/* Announces what transactions read from further on wrote: first where it begins, then what it is. */
static void announce(const iso_view *v, uint32_t txn) {
  enum { NEAR = 4, FAR = 8 };
  if (txn + FAR >= v->h->txns) return;
  for (uint32_t i = v->read_first[txn + FAR]; i < v->read_first[txn + FAR + 1]; i++) {
    if (v->reads[i].from == ISO_INITIAL) continue;
    __builtin_prefetch(&v->write_bits[v->reads[i].from]);
    __builtin_prefetch(&v->write_first[v->reads[i].from]);
  }
  for (uint32_t i = v->read_first[txn + NEAR]; i < v->read_first[txn + NEAR + 1]; i++) {
    if (v->reads[i].from != ISO_INITIAL) __builtin_prefetch(&v->write_key[v->write_first[v->reads[i].from]]);
  }
}

static bool allocate(iso_scanner *s, const iso_axiom_rule *rule) {
  const iso_view *v = s->v;
  size_t groups = rule->needs_groups ? v->group_first[v->h->keys] : 0;
  s->last_write = iso_alloc_zero(v->h->keys, sizeof *s->last_write);
  s->sorted_for = iso_alloc_zero(v->h->keys, sizeof *s->sorted_for);
  s->last = iso_alloc_zero(groups, sizeof *s->last);
  s->last_session = iso_alloc_zero(groups, sizeof *s->last_session);
  s->source_place = iso_alloc_zero(v->h->txns, sizeof *s->source_place);
  if (rule->backwards && !make_readers(v, &s->readers)) return false;
  return s->source_place != NULL && s->last_write != NULL && s->sorted_for != NULL && s->last != NULL &&
         s->last_session != NULL;
}

isoproof_status iso_scan_sessions(const iso_scan_request *request, uint32_t first, uint32_t end, void *context,
                                  isoproof_task *task, isoproof_error *error) {
  const iso_view *v = request->view;
  iso_scanner s = {.request = request, .v = v, .context = context};
  const iso_axiom_rule *rule = iso_axiom_rule_of(request->axiom);
  s.failed = !allocate(&s, rule);
  for (uint32_t session = first; session < end && !s.failed; session++) {
    s.session_first = v->h->session_first_txn[session];
    if (iso_task_check(task, NULL) != ISOPROOF_OK) break;
    for (uint32_t t = s.session_first; t < v->h->session_first_txn[session + 1] && !s.failed; t++) {
      if (!v->counts[t]) continue;
      announce(v, t);
      rule->scan(&s, session, t);
    }
  }
  free(s.readers.first);
  free(s.readers.reader);
  free(s.last_write);
  free(s.sorted_for);
  free(s.source_place);
  free(s.last);
  free(s.last_session);
  iso_vec_free(&s.sorted);
  iso_vec_free(&s.sources);
  return s.failed ? iso_fail_memory(error) : iso_task_check(task, error);
}
