/* rule.h - an axiom as a struct of functions: what it scans for, and how an instance of it is proved.
 *
 * One file of check/axioms/rules per axiom, or per family of axioms; the table is put together from ISO_AXIOM_LIST
 * (level/method.h).  Causal is the strongest of the axioms, and has an engine of its own (check/causal) besides.
 * Everything here is constant.
 */
#ifndef ISO_CHECK_AXIOMS_RULE_H
#define ISO_CHECK_AXIOMS_RULE_H

#include "check/axioms/scan.h"
#include "result/proof.h"

struct iso_prover;
struct iso_instance;

typedef struct iso_axiom_rule {
  /* Forces what follows from the reads of `txn` as t3 (with `backwards`, from those who read from it).  NULL: the scan
   * goes key by key, see iso_scan_causal. */
  void (*scan)(iso_scanner *scanner, uint32_t session, uint32_t txn);
  bool backwards;                       /* the scan looks at each transaction as the one read from */
  bool needs_groups;                    /* the view needs its writers, by session */
  bool breaks_with_non_repeatable_read; /* TAP-j breaks the level too, and is counted as such */

  /* Adds the chain from t2 to t3 that the condition asks for to the reasons of the proof. */
  bool (*prove)(struct iso_prover *prover, const struct iso_instance *instance, iso_proof *proof);
  size_t least_reasons;        /* the fewest steps of such a chain */
  size_t least_reasons_unseen; /* the same where t3 neither follows t2 in its session nor reads from it */
} iso_axiom_rule;

const iso_axiom_rule *iso_axiom_rule_of(iso_axiom axiom);

/* The rules, by the names of ISO_AXIOM_LIST. */
#define ISO_X(name, text) extern const iso_axiom_rule iso_axiom_rule_##name;
ISO_AXIOM_LIST(ISO_X)
#undef ISO_X

#endif
