/* apart.c - finds the history that tells two levels apart, has the engines judge it again, and draws it. */
#include "cli/commands/apart.h"

#include <string.h>

#include "cli/commands/command.h"

/* ---- finding ---- */

/* Whether the engines say so of the history; the result replaces that of an earlier check. */
static bool has_verdict(apart *a, const isoproof_level_info *level, isoproof_verdict verdict) {
  isoproof_error error = {0};
  isoproof_check_options asked = {.struct_size = sizeof asked};
  if (level->family == ISOPROOF_LEVEL_MODEL && a->found.lists) {
    asked.models = &level->id;
    asked.model_count = 1;
  } else {
    asked.levels = &level->id;
    asked.level_count = 1;
  }
  isoproof_result_free(a->result);
  a->result = NULL;
  if (isoproof_check(a->history, &asked, NULL, &a->result, &error) != ISOPROOF_OK) {
    message_error(&error, "history");
    return false;
  }
  return isoproof_result_verdict_of(a->result, level->id) == verdict;
}

/* Whether the engines say of it what the table says. */
static bool judge(apart *a) {
  isoproof_error error = {0};
  isoproof_open_options how = {.struct_size = sizeof how, .format = a->found.format};
  if (isoproof_history_open_memory(a->found.history, strlen(a->found.history), "history", &how, NULL, &a->history,
                                   &error) != ISOPROOF_OK) {
    message_error(&error, "history");
    return false;
  }
  a->anomaly.struct_size = sizeof a->anomaly;
  return has_verdict(a, a->allows, ISOPROOF_SATISFIED) && has_verdict(a, a->forbids, ISOPROOF_VIOLATED) &&
         isoproof_result_anomaly_at(a->result, 0, &a->anomaly);
}

static bool is_implied(const isoproof_level_info *stronger, const isoproof_level_info *weaker) {
  isoproof_proof_step step = {.struct_size = sizeof step};
  return stronger == weaker || isoproof_proof_step_at(stronger, weaker, 0, &step);
}

apart_outcome apart_find(const isoproof_level_info *allows, const isoproof_level_info *forbids, apart *out) {
  *out = (apart){.allows = allows, .forbids = forbids, .found = {.struct_size = sizeof out->found}};
  if (!isoproof_distinguish(allows, forbids, &out->found))
    return is_implied(allows, forbids) ? APART_IMPLIED : APART_UNKNOWN;
  if (judge(out)) return APART_FOUND;
  message("the history that should tell %s from %s does not", allows->id, forbids->id);
  apart_free(out);
  return APART_FAILED;
}

void apart_free(apart *a) {
  isoproof_result_free(a->result);
  isoproof_history_free(a->history);
  *a = (apart){0};
}

/* ---- drawing ---- */

const char *apart_size(const apart *a, char text[APART_SIZE]) {
  unsigned transactions = a->found.transactions, operations = a->found.operations;
  snprintf(text, APART_SIZE, "%u transaction%s, %u operation%s", transactions, transactions == 1 ? "" : "s", operations,
           operations == 1 ? "" : "s");
  return text;
}

enum { DRAWN_TXNS = 16, DRAWN_TEXT = 160, DRAWN_VALUE = 48 };

typedef struct drawing {
  const isoproof_history *history;
  bool zero; /* the format has 0 for the initial version */
  size_t txns;
  isoproof_txn txn[DRAWN_TXNS];
  char text[DRAWN_TXNS][DRAWN_TEXT];
  unsigned from[DRAWN_TXNS], to[DRAWN_TXNS]; /* columns */
} drawing;

/* "0", or "[1 2]" of a list. */
static void describe_value(const drawing *d, uint64_t number, const isoproof_op *op, char text[DRAWN_VALUE]) {
  isoproof_scalar element;
  size_t used = 0;
  if (op->kind != ISOPROOF_OP_READ_LIST) {
    isoproof_scalar_format(op->value, text, DRAWN_VALUE);
    if (d->zero && op->value.type == ISOPROOF_NIL) snprintf(text, DRAWN_VALUE, "0");
    return;
  }
  snprintf(text, DRAWN_VALUE, "[]");
  for (uint64_t i = 0; isoproof_history_element_at(d->history, number, i, &element); i++) {
    char value[24];
    isoproof_scalar_format(element, value, sizeof value);
    if (used + strlen(value) + 3 > DRAWN_VALUE) break;
    used += (size_t)snprintf(text + used, DRAWN_VALUE - used, "%c%s", i == 0 ? '[' : ' ', value);
    memcpy(text + used, "]", 2);
  }
}

/* "[r 1=0, w 2=1]", with the level that is the transaction's own. */
static void describe(drawing *d, size_t t) {
  char *text = d->text[t];
  size_t used = (size_t)snprintf(text, DRAWN_TEXT, "[");
  const isoproof_txn *txn = &d->txn[t];
  if (txn->isolation != NULL) used += (size_t)snprintf(text + used, DRAWN_TEXT - used, "%s: ", txn->isolation);
  for (uint64_t o = 0; o < txn->op_count && used < DRAWN_TEXT; o++) {
    isoproof_op op = {.struct_size = sizeof op};
    char key[24], value[DRAWN_VALUE];
    if (!isoproof_history_op_at(d->history, txn->first_op + o, &op)) break;
    isoproof_scalar_format(op.key, key, sizeof key);
    describe_value(d, txn->first_op + o, &op, value);
    const char *what = op.kind == ISOPROOF_OP_APPEND ? "append" : op.kind == ISOPROOF_OP_WRITE ? "w" : "r";
    used += (size_t)snprintf(text + used, DRAWN_TEXT - used, "%s%s %s=%s", o == 0 ? "" : ", ", what, key, value);
  }
  if (used < DRAWN_TEXT - 1) snprintf(text + used, DRAWN_TEXT - used, "]");
}

/* Without times the transactions of a session stand side by side; with them, whoever ended before another began stands
 * to the left of it, and others overlap. */
static void place(drawing *d) {
  int64_t last = INT64_MIN;
  unsigned column = 0;
  for (size_t t = 0; t < d->txns; t++) {
    unsigned width = text_columns(d->text[t]);
    bool follows = t > 0 && d->txn[t].session == d->txn[t - 1].session;
    d->from[t] = follows ? d->to[t - 1] + 2 : 0;
    d->to[t] = d->from[t] + width;
  }
  if (d->txns == 0 || d->txn[0].start == ISOPROOF_NO_TIME) return;
  for (;;) {
    int64_t next = INT64_MAX;
    for (size_t t = 0; t < d->txns; t++) {
      if (d->txn[t].start > last && d->txn[t].start < next) next = d->txn[t].start;
      if (d->txn[t].end > last && d->txn[t].end < next) next = d->txn[t].end;
    }
    if (next == INT64_MAX) return;
    for (size_t t = 0; t < d->txns; t++) {
      unsigned least = d->from[t] + text_columns(d->text[t]);
      if (d->txn[t].end == next && column < least) column = least;
    }
    for (size_t t = 0; t < d->txns; t++) {
      if (d->txn[t].start == next) d->from[t] = column;
      if (d->txn[t].end == next) d->to[t] = column;
    }
    last = next;
    column += 2;
  }
}

/* The brackets of a transaction are as far apart as its times. */
static void put_txn(const drawing *d, size_t t, unsigned *column, FILE *out) {
  unsigned width = text_columns(d->text[t]);
  if (d->from[t] > *column) fprintf(out, "%*s", (int)(d->from[t] - *column), "");
  unsigned wider = d->to[t] - d->from[t] - width;
  fprintf(out, "%.*s%*s]", (int)strlen(d->text[t]) - 1, d->text[t], (int)wider, "");
  *column = d->to[t];
}

void apart_draw(const apart *a, FILE *out, unsigned indent) {
  drawing d = {.history = a->history, .zero = strcmp(a->found.format, "plume") == 0};
  isoproof_session session = {.struct_size = sizeof session};
  for (isoproof_txn txn = {.struct_size = sizeof txn};
       d.txns < DRAWN_TXNS && isoproof_history_txn_at(a->history, d.txns, &txn); d.txns++) {
    d.txn[d.txns] = txn;
    describe(&d, d.txns);
  }
  place(&d);
  for (uint64_t s = 0; isoproof_history_session_at(a->history, s, &session); s++) {
    unsigned column = 0;
    fprintf(out, "%*ssession %llu  ", (int)indent, "", (unsigned long long)s);
    for (uint64_t t = 0; t < session.txn_count && session.first_txn + t < d.txns; t++)
      put_txn(&d, (size_t)(session.first_txn + t), &column, out);
    fputc('\n', out);
  }
}
