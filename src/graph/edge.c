/* Names of the kinds of edges. */
#include "graph/edge.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {
#define ISO_X(name, id, text) id,
    ISO_EDGE_LIST(ISO_X)
#undef ISO_X
};

const char *iso_edge_name(iso_edge_kind kind) { return (unsigned)kind < ISO_EDGE_KINDS ? names[kind] : "?"; }

bool iso_edge_find(const char *name, iso_edge_kind *kind) {
  for (int i = 0; name != NULL && i < ISO_EDGE_KINDS; i++) {
    if (strcmp(names[i], name) != 0) continue;
    *kind = (iso_edge_kind)i;
    return true;
  }
  return false;
}
