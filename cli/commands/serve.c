/* serve.c - `isoproof serve`: past runs in a browser, on this machine only. */
#include <isoproof/serve.h>

#include "cli/commands/command.h"
#include "cli/terminal/interrupt.h"

enum { SERVE_PORT, SERVE_OPTIONS };

static int run(options *parsed) {
  const option_value *port = &parsed->values[SERVE_PORT];
  isoproof_server_options how = {.struct_size = sizeof how,
                                 .directory = parsed->argument_count > 0 ? parsed->arguments[0] : "isoproof-out",
                                 .port = port->given ? (uint16_t)port->integer : 8321};
  isoproof_error error = {.offset = -1};
  isoproof_server *server;
  if (parsed->argument_count > 1) {
    message("serve: expected one directory, found %zu", parsed->argument_count);
    return EXIT_USAGE;
  }
  isoproof_task *task = interrupt_task_new();
  if (task == NULL) {
    message("out of memory");
    return EXIT_UNKNOWN;
  }
  isoproof_status status = isoproof_server_open(&how, &server, &error);
  if (status == ISOPROOF_OK) {
    printf("%s\n", isoproof_server_url(server));
    fflush(stdout);
    if (!common_quiet(parsed)) message("serving %s until Ctrl-C", how.directory);
    status = isoproof_server_run(server, task, &error);
    isoproof_server_free(server);
  }
  if (status != ISOPROOF_OK) message_error(&error, NULL);
  interrupt_task_free(task);
  return exit_of_status(status);
}

static const option table[SERVE_OPTIONS] = {
    [SERVE_PORT] = {.name = "port",
                    .letter = 'p',
                    .type = OPTION_INTEGER,
                    .max = 65535,
                    .help = "Listen on this port; 0 means any that is free.",
                    .initial = "8321"},
};

static const example examples[] = {
    {"timeout -s INT 1 isoproof serve --port=0 . || test $? = 124", 0,
     "Look at what isoproof test saved; Ctrl-C ends it (here after a second)."},
};

static const char *const description[] = {
    "Lists the runs that 'isoproof test' saved below a directory, interrupted ones too: time, database, workload, "
    "expected level and verdict, to sort, filter and compare. It makes the page, the drawing and the JSON of each on "
    "demand. A run in progress that is judged live (test --live) is shown as it goes. It prints its address and serves "
    "until Ctrl-C.",
    "It listens on 127.0.0.1 and ::1 only, changes nothing, follows no symbolic links, and answers only requests that "
    "name this machine as their host, so that no web page can read your results.",
    NULL};

const command command_serve = {"serve",
                               "Show past runs in a browser, on this machine only",
                               "[DIRECTORY] [--port=N]",
                               description,
                               "DIRECTORY: where 'isoproof test' saved its runs (default: isoproof-out).",
                               "files",
                               table,
                               SERVE_OPTIONS,
                               examples,
                               COUNT_OF(examples),
                               run};
