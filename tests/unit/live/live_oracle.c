/* Random small histories, pushed in random batches: after every poll the verdict on each level is that of
 * isoproof_check on what was pushed, however little stays in memory.  `--count N` and `--seed N` (or
 * ISOPROOF_RANDOM_HISTORIES and ISOPROOF_RANDOM_SEED) say how many and which; `--rows` draws rows
 * only, `--table` shows what was seen. */
#include "tests/random/random_history.h"
#include "tests/random/random_objects.h"
#include "tests/random/random_rows.h"
#include "tests/unit/unit.h"

enum { USUAL = 3000, TEXT = 16384, LEVELS = 8, MOST_TXNS = 8 };

static uint64_t histories, seed;
static bool with_table, rows_only;

static const char *const level_ids[LEVELS] = {"read-committed",
                                              "read-atomic",
                                              "causal",
                                              "prefix",
                                              "snapshot-isolation",
                                              "serializable",
                                              "strong-snapshot-isolation",
                                              "strict-serializable"};

/* ---- what is pushed ---- */

/* A history whose transactions stand in the order of their arrival. */
typedef struct source {
  bool of_rows;
  bool repeats; /* values: then a later write may explain what looked violated for good */
  bool of_objects;
  sketch registers; /* or lists */
  row_history rows;
  objects_history objects;
} source;

static unsigned source_count(const source *s) {
  if (s->of_objects) return s->objects.count;
  return s->of_rows ? s->rows.count : s->registers.count;
}

static unsigned session_of(const source *s, unsigned txn) {
  if (s->of_objects) return s->objects.txns[txn].session;
  return s->of_rows ? s->rows.txns[txn].session : s->registers.txns[txn].session;
}

static bool is_timed(const source *s) {
  if (s->of_objects) return s->objects.timed;
  return s->of_rows ? s->rows.timed : s->registers.timed;
}

static int64_t end_of(const source *s, unsigned txn) {
  if (s->of_objects) return s->objects.txns[txn].end;
  return s->of_rows ? s->rows.txns[txn].end : s->registers.txns[txn].end;
}

static isoproof_history *read_text(const char *text, size_t length) {
  isoproof_history *history;
  isoproof_error error;
  if (isoproof_history_open_memory(text, length, "drawn.jsonl", NULL, NULL, &history, &error) != ISOPROOF_OK)
    fail_msg("%s\n%s", error.message, text);
  return history;
}

/* The transactions from `first` to before `end`, as a history. */
static isoproof_history *part(const source *s, unsigned first, unsigned end) {
  char text[TEXT];
  if (s->of_objects) return read_text(text, objects_text(&s->objects, first, end, text, sizeof text));
  if (!s->of_rows) {
    sketch few = s->registers;
    few.count = (uint8_t)(end - first);
    memmove(few.txns, s->registers.txns + first, (end - first) * sizeof few.txns[0]);
    return sketch_history(&few);
  }
  row_history few = s->rows;
  few.count = end - first;
  memmove(few.txns, s->rows.txns + first, (end - first) * sizeof few.txns[0]);
  return read_text(text, rows_text(&few, text, sizeof text));
}

/* The numbers that the transactions of a part have in its history, in the order of arrival. */
static void number(const source *s, const isoproof_history *batch, unsigned first, unsigned end, uint64_t *order) {
  for (unsigned t = first; t < end; t++) {
    unsigned before = 0;
    isoproof_session session = {.struct_size = sizeof session};
    for (unsigned u = first; u < t; u++) before += session_of(s, u) == session_of(s, t);
    for (uint64_t i = 0; isoproof_history_session_at(batch, i, &session); i++) {
      if (session.name.integer == (int64_t)session_of(s, t)) break;
    }
    order[t - first] = session.first_txn + before;
  }
}

/* ---- drawing ---- */

/* By their ends, or nearly as they are written down; sessions keep their order. */
static void arrive(uint64_t *state, source *s) {
  unsigned count = source_count(s), last[16] = {0}, at[MOST_TXNS];
  for (unsigned t = 0; t < count; t++) {
    unsigned session = session_of(s, t) % 16;
    at[t] = is_timed(s) ? (unsigned)end_of(s, t) : 4 * t + (unsigned)sketch_below(state, 12);
    if (at[t] < last[session]) at[t] = last[session];
    last[session] = at[t];
  }
  for (unsigned i = 1; i < count; i++) {
    for (unsigned j = i; j > 0 && at[j] < at[j - 1]; j--) {
      unsigned swapped = at[j];
      at[j] = at[j - 1], at[j - 1] = swapped;
      if (s->of_objects) {
        objects_txn txn = s->objects.txns[j];
        s->objects.txns[j] = s->objects.txns[j - 1], s->objects.txns[j - 1] = txn;
      } else if (s->of_rows) {
        row_txn row = s->rows.txns[j];
        s->rows.txns[j] = s->rows.txns[j - 1], s->rows.txns[j - 1] = row;
      } else {
        sketch_txn txn = s->registers.txns[j];
        s->registers.txns[j] = s->registers.txns[j - 1], s->registers.txns[j - 1] = txn;
      }
    }
  }
}

/* Now and then a value is written twice. */
static void repeat_values(uint64_t *state, sketch *s) {
  for (unsigned t = 0; t < s->count; t++) {
    for (unsigned i = 0; i < s->txns[t].count; i++) {
      sketch_op *op = &s->txns[t].ops[i];
      if (op->write && !sketch_is_list(s, op->key) && op->value > 1 && sketch_below(state, 3) == 0) op->value--;
    }
  }
}

static void draw(uint64_t *state, source *s) {
  memset(s, 0, sizeof *s);
  uint64_t kind = rows_only ? 6 + sketch_below(state, 2) : sketch_below(state, 10);
  s->of_objects = kind >= 8;
  s->of_rows = kind == 6 || kind == 7;
  if (kind < 4)
    sketch_draw(state, &s->registers);
  else if (kind < 6)
    sketch_draw_lists(state, &s->registers);
  else if (kind < 7)
    rows_draw_random(state, &s->rows);
  else if (kind < 8)
    rows_draw_store(state, &s->rows);
  else
    objects_draw(state, (objects_kind)sketch_below(state, OBJECTS_KINDS), &s->objects);
  if (kind < 6 && sketch_below(state, 2) == 0) sketch_draw_times(state, &s->registers);
  if (kind < 6 && sketch_below(state, 10) == 0) {
    s->repeats = true;
    repeat_values(state, &s->registers);
  }
  arrive(state, s);
}

/* ---- pushing and comparing ---- */

typedef struct trial {
  source *source;
  uint64_t horizon;
  bool recorded;
  unsigned only;  /* a level alone; LEVELS: all */
  unsigned cuts;  /* bit i: a poll after transaction i */
  unsigned saves; /* bit i: what is known after transaction i is saved, and restored */
  unsigned pushed;
  char problem[512], witness[512];
  uint64_t polls, unknown, whole_checks, left, saved; /* what was seen */
  bool was_final[LEVELS];
} trial;

static isoproof_status give_whole(void *user, isoproof_task *task, isoproof_history **history, isoproof_error *error) {
  (void)task;
  (void)error;
  trial *t = user;
  *history = part(t->source, 0, t->pushed);
  return ISOPROOF_OK;
}

static void compare(trial *t, const isoproof_live *live, const isoproof_result *result) {
  isoproof_live_verdict v = {.struct_size = sizeof v};
  for (size_t i = 0; isoproof_live_level_at(live, i, &v); i++) {
    isoproof_verdict expected = isoproof_result_verdict_of(result, v.level);
    bool unknown = !t->recorded && v.verdict == ISOPROOF_UNDECIDED;
    t->unknown += unknown;
    if (v.verdict != expected && !unknown)
      snprintf(t->problem, sizeof t->problem, "%s after %u: %s, but check says %s", v.level, t->pushed,
               isoproof_verdict_name(v.verdict), isoproof_verdict_name(expected));
    if ((v.final || (t->was_final[i] && !t->source->repeats && !t->source->of_rows)) && expected != ISOPROOF_VIOLATED)
      snprintf(t->problem, sizeof t->problem, "%s after %u: final, but check says %s", v.level, t->pushed,
               isoproof_verdict_name(expected));
    t->was_final[i] |= v.final;
  }
}

static void look_at_violations(trial *t, const isoproof_live *live, const isoproof_live_state *state) {
  const isoproof_history *history;
  const isoproof_result *result;
  if (state->final != isoproof_live_violation_at(live, 0, &history, &result))
    snprintf(t->problem, sizeof t->problem, "final without a violation, or the other way round");
  for (size_t i = 0; isoproof_live_violation_at(live, i, &history, &result); i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    bool shown =
        isoproof_result_verdict(result) == ISOPROOF_VIOLATED && isoproof_result_anomaly_at(result, 0, &anomaly);
    if (!shown)
      snprintf(t->problem, sizeof t->problem, "violation %zu has no witness", i);
    else
      snprintf(t->witness, sizeof t->witness, "%.500s", anomaly.explanation);
  }
}

static void poll_and_compare(trial *t, isoproof_live *live) {
  isoproof_live_state state = {.struct_size = sizeof state};
  isoproof_error error = {0};
  isoproof_history *prefix = part(t->source, 0, t->pushed);
  isoproof_check_options options = {.struct_size = sizeof options, .levels = level_ids, .level_count = LEVELS};
  if (!is_timed(t->source)) options.level_count = LEVELS - 2;
  if (t->only < LEVELS) options.levels = level_ids + t->only, options.level_count = 1;
  isoproof_result *result = NULL;
  isoproof_status expected = isoproof_check(prefix, &options, NULL, &result, &error);
  isoproof_status status = isoproof_live_poll(live, &state, &error);
  t->polls++;
  if (status != expected) {
    snprintf(t->problem, sizeof t->problem, "after %u: %s (%.200s), but check says %s", t->pushed,
             isoproof_status_name(status), error.message, isoproof_status_name(expected));
  } else if (status == ISOPROOF_OK) {
    compare(t, live, result);
    look_at_violations(t, live, &state);
    t->left += state.transactions - state.retained;
    t->whole_checks = state.whole_checks;
  }
  isoproof_result_free(result);
  isoproof_history_free(prefix);
}

/* Goes on with another live checker that knows what this one has written down, if it can. */
static void save_and_restore(trial *t, const isoproof_live_options *options, isoproof_live **live) {
  void *bytes;
  size_t size;
  isoproof_live *restored;
  isoproof_error error;
  isoproof_status status = isoproof_live_save(*live, &bytes, &size, &error);
  if (status == ISOPROOF_ERR_UNSUPPORTED) return;
  assert_ok_error(status, error);
  assert_ok_error(isoproof_live_restore(options, NULL, bytes, size, &restored, &error), error);
  ((char *)bytes)[t->pushed * 7919 % size] ^= 1; /* anything else is refused */
  isoproof_live *damaged;
  assert_int_equal(isoproof_live_restore(options, NULL, bytes, size, &damaged, &error), ISOPROOF_ERR_FORMAT);
  assert_int_equal(isoproof_live_restore(options, NULL, bytes, size / 2, &damaged, &error), ISOPROOF_ERR_FORMAT);
  free(bytes);
  isoproof_live_free(*live);
  *live = restored;
  t->saved++;
}

/* Whether the live checker and isoproof_check differ; says how. */
static bool differs(trial *t) {
  isoproof_live_options options = {.struct_size = sizeof options,
                                   .levels = level_ids,
                                   .level_count = is_timed(t->source) ? LEVELS : LEVELS - 2,
                                   .horizon = t->horizon,
                                   .whole = t->recorded ? give_whole : NULL,
                                   .whole_user = t};
  if (t->only < LEVELS) options.levels = level_ids + t->only, options.level_count = 1;
  isoproof_live *live;
  isoproof_error error;
  assert_ok_error(isoproof_live_new(&options, NULL, &live, &error), error);
  memset(t->was_final, 0, sizeof t->was_final);
  t->problem[0] = '\0';
  unsigned first = 0, count = source_count(t->source);
  for (unsigned end = 1; end <= count && t->problem[0] == '\0'; end++) {
    uint64_t order[MOST_TXNS];
    if (end < count && (t->cuts >> end & 1) == 0) continue;
    isoproof_history *batch = part(t->source, first, end);
    number(t->source, batch, first, end, order);
    assert_ok_error(isoproof_live_push(live, batch, order, &error), error);
    isoproof_history_free(batch);
    first = t->pushed = end;
    poll_and_compare(t, live);
    if ((t->saves >> end & 1) != 0) save_and_restore(t, &options, &live);
  }
  if (t->problem[0] == '\0') {
    t->pushed = count;
    assert_ok_error(isoproof_live_finish(live, &error), error);
    poll_and_compare(t, live);
  }
  isoproof_live_free(live);
  return t->problem[0] != '\0';
}

/* ---- showing ---- */

static bool sketch_fails(const sketch *s, void *user) {
  trial t = *(trial *)user;
  source few = {.registers = *s, .repeats = t.source->repeats};
  t.source = &few;
  return differs(&t);
}

static bool rows_fail(const row_history *h, void *user) {
  trial t = *(trial *)user;
  source few = {.of_rows = true, .rows = *h};
  t.source = &few;
  return differs(&t);
}

static void show(trial *t, uint64_t number_of_it) {
  char text[TEXT];
  if (t->source->of_objects)
    objects_text(&t->source->objects, 0, t->source->objects.count, text, sizeof text);
  else if (t->source->of_rows)
    rows_shrink(&t->source->rows, rows_fail, t), rows_text(&t->source->rows, text, sizeof text);
  else
    sketch_shrink(&t->source->registers, sketch_fails, t), sketch_print(&t->source->registers, text, sizeof text);
  differs(t);
  fail_msg("history %llu, horizon %llu, %s, polls %x, saves %x, level %u: %s\n%s%s\n", (unsigned long long)number_of_it,
           (unsigned long long)t->horizon, t->recorded ? "recorded" : "not recorded", t->cuts, t->saves, t->only,
           t->problem, text, t->witness);
}

static void agrees_after_every_batch(void **state) {
  (void)state;
  uint64_t random = seed, polls = 0, unknown = 0, consulted = 0, left = 0, saved = 0;
  for (uint64_t i = 0; i < histories; i++) {
    source s;
    draw(&random, &s);
    trial t = {.source = &s, .horizon = sketch_below(&random, 4), .recorded = sketch_below(&random, 4) != 0};
    t.only = (unsigned)sketch_below(&random, 2 * LEVELS);
    if (t.only > LEVELS) t.only = LEVELS;
    if (t.only >= LEVELS - 2 && !is_timed(&s)) t.only = LEVELS;
    t.cuts = sketch_below(&random, 3) == 0 ? ~0u : (unsigned)sketch_below(&random, 512);
    t.saves = sketch_below(&random, 2) == 0 ? 0 : (unsigned)sketch_below(&random, 512);
    if (differs(&t)) show(&t, i);
    saved += t.saved, polls += t.polls, unknown += t.unknown, consulted += t.whole_checks, left += t.left;
  }
  if (with_table)
    print_message("%llu histories, %llu polls, the whole consulted %llu times, %llu verdicts unknown without it, "
                  "%llu transactions were gone from memory, saved and restored %llu times\n",
                  (unsigned long long)histories, (unsigned long long)polls, (unsigned long long)consulted,
                  (unsigned long long)unknown, (unsigned long long)left, (unsigned long long)saved);
}

/* ---- longer histories, from the simulator ---- */

typedef struct arrival {
  int64_t end;
  uint64_t txn;
} arrival;

static int by_end(const void *a, const void *b) {
  const arrival *x = a, *y = b;
  if (x->end != y->end) return x->end < y->end ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

typedef struct simulation {
  isoproof_history *all;
  arrival *order;
  uint64_t count, pushed;
  bool timed;
} simulation;

static void copy_op(const isoproof_history *from, uint64_t number_of_it, isoproof_builder *builder) {
  isoproof_op op = {.struct_size = sizeof op};
  isoproof_scalar elements[256];
  assert_true(isoproof_history_op_at(from, number_of_it, &op));
  if (op.kind != ISOPROOF_OP_READ_LIST) {
    assert_ok(isoproof_builder_op(builder, op.kind, op.key, op.value, NULL));
    return;
  }
  assert_true(op.element_count <= 256);
  for (uint64_t i = 0; i < op.element_count; i++) isoproof_history_element_at(from, number_of_it, i, &elements[i]);
  assert_ok(isoproof_builder_elements(builder, op.kind, op.key, elements, op.element_count, NULL));
}

/* The transactions from `first` to before `end` by their ends. */
static isoproof_history *simulated_part(const simulation *s, uint64_t first, uint64_t end) {
  isoproof_builder *builder;
  isoproof_history *out;
  assert_ok(isoproof_builder_new(&builder, NULL));
  for (uint64_t i = first; i < end; i++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    isoproof_session session = {.struct_size = sizeof session};
    uint32_t opened;
    isoproof_history_txn_at(s->all, s->order[i].txn, &txn);
    isoproof_history_session_at(s->all, txn.session, &session);
    assert_ok(isoproof_builder_session(builder, session.name, &opened, NULL));
    assert_ok(isoproof_builder_begin(builder, opened, txn.status, NULL));
    if (s->timed) assert_ok(isoproof_builder_times(builder, txn.start, txn.end, NULL));
    for (uint64_t op = 0; op < txn.op_count; op++) copy_op(s->all, txn.first_op + op, builder);
  }
  assert_ok(isoproof_builder_finish(builder, &out, NULL));
  isoproof_builder_free(builder);
  return out;
}

/* The numbers that the transactions of the part have in its history. */
static void number_simulated(const simulation *s, const isoproof_history *batch, uint64_t first, uint64_t end,
                             uint64_t *order) {
  uint64_t next[64] = {0};
  isoproof_session session = {.struct_size = sizeof session};
  for (uint64_t i = 0; isoproof_history_session_at(batch, i, &session); i++) {
    assert_true(session.name.integer >= 0 && session.name.integer < 64);
    next[session.name.integer] = session.first_txn;
  }
  for (uint64_t i = first; i < end; i++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    isoproof_history_txn_at(s->all, s->order[i].txn, &txn);
    isoproof_history_session_at(s->all, txn.session, &session);
    order[i - first] = next[session.name.integer]++;
  }
}

static isoproof_status give_simulated(void *user, isoproof_task *task, isoproof_history **history,
                                      isoproof_error *error) {
  (void)task;
  (void)error;
  const simulation *s = user;
  *history = simulated_part(s, 0, s->pushed);
  return ISOPROOF_OK;
}

static void compare_simulated(const simulation *s, const isoproof_live *live, uint64_t number_of_it) {
  isoproof_history *prefix = simulated_part(s, 0, s->pushed);
  isoproof_check_options options = {.struct_size = sizeof options, .levels = level_ids, .level_count = LEVELS};
  isoproof_result *result;
  isoproof_error error;
  isoproof_live_verdict v = {.struct_size = sizeof v};
  if (!s->timed) options.level_count = LEVELS - 2;
  assert_ok_error(isoproof_check(prefix, &options, NULL, &result, &error), error);
  for (size_t i = 0; isoproof_live_level_at(live, i, &v); i++) {
    if (v.verdict != isoproof_result_verdict_of(result, v.level))
      fail_msg("simulation %llu: %s after %llu: %s", (unsigned long long)number_of_it, v.level,
               (unsigned long long)s->pushed, isoproof_verdict_name(v.verdict));
  }
  isoproof_result_free(result);
  isoproof_history_free(prefix);
}

static void sort_by_ends(simulation *s) {
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(s->all, &counts);
  s->count = counts.transactions;
  s->order = calloc(s->count, sizeof *s->order);
  assert_non_null(s->order);
  for (uint64_t i = 0; i < s->count; i++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    isoproof_history_txn_at(s->all, i, &txn);
    s->order[i] = (arrival){.end = txn.end != ISOPROOF_NO_TIME ? txn.end : txn.start, .txn = i};
  }
  qsort(s->order, s->count, sizeof *s->order, by_end);
}

static void simulate(uint64_t *random, uint64_t number_of_it, simulation *s) {
  static const isoproof_sim_level levels[] = {ISOPROOF_SIM_SERIALIZABLE, ISOPROOF_SIM_SERIALIZABLE,
                                              ISOPROOF_SIM_SNAPSHOT,     ISOPROOF_SIM_SNAPSHOT,
                                              ISOPROOF_SIM_CAUSAL,       ISOPROOF_SIM_READ_ATOMIC};
  isoproof_sim_options sim = {.struct_size = sizeof sim};
  isoproof_error error;
  isoproof_sim_defaults(&sim);
  sim.seed = seed + number_of_it;
  sim.level = levels[sketch_below(random, sizeof levels / sizeof levels[0])];
  sim.sessions = 2 + (uint32_t)sketch_below(random, 8);
  sim.txns = 20 + sketch_below(random, 80);
  sim.ops_min = 1, sim.ops_max = 5;
  sim.keys = 4 + (uint32_t)sketch_below(random, 30);
  sim.lists = sketch_below(random, 4) == 0;
  sim.rmw_share = (double)sketch_below(random, 3) / 4;
  if (sketch_below(random, 4) == 0) sim.unknown_share = 0.1, sim.abort_share = 0.1;
  if (sketch_below(random, 3) == 0 && sim.sessions >= 4) sim.bugs[sketch_below(random, 4)] = 1;
  assert_ok_error(isoproof_simulate(&sim, NULL, &s->all, NULL, &error), error);
  s->timed = sketch_below(random, 2) == 0;
  sort_by_ends(s);
}

static void agrees_on_simulated_histories(void **state) {
  (void)state;
  uint64_t random = seed;
  for (uint64_t i = 0; i < histories / 15; i++) {
    simulation s = {0};
    isoproof_live *live;
    isoproof_error error;
    simulate(&random, i, &s);
    isoproof_live_options options = {.struct_size = sizeof options,
                                     .levels = level_ids,
                                     .level_count = s.timed ? LEVELS : LEVELS - 2,
                                     .horizon = sketch_below(&random, 3) == 0 ? 0 : 1 + sketch_below(&random, 30),
                                     .whole = give_simulated,
                                     .whole_user = &s};
    assert_ok_error(isoproof_live_new(&options, NULL, &live, &error), error);
    for (uint64_t first = 0; first < s.count; first = s.pushed) {
      uint64_t most = s.count - first, count = 1 + sketch_below(&random, most < 30 ? most : 30), order[32];
      isoproof_history *batch = simulated_part(&s, first, first + count);
      number_simulated(&s, batch, first, first + count, order);
      assert_ok_error(isoproof_live_push(live, batch, order, &error), error);
      isoproof_history_free(batch);
      s.pushed = first + count;
      assert_ok_error(isoproof_live_poll(live, NULL, &error), error);
      compare_simulated(&s, live, i);
    }
    isoproof_live_free(live);
    isoproof_history_free(s.all);
    free(s.order);
  }
}

/* ---- sound histories, with nothing recorded ---- */

/* Pushes all of it; whether the level was known to be satisfied all the time, and transactions have left memory. */
static bool follows_alone(simulation *s, const char *level, uint64_t horizon) {
  isoproof_live_options options = {
      .struct_size = sizeof options, .levels = &level, .level_count = 1, .horizon = horizon};
  isoproof_live_state state = {.struct_size = sizeof state};
  isoproof_live *live;
  isoproof_error error;
  bool satisfied = true;
  assert_ok_error(isoproof_live_new(&options, NULL, &live, &error), error);
  for (uint64_t first = 0; first < s->count && satisfied; first = s->pushed) {
    uint64_t order[64], count = s->count - first < 64 ? s->count - first : 64;
    isoproof_history *batch = simulated_part(s, first, first + count);
    number_simulated(s, batch, first, first + count, order);
    assert_ok_error(isoproof_live_push(live, batch, order, &error), error);
    isoproof_history_free(batch);
    s->pushed = first + count;
    assert_ok_error(isoproof_live_poll(live, &state, &error), error);
    satisfied = state.verdict == ISOPROOF_SATISFIED || state.pending_reads > 0;
  }
  isoproof_live_free(live);
  return satisfied && state.retained < s->count / 2;
}

/* Writers whose order a reader tells thousands of transactions later, and replicas that are behind: a window of two
 * hundred has to do. */
static void needs_nothing_recorded(void **state) {
  (void)state;
  static const struct {
    isoproof_sim_level simulated;
    const char *level;
  } cases[] = {{ISOPROOF_SIM_SERIALIZABLE, "serializable"},
               {ISOPROOF_SIM_SERIALIZABLE, "strict-serializable"},
               {ISOPROOF_SIM_SNAPSHOT, "snapshot-isolation"},
               {ISOPROOF_SIM_CAUSAL, "causal"},
               {ISOPROOF_SIM_CAUSAL, "read-atomic"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    isoproof_sim_options sim = {.struct_size = sizeof sim};
    simulation s = {.timed = true};
    isoproof_error error;
    isoproof_sim_defaults(&sim);
    sim.level = cases[i].simulated;
    sim.txns = 3000;
    sim.keys = 2000;
    assert_ok_error(isoproof_simulate(&sim, NULL, &s.all, NULL, &error), error);
    sort_by_ends(&s);
    if (!follows_alone(&s, cases[i].level, 200))
      fail_msg("%s: not followed after %llu", cases[i].level, (unsigned long long)s.pushed);
    isoproof_history_free(s.all);
    free(s.order);
  }
}

static uint64_t number_from(const char *text, uint64_t usual) {
  return text != NULL ? strtoull(text, NULL, 10) : usual;
}

int main(int argc, char **argv) {
  const char *total = getenv("ISOPROOF_RANDOM_HISTORIES");
  histories = total != NULL ? number_from(total, USUAL) / 10 : UNLESS_SLOW(USUAL, USUAL / 10);
  seed = number_from(getenv("ISOPROOF_RANDOM_SEED"), 20261116);
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--table") == 0) with_table = true;
    if (strcmp(argv[i], "--rows") == 0) rows_only = true;
    if (strcmp(argv[i], "--count") == 0 && i + 1 < argc)
      histories = number_from(argv[++i], USUAL);
    else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
      seed = number_from(argv[++i], 1);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_after_every_batch),
      cmocka_unit_test(agrees_on_simulated_histories),
      cmocka_unit_test(needs_nothing_recorded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
