/* The verdict for people, at most 80 columns wide where the names allow it. */
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "base/words.h"
#include "history/history.h"
#include "report/document/document.h"
#include "report/escape.h"
#include "report/text/certificates.h"
#include "report/text/sketch.h"
#include "result/result.h"

enum { MOST_LINES = 3, MOST_SKETCHES = 3 }; /* levels on lines of their own; anomalies that are drawn */

typedef struct {
  iso_output *out;
  const isoproof_result *result;
  bool color, unicode;
} page;

static void paint(const page *p, isoproof_verdict verdict, const char *text) {
  const char *colors[] = {[ISOPROOF_VERDICT_NONE] = "",
                          [ISOPROOF_SATISFIED] = "\033[32m",
                          [ISOPROOF_VIOLATED] = "\033[31m",
                          [ISOPROOF_UNDECIDED] = "\033[33m"};
  if (p->color) iso_out_text(p->out, colors[verdict]);
  iso_out_text(p->out, text);
  if (p->color && colors[verdict][0] != '\0') iso_out_text(p->out, "\033[0m");
}

static void put_heading(const page *p, const char *file) {
  const isoproof_history *h = p->result->history;
  iso_words words = {NULL, 0, 0, false};
  iso_words_add_hostile(&words, file, strlen(file), 4096);
  iso_out_text(p->out, words.text != NULL ? words.text : "");
  iso_words_free(&words);
  iso_out_printf(p->out, ": %s, %u session%s, %u transaction%s, %u operation%s\n", isoproof_history_format(h),
                 h->sessions, h->sessions == 1 ? "" : "s", h->txns, h->txns == 1 ? "" : "s", h->ops,
                 h->ops == 1 ? "" : "s");
  if (h->aborted > 0 || h->unknown > 0) {
    iso_out_printf(p->out, "  %u committed, %u aborted, %u unknown\n", h->committed, h->aborted, h->unknown);
  }
}

/* The levels with one verdict, as a list under its name. */
static void put_level_list(const page *p, isoproof_verdict verdict) {
  size_t column = 0;
  for (size_t i = 0; i < p->result->level_count; i++) {
    const char *id = p->result->levels[i].info->id;
    if (p->result->levels[i].verdict != verdict) continue;
    if (column == 0) {
      iso_out_text(p->out, "  ");
      paint(p, verdict, isoproof_verdict_name(verdict));
      column = 2 + strlen(isoproof_verdict_name(verdict));
    } else {
      iso_out_char(p->out, ',');
      column++;
    }
    bool fits = column + 2 + strlen(id) <= 78;
    if (!fits) {
      iso_out_char(p->out, '\n');
      column = 0;
    }
    do {
      iso_out_char(p->out, ' ');
    } while (++column < 13);
    iso_out_text(p->out, id);
    column += strlen(id);
  }
  if (column > 0) iso_out_char(p->out, '\n');
}

/* A few levels were asked for by name and get a line each; all of them would fill the screen. */
static void put_levels(const page *p) {
  size_t count = p->result->level_count;
  if (count > 0 || p->result->unknown_reason != NULL) iso_out_char(p->out, '\n');
  for (size_t i = 0; i < count && count <= MOST_LINES; i++) {
    iso_out_printf(p->out, "  %-30s ", p->result->levels[i].info->id);
    paint(p, p->result->levels[i].verdict, isoproof_verdict_name(p->result->levels[i].verdict));
    iso_out_char(p->out, '\n');
  }
  if (count > MOST_LINES) {
    put_level_list(p, ISOPROOF_SATISFIED);
    put_level_list(p, ISOPROOF_VIOLATED);
    put_level_list(p, ISOPROOF_UNDECIDED);
  }
  if (p->result->unknown_reason != NULL) iso_out_printf(p->out, "  unknown: %s\n", p->result->unknown_reason);
  const char *unexplained = p->result->unexplained;
  if (unexplained == NULL) return;
  iso_out_printf(p->out, "  the violation of %s takes too many cases to show;\n", unexplained);
  iso_out_printf(p->out, "  for a smaller history: isoproof minimize --level %s\n", unexplained);
}

/* Wraps a sentence at 78 columns behind an indent of four. */
static void put_wrapped(iso_output *out, const char *text) {
  size_t column = 0;
  while (*text != '\0') {
    size_t bytes = strcspn(text, " "), width = iso_text_columns_n(text, bytes);
    if (column > 0 && column + 1 + width > 74) {
      iso_out_char(out, '\n');
      column = 0;
    }
    if (column == 0) iso_out_text(out, "    ");
    if (column > 0) iso_out_char(out, ' '), column++;
    iso_out_bytes(out, text, bytes);
    column += width;
    text += bytes;
    while (*text == ' ') text++;
  }
  iso_out_char(out, '\n');
}

/* Its transactions side by side; a sketch that memory has no room for is left out. */
static void put_drawing(const page *p, const isoproof_anomaly *anomaly) {
  iso_arena arena = ISO_ARENA_EMPTY;
  isoproof_document_anomaly model;
  memset(&model, 0, sizeof model);
  if (iso_model_anomaly(&arena, p->result->history, anomaly, &model) && iso_model_tell(&arena, &model))
    iso_put_sketch(p->out, &model, (iso_sketch_style){.color = p->color, .unicode = p->unicode});
  iso_arena_free(&arena);
}

static void put_anomaly(const page *p, const isoproof_anomaly *anomaly, bool drawn) {
  const isoproof_history *h = p->result->history;
  iso_out_text(p->out, "\n  ");
  paint(p, ISOPROOF_VIOLATED, anomaly->code);
  iso_out_printf(p->out, " %s", anomaly->name);
  if (!p->result->all) {
    iso_out_printf(p->out, ", %llu time%s", (unsigned long long)anomaly->count, anomaly->count == 1 ? "" : "s");
  }
  iso_out_printf(p->out, ", breaks %s\n", anomaly->level);
  if (drawn) put_drawing(p, anomaly);
  put_wrapped(p->out, anomaly->explanation);
  if (h->txn_id_opt == NULL) return;
  iso_words words = {NULL, 0, 0, false};
  for (size_t i = 0; i < anomaly->txn_count; i++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    char name[64];
    if (!isoproof_history_txn_at(h, anomaly->txns[i], &txn) || !txn.has_id) continue;
    isoproof_history_txn_name(h, anomaly->txns[i], name, sizeof name);
    iso_words_add(&words, "%s%s is transaction %lld", words.length > 0 ? ", " : "(", name, (long long)txn.id);
  }
  if (words.length > 0 && !words.failed) {
    iso_words_add(&words, " of the input)");
    if (!words.failed) put_wrapped(p->out, words.text);
  }
  iso_words_free(&words);
}

static void put_names(const page *p, const char *what, const char *(*next)(const isoproof_result *, size_t)) {
  iso_words words = {NULL, 0, 0, false};
  if (next(p->result, 0) == NULL) return;
  iso_out_printf(p->out, "  %s\n", what);
  for (size_t i = 0; next(p->result, i) != NULL; i++) {
    iso_words_add(&words, "%s%s", i > 0 ? ", " : "", next(p->result, i));
  }
  if (!words.failed && words.text != NULL) put_wrapped(p->out, words.text);
  iso_words_free(&words);
}

/* What a check with a workload or models says about models. */
static void put_models(const page *p) {
  if (isoproof_result_elle_workload(p->result) == NULL) return;
  iso_out_char(p->out, '\n');
  iso_out_printf(p->out, "  workload: %s\n", isoproof_result_elle_workload(p->result));
  put_names(p, "not:", isoproof_result_ruled_out_at);
  put_names(p, "and so neither:", isoproof_result_also_ruled_out_at);
  put_names(p, "proved:", isoproof_result_proved_at);
}

/* Whether a shell takes it as one word. */
static bool is_plain_path(const char *file) {
  return file[0] != 0 && file[0] != '-' &&
         strspn(file, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@") == strlen(file);
}

static void put_strongest(const page *p) {
  const char *const *names = p->result->strongest;
  size_t column = strlen("  strongest that holds:");
  iso_out_text(p->out, "  strongest that holds:");
  for (size_t i = 0; names[i] != NULL; i++) {
    size_t width = strlen(names[i]) + (names[i + 1] != NULL);
    if (i > 0 && column + 1 + width > 78) {
      iso_out_text(p->out, "\n   ");
      column = 3;
    }
    iso_out_printf(p->out, " %s%s", names[i], names[i + 1] != NULL ? "," : "");
    column += 1 + width;
  }
  iso_out_char(p->out, '\n');
}

static void put_summary(const page *p, const char *file) {
  const isoproof_result *result = p->result;
  iso_out_char(p->out, '\n');
  if (isoproof_result_verdict(result) != ISOPROOF_VERDICT_NONE) {
    iso_out_text(p->out, "  verdict: ");
    paint(p, isoproof_result_verdict(result), isoproof_verdict_name(isoproof_result_verdict(result)));
    iso_out_char(p->out, '\n');
  } else if (result->strongest[0] != NULL) {
    put_strongest(p);
  }
  isoproof_anomaly first = {.struct_size = sizeof first};
  if (isoproof_result_anomaly_at(result, 0, &first)) {
    iso_out_printf(p->out, "  more about an anomaly: isoproof explain %s\n", first.code);
    if (file != NULL && is_plain_path(file))
      iso_out_printf(p->out, "  a page to look at: isoproof check --html=report.html %s\n", file);
  }
}

isoproof_status isoproof_result_write_text(const isoproof_result *result, const isoproof_render_options *options,
                                           isoproof_write_fn write, void *user, isoproof_error *error) {
  isoproof_render_options known = {.struct_size = sizeof known};
  if (options != NULL)
    memcpy(&known, options, options->struct_size < sizeof known ? options->struct_size : sizeof known);
  page p = {.result = result, .color = known.color, .unicode = known.unicode};
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &p.out, error));
  put_heading(&p, known.file != NULL ? known.file : "history");
  put_levels(&p);
  for (size_t i = 0; i < isoproof_result_anomaly_count(result); i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    if (isoproof_result_anomaly_at(result, i, &anomaly)) put_anomaly(&p, &anomaly, i < MOST_SKETCHES);
  }
  put_models(&p);
  iso_put_proved_text(p.out, result);
  iso_put_stats_text(p.out, result);
  put_summary(&p, known.file);
  return iso_output_close(p.out, error);
}
