/* Why a level implies another: the shortest way along direct implications, each with its reason and its source. */
#include <isoproof/distinguish.h>

#include "base/abi.h"
#include "level/levels.h"

/* Names for the citations, so that a row of edges.def can only have one that is there. */
enum {
#define SOURCE(name, citation) SOURCE_##name,
#include "level/sources.def"
#undef SOURCE
  SOURCES
};

static const char *const sources[SOURCES] = {
#define SOURCE(name, citation) [SOURCE_##name] = (citation),
#include "level/sources.def"
#undef SOURCE
};

typedef struct step {
  uint8_t stronger, weaker, source;
  bool drawn;
  const char *why;
} step;

static const step steps[] = {
#define EDGE(stronger, weaker, why, source) {ISO_LEVEL_##stronger, ISO_LEVEL_##weaker, SOURCE_##source, true, why},
#define ALSO(stronger, weaker, why, source) {ISO_LEVEL_##stronger, ISO_LEVEL_##weaker, SOURCE_##source, false, why},
#include "level/edges.def"
#undef EDGE
#undef ALSO
};

enum { STEPS = sizeof steps / sizeof steps[0] };

/* A way from one level to others: the step by which each was reached. */
typedef struct way {
  uint64_t reached;
  const step *by[ISO_LEVEL_COUNT];
} way;

static bool is_model(unsigned level) { return isoproof_level_at(level)->family == ISOPROOF_LEVEL_MODEL; }

/* One round of steps from what is reached: from level to level, as long as the way leads to one.  Linearizable is asked
 * of single operations only: what follows from it follows for those, so that a way begins there or does not go on
 * there. */
static void spread(way *w, iso_level from, iso_level to, bool drawn_only) {
  uint64_t before = w->reached;
  for (size_t i = 0; i < STEPS; i++) {
    const step *s = &steps[i];
    if (drawn_only && !s->drawn) continue;
    if (is_model(s->weaker) && !is_model(from) && !is_model(to)) continue;
    if ((before & ISO_LEVEL_BIT(s->stronger)) == 0 || (w->reached & ISO_LEVEL_BIT(s->weaker)) != 0) continue;
    if (!drawn_only && s->stronger == ISO_LEVEL_LINEARIZABLE && from != ISO_LEVEL_LINEARIZABLE) continue;
    w->reached |= ISO_LEVEL_BIT(s->weaker);
    w->by[s->weaker] = s;
  }
}

static bool find_way(way *w, iso_level from, iso_level to, bool drawn_only) {
  *w = (way){.reached = ISO_LEVEL_BIT(from)};
  for (uint64_t before = 0; before != w->reached && (w->reached & ISO_LEVEL_BIT(to)) == 0;) {
    before = w->reached;
    spread(w, from, to, drawn_only);
  }
  return (w->reached & ISO_LEVEL_BIT(to)) != 0;
}

bool isoproof_proof_step_at(const isoproof_level_info *stronger, const isoproof_level_info *weaker, size_t number,
                            isoproof_proof_step *out) {
  if (stronger == NULL || weaker == NULL || out == NULL) return false;
  iso_level from = (iso_level)stronger->number, to = (iso_level)weaker->number;
  way w;
  if (!find_way(&w, from, to, true) && !find_way(&w, from, to, false)) return false;
  const step *chain[ISO_LEVEL_COUNT];
  size_t length = 0;
  for (unsigned at = to; at != from; at = w.by[at]->stronger) chain[length++] = w.by[at];
  if (number >= length) return false;
  const step *s = chain[length - 1 - number];
  isoproof_proof_step made = {.struct_size = sizeof made,
                              .stronger = isoproof_level_at(s->stronger),
                              .weaker = isoproof_level_at(s->weaker),
                              .why = s->why,
                              .source = sources[s->source],
                              .drawn = s->drawn};
  return ISO_STRUCT_GIVE(out, made);
}
