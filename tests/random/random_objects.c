/* Small random histories of sets, counters and registers of words. */
#include "tests/random/random_objects.h"

#include <stdio.h>
#include <string.h>

#include "tests/random/random_history.h"

enum { KEYS = 3, MOST = 12 };

/* A state of the store: of each key the elements, the sum or the word, by number; 0 is none. */
typedef struct content {
  unsigned elements[KEYS][MOST], counts[KEYS];
  int sum[KEYS];
  unsigned word[KEYS];
} content;

typedef struct drawer {
  uint64_t *random;
  objects_kind kind;
  unsigned keys, fresh; /* the last number that was used */
  content states[OBJECTS_TXNS + 1];
  unsigned state_count;
  content seen, own; /* by the transaction at hand */
  char *text;
  size_t length;
} drawer;

static uint64_t below(drawer *d, uint64_t bound) { return sketch_below(d->random, bound); }

static void put(drawer *d, const char *format, const char *key, const char *value) {
  d->length += (size_t)snprintf(d->text + d->length, OBJECTS_TEXT - d->length, "%s[", d->length > 0 ? "," : "");
  d->length += (size_t)snprintf(d->text + d->length, OBJECTS_TEXT - d->length, format, key, value);
  d->length += (size_t)snprintf(d->text + d->length, OBJECTS_TEXT - d->length, "]");
}

static void write_one(drawer *d, content *now, unsigned key, const char *name) {
  char value[32];
  unsigned number = ++d->fresh;
  if (d->kind == OBJECTS_SETS) {
    if (now->counts[key] == MOST) return;
    now->elements[key][now->counts[key]++] = number;
    snprintf(value, sizeof value, "\"e%u\"", number);
    put(d, "\"add\",%s,%s", name, value);
  } else if (d->kind == OBJECTS_COUNTERS) {
    int amount = (int)below(d, 5) - 1;
    now->sum[key] += amount;
    snprintf(value, sizeof value, "%d", amount);
    put(d, "\"inc\",%s,%s", name, value);
  } else {
    now->word[key] = number;
    snprintf(value, sizeof value, "\"word%u\"", number);
    put(d, "\"w\",%s,%s", name, value);
  }
}

/* Now and then a read goes wrong. */
static void read_one(drawer *d, const content *now, unsigned key, const char *name) {
  char value[256] = "null";
  bool wrong = below(d, 30) == 0;
  if (d->kind == OBJECTS_SETS) {
    size_t length = (size_t)snprintf(value, sizeof value, "[");
    for (unsigned i = wrong; i < now->counts[key]; i++)
      length += (size_t)snprintf(value + length, sizeof value - length, "%s\"e%u\"", length > 1 ? "," : "",
                                 now->elements[key][i]);
    snprintf(value + length, sizeof value - length, "]");
    put(d, "\"read-set\",%s,%s", name, value);
  } else if (d->kind == OBJECTS_COUNTERS) {
    snprintf(value, sizeof value, "%d", now->sum[key] + wrong);
    put(d, "\"read-counter\",%s,%s", name, value);
  } else {
    if (now->word[key] != 0) snprintf(value, sizeof value, "\"word%u\"", now->word[key] + wrong);
    put(d, "\"r\",%s,%s", name, value);
  }
}

/* What a transaction left is on top of the last state. */
static void commit(drawer *d, const content *before, const content *after) {
  content *last = &d->states[d->state_count], *next = last;
  *next = d->states[d->state_count - 1];
  for (unsigned key = 0; key < KEYS; key++) {
    for (unsigned i = before->counts[key]; i < after->counts[key] && next->counts[key] < MOST; i++)
      next->elements[key][next->counts[key]++] = after->elements[key][i];
    next->sum[key] += after->sum[key] - before->sum[key];
    if (after->word[key] != before->word[key]) next->word[key] = after->word[key];
  }
  d->state_count++;
}

static void draw_txn(drawer *d, objects_txn *txn) {
  static const char *const names[] = {"0", "\"key\"", "\"another key\""};
  unsigned old = below(d, 4) == 0 ? (unsigned)below(d, d->state_count) : 0;
  content before = d->states[d->state_count - 1 - (old < d->state_count ? old : 0)], now = before;
  uint64_t fate = below(d, 16), count = below(d, 5);
  txn->status = fate == 0 ? "aborted" : fate == 1 ? "unknown" : "committed";
  d->text = txn->ops;
  d->length = 0;
  txn->ops[0] = '\0';
  for (uint64_t i = 0; i < count; i++) {
    unsigned key = (unsigned)below(d, d->keys);
    if (below(d, 2) == 0)
      write_one(d, &now, key, names[key]);
    else
      read_one(d, &now, key, names[key]);
  }
  if (fate == 0 || (fate == 1 && below(d, 2) == 0)) return;
  commit(d, &before, &now);
}

void objects_draw(uint64_t *state, objects_kind kind, objects_history *out) {
  drawer d = {.random = state, .kind = kind, .state_count = 1};
  memset(out, 0, sizeof *out);
  out->count = 2 + (unsigned)below(&d, OBJECTS_TXNS - 1);
  out->timed = below(&d, 2) == 0;
  unsigned sessions = 1 + (unsigned)below(&d, 4), ended[4] = {0}, clock = 0;
  d.keys = 1 + (unsigned)below(&d, KEYS);
  for (unsigned t = 0; t < out->count; t++) {
    objects_txn *txn = &out->txns[t];
    txn->session = (unsigned)below(&d, sessions);
    draw_txn(&d, txn);
    clock += 1 + (unsigned)below(&d, 3);
    unsigned length = 1 + (unsigned)below(&d, 6);
    txn->start = clock > length && clock - length > ended[txn->session] ? clock - length : ended[txn->session] + 1;
    txn->end = (clock > txn->start ? clock : txn->start) + (unsigned)below(&d, 4);
    ended[txn->session] = txn->end;
  }
}

size_t objects_text(const objects_history *history, unsigned first, unsigned end, char *out, size_t size) {
  size_t length = (size_t)snprintf(out, size, "{\"isoproof\":1,\"initial\":null}\n");
  for (unsigned t = first; t < end; t++) {
    const objects_txn *txn = &history->txns[t];
    char times[64] = "";
    if (history->timed) snprintf(times, sizeof times, "\"start\":%u,\"end\":%u,", txn->start, txn->end);
    length += (size_t)snprintf(out + length, size - length, "{\"session\":%u,\"status\":\"%s\",%s\"ops\":[%s]}\n",
                               txn->session, txn->status, times, txn->ops);
  }
  return length;
}
