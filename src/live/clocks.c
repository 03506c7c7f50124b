/* The clocks of a commit order: a ring of rows, and bounds on those that were overwritten. */
#include "live/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

enum { LINE = 64, LINE_ENTRIES = LINE / sizeof(uint32_t), LEAST_ROOM = 8 };

void iso_live_clocks_free(iso_live_clocks *clocks) {
  free(clocks->allocated);
  *clocks = (iso_live_clocks){0};
}

static size_t count_rows(const iso_live_clocks *clocks) {
  return clocks->room + ISO_LIVE_BOUNDS + 2 * clocks->sessions;
}

uint64_t iso_live_clocks_bytes(const iso_live_clocks *clocks) {
  return (uint64_t)count_rows(clocks) * clocks->width * sizeof *clocks->rows;
}

static bool allocate(iso_live_clocks *clocks) {
  size_t rows = count_rows(clocks);
  if (clocks->width > (SIZE_MAX - LINE) / sizeof *clocks->rows / rows) return false;
  clocks->allocated = iso_alloc_zero(rows * clocks->width * sizeof *clocks->rows + LINE, 1);
  if (clocks->allocated == NULL) return false;
  clocks->rows = (uint32_t *)(((uintptr_t)clocks->allocated + LINE - 1) / LINE * LINE);
  clocks->bounds = clocks->rows + clocks->room * clocks->width;
  clocks->heads = clocks->bounds + ISO_LIVE_BOUNDS * clocks->width;
  return true;
}

static void copy_row(const iso_live_clocks *from, uint32_t *to, const uint32_t *row) {
  memcpy(to, row, from->width * sizeof *row);
}

/* The last ticks, as many as both have room for, the bounds, and the heads. */
static void copy_all(const iso_live_clocks *from, iso_live_clocks *to) {
  size_t kept = from->room < to->room ? from->room : to->room;
  if (from->tick > kept && to->lost < from->tick - kept) to->lost = from->tick - kept;
  for (uint64_t tick = to->lost + 1; tick <= from->tick; tick++) {
    copy_row(from, iso_live_clocks_row(to, tick), iso_live_clocks_row(from, tick));
  }
  for (size_t i = 0; i < ISO_LIVE_BOUNDS; i++) {
    copy_row(from, to->bounds + i * to->width, from->bounds + i * from->width);
  }
  for (size_t i = 0; i < 2 * from->sessions; i++) {
    copy_row(from, to->heads + i * to->width, from->heads + i * from->width);
  }
}

static size_t room_for(size_t rows) {
  size_t room = LEAST_ROOM;
  while (room < rows && room <= SIZE_MAX / 2) room *= 2;
  return room;
}

bool iso_live_clocks_fit(const iso_live_clocks *clocks, size_t sessions, size_t rows) {
  if (sessions > clocks->sessions || rows > clocks->room || clocks->room == 0) return false;
  return rows > clocks->room / 4 || clocks->room == LEAST_ROOM;
}

bool iso_live_clocks_resize(iso_live_clocks *clocks, size_t sessions, size_t rows) {
  iso_live_clocks other = *clocks;
  other.room = room_for(rows);
  if (other.sessions < sessions) other.sessions = sessions + sessions / 2;
  other.width = (other.sessions + LINE_ENTRIES - 1) / LINE_ENTRIES * LINE_ENTRIES;
  if (!allocate(&other)) return false;
  if (clocks->allocated != NULL) copy_all(clocks, &other);
  free(clocks->allocated);
  *clocks = other;
  return true;
}

uint32_t *iso_live_clocks_bound(iso_live_clocks *clocks) {
  size_t at = clocks->bound_count++ % ISO_LIVE_BOUNDS;
  uint32_t *row = clocks->bounds + at * clocks->width;
  clocks->until[at] = clocks->tick;
  memset(row, 0, clocks->width * sizeof *row);
  return row;
}

const uint32_t *iso_live_clocks_bound_of(const iso_live_clocks *clocks, uint64_t tick) {
  uint64_t newest = clocks->bound_count - 1, oldest = newest < ISO_LIVE_BOUNDS ? 0 : newest - ISO_LIVE_BOUNDS + 1;
  while (oldest < newest && clocks->until[oldest % ISO_LIVE_BOUNDS] < tick) oldest++;
  return clocks->bounds + oldest % ISO_LIVE_BOUNDS * clocks->width;
}
