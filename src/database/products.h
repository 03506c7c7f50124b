/* products.h - the products behind a wire protocol (products.def), told apart by what they say of their version.
 *
 * Constant: nothing is owned.
 */
#ifndef ISO_DATABASE_PRODUCTS_H
#define ISO_DATABASE_PRODUCTS_H

#include "database/claims.h"
#include "database/driver_sql.h"

typedef enum iso_product_id {
#define PRODUCTS_OF_POSTGRES
#define PRODUCTS_OF_MARIADB
#define PRODUCT(name, ...) ISO_PRODUCT_##name,
#include "database/products.def"
#undef PRODUCT
#undef PRODUCTS_OF_POSTGRES
#undef PRODUCTS_OF_MARIADB
  ISO_PRODUCTS
} iso_product_id;

enum { ISO_PRODUCT_LEVELS = 4 };

typedef struct iso_product {
  iso_product_id id;
  const char *title, *sign, *number;
  bool standbys, locks, blocked, partitions, states, hashes, paths, rounds, batches;
  const char *initial;
} iso_product;

/* Which product it is, by the version that its server tells ("" where it tells none); `dialect` says which protocol:
 * ISO_SQL_POSTGRES or ISO_SQL_MARIADB. */
const iso_product *iso_product_of(iso_sql_dialect dialect, const char *version);
/* "TiDB 7.5.1": the product and its own number. */
void iso_product_version(const iso_product *product, const char *version, char *text, size_t size);
/* What the product documents, weakest first; returns how many.  Those of MariaDB and MySQL depend on settings: 0. */
size_t iso_product_claims(const iso_product *product, iso_claim claims[ISO_PRODUCT_LEVELS]);

#endif
