/* Names of the isolation levels that transactions carry as their own. */
#include "history/isolation.h"

#include <isoproof/history.h>
#include <string.h>

static const uint8_t levels[ISO_ISOLATIONS] = {
#define ISO_X(name, code) [code] = ISO_LEVEL_##name,
    ISO_ISOLATION_LIST(ISO_X)
#undef ISO_X
};

const char *iso_txn_isolation_id(iso_txn_isolation isolation) {
  if (isolation == ISO_ISOLATION_NONE || isolation >= ISO_ISOLATIONS) return NULL;
  return isoproof_level_at(levels[isolation])->id;
}

const char *isoproof_isolation_at(size_t number) {
  return number < ISO_ISOLATIONS - 1 ? iso_txn_isolation_id((iso_txn_isolation)(number + 1)) : NULL;
}

iso_txn_isolation iso_txn_isolation_of_level(uint32_t level) {
  for (unsigned i = ISO_ISOLATION_NONE + 1; i < ISO_ISOLATIONS; i++) {
    if (levels[i] == level) return (iso_txn_isolation)i;
  }
  return ISO_ISOLATION_NONE;
}

bool iso_txn_isolation_find(const char *name, size_t length, iso_txn_isolation *isolation) {
  char text[64];
  if (length >= sizeof text || memchr(name, '\0', length) != NULL) return false;
  memcpy(text, name, length);
  text[length] = '\0';
  const isoproof_level_info *level = isoproof_level_find_in(text, ISOPROOF_LEVEL_BASE);
  *isolation = level != NULL ? iso_txn_isolation_of_level(level->number) : ISO_ISOLATION_NONE;
  return *isolation != ISO_ISOLATION_NONE;
}
