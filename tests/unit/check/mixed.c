/* Mixed levels: against the oracle, against the levels that all transactions share, and what follows when one is
 * raised.
 * `--count N` and `--seed N` (or a fifth of ISOPROOF_RANDOM_HISTORIES, and ISOPROOF_RANDOM_SEED) say how many histories
 * and which. */
#include "tests/oracle/mixed.h"
#include "tests/random/random_history.h"
#include "tests/random/random_rows.h"
#include "tests/unit/unit.h"
#include "verify/certificate.h"

static uint64_t histories, seed;

/* ---- one history ---- */

typedef struct {
  char problem[256];
  bool judged, satisfied;
  uint64_t violations, codes[256]; /* anomalies that were shown, by number */
} trial;

/* The number in a sketch of a transaction of its history: sessions stand in the order in which they first appear. */
static unsigned place_in_sketch(const sketch *s, uint64_t number) {
  bool done[SKETCH_TXNS] = {false};
  uint64_t next = 0;
  for (unsigned i = 0; i < s->count; i++) {
    for (unsigned k = i; k < s->count && !done[i]; k++) {
      if (s->txns[k].session == s->txns[i].session && next++ == number) return k;
    }
    for (unsigned k = s->count; k-- > i;) done[k] |= s->txns[k].session == s->txns[i].session;
  }
  return SKETCH_TXNS;
}

static bool is_written(const sketch *s, unsigned key, unsigned value) {
  for (unsigned t = 0; t < s->count; t++)
    for (unsigned i = 0; i < s->txns[t].count; i++) {
      const sketch_op *op = &s->txns[t].ops[i];
      if (op->write && op->key == key && op->value == value) return true;
    }
  return false;
}

/* Whether some transactions alone, without reads of what the others wrote, violate their levels. */
static bool violates_alone(const sketch *s, uint32_t kept) {
  sketch part = {.count = 0};
  for (unsigned t = 0; t < s->count; t++)
    if (kept >> t & 1) part.txns[part.count++] = s->txns[t];
  for (unsigned t = 0; t < part.count; t++) {
    sketch_txn *txn = &part.txns[t];
    unsigned left = 0;
    txn->status = ISOPROOF_TXN_COMMITTED;
    for (unsigned i = 0; i < txn->count; i++) {
      sketch_op op = txn->ops[i];
      if (op.write || op.value == 0 || is_written(&part, op.key, op.value)) txn->ops[left++] = op;
    }
    txn->count = (uint8_t)left;
  }
  isoproof_history *history = sketch_history(&part);
  bool satisfied = true;
  assert_true(mixed_judge(history, &satisfied));
  isoproof_history_free(history);
  return !satisfied;
}

/* The transactions of a witness violate their levels by themselves, and none of them can be left out. */
static void check_least(const sketch *s, const isoproof_anomaly *anomaly, trial *t) {
  uint32_t kept = 0;
  for (size_t i = 0; i < anomaly->txn_count; i++) {
    unsigned place = place_in_sketch(s, anomaly->txns[i]);
    if (place < SKETCH_TXNS) kept |= 1u << place;
  }
  if (!violates_alone(s, kept)) snprintf(t->problem, sizeof t->problem, "the witness is none by itself");
  for (unsigned k = 0; k < s->count; k++)
    if (kept >> k & 1 && violates_alone(s, kept & ~(1u << k)))
      snprintf(t->problem, sizeof t->problem, "the witness does not need transaction %u", k);
}

/* Every anomaly has a witness that stood up to the judge and names whose level it is. */
static void look_at_witnesses(const isoproof_result *result, const sketch *s, trial *t) {
  for (size_t i = 0; i < isoproof_result_anomaly_count(result) && t->problem[0] == '\0'; i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    if (!isoproof_result_anomaly_at(result, i, &anomaly)) {
      snprintf(t->problem, sizeof t->problem, "anomaly %zu has no witness", i);
      return;
    }
    t->codes[isoproof_anomaly_find(anomaly.code)->number]++;
    bool named = strcmp(anomaly.level, "mixed") != 0 || strstr(anomaly.explanation, " runs at ") != NULL ||
                 strstr(anomaly.explanation, "run at ") != NULL;
    if (s != NULL && s->lists == 0 && strcmp(anomaly.level, "mixed") == 0) check_least(s, &anomaly, t);
    bool missed = false;
    for (size_t k = 0; k < anomaly.edge_count; k++) missed |= strcmp(anomaly.edges[k].kind, "RW") == 0;
    for (size_t c = 0; c < anomaly.case_count; c++)
      for (size_t k = 0; k < anomaly.cases[c].edge_count; k++)
        missed |= strcmp(anomaly.cases[c].edges[k].kind, "RW") == 0;
    if (missed && !named) snprintf(t->problem, sizeof t->problem, "no level is named: %.150s", anomaly.explanation);
  }
  if (isoproof_result_anomaly_count(result) == 0) snprintf(t->problem, sizeof t->problem, "violated without a witness");
}

/* `s`, the sketch of the history, may be NULL. */
static isoproof_verdict library_says(isoproof_history *history, const char *level, const sketch *s, bool certificate,
                                     trial *t) {
  isoproof_check_options options = {
      .struct_size = sizeof options, .levels = &level, .level_count = 1, .certificate = certificate};
  isoproof_result *result;
  isoproof_error error;
  if (isoproof_check(history, &options, NULL, &result, &error) != ISOPROOF_OK) {
    snprintf(t->problem, sizeof t->problem, "%s: %.200s", level, error.message);
    return ISOPROOF_UNDECIDED;
  }
  isoproof_verdict verdict = isoproof_result_verdict_of(result, level);
  if (verdict == ISOPROOF_VIOLATED) look_at_witnesses(result, s, t);
  isoproof_result_free(result);
  return verdict;
}

/* Whether library and oracle differ; the caller keeps count. */
static bool differs(const sketch *s, void *user) {
  trial *t = user;
  isoproof_history *history = sketch_history(s);
  t->problem[0] = '\0';
  t->judged = mixed_judge(history, &t->satisfied);
  if (t->judged) {
    isoproof_verdict verdict = library_says(history, "mixed", s, true, t);
    bool right = verdict == (t->satisfied ? ISOPROOF_SATISFIED : ISOPROOF_VIOLATED);
    if (t->problem[0] == '\0' && !right)
      snprintf(t->problem, sizeof t->problem, "the oracle says %s, the library %s",
               t->satisfied ? "satisfied" : "violated", isoproof_verdict_name(verdict));
  }
  isoproof_history_free(history);
  return t->problem[0] != '\0';
}

static void fail_with(sketch *s, trial *t, bool (*fails)(const sketch *, void *), uint64_t number) {
  char text[4096];
  sketch_shrink(s, fails, t);
  fails(s, t);
  sketch_print(s, text, sizeof text);
  fail_msg("history %llu: %s\n%s", (unsigned long long)number, t->problem, text);
}

/* ---- levels of transactions ---- */

/* Now and then only the three that databases have. */
static void draw_levels(uint64_t *random, sketch *s) {
  static const uint8_t usual[] = {MIXED_READ_COMMITTED, MIXED_SNAPSHOT, MIXED_SERIALIZABLE};
  bool few = sketch_below(random, 2) == 0;
  for (unsigned i = 0; i < s->count; i++) {
    uint8_t any = (uint8_t)(MIXED_READ_COMMITTED + sketch_below(random, MIXED_LEVELS - MIXED_READ_COMMITTED));
    s->txns[i].level = few ? usual[sketch_below(random, 3)] : any;
  }
}

static void draw(uint64_t *random, sketch *s) {
  if (sketch_below(random, 3) == 0)
    sketch_draw_lists(random, s);
  else
    sketch_draw(random, s);
  if (sketch_below(random, 4) == 0) sketch_draw_times(random, s);
  draw_levels(random, s);
}

static void agrees_with_the_oracle(void **state) {
  (void)state;
  uint64_t random = seed, judged = 0, violated = 0;
  trial t = {.judged = false};
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    draw(&random, &s);
    if (differs(&s, &t)) fail_with(&s, &t, differs, i);
    judged += t.judged;
    violated += t.judged && !t.satisfied;
  }
  print_message("%llu histories judged, %llu violated\n", (unsigned long long)judged, (unsigned long long)violated);
  assert_true(violated * 10 > judged && (judged - violated) * 10 > judged);
}

/* Where all transactions share a level, the verdict is that of the level. */
static bool differs_from_level(const sketch *s, void *user) {
  trial *t = user;
  isoproof_history *history = sketch_history(s);
  const char *level = mixed_level_id((mixed_level)s->txns[0].level);
  t->problem[0] = '\0';
  isoproof_verdict mixed = library_says(history, "mixed", NULL, false, t),
                   alone = library_says(history, level, NULL, false, t);
  if (t->problem[0] == '\0' && mixed != alone)
    snprintf(t->problem, sizeof t->problem, "mixed is %s, but %s, the level of all, is %s",
             isoproof_verdict_name(mixed), level, isoproof_verdict_name(alone));
  oracle_verdicts verdicts;
  oracle_level all = mixed_for_all((mixed_level)s->txns[0].level);
  bool satisfied;
  if (oracle_judge_some(history, 1u << all, &verdicts) && mixed_judge(history, &satisfied) &&
      satisfied != verdicts.satisfied[all])
    snprintf(t->problem, sizeof t->problem, "the oracles differ on %s", level);
  isoproof_history_free(history);
  return t->problem[0] != '\0';
}

static void is_the_level_that_all_share(void **state) {
  (void)state;
  uint64_t random = seed + 2;
  trial t = {.judged = false};
  for (uint64_t i = 0; i < histories / 3; i++) {
    sketch s;
    draw(&random, &s);
    for (unsigned k = 1; k < s.count; k++) s.txns[k].level = s.txns[0].level;
    if (s.count > 0 && differs_from_level(&s, &t)) fail_with(&s, &t, differs_from_level, i);
  }
}

/* To raise the level of one transaction never mends anything. */
static void raising_a_level_never_mends(void **state) {
  (void)state;
  uint64_t random = seed + 3, fell = 0;
  trial t = {.judged = false};
  for (uint64_t i = 0; i < histories / 3; i++) {
    sketch s;
    draw(&random, &s);
    if (s.count == 0) continue;
    sketch_txn *txn = &s.txns[sketch_below(&random, s.count)];
    if (txn->level == MIXED_SERIALIZABLE) txn->level = MIXED_READ_COMMITTED;
    isoproof_history *low = sketch_history(&s);
    txn->level = (uint8_t)(txn->level + 1 + sketch_below(&random, MIXED_SERIALIZABLE - txn->level));
    isoproof_history *high = sketch_history(&s);
    isoproof_verdict before = library_says(low, "mixed", NULL, false, &t),
                     after = library_says(high, "mixed", NULL, false, &t);
    if (t.problem[0] != '\0') fail_msg("history %llu: %s", (unsigned long long)i, t.problem);
    assert_true(before == ISOPROOF_SATISFIED || after == ISOPROOF_VIOLATED);
    fell += before != after;
    isoproof_history_free(low);
    isoproof_history_free(high);
  }
  assert_true(fell > 0);
}

/* ---- rows, of which it is not known which versions statements saw ---- */

static bool rows_differ(const row_history *h, void *user) {
  trial *t = user;
  char text[16384];
  isoproof_history *history;
  t->problem[0] = '\0';
  t->judged = rows_judge_mixed(h, &t->satisfied);
  if (!t->judged) return false;
  size_t length = rows_text(h, text, sizeof text);
  assert_ok(isoproof_history_open_memory(text, length, "rows.jsonl", NULL, NULL, &history, NULL));
  isoproof_verdict verdict = library_says(history, "mixed", NULL, true, t);
  if (t->problem[0] == '\0' && verdict != (t->satisfied ? ISOPROOF_SATISFIED : ISOPROOF_VIOLATED))
    snprintf(t->problem, sizeof t->problem, "the oracle says %s, the library %s",
             t->satisfied ? "satisfied" : "violated", isoproof_verdict_name(verdict));
  isoproof_history_free(history);
  return t->problem[0] != '\0';
}

static void agrees_on_rows(void **state) {
  (void)state;
  uint64_t count = histories / 6, random = seed + 1, judged = 0, violated = 0;
  trial t = {.judged = false};
  for (uint64_t i = 0; i < count; i++) {
    static row_history h;
    char text[16384];
    (i % 2 == 0 ? rows_draw_random : rows_draw_store)(&random, &h);
    for (unsigned k = 0; k < h.count; k++)
      h.txns[k].level = (mixed_level)(MIXED_READ_COMMITTED + sketch_below(&random, MIXED_LEVELS - 1));
    if (rows_differ(&h, &t)) {
      rows_shrink(&h, rows_differ, &t);
      rows_differ(&h, &t);
      rows_text(&h, text, sizeof text);
      fail_msg("history %llu: %s\n%s", (unsigned long long)i, t.problem, text);
    }
    judged += t.judged;
    violated += t.judged && !t.satisfied;
  }
  print_message("%llu histories of rows judged, %llu violated\n", (unsigned long long)judged,
                (unsigned long long)violated);
  assert_true(violated * 20 > judged && (judged - violated) * 20 > judged);
}

/* ---- values that are not unique ---- */

enum { MOST_CHOICES = 512 };

/* What is written, and read, instead of a value: of some pairs of values of a key the smaller one. */
static unsigned shown_as(uint64_t merged, unsigned key, unsigned value) {
  bool pairs = value >= 2 && merged >> ((key * 16 + value / 2) % 64) & 1;
  return pairs ? value & ~1u : value;
}

/* The values that a read may have observed: its own, and the other one of its pair where somebody wrote that. */
static unsigned alternatives(const sketch *s, uint64_t merged, const sketch_op *op, uint8_t values[2]) {
  unsigned count = 0;
  for (unsigned value = op->value & ~1u; value <= (op->value | 1u); value++) {
    bool alike = op->value != 0 && shown_as(merged, op->key, value) == shown_as(merged, op->key, op->value);
    if (value == op->value || (alike && is_written(s, op->key, value))) values[count++] = (uint8_t)value;
  }
  return count;
}

/* Whether some choice satisfies everybody's level; false in *judged when there are too many. */
static bool some_choice_satisfies(const sketch *s, uint64_t merged, bool *judged) {
  for (unsigned number = 0, total = 1; number < total; number++) {
    sketch chosen = *s;
    unsigned rest = number, all = 1;
    for (unsigned t = 0; t < s->count; t++) {
      for (unsigned i = 0; i < s->txns[t].count; i++) {
        uint8_t values[2];
        if (s->txns[t].ops[i].write) continue;
        unsigned count = alternatives(s, merged, &s->txns[t].ops[i], values);
        chosen.txns[t].ops[i].value = values[rest % count];
        rest /= count;
        all *= count;
        if (all > MOST_CHOICES) return *judged = false;
      }
    }
    total = all;
    isoproof_history *history = sketch_history(&chosen);
    bool satisfied;
    *judged = mixed_judge(history, &satisfied);
    isoproof_history_free(history);
    if (!*judged || satisfied) return *judged;
  }
  return false;
}

static void agrees_where_values_repeat(void **state) {
  (void)state;
  uint64_t random = seed + 5, judged = 0, violated = 0;
  trial t = {.judged = false};
  for (uint64_t i = 0; i < histories / 4; i++) {
    sketch s;
    sketch_draw(&random, &s);
    draw_levels(&random, &s);
    uint64_t merged = sketch_below(&random, UINT64_MAX);
    bool expected = some_choice_satisfies(&s, merged, &t.judged);
    if (!t.judged) continue;
    sketch shown = s;
    for (unsigned k = 0; k < s.count; k++)
      for (unsigned n = 0; n < s.txns[k].count; n++)
        shown.txns[k].ops[n].value = (uint8_t)shown_as(merged, s.txns[k].ops[n].key, s.txns[k].ops[n].value);
    isoproof_history *history = sketch_history(&shown);
    isoproof_verdict verdict = library_says(history, "mixed", NULL, true, &t);
    isoproof_history_free(history);
    if (t.problem[0] != '\0' || verdict != (expected ? ISOPROOF_SATISFIED : ISOPROOF_VIOLATED)) {
      char text[4096];
      sketch_print(&shown, text, sizeof text);
      fail_msg("history %llu should be %s: %s, %s\n%s", (unsigned long long)i, expected ? "satisfied" : "violated",
               isoproof_verdict_name(verdict), t.problem, text);
    }
    judged++;
    violated += !expected;
  }
  print_message("%llu histories with repeated values judged, %llu violated\n", (unsigned long long)judged,
                (unsigned long long)violated);
  assert_true(violated * 20 > judged && (judged - violated) * 20 > judged);
}

/* ---- orders that prove it ---- */

enum { MOST_EVENTS = 2 * FACTS_NODES };

typedef struct {
  const facts *f;
  mixed_level own[FACTS_NODES];
  int begin[FACTS_NODES], commit[FACTS_NODES];
} placed;

static bool reads_snapshot(mixed_level level) { return level == MIXED_PREFIX || level == MIXED_SNAPSHOT; }

/* The last version of a key that is committed before a place. */
static unsigned version_at(const placed *p, unsigned key, int place) {
  unsigned last = 0;
  for (unsigned t = 1; t < p->f->nodes; t++)
    if (p->f->writers[key] >> t & 1 && p->commit[t] < place && (last == 0 || p->commit[t] > p->commit[last])) last = t;
  return last;
}

static bool meets_causal(const placed *p, unsigned from, unsigned to) {
  uint32_t reached = 1u << from, before = 0;
  while (reached != before) {
    before = reached;
    for (unsigned t = 1; t < p->f->nodes; t++)
      if (before >> t & 1) reached |= p->f->so.row[t] | p->f->wr.row[t];
  }
  return from != to && reached >> to & 1;
}

/* Whether the axiom of a weak level has t2 before what was read. */
static bool is_shown(const placed *p, unsigned t2, const external_read *read) {
  unsigned t3 = read->reader;
  if (p->own[t3] == MIXED_CAUSAL) return meets_causal(p, t2, t3);
  if (p->own[t3] == MIXED_READ_ATOMIC) return ((p->f->so.row[t2] | p->f->wr.row[t2]) >> t3 & 1) != 0;
  for (unsigned i = 0; i < p->f->read_count; i++) {
    const external_read *other = &p->f->reads[i];
    if (other->reader == t3 && other->writer == t2 && other->key != read->key && other->position < read->position)
      return true;
  }
  return false;
}

static bool read_holds(const placed *p, const external_read *read) {
  unsigned t3 = read->reader;
  int from = read->writer == 0 ? -1 : p->commit[read->writer];
  if (p->own[t3] >= MIXED_PREFIX) return version_at(p, read->key, p->begin[t3]) == read->writer;
  if (from >= p->commit[t3]) return false;
  for (unsigned t2 = 1; t2 < p->f->nodes; t2++) {
    bool later = p->f->writers[read->key] >> t2 & 1 && t2 != t3 && p->commit[t2] > from;
    if (later && is_shown(p, t2, read)) return false;
  }
  return true;
}

/* By the definition: sessions, lists, snapshots that nobody else writes into, and every read. */
static bool order_proves(const placed *p) {
  for (unsigned a = 1; a < p->f->nodes; a++) {
    for (unsigned b = 1; b < p->f->nodes; b++) {
      bool listed = false, shared = false;
      for (unsigned k = 0; k < p->f->keys; k++) {
        listed |= (p->f->list_order[k].row[a] >> b & 1) != 0;
        shared |= a != b && p->f->writers[k] >> a & 1 && p->f->writers[k] >> b & 1;
      }
      if (p->f->so.row[a] >> b & 1 && p->commit[a] >= p->begin[b]) return false;
      if (listed && p->commit[a] >= p->commit[b]) return false;
      bool between = p->begin[b] < p->commit[a] && p->commit[a] < p->commit[b];
      if (p->own[b] == MIXED_SNAPSHOT && shared && between) return false;
    }
  }
  for (unsigned i = 0; i < p->f->read_count; i++)
    if (!read_holds(p, &p->f->reads[i])) return false;
  return true;
}

/* Events in a random order, each begin before its commit; mostly sessions are kept. */
static size_t draw_order(uint64_t *random, const placed *p, isoproof_certificate_event *events) {
  size_t count = 0;
  uint32_t begun = 1, done = 1;
  bool kept = sketch_below(random, 4) != 0;
  while (done != (1u << p->f->nodes) - 1) {
    unsigned t = 1 + (unsigned)sketch_below(random, p->f->nodes - 1);
    bool whole = !reads_snapshot(p->own[t]), free = true;
    for (unsigned u = 1; u < p->f->nodes && kept; u++)
      if ((p->f->so.row[u] | p->f->wr.row[u]) >> t & 1 && !(done >> u & 1)) free = false;
    if (done >> t & 1 || !free) {
      kept = kept && sketch_below(random, 500) != 0; /* reads may go round in circles */
      continue;
    }
    bool commits = whole || begun >> t & 1;
    events[count++] = (isoproof_certificate_event){.txn = p->f->txn[t],
                                                   .kind = whole     ? ISOPROOF_EVENT_TXN
                                                           : commits ? ISOPROOF_EVENT_COMMIT
                                                                     : ISOPROOF_EVENT_BEGIN};
    begun |= 1u << t;
    if (commits) done |= 1u << t;
  }
  return count;
}

static void place(placed *p, const isoproof_certificate_event *events, size_t count) {
  for (size_t i = 0; i < count; i++) {
    unsigned t = 1;
    while (p->f->txn[t] != events[i].txn) t++;
    if (events[i].kind != ISOPROOF_EVENT_COMMIT) p->begin[t] = (int)i;
    if (events[i].kind != ISOPROOF_EVENT_BEGIN) p->commit[t] = (int)i;
  }
}

static void judge_takes_what_the_definition_takes(void **state) {
  (void)state;
  uint64_t random = seed + 4, accepted = 0, refused = 0;
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    facts f;
    placed p = {.f = &f};
    draw(&random, &s);
    isoproof_history *history = sketch_history(&s);
    bool clean = facts_gather(history, &f) && mixed_levels_of(history, &f, p.own) && f.nodes > 1;
    for (int t = 0; t < ORACLE_TAPS; t++) clean = clean && (t == ORACLE_TAP_NON_REPEATABLE || !f.tap[t]);
    for (int round = 0; clean && round < 4; round++) {
      isoproof_certificate_event events[MOST_EVENTS];
      size_t count = draw_order(&random, &p, events);
      place(&p, events, count);
      iso_claim claim = {
          .rule = &iso_rule_judge_of(ISO_RULE_MIXED)->order, .session_order = true, .events = events, .count = count};
      bool expected = order_proves(&p), believed = iso_verify_order(history, &claim, NULL, NULL) == ISOPROOF_OK;
      if (expected != believed) {
        char text[4096];
        sketch_print(&s, text, sizeof text);
        fail_msg("history %llu: wrongly %s\n%s", (unsigned long long)i, believed ? "believed" : "refused", text);
      }
      accepted += believed;
      refused += !believed;
    }
    isoproof_history_free(history);
  }
  print_message("%llu orders accepted, %llu refused\n", (unsigned long long)accepted, (unsigned long long)refused);
  assert_true(accepted * 20 > refused && refused * 20 > accepted);
}

/* ---- without levels ---- */

static void needs_a_level_of_everybody(void **state) {
  (void)state;
  static const uint8_t given[][2] = {{MIXED_NONE, MIXED_NONE}, {MIXED_SNAPSHOT, MIXED_NONE}};
  for (size_t i = 0; i < 2; i++) {
    sketch s = {.count = 2};
    for (unsigned k = 0; k < 2; k++)
      s.txns[k] = (sketch_txn){
          .session = (uint8_t)k, .count = 1, .level = given[i][k], .ops = {{true, 0, (uint8_t)(k + 1), 0, {0}}}};
    isoproof_history *history = sketch_history(&s);
    isoproof_check_options options = {.struct_size = sizeof options};
    const char *level = "mixed";
    isoproof_result *result;
    assert_ok(isoproof_check(history, &options, NULL, &result, NULL));
    assert_int_equal(isoproof_result_verdict_of(result, "serializable"), ISOPROOF_SATISFIED);
    assert_int_equal(isoproof_result_verdict_of(result, "mixed"), ISOPROOF_UNDECIDED);
    isoproof_result_free(result);
    options.levels = &level;
    options.level_count = 1;
    assert_ok(isoproof_check(history, &options, NULL, &result, NULL));
    assert_int_equal(isoproof_result_verdict_of(result, "mixed"), ISOPROOF_UNDECIDED);
    assert_non_null(strstr(isoproof_result_unknown_reason(result), "level of"));
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
}

static uint64_t setting(const char *name, uint64_t usual, uint64_t part) {
  const char *text = getenv(name);
  return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) / part : usual;
}

int main(int count, char **arguments) {
  histories = setting("ISOPROOF_RANDOM_HISTORIES", 6000, 5);
  seed = setting("ISOPROOF_RANDOM_SEED", 20261116, 1);
  for (int i = 1; i + 1 < count; i += 2) {
    if (strcmp(arguments[i], "--count") == 0) histories = strtoull(arguments[i + 1], NULL, 10);
    if (strcmp(arguments[i], "--seed") == 0) seed = strtoull(arguments[i + 1], NULL, 10);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_the_oracle),      cmocka_unit_test(agrees_on_rows),
      cmocka_unit_test(agrees_where_values_repeat),  cmocka_unit_test(judge_takes_what_the_definition_takes),
      cmocka_unit_test(is_the_level_that_all_share), cmocka_unit_test(raising_a_level_never_mends),
      cmocka_unit_test(needs_a_level_of_everybody),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
