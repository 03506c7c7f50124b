/* Small histories for live checkers: drawn, or read from a line of text, and cut into batches. */
#include "tests/unit/live/live_source.h"

#include "tests/unit/unit.h"

unsigned live_source_count(const live_source *s) {
  if (s->of_objects) return s->objects.count;
  return s->of_rows ? s->rows.count : s->registers.count;
}

static unsigned session_of(const live_source *s, unsigned txn) {
  if (s->of_objects) return s->objects.txns[txn].session;
  return s->of_rows ? s->rows.txns[txn].session : s->registers.txns[txn].session;
}

bool live_source_is_timed(const live_source *s) {
  if (s->of_objects) return s->objects.timed;
  return s->of_rows ? s->rows.timed : s->registers.timed;
}

static int64_t end_of(const live_source *s, unsigned txn) {
  if (s->of_objects) return s->objects.txns[txn].end;
  return s->of_rows ? s->rows.txns[txn].end : s->registers.txns[txn].end;
}

static isoproof_history *read_text(const char *text, size_t length) {
  isoproof_history *history;
  isoproof_error error;
  if (isoproof_history_open_memory(text, length, "drawn.jsonl", NULL, NULL, &history, &error) != ISOPROOF_OK)
    fail_msg("%s\n%s", error.message, text);
  return history;
}

/* The transactions from `first` to before `end`, as a history. */
isoproof_history *live_source_part(const live_source *s, unsigned first, unsigned end) {
  char text[LIVE_SOURCE_TEXT];
  if (s->of_objects) return read_text(text, objects_text(&s->objects, first, end, text, sizeof text));
  if (!s->of_rows) {
    sketch few = s->registers;
    few.count = (uint8_t)(end - first);
    memmove(few.txns, s->registers.txns + first, (end - first) * sizeof few.txns[0]);
    return sketch_history(&few);
  }
  row_history few = s->rows;
  few.count = end - first;
  memmove(few.txns, s->rows.txns + first, (end - first) * sizeof few.txns[0]);
  return read_text(text, rows_text(&few, text, sizeof text));
}

/* The numbers that the transactions of a part have in its history, in the order of arrival. */
void live_source_number(const live_source *s, const isoproof_history *batch, unsigned first, unsigned end,
                        uint64_t *order) {
  for (unsigned t = first; t < end; t++) {
    unsigned before = 0;
    isoproof_session session = {.struct_size = sizeof session};
    for (unsigned u = first; u < t; u++) before += session_of(s, u) == session_of(s, t);
    for (uint64_t i = 0; isoproof_history_session_at(batch, i, &session); i++) {
      if (session.name.integer == (int64_t)session_of(s, t)) break;
    }
    order[t - first] = session.first_txn + before;
  }
}

/* ---- drawing ---- */

/* By their ends, or nearly as they are written down; sessions keep their order. */
static void arrive(uint64_t *state, live_source *s) {
  unsigned count = live_source_count(s), last[16] = {0}, at[LIVE_SOURCE_TXNS];
  for (unsigned t = 0; t < count; t++) {
    unsigned session = session_of(s, t) % 16;
    at[t] = live_source_is_timed(s) ? (unsigned)end_of(s, t) : 4 * t + (unsigned)sketch_below(state, 12);
    if (at[t] < last[session]) at[t] = last[session];
    last[session] = at[t];
  }
  for (unsigned i = 1; i < count; i++) {
    for (unsigned j = i; j > 0 && at[j] < at[j - 1]; j--) {
      unsigned swapped = at[j];
      at[j] = at[j - 1], at[j - 1] = swapped;
      if (s->of_objects) {
        objects_txn txn = s->objects.txns[j];
        s->objects.txns[j] = s->objects.txns[j - 1], s->objects.txns[j - 1] = txn;
      } else if (s->of_rows) {
        row_txn row = s->rows.txns[j];
        s->rows.txns[j] = s->rows.txns[j - 1], s->rows.txns[j - 1] = row;
      } else {
        sketch_txn txn = s->registers.txns[j];
        s->registers.txns[j] = s->registers.txns[j - 1], s->registers.txns[j - 1] = txn;
      }
    }
  }
}

/* Now and then a value is written twice. */
static void repeat_values(uint64_t *state, sketch *s) {
  for (unsigned t = 0; t < s->count; t++) {
    for (unsigned i = 0; i < s->txns[t].count; i++) {
      sketch_op *op = &s->txns[t].ops[i];
      if (op->write && op->value > 1 && sketch_below(state, 3) == 0) op->value--;
    }
  }
}

void live_source_draw(uint64_t *state, bool rows_only, live_source *s) {
  memset(s, 0, sizeof *s);
  uint64_t kind = rows_only ? 6 + sketch_below(state, 2) : sketch_below(state, 10);
  s->of_objects = kind >= 8;
  s->of_rows = kind == 6 || kind == 7;
  if (kind < 4)
    sketch_draw(state, &s->registers);
  else if (kind < 6)
    sketch_draw_lists(state, &s->registers);
  else if (kind < 7)
    rows_draw_random(state, &s->rows);
  else if (kind < 8)
    rows_draw_store(state, &s->rows);
  else
    objects_draw(state, (objects_kind)sketch_below(state, OBJECTS_KINDS), &s->objects);
  if (kind < 6 && sketch_below(state, 2) == 0) sketch_draw_times(state, &s->registers);
  if (kind < 6 && sketch_below(state, 10) == 0) {
    s->repeats = true;
    repeat_values(state, &s->registers);
  }
  arrive(state, s);
}

/* ---- from text ---- */

static void read_word(sketch *s, sketch_txn *txn, const char *word) {
  if (word[1] == ':') {
    txn->session = (uint8_t)(word[0] - '0');
  } else if (word[0] == '!' || word[0] == '?') {
    txn->status = word[0] == '!' ? ISOPROOF_TXN_ABORTED : ISOPROOF_TXN_UNKNOWN;
  } else if (word[0] == '@') {
    char *end;
    s->timed = true;
    txn->start = (uint8_t)strtoul(word + 1, &end, 10);
    txn->end = (uint8_t)strtoul(end + 1, NULL, 10);
  } else {
    sketch_op *op = &txn->ops[txn->count++];
    op->write = word[0] == 'w' || word[0] == 'a';
    op->key = (uint8_t)(word[1] - '0');
    if (word[0] == 'a' || word[0] == 'l') s->lists |= (uint8_t)(1 << op->key);
    if (word[0] != 'l') op->value = (uint8_t)(word[2] - '0');
    for (const char *at = word + 3; word[0] == 'l' && *at >= '0' && *at <= '9'; at++)
      op->elements[op->count++] = (uint8_t)(*at - '0');
  }
}

live_source live_source_of(const char *text) {
  live_source out = {.registers = {.count = 1}};
  sketch *s = &out.registers;
  s->txns[0].status = ISOPROOF_TXN_COMMITTED;
  for (; *text != '\0'; text += strcspn(text, " "), text += strspn(text, " ")) {
    if (*text == '/')
      s->txns[s->count++].status = ISOPROOF_TXN_COMMITTED;
    else
      read_word(s, &s->txns[s->count - 1], text);
  }
  out.repeats = true; /* as far as anybody knows */
  return out;
}

/* ---- made small, and shown ---- */

typedef struct shrinking {
  const live_source *source;
  bool (*fails)(live_source *s, void *user);
  void *user;
} shrinking;

static bool sketch_fails(const sketch *s, void *user) {
  const shrinking *now = user;
  live_source few = {.registers = *s, .repeats = now->source->repeats};
  return now->fails(&few, now->user);
}

static bool rows_fail(const row_history *h, void *user) {
  const shrinking *now = user;
  live_source few = {.of_rows = true, .rows = *h};
  return now->fails(&few, now->user);
}

void live_source_shrink(live_source *s, bool (*fails)(live_source *s, void *user), void *user) {
  shrinking now = {.source = s, .fails = fails, .user = user};
  if (s->of_rows)
    rows_shrink(&s->rows, rows_fail, &now);
  else if (!s->of_objects)
    sketch_shrink(&s->registers, sketch_fails, &now);
}

void live_source_print(const live_source *s, char *out, size_t size) {
  if (s->of_objects)
    objects_text(&s->objects, 0, s->objects.count, out, size);
  else if (s->of_rows)
    rows_text(&s->rows, out, size);
  else
    sketch_print(&s->registers, out, size);
}
