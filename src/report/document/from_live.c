/* From a live checker to a document: what is known of a history that is not at hand as a whole. */
#include <stdio.h>
#include <string.h>

#include "base/abi.h"
#include "report/document/document.h"

/* A violation that a later transaction may mend is none yet. */
static isoproof_verdict settled(const isoproof_live_document_options *options, const isoproof_live_verdict *level) {
  bool open = options->unfinished && level->verdict == ISOPROOF_VIOLATED && !level->final;
  return open ? ISOPROOF_UNDECIDED : level->verdict;
}

static isoproof_verdict worse(isoproof_verdict a, isoproof_verdict b) {
  if (a == ISOPROOF_VIOLATED || b == ISOPROOF_VIOLATED) return ISOPROOF_VIOLATED;
  return a == ISOPROOF_UNDECIDED || b == ISOPROOF_UNDECIDED ? ISOPROOF_UNDECIDED : ISOPROOF_SATISFIED;
}

static bool take_levels(isoproof_document *document, const isoproof_live *live,
                        const isoproof_live_document_options *options) {
  isoproof_live_verdict level = {.struct_size = sizeof level};
  const char *said = options->reason != NULL ? options->reason : "a later transaction may still explain what was read";
  const char *reason = iso_document_text(&document->arena, said, strlen(said), ISO_DOCUMENT_FACT);
  if (reason == NULL) return false;
  for (size_t i = 0; isoproof_live_level_at(live, i, &level); i++) {
    isoproof_level_verdict shown = {.struct_size = sizeof shown,
                                    .level = level.level,
                                    .verdict = settled(options, &level),
                                    .asked = options->asked,
                                    .called = level.level};
    if (shown.verdict == ISOPROOF_UNDECIDED && document->unknown_reason == NULL) document->unknown_reason = reason;
    if (options->asked) document->verdict = i == 0 ? shown.verdict : worse(document->verdict, shown.verdict);
    if (!iso_vec_push(&document->levels, shown)) return false;
  }
  return true;
}

/* Whether another level of that verdict says more: one that is satisfied and implies it, or violated and implied. */
static bool is_outdone(const isoproof_document *document, const isoproof_level_verdict *level) {
  bool satisfied = level->verdict == ISOPROOF_SATISFIED;
  const isoproof_level_info *info = isoproof_level_find(level->level);
  for (size_t i = 0; i < document->levels.count; i++) {
    const isoproof_level_verdict *other = &document->levels.items[i];
    const isoproof_level_info *more = isoproof_level_find(other->level);
    if (other->verdict != level->verdict || more == info) continue;
    if (satisfied ? isoproof_level_implies(more, info) : isoproof_level_implies(info, more)) return true;
  }
  return false;
}

static bool take_extremes(isoproof_document *document) {
  for (size_t i = 0; i < document->levels.count; i++) {
    const isoproof_level_verdict *level = &document->levels.items[i];
    if (level->verdict == ISOPROOF_UNDECIDED || is_outdone(document, level)) continue;
    iso_document_names which = level->verdict == ISOPROOF_SATISFIED ? ISO_NAMES_STRONGEST : ISO_NAMES_WEAKEST_VIOLATED;
    if (!iso_vec_push(&document->names[which], level->level)) return false;
  }
  return true;
}

static bool has_anomaly(const isoproof_document *document, const char *code) {
  for (size_t i = 0; i < document->anomalies.count; i++)
    if (strcmp(document->anomalies.items[i].code, code) == 0) return true;
  return false;
}

static bool take_anomalies(isoproof_document *document, const isoproof_live *live) {
  const isoproof_history *history;
  const isoproof_result *result;
  iso_anomaly_parts whole = {.full = true, .limited = true};
  for (size_t v = 0; isoproof_live_violation_at(live, v, &history, &result); v++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    for (size_t i = 0; isoproof_result_anomaly_at(result, i, &anomaly); i++) {
      iso_full_anomaly made;
      if (has_anomaly(document, anomaly.code) || document->anomalies.count == ISOPROOF_DOCUMENT_ANOMALIES) continue;
      if (!iso_full_anomaly_make(&document->arena, history, &anomaly, whole, &made)) return false;
      if (made.code != NULL && !iso_vec_push(&document->anomalies, made)) return false;
    }
  }
  document->anomalies_found = document->anomalies.count;
  return true;
}

static bool take_names(isoproof_document *document, const isoproof_live_document_options *options) {
  iso_arena *arena = &document->arena;
  const char *file = options->file != NULL ? options->file : "";
  document->file = iso_document_text(arena, file, strlen(file), ISO_DOCUMENT_FACT);
  document->given_file = options->file != NULL ? iso_arena_text(arena, file, strlen(file)) : NULL;
  const char *format = options->format != NULL ? options->format : "memory";
  document->format = iso_arena_text(arena, format, strlen(format));
  return document->file != NULL && document->format != NULL &&
         (options->file == NULL || document->given_file != NULL) && iso_document_make_title(document);
}

isoproof_status isoproof_document_make_live(const isoproof_live *live, const isoproof_live_document_options *options,
                                            isoproof_document **document, isoproof_error *error) {
  isoproof_live_document_options known = {.struct_size = sizeof known, .check_seconds = -1};
  *document = NULL;
  ISO_TRY(ISO_OPTIONS_READ(isoproof_live_document_options, &known, options, error));
  isoproof_document *made = iso_document_new();
  if (made == NULL) return iso_fail_memory(error);
  made->load_seconds = -1;
  made->check_seconds = known.check_seconds;
  made->peak_bytes = known.peak_bytes;
  made->counts.struct_size = sizeof made->counts;
  isoproof_status status = ISO_OPTIONS_READ(isoproof_counts, &made->counts, known.counts, error);
  bool good = take_names(made, &known) && take_levels(made, live, &known) && take_extremes(made) &&
              take_anomalies(made, live) && iso_document_count_left_out(made);
  if (status == ISOPROOF_OK && !good) status = iso_fail_memory(error);
  if (status == ISOPROOF_OK)
    *document = made;
  else
    isoproof_document_free(made);
  return status;
}
