/* The four session guarantees (Terry et al. 1994), each an axiom about what a session has done or seen before. */
#include "check/axioms/prove_steps.h"
#include "check/axioms/rule.h"
#include "check/axioms/scan_steps.h"

/* ---- read your writes ---- */

static void scan_own_writes(iso_scanner *s, uint32_t session, uint32_t t3) {
  (void)session;
  iso_scan_force_own_session(s, t3);
  iso_scan_note_writes(s, t3);
}

static bool prove_own_writes(iso_prover *p, const iso_instance *instance, iso_proof *proof) {
  (void)p;
  return iso_prove_so(proof, instance->t2, instance->t3);
}

const iso_axiom_rule iso_axiom_rule_READ_YOUR_WRITES = {
    .scan = scan_own_writes, .prove = prove_own_writes, .least_reasons = 1};

/* ---- monotonic reads ---- */

static void scan_own_reads(iso_scanner *s, uint32_t session, uint32_t t3) {
  if (!iso_scan_collect(s, t3)) return;
  iso_scan_force_remembered(s, session, t3);
  iso_scan_remember_sources(s, session);
}

static bool prove_own_reads(iso_prover *p, const iso_instance *instance, iso_proof *proof) {
  const iso_view *v = &p->weak->view;
  uint32_t t2 = instance->t2, t3 = instance->t3, reader = iso_prove_session_reader(v, t2, t3);
  return reader != ISO_NO_TXN && iso_prove_wr(proof, v, reader, iso_prove_read_from(v, t2, reader, ISO_NO_OP)) &&
         iso_prove_so(proof, reader, t3);
}

const iso_axiom_rule iso_axiom_rule_MONOTONIC_READS = {
    .scan = scan_own_reads, .needs_groups = true, .prove = prove_own_reads, .least_reasons = 2};

/* ---- monotonic writes ---- */

static void scan_writes(iso_scanner *s, uint32_t session, uint32_t t3) {
  (void)session;
  if (!iso_scan_is_idle(s, t3) && iso_scan_collect(s, t3)) iso_scan_force_before_sources(s, t3);
}

static bool prove_writes(iso_prover *p, const iso_instance *instance, iso_proof *proof) {
  const iso_view *v = &p->weak->view;
  uint32_t t2 = instance->t2, t3 = instance->t3;
  for (uint32_t i = v->read_first[t3]; i < v->read_first[t3 + 1]; i++) {
    uint32_t middle = v->reads[i].from;
    if (middle == ISO_INITIAL || !iso_prove_is_before(v->h, t2, middle)) continue;
    return iso_prove_so(proof, t2, middle) && iso_prove_wr(proof, v, t3, i);
  }
  return false;
}

const iso_axiom_rule iso_axiom_rule_MONOTONIC_WRITES = {
    .scan = scan_writes, .needs_groups = true, .prove = prove_writes, .least_reasons = 2};

/* ---- writes follow reads: seen from the transaction in the middle ---- */

static void scan_middle(iso_scanner *s, uint32_t session, uint32_t middle) {
  iso_scan_force_readers(s, session, middle);
  iso_scan_collect(s, middle);
  iso_scan_remember_sources(s, session);
}

static bool prove_middle(iso_prover *p, const iso_instance *instance, iso_proof *proof) {
  const iso_view *v = &p->weak->view;
  uint32_t t2 = instance->t2, t3 = instance->t3;
  for (uint32_t i = v->read_first[t3]; i < v->read_first[t3 + 1]; i++) {
    uint32_t middle = v->reads[i].from;
    if (middle == ISO_INITIAL) continue;
    uint32_t reader = iso_prove_session_reader(v, t2, middle);
    if (reader == ISO_NO_TXN) continue;
    return iso_prove_wr(proof, v, reader, iso_prove_read_from(v, t2, reader, ISO_NO_OP)) &&
           iso_prove_so(proof, reader, middle) && iso_prove_wr(proof, v, t3, i);
  }
  return false;
}

const iso_axiom_rule iso_axiom_rule_WRITES_FOLLOW_READS = {
    .scan = scan_middle, .backwards = true, .needs_groups = true, .prove = prove_middle, .least_reasons = 3};
