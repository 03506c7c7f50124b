/* blame.c - injected bugs as JSON lines and as a summary. */
#include "cli/commands/blame.h"

#include <inttypes.h>
#include <string.h>

#include "cli/terminal/json.h"
#include "cli/terminal/message.h"

static void print_blame(FILE *out, const isoproof_history *history, const isoproof_injected_bug *blame) {
  json j = {.out = out};
  json_open(&j, '{');
  json_name(&j, "bug");
  json_string(&j, isoproof_sim_bug_name(blame->bug));
  json_name(&j, "level");
  json_string(&j, blame->level);
  json_name(&j, "transactions");
  json_open(&j, '[');
  for (size_t i = 0; i < blame->txn_count; i++) {
    char name[128];
    isoproof_history_txn_name(history, blame->txns[i], name, sizeof name);
    json_string(&j, name);
  }
  json_close(&j, ']');
  json_name(&j, "keys");
  json_open(&j, '[');
  for (size_t i = 0; i < blame->key_count; i++) json_scalar(&j, blame->keys[i]);
  json_close(&j, ']');
  json_close(&j, '}');
  fputc('\n', out);
}

int write_blames(const char *path, const isoproof_history *history, const isoproof_injected_bugs *blames) {
  bool standard = strcmp(path, "-") == 0;
  FILE *out = standard ? stdout : fopen(path, "we");
  if (out == NULL) {
    message_errno(path, "open it for writing");
    return EXIT_USAGE;
  }
  isoproof_injected_bug blame = {.struct_size = sizeof blame};
  for (size_t i = 0; isoproof_injected_bug_at(blames, i, &blame); i++) print_blame(out, history, &blame);
  bool failed = fflush(out) != 0 || ferror(out) != 0;
  if (!standard && fclose(out) != 0) failed = true;
  if (failed && !standard) message_errno(path, "write to it");
  return failed ? EXIT_USAGE : EXIT_SATISFIED;
}

void summarise_blames(const isoproof_injected_bugs *blames) {
  uint64_t counts[ISOPROOF_SIM_BUGS] = {0};
  isoproof_injected_bug blame = {.struct_size = sizeof blame};
  for (size_t i = 0; isoproof_injected_bug_at(blames, i, &blame); i++) {
    if ((unsigned)blame.bug < ISOPROOF_SIM_BUGS) counts[blame.bug]++;
  }
  for (int bug = 0; bug < ISOPROOF_SIM_BUGS; bug++) {
    if (counts[bug] == 0) continue;
    message("injected %" PRIu64 " %s, which breaks %s", counts[bug], isoproof_sim_bug_name((isoproof_sim_bug)bug),
            isoproof_sim_bug_level((isoproof_sim_bug)bug));
  }
}
