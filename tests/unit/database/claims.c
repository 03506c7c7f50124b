/* What databases document: known levels, sources that are addresses, and docs/databases.md with the same table. */
#include "tests/unit/unit.h"

#ifndef ISOPROOF_SOURCE_ROOT
#define ISOPROOF_SOURCE_ROOT "."
#endif

static char *read_docs(void) {
  FILE *in = fopen(ISOPROOF_SOURCE_ROOT "/docs/databases.md", "r");
  assert_non_null(in);
  char *text = calloc(1, 1 << 20);
  assert_non_null(text);
  assert_true(fread(text, 1, (1 << 20) - 1, in) > 0);
  fclose(in);
  return text;
}

static void test_claims(void **state) {
  (void)state;
  isoproof_claim claim = {.struct_size = sizeof claim};
  size_t count = 0;
  for (; isoproof_claim_at(count, &claim); count++) {
    if (claim.level != NULL) assert_string_equal(isoproof_level_find(claim.level)->id, claim.level);
    if (claim.level_of_lists != NULL) assert_non_null(isoproof_level_find(claim.level_of_lists));
    assert_true(strncmp(claim.url, "https://", 8) == 0);
    assert_true(claim.says[0] != 0 && claim.source[0] != 0 && claim.versions[0] != 0);
  }
  assert_true(count > 10);
}

static void test_docs_have_the_table(void **state) {
  (void)state;
  isoproof_claim claim = {.struct_size = sizeof claim};
  char *docs = read_docs();
  size_t claims = 0, rows = 0;
  for (; isoproof_claim_at(claims, &claim); claims++) {
    char row[1024];
    snprintf(row, sizeof row, "\n| %s | %s | %s | %s%s%s | %s | [%s](%s) |\n", claim.database, claim.versions,
             claim.isolation, claim.level != NULL ? claim.level : "-",
             claim.level_of_lists != NULL ? ", of lists " : "",
             claim.level_of_lists != NULL ? claim.level_of_lists : "", claim.says, claim.source, claim.url);
    if (strstr(docs, row) == NULL) fail_msg("docs/databases.md lacks the row%s", row);
  }
  for (const char *at = docs; (at = strstr(at, "](https://")) != NULL; at++)
    rows += strncmp(strchr(at, ')'), ") |\n", 4) == 0;
  assert_int_equal(rows, claims);
  free(docs);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_claims), cmocka_unit_test(test_docs_have_the_table)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
