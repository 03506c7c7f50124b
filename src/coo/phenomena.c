/* phenomena.c - Adya's phenomena of a schedule: dependencies between its committed transactions, and their cycles, on
 * sets of transactions as bits.
 *
 * The versions of an object are installed in the order of the last writes of the transactions that committed.
 */
#include "coo/schedule.h"

enum { TXNS = ISOPROOF_SCHEDULE_TXNS };

/* Bit j of x[i]: transaction j depends on transaction i in that way. */
typedef struct dependencies {
  uint64_t ww[TXNS], wr[TXNS], rw[TXNS];
  uint32_t txns;
  bool aborted_read, intermediate_read;
} dependencies;

static uint64_t bit(uint32_t txn) { return UINT64_C(1) << txn; }

static bool is_committed(const isoproof_schedule *schedule, uint32_t txn) {
  uint32_t end = schedule->end[txn];
  return end != ISO_NO_STEP && schedule->steps[end].kind == ISOPROOF_STEP_COMMIT;
}

static bool is_aborted(const isoproof_schedule *schedule, uint32_t txn) {
  uint32_t end = schedule->end[txn];
  return end != ISO_NO_STEP && schedule->steps[end].kind == ISOPROOF_STEP_ABORT;
}

/* Whether no later write of the transaction replaces the one at `step`. */
static bool is_last(const isoproof_schedule *schedule, uint32_t step) {
  const isoproof_schedule_step *s = schedule->steps;
  for (uint32_t i = step + 1; i < schedule->step_count; i++) {
    if (s[i].kind == ISOPROOF_STEP_WRITE && s[i].txn == s[step].txn && s[i].object == s[step].object) return false;
  }
  return true;
}

/* The transaction that installed the first version of the object above `version`; TXNS when none did. */
static uint32_t next_writer(const isoproof_schedule *schedule, uint32_t object, uint32_t version) {
  for (uint32_t i = 0; i < schedule->step_count; i++) {
    const isoproof_schedule_step *s = &schedule->steps[i];
    if (s->kind != ISOPROOF_STEP_WRITE || s->object != object || s->version <= version) continue;
    if (is_committed(schedule, s->txn) && is_last(schedule, i)) return s->txn;
  }
  return TXNS;
}

static void add_read(const isoproof_schedule *schedule, const isoproof_schedule_step *read, dependencies *d) {
  uint32_t from = iso_schedule_writer(schedule, read->object, read->version);
  uint32_t writer = from != ISO_NO_STEP ? schedule->steps[from].txn : TXNS;
  if (writer == read->txn) return;
  if (writer < TXNS && is_aborted(schedule, writer)) {
    d->aborted_read = true;
    return;
  }
  if (writer < TXNS && !is_last(schedule, from)) {
    d->intermediate_read = true;
    return;
  }
  if (writer < TXNS && is_committed(schedule, writer)) d->wr[writer] |= bit(read->txn);
  uint32_t next = next_writer(schedule, read->object, read->version);
  if (next < TXNS && next != read->txn) d->rw[read->txn] |= bit(next);
}

static void add_write(const isoproof_schedule *schedule, uint32_t step, dependencies *d) {
  const isoproof_schedule_step *write = &schedule->steps[step];
  if (!is_last(schedule, step)) return;
  uint32_t next = next_writer(schedule, write->object, write->version);
  if (next < TXNS && next != write->txn) d->ww[write->txn] |= bit(next);
}

static void find_dependencies(const isoproof_schedule *schedule, dependencies *d) {
  *d = (dependencies){.txns = schedule->txn_count};
  for (uint32_t i = 0; i < schedule->step_count; i++) {
    const isoproof_schedule_step *s = &schedule->steps[i];
    if (!is_committed(schedule, s->txn)) continue;
    if (s->kind == ISOPROOF_STEP_READ) add_read(schedule, s, d);
    if (s->kind == ISOPROOF_STEP_WRITE) add_write(schedule, i, d);
  }
}

/* ---- reachability ---- */

/* What a step along `edges` reaches from a set of transactions. */
static uint64_t step_from(uint64_t set, const uint64_t *edges, uint32_t txns) {
  uint64_t reached = 0;
  for (uint32_t i = 0; i < txns; i++) {
    if ((set >> i & 1) != 0) reached |= edges[i];
  }
  return reached;
}

static uint64_t reach(uint32_t start, const uint64_t *edges, uint32_t txns) {
  uint64_t reached = 0, grown = edges[start];
  while (grown != reached) {
    reached = grown;
    grown |= step_from(reached, edges, txns);
  }
  return reached;
}

/* What can be reached, after an anti-dependency that led to `start`, along paths that have no two anti-dependencies in
 * a row and end with another dependency. */
static uint64_t reach_apart(uint32_t start, const uint64_t *plain, const uint64_t *anti, uint32_t txns) {
  uint64_t after_plain = 0, after_anti = bit(start), before_plain, before_anti;
  do {
    before_plain = after_plain;
    before_anti = after_anti;
    after_plain |= step_from(after_plain | after_anti, plain, txns);
    after_anti |= step_from(after_plain, anti, txns);
  } while (after_plain != before_plain || after_anti != before_anti);
  return after_plain;
}

typedef struct phenomena {
  bool g0, g1a, g1b, g1c, single, nonadjacent, item;
} phenomena;

/* What closes behind the anti-dependencies of one transaction: the most specific name for each. */
static void judge_anti(const dependencies *d, const uint64_t *plain, const uint64_t *all, uint32_t from, phenomena *p) {
  for (uint32_t to = 0; to < d->txns; to++) {
    if ((d->rw[from] >> to & 1) == 0) continue;
    if ((reach(to, plain, d->txns) >> from & 1) != 0)
      p->single = true;
    else if ((reach_apart(to, plain, d->rw, d->txns) >> from & 1) != 0)
      p->nonadjacent = true;
    else if ((reach(to, all, d->txns) >> from & 1) != 0)
      p->item = true;
  }
}

static phenomena find_phenomena(const isoproof_schedule *schedule) {
  dependencies d;
  uint64_t plain[TXNS] = {0}, all[TXNS] = {0};
  find_dependencies(schedule, &d);
  phenomena p = {.g1a = d.aborted_read, .g1b = d.intermediate_read};
  for (uint32_t i = 0; i < d.txns; i++) {
    plain[i] = d.ww[i] | d.wr[i];
    all[i] = plain[i] | d.rw[i];
  }
  for (uint32_t i = 0; i < d.txns; i++) {
    if ((reach(i, d.ww, d.txns) >> i & 1) != 0) p.g0 = true;
    for (uint32_t k = 0; k < d.txns; k++) {
      if ((d.wr[i] >> k & 1) != 0 && (reach(k, plain, d.txns) >> i & 1) != 0) p.g1c = true;
    }
    judge_anti(&d, plain, all, i, &p);
  }
  return p;
}

const char *isoproof_schedule_phenomenon_at(const isoproof_schedule *schedule, size_t number) {
  phenomena p = find_phenomena(schedule);
  const struct {
    bool there;
    const char *code;
  } list[] = {{p.g0, "G0"},       {p.g1a, "G1a"},         {p.g1b, "G1b"},
              {p.g1c, "G1c"},     {p.single, "G-single"}, {p.nonadjacent, "G-nonadjacent"},
              {p.item, "G2-item"}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    if (list[i].there && number-- == 0) return list[i].code;
  }
  return NULL;
}
