/* stage.h - one round of deciding a level of a history with open reads: everything that is made of a view.
 *
 * A private header of decide.c.  What a stage owns goes with iso_stage_end, but for the doubt, which lasts for all
 * rounds, and the order of the round before.
 */
#ifndef ISO_CHECK_STRONG_OPEN_STAGE_H
#define ISO_CHECK_STRONG_OPEN_STAGE_H

#include "check/order/value_order.h"
#include "check/strong/open/decide.h"

typedef struct iso_open_stage {
  iso_doubt doubt;
  const iso_strong_rule *rule;
  const iso_strong_level *level;
  const iso_visibility *visibility; /* in place of both */
  const iso_open_start *start;      /* with that, or NULL */
  iso_open_start own_start;         /* a later one */
  bool chooses;                     /* a start was given, and another one may be better */
  const uint8_t *cut;
  uint64_t most_conflicts;
  isoproof_task *task;
  iso_open_decision *out;
  iso_view view;
  iso_open_reads open;
  iso_event_graph events;
  iso_sequence sequence;
  iso_version_store store;
  iso_event_clocks clocks;
  bool has_clocks;
  uint64_t guesses;
  iso_first_sequence last;  /* of the round before */
  uint8_t *core;            /* by open read: a refutation rests on it */
  bool is_excerpt;          /* no excerpts are made of it */
  bool counts;              /* values count up */
  bool counted;             /* and the sequence comes from that */
  bool may_assume;          /* what these would tell may be assumed where guesses are stuck */
  bool wants_to_assume;     /* and is to be */
  bool assumes;             /* and is */
  iso_value_order counting; /* that, where it is */
  bool contradicted;        /* what the last guess showed contradicted itself; the next one leaves something out */
  uint64_t broken;          /* transactions that the sequence does not explain, and orders that it breaks */
} iso_open_stage;

static inline bool iso_stage_has_sessions(const iso_open_stage *stage) { return stage->cut == NULL; }

/* The view of what is settled, and the reads that are open. */
isoproof_status iso_stage_list(iso_open_stage *stage, isoproof_error *error);
/* The events, and a sequence of them. */
isoproof_status iso_stage_build(iso_open_stage *stage, isoproof_error *error);
/* Keeps the order for the next round. */
void iso_stage_keep_sequence(iso_open_stage *stage);
/* What the reads that are open may have observed where the level is refuted, so that a witness can be looked for, and
 * which of them that does without. */
isoproof_status iso_stage_show(iso_open_stage *stage, isoproof_error *error);
void iso_stage_end(iso_open_stage *stage);

/* ---- conclude.c ---- */

iso_examination iso_stage_examination(iso_open_stage *stage);
/* The sequence explains everything: the open reads are settled by it, and it goes into the decision. */
isoproof_status iso_stage_satisfied(iso_open_stage *stage, isoproof_error *error);
/* Nothing satisfies the level. */
isoproof_status iso_stage_refuted(iso_open_stage *stage);
isoproof_status iso_stage_search(iso_open_stage *stage, uint64_t most_conflicts, isoproof_error *error);

/* ---- guesses.c ---- */

isoproof_status iso_stage_count_broken(iso_open_stage *stage, uint64_t *broken, isoproof_error *error);
/* By the times of starts, where there are times and that is better. */
isoproof_status iso_stage_try_starts(iso_open_stage *stage, isoproof_error *error);
/* ---- counted.c ---- */

/* By values that count up: a look whether they explain all.  Where other guesses are stuck, or take long because the
 * history is large, a serial order that begins there and is mended. */
isoproof_status iso_stage_try_counting(iso_open_stage *stage, bool stuck, isoproof_error *error);
/* Whether guesses are stuck, and what values tell may be assumed then. */
bool iso_stage_may_assume(const iso_open_stage *stage);
/* Takes what values tell for known: what is found then is found, what is refuted then is not.  Not *useful where they
 * tell nothing. */
isoproof_status iso_stage_assume(iso_open_stage *stage, bool *useful, isoproof_error *error);

/* ---- guesses.c ---- */

/* Whether a guess left so much wrong that no other one will be right, and so little of a large history that a search is
 * sooner done with it. */
bool iso_stage_is_hopeless(const iso_open_stage *stage);
bool iso_stage_is_nearly_there(const iso_open_stage *stage);
/* Makes other sequences, each of which stays when it is no worse, with short searches between them. */
isoproof_status iso_stage_guess(iso_open_stage *stage, isoproof_error *error);
/* A search for the little that a guess left, which is given up soon. */
isoproof_status iso_stage_search_little(iso_open_stage *stage, isoproof_error *error);
/* After guesses: a search that does not end soon is given up for more of them, and taken up again. */
isoproof_status iso_stage_search_guessed(iso_open_stage *stage, isoproof_error *error);

#endif
