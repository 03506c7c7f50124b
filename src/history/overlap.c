/* Pairs that overlap are counted, not listed: those that began before an end, less those that had ended at a start. */
#include "history/overlap.h"

#include <stdlib.h>

#include "base/vector.h"

bool iso_overlap_init(iso_overlap *o, size_t largest_group) {
  *o = (iso_overlap){.room = largest_group};
  o->starts = iso_alloc(largest_group + 1, sizeof *o->starts);
  o->ends = iso_alloc(largest_group + 1, sizeof *o->ends);
  if (o->starts != NULL && o->ends != NULL) return true;
  iso_overlap_free(o);
  return false;
}

void iso_overlap_free(iso_overlap *o) {
  free(o->starts);
  free(o->ends);
  *o = (iso_overlap){NULL, NULL, 0};
}

size_t iso_times_until(const int64_t *times, size_t count, int64_t time) {
  size_t low = 0;
  while (count > 0) {
    size_t half = count / 2;
    if (times[low + half] <= time) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

size_t iso_times_below(const int64_t *times, size_t count, int64_t time) {
  return time == INT64_MIN ? 0 : iso_times_until(times, count, time - 1);
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static bool plays(const iso_part *part, uint32_t roles) { return (part->roles & roles) == roles; }

/* The times of those with all of the roles, sorted; how many. */
static size_t gather(iso_overlap *o, const iso_part *parts, size_t count, uint32_t roles) {
  size_t found = 0;
  bool sorted = true;
  for (size_t i = 0; i < count && found < o->room; i++) {
    if (!plays(&parts[i], roles)) continue;
    o->starts[found] = parts[i].start;
    o->ends[found] = parts[i].end;
    sorted = sorted && (found == 0 || o->starts[found - 1] <= o->starts[found]);
    found++;
  }
  if (!sorted) qsort(o->starts, found, sizeof *o->starts, ascending);
  qsort(o->ends, found, sizeof *o->ends, ascending);
  return found;
}

static uint64_t overlaps(const iso_overlap *o, size_t found, const iso_part *part) {
  return iso_times_below(o->starts, found, part->end) - iso_times_until(o->ends, found, part->start);
}

/* The sum, over those with the roles, of how many of the gathered ones each overlaps; and how many they are. */
static uint64_t sum_overlaps(const iso_overlap *o, size_t found, const iso_part *parts, size_t count, uint32_t roles,
                             uint64_t *players) {
  uint64_t sum = 0;
  *players = 0;
  for (size_t i = 0; i < count; i++) {
    if (!plays(&parts[i], roles)) continue;
    sum += overlaps(o, found, &parts[i]);
    (*players)++;
  }
  return sum;
}

uint64_t iso_overlap_pairs(iso_overlap *o, const iso_part *parts, size_t count, uint32_t one, uint32_t other) {
  uint64_t players, both;
  size_t found = gather(o, parts, count, other);
  if (found == 0) return 0;
  uint64_t ordered = sum_overlaps(o, found, parts, count, one, &players);
  if (players == 0) return 0;
  /* Who plays both parts overlaps itself, and with another such one is counted from both sides. */
  found = gather(o, parts, count, one | other);
  if (found == 0) return ordered;
  uint64_t twice = sum_overlaps(o, found, parts, count, one | other, &both);
  return ordered - both - (twice - both) / 2;
}

void iso_overlap_conflicts(iso_overlap *o, const iso_part *parts, size_t count, uint32_t writes, bool *conflict) {
  size_t writers = gather(o, parts, count, writes);
  for (size_t i = 0; writers > 0 && i < count; i++) {
    uint64_t self = plays(&parts[i], writes) ? 1 : 0;
    if (overlaps(o, writers, &parts[i]) > self) conflict[parts[i].txn] = true;
  }
  if (writers == 0) return;
  size_t all = gather(o, parts, count, 0);
  for (size_t i = 0; i < count; i++) {
    if (plays(&parts[i], writes) && overlaps(o, all, &parts[i]) > 1) conflict[parts[i].txn] = true;
  }
}
