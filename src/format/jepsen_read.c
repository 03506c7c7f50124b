/* Reads Jepsen and Elle histories, EDN or JSON: pairs invocations with completions and builds transactions of them. */
#include <stdio.h>

#include "format/format.h"
#include "format/jepsen.h"
#include "format/stream.h"
#include "history/notice.h"

/* The invocation that a process has open, or had last. */
typedef struct slot {
  bool open;
  iso_jepsen_shape shape;
  uint32_t session; /* NO_SESSION until a transaction of the process is seen */
  uint64_t line;    /* of the last invocation, 0 none */
  int64_t time, index;
  bool has_id;
  int64_t id;
  iso_value node;
  ISO_VEC(iso_micro_op_add) ops; /* reads without their values */
  uint32_t parked;               /* earlier invocations that are still open: the latest of them + 1, 0 none */
  uint32_t parked_count;
} slot;

#define NO_SESSION UINT32_MAX
/* A process does one thing at a time; those that do not are believed up to this number. */
enum { MOST_PARKED = 1000 };

typedef struct reader {
  iso_tokenizer t;
  isoproof_builder *builder;
  iso_pool *pool;
  isoproof_error problem, deferred;
  iso_numbering processes; /* process -> slot */
  bool has_txns;
  uint64_t other_invocations, other_completions;
  uint64_t other_line; /* of the first operation of a client that is no transaction; 0 when there is none */
  ISO_VEC(slot) slots;
  ISO_VEC(slot) parking; /* invocations that were followed by another one of their process; closed ones stay */
  ISO_VEC(iso_micro_op_add) spare; /* the operations of a closed slot, to be used again */
  iso_jepsen_op op;
  iso_micro_op micro;
  uint64_t ordinal; /* of the operation in the input */
  isoproof_format format;
  bool more; /* another piece of the input will come, see format/stream.h */
} reader;

static isoproof_status slot_of(reader *r, slot **found) {
  uint32_t number;
  ISO_TRY(iso_numbering_add(&r->processes, r->op.process, &number, &r->problem));
  if (number == r->slots.count) {
    slot fresh = {.session = NO_SESSION};
    if (!iso_vec_push(&r->slots, fresh)) return iso_fail_memory(&r->problem);
  }
  *found = &r->slots.items[number];
  return ISOPROOF_OK;
}

static isoproof_status need_session(reader *r, slot *s, iso_value process) {
  if (s->session != NO_SESSION) return ISOPROOF_OK;
  return iso_builder_session(r->builder, process, &s->session, &r->problem);
}

static iso_place op_place(const reader *r) { return (iso_place){iso_input_name(r->t.window.input), r->op.line, 0, -1}; }

/* The name of the process for messages. */
static const char *process_name(const reader *r, char buffer[128]) {
  iso_pool_view view = iso_pool_look(r->pool);
  isoproof_scalar_format(iso_pool_scalar(&view, r->op.process), buffer, 128);
  return buffer;
}

/* Keeps what an invocation says in case that its completion does not say it. */
static isoproof_status keep_micro(reader *r, slot *s) {
  if (s->ops.capacity == 0) {
    s->ops.items = r->spare.items;
    s->ops.capacity = r->spare.capacity;
    r->spare.items = NULL;
    r->spare.capacity = 0;
  }
  s->ops.count = 0;
  if (!iso_vec_reserve(&s->ops, r->micro.ops.count)) return iso_fail_memory(&r->problem);
  for (size_t i = 0; i < r->micro.ops.count; i++) {
    iso_micro_op_add op = r->micro.ops.items[i];
    if (isoproof_op_kind_observes((isoproof_op_kind)op.kind)) {
      uint8_t kind = op.kind == ISOPROOF_OP_READ_PREDICATE ? op.kind : (uint8_t)ISOPROOF_OP_READ;
      op = (iso_micro_op_add){.kind = kind, .key = op.key, .value = ISO_VALUE_NONE};
    }
    s->ops.items[s->ops.count++] = op;
  }
  return ISOPROOF_OK;
}

/* Closes a slot; one buffer is kept for the next invocation, so that retired processes cost little. */
static void close_slot(reader *r, slot *s) {
  s->open = false;
  if (r->spare.items == NULL) {
    r->spare.items = s->ops.items;
    r->spare.capacity = s->ops.capacity;
  } else {
    free(s->ops.items);
  }
  s->ops.items = NULL;
  s->ops.count = s->ops.capacity = 0;
}

/* Sets the open invocation of a slot aside for another one of its process. */
static isoproof_status park(reader *r, slot *s) {
  char name[128];
  if (s->parked_count >= MOST_PARKED || r->parking.count >= UINT32_MAX - 1) {
    return iso_fail_at(&r->problem, ISOPROOF_ERR_FORMAT, op_place(r),
                       "expected the completion of the operation that process %s invoked in line %llu, found another "
                       "invocation",
                       process_name(r, name), (unsigned long long)s->line);
  }
  if (!iso_vec_push(&r->parking, *s)) return iso_fail_memory(&r->problem);
  s->parked = (uint32_t)r->parking.count;
  s->parked_count++;
  s->ops.items = NULL;
  s->ops.count = s->ops.capacity = 0;
  s->open = false;
  return ISOPROOF_OK;
}

/* Whether the completion that was just read can be that of an invocation: the same operations on the same keys. */
static bool is_completed_by(const slot *s, const iso_micro_op *micro) {
  if (s->ops.count != micro->ops.count) return false;
  for (size_t i = 0; i < s->ops.count; i++) {
    const iso_micro_op_add *a = &s->ops.items[i], *b = &micro->ops.items[i];
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
static void unpark(reader *r, slot *s) {
  slot *fits = NULL, *oldest = s;
  if (s->open && is_completed_by(s, &r->micro)) fits = s;
  for (uint32_t at = s->parked; at != 0; at = r->parking.items[at - 1].parked) {
    slot *parked = &r->parking.items[at - 1];
    if (!parked->open) continue;
    oldest = parked;
    if (is_completed_by(parked, &r->micro)) fits = parked;
  }
  slot *chosen = fits != NULL ? fits : oldest;
  if (chosen != s) exchange(s, chosen);
}

/* After a completion: the slot must be open while one of its invocations is. */
static void reopen(reader *r, slot *s) {
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

static isoproof_status invocation(reader *r) {
  slot *s;
  ISO_TRY(slot_of(r, &s));
  if (s->open) ISO_TRY(park(r, s));
  if (r->op.shape == ISO_JEPSEN_MICRO || (r->op.shape == ISO_JEPSEN_NOTHING && r->op.is_txn)) {
    ISO_TRY(need_session(r, s, r->op.process));
  }
  s->open = true;
  s->shape = r->op.shape;
  s->line = r->op.line;
  s->time = r->op.time;
  s->index = r->op.index;
  s->has_id = r->op.has_id;
  s->id = r->op.id;
  s->node = r->op.node;
  return keep_micro(r, s);
}

/* Begins a transaction of a slot; the operation tells the rest. */
static isoproof_status begin(reader *r, slot *s, isoproof_txn_status status) {
  const iso_jepsen_op *op = &r->op;
  iso_txn_info info = iso_txn_unset();
  ISO_TRY(need_session(r, s, op->process));
  info.status = status;
  info.position = op->line;
  info.node = op->node;
  info.error = op->error;
  info.has_id = op->has_id;
  info.id = op->id;
  info.end_index = op->index;
  if (s->open) {
    info.start = s->time;
    info.start_index = s->index;
    info.end = op->time;
    if (!info.has_id && s->has_id) info.has_id = true, info.id = s->id;
    if (info.node == ISO_VALUE_NIL) info.node = s->node;
  }
  return iso_builder_begin(r->builder, s->session, &info, NULL, &r->problem);
}

static isoproof_status emit_invoked(reader *r, const slot *s) {
  for (size_t i = 0; i < s->ops.count; i++) {
    const iso_micro_op_add *op = &s->ops.items[i];
    ISO_TRY(iso_builder_op(r->builder, (isoproof_op_kind)op->kind, op->key, op->value, &r->problem));
  }
  return ISOPROOF_OK;
}

/* Says what a nil read means: in what succeeded the initial version, else that nobody learnt the result. */
static void settle_nil_reads(reader *r) {
  bool ok = r->op.type == ISO_JEPSEN_OK;
  for (size_t i = 0; i < r->micro.ops.count; i++) {
    iso_micro_op_add *op = &r->micro.ops.items[i];
    if (op->kind != ISOPROOF_OP_READ) continue;
    if (ok && op->value == ISO_VALUE_NONE) op->value = ISO_VALUE_NIL;
    if (!ok && !r->op.initial_reads && op->value == ISO_VALUE_NIL) op->value = ISO_VALUE_NONE;
  }
}

static isoproof_status completion(reader *r) {
  slot *s;
  char name[128];
  isoproof_txn_status status = r->op.type == ISO_JEPSEN_OK     ? ISOPROOF_TXN_COMMITTED
                               : r->op.type == ISO_JEPSEN_FAIL ? ISOPROOF_TXN_ABORTED
                                                               : ISOPROOF_TXN_UNKNOWN;
  ISO_TRY(slot_of(r, &s));
  if (s->parked != 0) unpark(r, s);
  if (r->op.shape == ISO_JEPSEN_MICRO) {
    if (!s->open && s->line != 0) {
      return iso_fail_at(&r->problem, ISOPROOF_ERR_FORMAT, op_place(r),
                         "expected an invocation by process %s before its next completion, found none since line %llu",
                         process_name(r, name), (unsigned long long)s->line);
    }
    ISO_TRY(begin(r, s, status));
    settle_nil_reads(r);
    ISO_TRY(iso_micro_op_emit(&r->micro, r->builder, &r->problem));
  } else if (s->open && s->shape == ISO_JEPSEN_MICRO) {
    if (r->op.shape == ISO_JEPSEN_OTHER && status == ISOPROOF_TXN_COMMITTED) {
      return iso_fail_at(&r->problem, ISOPROOF_ERR_FORMAT, op_place(r),
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

static isoproof_status operation(reader *r) {
  uint64_t ordinal = r->ordinal++;
  ISO_TRY(iso_jepsen_read_op(&r->t, r->pool, &r->op, &r->micro, &r->deferred));
  if (!r->op.has_index) r->op.index = (int64_t)ordinal;
  if (r->op.has_f && !r->op.is_txn) {
    bool client = r->op.process < ISO_VALUE_INLINE_LIMIT; /* a number: not the nemesis */
    if (client && r->other_line == 0) r->other_line = r->op.line;
    if (client) (*(r->op.type == ISO_JEPSEN_INVOKE ? &r->other_invocations : &r->other_completions))++;
    return ISOPROOF_OK;
  }
  r->has_txns = true;
  if (r->op.shape == ISO_JEPSEN_BROKEN) {
    r->problem = r->deferred;
    return r->problem.code;
  }
  if (r->op.type == ISO_JEPSEN_NO_TYPE) {
    if (r->op.shape == ISO_JEPSEN_OTHER) return ISOPROOF_OK;
    return iso_fail_at(&r->problem, ISOPROOF_ERR_FORMAT, op_place(r),
                       "expected a type (invoke, ok, fail or info) in the operation, found none");
  }
  return r->op.type == ISO_JEPSEN_INVOKE ? invocation(r) : completion(r);
}

static isoproof_status leftover(reader *r, const slot *s, uint32_t session) {
  iso_txn_info info = iso_txn_unset();
  if (!s->open || s->shape != ISO_JEPSEN_MICRO) return ISOPROOF_OK;
  info.status = ISOPROOF_TXN_UNKNOWN;
  info.start = s->time;
  info.start_index = s->index;
  info.has_id = s->has_id;
  info.id = s->id;
  info.node = s->node;
  info.position = s->line;
  ISO_TRY(iso_builder_begin(r->builder, session, &info, NULL, &r->problem));
  return emit_invoked(r, s);
}

/* Invocations that were never completed: nobody knows. */
static isoproof_status leftovers(reader *r) {
  for (size_t i = 0; i < r->slots.count; i++) {
    const slot *s = &r->slots.items[i];
    for (uint32_t at = s->parked; at != 0; at = r->parking.items[at - 1].parked) {
      ISO_TRY(leftover(r, &r->parking.items[at - 1], s->session));
    }
    ISO_TRY(leftover(r, s, s->session));
  }
  return ISOPROOF_OK;
}

static isoproof_status watch(reader *r, isoproof_task *task) {
  uint64_t done, total;
  if (task == NULL || (r->ordinal & 1023) != 0) return ISOPROOF_OK;
  iso_input_progress(r->t.window.input, &done, &total);
  iso_task_progress(task, "reading", "bytes", done, total);
  return iso_task_check(task, &r->problem);
}

/* Clients that did something, but never a transaction, had another workload. */
static isoproof_status finish(reader *r) {
  if (!r->has_txns && r->other_line > 0) {
    iso_place place = {iso_input_name(r->t.window.input), r->other_line, 0, -1};
    return iso_fail_at(&r->problem, ISOPROOF_ERR_FORMAT, place,
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
  return iso_builder_notice(r->builder, ISOPROOF_NOTICE_LEFT_OUT, r->other_line, sentence, &r->problem);
}

/* Maps one after the other, or lists of maps. */
static isoproof_status operations(reader *r, isoproof_task *task) {
  for (;;) {
    ISO_TRY(watch(r, task));
    if (r->more && iso_tokenizer_used_up(&r->t)) return ISOPROOF_OK;
    ISO_TRY(iso_token_next(&r->t));
    if (r->t.type == ISO_TOKEN_END_OF_INPUT) return finish(r);
    if (r->t.type == ISO_TOKEN_BEGIN_MAP) {
      ISO_TRY(operation(r));
    } else if (r->t.type != ISO_TOKEN_END && (r->t.type != ISO_TOKEN_BEGIN_LIST || r->t.depth != 1)) {
      return iso_token_expected(&r->t,
                                r->t.depth == 0 ? "an operation (a map) or a list of them" : "an operation (a map)");
    }
  }
}

static void reader_free(void *reader_) {
  reader *r = reader_;
  if (r == NULL) return;
  iso_tokenizer_free(&r->t);
  for (size_t i = 0; i < r->slots.count; i++) free(r->slots.items[i].ops.items);
  for (size_t i = 0; i < r->parking.count; i++) free(r->parking.items[i].ops.items);
  iso_vec_free(&r->slots);
  iso_vec_free(&r->parking);
  iso_vec_free(&r->spare);
  iso_numbering_free(&r->processes);
  iso_micro_op_free(&r->micro);
  free(r);
}

/* Says what every history of the format has in common. */
static isoproof_status begin_history(reader *r, isoproof_error *error) {
  iso_builder_origin(r->builder, r->format, ISO_POSITION_LINE, false);
  iso_builder_ambiguous_reads(r->builder);
  return iso_builder_file(r->builder, iso_input_name(r->t.window.input), error);
}

static isoproof_status reader_new(iso_input *input, isoproof_format format, isoproof_builder *builder, void **made,
                                  isoproof_error *error) {
  reader *r = iso_alloc_zero(1, sizeof *r);
  if (r == NULL) return iso_fail_memory(error);
  r->builder = builder;
  r->pool = iso_builder_pool(builder);
  r->format = format;
  iso_numbering_init(&r->processes);
  iso_token_dialect dialect = format == ISOPROOF_FORMAT_EDN ? ISO_TOKEN_DIALECT_EDN : ISO_TOKEN_DIALECT_JSON;
  isoproof_status status = iso_tokenizer_init(&r->t, input, dialect, &r->problem);
  if (status == ISOPROOF_OK) status = begin_history(r, &r->problem);
  *made = r;
  if (status == ISOPROOF_OK) return status;
  if (error != NULL) *error = r->problem;
  reader_free(r);
  return status;
}

static isoproof_status read_jepsen(iso_input *input, isoproof_format format, isoproof_builder *builder,
                                   isoproof_task *task, isoproof_error *error) {
  enum { USUAL_OP_BYTES = 16 };
  uint64_t done, total;
  iso_input_progress(input, &done, &total);
  iso_builder_expect(builder, total / USUAL_OP_BYTES);
  void *made = NULL;
  ISO_TRY(reader_new(input, format, builder, &made, error));
  reader *r = made;
  isoproof_status status = operations(r, task);
  if (status != ISOPROOF_OK && error != NULL) *error = r->problem;
  reader_free(r);
  return status;
}

isoproof_status iso_read_edn(iso_input *input, isoproof_builder *builder, isoproof_task *task, isoproof_error *error) {
  return read_jepsen(input, ISOPROOF_FORMAT_EDN, builder, task, error);
}

isoproof_status iso_read_json(iso_input *input, isoproof_builder *builder, isoproof_task *task, isoproof_error *error) {
  return read_jepsen(input, ISOPROOF_FORMAT_JSON, builder, task, error);
}

/* ---- piece by piece ---- */

static isoproof_status open_edn(iso_input *name, isoproof_builder *builder, void **made, isoproof_error *error) {
  return reader_new(name, ISOPROOF_FORMAT_EDN, builder, made, error);
}

static isoproof_status open_json(iso_input *name, isoproof_builder *builder, void **made, isoproof_error *error) {
  return reader_new(name, ISOPROOF_FORMAT_JSON, builder, made, error);
}

static isoproof_status stream_feed(void *reader_, const char *bytes, size_t size, bool last, isoproof_error *error) {
  reader *r = reader_;
  r->more = !last;
  isoproof_status status = iso_tokenizer_feed(&r->t, bytes, size);
  if (status == ISOPROOF_OK) status = operations(r, NULL);
  if (status != ISOPROOF_OK && error != NULL) *error = r->problem;
  return status;
}

/* An invocation whose completion is still to come speaks in codes of the batch that is gone. */
static isoproof_status carry_slot(reader *r, const isoproof_history *done, slot *s, isoproof_error *error) {
  if (!s->open) return ISOPROOF_OK;
  ISO_TRY(iso_stream_code(done, r->builder, s->node, &s->node, error));
  for (size_t i = 0; i < s->ops.count; i++) {
    iso_micro_op_add *op = &s->ops.items[i];
    ISO_TRY(iso_stream_code(done, r->builder, op->key, &op->key, error));
    ISO_TRY(iso_stream_code(done, r->builder, op->value, &op->value, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status carry_processes(reader *r, const isoproof_history *done, isoproof_error *error) {
  iso_numbering before = r->processes;
  isoproof_status status = ISOPROOF_OK;
  iso_numbering_init(&r->processes);
  for (size_t i = 0; status == ISOPROOF_OK && i < before.count; i++) {
    iso_value process;
    uint32_t number;
    status = iso_stream_code(done, r->builder, before.names[i], &process, error);
    if (status == ISOPROOF_OK) status = iso_numbering_add(&r->processes, process, &number, error);
    slot *s = &r->slots.items[i];
    if (status == ISOPROOF_OK && s->session != NO_SESSION)
      status = iso_builder_session(r->builder, process, &s->session, error);
  }
  iso_numbering_free(&before);
  return status;
}

static isoproof_status stream_turned(void *reader_, const isoproof_history *done, const uint32_t *unfinished,
                                     isoproof_error *error) {
  reader *r = reader_;
  (void)unfinished;
  iso_list_cache_free(&r->micro.cache);
  ISO_TRY(begin_history(r, error));
  ISO_TRY(carry_processes(r, done, error));
  for (size_t i = 0; i < r->slots.count; i++) ISO_TRY(carry_slot(r, done, &r->slots.items[i], error));
  for (size_t i = 0; i < r->parking.count; i++) ISO_TRY(carry_slot(r, done, &r->parking.items[i], error));
  return ISOPROOF_OK;
}

/* What [:r k nil] reads is known once something else was done to a key. */
static bool stream_ready(const void *reader_) { return iso_builder_knows_reads(((const reader *)reader_)->builder); }

const iso_stream_table iso_edn_stream = {.cut = ISO_CUT_EDN_ITEMS,
                                         .open = open_edn,
                                         .feed = stream_feed,
                                         .turned = stream_turned,
                                         .ready = stream_ready,
                                         .free = reader_free};
const iso_stream_table iso_json_stream = {.cut = ISO_CUT_JSON_ITEMS,
                                          .open = open_json,
                                          .feed = stream_feed,
                                          .turned = stream_turned,
                                          .ready = stream_ready,
                                          .free = reader_free};
