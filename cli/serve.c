/* serve.c - `isolde serve`: past runs in a browser, on this machine only. */
#include <isoproof/serve.h>

#include "cli/command.h"
#include "cli/interrupt.h"

enum { SERVE_PORT, SERVE_OPTIONS };

static int run(options *parsed) {
  const option_value *port = &parsed->values[SERVE_PORT];
  isolde_server_options how = {.struct_size = sizeof how,
                               .directory = parsed->argument_count > 0 ? parsed->arguments[0] : "isolde-out",
                               .port = port->given ? (uint16_t)port->integer : 8321};
  isolde_error error = {.offset = -1};
  isolde_server *server;
  if (parsed->argument_count > 1) {
    message("serve: expected one directory, found %zu", parsed->argument_count);
    return EXIT_USAGE;
  }
  isolde_task *task = interrupt_task_new();
  if (task == NULL) {
    message("out of memory");
    return EXIT_UNKNOWN;
  }
  isolde_status status = isolde_server_open(&how, &server, &error);
  if (status == ISOLDE_OK) {
    printf("%s\n", isolde_server_url(server));
    fflush(stdout);
    if (!common_quiet(parsed)) message("serving %s until Ctrl-C", how.directory);
    status = isolde_server_run(server, task, &error);
    isolde_server_free(server);
  }
  if (status != ISOLDE_OK) message_error(&error, NULL);
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
    {"timeout -s INT 1 isolde serve --port=0 /tmp || test $? = 124", 0,
     "Look at what isolde test saved; Ctrl-C ends it (here after a second)."},
};

static const char *const description[] = {
    "Lists the results that 'isolde test' saved below a directory, and makes the page, the drawing and the JSON of "
    "each "
    "on demand. It prints its address and serves until Ctrl-C.",
    "It listens on 127.0.0.1 and ::1 only, changes nothing, follows no symbolic links, and answers only requests that "
    "name this machine as their host, so that no web page can read your results.",
    NULL};

const command command_serve = {"serve",
                               "Show past runs in a browser, on this machine only",
                               "[DIRECTORY] [--port=N]",
                               description,
                               "DIRECTORY: where 'isolde test' saved its runs (default: isolde-out).",
                               "files",
                               table,
                               SERVE_OPTIONS,
                               examples,
                               COUNT_OF(examples),
                               run};
