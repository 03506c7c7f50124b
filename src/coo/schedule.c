/* schedule.c - schedules step by step, and what they say about versions. */
#include "coo/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/vector.h"

isoproof_status iso_schedule_new(isoproof_schedule **schedule, isoproof_error *error) {
  *schedule = iso_alloc_zero(1, sizeof **schedule);
  return *schedule != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

void isoproof_schedule_free(isoproof_schedule *schedule) {
  if (schedule == NULL) return;
  iso_words_free(&schedule->text);
  free(schedule);
}

size_t isoproof_schedule_step_count(const isoproof_schedule *schedule) { return schedule->step_count; }
size_t isoproof_schedule_txn_count(const isoproof_schedule *schedule) { return schedule->txn_count; }
size_t isoproof_schedule_object_count(const isoproof_schedule *schedule) { return schedule->object_count; }
const char *isoproof_schedule_text(const isoproof_schedule *schedule) {
  return schedule->text.text != NULL ? schedule->text.text : "";
}

bool isoproof_schedule_step_at(const isoproof_schedule *schedule, size_t number, isoproof_schedule_step *out) {
  if (number >= schedule->step_count) return false;
  return ISO_STRUCT_GIVE(out, schedule->steps[number]);
}

uint32_t isoproof_schedule_txn_label(const isoproof_schedule *schedule, size_t txn) {
  return txn < schedule->txn_count ? schedule->labels[txn] : 0;
}

const char *isoproof_schedule_object_name(const isoproof_schedule *schedule, size_t object) {
  return object < schedule->object_count ? schedule->names[object] : NULL;
}

/* ---- versions ---- */

uint32_t iso_schedule_writer(const isoproof_schedule *schedule, uint32_t object, uint32_t version) {
  for (uint32_t i = 0; version > 0 && i < schedule->step_count; i++) {
    const isoproof_schedule_step *s = &schedule->steps[i];
    if (s->kind == ISOPROOF_STEP_WRITE && s->object == object && s->version == version) return i;
  }
  return ISO_NO_STEP;
}

bool iso_schedule_ended(const isoproof_schedule *schedule, uint32_t txn, isoproof_schedule_step_kind how,
                        uint32_t step) {
  uint32_t end = schedule->end[txn];
  return end != ISO_NO_STEP && end < step && schedule->steps[end].kind == how;
}

uint32_t iso_schedule_latest(const isoproof_schedule *schedule, uint32_t object, uint32_t step) {
  for (uint32_t i = step; i-- > 0;) {
    const isoproof_schedule_step *s = &schedule->steps[i];
    if (s->kind != ISOPROOF_STEP_WRITE || s->object != object) continue;
    if (!iso_schedule_ended(schedule, s->txn, ISOPROOF_STEP_ABORT, step)) return s->version;
  }
  return 0;
}

uint32_t iso_schedule_value(const isoproof_schedule *schedule, uint32_t step) {
  uint32_t writes = 0;
  for (uint32_t i = 0; i <= step && i < schedule->step_count; i++) {
    if (schedule->steps[i].kind == ISOPROOF_STEP_WRITE) writes++;
  }
  return writes;
}

/* ---- adding ---- */

static isoproof_status find_txn(isoproof_schedule *schedule, uint32_t label, uint32_t *txn, iso_place place,
                                isoproof_error *error) {
  for (uint32_t i = 0; i < schedule->txn_count; i++) {
    if (schedule->labels[i] == label) {
      *txn = i;
      return ISOPROOF_OK;
    }
  }
  if (schedule->txn_count == ISOPROOF_SCHEDULE_TXNS) {
    return iso_fail_at(error, ISOPROOF_ERR_LIMIT, place, "expected at most %d transactions in a schedule",
                       ISOPROOF_SCHEDULE_TXNS);
  }
  schedule->labels[schedule->txn_count] = label;
  schedule->end[schedule->txn_count] = ISO_NO_STEP;
  *txn = schedule->txn_count++;
  return ISOPROOF_OK;
}

static isoproof_status find_object(isoproof_schedule *schedule, const char *name, uint32_t *object, iso_place place,
                                   isoproof_error *error) {
  for (uint32_t i = 0; i < schedule->object_count; i++) {
    if (strcmp(schedule->names[i], name) == 0) {
      *object = i;
      return ISOPROOF_OK;
    }
  }
  if (schedule->object_count == ISOPROOF_SCHEDULE_OBJECTS) {
    return iso_fail_at(error, ISOPROOF_ERR_LIMIT, place, "expected at most %d objects in a schedule",
                       ISOPROOF_SCHEDULE_OBJECTS);
  }
  snprintf(schedule->names[schedule->object_count], ISOPROOF_SCHEDULE_NAME_BYTES, "%s", name);
  *object = schedule->object_count++;
  return ISOPROOF_OK;
}

static isoproof_status set_version(isoproof_schedule *schedule, isoproof_schedule_step *step, uint32_t version,
                                   iso_place place, isoproof_error *error) {
  const char *name = schedule->names[step->object];
  uint32_t made = schedule->versions[step->object];
  if (step->kind == ISOPROOF_STEP_WRITE) {
    step->version = ++schedule->versions[step->object];
    if (version == ISO_VERSION_LATEST || version == step->version) return ISOPROOF_OK;
    return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place,
                       "expected version %u of %s, as this is write number %u of it, found %u", step->version, name,
                       step->version, version);
  }
  step->version = version;
  if (version == ISO_VERSION_LATEST) step->version = iso_schedule_latest(schedule, step->object, schedule->step_count);
  if (step->version <= made) return ISOPROOF_OK;
  return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place,
                     "expected a version of %s from 0 to %u, which are there by then, found %u", name, made, version);
}

isoproof_status iso_schedule_add(isoproof_schedule *schedule, isoproof_schedule_step_kind kind, uint32_t label,
                                 const char *name, uint32_t version, iso_place place, isoproof_error *error) {
  isoproof_schedule_step step = {.struct_size = sizeof step, .kind = kind};
  if (schedule->step_count == ISOPROOF_SCHEDULE_STEPS) {
    return iso_fail_at(error, ISOPROOF_ERR_LIMIT, place, "expected at most %d steps in a schedule",
                       ISOPROOF_SCHEDULE_STEPS);
  }
  ISO_TRY(find_txn(schedule, label, &step.txn, place, error));
  uint32_t end = schedule->end[step.txn];
  if (end != ISO_NO_STEP) {
    return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place, "expected no step of transaction %u after its %s", label,
                       schedule->steps[end].kind == ISOPROOF_STEP_COMMIT ? "commit" : "abort");
  }
  if (kind == ISOPROOF_STEP_READ || kind == ISOPROOF_STEP_WRITE) {
    ISO_TRY(find_object(schedule, name, &step.object, place, error));
    ISO_TRY(set_version(schedule, &step, version, place, error));
  } else {
    schedule->end[step.txn] = schedule->step_count;
  }
  schedule->steps[schedule->step_count++] = step;
  return ISOPROOF_OK;
}

/* ---- text ---- */

size_t isoproof_schedule_step_format(const isoproof_schedule *schedule, size_t number, char *buffer, size_t size) {
  if (number >= schedule->step_count) {
    if (size > 0) buffer[0] = 0;
    return 0;
  }
  const isoproof_schedule_step *s = &schedule->steps[number];
  uint32_t label = schedule->labels[s->txn];
  if (s->kind == ISOPROOF_STEP_COMMIT || s->kind == ISOPROOF_STEP_ABORT) {
    return (size_t)snprintf(buffer, size, "%c%u", s->kind == ISOPROOF_STEP_COMMIT ? 'C' : 'A', label);
  }
  const char *name = schedule->names[s->object];
  if (s->kind == ISOPROOF_STEP_WRITE) return (size_t)snprintf(buffer, size, "W%u%s", label, name);
  if (s->version == iso_schedule_latest(schedule, s->object, (uint32_t)number)) {
    return (size_t)snprintf(buffer, size, "R%u%s", label, name);
  }
  return (size_t)snprintf(buffer, size, "R%u%s%u", label, name, s->version);
}

isoproof_status iso_schedule_seal(isoproof_schedule *schedule, isoproof_error *error) {
  char step[ISOPROOF_STEP_TEXT_BYTES];
  for (size_t i = 0; i < schedule->step_count; i++) {
    isoproof_schedule_step_format(schedule, i, step, sizeof step);
    iso_words_add(&schedule->text, "%s%s", i > 0 ? " " : "", step);
  }
  return schedule->text.failed ? iso_fail_memory(error) : ISOPROOF_OK;
}
