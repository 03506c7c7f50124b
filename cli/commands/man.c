/* man.c - manual pages in roff, from the same tables as the help pages. */
#include <ctype.h>
#include <string.h>

#include "cli/commands/program.h"

/* Text with what roff would interpret escaped: a backslash, a dash (which must stay one), a leading dot or quote. */
static void roff(FILE *out, const char *text) {
  bool line_starts = true;
  for (; *text != 0; text++) {
    if (line_starts && (*text == '.' || *text == '\'')) fputs("\\&", out);
    line_starts = *text == '\n';
    if (*text == '\\')
      fputs("\\e", out);
    else if (*text == '-')
      fputs("\\-", out);
    else if (*text == '\'')
      fputs("\\(aq", out);
    else if (*text == '\n')
      fputs("\n.br\n", out);
    else
      fputc(*text, out);
  }
}

static void title(FILE *out, const char *name) {
  fputs(".TH \"", out);
  for (const char *c = name; *c != 0; c++) fputc(toupper((unsigned char)*c), out);
  fprintf(out, "\" \"1\" \"\" \"isoproof %s\" \"User Commands\"\n", isoproof_version());
  /* Left-aligned and never hyphenated, so that option names stay whole. */
  fputs(".nh\n.ad l\n", out);
}

static void exit_codes(FILE *out) {
  fputs(".SH EXIT STATUS\n", out);
#define EXIT_X(name, code, weight, text)                                                                               \
  fprintf(out, ".TP\n.B %d\n", code);                                                                                  \
  roff(out, text);                                                                                                     \
  fputc('\n', out);
  EXIT_LIST(EXIT_X)
#undef EXIT_X
}

static void man_options(FILE *out, const option *table, size_t count) {
  const char *group = "Options";
  for (size_t i = 0; i < count; i++) {
    const option *o = &table[i];
    const char *mine = o->group != NULL ? o->group : "Options", *argument = option_argument(o);
    if (strcmp(mine, group) != 0) fprintf(out, ".SS %s\n", mine);
    group = mine;
    fputs(".TP\n", out);
    if (o->letter != 0) fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", out);
    roff(out, o->name);
    fputs("\\fR", out);
    if (*argument != 0) {
      fputs(o->bare ? "[=\\fI" : "=\\fI", out);
      roff(out, argument);
      fputs(o->bare ? "\\fR]" : "\\fR", out);
    }
    fputc('\n', out);
    roff(out, o->help);
    if (o->initial != NULL) {
      fputs(" Default: ", out);
      roff(out, o->initial);
      fputc('.', out);
    }
    fputc('\n', out);
  }
}

static void paragraphs(FILE *out, const char *const *texts) {
  for (const char *const *p = texts; *p != NULL; p++) {
    roff(out, *p);
    fputs(p[1] != NULL ? "\n.PP\n" : "\n", out);
  }
}

void man_program(FILE *out) {
  title(out, this_program.name);
  fputs(".SH NAME\n", out);
  roff(out, this_program.name);
  fputs(" \\- ", out);
  roff(out, this_program.summary);
  fputs("\n.SH SYNOPSIS\n.B ", out);
  roff(out, this_program.name);
  fputs("\n\\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n.SH DESCRIPTION\n", out);
  paragraphs(out, this_program.description);
  fputs(".SH COMMANDS\n", out);
  for (size_t i = 0; command_at(i) != NULL; i++) {
    fputs(".TP\n\\fB", out);
    roff(out, this_program.name);
    fprintf(out, "\\-%s\\fR(1)\n", command_at(i)->name);
    roff(out, command_at(i)->summary);
    fputs(".\n", out);
  }
  fputs(".SH OPTIONS\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nShow the list of commands.\n"
        ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\nShow the version.\n",
        out);
  exit_codes(out);
}

void man_command(FILE *out, const command *c) {
  char name[64];
  snprintf(name, sizeof name, "%s-%s", this_program.name, c->name);
  title(out, name);
  fputs(".SH NAME\n", out);
  roff(out, name);
  fputs(" \\- ", out);
  roff(out, c->summary);
  fputs("\n.SH SYNOPSIS\n.B ", out);
  roff(out, this_program.name);
  fprintf(out, " %s\n", c->name);
  roff(out, c->synopsis);
  fputs("\n.SH DESCRIPTION\n", out);
  paragraphs(out, c->description);
  if (c->arguments != NULL) {
    fputs(".PP\n", out);
    roff(out, c->arguments);
    fputc('\n', out);
  }
  fputs(".SH OPTIONS\n", out);
  man_options(out, c->options, c->option_count);
  man_options(out, common_options, COMMON_OPTIONS);
  fputs(".SH EXAMPLES\n", out);
  for (size_t i = 0; i < c->example_count; i++) {
    roff(out, c->examples[i].says);
    fputs("\n.PP\n.nf\n.RS\n", out);
    roff(out, c->examples[i].line);
    fputs("\n.RE\n.fi\n.PP\n", out);
  }
  exit_codes(out);
  fputs(".SH SEE ALSO\n\\fB", out);
  roff(out, this_program.name);
  fputs("\\fR(1)\n", out);
}
