/* The smallest histories that tell levels apart, as the search of tests/distinguish found them. */
#include "level/distinctions.h"

#include <isoproof/distinguish.h>

#include "base/abi.h"
#include "level/anomalies.h"
#include "level/method.h"

#define L(level) ISO_LEVEL_BIT(ISO_LEVEL_##level)
#define ASKED(set) (set)
#define HOLDS(set) (set)

static const iso_distinction distinctions[] = {
#define SEARCHED(kind, transactions, operations, judged)
#define DISTINCTION(kind, transactions, operations, sessions, keys, history, asked, holds)                             \
  {ISO_DISTINCTION_##kind, transactions, operations, sessions, keys, history, asked, holds},
#include "level/distinctions.def"
#undef SEARCHED
#undef DISTINCTION
};

enum { DISTINCTIONS = sizeof distinctions / sizeof distinctions[0] };

static const struct {
  iso_distinction_kind kind;
  unsigned transactions, operations;
} searched[] = {
#define SEARCHED(kind, transactions, operations, judged) {ISO_DISTINCTION_##kind, transactions, operations},
#define DISTINCTION(kind, transactions, operations, sessions, keys, history, asked, holds)
#include "level/distinctions.def"
#undef SEARCHED
#undef DISTINCTION
};

enum { SEARCHES = sizeof searched / sizeof searched[0] };

/* What one level needs.  Of registers, most models are not decided: nobody knows the order of their versions. */
static unsigned needs_of(iso_level level) {
  const isoproof_level_info *info = isoproof_level_at(level);
  unsigned needs = info->needs_times ? ISO_DISTINCTION_TIMES : ISO_DISTINCTION_PLAIN;
  if (level == ISO_LEVEL_MIXED) needs |= ISO_DISTINCTION_LABELS;
  if (iso_level_method_of(info)->engine == ISO_ENGINE_ELLE) needs |= ISO_DISTINCTION_LISTS;
  return needs;
}

iso_distinction_kind iso_distinction_kind_of(iso_level allows, iso_level forbids) {
  return (iso_distinction_kind)(needs_of(allows) | needs_of(forbids));
}

const iso_distinction *iso_distinction_at(size_t number) {
  return number < DISTINCTIONS ? &distinctions[number] : NULL;
}

const iso_distinction *iso_distinction_of(iso_level allows, iso_level forbids) {
  iso_distinction_kind kind = iso_distinction_kind_of(allows, forbids);
  for (size_t i = 0; i < DISTINCTIONS; i++) {
    const iso_distinction *d = &distinctions[i];
    bool tells = (d->holds & ISO_LEVEL_BIT(allows)) != 0 && (d->asked & ~d->holds & ISO_LEVEL_BIT(forbids)) != 0;
    if (d->kind == kind && tells) return d;
  }
  return NULL;
}

unsigned iso_distinction_searched(iso_distinction_kind kind, unsigned transactions) {
  for (size_t i = 0; i < SEARCHES; i++) {
    if (searched[i].kind == kind && searched[i].transactions == transactions) return searched[i].operations;
  }
  return 0;
}

/* ---- the public functions ---- */

static const char *const formats[ISO_DISTINCTION_KINDS] = {
#define ISO_X(name, format) [ISO_DISTINCTION_##name] = (format),
    ISO_DISTINCTION_KIND_LIST(ISO_X)
#undef ISO_X
};

bool isoproof_can_distinguish(const isoproof_level_info *level) {
  if (level == NULL || isoproof_level_find(level->id) != level) return false;
  return level->family != ISOPROOF_LEVEL_MODEL || iso_model_forbids_some((iso_level)level->number);
}

bool isoproof_distinguish(const isoproof_level_info *allows, const isoproof_level_info *forbids,
                          isoproof_distinction *out) {
  if (allows == NULL || forbids == NULL || out == NULL) return false;
  const iso_distinction *d = iso_distinction_of((iso_level)allows->number, (iso_level)forbids->number);
  if (d == NULL) return false;
  isoproof_distinction made = {.struct_size = sizeof made,
                               .history = d->history,
                               .format = formats[d->kind],
                               .transactions = d->transactions,
                               .operations = d->operations,
                               .sessions = d->sessions,
                               .keys = d->keys,
                               .lists = iso_distinction_has(d->kind, ISO_DISTINCTION_LISTS)};
  return ISO_STRUCT_GIVE(out, made);
}

uint32_t isoproof_distinguish_searched(const isoproof_level_info *allows, const isoproof_level_info *forbids,
                                       uint32_t transactions) {
  if (!isoproof_can_distinguish(allows) || !isoproof_can_distinguish(forbids)) return 0;
  return iso_distinction_searched(iso_distinction_kind_of((iso_level)allows->number, (iso_level)forbids->number),
                                  transactions);
}
