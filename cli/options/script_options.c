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

int script_explain(const isoproof_run_options *run, const char *cluster) {
  isoproof_run_options how = *run;
  isoproof_error error = {.offset = -1};
  /* Which database it is says the first word. */
  char url[64];
  const char *urls[] = {url};
  if (cluster != NULL) {
    bool mariadb = strncmp(cluster, "galera", 6) == 0;
    snprintf(url, sizeof url, "%.*s:", (int)strcspn(mariadb ? "mariadb" : cluster, ":,-"), mariadb ? "mariadb" : cluster);
    how.urls = urls;
    how.url_count = 1;
  }
  isoproof_status status = isoproof_script_explain(&how, write_stream, stdout, &error);
  if (status == ISOPROOF_OK) return EXIT_SATISFIED;
  if (!output_gone()) message_error(&error, NULL);
  return exit_of_status(status);
}
