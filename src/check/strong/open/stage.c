/* From what is settled to a view, its events and a sequence; and back, where the level is refuted. */
#include "check/strong/open/stage.h"

#include <stdlib.h>
#include <string.h>

#include "check/strong/open/guess.h"

void iso_stage_end(iso_open_stage *s) {
  iso_event_clocks_free(&s->clocks);
  iso_version_store_free(&s->store);
  iso_sequence_free(&s->sequence);
  iso_event_graph_free(&s->events);
  iso_open_reads_free(&s->open);
  iso_view_free(&s->view);
  free(s->core);
  s->core = NULL;
  memset(&s->sequence, 0, sizeof s->sequence);
  memset(&s->clocks, 0, sizeof s->clocks);
  memset(&s->events, 0, sizeof s->events);
  s->has_clocks = false;
}

isoproof_status iso_stage_list(iso_open_stage *s, isoproof_error *error) {
  iso_stage_end(s);
  return iso_open_reads_list(&s->doubt, s->task, &s->view, &s->open, error);
}

/* Optional transactions are chains of their own, so that nothing is known to come after them. */
static void cut_optional(const iso_open_stage *s, uint8_t *cut) {
  const isoproof_history *h = s->doubt.history;
  memset(cut, 0, h->txns);
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    if (!iso_is_optional(&s->doubt, txn)) continue;
    cut[txn] = 1;
    if (txn + 1 < h->txns) cut[txn + 1] = 1;
  }
}

static isoproof_status follow(iso_open_stage *s, uint32_t from, uint32_t to, isoproof_error *error) {
  if (from == ISO_NO_TXN) return ISOPROOF_OK;
  iso_derived edge = {.from = iso_event_commit(&s->events, from), .to = iso_event_begin(&s->events, to)};
  edge.reason = ISO_CHOSEN;
  return iso_event_graph_add(&s->events, edge, error);
}

/* They come after those before them in their session, and who comes after them there comes after those as well. */
static isoproof_status join_sessions(iso_open_stage *s, isoproof_error *error) {
  for (uint32_t txn = 0; txn < s->view.h->txns; txn++) {
    if (!s->view.counts[txn]) continue;
    uint32_t chain = s->events.chain_of[txn], previous = iso_open_previous(&s->open, txn);
    if (previous != ISO_NO_TXN && s->events.chain_of[previous] != chain) ISO_TRY(follow(s, previous, txn, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status make_events(iso_open_stage *s, iso_event_shape shape, isoproof_error *error) {
  bool plain = s->doubt.optional == NULL || !iso_stage_has_sessions(s);
  if (plain) return iso_event_graph_make(&s->view, shape, s->cut, &s->events, error);
  uint8_t *cut = iso_alloc(s->view.h->txns, 1);
  if (cut == NULL) return iso_fail_memory(error);
  cut_optional(s, cut);
  isoproof_status status = iso_event_graph_make(&s->view, shape, cut, &s->events, error);
  if (status == ISOPROOF_OK) status = join_sessions(s, error);
  free(cut);
  return status;
}

/* As near to the order of the round before as what is known by now allows. */
static isoproof_status make_sequence(iso_open_stage *s, isoproof_error *error) {
  bool fresh = s->last.event == NULL || s->last.events != s->events.count;
  if (fresh) return iso_sequence_make(&s->events, s->task, &s->sequence, error);
  int64_t *when = iso_alloc_zero(s->events.count, sizeof *when);
  if (when == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < s->last.count; i++) when[s->last.event[i]] = i;
  isoproof_status status = iso_sequence_make_by(&s->events, when, s->task, &s->sequence, error);
  free(when);
  return status;
}

void iso_stage_keep_sequence(iso_open_stage *s) {
  free(s->last.event);
  s->last = (iso_first_sequence){.event = s->sequence.event, .count = s->sequence.count, .events = s->events.count};
  s->sequence.event = NULL;
}

isoproof_status iso_stage_build(iso_open_stage *s, isoproof_error *error) {
  iso_event_shape shape = {.split = false};
  if (s->visibility == NULL) {
    shape = (iso_event_shape){
        .split = s->rule->split, .ww_to_commit = s->rule->ww_to_commit, .real_time = s->level->real_time};
  }
  s->core = iso_alloc_zero(s->open.reads.count, 1);
  if (s->core == NULL) return iso_fail_memory(error);
  ISO_TRY(make_events(s, shape, error));
  ISO_TRY(make_sequence(s, error));
  return iso_version_store_make(&s->view, &s->store, error);
}

/* A sequence that keeps to what is known, without what was found to follow from that and to contradict itself. */
static isoproof_status need_sequence(iso_open_stage *s, bool *whole, isoproof_error *error) {
  *whole = s->sequence.event != NULL && s->sequence.count == s->sequence.total;
  if (*whole || s->events.view == NULL) return ISOPROOF_OK;
  iso_event_graph_drop(&s->events, 0);
  iso_sequence_free(&s->sequence);
  ISO_TRY(make_sequence(s, error));
  *whole = s->sequence.count == s->sequence.total;
  return ISOPROOF_OK;
}

isoproof_status iso_stage_show(iso_open_stage *s, isoproof_error *error) {
  iso_open_guess how = {.open = &s->open, .events = &s->events};
  iso_open_decision *out = s->out;
  bool simple = s->doubt.optional == NULL && s->open.counts.count == 0;
  if (!simple || s->doubt.hopeless) return ISOPROOF_OK;
  ISO_TRY(need_sequence(s, &out->has_core, error));
  if (!out->has_core) return ISOPROOF_OK;
  for (size_t i = 0; i < s->open.reads.count; i++) {
    if (!s->core[i] && !iso_vec_push(&out->left, s->open.reads.items[i].op)) return iso_fail_memory(error);
  }
  return iso_open_show(&how, &s->sequence, &s->doubt, error);
}
