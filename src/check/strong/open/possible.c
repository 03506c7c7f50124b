/* The versions of a key that clocks leave for a reader, chain by chain. */
#include "check/strong/open/possible.h"

#include <stdlib.h>
#include <string.h>

void iso_possible_free(iso_possible *p) {
  iso_vec_free(&p->versions);
  free(p->seen);
  free(p->seen_groups);
  free(p->replacer);
  p->seen = p->seen_groups = p->replacer = NULL;
}

/* Where the initial version of a key, or the version of a place, has its entry. */
static uint32_t entry_of(const iso_view *v, uint32_t key, uint32_t version) {
  return version > 0 ? version - 1 : v->write_first[v->h->txns] + key;
}

isoproof_status iso_possible_note_updates(iso_possible *p, isoproof_error *error) {
  const iso_view *v = p->open->view;
  p->replacer = iso_alloc_zero((size_t)v->write_first[v->h->txns] + v->h->keys, sizeof *p->replacer);
  if (p->replacer == NULL) return iso_fail_memory(error);
  for (uint32_t txn = 0; txn < v->h->txns; txn++) {
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
      const iso_external_read *read = &v->reads[i];
      if (!iso_view_writes(v, txn, read->key)) continue;
      uint32_t version = read->from == ISO_INITIAL ? 0 : iso_view_slot(v, read->from, read->key) + 1;
      p->replacer[entry_of(v, read->key, version)] = txn + 1;
    }
  }
  return ISOPROOF_OK;
}

isoproof_status iso_possible_make(const iso_event_graph *e, const iso_event_clocks *clocks, const iso_open_reads *open,
                                  iso_missed missed, iso_possible *p, isoproof_error *error) {
  *p = (iso_possible){.e = e, .clocks = clocks, .open = open, .missed = missed};
  uint32_t most = 0;
  for (uint32_t key = 0; key < e->view->h->keys; key++) {
    uint32_t groups = e->group_first[key + 1] - e->group_first[key];
    if (groups > most) most = groups;
  }
  p->seen = iso_alloc((size_t)most + 1, sizeof *p->seen);
  p->seen_groups = iso_alloc((size_t)most + 1, sizeof *p->seen_groups);
  return p->seen != NULL && p->seen_groups != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

/* The first place of the writers of a group that is not below the transaction. */
static uint32_t place_of(const iso_possible *p, uint32_t group, uint32_t txn) {
  const uint32_t *writer = p->e->view->writer;
  uint32_t low = p->e->group_start[group], high = p->e->group_start[group + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (writer[middle] < txn) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The transactions of a chain from which on nobody commits before the reader begins: behind what it saw; and from which
 * on everybody commits after that. */
static void bounds_of(const iso_possible *p, uint32_t reader, uint32_t chain, uint32_t *behind, uint32_t *end) {
  const iso_event_graph *e = p->e;
  uint32_t begin = iso_event_begin(e, reader), own = e->chain_of[reader];
  if (p->clocks == NULL) {
    *behind = chain == own ? reader : 0;
    *end = chain == own ? reader + 1 : UINT32_MAX;
    return;
  }
  int32_t before = iso_event_clocks_before(p->clocks, begin)[chain];
  int32_t after = iso_event_clocks_after(p->clocks, begin)[chain];
  *behind = chain == own ? reader : e->split ? (uint32_t)before / 2 : (uint32_t)before;
  /* A commit that is after the begin, or the begin before it, rules its transaction out. */
  *end = chain == own            ? reader + 1
         : after == ISO_NO_REACH ? UINT32_MAX
         : e->split              ? (uint32_t)after / 2
                                 : (uint32_t)after;
}

/* Whether the reader sees everybody of a chain who comes before it. */
static bool sees_chain(const iso_possible *p, uint32_t reader, uint32_t chain) {
  if (p->missed == ISO_MISSES_NO_SESSION) return chain == p->e->chain_of[reader];
  return p->missed == ISO_MISSES_NOTHING;
}

/* Finds whom the reader saw of each group of the key; true when there is anybody. */
static bool find_seen(iso_possible *p, const iso_open_read *read) {
  const iso_event_graph *e = p->e;
  p->seen_count = 0;
  for (uint32_t group = e->group_first[read->key]; group < e->group_first[read->key + 1]; group++) {
    uint32_t behind, end, place;
    bounds_of(p, read->txn, e->group_chain[group], &behind, &end);
    place = e->group_start[group];
    if (sees_chain(p, read->txn, e->group_chain[group])) place = place_of(p, group, behind);
    p->seen[group - e->group_first[read->key]] = place;
    if (place > e->group_start[group]) p->seen_groups[p->seen_count++] = group;
  }
  return p->seen_count > 0;
}

/* Whether somebody whom the reader saw overwrote this version, whose writer it saw as well. */
static bool is_overwritten(const iso_possible *p, const iso_open_read *read, uint32_t writer, uint32_t of_group) {
  const iso_event_graph *e = p->e;
  uint32_t first = e->group_first[read->key], commit = iso_event_commit(e, writer);
  for (uint32_t i = 0; p->clocks != NULL && i < p->seen_count; i++) {
    uint32_t group = p->seen_groups[i];
    if (group == of_group) continue;
    uint32_t other = iso_event_version(e, e->view->writer[p->seen[group - first] - 1]);
    if (iso_reaches(e, p->clocks, commit, other)) return true;
  }
  return false;
}

/* Whether another read of the reader rules the writer out: the one of the two writers that came first was overwritten
 * by the other. */
static bool is_torn(const iso_possible *p, const iso_open_read *read, uint32_t writer) {
  const iso_view *v = p->open->view;
  for (uint32_t i = v->read_first[read->txn]; p->missed == ISO_MISSES_NOTHING && i < v->read_first[read->txn + 1];
       i++) {
    uint32_t from = v->reads[i].from, key = v->reads[i].key;
    if (key == read->key || from == writer || !iso_view_writes(v, writer, key)) continue;
    if (from == ISO_INITIAL || iso_view_writes(v, from, read->key)) return true;
  }
  return false;
}

/* Whether somebody else updated the version whom the reader would have to know of, or to be known to. */
static bool is_taken(const iso_possible *p, const iso_open_read *read, uint32_t version) {
  const iso_view *v = p->open->view;
  if (p->replacer == NULL) return false;
  uint32_t replacer = p->replacer[entry_of(v, read->key, version)];
  return replacer != 0 && replacer != read->txn + 1 && iso_view_writes(v, read->txn, read->key);
}

/* Whether the reader can have seen a version, as far as that and its other reads tell. */
static bool is_fitting(const iso_possible *p, const iso_open_read *read, uint32_t version) {
  return iso_open_fits(p->open, read, version) && !is_taken(p, read, version) &&
         (version == 0 || !is_torn(p, read, p->open->slot_txn[version - 1]));
}

static bool add_version(iso_possible *p, const iso_open_read *read, uint32_t writer) {
  uint32_t version = iso_view_slot(p->e->view, writer, read->key) + 1;
  return !is_fitting(p, read, version) || iso_vec_push(&p->versions, version);
}

/* Of a group: the last one that was seen, and everybody who is neither before nor after the reader. */
static bool add_group(iso_possible *p, const iso_open_read *read, uint32_t group, size_t most) {
  const iso_event_graph *e = p->e;
  const uint32_t *writer = e->view->writer;
  uint32_t behind, end, place = p->seen[group - e->group_first[read->key]], stop;
  bounds_of(p, read->txn, e->group_chain[group], &behind, &end);
  bool made = true, seen = place > e->group_start[group];
  if (seen && !is_overwritten(p, read, writer[place - 1], group)) made = add_version(p, read, writer[place - 1]);
  for (stop = e->group_start[group + 1]; made && place < stop && writer[place] < end; place++) {
    if (p->versions.count >= most) break;
    if (writer[place] == read->txn) continue;
    if (p->missed == ISO_MISSES_NO_SESSION && is_overwritten(p, read, writer[place], group)) continue;
    made = add_version(p, read, writer[place]);
  }
  return made;
}

/* The first versions, up to a number. */
static isoproof_status find_first(iso_possible *p, const iso_open_read *read, size_t most, isoproof_error *error) {
  const iso_event_graph *e = p->e;
  p->versions.count = 0;
  bool any = find_seen(p, read);
  bool made = any || !is_fitting(p, read, 0) || iso_vec_push(&p->versions, 0);
  for (uint32_t group = e->group_first[read->key]; made && group < e->group_first[read->key + 1]; group++) {
    if (p->versions.count >= most) break;
    made = add_group(p, read, group, most);
  }
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_possible_find(iso_possible *p, const iso_open_read *read, isoproof_error *error) {
  return find_first(p, read, SIZE_MAX, error);
}

/* ---- the nearest one ---- */

int64_t iso_open_distance(const iso_open_reads *open, const iso_event_graph *e, const iso_sequence *s, uint32_t reader,
                          uint32_t version) {
  int64_t here = s->place[iso_event_begin(e, reader)];
  int64_t there = version > 0 ? (int64_t)s->place[iso_event_commit(e, open->slot_txn[version - 1])] : -1;
  return there < here ? here - there : (int64_t)UINT32_MAX + there - here;
}

typedef struct {
  iso_possible *p;
  const iso_open_read *read;
  const iso_sequence *s;
  int wanted;
  int64_t rank; /* of the best one so far */
  uint32_t best;
} nearest;

/* Takes the version of a writer where it is possible and better than the best one so far; true when those that are
 * farther need not be asked.  What takes long is asked last. */
static bool take(nearest *n, uint32_t place, uint32_t group, bool known) {
  const iso_possible *p = n->p;
  uint32_t writer = p->e->view->writer[place], version = iso_view_slot(p->e->view, writer, n->read->key) + 1;
  bool seen = place < p->seen[group - p->e->group_first[n->read->key]];
  int64_t rank = iso_possible_rank(known, iso_open_distance(p->open, p->e, n->s, n->read->txn, version));
  if (writer == n->read->txn) return false;
  if (rank >= n->rank) return true;
  if (!is_fitting(p, n->read, version)) return false;
  if (n->wanted >= 0 && iso_open_matches(p->open, n->read->statement, n->read->key, version) != (n->wanted > 0)) {
    return false;
  }
  if ((seen || p->missed == ISO_MISSES_NO_SESSION) && is_overwritten(p, n->read, writer, group)) return false;
  n->rank = rank;
  n->best = version;
  return true;
}

/* The first place of [low, high) of a group that stands behind the reader in the sequence. */
static uint32_t split(const nearest *n, uint32_t low, uint32_t high) {
  const iso_event_graph *e = n->p->e;
  uint32_t here = n->s->place[iso_event_begin(e, n->read->txn)];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (n->s->place[iso_event_commit(e, e->view->writer[middle])] < here) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The writers of a group stand in the order of their session: those before the reader are the nearer the later they
 * are, and those behind it the nearer the earlier. */
static void take_of_group(nearest *n, uint32_t group) {
  const iso_possible *p = n->p;
  const iso_event_graph *e = p->e;
  uint32_t behind, end, low = p->seen[group - e->group_first[n->read->key]];
  bounds_of(p, n->read->txn, e->group_chain[group], &behind, &end);
  if (low > e->group_start[group]) low--;
  uint32_t high = place_of(p, group, end), known = p->clocks != NULL ? place_of(p, group, behind) : low;
  if (high < low) high = low;
  if (known > high) known = high;
  for (uint32_t place = known; place-- > low;) {
    if (take(n, place, group, true)) return;
  }
  if (known > low) low = known;
  uint32_t middle = split(n, low, high);
  for (uint32_t place = middle; place-- > low;) {
    if (take(n, place, group, false)) return;
  }
  for (uint32_t place = middle; place < high; place++) {
    if (take(n, place, group, false)) return;
  }
}

uint32_t iso_possible_nearest(iso_possible *p, const iso_open_read *read, const iso_sequence *sequence, int wanted,
                              int64_t *rank) {
  const iso_event_graph *e = p->e;
  nearest n = {.p = p, .read = read, .s = sequence, .wanted = wanted, .rank = INT64_MAX, .best = UINT32_MAX};
  bool any = find_seen(p, read), matches = wanted < 0;
  if (!matches) matches = iso_open_matches(p->open, read->statement, read->key, 0) == (wanted > 0);
  if (!any && matches && is_fitting(p, read, 0)) {
    n.rank = iso_possible_rank(true, iso_open_distance(p->open, e, sequence, read->txn, 0));
    n.best = 0;
  }
  for (uint32_t group = e->group_first[read->key]; group < e->group_first[read->key + 1]; group++) {
    take_of_group(&n, group);
  }
  *rank = n.rank;
  return n.best;
}

isoproof_status iso_possible_settle(iso_possible *p, iso_doubt *doubt, isoproof_task *task, uint64_t *settled,
                                    bool *impossible, uint8_t *core, isoproof_error *error) {
  enum { BLOCK = 4096 };
  const iso_open_reads *open = p->open;
  *settled = 0;
  *impossible = false;
  for (size_t i = 0; i < open->reads.count && !*impossible; i++) {
    const iso_open_read *read = &open->reads.items[i];
    ISO_TRY(find_first(p, read, 2, error));  /* whether there is any, and only one */
    if (iso_is_optional(doubt, read->txn)) { /* what it read depends on whether it takes part */
      if (p->versions.count == 0) iso_doubt_rule_out(doubt, read->txn);
      continue;
    }
    core[i] = *impossible = p->versions.count == 0;
    if (p->versions.count == 1) {
      iso_open_settle(open, doubt, read, p->versions.items[0]);
      *settled += 1;
    }
    if (i % BLOCK == 0) ISO_TRY(iso_task_check(task, error));
  }
  return ISOPROOF_OK;
}
