/* explain.c - `isoproof explain`: what a level or an anomaly means, with a tiny history. */
#include <isoproof/level.h>
#include <string.h>

#include "cli/commands/apart.h"
#include "cli/commands/command.h"
#include "cli/commands/topics.h"
#include "cli/options/suggest.h"
#include "cli/terminal/output.h"

enum { EXPLAIN_JSON, EXPLAIN_OPTIONS };

enum { INDENT = 2, COLUMN = 39, NARROW_COLUMN = 20 };

/* ---- levels ---- */

const char *family_name(isoproof_level_family family) {
  return family == ISOPROOF_LEVEL_BASE ? "level" : family == ISOPROOF_LEVEL_SESSION ? "session-guarantee" : "model";
}

const char *level_label(const isoproof_level_info *level, char text[LEVEL_LABEL]) {
  bool coded = strcmp(level->friendly, level->id) != 0;
  snprintf(text, LEVEL_LABEL, coded ? "%s (%s)" : "%s", level->friendly, level->id);
  return text;
}

void level_fields(isoproof_json *j, const isoproof_level_info *level) {
  isoproof_json_name(j, "id");
  isoproof_json_string(j, level->id);
  isoproof_json_name(j, "family");
  isoproof_json_string(j, family_name(level->family));
  isoproof_json_name(j, "aliases");
  isoproof_json_list(j);
  for (size_t i = 0; level->aliases != NULL && level->aliases[i] != NULL; i++)
    isoproof_json_string(j, level->aliases[i]);
  isoproof_json_end(j);
  isoproof_json_name(j, "title");
  isoproof_json_string(j, level->title);
  isoproof_json_name(j, "summary");
  isoproof_json_string(j, level->summary);
  isoproof_json_name(j, "definition");
  isoproof_json_string(j, level->definition);
  isoproof_json_name(j, "needs_times");
  isoproof_json_bool(j, level->needs_times);
  isoproof_json_name(j, "same_as");
  isoproof_json_string(j, level->same_as);
  isoproof_json_name(j, "friendly");
  isoproof_json_string(j, level->friendly);
  isoproof_json_name(j, "example");
  isoproof_json_string(j, level->example);
  isoproof_json_name(j, "walkthrough");
  isoproof_json_string(j, level->walkthrough);
}

static void paragraph(const char *heading, const char *text) {
  if (text == NULL || *text == 0) return;
  printf("\n%s\n%*s", heading, INDENT, "");
  print_wrapped(stdout, text, INDENT, INDENT, terminal_width(stdout));
  putchar('\n');
}

/* What a level implies directly (or, with `up`, what implies it), in its own family. */
static void neighbours(const char *heading, const isoproof_level_info *level, bool up) {
  const isoproof_level_info *stronger, *weaker;
  char text[1000] = "";
  size_t used = 0;
  for (size_t e = 0; isoproof_level_implication_at(e, &stronger, &weaker) && used < sizeof text; e++) {
    const isoproof_level_info *mine = up ? weaker : stronger, *other = up ? stronger : weaker;
    bool both_models = (mine->family == ISOPROOF_LEVEL_MODEL) == (other->family == ISOPROOF_LEVEL_MODEL);
    if (mine != level || !both_models) continue;
    char label[LEVEL_LABEL];
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used == 0 ? "" : ", ", level_label(other, label));
  }
  paragraph(heading, text);
}

/* Names with commas between. */
static void name_list(const char *heading, const char *const *names) {
  char text[1000] = "";
  size_t used = 0;
  for (size_t i = 0; names != NULL && names[i] != NULL && used < sizeof text; i++) {
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i == 0 ? "" : ", ", names[i]);
  }
  paragraph(heading, text);
}

static void print_example(const char *heading, const char *history, const char *walkthrough) {
  if (history == NULL) return;
  printf("\n%s\n", heading);
  for (const char *line = history; *line != 0;) {
    int length = (int)strcspn(line, "\n");
    printf("%*s%.*s\n", INDENT, "", length, line);
    line += length + (line[length] == '\n');
  }
  paragraph("What happens there", walkthrough);
}

/* ---- what tells a level from its neighbours ---- */

/* The pair at a direct implication of the lattice that the level takes part in: the weaker one allows what the stronger
 * one forbids.  `number` counts implications; false after the last. */
static bool next_neighbours(const isoproof_level_info *level, size_t *number, apart *found) {
  const isoproof_level_info *stronger, *weaker;
  while (isoproof_level_implication_at(*number, &stronger, &weaker)) {
    ++*number;
    if ((stronger != level && weaker != level) || !isoproof_can_distinguish(stronger)) continue;
    if (isoproof_can_distinguish(weaker) && apart_find(weaker, stronger, found) == APART_FOUND) return true;
  }
  return false;
}

static void print_told(const apart *a) {
  char text[2 * LEVEL_LABEL + APART_SIZE + 32], size[APART_SIZE];
  printf("%*s", INDENT, "");
  snprintf(text, sizeof text, "%s allows, %s forbids: %s (%s)", a->allows->id, a->forbids->id, a->anomaly.code,
           apart_size(a, size));
  print_wrapped(stdout, text, INDENT, 2 * INDENT, terminal_width(stdout));
  putchar('\n');
  apart_draw(a, stdout, 2 * INDENT);
}

static void print_apart(const isoproof_level_info *level) {
  apart a;
  const char *heading = "\nWhat tells it from its neighbours\n";
  for (size_t number = 0; next_neighbours(level, &number, &a); apart_free(&a)) {
    fputs(heading, stdout);
    heading = "\n";
    print_told(&a);
  }
}

/* One direction of what tells two levels apart. */
static void print_between(const isoproof_level_info *allows, const isoproof_level_info *forbids) {
  apart a;
  apart_outcome outcome = apart_find(allows, forbids, &a);
  if (outcome == APART_FOUND) print_told(&a);
  if (outcome == APART_IMPLIED) {
    printf("%*s", INDENT, "");
    char text[4 * LEVEL_LABEL];
    snprintf(text, sizeof text, "%s implies %s: 'isoproof levels --distinguish %s %s' says why", allows->id,
             forbids->id, allows->id, forbids->id);
    print_wrapped(stdout, text, INDENT, 2 * INDENT, terminal_width(stdout));
    putchar('\n');
  }
  apart_free(&a);
}

/* After the meanings of two levels, what tells them apart. */
static void print_both_ways(const char *const *names, size_t count) {
  if (count != 2) return;
  const isoproof_level_info *first = isoproof_level_find(names[0]), *second = isoproof_level_find(names[1]);
  if (first == second || !isoproof_can_distinguish(first) || !isoproof_can_distinguish(second)) return;
  puts("\nWhat tells these two apart");
  print_between(first, second);
  putchar('\n');
  print_between(second, first);
}

static void apart_fields(isoproof_json *j, const isoproof_level_info *level) {
  apart a;
  isoproof_json_name(j, "apart");
  isoproof_json_list(j);
  for (size_t number = 0; next_neighbours(level, &number, &a); apart_free(&a)) {
    const char *const texts[][2] = {{"allows", a.allows->id},
                                    {"forbids", a.forbids->id},
                                    {"anomaly", a.anomaly.code},
                                    {"format", a.found.format},
                                    {"history", a.found.history}};
    isoproof_json_object(j);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
      isoproof_json_name(j, texts[i][0]);
      isoproof_json_string(j, texts[i][1]);
    }
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
}

static void print_level(const isoproof_level_info *level) {
  bool model = level->family == ISOPROOF_LEVEL_MODEL;
  char label[LEVEL_LABEL];
  printf("%s: %s (%s)\n", level_label(level, label), level->title, family_name(level->family));
  paragraph("In short", level->summary);
  paragraph("Precisely", level->definition);
  name_list("Also called", level->aliases);
  if (level->needs_times) paragraph("Needs", "a history with times");
  neighbours("Directly implies", level, false);
  neighbours("Directly implied by", level, true);
  paragraph(model ? "The level of the same idea, with session order" : "The model of the same idea", level->same_as);
  print_example("A history that violates it", level->example, level->walkthrough);
  print_apart(level);
}

/* ---- anomalies ---- */

static void print_anomaly(const isoproof_anomaly_info *anomaly) {
  const char *names[32] = {NULL};
  char labels[32][LEVEL_LABEL];
  printf("%s: %s (anomaly)\n", anomaly->code, anomaly->name);
  paragraph("In short", anomaly->meaning);
  name_list("Also called", anomaly->aliases);
  paragraph("Weakest level that forbids it", anomaly->level);
  for (size_t i = 0; i + 1 < COUNT_OF(names) && isoproof_anomaly_rules_out_at(anomaly, i) != NULL; i++) {
    names[i] = level_label(isoproof_anomaly_rules_out_at(anomaly, i), labels[i]);
  }
  name_list("Weakest models that it rules out", names);
  print_example("A history that has it", anomaly->example, anomaly->walkthrough);
}

static void json_names(isoproof_json *j, const char *name, const char *const *names) {
  isoproof_json_name(j, name);
  isoproof_json_list(j);
  for (size_t i = 0; names != NULL && names[i] != NULL; i++) isoproof_json_string(j, names[i]);
  isoproof_json_end(j);
}

static void anomaly_fields(isoproof_json *j, const isoproof_anomaly_info *anomaly) {
  const char *const texts[][2] = {{"code", anomaly->code},       {"name", anomaly->name},
                                  {"meaning", anomaly->meaning}, {"level", anomaly->level},
                                  {"example", anomaly->example}, {"walkthrough", anomaly->walkthrough}};
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    isoproof_json_name(j, texts[i][0]);
    isoproof_json_string(j, texts[i][1]);
  }
  json_names(j, "aliases", anomaly->aliases);
  isoproof_json_name(j, "rules_out");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_anomaly_rules_out_at(anomaly, i) != NULL; i++) {
    isoproof_json_string(j, isoproof_anomaly_rules_out_at(anomaly, i)->id);
  }
  isoproof_json_end(j);
}

/* ---- topics ---- */

static void list_column(const char *name, const char *text) {
  unsigned width = terminal_width(stdout);
  int column = width < 80 ? NARROW_COLUMN : COLUMN, used = printf("  %-*s ", column - 3, name);
  if (used > column) used = printf("\n%*s", column, "") - 1;
  print_wrapped(stdout, text, (unsigned)used, (unsigned)column, width);
  putchar('\n');
}

static void list_topics(void) {
  static const char *const headings[] = {"Levels", "Session guarantees", "Models"};
  for (int family = ISOPROOF_LEVEL_BASE; family <= ISOPROOF_LEVEL_MODEL; family++) {
    printf("%s%s\n", family == 0 ? "" : "\n", headings[family]);
    for (size_t i = 0; isoproof_level_at(i) != NULL; i++) {
      const isoproof_level_info *level = isoproof_level_at(i);
      char label_text[LEVEL_LABEL];
      if ((int)level->family == family) list_column(level_label(level, label_text), level->title);
    }
  }
  puts("\nAnomalies");
  for (size_t i = 0; isoproof_anomaly_at(i) != NULL; i++) {
    list_column(isoproof_anomaly_at(i)->code, isoproof_anomaly_at(i)->name);
  }
}

static void list_topics_json(void) {
  isoproof_json *j = json_to(stdout);
  if (j == NULL) return;
  isoproof_json_object(j);
  isoproof_json_name(j, "schema");
  isoproof_json_u64(j, 1);
  isoproof_json_name(j, "levels");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_level_at(i) != NULL; i++) {
    isoproof_json_object(j);
    level_fields(j, isoproof_level_at(i));
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
  isoproof_json_name(j, "anomalies");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_anomaly_at(i) != NULL; i++) {
    isoproof_json_object(j);
    anomaly_fields(j, isoproof_anomaly_at(i));
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
  isoproof_json_end(j);
  isoproof_json_line(j);
  json_done(j);
}

static void unknown_topic(const char *name) {
  suggestion s = suggest_begin(name);
  for (size_t i = 0; isoproof_level_at(i) != NULL; i++) {
    const isoproof_level_info *level = isoproof_level_at(i);
    suggest_offer(&s, level->id);
    for (size_t a = 0; level->aliases != NULL && level->aliases[a] != NULL; a++) suggest_offer(&s, level->aliases[a]);
  }
  for (size_t i = 0; isoproof_anomaly_at(i) != NULL; i++) {
    suggest_offer(&s, isoproof_anomaly_at(i)->code);
    suggest_offer(&s, isoproof_anomaly_at(i)->name);
    const char *const *aliases = isoproof_anomaly_at(i)->aliases;
    for (size_t a = 0; aliases != NULL && aliases[a] != NULL; a++) suggest_offer(&s, aliases[a]);
  }
  if (suggest_best(&s) != NULL)
    message("explain: unknown name '%s'; did you mean '%s'?", name, suggest_best(&s));
  else
    message("explain: unknown name '%s'; 'isoproof explain' lists what can be explained", name);
}

/* What a name means: it may be a level, a model and an anomaly at once. */
enum { MEANT_LEVELS = 2 };

typedef struct meanings {
  const isoproof_level_info *levels[MEANT_LEVELS]; /* NULL where it is none */
  const isoproof_anomaly_info *anomaly;
} meanings;

static void print_meanings(const meanings *m) {
  bool first = true;
  for (size_t i = 0; i < MEANT_LEVELS; i++) {
    if (m->levels[i] == NULL) continue;
    if (!first) fputs("\n", stdout);
    print_level(m->levels[i]);
    first = false;
  }
  if (m->anomaly == NULL) return;
  if (!first) fputs("\n", stdout);
  print_anomaly(m->anomaly);
}

static void print_meanings_json(const meanings *m) {
  isoproof_json *j = json_to(stdout);
  if (j == NULL) return;
  isoproof_json_list(j);
  for (size_t i = 0; i < MEANT_LEVELS; i++) {
    if (m->levels[i] == NULL) continue;
    isoproof_json_object(j);
    level_fields(j, m->levels[i]);
    apart_fields(j, m->levels[i]);
    isoproof_json_end(j);
  }
  if (m->anomaly != NULL) {
    isoproof_json_object(j);
    anomaly_fields(j, m->anomaly);
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
  isoproof_json_line(j);
  json_done(j);
}

static int explain(const char *name, bool as_json) {
  const isoproof_level_info *level = isoproof_level_find(name);
  const isoproof_level_info *model = isoproof_level_find_in(name, ISOPROOF_LEVEL_MODEL);
  meanings m = {{level, model != level ? model : NULL}, isoproof_anomaly_find(name)};
  if (m.levels[0] == NULL && m.levels[1] == NULL && m.anomaly == NULL) {
    unknown_topic(name);
    return EXIT_USAGE;
  }
  if (as_json)
    print_meanings_json(&m);
  else
    print_meanings(&m);
  return EXIT_SATISFIED;
}

static int run(options *parsed) {
  bool as_json = parsed->values[EXPLAIN_JSON].on;
  if (parsed->argument_count == 0) {
    if (as_json)
      list_topics_json();
    else
      list_topics();
    return EXIT_SATISFIED;
  }
  int code = EXIT_SATISFIED;
  for (size_t i = 0; i < parsed->argument_count; i++) {
    if (i > 0 && !as_json) putchar('\n');
    code = exit_worse(code, explain(parsed->arguments[i], as_json));
  }
  if (!as_json) print_both_ways(parsed->arguments, parsed->argument_count);
  return code;
}

static const option table[EXPLAIN_OPTIONS] = {
    [EXPLAIN_JSON] = {.name = "json",
                      .type = OPTION_FLAG,
                      .help = "Print a JSON array per name with all that it means, each on a line; without a name, one "
                              "object with everything."},
};

static const example examples[] = {
    {"isoproof explain", 0, "List what can be explained."},
    {"isoproof explain TAP-k", 0, "What a fractured read is, with an example."},
    {"isoproof explain psi si", 0, "What two levels mean, and what tells them apart."},
    {"isoproof explain snapshot-isolation", 0, "What the name means as a level and as a model."},
};

static const char *const description[] = {
    "Says what an anomaly, a level or a model means; for an anomaly, with a tiny history that has it and what happens "
    "in it. Of a level, draws the smallest histories that tell it from the levels next to it (a line per session, a "
    "transaction in brackets; with times, whoever stands further left ended first), as 'isoproof levels --distinguish' "
    "finds "
    "them; of two levels, also what tells these apart. Without a name it lists all names.",
    NULL};

const command command_explain = {"explain",
                                 "Say what an anomaly or a level means, with an example",
                                 "[--json] [NAME...]",
                                 description,
                                 "NAME: the code or name of an anomaly, or the id or an alias of a level.",
                                 "topics",
                                 table,
                                 EXPLAIN_OPTIONS,
                                 examples,
                                 COUNT_OF(examples),
                                 run};
