/* distinguish.c - `isoproof levels --distinguish A B`: a smallest history that A allows and B forbids, or the proof
 * that there is none. */
#include <string.h>

#include "cli/commands/apart.h"
#include "cli/commands/command.h"
#include "cli/options/suggest.h"
#include "cli/terminal/output.h"

enum { MOST_TRANSACTIONS = 16, SENTENCE = 1024 };

/* ---- what was searched ---- */

/* "of 1 transaction with up to 4 operations, of 2 with up to 8", as far as `transactions`, of which the last have fewer
 * than `operations`. */
static void say_searched(const apart *a, unsigned transactions, unsigned operations, char text[SENTENCE]) {
  size_t used = 0;
  text[0] = '\0';
  for (unsigned t = 1; t <= transactions; t++) {
    unsigned most = isoproof_distinguish_searched(a->allows, a->forbids, t);
    if (most == 0 || (t == transactions && operations <= t)) continue;
    bool first = used == 0;
    used += (size_t)snprintf(text + used, SENTENCE - used, "%sof %u%s with %s %u%s",
                             first              ? ""
                             : t < transactions ? ", "
                                                : " or ",
                             t,
                             !first   ? ""
                             : t == 1 ? " transaction"
                                      : " transactions",
                             t < transactions ? "up to" : "fewer than", t < transactions ? most : operations,
                             first ? " operations" : "");
  }
}

static void json_searched(isoproof_json *j, const apart *a) {
  isoproof_json_name(j, "searched");
  isoproof_json_list(j);
  for (unsigned t = 1; t <= MOST_TRANSACTIONS; t++) {
    unsigned most = isoproof_distinguish_searched(a->allows, a->forbids, t);
    if (most == 0) continue;
    isoproof_json_object(j);
    isoproof_json_name(j, "transactions");
    isoproof_json_u64(j, t);
    isoproof_json_name(j, "operations");
    isoproof_json_u64(j, most);
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
}

/* ---- text ---- */

/* The history alone goes to standard output, so that it can be piped into a check; what it shows to standard error. */
static void print_found(const apart *a) {
  char text[2 * SENTENCE], size[APART_SIZE], searched[SENTENCE];
  fputs(a->found.history, stdout);
  fflush(stdout);
  unsigned width = terminal_width(stderr);
  snprintf(text, sizeof text, "%s allows this history, %s forbids it: %s (%s).", a->allows->id, a->forbids->id,
           a->anomaly.code, a->anomaly.name);
  print_wrapped(stderr, text, 0, 0, width);
  fputc('\n', stderr);
  say_searched(a, a->found.transactions, a->found.operations, searched);
  snprintf(text, sizeof text, "%s%s%s%s", apart_size(a, size),
           searched[0] == '\0' ? ""
           : a->found.lists    ? "; nothing smaller was found among all histories of lists "
                               : "; nothing smaller was found among all histories ",
           searched, ".");
  print_wrapped(stderr, text, 0, 0, width);
  fputc('\n', stderr);
}

static void print_proof(const apart *a) {
  isoproof_proof_step step = {.struct_size = sizeof step};
  char text[2 * SENTENCE], searched[SENTENCE];
  unsigned width = terminal_width(stdout);
  snprintf(text, sizeof text, "There is no history that %s allows and %s forbids%s", a->allows->id, a->forbids->id,
           a->allows == a->forbids ? ", as they are the same." : ":");
  print_wrapped(stdout, text, 0, 0, width);
  putchar('\n');
  for (size_t i = 0; isoproof_proof_step_at(a->allows, a->forbids, i, &step); i++) {
    printf("\n  %s implies %s\n    ", step.stronger->id, step.weaker->id);
    print_wrapped(stdout, step.why, 4, 4, width);
    fputs("\n    ", stdout);
    snprintf(text, sizeof text, "(%s%s)", step.source, step.drawn ? "" : "; not in the lattice");
    print_wrapped(stdout, text, 4, 4, width);
    putchar('\n');
  }
  unsigned last = 0;
  for (unsigned t = 1; t <= MOST_TRANSACTIONS; t++) {
    if (isoproof_distinguish_searched(a->allows, a->forbids, t) > 0) last = t;
  }
  if (last == 0 || a->allows == a->forbids) return;
  say_searched(a, last + 1, 0, searched);
  putchar('\n');
  snprintf(text, sizeof text, "Nor was one found among all histories %s.", searched);
  print_wrapped(stdout, text, 0, 0, width);
  putchar('\n');
}

/* ---- JSON ---- */

static void json_texts(isoproof_json *j, const char *const fields[][2], size_t count) {
  for (size_t f = 0; f < count; f++) {
    isoproof_json_name(j, fields[f][0]);
    isoproof_json_string(j, fields[f][1]);
  }
}

static void json_found(isoproof_json *j, const apart *a) {
  const isoproof_distinction *d = &a->found;
  const char *const texts[][2] = {{"format", d->format}, {"history", d->history}};
  const char *const why[][2] = {
      {"code", a->anomaly.code}, {"name", a->anomaly.name}, {"explanation", a->anomaly.explanation}};
  const struct {
    const char *name;
    unsigned number;
  } sizes[] = {
      {"transactions", d->transactions}, {"operations", d->operations}, {"sessions", d->sessions}, {"keys", d->keys}};
  json_texts(j, texts, COUNT_OF(texts));
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    isoproof_json_name(j, sizes[i].name);
    isoproof_json_u64(j, sizes[i].number);
  }
  isoproof_json_name(j, "anomaly");
  isoproof_json_object(j);
  json_texts(j, why, COUNT_OF(why));
  isoproof_json_end(j);
}

static void json_proof(isoproof_json *j, const apart *a) {
  isoproof_proof_step step = {.struct_size = sizeof step};
  isoproof_json_name(j, "proof");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_proof_step_at(a->allows, a->forbids, i, &step); i++) {
    const char *const texts[][2] = {
        {"stronger", step.stronger->id}, {"weaker", step.weaker->id}, {"why", step.why}, {"source", step.source}};
    isoproof_json_object(j);
    json_texts(j, texts, COUNT_OF(texts));
    isoproof_json_name(j, "in_lattice");
    isoproof_json_bool(j, step.drawn);
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
}

static void print_json(const apart *a, apart_outcome outcome) {
  const char *const texts[][2] = {{"allows", a->allows->id}, {"forbids", a->forbids->id}};
  isoproof_json *j = json_to(stdout);
  if (j == NULL) return;
  isoproof_json_object(j);
  isoproof_json_name(j, "schema");
  isoproof_json_u64(j, 1);
  json_texts(j, texts, COUNT_OF(texts));
  isoproof_json_name(j, "exists");
  if (outcome == APART_UNKNOWN)
    isoproof_json_null(j);
  else
    isoproof_json_bool(j, outcome == APART_FOUND);
  if (outcome == APART_FOUND) json_found(j, a);
  if (outcome == APART_IMPLIED) json_proof(j, a);
  json_searched(j, a);
  isoproof_json_end(j);
  isoproof_json_line(j);
  json_done(j);
}

/* ---- names ---- */

static const isoproof_level_info *level_named(const char *name) {
  const isoproof_level_info *level = isoproof_level_find(name);
  if (level != NULL) return level;
  suggestion s = suggest_begin(name);
  for (size_t i = 0; isoproof_level_at(i) != NULL; i++) {
    suggest_offer(&s, isoproof_level_at(i)->id);
    for (const char *const *alias = isoproof_level_at(i)->aliases; alias != NULL && *alias != NULL; alias++)
      suggest_offer(&s, *alias);
  }
  if (suggest_best(&s) != NULL)
    message("levels: unknown level '%s'; did you mean '%s'?", name, suggest_best(&s));
  else
    message("levels: unknown level '%s'; 'isoproof levels' lists them", name);
  return NULL;
}

static void say_unknown(const apart *a) {
  char searched[SENTENCE];
  say_searched(a, MOST_TRANSACTIONS, 0, searched);
  message(
      "levels: no history is known that %s provably satisfies and %s forbids, and no proof that there is none; lists "
      "%s were searched, without predicates",
      a->allows->id, a->forbids->id, searched);
}

int distinguish(const char *allows, const char *forbids, bool as_json) {
  const isoproof_level_info *first = level_named(allows), *second = level_named(forbids);
  if (first == NULL || second == NULL) return EXIT_USAGE;
  apart a;
  apart_outcome outcome = apart_find(first, second, &a);
  if (outcome == APART_FAILED) return EXIT_INTERNAL;
  if (as_json)
    print_json(&a, outcome);
  else if (outcome == APART_FOUND)
    print_found(&a);
  else if (outcome == APART_IMPLIED)
    print_proof(&a);
  else
    say_unknown(&a);
  apart_free(&a);
  return outcome == APART_FOUND ? EXIT_SATISFIED : outcome == APART_IMPLIED ? EXIT_VIOLATED : EXIT_UNKNOWN;
}

int distinguish_all(void) {
  const isoproof_level_info *first, *second;
  for (size_t i = 0; (first = isoproof_level_at(i)) != NULL; i++) {
    for (size_t k = 0; (second = isoproof_level_at(k)) != NULL; k++) {
      if (i == k || !isoproof_can_distinguish(first) || !isoproof_can_distinguish(second)) continue;
      apart a;
      apart_outcome outcome = apart_find(first, second, &a);
      if (outcome == APART_FAILED) return EXIT_INTERNAL;
      print_json(&a, outcome);
      apart_free(&a);
    }
  }
  return EXIT_SATISFIED;
}
