/* Examines everything that was pushed as one history. */
#include "live/examine.h"

#include <stdlib.h>

#include "live/written.h"

isoproof_status iso_live_take(isoproof_live *live, iso_live_txn *txn, isoproof_error *error) {
  if (!iso_vec_push(&live->txns, txn)) return iso_fail_memory(error);
  live->bytes += txn->bytes;
  for (uint32_t i = 0; i < txn->op_count; i++) live->has_rows |= txn->ops[i].form != ISO_ROW_NONE;
  return ISOPROOF_OK;
}

isoproof_status iso_live_initial_row(isoproof_live *live, const iso_row_value *row, isoproof_error *error) {
  live->has_rows = true;
  for (size_t i = 0; i < live->initial_rows.count; i++) {
    if (live->initial_rows.items[i].key == row->key) return ISOPROOF_OK;
  }
  return iso_vec_push(&live->initial_rows, *row) ? ISOPROOF_OK : iso_fail_memory(error);
}

uint64_t iso_live_retained(const isoproof_live *live) { return live->txns.count; }
uint64_t iso_live_bytes(const isoproof_live *live) { return live->bytes; }

/* ---- reads of what nobody wrote so far ---- */

static bool form_writes(iso_row_form form) {
  static const bool writes[ISO_ROW_FORMS] = {
#define ISO_X(name, text, writes_it) [ISO_ROW_##name] = writes_it,
      ISO_ROW_FORM_LIST(ISO_X)
#undef ISO_X
  };
  return writes[form];
}

/* What goes into a history: everything, or only what no later transaction can explain in another way. */
typedef struct composer {
  isoproof_live *live;
  isoproof_builder *builder;
  const iso_written *written; /* NULL: everything */
  uint64_t pending, left_out;
} composer;

/* Whether a later transaction could explain the operation in another way than those so far: nobody wrote what it shows
 * (*pending), or it shows that a row was absent, which a delete may explain. */
static bool is_open(const composer *c, const iso_live_txn *t, const iso_live_op *op, bool *pending) {
  isoproof_op_kind kind = (isoproof_op_kind)op->kind;
  *pending = false;
  if (op->form != ISO_ROW_NONE) return !form_writes((iso_row_form)op->form);
  if (op->value == ISO_VALUE_NONE || !isoproof_op_kind_observes(kind)) return false;
  if (kind == ISOPROOF_OP_READ && op->value == ISO_VALUE_NIL) return c->live->has_rows;
  if (kind == ISOPROOF_OP_READ) *pending = !iso_written_has(c->written, op->key, op->value);
  if (kind == ISOPROOF_OP_READ_LIST || kind == ISOPROOF_OP_READ_SET) {
    for (uint32_t i = 0; i < op->count; i++) {
      if (!iso_written_has(c->written, op->key, t->elements[op->first + i])) *pending = true;
    }
  }
  return *pending;
}

static isoproof_status note_written(isoproof_live *live, iso_written *written, isoproof_error *error) {
  for (size_t i = 0; i < live->txns.count; i++) {
    const iso_live_txn *t = live->txns.items[i];
    for (uint32_t j = 0; j < t->op_count; j++) {
      const iso_live_op *op = &t->ops[j];
      bool writes = op->form == ISO_ROW_NONE && !isoproof_op_kind_observes((isoproof_op_kind)op->kind);
      writes |= op->form != ISO_ROW_NONE && form_writes((iso_row_form)op->form);
      bool had = false;
      if (writes && !iso_written_add(written, op->key, op->value, &had)) return iso_fail_memory(error);
      live->repeats |= had && op->kind == ISOPROOF_OP_WRITE && op->value != ISO_VALUE_NIL;
    }
  }
  return ISOPROOF_OK;
}

/* ---- the history so far ---- */

static isoproof_status put_txn(composer *c, const iso_live_txn *t, isoproof_error *error) {
  const isoproof_live *live = c->live;
  iso_live_carrier carrier = {.from = iso_pool_look(&live->pool), .to = iso_builder_pool(c->builder)};
  iso_value name;
  uint32_t session;
  ISO_TRY(iso_live_carry(&carrier, live->sessions.names[t->session], &name, error));
  ISO_TRY(iso_builder_session(c->builder, name, &session, error));
  ISO_TRY(iso_live_txn_begin(t, &live->pool, session, c->builder, error));
  for (uint32_t i = 0; i < t->op_count; i++) {
    bool pending, open = c->written != NULL && is_open(c, t, &t->ops[i], &pending);
    if (open)
      c->left_out++, c->pending += pending;
    else
      ISO_TRY(iso_live_txn_op(t, &t->ops[i], &live->pool, c->builder, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status put_all(composer *c, isoproof_history **out, isoproof_error *error) {
  isoproof_live *live = c->live;
  iso_builder_origin(c->builder, live->format, ISO_POSITION_NONE, live->initial_is_zero);
  iso_builder_ambiguous_reads(c->builder);
  for (size_t i = 0; i < live->initial_rows.count; i++) {
    const iso_row_value *row = &live->initial_rows.items[i];
    ISO_TRY(iso_builder_initial_row(c->builder, row->key, row->value, error));
  }
  for (size_t i = 0; i < live->txns.count; i++) ISO_TRY(put_txn(c, live->txns.items[i], error));
  return isoproof_builder_finish(c->builder, out, error);
}

static isoproof_status compose(composer *c, isoproof_history **out, isoproof_error *error) {
  ISO_TRY(isoproof_builder_new(&c->builder, error));
  isoproof_status status = put_all(c, out, error);
  isoproof_builder_free(c->builder);
  return status;
}

/* The history without what a later transaction may mend; NULL where there is nothing of that kind. */
static isoproof_status compose_certain(isoproof_live *live, isoproof_history **out, isoproof_error *error) {
  iso_written written = {0};
  for (size_t i = 0; i < live->initial_rows.count; i++) {
    iso_value key, value;
    ISO_TRY(iso_pool_add_i64(&live->pool, live->initial_rows.items[i].key, &key, error));
    ISO_TRY(iso_pool_add_i64(&live->pool, live->initial_rows.items[i].value, &value, error));
    if (!iso_written_add(&written, key, value, NULL)) return iso_fail_memory(error);
  }
  composer c = {.live = live, .written = &written};
  isoproof_status status = note_written(live, &written, error);
  if (status == ISOPROOF_OK) status = compose(&c, out, error);
  iso_written_free(&written);
  if (status != ISOPROOF_OK) return status;
  live->pending_reads = c.pending;
  if (c.left_out > 0) return ISOPROOF_OK;
  isoproof_history_free(*out);
  *out = NULL;
  return ISOPROOF_OK;
}

/* ---- verdicts ---- */

static isoproof_status check(const isoproof_live *live, isoproof_history *history, isoproof_result **result,
                             isoproof_error *error) {
  isoproof_check_options options = {
      .struct_size = sizeof options, .levels = live->level_names, .level_count = live->levels.count};
  return isoproof_check(history, &options, live->task, result, error);
}

/* Takes over what a result says; the history and the result go with the first violation that is new, or are freed. */
static isoproof_status enter(isoproof_live *live, isoproof_history *history, isoproof_result *result, bool final,
                             isoproof_error *error) {
  bool news = false;
  live->reason = isoproof_result_unknown_reason(result);
  for (size_t i = 0; i < live->levels.count; i++) {
    iso_live_level *level = &live->levels.items[i];
    if (level->final) continue;
    level->verdict = isoproof_result_verdict_of(result, level->info->id);
    if (level->verdict != ISOPROOF_VIOLATED) continue;
    level->final = final;
    level->since = live->pushed;
    news |= final;
  }
  iso_live_violation violation = {.history = history, .result = result};
  if (news && iso_vec_push(&live->violations, violation)) return ISOPROOF_OK;
  isoproof_result_free(result);
  isoproof_history_free(history);
  return news ? iso_fail_memory(error) : ISOPROOF_OK;
}

static isoproof_status judge(isoproof_live *live, isoproof_history *history, bool final, isoproof_error *error) {
  isoproof_result *result;
  isoproof_status status = check(live, history, &result, error);
  if (status != ISOPROOF_OK) {
    isoproof_history_free(history);
    return status;
  }
  return enter(live, history, result, final, error);
}

static bool all_final(const isoproof_live *live) {
  for (size_t i = 0; i < live->levels.count; i++) {
    if (!live->levels.items[i].final) return false;
  }
  return !live->repeats;
}

/* A value was written again: whoever writes one once more may explain what looked violated for good. */
static void reopen(isoproof_live *live) {
  for (size_t i = 0; i < live->levels.count; i++) live->levels.items[i].final = false;
  for (size_t i = 0; i < live->violations.count; i++) {
    isoproof_result_free(live->violations.items[i].result);
    isoproof_history_free(live->violations.items[i].history);
  }
  live->violations.count = 0;
}

isoproof_status iso_live_examine(isoproof_live *live, isoproof_error *error) {
  isoproof_history *history, *certain;
  bool repeated = live->repeats;
  ISO_TRY(compose_certain(live, &certain, error));
  if (live->repeats && !repeated) reopen(live);
  if (all_final(live)) {
    isoproof_history_free(certain);
    return ISOPROOF_OK;
  }
  /* First what no later transaction can mend, then what everything says so far. */
  bool mendable = (certain != NULL || live->repeats) && !live->finished;
  if (certain != NULL && mendable && !live->repeats)
    ISO_TRY(judge(live, certain, true, error));
  else
    isoproof_history_free(certain);
  composer c = {.live = live};
  ISO_TRY(compose(&c, &history, error));
  return judge(live, history, !mendable, error);
}
