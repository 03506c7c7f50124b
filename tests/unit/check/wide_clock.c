/* wide_clock.c - clocks over many chains: rows from the nearest neighbours, and edges without those that others imply,
 * say the same as all of them together. */
#include "check/order/wide_clock.h"

#include <stdlib.h>

#include "check/strong/implied.h"
#include "tests/random/random_history.h"
#include "tests/unit/unit.h"

enum { STAGES = 4, EDGES = 12 };

typedef struct {
  isoproof_history *history;
  iso_view view;
  iso_event_graph events;
  iso_sequence sequence;
} ordering;

static bool begin(ordering *o, const sketch *s, bool split) {
  o->history = sketch_history(s);
  assert_ok(iso_view_make(o->history, NULL, &o->view, NULL));
  assert_ok(iso_event_graph_make(&o->view, (iso_event_shape){.split = split}, NULL, &o->events, NULL));
  assert_ok(iso_sequence_make(&o->events, NULL, &o->sequence, NULL));
  return o->sequence.count == o->sequence.total && o->sequence.count > 1;
}

static void end(ordering *o) {
  iso_sequence_free(&o->sequence);
  iso_event_graph_free(&o->events);
  iso_view_free(&o->view);
  isoproof_history_free(o->history);
}

/* Edges forward in the sequence, which stays in order. */
static size_t draw_edges(const ordering *o, uint64_t *random, iso_derived *edges) {
  size_t count = (size_t)unit_below(random, EDGES);
  for (size_t i = 0; i < count; i++) {
    uint32_t from = (uint32_t)unit_below(random, o->sequence.count - 1);
    uint32_t to = from + 1 + (uint32_t)unit_below(random, o->sequence.count - from - 1);
    edges[i] = (iso_derived){.from = o->sequence.event[from], .to = o->sequence.event[to], .reason = ISO_SEEN};
  }
  return count;
}

static void add_edges(ordering *o, const iso_derived *edges, size_t count) {
  for (size_t i = 0; i < count; i++) assert_ok(iso_event_graph_add(&o->events, edges[i], NULL));
}

/* By every way there is: reach[from][to]. */
static void find_ways(const ordering *o, uint8_t *reach) {
  uint32_t n = o->events.count;
  memset(reach, 0, (size_t)n * n);
  for (uint32_t i = 0; i < o->sequence.count; i++) {
    uint32_t event = o->sequence.event[i], before;
    uint64_t at = 0;
    while ((before = iso_next_before(&o->events, event, &at)) != ISO_NO_EVENT) {
      reach[(size_t)before * n + event] = 1;
      for (uint32_t from = 0; from < n; from++) {
        if (reach[(size_t)from * n + before]) reach[(size_t)from * n + event] = 1;
      }
    }
  }
}

static void assert_clocks_tell(const ordering *o, const iso_event_clocks *clocks, const uint8_t *reach) {
  uint32_t n = o->events.count;
  for (uint32_t i = 0; i < o->sequence.count; i++) {
    for (uint32_t k = 0; k < o->sequence.count; k++) {
      uint32_t a = o->sequence.event[i], b = o->sequence.event[k];
      bool way = reach[(size_t)a * n + b];
      assert_int_equal(iso_reaches(&o->events, clocks, a, b), way);
      bool behind = iso_event_clocks_after(clocks, a)[iso_event_chain(&o->events, b)] <= (int32_t)b;
      assert_int_equal(behind, way);
    }
  }
}

/* Whatever is another row than before the update is marked. */
static void assert_changes_marked(const ordering *o, const iso_event_clocks *clocks, const int32_t *before,
                                  const int32_t *after) {
  size_t row = clocks->width * sizeof(int32_t);
  for (uint32_t i = 0; i < o->sequence.count; i++) {
    uint32_t event = o->sequence.event[i];
    bool seen = memcmp(iso_event_clocks_before(clocks, event), before + (size_t)event * clocks->width, row) != 0;
    bool reached = memcmp(iso_event_clocks_after(clocks, event), after + (size_t)event * clocks->width, row) != 0;
    assert_int_equal(clocks->changed_before[event], seen);
    assert_int_equal(clocks->changed_after[event], reached);
  }
}

static void update(ordering *o, iso_event_clocks *clocks, const uint8_t *reach) {
  size_t bytes = (size_t)o->events.count * clocks->width * sizeof(int32_t);
  int32_t *before = malloc(bytes), *after = malloc(bytes);
  assert_true(before != NULL && after != NULL);
  memcpy(before, clocks->before, bytes);
  memcpy(after, clocks->after, bytes);
  assert_ok(iso_wide_clocks_update(&o->events, &o->sequence, NULL, clocks, NULL));
  assert_clocks_tell(o, clocks, reach);
  assert_changes_marked(o, clocks, before, after);
  free(before);
  free(after);
}

/* Edges come in stages, with an update behind each; and with what they imply left out they are fewer, or as many, and
 * tell the same. */
static void run_stages(ordering *o, uint64_t *random, uint64_t *dropped) {
  iso_event_clocks clocks;
  size_t n = o->events.count;
  uint8_t *all = malloc(n * n), *kept = malloc(n * n);
  assert_true(all != NULL && kept != NULL);
  assert_ok(iso_event_clocks_make(&o->events, NULL, &clocks, NULL));
  for (int stage = 0; stage < STAGES; stage++) {
    find_ways(o, all);
    update(o, &clocks, all);
    iso_derived edges[EDGES];
    size_t count = draw_edges(o, random, edges), left = count;
    uint32_t known = (uint32_t)o->events.derived.count;
    add_edges(o, edges, count);
    find_ways(o, all);
    iso_event_graph_drop(&o->events, known);
    assert_ok(iso_drop_implied(&o->events, &o->sequence, &clocks, edges, &left, NULL, NULL));
    assert_true(left <= count);
    *dropped += count - left;
    add_edges(o, edges, left);
    find_ways(o, kept);
    assert_memory_equal(all, kept, n * n);
  }
  iso_event_clocks_free(&clocks);
  free(all);
  free(kept);
}

static void say_the_same(void **state) {
  (void)state;
  uint64_t random = 20261116, dropped = 0, tried = 0;
  for (int round = 0; round < UNLESS_SLOW(20000, 1000); round++) {
    sketch s;
    sketch_draw(&random, &s);
    ordering o;
    if (begin(&o, &s, round % 2 == 1)) run_stages(&o, &random, &dropped), tried++;
    end(&o);
  }
  assert_true(tried > 500 && dropped > tried);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(say_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
