/* What is known of the levels that were asked for: entered by whoever follows them. */
#include "live/levels.h"

iso_live_level *iso_live_level_of(isoproof_live *live, const isoproof_level_info *info) {
  for (size_t i = 0; i < live->levels.count; i++) {
    if (live->levels.items[i].info == info) return &live->levels.items[i];
  }
  return NULL;
}

bool iso_live_is_implied(const isoproof_live *live, const iso_live_level *level,
                         bool (*is_open)(const isoproof_live *live, const iso_live_level *level)) {
  for (size_t i = 0; i < live->levels.count; i++) {
    const iso_live_level *other = &live->levels.items[i];
    if (other == level || !is_open(live, other)) continue;
    if (isoproof_level_implies(other->info, level->info) && !isoproof_level_implies(level->info, other->info))
      return true;
  }
  return false;
}

void iso_live_enter_verdict(isoproof_live *live, iso_live_level *level, isoproof_verdict verdict, const char *reason) {
  if (verdict == ISOPROOF_VIOLATED && level->verdict != ISOPROOF_VIOLATED) level->since = live->pushed;
  level->verdict = verdict;
  level->reason = verdict == ISOPROOF_UNDECIDED ? reason : NULL;
}

void iso_live_enter_lost(iso_live_level *level, isoproof_verdict verdict, const char *reason) {
  if (level->final) return;
  level->lost = true;
  level->verdict = verdict;
  level->reason = reason;
}

void iso_live_derive_all(isoproof_live *live, void (*derive)(isoproof_live *live, iso_live_level *level)) {
  live->reason = NULL;
  for (size_t i = 0; i < live->levels.count; i++) {
    iso_live_level *level = &live->levels.items[i];
    if (!level->final && !level->lost) derive(live, level);
    if (live->reason == NULL && level->verdict == ISOPROOF_UNDECIDED) live->reason = level->reason;
  }
}
