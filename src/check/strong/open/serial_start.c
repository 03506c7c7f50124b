/* Springs and moves by what is known, then moves by values. */
#include "check/strong/open/serial_start.h"

#include <stdlib.h>

#include "check/strong/open/guess.h"
#include "check/strong/open/search.h"

typedef struct {
  iso_event_graph events;
  iso_version_store store;
  iso_sequence sequence;
  iso_open_guess how;
  iso_doubt *doubt;
  isoproof_task *task;
  uint64_t broken;
} serial;

static isoproof_status make(serial *s, iso_view *view, const iso_sequence *known, isoproof_error *error) {
  ISO_TRY(iso_event_graph_make(view, (iso_event_shape){.split = false}, NULL, &s->events, error));
  ISO_TRY(iso_version_store_make(view, &s->store, error));
  int64_t *when = iso_alloc_zero(s->events.count, sizeof *when);
  if (when == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < known->count; i++) when[iso_event_commit(&s->events, known->event[i])] = i;
  isoproof_status status = iso_sequence_make_by(&s->events, when, s->task, &s->sequence, error);
  free(when);
  return status;
}

static isoproof_status guess(serial *s, iso_guess_way way, isoproof_error *error) {
  bool placed;
  const isoproof_level_info *level = isoproof_level_at(ISO_LEVEL_SERIALIZABLE);
  s->how.way = way;
  ISO_TRY(iso_open_place(&s->how, s->doubt, s->task, &s->sequence, &placed, error));
  s->how.seed++;
  iso_examination examination = {.rule = iso_strong_rule_of(iso_strong_level_of(level)->rule),
                                 .events = &s->events,
                                 .store = &s->store,
                                 .task = s->task};
  return iso_open_count_broken(&examination, &s->sequence, s->how.open, true, &s->broken, error);
}

/* Moves by values from where springs led, unless that is no serial history by far. */
static isoproof_status guess_all(serial *s, uint32_t txns, bool *found, isoproof_error *error) {
  enum { ATTEMPTS = 3, ONE_IN = 256 };
  ISO_TRY(guess(s, ISO_GUESS_KNOWN, error));
  for (int i = 0; i < ATTEMPTS && s->broken > 0 && s->broken <= txns; i++) {
    ISO_TRY(guess(s, ISO_GUESS_VALUES, error));
    if (s->broken > txns / ONE_IN) return ISOPROOF_OK;
  }
  *found = s->broken <= txns / ONE_IN;
  return ISOPROOF_OK;
}

isoproof_status iso_serial_start(iso_view *view, const iso_open_reads *open, iso_doubt *doubt,
                                 const iso_sequence *known, isoproof_task *task, int64_t *when, bool *found,
                                 isoproof_error *error) {
  serial s = {.doubt = doubt, .task = task};
  s.how = (iso_open_guess){.open = open, .events = &s.events};
  *found = false;
  isoproof_status status = make(&s, view, known, error);
  bool whole = status == ISOPROOF_OK && s.sequence.count == s.sequence.total;
  if (whole) status = guess_all(&s, view->taking_part, found, error);
  for (uint32_t i = 0; *found && i < s.sequence.count; i++) {
    when[iso_event_txn(&s.events, s.sequence.event[i])] = i;
  }
  iso_sequence_free(&s.sequence);
  iso_version_store_free(&s.store);
  iso_event_graph_free(&s.events);
  return status;
}
