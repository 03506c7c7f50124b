/* Around each wrong read an excerpt is decided, and put back in the order that proves it. */
#include "check/strong/open/mend_excerpts.h"

#include <stdlib.h>

#include "check/strong/open/decide.h"
#include "check/strong/open/excerpt.h"
#include "check/strong/open/open_classes.h"
#include "check/strong/open/search.h"

typedef struct {
  const iso_event_graph *e;
  const iso_open_reads *open;
  const iso_strong_level *level;
  isoproof_task *task;
  iso_value_line line; /* by commits */
  int64_t *when;       /* by event */
  uint8_t *matters;    /* by key */
  uint8_t *overlaps;   /* by transaction: it stands in a stretch in which they do */
} mender;

/* Where a place begins among the events. */
static int64_t first_when(const mender *m, uint32_t place) { return (int64_t)place * (m->e->split ? 2 : 1); }

/* ---- which stretch ---- */

/* The place of the nearest transaction with which a wrong read would have to change places: whoever overwrote what it
 * saw first, or one behind it that writes that. */
static uint32_t nearest_culprit(const iso_value_line *w, const iso_broken_read *read) {
  uint32_t mine = iso_value_line_find(w, read->key, read->txn), of = w->at[mine].read, here = w->pos[read->txn];
  uint32_t before = mine, after = mine + 1, end = w->first[read->key + 1];
  while (before > w->first[read->key] && w->at[before - 1].write != of) before--;
  bool has_before = before > w->first[read->key] || of == w->c->initial[read->key];
  while (before < mine && w->at[before].write == ISO_NO_CLASS) before++;
  while (after < end && w->at[after].write != of) after++;
  uint32_t low = has_before ? w->pos[w->at[before].txn] : here, high = after < end ? w->pos[w->at[after].txn] : here;
  return after == end || (has_before && here - low < high - here) ? low : high;
}

/* Whether transactions on both sides of a place overlap others. */
static bool is_open(const mender *m, uint32_t place) {
  const uint32_t *order = m->line.order;
  return place > 0 && place < m->line.count && m->overlaps[order[place]] && m->overlaps[order[place - 1]];
}

/* About so many places around a read and its culprit. */
static iso_value_bounds bounds_around(const mender *m, const iso_broken_read *read, uint32_t size) {
  const iso_value_line *w = &m->line;
  uint32_t here = w->pos[read->txn], there = nearest_culprit(w, read);
  uint32_t low = here < there ? here : there, span = here < there ? there - here : here - there;
  uint32_t margin = span < size / 2 ? size - span : size / 2;
  iso_value_bounds b = {.low = low > margin / 2 ? low - margin / 2 : 0};
  b.high = w->count - b.low > span + margin ? b.low + span + margin : w->count;
  while (is_open(m, b.low)) b.low--;
  while (is_open(m, b.high)) b.high++;
  return b;
}

/* Whether deciding it takes little. */
static bool is_small(const mender *m, iso_value_bounds b, uint32_t size) {
  enum { TIMES = 2, MOST = 1 << 20 };
  const iso_value_line *w = &m->line;
  uint64_t accesses = 0;
  if (b.high - b.low > TIMES * size) return false;
  for (uint32_t q = b.low; q < b.high; q++) accesses += w->txn_first[w->order[q] + 1] - w->txn_first[w->order[q]];
  return accesses <= MOST;
}

/* ---- putting it in order ---- */

/* The events of the stretch as they stand in the sequence of the excerpt. */
static void put_back(mender *m, iso_value_bounds bounds, const iso_first_sequence *s, const uint32_t *txns) {
  bool split = m->e->split;
  uint32_t place = bounds.low;
  int64_t when = first_when(m, bounds.low);
  for (uint32_t i = 0; i < s->count; i++) {
    uint32_t txn = txns[split ? s->event[i] / 2 : s->event[i]];
    bool commits = !split || s->event[i] % 2 == 1;
    if (txn == ISO_NO_TXN) continue;
    m->when[commits ? iso_event_commit(m->e, txn) : iso_event_begin(m->e, txn)] = when++;
    if (commits) iso_value_line_move(&m->line, txn, place++);
    m->overlaps[txn] = split;
  }
  m->line.fresh.count = 0;
}

static isoproof_status decide(mender *m, iso_value_bounds bounds, isoproof_error *error) {
  enum { PATIENCE = 1000 }; /* conflicts */
  iso_stretch stretch = {.line = &m->line, .open = m->open, .bounds = bounds, .matters = m->matters};
  stretch.exclusive = iso_strong_rule_of(m->level->rule)->exclusive;
  isoproof_history *excerpt = NULL;
  iso_open_decision d = {.decided = false};
  uint32_t *txns = iso_alloc((size_t)bounds.high - bounds.low + 2, sizeof *txns);
  isoproof_status status = txns != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = iso_excerpt_make(&stretch, &excerpt, txns, error);
  if (status == ISOPROOF_OK) status = iso_open_decide_excerpt(excerpt, m->level, PATIENCE, m->task, &d, error);
  if (status == ISOPROOF_OK && d.decided && !d.violated) put_back(m, bounds, &d.sequence, txns);
  iso_open_decision_free(&d);
  isoproof_history_free(excerpt);
  free(txns);
  return status;
}

/* Around each read that is wrong.  Those in stretches with overlaps are right although the order of commits alone does
 * not tell. */
static isoproof_status mend_all(mender *m, uint32_t size, isoproof_error *error) {
  iso_value_line *w = &m->line;
  if (!iso_value_line_find_broken(w)) return iso_fail_memory(error);
  for (size_t i = 0; i < w->broken.count; i++) {
    const iso_broken_read *read = &w->broken.items[i];
    if (m->overlaps[read->txn] || !iso_value_line_is_broken(w, read)) continue;
    iso_value_bounds bounds = bounds_around(m, read, size);
    if (is_small(m, bounds, size)) ISO_TRY(decide(m, bounds, error));
    ISO_TRY(iso_task_check(m->task, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status mend_line(mender *m, isoproof_error *error) {
  enum { SMALL = 1024, LARGE = 2048 };
  const iso_event_graph *e = m->e;
  m->matters = iso_alloc_zero(m->line.v->h->keys, 1);
  m->overlaps = iso_alloc_zero(m->line.v->h->txns, 1);
  if (m->matters == NULL || m->overlaps == NULL) return iso_fail_memory(error);
  for (uint32_t q = 0; q < m->line.count; q++) {
    m->when[iso_event_begin(e, m->line.order[q])] = first_when(m, q);
    m->when[iso_event_commit(e, m->line.order[q])] = first_when(m, q) + e->split;
  }
  ISO_TRY(mend_all(m, SMALL, error));
  ISO_TRY(mend_all(m, LARGE, error));
  for (uint32_t q = 0; q < m->line.count && !e->split; q++) m->when[iso_event_commit(e, m->line.order[q])] = q;
  return ISOPROOF_OK;
}

/* ---- all of it ---- */

/* The sequence as it was, in m->when, becomes the one that is mended. */
static isoproof_status mend(mender *m, isoproof_error *error) {
  iso_value_classes classes;
  ISO_TRY(iso_open_classes_make(m->open, &classes, error));
  isoproof_status status = iso_value_line_make(m->e, &classes, m->when, &m->line, error);
  if (status == ISOPROOF_OK) {
    status = mend_line(m, error);
    iso_value_line_free(&m->line);
  }
  iso_value_classes_free(&classes);
  return status;
}

/* The same for a sequence, which is another one then. */
static isoproof_status mend_sequence(mender *m, const iso_sequence *sequence, iso_sequence *made,
                                     isoproof_error *error) {
  m->when = iso_alloc_zero(m->e->count, sizeof *m->when);
  if (m->when == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < sequence->count; i++) m->when[sequence->event[i]] = i;
  isoproof_status status = mend(m, error);
  if (status == ISOPROOF_OK) status = iso_sequence_make_by(m->e, m->when, m->task, made, error);
  free(m->when);
  free(m->matters);
  free(m->overlaps);
  return status;
}

isoproof_status iso_excerpts_mend(const iso_examination *x, const iso_open_reads *open, const iso_strong_level *level,
                                  iso_sequence *sequence, uint64_t *broken, isoproof_error *error) {
  const isoproof_history *h = open->view->h;
  mender m = {.e = x->events, .open = open, .level = level, .task = x->task};
  iso_sequence made;
  uint64_t now = *broken;
  if (iso_history_has_rows(h) || h->keys > ISO_VALUE_INLINE_LIMIT / 2) return ISOPROOF_OK; /* keys are numbers */
  ISO_TRY(mend_sequence(&m, sequence, &made, error));
  isoproof_status status = iso_open_count_broken(x, &made, open, true, &now, error);
  bool better = status == ISOPROOF_OK && now <= *broken;
  iso_sequence_free(better ? sequence : &made);
  if (better) *sequence = made;
  if (better) *broken = now;
  return status;
}
