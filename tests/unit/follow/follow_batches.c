/* Histories cut at random places come out of batches as the readers make them of the whole. */
#include "follow/batch.h"
#include "tests/unit/unit.h"

enum { ROUNDS = UNLESS_SLOW(60, 12) };

/* ---- histories as text ---- */

typedef struct text {
  char *bytes;
  size_t size;
} text;

static bool grow(void *user, const void *data, size_t size) {
  text *t = user;
  t->bytes = realloc(t->bytes, t->size + size + 1);
  if (t->bytes == NULL) abort();
  memcpy(t->bytes + t->size, data, size);
  t->size += size;
  t->bytes[t->size] = '\0';
  return true;
}

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  assert_true(length >= 0);
  grow(t, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

static void put_scalar(text *t, isoproof_scalar scalar) {
  char name[256];
  isoproof_scalar_format(scalar, name, sizeof name);
  put(t, " %d:%s", (int)scalar.type, name);
}

/* What a read by predicate saw of other rows depends on which rows there are; what it returned does not. */
static void put_statement(text *t, const isoproof_history *h, const iso_statement *s) {
  iso_predicate p = iso_statement_predicate(s);
  put(t, " form%d %d%d%d%d %lld..%lld %lld..%lld %lld %lld %lld {", (int)s->form, p.of_keys, p.of_values, p.of_rest,
      s->answered, (long long)p.key_low, (long long)p.key_high, (long long)p.value_low, (long long)p.value_high,
      (long long)p.divisor, (long long)p.rest, (long long)s->counted);
  for (uint64_t i = s->first_op; i < s->first_op + s->op_count; i++) {
    isoproof_op op = {.struct_size = sizeof op};
    assert_true(isoproof_history_op_at(h, i, &op));
    if (op.value.type != ISOPROOF_INTEGER) continue;
    put_scalar(t, op.key);
    put_scalar(t, op.value);
  }
  put(t, "}");
}

static void put_op(text *t, const isoproof_history *h, uint64_t number) {
  isoproof_op op = {.struct_size = sizeof op};
  isoproof_position where = {.line = 0};
  assert_true(isoproof_history_op_at(h, number, &op));
  (void)isoproof_history_position_of(h, number, &where);
  /* Of what a key that nobody has changed so far is a read of nil is not known. */
  bool nothing = op.value.type == ISOPROOF_NIL || op.value.type == ISOPROOF_NONE;
  put(t, " @%llu %s", (unsigned long long)where.line, nothing ? "read" : isoproof_op_kind_name(op.kind));
  put_scalar(t, op.key);
  put_scalar(t, op.value);
  for (uint64_t i = 0; i < op.element_count; i++) {
    isoproof_scalar element;
    assert_true(isoproof_history_element_at(h, number, i, &element));
    put_scalar(t, element);
  }
}

static void put_txn(text *t, const isoproof_history *h, uint64_t number) {
  isoproof_txn txn = {.struct_size = sizeof txn};
  assert_true(isoproof_history_txn_at(h, number, &txn));
  put(t, "%d %d %lld %lld %lld", (int)txn.status, txn.has_id, (long long)txn.id, (long long)txn.start,
      (long long)txn.end);
  put_scalar(t, txn.node);
  put_scalar(t, txn.error);
  uint32_t next = 0;
  while (next < h->statement_count && h->statements[next].txn < number) next++;
  for (uint64_t op = txn.first_op; op <= txn.first_op + txn.op_count;) {
    const iso_statement *s = next < h->statement_count ? &h->statements[next] : NULL;
    if (s != NULL && s->txn == number && s->first_op == op) {
      put_statement(t, h, s);
      op += s->op_count;
      next++;
    } else if (op++ < txn.first_op + txn.op_count) {
      put_op(t, h, op - 1);
    }
  }
  put(t, "\n");
}

/* ---- what was handed over, by session ---- */

enum { MOST_SESSIONS = 64 };
typedef struct collected {
  text names[MOST_SESSIONS], txns[MOST_SESSIONS];
  size_t sessions;
  uint64_t total;
} collected;

static text *session_of(collected *all, const isoproof_history *h, uint64_t number) {
  isoproof_session session = {.struct_size = sizeof session};
  text name = {NULL, 0};
  assert_true(isoproof_history_session_at(h, number, &session));
  put_scalar(&name, session.name);
  for (size_t i = 0; i < all->sessions; i++) {
    if (strcmp(all->names[i].bytes, name.bytes) != 0) continue;
    free(name.bytes);
    return &all->txns[i];
  }
  assert_true(all->sessions < MOST_SESSIONS);
  all->names[all->sessions] = name;
  put(&all->txns[all->sessions], "%s\n", "");
  return &all->txns[all->sessions++];
}

static void collect(collected *all, const isoproof_history *h, const uint64_t *order) {
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(h, &counts);
  for (uint64_t s = 0; s < counts.sessions; s++) (void)session_of(all, h, s);
  for (uint64_t i = 0; i < counts.transactions; i++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    uint64_t number = order != NULL ? order[i] : i;
    assert_true(isoproof_history_txn_at(h, number, &txn));
    put_txn(session_of(all, h, txn.session), h, number);
    all->total++;
  }
}

static void same(const collected *a, const collected *b, const char *what) {
  if (a->sessions != b->sessions) fail_msg("%s: %zu sessions became %zu", what, a->sessions, b->sessions);
  for (size_t i = 0; i < a->sessions; i++) {
    size_t at = 0;
    while (at < b->sessions && strcmp(a->names[i].bytes, b->names[at].bytes) != 0) at++;
    if (at == b->sessions) fail_msg("%s: session %s is gone", what, a->names[i].bytes);
    if (strcmp(a->txns[i].bytes, b->txns[at].bytes) != 0)
      fail_msg("%s: session %s:\n%s\nbecame\n%s", what, a->names[i].bytes, a->txns[i].bytes, b->txns[at].bytes);
  }
}

static void collected_free(collected *all) {
  for (size_t i = 0; i < all->sessions; i++) {
    free(all->names[i].bytes);
    free(all->txns[i].bytes);
  }
  memset(all, 0, sizeof *all);
}

/* ---- cutting ---- */

/* Feeds the bytes in pieces of random sizes and takes batches at random. */
static isoproof_status feed_cut(isoproof_format format, const text *input, uint64_t *random, collected *all,
                                isoproof_error *error) {
  iso_batcher b;
  isoproof_status status = iso_batcher_open(&b, format, "cut", error);
  size_t at = 0, longest = unit_below(random, 3) == 0 ? 8 : unit_below(random, 2) == 0 ? 300 : 20000;
  while (status == ISOPROOF_OK) {
    size_t left = input->size - at, part = 1 + (size_t)unit_below(random, longest);
    bool last = part >= left;
    if (last) part = left;
    status = iso_batcher_feed(&b, input->bytes + at, part, last, error);
    at += part;
    if (status != ISOPROOF_OK) break;
    if (!last && (!iso_batcher_ready(&b) || unit_below(random, 3) > 0)) continue;
    isoproof_history *history;
    uint64_t *order;
    status = iso_batcher_take(&b, last, &history, &order, error);
    if (status != ISOPROOF_OK) break;
    collect(all, history, order);
    free(order);
    isoproof_history_free(history);
    if (last) break;
  }
  iso_batcher_close(&b);
  return status;
}

/* How much of what was found is quoted depends on how much was there. */
static bool same_words(const char *a, const char *b) {
  const char *found = strstr(a, ", found");
  return found != NULL ? strncmp(a, b, (size_t)(found - a)) == 0 : strcmp(a, b) == 0;
}

static void same_as_whole(isoproof_format format, const text *input, uint64_t *random, const char *what) {
  isoproof_error error = {.offset = -1}, cut_error = {.offset = -1};
  isoproof_history *whole = NULL;
  collected cut = {.sessions = 0}, all = {.sessions = 0};
  isoproof_open_options how = {.struct_size = sizeof how, .format = isoproof_format_at((size_t)format)->id};
  isoproof_status status = isoproof_history_open_memory(input->bytes, input->size, "cut", &how, NULL, &whole, &error);
  isoproof_status got = feed_cut(format, input, random, &cut, &cut_error);
  if (got != status)
    fail_msg("%s: %s (%s) became %s (%s)", what, isoproof_status_name(status), error.message, isoproof_status_name(got),
             cut_error.message);
  if (status == ISOPROOF_OK) {
    collect(&all, whole, NULL);
    same(&all, &cut, what);
  } else if (strstr(error.message, "the end of the input") != NULL) {
    /* A bracket is missing: that is noticed after a while rather than at the end. */
    if (cut_error.line > error.line)
      fail_msg("%s: line %llu (%s) became line %llu (%s)", what, (unsigned long long)error.line, error.message,
               (unsigned long long)cut_error.line, cut_error.message);
  } else if (error.line != cut_error.line || !same_words(error.message, cut_error.message)) {
    fail_msg("%s: line %llu (%s) became line %llu (%s)", what, (unsigned long long)error.line, error.message,
             (unsigned long long)cut_error.line, cut_error.message);
  }
  isoproof_history_free(whole);
  collected_free(&cut);
  collected_free(&all);
}

/* ---- inputs ---- */

static void simulate(uint64_t *random, bool lists, bool rows, bool registers_only, isoproof_history **history) {
  isoproof_error error = {.offset = -1};
  isoproof_sim_options how = {.struct_size = sizeof how};
  isoproof_sim_defaults(&how);
  how.seed = unit_random(random);
  how.sessions = 1 + (uint32_t)unit_below(random, 6);
  how.txns = 1 + unit_below(random, 120);
  how.ops_min = 1;
  how.ops_max = 6;
  how.keys = 5;
  how.lists = lists;
  how.rows = rows;
  if (rows) how.predicate_share = 0.5;
  how.abort_share = 0.1;
  how.unknown_share = registers_only ? 0 : 0.1;
  assert_ok_error(isoproof_simulate(&how, NULL, history, NULL, &error), error);
}

static void write_as(const isoproof_history *history, isoproof_format format, text *out) {
  isoproof_error error = {.offset = -1};
  isoproof_write_options how = {.struct_size = sizeof how, .lossy = true};
  assert_ok_error(isoproof_history_write_to(history, format, grow, out, &how, NULL, NULL, &error), error);
}

/* Makes something wrong in the middle, or at the end. */
static void damage(text *t, uint64_t *random) {
  if (t->size == 0) return;
  size_t at = (size_t)unit_below(random, t->size);
  switch (unit_below(random, 3)) {
  case 0: /* ends there */
    t->size = at;
    t->bytes[at] = '\0';
    break;
  case 1: /* a byte is another one */
    t->bytes[at] = "{}[]\":,x0\n"[unit_below(random, 10)];
    break;
  default: /* a piece is gone */
    if (t->size - at > 5) memmove(t->bytes + at, t->bytes + at + 5, t->size - at - 4), t->size -= 5;
    break;
  }
}

static void cut_many(isoproof_format format, bool rows, bool harm) {
  uint64_t random = 7919 + (uint64_t)format;
  for (int i = 0; i < ROUNDS; i++) {
    isoproof_history *history;
    text input = {NULL, 0};
    bool plume = format == ISOPROOF_FORMAT_PLUME;
    simulate(&random, !plume && !rows && i % 2 == 1, rows, plume, &history);
    write_as(history, format, &input);
    char what[64];
    snprintf(what, sizeof what, "%s, round %d", isoproof_format_at((size_t)format)->id, i);
    for (int again = 0; again < 4; again++) {
      if (harm) damage(&input, &random);
      if (input.size > 0) same_as_whole(format, &input, &random, what);
    }
    isoproof_history_free(history);
    free(input.bytes);
  }
}

static void cuts_json_lines(void **state) {
  (void)state;
  cut_many(ISOPROOF_FORMAT_JSONL, false, false);
  cut_many(ISOPROOF_FORMAT_JSONL, true, false);
}

static void cuts_jepsen(void **state) {
  (void)state;
  cut_many(ISOPROOF_FORMAT_EDN, false, false);
  cut_many(ISOPROOF_FORMAT_JSON, false, false);
}

static void cuts_plume(void **state) {
  (void)state;
  cut_many(ISOPROOF_FORMAT_PLUME, false, false);
}

/* Lines of several sessions, as a client that logs every operation writes them. */
static void veristrong_lines(uint64_t *random, text *out, bool plume) {
  enum { SESSIONS = 4 };
  unsigned txn[SESSIONS] = {0}, left[SESSIONS] = {0}, id = 1, lists[3] = {0};
  uint64_t lines = 1 + unit_below(random, 200);
  if (!plume) put(out, "%llu\n", (unsigned long long)lines);
  for (uint64_t i = 0; i < lines; i++) {
    unsigned s = (unsigned)unit_below(random, SESSIONS), key = (unsigned)unit_below(random, 3);
    if (left[s] == 0) txn[s] = id++, left[s] = 1 + (unsigned)unit_below(random, 5);
    left[s]--;
    if (plume) {
      put(out, "%c(%u,%llu,%u,%u)\n", "rw"[unit_below(random, 2)], key, (unsigned long long)unit_below(random, 1000), s,
          txn[s]);
    } else if (unit_below(random, 2) == 0) {
      put(out, "%u %u A %u %u\n", s, txn[s], key, ++lists[key]);
    } else {
      put(out, "%u %u R %u %u", s, txn[s], key, lists[key]);
      for (unsigned e = 1; e <= lists[key]; e++) put(out, " %u", e);
      put(out, "\n");
    }
  }
}

static void cuts_interleaved_sessions(void **state) {
  (void)state;
  uint64_t random = 4711;
  for (int i = 0; i < ROUNDS; i++) {
    text veristrong = {NULL, 0}, plume = {NULL, 0};
    veristrong_lines(&random, &veristrong, false);
    veristrong_lines(&random, &plume, true);
    for (int again = 0; again < 4; again++) {
      same_as_whole(ISOPROOF_FORMAT_VERISTRONG, &veristrong, &random, "veristrong");
      same_as_whole(ISOPROOF_FORMAT_PLUME, &plume, &random, "plume");
      if (again < 2) continue;
      damage(&veristrong, &random);
      damage(&plume, &random);
    }
    free(veristrong.bytes);
    free(plume.bytes);
  }
}

static void cuts_what_is_broken(void **state) {
  (void)state;
  cut_many(ISOPROOF_FORMAT_JSONL, false, true);
  cut_many(ISOPROOF_FORMAT_EDN, false, true);
  cut_many(ISOPROOF_FORMAT_JSON, false, true);
  cut_many(ISOPROOF_FORMAT_PLUME, false, true);
}

/* Items over several lines, lists around all, comments, characters: nothing of it is cut in two. */
static void cuts_between_items(void **state) {
  (void)state;
  static const struct {
    isoproof_format format;
    const char *input;
  } cases[] = {
      {ISOPROOF_FORMAT_JSONL, "{\"isoproof\":1,\n \"seed\":\"{\"}\n{\"session\":0,\n\"status\":\"committed\",\n"
                              "\"ops\":[[\"w\",\"x\",1]]}\n\n{\"session\":0,\"status\":\"committed\",\"ops\":[]}"},
      {ISOPROOF_FORMAT_EDN, "; [a comment {\n[{:type :invoke, :process 0, :f :txn, :value [[:append :x 1]]}\n ; }\n"
                            " {:type :ok, :process 0, :f :txn\n  :value [[:append :x 1]]}\n]\n"},
      {ISOPROOF_FORMAT_EDN, "{:type :invoke, :process 0, :f :txn, :value [[:w \"a\n{\" 1]]}\n"
                            "{:type :ok, :process 0, :f :txn, :value [[:w \"a\n{\" 1]], :x \\{}\n"},
      {ISOPROOF_FORMAT_JSON, "[\n{\"type\":\"ok\",\"process\":0,\"f\":\"txn\",\"value\":[[\"append\",1,1]]},\n"
                             "{\"type\":\"ok\",\"process\":1,\"f\":\"txn\",\"value\":[[\"r\",1,[1]]]}\n]\n"},
      {ISOPROOF_FORMAT_JSON,
       "\xef\xbb\xbf{\"type\":\"ok\",\"process\":0,\"f\":\"txn\",\"value\":[[\"append\",1,1]]}\n"},
  };
  uint64_t random = 99;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int again = 0; again < 40; again++) {
      text input = {NULL, 0};
      grow(&input, cases[i].input, strlen(cases[i].input));
      same_as_whole(cases[i].format, &input, &random, cases[i].input);
      free(input.bytes);
    }
}

static void refuses_what_does_not_grow(void **state) {
  (void)state;
  static const isoproof_format formats[] = {ISOPROOF_FORMAT_BINARY, ISOPROOF_FORMAT_DBCOP, ISOPROOF_FORMAT_COBRA,
                                            ISOPROOF_FORMAT_VIPER, ISOPROOF_FORMAT_TIMEKILLER};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    iso_batcher b;
    isoproof_error error = {.offset = -1};
    assert_int_equal(iso_batcher_open(&b, formats[i], "x", &error), ISOPROOF_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "cannot be followed"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cuts_json_lines),
                                     cmocka_unit_test(cuts_jepsen),
                                     cmocka_unit_test(cuts_plume),
                                     cmocka_unit_test(cuts_interleaved_sessions),
                                     cmocka_unit_test(cuts_what_is_broken),
                                     cmocka_unit_test(cuts_between_items),
                                     cmocka_unit_test(refuses_what_does_not_grow)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
