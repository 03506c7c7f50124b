/* orders.h - calls on one register or one key of a store, whether some order of them explains what they returned (by
 * trying all orders, straight from the definition), and the logs that tell of them.
 *
 * Nothing here is shared with the library.  Plain values. */
#ifndef TESTS_UNIT_OBJECT_ORDERS_H
#define TESTS_UNIT_OBJECT_ORDERS_H

#include "tests/unit/unit.h"

enum { ORDER_CALLS = 7, ORDER_STATE = 64 };

typedef enum order_kind { ORDER_READ, ORDER_WRITE, ORDER_CAS, ORDER_APPEND, ORDER_DELETE } order_kind;
typedef enum order_outcome { ORDER_OK, ORDER_FAIL, ORDER_INFO } order_outcome;

typedef struct order_call {
  order_kind kind;
  order_outcome outcome; /* a compare-and-set fails when it finds another value; anything else fails without a word */
  char from[ORDER_STATE], to[ORDER_STATE];
  int invoked, completed;
} order_call;

/* Whether the call can take effect in a state, and what it leaves. */
static bool order_step(const order_call *c, const char *state, char *after) {
  bool equal = strcmp(c->from, state) == 0;
  snprintf(after, ORDER_STATE, "%s", state);
  if (c->kind == ORDER_READ) return c->outcome != ORDER_OK || equal;
  if (c->kind == ORDER_CAS && c->outcome == ORDER_FAIL) return !equal;
  if (c->kind == ORDER_CAS && !equal) return c->outcome == ORDER_INFO;
  if (c->kind == ORDER_APPEND) {
    snprintf(after, ORDER_STATE, "%.31s%.31s", state, c->to);
  } else {
    snprintf(after, ORDER_STATE, "%s", c->kind == ORDER_DELETE ? "" : c->to);
  }
  return true;
}

/* Whether a call has to take effect, may, or does not exist. */
static bool order_must(const order_call *c) {
  return c->outcome == ORDER_OK || (c->outcome == ORDER_FAIL && c->kind == ORDER_CAS);
}
static bool order_may(const order_call *c) { return c->outcome == ORDER_INFO || order_must(c); }

static bool order_exists(const order_call *calls, unsigned count, unsigned done, const char *state) {
  bool rest = false;
  for (unsigned i = 0; i < count; i++) rest |= (done >> i & 1) == 0 && order_must(&calls[i]);
  if (!rest) return true;
  for (unsigned i = 0; i < count; i++) {
    char after[ORDER_STATE];
    if ((done >> i & 1) != 0 || !order_may(&calls[i])) continue;
    bool early = true;
    for (unsigned k = 0; k < count; k++) {
      early &= (done >> k & 1) != 0 || !order_must(&calls[k]) || calls[k].completed > calls[i].invoked;
    }
    if (!early || !order_step(&calls[i], state, after)) continue;
    if (order_exists(calls, count, done | 1u << i, after)) return true;
  }
  return false;
}

static int order_by_point(const void *a, const void *b) { return ((const int *)a)[0] - ((const int *)b)[0]; }

/* Carries the calls out at random moments between their beginnings and ends, so that what they return is right. */
static void order_carry_out(uint64_t *random, order_call *calls, unsigned count) {
  int points[ORDER_CALLS][2];
  char state[ORDER_STATE] = "";
  for (unsigned i = 0; i < count; i++) {
    int length = calls[i].completed - calls[i].invoked;
    points[i][0] = 16 * calls[i].invoked + 1 + (int)unit_below(random, (uint64_t)(16 * length - 1));
    points[i][1] = (int)i;
  }
  qsort(points, count, sizeof *points, order_by_point);
  for (unsigned i = 0; i < count; i++) {
    order_call *c = &calls[points[i][1]];
    char after[ORDER_STATE];
    if (c->outcome == ORDER_FAIL && c->kind != ORDER_CAS) continue;
    if (c->outcome == ORDER_INFO && unit_below(random, 2) == 0) continue;
    if (c->kind == ORDER_READ) snprintf(c->from, sizeof c->from, "%s", state);
    if (c->kind == ORDER_CAS && c->outcome != ORDER_INFO) {
      c->outcome = strcmp(c->from, state) == 0 ? ORDER_OK : ORDER_FAIL;
    }
    if (order_step(c, state, after)) memcpy(state, after, sizeof state);
  }
}

/* Random calls of a register (numbers) or of a key of a store (short texts). */
static unsigned order_draw(uint64_t *random, bool store, order_call *calls) {
  static const char *const texts[] = {"a", "b", "ab", "c"}, *const numbers[] = {"0", "1", "2"};
  unsigned count = 2 + (unsigned)unit_below(random, ORDER_CALLS - 1);
  int places[2 * ORDER_CALLS];
  for (unsigned i = 0; i < 2 * count; i++) places[i] = (int)i;
  bool wide = unit_below(random, 2) == 0;
  for (unsigned i = 2 * count; i-- > 1;) {
    unsigned k = wide ? (unsigned)unit_below(random, i + 1) : i - (unsigned)unit_below(random, i < 4 ? 1 : 4);
    int kept = places[i];
    places[i] = places[k];
    places[k] = kept;
  }
  for (unsigned i = 0; i < count; i++) {
    int a = places[2 * i], b = places[2 * i + 1];
    uint64_t outcome = unit_below(random, 10), kind = unit_below(random, 5);
    order_call *c = &calls[i];
    *c = (order_call){.invoked = a < b ? a : b, .completed = a < b ? b : a};
    c->outcome = outcome < 7 ? ORDER_OK : outcome < 8 ? ORDER_FAIL : ORDER_INFO;
    c->kind = kind < 2 ? ORDER_READ : kind < 3 ? ORDER_WRITE : store ? ORDER_APPEND : ORDER_CAS;
    if (store && unit_below(random, 12) == 0) c->kind = ORDER_DELETE;
    snprintf(c->from, sizeof c->from, "%s", store ? texts[unit_below(random, 4)] : numbers[unit_below(random, 3)]);
    snprintf(c->to, sizeof c->to, "%s", store ? texts[unit_below(random, 4)] : numbers[unit_below(random, 3)]);
  }
  if (unit_below(random, 4) > 0) order_carry_out(random, calls, count);
  for (unsigned i = 0; i < count && unit_below(random, 2) == 0; i++) {
    if (calls[i].kind != ORDER_READ) continue;
    snprintf(calls[i].from, sizeof calls[i].from, "%s",
             store ? texts[unit_below(random, 4)] : numbers[unit_below(random, 3)]);
    break;
  }
  return count;
}

/* The log of the calls, in Porcupine's form or in Jepsen's. */
static void order_write(const order_call *calls, unsigned count, bool store, char *text, size_t size) {
  static const char *const of_store[] = {"get", "put", "?", "append", "delete"};
  static const char *const of_register[] = {"read", "write", "cas"}, *const types[] = {"ok", "fail", "info"};
  size_t used = 0;
  for (int at = 0; at < (int)count * 2; at++) {
    for (unsigned i = 0; i < count; i++) {
      const order_call *c = &calls[i];
      bool begins = c->invoked == at;
      if (!begins && c->completed != at) continue;
      const char *type = begins ? "invoke" : types[c->outcome];
      char value[4 * ORDER_STATE] = "nil";
      if (store && c->kind == ORDER_READ && !begins) snprintf(value, sizeof value, "\"%s\"", c->from);
      if (store && (c->kind == ORDER_WRITE || c->kind == ORDER_APPEND)) snprintf(value, sizeof value, "\"%s\"", c->to);
      if (!store && c->kind == ORDER_READ && !begins && c->from[0] != '\0')
        snprintf(value, sizeof value, "%s", c->from);
      if (!store && c->kind == ORDER_WRITE) snprintf(value, sizeof value, "%s", c->to);
      if (!store && c->kind == ORDER_CAS) snprintf(value, sizeof value, "[%s %s]", c->from, c->to);
      if (store) {
        used += (size_t)snprintf(text + used, size - used, "{:process %u, :type :%s, :f :%s, :key \"k\", :value %s}\n",
                                 i, type, of_store[c->kind], value);
      } else {
        used += (size_t)snprintf(text + used, size - used, "INFO  jepsen.util - %u\t:%s\t:%s\t%s\n", i, type,
                                 of_register[c->kind], value);
      }
    }
  }
}

#endif
