/* help.c - help pages, and the command that shows them. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands/program.h"

enum { OPTION_COLUMN = 28 };

void help_program(FILE *out) {
  fprintf(out, "Usage: %s COMMAND [OPTION...] [ARGUMENT...]\n", this_program.name);
  for (const char *const *p = this_program.description; *p != NULL; p++) {
    fputc('\n', out);
    print_wrapped(out, *p, 0, 0, terminal_width(out));
    fputc('\n', out);
  }
  fputs("\nCommands:\n", out);
  for (size_t i = 0; command_at(i) != NULL; i++) {
    int used = fprintf(out, "  %-12s ", command_at(i)->name);
    print_wrapped(out, command_at(i)->summary, (unsigned)used, 15, terminal_width(out));
    fputc('\n', out);
  }
  fputs("\nOptions:\n"
        "  -h, --help                Show this page.\n"
        "  -V, --version             Show the version.\n\n",
        out);
  char last[128];
  snprintf(last, sizeof last, "'%s help COMMAND' shows the page of a command, with examples.\n", this_program.name);
  print_lines(out, last);
}

/* "  -j, --jobs=N" and then the sentence, beside it or below it. */
static void help_option(FILE *out, const option *o) {
  const char *argument = option_argument(o);
  char sentence[600];
  int used = o->letter != 0 ? fprintf(out, "  -%c, --%s", o->letter, o->name) : fprintf(out, "      --%s", o->name);
  if (*argument != 0) used += fprintf(out, o->bare ? "[=%s]" : "=%s", argument);
  if (used > OPTION_COLUMN - 2) {
    fputc('\n', out);
    used = 0;
  }
  fprintf(out, "%*s", OPTION_COLUMN - used, "");
  snprintf(sentence, sizeof sentence, "%s%s%s%s", o->help, o->initial != NULL ? " [" : "",
           o->initial != NULL ? o->initial : "", o->initial != NULL ? "]" : "");
  print_wrapped(out, sentence, OPTION_COLUMN, OPTION_COLUMN, terminal_width(out));
  fputc('\n', out);
}

/* One heading a group, in the order in which groups first appear. */
static void help_options(FILE *out, const option *table, size_t count) {
  const char *group = "";
  for (size_t i = 0; i < count; i++) {
    const char *mine = table[i].group != NULL ? table[i].group : "Options";
    if (strcmp(mine, group) != 0) fprintf(out, "\n%s:\n", mine);
    group = mine;
    help_option(out, &table[i]);
  }
}

void help_command(FILE *out, const command *c) {
  int used = fprintf(out, "Usage: %s %s ", this_program.name, c->name);
  print_wrapped(out, c->synopsis, (unsigned)used, (unsigned)used, terminal_width(out));
  fputs("\n", out);
  for (const char *const *p = c->description; *p != NULL; p++) {
    fputc('\n', out);
    print_wrapped(out, *p, 0, 0, terminal_width(out));
    fputc('\n', out);
  }
  if (c->arguments != NULL) {
    fputs("\nArguments:\n  ", out);
    print_wrapped(out, c->arguments, 2, 2, terminal_width(out));
    fputc('\n', out);
  }
  help_options(out, c->options, c->option_count);
  help_options(out, common_options, COMMON_OPTIONS);
  fputs("\nExamples:\n", out);
  for (size_t i = 0; i < c->example_count; i++) {
    char says[200];
    int code = c->examples[i].exit_code;
    if (code == 0)
      snprintf(says, sizeof says, "%s", c->examples[i].says);
    else
      snprintf(says, sizeof says, "%s (exit code %d)", c->examples[i].says, code);
    fputs("  $ ", out);
    print_command(out, c->examples[i].line, 4, 8, terminal_width(out));
    fputs("\n      ", out);
    print_wrapped(out, says, 6, 6, terminal_width(out));
    fputc('\n', out);
  }
  fputs("\nExit codes:\n", out);
#define EXIT_X(name, code, weight, text)                                                                               \
  fprintf(out, "  %3d  ", code);                                                                                       \
  print_wrapped(out, text, 7, 7, terminal_width(out));                                                                 \
  fputc('\n', out);
  EXIT_LIST(EXIT_X)
#undef EXIT_X
}

static void list_examples(void) {
  for (size_t i = 0; command_at(i) != NULL; i++) {
    const command *c = command_at(i);
    for (size_t e = 0; e < c->example_count; e++) printf("%d\t%s\n", c->examples[e].exit_code, c->examples[e].line);
  }
}

enum { HELP_MAN, HELP_EXAMPLES, HELP_OPTIONS };

static int run(options *parsed) {
  if (parsed->argument_count > 1) {
    message("help: expected one command, found '%s' as well", parsed->arguments[1]);
    return EXIT_USAGE;
  }
  if (parsed->values[HELP_EXAMPLES].on) {
    list_examples();
    return EXIT_SATISFIED;
  }
  bool man = parsed->values[HELP_MAN].on;
  if (parsed->argument_count == 0) {
    if (man)
      man_program(stdout);
    else
      help_program(stdout);
    return EXIT_SATISFIED;
  }
  const command *c = command_find(parsed->arguments[0]);
  if (c == NULL) return EXIT_USAGE;
  if (man)
    man_command(stdout, c);
  else
    help_command(stdout, c);
  return EXIT_SATISFIED;
}

static const option table[HELP_OPTIONS] = {
    [HELP_MAN] = {.name = "man", .type = OPTION_FLAG, .help = "Print the manual page (roff, for man -l) instead."},
    [HELP_EXAMPLES] = {.name = "examples",
                       .type = OPTION_FLAG,
                       .help = "List every example of every page: its exit code, a tab, the command line."},
};

static const example examples[] = {
    {"isoproof help check", 0, "Show the page of check."},
    {"isoproof help --man check > isoproof-check.1", 0, "Write a manual page; 'man -l' shows it."},
};

static const char *const description[] = {"Shows the page of a command, or without one the list of commands. The same "
                                          "pages are available as 'isoproof COMMAND "
                                          "--help', and as manual pages isoproof(1), isoproof-check(1) and so on.",
                                          NULL};

const command command_help = {"help",
                              "Show the page of a command",
                              "[--man] [COMMAND]",
                              description,
                              "COMMAND: the name of a command.",
                              "commands",
                              table,
                              HELP_OPTIONS,
                              examples,
                              COUNT_OF(examples),
                              run};
