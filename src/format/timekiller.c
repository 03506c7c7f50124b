/* TimeKiller histories: JSON objects with start and commit timestamps.
 *
 * A timestamp is a physical and a logical part.  The transactions of a session are ordered by their start timestamp,
 * equal ones as they stand in the file, so that all are kept and sorted: O(n log n). */
#include "base/text.h"
#include "format/format.h"
#include "format/micro_op.h"

typedef struct stamp {
  uint64_t physical, logical;
} stamp;

typedef struct record {
  stamp start, commit;
  bool has_id;
  int64_t id;
  uint32_t session;
  uint64_t line;
  size_t number; /* in the file */
  size_t first_op, ops, first_element;
} record;

typedef struct reader {
  iso_tokenizer t;
  isoproof_builder *builder;
  iso_pool *pool;
  isoproof_error problem;
  iso_micro_op micro; /* the operations of all transactions */
  ISO_VEC(record) records;
  stamp *ranks; /* distinct timestamps in order, when they do not fit a number */
  size_t rank_count;
  unsigned shift; /* else: how far the physical part is shifted */
} reader;

/* Which fields of a transaction were there. */
enum { HAS_SESSION = 1, HAS_START = 2, HAS_COMMIT = 4, HAS_OPS = 8, HAS_ALL = 15 };

/* ---- parsing ---- */

/* A number without sign, perhaps as a string. */
static isoproof_status natural(reader *r, uint64_t *number) {
  const isoproof_scalar *s = &r->t.scalar;
  if (r->t.type == ISO_TOKEN_SCALAR) {
    if (s->type == ISOPROOF_UNSIGNED || (s->type == ISOPROOF_INTEGER && s->integer >= 0)) {
      *number = (uint64_t)s->integer;
      return ISOPROOF_OK;
    }
    if (s->type == ISOPROOF_STRING && iso_parse_u64(s->text, s->length, number)) return ISOPROOF_OK;
  }
  return iso_token_expected(&r->t, "a number that is not negative, perhaps in quotes");
}

static isoproof_status timestamp(reader *r, stamp *out) {
  bool has_physical = false;
  if (r->t.type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(&r->t, "a timestamp ({\"p\":1,\"l\":0})");
  *out = (stamp){0, 0};
  for (;;) {
    ISO_TRY(iso_token_next(&r->t));
    if (r->t.type == ISO_TOKEN_END) break;
    bool physical = iso_token_is(&r->t, "p"), logical = iso_token_is(&r->t, "l");
    ISO_TRY(iso_token_next(&r->t));
    if (physical) {
      ISO_TRY(natural(r, &out->physical));
      has_physical = true;
    } else if (logical) {
      ISO_TRY(natural(r, &out->logical));
    } else {
      ISO_TRY(iso_token_skip(&r->t));
    }
  }
  return has_physical ? ISOPROOF_OK : iso_token_expected(&r->t, "the part \"p\" of the timestamp");
}

static isoproof_status key(reader *r, iso_value *code) {
  if (r->t.type != ISO_TOKEN_SCALAR || r->t.scalar.type == ISOPROOF_NIL) {
    return iso_token_expected(&r->t, "a key (a number or a string)");
  }
  return iso_micro_op_code(&r->t, r->pool, code);
}

/* A value of either kind of operation; what it may be is checked when the kind is known. */
static isoproof_status value(reader *r, iso_op_add *op) {
  op->list = r->t.type == ISO_TOKEN_BEGIN_LIST;
  if (op->list) return iso_micro_op_elements(&r->micro, &r->t, r->pool, &op->value);
  if (r->t.type != ISO_TOKEN_SCALAR) return iso_token_expected(&r->t, "a value or a list of them");
  return iso_micro_op_code(&r->t, r->pool, &op->value);
}

static isoproof_status kind(reader *r, iso_op_add *op) {
  if (iso_token_is(&r->t, "r")) {
    op->kind = ISOPROOF_OP_READ;
  } else if (iso_token_is(&r->t, "w")) {
    op->kind = ISOPROOF_OP_WRITE;
  } else if (iso_token_is(&r->t, "a")) {
    op->kind = ISOPROOF_OP_APPEND;
  } else {
    return iso_token_expected(&r->t, "an operation (r, w or a)");
  }
  return ISOPROOF_OK;
}

/* Makes the operation what its fields together say. */
static isoproof_status settle(reader *r, iso_op_add *op, bool complete) {
  if (!complete) return iso_token_expected(&r->t, "an operation with \"t\", \"k\" and \"v\"");
  if (op->kind == ISOPROOF_OP_READ) {
    if (op->list) op->kind = ISOPROOF_OP_READ_LIST;
    if (!op->list && op->value == 0) op->value = ISO_VALUE_NIL;
  } else if (op->list || op->value == ISO_VALUE_NIL) {
    return iso_token_expected(&r->t, "the value written (a number or a string) in the operation that ends here");
  }
  return iso_vec_push(&r->micro.ops, *op) ? ISOPROOF_OK : iso_fail_memory(&r->problem);
}

static isoproof_status operation(reader *r) {
  iso_op_add op = {.kind = ISOPROOF_OP_KINDS, .value = ISO_VALUE_NIL};
  bool has_key = false, has_value = false;
  size_t elements = r->micro.elements.count;
  if (r->t.type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(&r->t, "an operation (an object)");
  for (;;) {
    ISO_TRY(iso_token_next(&r->t));
    if (r->t.type == ISO_TOKEN_END) break;
    bool is_kind = iso_token_is(&r->t, "t"), is_key = iso_token_is(&r->t, "k"), is_value = iso_token_is(&r->t, "v");
    ISO_TRY(iso_token_next(&r->t));
    if (is_kind) {
      ISO_TRY(kind(r, &op));
    } else if (is_key) {
      ISO_TRY(key(r, &op.key));
      has_key = true;
    } else if (is_value) {
      r->micro.elements.count = elements; /* the last one of a repeated field counts */
      ISO_TRY(value(r, &op));
      has_value = true;
    } else {
      ISO_TRY(iso_token_skip(&r->t));
    }
  }
  return settle(r, &op, op.kind != ISOPROOF_OP_KINDS && has_key && has_value);
}

static isoproof_status operations(reader *r, record *txn) {
  if (r->t.type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(&r->t, "a list of operations");
  r->micro.ops.count = txn->first_op;
  r->micro.elements.count = txn->first_element;
  for (;;) {
    ISO_TRY(iso_token_next(&r->t));
    if (r->t.type == ISO_TOKEN_END) break;
    ISO_TRY(operation(r));
  }
  txn->ops = r->micro.ops.count - txn->first_op;
  return ISOPROOF_OK;
}

static isoproof_status session(reader *r, uint32_t *number) {
  iso_value name;
  if (r->t.type != ISO_TOKEN_SCALAR || r->t.scalar.type == ISOPROOF_NIL) {
    return iso_token_expected(&r->t, "a session (a number or a string)");
  }
  ISO_TRY(iso_micro_op_code(&r->t, r->pool, &name));
  return iso_builder_session(r->builder, name, number, &r->problem);
}

static isoproof_status check(reader *r, const record *txn, unsigned seen) {
  iso_place place = {iso_input_name(r->t.window.input), txn->line, 0, -1};
  if (seen != HAS_ALL) {
    const char *missing = (seen & HAS_SESSION) == 0  ? "sid"
                          : (seen & HAS_START) == 0  ? "sts"
                          : (seen & HAS_COMMIT) == 0 ? "cts"
                                                     : "ops";
    return iso_fail_at(&r->problem, ISOPROOF_ERR_FORMAT, place, "expected \"%s\" in the transaction, found none",
                       missing);
  }
  if (txn->commit.physical < txn->start.physical ||
      (txn->commit.physical == txn->start.physical && txn->commit.logical < txn->start.logical)) {
    return iso_fail_at(&r->problem, ISOPROOF_ERR_FORMAT, place,
                       "expected a commit timestamp not before the start timestamp, found an earlier one");
  }
  return ISOPROOF_OK;
}

static isoproof_status transaction(reader *r) {
  record txn = {.line = r->t.token_line,
                .number = r->records.count,
                .first_op = r->micro.ops.count,
                .first_element = r->micro.elements.count};
  unsigned seen = 0;
  for (;;) {
    ISO_TRY(iso_token_next(&r->t));
    if (r->t.type == ISO_TOKEN_END) break;
    bool is_id = iso_token_is(&r->t, "tid");
    unsigned field = iso_token_is(&r->t, "sid")   ? HAS_SESSION
                     : iso_token_is(&r->t, "sts") ? HAS_START
                     : iso_token_is(&r->t, "cts") ? HAS_COMMIT
                     : iso_token_is(&r->t, "ops") ? HAS_OPS
                                                  : 0;
    seen |= field;
    ISO_TRY(iso_token_next(&r->t));
    if (is_id && iso_token_is_integer(&r->t)) txn.has_id = true, txn.id = r->t.scalar.integer;
    if (field == HAS_SESSION) ISO_TRY(session(r, &txn.session));
    if (field == HAS_START) ISO_TRY(timestamp(r, &txn.start));
    if (field == HAS_COMMIT) ISO_TRY(timestamp(r, &txn.commit));
    if (field == HAS_OPS) ISO_TRY(operations(r, &txn));
    if (field == 0) ISO_TRY(iso_token_skip(&r->t));
  }
  ISO_TRY(check(r, &txn, seen));
  return iso_vec_push(&r->records, txn) ? ISOPROOF_OK : iso_fail_memory(&r->problem);
}

static isoproof_status watch(reader *r, isoproof_task *task) {
  uint64_t done, total;
  if (task == NULL || (r->records.count & 1023) != 0) return ISOPROOF_OK;
  iso_input_progress(r->t.window.input, &done, &total);
  iso_task_progress(task, "reading", "bytes", done, total);
  return iso_task_check(task, &r->problem);
}

static isoproof_status transactions(reader *r, isoproof_task *task) {
  for (;;) {
    ISO_TRY(watch(r, task));
    ISO_TRY(iso_token_next(&r->t));
    if (r->t.type == ISO_TOKEN_END_OF_INPUT) return ISOPROOF_OK;
    if (r->t.type == ISO_TOKEN_BEGIN_MAP) {
      ISO_TRY(transaction(r));
    } else if (r->t.type != ISO_TOKEN_END && (r->t.type != ISO_TOKEN_BEGIN_LIST || r->t.depth != 1)) {
      return iso_token_expected(&r->t, "a transaction (an object)");
    }
  }
}

/* ---- timestamps as numbers ---- */

static int compare_stamps(stamp a, stamp b) {
  if (a.physical != b.physical) return a.physical < b.physical ? -1 : 1;
  return a.logical < b.logical ? -1 : a.logical > b.logical;
}

static int by_stamp(const void *a, const void *b) { return compare_stamps(*(const stamp *)a, *(const stamp *)b); }

static int by_start(const void *a, const void *b) {
  const record *x = a, *y = b;
  int order = compare_stamps(x->start, y->start);
  return order != 0 ? order : (x->number < y->number ? -1 : x->number > y->number);
}

/* Chooses how two parts become one number: as they are where they fit, else by rank. */
static isoproof_status plan_stamps(reader *r) {
  enum { LOGICAL_BITS = 16 };
  uint64_t physical = 0, logical = 0;
  for (size_t i = 0; i < r->records.count; i++) {
    const record *txn = &r->records.items[i];
    physical |= txn->start.physical | txn->commit.physical;
    logical |= txn->start.logical | txn->commit.logical;
  }
  if (logical == 0 && physical <= INT64_MAX) return ISOPROOF_OK;
  if (logical >> LOGICAL_BITS == 0 && physical >> (63 - LOGICAL_BITS) == 0) {
    r->shift = LOGICAL_BITS;
    return ISOPROOF_OK;
  }
  r->ranks = iso_alloc(r->records.count, 2 * sizeof *r->ranks);
  if (r->ranks == NULL) return iso_fail_memory(&r->problem);
  for (size_t i = 0; i < r->records.count; i++) {
    r->ranks[2 * i] = r->records.items[i].start;
    r->ranks[2 * i + 1] = r->records.items[i].commit;
  }
  size_t count = 2 * r->records.count;
  qsort(r->ranks, count, sizeof *r->ranks, by_stamp);
  for (size_t i = 0; i < count; i++) {
    if (r->rank_count == 0 || compare_stamps(r->ranks[r->rank_count - 1], r->ranks[i]) != 0) {
      r->ranks[r->rank_count++] = r->ranks[i];
    }
  }
  return ISOPROOF_OK;
}

static int64_t stamp_number(const reader *r, stamp s) {
  if (r->ranks == NULL) return (int64_t)((s.physical << r->shift) | s.logical);
  size_t low = 0, high = r->rank_count;
  while (low + 1 < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_stamps(r->ranks[middle], s) <= 0) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return (int64_t)low;
}

static isoproof_status build(reader *r) {
  ISO_TRY(plan_stamps(r));
  if (r->records.count > 0) qsort(r->records.items, r->records.count, sizeof *r->records.items, by_start);
  for (size_t i = 0; i < r->records.count; i++) {
    const record *txn = &r->records.items[i];
    iso_txn_info info = iso_txn_unset();
    info.has_id = txn->has_id;
    info.id = txn->id;
    info.start = stamp_number(r, txn->start);
    info.end = stamp_number(r, txn->commit);
    info.position = txn->line;
    ISO_TRY(iso_builder_begin(r->builder, txn->session, &info, NULL, &r->problem));
    iso_micro_ops part = iso_micro_op_part(&r->micro, txn->first_op, txn->ops, txn->first_element);
    ISO_TRY(iso_micro_op_emit(&part, r->builder, &r->problem));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_read_timekiller(iso_input *input, isoproof_builder *builder, isoproof_task *task,
                                    isoproof_error *error) {
  reader *r = iso_alloc_zero(1, sizeof *r);
  if (r == NULL) return iso_fail_memory(error);
  r->builder = builder;
  r->pool = iso_builder_pool(builder);
  iso_builder_origin(builder, ISOPROOF_FORMAT_TIMEKILLER, ISO_POSITION_LINE, true);
  iso_builder_ambiguous_reads(builder);
  isoproof_status status = iso_builder_file(builder, iso_input_name(input), &r->problem);
  if (status == ISOPROOF_OK) status = iso_tokenizer_init(&r->t, input, ISO_TOKEN_DIALECT_JSON, &r->problem);
  if (status == ISOPROOF_OK) {
    status = transactions(r, task);
    if (status == ISOPROOF_OK) status = build(r);
    iso_tokenizer_free(&r->t);
  }
  if (status != ISOPROOF_OK && error != NULL) *error = r->problem;
  iso_vec_free(&r->records);
  iso_micro_op_free(&r->micro);
  free(r->ranks);
  free(r);
  return status;
}
