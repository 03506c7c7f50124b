/* Structs of other sizes than the library's own: one behaviour, asked of every function that takes one. */
#include "tests/unit/unit.h"

#include "base/abi.h"

/* ---- the copying itself ---- */

typedef struct sample {
  size_t struct_size;
  uint32_t number;
  uint32_t other;
  const char *text;
} sample;

typedef struct longer_sample {
  sample known;
  uint64_t unknown[2];
} longer_sample;

static isoproof_status read_sample(sample *own, const void *theirs, isoproof_error *error) {
  *own = (sample){.number = 1, .other = 2, .text = "default"};
  return ISO_OPTIONS_READ(sample, own, (const sample *)theirs, error);
}

static void options_are_read(void **state) {
  (void)state;
  sample own;
  isoproof_error error;
  longer_sample given = {.known = {.struct_size = sizeof(sample), .number = 7, .other = 8, .text = "given"}};
  assert_ok(read_sample(&own, NULL, &error));
  assert_int_equal(own.struct_size, sizeof own);
  assert_int_equal(own.number, 1);
  assert_ok(read_sample(&own, &given, &error));
  assert_int_equal(own.struct_size, sizeof own);
  assert_string_equal(own.text, "given");
  given.known.struct_size = offsetof(sample, other);
  assert_ok(read_sample(&own, &given, &error));
  assert_int_equal(own.struct_size, sizeof own);
  assert_int_equal(own.number, 7);
  assert_int_equal(own.other, 2);
  assert_string_equal(own.text, "default");
  given.known.struct_size = sizeof given;
  assert_ok(read_sample(&own, &given, &error));
  assert_int_equal(own.struct_size, sizeof own);
  given.unknown[1] = 1;
  assert_int_equal(read_sample(&own, &given, &error), ISOPROOF_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "sample"));
  assert_int_equal(own.number, 1);
  for (size_t size = 0; size < sizeof(size_t); size++) {
    given.known.struct_size = size;
    assert_int_equal(read_sample(&own, &given, &error), ISOPROOF_ERR_USAGE);
    assert_non_null(strstr(error.message, "sizeof(sample)"));
  }
  assert_int_equal(read_sample(&own, &given, NULL), ISOPROOF_ERR_USAGE);
}

static void structs_are_given(void **state) {
  (void)state;
  const sample own = {.struct_size = sizeof own, .number = 7, .other = 8, .text = "own"};
  longer_sample out = {.known = {.struct_size = sizeof own}};
  assert_true(ISO_STRUCT_GIVE(&out.known, own));
  assert_string_equal(out.known.text, "own");
  memset(&out, 0xa5, sizeof out);
  out.known.struct_size = offsetof(sample, other);
  assert_true(ISO_STRUCT_GIVE(&out.known, own));
  assert_int_equal(out.known.struct_size, offsetof(sample, other));
  assert_int_equal(out.known.number, 7);
  assert_int_equal(out.known.other, 0xa5a5a5a5);
  out.known.struct_size = sizeof(size_t);
  out.known.number = 3;
  assert_true(ISO_STRUCT_GIVE(&out.known, own));
  assert_int_equal(out.known.number, 3);
  out.known.struct_size = offsetof(longer_sample, unknown[1]);
  assert_true(ISO_STRUCT_GIVE(&out.known, own));
  assert_int_equal(out.known.struct_size, offsetof(longer_sample, unknown[1]));
  assert_int_equal(out.known.other, 8);
  assert_int_equal(out.unknown[0], 0);
  assert_true(out.unknown[1] == UINT64_C(0xa5a5a5a5a5a5a5a5));
  out.known.struct_size = sizeof(size_t) - 1;
  out.known.number = 3;
  assert_false(ISO_STRUCT_GIVE(&out.known, own));
  assert_int_equal(out.known.number, 3);
  isoproof_error error;
  assert_int_equal(ISO_STRUCT_CHECK(sample, &out.known, &error), ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error.message, "sizeof(sample)"));
  assert_ok(ISO_STRUCT_CHECK(sample, &own, &error));
  assert_ok(ISO_STRUCT_CHECK(sample, (sample *)NULL, &error));
}

/* ---- every function that takes options ---- */

/* Two transactions read one version and both overwrite it. */
static const char lost_update[] = "w(1,1,0,0)\nr(1,1,1,1)\nw(1,2,1,1)\nr(1,1,2,2)\nw(1,3,2,2)\n";
static const char bank[] = "{:type :invoke, :f :read, :process 0}\n{:type :ok, :f :read, :value {0 5}, :process 0}\n";

static bool swallow(void *user, const void *data, size_t size) {
  (void)user, (void)data, (void)size;
  return true;
}

static isoproof_history *opened(void) {
  isoproof_history *history;
  isoproof_error error;
  assert_ok_error(
      isoproof_history_open_memory(lost_update, sizeof lost_update - 1, "history", NULL, NULL, &history, &error),
      error);
  return history;
}

static isoproof_status call_open(const void *options, isoproof_error *error) {
  isoproof_history *history = NULL;
  isoproof_status status =
      isoproof_history_open_memory(lost_update, sizeof lost_update - 1, "history", options, NULL, &history, error);
  isoproof_history_free(history);
  return status;
}

static isoproof_status call_write(const void *options, isoproof_error *error) {
  isoproof_history *history = opened();
  isoproof_status status =
      isoproof_history_write_to(history, ISOPROOF_FORMAT_JSONL, swallow, NULL, options, NULL, NULL, error);
  isoproof_history_free(history);
  return status;
}

static isoproof_status call_check(const void *options, isoproof_error *error) {
  isoproof_history *history = opened();
  isoproof_result *result = NULL;
  isoproof_status status = isoproof_check(history, options, NULL, &result, error);
  isoproof_result_free(result);
  isoproof_history_free(history);
  return status;
}

static isoproof_status call_minimize(const void *options, isoproof_error *error) {
  isoproof_history *history = opened(), *smaller = NULL;
  isoproof_status status = isoproof_minimize(history, options, NULL, &smaller, NULL, error);
  isoproof_history_free(smaller);
  isoproof_history_free(history);
  return status;
}

static isoproof_status call_live(const void *options, isoproof_error *error) {
  isoproof_live *live = NULL;
  isoproof_status status = isoproof_live_new(options, NULL, &live, error);
  isoproof_live_free(live);
  return status;
}

static isoproof_status call_follow(const void *options, isoproof_error *error) {
  return isoproof_follow("/nonexistent", options, NULL, error);
}

static isoproof_status call_live_document(const void *options, isoproof_error *error) {
  isoproof_live *live = NULL;
  isoproof_document *document = NULL;
  assert_int_equal(isoproof_live_new(NULL, NULL, &live, error), ISOPROOF_OK);
  isoproof_status status = isoproof_document_make_live(live, options, &document, error);
  isoproof_document_free(document);
  isoproof_live_free(live);
  return status;
}

static isoproof_status call_simulate(const void *options, isoproof_error *error) {
  isoproof_history *history = NULL;
  isoproof_status status = isoproof_simulate(options, NULL, &history, NULL, error);
  isoproof_history_free(history);
  return status;
}

static isoproof_status call_workload(const void *options, isoproof_error *error) {
  return isoproof_workload_write(options, swallow, NULL, NULL, error);
}

static isoproof_status call_object(const void *options, isoproof_error *error) {
  isoproof_object_verdict verdict = {.struct_size = sizeof verdict};
  return isoproof_object_check_memory(bank, sizeof bank - 1, "bank", options, NULL, &verdict, error);
}

static isoproof_status call_object_json(const void *verdict, isoproof_error *error) {
  return isoproof_object_write_json(verdict, ISOPROOF_OBJECT_BANK, "bank", swallow, NULL, error);
}

static isoproof_status call_server(const void *options, isoproof_error *error) {
  isoproof_server *server = NULL;
  isoproof_status status = isoproof_server_open(options, &server, error);
  isoproof_server_free(server);
  return status;
}

static isoproof_status call_cluster(const void *options, isoproof_error *error) {
  isoproof_cluster *cluster = NULL;
  isoproof_status status = isoproof_cluster_start(options, NULL, &cluster, error);
  isoproof_cluster_stop(cluster);
  return status;
}

/* Options that are refused before the cluster is looked at. */
static isoproof_status call_faults(const void *options, isoproof_error *error) {
  isoproof_fault_injector *faults = NULL;
  isoproof_status status = isoproof_fault_injector_new(NULL, options, &faults, error);
  isoproof_fault_injector_free(faults);
  return status;
}

static isoproof_status call_coo(const void *options, isoproof_error *error) {
  isoproof_coo_matrix *matrix = NULL;
  isoproof_status status = isoproof_coo_run(options, NULL, &matrix, error);
  isoproof_coo_matrix_free(matrix);
  return status;
}

static isoproof_status call_run(const void *options, isoproof_error *error) {
  isoproof_run_summary *summary = NULL;
  isoproof_status status = isoproof_run(options, NULL, &summary, error);
  isoproof_run_summary_free(summary);
  return status;
}

/* With NULL there is one client, and the database is refused. */
static isoproof_status call_share(const void *share, isoproof_error *error) {
  static const char *const urls[] = {"nonsense:"};
  isoproof_run_options options = {.struct_size = sizeof options};
  assert_true(isoproof_run_defaults(&options));
  options.urls = urls;
  options.path = "/nonexistent";
  options.share = share;
  return call_run(&options, error);
}

static bool write_nothing(void *user, const void *data, size_t size) {
  (void)user;
  (void)data;
  (void)size;
  return true;
}

static isoproof_status call_script_explain(const void *options, isoproof_error *error) {
  return isoproof_script_explain(options, write_nothing, NULL, error);
}

/* A history in which one row is there at the start, and a statement. */
static isoproof_status build_rows(const void *statement, isoproof_history **history, isoproof_error *error) {
  isoproof_builder *builder;
  uint32_t session;
  assert_ok(isoproof_builder_new(&builder, error));
  assert_ok(isoproof_builder_session(builder, isoproof_integer(0), &session, error));
  assert_ok(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, error));
  assert_ok(isoproof_builder_initial_row(builder, 1, 10, error));
  isoproof_status status = isoproof_builder_statement(builder, statement, NULL, NULL, 0, error);
  if (status == ISOPROOF_OK) status = isoproof_builder_row(builder, ISOPROOF_ROW_DELETE, 1, 0, error);
  if (status == ISOPROOF_OK) status = isoproof_builder_finish(builder, history, error);
  isoproof_builder_free(builder);
  return status;
}

static isoproof_status call_statement(const void *statement, isoproof_error *error) {
  isoproof_history *history = NULL;
  isoproof_status status = build_rows(statement, &history, error);
  isoproof_history_free(history);
  return status;
}

static isoproof_status call_plan_outcome(const void *outcome, isoproof_error *error) {
  isoproof_plan_results *results;
  assert_ok(isoproof_plan_results_new(NULL, "", &results, error));
  isoproof_status status = isoproof_plan_results_set(results, 0, outcome, error);
  isoproof_plan_results_free(results);
  return status;
}

static isoproof_status call_plan_compare(const void *options, isoproof_error *error) {
  isoproof_plan_results *results;
  isoproof_plan_comparison *comparison = NULL;
  assert_ok(isoproof_plan_results_new(NULL, "", &results, error));
  isoproof_status status = isoproof_plan_compare(results, results, options, &comparison, error);
  isoproof_plan_comparison_free(comparison);
  isoproof_plan_results_free(results);
  return status;
}

static const char *const nowhere[] = {"nonsense:"};

/* Where a call would start something, its options are such that it is refused: the words tell by what.  NULL words mean
 * that it succeeds. */
typedef struct option_case {
  const char *type;
  size_t size;
  isoproof_status (*call)(const void *options, isoproof_error *error);
  const void *options;
  const char *words;         /* with these options */
  const char *default_words; /* with NULL */
  bool no_defaults;          /* NULL cannot be tried */
} option_case;

#define OPTIONS(type, ...)                                                                                             \
#type, sizeof(type), .options = &(const type) { .struct_size = sizeof(type), __VA_ARGS__ }

static const option_case option_cases[] = {
    {OPTIONS(isoproof_open_options, .format = "plume"), .call = call_open},
    {OPTIONS(isoproof_write_options, .lossy = true), .call = call_write},
    {OPTIONS(isoproof_check_options, .all = true), .call = call_check},
    {OPTIONS(isoproof_minimize_options, .level = "serializable"), .call = call_minimize, .default_words = "level"},
    {OPTIONS(isoproof_live_options, .horizon = 1), .call = call_live},
    {OPTIONS(isoproof_live_document_options, .asked = true), .call = call_live_document},
    {OPTIONS(isoproof_follow_options, .to_end = true), .call = call_follow, .words = "take", .default_words = "take"},
    {OPTIONS(isoproof_statement, .form = ISOPROOF_ROW_COUNT), .call = call_statement, .default_words = "form"},
    {OPTIONS(isoproof_sim_options, .seed = 1), .call = call_simulate, .words = "sessions"},
    {OPTIONS(isoproof_workload_options, .seed = 1), .call = call_workload, .words = "sessions",
     .default_words = "txns"},
    {OPTIONS(isoproof_object_options, .negative_balances = true), .call = call_object},
    {OPTIONS(isoproof_object_verdict, .operations = 1), .call = call_object_json},
    {OPTIONS(isoproof_server_options, .directory = "/nonexistent"), .call = call_server, .words = "directory",
     .default_words = "directory"},
    {OPTIONS(isoproof_cluster_options, .kind = "nonsense"), .call = call_cluster, .words = "nonsense",
     .default_words = "cluster"},
    {OPTIONS(isoproof_fault_options, .interval = -1), .call = call_faults, .words = "interval", .no_defaults = true},
    {OPTIONS(isoproof_coo_run_options, .urls = nowhere, .url_count = 1), .call = call_coo, .words = "nonsense",
     .default_words = "expected"},
    {OPTIONS(isoproof_plan_outcome, .database = "d", .isolation = "", .workload = "w", .rounds = 1),
     .call = call_plan_outcome},
    {OPTIONS(isoproof_plan_compare_options, .tolerance = 0.1), .call = call_plan_compare},
    {OPTIONS(isoproof_run_options, .urls = nowhere, .url_count = 1, .path = "/nonexistent", .seconds = -1),
     .call = call_run, .words = "seconds", .default_words = "path"},
    {OPTIONS(isoproof_run_share, .number = 3, .count = 2), .call = call_share, .words = "share",
     .default_words = "nonsense"},
    {OPTIONS(isoproof_run_options, .urls = nowhere, .url_count = 1), .call = call_script_explain, .words = "scripts",
     .default_words = "scripts"},
};

enum { BEYOND = 24, ROOM = 4096 };

/* Calls with a copy of the options that has another size; the byte at `set`, if any, is set. */
static void expect(const option_case *c, size_t size, size_t set, isoproof_status refused, const char *words) {
  union {
    size_t size;
    unsigned char bytes[ROOM];
  } copy;
  isoproof_error error = {.message = ""};
  assert_true(c->size + BEYOND <= sizeof copy);
  memset(&copy, 0, sizeof copy);
  memcpy(&copy, c->options, c->size);
  copy.size = size;
  if (set > 0) copy.bytes[set] = 1;
  isoproof_status status = c->call(&copy, &error);
  if (words == NULL && status != ISOPROOF_OK) fail_msg("%s of %zu bytes: %s", c->type, size, error.message);
  if (words != NULL && strstr(error.message, words) == NULL)
    fail_msg("%s of %zu bytes: expected '%s', found '%s'", c->type, size, words, error.message);
  if (refused != ISOPROOF_OK) assert_int_equal(status, refused);
}

static void options_of_any_size(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof option_cases / sizeof option_cases[0]; i++) {
    const option_case *c = &option_cases[i];
    expect(c, 0, 0, ISOPROOF_ERR_USAGE, c->type);
    expect(c, sizeof(size_t) - 1, 0, ISOPROOF_ERR_USAGE, c->type);
    expect(c, c->size, 0, ISOPROOF_OK, c->words);
    expect(c, c->size + BEYOND, 0, ISOPROOF_OK, c->words);
    expect(c, c->size + BEYOND, c->size, ISOPROOF_ERR_UNSUPPORTED, c->type);
    expect(c, c->size + BEYOND, c->size + BEYOND - 1, ISOPROOF_ERR_UNSUPPORTED, c->type);
    if (c->no_defaults) continue;
    expect(c, sizeof(size_t), 0, ISOPROOF_OK, c->default_words);
    isoproof_error error = {.message = ""};
    isoproof_status status = c->call(NULL, &error);
    if (c->default_words == NULL) assert_ok_error(status, error);
    if (c->default_words != NULL) assert_non_null(strstr(error.message, c->default_words));
  }
}

/* ---- every function that fills a struct ---- */

typedef struct handles {
  isoproof_history *history;
  isoproof_result *result;
  isoproof_injected_bugs *blames;
  isoproof_schedule *schedule;
  isoproof_pop_graph *graph;
  isoproof_coo_matrix *saved[2];
  isoproof_coo_matrix *matrix; /* NULL without SQLite */
  isoproof_plan *plan;
  isoproof_plan_results *results;
  bool has_error; /* its cell has one, which a loaded machine may prevent */
} handles;

static bool has_sqlite(void) {
  isoproof_driver_info info = {.struct_size = sizeof info};
  for (size_t i = 0; isoproof_driver_at(i, &info); i++)
    if (strcmp(info.name, "sqlite") == 0) return info.built;
  return false;
}

static handles open_handles(void) {
  static const char plan[] = "workloads = [\"mixed\"]\n[databases.x]\nurl = \"sim:\"\n";
  static const char *const urls[] = {"sqlite:"};
  static const unsigned cases[] = {18};
  isoproof_error error;
  isoproof_history *simulated;
  handles h = {.history = opened()};
  assert_ok_error(isoproof_plan_read_memory(plan, sizeof plan - 1, "plan", &h.plan, &error), error);
  assert_ok_error(isoproof_plan_results_new(h.plan, "plan", &h.results, &error), error);
  isoproof_check_options check = {.struct_size = sizeof check, .certificate = true, .stats = true};
  isoproof_sim_options sim = {.struct_size = sizeof sim};
  isoproof_coo_run_options coo = {
      .struct_size = sizeof coo, .urls = urls, .url_count = 1, .cases = cases, .case_count = 1, .timeout_ms = 500};
  assert_ok_error(isoproof_check(h.history, &check, NULL, &h.result, &error), error);
  assert_true(isoproof_sim_defaults(&sim));
  sim.bugs[ISOPROOF_SIM_BUG_LOST_UPDATE] = 1;
  assert_ok_error(isoproof_simulate(&sim, NULL, &simulated, &h.blames, &error), error);
  isoproof_history_free(simulated);
  assert_ok_error(isoproof_schedule_parse("R1x R2x W1x W2x C1 C2", &h.schedule, &error), error);
  assert_ok_error(isoproof_pop_graph_new(h.schedule, &h.graph, &error), error);
  for (size_t i = 0; i < 2; i++) {
    static const char *const files[] = {ISOPROOF_SOURCE_ROOT "/examples/matrices/galera-4.json",
                                        ISOPROOF_SOURCE_ROOT "/examples/matrices/mariadb-10.11.json"};
    assert_ok_error(isoproof_coo_matrix_read(files[i], &h.saved[i], &error), error);
  }
  if (has_sqlite()) {
    isoproof_coo_event event = {.struct_size = sizeof event};
    assert_ok_error(isoproof_coo_run(&coo, NULL, &h.matrix, &error), error);
    h.has_error = isoproof_coo_cell_error_at(h.matrix, 0, 0, 0, &event);
  }
  return h;
}

static void close_handles(handles *h) {
  isoproof_plan_results_free(h->results);
  isoproof_plan_free(h->plan);
  isoproof_coo_matrix_free(h->saved[0]);
  isoproof_coo_matrix_free(h->saved[1]);
  isoproof_coo_matrix_free(h->matrix);
  isoproof_pop_graph_free(h->graph);
  isoproof_schedule_free(h->schedule);
  isoproof_injected_bugs_free(h->blames);
  isoproof_result_free(h->result);
  isoproof_history_free(h->history);
}

/* Functions that return a status must say ISOPROOF_ERR_USAGE where others return false. */
static bool is_ok(isoproof_status status, const isoproof_error *error) {
  if (status == ISOPROOF_OK) return true;
  assert_int_equal(status, ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error->message, "struct_size"));
  return false;
}

static bool fill_case(void *out) {
  isoproof_coo_generator *generator;
  assert_ok(isoproof_coo_generator_new(2, 2, &generator, NULL));
  bool filled = isoproof_coo_generator_next(generator, out);
  isoproof_coo_generator_free(generator);
  return filled;
}

/* A matrix against one that differs from it in a cell, and has a level more. */
static bool fill_compared(const handles *h, bool difference, void *out) {
  isoproof_coo_comparison *comparison;
  isoproof_error error;
  assert_ok_error(isoproof_coo_compare(h->saved[0], h->saved[1], &comparison, &error), error);
  bool filled = difference ? isoproof_coo_comparison_difference_at(comparison, 0, out)
                           : isoproof_coo_comparison_unmatched_at(comparison, 0, out);
  isoproof_coo_comparison_free(comparison);
  return filled;
}

static bool fill_minimized(const handles *h, void *out) {
  isoproof_minimize_options options = {.struct_size = sizeof options, .level = "serializable"};
  isoproof_history *smaller = NULL;
  isoproof_error error;
  bool filled = is_ok(isoproof_minimize(h->history, &options, NULL, &smaller, out, &error), &error);
  isoproof_history_free(smaller);
  return filled;
}

/* Of a history that is pushed whole. */
static bool fill_live(const handles *h, bool state, void *out) {
  isoproof_live *live;
  isoproof_error error;
  assert_ok_error(isoproof_live_new(NULL, NULL, &live, &error), error);
  assert_ok_error(isoproof_live_push(live, h->history, NULL, &error), error);
  bool filled = state ? is_ok(isoproof_live_poll(live, out, &error), &error) : isoproof_live_level_at(live, 0, out);
  isoproof_live_free(live);
  return filled;
}

static bool fill_statement(isoproof_statement *out) {
  isoproof_statement count = {.struct_size = sizeof count,
                              .form = ISOPROOF_ROW_COUNT,
                              .has_keys = true,
                              .key_high = 9,
                              .answered = true,
                              .counted = 1};
  isoproof_history *history = NULL;
  isoproof_error error;
  assert_ok_error(build_rows(&count, &history, &error), error);
  bool filled = isoproof_history_statement_of(history, 0, out);
  isoproof_history_free(history);
  return filled;
}

static bool fill_notice(isoproof_notice *out) {
  static const char cut[] = "{\"isoproof\":1}\n{\"sess";
  isoproof_history *history;
  isoproof_error error;
  assert_ok_error(isoproof_history_open_memory(cut, sizeof cut - 1, "cut", NULL, NULL, &history, &error), error);
  bool filled = isoproof_history_notice_at(history, 0, out);
  isoproof_history_free(history);
  return filled;
}

/* Type, the call as an expression of `h`, `out` and `e`; those of a matrix need SQLite, and the last one an error. */
#define FILLED_STRUCTS(X)                                                                                              \
  X(isoproof_sim_options, isoproof_sim_defaults(out))                                                                  \
  X(isoproof_run_options, isoproof_run_defaults(out))                                                                  \
  X(isoproof_workload_options, isoproof_workload_defaults(ISOPROOF_WORKLOAD_BANK, out))                                \
  X(isoproof_workload_options, isoproof_workload_preset_defaults(ISOPROOF_PRESET_JEPSEN, out))                         \
  X(isoproof_counts, isoproof_history_counts(h->history, out))                                                         \
  X(isoproof_session, isoproof_history_session_at(h->history, 1, out))                                                 \
  X(isoproof_txn, isoproof_history_txn_at(h->history, 1, out))                                                         \
  X(isoproof_op, isoproof_history_op_at(h->history, 1, out))                                                           \
  X(isoproof_statement, fill_statement(out))                                                                           \
  X(isoproof_notice, fill_notice(out))                                                                                 \
  X(isoproof_resolution, is_ok(isoproof_history_resolve(h->history, NULL, out, e), e))                                 \
  X(isoproof_stats, is_ok(isoproof_history_stats(h->history, NULL, out, e), e))                                        \
  X(isoproof_effort, is_ok(isoproof_history_effort(h->history, NULL, out, e), e))                                      \
  X(isoproof_write_loss,                                                                                               \
    is_ok(isoproof_history_write_to(h->history, ISOPROOF_FORMAT_PLUME, swallow, NULL, NULL, NULL, out, e), e))         \
  X(isoproof_write_loss,                                                                                               \
    is_ok(isoproof_history_write(h->history, ISOPROOF_FORMAT_PLUME, "/dev/null", NULL, NULL, out, e), e))              \
  X(isoproof_level_verdict, isoproof_result_level_at(h->result, 0, out))                                               \
  X(isoproof_anomaly, isoproof_result_anomaly_at(h->result, 0, out))                                                   \
  X(isoproof_certificate, isoproof_result_certificate_at(h->result, 0, out))                                           \
  X(isoproof_certificate, isoproof_result_certificate_of(h->result, "causal", out))                                    \
  X(isoproof_search_stat, isoproof_result_search_stat_at(h->result, 0, 0, out))                                        \
  X(isoproof_minimized, fill_minimized(h, out))                                                                        \
  X(isoproof_live_state, fill_live(h, true, out))                                                                      \
  X(isoproof_live_verdict, fill_live(h, false, out))                                                                   \
  X(isoproof_object_verdict,                                                                                           \
    is_ok(isoproof_object_check_memory(bank, sizeof bank - 1, "bank", NULL, NULL, out, e), e))                         \
  X(isoproof_injected_bug, isoproof_injected_bug_at(h->blames, 0, out))                                                \
  X(isoproof_plan_cell, isoproof_plan_cell_at(h->plan, 0, out))                                                        \
  X(isoproof_plan_option, isoproof_plan_option_at(h->plan, 0, 0, out))                                                 \
  X(isoproof_plan_outcome, isoproof_plan_results_at(h->results, 0, out))                                               \
  X(isoproof_claim, isoproof_claim_at(0, out))                                                                         \
  X(isoproof_driver_info, isoproof_driver_at(0, out))                                                                  \
  X(isoproof_schedule_step, isoproof_schedule_step_at(h->schedule, 2, out))                                            \
  X(isoproof_pop_cycle, isoproof_pop_graph_cycle_at(h->graph, 0, out))                                                 \
  X(isoproof_coo_case, fill_case(out))                                                                                 \
  X(isoproof_coo_row, isoproof_coo_matrix_row_at(h->matrix, 0, out))                                                   \
  X(isoproof_coo_cell, isoproof_coo_matrix_cell_at(h->matrix, 0, 0, out))                                              \
  X(isoproof_coo_summary, isoproof_coo_matrix_summary_at(h->matrix, 0, out))                                           \
  X(isoproof_coo_difference, fill_compared(h, true, out))                                                              \
  X(isoproof_coo_unmatched, fill_compared(h, false, out))                                                              \
  X(isoproof_coo_verdict, isoproof_coo_cell_verdict_at(h->matrix, 0, 0, 0, out))                                       \
  X(isoproof_coo_event, isoproof_coo_cell_event_at(h->matrix, 0, 0, 0, out))                                           \
  X(isoproof_coo_event, isoproof_coo_cell_error_at(h->matrix, 0, 0, 0, out))

enum {
#define X(type, call) +1
  FILLED = FILLED_STRUCTS(X)
#undef X
};

static const struct {
  const char *type;
  size_t size;
  const char *call;
} filled_structs[] = {
#define X(type, call) {#type, sizeof(type), #call},
    FILLED_STRUCTS(X)
#undef X
};

static bool fill(const handles *h, size_t number, void *out) {
  isoproof_error error = {.message = ""}, *e = &error;
  size_t i = 0;
#define X(type, call)                                                                                                  \
  if (i++ == number) return call;
  FILLED_STRUCTS(X)
#undef X
  return false;
}

/* Fills a struct of `size` bytes in a room full of marks; the bytes from `size` on must keep them. */
static bool fill_in_room(const handles *h, size_t number, size_t size, unsigned char room[ROOM]) {
  const char *type = filled_structs[number].type;
  memset(room, 0xa5, ROOM);
  memcpy(room, &size, sizeof size);
  bool filled = fill(h, number, room);
  for (size_t i = size > sizeof size ? size : sizeof size; i < ROOM; i++)
    if (room[i] != 0xa5) fail_msg("%s of %zu bytes was overrun at byte %zu", type, size, i);
  size_t left;
  memcpy(&left, room, sizeof left);
  if (left != size) fail_msg("%s of %zu bytes: its struct_size became %zu", type, size, left);
  return filled;
}

static void filled_structs_of_any_size(void **state) {
  (void)state;
  static _Alignas(max_align_t) unsigned char room[ROOM], whole[ROOM];
  const size_t head = sizeof(size_t), field = sizeof(uint32_t);
  handles h = open_handles();
  for (size_t i = 0; i < FILLED; i++) {
    const char *type = filled_structs[i].type;
    size_t size = filled_structs[i].size;
    bool needs_sqlite = strncmp(filled_structs[i].call, "isoproof_coo_", strlen("isoproof_coo_")) == 0;
    if (needs_sqlite && (h.matrix == NULL || (i == FILLED - 1 && !h.has_error))) continue;
    assert_true(size + BEYOND <= ROOM);
    if (fill_in_room(&h, i, 0, room) || fill_in_room(&h, i, head - 1, room)) fail_msg("%s without its size", type);
    if (!fill_in_room(&h, i, size, whole)) fail_msg("%s of its own size", type);
    if (!fill_in_room(&h, i, head, room)) fail_msg("%s of its size only", type);
    if (!fill_in_room(&h, i, head + field, room)) fail_msg("%s of an older caller", type);
    assert_memory_equal(room + head, whole + head, field);
    if (!fill_in_room(&h, i, size + BEYOND, room)) fail_msg("%s of a newer caller", type);
    assert_memory_equal(room + head, whole + head, field);
    for (size_t k = size; k < size + BEYOND; k++) assert_int_equal(room[k], 0);
  }
  close_handles(&h);
}

/* ---- what is frozen ---- */

/* Lengths and the places of the last members, where pointers and size_t have eight bytes. */
static void frozen_structs_are_what_they_were(void **state) {
  (void)state;
  if (sizeof(void *) != 8) skip();
#define FROZEN(type, size, last, place)                                                                                \
  do {                                                                                                                 \
    assert_int_equal(sizeof(type), size);                                                                              \
    assert_int_equal(offsetof(type, last), place);                                                                     \
  } while (0)
  FROZEN(isoproof_error, 1056, message, 544);
  FROZEN(isoproof_scalar, 24, text, 16);
  FROZEN(isoproof_position, 24, offset, 16);
  FROZEN(isoproof_edge, 72, key, 48);
  FROZEN(isoproof_write_order, 40, key, 16);
  FROZEN(isoproof_anomaly_case, 40, explanation, 32);
  FROZEN(isoproof_certificate_event, 16, kind, 8);
  FROZEN(isoproof_pop, 24, to_step, 20);
#undef FROZEN
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_are_read),
      cmocka_unit_test(structs_are_given),
      cmocka_unit_test(options_of_any_size),
      cmocka_unit_test(filled_structs_of_any_size),
      cmocka_unit_test(frozen_structs_are_what_they_were),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
