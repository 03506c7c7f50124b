#include "check/certificate.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "verify/certificate.h"

void iso_certificates_free(iso_certificates *certificates) {
  for (size_t i = 0; i < certificates->count; i++) free(certificates->items[i].events);
  certificates->count = 0;
}

const iso_certificate *iso_certificate_of(const iso_certificates *certificates, const isoproof_level_info *level) {
  for (size_t i = 0; i < certificates->count; i++) {
    if (isoproof_level_implies(certificates->items[i].level, level)) return &certificates->items[i];
  }
  return NULL;
}

void iso_certificates_take(iso_certificates *to, iso_certificates *from) {
  for (size_t i = 0; i < from->count; i++) {
    iso_certificate *item = &from->items[i];
    if (to->count == ISO_CERTIFICATES_MOST || iso_certificate_of(to, item->level) != NULL) continue;
    to->items[to->count++] = *item;
    item->events = NULL;
  }
  iso_certificates_free(from);
}

/* Has the events judged, and keeps them when they prove the level. */
static isoproof_status admit(isoproof_history *history, const isoproof_level_info *level, iso_claim claim,
                             isoproof_certificate_event *events, isoproof_task *task, iso_certificates *to,
                             isoproof_error *error) {
  isoproof_status status = ISOPROOF_OK;
  claim.events = events;
  if (level == NULL || to->count == ISO_CERTIFICATES_MOST) {
    status = iso_fail(error, ISOPROOF_ERR_INTERNAL, "no place for a certificate");
  }
  if (status == ISOPROOF_OK) status = iso_verify_order(history, &claim, task, error);
  if (status == ISOPROOF_OK) {
    to->items[to->count++] = (iso_certificate){.level = level, .events = events, .count = claim.count};
  } else {
    free(events);
  }
  return status;
}

/* ---- levels that were searched for ---- */

static isoproof_certificate_event *strong_events(const iso_strong *strong) {
  isoproof_certificate_event *events = iso_alloc(strong->sequence_count, sizeof *events);
  for (uint32_t i = 0; events != NULL && i < strong->sequence_count; i++) {
    uint32_t event = strong->sequence[i];
    isoproof_certificate_event_kind half = event % 2 == 0 ? ISOPROOF_EVENT_BEGIN : ISOPROOF_EVENT_COMMIT;
    events[i].txn = strong->split ? event / 2 : event;
    events[i].kind = strong->split ? half : ISOPROOF_EVENT_TXN;
  }
  return events;
}

static iso_claim_rule claim_of(iso_rule rule) {
  static const iso_claim_rule claims[ISO_RULES] = {[ISO_RULE_SERIALIZABLE] = ISO_CLAIM_SERIALIZABLE,
                                                   [ISO_RULE_SNAPSHOT] = ISO_CLAIM_SNAPSHOT,
                                                   [ISO_RULE_PREFIX] = ISO_CLAIM_PREFIX,
                                                   [ISO_RULE_PARALLEL] = ISO_CLAIM_PARALLEL,
                                                   [ISO_RULE_UPDATE_ATOMIC] = ISO_CLAIM_UPDATE_ATOMIC};
  return claims[rule];
}

isoproof_status iso_certify_strong(isoproof_history *history, const iso_strong *strong, isoproof_task *task,
                                   iso_certificates *certificates, isoproof_error *error) {
  iso_claim claim = {.rule = claim_of(strong->level->rule),
                     .session_order = strong->level->session_order,
                     .real_time = strong->level->real_time,
                     .count = strong->sequence_count};
  const isoproof_level_info *level = iso_strong_info(strong->level);
  if (strong->split && !iso_rule_is_split(strong->level->rule)) {
    /* Begins and commits of a level without them: snapshot isolation, which implies it, was found to hold. */
    claim.rule = ISO_CLAIM_SNAPSHOT;
    level = isoproof_level_find_in("snapshot-isolation", ISOPROOF_LEVEL_BASE);
  }
  isoproof_certificate_event *events = strong_events(strong);
  return events != NULL ? admit(history, level, claim, events, task, certificates, error) : iso_fail_memory(error);
}

/* ---- levels of axioms ---- */

static iso_claim_rule claim_of_axiom(iso_axiom axiom) {
  if (axiom == ISO_AXIOM_CAUSAL) return ISO_CLAIM_CAUSAL;
  return axiom == ISO_AXIOM_READ_ATOMIC ? ISO_CLAIM_READ_ATOMIC : ISO_CLAIM_READ_COMMITTED;
}

isoproof_status iso_certify_weak(iso_weak *weak, iso_axiom axiom, isoproof_task *task, iso_certificates *certificates,
                                 isoproof_error *error) {
  iso_order order;
  ISO_TRY(iso_weak_order(weak, axiom, task, &order, error));
  isoproof_certificate_event *events = iso_alloc(order.count, sizeof *events);
  iso_claim claim = {.rule = claim_of_axiom(axiom), .session_order = true, .count = order.count};
  for (uint32_t i = 0; events != NULL && i < order.count; i++) {
    events[i] = (isoproof_certificate_event){.txn = order.sequence[i], .kind = ISOPROOF_EVENT_TXN};
  }
  iso_order_free(&order);
  if (events == NULL) return iso_fail_memory(error);
  const isoproof_level_info *level = isoproof_level_find_in(iso_axiom_level(axiom), ISOPROOF_LEVEL_BASE);
  return admit((isoproof_history *)(uintptr_t)weak->view.h, level, claim, events, task, certificates, error);
}
