/* products.c - which product answers behind a wire protocol, and what it documents. */
#include "database/products.h"

#include <stdio.h>
#include <string.h>

#define PRODUCT(name_, title_, sign_, number_, standbys_, locks_, blocked_, partitions_, states_, hashes_, paths_,     \
                rounds_, batches_, initial_)                                                                           \
  {.id = ISO_PRODUCT_##name_,                                                                                          \
   .title = (title_),                                                                                                  \
   .sign = (sign_),                                                                                                    \
   .number = (number_),                                                                                                \
   .standbys = (standbys_),                                                                                            \
   .locks = (locks_),                                                                                                  \
   .blocked = (blocked_),                                                                                              \
   .partitions = (partitions_),                                                                                        \
   .states = (states_),                                                                                                \
   .hashes = (hashes_),                                                                                                \
   .paths = (paths_),                                                                                                  \
   .rounds = (rounds_),                                                                                                \
   .batches = (batches_),                                                                                              \
   .initial = (initial_)},

static const iso_product of_postgres[] = {
#define PRODUCTS_OF_POSTGRES
#include "database/products.def"
#undef PRODUCTS_OF_POSTGRES
};

static const iso_product of_mariadb[] = {
#define PRODUCTS_OF_MARIADB
#include "database/products.def"
#undef PRODUCTS_OF_MARIADB
};
#undef PRODUCT

const iso_product *iso_product_of(iso_sql_dialect dialect, const char *version) {
  const iso_product *at = dialect == ISO_SQL_POSTGRES ? of_postgres : of_mariadb;
  /* The last one has no sign of its own. */
  while (at->sign[0] != 0 && strstr(version, at->sign) == NULL) at++;
  return at;
}

/* A number of its own comes after a sign; other versions are what comes before a blank with a parenthesis or " on ". */
void iso_product_version(const iso_product *product, const char *version, char *text, size_t size) {
  const char *own = product->number != NULL ? strstr(version, product->number) : NULL;
  if (own == NULL) {
    snprintf(text, size, "%s", product->title);
    return;
  }
  own += strlen(product->number);
  snprintf(text, size, "%s %.*s", product->title, (int)strcspn(own, " ,("), own);
}

size_t iso_product_claims(const iso_product *product, iso_claim claims[ISO_PRODUCT_LEVELS]) {
  static const struct {
    iso_product_id product;
    iso_claim claim;
  } documented[] = {
      {ISO_PRODUCT_COCKROACH, ISO_CLAIM_COCKROACH_READ_COMMITTED},
      {ISO_PRODUCT_COCKROACH, ISO_CLAIM_COCKROACH_SERIALIZABLE},
      {ISO_PRODUCT_YUGABYTE, ISO_CLAIM_YUGABYTE_READ_COMMITTED},
      {ISO_PRODUCT_YUGABYTE, ISO_CLAIM_YUGABYTE_REPEATABLE_READ},
      {ISO_PRODUCT_YUGABYTE, ISO_CLAIM_YUGABYTE_SERIALIZABLE},
      {ISO_PRODUCT_POSTGRES, ISO_CLAIM_POSTGRES_READ_UNCOMMITTED},
      {ISO_PRODUCT_POSTGRES, ISO_CLAIM_POSTGRES_READ_COMMITTED},
      {ISO_PRODUCT_POSTGRES, ISO_CLAIM_POSTGRES_REPEATABLE_READ},
      {ISO_PRODUCT_POSTGRES, ISO_CLAIM_POSTGRES_SERIALIZABLE},
      {ISO_PRODUCT_TIDB, ISO_CLAIM_TIDB_READ_COMMITTED},
      {ISO_PRODUCT_TIDB, ISO_CLAIM_TIDB_REPEATABLE_READ},
  };
  size_t count = 0;
  for (size_t i = 0; i < sizeof documented / sizeof *documented && count < ISO_PRODUCT_LEVELS; i++)
    if (documented[i].product == product->id) claims[count++] = documented[i].claim;
  return count;
}
