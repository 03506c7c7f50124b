/* explain.c - `isoproof explain`: what a level or an anomaly means, with a tiny history. */
#include <isoproof/level.h>
#include <string.h>

#include "cli/commands/command.h"
#include "cli/commands/topics.h"
#include "cli/options/suggest.h"

enum { EXPLAIN_JSON, EXPLAIN_OPTIONS };

enum { WIDTH = 80, INDENT = 2, COLUMN = 39 };

/* ---- levels ---- */

const char *family_name(isoproof_level_family family) {
  return family == ISOPROOF_LEVEL_BASE ? "level" : family == ISOPROOF_LEVEL_SESSION ? "session-guarantee" : "model";
}

void level_fields(json *j, const isoproof_level_info *level) {
  json_name(j, "id");
  json_string(j, level->id);
  json_name(j, "family");
  json_string(j, family_name(level->family));
  json_name(j, "aliases");
  json_open(j, '[');
  for (size_t i = 0; level->aliases != NULL && level->aliases[i] != NULL; i++) json_string(j, level->aliases[i]);
  json_close(j, ']');
  json_name(j, "title");
  json_string(j, level->title);
  json_name(j, "summary");
  json_string(j, level->summary);
  json_name(j, "definition");
  json_string(j, level->definition);
  json_name(j, "needs_times");
  json_bool(j, level->needs_times);
  json_name(j, "same_as");
  json_string(j, level->same_as);
  json_name(j, "friendly");
  json_string(j, level->friendly);
  json_name(j, "example");
  json_string(j, level->example);
  json_name(j, "walkthrough");
  json_string(j, level->walkthrough);
}

static void paragraph(const char *heading, const char *text) {
  if (text == NULL || *text == 0) return;
  printf("\n%s\n%*s", heading, INDENT, "");
  print_wrapped(stdout, text, INDENT, INDENT, WIDTH);
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
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used == 0 ? "" : ", ", other->id);
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

static void print_level(const isoproof_level_info *level) {
  bool model = level->family == ISOPROOF_LEVEL_MODEL;
  printf("%s: %s (%s)\n", level->id, level->title, family_name(level->family));
  paragraph("In short", level->summary);
  paragraph("Precisely", level->definition);
  name_list("Also called", level->aliases);
  if (level->needs_times) paragraph("Needs", "a history with times");
  neighbours("Directly implies", level, false);
  neighbours("Directly implied by", level, true);
  paragraph(model ? "The level of the same idea, with session order" : "The model of the same idea", level->same_as);
  print_example("A history that violates it", level->example, level->walkthrough);
}

/* ---- anomalies ---- */

static void print_anomaly(const isoproof_anomaly_info *anomaly) {
  const char *names[32] = {NULL};
  printf("%s: %s (anomaly)\n", anomaly->code, anomaly->name);
  paragraph("In short", anomaly->meaning);
  name_list("Also called", anomaly->aliases);
  paragraph("Weakest level that forbids it", anomaly->level);
  for (size_t i = 0; i + 1 < COUNT_OF(names) && isoproof_anomaly_rules_out_at(anomaly, i) != NULL; i++) {
    names[i] = isoproof_anomaly_rules_out_at(anomaly, i)->id;
  }
  name_list("Weakest models that it rules out", names);
  print_example("A history that has it", anomaly->example, anomaly->walkthrough);
}

static void json_names(json *j, const char *name, const char *const *names) {
  json_name(j, name);
  json_open(j, '[');
  for (size_t i = 0; names != NULL && names[i] != NULL; i++) json_string(j, names[i]);
  json_close(j, ']');
}

static void anomaly_fields(json *j, const isoproof_anomaly_info *anomaly) {
  const char *const texts[][2] = {{"code", anomaly->code},       {"name", anomaly->name},
                                  {"meaning", anomaly->meaning}, {"level", anomaly->level},
                                  {"example", anomaly->example}, {"walkthrough", anomaly->walkthrough}};
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    json_name(j, texts[i][0]);
    json_string(j, texts[i][1]);
  }
  json_names(j, "aliases", anomaly->aliases);
  json_name(j, "rules_out");
  json_open(j, '[');
  for (size_t i = 0; isoproof_anomaly_rules_out_at(anomaly, i) != NULL; i++) {
    json_string(j, isoproof_anomaly_rules_out_at(anomaly, i)->id);
  }
  json_close(j, ']');
}

/* ---- topics ---- */

static void list_column(const char *name, const char *text) {
  int used = printf("  %-36s ", name);
  if (used > COLUMN) used = printf("\n%*s", COLUMN, "") - 1;
  print_wrapped(stdout, text, (unsigned)used, COLUMN, WIDTH);
  putchar('\n');
}

static void list_topics(void) {
  static const char *const headings[] = {"Levels", "Session guarantees", "Models"};
  for (int family = ISOPROOF_LEVEL_BASE; family <= ISOPROOF_LEVEL_MODEL; family++) {
    printf("%s%s\n", family == 0 ? "" : "\n", headings[family]);
    for (size_t i = 0; isoproof_level_at(i) != NULL; i++) {
      const isoproof_level_info *level = isoproof_level_at(i);
      if ((int)level->family == family) list_column(level->id, level->title);
    }
  }
  puts("\nAnomalies");
  for (size_t i = 0; isoproof_anomaly_at(i) != NULL; i++) {
    list_column(isoproof_anomaly_at(i)->code, isoproof_anomaly_at(i)->name);
  }
}

static void list_topics_json(void) {
  json j = {.out = stdout};
  json_open(&j, '{');
  json_name(&j, "schema");
  json_u64(&j, 1);
  json_name(&j, "levels");
  json_open(&j, '[');
  for (size_t i = 0; isoproof_level_at(i) != NULL; i++) {
    json_open(&j, '{');
    level_fields(&j, isoproof_level_at(i));
    json_close(&j, '}');
  }
  json_close(&j, ']');
  json_name(&j, "anomalies");
  json_open(&j, '[');
  for (size_t i = 0; isoproof_anomaly_at(i) != NULL; i++) {
    json_open(&j, '{');
    anomaly_fields(&j, isoproof_anomaly_at(i));
    json_close(&j, '}');
  }
  json_close(&j, ']');
  json_close(&j, '}');
  putchar('\n');
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

/* A name may be a level, a model and an anomaly at once: all of them are shown. */
static int explain(const char *name, bool as_json) {
  const isoproof_level_info *level = isoproof_level_find(name);
  const isoproof_level_info *model = isoproof_level_find_in(name, ISOPROOF_LEVEL_MODEL);
  const isoproof_anomaly_info *anomaly = isoproof_anomaly_find(name);
  if (model == level) model = NULL;
  if (level == NULL && model == NULL && anomaly == NULL) {
    unknown_topic(name);
    return EXIT_USAGE;
  }
  const isoproof_level_info *found[2] = {level, model};
  json j = {.out = stdout};
  bool first = true;
  if (as_json) json_open(&j, '[');
  for (size_t i = 0; i < 2; i++) {
    if (found[i] == NULL) continue;
    if (as_json) {
      json_open(&j, '{');
      level_fields(&j, found[i]);
      json_close(&j, '}');
    } else {
      if (!first) fputs("\n", stdout);
      print_level(found[i]);
    }
    first = false;
  }
  if (anomaly != NULL && as_json) {
    json_open(&j, '{');
    anomaly_fields(&j, anomaly);
    json_close(&j, '}');
  } else if (anomaly != NULL) {
    if (!first) fputs("\n", stdout);
    print_anomaly(anomaly);
  }
  if (as_json) {
    json_close(&j, ']');
    putchar('\n');
  }
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
  return code;
}

static const option table[EXPLAIN_OPTIONS] = {
    [EXPLAIN_JSON] = {.name = "json",
                      .type = OPTION_FLAG,
                      .help = "Print a JSON array a name with all that it means, one a line; without a name, one "
                              "object with everything."},
};

static const example examples[] = {
    {"isoproof explain", 0, "List what can be explained."},
    {"isoproof explain TAP-k", 0, "What a fractured read is, with an example."},
    {"isoproof explain snapshot-isolation", 0, "What the name means as a level and as a model."},
};

static const char *const description[] = {
    "Says what an anomaly, a level or a model means; for an anomaly, with a tiny history that has it and what happens "
    "in it. Without a name it lists all names.",
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
