/* claims.c - the table of what databases document about their isolation levels. */
#include "database/claims.h"

#include "base/abi.h"

static const isoproof_claim claims[ISO_CLAIMS] = {
#define CLAIM(name, database_, versions_, isolation_, level_, lists_, says_, source_, url_)                            \
  [ISO_CLAIM_##name] = {.struct_size = sizeof(isoproof_claim),                                                         \
                        .database = (database_),                                                                       \
                        .versions = (versions_),                                                                       \
                        .isolation = (isolation_),                                                                     \
                        .level = (level_),                                                                             \
                        .level_of_lists = (lists_),                                                                    \
                        .says = (says_),                                                                               \
                        .source = (source_),                                                                           \
                        .url = (url_)},
#include "database/claims.def"
#undef CLAIM
};

const isoproof_claim *iso_claim_of(iso_claim claim) { return &claims[claim]; }

bool isoproof_claim_at(size_t number, isoproof_claim *out) {
  return number < ISO_CLAIMS && ISO_STRUCT_GIVE(out, claims[number]);
}
