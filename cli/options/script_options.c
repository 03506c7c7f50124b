/* script_options.c - from options to scripts of a run. */
#include "cli/options/script_options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/terminal/message.h"
#include "cli/terminal/output.h"

bool script_definition_begins(const char *text) {
  size_t length = 0;
  while (isalnum((unsigned char)text[length]) || text[length] == '_') length++;
  return length > 0 && text[length] == '=';
}

bool script_fill(const option_value *values, isoproof_run_options *run) {
  const option_value *files = &values[SCRIPT_FILES], *defined = &values[SCRIPT_DEFINE];
  if (files->item_count == 0 && (defined->given || values[SCRIPT_INSTRUMENT].on || values[SCRIPT_EXPLAIN].on)) {
    message("--define, --instrument and --explain-script need a script: --script=FILE");
    return false;
  }
  for (size_t i = 0; i < defined->item_count; i++) {
    if (script_definition_begins(defined->items[i])) continue;
    message("--define: expected NAME=VALUE, found '%s'", defined->items[i]);
    return false;
  }
  run->scripts = files->items;
  run->script_count = files->item_count;
  run->definitions = defined->items;
  run->definition_count = defined->item_count;
  run->instrument = values[SCRIPT_INSTRUMENT].on;
  return true;
}

bool script_is_explained(const option_value *values) { return values[SCRIPT_EXPLAIN].on; }

static int explain(const isoproof_run_options *run, const char *cluster, isoproof_write_fn write) {
  isoproof_run_options how = *run;
  isoproof_error error = {.offset = -1};
  /* Which database it is says the first word. */
  char url[64];
  const char *urls[] = {url};
  if (cluster != NULL) {
    const char *kind = strncmp(cluster, "galera", 6) == 0 ? "mariadb" : cluster;
    snprintf(url, sizeof url, "%.*s:", (int)strcspn(kind, ":,-"), kind);
    how.urls = urls;
    how.url_count = 1;
  }
  if (write != write_stream) how.instrument = false;
  isoproof_status status = isoproof_script_explain(&how, write, stdout, &error);
  if (status == ISOPROOF_OK) return EXIT_SATISFIED;
  if (!output_gone()) message_error(&error, NULL);
  return exit_of_status(status);
}

int script_explain(const isoproof_run_options *run, const char *cluster) { return explain(run, cluster, write_stream); }

static bool write_nothing(void *user, const void *data, size_t size) {
  (void)user;
  (void)data;
  (void)size;
  return true;
}

int script_check(const isoproof_run_options *run, const char *cluster) {
  return run->script_count > 0 ? explain(run, cluster, write_nothing) : EXIT_SATISFIED;
}
