/* The verdict for people, as wide as their terminal where the names allow it. */
#include <stdio.h>
#include <string.h>

#include "base/abi.h"
#include "base/words.h"
#include "history/history.h"
#include "report/document/assessment.h"
#include "report/document/document.h"
#include "report/escape.h"
#include "report/text/certificates.h"
#include "report/text/sequence_diagram.h"
#include "report/text/wrap.h"

enum { MOST_LINES = 3, MOST_DIAGRAMS = 3 }; /* levels on lines of their own; anomalies that are drawn */

typedef struct printer {
  iso_output *out;
  const isoproof_document *document;
  bool color, unicode, has_page;
  size_t room;      /* columns of paragraphs */
  size_t line_room; /* of single lines, which are not broken where there is no terminal: they are easier to find */
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

static void put_count(iso_wrap *wrap, uint64_t count, const char *what, const char *after) {
  char text[64];
  snprintf(text, sizeof text, "%llu %s%s", (unsigned long long)count, what, plural(count));
  iso_wrap_word(wrap, text, after);
}

static void put_heading(const printer *p) {
  const isoproof_document *d = p->document;
  const isoproof_counts *c = &d->counts;
  const char *file = d->given_file != NULL ? d->given_file : "history";
  iso_wrap wrap = {.out = p->out, .room = p->line_room, .indent = 2, .begun = true};
  iso_words words = {NULL, 0, 0, false};
  iso_words_add_hostile(&words, file, strlen(file), 4096);
  iso_out_text(p->out, words.text != NULL ? words.text : "");
  iso_out_char(p->out, ':');
  wrap.column = words.text != NULL ? iso_text_columns(words.text) + 1 : 1;
  iso_words_free(&words);
  iso_wrap_word(&wrap, d->format, ",");
  put_count(&wrap, c->sessions, "session", ",");
  put_count(&wrap, c->transactions, "transaction", ",");
  put_count(&wrap, c->operations, "operation", "");
  iso_wrap_end(&wrap);
  if (c->aborted > 0 || c->unknown > 0) {
    iso_out_printf(p->out, "  %llu committed, %llu aborted, %llu unknown\n", (unsigned long long)c->committed,
                   (unsigned long long)c->aborted, (unsigned long long)c->unknown);
  }
}

/* Names in a list behind its title, each line of which begins in the same column. */
typedef struct name_list {
  iso_wrap wrap;
  const char *last; /* to be put when it is known whether another one follows */
} name_list;

static void add_name(name_list *list, const char *name) {
  if (list->last != NULL) iso_wrap_word(&list->wrap, list->last, ",");
  list->last = name;
}

static void end_names(name_list *list) {
  if (list->last != NULL) iso_wrap_word(&list->wrap, list->last, "");
  iso_wrap_end(&list->wrap);
}

/* Whether the level is one of those that the verdict is about, beside others. */
static bool is_apart(const printer *p, size_t level) {
  const isoproof_document *d = p->document;
  return d->levels.items[level].asked && (d->verdict != ISOPROOF_VERDICT_NONE);
}

/* The levels with one verdict, but those that have a line of their own, as a list under its name. */
static void put_level_list(const printer *p, isoproof_verdict verdict, bool asked_too) {
  enum { COLUMN = 13 };
  name_list list = {.wrap = {.out = p->out, .room = p->room, .indent = COLUMN}};
  for (size_t i = 0; i < p->document->levels.count; i++) {
    if (p->document->levels.items[i].verdict != verdict || (!asked_too && is_apart(p, i))) continue;
    if (list.last == NULL) {
      iso_out_text(p->out, "  ");
      paint(p, verdict, isoproof_verdict_name(verdict));
      list.wrap.column = 2 + strlen(isoproof_verdict_name(verdict));
    }
    add_name(&list, p->document->levels.items[i].called);
  }
  if (list.last != NULL) end_names(&list);
}

static void put_padded(iso_output *out, const char *text, size_t width) {
  iso_out_text(out, "  ");
  iso_put_sentence(out, text);
  for (size_t i = strlen(text); i < width; i++) iso_out_char(out, ' ');
  iso_out_char(out, ' ');
}

static void put_level_line(const printer *p, size_t level) {
  put_padded(p->out, p->document->levels.items[level].called, 30);
  paint(p, p->document->levels.items[level].verdict, isoproof_verdict_name(p->document->levels.items[level].verdict));
  iso_out_char(p->out, '\n');
}

/* The levels that were left, by their reasons. */
static void put_undecided(const printer *p) {
  const isoproof_document *d = p->document;
  for (size_t i = 0; i < d->undecided.count; i++) {
    const char *reason = d->undecided.items[i].reason;
    size_t first = 0;
    while (strcmp(d->undecided.items[first].reason, reason) != 0) first++;
    if (first != i) continue;
    name_list list = {.wrap = {.out = p->out, .room = p->room, .indent = 4, .column = 4, .begun = true}};
    iso_out_text(p->out, "  ");
    paint(p, ISOPROOF_UNDECIDED, "not decided");
    list.wrap.column = 2 + strlen("not decided");
    iso_out_char(p->out, ' ');
    list.wrap.column++;
    list.wrap.begun = false;
    iso_wrap_words(&list.wrap, "(");
    list.wrap.begun = false;
    iso_wrap_words(&list.wrap, reason);
    iso_out_text(p->out, "):");
    list.wrap.column += 2;
    for (size_t k = i; k < d->undecided.count; k++) {
      if (strcmp(d->undecided.items[k].reason, reason) == 0) add_name(&list, d->undecided.items[k].level);
    }
    end_names(&list);
  }
}

/* A few levels were asked for by name and get a line each; all of them would fill the screen. */
static void put_levels(const printer *p) {
  const isoproof_document *d = p->document;
  size_t count = d->levels.count, asked = 0;
  for (size_t i = 0; i < count; i++) asked += d->levels.items[i].asked;
  bool apart = asked > 0 && asked <= MOST_LINES && asked < count;
  if (count + d->undecided.count > 0 || d->unknown_reason != NULL) iso_out_char(p->out, '\n');
  for (size_t i = 0; i < count; i++) {
    if (count <= MOST_LINES || (apart && d->levels.items[i].asked)) put_level_line(p, i);
  }
  if (apart && count > MOST_LINES) iso_out_text(p->out, "\n  and of the other levels:\n");
  if (count > MOST_LINES) {
    put_level_list(p, ISOPROOF_SATISFIED, !apart);
    put_level_list(p, ISOPROOF_VIOLATED, !apart);
    put_level_list(p, ISOPROOF_UNDECIDED, !apart);
  }
  put_undecided(p);
  if (d->unknown_reason != NULL) {
    iso_wrap wrap = {.out = p->out, .room = p->room, .indent = 2};
    iso_wrap_words(&wrap, "unknown:");
    iso_wrap_words(&wrap, d->unknown_reason);
    iso_wrap_end(&wrap);
  }
  if (d->unexplained == NULL) return;
  put_line(p, "  the violation of ", iso_level_called(d, d->unexplained), " takes too many cases to show;\n");
  put_line(p, "  for a smaller history: isoproof minimize --level ", d->unexplained, "\n");
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
  if (words.length > 0 && !words.failed) iso_put_paragraph(p->out, words.text, 4, p->room);
  iso_words_free(&words);
}

static void put_anomaly(const printer *p, const iso_full_anomaly *anomaly, bool drawn) {
  iso_out_text(p->out, "\n  ");
  paint(p, ISOPROOF_VIOLATED, anomaly->code);
  put_line(p, " ", anomaly->name, "");
  char times[ISO_TIMES_BYTES];
  iso_times(anomaly->count_is, anomaly->count, times);
  if (!p->document->every_instance) iso_out_text(p->out, times);
  const char *level = iso_level_called(p->document, anomaly->level);
  size_t least = strlen(anomaly->code) + strlen(anomaly->name) + strlen(level) + strlen(times);
  bool fits = p->line_room == SIZE_MAX || least + 16 <= p->line_room;
  put_line(p, fits ? ", breaks " : ",\n    breaks ", level, "\n");
  if (drawn)
    iso_put_sequence_diagram(p->out, &anomaly->limited,
                             (iso_diagram_style){.color = p->color, .unicode = p->unicode, .room = p->room});
  iso_put_paragraph(p->out, anomaly->explanation, 4, p->room);
  put_ids(p, anomaly);
}

/* Whether a shell takes it as one word. */
static bool is_plain_path(const char *file) {
  return file[0] != 0 && file[0] != '-' &&
         strspn(file, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@") == strlen(file);
}

/* What to do, and the command for it: on a line of its own where both do not fit. */
static void put_hint(const printer *p, const char *what, const char *command, const char *argument) {
  size_t width = strlen(command) + 1 + iso_text_columns(argument);
  bool below = 2 + strlen(what) + 1 + width > p->line_room, parted = 4 + width > p->line_room;
  iso_out_printf(p->out, "  %s%s%s%s", what, below ? "\n    " : " ", command, parted ? " \\\n        " : " ");
  iso_put_sentence(p->out, argument);
  iso_out_char(p->out, '\n');
}

/* How to learn more, by the first of them. */
static void put_hints(const printer *p, const char *code) {
  const char *file = p->document->given_file;
  put_hint(p, "more about an anomaly:", "isoproof explain", code);
  if (file != NULL && is_plain_path(file) && !p->has_page)
    put_hint(p, "a page to look at:", "isoproof check --html=report.html", file);
}

/* Says before the first of those that break none of the levels asked for that they do not. */
static void put_divide(const printer *p, const iso_full_anomaly *anomaly, bool *said) {
  isoproof_document_anomaly of = {.code = anomaly->code, .level = anomaly->level};
  if (*said || iso_severity_of(p->document, &of) != ISO_SEVERITY_NOTE) return;
  bool one = p->document->verdict == ISOPROOF_VIOLATED;
  iso_out_printf(p->out, "\n  %s breaks other levels than what was asked for:\n", one ? "the rest" : "what follows");
  *said = true;
}

/* Asks for them one by one, and keeps the code of the first in `arena`; false when memory is out. */
static bool put_anomalies(const printer *p, iso_arena *arena, const char **first) {
  iso_arena scratch = ISO_ARENA_EMPTY;
  bool good = true, said = false;
  for (size_t i = 0; good && i < iso_document_anomaly_count(p->document) && !iso_output_failed(p->out); i++) {
    iso_full_anomaly anomaly;
    good = iso_document_anomaly(p->document, i, (iso_anomaly_parts){.limited = i < MOST_DIAGRAMS}, &scratch, &anomaly);
    if (good && anomaly.code != NULL) {
      put_divide(p, &anomaly, &said);
      put_anomaly(p, &anomaly, i < MOST_DIAGRAMS);
      if (i == 0) *first = iso_arena_text(arena, anomaly.code, strlen(anomaly.code));
    }
    iso_arena_free(&scratch);
  }
  if (p->document->anomalies_found > iso_document_anomaly_count(p->document))
    iso_out_printf(p->out, "\n  %llu of %s%llu anomalies are shown\n",
                   (unsigned long long)iso_document_anomaly_count(p->document),
                   p->document->found_more ? "at least " : "", (unsigned long long)p->document->anomalies_found);
  return good;
}

/* Wrong totals of a bank. */
static void put_bank(const printer *p) {
  enum { MOST = 3 };
  const iso_document_bank *bank = &p->document->bank;
  iso_words words = {NULL, 0, 0, false};
  if (!bank->known || bank->wrong == 0) return;
  iso_out_char(p->out, '\n');
  iso_tell_bank(&words, bank);
  iso_words_add(&words, ":");
  if (!words.failed) iso_put_paragraph(p->out, words.text, 2, p->room);
  iso_words_free(&words);
  for (size_t i = 0; i < bank->totals.count && i < MOST; i++) {
    iso_tell_total(&words, bank, &bank->totals.items[i]);
    if (!words.failed) iso_put_paragraph(p->out, words.text, 4, p->room);
    iso_words_free(&words);
  }
}

/* Invariants that were broken, and what explains that. */
static void put_invariants(const printer *p) {
  const isoproof_document *d = p->document;
  iso_words words = {NULL, 0, 0, false};
  if (d->invariants.count > 0) iso_out_char(p->out, '\n');
  for (size_t i = 0; i < d->invariants.count; i++) {
    iso_tell_invariant(&words, &d->invariants.items[i]);
    if (!words.failed) iso_put_paragraph(p->out, words.text, 2, p->room);
    iso_words_free(&words);
  }
  if (iso_document_broken_invariants(d) == 0) return;
  iso_tell_invariant_reason(&words, d);
  if (!words.failed) iso_put_paragraph(p->out, words.text, 4, p->room);
  iso_words_free(&words);
}

static void put_names(const printer *p, const char *what, iso_document_names which) {
  const iso_name_list *names = &p->document->names[which];
  iso_words words = {NULL, 0, 0, false};
  if (names->count == 0) return;
  iso_out_printf(p->out, "  %s\n", what);
  for (size_t i = 0; i < names->count; i++) iso_words_add(&words, "%s%s", i > 0 ? ", " : "", names->items[i]);
  if (!words.failed && words.text != NULL) iso_put_paragraph(p->out, words.text, 4, p->room);
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

/* Levels at the edge of what holds. */
static void put_edge(const printer *p, const char *title, iso_document_names which) {
  const iso_name_list *names = &p->document->names[which];
  name_list list = {.wrap = {.out = p->out, .room = p->room, .indent = 4, .begun = true}};
  if (names->count == 0) return;
  iso_out_printf(p->out, "  %s:", title);
  list.wrap.column = 3 + strlen(title);
  for (size_t i = 0; i < names->count; i++) add_name(&list, iso_level_called(p->document, names->items[i]));
  end_names(&list);
}

/* Whether levels that nobody asked for were decided. */
static bool has_others(const isoproof_document *d) {
  for (size_t i = 0; i < d->levels.count; i++) {
    if (!d->levels.items[i].asked) return true;
  }
  return false;
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
  }
  for (size_t i = 0; i < d->notices.count; i++) put_notice(p, &d->notices.items[i]);
  if (has_others(d)) put_edge(p, "strongest that holds", ISO_NAMES_STRONGEST);
  if (has_others(d) && d->verdict != ISOPROOF_VERDICT_NONE)
    put_edge(p, "weakest that fails", ISO_NAMES_WEAKEST_VIOLATED);
  if (first != NULL) put_hints(p, first);
}

/* False when memory is out. */
static bool put_result(const printer *p) {
  iso_arena arena = ISO_ARENA_EMPTY;
  const char *first = NULL;
  put_heading(p);
  put_levels(p);
  bool good = put_anomalies(p, &arena, &first);
  put_bank(p);
  put_invariants(p);
  put_models(p);
  iso_put_certificates_text(p->out, p->document, p->room);
  iso_put_searches_text(p->out, p->document, p->room);
  put_summary(p, first);
  iso_arena_free(&arena);
  return good;
}

isoproof_status isoproof_document_write_text(const isoproof_document *document, const isoproof_draw_options *options,
                                             isoproof_write_fn write, void *user, isoproof_error *error) {
  isoproof_draw_options known = {.struct_size = sizeof known};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_draw_options, &known, options, error));
  printer p = {.document = document,
               .color = known.color,
               .unicode = known.unicode,
               .has_page = known.has_page,
               .room = iso_text_room(known.width),
               .line_room = known.width > 0 ? iso_text_room(known.width) + 2 : SIZE_MAX};
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
