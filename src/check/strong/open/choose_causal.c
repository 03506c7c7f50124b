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

/* Of very many open reads a round takes long, and leaves many without an answer that have one along a serial order. */
static isoproof_status begin_serially(guesser *g, isoproof_error *error) {
  enum { MANY_READS = 1 << 20 };
  uint32_t txns = g->view.h->txns;
  iso_causal causal;
  bool found;
  if (g->open.reads.count < MANY_READS || g->view.h->sessions <= FEW_SESSIONS || iso_is_crowded(&g->view)) {
    return ISOPROOF_OK;
  }
  int64_t *when = iso_alloc_zero(txns, sizeof *when);
  if (when == NULL) return iso_fail_memory(error);
  isoproof_status status = iso_serial_start(&g->view, &g->open, g->doubt, &g->sequence, g->task, when, &found, error);
  if (status == ISOPROOF_OK && found) {
    status = iso_causal_order_from(&g->view, when, g->task, &causal, error);
    if (status == ISOPROOF_OK) {
      if (causal.answer == ISO_CAUSAL_YES) take_sequence(g, &causal);
      iso_causal_free(&causal);
    }
  }
  free(when);
  return status;
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

static isoproof_status decide(guesser *g, bool *decided, iso_open_start *start, isoproof_error *error) {
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
  ISO_TRY(begin_serially(g, error));
  ISO_TRY(make_questions(g, error));
  return guess(g, decided, start, error);
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
