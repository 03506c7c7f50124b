/* The verdict for people, at most 80 columns wide where the names allow it. */
#include <string.h>

#include "base/abi.h"
#include "base/words.h"
#include "history/history.h"
#include "report/document/assessment.h"
#include "report/document/document.h"
#include "report/escape.h"
#include "report/text/certificates.h"
#include "report/text/sequence_diagram.h"

enum { MOST_LINES = 3, MOST_DIAGRAMS = 3 }; /* levels on lines of their own; anomalies that are drawn */

typedef struct printer {
  iso_output *out;
  const isoproof_document *document;
  bool color, unicode;
} printer;

static void paint(const printer *p, isoproof_verdict verdict, const char *text) {
  const char *colors[] = {[ISOPROOF_VERDICT_NONE] = "",
                          [ISOPROOF_SATISFIED] = "\033[32m",
                          [ISOPROOF_VIOLATED] = "\033[31m",
                          [ISOPROOF_UNDECIDED] = "\033[33m"};
  if (p->color) iso_out_text(p->out, colors[verdict]);
  iso_put_sentence(p->out, text);
  if (p->color && colors[verdict][0] != '\0') iso_out_text(p->out, "\033[0m");
}

static void put_line(const printer *p, const char *before, const char *text, const char *after) {
  iso_out_text(p->out, before);
  iso_put_sentence(p->out, text);
  iso_out_text(p->out, after);
}

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

static void put_heading(const printer *p) {
  const isoproof_document *d = p->document;
  const isoproof_counts *c = &d->counts;
  const char *file = d->given_file != NULL ? d->given_file : "history";
  iso_words words = {NULL, 0, 0, false};
  iso_words_add_hostile(&words, file, strlen(file), 4096);
  iso_out_text(p->out, words.text != NULL ? words.text : "");
  iso_words_free(&words);
  put_line(p, ": ", d->format, "");
  iso_out_printf(p->out, ", %llu session%s, %llu transaction%s, %llu operation%s\n", (unsigned long long)c->sessions,
                 plural(c->sessions), (unsigned long long)c->transactions, plural(c->transactions),
                 (unsigned long long)c->operations, plural(c->operations));
  if (c->aborted > 0 || c->unknown > 0) {
    iso_out_printf(p->out, "  %llu committed, %llu aborted, %llu unknown\n", (unsigned long long)c->committed,
                   (unsigned long long)c->aborted, (unsigned long long)c->unknown);
  }
}

/* The levels with one verdict, as a list under its name. */
static void put_level_list(const printer *p, isoproof_verdict verdict) {
  size_t column = 0;
  for (size_t i = 0; i < p->document->levels.count; i++) {
    const char *id = p->document->levels.items[i].called;
    if (p->document->levels.items[i].verdict != verdict) continue;
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
    iso_put_sentence(p->out, id);
    column += strlen(id);
  }
  if (column > 0) iso_out_char(p->out, '\n');
}

static void put_padded(iso_output *out, const char *text, size_t width) {
  iso_out_text(out, "  ");
  iso_put_sentence(out, text);
  for (size_t i = strlen(text); i < width; i++) iso_out_char(out, ' ');
  iso_out_char(out, ' ');
}

/* A few levels were asked for by name and get a line each; all of them would fill the screen. */
static void put_levels(const printer *p) {
  const isoproof_document *d = p->document;
  size_t count = d->levels.count;
  if (count > 0 || d->unknown_reason != NULL) iso_out_char(p->out, '\n');
  for (size_t i = 0; i < count && count <= MOST_LINES; i++) {
    put_padded(p->out, d->levels.items[i].called, 30);
    paint(p, d->levels.items[i].verdict, isoproof_verdict_name(d->levels.items[i].verdict));
    iso_out_char(p->out, '\n');
  }
  if (count > MOST_LINES) {
    put_level_list(p, ISOPROOF_SATISFIED);
    put_level_list(p, ISOPROOF_VIOLATED);
    put_level_list(p, ISOPROOF_UNDECIDED);
  }
  if (d->unknown_reason != NULL) put_line(p, "  unknown: ", d->unknown_reason, "\n");
  if (d->unexplained == NULL) return;
  put_line(p, "  the violation of ", iso_level_called(d, d->unexplained), " takes too many cases to show;\n");
  put_line(p, "  for a smaller history: isoproof minimize --level ", d->unexplained, "\n");
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
    iso_put_sentence_n(out, text, bytes);
    column += width;
    text += bytes;
    while (*text == ' ') text++;
  }
  iso_out_char(out, '\n');
}

/* What the input calls the transactions, where it gives them ids. */
static void put_ids(const printer *p, const iso_full_anomaly *anomaly) {
  iso_words words = {NULL, 0, 0, false};
  for (size_t i = 0; anomaly->has_ids && i < anomaly->txn_count; i++) {
    if (!anomaly->txns[i].has_id) continue;
    iso_words_add(&words, "%s%s is transaction %lld", words.length > 0 ? ", " : "(", anomaly->txns[i].name,
                  (long long)anomaly->txns[i].id);
  }
  if (words.length > 0) iso_words_add(&words, " of the input)");
  if (words.length > 0 && !words.failed) put_wrapped(p->out, words.text);
  iso_words_free(&words);
}

static void put_anomaly(const printer *p, const iso_full_anomaly *anomaly, bool drawn) {
  iso_out_text(p->out, "\n  ");
  paint(p, ISOPROOF_VIOLATED, anomaly->code);
  put_line(p, " ", anomaly->name, "");
  if (!p->document->every_instance)
    iso_out_printf(p->out, ", %llu time%s", (unsigned long long)anomaly->count, plural(anomaly->count));
  put_line(p, ", breaks ", iso_level_called(p->document, anomaly->level), "\n");
  if (drawn)
    iso_put_sequence_diagram(p->out, &anomaly->limited, (iso_diagram_style){.color = p->color, .unicode = p->unicode});
  put_wrapped(p->out, anomaly->explanation);
  put_ids(p, anomaly);
}

/* Whether a shell takes it as one word. */
static bool is_plain_path(const char *file) {
  return file[0] != 0 && file[0] != '-' &&
         strspn(file, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@") == strlen(file);
}

/* How to learn more, by the first of them. */
static void put_hints(const printer *p, const char *code) {
  const char *file = p->document->given_file;
  put_line(p, "  more about an anomaly: isoproof explain ", code, "\n");
  if (file != NULL && is_plain_path(file))
    iso_out_printf(p->out, "  a page to look at: isoproof check --html=report.html %s\n", file);
}

/* Asks for them one by one, and keeps the code of the first in `arena`; false when memory is out. */
static bool put_anomalies(const printer *p, iso_arena *arena, const char **first) {
  iso_arena scratch = ISO_ARENA_EMPTY;
  bool good = true;
  for (size_t i = 0; good && i < iso_document_anomaly_count(p->document) && !iso_output_failed(p->out); i++) {
    iso_full_anomaly anomaly;
    good = iso_document_anomaly(p->document, i, (iso_anomaly_parts){.limited = i < MOST_DIAGRAMS}, &scratch, &anomaly);
    if (good && anomaly.code != NULL) {
      put_anomaly(p, &anomaly, i < MOST_DIAGRAMS);
      if (i == 0) *first = iso_arena_text(arena, anomaly.code, strlen(anomaly.code));
    }
    iso_arena_free(&scratch);
  }
  if (p->document->anomalies_found > iso_document_anomaly_count(p->document))
    iso_out_printf(p->out, "\n  %llu of %llu anomalies are shown\n",
                   (unsigned long long)iso_document_anomaly_count(p->document),
                   (unsigned long long)p->document->anomalies_found);
  return good;
}

static void put_names(const printer *p, const char *what, iso_document_names which) {
  const iso_name_list *names = &p->document->names[which];
  iso_words words = {NULL, 0, 0, false};
  if (names->count == 0) return;
  iso_out_printf(p->out, "  %s\n", what);
  for (size_t i = 0; i < names->count; i++) iso_words_add(&words, "%s%s", i > 0 ? ", " : "", names->items[i]);
  if (!words.failed && words.text != NULL) put_wrapped(p->out, words.text);
  iso_words_free(&words);
}

/* What a check with a workload or models says about models. */
static void put_models(const printer *p) {
  if (p->document->workload == NULL) return;
  iso_out_char(p->out, '\n');
  put_line(p, "  workload: ", p->document->workload, "\n");
  put_names(p, "not:", ISO_NAMES_NOT);
  put_names(p, "and so neither:", ISO_NAMES_ALSO_NOT);
  put_names(p, "proved:", ISO_NAMES_PROVED);
}

static void put_strongest(const printer *p) {
  const iso_name_list *names = &p->document->names[ISO_NAMES_STRONGEST];
  size_t column = strlen("  strongest that holds:");
  iso_out_text(p->out, "  strongest that holds:");
  for (size_t i = 0; i < names->count; i++) {
    bool more = i + 1 < names->count;
    const char *name = iso_level_called(p->document, names->items[i]);
    size_t width = strlen(name) + more;
    if (i > 0 && column + 1 + width > 78) {
      iso_out_text(p->out, "\n   ");
      column = 3;
    }
    put_line(p, " ", name, more ? "," : "");
    column += 1 + width;
  }
  iso_out_char(p->out, '\n');
}

/* On one line, as long as that may get: "  notice: the last line was cut off ... (line 7)". */
static void put_notice(const printer *p, const isoproof_notice *notice) {
  iso_out_text(p->out, "  ");
  paint(p, ISOPROOF_UNDECIDED, "notice:");
  iso_out_char(p->out, ' ');
  iso_put_notice(p->out, iso_put_sentence, notice);
  iso_out_char(p->out, '\n');
}

static void put_summary(const printer *p, const char *first) {
  const isoproof_document *d = p->document;
  iso_out_char(p->out, '\n');
  if (d->verdict != ISOPROOF_VERDICT_NONE) {
    iso_out_text(p->out, "  verdict: ");
    paint(p, d->verdict, isoproof_verdict_name(d->verdict));
    iso_out_char(p->out, '\n');
  } else if (d->names[ISO_NAMES_STRONGEST].count > 0) {
    put_strongest(p);
  }
  for (size_t i = 0; i < d->notices.count; i++) put_notice(p, &d->notices.items[i]);
  if (first != NULL) put_hints(p, first);
}

/* False when memory is out. */
static bool put_result(const printer *p) {
  iso_arena arena = ISO_ARENA_EMPTY;
  const char *first = NULL;
  put_heading(p);
  put_levels(p);
  bool good = put_anomalies(p, &arena, &first);
  put_models(p);
  iso_put_certificates_text(p->out, p->document);
  iso_put_searches_text(p->out, p->document);
  put_summary(p, first);
  iso_arena_free(&arena);
  return good;
}

isoproof_status isoproof_document_write_text(const isoproof_document *document, const isoproof_draw_options *options,
                                             isoproof_write_fn write, void *user, isoproof_error *error) {
  isoproof_draw_options known = {.struct_size = sizeof known};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_draw_options, &known, options, error));
  printer p = {.document = document, .color = known.color, .unicode = known.unicode};
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &p.out, error));
  bool good = true;
  if (document->has_problem) {
    iso_put_problem(p.out, iso_put_terminal, &document->problem);
    iso_out_char(p.out, '\n');
  } else {
    good = put_result(&p);
  }
  if (good) return iso_output_close(p.out, error);
  iso_output_abandon(p.out);
  return iso_fail_memory(error);
}
