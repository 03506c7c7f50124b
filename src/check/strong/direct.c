/* A few edges for each read, their components, and a short cycle in one of these. */
#include "check/strong/direct.h"

#include <stdlib.h>
#include <string.h>

#include "graph/components.h"

/* An edge between events or from and to the node of a key, and who else has part in the reason for it. */
typedef struct {
  uint32_t from, to, other;
} edge;

typedef struct {
  const iso_view *v;
  bool split;
  bool exclusive; /* writers of one key must not overlap */
  uint32_t events, nodes;
  uint32_t *replacer; /* by write: who read that version and wrote the key, ISO_NO_TXN */
  uint32_t *next;     /* by write: who wrote the key next in that session, ISO_NO_TXN */
  uint32_t *founder;  /* by key: who read its initial version and wrote it, ISO_NO_TXN */
  uint32_t *last;     /* by key: the last write of the session at hand, + 1 */
  uint32_t *last_of;  /* by key: and which session that is, + 1 */
  ISO_VEC(edge) edges;
  uint32_t *first; /* nodes + 1: the edges by where they begin */
  edge *sorted;
  uint32_t *to; /* beside them: where they end */
  iso_components components;
  uint32_t *via, *queue; /* by node: the edge by which a search came, + 1; the nodes it came to */
  bool failed;
} direct;

static void direct_free(direct *d) {
  free(d->replacer);
  free(d->next);
  free(d->founder);
  free(d->last);
  free(d->last_of);
  iso_vec_free(&d->edges);
  free(d->first);
  free(d->sorted);
  free(d->to);
  free(d->components.of);
  free(d->via);
  free(d->queue);
}

static uint32_t begin_of(const direct *d, uint32_t txn) { return d->split ? 2 * txn : txn; }
static uint32_t commit_of(const direct *d, uint32_t txn) { return d->split ? 2 * txn + 1 : txn; }
static uint32_t key_node(const direct *d, uint32_t key) { return d->events + key; }

static uint32_t *all_none(size_t count) {
  uint32_t *made = iso_alloc(count, sizeof *made);
  if (made != NULL) memset(made, 0xff, count * sizeof *made);
  return made;
}

static bool direct_make(direct *d, const iso_view *v, bool split, bool exclusive) {
  uint32_t writes = v->write_first[v->h->txns];
  *d = (direct){.v = v, .split = split, .exclusive = exclusive, .events = v->h->txns * (split ? 2 : 1)};
  d->nodes = d->events + v->h->keys;
  d->replacer = all_none(writes);
  d->next = all_none(writes);
  d->founder = all_none(v->h->keys);
  d->last = iso_alloc_zero(v->h->keys, sizeof *d->last);
  d->last_of = iso_alloc_zero(v->h->keys, sizeof *d->last_of);
  d->components.of = iso_alloc(d->nodes, sizeof *d->components.of);
  return d->replacer != NULL && d->next != NULL && d->founder != NULL && d->last != NULL && d->last_of != NULL &&
         d->components.of != NULL;
}

/* ---- edges ---- */

static void add(direct *d, uint32_t from, uint32_t to, uint32_t other) {
  if (!iso_vec_push(&d->edges, ((edge){from, to, other}))) d->failed = true;
}

/* Who read a version that somebody replaced comes before that one, by the whole where both wrote the key and must not
 * overlap. */
static void add_missed(direct *d, uint32_t reader, uint32_t missed, uint32_t key, uint32_t version) {
  bool apart = d->exclusive && iso_view_writes(d->v, reader, key);
  add(d, apart ? commit_of(d, reader) : begin_of(d, reader), apart ? begin_of(d, missed) : commit_of(d, missed),
      version == ISO_INITIAL ? ISO_NO_TXN : version);
}

/* ---- who replaced what ---- */

/* Of several who replaced one version, of whom all but one lost their updates, the first is enough for others. */
static void note_replacers(direct *d, uint32_t txn) {
  const iso_view *v = d->v;
  for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
    const iso_external_read *read = &v->reads[i];
    if (!iso_view_writes(v, txn, read->key)) continue;
    uint32_t *who =
        read->from == ISO_INITIAL ? &d->founder[read->key] : &d->replacer[iso_view_slot(v, read->from, read->key)];
    if (*who == ISO_NO_TXN) *who = txn;
    if (*who != txn) add_missed(d, *who, txn, read->key, read->from);
  }
}

static uint32_t last_in_session(const direct *d, uint32_t txn, uint32_t key) {
  return d->last_of[key] == d->v->h->txn_session[txn] + 1 ? d->last[key] : ISO_NO_TXN;
}

/* Who wrote which key next in its session; the last writers are forgotten again. */
static void note_next(direct *d) {
  const iso_view *v = d->v;
  for (uint32_t txn = 0; txn < v->h->txns; txn++) {
    for (uint32_t slot = v->write_first[txn]; slot < v->write_first[txn + 1]; slot++) {
      uint32_t key = v->write_key[slot], before = last_in_session(d, txn, key);
      if (before != ISO_NO_TXN) d->next[iso_view_slot(v, before, key)] = txn;
      d->last[key] = txn;
      d->last_of[key] = v->h->txn_session[txn] + 1;
    }
  }
  memset(d->last_of, 0, v->h->keys * sizeof *d->last_of);
}

/* ---- all edges ---- */

/* Who read the initial version comes before all who wrote the key.  Without begins, who did both comes before the node
 * of the key and everybody else before it, or else it would seem to come before itself. */
static void add_initial(direct *d, uint32_t reader, uint32_t key) {
  uint32_t founder = d->founder[key];
  if (founder != ISO_NO_TXN && founder != reader) add_missed(d, reader, founder, key, ISO_INITIAL);
  if (d->split || founder == ISO_NO_TXN || founder == reader) {
    add(d, begin_of(d, reader), key_node(d, key), ISO_NO_TXN);
  }
}

static void add_read(direct *d, uint32_t reader, const iso_external_read *read) {
  const iso_view *v = d->v;
  uint32_t from = read->from, own = last_in_session(d, reader, read->key);
  if (from == ISO_INITIAL) {
    add_initial(d, reader, read->key);
    return;
  }
  uint32_t slot = iso_view_slot(v, from, read->key), replacer = d->replacer[slot], next = d->next[slot];
  add(d, commit_of(d, from), begin_of(d, reader), ISO_NO_TXN);
  if (replacer != ISO_NO_TXN && replacer != reader) add_missed(d, reader, replacer, read->key, from);
  if (next != ISO_NO_TXN && next != reader) add_missed(d, reader, next, read->key, from);
  /* What its own session wrote before is older than what it read. */
  if (own != ISO_NO_TXN && own != from) add(d, commit_of(d, own), commit_of(d, from), reader);
}

static void add_txn(direct *d, uint32_t txn, uint32_t before) {
  const iso_view *v = d->v;
  if (d->split) add(d, begin_of(d, txn), commit_of(d, txn), ISO_NO_TXN);
  if (before != ISO_NO_TXN) add(d, commit_of(d, before), begin_of(d, txn), ISO_NO_TXN);
  for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) add_read(d, txn, &v->reads[i]);
  for (uint32_t slot = v->write_first[txn]; slot < v->write_first[txn + 1]; slot++) {
    uint32_t key = v->write_key[slot];
    if (d->split || d->founder[key] != txn) add(d, key_node(d, key), commit_of(d, txn), ISO_NO_TXN);
    d->last[key] = txn;
    d->last_of[key] = v->h->txn_session[txn] + 1;
  }
}

static bool add_all(direct *d) {
  const isoproof_history *h = d->v->h;
  for (uint32_t txn = 0; txn < h->txns; txn++) note_replacers(d, txn);
  note_next(d);
  for (uint32_t session = 0; session < h->sessions; session++) {
    uint32_t before = ISO_NO_TXN;
    for (uint32_t txn = h->session_first_txn[session]; txn < h->session_first_txn[session + 1]; txn++) {
      if (!d->v->counts[txn]) continue;
      add_txn(d, txn, before);
      before = txn;
    }
  }
  return !d->failed;
}

/* The edges by where they begin. */
static bool sort_edges(direct *d) {
  d->first = iso_alloc_zero((size_t)d->nodes + 2, sizeof *d->first);
  d->sorted = iso_alloc(d->edges.count, sizeof *d->sorted);
  d->to = iso_alloc(d->edges.count, sizeof *d->to);
  if (d->first == NULL || d->sorted == NULL || d->to == NULL || d->edges.count > UINT32_MAX) return false;
  for (size_t i = 0; i < d->edges.count; i++) d->first[d->edges.items[i].from + 2]++;
  for (uint32_t n = 0; n < d->nodes; n++) d->first[n + 2] += d->first[n + 1];
  for (size_t i = 0; i < d->edges.count; i++) {
    uint32_t at = d->first[d->edges.items[i].from + 1]++;
    d->sorted[at] = d->edges.items[i];
    d->to[at] = d->edges.items[i].to;
  }
  iso_vec_free(&d->edges);
  return true;
}

/* ---- a short cycle ---- */

/* Looks for the shortest way from a node back to itself within its component; returns its length, and leaves it in via,
 * which must be all 0 and is so again afterwards where it is no shorter than `best`. */
static uint32_t search(direct *d, uint32_t start, uint32_t best, uint64_t *work, uint32_t *cycle) {
  uint32_t count = 0, length = 0;
  bool found = false;
  d->queue[count++] = start;
  for (uint32_t at = 0; at < count && !found; at++) {
    uint32_t node = d->queue[at];
    for (uint32_t i = d->first[node]; i < d->first[node + 1] && !found; i++) {
      uint32_t to = d->to[i];
      *work += 1;
      if (d->components.of[to] != d->components.of[start] || d->via[to] != 0) continue;
      d->via[to] = i + 1;
      found = to == start;
      if (!found) d->queue[count++] = to;
    }
  }
  for (uint32_t node = start; found && (length == 0 || node != start); length++)
    node = d->sorted[d->via[node] - 1].from;
  for (uint32_t node = start, k = 0; found && length < best && k < length; k++) {
    cycle[k] = d->via[node] - 1;
    node = d->sorted[cycle[k]].from;
  }
  for (uint32_t at = 0; at < count; at++) d->via[d->queue[at]] = 0;
  return found ? length : UINT32_MAX;
}

/* A short cycle, as edges, of those through some nodes of components. */
static uint32_t find_cycle(direct *d, uint32_t *cycle) {
  enum { WORK_PER_NODE = 4 };
  uint32_t best = UINT32_MAX;
  uint64_t work = 0;
  for (uint32_t node = 0; node < d->nodes && work < (uint64_t)WORK_PER_NODE * d->nodes; node++) {
    if (d->components.of[node] == ISO_NO_COMPONENT) continue;
    uint32_t length = search(d, node, best, &work, cycle);
    if (length < best) best = length;
  }
  return best;
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* The transactions of a cycle, each once. */
static bool blame(const direct *d, const uint32_t *cycle, uint32_t length, iso_txn_set *suspects) {
  suspects->items = iso_alloc((size_t)length * 2, sizeof *suspects->items);
  if (suspects->items == NULL) return false;
  uint32_t count = 0, kept = 0, *txns = suspects->items;
  for (uint32_t k = 0; k < length; k++) {
    const edge *e = &d->sorted[cycle[k]];
    if (e->from < d->events) txns[count++] = d->split ? e->from / 2 : e->from;
    if (e->other != ISO_NO_TXN) txns[count++] = e->other;
  }
  qsort(txns, count, sizeof *txns, ascending);
  for (uint32_t i = 0; i < count; i++) {
    if (kept == 0 || txns[kept - 1] != txns[i]) txns[kept++] = txns[i];
  }
  suspects->count = kept;
  return true;
}

static isoproof_status find_suspects(direct *d, iso_txn_set *suspects, isoproof_error *error) {
  uint32_t *cycle = iso_alloc(d->nodes, sizeof *cycle);
  d->via = iso_alloc_zero(d->nodes, sizeof *d->via);
  d->queue = iso_alloc(d->nodes, sizeof *d->queue);
  bool made = cycle != NULL && d->via != NULL && d->queue != NULL;
  made = made && blame(d, cycle, find_cycle(d, cycle), suspects);
  free(cycle);
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_direct_cycle(const iso_view *view, const iso_strong_level *level, isoproof_task *task,
                                 iso_txn_set *suspects, bool *found, isoproof_error *error) {
  bool split = level->rule == ISO_RULE_SNAPSHOT || level->rule == ISO_RULE_PREFIX;
  direct d;
  *found = false;
  if ((!split && level->rule != ISO_RULE_SERIALIZABLE) || !level->session_order) return ISOPROOF_OK;
  bool made = direct_make(&d, view, split, level->rule == ISO_RULE_SNAPSHOT) && add_all(&d) && sort_edges(&d);
  isoproof_status status = made ? ISOPROOF_OK : iso_fail_memory(error);
  if (made) status = iso_components_of_rows(d.first, d.to, d.nodes, task, &d.components, error);
  *found = status == ISOPROOF_OK && d.components.count > 0;
  if (*found && suspects != NULL) status = find_suspects(&d, suspects, error);
  direct_free(&d);
  return status;
}
