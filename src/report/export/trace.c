/* Trace events for Perfetto and chrome://tracing: sessions are threads of their node, transactions are slices. */
#include <stdio.h>
#include <string.h>

#include "base/abi.h"
#include "base/json_writer.h"
#include "base/vector.h"
#include "history/history.h"
#include "report/document/document.h"

enum {
  MOST_WITH_OPS = 200000, /* transactions of a history whose operations are in the trace */
  MOST_OPS = 16,          /* of a transaction */
  PROCESS_FAULTS = 1,
  PROCESS_NODES = 2, /* the first of them */
  STEP = 1000        /* nanoseconds a transaction takes where there are no times */
};

/* A transaction in the trace. */
typedef struct slice {
  uint64_t number;
  uint32_t process, thread;
  int64_t start, end; /* nanoseconds from the beginning; the end is behind the start */
} slice;

typedef struct thread {
  uint32_t process, thread;
} thread;

typedef struct trace {
  iso_output *out;
  isoproof_json json;
  const isoproof_document *document;
  const isoproof_history *history; /* NULL: only what the anomalies show */
  bool has_times;
  int64_t first, last;
  ISO_VEC(iso_value) nodes;                /* those seen, of a history */
  iso_name_list node_names, session_names; /* those seen, of a document */
  ISO_VEC(slice) slices; /* of a document, sorted by number; of a history they are made when they are needed */
  ISO_VEC(thread) named; /* threads that have their name already, where sessions change nodes */
  uint64_t flows;
  bool failed; /* memory is out */
} trace;

/* ---- events ---- */

/* An event on a line of its own, which stays open. */
static void begin_event(trace *t, const char *phase, uint32_t process, uint32_t thread_number) {
  iso_json_newline(&t->json);
  isoproof_json_object(&t->json);
  iso_json_field_text(&t->json, "ph", phase);
  iso_json_field_u64(&t->json, "pid", process);
  iso_json_field_u64(&t->json, "tid", thread_number);
}

/* Ends the arguments of an event, and the event. */
static void end_event(trace *t) {
  isoproof_json_end(&t->json);
  isoproof_json_end(&t->json);
}

/* Microseconds, as the format wants them, to the nanosecond. */
static void put_time(trace *t, const char *name, int64_t nanoseconds) {
  bool negative = nanoseconds < 0;
  uint64_t size = negative ? 0 - (uint64_t)nanoseconds : (uint64_t)nanoseconds;
  iso_json_field(&t->json, name);
  iso_out_printf(iso_json_begin_number(&t->json), "%s%llu.%03u", negative ? "-" : "", (unsigned long long)(size / 1000),
                 (unsigned)(size % 1000));
}

static void put_name(trace *t, const char *what, uint32_t process, uint32_t thread_number, const char *before,
                     const char *text) {
  char whole[256];
  snprintf(whole, sizeof whole, "%s%.200s", before, text);
  begin_event(t, "M", process, thread_number);
  iso_json_field_text(&t->json, "name", what);
  iso_json_field_object(&t->json, "args");
  iso_json_field_text(&t->json, "name", whole);
  end_event(t);
}

/* ---- time ---- */

/* From the beginning of the run; a hostile history may have any times. */
static int64_t since(const trace *t, int64_t time) {
  int64_t most = INT64_MAX / 4, result;
  if (__builtin_sub_overflow(time, t->first, &result)) return 0;
  return result > most ? most : result < -most ? -most : result;
}

static void find_span(trace *t, int64_t start, int64_t end) {
  if (start != ISOPROOF_NO_TIME && (!t->has_times || start < t->first)) t->first = start;
  if (start != ISOPROOF_NO_TIME && (!t->has_times || start > t->last)) t->last = start;
  if (start != ISOPROOF_NO_TIME) t->has_times = true;
  if (end != ISOPROOF_NO_TIME && t->has_times && end > t->last) t->last = end;
}

/* Places a transaction that is the `place`-th of its session; `next` is when the session goes on, for one without an
 * end. */
static void set_times(const trace *t, slice *s, int64_t start, int64_t end, int64_t next, uint64_t place) {
  if (!t->has_times) {
    s->start = place < (uint64_t)INT64_MAX / STEP ? (int64_t)place * STEP : 0;
    s->end = s->start + STEP * 4 / 5;
    return;
  }
  if (start == ISOPROOF_NO_TIME) start = end != ISOPROOF_NO_TIME ? end : t->first;
  if (end == ISOPROOF_NO_TIME) end = next != ISOPROOF_NO_TIME && next >= start ? next : t->last;
  s->start = since(t, start);
  s->end = since(t, end);
  if (s->end <= s->start) s->end = s->start + 1;
}

/* ---- processes and threads ---- */

/* The number of a name among those seen, in the order in which they came. */
static uint32_t number_of(trace *t, iso_name_list *names, const char *name) {
  for (size_t i = 0; i < names->count; i++) {
    if (strcmp(names->items[i], name) == 0) return (uint32_t)i;
  }
  if (!iso_vec_push(names, name)) t->failed = true;
  return names->count > 0 ? (uint32_t)names->count - 1 : 0;
}

static uint32_t process_of_value(trace *t, iso_value node) {
  enum { MOST_NODES = 64 }; /* nodes beyond these are taken together */
  for (size_t i = 0; i < t->nodes.count; i++) {
    if (t->nodes.items[i] == node) return PROCESS_NODES + (uint32_t)i;
  }
  if (t->nodes.count == MOST_NODES) return PROCESS_NODES;
  if (!iso_vec_push(&t->nodes, node)) {
    t->failed = true;
    return PROCESS_NODES;
  }
  uint32_t process = PROCESS_NODES + (uint32_t)t->nodes.count - 1;
  char text[256];
  isoproof_scalar_format(iso_history_scalar(t->history, node), text, sizeof text);
  bool none = node == ISO_VALUE_NIL;
  put_name(t, "process_name", process, 0, none ? "" : "node ", none ? "sessions" : text);
  return process;
}

/* Names a thread when it is new. */
static void name_thread(trace *t, uint32_t process, uint32_t session, const char *name) {
  for (size_t i = t->named.count; i-- > 0;) {
    if (t->named.items[i].process == process && t->named.items[i].thread == session + 1) return;
  }
  thread one = {process, session + 1};
  if (!iso_vec_push(&t->named, one)) t->failed = true;
  put_name(t, "thread_name", process, session + 1, "session ", name);
}

/* ---- slices ---- */

static void begin_slice(trace *t, const slice *s, const char *name, const char *status) {
  begin_event(t, "X", s->process, s->thread);
  put_time(t, "ts", s->start);
  put_time(t, "dur", s->end - s->start);
  bool committed = strcmp(status, "committed") == 0;
  char whole[160];
  snprintf(whole, sizeof whole, committed ? "%.80s" : "%.80s (%.60s)", name, status);
  iso_json_field_text(&t->json, "name", whole);
  iso_json_field_text(&t->json, "cat", status);
  iso_json_field_object(&t->json, "args");
  iso_json_field_text(&t->json, "status", status);
}

static void put_scalar(trace *t, const char *name, isoproof_scalar scalar) {
  char text[256];
  if (scalar.type == ISOPROOF_NIL) return;
  isoproof_scalar_format(scalar, text, sizeof text);
  iso_json_field_text(&t->json, name, text);
}

/* "r x = 3" */
static void put_op(trace *t, uint64_t number) {
  isoproof_op op = {.struct_size = sizeof op};
  char key[100], value[100], whole[256];
  if (!isoproof_history_op_at(t->history, number, &op)) return;
  isoproof_scalar_format(op.key, key, sizeof key);
  isoproof_scalar_format(op.value, value, sizeof value);
  if (iso_kind_is_list(op.kind) && op.value.type == ISOPROOF_INTEGER)
    snprintf(whole, sizeof whole, "%s %s: %llu elements", isoproof_op_kind_name(op.kind), key,
             (unsigned long long)op.element_count);
  else
    snprintf(whole, sizeof whole, "%s %s = %s", isoproof_op_kind_name(op.kind), key, value);
  isoproof_json_string(&t->json, whole);
}

static void put_ops(trace *t, const isoproof_txn *txn) {
  if (t->history->txns > MOST_WITH_OPS) {
    iso_json_field_u64(&t->json, "operations", txn->op_count);
    return;
  }
  iso_json_field_list(&t->json, "operations");
  for (uint64_t i = 0; i < txn->op_count && i < MOST_OPS; i++) put_op(t, txn->first_op + i);
  isoproof_json_end(&t->json);
  if (txn->op_count > MOST_OPS) iso_json_field_u64(&t->json, "more", txn->op_count - MOST_OPS);
}

static bool slice_of(trace *t, uint64_t number, isoproof_txn *txn, slice *out) {
  isoproof_txn next = {.struct_size = sizeof next};
  if (!isoproof_history_txn_at(t->history, number, txn)) return false;
  bool goes_on = isoproof_history_txn_at(t->history, number + 1, &next) && next.session == txn->session;
  iso_value node = t->history->txn_node_opt != NULL ? t->history->txn_node_opt[number] : ISO_VALUE_NIL;
  *out = (slice){number, process_of_value(t, node), (uint32_t)txn->session + 1, 0, 0};
  set_times(t, out, txn->start, txn->end, goes_on ? next.start : ISOPROOF_NO_TIME, txn->index);
  return true;
}

static void put_history(trace *t) {
  isoproof_session session = {.struct_size = sizeof session};
  isoproof_txn txn = {.struct_size = sizeof txn};
  slice s;
  for (uint32_t number = 0; number < t->history->sessions && !iso_output_failed(t->out); number++) {
    char name[256], called[64];
    if (!isoproof_history_session_at(t->history, number, &session)) break;
    isoproof_scalar_format(session.name, name, sizeof name);
    t->named.count = 0;
    for (uint64_t i = session.first_txn; i < session.first_txn + session.txn_count; i++) {
      if (!slice_of(t, i, &txn, &s)) continue;
      name_thread(t, s.process, number, name);
      isoproof_history_txn_name(t->history, i, called, sizeof called);
      begin_slice(t, &s, called, isoproof_txn_status_name(txn.status));
      put_scalar(t, "error", txn.error);
      if (txn.has_id) iso_json_field_i64(&t->json, "id", txn.id);
      if (txn.isolation != NULL) iso_json_field_text(&t->json, "isolation", txn.isolation);
      put_ops(t, &txn);
      end_event(t);
    }
  }
}

/* ---- without a history: the transactions of the anomalies ---- */

static void put_document_txn(trace *t, const isoproof_document_txn *txn, uint64_t place) {
  size_t before = t->node_names.count;
  uint32_t process = PROCESS_NODES + number_of(t, &t->node_names, txn->node != NULL ? txn->node : "");
  if (t->node_names.count > before)
    put_name(t, "process_name", process, 0, txn->node != NULL ? "node " : "sessions",
             txn->node != NULL ? txn->node : "");
  uint32_t session = number_of(t, &t->session_names, txn->session);
  slice s = {txn->number, process, session + 1, 0, 0};
  set_times(t, &s, txn->start, txn->end, ISOPROOF_NO_TIME, place);
  name_thread(t, process, session, txn->session);
  if (!iso_vec_push(&t->slices, s)) t->failed = true;
  begin_slice(t, &s, txn->name, txn->status);
  if (txn->isolation != NULL) iso_json_field_text(&t->json, "isolation", txn->isolation);
  iso_json_field_list(&t->json, "operations");
  for (uint32_t i = 0; i < txn->op_count; i++) isoproof_json_string(&t->json, txn->ops[i].text);
  isoproof_json_end(&t->json);
  end_event(t);
}

static const slice *find_slice(const trace *t, uint64_t number) {
  for (size_t i = 0; i < t->slices.count; i++) {
    if (t->slices.items[i].number == number) return &t->slices.items[i];
  }
  return NULL;
}

/* Whose edges are drawn, and transactions where there is no history. */
enum { MOST_ANOMALIES = 100, MOST_SLICES = 2000 };

static void put_document_txns(trace *t) {
  const isoproof_document_anomaly *a;
  uint64_t place = 0;
  for (size_t i = 0; i < MOST_ANOMALIES && (a = isoproof_document_anomaly_at(t->document, i)) != NULL; i++) {
    for (uint32_t k = 0; k < a->txn_count; k++) {
      if (a->txns[k].number == ISOPROOF_INITIAL_TXN || find_slice(t, a->txns[k].number) != NULL) continue;
      if (t->slices.count < MOST_SLICES) put_document_txn(t, &a->txns[k], place++);
    }
  }
}

/* ---- anomalies ---- */

static bool place_of(trace *t, const isoproof_document_txn *txn, slice *out) {
  isoproof_txn whole = {.struct_size = sizeof whole};
  if (txn->number == ISOPROOF_INITIAL_TXN) return false;
  if (t->history != NULL) return slice_of(t, txn->number, &whole, out);
  const slice *found = find_slice(t, txn->number);
  if (found != NULL) *out = *found;
  return found != NULL;
}

static void put_end(trace *t, const char *phase, const slice *s, int64_t at, const char *name, const char *why) {
  begin_event(t, phase, s->process, s->thread);
  put_time(t, "ts", at);
  iso_json_field_u64(&t->json, "id", t->flows);
  iso_json_field_text(&t->json, "cat", "anomaly");
  iso_json_field_text(&t->json, "name", name);
  if (phase[0] == 'f') iso_json_field_text(&t->json, "bp", "e");
  iso_json_field_object(&t->json, "args");
  iso_json_field_text(&t->json, "why", why);
  end_event(t);
}

/* A flow from the start of one slice to the end of the other.  Flows cannot go back in time: one that would is drawn
 * the other way round and says so. */
static void put_edge(trace *t, const isoproof_document_anomaly *a, const isoproof_document_edge *edge) {
  slice from, to;
  char name[256];
  if (edge->from == edge->to || !place_of(t, &a->txns[edge->from], &from) || !place_of(t, &a->txns[edge->to], &to))
    return;
  bool backwards = from.start >= to.end;
  snprintf(name, sizeof name, "%.30s: %.10s%s%.100s%s", a->code, edge->kind, edge->key != NULL ? " " : "",
           edge->key != NULL ? edge->key : "", backwards ? ", back in time" : "");
  const slice *left = backwards ? &to : &from, *right = backwards ? &from : &to;
  t->flows++;
  put_end(t, "s", left, left->start, name, edge->why);
  put_end(t, "f", right, right->end - 1, name, edge->why);
}

static void put_mark(trace *t, const isoproof_document_anomaly *a) {
  slice s;
  uint32_t first = 0;
  while (first < a->txn_count && !place_of(t, &a->txns[first], &s)) first++;
  if (first == a->txn_count) return;
  begin_event(t, "i", s.process, s.thread);
  put_time(t, "ts", s.start);
  iso_json_field_text(&t->json, "s", "g");
  iso_json_field_text(&t->json, "cat", "anomaly");
  iso_json_field_text(&t->json, "name", a->code);
  iso_json_field_object(&t->json, "args");
  iso_json_field_text(&t->json, "name", a->name);
  iso_json_field_text(&t->json, "explanation", a->explanation);
  end_event(t);
}

static void put_anomalies(trace *t) {
  const isoproof_document_anomaly *a;
  for (size_t i = 0; i < MOST_ANOMALIES && (a = isoproof_document_anomaly_at(t->document, i)) != NULL; i++) {
    put_mark(t, a);
    for (uint32_t k = 0; k < a->edge_count; k++) put_edge(t, a, &a->edges[k]);
    /* Of cases, the first: what follows from the others is in the sentences. */
    for (uint32_t k = 0; a->case_count > 0 && k < a->cases[0].edge_count; k++) put_edge(t, a, &a->cases[0].edges[k]);
  }
}

/* ---- faults ---- */

/* A thread for each kind of fault of each node, so that slices on one do not cross. */
static uint32_t fault_thread(const trace *t, size_t number) {
  const isoproof_document_fault *faults = t->document->faults.items, *one = &faults[number];
  for (size_t i = 0; i < number; i++) {
    if (strcmp(one->kind, faults[i].kind) == 0 && strcmp(one->target, faults[i].target) == 0) return (uint32_t)i + 1;
  }
  return (uint32_t)number + 1;
}

static void put_faults(trace *t) {
  for (size_t i = 0; i < t->document->faults.count; i++) {
    const isoproof_document_fault f = t->document->faults.items[i];
    uint32_t place = fault_thread(t, i);
    if (i == 0) put_name(t, "process_name", PROCESS_FAULTS, 0, "", "faults");
    if (place == i + 1) {
      char name[160];
      snprintf(name, sizeof name, "%.100s %.50s", f.kind, f.target);
      put_name(t, "thread_name", PROCESS_FAULTS, place, "", name);
    }
    bool ends = f.end != ISOPROOF_NO_TIME && f.end > f.start;
    int64_t start = since(t, f.start), end = ends ? since(t, f.end) : since(t, t->last);
    begin_event(t, end > start ? "X" : "i", PROCESS_FAULTS, place);
    put_time(t, "ts", start);
    if (end > start)
      put_time(t, "dur", end - start);
    else
      iso_json_field_text(&t->json, "s", "g");
    iso_json_field_text(&t->json, "cat", "fault");
    iso_json_field_text(&t->json, "name", f.kind);
    iso_json_field_object(&t->json, "args");
    iso_json_field_text(&t->json, "target", f.target);
    iso_json_field_bool(&t->json, "ended", ends);
    end_event(t);
  }
}

/* ---- the whole ---- */

static void put_other_data(trace *t) {
  isoproof_json *json = &t->json;
  iso_json_field_object(json, "otherData");
  iso_json_field_text(json, "file", isoproof_document_file(t->document));
  iso_json_field_text(json, "times", t->has_times ? "as recorded" : "none recorded: places in the session instead");
  if (t->history == NULL)
    iso_json_field_text(json, "left_out", "the history is not at hand: only the transactions of anomalies are here");
  else if (t->history->txns > MOST_WITH_OPS)
    iso_json_field_text(json, "left_out", "operations");
  iso_json_field_object(json, "facts");
  for (size_t i = 0; i < t->document->facts.count; i++) {
    isoproof_json_name(json, t->document->facts.items[i].name);
    isoproof_json_string(json, t->document->facts.items[i].value);
  }
  isoproof_json_end(json);
  isoproof_json_end(json);
}

static void find_times(trace *t) {
  const isoproof_document_anomaly *a;
  if (t->history != NULL && t->history->txn_start_opt != NULL) {
    for (uint32_t i = 0; i < t->history->txns; i++)
      find_span(t, t->history->txn_start_opt[i], t->history->txn_end_opt[i]);
  }
  if (t->history != NULL) return;
  for (size_t i = 0; (a = isoproof_document_anomaly_at(t->document, i)) != NULL; i++) {
    for (uint32_t k = 0; k < a->txn_count; k++) find_span(t, a->txns[k].start, a->txns[k].end);
  }
}

isoproof_status isoproof_document_write_trace(const isoproof_document *document, const isoproof_draw_options *options,
                                              isoproof_write_fn write, void *user, isoproof_error *error) {
  trace t = {.document = document, .history = isoproof_document_history(document)};
  isoproof_draw_options known = {.struct_size = sizeof known};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_draw_options, &known, options, error));
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &t.out, error));
  find_times(&t);
  iso_json_writer_init(&t.json, t.out, ISO_JSON_PLAIN);
  isoproof_json_object(&t.json);
  iso_json_field_list(&t.json, "traceEvents");
  put_faults(&t);
  if (t.history != NULL)
    put_history(&t);
  else
    put_document_txns(&t);
  put_anomalies(&t);
  iso_json_newline(&t.json);
  isoproof_json_end(&t.json);
  iso_json_field_text(&t.json, "displayTimeUnit", "ms");
  put_other_data(&t);
  isoproof_json_end(&t.json);
  isoproof_json_line(&t.json);
  bool failed = t.failed;
  iso_vec_free(&t.nodes);
  iso_vec_free(&t.node_names);
  iso_vec_free(&t.session_names);
  iso_vec_free(&t.slices);
  iso_vec_free(&t.named);
  if (failed) {
    iso_output_abandon(t.out);
    return iso_fail_memory(error);
  }
  return iso_output_close(t.out, error);
}
