/* claims.h - what databases document about their isolation levels (claims.def).  Constant: nothing is owned. */
#ifndef ISO_DATABASE_CLAIMS_H
#define ISO_DATABASE_CLAIMS_H

#include <isoproof/database.h>

typedef enum iso_claim {
#define CLAIM(name, database, versions, isolation, level, lists, says, source, url) ISO_CLAIM_##name,
#include "database/claims.def"
#undef CLAIM
  ISO_CLAIMS
} iso_claim;

const isoproof_claim *iso_claim_of(iso_claim claim);

#endif
