/* What ends a round: a sequence that explains all, a refutation, or a search for either. */
#include <stdlib.h>

#include "check/strong/open/stage.h"
#include "history/effect.h"

iso_examination iso_stage_examination(iso_open_stage *s) {
  return (iso_examination){
      .rule = s->rule, .events = &s->events, .clocks = &s->clocks, .store = &s->store, .task = s->task};
}

/* Takes those who take no part out of the sequence. */
static isoproof_status drop_left_out(iso_open_stage *s, isoproof_error *error) {
  uint8_t *counts;
  uint32_t kept = 0;
  if (s->doubt.optional == NULL) return ISOPROOF_OK;
  ISO_TRY(iso_history_effect(s->doubt.history, s->task, &counts, error));
  for (uint32_t i = 0; i < s->sequence.count; i++) {
    uint32_t event = s->sequence.event[i], txn = iso_event_txn(&s->events, event);
    if (txn == ISO_NO_TXN || counts[txn]) s->sequence.event[kept++] = event;
  }
  s->sequence.count = kept;
  free(counts);
  return ISOPROOF_OK;
}

isoproof_status iso_stage_satisfied(iso_open_stage *s, isoproof_error *error) {
  iso_open_decision *out = s->out;
  iso_examination examination = iso_stage_examination(s);
  ISO_TRY(iso_open_settle_all(&examination, &s->sequence, &s->open, &s->doubt, error));
  out->decided = true;
  out->violated = false;
  ISO_TRY(drop_left_out(s, error));
  out->sequence = (iso_first_sequence){
      .event = s->sequence.event, .count = s->sequence.count, .events = s->events.count, .shape = s->events.shape};
  s->sequence.event = NULL;
  return ISOPROOF_OK;
}

isoproof_status iso_stage_refuted(iso_open_stage *s) {
  s->out->decided = s->out->violated = true;
  return ISOPROOF_OK;
}

isoproof_status iso_stage_search(iso_open_stage *s, uint64_t most_conflicts, isoproof_error *error) {
  iso_refined outcome;
  iso_examination examination = iso_stage_examination(s);
  s->out->search.core = s->core;
  ISO_TRY(iso_open_search(&examination, &s->sequence, s->has_clocks ? &s->clocks : NULL, &s->open,
                          iso_stage_has_sessions(s), most_conflicts, &outcome, &s->out->search, error));
  if (outcome == ISO_REFINED_EXPLAINED) return iso_stage_satisfied(s, error);
  return outcome == ISO_REFINED_REFUTED ? iso_stage_refuted(s) : ISOPROOF_OK;
}
