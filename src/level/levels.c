/* The tables of levels and models, and the closure of their implications. */
#include "level/levels.h"

#include "level/examples.h"

#define NAMES(...)                                                                                                     \
  (const char *const[]) { __VA_ARGS__, NULL }

static const isoproof_level_info levels[ISO_LEVEL_COUNT] = {
#define LEVEL(name, id_, aliases_, family_, times, friendly_, same_as_, example_, title_, summary_, definition_,       \
              decided)                                                                                                 \
  [ISO_LEVEL_##name] = {.number = ISO_LEVEL_##name,                                                                    \
                        .id = (id_),                                                                                   \
                        .aliases = aliases_,                                                                           \
                        .family = ISOPROOF_LEVEL_##family_,                                                            \
                        .needs_times = (times),                                                                        \
                        .title = (title_),                                                                             \
                        .summary = (summary_),                                                                         \
                        .definition = (definition_),                                                                   \
                        .same_as = (same_as_),                                                                         \
                        .friendly = (friendly_),                                                                       \
                        .example = iso_example_##example_,                                                             \
                        .walkthrough = iso_walkthrough_##example_},
#include "level/levels.def"
#include "level/models.def"
#undef LEVEL
};

static const struct {
  uint8_t stronger, weaker;
} edges[] = {
#define EDGE(stronger, weaker, why, source) {ISO_LEVEL_##stronger, ISO_LEVEL_##weaker},
#define ALSO(stronger, weaker, why, source)
#include "level/edges.def"
#undef EDGE
#undef ALSO
};

enum { EDGES = sizeof edges / sizeof edges[0] };

static char fold(char c) {
  if (c >= 'A' && c <= 'Z') return (char)(c - 'A' + 'a');
  return c == '_' || c == ' ' ? '-' : c;
}

bool iso_level_same_name(const char *a, const char *b) {
  while (*a != '\0' && fold(*a) == fold(*b)) {
    a++;
    b++;
  }
  return *a == '\0' && *b == '\0';
}

/* The id or alias that a name is, as the table spells it; NULL when it is none. */
static const char *spelling(const isoproof_level_info *level, const char *name) {
  if (iso_level_same_name(level->id, name)) return level->id;
  for (const char *const *alias = level->aliases; *alias != NULL; alias++) {
    if (iso_level_same_name(*alias, name)) return *alias;
  }
  return NULL;
}

static bool is_called(const isoproof_level_info *level, const char *name) { return spelling(level, name) != NULL; }

static const struct {
  const char *name, *stands_for;
} short_names[] = {
#define SHORT(name, stands_for) {name, stands_for},
#include "level/short_names.def"
#undef SHORT
};

enum { SHORT_NAMES = sizeof short_names / sizeof short_names[0] };

const char *iso_level_long_name(const char *name) {
  for (size_t i = 0; i < SHORT_NAMES; i++) {
    if (iso_level_same_name(short_names[i].name, name)) return short_names[i].stands_for;
  }
  return name;
}

const char *iso_level_shown(const isoproof_level_info *level, const char *name) {
  const char *spelled = name != NULL ? spelling(level, name) : NULL;
  if (spelled == NULL) return level->friendly;
  const char *meant = iso_level_long_name(spelled);
  if (meant == spelled) return spelled;
  /* What a short name stands for is a name of the row, as the table of short names says. */
  return is_called(level, meant) && !iso_level_same_name(meant, level->id) ? spelling(level, meant) : level->friendly;
}

bool isoproof_level_short_name_at(size_t number, const char **name, const char **stands_for) {
  if (number >= SHORT_NAMES) return false;
  *name = short_names[number].name;
  *stands_for = short_names[number].stands_for;
  return true;
}

const isoproof_level_info *isoproof_level_at(size_t number) {
  return number < ISO_LEVEL_COUNT ? &levels[number] : NULL;
}

/* The levels come before the models in the table, so the first hit is the level. */
const isoproof_level_info *isoproof_level_find(const char *name) {
  if (name == NULL) return NULL;
  for (size_t i = 0; i < ISO_LEVEL_COUNT; i++) {
    if (is_called(&levels[i], name)) return &levels[i];
  }
  return NULL;
}

const isoproof_level_info *isoproof_level_find_in(const char *name, isoproof_level_family family) {
  if (name == NULL) return NULL;
  for (size_t i = 0; i < ISO_LEVEL_COUNT; i++) {
    if (levels[i].family == family && is_called(&levels[i], name)) return &levels[i];
  }
  return NULL;
}

/* The table mostly has the edges of weaker levels first, so that a pass from its end hardly ever needs a second one but
 * to find out that nothing changes any more. */
iso_level_set iso_level_implied(iso_level level) {
  iso_level_set seen = ISO_LEVEL_BIT(level), before = 0;
  while (seen != before) {
    before = seen;
    for (size_t i = EDGES; i-- > 0;) seen |= (seen >> edges[i].stronger & 1) << edges[i].weaker;
  }
  return seen;
}

/* The other way round, from the beginning of the table. */
iso_level_set iso_level_implying(iso_level_set set) {
  iso_level_set seen = set, before = 0;
  while (seen != before) {
    before = seen;
    for (size_t i = 0; i < EDGES; i++) seen |= (seen >> edges[i].weaker & 1) << edges[i].stronger;
  }
  return seen;
}

iso_level_set iso_level_weakest(iso_level_set set) {
  iso_level_set result = 0;
  for (unsigned i = 0; i < ISO_LEVEL_COUNT; i++) {
    if ((set & ISO_LEVEL_BIT(i)) == 0) continue;
    if ((iso_level_implied((iso_level)i) & set) == ISO_LEVEL_BIT(i)) result |= ISO_LEVEL_BIT(i);
  }
  return result;
}

iso_level_set iso_level_strongest(iso_level_set set) {
  iso_level_set implied = 0;
  for (unsigned i = 0; i < ISO_LEVEL_COUNT; i++) {
    if ((set & ISO_LEVEL_BIT(i)) != 0) implied |= iso_level_implied((iso_level)i) & ~ISO_LEVEL_BIT(i);
  }
  return set & ~implied;
}

bool isoproof_level_implies(const isoproof_level_info *stronger, const isoproof_level_info *weaker) {
  if (stronger == NULL || weaker == NULL) return false;
  if (stronger->number >= ISO_LEVEL_COUNT || weaker->number >= ISO_LEVEL_COUNT) return false;
  return (iso_level_implied((iso_level)stronger->number) & ISO_LEVEL_BIT(weaker->number)) != 0;
}

bool isoproof_level_implication_at(size_t number, const isoproof_level_info **stronger,
                                   const isoproof_level_info **weaker) {
  if (number >= EDGES) return false;
  *stronger = &levels[edges[number].stronger];
  *weaker = &levels[edges[number].weaker];
  return true;
}
