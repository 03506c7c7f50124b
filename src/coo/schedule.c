/* schedule.c - schedules step by step, and what they say about versions. */
#include "coo/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

isolde_status iso_schedule_new(isolde_schedule **schedule, isolde_error *error) {
  *schedule = iso_alloc_zero(1, sizeof **schedule);
  return *schedule != NULL ? ISOLDE_OK : iso_fail_memory(error);
}

void isolde_schedule_free(isolde_schedule *schedule) {
  if (schedule == NULL) return;
  iso_words_free(&schedule->text);
  free(schedule);
}

size_t isolde_schedule_steps(const isolde_schedule *schedule) { return schedule->step_count; }
size_t isolde_schedule_txns(const isolde_schedule *schedule) { return schedule->txn_count; }
size_t isolde_schedule_objects(const isolde_schedule *schedule) { return schedule->object_count; }
const char *isolde_schedule_text(const isolde_schedule *schedule) {
  return schedule->text.text != NULL ? schedule->text.text : "";
}

bool isolde_schedule_step(const isolde_schedule *schedule, size_t number, isolde_step *out) {
  if (number >= schedule->step_count) return false;
  *out = schedule->steps[number];
  return true;
}

uint32_t isolde_schedule_txn_label(const isolde_schedule *schedule, size_t txn) {
  return txn < schedule->txn_count ? schedule->labels[txn] : 0;
}

const char *isolde_schedule_object_name(const isolde_schedule *schedule, size_t object) {
  return object < schedule->object_count ? schedule->names[object] : NULL;
}

/* ---- versions ---- */

uint32_t iso_schedule_writer(const isolde_schedule *schedule, uint32_t object, uint32_t version) {
  for (uint32_t i = 0; version > 0 && i < schedule->step_count; i++) {
    const isolde_step *s = &schedule->steps[i];
    if (s->kind == ISOLDE_STEP_WRITE && s->object == object && s->version == version) return i;
  }
  return ISO_NO_STEP;
}

bool iso_schedule_ended(const isolde_schedule *schedule, uint32_t txn, isolde_step_kind how, uint32_t step) {
  uint32_t end = schedule->end[txn];
  return end != ISO_NO_STEP && end < step && schedule->steps[end].kind == how;
}

uint32_t iso_schedule_latest(const isolde_schedule *schedule, uint32_t object, uint32_t step) {
  for (uint32_t i = step; i-- > 0;) {
    const isolde_step *s = &schedule->steps[i];
    if (s->kind != ISOLDE_STEP_WRITE || s->object != object) continue;
    if (!iso_schedule_ended(schedule, s->txn, ISOLDE_STEP_ABORT, step)) return s->version;
  }
  return 0;
}

uint32_t iso_schedule_value(const isolde_schedule *schedule, uint32_t step) {
  uint32_t writes = 0;
  for (uint32_t i = 0; i <= step && i < schedule->step_count; i++) {
    if (schedule->steps[i].kind == ISOLDE_STEP_WRITE) writes++;
  }
  return writes;
}

/* ---- adding ---- */

static isolde_status find_txn(isolde_schedule *schedule, uint32_t label, uint32_t *txn, iso_place place,
                              isolde_error *error) {
  for (uint32_t i = 0; i < schedule->txn_count; i++) {
    if (schedule->labels[i] == label) {
      *txn = i;
      return ISOLDE_OK;
    }
  }
  if (schedule->txn_count == ISOLDE_SCHEDULE_TXNS) {
    return iso_fail_at(error, ISOLDE_ERR_LIMIT, place, "expected at most %d transactions in a schedule",
                       ISOLDE_SCHEDULE_TXNS);
  }
  schedule->labels[schedule->txn_count] = label;
  schedule->end[schedule->txn_count] = ISO_NO_STEP;
  *txn = schedule->txn_count++;
  return ISOLDE_OK;
}

static isolde_status find_object(isolde_schedule *schedule, const char *name, uint32_t *object, iso_place place,
                                 isolde_error *error) {
  for (uint32_t i = 0; i < schedule->object_count; i++) {
    if (strcmp(schedule->names[i], name) == 0) {
      *object = i;
      return ISOLDE_OK;
    }
  }
  if (schedule->object_count == ISOLDE_SCHEDULE_OBJECTS) {
    return iso_fail_at(error, ISOLDE_ERR_LIMIT, place, "expected at most %d objects in a schedule",
                       ISOLDE_SCHEDULE_OBJECTS);
  }
  snprintf(schedule->names[schedule->object_count], ISOLDE_OBJECT_NAME_BYTES, "%s", name);
  *object = schedule->object_count++;
  return ISOLDE_OK;
}

static isolde_status set_version(isolde_schedule *schedule, isolde_step *step, uint32_t version, iso_place place,
                                 isolde_error *error) {
  const char *name = schedule->names[step->object];
  uint32_t made = schedule->versions[step->object];
  if (step->kind == ISOLDE_STEP_WRITE) {
    step->version = ++schedule->versions[step->object];
    if (version == ISO_VERSION_LATEST || version == step->version) return ISOLDE_OK;
    return iso_fail_at(error, ISOLDE_ERR_FORMAT, place,
                       "expected version %u of %s, as this is write number %u of it, found %u", step->version, name,
                       step->version, version);
  }
  step->version = version;
  if (version == ISO_VERSION_LATEST) step->version = iso_schedule_latest(schedule, step->object, schedule->step_count);
  if (step->version <= made) return ISOLDE_OK;
  return iso_fail_at(error, ISOLDE_ERR_FORMAT, place,
                     "expected a version of %s from 0 to %u, which are there by then, found %u", name, made, version);
}

isolde_status iso_schedule_add(isolde_schedule *schedule, isolde_step_kind kind, uint32_t label, const char *name,
                               uint32_t version, iso_place place, isolde_error *error) {
  isolde_step step = {.kind = kind};
  if (schedule->step_count == ISOLDE_SCHEDULE_STEPS) {
    return iso_fail_at(error, ISOLDE_ERR_LIMIT, place, "expected at most %d steps in a schedule",
                       ISOLDE_SCHEDULE_STEPS);
  }
  ISO_TRY(find_txn(schedule, label, &step.txn, place, error));
  uint32_t end = schedule->end[step.txn];
  if (end != ISO_NO_STEP) {
    return iso_fail_at(error, ISOLDE_ERR_FORMAT, place, "expected no step of transaction %u after its %s", label,
                       schedule->steps[end].kind == ISOLDE_STEP_COMMIT ? "commit" : "abort");
  }
  if (kind == ISOLDE_STEP_READ || kind == ISOLDE_STEP_WRITE) {
    ISO_TRY(find_object(schedule, name, &step.object, place, error));
    ISO_TRY(set_version(schedule, &step, version, place, error));
  } else {
    schedule->end[step.txn] = schedule->step_count;
  }
  schedule->steps[schedule->step_count++] = step;
  return ISOLDE_OK;
}

/* ---- text ---- */

size_t isolde_schedule_step_format(const isolde_schedule *schedule, size_t number, char *buffer, size_t size) {
  if (number >= schedule->step_count) {
    if (size > 0) buffer[0] = 0;
    return 0;
  }
  const isolde_step *s = &schedule->steps[number];
  uint32_t label = schedule->labels[s->txn];
  if (s->kind == ISOLDE_STEP_COMMIT || s->kind == ISOLDE_STEP_ABORT) {
    return (size_t)snprintf(buffer, size, "%c%u", s->kind == ISOLDE_STEP_COMMIT ? 'C' : 'A', label);
  }
  const char *name = schedule->names[s->object];
  if (s->kind == ISOLDE_STEP_WRITE) return (size_t)snprintf(buffer, size, "W%u%s", label, name);
  if (s->version == iso_schedule_latest(schedule, s->object, (uint32_t)number)) {
    return (size_t)snprintf(buffer, size, "R%u%s", label, name);
  }
  return (size_t)snprintf(buffer, size, "R%u%s%u", label, name, s->version);
}

isolde_status iso_schedule_seal(isolde_schedule *schedule, isolde_error *error) {
  char step[ISOLDE_STEP_TEXT_BYTES];
  for (size_t i = 0; i < schedule->step_count; i++) {
    isolde_schedule_step_format(schedule, i, step, sizeof step);
    iso_words_add(&schedule->text, "%s%s", i > 0 ? " " : "", step);
  }
  return schedule->text.failed ? iso_fail_memory(error) : ISOLDE_OK;
}
