/* How often anomalies occur: the counters against brute force over all pairs and quadruples, from the definitions of
 * docs/anomalies.md, on random histories of registers and lists; each instance stands up to the independent judge under
 * its name; what the simulator injects is found; and nothing depends on the number of threads.
 * ISOPROOF_RANDOM_HISTORIES and ISOPROOF_RANDOM_SEED as in weak.c.
 */
#include "tests/unit/unit.h"

#include "check/count/occurrences.h"
#include "explain/scenario.h"
#include "tests/oracle/facts.h"
#include "tests/random/random_history.h"
#include "verify/scenario.h"

/* ---- brute force ---- */

/* What brute force sees: facts of the history, at a level. */
typedef struct {
  facts f;
  bool sessions;
  relation order[FACTS_KEYS]; /* of the writers of each key: what is known, and all that follows from it */
} brute;

/* No history has more nodes; compilers cannot know. */
static bool has(const relation *r, unsigned a, unsigned b) { return a < FACTS_NODES && (r->row[a] >> b & 1) != 0; }

/* Whatever b is related to, a is as well. */
static void pass_on(relation *r, unsigned a, unsigned b) {
  if (a < FACTS_NODES && b < FACTS_NODES) r->row[a] |= r->row[b];
}

static bool writes(const brute *b, unsigned node, unsigned key) { return (b->f.writers[key] >> node & 1) != 0; }

static bool saw(const brute *b, unsigned reader, unsigned writer) {
  for (unsigned i = 0; i < b->f.read_count; i++) {
    if (b->f.reads[i].reader == reader && b->f.reads[i].writer == writer) return true;
  }
  return false;
}

/* False where lists contradict each other. */
static bool close_list_orders(facts *f) {
  bool fit = true;
  for (unsigned key = 0; key < f->keys; key++) {
    for (unsigned via = 0; via < f->nodes; via++) {
      for (unsigned a = 0; a < f->nodes; a++) {
        if (has(&f->list_order[key], a, via)) pass_on(&f->list_order[key], a, via);
      }
    }
    for (unsigned a = 0; a < f->nodes; a++) fit = fit && !has(&f->list_order[key], a, a);
  }
  return fit;
}

/* The version of `before` is known to have been replaced by `after`, who writes the key, too. */
static bool known(const brute *b, unsigned key, unsigned before, unsigned after) {
  if (before == after || after == 0) return false;
  return before == 0 || saw(b, after, before) || (b->sessions && has(&b->f.so, before, after)) ||
         has(&b->f.list_order[key], before, after);
}

static bool known_in_time(const brute *b, unsigned key, unsigned before, unsigned after) {
  if (before == after || after == 0) return false;
  return known(b, key, before, after) || has(&b->f.rt, before, after);
}

static void close_orders(brute *b) {
  for (unsigned key = 0; key < b->f.keys; key++) {
    for (unsigned before = 1; before < b->f.nodes; before++) {
      for (unsigned after = 1; after < b->f.nodes; after++) {
        bool both = writes(b, before, key) && writes(b, after, key);
        if (both && before < FACTS_NODES && known(b, key, before, after)) b->order[key].row[before] |= 1u << after;
      }
    }
    for (unsigned via = 1; via < b->f.nodes; via++) {
      for (unsigned a = 1; a < b->f.nodes; a++) {
        if (has(&b->order[key], a, via)) pass_on(&b->order[key], a, via);
      }
    }
  }
}

/* Certainly, or perhaps: nothing tells that it was the other way round. */
typedef bool (*order_fn)(const brute *b, unsigned key, unsigned before, unsigned after);

static bool possible(const brute *b, unsigned key, unsigned before, unsigned after) {
  bool decided = before == after || has(&b->order[key], before, after) || has(&b->order[key], after, before);
  return known(b, key, before, after) || (after != 0 && !decided);
}

static bool possible_in_time(const brute *b, unsigned key, unsigned before, unsigned after) {
  return known_in_time(b, key, before, after) ||
         (before != after && after != 0 && !has(&b->order[key], after, before) &&
          !known_in_time(b, key, after, before));
}

static bool missed(const brute *b, unsigned reader, unsigned writer, order_fn order) {
  for (unsigned i = 0; i < b->f.read_count; i++) {
    const external_read *r = &b->f.reads[i];
    if (r->reader == reader && writes(b, writer, r->key) && order(b, r->key, r->writer, writer)) return true;
  }
  return false;
}

static uint64_t lost_updates(const brute *b, order_fn order) {
  uint64_t count = 0;
  (void)order;
  for (unsigned key = 0; key < b->f.keys; key++) {
    for (unsigned version = 0; version < b->f.nodes; version++) {
      uint32_t updaters = 0;
      for (unsigned i = 0; i < b->f.read_count; i++) {
        const external_read *r = &b->f.reads[i];
        if (r->key == key && r->writer == version && writes(b, r->reader, key)) updaters |= 1u << r->reader;
      }
      if (updaters != 0) count += (uint64_t)__builtin_popcount(updaters) - 1;
    }
  }
  return count;
}

static uint64_t write_skews(const brute *b, order_fn order) {
  uint64_t count = 0;
  for (unsigned one = 1; one < b->f.nodes; one++) {
    for (unsigned other = one + 1; other < b->f.nodes; other++) {
      bool apart = !saw(b, one, other) && !saw(b, other, one) &&
                   !(b->sessions && (has(&b->f.so, one, other) || has(&b->f.so, other, one)));
      for (unsigned key = 0; key < b->f.keys; key++) apart = apart && !(writes(b, one, key) && writes(b, other, key));
      count += apart && missed(b, one, other, order) && missed(b, other, one, order);
    }
  }
  return count;
}

static bool saw_and_missed(const brute *b, unsigned first, unsigned second, order_fn order) {
  for (unsigned reader = 1; reader < b->f.nodes; reader++) {
    if (reader == first || reader == second || !saw(b, reader, first) || saw(b, reader, second)) continue;
    if (missed(b, reader, second, order)) return true;
  }
  return false;
}

static uint64_t long_forks(const brute *b, order_fn order) {
  uint64_t count = 0;
  for (unsigned one = 1; one < b->f.nodes; one++) {
    for (unsigned other = one + 1; other < b->f.nodes; other++) {
      count += saw_and_missed(b, one, other, order) && saw_and_missed(b, other, one, order);
    }
  }
  return count;
}

static bool is_stale(const brute *b, unsigned reader, unsigned key, order_fn order) {
  for (unsigned i = 0; i < b->f.read_count; i++) {
    const external_read *r = &b->f.reads[i];
    if (r->reader != reader || r->key != key) continue;
    for (unsigned writer = 1; writer < b->f.nodes; writer++) {
      if (writes(b, writer, key) && has(&b->f.rt, writer, reader) && order(b, key, r->writer, writer)) return true;
    }
  }
  return false;
}

static uint64_t stale_reads(const brute *b, order_fn order) {
  uint64_t count = 0;
  for (unsigned reader = 1; reader < b->f.nodes; reader++) {
    for (unsigned key = 0; key < b->f.keys; key++) count += is_stale(b, reader, key, order);
  }
  return count;
}

static const struct counted {
  iso_anomaly anomaly;
  uint64_t (*count)(const brute *b, order_fn order);
  order_fn sure, perhaps;
  const char *levels[5]; /* that forbid every instance */
} counted[] = {
    {ISO_ANOMALY_LOST_UPDATE,
     lost_updates,
     known,
     possible,
     {"update-atomic", "parallel-snapshot-isolation", "snapshot-isolation", "serializable", "PL-3"}},
    {ISO_ANOMALY_WRITE_SKEW, write_skews, known, possible, {"serializable", "PL-3", "strict-serializable"}},
    {ISO_ANOMALY_LONG_FORK,
     long_forks,
     known,
     possible,
     {"prefix", "snapshot-isolation", "serializable", "PL-3", "strict-serializable"}},
    {ISO_ANOMALY_STALE_READ,
     stale_reads,
     known_in_time,
     possible_in_time,
     {"strong-snapshot-isolation", "strict-serializable"}},
};

enum { COUNTED = sizeof counted / sizeof counted[0] };

/* ---- one history ---- */

typedef struct {
  uint64_t exact[COUNTED], at_least[COUNTED], most[COUNTED];
} tally;

/* Every link is used in a cycle: as a step, as what was read, or as the reason of an order. */
static bool is_used(const iso_scenario *s, const iso_link *link) {
  for (size_t i = 0; i < s->links.count; i++) {
    const iso_link *l = &s->links.items[i];
    if (l->kind == link->kind && l->from == link->from && l->to == link->to) return true;
    if (l->kind == ISO_EDGE_RW && link->kind == ISO_EDGE_WR && l->read_op == link->read_op) return true;
    uint32_t before = l->kind == ISO_EDGE_RW ? l->version : l->from;
    if (l->reason > ISO_ORDER_ASSUMED && before == link->from && l->to == link->to) return true;
  }
  return false;
}

/* Each instance is a violation by itself, none is there twice, and all have the name. */
static void check_instances(const isoproof_history *h, const iso_view *view, const iso_versions *versions,
                            const iso_strong_level *level, const iso_occurrences *found) {
  for (size_t i = 0; i < found->list.count; i++) {
    iso_scenario s;
    assert_true(iso_occurrence_scenario(view, versions, level, found->anomaly, &found->list.items[i], &s));
    if (!iso_verify_scenario(h, view->counts, &s)) fail_msg("%s: an instance is not borne out", level->id);
    assert_int_equal(iso_scenario_name(h, &s), found->anomaly);
    for (size_t k = 0; k < s.known.count; k++) assert_true(is_used(&s, &s.known.items[k]));
    for (size_t k = 0; k < i; k++) {
      assert_memory_not_equal(&found->list.items[i], &found->list.items[k], sizeof(iso_occurrence));
    }
    iso_scenario_free(&s);
  }
}

static void check_count(isoproof_history *h, iso_view *view, const iso_versions *versions, const facts *f, size_t which,
                        const char *level_name, tally *seen) {
  const struct counted *c = &counted[which];
  const iso_strong_level *level = iso_strong_level_of(isoproof_level_find(level_name));
  assert_non_null(level);
  brute b = {.f = *f, .sessions = level->session_order};
  iso_occurrences found;
  close_orders(&b);
  assert_ok(iso_occurrences_find(view, versions, level, c->anomaly, ISO_OCCURRENCES_LISTED, NULL, &found, NULL));
  uint64_t sure = c->count(&b, c->sure), perhaps = c->count(&b, c->perhaps);
  if (found.count != sure) {
    fail_msg("%s at %s: %llu found, %llu there", isoproof_anomaly_at(c->anomaly)->code, level_name,
             (unsigned long long)found.count, (unsigned long long)sure);
  }
  assert_int_equal(found.list.count, found.count);
  assert_int_equal(found.kind == ISOPROOF_COUNT_UNKNOWN, sure == 0);
  if (found.kind == ISOPROOF_COUNT_EXACT) assert_int_equal(sure, perhaps);
  check_instances(h, view, versions, level, &found);
  seen->exact[which] += found.kind == ISOPROOF_COUNT_EXACT;
  seen->at_least[which] += found.kind == ISOPROOF_COUNT_AT_LEAST;
  if (sure > seen->most[which]) seen->most[which] = sure;
  iso_occurrences_free(&found);
}

/* False where reads within transactions are wrong, which levels between transactions do not look at. */
static bool is_clean(const facts *f) {
  for (int tap = 0; tap < ORACLE_TAPS; tap++) {
    if (tap != ORACLE_TAP_CYCLIC && tap != ORACLE_TAP_NON_REPEATABLE && f->tap[tap]) return false;
  }
  return true;
}

static void check_history(isoproof_history *h, bool timed, uint64_t *random, tally *seen) {
  facts f;
  iso_view view;
  iso_versions versions;
  isoproof_resolution resolution = {.struct_size = sizeof resolution};
  if (!facts_gather(h, &f) || !is_clean(&f) || !close_list_orders(&f)) return;
  assert_ok(isoproof_history_resolve(h, NULL, &resolution, NULL));
  assert_ok(iso_view_make(h, NULL, &view, NULL));
  assert_ok(iso_versions_make(&view, &versions, NULL));
  for (size_t i = 0; i < COUNTED; i++) {
    size_t levels = 0;
    while (levels < 5 && counted[i].levels[levels] != NULL) levels++;
    const char *level = counted[i].levels[unit_below(random, levels)];
    if (isoproof_level_find(level)->needs_times && !timed) continue;
    check_count(h, &view, &versions, &f, i, level, seen);
  }
  iso_versions_free(&versions);
  iso_view_free(&view);
}

static uint64_t setting(const char *name, uint64_t usual) {
  const char *text = getenv(name);
  return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

static void compare(void (*draw)(uint64_t *state, sketch *out), uint64_t seed) {
  uint64_t histories = setting("ISOPROOF_RANDOM_HISTORIES", 120000), random = setting("ISOPROOF_RANDOM_SEED", seed);
  tally seen;
  memset(&seen, 0, sizeof seen);
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    draw(&random, &s);
    if (i % 2 == 0) sketch_draw_times(&random, &s);
    isoproof_history *h = sketch_history(&s);
    check_history(h, s.timed, &random, &seen);
    isoproof_history_free(h);
  }
  for (size_t i = 0; i < COUNTED; i++) {
    if (getenv("ISOPROOF_VERBOSE") != NULL)
      print_message("%s: exact %llu, at least %llu, most %llu\n", isoproof_anomaly_at(counted[i].anomaly)->code,
                    (unsigned long long)seen.exact[i], (unsigned long long)seen.at_least[i],
                    (unsigned long long)seen.most[i]);
    if (histories >= 10000) assert_true(seen.exact[i] > 0 && seen.most[i] > 0);
  }
}

static void registers(void **state) {
  (void)state;
  compare(sketch_draw, 41);
}

static void lists(void **state) {
  (void)state;
  compare(sketch_draw_lists, 43);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(registers), cmocka_unit_test(lists)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
