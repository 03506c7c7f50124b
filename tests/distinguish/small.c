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

unsigned small_writers(const small_history *history, unsigned key) {
  unsigned writers = 0;
  for (unsigned t = 0; t < history->txns; t++) writers += small_writes(history, t, key);
  return writers;
}

void small_order(const small_history *history, uint8_t before[SMALL_TXNS]) {
  for (unsigned t = 0; t < history->txns; t++) {
    before[t] = 0;
    for (unsigned s = 0; s < t; s++) before[t] |= (uint8_t)((history->session[s] == history->session[t]) << s);
    for (unsigned o = history->first[t]; o < history->first[t + 1]; o++) {
      const small_op *op = &history->op[o];
      if (!history->lists && !op->write && op->source >= 0) before[t] |= (uint8_t)(1u << op->source);
    }
  }
}

bool small_single(const small_history *history) { return history->ops == history->txns; }

/* The value that a transaction writes to a key: its number among the writers of the key.  Lists have them in order, so
 * that it is also how many elements are there then. */
static unsigned value_of(const small_history *history, int txn, unsigned key) {
  unsigned value = txn == SMALL_NOBODY;
  if (history->lists && txn >= 0) {
    while (history->order[key][value] != txn) value++;
    return value + 1;
  }
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

/* "append",1,2] or "read-list",1,[1,2]] */
static size_t add_list_op(char text[SMALL_TEXT], size_t used, const small_op *op, unsigned value) {
  used = add(text, used, "\"%s\",%u,", op->write ? "append" : "read-list", op->key + 1u);
  if (op->write) return add(text, used, "%u]", value);
  for (unsigned v = 1; v <= value; v++) used = add(text, used, "%s%u", v == 1 ? "[" : ",", v);
  return add(text, used, value == 0 ? "[]]" : "]]");
}

static size_t add_op(char text[SMALL_TEXT], size_t used, const small_history *history, unsigned txn,
                     const small_op *op) {
  unsigned value = op_value(history, txn, op);
  if (history->lists) return add_list_op(text, used, op, value);
  used = add(text, used, "\"%c\",%u,", op->write ? 'w' : 'r', op->key + 1u);
  return value == 0 ? add(text, used, "null]") : add(text, used, "%u]", value);
}

static void jsonl_text(const small_history *history, const small_frame *frame, char text[SMALL_TEXT]) {
  size_t used = add(text, 0, "{\"isoproof\":1}\n");
  for (unsigned t = 0; t < history->txns; t++) {
    used = add(text, used, "{\"session\":%u,\"status\":\"committed\"", history->session[t]);
    if (frame->timed) used = add(text, used, ",\"start\":%u,\"end\":%u", frame->start[t], frame->end[t]);
    if (frame->labelled) used = add(text, used, ",\"isolation\":\"%s\"", isoproof_isolation_at(frame->label[t]));
    for (unsigned o = history->first[t]; o < history->first[t + 1]; o++) {
      used = add(text, used, o == history->first[t] ? ",\"ops\":[[" : ",[");
      used = add_op(text, used, history, t, &history->op[o]);
    }
    used = add(text, used, "]}\n");
  }
}

void small_text(const small_history *history, const small_frame *frame, char text[SMALL_TEXT]) {
  if (frame->timed || frame->labelled || history->lists)
    jsonl_text(history, frame, text);
  else
    plume_text(history, text);
}

static isoproof_status build_op(isoproof_builder *builder, const small_history *history, unsigned txn,
                                const small_op *op) {
  unsigned value = op_value(history, txn, op);
  isoproof_scalar key = isoproof_integer(op->key + 1), elements[SMALL_TXNS];
  if (!history->lists) {
    isoproof_scalar scalar = value == 0 ? isoproof_nil() : isoproof_integer(value);
    return isoproof_builder_op(builder, op->write ? ISOPROOF_OP_WRITE : ISOPROOF_OP_READ, key, scalar, NULL);
  }
  if (op->write) return isoproof_builder_op(builder, ISOPROOF_OP_APPEND, key, isoproof_integer(value), NULL);
  for (unsigned v = 0; v < value; v++) elements[v] = isoproof_integer(v + 1);
  return isoproof_builder_elements(builder, ISOPROOF_OP_READ_LIST, key, elements, value, NULL);
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
    if (build_op(builder, history, t, &history->op[o]) != ISOPROOF_OK) return false;
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
