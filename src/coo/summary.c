/* summary.c - what was expected of each level and what came of it, in numbers and as a sentence. */
#include <isoproof/level.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/abi.h"
#include "coo/matrix.h"

static bool is_anomaly(const isoproof_coo_cell *cell) {
  return cell->counts[ISOPROOF_COO_ANOMALY] > 0 || cell->broken || cell->unexpected > 0;
}

static isoproof_coo_summary summarize(const isoproof_coo_matrix *matrix, size_t level) {
  const iso_coo_claim *claim = &matrix->claims[level];
  isoproof_coo_summary s = {
      .struct_size = sizeof s, .expected = claim->level, .source = claim->source, .note = claim->note};
  for (size_t row = 0; row < matrix->rows.count; row++) {
    const isoproof_coo_cell *cell = &matrix->cells[row * matrix->level_count + level].shown;
    if (cell->runs == 0) continue;
    s.cells++;
    if (is_anomaly(cell)) s.anomalies++;
    if (cell->result > ISOPROOF_COO_ANOMALY) s.rolled_back++;
    if (cell->unexpected > 0) s.unexpected++;
    if (cell->expected != NULL && strcmp(cell->expected, "unknown") == 0) s.undecided++;
  }
  return s;
}

bool isoproof_coo_matrix_summary_at(const isoproof_coo_matrix *matrix, size_t level, isoproof_coo_summary *out) {
  if (level >= matrix->level_count) return false;
  isoproof_coo_summary made = summarize(matrix, level);
  return ISO_STRUCT_GIVE(out, made);
}

size_t isoproof_coo_matrix_unexpected(const isoproof_coo_matrix *matrix) {
  size_t count = 0;
  for (size_t i = 0; i < matrix->rows.count * matrix->level_count; i++)
    if (matrix->cells[i].shown.unexpected > 0) count++;
  return count;
}

/* ---- the sentence ---- */

typedef struct sentence {
  char *buffer;
  size_t size, used;
} sentence;

__attribute__((format(printf, 2, 3))) static void say(sentence *s, const char *format, ...) {
  size_t room = s->used < s->size ? s->size - s->used : 0;
  char *to = room > 0 ? s->buffer + s->used : NULL;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(to, room, format, arguments);
  va_end(arguments);
  if (length > 0) s->used += (size_t)length;
}

static const char *title_of(const char *level) {
  const isoproof_level_info *info = isoproof_level_find(level);
  return info != NULL ? info->title : level;
}

/* Where nothing is unexpected: "both allowed by snapshot isolation". */
static void say_allowed(sentence *out, size_t anomalies, const char *title) {
  say(out, ", %sallowed by %s", anomalies == 1 ? "" : anomalies == 2 ? "both " : "all ", title);
}

static void say_expected(sentence *out, const isoproof_coo_summary *s, size_t all) {
  const char *title = title_of(s->expected);
  const char *who = strcmp(s->source, "option") == 0 ? "which was asked for" : "which the database documents";
  size_t rest = s->anomalies - s->unexpected;
  if (s->unexpected > 0) {
    say(out, ", %zu unexpected: %s, %s, forbids %s", s->unexpected, title, who, s->unexpected == 1 ? "it" : "them");
    if (rest == 1) say(out, "; the other one is allowed");
    if (rest > 1) say(out, "; the other %zu are allowed", rest);
  } else if (s->anomalies > 0) {
    say_allowed(out, s->anomalies, title);
    say(out, ", %s; nothing unexpected", who);
  } else {
    say(out, "; %s holds%s, as %s", title, s->cells == 1 ? "" : " in each",
        strcmp(s->source, "option") == 0 ? "asked for" : "the database documents");
  }
  if (s->undecided > 0) say(out, "; %zu not decided", s->undecided);
  if (s->cells < all) say(out, "; %zu not run", all - s->cells);
}

size_t isoproof_coo_matrix_sentence_at(const isoproof_coo_matrix *matrix, size_t level, char *buffer, size_t size) {
  sentence out = {buffer, size, 0};
  if (level >= matrix->level_count) return 0;
  isoproof_coo_summary s = summarize(matrix, level);
  say(&out, "%zu case%s, ", s.cells, s.cells == 1 ? "" : "s");
  if (s.anomalies == 0)
    say(&out, "no anomaly");
  else
    say(&out, "%zu anomal%s", s.anomalies, s.anomalies == 1 ? "y" : "ies");
  if (s.expected != NULL) {
    say_expected(&out, &s, matrix->rows.count);
    return out.used;
  }
  say(&out, "; the database documents no level for it");
  if (s.cells < matrix->rows.count) say(&out, "; %zu not run", matrix->rows.count - s.cells);
  return out.used;
}

/* ---- short names ---- */

/* The first letters of its words, or of its only one. */
static void shorten(const char *name, char out[ISOPROOF_COO_SHORT_BYTES]) {
  size_t used = 0;
  bool words = strpbrk(name, " -_") != NULL;
  for (size_t i = 0; name[i] != 0 && used < 4; i++) {
    bool begins = i == 0 || strchr(" -_", name[i - 1]) != NULL;
    if ((words && !begins) || (!words && used == 3)) continue;
    char c = name[i];
    if (c >= 'a' && c <= 'z') c = (char)(c - 'a' + 'A');
    if ((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) out[used++] = c;
  }
  out[used] = 0;
}

void isoproof_coo_matrix_level_short(const isoproof_coo_matrix *matrix, size_t level,
                                     char out[ISOPROOF_COO_SHORT_BYTES]) {
  char other[ISOPROOF_COO_SHORT_BYTES];
  bool taken = false;
  out[0] = 0;
  if (level >= matrix->level_count) return;
  shorten(matrix->levels[level], out);
  for (size_t i = 0; i < matrix->level_count; i++) {
    shorten(matrix->levels[i], other);
    taken = taken || (i != level && strcmp(other, out) == 0);
  }
  if (!taken && out[0] != 0) return;
  size_t used = strlen(out);
  snprintf(out + used, ISOPROOF_COO_SHORT_BYTES - used, "%zu", level + 1);
}
