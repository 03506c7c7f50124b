#include "check/order/strong_rule.h"

#include <string.h>

static const iso_strong_level levels[] = {
    {"update-atomic", false, ISO_RULE_UPDATE_ATOMIC, true, false, false},
    {"prefix", false, ISO_RULE_PREFIX, true, false, false},
    {"parallel-snapshot-isolation", false, ISO_RULE_PARALLEL, true, false, false},
    {"PL-SI", true, ISO_RULE_SNAPSHOT, false, false, false},
    {"snapshot-isolation", false, ISO_RULE_SNAPSHOT, true, false, false},
    {"PL-3", true, ISO_RULE_SERIALIZABLE, false, false, false},
    {"serializable", false, ISO_RULE_SERIALIZABLE, true, false, false},
    {"strong-snapshot-isolation", false, ISO_RULE_SNAPSHOT, true, true, false},
    {"strict-serializable", false, ISO_RULE_SERIALIZABLE, true, true, false},
    {"linearizable", false, ISO_RULE_SERIALIZABLE, true, true, true},
};

const iso_strong_level *iso_strong_level_at(size_t number) {
  return number < sizeof levels / sizeof levels[0] ? &levels[number] : NULL;
}

const iso_strong_level *iso_strong_level_of(const isoproof_level_info *info) {
  for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
    bool is_model = info->family == ISOPROOF_LEVEL_MODEL;
    if (levels[i].is_model == is_model && strcmp(levels[i].id, info->id) == 0) return &levels[i];
  }
  return NULL;
}

bool iso_rule_is_split(iso_rule rule) {
  static const bool split[] = {
#define ISO_X(name, id, splits) splits,
      ISO_RULE_LIST(ISO_X)
#undef ISO_X
  };
  return split[rule];
}

/* A log of completions alone says when transactions ended, but not when any began. */
bool iso_has_real_time(const isoproof_history *history) {
  if (history->txn_start_opt == NULL && history->txn_start_index_opt == NULL) return false;
  for (uint32_t txn = 0; txn < history->txns; txn++) {
    if (iso_real_start(history, txn) != INT64_MIN) return true;
  }
  return false;
}

/* Positions in the log say more than the clock: they are never equal, and some recorders leave all times at 0. */
int64_t iso_real_start(const isoproof_history *history, uint32_t txn) {
  if (history->txn_start_index_opt != NULL) {
    int64_t index = history->txn_start_index_opt[txn];
    return index < 0 ? INT64_MIN : index;
  }
  int64_t time = history->txn_start_opt[txn];
  return time == ISOPROOF_NO_TIME ? INT64_MIN : time;
}

/* An end before its own start is nonsense, and no better than none. */
static int64_t sound_end(const isoproof_history *history, uint32_t txn, int64_t end) {
  return end < iso_real_start(history, txn) ? INT64_MAX : end;
}

int64_t iso_real_end(const isoproof_history *history, uint32_t txn) {
  if (history->txn_status[txn] == ISOPROOF_TXN_UNKNOWN) return INT64_MAX;
  if (history->txn_end_index_opt != NULL) {
    int64_t index = history->txn_end_index_opt[txn];
    return index < 0 ? INT64_MAX : sound_end(history, txn, index);
  }
  int64_t time = history->txn_end_opt[txn];
  return time == ISOPROOF_NO_TIME ? INT64_MAX : sound_end(history, txn, time);
}
