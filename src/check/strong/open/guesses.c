/* Sequences that are guessed for a round, one after the other, for as long as that is of use. */
#include <stdlib.h>

#include "check/order/placement.h"
#include "check/strong/open/guess.h"
#include "check/strong/open/stage.h"

isoproof_status iso_stage_count_broken(iso_open_stage *s, uint64_t *broken, isoproof_error *error) {
  iso_examination examination = iso_stage_examination(s);
  return iso_open_count_broken(&examination, &s->sequence, &s->open, iso_stage_has_sessions(s), broken, error);
}

/* Makes another sequence, which stays when it is no worse. */
static isoproof_status guess_by(iso_open_stage *s, iso_guess_way way, bool *placed, isoproof_error *error) {
  enum { TOGETHER = 2 }; /* from what is known, and then from what that shows */
  iso_open_guess how = {.open = &s->open, .events = &s->events, .cut = s->cut, .exclusive = s->rule->exclusive};
  uint64_t now = s->broken;
  how.way = way;
  how.together = s->events.split && s->guesses < TOGETHER;
  how.seed = s->guesses++;
  how.late = s->contradicted;
  iso_possible possible = {.seen = NULL};
  uint32_t *event = iso_sequence_copy(&s->sequence);
  if (event == NULL) return iso_fail_memory(error);
  isoproof_status status = ISOPROOF_OK;
  if (s->has_clocks) {
    how.possible = &possible;
    status = iso_possible_make(&s->events, &s->clocks, &s->open, ISO_MISSES_NOTHING, &possible, error);
  }
  if (status == ISOPROOF_OK) status = iso_open_place(&how, &s->doubt, s->task, &s->sequence, placed, error);
  iso_possible_free(&possible);
  if (status == ISOPROOF_OK) status = iso_stage_count_broken(s, &now, error);
  if (status == ISOPROOF_OK && now > s->broken) iso_sequence_restore(&s->sequence, event);
  free(event);
  if (status == ISOPROOF_OK && now < s->broken) s->broken = now;
  return status;
}

static isoproof_status guess_once(iso_open_stage *s, iso_guess_way way, isoproof_error *error) {
  bool placed;
  return guess_by(s, way, &placed, error);
}

/* Whether clocks are made so soon that pruning by them is the better way than guesses that go on for long. */
static bool pruning_is_quick(const iso_open_stage *s) {
  const uint64_t few_bytes = UINT64_C(128) << 20;
  return iso_event_clocks_bytes(&s->events) <= few_bytes;
}

/* By what the sequence shows; and where that contradicts itself, by values, for as long as that gets better. */
static isoproof_status guess_shown(iso_open_stage *s, isoproof_error *error) {
  enum { ATTEMPTS = 4, ONE_IN = 8 };
  bool placed;
  ISO_TRY(guess_by(s, ISO_GUESS_SHOWN, &placed, error));
  if (pruning_is_quick(s)) return ISOPROOF_OK;
  s->contradicted = !placed;
  bool moves = s->doubt.optional == NULL && !s->assumes; /* moves by values do not know of what is assumed */
  for (int attempt = 0; !placed && moves && attempt < ATTEMPTS; attempt++) {
    uint64_t before = s->broken;
    ISO_TRY(guess_once(s, ISO_GUESS_VALUES, error));
    if (s->broken == 0 || s->broken > before - before / ONE_IN) break;
  }
  return ISOPROOF_OK;
}

/* Where transactions have times, the order of their starts may be nearer to what happened than that of their ends. */
isoproof_status iso_stage_try_starts(iso_open_stage *s, isoproof_error *error) {
  uint64_t now = s->broken;
  if (!s->events.timed || s->broken == 0 || s->last.event != NULL) return ISOPROOF_OK;
  iso_sequence made, other = s->sequence;
  ISO_TRY(iso_sequence_make_by_starts(&s->events, s->task, &made, error));
  s->sequence = made;
  isoproof_status status = iso_stage_count_broken(s, &now, error);
  bool better = status == ISOPROOF_OK && now < s->broken;
  iso_sequence_free(better ? &other : &s->sequence);
  if (better) s->broken = now;
  if (!better) s->sequence = other;
  return status;
}

/* Where few keys are carried out by values, moves go on from there as long as they make it much better, and for some
 * more attempts when little is wrong. */
static isoproof_status guess_values(iso_open_stage *s, iso_guess_way way, int attempts, isoproof_error *error) {
  enum { FEW_BROKEN = 64 };
  bool better = iso_is_crowded(&s->view) && s->doubt.optional == NULL;
  bool few = better && s->broken <= FEW_BROKEN;
  for (int attempt = 0; attempt < attempts && s->broken > 0 && (better || few); attempt++) {
    uint64_t before = s->broken;
    ISO_TRY(guess_once(s, way, error));
    better = s->broken < before / 2;
    few = s->broken <= FEW_BROKEN;
  }
  return s->broken == 0 ? iso_stage_satisfied(s, error) : ISOPROOF_OK;
}

/* Whether a guess left so much wrong that no other one will be right.  Of many transactions that takes long. */
bool iso_stage_is_hopeless(const iso_open_stage *s) {
  enum { MANY = 8192 };
  return s->view.taking_part >= MANY && s->broken > s->view.taking_part && !iso_is_crowded(&s->view);
}

/* Whether so little of a large history is wrong that a search is sooner done with it than another guess. */
bool iso_stage_is_nearly_there(const iso_open_stage *s) {
  enum { MANY = 8192, FEW_BROKEN = 64 };
  if (pruning_is_quick(s)) return false;
  return s->view.taking_part >= MANY && s->broken <= FEW_BROKEN && !iso_is_crowded(&s->view);
}

/* A search for the little that a guess left, which is given up soon. */
isoproof_status iso_stage_search_little(iso_open_stage *s, isoproof_error *error) {
  enum { SOON = 200 };
  uint32_t *event = iso_sequence_copy(&s->sequence);
  if (event == NULL) return iso_fail_memory(error);
  isoproof_status status = iso_stage_search(s, SOON, error);
  if (status == ISOPROOF_OK && !s->out->decided) iso_sequence_restore(&s->sequence, event);
  free(event);
  return status;
}

/* As long as guesses get better; a search comes between them when little is left. */
static isoproof_status guess_on(iso_open_stage *s, isoproof_error *error) {
  enum { ATTEMPTS = 5 };
  for (int attempt = 0; attempt < ATTEMPTS && s->broken > 0 && !iso_stage_is_hopeless(s); attempt++) {
    uint64_t before = s->broken;
    ISO_TRY(guess_shown(s, error));
    if (attempt > 0 && s->broken == before) break;
    if (!iso_stage_is_nearly_there(s)) continue;
    ISO_TRY(iso_stage_search_little(s, error));
    if (s->out->decided || s->broken > before / 2) break;
  }
  return ISOPROOF_OK;
}

/* Guesses that are stuck with next to nothing left begin again from where they began, and take other ways. */
static isoproof_status guess_afresh(iso_open_stage *s, const uint32_t *first, uint64_t broken, isoproof_error *error) {
  enum { TIMES = 12, NEXT_TO_NOTHING = 4, SOME = 1 << 20 };
  const iso_view *v = &s->view;
  bool small = v->read_first[v->h->txns] + v->write_first[v->h->txns] <= SOME;
  isoproof_status status = ISOPROOF_OK;
  for (int i = 0; i < TIMES && status == ISOPROOF_OK && small && iso_stage_is_nearly_there(s) && !s->out->decided;
       i++) {
    uint64_t least = s->broken;
    if (least == 0 || least > NEXT_TO_NOTHING) break;
    uint32_t *best = iso_sequence_copy(&s->sequence);
    if (best == NULL) return iso_fail_memory(error);
    iso_sequence_restore(&s->sequence, first);
    s->broken = broken;
    status = guess_on(s, error);
    if (s->broken > least && !s->out->decided) iso_sequence_restore(&s->sequence, best);
    if (s->broken > least) s->broken = least;
    free(best);
  }
  return status;
}

/* Where sessions tell little, the first sequence is far from right: others are guessed as long as they get better. */
isoproof_status iso_stage_guess(iso_open_stage *s, isoproof_error *error) {
  enum { VALUES = 3, ONE_IN = 4 };
  bool crowded = iso_is_crowded(&s->view), near = s->broken <= s->view.taking_part / ONE_IN;
  near = near || (s->counted && !iso_stage_is_hopeless(s));
  if (crowded || !near) ISO_TRY(guess_once(s, crowded ? ISO_GUESS_REPLAY : ISO_GUESS_KNOWN, error));
  if (crowded) return guess_values(s, ISO_GUESS_VALUES, VALUES, error);
  uint64_t broken = s->broken;
  uint32_t *first = iso_sequence_copy(&s->sequence);
  if (first == NULL) return iso_fail_memory(error);
  isoproof_status status = guess_on(s, error);
  if (status == ISOPROOF_OK) status = guess_afresh(s, first, broken, error);
  free(first);
  if (status != ISOPROOF_OK || s->out->decided) return status;
  return s->broken == 0 ? iso_stage_satisfied(s, error) : ISOPROOF_OK;
}

/* After guesses: a search that does not end soon is given up for more of them, and taken up again. */
isoproof_status iso_stage_search_guessed(iso_open_stage *s, isoproof_error *error) {
  enum { SOON = 1000, VALUES = 6 };
  bool limited = s->most_conflicts > 0 && s->most_conflicts < SOON;
  uint32_t *event = iso_sequence_copy(&s->sequence);
  if (event == NULL) return iso_fail_memory(error);
  isoproof_status status = iso_stage_search(s, limited ? s->most_conflicts : SOON, error);
  bool over = status != ISOPROOF_OK || s->out->decided;
  if (!over) {
    uint64_t before = s->broken;
    iso_sequence_restore(&s->sequence, event);
    status = guess_values(s, ISO_GUESS_MENDED, VALUES, error);
    over = status != ISOPROOF_OK || s->out->decided;
    /* The same once more would end as it did. */
    over = over || (s->broken == before && s->most_conflicts > 0 && s->most_conflicts <= SOON);
  }
  free(event);
  return over ? status : iso_stage_search(s, s->most_conflicts, error);
}
