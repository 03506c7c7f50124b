/* Which faults are going on, as the events of a run tell. */
#include <stdio.h>
#include <string.h>

#include "run/run.h"

/* "fault kill node 1 begin: ..." without its first and its last words: "kill node 1"; false for other events. */
static bool what_fails(const char *event, char *what, size_t size, bool *begins) {
  char kind[32], node[32], phase[16];
  if (sscanf(event, "fault %31s node %31s %15[a-z]", kind, node, phase) != 3) return false;
  *begins = strcmp(phase, "begin") == 0;
  if (!*begins && strcmp(phase, "end") != 0) return false;
  snprintf(what, size, "%s node %s", kind, node);
  return true;
}

void iso_active_faults_note(iso_active_faults *active, const char *event) {
  char what[sizeof *active->items];
  bool begins;
  if (!what_fails(event, what, sizeof what, &begins)) return;
  uint32_t at = 0;
  while (at < active->count && strcmp(active->items[at], what) != 0) at++;
  if (begins && at == active->count && at < ISO_ACTIVE_FAULTS)
    memcpy(active->items[active->count++], what, sizeof what);
  if (begins || at == active->count) return;
  active->count--;
  memmove(active->items[at], active->items[at + 1], (active->count - at) * sizeof *active->items);
}

const char *iso_active_faults_name(const iso_active_faults *active, char *text, size_t size) {
  if (active->count == 0) return NULL;
  const char *last = active->items[active->count - 1];
  if (active->count == 1)
    snprintf(text, size, "%s", last);
  else
    snprintf(text, size, "%s and %u more", last, active->count - 1);
  return text;
}
