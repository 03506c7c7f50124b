/* admit.c - claims on keys: which transactions may run at the same time.
 *
 * A transaction queues a claim for every key that it will write, all at once, and may begin when all are granted.
 * Claims of one key are granted first come, first served: one exclusive claim, or any number of shared ones.  As
 * everybody queues everywhere at one moment, a transaction only ever waits for one that queued earlier, and none waits
 * forever.
 */
#include "database/sim/sim.h"

static bool grantable(const iso_sim_claim *claim) {
  const iso_sim_claim *before = claim->previous;
  return before == NULL || (before->granted && !before->exclusive && !claim->exclusive);
}

bool iso_sim_claim_all(iso_sim *sim, uint32_t number) {
  iso_sim_session *session = &sim->sessions[number];
  session->claims_open = 0;
  for (size_t i = 0; i < session->claims.count; i++) {
    iso_sim_claim *claim = &session->claims.items[i];
    iso_sim_key *key = &sim->keys.items[claim->key];
    claim->previous = key->last;
    claim->next = NULL;
    if (key->last != NULL)
      key->last->next = claim;
    else
      key->first = claim;
    key->last = claim;
    claim->granted = grantable(claim);
    session->claims_open += !claim->granted;
  }
  return session->claims_open == 0;
}

static void grant(iso_sim *sim, iso_sim_claim *claim) {
  iso_sim_session *session = &sim->sessions[claim->session];
  claim->granted = true;
  if (--session->claims_open > 0) return;
  session->phase = ISO_SIM_ADMITTED;
  iso_sim_make_runnable(sim, claim->session);
}

void iso_sim_release_all(iso_sim *sim, uint32_t number) {
  iso_sim_session *session = &sim->sessions[number];
  for (size_t i = 0; i < session->claims.count; i++) {
    iso_sim_claim *claim = &session->claims.items[i];
    iso_sim_key *key = &sim->keys.items[claim->key];
    if (claim->previous != NULL)
      claim->previous->next = claim->next;
    else
      key->first = claim->next;
    if (claim->next != NULL)
      claim->next->previous = claim->previous;
    else
      key->last = claim->previous;
    /* Those behind it, up to the first that still cannot run.  The granted ones are the head of the queue, so when one
       is right behind, the first that waits has whom it had before it, and still waits. */
    for (iso_sim_claim *behind = claim->next; behind != NULL && !behind->granted && grantable(behind);
         behind = behind->next)
      grant(sim, behind);
  }
  session->claims.count = 0;
}
