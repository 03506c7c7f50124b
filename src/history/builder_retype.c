/* Reads that came without saying what they read get the kind that the other operations of their key imply. */
#include <stdlib.h>

#include "base/parallel.h"
#include "history/builder_internal.h"

enum { MADE_LIST = 1, MADE_SET = 2, MADE_COUNTER = 4, MADE_REGISTER = 8 };

static unsigned made_by(isoproof_op_kind kind) {
  switch (kind) {
  case ISOPROOF_OP_APPEND:
    return MADE_LIST;
  case ISOPROOF_OP_ADD:
    return MADE_SET;
  case ISOPROOF_OP_INCREMENT:
    return MADE_COUNTER;
  case ISOPROOF_OP_WRITE:
    return MADE_REGISTER;
  default:
    return 0;
  }
}

/* What [:r k v] reads, given what else happens to its key.  A scalar is never a list, whatever the key is. */
static isoproof_op_kind retype(isoproof_op_kind kind, unsigned made, iso_value value) {
  bool empty = value == ISO_VALUE_NIL || value == ISO_VALUE_NONE;
  if (kind == ISOPROOF_OP_READ_LIST && made == MADE_SET) return ISOPROOF_OP_READ_SET;
  if (kind != ISOPROOF_OP_READ) return kind;
  if (made == MADE_COUNTER) return ISOPROOF_OP_READ_COUNTER;
  if (made == MADE_LIST && empty) return ISOPROOF_OP_READ_LIST;
  if (made == MADE_SET && empty) return ISOPROOF_OP_READ_SET;
  return kind;
}

/* Whether a read shows a value of its own: then its key is a register, unless something else is done to it. */
static bool shows_scalar(uint8_t kind, iso_value value) {
  return kind == ISOPROOF_OP_READ && value != ISO_VALUE_NIL && value != ISO_VALUE_NONE;
}

/* What a history is made of, over all keys; *scalars: somebody read a value of its own. */
static unsigned made_at_all(const isoproof_history *h, bool *scalars) {
  uint32_t seen = 0;
  unsigned all = 0;
  *scalars = false;
  for (uint32_t i = 0; i < h->ops; i++) {
    seen |= UINT32_C(1) << h->op_kind[i];
    *scalars |= shows_scalar(h->op_kind[i], h->op_value[i]);
  }
  for (unsigned kind = 0; kind < ISOPROOF_OP_KINDS; kind++) {
    if ((seen >> kind & 1) != 0) all |= made_by((isoproof_op_kind)kind);
  }
  /* A read of a list tells as much as an append, where a key is only ever read. */
  if ((seen >> ISOPROOF_OP_READ_LIST & 1) != 0) all |= MADE_LIST;
  if ((seen >> ISOPROOF_OP_READ_SET & 1) != 0) all |= MADE_SET;
  return all;
}

typedef struct {
  isoproof_history *h;
  unsigned all;
} uniform;

/* Keys of one kind only: there is no need to look at any of them. */
static void retype_uniform(void *context, unsigned thread, unsigned threads) {
  const uniform *u = context;
  isoproof_history *h = u->h;
  uint64_t first, end;
  iso_parallel_range(h->ops, thread, threads, &first, &end);
  for (uint64_t i = first; i < end; i++) {
    h->op_kind[i] = (uint8_t)retype((isoproof_op_kind)h->op_kind[i], u->all, h->op_value[i]);
  }
}

/* Keys that differ, or may: what is done to each tells, then what is read of it, then what is done to the others. */
static bool retype_by_key(isoproof_history *h, unsigned all) {
  uint8_t *made = iso_alloc_zero(h->keys, 1), *scalar = iso_alloc_zero(h->keys, 1);
  bool good = made != NULL && scalar != NULL;
  for (uint32_t i = 0; good && i < h->ops; i++) {
    uint32_t key = h->op_key[i];
    made[key] = (uint8_t)(made[key] | made_by((isoproof_op_kind)h->op_kind[i]));
    scalar[key] = scalar[key] || shows_scalar(h->op_kind[i], h->op_value[i]);
  }
  if ((all & MADE_SET) != 0) all &= ~(unsigned)MADE_LIST; /* JSON shows sets as lists */
  for (uint32_t i = 0; good && i < h->ops; i++) {
    uint32_t key = h->op_key[i];
    unsigned by = made[key] != 0 ? made[key] : scalar[key] && all != MADE_COUNTER ? MADE_REGISTER : all;
    h->op_kind[i] = (uint8_t)retype((isoproof_op_kind)h->op_kind[i], by, h->op_value[i]);
  }
  free(made);
  free(scalar);
  return good;
}

bool iso_builder_retype(isoproof_history *h, uint8_t *so_far, unsigned threads) {
  bool scalars;
  unsigned all = made_at_all(h, &scalars) | *so_far;
  *so_far = (uint8_t)all;
  if (all == 0 || all == MADE_REGISTER) return true; /* reads are what they are */
  if ((all & (all - 1)) == 0 && (!scalars || all == MADE_COUNTER)) {
    uniform u = {h, all};
    iso_parallel(threads, retype_uniform, &u);
    return true;
  }
  return retype_by_key(h, all);
}

bool iso_builder_knows_reads(const isoproof_builder *b) {
  for (size_t i = 0; b->made == 0 && i < b->op_kind.count; i++) {
    isoproof_op_kind kind = (isoproof_op_kind)b->op_kind.items[i];
    if (made_by(kind) != 0 || kind == ISOPROOF_OP_READ_LIST || kind == ISOPROOF_OP_READ_SET) return true;
  }
  return b->made != 0;
}
