/* Rounds of guessing what open reads observed, and of asking the engine whether that is causal. */
#include "check/strong/open/choose_causal.h"

#include <stdlib.h>
#include <string.h>

#include "check/causal/causal_order.h"
#include "check/causal/choose.h"
#include "check/order/placement.h"
#include "check/strong/open/serial_start.h"

enum { FEW_SESSIONS = 64 };

typedef struct {
  iso_doubt *doubt;
  iso_view view; /* of what is known */
  iso_open_reads open;
  iso_causal_questions questions;
  uint32_t *values;
  iso_sequence sequence;
  ISO_VEC(iso_causal_warning) warnings;
  uint64_t random;
  isoproof_task *task;
} guesser;

static void guesser_free(guesser *g) {
  iso_open_reads_free(&g->open);
  iso_view_free(&g->view);
  iso_sequence_free(&g->sequence);
  free(g->questions.items);
  free(g->values);
  iso_vec_free(&g->warnings);
}

static bool is_plain(const guesser *g) {
  const isoproof_history *h = g->doubt->history;
  return !g->doubt->hopeless && g->doubt->optional == NULL && h->statement_count == 0 &&
         iso_causal_may_choose(&g->view);
}

static isoproof_status make_questions(guesser *g, isoproof_error *error) {
  const iso_open_reads *o = &g->open;
  const iso_view *v = &g->view;
  size_t slots = v->write_first[v->h->txns];
  g->values = iso_alloc(slots, sizeof *g->values);
  g->questions.items = iso_alloc_zero(o->reads.count, sizeof *g->questions.items);
  if (g->values == NULL || g->questions.items == NULL) return iso_fail_memory(error);
  for (uint32_t key = 0; key < v->h->keys; key++) {
    uint32_t value = v->writer_first[key];
    for (uint32_t i = value; i < v->writer_first[key + 1]; i++) {
      bool differs = iso_open_version(o, key, o->by_value[i] + 1) != iso_open_version(o, key, o->by_value[value] + 1);
      if (differs) value = i;
      g->values[o->by_value[i]] = value;
    }
  }
  for (size_t i = 0; i < o->reads.count; i++) {
    const iso_open_read *read = &o->reads.items[i];
    g->questions.items[i] = (iso_causal_question){.txn = read->txn,
                                                  .key = read->key,
                                                  .value = read->first,
                                                  .initial = iso_open_fits(o, read, 0),
                                                  .disliked = ISO_NO_ANSWER};
    if (read->first == read->end) g->questions.items[i].value = ISO_NO_VALUE;
  }
  g->questions.first = o->read_first;
  g->questions.values = g->values;
  return ISOPROOF_OK;
}

/* Enters the answers, or takes them out again. */
static bool settle(guesser *g, bool answers) {
  for (size_t i = 0; i < g->open.reads.count; i++) {
    const iso_open_read *read = &g->open.reads.items[i];
    if (answers && g->questions.items[i].answer == ISO_NO_ANSWER) return false;
    if (answers) iso_open_settle(&g->open, g->doubt, read, g->questions.items[i].answer);
    if (!answers) g->doubt->resolution->writer[read->op] = ISO_UNSETTLED;
  }
  return true;
}

static isoproof_status order_from(guesser *g, iso_view *view, iso_causal *causal, isoproof_error *error) {
  uint32_t txns = view->h->txns;
  int64_t *when = iso_alloc_zero(txns, sizeof *when);
  if (when == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < g->sequence.count; i++) when[g->sequence.event[i]] = i;
  isoproof_status status = iso_causal_order_from(view, when, g->task, causal, error);
  free(when);
  return status;
}

static void take_sequence(guesser *g, iso_causal *causal) {
  if (causal->sequence.count != g->sequence.count) return;
  iso_sequence_free(&g->sequence);
  g->sequence = causal->sequence;
  memset(&causal->sequence, 0, sizeof causal->sequence);
}

/* Who was found between a version and its reader is not to get there again. */
static isoproof_status take_warnings(guesser *g, const iso_view *view, const iso_causal *causal,
                                     isoproof_error *error) {
  size_t kept = 0;
  enum { MOST = 1 << 22 };
  for (size_t i = 0; i < causal->pairs.count && g->warnings.count < MOST; i++) {
    const iso_forced_pair *pair = &causal->pairs.items[i];
    const iso_external_read *read = &view->reads[pair->read];
    iso_causal_warning warning = {iso_history_txn_of(view->h, read->op), read->key, pair->t2};
    if (!iso_vec_push(&g->warnings, warning)) return iso_fail_memory(error);
  }
  iso_causal_warning *all = g->warnings.items;
  if (g->warnings.count > 1) qsort(all, g->warnings.count, sizeof *all, iso_causal_by_warning);
  for (size_t i = 0; i < g->warnings.count; i++) {
    if (kept == 0 || iso_causal_by_warning(&all[kept - 1], &all[i]) != 0) all[kept++] = all[i];
  }
  g->warnings.count = kept;
  g->questions.warnings = all;
  g->questions.warning_count = kept;
  return ISOPROOF_OK;
}

/* Asks whether the answers are causal; the order that this ends with is where the next round begins, and *found is how
 * many writers were found where they must not be. */
static isoproof_status try_answers(guesser *g, bool *good, uint64_t *found, isoproof_error *error) {
  iso_view view;
  iso_causal causal;
  *good = false;
  *found = 0;
  if (!settle(g, true)) return ISOPROOF_OK;
  ISO_TRY(iso_view_make_with(g->doubt->history, NULL, g->task, &view, error));
  isoproof_status status = order_from(g, &view, &causal, error);
  if (status == ISOPROOF_OK) {
    status = take_warnings(g, &view, &causal, error);
    if (status != ISOPROOF_OK) iso_causal_free(&causal);
  }
  iso_view_free(&view);
  if (status != ISOPROOF_OK) return status;
  *good = causal.answer == ISO_CAUSAL_YES;
  *found = causal.pairs.count > 0 ? causal.pairs.count : UINT32_MAX; /* or too many to tell */
  take_sequence(g, &causal);
  iso_causal_free(&causal);
  return ISOPROOF_OK;
}

static uint32_t draw(guesser *g, uint32_t below) {
  g->random ^= g->random << 13;
  g->random ^= g->random >> 7;
  g->random ^= g->random << 17;
  return (uint32_t)((g->random >> 32) * below >> 32);
}

/* Some of the answers that were in the way of other reads are not given again so easily. */
static void dislike(guesser *g) {
  enum { MOST = 16 };
  for (size_t i = 0; i < g->open.reads.count; i++) {
    iso_causal_question *q = &g->questions.items[i];
    if (q->blame > 0 && q->disliked != q->answer) q->penalty = 0;
    if (q->blame > 0 && draw(g, 2) == 0) q->disliked = q->answer, q->penalty += 1 + draw(g, MOST);
    q->blame = 0;
  }
}

/* What a round has come to, for a search to begin with. */
static isoproof_status keep_start(const guesser *g, iso_open_start *start, isoproof_error *error) {
  const isoproof_history *h = g->doubt->history;
  if (start->when == NULL) start->when = iso_alloc_zero(h->txns, sizeof *start->when);
  if (start->writer == NULL) start->writer = iso_alloc(h->ops, sizeof *start->writer);
  if (start->when == NULL || start->writer == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < g->sequence.count; i++) start->when[g->sequence.event[i]] = i;
  for (uint32_t op = 0; op < h->ops; op++) start->writer[op] = ISO_UNSETTLED;
  for (size_t i = 0; i < g->open.reads.count; i++) {
    uint32_t answer = g->questions.items[i].answer;
    if (answer == ISO_NO_ANSWER) continue;
    start->writer[g->open.reads.items[i].op] = answer > 0 ? g->open.slot_op[answer - 1] : ISO_FROM_INITIAL;
  }
  return ISOPROOF_OK;
}

static isoproof_status guess(guesser *g, bool *decided, iso_open_start *start, isoproof_error *error) {
  /* Few sessions leave little to choose: what does not end at once there is easier for other searches. */
  enum { ROUNDS = 100, IDLE_ROUNDS = 3 };
  bool few = g->doubt->history->sessions <= FEW_SESSIONS;
  uint64_t least = UINT64_MAX;
  for (int round = 0, idle = 0; round < (few ? 1 : ROUNDS) && idle < IDLE_ROUNDS; round++) {
    uint64_t unanswered, found;
    ISO_TRY(iso_causal_choose(&g->view, &g->sequence, &g->questions, &unanswered, g->task, error));
    ISO_TRY(try_answers(g, decided, &found, error));
    if (*decided) return ISOPROOF_OK;
    (void)settle(g, false);
    uint64_t wrong = unanswered > 0 ? unanswered << 32 : found;
    idle = wrong < least ? 0 : idle + 1;
    if (wrong <= least && !few) ISO_TRY(keep_start(g, start, error));
    if (wrong < least) least = wrong;
    dislike(g);
  }
  return ISOPROOF_OK;
}

/* ---- along a serial order ---- */

/* From a serial order of what is known, as far as causality allows. */
static isoproof_status begin_serially(guesser *g, const int64_t *when, isoproof_error *error) {
  iso_causal causal;
  ISO_TRY(iso_causal_order_from(&g->view, when, g->task, &causal, error));
  if (causal.answer == ISO_CAUSAL_YES) take_sequence(g, &causal);
  iso_causal_free(&causal);
  return ISOPROOF_OK;
}

/* Settles the reads that find what they saw in the sequence: `settled`, by operation. */
static isoproof_status settle_found(guesser *g, uint8_t *settled, isoproof_error *error) {
  const iso_view *v = &g->view;
  const iso_open_reads *o = &g->open;
  uint32_t *current = iso_alloc_zero(v->h->keys, sizeof *current); /* version */
  if (current == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < g->sequence.count; i++) {
    uint32_t txn = g->sequence.event[i];
    for (uint32_t k = o->read_first[txn]; k < o->read_first[txn + 1]; k++) {
      const iso_open_read *read = &o->reads.items[k];
      if (!iso_open_fits(o, read, current[read->key])) continue;
      iso_open_settle(o, g->doubt, read, current[read->key]);
      settled[read->op] = 1;
    }
    for (uint32_t k = v->write_first[txn]; k < v->write_first[txn + 1]; k++) current[v->write_key[k]] = k + 1;
  }
  free(current);
  return ISOPROOF_OK;
}

/* Marks who stands near a transaction, in the sequence and in its session. */
static void mark_near(const guesser *g, uint32_t txn, uint32_t far, uint8_t *near) {
  enum { NEXT = 2 };
  const isoproof_history *h = g->doubt->history;
  uint32_t place = g->sequence.place[txn], low = place > far ? place - far : 0;
  for (uint32_t i = low; i < g->sequence.count && i <= place + far; i++) near[g->sequence.event[i]] = 1;
  uint32_t first = h->session_first_txn[h->txn_session[txn]], end = h->session_first_txn[h->txn_session[txn] + 1];
  if (txn - first > NEXT) first = txn - NEXT;
  for (uint32_t t = first; t < end && t <= txn + NEXT; t++) near[t] = 1;
}

/* Opens what was settled near the reads that have no answer; *count, how many. */
static isoproof_status open_near(guesser *g, uint32_t far, uint8_t *settled, size_t *count, isoproof_error *error) {
  const isoproof_history *h = g->doubt->history;
  uint8_t *near = iso_alloc_zero(h->txns, 1);
  if (near == NULL) return iso_fail_memory(error);
  for (size_t i = 0; i < g->open.reads.count; i++) {
    if (g->questions.items[i].answer == ISO_NO_ANSWER) mark_near(g, g->questions.items[i].txn, far, near);
  }
  for (size_t i = 0; i < g->warnings.count; i++) {
    near[g->warnings.items[i].txn] = near[g->warnings.items[i].writer] = 1;
  }
  *count = 0;
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    for (uint32_t op = h->txn_first_op[txn]; near[txn] && op < h->txn_first_op[txn + 1]; op++) {
      if (!settled[op]) continue;
      g->doubt->resolution->writer[op] = ISO_UNSETTLED;
      settled[op] = 0;
      ++*count;
    }
  }
  free(near);
  return ISOPROOF_OK;
}

static void forget_questions(guesser *g) {
  free(g->questions.items);
  free(g->values);
  g->questions = (iso_causal_questions){.items = NULL};
  g->values = NULL;
}

/* The view of what is settled now, and an order of it; *good where there is one. */
static isoproof_status look_again(guesser *g, bool *good, isoproof_error *error) {
  iso_causal causal;
  forget_questions(g);
  ISO_TRY(iso_open_reads_list(g->doubt, g->task, &g->view, &g->open, error));
  ISO_TRY(order_from(g, &g->view, &causal, error));
  *good = causal.answer == ISO_CAUSAL_YES;
  if (*good) take_sequence(g, &causal);
  iso_causal_free(&causal);
  return *good ? make_questions(g, error) : ISOPROOF_OK;
}

/* Answers the few reads that are left; more around them are opened where that is in vain. */
static isoproof_status mend(guesser *g, uint8_t *settled, bool *decided, isoproof_error *error) {
  enum { TURNS = 8, NEAR = 32, WIDER = 4, WORSE = 8 };
  uint64_t least = UINT64_MAX;
  size_t opened = 1;
  uint32_t far = NEAR;
  for (int turn = 0; turn < TURNS && opened > 0; turn++, far *= WIDER) {
    bool good;
    uint64_t unanswered, found;
    ISO_TRY(look_again(g, &good, error));
    if (!good) return ISOPROOF_OK;
    ISO_TRY(iso_causal_choose(&g->view, &g->sequence, &g->questions, &unanswered, g->task, error));
    ISO_TRY(try_answers(g, decided, &found, error));
    if (*decided) return ISOPROOF_OK;
    (void)settle(g, false);
    if (unanswered < least) least = unanswered;
    if (unanswered / WORSE > least + 1) return ISOPROOF_OK;
    ISO_TRY(open_near(g, far, settled, &opened, error));
  }
  return ISOPROOF_OK;
}

/* Where the order is wrong for few reads only, all others are taken to have seen what it shows. */
static isoproof_status follow_serially(guesser *g, bool *decided, isoproof_error *error) {
  const isoproof_history *h = g->doubt->history;
  uint8_t *settled = iso_alloc_zero(h->ops, 1);
  if (settled == NULL) return iso_fail_memory(error);
  isoproof_status status = settle_found(g, settled, error);
  if (status == ISOPROOF_OK) status = mend(g, settled, decided, error);
  bool again = status == ISOPROOF_OK && !*decided;
  for (uint32_t op = 0; again && op < h->ops; op++) {
    if (settled[op]) g->doubt->resolution->writer[op] = ISO_UNSETTLED;
  }
  free(settled);
  if (!again) return status;
  forget_questions(g);
  g->warnings.count = 0;
  return iso_open_reads_list(g->doubt, g->task, &g->view, &g->open, error);
}

/* Springs take long, and are for the most open reads only. */
static isoproof_status try_serially(guesser *g, iso_serial_effort effort, bool *decided, isoproof_error *error) {
  enum { MOST_READS = 1 << 20, MANY = 8192 };
  iso_serial_start start;
  bool springs = g->open.reads.count >= MOST_READS && !iso_is_crowded(&g->view) && effort != ISO_SERIAL_LOOK;
  if (g->view.h->sessions <= FEW_SESSIONS || g->view.taking_part < MANY || g->view.h->keys == 1) return ISOPROOF_OK;
  if (effort == ISO_SERIAL_LOOK && !iso_is_crowded(&g->view)) return ISOPROOF_OK;
  isoproof_status status = iso_serial_start_find(&g->view, &g->open, g->doubt, springs ? &g->sequence : NULL, effort,
                                                 g->task, &start, error);
  bool found = status == ISOPROOF_OK && start.when != NULL && start.few;
  if (found) status = begin_serially(g, start.when, error);
  free(start.when);
  return found && status == ISOPROOF_OK ? follow_serially(g, decided, error) : status;
}

/* ---- all of it ---- */

static isoproof_status decide(guesser *g, bool *decided, iso_open_start *start, isoproof_error *error) {
  enum { MANY_READS = 1 << 18 };
  iso_causal known;
  ISO_TRY(iso_open_reads_list(g->doubt, g->task, &g->view, &g->open, error));
  if (!is_plain(g)) return ISOPROOF_OK;
  ISO_TRY(iso_causal_order(&g->view, NULL, g->task, &known, error));
  bool good = known.answer == ISO_CAUSAL_YES;
  if (good) {
    g->sequence = known.sequence;
    memset(&known.sequence, 0, sizeof known.sequence);
  }
  iso_causal_free(&known);
  if (!good) return ISOPROOF_OK;
  /* A round takes long where open reads are many, and leaves some without an answer that have one along a serial order.
   */
  bool many = g->open.reads.count >= MANY_READS && !iso_is_crowded(&g->view);
  ISO_TRY(try_serially(g, many ? ISO_SERIAL_NEARLY : ISO_SERIAL_LOOK, decided, error));
  if (*decided) return ISOPROOF_OK;
  ISO_TRY(make_questions(g, error));
  ISO_TRY(guess(g, decided, start, error));
  return *decided || many ? ISOPROOF_OK : try_serially(g, ISO_SERIAL_NEARLY, decided, error);
}

isoproof_status iso_choose_causal_for(iso_doubt *doubt, isoproof_task *task, bool *decided, iso_open_start *start,
                                      isoproof_error *error) {
  guesser g = {.doubt = doubt, .task = task, .random = UINT64_C(0x9e3779b97f4a7c15)};
  *decided = false;
  memset(start, 0, sizeof *start);
  isoproof_status status = decide(&g, decided, start, error);
  guesser_free(&g);
  if (status != ISOPROOF_OK) iso_open_start_free(start);
  return status;
}

isoproof_status iso_choose_causal(isoproof_history *history, isoproof_task *task, iso_open_decision *out,
                                  iso_open_start *start, isoproof_error *error) {
  iso_doubt doubt;
  memset(out, 0, sizeof *out);
  memset(start, 0, sizeof *start);
  if (iso_open_has_lists(history)) return ISOPROOF_OK;
  ISO_TRY(iso_doubt_make(history, task, &doubt, error));
  isoproof_status status = iso_choose_causal_for(&doubt, task, &out->decided, start, error);
  iso_doubt_end(&doubt, status == ISOPROOF_OK && out->decided);
  return status;
}
