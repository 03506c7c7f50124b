/* binary_shares.h - a binary file checked in shares, as several processes do it, one after the other.
 * A part of binary.c; nothing is owned. */
#ifndef TEST_BINARY_SHARES_H
#define TEST_BINARY_SHARES_H

#include "format/binary.h"
#include "tests/unit/format/format_bytes.h"

/* Whether nothing is wrong with the file; every share is tried, whatever the others say. */
static bool good_in_shares(const char *path, uint32_t count) {
  isoproof_history *first = NULL;
  uint8_t *seen = NULL;
  uint64_t odd_reads = 0;
  bool good = true;
  for (uint32_t i = 0; i < count; i++) {
    iso_binary_share share = {.number = i, .count = count};
    isoproof_history *history;
    bool right = iso_read_binary_share(path, &share, &history, NULL, NULL) == ISOPROOF_OK;
    good = good && right;
    for (size_t k = 0; good && i > 0 && k < share.seen_bytes; k++) seen[k] |= share.seen[k];
    odd_reads += share.odd_reads;
    if (i == 0) {
      seen = share.seen;
      first = history;
      continue;
    }
    free(share.seen);
    isoproof_history_free(history);
  }
  good = good && iso_binary_check_seen(first, seen, odd_reads, NULL) == ISOPROOF_OK;
  isoproof_history_free(first);
  free(seen);
  return good;
}

#endif
