/* judge.c - verdicts on outcomes, each made once. */
#include "coo/systematic/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { FIRST_ROOM = 1024, LOOK_BYTES = 20 };

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

isoproof_status iso_sys_judge_open(iso_sys_judge *judge, isoproof_error *error) {
  *judge = (iso_sys_judge){0};
  return pthread_mutex_init(&judge->mutex, NULL) == 0 ? ISOPROOF_OK : iso_fail_memory(error);
}

void iso_sys_judge_free(iso_sys_judge *judge) {
  pthread_mutex_destroy(&judge->mutex);
  free(judge->table);
  iso_arena_free(&judge->arena);
  *judge = (iso_sys_judge){0};
}

/* ---- judging ---- */

/* Skips " (outcome:12)", a place in a text that nobody has before him. */
static size_t skip_place(const char *text) {
  static const char begin[] = " (outcome:";
  size_t length = sizeof begin - 1, digits = 0;
  if (strncmp(text, begin, length) != 0) return 0;
  while (text[length + digits] >= '0' && text[length + digits] <= '9') digits++;
  return digits > 0 && text[length + digits] == ')' ? length + digits + 1 : 0;
}

/* Transactions by the numbers that their steps have: s2t0 is T2, and s2t1 what its session reads in the end. */
static size_t skip_name(const char *text, char before, char name[LOOK_BYTES]) {
  bool inside = (before >= '0' && before <= '9') || (before >= 'a' && before <= 'z');
  bool is = !inside && text[0] == 's' && text[1] >= '1' && text[1] <= '9' && text[2] == 't' &&
            (text[3] == '0' || text[3] == '1') && !(text[4] >= '0' && text[4] <= '9');
  if (!is) return 0;
  snprintf(name, LOOK_BYTES, "T%c%s", text[1], text[3] == '1' ? "'s last look" : "");
  return 4;
}

/* An explanation for those who have the steps of the schedule before them; a name of four characters becomes one of at
 * most LOOK_BYTES. */
static const char *tell_plainly(iso_sys_judge *judge, const char *text) {
  size_t length = text != NULL ? strlen(text) : 0, made = 0;
  char *plain = iso_arena_alloc(&judge->arena, LOOK_BYTES * (length / 4 + 1) + 4, 1);
  if (plain == NULL) return NULL;
  for (size_t i = 0; i < length;) {
    char name[LOOK_BYTES] = "";
    size_t skipped = skip_place(text + i);
    if (skipped == 0) skipped = skip_name(text + i, i > 0 ? text[i - 1] : ' ', name);
    for (const char *c = name; *c != '\0'; c++) plain[made++] = *c;
    if (skipped == 0) plain[made++] = text[i++];
    i += skipped;
  }
  plain[made] = '\0';
  return plain;
}

static const char *keep(iso_sys_judge *judge, const char *text) {
  return iso_arena_text(&judge->arena, text != NULL ? text : "", text != NULL ? strlen(text) : 0);
}

/* The anomaly that says most; a level may be violated without one to show. */
static isoproof_status keep_anomaly(iso_sys_judge *judge, const isoproof_result *result, iso_sys_verdict *verdict,
                                    isoproof_error *error) {
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  if (!isoproof_result_anomaly_at(result, 0, &anomaly)) anomaly = (isoproof_anomaly){.struct_size = sizeof anomaly};
  pthread_mutex_lock(&judge->mutex);
  verdict->code = keep(judge, anomaly.code);
  verdict->name = keep(judge, anomaly.name);
  verdict->explanation = tell_plainly(judge, anomaly.explanation);
  pthread_mutex_unlock(&judge->mutex);
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

/* Whether it was judged before, with what came of it. */
static bool look_up(iso_sys_judge *judge, const uint64_t hash[2], iso_sys_verdict *verdict) {
  pthread_mutex_lock(&judge->mutex);
  const iso_sys_judged *place = judge->room > 0 ? find(judge->table, judge->room, hash) : NULL;
  bool known = place != NULL && place->hash[1] != 0;
  if (known) *verdict = place->verdict;
  pthread_mutex_unlock(&judge->mutex);
  return known;
}

/* Another thread may have judged the same meanwhile: then that stays. */
static isoproof_status enter(iso_sys_judge *judge, const uint64_t hash[2], iso_sys_verdict *verdict,
                             isoproof_error *error) {
  pthread_mutex_lock(&judge->mutex);
  bool room = make_room(judge);
  iso_sys_judged *place = room ? find(judge->table, judge->room, hash) : NULL;
  if (place != NULL && place->hash[1] == 0) {
    *place = (iso_sys_judged){{hash[0], hash[1]}, *verdict};
    judge->count++;
  }
  if (place != NULL) *verdict = place->verdict;
  pthread_mutex_unlock(&judge->mutex);
  return room ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_sys_judge_text(iso_sys_judge *judge, const char *text, size_t length, const char *level,
                                   iso_sys_verdict *verdict, isoproof_error *error) {
  const char *name = level != NULL ? level : "";
  uint64_t seed = iso_hash_bytes(name, strlen(name), 1);
  uint64_t hash[2] = {iso_hash_bytes(text, length, seed), iso_hash_bytes(text, length, ~seed) | 1};
  if (look_up(judge, hash, verdict)) return ISOPROOF_OK;
  *verdict = (iso_sys_verdict){0};
  ISO_TRY(decide(judge, text, length, level, verdict, error));
  return enter(judge, hash, verdict, error);
}
