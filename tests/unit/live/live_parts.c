/* The index of values and the ring of clocks, held against plain tables. */
#include "tests/unit/live/live_parts.h"

#include "live/clocks.h"
#include "live/index.h"
#include "tests/random/random_history.h"
#include "tests/unit/unit.h"

enum { KEYS = 5, VALUES = 4096, STEPS = 6000, SESSIONS = 40, TICKS = 3000 };

/* Mostly the next number of a key, sometimes one a little further or earlier, sometimes any. */
static uint32_t draw_value(uint64_t *state, uint32_t *next) {
  uint64_t kind = sketch_below(state, 40);
  if (kind == 0) return (uint32_t)sketch_below(state, VALUES);
  if (kind == 1) *next = (*next + (uint32_t)sketch_below(state, 200)) % VALUES;
  if (kind < 8) return (*next + (uint32_t)sketch_below(state, 70)) % VALUES;
  return (*next)++ % VALUES;
}

void live_index_agrees(uint64_t seed) {
  static uint8_t added[KEYS][VALUES];
  uint64_t state = seed, denied = 0;
  iso_pool pool;
  isoproof_error error;
  assert_ok_error(iso_pool_init(&pool, &error), error);
  for (int round = 0; round < 4; round++) {
    iso_live_index index;
    uint32_t next[KEYS] = {0};
    memset(added, 0, sizeof added);
    iso_live_index_init(&index);
    for (int step = 0; step < STEPS; step++) {
      uint32_t key = (uint32_t)sketch_below(&state, KEYS), value = draw_value(&state, &next[key]);
      bool had = iso_live_index_add(&index, &pool, key, value);
      assert_true(had || added[key][value] == 0);
      if (added[key][value] < 2) added[key][value]++;
      uint32_t other = (uint32_t)sketch_below(&state, VALUES);
      bool has = iso_live_index_has(&index, &pool, key, other);
      assert_true(has || added[key][other] == 0);
      denied += !has;
      if (added[key][other] == 2) assert_true(iso_live_index_has_twice(&index, &pool, key, other));
    }
    for (uint32_t i = 0; i < KEYS * VALUES; i++) {
      if (added[i / VALUES][i % VALUES] > 0) assert_true(iso_live_index_has(&index, &pool, i / VALUES, i % VALUES));
    }
    iso_live_index_free(&index);
  }
  assert_true(denied > 0);
  iso_pool_free(&pool);
}

static void fill(uint32_t *row, const uint32_t *placed, size_t sessions) {
  memcpy(row, placed, sessions * sizeof *row);
}

/* As a track does: sessions become more, the window larger and smaller. */
void live_clocks_agree(uint64_t seed) {
  static uint32_t truth[TICKS + 1][SESSIONS];
  iso_live_clocks clocks = {0};
  uint32_t placed[SESSIONS] = {0};
  uint64_t state = seed, exact = 0;
  size_t sessions = 1, rows = 1;
  for (uint64_t step = 1; step <= TICKS; step++) {
    if (sketch_below(&state, 50) == 0 && sessions < SESSIONS) sessions++;
    if (sketch_below(&state, 100) == 0) rows = 1 + (size_t)sketch_below(&state, 300);
    if (!iso_live_clocks_fit(&clocks, sessions, rows)) {
      if (clocks.room > 0)
        fill(iso_live_clocks_bound(&clocks), placed, clocks.sessions < sessions ? clocks.sessions : sessions);
      assert_true(iso_live_clocks_resize(&clocks, sessions, rows));
    }
    if (iso_live_clocks_want_bound(&clocks)) fill(iso_live_clocks_bound(&clocks), placed, sessions);
    uint32_t session = (uint32_t)sketch_below(&state, sessions), *row = iso_live_clocks_row(&clocks, ++clocks.tick);
    placed[session]++;
    memset(row, 0, clocks.width * sizeof *row);
    for (size_t i = 0; i < sessions; i++) row[i] = truth[step][i] = (uint32_t)sketch_below(&state, placed[i] + 1);
    for (int looks = 0; looks < 4; looks++) {
      uint64_t tick = step - sketch_below(&state, step);
      const uint32_t *seen = iso_live_clocks_at(&clocks, tick);
      for (size_t i = 0; i < sessions; i++) assert_true(seen[i] >= truth[tick][i]);
      exact += memcmp(seen, truth[tick], sessions * sizeof *seen) == 0;
    }
  }
  assert_true(exact > TICKS / 10);
  iso_live_clocks_free(&clocks);
}
