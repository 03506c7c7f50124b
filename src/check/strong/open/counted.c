/* Where clients count, the order of values as a first sequence, and as an assumption. */
#include <stdlib.h>
#include <string.h>

#include "check/strong/open/mend_excerpts.h"
#include "check/strong/open/serial_start.h"
#include "check/strong/open/stage.h"

/* Takes another sequence where it explains more; frees the other one. */
static isoproof_status take_better(iso_open_stage *s, iso_sequence *made, isoproof_error *error) {
  uint64_t now = s->broken;
  iso_sequence other = s->sequence;
  s->sequence = *made;
  isoproof_status status = iso_stage_count_broken(s, &now, error);
  bool better = status == ISOPROOF_OK && now < s->broken;
  iso_sequence_free(better ? &other : &s->sequence);
  if (better) s->broken = now;
  if (!better) s->sequence = other;
  s->counted = s->counted || better;
  return status;
}

static isoproof_status try_values(iso_open_stage *s, isoproof_error *error) {
  iso_value_order c;
  isoproof_status status = iso_value_order_make(&s->events, s->task, &c, error);
  if (status == ISOPROOF_OK && c.sequence.event != NULL) {
    status = take_better(s, &c.sequence, error);
    c.sequence = (iso_sequence){.event = NULL};
  }
  iso_value_order_free(&c);
  return status;
}

/* Begins and commits side by side, in the order of whole transactions. */
static isoproof_status follow_serial(iso_open_stage *s, const int64_t *of_txn, isoproof_error *error) {
  iso_sequence made;
  int64_t *when = iso_alloc_zero(s->events.count, sizeof *when);
  if (when == NULL) return iso_fail_memory(error);
  for (uint32_t txn = 0; txn < s->view.h->txns; txn++) {
    when[iso_event_begin(&s->events, txn)] = 2 * of_txn[txn];
    when[iso_event_commit(&s->events, txn)] = 2 * of_txn[txn] + s->events.split;
  }
  isoproof_status status = iso_sequence_make_by(&s->events, when, s->task, &made, error);
  free(when);
  return status == ISOPROOF_OK ? take_better(s, &made, error) : status;
}

/* What no serial order explains may be explained by overlaps. */
static isoproof_status mend_excerpts(iso_open_stage *s, isoproof_error *error) {
  iso_examination examination = iso_stage_examination(s);
  return iso_excerpts_mend(&examination, &s->open, s->level, &s->sequence, &s->broken, error);
}

static bool is_large(const iso_open_stage *s) {
  enum { LARGE = 6 << 20 };
  const iso_view *v = &s->view;
  return v->read_first[v->h->txns] + v->write_first[v->h->txns] + s->open.reads.count >= LARGE;
}

static isoproof_status try_serial(iso_open_stage *s, bool looks, isoproof_error *error) {
  iso_serial_start start;
  iso_serial_effort effort = s->events.split ? ISO_SERIAL_NEARLY : ISO_SERIAL_MEND;
  if (looks) effort = ISO_SERIAL_LOOK;
  isoproof_status status = iso_serial_start_find(&s->view, &s->open, &s->doubt, NULL, effort, s->task, &start, error);
  bool wanted = !looks || start.broken == 0;
  s->counts = s->counts || start.when != NULL;
  if (status == ISOPROOF_OK && start.when != NULL && wanted) status = follow_serial(s, start.when, error);
  free(start.when);
  if (status != ISOPROOF_OK || looks || !s->events.split) return status;
  if (s->broken > 0 && s->broken <= ISO_SERIAL_FEW && start.few) return mend_excerpts(s, error);
  if (start.few) return ISOPROOF_OK;
  return try_values(s, error);
}

isoproof_status iso_stage_try_counting(iso_open_stage *s, bool stuck, isoproof_error *error) {
  enum { MANY = 8192 };
  bool plain = s->doubt.optional == NULL && iso_stage_has_sessions(s) && !s->events.shape.real_time;
  if (!plain || s->assumes || s->broken == 0 || s->out->rounds > 1 || s->view.h->keys == 1) return ISOPROOF_OK;
  if (s->is_excerpt && stuck) return ISOPROOF_OK;
  bool large = is_large(s) && !s->is_excerpt;
  if (stuck && (large || s->view.taking_part < MANY)) return ISOPROOF_OK;
  return try_serial(s, !stuck && !large, error);
}

bool iso_stage_may_assume(const iso_open_stage *s) {
  enum { SOME = 1 << 20 };
  const iso_view *v = &s->view;
  bool small = v->read_first[v->h->txns] + v->write_first[v->h->txns] <= SOME;
  return s->may_assume && s->counts && small && s->out->rounds == 1;
}

/* As near to the sequence at hand as what is assumed allows. */
static isoproof_status keep_to_hints(iso_open_stage *s, isoproof_error *error) {
  iso_sequence made;
  const iso_sequence *from = s->out->rounds == 1 ? &s->counting.sequence : &s->sequence;
  int64_t *when = iso_alloc_zero(s->events.count, sizeof *when);
  if (when == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < from->count; i++) when[from->event[i]] = i;
  isoproof_status status = iso_sequence_make_by(&s->events, when, s->task, &made, error);
  free(when);
  if (status != ISOPROOF_OK) return status;
  iso_sequence_free(&s->sequence);
  s->sequence = made;
  return ISOPROOF_OK;
}

isoproof_status iso_stage_assume(iso_open_stage *s, bool *useful, isoproof_error *error) {
  if (s->out->rounds == 1) ISO_TRY(iso_value_order_make(&s->events, s->task, &s->counting, error));
  *useful = s->counting.readers;
  if (!*useful) return ISOPROOF_OK;
  ISO_TRY(iso_value_order_assume(&s->counting, &s->events, error));
  s->counted = true;
  return keep_to_hints(s, error);
}
