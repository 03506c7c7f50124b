/* The certificates of satisfied levels: from the orders that the engines found, each judged before it is kept. */
#include <stdlib.h>

#include "check/level_check.h"
#include "check/observations.h"
#include "verify/certificate.h"

/* Has the events judged, and keeps them when they prove the level. */
static isoproof_status admit(isoproof_history *history, const isoproof_level_info *level, iso_claim claim,
                             isoproof_certificate_event *events, isoproof_task *task, iso_certificates *to,
                             isoproof_error *error) {
  isoproof_edge *observed = NULL;
  isoproof_status status = iso_observations_list(history, task, &observed, &claim.observed_count, error);
  claim.events = events;
  claim.observed = observed;
  if (status == ISOPROOF_OK && (level == NULL || to->count == ISO_CERTIFICATES_MOST)) {
    status = iso_fail(error, ISOPROOF_ERR_INTERNAL, "no place for a certificate");
  }
  if (status == ISOPROOF_OK) status = iso_verify_order(history, &claim, task, error);
  if (status == ISOPROOF_OK) {
    to->items[to->count++] = (iso_certificate){.level = level,
                                               .events = events,
                                               .count = claim.count,
                                               .observed = observed,
                                               .observed_count = claim.observed_count};
  } else {
    free(events);
    free(observed);
  }
  return status;
}

/* ---- levels that were searched for ---- */

/* Where transactions have levels of their own, only those that read a snapshot begin before they commit. */
static bool is_whole(const isoproof_history *h, const iso_strong *strong, uint32_t txn) {
  if (!strong->split || strong->level->rule != ISO_RULE_MIXED) return !strong->split;
  iso_txn_isolation own = iso_history_isolation(h, txn);
  return own != ISO_ISOLATION_PREFIX && own != ISO_ISOLATION_SNAPSHOT_ISOLATION;
}

static isoproof_certificate_event *strong_events(const isoproof_history *h, const iso_strong *strong, size_t *count) {
  isoproof_certificate_event *events = iso_alloc(strong->sequence_count, sizeof *events);
  *count = 0;
  for (uint32_t i = 0; events != NULL && i < strong->sequence_count; i++) {
    uint32_t event = strong->sequence[i], txn = strong->split ? event / 2 : event;
    bool begins = strong->split && event % 2 == 0, whole = is_whole(h, strong, txn);
    if (begins && whole) continue;
    events[*count].txn = txn;
    events[(*count)++].kind = whole ? ISOPROOF_EVENT_TXN : begins ? ISOPROOF_EVENT_BEGIN : ISOPROOF_EVENT_COMMIT;
  }
  return events;
}

static isoproof_status certify_strong(isoproof_history *history, const iso_strong *strong, isoproof_task *task,
                                      iso_certificates *certificates, isoproof_error *error) {
  iso_claim claim = {.rule = &iso_rule_judge_of(strong->level->rule)->order,
                     .session_order = strong->level->session_order,
                     .real_time = strong->level->real_time};
  const isoproof_level_info *level = isoproof_level_at(strong->level->level);
  if (strong->split && !claim.rule->split && !claim.rule->own_levels) {
    /* Begins and commits of a level without them: snapshot isolation, which implies it, was found to hold. */
    claim.rule = &iso_rule_judge_of(ISO_RULE_SNAPSHOT)->order;
    level = isoproof_level_at(ISO_LEVEL_SNAPSHOT_ISOLATION);
  }
  isoproof_certificate_event *events = strong_events(history, strong, &claim.count);
  return events != NULL ? admit(history, level, claim, events, task, certificates, error) : iso_fail_memory(error);
}

/* ---- levels of axioms ---- */

static isoproof_status certify_weak(iso_weak *weak, iso_axiom axiom, isoproof_task *task,
                                    iso_certificates *certificates, isoproof_error *error) {
  iso_order order;
  ISO_TRY(iso_weak_order(weak, axiom, task, &order, error));
  isoproof_certificate_event *events = iso_alloc(order.count, sizeof *events);
  iso_claim claim = {.rule = &iso_axiom_judge_of(axiom)->order, .session_order = true, .count = order.count};
  for (uint32_t i = 0; events != NULL && i < order.count; i++) {
    events[i] = (isoproof_certificate_event){.txn = order.sequence[i], .kind = ISOPROOF_EVENT_TXN};
  }
  iso_order_free(&order);
  if (events == NULL) return iso_fail_memory(error);
  const isoproof_level_info *level = iso_axiom_level(axiom);
  return admit((isoproof_history *)(uintptr_t)weak->view.h, level, claim, events, task, certificates, error);
}

/* ---- all levels ---- */

/* Whether the level was entered as satisfied. */
static bool is_satisfied(const isoproof_result *result, const isoproof_level_info *level) {
  for (size_t i = 0; i < result->level_count; i++) {
    if (result->levels[i].info == level) return result->levels[i].verdict == ISOPROOF_SATISFIED;
  }
  return false;
}

static isoproof_status certify_all(isoproof_result *result, iso_level_check *check, isoproof_task *task,
                                   isoproof_error *error) {
  iso_certificates *made = &result->certificates;
  for (size_t i = 0; i < check->strong.count; i++) {
    const iso_strong *strong = &check->strong.items[i];
    const isoproof_level_info *level = isoproof_level_at(strong->level->level);
    if (!is_satisfied(result, level) || iso_certificate_of(made, level) != NULL) continue;
    ISO_TRY(certify_strong(result->history, strong, task, made, error));
  }
  /* From the strongest down: what proves one level proves those that it implies. */
  for (size_t i = ISO_AXIOMS; i-- > 0;) {
    const isoproof_level_info *level = iso_axiom_level((iso_axiom)i);
    if (iso_axiom_judge_of((iso_axiom)i)->order.judge == NULL || !check->has_weak) continue;
    if (!is_satisfied(result, level) || iso_certificate_of(made, level) != NULL) continue;
    ISO_TRY(certify_weak(&check->weak, (iso_axiom)i, task, made, error));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_certify(isoproof_result *result, iso_level_check *check, isoproof_task *task,
                            isoproof_error *error) {
  result->has_certificates = true;
  isoproof_status status = certify_all(result, check, task, error);
  if (status == ISOPROOF_OK) return ISOPROOF_OK;
  iso_certificates_free(&result->certificates);
  /* The verdicts are there already: a limit takes nothing but the certificates away. */
  if (status == ISOPROOF_ERR_TIMEOUT) result->uncertified = "the time limit was reached";
  if (status == ISOPROOF_ERR_MEMORY) result->uncertified = "memory ran out";
  if (status == ISOPROOF_ERR_CANCELLED && check->left_reason != NULL) result->uncertified = "interrupted";
  return result->uncertified != NULL ? ISOPROOF_OK : status;
}
