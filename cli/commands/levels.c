/* levels.c - `isoproof levels`: the lattice, and the two meanings of some names. */
#include <isoproof/database.h>
#include <isoproof/level.h>
#include <string.h>

#include "cli/commands/apart.h"
#include "cli/commands/command.h"
#include "cli/commands/topics.h"
#include "cli/terminal/lattice.h"
#include "cli/terminal/output.h"

enum { LEVELS_MODELS, LEVELS_DATABASES, LEVELS_DISTINGUISH, LEVELS_JSON, LEVELS_DOT, LEVELS_OPTIONS };

static bool is_level(const isoproof_level_info *level) { return level->family != ISOPROOF_LEVEL_MODEL; }
static bool is_model(const isoproof_level_info *level) { return level->family == ISOPROOF_LEVEL_MODEL; }

/* ---- text ---- */

enum { SIDE_BY_SIDE = 80 }; /* columns of the widest table */

/* A level with its short name, which is its first alias, a model with its code; explain shows all names. */
static void label(FILE *out, const isoproof_level_info *level, unsigned room) {
  static const char times[] = "  needs times";
  char text[LEVEL_LABEL];
  const char *alias = is_level(level) ? level->aliases[0] : NULL;
  size_t after = level->needs_times ? strlen(times) : 0;
  if (strlen(level_label(level, text)) + after > room) snprintf(text, sizeof text, "%s", level->friendly);
  if (strlen(text) + after > room) snprintf(text, sizeof text, "%s", level->id);
  size_t used = strlen(text) + after;
  fputs(text, out);
  if (alias != NULL && used + strlen(alias) + 3 <= room) fprintf(out, " (%s)", alias);
  if (level->needs_times && used <= room) fputs(times, out);
}

static void draw(bool (*wanted)(const isoproof_level_info *)) {
  lattice l;
  lattice_collect(&l, wanted);
  lattice_draw(&l, stdout, terminal_utf8(), label);
}

/* A level beside the model of its name, and beside the model that means what it means. */
static void print_pair(const isoproof_level_info *level) {
  const isoproof_level_info *model = isoproof_level_find_in(level->id, ISOPROOF_LEVEL_MODEL);
  if (model == NULL && level->same_as == NULL) return;
  const char *named = model == NULL ? "-" : strcmp(model->id, level->id) == 0 ? "(same id)" : model->id;
  const char *same = level->same_as != NULL ? level->same_as : "-";
  if (terminal_width(stdout) >= SIDE_BY_SIDE)
    printf("  %-29s %-13s %s\n", level->id, named, same);
  else
    printf("  %s\n      %-13s %s\n", level->id, named, same);
}

/* What every option takes for a longer name. */
static void print_short_names(void) {
  const char *name, *stands_for;
  print_lines(stdout, "\nShort names, for --level, --model, --expect and --isolation alike.\n\n");
  for (size_t i = 0; isoproof_level_short_name_at(i, &name, &stands_for); i++) printf("  %-19s %s\n", name, stands_for);
}

static void print_text(bool models) {
  unsigned width = terminal_width(stdout);
  print_wrapped(stdout, "Levels (--level). Session order counts. Each implies those below that it is connected to.", 0,
                0, width);
  fputs("\n\n", stdout);
  draw(is_level);
  if (models) {
    putchar('\n');
    print_wrapped(stdout,
                  "Models (Adya's and Elle's). Session order counts only where the name says strong-session, real-time "
                  "order only where it says strong or strict.",
                  0, 0, width);
    fputs("\n\n", stdout);
    draw(is_model);
  }
  print_lines(stdout, "\nSide by side: the same name may mean less as a model, which has no session order.\n\n");
  if (width >= SIDE_BY_SIDE) {
    printf("  %-29s %-13s %s\n", "level", "its name as", "model of the same idea");
    puts("                                a model");
  } else {
    printf("  level\n      %-13s %s\n", "as a model", "model of the same idea");
  }
  for (size_t i = 0; isoproof_level_at(i) != NULL; i++) {
    if (is_level(isoproof_level_at(i))) print_pair(isoproof_level_at(i));
  }
  print_short_names();
  print_lines(stdout, "\n'isoproof explain NAME' says what a level or a model means.\n");
}

/* ---- databases ---- */

/* What every database documents, by database. */
static void print_databases(void) {
  isoproof_claim claim = {.struct_size = sizeof claim};
  const char *database = "";
  unsigned width = terminal_width(stdout);
  print_wrapped(stdout,
                "What databases document about their isolation levels, which is what 'isoproof test' expects of them. "
                "--isolation takes the database's names, or short ones.\n",
                0, 0, width);
  for (size_t i = 0; isoproof_claim_at(i, &claim); i++) {
    if (strcmp(database, claim.database) != 0) printf("\n%s\n", claim.database);
    database = claim.database;
    bool some = strcmp(claim.versions, "all") != 0;
    char line[512];
    snprintf(line, sizeof line, "%s%s%s%s: %s%s%s", claim.isolation, some ? " (" : "", some ? claim.versions : "",
             some ? ")" : "", claim.level != NULL ? claim.level : "no level that isoproof knows",
             claim.level_of_lists != NULL ? "; of lists " : "",
             claim.level_of_lists != NULL ? claim.level_of_lists : "");
    fputs("\n  ", stdout);
    print_wrapped(stdout, line, 2, 4, width);
    fputs("\n    ", stdout);
    print_wrapped(stdout, claim.says, 4, 4, width);
    fputs("\n    ", stdout);
    print_wrapped(stdout, claim.source, 4, 4, width);
    printf("\n    %s\n", claim.url);
  }
}

static void json_databases(void) {
  isoproof_claim claim = {.struct_size = sizeof claim};
  isoproof_json *j = json_to(stdout);
  if (j == NULL) return;
  isoproof_json_object(j);
  isoproof_json_name(j, "schema");
  isoproof_json_u64(j, 1);
  isoproof_json_name(j, "claims");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_claim_at(i, &claim); i++) {
    const char *const fields[][2] = {{"database", claim.database},    {"versions", claim.versions},
                                     {"isolation", claim.isolation},  {"level", claim.level},
                                     {"lists", claim.level_of_lists}, {"says", claim.says},
                                     {"source", claim.source},        {"url", claim.url}};
    isoproof_json_object(j);
    for (size_t f = 0; f < COUNT_OF(fields); f++) {
      isoproof_json_name(j, fields[f][0]);
      isoproof_json_string(j, fields[f][1]);
    }
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
  isoproof_json_end(j);
  isoproof_json_line(j);
  json_done(j);
}

/* ---- JSON and dot ---- */

/* The ids of the levels directly below in one family. */
static void json_implies(isoproof_json *j, const isoproof_level_info *level,
                         bool (*wanted)(const isoproof_level_info *)) {
  const isoproof_level_info *stronger, *weaker;
  isoproof_json_list(j);
  for (size_t e = 0; isoproof_level_implication_at(e, &stronger, &weaker); e++) {
    if (stronger == level && wanted(weaker)) isoproof_json_string(j, weaker->id);
  }
  isoproof_json_end(j);
}

static void json_level(isoproof_json *j, const isoproof_level_info *level) {
  isoproof_json_object(j);
  level_fields(j, level);
  isoproof_json_name(j, "implies_levels");
  json_implies(j, level, is_level);
  isoproof_json_name(j, "implies_models");
  json_implies(j, level, is_model);
  isoproof_json_end(j);
}

static void print_json(void) {
  isoproof_json *j = json_to(stdout);
  if (j == NULL) return;
  isoproof_json_object(j);
  isoproof_json_name(j, "schema");
  isoproof_json_u64(j, 1);
  isoproof_json_name(j, "levels");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_level_at(i) != NULL; i++) json_level(j, isoproof_level_at(i));
  isoproof_json_end(j);
  isoproof_json_end(j);
  isoproof_json_line(j);
  json_done(j);
}

static void dot_cluster(const char *name, const char *title, bool (*wanted)(const isoproof_level_info *)) {
  printf("  subgraph cluster_%s {\n    label=\"%s\";\n", name, title);
  for (size_t i = 0; isoproof_level_at(i) != NULL; i++) {
    const isoproof_level_info *level = isoproof_level_at(i);
    char text[LEVEL_LABEL];
    if (wanted(level)) printf("    n%u [label=\"%s\"];\n", (unsigned)level->number, level_label(level, text));
  }
  puts("  }");
}

static void print_dot(bool models) {
  const isoproof_level_info *stronger, *weaker;
  puts("digraph levels {\n  rankdir=TB;\n  node [shape=box, fontname=\"sans-serif\"];");
  dot_cluster("levels", "levels (--level)", is_level);
  if (models) dot_cluster("models", "models (Adya, Elle)", is_model);
  for (size_t e = 0; isoproof_level_implication_at(e, &stronger, &weaker); e++) {
    if (!models && (is_model(stronger) || is_model(weaker))) continue;
    printf("  n%u -> n%u;\n", (unsigned)stronger->number, (unsigned)weaker->number);
  }
  puts("}");
}

/* What excludes what; the message, NULL where all is well. */
static const char *wrong_usage(const options *parsed) {
  const option_value *values = parsed->values;
  bool two = values[LEVELS_DISTINGUISH].on;
  if (values[LEVELS_JSON].on && values[LEVELS_DOT].on) return "--json and --dot exclude each other";
  if (values[LEVELS_DATABASES].on && (values[LEVELS_DOT].on || values[LEVELS_MODELS].on))
    return "--databases is a list of its own, with --json or without";
  if (two && (values[LEVELS_DATABASES].on || values[LEVELS_DOT].on || values[LEVELS_MODELS].on))
    return "--distinguish takes two levels and nothing but --json";
  if (two && parsed->argument_count != 2 && !(parsed->argument_count == 0 && values[LEVELS_JSON].on))
    return "--distinguish takes two levels: the one that allows, then the one that forbids; with --json, none for all "
           "pairs";
  if (!two && parsed->argument_count > 0)
    return "names of levels are for --distinguish; 'isoproof explain NAME' says what one means";
  return NULL;
}

static int run(options *parsed) {
  const option_value *values = parsed->values;
  const char *wrong = wrong_usage(parsed);
  if (wrong != NULL) {
    message("levels: %s", wrong);
    return EXIT_USAGE;
  }
  if (values[LEVELS_DISTINGUISH].on && parsed->argument_count == 0) return distinguish_all();
  if (values[LEVELS_DISTINGUISH].on)
    return distinguish(parsed->arguments[0], parsed->arguments[1], values[LEVELS_JSON].on);
  if (values[LEVELS_DATABASES].on)
    (values[LEVELS_JSON].on ? json_databases : print_databases)();
  else if (values[LEVELS_JSON].on)
    print_json();
  else if (values[LEVELS_DOT].on)
    print_dot(values[LEVELS_MODELS].on);
  else
    print_text(values[LEVELS_MODELS].on);
  return EXIT_SATISFIED;
}

static const option table[LEVELS_OPTIONS] = {
    [LEVELS_MODELS] = {.name = "models", .letter = 'm', .type = OPTION_FLAG, .help = "Draw the lattice of models too."},
    [LEVELS_DATABASES] = {.name = "databases",
                          .type = OPTION_FLAG,
                          .help = "List what databases document about their isolation levels instead, and where."},
    [LEVELS_DISTINGUISH] = {.name = "distinguish",
                            .type = OPTION_FLAG,
                            .help = "Print a smallest history that the first LEVEL allows and the second forbids, "
                                    "judged anew, or prove that there is none."},
    [LEVELS_JSON] = {.name = "json",
                     .type = OPTION_FLAG,
                     .help =
                         "Print one JSON object with every level and model and what it implies, with every claim of a "
                         "database, or with what tells two levels apart."},
    [LEVELS_DOT] = {.name = "dot", .type = OPTION_FLAG, .help = "Print a graph for Graphviz."},
};

static const example examples[] = {
    {"isoproof levels", 0, "The levels, strongest first."},
    {"isoproof levels --databases", 0, "What databases document, and where."},
    {"isoproof levels --distinguish si ser", 0, "What snapshot isolation allows and serializability does not."},
    {"isoproof levels --distinguish ser si", 1, "Why there is no history the other way round."},
    {"isoproof levels --dot --models > levels.dot", 0, "A graph of levels and models for Graphviz."},
};

static const char *const description[] = {
    "Draws the isolation levels and which of them implies which. Two families of names exist: the levels of --level "
    "count session order; Adya's and Elle's models do not, unless their name says so. Where both families use "
    "one name, both meanings are shown side by side.",
    "With --distinguish A B, prints the smallest history that A allows and B forbids, found by listing all small "
    "histories: the fewest transactions, then operations, sessions, keys. It is Plume text, or JSON lines where lists, "
    "times or levels of transactions are needed, and can be piped into 'isoproof check -'; what it shows goes to "
    "standard error. Where A implies B there is none: the steps of the proof are printed instead, and the exit code is "
    "1. A name that levels and models share means the level. Of some models neither a history nor a proof is known: "
    "the exit code is 3. With --json and no names, all pairs are told, a line each.",
    NULL};

const command command_levels = {"levels",
                                "Show the levels, what implies what, and their names",
                                "[--models|--databases|--distinguish LEVEL LEVEL] [--json|--dot]",
                                description,
                                "LEVEL: the id or an alias of a level or a model, for --distinguish.",
                                "topics",
                                table,
                                LEVELS_OPTIONS,
                                examples,
                                COUNT_OF(examples),
                                run};
