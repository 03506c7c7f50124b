/* live_show.c - the status of a live judge in words and as JSON. */
#include "cli/commands/live_show.h"

#include <inttypes.h>
#include <string.h>

#include "cli/terminal/message.h"
#include "cli/terminal/progress.h"

/* A verdict as it stands: a violation that a later transaction may mend is a read that waits for its write. */
static const char *standing(const live_level *level) {
  if (level->verdict == ISOPROOF_VIOLATED && !level->final) return "waiting";
  return isoproof_verdict_name(level->verdict);
}

/* Of several levels: the strongest that are satisfied say most. */
static bool is_outdone(const live_status *s, size_t number) {
  const isoproof_level_info *info = isoproof_level_find(s->levels[number].id);
  for (size_t i = 0; i < s->level_count; i++) {
    const isoproof_level_info *more = isoproof_level_find(s->levels[i].id);
    if (i != number && s->levels[i].verdict == ISOPROOF_SATISFIED && isoproof_level_implies(more, info)) return true;
  }
  return false;
}

void live_words(const live_status *s, char text[LIVE_PART_BYTES]) {
  size_t used = 0, violated = 0, waiting = 0;
  text[0] = 0;
  for (size_t i = 0; i < s->level_count; i++) {
    const live_level *level = &s->levels[i];
    violated += level->final;
    waiting += level->verdict == ISOPROOF_VIOLATED && !level->final;
    if (level->verdict != ISOPROOF_SATISFIED || is_outdone(s, i) || used >= LIVE_PART_BYTES) continue;
    used += (size_t)snprintf(text + used, LIVE_PART_BYTES - used, "%s%s", used > 0 ? ", " : "", level->id);
  }
  if (used > 0 && used < LIVE_PART_BYTES) used += (size_t)snprintf(text + used, LIVE_PART_BYTES - used, " so far");
  if (violated > 0 && used < LIVE_PART_BYTES)
    used += (size_t)snprintf(text + used, LIVE_PART_BYTES - used, "%s%zu level%s violated", used > 0 ? "; " : "",
                             violated, violated == 1 ? "" : "s");
  if (waiting > 0 && used < LIVE_PART_BYTES)
    used += (size_t)snprintf(text + used, LIVE_PART_BYTES - used, "%s%" PRIu64 " reads wait for their writes",
                             used > 0 ? "; " : "", s->pending_reads);
  if (s->failure[0] != 0)
    snprintf(text, LIVE_PART_BYTES, "judged when it is complete");
  else if (used == 0)
    snprintf(text, LIVE_PART_BYTES, "nothing to judge so far");
}

void live_lag_words(const live_status *s, char text[LIVE_PART_BYTES]) {
  if (s->failure[0] != 0)
    snprintf(text, LIVE_PART_BYTES, "checker stopped");
  else if (s->behind == 0)
    snprintf(text, LIVE_PART_BYTES, "checker up to date");
  else
    snprintf(text, LIVE_PART_BYTES, "checker %" PRIu64 " transactions (%.1f s) behind", s->behind, s->behind_seconds);
}

static void memory_words(uint64_t bytes, char text[LIVE_PART_BYTES]) {
  if (bytes >= 10 << 20)
    snprintf(text, LIVE_PART_BYTES, "%" PRIu64 " MB", bytes >> 20);
  else
    snprintf(text, LIVE_PART_BYTES, "%.1f MB", (double)bytes / (1 << 20));
}

void live_progress(const live_status *s) {
  char verdict[LIVE_PART_BYTES], judged[LIVE_PART_BYTES], rate[LIVE_PART_BYTES], lag[LIVE_PART_BYTES],
      memory[LIVE_PART_BYTES];
  const char *parts[] = {verdict, judged, rate, lag, memory};
  live_words(s, verdict);
  snprintf(judged, sizeof judged, "%" PRIu64 " transactions", s->judged);
  snprintf(rate, sizeof rate, "%.0f tx/s", s->rate);
  live_lag_words(s, lag);
  memory_words(s->bytes, memory);
  progress_parts(parts, sizeof parts / sizeof *parts);
}

static bool was_told(const live_teller *t, const char *id) {
  for (size_t i = 0; i < t->count; i++)
    if (strcmp(t->told[i], id) == 0) return true;
  return false;
}

void live_tell(live_teller *t, const live_status *s, const char *path) {
  char names[LIVE_WORDS] = "";
  size_t used = 0;
  uint64_t since = 0;
  for (size_t i = 0; i < s->level_count; i++) {
    const live_level *level = &s->levels[i];
    if (!level->final || was_told(t, level->id) || t->count == LIVE_LEVELS) continue;
    t->told[t->count++] = level->id;
    if (level->since > since) since = level->since;
    if (used < sizeof names)
      used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", level->id);
  }
  if (used == 0) return;
  progress_clear();
  message("%s: violated, as the first %" PRIu64 " transactions show: %s", path, since, names);
  if (!t->witness && s->first_violation[0] != 0) message("%s: %s", path, s->first_violation);
  t->witness = true;
}

static void count_field(isoproof_json *json, const char *name, uint64_t count) {
  isoproof_json_name(json, name);
  isoproof_json_u64(json, count);
}

static void number_field(isoproof_json *json, const char *name, double number) {
  isoproof_json_name(json, name);
  isoproof_json_number(json, number);
}

void live_fields(isoproof_json *json, const live_status *s) {
  isoproof_json_name(json, "verdict");
  isoproof_json_string(json,
                       s->verdict == ISOPROOF_VIOLATED && !s->final ? "waiting" : isoproof_verdict_name(s->verdict));
  isoproof_json_name(json, "levels");
  isoproof_json_object(json);
  for (size_t i = 0; i < s->level_count; i++) {
    isoproof_json_name(json, s->levels[i].id);
    isoproof_json_string(json, standing(&s->levels[i]));
  }
  isoproof_json_end(json);
  if (s->first_violation[0] != 0) {
    isoproof_json_name(json, "violation");
    isoproof_json_string(json, s->first_violation);
  }
  if (s->failure[0] != 0) {
    isoproof_json_name(json, "note");
    isoproof_json_string(json, s->failure);
  }
  count_field(json, "judged", s->judged);
  count_field(json, "behind", s->behind);
  number_field(json, "behind_seconds", s->behind_seconds);
  number_field(json, "judged_per_second", s->rate);
  count_field(json, "pending_reads", s->pending_reads);
  count_field(json, "whole_checks", s->whole_checks);
  count_field(json, "bytes", s->bytes);
  count_field(json, "retained", s->retained);
}
