/* When transactions began and ended, by positions in the log where there are any, else by the clock. */
#include "history/real_time.h"

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
