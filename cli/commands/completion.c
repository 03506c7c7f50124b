/* completion.c - scripts that complete isoproof's commands, options and names in bash, zsh and fish. */
#include <isoproof/level.h>
#include <string.h>

#include "cli/commands/command.h"
#include "cli/options/names.h"

static const char *shell_choice(size_t number) {
  static const char *const names[] = {"bash", "zsh", "fish"};
  return number < COUNT_OF(names) ? names[number] : NULL;
}

/* Levels, then anomalies: what explain knows. */
static const char *topic_at(size_t number) {
  size_t seen = 0;
  while (level_name_at(seen) != NULL) {
    if (seen++ == number) return level_name_at(number);
  }
  const isoproof_anomaly_info *anomaly = isoproof_anomaly_at(number - seen);
  return anomaly != NULL ? anomaly->code : NULL;
}

static choices_fn argument_choices(const command *c) {
  if (c->completes == NULL) return NULL;
  if (strcmp(c->completes, "topics") == 0) return topic_at;
  if (strcmp(c->completes, "commands") == 0) return command_name_at;
  if (strcmp(c->completes, "shells") == 0) return shell_choice;
  return NULL;
}

static void words(choices_fn choices) {
  for (size_t i = 0; choices(i) != NULL; i++) printf("%s%s", i == 0 ? "" : " ", choices(i));
}

/* Calls `each` for every option of a command, its own and the common ones. */
static void for_options(const command *c, void (*each)(const command *, const option *)) {
  for (size_t i = 0; i < c->option_count; i++) each(c, &c->options[i]);
  for (size_t i = 0; i < COMMON_OPTIONS; i++) each(c, &common_options[i]);
}

/* ---- bash ---- */

static void bash_name(const command *c, const option *o) {
  (void)c;
  printf(" --%s%s", o->name, o->type == OPTION_FLAG || o->bare ? "" : "=");
}

static void bash_bare(const command *c, const option *o) {
  (void)c;
  if (o->bare) printf("|--%s", o->name);
}

static void bash_values(const command *c, const option *o) {
  if (o->type == OPTION_FLAG) return;
  printf("    %s:--%s", c->name, o->name);
  if (o->letter != 0) printf("|%s:-%c", c->name, o->letter);
  fputs(") ", stdout);
  if (o->choices != NULL) {
    fputs("names='", stdout);
    words(o->choices);
    puts("' ;;");
  } else {
    puts(o->type == OPTION_FILE ? "files=1 ;;" : "return ;;");
  }
}

static void bash(void) {
  fputs("# isoproof completion for bash: source it, or save it in ~/.local/share/bash-completion/completions/isoproof\n"
        "_isoproof() {\n"
        "  local cur=${COMP_WORDS[COMP_CWORD]} prev= command=${COMP_WORDS[1]} names= files= head= sign=\n"
        "  COMPREPLY=()\n"
        "  (( COMP_CWORD > 0 )) && prev=${COMP_WORDS[COMP_CWORD-1]}\n"
        "  # Where = breaks words, --level=ser arrives as three of them.\n"
        "  if [[ $cur == = ]]; then cur= sign=1; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]} sign=1; "
        "fi\n"
        "  if (( COMP_CWORD == 1 )); then\n"
        "    COMPREPLY=($(compgen -W '",
        stdout);
  words(command_name_at);
  fputs(" --help --version' -- \"$cur\"))\n    return\n  fi\n"
        "  # Some options need no value: what comes after a blank is none of theirs.\n"
        "  case $sign$prev in =",
        stdout);
  for (size_t i = 0; command_at(i) != NULL; i++) for_options(command_at(i), bash_bare);
  fputs(") prev= ;; esac\n  case $command:$prev in\n", stdout);
  for (size_t i = 0; command_at(i) != NULL; i++) for_options(command_at(i), bash_values);
  fputs("    *)\n      case $command in\n", stdout);
  for (size_t i = 0; command_at(i) != NULL; i++) {
    const command *c = command_at(i);
    printf("        %s)\n          if [[ $cur == -* ]]; then names='", c->name);
    for_options(c, bash_name);
    fputs("'; else ", stdout);
    if (argument_choices(c) != NULL) {
      fputs("names='", stdout);
      words(argument_choices(c));
      fputs("'", stdout);
    } else {
      fputs(c->completes != NULL ? "files=1" : ":", stdout);
    }
    puts("; fi ;;");
  }
  fputs("      esac ;;\n  esac\n"
        "  if [[ $files ]]; then\n"
        "    COMPREPLY=($(compgen -f -- \"$cur\"))\n"
        "    compopt -o filenames 2> /dev/null\n"
        "    return\n"
        "  fi\n"
        "  # Names separated by commas complete one by one.\n"
        "  if [[ $cur == *,* ]]; then head=${cur%,*},; cur=${cur##*,}; fi\n"
        "  COMPREPLY=($(compgen -P \"$head\" -W \"$names\" -- \"$cur\"))\n"
        "  [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2> /dev/null\n"
        "  return 0\n"
        "}\n"
        "complete -F _isoproof isoproof\n",
        stdout);
}

/* ---- zsh ---- */

/* Inside '...[...]': quotes end the string, brackets the description, a colon the field. */
static void zsh_text(const char *text) {
  for (; *text != 0; text++) {
    if (*text == '\'')
      fputs("'\\''", stdout);
    else if (strchr("[]:\\", *text) != NULL)
      printf("\\%c", *text);
    else
      fputc(*text, stdout);
  }
}

static void zsh_action(const option *o) {
  if (o->type == OPTION_FLAG) return;
  printf("%s%s:", o->bare ? "::" : ":", o->name);
  if (o->type == OPTION_FILE) {
    fputs("_files", stdout);
  } else if (o->choices != NULL && o->type == OPTION_LIST) {
    fputs("_sequence compadd - ", stdout);
    words(o->choices);
  } else if (o->choices != NULL) {
    fputs("(", stdout);
    words(o->choices);
    fputs(")", stdout);
  }
}

static void zsh_option(const command *c, const option *o) {
  (void)c;
  const char *star = o->type == OPTION_LIST ? "*" : "";
  if (o->letter != 0) {
    printf(" \\\n        '%s-%c[", star, o->letter);
    zsh_text(o->help);
    fputs("]", stdout);
    zsh_action(o);
    fputs("'", stdout);
  }
  printf(" \\\n        '%s--%s%s[", star, o->name, o->type == OPTION_FLAG ? "" : o->bare ? "=-" : "=");
  zsh_text(o->help);
  fputs("]", stdout);
  zsh_action(o);
  fputs("'", stdout);
}

static void zsh(void) {
  fputs("#compdef isoproof\n# isoproof completion for zsh: save it as _isoproof in a directory of $fpath\n"
        "_isoproof() {\n  local -a commands\n  local curcontext=$curcontext\n  commands=(\n",
        stdout);
  for (size_t i = 0; command_at(i) != NULL; i++) {
    printf("    '%s:", command_at(i)->name);
    zsh_text(command_at(i)->summary);
    puts("'");
  }
  fputs("  )\n"
        "  if (( CURRENT == 2 )); then\n"
        "    _describe -t commands command commands\n"
        "    _arguments '--help[Show the list of commands.]' '--version[Show the version.]'\n"
        "    return\n  fi\n"
        "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
        "  case $command in\n",
        stdout);
  for (size_t i = 0; command_at(i) != NULL; i++) {
    const command *c = command_at(i);
    printf("    %s)\n      _arguments -s", c->name);
    for_options(c, zsh_option);
    if (argument_choices(c) != NULL) {
      fputs(" \\\n        '*:name:(", stdout);
      words(argument_choices(c));
      fputs(")'", stdout);
    } else if (c->completes != NULL) {
      fputs(" \\\n        '*:file:_files'", stdout);
    }
    fputs(" ;;\n", stdout);
  }
  fputs("  esac\n}\nif [[ $funcstack[1] == _isoproof ]]; then _isoproof \"$@\"; else compdef _isoproof isoproof; fi\n",
        stdout);
}

/* ---- fish ---- */

static void fish_text(const char *text) {
  fputc('\'', stdout);
  for (; *text != 0; text++) {
    if (*text == '\'' || *text == '\\') fputc('\\', stdout);
    fputc(*text, stdout);
  }
  fputc('\'', stdout);
}

static void fish_option(const command *c, const option *o) {
  printf("complete -c isoproof -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
  if (o->letter != 0) printf(" -s %c", o->letter);
  if (o->type == OPTION_FILE)
    fputs(" -r -F", stdout);
  else if (o->type != OPTION_FLAG && !o->bare)
    fputs(" -x", stdout);
  if (o->choices != NULL) {
    fputs(" -a '", stdout);
    words(o->choices);
    fputs("'", stdout);
  }
  fputs(" -d ", stdout);
  fish_text(o->help);
  putchar('\n');
}

static void fish(void) {
  puts("# isoproof completion for fish: save it in ~/.config/fish/completions/isoproof.fish");
  puts("complete -c isoproof -f");
  puts("complete -c isoproof -n __fish_use_subcommand -l help -s h -d 'Show the list of commands.'");
  puts("complete -c isoproof -n __fish_use_subcommand -l version -s V -d 'Show the version.'");
  for (size_t i = 0; command_at(i) != NULL; i++) {
    const command *c = command_at(i);
    printf("complete -c isoproof -n __fish_use_subcommand -a %s -d ", c->name);
    fish_text(c->summary);
    putchar('\n');
    for_options(c, fish_option);
    if (c->completes == NULL) continue;
    printf("complete -c isoproof -n '__fish_seen_subcommand_from %s'", c->name);
    if (argument_choices(c) == NULL) {
      puts(" -F");
      continue;
    }
    fputs(" -a '", stdout);
    words(argument_choices(c));
    puts("'");
  }
}

/* ---- the command ---- */

static int run(options *parsed) {
  if (parsed->argument_count != 1) {
    message("completion: expected one shell: bash, zsh or fish");
    return EXIT_USAGE;
  }
  void (*const scripts[])(void) = {bash, zsh, fish};
  for (size_t i = 0; shell_choice(i) != NULL; i++) {
    if (strcmp(shell_choice(i), parsed->arguments[0]) != 0) continue;
    scripts[i]();
    return EXIT_SATISFIED;
  }
  message("completion: expected bash, zsh or fish, found '%s'", parsed->arguments[0]);
  return EXIT_USAGE;
}

static const example examples[] = {
    {"isoproof completion bash > isoproof.bash && . isoproof.bash", 0, "Complete isoproof in this shell."},
    {"isoproof completion fish > isoproof.fish", 0, "Write the script for fish to a file."},
};

static const char *const description[] = {
    "Prints a script that completes commands, options, and the names of levels, formats and anomalies.",
    "bash: source it, or save it as ~/.local/share/bash-completion/completions/isoproof.\n"
    "zsh: save it as _isoproof in a directory of $fpath.\n"
    "fish: save it as ~/.config/fish/completions/isoproof.fish.",
    NULL};

const command command_completion = {"completion",
                                    "Print a completion script for bash, zsh or fish",
                                    "bash|zsh|fish",
                                    description,
                                    "The shell: bash, zsh or fish.",
                                    "shells",
                                    NULL,
                                    0,
                                    examples,
                                    COUNT_OF(examples),
                                    run};
