/* What a single read of a register or a counter gives away. */
#include "check/within/scan.h"

void iso_scan_found(iso_scan *scan, iso_tap tap, uint32_t op, uint32_t seen, uint32_t other, uint32_t element) {
  iso_findings_add(&scan->findings, (iso_finding){(uint32_t)tap, op, seen, other, element});
}

void iso_scan_saw(iso_scan *scan, iso_key_state *state, uint32_t op, uint32_t from_txn) {
  if (state->first_read == ISO_NO_OP) {
    state->first_read = op;
    state->first_from = from_txn;
  } else if (state->first_from != from_txn && !state->varied) {
    state->varied = true;
    iso_scan_found(scan, ISO_TAP_J, op, ISO_NO_OP, state->first_read, 0);
  }
}

void iso_scan_write(iso_scan *scan, uint32_t op) {
  const isoproof_history *h = scan->shared->h;
  iso_key_state *state = iso_scan_key(scan, h->op_key[op]);
  state->own_write = op;
  state->own_writes++;
  int64_t increment;
  if (h->op_kind[op] == ISOPROOF_OP_INCREMENT && iso_pool_integer(&h->pool, h->op_value[op], &increment)) {
    state->own_sum = (int64_t)((uint64_t)state->own_sum + (uint64_t)increment);
  }
}

/* A read that observed another transaction's write `seen`: TAP-d where the reader wrote the key before, TAP-f where the
 * write is not the writer's last. */
static void saw_other(iso_scan *scan, iso_key_state *state, uint32_t op, uint32_t seen, uint32_t writer) {
  const iso_scan_shared *shared = scan->shared;
  if (shared->h->txn_status[writer] == ISOPROOF_TXN_ABORTED) {
    iso_scan_found(scan, ISO_TAP_B, op, seen, ISO_NO_OP, 0);
    return;
  }
  if (state->own_write != ISO_NO_OP) iso_scan_found(scan, ISO_TAP_D, op, seen, state->own_write, 0);
  if (iso_scan_overwritten(shared, seen)) {
    iso_scan_found(scan, ISO_TAP_F, op, seen, iso_scan_next_write(shared, seen), 0);
  }
  iso_scan_saw(scan, state, op, writer);
}

void iso_scan_register_read(iso_scan *scan, uint32_t txn, uint32_t op) {
  const iso_scan_shared *shared = scan->shared;
  iso_key_state *state = iso_scan_key(scan, shared->h->op_key[op]);
  uint32_t seen = shared->resolution->writer[op];
  if (seen == ISO_NO_OP) return; /* whatever it saw is left open */
  if (seen == ISO_FROM_NOBODY) {
    iso_scan_found(scan, ISO_TAP_A, op, ISO_NO_OP, ISO_NO_OP, 0);
  } else if (seen == ISO_FROM_INITIAL) {
    if (state->own_write != ISO_NO_OP) iso_scan_found(scan, ISO_TAP_D, op, ISO_FROM_INITIAL, state->own_write, 0);
    iso_scan_saw(scan, state, op, ISO_FROM_INITIAL);
  } else if (iso_op_txn(&shared->op_index, seen) != txn) {
    saw_other(scan, state, op, seen, iso_op_txn(&shared->op_index, seen));
  } else if (seen > op) {
    iso_scan_found(scan, ISO_TAP_C, op, seen, ISO_NO_OP, 0);
  } else if (seen != state->own_write) {
    iso_scan_found(scan, ISO_TAP_E, op, seen, state->own_write, 0);
  }
}

/* Two reads of a counter within one transaction differ by its own increments between them, or by somebody else's. */
void iso_scan_counter_read(iso_scan *scan, uint32_t op) {
  const isoproof_history *h = scan->shared->h;
  iso_key_state *state = iso_scan_key(scan, h->op_key[op]);
  int64_t value = 0;
  if (h->op_value[op] != ISO_VALUE_NIL && !iso_pool_integer(&h->pool, h->op_value[op], &value)) return;
  int64_t others = (int64_t)((uint64_t)value - (uint64_t)state->own_sum);
  if (state->first_read == ISO_NO_OP) {
    state->first_read = op;
    state->counter = others;
  } else if (others != state->counter && !state->varied) {
    state->varied = true;
    iso_scan_found(scan, ISO_TAP_J, op, ISO_NO_OP, state->first_read, 0);
  }
}
