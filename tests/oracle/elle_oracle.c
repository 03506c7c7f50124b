/* Dependencies by Elle's rules, and by every order of versions; cycles by matrices; models by their table. */
#include "tests/oracle/elle_oracle.h"

#include <string.h>

#include "tests/oracle/elle_book.h"

enum { VERSIONS = 8, ORDERS = 4096, LONGEST = 16 };

/* Bit b of row a: a comes before b. */
typedef struct matrix {
  uint16_t row[BOOK_TXNS];
} matrix;

typedef struct graph {
  matrix ww, wr, rw;
} graph;

/* Versions of a key: the writes (operations) in some order.  The first `fixed` of them stay where they are. */
typedef struct key_order {
  int version[VERSIONS];
  unsigned count, fixed;
} key_order;

/* ---- matrices ---- */

static void relate(matrix *m, unsigned from, unsigned to) {
  if (from != to) m->row[from] |= (uint16_t)(1u << to);
}

static matrix join(const matrix *a, const matrix *b) {
  matrix out;
  for (unsigned i = 0; i < BOOK_TXNS; i++) out.row[i] = a->row[i] | b->row[i];
  return out;
}

static matrix compose(const matrix *a, const matrix *b) {
  matrix out = {{0}};
  for (unsigned i = 0; i < BOOK_TXNS; i++)
    for (unsigned j = 0; j < BOOK_TXNS; j++)
      if ((a->row[i] >> j & 1) != 0) out.row[i] |= b->row[j];
  return out;
}

static matrix close_up(matrix m) {
  for (unsigned k = 0; k < BOOK_TXNS; k++)
    for (unsigned i = 0; i < BOOK_TXNS; i++)
      if ((m.row[i] >> k & 1) != 0) m.row[i] |= m.row[k];
  return m;
}

static bool is_cyclic(const matrix *m) {
  matrix closed = close_up(*m);
  for (unsigned i = 0; i < BOOK_TXNS; i++)
    if ((closed.row[i] >> i & 1) != 0) return true;
  return false;
}

/* ---- models ---- */

uint64_t elle_oracle_implying(uint64_t models) {
  uint64_t out = 0;
  const isoproof_level_info *weak, *strong;
  for (unsigned i = 0; (weak = isoproof_level_at(i)) != NULL; i++) {
    if ((models >> i & 1) == 0) continue;
    for (unsigned k = 0; (strong = isoproof_level_at(k)) != NULL; k++)
      if (strong->family == ISOPROOF_LEVEL_MODEL && isoproof_level_implies(strong, weak)) out |= UINT64_C(1) << k;
  }
  return out;
}

static uint64_t rules_out(const char *code, const char *suffix) {
  char name[64];
  const isoproof_level_info *weakest;
  uint64_t models = 0;
  strcpy(name, code);
  strcat(name, suffix);
  const isoproof_anomaly_info *info = isoproof_anomaly_find(name);
  for (size_t i = 0; info != NULL && (weakest = isoproof_anomaly_rules_out_at(info, i)) != NULL; i++)
    models |= UINT64_C(1) << weakest->number;
  return elle_oracle_implying(models);
}

/* The types of cycles, and what each rules out: plain, with sessions, with real time. */
static const char *const cycle_codes[] = {"G0", "G1c", "G-single-item", "G-nonadjacent-item", "G2-item"};
enum { CYCLES = sizeof cycle_codes / sizeof cycle_codes[0] };

typedef struct tables {
  bool made;
  uint64_t cycle[3][CYCLES];
  uint64_t noncycle[BOOK_ANOMALIES];
  uint64_t all;
} tables;

static const tables *get_tables(void) {
  static const char *const suffixes[] = {"", "-process", "-realtime"};
  static tables t;
  if (t.made) return &t;
  for (unsigned s = 0; s < 3; s++)
    for (unsigned c = 0; c < CYCLES; c++) t.cycle[s][c] = rules_out(cycle_codes[c], suffixes[s]);
  for (unsigned a = 0; a < BOOK_ANOMALIES; a++) t.noncycle[a] = rules_out(book_anomaly_code((book_anomaly)a), "");
  t.all = rules_out("cyclic-versions", "");
  t.made = true;
  return &t;
}

static uint64_t judge_cycles(const graph *g, const matrix *orders, unsigned suffix) {
  const uint64_t *models = get_tables()->cycle[suffix];
  matrix ww = join(&g->ww, orders), data = join(&ww, &g->wr), all = join(&data, &g->rw), closed = close_up(data);
  matrix back = compose(&g->rw, &closed), missed = compose(&data, &g->rw), si = join(&data, &missed);
  uint64_t out = 0;
  bool single = false;
  for (unsigned i = 0; i < BOOK_TXNS; i++) single |= (back.row[i] >> i & 1) != 0;
  if (is_cyclic(&ww)) out |= models[0];
  if (is_cyclic(&data)) out |= models[1];
  if (single) out |= models[2];
  if (is_cyclic(&si)) out |= models[3];
  if (is_cyclic(&all)) out |= models[4];
  return out;
}

/* ---- what is asked ---- */

typedef struct judge {
  book b;
  elle_question q;
  matrix sessions, orders; /* the second one is what is asked for: sessions, or real time with them */
  bool before[BOOK_KEYS][BOOK_OPS + 1][BOOK_OPS + 1]; /* registers: versions that come before others; see version_of */
} judge;

/* A step of a session may be told as one of real time; that is all there is at least. */
static uint64_t judge_graph(const judge *j, const graph *g, bool least) {
  static const matrix none;
  uint64_t out = judge_cycles(g, &none, 0) | judge_cycles(g, &j->orders, j->q.realtime ? 2 : 1);
  return least ? out : out | judge_cycles(g, &j->sessions, 1);
}

static bool ended_before(const isoproof_txn *a, const isoproof_txn *b) {
  return a->status == ISOPROOF_TXN_COMMITTED && a->end < b->start;
}

static void find_orders(judge *j) {
  const book *b = &j->b;
  for (unsigned i = 0; i < b->txns; i++)
    for (unsigned k = 0; k < b->txns; k++) {
      const isoproof_txn *one = &b->txn[i], *two = &b->txn[k];
      if (!b->counts[i] || !b->counts[k] || one->status != ISOPROOF_TXN_COMMITTED) continue;
      if (one->session == two->session && one->index < two->index) relate(&j->sessions, i, k);
      if (j->q.realtime && ended_before(one, two)) relate(&j->orders, i, k);
    }
  j->orders = join(&j->orders, &j->sessions);
}

static bool is_counted_write(const book *b, int op) { return op >= 0 && !b->op[op].reads && b->counts[b->op[op].txn]; }

/* ---- orders, all of them ---- */

static void turn_round(int *versions, unsigned count) {
  for (unsigned a = 0, z = count; a + 1 < z; a++, z--) {
    int swap = versions[a];
    versions[a] = versions[z - 1];
    versions[z - 1] = swap;
  }
}

/* The next permutation of what is not fixed, by the numbers of the operations; false after the last one. */
static bool permute(key_order *o) {
  unsigned i = o->count, k = o->count;
  while (i > o->fixed + 1 && o->version[i - 2] >= o->version[i - 1]) i--;
  if (i < o->fixed + 2) {
    turn_round(o->version + o->fixed, o->count - o->fixed);
    return false;
  }
  while (o->version[k - 1] <= o->version[i - 2]) k--;
  int swap = o->version[i - 2];
  o->version[i - 2] = o->version[k - 1];
  o->version[k - 1] = swap;
  turn_round(o->version + i - 1, o->count - i + 1);
  return true;
}

static bool permute_keys(key_order *orders, unsigned keys) {
  for (unsigned k = 0; k < keys; k++)
    if (permute(&orders[k])) return true;
  return false;
}

static double permutations(const key_order *orders, unsigned keys) {
  double out = 1;
  for (unsigned k = 0; k < keys; k++)
    for (unsigned i = 2; i + orders[k].fixed <= orders[k].count; i++) out *= i;
  return out;
}

/* What all orders show that `allowed` and permutations of what is not fixed give: everything where there is none.  Ends
 * once nothing is left beyond `floor`. */
static uint64_t in_every_order(const judge *j, key_order *orders, uint64_t floor,
                               bool (*allowed)(const judge *, const key_order *),
                               void (*make)(const judge *, const key_order *, graph *)) {
  uint64_t common = get_tables()->all;
  do {
    graph g;
    if (!allowed(j, orders)) continue;
    make(j, orders, &g);
    common &= judge_graph(j, &g, false);
  } while ((common & ~floor) != 0 && permute_keys(orders, j->b.keys));
  return common;
}

/* ---- lists ---- */

/* The longest reads of a key, no two of them the same. */
static unsigned longest_reads(const book *b, unsigned key, const book_op *out[LONGEST]) {
  unsigned length = 0, count = 0;
  for (unsigned i = 0; i < b->ops; i++)
    if (b->op[i].reads && b->op[i].key == key && b->counts[b->op[i].txn] && b->op[i].elements > length)
      length = b->op[i].elements;
  for (unsigned i = 0; length > 0 && i < b->ops && count < LONGEST; i++) {
    const book_op *op = &b->op[i];
    bool fits = op->reads && op->key == key && b->counts[op->txn] && op->elements == length;
    for (unsigned k = 0; fits && k < count; k++)
      if (memcmp(op->element, out[k]->element, length * sizeof *op->element) == 0) fits = false;
    if (fits) out[count++] = op;
  }
  return count;
}

/* The appends of a longest read, then all others; false when those are too many. */
static bool order_list(const book *b, unsigned key, const book_op *longest, key_order *out) {
  *out = (key_order){.count = 0};
  for (unsigned i = 0; longest != NULL && i < longest->elements; i++) {
    int op = book_writer(b, key, longest->element[i]);
    bool again = false;
    for (unsigned k = 0; k < out->count; k++) again |= out->version[k] == op;
    if (!again && is_counted_write(b, op) && out->count < VERSIONS) out->version[out->count++] = op;
  }
  out->fixed = out->count;
  for (unsigned i = 0; i < b->ops; i++) {
    bool again = !is_counted_write(b, (int)i) || b->op[i].key != key;
    for (unsigned k = 0; k < out->fixed; k++) again |= out->version[k] == (int)i;
    if (again) continue;
    if (out->count == VERSIONS) return false;
    out->version[out->count++] = (int)i;
  }
  return true;
}

static bool any_order(const judge *j, const key_order *orders) {
  (void)j, (void)orders;
  return true;
}

/* Who saw what, and who missed what comes after the last element that it saw. */
static void list_read(const judge *j, const book_op *op, const key_order *order, graph *g) {
  const book *b = &j->b;
  unsigned place = 0;
  for (unsigned i = op->elements; i-- > 0;) {
    int from = book_writer(b, op->key, op->element[i]);
    if (!is_counted_write(b, from) || b->op[from].txn == op->txn) continue;
    relate(&g->wr, b->op[from].txn, op->txn);
    while (place < order->count && order->version[place] != from) place++;
    place++;
    break;
  }
  for (; place < order->count; place++) {
    const book_op *write = &b->op[order->version[place]];
    if (!book_shows(op, write->value)) relate(&g->rw, op->txn, write->txn);
  }
}

static void list_graph(const judge *j, const key_order *orders, graph *g) {
  const book *b = &j->b;
  memset(g, 0, sizeof *g);
  for (unsigned k = 0; k < b->keys; k++)
    for (unsigned i = 1; i < orders[k].count; i++)
      relate(&g->ww, b->op[orders[k].version[i - 1]].txn, b->op[orders[k].version[i]].txn);
  for (unsigned i = 0; i < b->ops; i++)
    if (b->op[i].reads && b->op[i].known && b->counts[b->op[i].txn]) list_read(j, &b->op[i], &orders[b->op[i].key], g);
}

/* What is between neighbours of the longest read alone, as Elle has it: an element of somebody who does not count
 * separates, what is not shown comes after the last element, and readers stand by the last element they saw.  A write
 * that the read shows was not missed, whatever the longest read says. */
static void published_list(const judge *j, unsigned key, const book_op *longest, graph *g) {
  const book *b = &j->b;
  unsigned length = longest != NULL ? longest->elements : 0;
  for (unsigned w = 0; w < b->ops; w++) {
    if (!is_counted_write(b, (int)w) || b->op[w].key != key) continue;
    unsigned place = 0;
    while (place < length && longest->element[place] != b->op[w].value) place++;
    bool first = place == 0;
    int64_t previous = first ? BOOK_NIL : longest->element[place - 1];
    int from = first ? -1 : book_writer(b, key, previous);
    if (is_counted_write(b, from)) relate(&g->ww, b->op[from].txn, b->op[w].txn);
    for (unsigned r = 0; r < b->ops; r++) {
      const book_op *read = &b->op[r];
      if (!read->reads || !read->known || read->key != key || !b->counts[read->txn]) continue;
      int64_t last = read->elements > 0 ? read->element[read->elements - 1] : BOOK_NIL;
      if (last == previous && !book_shows(read, b->op[w].value)) relate(&g->rw, read->txn, b->op[w].txn);
      if (last == b->op[w].value) relate(&g->wr, b->op[w].txn, read->txn);
    }
  }
}

static bool judge_lists(judge *j, elle_bounds *out) {
  const book *b = &j->b;
  const book_op *longest[BOOK_KEYS][LONGEST];
  unsigned count[BOOK_KEYS], choice[BOOK_KEYS] = {0};
  double choices = 1;
  for (unsigned k = 0; k < b->keys; k++) {
    count[k] = longest_reads(b, k, longest[k]);
    choices *= count[k] > 0 ? count[k] : 1;
  }
  for (;;) {
    key_order orders[BOOK_KEYS];
    graph g;
    memset(&g, 0, sizeof g);
    for (unsigned k = 0; k < b->keys; k++) {
      const book_op *one = count[k] > 0 ? longest[k][choice[k]] : NULL;
      if (!order_list(b, k, one, &orders[k])) return false;
      published_list(j, k, one, &g);
    }
    if (permutations(orders, b->keys) * choices > ORDERS) return false;
    out->least |= judge_graph(j, &g, true);
    out->most |= in_every_order(j, orders, out->least, any_order, list_graph);
    unsigned k = 0;
    while (k < b->keys && ++choice[k] >= (count[k] > 0 ? count[k] : 1)) choice[k++] = 0;
    if (k == b->keys) return true;
  }
}

/* ---- registers ---- */

/* Versions of a key are named by operations: the write, or the first read of a value that nobody installed. */
static int version_of(const book *b, unsigned key, int64_t value) {
  int writer = book_writer(b, key, value);
  if (writer >= 0) return writer;
  for (unsigned i = 0; i < b->ops; i++)
    if (b->op[i].reads && b->op[i].known && b->op[i].key == key && b->op[i].value == value) return (int)i;
  return -1;
}

/* What a transaction found of a key before it wrote it, and what it installed: -1 nothing; nil is version BOOK_OPS. */
static int version_found(const book *b, unsigned txn, unsigned key) {
  for (unsigned i = b->first_op[txn]; i < b->first_op[txn + 1]; i++) {
    if (b->op[i].key != key || !b->op[i].known) continue;
    if (!b->op[i].reads) return -1;
    return b->op[i].value == BOOK_NIL ? BOOK_OPS : version_of(b, key, b->op[i].value);
  }
  return -1;
}

static int version_installed(const book *b, unsigned txn, unsigned key) {
  for (unsigned i = b->first_op[txn + 1]; i-- > b->first_op[txn];)
    if (!b->op[i].reads && b->op[i].key == key) return (int)i;
  return -1;
}

static void put_before(judge *j, unsigned key, int a, int b) {
  if (a >= 0 && b >= 0 && a != b) j->before[key][a][b] = true;
}

/* Assumptions about a key: what one transaction left behind is not after what another one finds. */
static void assume(judge *j, unsigned key) {
  const book *b = &j->b;
  for (unsigned t = 0; t < b->txns; t++) {
    int found = version_found(b, t, key), installed = version_installed(b, t, key);
    if (!b->counts[t]) continue;
    put_before(j, key, BOOK_OPS, found);
    put_before(j, key, BOOK_OPS, installed);
    if (j->q.wfr) put_before(j, key, found, installed);
    int left = installed >= 0 ? installed : found;
    for (unsigned u = 0; u < b->txns; u++) {
      const isoproof_txn *one = &b->txn[t], *two = &b->txn[u];
      bool session = j->q.sequential && one->session == two->session && one->index < two->index;
      if (!b->counts[u] || one->status != ISOPROOF_TXN_COMMITTED) continue;
      if (!session && !(j->q.linear && ended_before(one, two))) continue;
      put_before(j, key, left, version_found(b, u, key));
      put_before(j, key, left, version_installed(b, u, key));
    }
  }
  for (unsigned i = 0; j->q.order != NULL && i < b->txns; i++)
    for (unsigned k = i + 1; k < b->txns; k++) {
      unsigned one = (unsigned)j->q.order[i], two = (unsigned)j->q.order[k];
      if (!b->counts[one] || !b->counts[two]) continue;
      put_before(j, key, version_installed(b, one, key), version_installed(b, two, key));
    }
}

static bool registers_allowed(const judge *j, const key_order *orders) {
  for (unsigned k = 0; k < j->b.keys; k++)
    for (unsigned a = 0; a < orders[k].count; a++) {
      if (j->before[k][orders[k].version[a]][BOOK_OPS]) return false;
      for (unsigned z = a + 1; z < orders[k].count; z++)
        if (j->before[k][orders[k].version[z]][orders[k].version[a]]) return false;
    }
  return true;
}

/* Who installed a version; -1 nobody who counts. */
static int maker_of(const book *b, unsigned key, int version) {
  if (version < 0 || version >= BOOK_OPS || !is_counted_write(b, version)) return -1;
  return version_installed(b, b->op[version].txn, key) == version ? (int)b->op[version].txn : -1;
}

static void before_writer(const book *b, unsigned key, int version, int later, graph *g) {
  int writer = maker_of(b, key, later), maker = maker_of(b, key, version);
  if (writer < 0) return;
  if (maker >= 0) relate(&g->ww, (unsigned)maker, (unsigned)writer);
  for (unsigned t = 0; t < b->txns; t++)
    if (b->counts[t] && version_found(b, t, key) == version) relate(&g->rw, t, (unsigned)writer);
}

static void read_from(const book *b, graph *g) {
  for (unsigned k = 0; k < b->keys; k++)
    for (unsigned t = 0; t < b->txns; t++) {
      int maker = b->counts[t] ? maker_of(b, k, version_found(b, t, k)) : -1;
      if (maker >= 0) relate(&g->wr, (unsigned)maker, t);
    }
}

static void register_graph(const judge *j, const key_order *orders, graph *g) {
  memset(g, 0, sizeof *g);
  read_from(&j->b, g);
  for (unsigned k = 0; k < j->b.keys; k++)
    for (unsigned z = 0; z < orders[k].count; z++) {
      before_writer(&j->b, k, BOOK_OPS, orders[k].version[z], g);
      for (unsigned a = 0; a < z; a++) before_writer(&j->b, k, orders[k].version[a], orders[k].version[z], g);
    }
}

/* The versions of a key: what was installed, and what else was found. */
static bool find_versions(const book *b, unsigned key, key_order *out) {
  *out = (key_order){.count = 0};
  for (int v = 0; v < (int)b->ops; v++) {
    bool is_version = maker_of(b, key, v) >= 0 && b->op[v].key == key;
    for (unsigned t = 0; t < b->txns; t++) is_version |= b->counts[t] && version_found(b, t, key) == v;
    if (!is_version) continue;
    if (out->count == VERSIONS) return false;
    out->version[out->count++] = v;
  }
  return true;
}

/* A key whose versions contradict themselves is told as such, and says nothing more. */
static bool is_key_cyclic(const judge *j, unsigned key) {
  bool reach[BOOK_OPS + 1][BOOK_OPS + 1];
  unsigned ops = j->b.ops;
  memcpy(reach, j->before[key], sizeof reach);
  for (unsigned a = 0; a < ops; a++)
    if (reach[a][BOOK_OPS]) return true; /* nothing comes before nil */
  for (unsigned k = 0; k < ops; k++)
    for (unsigned a = 0; a < ops; a++)
      for (unsigned z = 0; reach[a][k] && z < ops; z++) reach[a][z] |= reach[k][z];
  for (unsigned a = 0; a < ops; a++)
    if (reach[a][a]) return true;
  return false;
}

static void published_registers(const judge *j, elle_bounds *out) {
  graph g;
  memset(&g, 0, sizeof g);
  read_from(&j->b, &g);
  for (unsigned k = 0; k < j->b.keys; k++) {
    if (is_key_cyclic(j, k)) {
      out->least |= get_tables()->all;
      continue;
    }
    for (int a = 0; a <= BOOK_OPS; a++)
      for (int z = 0; z < BOOK_OPS; z++)
        if (j->before[k][a][z]) before_writer(&j->b, k, a, z, &g);
  }
  out->least |= judge_graph(j, &g, true);
}

static bool judge_registers(judge *j, elle_bounds *out) {
  key_order orders[BOOK_KEYS];
  for (unsigned k = 0; k < j->b.keys; k++) {
    if (!find_versions(&j->b, k, &orders[k])) return false;
    assume(j, k);
  }
  if (permutations(orders, j->b.keys) > ORDERS) return false;
  published_registers(j, out);
  out->most |= in_every_order(j, orders, out->least, registers_allowed, register_graph);
  return true;
}

bool elle_oracle_judge(const isoproof_history *history, const elle_question *question, elle_bounds *out) {
  static judge j; /* large */
  memset(&j, 0, sizeof j);
  memset(out, 0, sizeof *out);
  j.q = *question;
  if (!book_load(history, &j.b)) return false;
  unsigned found = book_anomalies(&j.b, question->lists);
  if (!question->lists) found &= ~(1u << BOOK_GARBAGE); /* registers may have had values before */
  for (unsigned a = 0; a < BOOK_ANOMALIES; a++)
    if ((found >> a & 1) != 0) out->least |= get_tables()->noncycle[a];
  out->most = out->least;
  out->lost_update = (found >> BOOK_LOST_UPDATE & 1) != 0;
  find_orders(&j);
  return question->lists ? judge_lists(&j, out) : judge_registers(&j, out);
}
