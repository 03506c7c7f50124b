/* program.c - from the command line to a command, and from its result to the exit code. */
#include "cli/commands/program.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <string.h>

#include "cli/options/suggest.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/secrets.h"

const command *command_at(size_t number) { return number < this_program.count ? this_program.commands[number] : NULL; }

const char *command_name_at(size_t number) { return number < this_program.count ? command_at(number)->name : NULL; }

const command *command_find(const char *name) {
  for (size_t i = 0; i < this_program.count; i++) {
    if (strcmp(command_at(i)->name, name) == 0) return command_at(i);
  }
  suggestion s = suggest_begin(name);
  suggest_offer_all(&s, command_name_at);
  if (suggest_best(&s) != NULL)
    message("unknown command '%s'; did you mean '%s'?", name, suggest_best(&s));
  else
    message("unknown command '%s'; '%s help' lists the commands", name, this_program.name);
  return NULL;
}

color_wish common_color(const options *parsed) {
  const option_value *value = &parsed->common[COMMON_COLOR];
  return value->given ? (color_wish)value->choice : COLOR_AUTO;
}

bool common_quiet(const options *parsed) { return parsed->common[COMMON_QUIET].on; }

static int run_command(const command *c, int argc, char **argv) {
  options parsed;
  int code = EXIT_USAGE;
  if (options_parse(&parsed, c->name, c->options, c->option_count, argc, argv)) {
    if (parsed.common[COMMON_HELP].on) {
      help_command(stdout, c);
      code = EXIT_SATISFIED;
    } else if (c->arguments == NULL && parsed.argument_count > 0) {
      message("%s takes no arguments, found '%s'", c->name, parsed.arguments[0]);
    } else {
      message_set_verbose(parsed.common[COMMON_VERBOSE].on && !common_quiet(&parsed));
      progress_begin(common_quiet(&parsed));
      code = c->run(&parsed);
      progress_end();
    }
  }
  options_free(&parsed);
  return code;
}

/* --version, --help, and everything else before a command. */
static int run_without_command(int argc, char **argv) {
  const char *first = argc > 1 ? argv[1] : NULL;
  if (first == NULL) {
    help_program(stderr);
    return EXIT_USAGE;
  }
  if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
    printf("%s %s\n", this_program.name, isoproof_version());
    return EXIT_SATISFIED;
  }
  if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
    help_program(stdout);
    return EXIT_SATISFIED;
  }
  suggestion s = suggest_begin(first);
  suggest_offer(&s, "--version");
  suggest_offer(&s, "--help");
  if (suggest_best(&s) != NULL)
    message("unknown option '%s'; did you mean '%s'?", first, suggest_best(&s));
  else
    message("unknown option '%s' before the command; '%s help' lists the commands", first, this_program.name);
  return EXIT_USAGE;
}

/* A standard stream that is closed must not become the number of the next file opened.  The substitute cannot be
 * written to, so that output still fails. */
static void occupy_streams(void) {
  for (int stream = 0; stream < 3; stream++) {
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF && open("/dev/null", O_RDONLY) != stream) return;
  }
}

/* Columns of a large history grow: as mappings of their own they are moved by the kernel instead of being copied. */
static void prefer_mappings(void) {
#ifdef M_MMAP_THRESHOLD
  enum { LARGE = 4 << 20 };
  (void)mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
}

char **program_begin(int argc, char **given) {
  /* First of all: others can read the arguments as long as they have passwords. */
  char **argv = secrets_take_arguments(argc, given);
  message_set_name(this_program.name);
  prefer_mappings();
  occupy_streams();
  interrupt_install();
  if (argv == NULL) message("out of memory");
  return argv;
}

int program_run(int argc, char **argv) {
  if (argv == NULL) return EXIT_UNKNOWN;
  if (argc < 2 || argv[1][0] == '-') return finish_output(run_without_command(argc, argv));
  const command *c = command_find(argv[1]);
  return finish_output(c == NULL ? EXIT_USAGE : run_command(c, argc - 2, argv + 2));
}
