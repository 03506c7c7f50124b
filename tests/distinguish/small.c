/* Small histories as text and as histories to check. */
#include "tests/distinguish/small.h"

#include <stdarg.h>
#include <stdio.h>

bool small_writes(const small_history *history, unsigned txn, unsigned key) {
  for (unsigned o = history->first[txn]; o < history->first[txn + 1]; o++) {
    if (history->op[o].write && history->op[o].key == key) return true;
  }
  return false;
}

void small_order(const small_history *history, uint8_t before[SMALL_TXNS]) {
  for (unsigned t = 0; t < history->txns; t++) {
    before[t] = 0;
    for (unsigned s = 0; s < t; s++) before[t] |= (uint8_t)((history->session[s] == history->session[t]) << s);
    for (unsigned o = history->first[t]; o < history->first[t + 1]; o++) {
      if (!history->op[o].write && history->op[o].source >= 0) before[t] |= (uint8_t)(1u << history->op[o].source);
    }
  }
}

bool small_single(const small_history *history) { return history->ops == history->txns; }

/* The value that a transaction writes to a key: its number among the writers of the key. */
static unsigned value_of(const small_history *history, int txn, unsigned key) {
  unsigned value = txn == SMALL_NOBODY;
  for (int t = 0; t <= txn; t++) value += small_writes(history, (unsigned)t, key);
  return value;
}

static unsigned op_value(const small_history *history, unsigned txn, const small_op *op) {
  return value_of(history, op->write ? (int)txn : op->source, op->key);
}

__attribute__((format(printf, 3, 4))) static size_t add(char text[SMALL_TEXT], size_t used, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text + used, SMALL_TEXT - used, format, arguments);
  va_end(arguments);
  return used + (size_t)length < SMALL_TEXT ? used + (size_t)length : SMALL_TEXT - 1;
}

static void plume_text(const small_history *history, char text[SMALL_TEXT]) {
  size_t used = 0;
  for (unsigned t = 0; t < history->txns; t++) {
    for (unsigned o = history->first[t]; o < history->first[t + 1]; o++) {
      const small_op *op = &history->op[o];
      used = add(text, used, "%c(%u,%u,%u,%u)\n", op->write ? 'w' : 'r', op->key + 1u, op_value(history, t, op),
                 history->session[t], t);
    }
  }
}

static void jsonl_text(const small_history *history, const small_frame *frame, char text[SMALL_TEXT]) {
  size_t used = add(text, 0, "{\"isoproof\":1}\n");
  for (unsigned t = 0; t < history->txns; t++) {
    used = add(text, used, "{\"session\":%u,\"status\":\"committed\"", history->session[t]);
    if (frame->timed) used = add(text, used, ",\"start\":%u,\"end\":%u", frame->start[t], frame->end[t]);
    if (frame->labelled) used = add(text, used, ",\"isolation\":\"%s\"", isoproof_isolation_at(frame->label[t]));
    for (unsigned o = history->first[t]; o < history->first[t + 1]; o++) {
      const small_op *op = &history->op[o];
      used = add(text, used, "%s[\"%c\",%u,", o == history->first[t] ? ",\"ops\":[" : ",", op->write ? 'w' : 'r',
                 op->key + 1u);
      unsigned value = op_value(history, t, op);
      used = value == 0 ? add(text, used, "null]") : add(text, used, "%u]", value);
    }
    used = add(text, used, "]}\n");
  }
}

void small_text(const small_history *history, const small_frame *frame, char text[SMALL_TEXT]) {
  if (frame->timed || frame->labelled)
    jsonl_text(history, frame, text);
  else
    plume_text(history, text);
}

static bool build_txn(isoproof_builder *builder, const small_history *history, const small_frame *frame, unsigned t) {
  uint32_t session;
  if (isoproof_builder_session(builder, isoproof_integer(history->session[t]), &session, NULL) != ISOPROOF_OK)
    return false;
  if (isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, NULL) != ISOPROOF_OK) return false;
  if (frame->timed && isoproof_builder_times(builder, frame->start[t], frame->end[t], NULL) != ISOPROOF_OK)
    return false;
  const char *label = frame->labelled ? isoproof_isolation_at(frame->label[t]) : NULL;
  if (label != NULL && isoproof_builder_isolation(builder, label, NULL) != ISOPROOF_OK) return false;
  for (unsigned o = history->first[t]; o < history->first[t + 1]; o++) {
    const small_op *op = &history->op[o];
    unsigned value = op_value(history, t, op);
    isoproof_op_kind kind = op->write ? ISOPROOF_OP_WRITE : ISOPROOF_OP_READ;
    isoproof_scalar scalar = value == 0 ? isoproof_nil() : isoproof_integer(value);
    if (isoproof_builder_op(builder, kind, isoproof_integer(op->key + 1), scalar, NULL) != ISOPROOF_OK) return false;
  }
  return true;
}

isoproof_history *small_build(const small_history *history, const small_frame *frame) {
  isoproof_builder *builder;
  isoproof_history *built = NULL;
  if (isoproof_builder_new(&builder, NULL) != ISOPROOF_OK) return NULL;
  bool fine = true;
  for (unsigned t = 0; fine && t < history->txns; t++) fine = build_txn(builder, history, frame, t);
  if (fine && isoproof_builder_finish(builder, &built, NULL) != ISOPROOF_OK) built = NULL;
  isoproof_builder_free(builder);
  return built;
}
