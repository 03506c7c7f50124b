/* Delta debugging of a history: transactions, then whole rows, then operations, judged by isoproof_check. */
#include <isoproof/level.h>
#include <isoproof/minimize.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/task.h"
#include "base/vector.h"
#include "check/duplicates/choices.h"
#include "history/resolve.h"
#include "history/row_text.h"
#include "history/subset.h"

/* What is left out, in this order: C name, what it is called. */
#define STAGE_LIST(X)                                                                                                  \
  X(TXNS, "transactions")                                                                                              \
  X(ROWS, "rows")      /* everything that was done to a row, and what statements saw of it */                          \
  X(OPS, "operations") /* a read by predicate, or a count, is one */

typedef enum stage {
#define STAGE_X(name, text) STAGE_##name,
  STAGE_LIST(STAGE_X)
#undef STAGE_X
      STAGES
} stage;

typedef struct {
  isoproof_history *h;
  const char *level;
  bool duplicate_values;
  bool is_open;        /* several versions fit some reads */
  iso_choices choices; /* where that is so */
  isoproof_task *task;
  uint8_t *keep_txn, *keep_op; /* the smallest part so far */
  uint8_t *try_txn, *try_op;   /* the one being judged */
  uint8_t *left_row;           /* by key; scratch, 0 between uses */
  uint64_t checks;
} minimizer;

static isoproof_status judge(minimizer *m, isoproof_history *part, isoproof_result **result, isoproof_error *error) {
  isoproof_check_options options = {
      .struct_size = sizeof options, .levels = &m->level, .level_count = 1, .duplicate_values = m->duplicate_values};
  m->checks++;
  return isoproof_check(part, &options, m->task, result, error);
}

/* A read of a part that lacks one of the writes that it may have observed would be left with the others alone, which
 * can be a violation that the whole does not have. */
static isoproof_status drop_choosing_reads(minimizer *m, isoproof_error *error) {
  iso_choices *c = &m->choices;
  for (uint32_t txn = 0; m->is_open && txn < m->h->txns; txn++) {
    for (uint32_t op = m->h->txn_first_op[txn]; m->try_txn[txn] && op < m->h->txn_first_op[txn + 1]; op++) {
      size_t place = ISO_NO_CHOICE;
      if (m->try_op[op]) ISO_TRY(iso_choices_need(c, op, &place, error));
      if (place == ISO_NO_CHOICE) continue;
      const iso_choice *read = &c->reads.items[place];
      for (uint32_t k = read->first; k < read->first + read->count; k++) {
        uint32_t write = c->candidates.items[k];
        if (write < m->h->ops && !(m->try_op[write] && m->try_txn[c->op_txn[write]])) m->try_op[op] = 0;
      }
    }
  }
  return ISOPROOF_OK;
}

/* Whether the part being tried violates the level; if so, it becomes the smallest so far.  Stages of checks of parts
 * are not worth reporting. */
static isoproof_status attempt(minimizer *m, bool *violated, isoproof_error *error) {
  isoproof_history *part = NULL;
  isoproof_result *result = NULL;
  isoproof_progress_fn callback = m->task != NULL ? m->task->callback : NULL;
  *violated = false;
  if (m->task != NULL) m->task->callback = NULL;
  isoproof_status status = drop_choosing_reads(m, error);
  if (status == ISOPROOF_OK) status = iso_history_subset(m->h, m->try_txn, m->try_op, m->task, &part, error);
  if (status == ISOPROOF_OK) status = judge(m, part, &result, error);
  if (m->task != NULL) m->task->callback = callback;
  if (status == ISOPROOF_OK) {
    *violated = isoproof_result_verdict_of(result, m->level) == ISOPROOF_VIOLATED;
    /* A check that ran out of time says unknown. */
    if (!*violated) status = iso_task_check(m->task, error);
  }
  isoproof_result_free(result);
  isoproof_history_free(part);
  if (status == ISOPROOF_OK && *violated) {
    memcpy(m->keep_txn, m->try_txn, m->h->txns);
    memcpy(m->keep_op, m->try_op, m->h->ops);
  }
  return status;
}

static void begin_attempt(minimizer *m) {
  memcpy(m->try_txn, m->keep_txn, m->h->txns);
  memcpy(m->try_op, m->keep_op, m->h->ops);
}

/* ---- from the witnesses of the whole history ---- */

/* Adds those whose writes the operations of a witness show. */
static isoproof_status add_sources(minimizer *m, const isoproof_anomaly *anomaly, isoproof_error *error) {
  const iso_resolution *resolution;
  const uint32_t *op_txn;
  ISO_TRY(iso_history_resolve(m->h, m->task, &resolution, error));
  ISO_TRY(iso_history_op_txns(m->h, &op_txn, error));
  for (size_t i = 0; i < anomaly->op_count; i++) {
    uint32_t writer = anomaly->ops[i] < m->h->ops ? resolution->writer[anomaly->ops[i]] : ISO_NO_OP;
    if (writer < m->h->ops) m->try_txn[op_txn[writer]] = 1;
  }
  return ISOPROOF_OK;
}

/* Tries the transactions of one witness, or (number == count) those of all. */
static isoproof_status try_witness(minimizer *m, const isoproof_result *whole, size_t number, bool *violated,
                                   isoproof_error *error) {
  size_t count = isoproof_result_anomaly_count(whole);
  begin_attempt(m);
  memset(m->try_txn, 0, m->h->txns);
  for (size_t i = 0; i < count; i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    if ((number < count && i != number) || !isoproof_result_anomaly_at(whole, i, &anomaly)) continue;
    for (size_t k = 0; k < anomaly.txn_count; k++) {
      if (anomaly.txns[k] < m->h->txns) m->try_txn[anomaly.txns[k]] = 1;
    }
    ISO_TRY(add_sources(m, &anomaly, error));
  }
  return attempt(m, violated, error);
}

/* The witness with the fewest transactions that is a violation by itself: a good start. */
static isoproof_status start_from_witness(minimizer *m, const isoproof_result *whole, isoproof_error *error) {
  enum { WITNESSES = 64 };
  size_t count = isoproof_result_anomaly_count(whole), best = count, fewest = SIZE_MAX;
  bool violated = false;
  for (size_t i = 0; i < count && i < WITNESSES; i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    if (!isoproof_result_anomaly_at(whole, i, &anomaly) || anomaly.txn_count >= fewest) continue;
    fewest = anomaly.txn_count;
    best = i;
  }
  if (best < count) ISO_TRY(try_witness(m, whole, best, &violated, error));
  for (size_t i = 0; i < count && i < WITNESSES && !violated; i++) {
    if (i != best) ISO_TRY(try_witness(m, whole, i, &violated, error));
  }
  if (!violated && count > 1) ISO_TRY(try_witness(m, whole, count, &violated, error));
  return ISOPROOF_OK;
}

/* ---- chunks, ever smaller ---- */

/* Leaves out every operation of the part on one of those rows. */
static void leave_out_rows(minimizer *m, const uint32_t *keys, size_t count) {
  for (size_t i = 0; i < count; i++) m->left_row[keys[i]] = 1;
  for (uint32_t op = 0; op < m->h->ops; op++) {
    if (m->left_row[m->h->op_key[op]]) m->try_op[op] = 0;
  }
  for (size_t i = 0; i < count; i++) m->left_row[keys[i]] = 0;
}

static void leave_out_op(minimizer *m, uint32_t op) {
  const iso_statement *s = iso_history_form(m->h, op) >= ISO_ROW_PREDICATE ? iso_history_statement(m->h, op) : NULL;
  if (s == NULL) {
    m->try_op[op] = 0;
  } else {
    memset(m->try_op + s->first_op, 0, s->op_count);
  }
}

static void leave_out(minimizer *m, stage at, const uint32_t *list, size_t count) {
  if (at == STAGE_ROWS) leave_out_rows(m, list, count);
  for (size_t i = 0; i < count && at == STAGE_TXNS; i++) m->try_txn[list[i]] = 0;
  for (size_t i = 0; i < count && at == STAGE_OPS; i++) leave_out_op(m, list[i]);
}

/* Leaves out members of `list`, chunk by chunk, until no single one can be left out. */
static isoproof_status shrink(minimizer *m, stage at, uint32_t *list, size_t count, isoproof_error *error) {
  static const struct {
    const char *unit, *title;
  } said[STAGES] = {
#define STAGE_X(name, text) {text, "minimizing " text},
      STAGE_LIST(STAGE_X)
#undef STAGE_X
  };
  for (size_t chunk = count / 2 + 1; chunk > 0; chunk = chunk > 1 ? (chunk + 1) / 2 : 0) {
    for (size_t from = 0; from < count;) {
      size_t end = from + chunk < count ? from + chunk : count;
      bool violated;
      iso_task_progress(m->task, said[at].title, said[at].unit, from, count);
      begin_attempt(m);
      leave_out(m, at, list + from, end - from);
      ISO_TRY(attempt(m, &violated, error));
      if (violated) {
        memmove(list + from, list + end, (count - end) * sizeof *list);
        count -= end - from;
      } else {
        from = end;
      }
    }
  }
  return ISOPROOF_OK;
}

/* Whether an operation of a kept transaction stands for one of the list of a stage: of a row the first, of a statement
 * the first, of anything else each. */
static bool is_listed(minimizer *m, stage at, uint32_t op) {
  if (!m->keep_op[op]) return false;
  if (at == STAGE_OPS) return iso_history_shown_op(m->h, op) == op;
  bool first = !m->left_row[m->h->op_key[op]];
  m->left_row[m->h->op_key[op]] = 1;
  return first;
}

/* The numbers of what is kept: transactions, keys or operations. */
static uint32_t *list_kept(minimizer *m, stage at, size_t *count) {
  uint32_t total = at == STAGE_OPS ? m->h->ops : at == STAGE_ROWS ? m->h->keys : m->h->txns;
  uint32_t *list = iso_alloc(total, sizeof *list);
  *count = 0;
  for (uint32_t txn = 0; list != NULL && txn < m->h->txns; txn++) {
    if (!m->keep_txn[txn]) continue;
    if (at == STAGE_TXNS) list[(*count)++] = txn;
    for (uint32_t op = m->h->txn_first_op[txn]; at != STAGE_TXNS && op < m->h->txn_first_op[txn + 1]; op++) {
      if (is_listed(m, at, op)) list[(*count)++] = at == STAGE_ROWS ? m->h->op_key[op] : op;
    }
  }
  memset(m->left_row, 0, m->h->keys);
  return list;
}

static isoproof_status shrink_all(minimizer *m, const isoproof_result *whole, isoproof_error *error) {
  ISO_TRY(start_from_witness(m, whole, error));
  for (stage at = STAGE_TXNS; at < STAGES; at++) {
    size_t count;
    if (at == STAGE_ROWS && !iso_history_has_rows(m->h)) continue;
    uint32_t *list = list_kept(m, at, &count);
    if (list == NULL) return iso_fail_memory(error);
    isoproof_status status = shrink(m, at, list, count, error);
    free(list);
    if (status != ISOPROOF_OK) return status;
  }
  return ISOPROOF_OK;
}

static isoproof_status make_room(minimizer *m, isoproof_error *error) {
  size_t txns = m->h->txns, ops = m->h->ops;
  m->keep_txn = iso_alloc(txns, 1);
  m->keep_op = iso_alloc(ops, 1);
  m->try_txn = iso_alloc(txns, 1);
  m->try_op = iso_alloc(ops, 1);
  m->left_row = iso_alloc_zero(m->h->keys, 1);
  if (m->keep_txn == NULL || m->keep_op == NULL || m->try_txn == NULL || m->try_op == NULL || m->left_row == NULL) {
    return iso_fail_memory(error);
  }
  memset(m->keep_txn, 1, txns);
  memset(m->keep_op, 1, ops);
  return ISOPROOF_OK;
}

/* Where it is open what reads observed: all that can satisfy the level. */
static isoproof_status find_choices(minimizer *m, isoproof_error *error) {
  const iso_resolution *resolution;
  ISO_TRY(iso_history_resolve(m->h, m->task, &resolution, error));
  m->is_open = resolution->counts.duplicate_writes > 0 || resolution->open_reads > 0;
  if (!m->is_open) return ISOPROOF_OK;
  return iso_choices_make(m->h, iso_choice_wish_of(isoproof_level_find(m->level)), m->task, &m->choices, error);
}

isoproof_status isoproof_minimize(isoproof_history *history, const isoproof_minimize_options *options,
                                  isoproof_task *task, isoproof_history **smaller, isoproof_minimized *report,
                                  isoproof_error *error) {
  isoproof_minimized made = {.struct_size = sizeof made, .verdict = ISOPROOF_UNDECIDED, .finished = true};
  isoproof_minimize_options known = {0};
  *smaller = NULL;
  ISO_TRY(ISO_OPTIONS_READ(isoproof_minimize_options, &known, options, error));
  ISO_TRY(ISO_STRUCT_CHECK(isoproof_minimized, report, error));
  if (known.level == NULL || isoproof_level_find(known.level) == NULL) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "there is no level `%s`", known.level != NULL ? known.level : "");
  }
  minimizer m = {.h = history, .level = known.level, .duplicate_values = known.duplicate_values, .task = task};
  isoproof_result *whole = NULL;
  isoproof_status status = make_room(&m, error);
  if (status == ISOPROOF_OK) status = judge(&m, history, &whole, error);
  if (status == ISOPROOF_OK) status = find_choices(&m, error);
  if (status == ISOPROOF_OK) made.verdict = isoproof_result_verdict_of(whole, m.level);
  if (status == ISOPROOF_OK && made.verdict == ISOPROOF_VIOLATED) {
    status = shrink_all(&m, whole, error);
    made.finished = status != ISOPROOF_ERR_TIMEOUT;
    if (status == ISOPROOF_ERR_TIMEOUT) status = ISOPROOF_OK;
    /* Without the task: its time may be up, but what was found is worth having. */
    if (status == ISOPROOF_OK) status = iso_history_subset(history, m.keep_txn, m.keep_op, NULL, smaller, error);
  }
  made.checks = m.checks;
  if (report != NULL) (void)ISO_STRUCT_GIVE(report, made);
  isoproof_result_free(whole);
  iso_choices_free(&m.choices);
  free(m.keep_txn);
  free(m.keep_op);
  free(m.try_txn);
  free(m.try_op);
  free(m.left_row);
  return status;
}
