/* Histories of rows, against trying every version that each observation can be of with the oracle of registers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/oracle/oracle.h"
#include "tests/random/random_history.h"

enum { KEYS = 3, TXNS = 5, OPS = 4, VERSIONS = TXNS * OPS + 1, SEEN = 24, MOST_COMBINATIONS = 400, TEXT = 8192 };

typedef enum form { INSERT, UPDATE, DELETE, READ, PREDICATE, COUNT } form;

/* What an operation says: of a statement the rows that it returned, or their number. */
typedef struct op {
  form form;
  unsigned key, version; /* of a write: the number of the version, unique in the history */
  bool values;           /* the predicate is about values: 0 to limit */
  int limit;
  int returned[KEYS]; /* by key: the value, -1 for nothing */
  int count;
} op;

/* A version of a row: who wrote it, and its value, -1 for absent. */
typedef struct version {
  unsigned key;
  int value;
} version;

typedef struct rows {
  unsigned txns, sessions;
  struct {
    unsigned session, count;
    const char *status;
    op ops[OPS];
  } txn[TXNS];
  version version[VERSIONS]; /* from 1 */
  unsigned versions;
  int initial[KEYS]; /* -1 for absent */
} rows;

static unsigned below(uint64_t *seed, unsigned bound) { return (unsigned)sketch_below(seed, bound); }

static int initial_or(const rows *r, unsigned key, unsigned number) {
  return number == 0 ? r->initial[key] : r->version[number].value;
}

/* Some version of a row that there is. */
static unsigned some_version(uint64_t *seed, const rows *r, unsigned key) {
  unsigned number = below(seed, r->versions);
  return number > 0 && r->version[number].key == key ? number : 0;
}

static bool matches(const op *o, int value) { return value >= 0 && (!o->values || value <= o->limit); }

/* ---- drawing ---- */

static void draw_write(uint64_t *seed, rows *r, op *o) {
  o->key = below(seed, KEYS);
  o->version = r->versions;
  int value = o->form == DELETE ? -1 : (int)(below(seed, 10) * 100 + o->version);
  r->version[r->versions++] = (version){o->key, value};
}

/* What is read is drawn when all versions are there. */
static void draw_read(uint64_t *seed, const rows *r, op *o) {
  o->key = below(seed, KEYS);
  o->values = below(seed, 2) == 0;
  o->limit = (int)below(seed, 1000);
  o->count = 0;
  for (unsigned key = 0; key < KEYS; key++) {
    int value = initial_or(r, key, some_version(seed, r, key));
    o->returned[key] = o->form == READ || matches(o, value) ? value : -1;
    o->count += matches(o, value);
  }
}

static void draw(uint64_t *seed, rows *r) {
  static const form forms[] = {INSERT, UPDATE, DELETE, DELETE, READ, READ, PREDICATE, PREDICATE, COUNT};
  memset(r, 0, sizeof *r);
  r->versions = 1;
  r->txns = 2 + below(seed, TXNS - 1);
  r->sessions = 1 + below(seed, 3);
  for (unsigned key = 0; key < KEYS; key++)
    r->initial[key] = below(seed, 3) == 0 ? (int)(below(seed, 10) * 100 + 99) : -1;
  for (unsigned t = 0; t < r->txns; t++) {
    unsigned fate = below(seed, 12);
    r->txn[t].session = below(seed, r->sessions);
    r->txn[t].status = fate == 0 ? "aborted" : fate == 1 ? "unknown" : "committed";
    r->txn[t].count = 1 + below(seed, OPS - 1);
    for (unsigned i = 0; i < r->txn[t].count; i++) {
      op *o = &r->txn[t].ops[i];
      o->form = forms[below(seed, 9)];
      if (o->form <= DELETE) draw_write(seed, r, o);
    }
  }
  for (unsigned t = 0; t < r->txns; t++) {
    for (unsigned i = 0; i < r->txn[t].count; i++) {
      if (r->txn[t].ops[i].form > DELETE) draw_read(seed, r, &r->txn[t].ops[i]);
    }
  }
}

/* ---- as a history of rows ---- */

static int print_op(char *to, size_t room, const rows *r, const op *o) {
  static const char *const names[] = {"insert", "update"};
  char predicate[64] = "{}", answer[128] = "";
  int at = 0;
  if (o->values) snprintf(predicate, sizeof predicate, "{\"values\":[0,%d]}", o->limit);
  for (unsigned key = 0; key < KEYS; key++) {
    if (o->returned[key] < 0) continue;
    at += snprintf(answer + at, sizeof answer - (size_t)at, "%s[%u,%d]", at > 0 ? "," : "", key, o->returned[key]);
  }
  switch (o->form) {
  case INSERT:
  case UPDATE:
    return snprintf(to, room, "[\"%s\",%u,%d]", names[o->form], o->key, r->version[o->version].value);
  case DELETE:
    return snprintf(to, room, "[\"delete\",%u,null]", o->key);
  case READ:
    if (o->returned[o->key] < 0) return snprintf(to, room, "[\"r\",%u,null]", o->key);
    return snprintf(to, room, "[\"r\",%u,%d]", o->key, o->returned[o->key]);
  case PREDICATE:
    return snprintf(to, room, "[\"rp\",%s,[%s]]", predicate, answer);
  case COUNT:
    break;
  }
  return snprintf(to, room, "[\"count\",%s,%d]", predicate, o->count);
}

static void print_rows(const rows *r, char *text, size_t room) {
  size_t at = (size_t)snprintf(text, room, "{\"isoproof\":1,\"initial\":null}\n{\"initial_rows\":[");
  bool more = false;
  for (unsigned key = 0; key < KEYS; key++) {
    if (r->initial[key] < 0) continue;
    at += (size_t)snprintf(text + at, room - at, "%s[%u,%d]", more ? "," : "", key, r->initial[key]);
    more = true;
  }
  at += (size_t)snprintf(text + at, room - at, "]}\n");
  for (unsigned t = 0; t < r->txns; t++) {
    at += (size_t)snprintf(text + at, room - at, "{\"session\":%u,\"status\":\"%s\",\"ops\":[", r->txn[t].session,
                           r->txn[t].status);
    for (unsigned i = 0; i < r->txn[t].count; i++) {
      if (i > 0) text[at++] = ',';
      at += (size_t)print_op(text + at, room - at, r, &r->txn[t].ops[i]);
    }
    at += (size_t)snprintf(text + at, room - at, "]}\n");
  }
}

static isoproof_history *open_text(const char *text) {
  isoproof_history *history = NULL;
  isoproof_error error;
  isoproof_status status = isoproof_history_open_memory(text, strlen(text), "rows", NULL, NULL, &history, &error);
  if (status != ISOPROOF_OK) fail_msg("%s\n%s", error.message, text);
  return history;
}

/* ---- every choice ---- */

/* An observation: what it can be of; 0 is the initial version, NOBODY a version that nobody wrote. */
enum { NOBODY = 200 };

typedef struct observation {
  unsigned txn, op, key;
  uint8_t candidate[VERSIONS + 1];
  unsigned candidates, chosen;
} observation;

typedef struct table {
  observation seen[SEEN];
  unsigned count;
  double combinations;
  bool mentioned[KEYS]; /* rows that the history knows of */
} table;

static bool fits(const op *o, unsigned key, int value) {
  if (o->form == COUNT) return true;
  if (o->form == READ || o->returned[key] >= 0) return value == o->returned[key];
  return !matches(o, value);
}

static bool observe(const rows *r, table *t, unsigned txn, unsigned i, unsigned key) {
  const op *o = &r->txn[txn].ops[i];
  if (t->count == SEEN) return false;
  observation *seen = &t->seen[t->count++];
  *seen = (observation){.txn = txn, .op = i, .key = key};
  for (unsigned number = 0; number < r->versions; number++) {
    bool of_key = number == 0 || r->version[number].key == key;
    if (of_key && fits(o, key, initial_or(r, key, number))) seen->candidate[seen->candidates++] = (uint8_t)number;
  }
  if (seen->candidates == 0) seen->candidate[seen->candidates++] = NOBODY;
  t->combinations *= seen->candidates;
  return true;
}

static bool observe_all(const rows *r, table *t) {
  memset(t, 0, sizeof *t);
  t->combinations = 1;
  for (unsigned key = 0; key < KEYS; key++) t->mentioned[key] = r->initial[key] >= 0;
  for (unsigned txn = 0; txn < r->txns; txn++) {
    for (unsigned i = 0; i < r->txn[txn].count; i++) {
      const op *o = &r->txn[txn].ops[i];
      if (o->form <= READ) t->mentioned[o->key] = true;
      for (unsigned key = 0; key < KEYS && o->form == PREDICATE; key++) t->mentioned[key] |= o->returned[key] >= 0;
    }
  }
  for (unsigned txn = 0; txn < r->txns; txn++) {
    for (unsigned i = 0; i < r->txn[txn].count; i++) {
      const op *o = &r->txn[txn].ops[i];
      for (unsigned key = 0; key < KEYS && o->form >= READ; key++) {
        bool covered = o->form == READ ? key == o->key : t->mentioned[key];
        if (covered && !observe(r, t, txn, i, key)) return false;
      }
    }
  }
  return true;
}

/* Whether the chosen versions of the rows of each count are as many as it says. */
static bool are_counts_right(const rows *r, const table *t) {
  for (unsigned txn = 0; txn < r->txns; txn++) {
    for (unsigned i = 0; i < r->txn[txn].count; i++) {
      const op *o = &r->txn[txn].ops[i];
      int count = 0;
      for (unsigned k = 0; k < t->count; k++) {
        const observation *seen = &t->seen[k];
        if (seen->txn != txn || seen->op != i) continue;
        count += matches(o, initial_or(r, seen->key, seen->candidate[seen->chosen]));
      }
      if (o->form == COUNT && count != o->count) return false;
    }
  }
  return true;
}

/* Registers: every version has a value of its own. */
static isoproof_history *as_registers(const rows *r, const table *t) {
  char text[TEXT];
  size_t at = (size_t)snprintf(text, sizeof text, "{\"isoproof\":1,\"initial\":null}\n");
  for (unsigned txn = 0; txn < r->txns; txn++) {
    bool more = false;
    at += (size_t)snprintf(text + at, sizeof text - at, "{\"session\":%u,\"status\":\"%s\",\"ops\":[",
                           r->txn[txn].session, r->txn[txn].status);
    for (unsigned i = 0; i < r->txn[txn].count; i++) {
      const op *o = &r->txn[txn].ops[i];
      if (o->form <= DELETE) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s[\"w\",%u,%u]", more ? "," : "", o->key, o->version);
        more = true;
      }
      for (unsigned k = 0; k < t->count; k++) {
        const observation *seen = &t->seen[k];
        if (seen->txn != txn || seen->op != i) continue;
        unsigned number = seen->candidate[seen->chosen];
        char value[16] = "null";
        if (number > 0) snprintf(value, sizeof value, "%u", number);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s[\"r\",%u,%s]", more ? "," : "", seen->key, value);
        more = true;
      }
    }
    at += (size_t)snprintf(text + at, sizeof text - at, "]}\n");
  }
  return open_text(text);
}

/* Which levels some choice satisfies; false when there are too many choices. */
static bool try_all(const rows *r, table *t, bool satisfied[ORACLE_LEVELS]) {
  unsigned k;
  memset(satisfied, 0, ORACLE_LEVELS * sizeof *satisfied);
  if (!observe_all(r, t) || t->combinations > MOST_COMBINATIONS) return false;
  do {
    if (are_counts_right(r, t)) {
      isoproof_history *history = as_registers(r, t);
      oracle_verdicts verdicts;
      bool judged = oracle_judge(history, &verdicts);
      isoproof_history_free(history);
      if (!judged) return false;
      for (int level = 0; level < ORACLE_LEVELS; level++) satisfied[level] |= verdicts.satisfied[level];
    }
    for (k = 0; k < t->count; k++) {
      if (++t->seen[k].chosen < t->seen[k].candidates) break;
      t->seen[k].chosen = 0;
    }
  } while (k < t->count);
  return true;
}

/* A statement of several observations: the oracle takes them to be in an order, which read committed must not. */
static bool has_order(const table *t) {
  for (unsigned k = 1; k < t->count; k++) {
    if (t->seen[k].txn == t->seen[k - 1].txn && t->seen[k].op == t->seen[k - 1].op) return true;
  }
  return false;
}

static void compare(const char *text, const bool satisfied[ORACLE_LEVELS], bool ordered) {
  isoproof_history *history = open_text(text);
  isoproof_result *result;
  isoproof_error error;
  isoproof_check_options options = {.struct_size = sizeof options, .certificate = true};
  if (isoproof_check(history, &options, NULL, &result, &error) != ISOPROOF_OK) fail_msg("%s\n%s", error.message, text);
  for (int level = 0; level < ORACLE_LEVELS; level++) {
    if (level == ORACLE_STRONG_SNAPSHOT || level == ORACLE_STRICT_SERIALIZABLE) continue; /* need times */
    isoproof_verdict verdict = isoproof_result_verdict_of(result, oracle_level_id((oracle_level)level));
    if (verdict == (satisfied[level] ? ISOPROOF_SATISFIED : ISOPROOF_VIOLATED)) continue;
    if (level == ORACLE_READ_COMMITTED && ordered && verdict == ISOPROOF_SATISFIED) continue;
    fail_msg("%s is %s, but trying every choice says otherwise:\n%s", oracle_level_id((oracle_level)level),
             isoproof_verdict_name(verdict), text);
  }
  isoproof_result_free(result);
  isoproof_history_free(history);
}

static void test_random(void **state) {
  (void)state;
  const char *wish = getenv("ISOPROOF_RANDOM_HISTORIES");
  uint64_t histories = (wish != NULL ? strtoull(wish, NULL, 10) : 200000) / 20, seed = 1;
  unsigned judged = 0;
  for (uint64_t i = 0; i < histories; i++) {
    static rows r;
    static table t;
    bool satisfied[ORACLE_LEVELS];
    char text[TEXT];
    draw(&seed, &r);
    if (!try_all(&r, &t, satisfied)) continue;
    print_rows(&r, text, sizeof text);
    compare(text, satisfied, has_order(&t));
    judged++;
  }
  assert_true(judged > histories / 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
