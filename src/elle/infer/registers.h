/* registers.h - versions of registers, as far as reads, sessions and real time put them in order.
 *
 * Registers are recoverable where values are unique, but not traceable: of their version order only a part is known, by
 * the assumptions of Elle's section 4.2.
 * A version is named by the operation that wrote it; the initial version of key k by ops + k; a value that nobody wrote
 * by a number after those.  The struct owns its columns until iso_registers_free and refers to the history and to
 * `counts`.
 */
#ifndef ISO_ELLE_INFER_REGISTERS_H
#define ISO_ELLE_INFER_REGISTERS_H

#include "elle/infer/orders.h"
#include "graph/dependencies.h"
#include "history/history.h"

#define ISO_NO_VERSION UINT32_MAX

/* What a transaction that counts did to a key, seen from outside. */
typedef struct iso_key_access {
  uint32_t key, txn;
  uint32_t read;    /* the version that it read before it wrote; ISO_NO_VERSION */
  uint32_t written; /* the version that it installed, its last write; ISO_NO_VERSION */
  uint32_t read_op; /* ISO_NO_OP */
  bool wrote;
} iso_key_access;

/* The orders of versions that may be assumed; the initial version always comes first. */
typedef struct iso_register_options {
  bool wfr_keys;                 /* who reads a version and writes another one writes a later one */
  bool sequential_keys;          /* each session sees each key move forward */
  bool linearizable_keys;        /* so does real time */
  const uint32_t *txn_order_opt; /* ranks of transactions, 0 for none: their writes come in that order */
} iso_register_options;

typedef struct iso_registers {
  const isoproof_history *h;
  const iso_resolution *resolution;
  const uint32_t *op_txn;
  const uint8_t *counts;
  uint32_t versions;  /* one more than the last version */
  uint8_t *installed; /* by version: whether it is the last write of the key by somebody who counts */

  iso_key_access *accesses; /* by key, then by transaction */
  uint32_t *access_first;   /* keys + 1 */

  /* Known pairs of earlier and later versions of one key, as rows by the earlier one. */
  uint32_t *after_first; /* versions + 1 */
  uint32_t *after;
  /* In real time (all NULL where that is not assumed): version a comes before b when left[a] <= entered[b]. */
  uint32_t *left;    /* the first instant after some transaction had left it; ISO_NO_INSTANT none */
  uint32_t *entered; /* the last instant before some transaction found or wrote it, + 1; 0 none */

  uint32_t *cyclic;     /* by key: how many times its versions come before themselves */
  uint32_t *cyclic_one; /* by key: two versions on the cycle */
  uint32_t *cyclic_other;
} iso_registers;

isoproof_status iso_registers_make(isoproof_history *history, const uint8_t *counts,
                                   const iso_register_options *options, isoproof_task *task, iso_registers *registers,
                                   isoproof_error *error);
void iso_registers_free(iso_registers *registers);

/* Whether version a is known to come before version b of the same key, directly or by way of versions that nobody who
 * counts installed. */
bool iso_registers_before(const iso_registers *registers, uint32_t a, uint32_t b);
/* Adds WW, WR and RW; keys whose versions are cyclic have WR only. */
isoproof_status iso_registers_edges(const iso_registers *registers, isoproof_task *task, iso_dependency_list *edges,
                                    isoproof_error *error);

#endif
