/* Dumps the tables of levels and anomalies and has tests/tools/level_oracle.py judge them: every example by trying all
 * orders, and, where Elle's rules are at hand, every model and anomaly against those. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "level/anomalies.h"
#include "level/levels.h"
#include "tests/scratch.h"

#ifndef ISOPROOF_SOURCE_ROOT
#define ISOPROOF_SOURCE_ROOT "."
#endif

static bool is_model(const isoproof_level_info *info) { return info->family == ISOPROOF_LEVEL_MODEL; }

static void dump_text(FILE *out, const char *text) {
  if (text == NULL) {
    fputs("null", out);
    return;
  }
  fputc('"', out);
  for (; *text != '\0'; text++) {
    if (*text == '\n')
      fputs("\\n", out);
    else if (*text == '"' || *text == '\\')
      fprintf(out, "\\%c", *text);
    else
      fputc(*text, out);
  }
  fputc('"', out);
}

static void dump_field(FILE *out, const char *name, const char *text) {
  fprintf(out, ",\"%s\":", name);
  dump_text(out, text);
}

static void dump_list(FILE *out, const char *name, const char *const *texts) {
  fprintf(out, ",\"%s\":", name);
  if (texts == NULL) {
    fputs("null", out);
    return;
  }
  for (size_t i = 0; texts[i] != NULL; i++) {
    fputc(i == 0 ? '[' : ',', out);
    dump_text(out, texts[i]);
  }
  fputs(texts[0] == NULL ? "[]" : "]", out);
}

/* A level implies models too, which the oracle has no examples for: each side keeps to itself. */
static void dump_set(FILE *out, const char *name, iso_level_set set, bool models) {
  const char *ids[ISO_LEVEL_COUNT + 1];
  size_t count = 0;
  for (unsigned i = 0; i < ISO_LEVEL_COUNT; i++) {
    if ((set & ISO_LEVEL_BIT(i)) != 0 && is_model(isoproof_level_at(i)) == models)
      ids[count++] = isoproof_level_at(i)->id;
  }
  ids[count] = NULL;
  dump_list(out, name, ids);
}

static void dump_level(FILE *out, const isoproof_level_info *info) {
  static const char *const families[] = {"base", "session", "model"};
  iso_level_set direct = 0;
  const isoproof_level_info *stronger, *weaker;
  const char *forbidden[ISO_ANOMALY_COUNT + 1];
  size_t count = 0;
  for (size_t i = 0; isoproof_level_implication_at(i, &stronger, &weaker); i++) {
    if (stronger == info) direct |= ISO_LEVEL_BIT(weaker->number);
  }
  for (unsigned i = 0; i < ISO_ANOMALY_COUNT; i++) {
    if (iso_model_forbids((iso_level)info->number, (iso_anomaly)i)) forbidden[count++] = isoproof_anomaly_at(i)->code;
  }
  forbidden[count] = NULL;
  fputs("{\"id\":", out);
  dump_text(out, info->id);
  dump_field(out, "family", families[info->family]);
  fprintf(out, ",\"needs_times\":%s", info->needs_times ? "true" : "false");
  dump_field(out, "friendly", info->friendly);
  dump_field(out, "example", info->example);
  dump_list(out, "aliases", info->aliases);
  dump_list(out, "forbids", forbidden);
  dump_set(out, "direct", direct, is_model(info));
  dump_set(out, "implies", iso_level_implied((iso_level)info->number), is_model(info));
  fputc('}', out);
}

static void dump_anomaly(FILE *out, const isoproof_anomaly_info *info) {
  static const char *const kinds[] = {"tap", "elle", "phenomenon"};
  iso_level_set all = iso_anomaly_rules_out((iso_anomaly)info->number);
  iso_level_set weakest = iso_level_weakest(all);
  const char *implied[ISO_ANOMALY_COUNT + 1];
  const isoproof_anomaly_info *other;
  size_t count = 0;
  while ((other = isoproof_anomaly_counts_as_at(info, count)) != NULL) implied[count++] = other->code;
  implied[count] = NULL;
  fputs("{\"code\":", out);
  dump_text(out, info->code);
  dump_field(out, "kind", kinds[info->kind]);
  dump_field(out, "level", info->level);
  dump_field(out, "example", info->example);
  dump_list(out, "satisfies", info->satisfies);
  dump_list(out, "implies", implied);
  dump_set(out, "not", weakest, true);
  dump_set(out, "also_not", all & ~weakest, true);
  fputc('}', out);
}

static void dump_tables(FILE *out) {
  fputs("{\"levels\":[", out);
  for (size_t i = 0; i < ISO_LEVEL_COUNT; i++) {
    if (i > 0) fputs(",\n", out);
    dump_level(out, isoproof_level_at(i));
  }
  fputs("],\"anomalies\":[", out);
  for (size_t i = 0; i < ISO_ANOMALY_COUNT; i++) {
    if (i > 0) fputs(",\n", out);
    dump_anomaly(out, isoproof_anomaly_at(i));
  }
  fputs("]}\n", out);
}

/* Elle's rules, when they are at hand: $ISOPROOF_SHARED/data or ../shared/data beside the source tree. */
static bool find_rules(char *path, size_t size) {
  const char *shared = getenv("ISOPROOF_SHARED");
  if (shared != NULL)
    snprintf(path, size, "%s/data/elle-models.json", shared);
  else
    snprintf(path, size, "%s/../shared/data/elle-models.json", ISOPROOF_SOURCE_ROOT);
  return access(path, R_OK) == 0;
}

static void test_oracle(void **state) {
  (void)state;
  char tables[SCRATCH_BYTES];
  char rules[1024];
  bool have_rules = find_rules(rules, sizeof rules);
  if (!have_rules) print_message("Elle's rules are not here (%s): not compared\n", rules);
  int fd = scratch_file(tables);
  assert_true(fd >= 0);
  FILE *out = fdopen(fd, "w");
  assert_non_null(out);
  dump_tables(out);
  assert_int_equal(fclose(out), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    const char *script = ISOPROOF_SOURCE_ROOT "/tests/tools/level_oracle.py";
    execlp("python3", "python3", script, tables, have_rules ? rules : NULL, (char *)NULL);
    _exit(127);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  unlink(tables);
  assert_true(WIFEXITED(status));
  if (WEXITSTATUS(status) == 127) {
    print_message("python3 is not here: the examples were not judged\n");
    skip();
  }
  assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_oracle)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
