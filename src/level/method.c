/* The column of the tables of levels that says how each of them is decided. */
#include "level/method.h"

#include <string.h>

enum { SESSIONS = 1, TIMES = 2, SINGLE = 4 };

#define WITHIN .engine = ISO_ENGINE_WITHIN
#define ELLE .engine = ISO_ENGINE_ELLE
#define AXIOM(name) .engine = ISO_ENGINE_AXIOM, .axiom = ISO_AXIOM_##name
#define STRONG(name, orders)                                                                                           \
  .engine = ISO_ENGINE_STRONG, .strong.rule = ISO_RULE_##name, .strong.session_order = ((orders)&SESSIONS) != 0,       \
  .strong.real_time = ((orders)&TIMES) != 0, .strong.single = ((orders)&SINGLE) != 0

static const iso_level_method methods[ISO_LEVEL_COUNT] = {
#define LEVEL(name, id_, aliases, family, times, friendly, same_as, example, title, summary, definition, decided)      \
  [ISO_LEVEL_##name] = {.strong.level = ISO_LEVEL_##name, .strong.id = (id_), decided},
#include "level/levels.def"
#include "level/models.def"
#undef LEVEL
};

const iso_level_method *iso_level_method_of(const isoproof_level_info *info) { return &methods[info->number]; }

const isoproof_level_info *iso_axiom_level(iso_axiom axiom) {
  for (size_t i = 0; i < ISO_LEVEL_COUNT; i++) {
    if (methods[i].engine == ISO_ENGINE_AXIOM && methods[i].axiom == axiom) return isoproof_level_at(i);
  }
  return NULL;
}

const char *iso_rule_text(iso_rule rule) {
  static const char *const texts[] = {
#define ISO_X(name, function, text) text,
      ISO_RULE_LIST(ISO_X)
#undef ISO_X
  };
  return (unsigned)rule < ISO_RULES ? texts[rule] : "";
}

static bool is_model_of(const isoproof_level_info *model, const isoproof_level_info *level) {
  return model->family == ISOPROOF_LEVEL_MODEL && model->same_as != NULL && strcmp(model->same_as, level->id) == 0;
}

/* The number-th level of the engine STRONG among the models of `level`, or, after those, the level itself. */
static const iso_strong_level *strong_of(const isoproof_level_info *level, size_t *number) {
  for (size_t i = 0; i < ISO_LEVEL_COUNT; i++) {
    if (methods[i].engine != ISO_ENGINE_STRONG || !is_model_of(isoproof_level_at(i), level)) continue;
    if ((*number)-- == 0) return &methods[i].strong;
  }
  if (methods[level->number].engine != ISO_ENGINE_STRONG) return NULL;
  return (*number)-- == 0 ? &methods[level->number].strong : NULL;
}

const iso_strong_level *iso_strong_level_at(size_t number) {
  const iso_strong_level *found = NULL;
  for (size_t i = 0; i < ISO_LEVEL_COUNT && found == NULL; i++) {
    const isoproof_level_info *level = isoproof_level_at(i);
    if (level->family != ISOPROOF_LEVEL_MODEL) found = strong_of(level, &number);
  }
  return found;
}

const iso_strong_level *iso_strong_level_of(const isoproof_level_info *info) {
  const iso_level_method *method = info != NULL ? iso_level_method_of(info) : NULL;
  return method != NULL && method->engine == ISO_ENGINE_STRONG ? &method->strong : NULL;
}
