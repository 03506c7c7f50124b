/* Rounds of pruning and settling, and then the search. */
#include "check/strong/open/decide.h"

#include <stdlib.h>
#include <string.h>

#include "check/order/placement.h"
#include "check/strong/direct.h"
#include "check/strong/open/choose_causal.h"
#include "check/strong/open/open_classes.h"
#include "check/strong/open/stage.h"
#include "check/strong/saturate_rows.h"
#include "history/real_time.h"

void iso_open_decision_free(iso_open_decision *d) {
  free(d->sequence.event);
  iso_vec_free(&d->left);
  memset(d, 0, sizeof *d);
}

static isoproof_status make_clocks(iso_open_stage *s, isoproof_error *error) {
  if (iso_event_clocks_bytes(&s->events) > ISO_MOST_CLOCK_BYTES) return ISOPROOF_OK;
  ISO_TRY(iso_event_clocks_make(&s->events, s->task, &s->clocks, error));
  s->has_clocks = true;
  return iso_event_clocks_update(&s->events, &s->sequence, s->task, &s->clocks, error);
}

/* What follows from what is known; *cyclic when that contradicts itself. */
static isoproof_status saturate(iso_open_stage *s, bool *cyclic, isoproof_error *error) {
  iso_saturation saturation = {.rounds = 0};
  ISO_TRY(iso_view_need_readers(&s->view, error));
  ISO_TRY(iso_saturate(s->rule, &s->events, &s->sequence, &s->clocks, s->task, &saturation, error));
  *cyclic = saturation.cyclic;
  return ISOPROOF_OK;
}

/* The same by rows of bits, where there are many chains. */
static isoproof_status saturate_rows(iso_open_stage *s, bool *cyclic, isoproof_error *error) {
  iso_saturation saturation = {.rounds = 0};
  ISO_TRY(iso_view_need_readers(&s->view, error));
  ISO_TRY(iso_saturate_rows(s->rule, &s->events, &s->sequence, 0, s->task, &saturation, error));
  *cyclic = saturation.cyclic;
  return ISOPROOF_OK;
}

/* Whether of two who read a version and wrote its key one loses its update. */
static bool updates_are_exclusive(const iso_open_stage *s) {
  return s->rule != NULL && (s->rule->exclusive || !s->rule->split);
}

static isoproof_status prune(iso_open_stage *s, uint64_t *settled, bool *impossible, isoproof_error *error) {
  iso_possible possible;
  iso_missed missed = s->visibility != NULL ? iso_visibility_missed(s->visibility) : ISO_MISSES_NOTHING;
  ISO_TRY(iso_possible_make(&s->events, &s->clocks, &s->open, missed, &possible, error));
  isoproof_status status = updates_are_exclusive(s) ? iso_possible_note_updates(&possible, error) : ISOPROOF_OK;
  if (status == ISOPROOF_OK)
    status = iso_possible_settle(&possible, &s->doubt, s->task, settled, impossible, s->core, error);
  iso_possible_free(&possible);
  return status;
}

/* Settles what clocks leave one version for; *again when a view with those is worth the trouble. */
static isoproof_status settle(iso_open_stage *s, bool *again, isoproof_error *error) {
  enum { ONE_IN = 32 };
  bool impossible = false;
  uint64_t settled = 0;
  ISO_TRY(prune(s, &settled, &impossible, error));
  s->out->settled += settled;
  if (impossible) return iso_stage_refuted(s);
  *again = settled > s->open.reads.count / ONE_IN || s->doubt.moved;
  return ISOPROOF_OK;
}

/* Settles what is left one version for after everything that follows for the order of writes. */
static isoproof_status settle_rows(iso_open_stage *s, bool *again, isoproof_error *error) {
  bool cyclic;
  ISO_TRY(saturate_rows(s, &cyclic, error));
  if (cyclic) return iso_stage_refuted(s);
  ISO_TRY(make_clocks(s, error));
  return s->has_clocks ? settle(s, again, error) : ISOPROOF_OK;
}

/* Puts the events in the order of the start, as far as what is known allows. */
static isoproof_status begin_at_start(iso_open_stage *s, isoproof_error *error) {
  iso_sequence made;
  ISO_TRY(iso_sequence_make_by(&s->events, s->start->when, s->task, &made, error));
  iso_sequence_free(&s->sequence);
  s->sequence = made;
  return ISOPROOF_OK;
}

static isoproof_status search_visible(iso_open_stage *s, isoproof_error *error) {
  iso_refined outcome;
  ISO_TRY(iso_visible_search(&s->events, &s->sequence, s->has_clocks ? &s->clocks : NULL, &s->open, s->visibility,
                             &s->doubt, s->start, s->most_conflicts, s->task, &outcome, &s->out->search, error));
  if (outcome == ISO_REFINED_REFUTED) {
    memset(s->core, 1, s->open.reads.count); /* it is not known which ones it rests on */
    return iso_stage_refuted(s);
  }
  s->out->decided = outcome == ISO_REFINED_EXPLAINED;
  return ISOPROOF_OK;
}

/* Guesses again with what pruning has left open; what they come to is where another search begins. */
static isoproof_status choose_again(iso_open_stage *s, isoproof_error *error) {
  ISO_TRY(iso_choose_causal_for(&s->doubt, s->task, &s->out->decided, &s->own_start, error));
  if (s->out->decided || s->own_start.when == NULL) return ISOPROOF_OK;
  s->start = &s->own_start;
  ISO_TRY(begin_at_start(s, error));
  return search_visible(s, error);
}

/* A round of a level of what is visible. */
static isoproof_status round_of_visible(iso_open_stage *s, bool *again, isoproof_error *error) {
  /* With a start, the search does without clocks that are larger, and pruning is worth the time of small ones only. */
  const uint64_t most_bytes = UINT64_C(1) << 30, small_bytes = UINT64_C(256) << 20;
  uint64_t bytes = iso_event_clocks_bytes(&s->events);
  if (s->start == NULL || bytes <= most_bytes) ISO_TRY(make_clocks(s, error));
  if (s->has_clocks && (s->start == NULL || bytes <= small_bytes)) ISO_TRY(settle(s, again, error));
  if (*again) s->start = NULL; /* it was for much that is known by now */
  if (*again || s->out->violated) return ISOPROOF_OK;
  bool begins = s->start != NULL;
  if (begins) ISO_TRY(begin_at_start(s, error));
  ISO_TRY(search_visible(s, error));
  return s->out->decided || begins || !s->chooses ? ISOPROOF_OK : choose_again(s, error);
}

/* Whether clocks take less than a guess. */
static bool clocks_are_small(const iso_open_stage *s) {
  const uint64_t most_bytes = UINT64_C(512) << 20;
  return s->rule->saturates && iso_event_clocks_bytes(&s->events) <= most_bytes;
}

/* A round of many transactions of some hundred sessions: a guess takes long, and is good for nothing as long as clocks
 * can tell what most reads saw, and what follows from that. */
static isoproof_status round_by_clocks(iso_open_stage *s, bool *again, isoproof_error *error) {
  bool cyclic = false;
  ISO_TRY(make_clocks(s, error));
  ISO_TRY(settle(s, again, error));
  if (*again || s->out->violated) return ISOPROOF_OK;
  ISO_TRY(saturate(s, &cyclic, error));
  if (cyclic) return iso_stage_refuted(s);
  ISO_TRY(settle(s, again, error));
  if (*again || s->out->violated) return ISOPROOF_OK;
  ISO_TRY(iso_stage_count_broken(s, &s->broken, error)); /* other orders are known now */
  ISO_TRY(iso_stage_guess(s, error));
  return s->out->decided ? ISOPROOF_OK : iso_stage_search_guessed(s, error);
}

/* A look at what follows at once from the reads that are known, before a guess that is in vain where they contradict
 * each other (strong.c).  It leaves nothing behind. */
static isoproof_status look(iso_open_stage *s, isoproof_error *error) {
  enum { MANY = 8192 };
  const iso_view *v = &s->view;
  if (s->events.split || v->taking_part < MANY || v->read_first[v->h->txns] < v->taking_part) return ISOPROOF_OK;
  if (!iso_rows_are_quick(&s->events)) return ISOPROOF_OK;
  iso_saturation saturation = {.rounds = 0};
  uint32_t known = (uint32_t)s->events.derived.count;
  uint32_t *event = iso_sequence_copy(&s->sequence);
  if (event == NULL) return iso_fail_memory(error);
  isoproof_status status = iso_view_need_readers(&s->view, error);
  if (status == ISOPROOF_OK) {
    status = iso_saturate_rows(s->rule, &s->events, &s->sequence, 1, s->task, &saturation, error);
  }
  if (status == ISOPROOF_OK) iso_sequence_restore(&s->sequence, event);
  free(event);
  iso_event_graph_drop(&s->events, known);
  return status == ISOPROOF_OK && saturation.cyclic ? iso_stage_refuted(s) : status;
}

/* Whether the reads that are known contradict each other at once.  Of many transactions guesses take long, and are in
 * vain then. */
static isoproof_status look_for_known(iso_open_stage *s, bool *found, isoproof_error *error) {
  enum { MANY = 1024, MORE = 8192 };
  *found = false;
  if (s->view.taking_part < (s->out->rounds > 1 ? MORE : MANY)) return ISOPROOF_OK;
  return iso_direct_cycle(&s->view, s->level, s->task, NULL, found, error);
}

/* One round on the view of what is settled so far.  What the reads themselves tell settles most, and then a search is
 * often done before everything is found that follows for the order of writes. */
static isoproof_status round_of(iso_open_stage *s, bool *again, isoproof_error *error) {
  enum { PATIENCE = 200, FEW_CHAINS = 64 };
  bool cyclic = false;
  ISO_TRY(iso_stage_build(s, error));
  bool useful = true;
  if (s->assumes && s->sequence.count == s->sequence.total) ISO_TRY(iso_stage_assume(s, &useful, error));
  if (!useful) return ISOPROOF_OK;
  if (s->sequence.count < s->sequence.total) return iso_stage_refuted(s);
  if (s->visibility != NULL) return round_of_visible(s, again, error);
  bool lacks = false;
  if (updates_are_exclusive(s) && s->out->rounds == 1)
    ISO_TRY(iso_open_lacks_versions(&s->open, &lacks, s->core, error));
  if (lacks) return iso_stage_refuted(s);
  ISO_TRY(iso_stage_count_broken(s, &s->broken, error));
  ISO_TRY(iso_stage_try_starts(s, error));
  if (s->broken == 0) return iso_stage_satisfied(s, error);
  bool rows = s->rule->saturates && iso_rows_suit(&s->events, &s->sequence), many = s->events.chains > FEW_CHAINS;
  bool known = false;
  if (many) ISO_TRY(look_for_known(s, &known, error));
  if (known) return iso_stage_refuted(s);
  if (many) ISO_TRY(iso_stage_try_counting(s, false, error));
  if (s->broken == 0) return iso_stage_satisfied(s, error);
  if (many && !rows && clocks_are_small(s)) return round_by_clocks(s, again, error);
  bool first = many && !(rows && (s->out->rounds > 1 || iso_is_crowded(&s->view)));
  if (first && rows) ISO_TRY(look(s, error));
  bool guessed = s->out->rounds > 1 && iso_stage_is_nearly_there(s); /* in the round before, and more is known now */
  if (first && guessed && !s->out->decided) ISO_TRY(iso_stage_search_little(s, error));
  if (first && !guessed && !s->out->decided) ISO_TRY(iso_stage_guess(s, error));
  if (s->out->decided) return ISOPROOF_OK;
  if (first) ISO_TRY(iso_stage_try_counting(s, true, error));
  if (s->broken == 0) return iso_stage_satisfied(s, error);
  s->wants_to_assume = first && iso_stage_may_assume(s);
  if (s->wants_to_assume) return ISOPROOF_OK;
  /* Who wants it only where that is easy does not wait for all that follows. */
  if (first && s->most_conflicts > 0 && iso_stage_is_hopeless(s)) return ISOPROOF_OK;
  if (rows) ISO_TRY(settle_rows(s, again, error));
  if (*again || s->out->violated) return ISOPROOF_OK;
  if (rows) ISO_TRY(iso_stage_count_broken(s, &s->broken, error)); /* other orders are known now */
  if (rows) ISO_TRY(iso_stage_guess(s, error));
  if (s->out->decided) return ISOPROOF_OK;
  if (!rows) ISO_TRY(make_clocks(s, error));
  if (!s->has_clocks || rows) return iso_stage_search_guessed(s, error);
  ISO_TRY(settle(s, again, error));
  if (*again || s->out->violated) return ISOPROOF_OK;
  bool limited = s->most_conflicts > 0 && s->most_conflicts < PATIENCE;
  ISO_TRY(iso_stage_search(s, limited ? s->most_conflicts : PATIENCE, error));
  if (s->out->decided || s->out->violated) return ISOPROOF_OK;
  ISO_TRY(saturate(s, &cyclic, error));
  if (cyclic) return iso_stage_refuted(s);
  ISO_TRY(settle(s, again, error));
  return *again || s->out->violated ? ISOPROOF_OK : iso_stage_search(s, s->most_conflicts, error);
}

static isoproof_status decide(iso_open_stage *s, isoproof_error *error) {
  isoproof_status status = ISOPROOF_OK;
  bool again = true;
  s->counts = s->counted = false;
  while (status == ISOPROOF_OK && again && !s->doubt.hopeless) {
    again = false;
    s->out->rounds++;
    status = iso_stage_list(s, error);
    if (status == ISOPROOF_OK) status = s->doubt.hopeless ? iso_stage_refuted(s) : round_of(s, &again, error);
    if (again && s->visibility == NULL) iso_stage_keep_sequence(s);
  }
  if (status == ISOPROOF_OK && s->out->violated) status = iso_stage_show(s, error);
  iso_stage_end(s);
  free(s->last.event);
  s->last.event = NULL;
  iso_open_start_free(&s->own_start);
  iso_value_order_free(&s->counting);
  return status;
}

bool iso_open_has_lists(const isoproof_history *h) {
  for (uint32_t op = 0; op < h->ops; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_READ && h->op_kind[op] != ISOPROOF_OP_WRITE) return true;
  }
  return false;
}

/* Decides by a stage that knows what is asked. */
static isoproof_status decide_doubt(isoproof_history *history, iso_open_stage *s, isoproof_error *error) {
  ISO_TRY(iso_doubt_make(history, s->task, &s->doubt, error));
  s->out->doubtful = s->doubt.reads.count;
  isoproof_status status = decide(s, error);
  iso_doubt_end(&s->doubt, status == ISOPROOF_OK && s->out->decided && (!s->out->violated || s->out->has_core));
  return status;
}

/* Session order helps where it does no harm; without it, every transaction is a chain of its own. */
static isoproof_status decide_cut(isoproof_history *history, iso_open_stage *s, isoproof_error *error) {
  uint8_t *cut = iso_alloc(history->txns, 1);
  if (cut == NULL) return iso_fail_memory(error);
  memset(cut, 1, history->txns);
  iso_open_decision_free(s->out);
  s->cut = cut;
  isoproof_status status = decide_doubt(history, s, error);
  free(cut);
  return status;
}

/* Guesses are stuck: what values that count up would tell is assumed, and then not. */
static isoproof_status decide_assuming(isoproof_history *history, const iso_open_stage *asked, isoproof_error *error) {
  enum { PATIENCE = 20000 };
  iso_open_stage s = *asked;
  s.assumes = true;
  s.may_assume = false;
  s.most_conflicts = PATIENCE;
  iso_open_decision_free(s.out);
  ISO_TRY(decide_doubt(history, &s, error));
  if (s.out->decided && !s.out->violated) return ISOPROOF_OK;
  iso_open_decision_free(s.out);
  s = *asked;
  s.may_assume = false;
  return decide_doubt(history, &s, error);
}

static isoproof_status decide_level(isoproof_history *history, const iso_strong_level *level, uint64_t most_conflicts,
                                    bool excerpt, isoproof_task *task, iso_open_decision *out, isoproof_error *error) {
  memset(out, 0, sizeof *out);
  iso_open_stage s = {.rule = iso_strong_rule_of(level->rule), .level = level, .task = task, .out = out};
  s.most_conflicts = most_conflicts;
  s.may_assume = true;
  s.is_excerpt = excerpt;
  const iso_open_stage asked = s;
  bool lacks_times = level->real_time && !iso_has_real_time(history);
  if (!s.rule->is_executed || lacks_times || iso_open_has_lists(history)) return ISOPROOF_OK;
  ISO_TRY(decide_doubt(history, &s, error));
  if (s.wants_to_assume) ISO_TRY(decide_assuming(history, &asked, error));
  if (level->session_order || !out->decided || !out->violated) return ISOPROOF_OK;
  return decide_cut(history, &s, error);
}

isoproof_status iso_open_decide(isoproof_history *history, const iso_strong_level *level, uint64_t most_conflicts,
                                isoproof_task *task, iso_open_decision *out, isoproof_error *error) {
  return decide_level(history, level, most_conflicts, false, task, out, error);
}

isoproof_status iso_open_decide_excerpt(isoproof_history *excerpt, const iso_strong_level *level,
                                        uint64_t most_conflicts, isoproof_task *task, iso_open_decision *out,
                                        isoproof_error *error) {
  return decide_level(excerpt, level, most_conflicts, true, task, out, error);
}

isoproof_status iso_open_decide_visible(isoproof_history *history, const iso_visibility *visibility,
                                        const iso_open_start *start, uint64_t most_conflicts, isoproof_task *task,
                                        iso_open_decision *out, isoproof_error *error) {
  memset(out, 0, sizeof *out);
  iso_open_stage s = {
      .visibility = visibility, .start = start, .most_conflicts = most_conflicts, .task = task, .out = out};
  s.chooses = start != NULL;
  return iso_open_has_lists(history) ? ISOPROOF_OK : decide_doubt(history, &s, error);
}
