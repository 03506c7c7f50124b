/* The verdict for people, at most 80 columns wide where the names allow it. */
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "base/words.h"
#include "check/result.h"
#include "report/proved.h"

typedef struct {
  iso_output *out;
  const isolde_result *result;
  bool color;
} page;

static void paint(const page *p, isolde_verdict verdict, const char *text) {
  const char *colors[] = {[ISOLDE_VERDICT_NONE] = "",
                          [ISOLDE_SATISFIED] = "\033[32m",
                          [ISOLDE_VIOLATED] = "\033[31m",
                          [ISOLDE_UNDECIDED] = "\033[33m"};
  if (p->color) iso_out_text(p->out, colors[verdict]);
  iso_out_text(p->out, text);
  if (p->color && colors[verdict][0] != '\0') iso_out_text(p->out, "\033[0m");
}

static void put_heading(const page *p, const char *file) {
  const isolde_history *h = p->result->history;
  iso_words words = {NULL, 0, 0, false};
  iso_words_add_hostile(&words, file, strlen(file), 4096);
  iso_out_text(p->out, words.text != NULL ? words.text : "");
  iso_words_free(&words);
  iso_out_printf(p->out, ": %s, %u session%s, %u transaction%s, %u operation%s\n", isolde_history_format(h),
                 h->sessions, h->sessions == 1 ? "" : "s", h->txns, h->txns == 1 ? "" : "s", h->ops,
                 h->ops == 1 ? "" : "s");
  if (h->aborted > 0 || h->unknown > 0) {
    iso_out_printf(p->out, "  %u committed, %u aborted, %u unknown\n", h->committed, h->aborted, h->unknown);
  }
}

static void put_levels(const page *p) {
  if (p->result->level_count > 0 || p->result->unknown_reason != NULL) iso_out_char(p->out, '\n');
  for (size_t i = 0; i < p->result->level_count; i++) {
    iso_out_printf(p->out, "  %-30s ", p->result->levels[i].info->id);
    paint(p, p->result->levels[i].verdict, isolde_verdict_name(p->result->levels[i].verdict));
    iso_out_char(p->out, '\n');
  }
  if (p->result->unknown_reason != NULL) iso_out_printf(p->out, "  unknown: %s\n", p->result->unknown_reason);
  const char *unexplained = p->result->unexplained;
  if (unexplained == NULL) return;
  iso_out_printf(p->out, "  the violation of %s takes too many cases to show;\n", unexplained);
  iso_out_printf(p->out, "  for a smaller history: isolde minimize --level %s\n", unexplained);
}

/* Wraps a sentence at 78 columns behind an indent of four; a column is taken for a character. */
static void put_wrapped(iso_output *out, const char *text) {
  size_t column = 0;
  while (*text != '\0') {
    size_t bytes = strcspn(text, " "), width = 0;
    for (size_t i = 0; i < bytes; i++) width += ((unsigned char)text[i] & 0xc0) != 0x80;
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

static void put_anomaly(const page *p, const isolde_anomaly *anomaly) {
  const isolde_history *h = p->result->history;
  iso_out_text(p->out, "\n  ");
  paint(p, ISOLDE_VIOLATED, anomaly->code);
  iso_out_printf(p->out, " %s", anomaly->name);
  if (!p->result->findings.keep_all) {
    iso_out_printf(p->out, ", %llu time%s", (unsigned long long)anomaly->count, anomaly->count == 1 ? "" : "s");
  }
  iso_out_printf(p->out, ", breaks %s\n", anomaly->level);
  put_wrapped(p->out, anomaly->explanation);
  if (h->txn_id_opt == NULL) return;
  iso_words words = {NULL, 0, 0, false};
  for (size_t i = 0; i < anomaly->txn_count; i++) {
    isolde_txn txn;
    char name[64];
    if (!isolde_history_txn(h, anomaly->txns[i], &txn) || !txn.has_id) continue;
    isolde_history_txn_name(h, anomaly->txns[i], name, sizeof name);
    iso_words_add(&words, "%s%s is transaction %lld", words.length > 0 ? ", " : "(", name, (long long)txn.id);
  }
  if (words.length > 0 && !words.failed) {
    iso_words_add(&words, " of the input)");
    if (!words.failed) put_wrapped(p->out, words.text);
  }
  iso_words_free(&words);
}

static void put_names(const page *p, const char *what, const char *(*next)(const isolde_result *, size_t)) {
  iso_words words = {NULL, 0, 0, false};
  if (next(p->result, 0) == NULL) return;
  iso_out_printf(p->out, "  %s\n", what);
  for (size_t i = 0; next(p->result, i) != NULL; i++) {
    iso_words_add(&words, "%s%s", i > 0 ? ", " : "", next(p->result, i));
  }
  if (!words.failed) put_wrapped(p->out, words.text);
  iso_words_free(&words);
}

/* What a check with a workload or models says about models. */
static void put_models(const page *p) {
  if (isolde_result_workload(p->result) == NULL) return;
  iso_out_char(p->out, '\n');
  iso_out_printf(p->out, "  workload: %s\n", isolde_result_workload(p->result));
  put_names(p, "not:", isolde_result_not);
  put_names(p, "and so neither:", isolde_result_also_not);
  put_names(p, "proved:", isolde_result_proved);
}

static void put_summary(const page *p) {
  const isolde_result *result = p->result;
  iso_out_char(p->out, '\n');
  if (isolde_result_verdict(result) != ISOLDE_VERDICT_NONE) {
    iso_out_text(p->out, "  verdict: ");
    paint(p, isolde_result_verdict(result), isolde_verdict_name(isolde_result_verdict(result)));
    iso_out_char(p->out, '\n');
  } else if (result->strongest[0] != NULL) {
    iso_out_text(p->out, "  strongest that holds: ");
    for (size_t i = 0; result->strongest[i] != NULL; i++) {
      if (i > 0) iso_out_text(p->out, ", ");
      iso_out_text(p->out, result->strongest[i]);
    }
    iso_out_char(p->out, '\n');
  }
  isolde_anomaly first;
  if (isolde_result_anomaly(result, 0, &first)) {
    iso_out_printf(p->out, "  more about an anomaly: isolde explain %s\n", first.code);
  }
}

isolde_status isolde_result_write_text(const isolde_result *result, const isolde_render_options *options,
                                       isolde_write_fn write, void *user, isolde_error *error) {
  isolde_render_options known = {.struct_size = sizeof known};
  if (options != NULL)
    memcpy(&known, options, options->struct_size < sizeof known ? options->struct_size : sizeof known);
  page p = {.result = result, .color = known.color};
  ISO_TRY(iso_output_open_callback(write, user, ISOLDE_COMPRESS_NO, &p.out, error));
  put_heading(&p, known.file != NULL ? known.file : "history");
  put_levels(&p);
  for (size_t i = 0; i < isolde_result_anomalies(result); i++) {
    isolde_anomaly anomaly;
    if (isolde_result_anomaly(result, i, &anomaly)) put_anomaly(&p, &anomaly);
  }
  put_models(&p);
  iso_put_proved_text(p.out, result);
  iso_put_stats_text(p.out, result);
  put_summary(&p);
  return iso_output_close(p.out, error);
}
