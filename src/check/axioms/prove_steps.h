/* prove_steps.h - the steps that the proofs of the axioms are made of.  They are added to the reasons of a proof; false
 * when there is no such step, or memory is out. */
#ifndef ISO_CHECK_AXIOMS_PROVE_STEPS_H
#define ISO_CHECK_AXIOMS_PROVE_STEPS_H

#include "check/axioms/shortest_proof.h"

bool iso_prove_so(iso_proof *proof, uint32_t from, uint32_t to);
/* `to` saw what view->reads[read] says; ISO_NO_OP is none. */
bool iso_prove_wr(iso_proof *proof, const iso_view *view, uint32_t to, uint32_t read);
/* The shortest path of SO and WR. */
bool iso_prove_causal_path(iso_prover *prover, uint32_t from, uint32_t to, iso_proof *proof);

bool iso_prove_is_before(const isoproof_history *history, uint32_t from, uint32_t to);
/* The place of a read of t3 from t2: any, or one of another key before the read `before`; ISO_NO_OP when there is none.
 */
uint32_t iso_prove_read_from(const iso_view *view, uint32_t t2, uint32_t t3, uint32_t before);
/* A transaction before `last` in its session that reads from t2; ISO_NO_TXN when there is none. */
uint32_t iso_prove_session_reader(const iso_view *view, uint32_t t2, uint32_t last);

#endif
