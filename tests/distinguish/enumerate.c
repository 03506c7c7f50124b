/* Lists small histories: operations by backtracking, and of those that are renamings of each other only the first. */
#include "tests/distinguish/enumerate.h"

#include <stdlib.h>
#include <string.h>

/* An operation as a number: reads before writes, sources before keys.  The least of all renamings of a history has its
 * keys in the order of their first appearance, because keys come last. */
enum { CODE_READS = (SMALL_TXNS + 2) * SMALL_KEYS, CODES = CODE_READS + SMALL_KEYS };

static unsigned code_of(const small_op *op) {
  if (op->write) return (unsigned)CODE_READS + op->key;
  return (unsigned)(op->source - SMALL_NOBODY) * SMALL_KEYS + op->key;
}

static small_op op_of(unsigned code) {
  small_op op = {code >= CODE_READS, SMALL_INITIAL, (uint8_t)(code % SMALL_KEYS)};
  if (!op.write) op.source = (int8_t)((int)(code / SMALL_KEYS) + SMALL_NOBODY);
  return op;
}

/* ---- renamings ---- */

/* Everything that tells histories apart, in the order in which they are compared. */
typedef struct encoding {
  uint8_t byte[2 * SMALL_TXNS + SMALL_OPS];
} encoding;

static encoding encode(const small_history *h) {
  encoding e = {{0}};
  size_t at = 0;
  for (unsigned t = 0; t < h->txns; t++) e.byte[at++] = h->session[t];
  for (unsigned t = 0; t < h->txns; t++) e.byte[at++] = h->first[t + 1];
  for (unsigned o = 0; o < h->ops; o++) e.byte[at++] = (uint8_t)code_of(&h->op[o]);
  return e;
}

bool small_next_permutation(uint8_t *p, unsigned count) {
  unsigned i = count;
  while (i > 1 && p[i - 2] >= p[i - 1]) i--;
  if (i <= 1) return false;
  unsigned pivot = i - 2, j = count - 1;
  while (p[j] <= p[pivot]) j--;
  uint8_t held = p[pivot];
  p[pivot] = p[j];
  p[j] = held;
  for (unsigned a = pivot + 1, b = count - 1; a < b; a++, b--) {
    held = p[a];
    p[a] = p[b];
    p[b] = held;
  }
  return true;
}

/* Whether sessions and reads still go upwards when transaction t is called place[t]. */
static bool goes_upwards(const small_history *h, const uint8_t before[SMALL_TXNS], const uint8_t place[SMALL_TXNS]) {
  for (unsigned t = 0; t < h->txns; t++) {
    for (unsigned s = 0; s < t; s++) {
      if ((before[t] >> s & 1) != 0 && place[s] > place[t]) return false;
    }
  }
  return true;
}

/* One transaction with its new names, its writes in the order of their keys. */
static void rename_txn(const small_history *h, unsigned t, const uint8_t place[SMALL_TXNS],
                       const uint8_t key[SMALL_KEYS], small_history *out) {
  unsigned start = out->ops;
  for (unsigned o = h->first[t]; o < h->first[t + 1]; o++) {
    small_op op = h->op[o];
    op.key = key[op.key];
    if (!op.write && op.source >= 0) op.source = (int8_t)place[op.source];
    unsigned at = out->ops++;
    while (op.write && at > start && out->op[at - 1].write && out->op[at - 1].key > op.key) {
      out->op[at] = out->op[at - 1];
      at--;
    }
    out->op[at] = op;
  }
}

static small_history renamed(const small_history *h, const uint8_t place[SMALL_TXNS], const uint8_t key[SMALL_KEYS]) {
  small_history out = {.txns = h->txns, .sessions = h->sessions, .keys = h->keys, .lists = h->lists};
  uint8_t who[SMALL_TXNS] = {0}, session[SMALL_TXNS], sessions = 0;
  memset(session, 0xff, sizeof session);
  for (unsigned t = 0; t < h->txns; t++) who[place[t]] = (uint8_t)t;
  for (unsigned t = 0; t < h->txns; t++) {
    uint8_t *known = &session[h->session[who[t]]];
    if (*known == 0xff) *known = sessions++;
    out.session[t] = *known;
    rename_txn(h, who[t], place, key, &out);
    out.first[t + 1] = out.ops;
  }
  for (unsigned k = 0; h->lists && k < h->keys; k++) {
    for (unsigned i = 0; i < small_writers(h, k); i++) out.order[key[k]][i] = place[h->order[k][i]];
  }
  return out;
}

static bool is_first_of_its_kind(const small_history *h) {
  encoding mine = encode(h);
  uint8_t before[SMALL_TXNS], place[SMALL_TXNS], key[SMALL_KEYS];
  small_order(h, before);
  for (unsigned t = 0; t < h->txns; t++) place[t] = (uint8_t)t;
  do {
    if (!goes_upwards(h, before, place)) continue;
    for (unsigned k = 0; k < h->keys; k++) key[k] = (uint8_t)k;
    do {
      small_history other = renamed(h, place, key);
      encoding theirs = encode(&other);
      if (memcmp(theirs.byte, mine.byte, sizeof mine.byte) < 0) return false;
    } while (small_next_permutation(key, h->keys));
  } while (small_next_permutation(place, h->txns));
  return true;
}

void small_in_order_of_time(small_history *history, small_frame *frame) {
  uint8_t place[SMALL_TXNS] = {0}, key[SMALL_KEYS], keys = 0;
  small_frame sorted = *frame;
  for (unsigned t = 0; t < history->txns; t++) {
    for (unsigned s = 0; s < history->txns; s++) place[t] = (uint8_t)(place[t] + (frame->start[s] < frame->start[t]));
    sorted.start[place[t]] = frame->start[t];
    sorted.end[place[t]] = frame->end[t];
    sorted.label[place[t]] = frame->label[t];
  }
  for (unsigned k = 0; k < history->keys; k++) key[k] = (uint8_t)k;
  *history = renamed(history, place, key);
  memset(key, 0xff, sizeof key);
  for (unsigned o = 0; o < history->ops; o++) {
    uint8_t *known = &key[history->op[o].key];
    if (*known == 0xff) *known = keys++;
  }
  for (unsigned t = 0; t < history->txns; t++) place[t] = (uint8_t)t;
  *history = renamed(history, place, key);
  *frame = sorted;
}

/* ---- operations ---- */

/* Whether the operation fits behind those before it, `keys` of which are in use. */
static bool fits(const small_history *h, unsigned txn, unsigned at, const small_op *op, unsigned keys) {
  if (op->key > keys) return false;
  if (!op->write && op->source == SMALL_NOBODY && h->txns > 1) return false;
  if (!op->write && op->source >= (int)txn && (!h->lists || op->source == (int)txn || op->source >= h->txns))
    return false;
  if (!op->write && op->source >= 0 && op->source < (int)txn && !small_writes(h, (unsigned)op->source, op->key))
    return false;
  for (unsigned o = h->first[txn]; o < at; o++) {
    const small_op *earlier = &h->op[o];
    if (earlier->write && (!op->write || earlier->key >= op->key)) return false;
    if (!earlier->write && !op->write && earlier->key == op->key && earlier->source == op->source) return false;
  }
  return true;
}

/* Whether every key is written, and read, and whoever was read from has written. */
static bool all_matters(const small_history *h) {
  unsigned written = 0, read = 0, all = (1u << h->keys) - 1;
  for (unsigned o = 0; o < h->ops; o++) {
    unsigned bit = 1u << h->op[o].key;
    if (h->op[o].write || h->op[o].source == SMALL_NOBODY) written |= bit;
    if (!h->op[o].write) read |= bit;
    if (!h->op[o].write && h->op[o].source >= 0 && !small_writes(h, (unsigned)h->op[o].source, h->op[o].key))
      return false;
  }
  return written == all && read == all;
}

static bool keep(small_list *list, const small_history *h) {
  if (list->count == list->room) {
    size_t room = list->room == 0 ? 1024 : 2 * list->room;
    small_history *larger = realloc(list->histories, room * sizeof *larger);
    if (larger == NULL) return false;
    list->histories = larger;
    list->room = room;
  }
  list->histories[list->count++] = *h;
  return true;
}

/* The history with every order of the appends to each key; of registers as it is. */
static bool keep_orders(small_list *list, small_history *h) {
  if (!h->lists) return keep(list, h);
  memset(h->order, 0, sizeof h->order);
  for (unsigned k = 0; k < h->keys; k++) {
    unsigned writers = 0;
    for (unsigned t = 0; t < h->txns; t++) {
      if (small_writes(h, t, k)) h->order[k][writers++] = (uint8_t)t;
    }
  }
  for (unsigned k = 0; k < h->keys;) {
    if (k == 0 && !keep(list, h)) return false;
    /* The last permutation of a key is followed by its first, and by the next one of the next key. */
    unsigned writers = small_writers(h, k);
    if (small_next_permutation(h->order[k], writers)) {
      k = 0;
      continue;
    }
    for (unsigned a = 0, b = writers - 1; writers > 0 && a < b; a++, b--) {
      uint8_t held = h->order[k][a];
      h->order[k][a] = h->order[k][b];
      h->order[k][b] = held;
    }
    k++;
  }
  return true;
}

/* Every choice of the operations, for given sizes of transactions and sessions. */
static bool each_operations(small_history *h, small_list *list) {
  unsigned next[SMALL_OPS] = {0}, txn[SMALL_OPS], keys[SMALL_OPS + 1] = {0}, at = 0;
  for (unsigned t = 0; t < h->txns; t++) {
    for (unsigned o = h->first[t]; o < h->first[t + 1]; o++) txn[o] = t;
  }
  for (;;) {
    if (at == h->ops) {
      h->keys = (uint8_t)keys[at];
      if (all_matters(h) && is_first_of_its_kind(h) && !keep_orders(list, h)) return false;
      at--;
    }
    small_op op = {.key = SMALL_KEYS};
    while (next[at] < CODES) {
      op = op_of(next[at]++);
      if (fits(h, txn[at], at, &op, keys[at])) break;
      op.key = SMALL_KEYS;
    }
    if (op.key == SMALL_KEYS) {
      next[at] = 0;
      if (at-- == 0) return true;
      continue;
    }
    h->op[at] = op;
    keys[at + 1] = keys[at] > op.key ? keys[at] : op.key + 1u;
    at++;
    if (at < h->ops) next[at] = 0;
  }
}

/* ---- sizes and sessions ---- */

/* The next way to write first[txns] as a sum of as many sizes; false after the last. */
static bool next_sizes(small_history *h) {
  for (unsigned t = h->txns - 1u; t >= 1; t--) {
    if (h->first[t] + 1u <= h->ops - (h->txns - t)) {
      uint8_t to = (uint8_t)(h->first[t] + 1);
      for (unsigned i = t; i < h->txns && i < SMALL_TXNS; i++) h->first[i] = (uint8_t)(to + (i - t));
      return true;
    }
  }
  return false;
}

/* The next way to give transactions to sessions, numbered in the order of their first transactions. */
static bool next_sessions(small_history *h) {
  for (unsigned t = h->txns; t-- > 1;) {
    unsigned most = 0;
    for (unsigned s = 0; s < t; s++) most = most > h->session[s] ? most : h->session[s];
    if (h->session[t] > most) continue;
    h->session[t]++;
    memset(h->session + t + 1, 0, (size_t)(SMALL_TXNS - t - 1));
    return true;
  }
  return false;
}

static int by_size(const void *a, const void *b) {
  const small_history *x = a, *y = b;
  if (x->sessions != y->sessions) return x->sessions < y->sessions ? -1 : 1;
  if (x->keys != y->keys) return x->keys < y->keys ? -1 : 1;
  encoding ex = encode(x), ey = encode(y);
  int order = memcmp(ex.byte, ey.byte, sizeof ex.byte);
  return order != 0 ? order : memcmp(x->order, y->order, sizeof x->order);
}

/* The only one in which a session reads what it writes later: Adya's models, which know no sessions, allow it, and all
 * levels but cut isolation forbid it.  No other history of two transactions is smaller. */
static const small_history against_the_session = {.txns = 2,
                                                  .ops = 2,
                                                  .sessions = 1,
                                                  .keys = 1,
                                                  .first = {0, 1, 2},
                                                  .op = {{.source = 1}, {.write = true, .source = SMALL_INITIAL}}};

bool small_enumerate(unsigned txns, unsigned ops, bool lists, small_list *list) {
  *list = (small_list){0};
  if (txns == 0 || txns > SMALL_TXNS || ops < txns || ops > SMALL_OPS) return true;
  small_history h = {.txns = (uint8_t)txns, .ops = (uint8_t)ops, .lists = lists};
  do {
    h.sessions = 0;
    for (unsigned t = 0; t < txns; t++)
      h.sessions = h.session[t] >= h.sessions ? (uint8_t)(h.session[t] + 1) : h.sessions;
    for (unsigned t = 0; t < txns; t++) h.first[t] = (uint8_t)t;
    h.first[txns] = (uint8_t)ops;
    do {
      if (!each_operations(&h, list)) return false;
    } while (next_sizes(&h));
  } while (next_sessions(&h));
  if (txns == 2 && ops == 2 && !lists && !keep(list, &against_the_session)) return false;
  if (list->count > 0) qsort(list->histories, list->count, sizeof *list->histories, by_size);
  return true;
}
