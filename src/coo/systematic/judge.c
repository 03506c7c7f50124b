/* judge.c - verdicts on outcomes, each made once. */
#include "coo/systematic/judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { FIRST_ROOM = 1024 };

/* ---- what was judged before ---- */

static iso_sys_judged *find(iso_sys_judged *table, size_t room, const uint64_t hash[2]) {
  size_t place = hash[0] & (room - 1);
  while ((table[place].hash[0] != 0 || table[place].hash[1] != 0) &&
         (table[place].hash[0] != hash[0] || table[place].hash[1] != hash[1]))
    place = (place + 1) & (room - 1);
  return &table[place];
}

/* Keeps the table at most half full. */
static bool make_room(iso_sys_judge *judge) {
  if (2 * judge->count < judge->room) return true;
  size_t room = judge->room == 0 ? FIRST_ROOM : 2 * judge->room;
  iso_sys_judged *table = iso_alloc_zero(room, sizeof *table);
  if (table == NULL) return false;
  for (size_t i = 0; i < judge->room; i++) {
    if (judge->table[i].hash[0] != 0 || judge->table[i].hash[1] != 0)
      *find(table, room, judge->table[i].hash) = judge->table[i];
  }
  free(judge->table);
  judge->table = table;
  judge->room = room;
  return true;
}

void iso_sys_judge_free(iso_sys_judge *judge) {
  free(judge->table);
  iso_arena_free(&judge->arena);
  *judge = (iso_sys_judge){0};
}

/* ---- judging ---- */

static const char *keep(iso_sys_judge *judge, const char *text) {
  return iso_arena_text(&judge->arena, text != NULL ? text : "", text != NULL ? strlen(text) : 0);
}

/* The anomaly that says most; a level may be violated without one to show. */
static isoproof_status keep_anomaly(iso_sys_judge *judge, const isoproof_result *result, iso_sys_verdict *verdict,
                                    isoproof_error *error) {
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  if (!isoproof_result_anomaly_at(result, 0, &anomaly)) anomaly = (isoproof_anomaly){.struct_size = sizeof anomaly};
  verdict->code = keep(judge, anomaly.code);
  verdict->name = keep(judge, anomaly.name);
  verdict->explanation = keep(judge, anomaly.explanation);
  bool kept = verdict->code != NULL && verdict->name != NULL && verdict->explanation != NULL;
  return kept ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status decide(iso_sys_judge *judge, const char *text, size_t length, const char *level,
                              iso_sys_verdict *verdict, isoproof_error *error) {
  const char *const levels[] = {level, "serializable"};
  isoproof_open_options own = {.struct_size = sizeof own, .format = "jsonl"};
  /* The expected level alone first: what shows its violation is then the first anomaly. */
  isoproof_check_options expected = {.struct_size = sizeof expected, .levels = levels, .level_count = 1};
  isoproof_check_options serializable = {.struct_size = sizeof serializable, .levels = levels + 1, .level_count = 1};
  isoproof_history *history = NULL;
  isoproof_result *result = NULL;
  isoproof_status status = isoproof_history_open_memory(text, length, "outcome", &own, NULL, &history, error);
  if (status == ISOPROOF_OK && level != NULL) status = isoproof_check(history, &expected, NULL, &result, error);
  if (result != NULL) verdict->expected = isoproof_result_verdict(result);
  if (status == ISOPROOF_OK && verdict->expected == ISOPROOF_VIOLATED)
    status = keep_anomaly(judge, result, verdict, error);
  isoproof_result_free(result);
  result = NULL;
  if (status == ISOPROOF_OK) status = isoproof_check(history, &serializable, NULL, &result, error);
  if (result != NULL) verdict->serializable = isoproof_result_verdict(result);
  isoproof_result_free(result);
  isoproof_history_free(history);
  return status;
}

isoproof_status iso_sys_judge_text(iso_sys_judge *judge, const char *text, size_t length, const char *level,
                                   iso_sys_verdict *verdict, isoproof_error *error) {
  const char *name = level != NULL ? level : "";
  uint64_t seed = iso_hash_bytes(name, strlen(name), 1);
  uint64_t hash[2] = {iso_hash_bytes(text, length, seed), iso_hash_bytes(text, length, ~seed) | 1};
  if (!make_room(judge)) return iso_fail_memory(error);
  iso_sys_judged *place = find(judge->table, judge->room, hash);
  if (place->hash[1] == 0) {
    iso_sys_verdict made = {0};
    ISO_TRY(decide(judge, text, length, level, &made, error));
    *place = (iso_sys_judged){{hash[0], hash[1]}, made};
    judge->count++;
  }
  *verdict = place->verdict;
  return ISOPROOF_OK;
}
