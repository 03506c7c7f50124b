/* team.h - the way of a question to all parts, and of their answers back.
 *
 * A team is a struct of functions, so that the coordinator does not know where its parts are: in this process, all of
 * them or one after the other (local_team.c), or in other processes (mpi/).  It counts what goes over the wire.
 */
#ifndef ISO_PARTS_TEAM_H
#define ISO_PARTS_TEAM_H

#include "parts/question.h"

typedef struct iso_team {
  uint32_t parts;
  /* Asks all parts; answers[part] belongs to the caller.  `asked` is the question as a message, and may be emptied once
   * it was heard. */
  isoproof_status (*ask)(struct iso_team *team, iso_bytes *asked, iso_bytes *answers, isoproof_error *error);
  void *context;
  /* Parts are made for every question; one that is asked alone stays until another one is asked. */
  bool one_by_one;
  uint64_t bytes_asked, bytes_answered, questions; /* one copy of each question; all answers */
} iso_team;

/* Asks, counts, and turns an answer that is a failure into one. */
isoproof_status iso_team_ask(iso_team *team, iso_bytes *asked, iso_bytes *answers, isoproof_error *error);
void iso_answers_free(iso_bytes *answers, uint32_t parts);

/* ---- parts in this process ---- */

typedef struct iso_local_team {
  iso_team team;
  const iso_piece *piece; /* of all transactions */
  iso_part_frame frame;
  iso_member member;
  iso_part *kept; /* by part; made once where `keep`, else one at a time */
  bool *is_made;
  bool keep;
  isoproof_task *task;
} iso_local_team;

/* The piece and the frame must outlive the team, which must stay where it is.  Without `keep`, parts are made anew for
 * every question, one after the other, so that only one is in memory (`one_by_one`). */
isoproof_status iso_local_team_make(const iso_piece *piece, iso_part_frame frame, uint32_t parts, bool keep,
                                    isoproof_task *task, iso_local_team *team, isoproof_error *error);
void iso_local_team_free(iso_local_team *team);

#endif
