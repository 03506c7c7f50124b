/* Products behind two wire protocols: told apart by what they really say of their versions. */
#include "database/products.h"

#include "database/driver_table.h"
#include "tests/unit/unit.h"

static const struct {
  iso_sql_dialect dialect;
  iso_product_id product;
  const char *says, *shown; /* NULL: the driver shows what the server says */
} servers[] = {
    {ISO_SQL_POSTGRES, ISO_PRODUCT_COCKROACH,
     "CockroachDB CCL v21.1.1 (x86_64-apple-darwin19, built 2021/05/24 15:00:00, go1.15.11)", "CockroachDB 21.1.1"},
    {ISO_SQL_POSTGRES, ISO_PRODUCT_COCKROACH,
     "CockroachDB CCL v24.3.5 (x86_64-pc-linux-gnu, built 2025/02/03 17:28:15, go1.22.8 X:nocoverageredesign)",
     "CockroachDB 24.3.5"},
    {ISO_SQL_POSTGRES, ISO_PRODUCT_COCKROACH,
     "CockroachDB OSS v22.2.0-alpha.1 (x86_64-pc-linux-gnu, built 2022/08/30 00:00:00, go1.18.4)",
     "CockroachDB 22.2.0-alpha.1"},
    {ISO_SQL_POSTGRES, ISO_PRODUCT_YUGABYTE,
     "PostgreSQL 11.2-YB-2.1.6.0-b0 on x86_64-pc-linux-gnu, compiled by gcc (Homebrew gcc 5.5.0_4) 5.5.0, 64-bit",
     "YugabyteDB 2.1.6.0-b0"},
    {ISO_SQL_POSTGRES, ISO_PRODUCT_YUGABYTE,
     "PostgreSQL 11.2-YB-2.21.0.1-b0 on x86_64-pc-linux-gnu, compiled by clang version 16.0.6 "
     "(https://github.com/yugabyte/llvm-project.git 1e6329f40e5c531c09ade7015278078682293ebd), 64-bit",
     "YugabyteDB 2.21.0.1-b0"},
    {ISO_SQL_POSTGRES, ISO_PRODUCT_YUGABYTE, "PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu",
     "YugabyteDB 2025.1.0.0-b0"},
    {ISO_SQL_POSTGRES, ISO_PRODUCT_POSTGRES,
     "PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) "
     "12.2.0, 64-bit",
     NULL},
    {ISO_SQL_POSTGRES, ISO_PRODUCT_POSTGRES, "PostgreSQL 12.2", NULL},
    {ISO_SQL_POSTGRES, ISO_PRODUCT_POSTGRES, "", NULL},
    {ISO_SQL_MARIADB, ISO_PRODUCT_TIDB, "5.7.25-TiDB-v7.5.0", "TiDB 7.5.0"},
    {ISO_SQL_MARIADB, ISO_PRODUCT_TIDB, "8.0.11-TiDB-v7.5.1", "TiDB 7.5.1"},
    {ISO_SQL_MARIADB, ISO_PRODUCT_TIDB, "8.0.11-TiDB-v7.5.6-serverless", "TiDB 7.5.6-serverless"},
    {ISO_SQL_MARIADB, ISO_PRODUCT_MARIADB, "10.11.14-MariaDB-0+deb12u2", NULL},
    {ISO_SQL_MARIADB, ISO_PRODUCT_MARIADB, "5.5.5-10.11.7-MariaDB-1:10.11.7+maria~ubu2204", NULL},
    {ISO_SQL_MARIADB, ISO_PRODUCT_MYSQL, "8.0.32", NULL},
    {ISO_SQL_MARIADB, ISO_PRODUCT_MYSQL, "8.4.0-0ubuntu0.24.04.1", NULL},
    {ISO_SQL_MARIADB, ISO_PRODUCT_MYSQL, "5.7.44-log", NULL},
    {ISO_SQL_MARIADB, ISO_PRODUCT_MYSQL, "", NULL},
};

static void knows_versions(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
    const iso_product *found = iso_product_of(servers[i].dialect, servers[i].says);
    char text[128];
    if (found->id != servers[i].product) fail_msg("%s: found %s", servers[i].says, found->title);
    assert_true((found->number != NULL) == (servers[i].shown != NULL));
    if (servers[i].shown == NULL) continue;
    iso_product_version(found, servers[i].says, text, sizeof text);
    assert_string_equal(text, servers[i].shown);
  }
  /* A version that breaks off. */
  char text[128];
  iso_product_version(iso_product_of(ISO_SQL_POSTGRES, "CockroachDB"), "CockroachDB", text, sizeof text);
  assert_string_equal(text, "CockroachDB");
}

/* Every product has levels under names of its own, weakest first, and its default is one of them. */
static void has_levels(void **state) {
  (void)state;
  static const struct {
    iso_product_id product;
    const char *levels[4];
  } wanted[] = {
      {ISO_PRODUCT_COCKROACH, {"read-committed", "serializable"}},
      {ISO_PRODUCT_YUGABYTE, {"read-committed", "snapshot-isolation", "serializable"}},
      {ISO_PRODUCT_POSTGRES, {"read-committed", "read-committed", "snapshot-isolation", "serializable"}},
      {ISO_PRODUCT_TIDB, {"read-committed", "snapshot-isolation"}},
      {ISO_PRODUCT_MARIADB, {NULL}},
      {ISO_PRODUCT_MYSQL, {NULL}},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    const iso_product *product = NULL;
    for (size_t j = 0; j < sizeof servers / sizeof *servers; j++)
      if (servers[j].product == wanted[i].product) product = iso_product_of(servers[j].dialect, servers[j].says);
    iso_claim claims[ISO_PRODUCT_LEVELS];
    size_t count = iso_product_claims(product, claims);
    bool initial = count == 0;
    for (size_t j = 0; j < count; j++) {
      const isoproof_claim *claim = iso_claim_of(claims[j]);
      assert_non_null(wanted[i].levels[j]);
      assert_string_equal(claim->level, wanted[i].levels[j]);
      assert_string_equal(claim->database, product->title);
      initial |= strcmp(claim->isolation, product->initial) == 0;
    }
    assert_true(count == ISO_PRODUCT_LEVELS || wanted[i].levels[count] == NULL);
    assert_true(initial);
  }
}

/* What a product that only imitates does not have is not believed: an advisory lock that is none would let a run take
 * the tables of another one for left over. */
static void believes_no_imitations(void **state) {
  (void)state;
  static const iso_product_id imitations[] = {ISO_PRODUCT_COCKROACH, ISO_PRODUCT_YUGABYTE, ISO_PRODUCT_TIDB};
  for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
    const iso_product *product = iso_product_of(servers[i].dialect, servers[i].says);
    bool imitates = false;
    for (size_t j = 0; j < 3; j++) imitates |= imitations[j] == product->id;
    assert_int_equal(product->locks, !imitates);
    assert_int_equal(product->states, !imitates);
    assert_int_equal(product->standbys, product->id == ISO_PRODUCT_POSTGRES);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(knows_versions), cmocka_unit_test(has_levels),
                                     cmocka_unit_test(believes_no_imitations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
