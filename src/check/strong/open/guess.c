/* What the open reads would have seen in a sequence becomes known for as long as it takes to place the events anew. */
#include "check/strong/open/guess.h"

#include <stdlib.h>
#include <string.h>

#include "check/order/placement.h"
#include "check/strong/open/late.h"
#include "check/strong/open/open_classes.h"

/* The last version before the reader in the sequence, or else the first one after it. */
typedef struct {
  int64_t here, latest, earliest;
  uint32_t before, after;
} nearest;

static void offer(const iso_open_guess *g, const iso_sequence *s, uint32_t version, nearest *n) {
  int64_t place = version > 0 ? (int64_t)s->place[iso_event_commit(g->events, g->open->slot_txn[version - 1])] : -1;
  if (place < n->here && place >= n->latest) n->latest = place, n->before = version;
  if (place > n->here && place < n->earliest) n->earliest = place, n->after = version;
}

/* Of the versions that fit: of those that clocks leave, where there are clocks. */
static isoproof_status offer_all(const iso_open_guess *g, const iso_sequence *s, const iso_open_read *read, nearest *n,
                                 isoproof_error *error) {
  const iso_open_reads *o = g->open;
  const iso_view *v = o->view;
  if (g->possible != NULL) {
    ISO_TRY(iso_possible_find(g->possible, read, error));
    for (size_t i = 0; i < g->possible->versions.count; i++) offer(g, s, g->possible->versions.items[i], n);
    return ISOPROOF_OK;
  }
  bool equal = read->statement == NULL;
  uint32_t first = equal ? read->first : v->writer_first[read->key];
  uint32_t end = equal ? read->end : v->writer_first[read->key + 1];
  if (iso_open_fits(o, read, 0)) offer(g, s, 0, n);
  for (uint32_t i = first; i < end; i++) {
    uint32_t slot = o->by_value[i];
    if (o->slot_txn[slot] == read->txn || !(equal || iso_open_fits(o, read, slot + 1))) continue;
    offer(g, s, slot + 1, n);
  }
  return ISOPROOF_OK;
}

/* The likely version of a read, which may stand behind it; UINT32_MAX where there is none. */
static isoproof_status choose(const iso_open_guess *g, const iso_sequence *s, const iso_open_read *read,
                              uint32_t *version, bool *behind, isoproof_error *error) {
  nearest n = {.latest = -1, .earliest = INT64_MAX, .before = UINT32_MAX, .after = UINT32_MAX};
  n.here = s->place[iso_event_begin(g->events, read->txn)];
  ISO_TRY(offer_all(g, s, read, &n, error));
  *behind = n.before == UINT32_MAX;
  *version = *behind ? n.after : n.before;
  return ISOPROOF_OK;
}

/* The edges between pieces of sessions, which the other graph has as well. */
static isoproof_status copy_edges(const iso_event_graph *from, iso_event_graph *to, isoproof_error *error) {
  for (size_t i = 0; i < from->derived.count; i++) ISO_TRY(iso_event_graph_add(to, from->derived.items[i], error));
  return ISOPROOF_OK;
}

/* The place of an open read among the reads of the view, where its transaction reads the key once only. */
static bool find_read(const iso_view *view, const iso_open_read *read, uint32_t *place) {
  uint32_t found = 0;
  for (uint32_t i = view->read_first[read->txn]; i < view->read_first[read->txn + 1]; i++) {
    if (view->reads[i].key != read->key) continue;
    *place = i;
    found++;
  }
  return found == 1 && view->reads[*place].op == read->op;
}

/* Which reads of the view may be of other versions as well. */
static bool list_choices(const iso_open_guess *g, iso_view *view, iso_line_choices *c) {
  const iso_open_reads *o = g->open;
  uint32_t reads = view->read_first[view->h->txns], of, place;
  c->reads = view->reads;
  c->wanted = iso_alloc(reads, sizeof *c->wanted);
  c->open = iso_alloc(o->reads.count, sizeof *c->open);
  c->kept = iso_alloc(o->reads.count, sizeof *c->kept);
  if (c->wanted == NULL || c->open == NULL || c->kept == NULL) return false;
  memset(c->wanted, 0xff, reads * sizeof *c->wanted);
  for (size_t i = 0; i < o->reads.count; i++) {
    const iso_open_read *read = &o->reads.items[i];
    if (!iso_open_class_of(o, c->classes, read, &of) || !find_read(view, read, &place)) continue;
    c->wanted[place] = of;
    c->open[c->count++] = place;
  }
  return true;
}

/* The events of the view with guesses, and them in an order as near to that of `from` as these allow; not `whole` where
 * the guesses contradict each other. */
static isoproof_status order_guessed(const iso_open_guess *g, iso_view *view, const iso_sequence *from,
                                     isoproof_task *task, iso_event_graph *events, iso_sequence *made, bool *whole,
                                     isoproof_error *error) {
  made->event = NULL;
  ISO_TRY(iso_event_graph_make(view, g->events->shape, g->cut, events, error));
  int64_t *when = iso_alloc(events->count, sizeof *when);
  isoproof_status status = when != NULL ? copy_edges(g->events, events, error) : iso_fail_memory(error);
  for (uint32_t i = 0; when != NULL && i < events->count; i++) when[i] = from->place[i];
  if (status == ISOPROOF_OK) status = iso_sequence_make_by(events, when, task, made, error);
  free(when);
  *whole = status == ISOPROOF_OK && made->count == from->count;
  if (status != ISOPROOF_OK) iso_event_graph_free(events);
  return status;
}

static void take_order(const iso_sequence *made, iso_sequence *sequence) {
  memcpy(sequence->event, made->event, made->count * sizeof *made->event);
  for (uint32_t i = 0; i < made->count; i++) sequence->place[made->event[i]] = i;
}

/* Places the events of the view with guesses, beginning with the order at hand; *placed where these do not contradict
 * each other. */
static isoproof_status place(const iso_open_guess *g, iso_view *view, iso_line_choices *choices, isoproof_task *task,
                             iso_sequence *sequence, bool *placed, isoproof_error *error) {
  iso_event_graph events;
  iso_sequence made;
  ISO_TRY(order_guessed(g, view, sequence, task, &events, &made, placed, error));
  iso_placement how = {.together = g->together, .exclusive = g->exclusive, .seed = g->seed, .choices = choices};
  isoproof_status status = ISOPROOF_OK;
  if (*placed) {
    status = iso_sequence_place(&events, how, task, &made, error);
    if (status == ISOPROOF_OK && made.count == sequence->count) take_order(&made, sequence);
  }
  iso_sequence_free(&made);
  iso_event_graph_free(&events);
  return status;
}

/* The same, where other versions may be chosen on the way.  Transactions that may take part have reads of their own. */
static isoproof_status place_choosing(const iso_open_guess *g, iso_view *view, isoproof_task *task,
                                      iso_sequence *sequence, bool *placed, isoproof_error *error) {
  iso_value_classes classes;
  iso_line_choices choices = {.classes = &classes};
  if (g->open->doubt->optional != NULL) return place(g, view, NULL, task, sequence, placed, error);
  ISO_TRY(iso_open_classes_make(g->open, &classes, error));
  bool made = list_choices(g, view, &choices);
  isoproof_status status = made ? place(g, view, &choices, task, sequence, placed, error) : iso_fail_memory(error);
  free(choices.wanted);
  free(choices.open);
  free(choices.kept);
  iso_value_classes_free(&classes);
  return status;
}

/* Places what the doubt says at the moment. */
static isoproof_status place_settled(const iso_open_guess *g, const iso_doubt *doubt, isoproof_task *task,
                                     iso_sequence *sequence, bool *placed, isoproof_error *error) {
  iso_view view;
  ISO_TRY(iso_view_make_with(doubt->history, doubt->optional, task, &view, error));
  isoproof_status status = place_choosing(g, &view, task, sequence, placed, error);
  iso_view_free(&view);
  return status;
}

/* By values, which needs no guess of what was observed. */
static isoproof_status place_values(const iso_open_guess *g, isoproof_task *task, iso_sequence *sequence,
                                    isoproof_error *error) {
  iso_value_classes classes;
  ISO_TRY(iso_open_classes_make(g->open, &classes, error));
  bool springs = g->way == ISO_GUESS_REPLAY && !g->events->timed;
  bool replay = g->way == ISO_GUESS_REPLAY || g->way == ISO_GUESS_COUNTED;
  iso_placement how = {.springs = springs, .replay = replay, .values = !replay, .seed = g->seed};
  how.mends = g->way == ISO_GUESS_MENDED;
  how.classes = &classes;
  isoproof_status status = iso_sequence_place(g->events, how, task, sequence, error);
  iso_value_classes_free(&classes);
  return status;
}

/* Settles every read as what it is likely to have seen; those whose version stands behind them are listed. */
static isoproof_status show(const iso_open_guess *g, const iso_sequence *sequence, iso_doubt *doubt,
                            iso_late_reads *late, isoproof_error *error) {
  const iso_open_reads *o = g->open;
  for (size_t i = 0; i < o->reads.count; i++) {
    const iso_open_read *read = &o->reads.items[i];
    uint32_t version = UINT32_MAX;
    bool behind = false;
    if (!iso_is_optional(doubt, read->txn)) ISO_TRY(choose(g, sequence, read, &version, &behind, error));
    if (version == UINT32_MAX) continue;
    iso_open_settle(o, doubt, read, version);
    iso_late_read one = {.read = (uint32_t)i, .version = version};
    if (behind && late != NULL && !iso_vec_push(late, one)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_open_show(const iso_open_guess *g, const iso_sequence *sequence, iso_doubt *doubt,
                              isoproof_error *error) {
  return show(g, sequence, doubt, NULL, error);
}

/* Of the reads whose version stands behind them, those stay settled that can all be true, and the sequence has them. */
static isoproof_status settle_late(const iso_open_guess *g, iso_doubt *doubt, iso_late_reads *late, isoproof_task *task,
                                   iso_sequence *sequence, isoproof_error *error) {
  const iso_open_reads *o = g->open;
  iso_view view;
  iso_event_graph events;
  iso_sequence made;
  bool whole;
  for (size_t i = 0; i < late->count; i++) {
    doubt->resolution->writer[o->reads.items[late->items[i].read].op] = ISO_UNSETTLED;
  }
  ISO_TRY(iso_view_make_with(doubt->history, doubt->optional, task, &view, error));
  isoproof_status status = order_guessed(g, &view, sequence, task, &events, &made, &whole, error);
  if (status == ISOPROOF_OK) {
    if (whole) status = iso_late_reads_fit(o, &events, late, &made, task, error);
    if (whole && status == ISOPROOF_OK) take_order(&made, sequence);
    iso_sequence_free(&made);
    iso_event_graph_free(&events);
  }
  iso_view_free(&view);
  for (size_t i = 0; status == ISOPROOF_OK && whole && i < late->count; i++) {
    const iso_late_read *one = &late->items[i];
    if (one->fits) iso_open_settle(o, doubt, &o->reads.items[one->read], one->version);
  }
  return status;
}

static isoproof_status place_shown(const iso_open_guess *g, iso_doubt *doubt, isoproof_task *task,
                                   iso_sequence *sequence, bool *placed, isoproof_error *error) {
  const iso_open_reads *o = g->open;
  iso_late_reads late = {.items = NULL};
  isoproof_status status = show(g, sequence, doubt, &late, error);
  if (status == ISOPROOF_OK) status = place_settled(g, doubt, task, sequence, placed, error);
  if (status == ISOPROOF_OK && !*placed && late.count > 0 && g->late) {
    status = settle_late(g, doubt, &late, task, sequence, error);
    if (status == ISOPROOF_OK) status = place_settled(g, doubt, task, sequence, placed, error);
  }
  iso_vec_free(&late);
  for (size_t i = 0; i < o->reads.count; i++) doubt->resolution->writer[o->reads.items[i].op] = ISO_UNSETTLED;
  return status;
}

isoproof_status iso_open_place(const iso_open_guess *g, iso_doubt *doubt, isoproof_task *task, iso_sequence *sequence,
                               bool *placed, isoproof_error *error) {
  *placed = true;
  if (g->way == ISO_GUESS_SHOWN) return place_shown(g, doubt, task, sequence, placed, error);
  if (g->way != ISO_GUESS_KNOWN) return place_values(g, task, sequence, error);
  iso_placement how = {
      .springs = !g->events->timed, .together = g->together, .exclusive = g->exclusive, .seed = g->seed};
  return iso_sequence_place(g->events, how, task, sequence, error);
}
