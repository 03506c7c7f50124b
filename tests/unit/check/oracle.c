/* The oracle itself: against histories judged by hand, and against replaying every schedule of random histories. */
#include <isoproof/isoproof.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/oracle/facts.h"
#include "workload/random.h"

/* ---- a notation ----
 * Sessions are parted by '/', transactions by '|'.  wx1 writes 1 to x, rx1 reads it, rx_ reads the initial version; ax1
 * appends 1 to x, lx12 reads the list 1 2; '!' aborted, '?' unknown; @1-4 begins at 1 and ends at 4. */

static void add_op(isoproof_builder *builder, const char *word, size_t length) {
  char name[2] = {word[1], '\0'};
  isoproof_scalar key = isoproof_string(name), elements[8];
  if (word[0] == 'l') {
    for (size_t i = 2; i < length; i++) elements[i - 2] = isoproof_integer(word[i] - '0');
    assert_int_equal(isoproof_builder_elements(builder, ISOPROOF_OP_READ_LIST, key, elements, length - 2, NULL),
                     ISOPROOF_OK);
    return;
  }
  isoproof_op_kind kind = word[0] == 'w' ? ISOPROOF_OP_WRITE : word[0] == 'a' ? ISOPROOF_OP_APPEND : ISOPROOF_OP_READ;
  isoproof_scalar value = word[2] == '_' ? isoproof_nil() : isoproof_integer(word[2] - '0');
  assert_int_equal(isoproof_builder_op(builder, kind, key, value, NULL), ISOPROOF_OK);
}

static isoproof_txn_status status_of(const char *text) {
  for (; *text != '\0' && *text != '/' && *text != '|'; text++) {
    if (*text == '!') return ISOPROOF_TXN_ABORTED;
    if (*text == '?') return ISOPROOF_TXN_UNKNOWN;
  }
  return ISOPROOF_TXN_COMMITTED;
}

static isoproof_history *history_of(const char *text) {
  isoproof_builder *builder;
  isoproof_history *history;
  uint32_t session = 0;
  int64_t name = 0;
  assert_int_equal(isoproof_builder_new(&builder, NULL), ISOPROOF_OK);
  assert_int_equal(isoproof_builder_session(builder, isoproof_integer(name), &session, NULL), ISOPROOF_OK);
  assert_int_equal(isoproof_builder_begin(builder, session, status_of(text), NULL), ISOPROOF_OK);
  while (*text != '\0') {
    size_t length = strcspn(text, " ");
    if (*text == '/') isoproof_builder_session(builder, isoproof_integer(++name), &session, NULL);
    if (*text == '/' || *text == '|')
      isoproof_builder_begin(builder, session, status_of(text + 1), NULL);
    else if (*text == '@')
      isoproof_builder_times(builder, text[1] - '0', text[3] - '0', NULL);
    else if (*text != '!' && *text != '?')
      add_op(builder, text, length);
    text += length;
    text += strspn(text, " ");
  }
  assert_int_equal(isoproof_builder_finish(builder, &history, NULL), ISOPROOF_OK);
  isoproof_builder_free(builder);
  return history;
}

/* ---- histories judged by hand ---- */

#define EVERYTHING "read-committed read-your-writes monotonic-reads monotonic-writes writes-follow-reads"

static const struct {
  const char *history;
  const char *weakest; /* levels violated; those that imply one of them are, too, and no others */
  const char *taps;
} cases[] = {
    {"wx1 | rx1 / rx1", "", ""},
    {"wx1 wy1 / rx1 ry1 wx2 / rx2 ry1", "", ""},
    {"rx_ wx1 / rx_ wx2", "update-atomic", ""},
    {"rx_ ry_ wx1 / rx_ ry_ wy1", "serializable", ""},
    {"wx1 / wy1 / rx1 ry_ / rx_ ry1", "prefix", ""},
    {"wx1 wy1 / rx_ ry1", "read-atomic", ""},
    {"wx1 wy1 / ry1 rx_", "read-committed", ""},
    {"wx1 wy1 / wx2 wy2 / ry1 rx2 / ry2 rx1", "read-committed", ""},
    {"wx1 wy1 / wx2 wy2 / rx1 ry2", "read-atomic", ""},
    {"wx1 / rx1 wy1 / ry1 rx_", "causal", ""},
    {"wx1 / rx1 | wy1 / ry1 rx_", "writes-follow-reads", ""},
    {"wx1 | wy1 / ry1 rx_", "monotonic-writes", ""},
    {"wx1 | rx_", "read-your-writes", ""},
    {"wx1 / rx1 | rx_", "monotonic-reads", ""},
    {"wx1 / wx2 / rx1 | rx2 / rx2 | rx1", "monotonic-reads", ""},
    {"rx9", EVERYTHING, "TAP-a"},
    {"wx1 ! / rx1", EVERYTHING, "TAP-b"},
    {"rx1 wx1", EVERYTHING, "TAP-c"},
    {"wx1 / wx2 rx1", EVERYTHING, "TAP-d"},
    {"wx1 rx_", EVERYTHING, "TAP-d"},
    {"wx1 wx2 rx1", EVERYTHING, "TAP-e"},
    {"wx1 wx2 / rx1", EVERYTHING, "TAP-f"},
    {"wx1 wx2 / rx2", "", ""},
    {"wx1 wx2 rx2", "", ""},
    {"rx1 wy1 / ry1 wx1", EVERYTHING, "TAP-g"},
    {"wx1 / rx_ rx1", "read-atomic cut-isolation", "TAP-j"},
    {"wx1 ? / rx_", "", ""},
    {"wx1 ? / rx1 | rx_", "monotonic-reads", ""},
    {"wx1 ? / rx1 wy1 ? / ry1 rx_", "causal", ""},
    {"wx1 ? / rx1 wy1 ? / rx_", "", ""},
    {"wx1 ! rx9", "", ""},
    {"ax1 / ax2 / lx12 / lx1 / lx", "", ""},
    {"ax1 / ax2 / lx12 / lx21", EVERYTHING, ""},
    {"ax1 / ax2 / lx12 / lx2", EVERYTHING, ""},
    {"lx ax1 / lx ax2 / lx12", "update-atomic", ""},
    {"ax1 / lx1 ay1 / ly1 lx", "causal", ""},
    {"ax1 ax2 / lx1", EVERYTHING, "TAP-f"},
    {"ax1 / lx11", EVERYTHING, "broken-list"},
    {"ax1 ax2 / ax3 / lx132", EVERYTHING, "broken-list"},
    {"ax1 lx", EVERYTHING, "TAP-d"},
    {"ax1 ax2 lx1", EVERYTHING, "TAP-e"},
    {"ax1 ax2 lx2", EVERYTHING, "TAP-e"},
    {"lx1 ax1", EVERYTHING, "TAP-c"},
    {"lx9", EVERYTHING, "TAP-a"},
    {"ax1 ! / lx1", EVERYTHING, "TAP-b"},
    {"ax1 / ax2 lx12", "", ""},
    {"ax1 / ax2 lx2 / lx12", EVERYTHING, ""},
    {"ax1 / lx lx1", "read-atomic cut-isolation", "TAP-j"},
    {"ax1 ? / lx1 | lx", "monotonic-reads", ""},
    {"@1-2 wx1 / @3-4 rx_", "strong-snapshot-isolation", ""},
    {"@1-3 wx1 / @2-4 rx_", "", ""},
    {"@1-2 rx_ wy1 / @3-4 ry_ / @1-4 ry1", "strong-snapshot-isolation", ""},
};

static bool has_word(const char *words, const char *word) {
  size_t length = strlen(word);
  for (const char *at = words; (at = strstr(at, word)) != NULL; at++) {
    bool begins = at == words || at[-1] == ' ';
    if (begins && (at[length] == ' ' || at[length] == '\0')) return true;
  }
  return false;
}

static void knows_the_classics(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    isoproof_history *history = history_of(cases[i].history);
    oracle_verdicts verdicts;
    assert_true(oracle_judge(history, &verdicts));
    for (int l = 0; l < ORACLE_LEVELS; l++) {
      bool violated = false;
      for (int w = 0; w < ORACLE_LEVELS; w++)
        violated |= has_word(cases[i].weakest, oracle_level_id((oracle_level)w)) &&
                    oracle_implies((oracle_level)l, (oracle_level)w);
      if (verdicts.satisfied[l] == violated)
        fail_msg("%s: %s should be %s", cases[i].history, oracle_level_id((oracle_level)l),
                 violated ? "violated" : "satisfied");
    }
    for (int t = 0; t < ORACLE_TAPS; t++)
      if (verdicts.tap[t] != has_word(cases[i].taps, oracle_tap_code((oracle_tap)t)))
        fail_msg("%s: wrong about %s", cases[i].history, oracle_tap_code((oracle_tap)t));
    isoproof_history_free(history);
  }
}

static void refuses_what_it_cannot_judge(void **state) {
  (void)state;
  oracle_verdicts verdicts;
  isoproof_history *twice = history_of("wx1 / wx1");
  assert_false(oracle_judge(twice, &verdicts));
  isoproof_history_free(twice);
  isoproof_history *large =
      history_of("wa1 | wa2 | wa3 | wa4 | wa5 | wa6 | wa7 | wa8 | wb1 | wb2 | wb3 | wb4 | wb5 | wb6 | "
                 "wb7 | wb8");
  assert_false(oracle_judge(large, &verdicts));
  isoproof_history_free(large);
  assert_int_equal(oracle_level_find("no-such-level"), ORACLE_LEVELS);
}

/* ---- random histories, and executions that explain them ----
 * An execution is a sequence of the begins and commits of all transactions.  Snapshot isolation: there is one in which
 * reads see what was committed at their begin, and of two transactions that write a key one begins after the other
 * commits.  Serializable: the same, and nobody is between a begin and its commit.  Both: sessions in order; with real
 * time, also transactions that ended before others began. */

enum { MOST = 5, KEYS = 3 };

typedef struct machine {
  const facts *f;
  bool serial, strong;
  unsigned newest[KEYS];             /* committed version by writer */
  unsigned snapshot[MOST + 1][KEYS]; /* at the begin of each */
  uint32_t begun, done;
} machine;

static bool may_begin(const machine *m, unsigned t) {
  for (unsigned u = 1; u < m->f->nodes; u++) {
    bool first = m->f->so.row[u] >> t & 1 || (m->strong && m->f->rt.row[u] >> t & 1);
    if (first && !(m->done >> u & 1)) return false;
    if (m->serial && (m->begun & ~m->done) >> u & 1) return false;
  }
  for (unsigned i = 0; i < m->f->read_count; i++)
    if (m->f->reads[i].reader == t && m->newest[m->f->reads[i].key] != m->f->reads[i].writer) return false;
  return true;
}

static bool may_commit(const machine *m, unsigned t) {
  for (unsigned k = 0; k < m->f->keys; k++)
    if (m->f->writers[k] >> t & 1 && m->newest[k] != m->snapshot[t][k]) return false;
  return true;
}

static bool can_execute(machine m) {
  if (m.done == (1u << m.f->nodes) - 2) return true;
  for (unsigned t = 1; t < m.f->nodes; t++) {
    machine next = m;
    if (m.done >> t & 1) continue;
    if (!(m.begun >> t & 1)) {
      if (!may_begin(&m, t)) continue;
      next.begun |= 1u << t;
      memcpy(next.snapshot[t], m.newest, sizeof m.newest);
    } else {
      if (!may_commit(&m, t)) continue;
      next.done |= 1u << t;
      for (unsigned k = 0; k < m.f->keys; k++)
        if (m.f->writers[k] >> t & 1) next.newest[k] = t;
    }
    if (can_execute(next)) return true;
  }
  return false;
}

static bool executes(const facts *f, bool serial, bool strong) {
  return can_execute((machine){.f = f, .serial = serial, .strong = strong});
}

/* Reads see random versions of the key, the initial one or one that somebody writes; most histories are wrong. */
static isoproof_history *random_history(iso_random *random) {
  char text[512] = "";
  size_t at = 0;
  unsigned txns = 2 + iso_random_below(random, MOST - 1), versions[KEYS] = {0}, most = 1 + iso_random_below(random, 3);
  for (unsigned t = 0; t < txns; t++) {
    if (t > 0)
      at += (size_t)snprintf(text + at, sizeof text - at, " %c ", iso_random_below(random, 3) == 0 ? '|' : '/');
    unsigned start = iso_random_below(random, 8);
    at +=
        (size_t)snprintf(text + at, sizeof text - at, "@%u-%u", start, start + 1 + iso_random_below(random, 9 - start));
    uint32_t used = 0;
    for (unsigned ops = 1 + iso_random_below(random, 4); ops > 0; ops--) {
      unsigned key = iso_random_below(random, KEYS);
      bool write = iso_random_below(random, 5) < 2;
      if (used >> (2 * key + write) & 1 || (!write && used >> (2 * key + 1) & 1)) continue;
      used |= 1u << (2 * key + write);
      unsigned version = write ? ++versions[key] : iso_random_below(random, most + 1);
      char value = version == 0 ? '_' : (char)('0' + version);
      at += (size_t)snprintf(text + at, sizeof text - at, " %c%c%c", write ? 'w' : 'r', "xyz"[key], value);
    }
  }
  return history_of(text);
}

static void agrees_with_executions(void **state) {
  (void)state;
  iso_random random;
  iso_random_seed(&random, 5, 0);
  unsigned sound = 0, satisfied[4] = {0};
  static const struct {
    oracle_level level;
    bool serial, strong;
  } levels[] = {{ORACLE_SNAPSHOT, false, false},
                {ORACLE_STRONG_SNAPSHOT, false, true},
                {ORACLE_SERIALIZABLE, true, false},
                {ORACLE_STRICT_SERIALIZABLE, true, true}};
  for (int round = 0; round < 40000; round++) {
    isoproof_history *history = random_history(&random);
    oracle_verdicts verdicts;
    facts f;
    assert_true(oracle_judge(history, &verdicts) && facts_gather(history, &f));
    for (int a = 0; a < ORACLE_LEVELS; a++)
      for (int b = 0; b < ORACLE_LEVELS; b++)
        assert_false(verdicts.satisfied[a] && !verdicts.satisfied[b] &&
                     oracle_implies((oracle_level)a, (oracle_level)b));
    bool clean = true;
    for (int t = 0; t < ORACLE_TAPS; t++) clean &= !verdicts.tap[t];
    for (size_t l = 0; clean && l < 4; l++) {
      bool expected = executes(&f, levels[l].serial, levels[l].strong);
      if (verdicts.satisfied[levels[l].level] != expected)
        fail_msg("round %d: wrong about %s", round, oracle_level_id(levels[l].level));
      satisfied[l] += expected;
    }
    sound += clean;
    isoproof_history_free(history);
  }
  print_message("%u sound histories; satisfied: %u %u %u %u\n", sound, satisfied[0], satisfied[1], satisfied[2],
                satisfied[3]);
  assert_true(sound > 2000 && satisfied[3] > 200 && sound - satisfied[0] > 200);
  assert_true(satisfied[0] > satisfied[1] && satisfied[0] > satisfied[2] && satisfied[2] > satisfied[3]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(knows_the_classics),
      cmocka_unit_test(refuses_what_it_cannot_judge),
      cmocka_unit_test(agrees_with_executions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
