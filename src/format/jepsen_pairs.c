/* Invocations and completions of a Jepsen history become transactions. */
#include "format/jepsen_pairs.h"

#include <stdio.h>
#include <stdlib.h>

#include "format/stream.h"
#include "history/notice.h"

typedef iso_jepsen_slot slot;

/* A process does one thing at a time; those that do not are believed up to this number. */
enum { MOST_PARKED = 1000 };

void iso_jepsen_pairs_init(iso_jepsen_pairs *pairs, isoproof_builder *builder, const char *name,
                           isoproof_error *error) {
  *pairs = (iso_jepsen_pairs){.builder = builder, .pool = iso_builder_pool(builder), .name = name, .error = error};
  iso_numbering_init(&pairs->processes);
}

void iso_jepsen_pairs_free(iso_jepsen_pairs *pairs) {
  for (size_t i = 0; i < pairs->slots.count; i++) iso_vec_free(&pairs->slots.items[i].own);
  for (size_t i = 0; i < pairs->parking.count; i++) iso_vec_free(&pairs->parking.items[i].own);
  iso_vec_free(&pairs->slots);
  iso_vec_free(&pairs->parking);
  iso_vec_free(&pairs->spare);
  iso_vec_free(&pairs->borrowers);
  iso_numbering_free(&pairs->processes);
}

/* ---- slots ---- */

static isoproof_status slot_of(iso_jepsen_pairs *r, slot **found, uint32_t *number) {
  *found = NULL;
  ISO_TRY(iso_numbering_add(&r->processes, r->op->process, number, r->error));
  if (*number == r->slots.count) {
    slot fresh = {.session = ISO_JEPSEN_NO_SESSION};
    if (!iso_vec_push(&r->slots, fresh)) return iso_fail_memory(r->error);
  }
  *found = &r->slots.items[*number];
  return ISOPROOF_OK;
}

static isoproof_status need_session(iso_jepsen_pairs *r, slot *s, iso_value process) {
  if (s->session != ISO_JEPSEN_NO_SESSION) return ISOPROOF_OK;
  return iso_builder_session(r->builder, process, &s->session, r->error);
}

static iso_place op_place(const iso_jepsen_pairs *r) { return (iso_place){r->name, r->op->line, 0, -1}; }

/* The name of the process for messages. */
static const char *process_name(const iso_jepsen_pairs *r, char buffer[128]) {
  iso_pool_view view = iso_pool_look(r->pool);
  isoproof_scalar_format(iso_pool_scalar(&view, r->op->process), buffer, 128);
  return buffer;
}

/* Copies what an invocation says, in case that its completion does not say it. */
static isoproof_status own_ops(iso_jepsen_pairs *r, slot *s) {
  if (!s->open || !s->borrowed) return ISOPROOF_OK;
  if (s->own.capacity == 0) {
    s->own.items = r->spare.items;
    s->own.capacity = r->spare.capacity;
    r->spare.items = NULL;
    r->spare.capacity = 0;
  }
  s->own.count = 0;
  if (!iso_vec_reserve(&s->own, s->count)) return iso_fail_memory(r->error);
  /* Nowhere to copy to there is only where nothing was to be reserved. */
  if (s->count > 0 && s->own.items != NULL) memcpy(s->own.items, s->ops, s->count * sizeof *s->ops);
  s->ops = s->own.items;
  s->borrowed = false;
  return ISOPROOF_OK;
}

isoproof_status iso_jepsen_pairs_own(iso_jepsen_pairs *pairs) {
  for (size_t i = 0; i < pairs->borrowers.count; i++) {
    ISO_TRY(own_ops(pairs, &pairs->slots.items[pairs->borrowers.items[i]]));
  }
  pairs->borrowers.count = 0;
  return ISOPROOF_OK;
}

/* Closes a slot; one buffer is kept for the next invocation, so that retired processes cost little. */
static void close_slot(iso_jepsen_pairs *r, slot *s) {
  s->open = s->borrowed = false;
  s->ops = NULL;
  s->count = 0;
  if (s->own.items == NULL) return;
  if (r->spare.items == NULL) {
    r->spare.items = s->own.items;
    r->spare.capacity = s->own.capacity;
  } else {
    free(s->own.items);
  }
  s->own.items = NULL;
  s->own.count = s->own.capacity = 0;
}

/* ---- several invocations of one process ---- */

/* Sets the open invocation of a slot aside for another one of its process. */
static isoproof_status park(iso_jepsen_pairs *r, slot *s) {
  char name[128];
  if (s->parked_count >= MOST_PARKED || r->parking.count >= UINT32_MAX - 1) {
    return iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, op_place(r),
                       "expected the completion of the operation that process %s invoked in line %llu, found another "
                       "invocation",
                       process_name(r, name), (unsigned long long)s->line);
  }
  ISO_TRY(own_ops(r, s));
  if (!iso_vec_push(&r->parking, *s)) return iso_fail_memory(r->error);
  s->parked = (uint32_t)r->parking.count;
  s->parked_count++;
  s->own.items = NULL;
  s->own.count = s->own.capacity = 0;
  s->open = false;
  return ISOPROOF_OK;
}

/* Whether the completion at hand can be that of an invocation: the same operations on the same keys. */
static bool is_completed_by(const slot *s, const iso_micro_ops *micro) {
  if (s->count != micro->count) return false;
  for (size_t i = 0; i < s->count; i++) {
    const iso_op_add *a = &s->ops[i], *b = &micro->ops[i];
    bool reads = isoproof_op_kind_observes((isoproof_op_kind)b->kind);
    if (a->key != b->key || reads != isoproof_op_kind_observes((isoproof_op_kind)a->kind)) return false;
    if (!reads && (a->kind != b->kind || a->value != b->value)) return false;
  }
  return true;
}

/* Exchanges the open invocation of a slot for a parked one; what is about the process stays. */
static void exchange(slot *s, slot *parked) {
  slot old = *s;
  *s = *parked;
  s->session = old.session;
  s->parked = old.parked;
  s->parked_count = old.parked_count;
  old.parked = parked->parked;
  *parked = old;
}

/* Of several open invocations of a process, opens the one that a completion belongs to: the first that looks like it,
 * else the first of all. */
static isoproof_status unpark(iso_jepsen_pairs *r, slot *s) {
  slot *fits = NULL, *oldest = s;
  if (s->open && is_completed_by(s, r->micro)) fits = s;
  for (uint32_t at = s->parked; at != 0; at = r->parking.items[at - 1].parked) {
    slot *parked = &r->parking.items[at - 1];
    if (!parked->open) continue;
    oldest = parked;
    if (is_completed_by(parked, r->micro)) fits = parked;
  }
  slot *chosen = fits != NULL ? fits : oldest;
  if (chosen == s) return ISOPROOF_OK;
  ISO_TRY(own_ops(r, s)); /* what is parked outlives what was given */
  exchange(s, chosen);
  return ISOPROOF_OK;
}

/* After a completion: the slot must be open while one of its invocations is. */
static void reopen(iso_jepsen_pairs *r, slot *s) {
  while (s->parked != 0) {
    slot *parked = &r->parking.items[s->parked - 1];
    s->parked = parked->parked;
    s->parked_count--;
    if (!parked->open) continue;
    uint32_t rest = s->parked;
    exchange(s, parked);
    s->parked = rest;
    parked->open = false;
    return;
  }
}

/* ---- operations ---- */

static isoproof_status invocation(iso_jepsen_pairs *r) {
  const iso_jepsen_op *op = r->op;
  uint32_t number;
  slot *s;
  ISO_TRY(slot_of(r, &s, &number));
  if (s->open) ISO_TRY(park(r, s));
  if (op->shape == ISO_JEPSEN_MICRO || (op->shape == ISO_JEPSEN_NOTHING && op->is_txn)) {
    ISO_TRY(need_session(r, s, op->process));
  }
  s->open = s->borrowed = true;
  s->shape = op->shape;
  s->line = op->line;
  s->time = op->time;
  s->index = op->index;
  s->has_id = op->has_id;
  s->id = op->id;
  s->node = op->node;
  s->isolation = op->isolation;
  s->ops = r->micro->ops;
  s->count = r->micro->count;
  return iso_vec_push(&r->borrowers, number) ? ISOPROOF_OK : iso_fail_memory(r->error);
}

/* Begins a transaction of a slot; the operation tells the rest. */
static isoproof_status begin(iso_jepsen_pairs *r, slot *s, isoproof_txn_status status) {
  const iso_jepsen_op *op = r->op;
  iso_txn_info info = iso_txn_unset();
  ISO_TRY(need_session(r, s, op->process));
  info.status = status;
  info.position = op->line;
  info.node = op->node;
  info.error = op->error;
  info.has_id = op->has_id;
  info.id = op->id;
  info.isolation = op->isolation;
  info.end_index = op->index;
  if (s->open) {
    info.start = s->time;
    info.start_index = s->index;
    info.end = op->time;
    if (!info.has_id && s->has_id) info.has_id = true, info.id = s->id;
    if (info.node == ISO_VALUE_NIL) info.node = s->node;
    if (info.isolation == ISO_ISOLATION_NONE) info.isolation = s->isolation;
  }
  return iso_builder_begin(r->builder, s->session, &info, NULL, r->error);
}

/* Adds what was invoked: of reads nobody learnt the result. */
static isoproof_status emit_invoked(iso_jepsen_pairs *r, const slot *s) {
  for (size_t i = 0; i < s->count; i++) {
    const iso_op_add *op = &s->ops[i];
    isoproof_op_kind kind = (isoproof_op_kind)op->kind;
    bool reads = isoproof_op_kind_observes(kind);
    if (reads && kind != ISOPROOF_OP_READ_PREDICATE) kind = ISOPROOF_OP_READ;
    ISO_TRY(iso_builder_op(r->builder, kind, op->key, reads ? ISO_VALUE_NONE : op->value, r->error));
  }
  return ISOPROOF_OK;
}

/* Says what a nil read means: in what succeeded the initial version, else that nobody learnt the result. */
static void settle_nil_reads(iso_jepsen_pairs *r) {
  bool ok = r->op->type == ISO_JEPSEN_OK;
  iso_value from = ok ? ISO_VALUE_NONE : ISO_VALUE_NIL, to = ok ? ISO_VALUE_NIL : ISO_VALUE_NONE;
  if (!ok && r->op->initial_reads) return;
  for (size_t i = 0; i < r->micro->count; i++) {
    iso_op_add *op = &r->micro->ops[i];
    if (op->value == from && op->kind == ISOPROOF_OP_READ) op->value = to;
  }
}

static isoproof_status completion(iso_jepsen_pairs *r) {
  const iso_jepsen_op *op = r->op;
  slot *s;
  uint32_t number;
  char name[128];
  isoproof_txn_status status = op->type == ISO_JEPSEN_OK     ? ISOPROOF_TXN_COMMITTED
                               : op->type == ISO_JEPSEN_FAIL ? ISOPROOF_TXN_ABORTED
                                                             : ISOPROOF_TXN_UNKNOWN;
  ISO_TRY(slot_of(r, &s, &number));
  if (s->parked != 0) ISO_TRY(unpark(r, s));
  if (op->shape == ISO_JEPSEN_MICRO) {
    if (!s->open && s->line != 0) {
      return iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, op_place(r),
                         "expected an invocation by process %s before its next completion, found none since line %llu",
                         process_name(r, name), (unsigned long long)s->line);
    }
    ISO_TRY(begin(r, s, status));
    settle_nil_reads(r);
    ISO_TRY(iso_micro_op_emit(r->micro, r->builder, r->error));
  } else if (s->open && s->shape == ISO_JEPSEN_MICRO) {
    if (op->shape == ISO_JEPSEN_OTHER && status == ISOPROOF_TXN_COMMITTED) {
      return iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, op_place(r),
                         "expected a list of micro-operations as the value of the completed transaction, found "
                         "something else");
    }
    ISO_TRY(begin(r, s, status));
    ISO_TRY(emit_invoked(r, s));
  }
  if (s->open) close_slot(r, s);
  if (s->parked != 0) reopen(r, s);
  return ISOPROOF_OK;
}

bool iso_jepsen_is_other(const iso_jepsen_op *op) { return op->has_f && !op->is_txn; }

isoproof_status iso_jepsen_pairs_add(iso_jepsen_pairs *r, iso_jepsen_op *op, const iso_micro_ops *micro) {
  uint64_t ordinal = r->ordinal++;
  if (!op->has_index) op->index = (int64_t)ordinal;
  r->op = op;
  r->micro = micro;
  if (iso_jepsen_is_other(op)) {
    bool client = op->process < ISO_VALUE_INLINE_LIMIT; /* a number: not the nemesis */
    if (client && r->other_line == 0) r->other_line = op->line;
    if (client) (*(op->type == ISO_JEPSEN_INVOKE ? &r->other_invocations : &r->other_completions))++;
    return ISOPROOF_OK;
  }
  r->has_txns = true;
  if (op->type == ISO_JEPSEN_NO_TYPE) {
    if (op->shape == ISO_JEPSEN_OTHER) return ISOPROOF_OK;
    return iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, op_place(r),
                       "expected a type (invoke, ok, fail or info) in the operation, found none");
  }
  return op->type == ISO_JEPSEN_INVOKE ? invocation(r) : completion(r);
}

/* ---- the end ---- */

static isoproof_status leftover(iso_jepsen_pairs *r, const slot *s, uint32_t session) {
  iso_txn_info info = iso_txn_unset();
  if (!s->open || s->shape != ISO_JEPSEN_MICRO) return ISOPROOF_OK;
  info.status = ISOPROOF_TXN_UNKNOWN;
  info.start = s->time;
  info.start_index = s->index;
  info.has_id = s->has_id;
  info.id = s->id;
  info.node = s->node;
  info.isolation = s->isolation;
  info.position = s->line;
  ISO_TRY(iso_builder_begin(r->builder, session, &info, NULL, r->error));
  return emit_invoked(r, s);
}

/* Invocations that were never completed: nobody knows. */
static isoproof_status leftovers(iso_jepsen_pairs *r) {
  for (size_t i = 0; i < r->slots.count; i++) {
    const slot *s = &r->slots.items[i];
    for (uint32_t at = s->parked; at != 0; at = r->parking.items[at - 1].parked) {
      ISO_TRY(leftover(r, &r->parking.items[at - 1], s->session));
    }
    ISO_TRY(leftover(r, s, s->session));
  }
  return ISOPROOF_OK;
}

/* Clients that did something, but never a transaction, had another workload. */
isoproof_status iso_jepsen_pairs_finish(iso_jepsen_pairs *r) {
  if (!r->has_txns && r->other_line > 0) {
    iso_place place = {r->name, r->other_line, 0, -1};
    return iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, place,
                       "expected transactions (f is txn), found only single operations; check --elle --model=NAME "
                       "judges those of bank, set, cas-register and others");
  }
  ISO_TRY(leftovers(r));
  if (r->other_line == 0) return ISOPROOF_OK;
  char sentence[160];
  uint64_t others = r->other_invocations > r->other_completions ? r->other_invocations : r->other_completions;
  snprintf(sentence, sizeof sentence, "%llu operation%s of clients %s (f is not txn) and %s left out",
           (unsigned long long)others, others == 1 ? "" : "s",
           others == 1 ? "is no transaction" : "are no transactions", others == 1 ? "is" : "are");
  return iso_builder_notice(r->builder, ISOPROOF_NOTICE_LEFT_OUT, r->other_line, sentence, r->error);
}

/* ---- another builder ---- */

/* An invocation whose completion is still to come speaks in codes of the history that is done. */
static isoproof_status carry_slot(iso_jepsen_pairs *r, const isoproof_history *done, slot *s, isoproof_error *error) {
  if (!s->open) return ISOPROOF_OK;
  ISO_TRY(iso_stream_code(done, r->builder, s->node, &s->node, error));
  for (size_t i = 0; i < s->count; i++) {
    iso_op_add *op = &s->own.items[i];
    ISO_TRY(iso_stream_code(done, r->builder, op->key, &op->key, error));
    ISO_TRY(iso_stream_code(done, r->builder, op->value, &op->value, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status carry_processes(iso_jepsen_pairs *r, const isoproof_history *done, isoproof_error *error) {
  iso_numbering before = r->processes;
  isoproof_status status = ISOPROOF_OK;
  iso_numbering_init(&r->processes);
  for (size_t i = 0; status == ISOPROOF_OK && i < before.count; i++) {
    iso_value process;
    uint32_t number;
    status = iso_stream_code(done, r->builder, before.names[i], &process, error);
    if (status == ISOPROOF_OK) status = iso_numbering_add(&r->processes, process, &number, error);
    slot *s = &r->slots.items[i];
    if (status == ISOPROOF_OK && s->session != ISO_JEPSEN_NO_SESSION)
      status = iso_builder_session(r->builder, process, &s->session, error);
  }
  iso_numbering_free(&before);
  return status;
}

isoproof_status iso_jepsen_pairs_carry(iso_jepsen_pairs *pairs, const isoproof_history *done, isoproof_error *error) {
  ISO_TRY(iso_jepsen_pairs_own(pairs));
  ISO_TRY(carry_processes(pairs, done, error));
  for (size_t i = 0; i < pairs->slots.count; i++) ISO_TRY(carry_slot(pairs, done, &pairs->slots.items[i], error));
  for (size_t i = 0; i < pairs->parking.count; i++) ISO_TRY(carry_slot(pairs, done, &pairs->parking.items[i], error));
  return ISOPROOF_OK;
}
