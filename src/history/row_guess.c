/* Which version a read of a row saw, where its value does not tell: the likely one, by time and by what else its
 * transaction saw. */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/vector.h"
#include "history/columns.h"
#include "history/row_replay.h"
#include "history/row_versions.h"

/* A version of a row: a place in iso_row_versions.write, or one of these. */
#define INITIAL UINT32_MAX
#define NOBODY (UINT32_MAX - 1)

/* A row of a count, and how far it is to a version of the other kind: one that matches instead of one that does not. */
typedef struct {
  uint64_t distance;
  uint32_t op, other;
} flip;

typedef struct {
  const isoproof_history *h;
  iso_row_versions *v;
  iso_resolution *r;
  const uint32_t *absent;      /* by key: how many writes leave it absent */
  const uint32_t *last_absent; /* by key: one of them */
  /* The transaction at hand. */
  uint32_t txn;
  int64_t moment;           /* when it probably looked */
  ISO_VEC(uint32_t) missed; /* transactions that overwrote what it saw; ascending */
  ISO_VEC(flip) flips;
  uint64_t reads, initial, thin_air, open;
  bool failed;
} guesser;

static bool is_open_value(iso_value value) { return value == ISO_VALUE_UNMATCHED || value == ISO_VALUE_COUNTED; }

static bool is_row_read(const isoproof_history *h, uint32_t op) {
  return h->op_kind[op] == ISOPROOF_OP_READ && (h->op_value[op] == ISO_VALUE_NIL || is_open_value(h->op_value[op]));
}

/* Where the versions of a key begin that come after a moment; with `op`, that end with it and are no earlier write. */
static uint32_t place_after(const iso_row_versions *v, uint32_t key, int64_t moment, uint32_t op) {
  uint32_t low = v->first[key], high = v->first[key + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    int64_t end = v->end[v->txn[middle]];
    if (end < moment || (end == moment && v->write[middle] < op)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Whether its own transaction wrote the row again: such writes stand side by side. */
static bool is_overwritten(const iso_row_versions *v, uint32_t key, uint32_t place) {
  return place + 1 < v->first[key + 1] && v->txn[place + 1] == v->txn[place];
}

static bool is_sound(const guesser *g, uint32_t key, uint32_t place) {
  const iso_row_versions *v = g->v;
  return v->txn[place] != g->txn && g->h->txn_status[v->txn[place]] != ISOPROOF_TXN_ABORTED &&
         !is_overwritten(v, key, place);
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static bool is_missed(const guesser *g, uint32_t txn) {
  return g->missed.count > 0 && bsearch(&txn, g->missed.items, g->missed.count, sizeof txn, ascending) != NULL;
}

/* ---- what else the transaction saw ---- */

/* Notes what a read with a known version says of the moment: its writer was there, the next one was not. */
static void learn_from(guesser *g, uint32_t op) {
  const isoproof_history *h = g->h;
  const iso_row_versions *v = g->v;
  uint32_t write = g->r->writer[op], key = h->op_key[op], next = v->first[key];
  if (write < h->ops) {
    uint32_t txn = iso_history_txn_of(h, write);
    if (txn == g->txn) return;
    if (v->end[txn] != INT64_MAX && v->end[txn] > g->moment) g->moment = v->end[txn];
    next = place_after(v, key, v->end[txn], write) + 1;
  } else if (write != ISO_FROM_INITIAL) {
    return;
  }
  while (next < v->first[key + 1] && !is_sound(g, key, next)) next++;
  if (next < v->first[key + 1] && !iso_vec_push(&g->missed, v->txn[next])) g->failed = true;
}

/* ---- one read ---- */

static iso_value version_at(const guesser *g, uint32_t key, uint32_t place) {
  return place == INITIAL ? iso_history_initial(g->h, key) : iso_history_version(g->h, g->v->write[place]);
}

static uint64_t distance(int64_t a, int64_t b) { return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a; }

/* What is asked of a version of a row: to fit a read, or to match a predicate or not. */
typedef struct {
  uint32_t read;
  const iso_predicate *predicate; /* NULL: to fit the read */
  bool matching;
  bool sound; /* and to be somebody's last write, not rolled back */
} wish;

static bool is_wished(const guesser *g, const wish *w, uint32_t place) {
  uint32_t key = g->h->op_key[w->read];
  if (place != INITIAL && w->sound && !is_sound(g, key, place)) return false;
  iso_value version = version_at(g, key, place);
  if (w->predicate == NULL) return iso_history_read_fits(g->h, w->read, version);
  return iso_version_matches(g->h, w->predicate, key, version) == w->matching;
}

/* The version before a place that was likely visible; INITIAL or NOBODY when there is none. */
static uint32_t before(const guesser *g, const wish *w, uint32_t place, uint32_t *successor) {
  const iso_row_versions *v = g->v;
  uint32_t key = g->h->op_key[w->read];
  *successor = place;
  for (uint32_t i = place; i-- > v->first[key];) {
    if (is_wished(g, w, i) && !(w->sound && is_missed(g, v->txn[i]))) return i;
    if (is_sound(g, key, i)) *successor = i;
  }
  return is_wished(g, w, INITIAL) ? INITIAL : NOBODY;
}

/* The version at the moment that is wished, or the one that is nearest to it; *far says how far that is. */
static uint32_t nearest(const guesser *g, const wish *w, uint64_t *far) {
  const iso_row_versions *v = g->v;
  uint32_t key = g->h->op_key[w->read], end = v->first[key + 1], successor;
  uint32_t now = place_after(v, key, g->moment, UINT32_MAX), back = before(g, w, now, &successor), next = now;
  *far = 0;
  if (back != NOBODY && successor == now) return back;
  while (next < end && !is_wished(g, w, next)) next++;
  uint64_t to_back = back == NOBODY ? UINT64_MAX : distance(g->moment, v->end[v->txn[successor]]);
  uint64_t to_next = next == end ? UINT64_MAX : distance(g->moment, v->end[v->txn[next]]);
  *far = to_back <= to_next ? to_back : to_next;
  if (back == NOBODY && next == end) return NOBODY;
  return back != NOBODY && to_back <= to_next ? back : next;
}

/* The own write that the read must show, NOBODY for none. */
static uint32_t own_write(const guesser *g, uint32_t op) {
  const iso_row_versions *v = g->v;
  uint32_t key = g->h->op_key[op], place = place_after(v, key, v->end[g->txn], op);
  return place > v->first[key] && v->txn[place - 1] == g->txn ? place - 1 : NOBODY;
}

static void resolve_to(guesser *g, uint32_t op, uint32_t place) {
  uint32_t *writer = &g->r->writer[op];
  *writer = place == INITIAL ? ISO_FROM_INITIAL : place == NOBODY ? ISO_FROM_NOBODY : g->v->write[place];
}

/* A read of a row that it found absent, or not to match. */
static void guess_read(guesser *g, uint32_t op) {
  uint64_t far;
  uint32_t own = own_write(g, op), found = NOBODY;
  wish wanted = {.read = op, .sound = true};
  if (own != NOBODY && is_wished(g, &(wish){.read = op}, own)) found = own;
  if (found == NOBODY) found = nearest(g, &wanted, &far);
  wanted.sound = false;
  if (found == NOBODY) found = nearest(g, &wanted, &far);
  resolve_to(g, op, found);
}

/* Whether at least two versions fit a read. */
static bool is_open(const guesser *g, uint32_t op) {
  const isoproof_history *h = g->h;
  uint32_t key = h->op_key[op], fit = g->absent[key] + (iso_history_initial(h, key) == ISO_VALUE_NIL);
  if (fit >= 2 || h->op_value[op] == ISO_VALUE_NIL) return fit >= 2;
  fit = iso_history_read_fits(h, op, iso_history_initial(h, key));
  for (uint32_t i = g->v->first[key]; i < g->v->first[key + 1] && fit < 2; i++) {
    fit += iso_history_read_fits(h, op, iso_history_version(h, g->v->write[i]));
  }
  return fit >= 2;
}

/* ---- counts ---- */

static int by_distance(const void *a, const void *b) {
  const flip *x = a, *y = b;
  if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
  return (x->op > y->op) - (x->op < y->op);
}

/* Has rows observe versions of the other kind, the nearest first, until as many match as were counted. */
static int64_t correct(guesser *g, const iso_statement *s, const iso_predicate *predicate, int64_t excess, bool sound) {
  g->flips.count = 0;
  for (uint32_t op = s->first_op; op < s->first_op + s->op_count; op++) {
    uint32_t key = g->h->op_key[op], write = g->r->writer[op];
    iso_value version = write < g->h->ops ? iso_history_version(g->h, write) : iso_history_initial(g->h, key);
    wish other = {.read = op, .predicate = predicate, .matching = excess < 0, .sound = sound};
    flip found = {.op = op};
    if (iso_version_matches(g->h, predicate, key, version) != (excess > 0)) continue;
    if (sound && own_write(g, op) != NOBODY) continue;
    found.other = nearest(g, &other, &found.distance);
    if (found.other != NOBODY && !iso_vec_push(&g->flips, found)) g->failed = true;
  }
  if (g->flips.count > 1) qsort(g->flips.items, g->flips.count, sizeof *g->flips.items, by_distance);
  for (size_t i = 0; i < g->flips.count && excess != 0; i++) {
    resolve_to(g, g->flips.items[i].op, g->flips.items[i].other);
    excess += excess > 0 ? -1 : 1;
  }
  return excess;
}

static void guess_count(guesser *g, const iso_statement *s) {
  const isoproof_history *h = g->h;
  iso_predicate predicate = iso_history_predicate(g->h, s);
  int64_t matching = 0;
  for (uint32_t op = s->first_op; op < s->first_op + s->op_count; op++) {
    guess_read(g, op);
    uint32_t write = g->r->writer[op];
    iso_value version = write < h->ops ? iso_history_version(h, write) : iso_history_initial(h, h->op_key[op]);
    matching += iso_version_matches(h, &predicate, h->op_key[op], version);
  }
  int64_t excess = correct(g, s, &predicate, matching - s->counted, true);
  if (excess != 0) excess = correct(g, s, &predicate, excess, false);
  /* No versions at all make up for that number: what it saw of any row is nobody's. */
  for (uint32_t op = s->first_op; excess != 0 && op < s->first_op + s->op_count; op++)
    g->r->writer[op] = ISO_FROM_NOBODY;
}

/* ---- all reads ---- */

/* The one version that fits a read, where there is only one. */
static bool resolve_alone(guesser *g, uint32_t op) {
  const isoproof_history *h = g->h;
  uint32_t key = h->op_key[op], absent = g->absent[key];
  bool initially = iso_history_initial(h, key) == ISO_VALUE_NIL;
  if (h->op_value[op] != ISO_VALUE_NIL || absent + initially > 1) return false;
  uint32_t *writer = &g->r->writer[op];
  *writer = initially ? ISO_FROM_INITIAL : absent == 1 ? g->last_absent[key] : ISO_FROM_NOBODY;
  return true;
}

/* Resolves the reads that only one version fits, and counts the others. */
static void resolve_txn(guesser *g, uint32_t txn) {
  const isoproof_history *h = g->h;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (!is_row_read(h, op) || resolve_alone(g, op)) continue;
    g->open += h->op_value[op] == ISO_VALUE_COUNTED || is_open(g, op);
  }
}

static void guess_txn(guesser *g, uint32_t txn) {
  const isoproof_history *h = g->h;
  uint32_t first = h->txn_first_op[txn], end = h->txn_first_op[txn + 1], left = 0;
  g->txn = txn;
  for (uint32_t op = first; op < end; op++) left += is_row_read(h, op) && !resolve_alone(g, op);
  if (left == 0) return;
  g->moment = g->v->start[txn];
  g->missed.count = 0;
  for (uint32_t op = first; op < end; op++) {
    bool known = h->op_kind[op] == ISOPROOF_OP_READ && !is_open_value(h->op_value[op]);
    if (known && (h->op_value[op] != ISO_VALUE_NIL || resolve_alone(g, op))) learn_from(g, op);
  }
  if (g->missed.count > 1) qsort(g->missed.items, g->missed.count, sizeof *g->missed.items, ascending);
  for (uint32_t op = first; op < end; op++) {
    if (!is_row_read(h, op) || resolve_alone(g, op)) continue;
    if (h->op_value[op] == ISO_VALUE_COUNTED) {
      const iso_statement *s = iso_history_statement(h, op);
      guess_count(g, s);
      op = s->first_op + s->op_count - 1;
    } else {
      guess_read(g, op);
    }
  }
}

/* What the reads of rows add to the figures of the join, which took those of nil for initial ones. */
static void count_txn(guesser *g, uint32_t txn) {
  for (uint32_t op = g->h->txn_first_op[txn]; op < g->h->txn_first_op[txn + 1]; op++) {
    if (!is_row_read(g->h, op)) continue;
    bool counted = g->h->op_value[op] == ISO_VALUE_NIL;
    g->reads += !counted;
    g->initial += (uint64_t)(g->r->writer[op] == ISO_FROM_INITIAL) - counted;
    g->thin_air += g->r->writer[op] == ISO_FROM_NOBODY;
  }
}

typedef struct {
  guesser *guessers;
  isoproof_task *task;
  const uint8_t *settled; /* NULL: what is known alone is still to be found */
} job;

static void do_part(void *context, unsigned thread, unsigned threads) {
  const job *j = context;
  guesser *g = &j->guessers[thread];
  uint64_t first, end;
  iso_parallel_range(g->h->txns, thread, threads, &first, &end);
  for (uint64_t txn = first; txn < end; txn++) {
    if ((txn & 4095) == 0 && iso_task_check(j->task, NULL) != ISOPROOF_OK) return;
    if (j->settled == NULL) {
      resolve_txn(g, (uint32_t)txn);
      continue;
    }
    if (!j->settled[txn]) guess_txn(g, (uint32_t)txn);
    count_txn(g, (uint32_t)txn);
  }
}

/* Which writes leave rows absent; and writes of what a row was at the start, which share its value. */
static void survey(const isoproof_history *h, iso_resolution *r, uint32_t *absent, uint32_t *last_absent) {
  for (uint32_t op = 0; op < h->ops; op++) {
    uint32_t key = h->op_key[op];
    if (h->op_kind[op] != ISOPROOF_OP_WRITE) continue;
    if (h->op_value[op] == ISO_VALUE_NIL) {
      absent[key]++;
      last_absent[key] = op;
    } else if (h->op_value[op] == iso_history_initial(h, key)) {
      r->counts.duplicate_writes++;
      if (op < r->duplicate_second) r->duplicate_first = ISO_FROM_INITIAL, r->duplicate_second = op;
    }
  }
}

static void add_up(iso_resolution *r, guesser *g) {
  r->counts.reads += g->reads;
  r->counts.initial += g->initial;
  r->counts.thin_air += g->thin_air;
  iso_vec_free(&g->missed);
  iso_vec_free(&g->flips);
}

/* What is known alone comes first, then what the history shows when it is carried out, and guesses for the rest. */
static isoproof_status run(isoproof_history *h, isoproof_task *task, iso_resolution *r, job *j, unsigned threads,
                           isoproof_error *error) {
  bool failed = false;
  uint8_t *settled = iso_alloc_zero(h->txns, 1);
  if (settled == NULL) return iso_fail_memory(error);
  iso_parallel(threads, do_part, j);
  for (unsigned t = 0; t < threads; t++) r->open_reads += j->guessers[t].open;
  isoproof_status status = iso_task_check(task, error);
  if (status == ISOPROOF_OK && r->open_reads > 0) status = iso_row_replay(h, task, r, settled, error);
  r->replayed = status == ISOPROOF_OK && r->open_reads > 0;
  for (uint32_t txn = 0; r->replayed && txn < h->txns; txn++) {
    r->replayed = settled[txn] || h->txn_status[txn] == ISOPROOF_TXN_ABORTED;
  }
  j->settled = settled;
  if (status == ISOPROOF_OK) iso_parallel(threads, do_part, j);
  for (unsigned t = 0; t < threads; t++) {
    add_up(r, &j->guessers[t]);
    failed = failed || j->guessers[t].failed;
  }
  free(settled);
  if (status != ISOPROOF_OK) return status;
  return failed ? iso_fail_memory(error) : iso_task_check(task, error);
}

isoproof_status iso_row_guess(isoproof_history *history, isoproof_task *task, iso_resolution *resolution,
                              isoproof_error *error) {
  enum { SMALL = 65536 };
  ISO_TRY(iso_row_versions_make(history, &resolution->rows, error));
  unsigned threads = history->ops < SMALL ? 1 : iso_task_threads(task);
  uint32_t *absent = iso_alloc_zero(history->keys, sizeof *absent);
  uint32_t *last_absent = iso_alloc_zero(history->keys, sizeof *last_absent);
  job j = {.guessers = iso_alloc_zero(threads, sizeof *j.guessers), .task = task};
  bool made = absent != NULL && last_absent != NULL && j.guessers != NULL;
  for (unsigned t = 0; made && t < threads; t++) {
    guesser *g = &j.guessers[t];
    g->h = history;
    g->v = resolution->rows;
    g->r = resolution;
    g->absent = absent;
    g->last_absent = last_absent;
  }
  if (made) survey(history, resolution, absent, last_absent);
  isoproof_status status = made ? run(history, task, resolution, &j, threads, error) : iso_fail_memory(error);
  free(j.guessers);
  free(absent);
  free(last_absent);
  return status;
}
