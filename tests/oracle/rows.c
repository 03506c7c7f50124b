/* Judges histories of rows by trying every choice of the versions that reads observed. */
#include "tests/oracle/rows.h"

#include <string.h>

#include "tests/oracle/facts.h"

enum { NOBODY = FACTS_NODES, CHOICES = 4 * ROWS_TXNS };
enum { GAPS = ROWS_TXNS * ROWS_OPS * ROWS_KEYS, FIRST_BUDGET = 300, LAST_BUDGET = 1 << 20 };

/* ---- rows and predicates ---- */

static const struct {
  const char *name;
  bool writes;
} op_kinds[] = {
#define ROW_X(name, text, writes) {text, writes},
    ROW_OP_LIST(ROW_X)
#undef ROW_X
};

bool row_op_writes(row_op_kind kind) { return op_kinds[kind].writes; }
const char *row_op_name(row_op_kind kind) { return op_kinds[kind].name; }

bool row_covers(const row_predicate *p, int64_t key) {
  return !p->of_keys || (key >= p->key_low && key <= p->key_high);
}

bool row_matches(const row_predicate *p, int64_t key, row_value value) {
  if (!value.present || !row_covers(p, key)) return false;
  if (p->of_values && (value.value < p->value_low || value.value > p->value_high)) return false;
  if (!p->of_rest) return true;
  int64_t rest = value.value % p->divisor;
  return (rest < 0 ? rest + p->divisor : rest) == p->rest;
}

const row_op *row_own_write(const row_txn *txn, unsigned row, unsigned before) {
  while (before-- > 0)
    if (row_op_writes(txn->ops[before].kind) && txn->ops[before].row == row) return &txn->ops[before];
  return NULL;
}

/* ---- what has to be chosen ---- */

/* A version that a read may have observed: who wrote it, whether it matches the predicate of a count, and whether it is
 * an anomaly to observe it: one of an aborted transaction, one that its writer overwrote, one that the reader writes
 * later, any but its own last one where the reader wrote the row before.
 * Levels forbid that, but for cut isolation, which only asks from which others a row was read. */
typedef struct choice {
  unsigned writer; /* NOBODY where it is no other transaction that took effect */
  bool matches, dirty;
} choice;

/* One observation whose version is not known. */
typedef struct gap {
  unsigned reader, row, position;
  int tally; /* of the count that it belongs to; -1 for none */
  choice choices[CHOICES];
  unsigned count;
  unsigned weight; /* how often it was in the way */
} gap;

/* A count: how many of its rows must still match, and how many are still to be chosen. */
typedef struct tally {
  int missing;
  unsigned open;
} tally;

typedef struct puzzle {
  const row_history *h;
  uint32_t in_effect; /* transactions */
  unsigned node[ROWS_TXNS];
  facts f;
  gap gaps[GAPS];
  unsigned gap_count;
  tally tallies[ROWS_TXNS * ROWS_OPS];
  unsigned tally_count;
  bool broken;     /* something is wrong within a transaction, whatever is chosen */
  bool impossible; /* somebody read from an unknown transaction that is taken for one without effect */
} puzzle;

static bool in_effect(const puzzle *p, unsigned txn) { return (p->in_effect >> txn & 1) != 0; }
static bool is_aborted(const puzzle *p, unsigned txn) { return p->h->txns[txn].status == ISOPROOF_TXN_ABORTED; }

/* ---- observations of versions that are known ---- */

static void add_read(facts *f, unsigned reader, unsigned writer, unsigned row, unsigned position) {
  f->reads[f->read_count++] = (external_read){reader, writer, row, position};
  if (writer != 0) f->wr.row[writer] |= 1u << reader;
}

static bool same(row_value a, row_value b) { return a.present == b.present && (!a.present || a.value == b.value); }

/* The value was returned: its writer is known, as values of a row are unique. */
static void observe_value(puzzle *p, unsigned txn, unsigned position, unsigned row, row_value value) {
  const row_op *own = row_own_write(&p->h->txns[txn], row, position);
  if (same(p->h->initial[row], value)) {
    p->broken |= own != NULL;
    add_read(&p->f, p->node[txn], 0, row, position);
    return;
  }
  for (unsigned t = 0; t < p->h->count; t++) {
    const row_txn *source = &p->h->txns[t];
    for (unsigned i = 0; i < source->count; i++) {
      const row_op *write = &source->ops[i];
      if (!row_op_writes(write->kind) || write->row != row || !same(write->value, value)) continue;
      if (t == txn) {
        p->broken |= write != own; /* a later one, or one that it has overwritten itself */
        return;
      }
      p->broken |= own != NULL || is_aborted(p, t) || write != row_own_write(source, row, source->count);
      if (is_aborted(p, t)) return;
      if (in_effect(p, t))
        add_read(&p->f, p->node[txn], p->node[t], row, position);
      else
        p->impossible = true;
      return;
    }
  }
  p->broken = true; /* nobody wrote it */
}

/* ---- observations of versions that are not known ---- */

static gap *new_gap(puzzle *p, unsigned txn, unsigned position, unsigned row, int of_tally) {
  gap *g = &p->gaps[p->gap_count];
  *g = (gap){.reader = p->node[txn], .row = row, .position = position, .tally = of_tally};
  return g;
}

static void add_choice(gap *g, choice added) {
  for (unsigned i = 0; i < g->count; i++) {
    const choice *c = &g->choices[i];
    if (c->writer == added.writer && c->matches == added.matches && c->dirty == added.dirty) return;
  }
  g->choices[g->count++] = added;
}

/* Whether an absent row, or one that does not match, can be this version. */
static bool fits(const puzzle *p, const row_predicate *predicate, unsigned row, row_value version) {
  return !version.present || (predicate != NULL && !row_matches(predicate, p->h->keys[row], version));
}

/* What a read may have observed of a row: any version, that matches or does not, as is asked for.  `possible` learns of
 * those, too, of unknown transactions that are taken for ones without effect. */
static void list_choices(const puzzle *p, unsigned txn, const row_predicate *predicate, const bool asked[2], gap *g,
                         bool possible[2]) {
  const row_op *own = row_own_write(&p->h->txns[txn], g->row, g->position);
  bool first = !fits(p, predicate, g->row, p->h->initial[g->row]);
  possible[first] = true;
  if (asked[first]) add_choice(g, (choice){0, first, own != NULL});
  for (unsigned t = 0; t < p->h->count; t++) {
    const row_txn *source = &p->h->txns[t];
    for (unsigned i = 0; i < source->count; i++) {
      const row_op *write = &source->ops[i];
      if (!row_op_writes(write->kind) || write->row != g->row) continue;
      bool matches = !fits(p, predicate, g->row, write->value), nobody = t == txn || is_aborted(p, t);
      bool last = write == row_own_write(source, g->row, source->count);
      bool dirty = own != NULL ? write != own : nobody || !last;
      possible[matches] = true;
      if (asked[matches] && (nobody || in_effect(p, t)))
        add_choice(g, (choice){nobody ? NOBODY : p->node[t], matches, dirty});
    }
  }
}

/* The row was not returned, or found absent (no predicate). */
static void observe_gap(puzzle *p, unsigned txn, unsigned position, unsigned row, const row_predicate *predicate) {
  static const bool asked[2] = {[false] = true, [true] = false};
  const row_op *own = row_own_write(&p->h->txns[txn], row, position);
  bool possible[2] = {false, false}, clean = false;
  if (own != NULL && fits(p, predicate, row, own->value)) return;
  gap *g = new_gap(p, txn, position, row, -1);
  list_choices(p, txn, predicate, asked, g, possible);
  for (unsigned i = 0; i < g->count; i++) clean |= !g->choices[i].dirty;
  p->broken |= !clean;
  p->impossible |= g->count == 0 && possible[false];
  p->gap_count += g->count > 0; /* without any nobody wrote it */
}

static void observe_count(puzzle *p, unsigned txn, unsigned position, const row_op *op) {
  static const bool asked[2] = {true, true};
  unsigned first = p->gap_count, least = 0, most = 0;
  tally *sum = &p->tallies[p->tally_count];
  *sum = (tally){(int)op->counted, 0};
  for (unsigned row = 0; row < p->h->rows; row++) {
    bool possible[2] = {false, false};
    if (!row_covers(&op->predicate, p->h->keys[row])) continue;
    list_choices(p, txn, &op->predicate, asked, new_gap(p, txn, position, row, (int)p->tally_count), possible);
    p->gap_count++;
    sum->open++;
    least += !possible[false];
    most += possible[true];
  }
  if (sum->missing >= (int)least && sum->missing <= (int)most) {
    p->tally_count++;
  } else {
    p->broken = true; /* no versions that there are add up to this */
    p->gap_count = first;
  }
}

/* ---- the puzzle ---- */

static void observe(puzzle *p, unsigned txn, unsigned position) {
  static const row_value absent = {false, 0};
  const row_op *op = &p->h->txns[txn].ops[position];
  if (row_op_writes(op->kind)) {
    p->f.writers[op->row] |= 1u << p->node[txn];
  } else if (!op->answered) {
    return;
  } else if (op->kind == ROW_COUNT && op->counted > 0) {
    observe_count(p, txn, position, op);
  } else if (op->kind == ROW_SELECT || op->kind == ROW_COUNT) { /* a count of 0 returns nothing, row by row */
    for (unsigned row = 0; row < p->h->rows; row++) {
      if (op->rows[row].present)
        observe_value(p, txn, position, row, op->rows[row]);
      else if (row_covers(&op->predicate, p->h->keys[row]))
        observe_gap(p, txn, position, row, &op->predicate);
    }
  } else {
    row_value seen = op->kind == ROW_READ ? op->value : absent;
    if (seen.present)
      observe_value(p, txn, position, op->row, seen);
    else
      observe_gap(p, txn, position, op->row, NULL);
  }
}

static void order_nodes(puzzle *p) {
  for (unsigned a = 0; a < p->h->count; a++) {
    for (unsigned b = 0; b < p->h->count; b++) {
      const row_txn *first = &p->h->txns[a], *second = &p->h->txns[b];
      if (!in_effect(p, a) || !in_effect(p, b)) continue;
      if (a < b && first->session == second->session) p->f.so.row[p->node[a]] |= 1u << p->node[b];
      /* When a transaction of unknown outcome committed, nobody knows. */
      if (p->h->timed && first->status == ISOPROOF_TXN_COMMITTED && first->end < second->start)
        p->f.rt.row[p->node[a]] |= 1u << p->node[b];
    }
  }
}

static void make_puzzle(puzzle *p, const row_history *h, uint32_t effective) {
  p->h = h;
  p->in_effect = effective;
  p->gap_count = p->tally_count = 0;
  p->broken = p->impossible = false;
  memset(&p->f, 0, sizeof p->f);
  p->f.keys = h->rows;
  p->f.nodes = 1;
  for (unsigned t = 0; t < h->count; t++)
    if (in_effect(p, t)) p->node[t] = p->f.nodes++;
  order_nodes(p);
  for (unsigned t = 0; t < h->count; t++)
    for (unsigned i = 0; in_effect(p, t) && i < h->txns[t].count; i++) observe(p, t, i);
}

/* ---- the search ---- */

typedef struct search {
  puzzle *p;
  oracle_level level;
  const mixed_level *own; /* by node, where each transaction is held to a level of its own */
  unsigned order[GAPS];
  unsigned picked[GAPS], hint[GAPS]; /* numbers of choices, by gap */
  bool hinted;
  uint64_t steps, budget;
} search;

static bool judge(const search *s) {
  return s->own != NULL ? mixed_judge_facts(&s->p->f, s->own) : oracle_judge_facts(&s->p->f, s->level);
}

/* Whether the last read keeps to the rule that a transaction reads a row from one other only. */
static bool is_repeatable(const facts *f) {
  const external_read *last = &f->reads[f->read_count - 1];
  for (unsigned i = 0; i + 1 < f->read_count; i++) {
    const external_read *read = &f->reads[i];
    if (read->reader == last->reader && read->key == last->key && read->writer != last->writer) return false;
  }
  return true;
}

static bool pick(search *s, gap *g, unsigned number) {
  const choice *c = &g->choices[number];
  s->picked[g - s->p->gaps] = number;
  if (c->writer != NOBODY) add_read(&s->p->f, g->reader, c->writer, g->row, g->position);
  if (g->tally >= 0) {
    tally *sum = &s->p->tallies[g->tally];
    sum->missing -= c->matches;
    sum->open--;
    if (sum->missing < 0 || sum->missing > (int)sum->open) return false;
  }
  if (c->dirty && s->level != ORACLE_CUT_ISOLATION) return false;
  return c->writer == NOBODY || !oracle_needs_repeatable_reads(s->level) || is_repeatable(&s->p->f);
}

static void take_back(search *s, gap *g, const relation *wr) {
  const choice *c = &g->choices[s->picked[g - s->p->gaps]];
  s->p->f.read_count -= c->writer != NOBODY;
  s->p->f.wr = *wr;
  if (g->tally < 0) return;
  s->p->tallies[g->tally].missing += c->matches;
  s->p->tallies[g->tally].open++;
}

typedef enum found { NO, YES, GAVE_UP } found;

static found choose(search *s, unsigned depth) {
  if (depth == s->p->gap_count) return YES;
  gap *g = &s->p->gaps[s->order[depth]];
  relation wr = s->p->f.wr;
  for (unsigned i = 0; i < g->count; i++) {
    if (s->steps++ >= s->budget) return GAVE_UP;
    found result = NO;
    if (pick(s, g, i) && judge(s)) result = choose(s, depth + 1);
    take_back(s, g, &wr);
    if (result != NO) return result;
  }
  g->weight++;
  return NO;
}

/* What satisfied another level may satisfy this one. */
static bool hint_holds(search *s) {
  relation wr = s->p->f.wr;
  unsigned done = 0;
  bool fine = true;
  for (; done < s->p->gap_count && fine; done++) fine = pick(s, &s->p->gaps[done], s->hint[done]);
  fine = fine && judge(s);
  while (done-- > 0) take_back(s, &s->p->gaps[done], &wr);
  return fine;
}

/* Those that were in the way most often come first; else those with few choices. */
static void sort_gaps(search *s) {
  for (unsigned i = 0; i < s->p->gap_count; i++) {
    unsigned at = i;
    for (; at > 0; at--) {
      const gap *before = &s->p->gaps[s->order[at - 1]], *g = &s->p->gaps[i];
      if (before->weight > g->weight || (before->weight == g->weight && before->count <= g->count)) break;
      s->order[at] = s->order[at - 1];
    }
    s->order[at] = i;
  }
}

static bool known_reads_hold(const search *s) {
  facts *f = &s->p->f;
  unsigned all = f->read_count;
  bool fine = true;
  for (f->read_count = 1; f->read_count <= all && fine && oracle_needs_repeatable_reads(s->level); f->read_count++)
    fine = is_repeatable(f);
  f->read_count = all;
  return fine && judge(s);
}

static found search_level(search *s, oracle_level level) {
  s->level = level;
  if (s->p->broken && level != ORACLE_CUT_ISOLATION) return NO;
  if (!known_reads_hold(s)) return NO;
  if (s->hinted && hint_holds(s)) return YES;
  for (unsigned i = 0; i < s->p->gap_count; i++) s->p->gaps[i].weight = 0;
  for (s->budget = FIRST_BUDGET; s->budget <= LAST_BUDGET; s->budget *= 4) {
    s->steps = 0;
    sort_gaps(s);
    found result = choose(s, 0);
    if (result == YES) {
      memcpy(s->hint, s->picked, sizeof s->hint);
      s->hinted = true;
    }
    if (result != GAVE_UP) return result;
  }
  return GAVE_UP;
}

static bool judge_effects(puzzle *p, bool satisfied[ORACLE_LEVELS]) {
  search s = {.p = p};
  /* Strong levels first: what satisfies them is a good guess for the others. */
  for (int l = ORACLE_LEVELS; l-- > 0;) {
    if (satisfied[l]) continue;
    found result = search_level(&s, (oracle_level)l);
    if (result == GAVE_UP) return false;
    satisfied[l] = result == YES;
  }
  return true;
}

/* Read committed is the least that levels of transactions ask; the rest is what their axioms say. */
static bool judge_own_levels(puzzle *p, const row_history *h, bool *satisfied) {
  mixed_level own[FACTS_NODES] = {MIXED_NONE};
  for (unsigned t = 0; t < h->count; t++)
    if (in_effect(p, t)) own[p->node[t]] = h->txns[t].level;
  search s = {.p = p, .own = own};
  found result = *satisfied ? YES : search_level(&s, ORACLE_READ_COMMITTED);
  *satisfied = result == YES;
  return result != GAVE_UP;
}

/* `levels` is NULL where each transaction is held to its own. */
static bool judge_all(const row_history *h, bool *levels, bool *own) {
  static const puzzle empty;
  puzzle p = empty;
  uint32_t committed = 0, unknown = 0;
  for (unsigned t = 0; t < h->count && t < ROWS_TXNS; t++) {
    if (h->txns[t].status == ISOPROOF_TXN_COMMITTED) committed |= 1u << t;
    if (h->txns[t].status == ISOPROOF_TXN_UNKNOWN) unknown |= 1u << t;
  }
  /* Any of the unknown ones may have taken effect. */
  for (uint32_t some = unknown;; some = (some - 1) & unknown) {
    make_puzzle(&p, h, committed | some);
    bool done = p.impossible || (levels != NULL ? judge_effects(&p, levels) : judge_own_levels(&p, h, own));
    if (!done) return false;
    if (some == 0) return true;
  }
}

bool rows_judge(const row_history *h, bool satisfied[ORACLE_LEVELS]) {
  memset(satisfied, 0, ORACLE_LEVELS * sizeof *satisfied);
  return judge_all(h, satisfied, NULL);
}

bool rows_judge_mixed(const row_history *h, bool *satisfied) {
  *satisfied = false;
  return judge_all(h, NULL, satisfied);
}
