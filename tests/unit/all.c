/* all.c - the program of all unit tests: test_NAME OPTION..., or unit NAME OPTION...; unit alone lists them. */
#include "tests/unit/all.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
} tests[] = {
#define UNIT_X(name) {#name, unit_##name},
    UNIT_TESTS(UNIT_X)
#undef UNIT_X
};

enum { TESTS = sizeof tests / sizeof *tests };

int main(int argc, char **argv) {
  const char *slash = strrchr(argv[0], '/'), *own = slash != NULL ? slash + 1 : argv[0];
  const char *name = strncmp(own, "test_", 5) == 0 ? own + 5 : argc > 1 ? argv[1] : NULL;
  int skipped = name != NULL && name == argv[1];
  for (int i = 0; i < TESTS && name != NULL; i++)
    if (strcmp(tests[i].name, name) == 0) return tests[i].run(argc - skipped, argv + skipped);
  if (name != NULL) fprintf(stderr, "%s: no unit test is called %s\n", argv[0], name);
  for (int i = 0; i < TESTS && name == NULL; i++) puts(tests[i].name);
  return name != NULL ? 2 : 0;
}
