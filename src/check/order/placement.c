/* From a poor first sequence to a good one: springs, then moves of transactions, then of begins and commits. */
#include "check/order/placement.h"

#include <stdlib.h>
#include <string.h>

#include "check/order/replay.h"
#include "check/order/retrace.h"
#include "check/order/springs.h"
#include "check/order/value_walk.h"
#include "check/order/walk.h"

bool iso_is_crowded(const iso_view *v) {
  enum { PART = 8 };
  return (uint64_t)v->write_first[v->h->txns] * PART > (uint64_t)v->taking_part * v->h->keys;
}

/* By event, whole numbers that are in the order of the places. */
static isoproof_status sort_events(const iso_event_graph *e, bool whole, const double *place, isoproof_task *task,
                                   iso_sequence *sequence, isoproof_error *error) {
  int64_t *when = iso_alloc(e->count, sizeof *when);
  if (when == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < e->txn_events; i++) {
    uint32_t commit = iso_event_commit(e, iso_event_txn(e, i));
    when[i] = whole ? (int64_t)place[commit] * 2 - (i != commit) : (int64_t)place[i];
  }
  iso_sequence made;
  isoproof_status status = iso_sequence_make_by(e, when, task, &made, error);
  free(when);
  if (status != ISOPROOF_OK) return status;
  iso_sequence_free(sequence);
  *sequence = made;
  return ISOPROOF_OK;
}

/* By who finds what it read: carried out, or from the order at hand. */
static isoproof_status follow_values(const iso_event_graph *e, const iso_value_classes *classes, iso_placement how,
                                     isoproof_task *task, double *place, iso_sequence *sequence,
                                     isoproof_error *error) {
  enum { ONE_IN = 64, LEAST_REACH = 64, LONGER = 32 };
  int64_t *turn = iso_alloc_zero(e->count, sizeof *turn);
  if (turn == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < sequence->count; i++) {
    turn[sequence->event[i]] = i;
    place[sequence->event[i]] = i;
  }
  iso_value_walk walk = {.seed = how.seed, .most_steps = UINT64_C(1) << 28, .patience = UINT64_C(1) << 26};
  walk.mends = how.mends;
  if (!iso_is_crowded(e->view)) {
    walk.reach = sequence->count / ONE_IN + LEAST_REACH;
    walk.most_steps *= LONGER;
  }
  bool found = false;
  isoproof_status status = ISOPROOF_OK;
  if (how.values) {
    status = iso_value_walk_all(e, classes, walk, task, turn, error);
  } else {
    status = iso_retrace(e, classes, place, task, turn, &found, error);
    if (status == ISOPROOF_OK && !found) status = iso_replay(e, classes, place, task, turn, error);
  }
  iso_sequence made;
  if (status == ISOPROOF_OK) status = iso_sequence_make_by(e, turn, task, &made, error);
  free(turn);
  if (status != ISOPROOF_OK) return status;
  iso_sequence_free(sequence);
  *sequence = made;
  return ISOPROOF_OK;
}

static isoproof_status place_by_values(const iso_event_graph *e, iso_placement how, isoproof_task *task, double *place,
                                       iso_sequence *sequence, isoproof_error *error) {
  if (how.classes != NULL) return follow_values(e, how.classes, how, task, place, sequence, error);
  iso_value_classes versions;
  ISO_TRY(iso_value_classes_make(e->view, &versions, error));
  isoproof_status status = iso_value_classes_read(e->view, NULL, 0, &versions, error);
  if (status == ISOPROOF_OK) status = follow_values(e, &versions, how, task, place, sequence, error);
  iso_value_classes_free(&versions);
  return status;
}

/* Begins and commits together where `whole`. */
static isoproof_status walk(const iso_event_graph *e, bool whole, iso_placement how, isoproof_task *task, double *place,
                            iso_sequence *sequence, isoproof_error *error) {
  enum { PATIENCE = 20 };
  /* When begins and commits still get a turn by themselves, those that do not fit together are no reason to wait. */
  uint64_t patience = whole == e->split ? 0 : PATIENCE;
  for (uint32_t i = 0; i < sequence->count; i++) place[sequence->event[i]] = i;
  iso_line line;
  ISO_TRY(iso_line_make(e, whole, how.exclusive && !whole, place, how.choices, &line, error));
  isoproof_status status = iso_walk_nearby(&line, task, error);
  if (status == ISOPROOF_OK) status = iso_walk_groups(&line, (iso_walk){how.seed, patience}, task, error);
  iso_line_free(&line);
  return status == ISOPROOF_OK ? sort_events(e, whole, place, task, sequence, error) : status;
}

static isoproof_status relax(const iso_event_graph *e, isoproof_task *task, double *place, iso_sequence *sequence,
                             isoproof_error *error) {
  uint32_t txns = e->view->h->txns;
  double *of_txn = iso_alloc_zero(txns, sizeof *of_txn);
  if (of_txn == NULL) return iso_fail_memory(error);
  for (uint32_t txn = 0; txn < txns; txn++) {
    if (e->view->counts[txn]) of_txn[txn] = (double)sequence->place[iso_event_commit(e, txn)] / (e->split ? 2 : 1);
  }
  isoproof_status status = iso_springs_relax(e, of_txn, task, error);
  for (uint32_t txn = 0; txn < txns; txn++) place[iso_event_commit(e, txn)] = of_txn[txn];
  free(of_txn);
  return status == ISOPROOF_OK ? sort_events(e, true, place, task, sequence, error) : status;
}

isoproof_status iso_sequence_place(const iso_event_graph *e, iso_placement how, isoproof_task *task,
                                   iso_sequence *sequence, isoproof_error *error) {
  double *place = iso_alloc_zero(e->count, sizeof *place);
  if (place == NULL) return iso_fail_memory(error);
  isoproof_status status = ISOPROOF_OK;
  if (how.springs) status = relax(e, task, place, sequence, error);
  bool values = how.replay || how.values;
  if (values && status == ISOPROOF_OK) status = place_by_values(e, how, task, place, sequence, error);
  if (values) {
    free(place);
    return status;
  }
  bool together = !e->split || how.together;
  if (together && status == ISOPROOF_OK) status = walk(e, true, how, task, place, sequence, error);
  if (e->split && status == ISOPROOF_OK) status = walk(e, false, how, task, place, sequence, error);
  free(place);
  return status;
}
