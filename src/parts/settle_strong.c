/* A level of version orders: the events and the solver here, the operations with the parts. */
#include <stdlib.h>
#include <string.h>

#include "check/strong/refine.h"
#include "check/strong/unsat_core.h"
#include "parts/coordinator.h"

/* Reads and writers of one part that become requirements at a time: enough to move on, few enough to be sent. */
enum { ENOUGH = 20000 };
/* Of the solver; beyond, everything that follows without a guess is worth finding, which takes the whole history. */
enum { CONFLICTS = 100000 };

/* One level being decided. */
typedef struct {
  iso_coordinator *c;
  const iso_strong_level *level;
  iso_event_graph events;
  iso_sequence sequence;
} decision;

static bool take_edges(iso_taker *in, iso_event_edges *to) {
  uint32_t count = iso_take_u32(in);
  const void *bytes = iso_take_bytes(in, (size_t)count * sizeof *to->items);
  if (in->failed || !iso_vec_reserve(to, count)) return false;
  if (count > 0) memcpy(to->items + to->count, bytes, count * sizeof *to->items);
  to->count += count;
  return true;
}

bool iso_take_requirements(iso_taker *in, iso_requirements *to) {
  uint32_t edges = (uint32_t)to->edges.count, also = (uint32_t)to->also.count, count = iso_take_u32(in);
  for (uint32_t i = 0; i < count && !in->failed; i++) {
    if (!iso_vec_push(&to->first, iso_take_u32(in) + edges)) return false;
  }
  if (!take_edges(in, &to->edges)) return false;
  count = iso_take_u32(in);
  for (uint32_t i = 0; i < count && !in->failed; i++) {
    if (!iso_vec_push(&to->also_first, iso_take_u32(in) + also)) return false;
  }
  return take_edges(in, &to->also);
}

/* Has all parts carry the sequence out (rule.h, examine). */
static isoproof_status examine(const iso_examination *examination, const iso_sequence *sequence,
                               iso_requirements *requirements, uint64_t *broken, isoproof_error *error) {
  decision *d = examination->context;
  iso_coordinator *c = d->c;
  iso_question_head head = {.asks = ISO_ASK_EXECUTE, .rule = (uint32_t)d->level->rule, .enough = ENOUGH};
  ISO_TRY(iso_coordinator_ask(c, head, &d->events, sequence, error));
  *broken = 0;
  for (uint32_t part = 0; part < c->team->parts; part++) {
    iso_taker in;
    ISO_TRY(iso_answer_open(&c->answers[part], &in, error));
    *broken += iso_take_u64(&in);
    if (!iso_take_requirements(&in, requirements)) return iso_fail_memory(error);
    iso_bytes_free(&c->answers[part]);
  }
  c->out->rounds++;
  return ISOPROOF_OK;
}

static isoproof_status violated(decision *d, iso_txn_set *suspects, isoproof_error *error) {
  iso_coordinator_decided(d->c, isoproof_level_at(d->level->level), ISOPROOF_VIOLATED);
  return iso_coordinator_suspect(d->c, suspects, error);
}

static isoproof_status violated_by_cycle(decision *d, isoproof_error *error) {
  iso_txn_set suspects = {.items = NULL};
  ISO_TRY(iso_blame_cycle(&d->events, NULL, d->c->task, &suspects, error));
  return violated(d, &suspects, error);
}

static isoproof_status violated_by_core(decision *d, const iso_requirements *all, isoproof_error *error) {
  iso_requirements core = {.failed = false};
  iso_event_edges edges = {.items = NULL};
  iso_txn_set suspects = {.items = NULL};
  isoproof_task *task = d->c->task;
  isoproof_status status = iso_unsat_core_find(&d->events, NULL, all, task, &core, &edges, error);
  if (status == ISOPROOF_OK) status = iso_blame_core(&d->events, NULL, &core, &edges, task, &suspects, error);
  iso_requirements_free(&core);
  iso_vec_free(&edges);
  return status == ISOPROOF_OK ? violated(d, &suspects, error) : status;
}

static isoproof_status refine(decision *d, isoproof_error *error) {
  iso_strong_rule rule = *iso_strong_rule_of(d->level->rule);
  rule.examine = examine;
  iso_examination examination = {.rule = &rule, .events = &d->events, .task = d->c->task, .context = d};
  iso_refinement refined;
  ISO_TRY(iso_refine(&examination, &d->sequence, NULL, (iso_refine_limits){.conflicts = CONFLICTS}, &refined, error));
  isoproof_status status = ISOPROOF_OK;
  if (refined.outcome == ISO_REFINED_EXPLAINED)
    iso_coordinator_decided(d->c, isoproof_level_at(d->level->level), ISOPROOF_SATISFIED);
  if (refined.outcome == ISO_REFINED_REFUTED) status = violated_by_core(d, &refined.all, error);
  if (refined.outcome == ISO_REFINED_UNKNOWN) d->c->out->reason = "the search over parts took too long";
  iso_refinement_free(&refined);
  return status;
}

static isoproof_status decide(decision *d, const uint8_t *cut, isoproof_error *error) {
  const iso_strong_rule *rule = iso_strong_rule_of(d->level->rule);
  iso_event_shape shape = {
      .split = rule->split, .ww_to_commit = rule->ww_to_commit, .real_time = d->level->real_time, .ungrouped = true};
  ISO_TRY(iso_event_graph_make(&d->c->view, shape, cut, &d->events, error));
  ISO_TRY(iso_coordinator_add_orders(d->c, &d->events, error));
  ISO_TRY(iso_sequence_make(&d->events, d->c->task, &d->sequence, error));
  return d->sequence.count < d->sequence.total ? violated_by_cycle(d, error) : refine(d, error);
}

isoproof_status iso_settle_strong(iso_coordinator *c, const iso_strong_level *level, isoproof_error *error) {
  decision d = {.c = c, .level = level};
  uint8_t *cut = NULL;
  ISO_TRY(iso_coordinator_need_reads(c, error));
  if (!level->session_order) {
    /* Every transaction is a session of its own. */
    cut = iso_alloc(c->h->txns, 1);
    if (cut == NULL) return iso_fail_memory(error);
    memset(cut, 1, c->h->txns);
  }
  isoproof_status status = decide(&d, cut, error);
  iso_event_graph_free(&d.events);
  iso_sequence_free(&d.sequence);
  free(cut);
  return status;
}
