/* Orders that follow without a guess, in rounds over readers and writers, on several threads. */
#include "check/strong/saturate.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/task.h"
#include "check/strong/implied.h"

enum { BLOCK = 2048, RECENT = 4096, MANY_CHAINS = 64 };

/* Where the writers of a group stand for the readers of the chain at hand; they see more and more of them. */
typedef struct {
  uint32_t place; /* behind the last writer that was seen */
} progress;

typedef struct {
  struct saturator *shared;
  ISO_VEC(iso_derived) found;
  struct {
    uint32_t from, to;
  } recent[RECENT]; /* edges are often found many times in a row */
  progress *progress;
  bool failed;
} finder;

typedef struct saturator {
  const iso_strong_rule *rule;
  const iso_event_graph *e;
  const iso_event_clocks *clocks;
  const iso_view *v;
  const isoproof_task *task;
  uint32_t round;
  bool first; /* everything is new */
  atomic_uint_fast64_t next_block;
  finder *finders;
} saturator;

static void emit(finder *f, uint32_t from, uint32_t to, uint32_t read, iso_reason reason) {
  uint32_t slot = (from * UINT32_C(2654435761) ^ to * UINT32_C(2246822519)) / (UINT32_MAX / RECENT + 1);
  if (f->recent[slot].from == from && f->recent[slot].to == to) return;
  f->recent[slot].from = from;
  f->recent[slot].to = to;
  iso_derived edge = {
      .from = from, .to = to, .read = read, .reason = reason & 7, .round = f->shared->round & 0x1fffffff};
  if (!iso_vec_push(&f->found, edge)) f->failed = true;
}

/* Commits below an event are those of transactions below this one; that of this one is the first that is not. */
static inline uint32_t txn_below(const iso_event_graph *e, int32_t bound) {
  return e->split ? (uint32_t)bound / 2 : (uint32_t)bound;
}
/* The first place in [low, high) of the writers with one not below `bound`. */
static uint32_t first_not_below(const uint32_t *writer, uint32_t low, uint32_t high, uint32_t bound) {
  uint32_t step = 1;
  while (low < high && writer[low] < bound) { /* most are near */
    uint32_t probe = low + step;
    if (probe >= high || writer[probe] >= bound) {
      uint32_t top = probe < high ? probe : high;
      low++;
      while (low < top) {
        uint32_t middle = low + (top - low) / 2;
        if (writer[middle] < bound) {
          low = middle + 1;
        } else {
          top = middle;
        }
      }
      return low;
    }
    low = probe;
    step *= 2;
  }
  return low;
}

static void scan_seen(finder *f, const struct iso_reader *reader, uint32_t key) {
  const saturator *s = f->shared;
  const iso_event_graph *e = s->e;
  uint32_t t = s->v->reads[reader->read].from, r = reader->txn;
  uint32_t first = e->group_first[key], count = e->group_first[key + 1] - first;
  uint32_t target = iso_event_version(e, t);
  bool many = e->chains > MANY_CHAINS; /* of few, nearly all differ */
  const int32_t *seen = iso_event_clocks_before(s->clocks, iso_event_begin(e, r)),
                *known = iso_event_clocks_before(s->clocks, target);
  for (uint32_t g = 0; g < count; g++) {
    uint32_t group = first + g, chain = e->group_chain[group];
    if (many && seen[chain] == known[chain]) continue; /* nobody that the version does not know */
    uint32_t place = f->progress[g].place, bound = txn_below(e, seen[chain]);
    if (place < e->group_start[group + 1] && s->v->writer[place] < bound) {
      place = first_not_below(s->v->writer, place, e->group_start[group + 1], bound);
      f->progress[g].place = place;
    }
    if (place == e->group_start[group]) continue;
    uint32_t writer = s->v->writer[place - 1];
    if (writer == t || writer == r || (int32_t)iso_event_commit(e, writer) < known[chain]) continue;
    emit(f, iso_event_commit(e, writer), target, reader->read, ISO_SEEN);
  }
}

static void scan_overtaken(finder *f, const struct iso_reader *reader, uint32_t key) {
  const saturator *s = f->shared;
  const iso_event_graph *e = s->e;
  uint32_t t = s->v->reads[reader->read].from, r = reader->txn, from = iso_event_begin(e, r);
  const int32_t *after = t == ISO_INITIAL ? NULL : iso_event_clocks_after(s->clocks, iso_event_version(e, t));
  const int32_t *known = iso_event_clocks_after(s->clocks, from);
  for (uint32_t group = e->group_first[key]; group < e->group_first[key + 1]; group++) {
    uint32_t chain = e->group_chain[group], place = e->group_start[group], end = e->group_start[group + 1];
    if (after != NULL) {
      if (after[chain] == known[chain]) continue; /* at most those that the reader knows */
      place = first_not_below(s->v->writer, place, end, txn_below(e, after[chain]));
    }
    /* The version itself and the reader are no others. */
    while (place < end && (s->v->writer[place] == t || s->v->writer[place] == r)) place++;
    if (place == end) continue;
    uint32_t writer = iso_event_commit(e, s->v->writer[place]);
    if (known[chain] <= (int32_t)writer) continue;
    emit(f, from, writer, reader->read, ISO_OVERTAKEN);
  }
}

static void scan_overlap(finder *f, uint32_t t, uint32_t key) {
  const saturator *s = f->shared;
  const iso_event_graph *e = s->e;
  const int32_t *after = iso_event_clocks_after(s->clocks, iso_event_version(e, t));
  const int32_t *known = iso_event_clocks_after(s->clocks, iso_event_commit(e, t));
  for (uint32_t group = e->group_first[key]; group < e->group_first[key + 1]; group++) {
    uint32_t chain = e->group_chain[group], end = e->group_start[group + 1];
    if (after[chain] == known[chain]) continue;
    uint32_t place = first_not_below(s->v->writer, e->group_start[group], end, txn_below(e, after[chain]));
    if (place < end && s->v->writer[place] == t) place++;
    if (place == end) continue;
    uint32_t version = iso_event_version(e, s->v->writer[place]);
    if (known[chain] <= (int32_t)version) continue;
    emit(f, iso_event_commit(e, t), version, key, ISO_OVERLAP);
  }
}

static void restart(finder *f, uint32_t key) {
  const iso_event_graph *e = f->shared->e;
  for (uint32_t g = e->group_first[key]; g < e->group_first[key + 1]; g++) {
    f->progress[g - e->group_first[key]].place = e->group_start[g];
  }
}

/* The key that a place in an array of rows by key belongs to. */
static uint32_t key_at(const uint32_t *first, uint32_t keys, uint32_t place) {
  uint32_t low = 0, high = keys;
  while (low + 1 < high) {
    uint32_t middle = low + (high - low) / 2;
    if (first[middle] <= place) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

static void announce(const saturator *s, const struct iso_reader *reader) {
  const iso_event_graph *e = s->e;
  uint32_t t = s->v->reads[reader->read].from, r = iso_event_begin(e, reader->txn);
  __builtin_prefetch(iso_event_clocks_before(s->clocks, r));
  __builtin_prefetch(iso_event_clocks_after(s->clocks, r));
  if (t == ISO_INITIAL) return;
  __builtin_prefetch(iso_event_clocks_before(s->clocks, iso_event_version(e, t)));
  __builtin_prefetch(iso_event_clocks_after(s->clocks, iso_event_version(e, t)));
}

static void scan_readers(finder *f, uint32_t begin, uint32_t end) {
  enum { AHEAD = 8 };
  const saturator *s = f->shared;
  const iso_view *v = s->v;
  const iso_event_graph *e = s->e;
  uint32_t key = key_at(v->reader_first, v->h->keys, begin), chain = ISO_NO_EVENT;
  for (uint32_t i = begin; i < end; i++) {
    if (i + AHEAD < end) announce(s, &v->readers[i + AHEAD]);
    const struct iso_reader *reader = &v->readers[i];
    while (i >= v->reader_first[key + 1]) key++, chain = ISO_NO_EVENT;
    if (!iso_event_is_executed(e, reader->txn)) continue;
    uint32_t t = v->reads[reader->read].from;
    if (t != ISO_INITIAL && (s->first || s->clocks->changed_before[iso_event_begin(e, reader->txn)])) {
      if (e->chain_of[reader->txn] != chain) restart(f, key), chain = e->chain_of[reader->txn];
      scan_seen(f, reader, key);
    }
    bool changed = s->first || (t != ISO_INITIAL && s->clocks->changed_after[iso_event_version(e, t)]);
    if (s->rule->overtakes && changed) scan_overtaken(f, reader, key);
  }
}

static void scan_writers(finder *f, uint32_t begin, uint32_t end) {
  const saturator *s = f->shared;
  const iso_view *v = s->v;
  uint32_t key = key_at(v->writer_first, v->h->keys, begin);
  for (uint32_t i = begin; i < end; i++) {
    while (i >= v->writer_first[key + 1]) key++;
    if (s->first || s->clocks->changed_after[iso_event_version(s->e, v->writer[i])]) scan_overlap(f, v->writer[i], key);
  }
}

/* Threads take block after block: first of the readers, then of the writers. */
static void scan(void *context, unsigned thread, unsigned threads) {
  (void)threads;
  saturator *s = context;
  finder *f = &s->finders[thread];
  const iso_view *v = s->v;
  uint64_t readers = v->reader_first[v->h->keys], writers = v->writer_first[v->h->keys];
  uint64_t reader_blocks = (readers + BLOCK - 1) / BLOCK, writer_blocks = (writers + BLOCK - 1) / BLOCK;
  if (!s->rule->exclusive) writer_blocks = 0;
  for (;;) {
    uint64_t block = atomic_fetch_add(&s->next_block, 1);
    if (block >= reader_blocks + writer_blocks || f->failed || iso_task_check(s->task, NULL) != ISOPROOF_OK) return;
    bool of_readers = block < reader_blocks;
    uint64_t begin = (of_readers ? block : block - reader_blocks) * BLOCK, count = of_readers ? readers : writers;
    uint64_t end = begin + BLOCK < count ? begin + BLOCK : count;
    (of_readers ? scan_readers : scan_writers)(f, (uint32_t)begin, (uint32_t)end);
  }
}

/* What was found by all threads, in the list of the first one. */
static bool gather(saturator *s, unsigned threads) {
  finder *all = &s->finders[0];
  bool made = !all->failed;
  for (unsigned t = 1; t < threads && made; t++) {
    finder *f = &s->finders[t];
    made = !f->failed && iso_vec_reserve(&all->found, f->found.count);
    if (made && f->found.count > 0)
      memcpy(all->found.items + all->found.count, f->found.items, f->found.count * sizeof *f->found.items);
    if (made) all->found.count += f->found.count;
    f->found.count = 0;
  }
  return made;
}

static isoproof_status run_round(saturator *s, unsigned threads, iso_event_graph *events, const iso_sequence *sequence,
                                 isoproof_task *task, isoproof_error *error) {
  for (unsigned t = 0; t < threads; t++) memset(s->finders[t].recent, 0xff, sizeof s->finders[t].recent);
  atomic_store(&s->next_block, 0);
  iso_parallel(threads, scan, s);
  if (!gather(s, threads)) return iso_fail_memory(error);
  finder *all = &s->finders[0];
  /* Over many chains an edge is dear: a row is gone over for it in every round. */
  if (events->chains > MANY_CHAINS)
    ISO_TRY(iso_drop_implied(events, sequence, s->clocks, all->found.items, &all->found.count, task, error));
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; i < all->found.count && status == ISOPROOF_OK; i++) {
    status = iso_event_graph_add(events, all->found.items[i], error);
  }
  all->found.count = 0;
  return status;
}

static isoproof_status run_rounds(saturator *s, unsigned threads, iso_event_graph *events, iso_sequence *sequence,
                                  iso_event_clocks *clocks, isoproof_task *task, iso_saturation *saturation,
                                  isoproof_error *error) {
  /* A round that finds this much less than the first one is the last: the clocks of everything would be made again for
   * orders that a search finds faster. */
  enum { WORTH = 64 };
  size_t most = 0, found = 0;
  do {
    uint32_t before = (uint32_t)events->derived.count;
    s->round = ++saturation->rounds;
    ISO_TRY(run_round(s, threads, events, sequence, task, error));
    s->first = false;
    if (events->derived.count == before) return ISOPROOF_OK;
    ISO_TRY(iso_sequence_repair(events, before, sequence, NULL, &saturation->cyclic, task, error));
    if (saturation->cyclic) return ISOPROOF_OK;
    ISO_TRY(iso_event_clocks_update(events, sequence, task, clocks, error));
    found = events->derived.count - before;
    if (found > most) most = found;
  } while (found > most / WORTH);
  return ISOPROOF_OK;
}

isoproof_status iso_saturate(const iso_strong_rule *rule, iso_event_graph *events, iso_sequence *sequence,
                             iso_event_clocks *clocks, isoproof_task *task, iso_saturation *saturation,
                             isoproof_error *error) {
  memset(saturation, 0, sizeof *saturation);
  const iso_view *v = events->view;
  unsigned threads = v->h->ops < BLOCK ? 1 : iso_task_threads(task);
  saturator s = {.rule = rule, .e = events, .clocks = clocks, .v = v, .task = task, .first = true};
  s.finders = iso_alloc_zero(threads, sizeof *s.finders);
  if (s.finders == NULL) return iso_fail_memory(error);
  bool made = true;
  for (unsigned t = 0; t < threads; t++) {
    s.finders[t].shared = &s;
    s.finders[t].progress = iso_alloc(events->chains, sizeof(progress));
    made = made && s.finders[t].progress != NULL;
  }
  isoproof_status status =
      made ? iso_event_clocks_update(events, sequence, task, clocks, error) : iso_fail_memory(error);
  if (status == ISOPROOF_OK) {
    status = run_rounds(&s, threads, events, sequence, clocks, task, saturation, error);
  }
  for (unsigned t = 0; t < threads; t++) {
    free(s.finders[t].progress);
    iso_vec_free(&s.finders[t].found);
  }
  free(s.finders);
  return status;
}
