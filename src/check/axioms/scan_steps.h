/* scan_steps.h - the steps that the scans of the axioms are made of.
 *
 * Each works on one transaction; what it needs of those before it in the session the scanner remembers.  A scanner
 * belongs to iso_scan_sessions, and memory that runs out is noted in it.
 */
#ifndef ISO_CHECK_AXIOMS_SCAN_STEPS_H
#define ISO_CHECK_AXIOMS_SCAN_STEPS_H

#include "check/axioms/scan.h"

/* Whether a transaction has no read that anything can follow from. */
bool iso_scan_is_idle(const iso_scanner *scanner, uint32_t txn);
/* Collects the transactions that t3 reads from; false when memory is out. */
bool iso_scan_collect(iso_scanner *scanner, uint32_t t3);

/* t2 that t3 reads from (after iso_scan_collect): the smaller of what t2 wrote and what t3 reads is looked up in the
 * larger, so that all transactions together take n^1.5.  `in_program_order`: only where t3 read another key from t2
 * before. */
void iso_scan_force_sources(iso_scanner *scanner, uint32_t t3, bool in_program_order);
/* t2 before t3 in its session: the last writer of the key there, as iso_scan_note_writes noted it. */
void iso_scan_force_own_session(const iso_scanner *scanner, uint32_t t3);
void iso_scan_note_writes(const iso_scanner *scanner, uint32_t txn);
/* t2 that the session at hand remembers; and remembering those just collected. */
void iso_scan_force_remembered(const iso_scanner *scanner, uint32_t session, uint32_t t3);
void iso_scan_remember_sources(iso_scanner *scanner, uint32_t session);
/* The same for everybody who reads from `middle`. */
void iso_scan_force_readers(const iso_scanner *scanner, uint32_t session, uint32_t middle);
/* t2 before a transaction that t3 reads from, in the session of that one. */
void iso_scan_force_before_sources(const iso_scanner *scanner, uint32_t t3);

#endif
