/* Elle's own test suite, as recorded in the shared data: the same verdicts, anomalies and models. */
#include "elle/elle.h"
#include "elle/evidence.h"
#include "elle/infer/orders.h"
#include "history/effect.h"
#include "history/resolve.h"
#include "tests/unit/elle/json_text.h"
#include "tests/unit/unit.h"

/* The data, NULL when it is not there. */
static char *read_data(const char *name) {
  const char *shared = getenv("ISOPROOF_SHARED");
  char path[1024];
  if (shared != NULL) {
    snprintf(path, sizeof path, "%s/data/%s", shared, name);
  } else {
    snprintf(path, sizeof path, "%s/../shared/data/%s", ISOPROOF_SOURCE_ROOT, name);
  }
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char *text = malloc((size_t)size + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, (size_t)size, file), size);
  text[size] = '\0';
  fclose(file);
  return text;
}

typedef struct conformance {
  json_span name, options, expected, history;
  char label[256];
  iso_elle_workload workload;
} conformance;

/* Cases where the recorded answer is not what ours should be; each with its reason in docs/elle.md. */
static const struct exception {
  const char *name;
  const char *reason;
} exceptions[] = {
    {"elle.rw-register-test/type-sanity #1", "types of numbers that JSON does not have"},
    {"elle.list-append-test/sim-prefix-test #1", "a G-single-item that is there and was not recorded"},
};

static const char *exception_of(const char *label) {
  for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++) {
    if (strcmp(exceptions[i].name, label) == 0) return exceptions[i].reason;
  }
  return NULL;
}

static void set_models(json_span options, iso_elle_options *out) {
  json_span models = json_member(options, "consistency-models"), anomalies = json_member(options, "anomalies"), one;
  char name[128];
  if (models.text == NULL && anomalies.text == NULL) {
    out->models = ISO_LEVEL_BIT(isoproof_level_find_in("strict-serializable", ISOPROOF_LEVEL_MODEL)->number);
  }
  for (size_t i = 0; (one = json_string(json_element(models, i))).text != NULL; i++) {
    snprintf(name, sizeof name, "%.*s", (int)one.length, one.text);
    const isoproof_level_info *info = isoproof_level_find_in(name, ISOPROOF_LEVEL_MODEL);
    assert_non_null(info);
    out->models |= ISO_LEVEL_BIT(info->number);
  }
  for (size_t i = 0; (one = json_string(json_element(anomalies, i))).text != NULL; i++) {
    snprintf(name, sizeof name, "%.*s", (int)one.length, one.text);
    const isoproof_anomaly_info *info = isoproof_anomaly_find(name);
    assert_non_null(info);
    out->anomalies[info->number] = true;
  }
}

static void set_options(const conformance *c, iso_elle_options *out) {
  memset(out, 0, sizeof *out);
  out->workload = c->workload;
  set_models(c->options, out);
  out->wfr_keys = json_is(json_member(c->options, "wfr-keys?"), "true");
  out->sequential_keys = json_is(json_member(c->options, "sequential-keys?"), "true");
  out->linearizable_keys = json_is(json_member(c->options, "linearizable-keys?"), "true");
}

/* The ranks of transactions, given by the index of their completion. */
static uint32_t *read_order(const conformance *c, const isoproof_history *history) {
  json_span order = json_member(c->options, "transaction-order"), name, value;
  if (order.text == NULL) return NULL;
  uint32_t *ranks = calloc(history->txns + 1, sizeof *ranks);
  assert_non_null(ranks);
  for (size_t i = 0; json_pair(order, i, &name, &value); i++) {
    for (uint32_t t = 0; t < history->txns; t++) {
      if (history->txn_end_index_opt[t] == json_integer(name)) ranks[t] = (uint32_t)json_integer(value);
    }
  }
  return ranks;
}

static isoproof_history *open_history(const conformance *c) {
  isoproof_open_options open = {.struct_size = sizeof open, .format = "json"};
  isoproof_history *history = NULL;
  isoproof_error error;
  if (isoproof_history_open_memory(c->history.text, c->history.length, c->label, &open, NULL, &history, &error) !=
      ISOPROOF_OK) {
    print_message("%s: %s\n", c->label, error.message);
    return NULL;
  }
  return history;
}

/* ---- whole checks ---- */

static bool same_types(const conformance *c, const iso_elle *elle) {
  json_span types = json_member(c->expected, "anomaly_types"), one;
  bool same = true;
  for (unsigned a = 0; a < ISO_ANOMALY_COUNT; a++) {
    const char *code = isoproof_anomaly_at(a)->code;
    bool found = elle->noncycle.count[a] + elle->cycles.count[a] > 0 && iso_elle_reports(elle, (iso_anomaly)a);
    bool expected = json_list_has(types, code);
    if (found == expected) continue;
    print_message("%s: %s %s\n", c->label, code, found ? "found, but not expected" : "expected, but not found");
    same = false;
  }
  for (size_t i = 0; (one = json_string(json_element(types, i))).text != NULL; i++) {
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)one.length, one.text);
    /* Nothing inferred is no anomaly. */
    if (strcmp(name, "empty-transaction-graph") != 0 && isoproof_anomaly_find(name) == NULL) {
      print_message("%s: %s is not in the table\n", c->label, name);
      same = false;
    }
  }
  return same;
}

static bool same_models(const conformance *c, const char *what, iso_level_set set) {
  json_span expected = json_member(c->expected, what);
  bool same = true;
  for (unsigned i = 0; i < ISO_LEVEL_COUNT; i++) {
    bool found = (set & ISO_LEVEL_BIT(i)) != 0;
    if (isoproof_level_at(i)->family != ISOPROOF_LEVEL_MODEL) continue;
    if (found == json_list_has(expected, isoproof_level_at(i)->friendly)) continue;
    print_message("%s: %s: %s %s\n", c->label, what, isoproof_level_at(i)->friendly, found ? "found" : "missing");
    same = false;
  }
  return same;
}

static bool check_whole(const conformance *c) {
  iso_elle_options options;
  iso_elle *elle = NULL;
  isoproof_error error;
  isoproof_history *history = open_history(c);
  if (history == NULL) return false;
  set_options(c, &options);
  uint32_t *order = read_order(c, history);
  options.txn_order_opt = order;
  isoproof_status status = iso_elle_run(history, &options, NULL, &elle, &error);
  free(order);
  if (status != ISOPROOF_OK) {
    print_message("%s: %s\n", c->label, error.message);
    isoproof_history_free(history);
    return false;
  }
  json_span valid = json_member(c->expected, "valid");
  /* Where nothing is inferred the recorded answer is "unknown", or false for another anomaly. */
  bool expected_invalid = json_is(valid, "false");
  bool good = same_types(c, elle);
  if (elle->invalid != expected_invalid) {
    print_message("%s: found %s\n", c->label, elle->invalid ? "invalid" : "valid");
    good = false;
  }
  bool told = elle->invalid || elle->empty_graph;
  iso_level_set weakest = iso_level_weakest(elle->ruled_out);
  good &= same_models(c, "not", told ? weakest : 0);
  good &= same_models(c, "also_not", told ? elle->ruled_out & ~weakest : 0);
  iso_elle_free(elle);
  isoproof_history_free(history);
  return good;
}

static bool next_case(char **line, conformance *c, json_span *kind, json_span *workload) {
  if (*line == NULL || **line == '\0') return false;
  char *end = strchr(*line, '\n');
  json_span object = json_value(*line, end != NULL ? end : *line + strlen(*line));
  *line = end != NULL ? end + 1 : NULL;
  *kind = json_string(json_member(object, "kind"));
  *workload = json_string(json_member(object, "workload"));
  c->name = json_string(json_member(object, "name"));
  c->options = json_member(object, "options");
  c->expected = json_member(object, "expected");
  c->history = json_member(object, "history");
  snprintf(c->label, sizeof c->label, "%.*s", (int)c->name.length, c->name.text);
  char id[64];
  snprintf(id, sizeof id, "%.*s", (int)workload->length, workload->text);
  c->workload = iso_elle_workload_find(id);
  return true;
}

static void test_whole_checks(void **state) {
  (void)state;
  char *data = read_data("elle-conformance.jsonl"), *line = data;
  if (data == NULL) {
    print_message("skipped: the shared data is not there\n");
    skip();
  }
  conformance c;
  json_span kind, workload;
  unsigned good = 0, bad = 0, excepted = 0;
  while (next_case(&line, &c, &kind, &workload)) {
    if (!json_is(kind, "check") || c.workload == ISO_ELLE_WORKLOADS) continue;
    if (exception_of(c.label) != NULL) {
      excepted++;
      continue;
    }
    if (check_whole(&c)) {
      good++;
    } else {
      bad++;
    }
  }
  free(data);
  print_message("%u whole checks agree, %u differ, %u are exceptions\n", good, bad, excepted);
  assert_int_equal(bad, 0);
}

/* ---- single steps ---- */

/* Reads and increments of counters as maps ({"x": 1}), and operations of which only the times matter: a session a
 * process, a transaction a pair, with the indexes as times. */
typedef struct open_op {
  long process, index;
  bool open;
} open_op;

static void add_map(isoproof_builder *builder, json_span value) {
  json_span name, number;
  isoproof_error error;
  for (size_t i = 0; json_pair(value, i, &name, &number); i++) {
    isoproof_scalar key = {.type = ISOPROOF_STRING, .length = (uint32_t)name.length, .text = name.text};
    assert_ok(
        isoproof_builder_op(builder, ISOPROOF_OP_READ_COUNTER, key, isoproof_integer(json_integer(number)), &error));
  }
}

static isoproof_history *build_events(json_span history) {
  enum { MOST = 64 };
  open_op open[MOST];
  size_t open_count = 0;
  isoproof_builder *builder;
  isoproof_history *made;
  isoproof_error error;
  json_span event;
  assert_ok(isoproof_builder_new(&builder, &error));
  for (size_t i = 0; (event = json_element(history, i)).text != NULL; i++) {
    long index = json_integer(json_member(event, "index")), process = json_integer(json_member(event, "process"));
    json_span type = json_string(json_member(event, "type"));
    size_t at = 0;
    while (at < open_count && open[at].process != process) at++;
    assert_true(at < MOST);
    if (at == open_count) open[open_count++] = (open_op){process, -1, false};
    if (json_is(type, "invoke")) {
      open[at].index = index;
      continue;
    }
    uint32_t session;
    assert_ok(isoproof_builder_session(builder, isoproof_integer(process), &session, &error));
    assert_ok(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, &error));
    assert_ok(isoproof_builder_times(builder, open[at].index >= 0 ? open[at].index : ISOPROOF_NO_TIME, index, &error));
    add_map(builder, json_member(event, "value"));
  }
  assert_ok(isoproof_builder_finish(builder, &made, &error));
  isoproof_builder_free(builder);
  return made;
}

/* The index of the completion of a transaction. */
static long index_of(const isoproof_history *h, uint32_t txn) {
  return (long)(h->txn_end_index_opt != NULL ? h->txn_end_index_opt[txn] : h->txn_end_opt[txn]);
}

enum { MOST_TXNS = 64 };
typedef iso_dependency_set matrix[MOST_TXNS][MOST_TXNS];

/* Follows auxiliary nodes: the kinds of dependencies between transactions. */
static void follow(const iso_dependency_graph *g, uint32_t from, uint32_t node, iso_dependency_set kind, matrix out,
                   unsigned depth) {
  assert_true(depth < 1000);
  if (node < g->txns) {
    if (node != from) out[from][node] |= kind;
    return;
  }
  for (uint32_t e = g->first[node]; e < g->first[node + 1]; e++) follow(g, from, g->to[e], kind, out, depth + 1);
}

static void fill_matrix(const iso_dependency_graph *g, matrix out) {
  memset(out, 0, sizeof(matrix));
  for (uint32_t t = 0; t < g->txns; t++) {
    for (uint32_t e = g->first[t]; e < g->first[t + 1]; e++) follow(g, t, g->to[e], g->kind[e], out, 0);
  }
}

static void close_matrix(matrix m, uint32_t count) {
  for (uint32_t k = 0; k < count; k++) {
    for (uint32_t i = 0; i < count; i++) {
      for (uint32_t j = 0; j < count; j++) {
        if (i != j && m[i][k] != 0 && m[k][j] != 0) m[i][j] |= m[i][k];
      }
    }
  }
}

/* The dependencies of a history: those of data, or orders. */
static void make_matrix(isoproof_history *h, iso_elle_workload workload, json_span kind, matrix out,
                        iso_noncycle_anomalies *anomalies) {
  iso_dependency_list edges;
  iso_dependency_graph graph;
  isoproof_error error;
  uint8_t *counts;
  assert_true(h->txns <= MOST_TXNS);
  assert_ok_error(iso_history_effect(h, NULL, &counts, &error), error);
  iso_dependency_list_init(&edges, h->txns);
  if (json_is(kind, "process-graph")) {
    iso_session_edges(h, counts, NULL, &edges);
  } else if (json_is(kind, "realtime-graph")) {
    iso_instants instants;
    assert_ok(iso_instants_make(h, counts, &instants, &error));
    iso_realtime_edges(h, &instants, &edges);
    iso_instants_free(&instants);
  } else {
    iso_elle_options options = {.workload = workload};
    iso_evidence evidence;
    iso_completeness completeness;
    assert_ok_error(iso_evidence_gather(h, &options, counts, NULL, &evidence, anomalies, &edges, &completeness, &error),
                    error);
    iso_evidence_free(&evidence);
  }
  assert_ok(iso_dependency_graph_make(&edges, &graph, &error));
  fill_matrix(&graph, out);
  iso_dependency_graph_free(&graph);
  free(counts);
}

static uint32_t txn_at(const isoproof_history *h, long index) {
  for (uint32_t t = 0; t < h->txns; t++) {
    if (index_of(h, t) == index) return t;
  }
  fail_msg("there is no transaction with index %ld", index);
  return 0;
}

/* Elle's name: that of the edge in small letters, with a p where it rests on a predicate, but for the orders. */
static void name_of_dependency(iso_dependency_set one, char name[16]) {
  iso_dependency_kind kind = iso_dependency_kind_of(one);
  if (kind.edge == ISO_EDGE_SO || kind.edge == ISO_EDGE_RT) {
    snprintf(name, 16, "%s", kind.edge == ISO_EDGE_SO ? "process" : "realtime");
    return;
  }
  snprintf(name, 16, "%s%s", iso_edge_name(kind.edge), kind.on_predicate ? "p" : "");
  for (char *c = name; *c != '\0'; c++) *c |= 0x20;
}

static iso_dependency_set dependency_named(json_span wanted) {
  for (unsigned i = 0; i < ISO_DEPENDENCY_KINDS; i++) {
    char name[16];
    name_of_dependency((iso_dependency_set)(1u << i), name);
    if (json_is(wanted, name)) return (iso_dependency_set)(1u << i);
  }
  fail_msg("there is no kind %.*s", (int)wanted.length, wanted.text);
  return 0;
}

static void read_matrix(const isoproof_history *h, json_span edges, matrix out) {
  json_span edge, kind;
  memset(out, 0, sizeof(matrix));
  for (size_t i = 0; (edge = json_element(edges, i)).text != NULL; i++) {
    uint32_t from = txn_at(h, json_integer(json_element(edge, 0)));
    uint32_t to = txn_at(h, json_integer(json_element(edge, 1)));
    for (size_t k = 0; (kind = json_string(json_element(json_element(edge, 2), k))).text != NULL; k++) {
      out[from][to] |= dependency_named(kind);
    }
  }
}

/* Whether a recorded graph agrees: real time as an order (ours is not reduced), growth of keys without its name (it
 * counts as anti-dependencies here), all else to the letter. */
static bool check_graph(const conformance *c, json_span kind) {
  static matrix found, expected;
  iso_noncycle_anomalies anomalies;
  memset(&anomalies, 0, sizeof anomalies);
  bool data = json_is(kind, "graph") || json_is(kind, "ww-graph") || json_is(kind, "wr-graph");
  bool realtime = json_is(kind, "realtime-graph"), growth = json_is(kind, "monotonic-key-graph");
  isoproof_history *h = data ? open_history(c) : build_events(c->history);
  if (h == NULL) return false;
  if (json_member(c->expected, "throws").text != NULL) {
    const iso_resolution *resolution;
    isoproof_error error;
    assert_ok(iso_history_resolve(h, NULL, &resolution, &error));
    bool refused = iso_history_require_unique(h, resolution, &error) == ISOPROOF_ERR_FORMAT;
    isoproof_history_free(h);
    return refused;
  }
  make_matrix(h, growth ? ISO_ELLE_WORKLOAD_COUNTER : c->workload, kind, found, &anomalies);
  read_matrix(h, json_member(c->expected, "edges"), expected);
  iso_dependency_set mask = json_is(kind, "ww-graph")   ? ISO_DEPENDENCY_WW
                            : json_is(kind, "wr-graph") ? ISO_DEPENDENCY_WR
                                                        : 255;
  if (realtime || growth) close_matrix(found, h->txns), close_matrix(expected, h->txns);
  bool same = true;
  for (uint32_t i = 0; i < h->txns; i++) {
    for (uint32_t k = 0; k < h->txns; k++) {
      bool equal = growth ? (found[i][k] != 0) == (expected[i][k] != 0) : (found[i][k] & mask) == expected[i][k];
      if (!equal)
        print_message("%s: %ld to %ld: %x, expected %x\n", c->label, index_of(h, i), index_of(h, k), found[i][k] & mask,
                      expected[i][k]);
      same &= equal;
    }
  }
  iso_vec_free(&anomalies.list);
  isoproof_history_free(h);
  return same;
}

/* Whether an instance that was found is among the recorded ones. */
static bool is_recorded(const isoproof_history *h, json_span recorded, const iso_noncycle_anomaly *one) {
  json_span item;
  long index = index_of(h, iso_history_txn_of(h, one->op));
  for (size_t i = 0; (item = json_element(recorded, i)).text != NULL; i++) {
    json_span writer = json_member(item, "writer");
    if (json_integer(json_member(item, "op")) != index) continue;
    if (writer.text == NULL) return true;
    if (one->other < h->ops && json_integer(writer) == index_of(h, iso_history_txn_of(h, one->other))) return true;
  }
  return false;
}

static bool same_instances(const conformance *c, const isoproof_history *h, const iso_noncycle_anomalies *anomalies,
                           iso_anomaly anomaly, json_span recorded) {
  size_t expected = 0, found = 0;
  bool good = true;
  while (json_element(recorded, expected).text != NULL) expected++;
  for (size_t i = 0; i < anomalies->list.count; i++) {
    if (anomalies->list.items[i].anomaly != anomaly) continue;
    found++;
    good &= is_recorded(h, recorded, &anomalies->list.items[i]);
  }
  good &= found == expected;
  if (!good)
    print_message("%s: %zu of %s, expected %zu\n", c->label, found, isoproof_anomaly_at(anomaly)->code, expected);
  return good;
}

static bool check_cases(const conformance *c, json_span kind) {
  static matrix found;
  iso_noncycle_anomalies anomalies;
  memset(&anomalies, 0, sizeof anomalies);
  anomalies.all = true;
  isoproof_history *h = open_history(c);
  if (h == NULL) return false;
  make_matrix(h, c->workload, kind, found, &anomalies);
  bool good;
  if (json_is(kind, "g1a-cases")) {
    good = same_instances(c, h, &anomalies, ISO_ANOMALY_G1A, c->expected);
  } else if (json_is(kind, "g1b-cases")) {
    good = same_instances(c, h, &anomalies, ISO_ANOMALY_G1B, c->expected);
  } else if (c->expected.text[0] == '{') {
    good = same_instances(c, h, &anomalies, ISO_ANOMALY_INTERNAL, json_member(c->expected, "internal"));
    good &= same_instances(c, h, &anomalies, ISO_ANOMALY_FUTURE_READ, json_member(c->expected, "future-read"));
  } else {
    good = same_instances(c, h, &anomalies, ISO_ANOMALY_INTERNAL, c->expected);
  }
  iso_vec_free(&anomalies.list);
  isoproof_history_free(h);
  return good;
}

/* A whole check with an analyzer of the test's own: which one, its name tells. */
static bool check_core(const conformance *c) {
  static matrix found;
  iso_noncycle_anomalies anomalies;
  memset(&anomalies, 0, sizeof anomalies);
  bool lists = strstr(c->label, "list-append") != NULL, reads = strstr(c->label, "wr-graph") != NULL;
  bool with_session = strstr(c->label, "combined") != NULL;
  isoproof_history *h = lists || reads ? open_history(c) : build_events(c->history);
  if (h == NULL) return false;
  iso_elle_workload workload = lists   ? ISO_ELLE_WORKLOAD_LIST_APPEND
                               : reads ? ISO_ELLE_WORKLOAD_RW_REGISTER
                                       : ISO_ELLE_WORKLOAD_COUNTER;
  json_span data = {"graph", 5};
  make_matrix(h, workload, data, found, &anomalies);
  for (uint32_t i = 0; i < h->txns; i++) {
    for (uint32_t k = 0; k < h->txns; k++) {
      if (reads) found[i][k] &= ISO_DEPENDENCY_WR;
      bool next = k == i + 1 && h->txn_session[i] == h->txn_session[k];
      if (with_session && next) found[i][k] |= ISO_DEPENDENCY_SO;
    }
  }
  close_matrix(found, h->txns);
  bool cyclic = false;
  for (uint32_t i = 0; i < h->txns; i++) {
    for (uint32_t k = 0; k < h->txns; k++) cyclic |= i != k && found[i][k] != 0 && found[k][i] != 0;
  }
  bool good = cyclic == json_is(json_member(c->expected, "valid?"), "false");
  if (!good) print_message("%s: found %s\n", c->label, cyclic ? "a cycle" : "no cycle");
  iso_vec_free(&anomalies.list);
  isoproof_history_free(h);
  return good;
}

static void test_single_steps(void **state) {
  (void)state;
  char *data = read_data("elle-conformance.jsonl"), *line = data;
  if (data == NULL) {
    print_message("skipped: the shared data is not there\n");
    skip();
  }
  conformance c;
  json_span kind, workload;
  unsigned good = 0, bad = 0;
  while (next_case(&line, &c, &kind, &workload)) {
    bool whole = json_is(kind, "check"),
         cases = kind.length > 5 && strncmp(kind.text + kind.length - 5, "cases", 5) == 0;
    if (whole && !json_is(workload, "core-cycle")) continue;
    bool agrees = whole ? check_core(&c) : cases ? check_cases(&c, kind) : check_graph(&c, kind);
    good += agrees;
    bad += !agrees;
  }
  free(data);
  print_message("%u single steps agree, %u differ\n", good, bad);
  assert_int_equal(bad, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole_checks),
      cmocka_unit_test(test_single_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
