/* anomalies.h - numbers of anomalies, and which models an anomaly rules out.  The tables are constant data: nothing is
 * owned. */
#ifndef ISO_LEVEL_ANOMALIES_H
#define ISO_LEVEL_ANOMALIES_H

#include "level/levels.h"

/* The number of an anomaly: ISO_ANOMALY_TAP_A, ISO_ANOMALY_G_SINGLE_ITEM, ... */
typedef enum iso_anomaly {
#define ANOMALY(symbol, code, kind, name, aliases, level, example, satisfies, meaning) ISO_ANOMALY_##symbol,
#include "level/anomalies.def"
#undef ANOMALY
  ISO_ANOMALY_COUNT
} iso_anomaly;

/* Every model that a history with this anomaly violates.  For several anomalies take the union of their sets; the
 * weakest models of the union (iso_level_weakest) are Elle's "not", the others its "also-not".  Patterns of registers
 * (TAP) rule out no model: their level is in the table. */
iso_level_set iso_anomaly_rules_out(iso_anomaly anomaly);
/* Whether an anomaly, by its code, rules out a model: several models that do not imply each other may forbid it.  False
 * for levels, and for codes that are unknown. */
bool iso_anomaly_breaks_model(const char *code, const isoproof_level_info *model);
/* Whether `anomaly` counts as `other`, reflexively and transitively: who forbids `other` forbids it too. */
bool iso_anomaly_is(iso_anomaly anomaly, iso_anomaly other);
/* Whether `model` forbids `anomaly` by itself, in its definition. */
bool iso_model_forbids(iso_level model, iso_anomaly anomaly);
/* Whether some anomaly rules the model out; others are only placed in the lattice. */
bool iso_model_forbids_some(iso_level model);

#endif
