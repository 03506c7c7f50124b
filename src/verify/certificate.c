/* An order of events: is everybody in it, and does it keep sessions and real time?  Then the rule is asked. */
#include "verify/certificate.h"

#include <stdlib.h>

#include "base/vector.h"
#include "history/effect.h"
#include "history/real_time.h"

isoproof_status iso_refuse(const iso_placed *p, uint64_t txn, const char *why, isoproof_error *error) {
  char name[64];
  isoproof_history_txn_name(p->h, txn, name, sizeof name);
  return iso_fail(error, ISOPROOF_ERR_INTERNAL, "the order of a certificate does not hold: %s %s", name, why);
}

/* Whether the level of a transaction gives it a begin of its own. */
static bool reads_snapshot(const isoproof_history *h, uint32_t txn) {
  iso_txn_isolation level = iso_history_isolation(h, txn);
  return level == ISO_ISOLATION_PREFIX || level == ISO_ISOLATION_SNAPSHOT_ISOLATION;
}

/* Puts every event in its place, each once. */
static isoproof_status place_events(iso_placed *p, isoproof_error *error) {
  const iso_claim *claim = p->claim;
  for (uint32_t i = 0; i < claim->count; i++) {
    const isoproof_certificate_event *event = &claim->events[i];
    if (event->txn >= p->h->txns) return iso_refuse(p, event->txn, "does not exist", error);
    uint32_t txn = (uint32_t)event->txn;
    if (!p->counts[txn]) return iso_refuse(p, txn, "took no effect", error);
    bool split = claim->rule->own_levels ? reads_snapshot(p->h, txn) : claim->rule->split;
    if (split != (event->kind != ISOPROOF_EVENT_TXN)) return iso_refuse(p, txn, "has an event of a wrong kind", error);
    if (event->kind != ISOPROOF_EVENT_COMMIT) {
      if (p->begin[txn] != ISO_NOT_PLACED) return iso_refuse(p, txn, "stands in it twice", error);
      p->begin[txn] = i;
    }
    if (event->kind != ISOPROOF_EVENT_BEGIN) {
      if (p->begin[txn] == ISO_NOT_PLACED) return iso_refuse(p, txn, "commits before it begins", error);
      if (p->commit[txn] != ISO_NOT_PLACED) return iso_refuse(p, txn, "stands in it twice", error);
      p->commit[txn] = i;
    }
  }
  for (uint32_t txn = 0; txn < p->h->txns; txn++) {
    if (p->counts[txn] && p->commit[txn] == ISO_NOT_PLACED) return iso_refuse(p, txn, "is missing", error);
  }
  return ISOPROOF_OK;
}

static isoproof_status check_sessions(const iso_placed *p, isoproof_error *error) {
  const isoproof_history *h = p->h;
  for (uint32_t session = 0; session < h->sessions; session++) {
    uint32_t last = ISO_NOT_PLACED;
    for (uint32_t txn = h->session_first_txn[session]; txn < h->session_first_txn[session + 1]; txn++) {
      if (!p->counts[txn]) continue;
      if (last != ISO_NOT_PLACED && p->begin[txn] < last) {
        return iso_refuse(p, txn, "comes before one that precedes it in its session", error);
      }
      last = p->commit[txn];
    }
  }
  return ISOPROOF_OK;
}

/* Nobody may come after one that started when it had ended already: the latest start so far tells. */
static isoproof_status check_real_time(const iso_placed *p, isoproof_error *error) {
  const isoproof_history *h = p->h;
  if (!iso_has_real_time(h))
    return iso_fail(error, ISOPROOF_ERR_INTERNAL, "a certificate speaks of times without times");
  int64_t latest = INT64_MIN;
  for (size_t i = 0; i < p->claim->count; i++) {
    const isoproof_certificate_event *event = &p->claim->events[i];
    uint32_t txn = (uint32_t)event->txn;
    if (event->kind != ISOPROOF_EVENT_COMMIT && iso_real_start(h, txn) > latest) latest = iso_real_start(h, txn);
    if (event->kind != ISOPROOF_EVENT_BEGIN && iso_real_end(h, txn) < latest) {
      return iso_refuse(p, txn, "comes after one that started when it had ended", error);
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status verify(iso_placed *p, isoproof_error *error) {
  const iso_claim *claim = p->claim;
  ISO_TRY(place_events(p, error));
  if (claim->observed_count > 0) ISO_TRY(iso_place_observed(p, error));
  if (claim->session_order || claim->rule->visibility) ISO_TRY(check_sessions(p, error));
  if (claim->real_time) ISO_TRY(check_real_time(p, error));
  ISO_TRY(iso_task_check(p->task, error));
  return claim->rule->judge(p, error);
}

isoproof_status iso_verify_order(isoproof_history *history, const iso_claim *claim, isoproof_task *task,
                                 isoproof_error *error) {
  if (claim->count >= ISO_NOT_PLACED) return iso_fail(error, ISOPROOF_ERR_LIMIT, "the certificate is too long");
  iso_placed p = {.h = history, .claim = claim, .task = task};
  ISO_TRY(iso_history_effect(history, task, &p.counts, error));
  p.begin = iso_alloc(history->txns, sizeof *p.begin);
  p.commit = iso_alloc(history->txns, sizeof *p.commit);
  isoproof_status status = p.begin != NULL && p.commit != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  for (uint32_t txn = 0; status == ISOPROOF_OK && txn < history->txns; txn++) {
    p.begin[txn] = p.commit[txn] = ISO_NOT_PLACED;
  }
  if (status == ISOPROOF_OK) status = verify(&p, error);
  free(p.begin);
  free(p.commit);
  free(p.counts);
  free(p.claimed);
  return status;
}
