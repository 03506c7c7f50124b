/* levels.h - numbers and sets of levels, for code that reasons about many of them at once.  The table is constant data:
 * nothing is owned. */
#ifndef ISO_LEVEL_LEVELS_H
#define ISO_LEVEL_LEVELS_H

#include <isoproof/level.h>

/* The number of a level or model: ISO_LEVEL_SERIALIZABLE, ISO_LEVEL_M_PL_3, ... */
typedef enum iso_level {
#define LEVEL(name, id, aliases, family, times, friendly, same_as, example, title, summary, definition, decided)       \
  ISO_LEVEL_##name,
#include "level/levels.def"
#include "level/models.def"
#undef LEVEL
  ISO_LEVEL_COUNT
} iso_level;

/* A set of levels, bit `number` for each. */
typedef uint64_t iso_level_set;
_Static_assert(ISO_LEVEL_COUNT <= 64, "a set of levels is one word");

#define ISO_LEVEL_BIT(level) ((iso_level_set)1 << (unsigned)(level))

/* What a level implies, itself included. */
iso_level_set iso_level_implied(iso_level level);
/* Every level that implies one of the set: what falls when those fall. */
iso_level_set iso_level_implying(iso_level_set set);
/* The members that imply no other member ("not": the weakest ones ruled out). */
iso_level_set iso_level_weakest(iso_level_set set);
/* The members that no other member implies. */
iso_level_set iso_level_strongest(iso_level_set set);

/* The name under which a level is shown to whoever typed `name` for it: the name itself as the tables spell it, but the
 * everyday name for a short one (short_names.def); the everyday name, too, where the level is not called so. */
const char *iso_level_shown(const isoproof_level_info *level, const char *name);
/* What a short name stands for, everything else for itself. */
const char *iso_level_long_name(const char *name);

/* Whether two names are equal without regard to case, with '_' and ' ' taken as '-'. */
bool iso_level_same_name(const char *a, const char *b);

#endif
