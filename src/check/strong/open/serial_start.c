/* By values that count up, or by springs; then moves by values, by what the order shows, in windows and excerpts. */
#include "check/strong/open/serial_start.h"

#include <stdlib.h>

#include "check/order/placement.h"
#include "check/order/value_order.h"
#include "check/strong/open/guess.h"
#include "check/strong/open/mend_excerpts.h"
#include "check/strong/open/search.h"

typedef struct {
  iso_view *view;
  iso_event_graph events;
  iso_version_store store;
  iso_sequence sequence;
  iso_open_guess how;
  iso_doubt *doubt;
  isoproof_task *task;
  uint64_t broken; /* by the sequence */
  bool counted;    /* it comes from values that count up */
} serial;

static iso_examination examine(serial *s) {
  const isoproof_level_info *level = isoproof_level_at(ISO_LEVEL_SERIALIZABLE);
  return (iso_examination){.rule = iso_strong_rule_of(iso_strong_level_of(level)->rule),
                           .events = &s->events,
                           .store = &s->store,
                           .task = s->task};
}

static isoproof_status count_broken(serial *s, uint64_t *broken, isoproof_error *error) {
  iso_examination examination = examine(s);
  return iso_open_count_broken(&examination, &s->sequence, s->how.open, true, broken, error);
}

/* Makes another order, which stays when it is no worse. */
static isoproof_status guess(serial *s, iso_guess_way way, isoproof_error *error) {
  bool placed;
  uint64_t now = s->broken;
  uint32_t *event = iso_sequence_copy(&s->sequence);
  if (event == NULL) return iso_fail_memory(error);
  s->how.way = way;
  s->how.late = s->counted;
  isoproof_status status = iso_open_place(&s->how, s->doubt, s->task, &s->sequence, &placed, error);
  s->how.seed++;
  if (status == ISOPROOF_OK) status = count_broken(s, &now, error);
  if (status == ISOPROOF_OK && now > s->broken) iso_sequence_restore(&s->sequence, event);
  if (status == ISOPROOF_OK && now < s->broken) s->broken = now;
  free(event);
  return status;
}

/* ---- where it begins ---- */

/* Where keys are few, the history carried out with the hints is nearer than an order that only keeps to them; on a
 * single one it seldom is. */
static isoproof_status carry_out(serial *s, const iso_value_order *c, isoproof_error *error) {
  if (s->view->h->keys == 1 || !iso_is_crowded(s->view)) return ISOPROOF_OK;
  ISO_TRY(iso_value_order_assume(c, &s->events, error));
  ISO_TRY(guess(s, ISO_GUESS_COUNTED, error));
  iso_event_graph_drop(&s->events, 0);
  return ISOPROOF_OK;
}

static isoproof_status begin_counting(serial *s, isoproof_error *error) {
  enum { ONE_IN = 256 };
  iso_value_order c;
  isoproof_status status = iso_value_order_make(&s->events, s->task, &c, error);
  s->counted = status == ISOPROOF_OK && c.readers && c.dropped <= s->view->taking_part / ONE_IN;
  if (s->counted) {
    s->sequence = c.sequence;
    c.sequence = (iso_sequence){.event = NULL};
    status = count_broken(s, &s->broken, error);
    if (status == ISOPROOF_OK && s->broken > 0) status = carry_out(s, &c, error);
  }
  iso_value_order_free(&c);
  return status;
}

static isoproof_status begin_known(serial *s, const iso_sequence *known, isoproof_error *error) {
  int64_t *when = iso_alloc_zero(s->events.count, sizeof *when);
  if (when == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < known->count; i++) when[iso_event_commit(&s->events, known->event[i])] = i;
  isoproof_status status = iso_sequence_make_by(&s->events, when, s->task, &s->sequence, error);
  free(when);
  s->broken = UINT64_MAX;
  if (status != ISOPROOF_OK || s->sequence.count < s->sequence.total) return status;
  return guess(s, ISO_GUESS_KNOWN, error);
}

static isoproof_status begin(serial *s, const iso_sequence *known, isoproof_error *error) {
  ISO_TRY(iso_event_graph_make(s->view, (iso_event_shape){.split = false}, NULL, &s->events, error));
  ISO_TRY(iso_version_store_make(s->view, &s->store, error));
  ISO_TRY(begin_counting(s, error));
  return s->counted || known == NULL ? ISOPROOF_OK : begin_known(s, known, error);
}

/* ---- how it goes on ---- */

/* Whether only few transactions are not explained. */
static bool is_few(const serial *s) {
  enum { ONE_IN = 256 };
  return s->broken <= s->view->taking_part / ONE_IN;
}

/* Moves by values, as long as they help and the order is serial at all. */
static isoproof_status move(serial *s, isoproof_error *error) {
  enum { ATTEMPTS = 3, TIMES = 2 };
  for (int i = 0; i < ATTEMPTS && s->broken > 0 && (i == 0 || is_few(s)); i++) {
    uint64_t before = s->broken;
    if (before / TIMES > s->view->taking_part) return ISOPROOF_OK;
    ISO_TRY(guess(s, ISO_GUESS_VALUES, error));
    if (s->broken == before) return ISOPROOF_OK;
  }
  return ISOPROOF_OK;
}

/* The last handful, each with what stands around it. */
static isoproof_status mend_excerpts(serial *s, isoproof_error *error) {
  const iso_strong_level *level = iso_strong_level_of(isoproof_level_at(ISO_LEVEL_SERIALIZABLE));
  iso_examination examination = examine(s);
  return iso_excerpts_mend(&examination, s->how.open, level, &s->sequence, &s->broken, error);
}

/* The few that are left, in turns by what the order shows and in windows. */
static isoproof_status mend(serial *s, iso_serial_effort effort, isoproof_error *error) {
  enum { TURNS = 4 };
  bool crowded = iso_is_crowded(s->view);
  for (int i = 0; i < TURNS && s->broken > 0 && is_few(s); i++) {
    uint64_t before = s->broken;
    if (!crowded) ISO_TRY(guess(s, ISO_GUESS_SHOWN, error));
    bool handful = s->broken <= ISO_SERIAL_FEW;
    if (handful && s->broken > 0) ISO_TRY(mend_excerpts(s, error));
    if (s->broken == 0 || (handful && effort == ISO_SERIAL_NEARLY) || (i > 0 && !crowded && s->broken == before))
      return ISOPROOF_OK;
    before = s->broken;
    ISO_TRY(guess(s, ISO_GUESS_MENDED, error));
    if (s->broken == before) return ISOPROOF_OK;
  }
  return ISOPROOF_OK;
}

static isoproof_status find(serial *s, const iso_sequence *known, iso_serial_effort effort, isoproof_error *error) {
  ISO_TRY(begin(s, known, error));
  if (effort == ISO_SERIAL_LOOK) return ISOPROOF_OK;
  if (s->sequence.event == NULL || s->sequence.count < s->sequence.total) return ISOPROOF_OK;
  ISO_TRY(move(s, error));
  return s->counted ? mend(s, effort, error) : ISOPROOF_OK;
}

/* ---- all of it ---- */

static isoproof_status note_order(const serial *s, iso_serial_start *start, isoproof_error *error) {
  if (s->sequence.event == NULL || s->sequence.count < s->sequence.total) return ISOPROOF_OK;
  start->when = iso_alloc_zero(s->view->h->txns, sizeof *start->when);
  if (start->when == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < s->sequence.count; i++) {
    start->when[iso_event_txn(&s->events, s->sequence.event[i])] = i;
  }
  start->broken = s->broken;
  start->few = is_few(s);
  return ISOPROOF_OK;
}

isoproof_status iso_serial_start_find(iso_view *view, const iso_open_reads *open, iso_doubt *doubt,
                                      const iso_sequence *known, iso_serial_effort effort, isoproof_task *task,
                                      iso_serial_start *start, isoproof_error *error) {
  serial s = {.view = view, .doubt = doubt, .task = task};
  s.how = (iso_open_guess){.open = open, .events = &s.events};
  *start = (iso_serial_start){.when = NULL};
  isoproof_status status = find(&s, known, effort, error);
  if (status == ISOPROOF_OK) status = note_order(&s, start, error);
  iso_sequence_free(&s.sequence);
  iso_version_store_free(&s.store);
  iso_event_graph_free(&s.events);
  return status;
}
