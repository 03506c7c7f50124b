/* The plain way: everything that was pushed is kept, or read again, and checked as one history. */
#include "live/plain.h"

#include <stdlib.h>

#include "live/carried.h"
#include "live/levels.h"
#include "live/settle.h"
#include "live/written.h"

isoproof_status iso_live_plain_take(isoproof_live *live, iso_live_txn *txn, isoproof_error *error) {
  for (uint32_t i = 0; i < txn->op_count; i++) live->has_rows |= txn->ops[i].form != ISO_ROW_NONE;
  if (live->lost)
    iso_live_txn_drop(txn);
  else if (!iso_vec_push(&live->txns, (iso_live_held){txn}))
    return iso_fail_memory(error);
  return ISOPROOF_OK;
}

isoproof_status iso_live_initial_row(isoproof_live *live, const iso_row_value *row, isoproof_error *error) {
  live->has_rows = true;
  if (iso_row_map_find(&live->initial_seen, row->key, 0) != NULL) return ISOPROOF_OK;
  if (!iso_row_map_put(&live->initial_seen, row->key, 0, row->value) || !iso_vec_push(&live->initial_rows, *row))
    return iso_fail_memory(error);
  return live->carries ? iso_live_go_plain(live, error) : ISOPROOF_OK; /* that was not so until now */
}

/* A track of which nothing has left memory has everything. */
static isoproof_status take_from_track(isoproof_live *live, isoproof_error *error) {
  for (size_t i = 0; i < live->tracks.count; i++) {
    const iso_live_track *track = live->tracks.items[i].track;
    if (track->frozen > 0 || track->lost) continue;
    for (size_t j = 0; j < track->entries.count; j++) {
      if (!iso_vec_push(&live->txns, (iso_live_held){track->entries.items[j].txn})) return iso_fail_memory(error);
      iso_live_txn_keep(track->entries.items[j].txn);
    }
    return ISOPROOF_OK;
  }
  live->lost = live->pushed > 0;
  return ISOPROOF_OK;
}

isoproof_status iso_live_go_plain(isoproof_live *live, isoproof_error *error) {
  live->plain = true;
  ISO_TRY((live->carries ? iso_live_carried_hand_over : take_from_track)(live, error));
  for (size_t i = 0; i < live->tracks.count; i++) iso_live_track_free(live->tracks.items[i].track);
  live->tracks.count = 0;
  for (size_t i = 0; i < live->levels.count; i++) live->levels.items[i].lost = false;
  iso_live_index_give_up(&live->index);
  if (live->repeats) iso_live_reopen(live);
  return ISOPROOF_OK;
}

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
  if (kind == ISOPROOF_OP_READ_COUNTER) return true; /* whoever counts later may explain it */
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
    const iso_live_txn *t = live->txns.items[i].txn;
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
      ISO_TRY(iso_live_txn_op(t, &t->ops[i], &live->pool, live->keys.names, c->builder, error));
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
  for (size_t i = 0; i < live->txns.count; i++) ISO_TRY(put_txn(c, live->txns.items[i].txn, error));
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
    iso_value name, value;
    uint32_t key;
    ISO_TRY(iso_pool_add_i64(&live->pool, live->initial_rows.items[i].key, &name, error));
    ISO_TRY(iso_numbering_add(&live->keys, name, &key, error));
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

/* What a result says so far, for levels that are not violated for good. */
static void enter_so_far(isoproof_live *live, const isoproof_result *result) {
  live->reason = isoproof_result_unknown_reason(result);
  for (size_t i = 0; i < live->levels.count; i++) {
    iso_live_level *level = &live->levels.items[i];
    if (level->final) continue;
    iso_live_enter_verdict(live, level, isoproof_result_verdict_of(result, level->info->id), live->reason);
  }
}

/* Checks the history, which is freed or goes with a violation. */
static isoproof_status judge(isoproof_live *live, isoproof_history *history, bool final, isoproof_error *error) {
  isoproof_result *result;
  isoproof_status status = iso_live_check(live, history, NULL, false, &result, error);
  if (status != ISOPROOF_OK) {
    isoproof_history_free(history);
    return status;
  }
  enter_so_far(live, result);
  if (final && isoproof_result_verdict(result) == ISOPROOF_VIOLATED)
    return iso_live_blame(live, history, result, error);
  isoproof_result_free(result);
  isoproof_history_free(history);
  return ISOPROOF_OK;
}

static bool all_final(const isoproof_live *live) {
  for (size_t i = 0; i < live->levels.count; i++) {
    if (!live->levels.items[i].final) return false;
  }
  return !live->repeats;
}

void iso_live_reopen(isoproof_live *live) {
  for (size_t i = 0; i < live->levels.count; i++) live->levels.items[i].final = false;
  for (size_t i = 0; i < live->violations.count; i++) {
    isoproof_result_free(live->violations.items[i].result);
    isoproof_history_free(live->violations.items[i].history);
  }
  live->violations.count = 0;
}

static isoproof_status examine_txns(isoproof_live *live, isoproof_error *error) {
  isoproof_history *history, *certain;
  bool repeated = live->repeats;
  ISO_TRY(compose_certain(live, &certain, error));
  if (live->repeats && !repeated) iso_live_reopen(live);
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
  if (all_final(live)) return ISOPROOF_OK;
  composer c = {.live = live};
  ISO_TRY(compose(&c, &history, error));
  return judge(live, history, !mendable, error);
}

/* ---- what is not in memory any more ---- */

static void drop_txns(isoproof_live *live) {
  for (size_t i = 0; i < live->txns.count; i++) iso_live_txn_drop(live->txns.items[i].txn);
  live->txns.count = 0;
}

static isoproof_status read_again(isoproof_live *live, isoproof_history *whole, uint32_t *keys, isoproof_error *error) {
  iso_live_carrier carrier = {.from = whole->pool, .to = &live->pool};
  iso_value name;
  for (uint32_t i = 0; i < whole->keys; i++) {
    ISO_TRY(iso_live_carry(&carrier, whole->key_name[i], &name, error));
    ISO_TRY(iso_numbering_add(&live->keys, name, &keys[i], error));
  }
  for (uint32_t i = 0; i < whole->txns; i++) {
    iso_live_txn *t;
    ISO_TRY(iso_live_carry(&carrier, whole->session_name[whole->txn_session[i]], &name, error));
    ISO_TRY(iso_live_txn_copy(whole, i, &live->pool, keys, &t, error));
    bool kept = iso_vec_push(&live->txns, (iso_live_held){t});
    if (!kept) iso_live_txn_drop(t);
    if (!kept) return iso_fail_memory(error);
    ISO_TRY(iso_numbering_add(&live->sessions, name, &t->session, error));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_live_plain_examine(isoproof_live *live, isoproof_error *error) {
  isoproof_history *whole;
  if (!live->lost) return examine_txns(live, error);
  ISO_TRY(iso_live_ask_whole(live, &whole, error));
  if (whole == NULL) {
    live->reason = "it takes what has left memory, and nothing was recorded";
    for (size_t i = 0; i < live->levels.count; i++) {
      if (!live->levels.items[i].final) live->levels.items[i].verdict = ISOPROOF_UNDECIDED;
    }
    return ISOPROOF_OK;
  }
  uint32_t *keys = iso_alloc(whole->keys, sizeof *keys);
  isoproof_status status = keys != NULL ? read_again(live, whole, keys, error) : iso_fail_memory(error);
  free(keys);
  if (status == ISOPROOF_OK) status = examine_txns(live, error);
  drop_txns(live);
  return status;
}
