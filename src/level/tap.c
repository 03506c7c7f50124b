/* The table of patterns, and which levels a pattern breaks. */
#include "level/tap.h"

#include <string.h>

static const iso_tap_info taps[ISO_TAPS] = {
#define ISO_X(name, code_, class_, form_, axiom_, edges_)                                                              \
  [ISO_TAP_##name] = {.code = (code_),                                                                                 \
                      .class = ISO_CLASS_##class_,                                                                     \
                      .form = ISO_FORM_##form_,                                                                        \
                      .axiom = ISO_AXIOM_##axiom_,                                                                     \
                      .edges = (edges_)},
    ISO_TAP_LIST(ISO_X)
#undef ISO_X
};

const iso_tap_info *iso_tap_of(iso_tap tap) { return &taps[tap]; }

iso_tap iso_tap_find(const char *name) {
  const isoproof_anomaly_info *info = isoproof_anomaly_find(name);
  for (int tap = 0; info != NULL && tap < ISO_TAPS; tap++) {
    if (strcmp(info->code, taps[tap].code) == 0) return (iso_tap)tap;
  }
  return ISO_TAPS;
}

/* TAP-j breaks cut isolation and everything from read atomic up, the others everything from read committed up and the
 * session guarantees. */
bool iso_tap_breaks(iso_tap tap, const isoproof_level_info *level) {
  const iso_tap_info *t = &taps[tap];
  const isoproof_anomaly_info *anomaly = isoproof_anomaly_find(t->code);
  if (anomaly == NULL || anomaly->level == NULL) return false;
  const iso_strong_level *strong = iso_strong_level_of(level);
  if (strong != NULL && strong->single) return iso_tap_is_of_reads(tap);
  /* A model without session order knows nothing of cycles through sessions, which are searched for without it. */
  bool without_sessions = (t->edges & ISO_EDGE_BIT(ISO_EDGE_SO)) == 0;
  if (level->family == ISOPROOF_LEVEL_MODEL) return strong != NULL && without_sessions;
  if (t->axiom == ISO_AXIOM_READ_COMMITTED && level->family == ISOPROOF_LEVEL_SESSION) return true;
  const isoproof_level_info *weakest = isoproof_level_find(anomaly->level);
  return weakest != NULL && isoproof_level_implies(level, weakest);
}

bool iso_tap_shows_at(iso_tap tap, iso_axiom axiom) {
  const iso_tap_info *t = &taps[tap];
  if (t->class != ISO_CLASS_AXIOM) return false;
  return axiom >= t->axiom && axiom <= (t->form == ISO_FORM_CM ? ISO_AXIOM_CAUSAL : t->axiom);
}
