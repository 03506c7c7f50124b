/* What real time asks of the places of a track. */
#include "live/track.h"

/* The last commit of those who ended before the transaction began. */
uint64_t iso_live_real_time_floor(const iso_live_track *track, const iso_live_txn *t) {
  size_t low = 0, high = track->ends.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (track->ends.items[middle].end < t->real_start)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 ? track->ends.items[low - 1].label : 0;
}

/* The first place of those who began after the transaction ended: nobody, where ends come in order and nobody waits. */
uint64_t iso_live_real_time_ceiling(const iso_live_track *track, const iso_live_txn *t) {
  uint64_t ceiling = UINT64_MAX;
  if (t->real_end >= track->latest_start) return ceiling;
  for (size_t i = 0; i < track->entries.count; i++) {
    const iso_live_entry *entry = &track->entries.items[i];
    if (entry->where != ISO_LIVE_PLACED || entry->txn->real_start <= t->real_end || entry->txn == t) continue;
    if (ceiling > entry->begin) ceiling = entry->begin;
  }
  return ceiling;
}

bool iso_live_note_end(iso_live_track *track, const iso_live_entry *entry) {
  iso_live_ended ended = {.end = entry->txn->real_end, .label = entry->commit};
  if (track->latest_start < entry->txn->real_start) track->latest_start = entry->txn->real_start;
  if (!iso_vec_push(&track->ends, ended)) return false;
  size_t at = track->ends.count - 1;
  iso_live_ended *ends = track->ends.items;
  for (; at > 0 && ends[at - 1].end > ended.end; at--) {
    ends[at] = ends[at - 1];
    if (ends[at].label < ended.label) ends[at].label = ended.label;
  }
  ends[at] = ended;
  if (at > 0 && ends[at].label < ends[at - 1].label) ends[at].label = ends[at - 1].label;
  return true;
}
