/* Writes the window of a track as a history, on top of the state that was left before it, or what is certain of it. */
#include <stdlib.h>
#include <string.h>

#include "live/carried.h"

typedef struct composer {
  isoproof_live *live;
  iso_carried *track;
  isoproof_builder *builder;
  iso_live_carrier carrier;
  bool certain;            /* only what no later transaction can explain in another way */
  bool doubted;            /* without the reads of those who came after the doubt began */
  iso_row_map written;     /* (key, value) of rows, by the transactions of the window */
  iso_row_map suspects;    /* of these, what was perhaps written twice */
  iso_row_map relevant;    /* keys of the rows that the window says something about */
  iso_row_map own;         /* keys of rows that the transaction at hand wrote */
  iso_carried_entry **all; /* of the window, by session and place */
  size_t count;
  uint64_t pending;
  bool misfit;
} composer;

static bool is_statement(const iso_live_op *op) { return op->form == ISO_ROW_PREDICATE || op->form == ISO_ROW_COUNT; }

/* ---- who is in the window ---- */

static int by_session(const void *a, const void *b) {
  const iso_live_txn *x = (*(iso_carried_entry *const *)a)->txn, *y = (*(iso_carried_entry *const *)b)->txn;
  if (x->session != y->session) return x->session < y->session ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

static bool gather(composer *c) {
  const iso_carried_entries *lists[] = {&c->track->order, &c->track->waiting, &c->track->fresh, &c->track->out};
  c->all = iso_alloc(iso_carried_retained(c->track), sizeof *c->all);
  if (c->all == NULL) return false;
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    for (size_t j = 0; j < lists[i]->count; j++) c->all[c->count++] = lists[i]->items[j];
  }
  if (c->count > 1) qsort(c->all, c->count, sizeof(iso_carried_entry *), by_session);
  return true;
}

static bool note_write(composer *c, const iso_live_op *op) {
  const iso_store *store = &c->track->store;
  if (op->value == ISO_VALUE_NIL) return true;
  int64_t key = iso_store_key(store, op), value = iso_store_value(store, op);
  bool twice = iso_live_index_has_twice(&c->live->index, &c->live->pool, op->key, op->value);
  if (twice && !iso_row_map_put(&c->suspects, key, value, 0)) return false;
  return iso_row_map_put(&c->written, key, value, 0);
}

/* The rows that matter: those that are named, and those that a statement picks from the state before the window.  Of
 * all others every read by predicate sees what is there from the start, and does not pick it. */
static bool note_relevant(composer *c, const iso_live_txn *t, const iso_live_op *op) {
  if (!is_statement(op)) return iso_row_map_put(&c->relevant, iso_store_key(&c->track->store, op), 0, 0);
  iso_store_cursor cursor = {.store = &c->track->store, .predicate = &t->statements[op->first].predicate};
  while (iso_store_next(&cursor)) {
    if (!iso_row_map_put(&c->relevant, cursor.row.key, 0, 0)) return false;
  }
  return true;
}

static bool note_all(composer *c) {
  for (size_t i = 0; i < c->count; i++) {
    const iso_live_txn *t = c->all[i]->txn;
    for (uint32_t j = 0; j < t->op_count; j++) {
      const iso_live_op *op = &t->ops[j];
      if (!iso_live_op_observes(op) && !note_write(c, op)) return false;
      if (!c->certain && !note_relevant(c, t, op)) return false;
    }
  }
  return true;
}

/* ---- reads ---- */

static isoproof_status was_written(isoproof_live *live, int64_t key, int64_t value, bool *perhaps,
                                   isoproof_error *error) {
  iso_value name, code;
  uint32_t number;
  ISO_TRY(iso_pool_add_i64(&live->pool, key, &name, error));
  ISO_TRY(iso_pool_add_i64(&live->pool, value, &code, error));
  ISO_TRY(iso_numbering_add(&live->keys, name, &number, error));
  *perhaps = iso_live_index_has(&live->index, &live->pool, number, code);
  return ISOPROOF_OK;
}

/* What becomes of a read of one row with a value. */
static isoproof_status look_at_value(composer *c, iso_carried_entry *entry, int64_t key, int64_t value, bool *kept,
                                     isoproof_error *error) {
  const iso_row_node *before = iso_row_map_find(&c->track->store.rows, key, 0);
  bool first = c->track->left == 0, perhaps = false;
  bool there = before != NULL && before->value == value && (!c->certain || first);
  *kept = true;
  if (c->certain && iso_row_map_find(&c->suspects, key, value) != NULL) *kept = false;
  if (!*kept || there || iso_row_map_find(&c->own, key, 0) != NULL) return ISOPROOF_OK;
  if (iso_row_map_find(&c->written, key, value) != NULL) return ISOPROOF_OK;
  *kept = false;
  if (!first) ISO_TRY(was_written(c->live, key, value, &perhaps, error));
  c->misfit |= perhaps;
  if (perhaps) return ISOPROOF_OK;
  /* Whoever may not have taken effect keeps its read: it takes effect only where that cannot be helped. */
  bool committed = entry->txn->info.status == ISOPROOF_TXN_COMMITTED;
  c->pending += committed;
  *kept = c->live->finished || (!committed && !c->certain);
  if (c->certain || c->live->finished) return ISOPROOF_OK;
  entry->pending |= committed;
  return iso_row_map_put(&c->track->pendings, key, value, 0) ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status put_op(composer *c, const iso_live_txn *t, const iso_live_op *op, isoproof_error *error) {
  return iso_live_txn_op(t, op, &c->live->pool, c->live->keys.names, c->builder, error);
}

static isoproof_status put_point(composer *c, iso_carried_entry *entry, const iso_live_op *op, isoproof_error *error) {
  bool kept = true, own = iso_row_map_find(&c->own, iso_store_key(&c->track->store, op), 0) != NULL;
  if (op->value == ISO_VALUE_NONE || (op->value == ISO_VALUE_NIL && own))
    kept = true;
  else if (op->value == ISO_VALUE_NIL)
    kept = !c->certain;
  else
    ISO_TRY(look_at_value(c, entry, iso_store_key(&c->track->store, op), iso_store_value(&c->track->store, op), &kept,
                          error));
  return kept ? put_op(c, entry->txn, op, error) : ISOPROOF_OK;
}

/* A statement goes as a whole or not at all. */
static isoproof_status put_statement(composer *c, iso_carried_entry *entry, const iso_live_op *op,
                                     isoproof_error *error) {
  const iso_live_statement *s = &entry->txn->statements[op->first];
  bool all = true, kept;
  if (c->certain) return ISOPROOF_OK;
  for (uint32_t i = 0; i < s->row_count; i++) {
    const iso_row_value *row = &entry->txn->rows[s->first_row + i];
    ISO_TRY(look_at_value(c, entry, row->key, row->value, &kept, error));
    all &= kept;
  }
  return all ? put_op(c, entry->txn, op, error) : ISOPROOF_OK;
}

/* ---- transactions ---- */

static bool is_recent(const iso_carried *track, const iso_live_txn *txn) {
  return txn->session >= track->doubt.count || txn->place >= track->doubt.items[txn->session];
}

static isoproof_status put_any(composer *c, iso_carried_entry *entry, const iso_live_op *op, isoproof_error *error) {
  if (!iso_live_op_observes(op)) {
    if (!iso_row_map_put(&c->own, iso_store_key(&c->track->store, op), 0, 0)) return iso_fail_memory(error);
    return put_op(c, entry->txn, op, error);
  }
  if (entry->txn->info.status == ISOPROOF_TXN_ABORTED) return ISOPROOF_OK; /* what nobody acted upon says nothing */
  if (c->doubted && is_recent(c->track, entry->txn)) return ISOPROOF_OK;
  return is_statement(op) ? put_statement(c, entry, op, error) : put_point(c, entry, op, error);
}

static isoproof_status put_entry(composer *c, iso_carried_entry *entry, uint32_t *session, isoproof_error *error) {
  const iso_live_txn *t = entry->txn;
  iso_value name;
  ISO_TRY(iso_live_carry(&c->carrier, c->live->sessions.names[t->session], &name, error));
  ISO_TRY(iso_builder_session(c->builder, name, session, error));
  ISO_TRY(iso_live_txn_begin(t, &c->live->pool, *session, c->builder, error));
  iso_row_map_free(&c->own);
  for (uint32_t i = 0; i < t->op_count; i++) ISO_TRY(put_any(c, entry, &t->ops[i], error));
  return ISOPROOF_OK;
}

/* The rows that are there when the window begins. */
static isoproof_status put_rows(composer *c, isoproof_error *error) {
  const iso_row_map *rows = &c->track->store.rows;
  if (c->certain && c->track->left > 0) return ISOPROOF_OK;
  for (const iso_row_node *row = rows->first[0]; c->certain && row != NULL; row = row->next[0])
    ISO_TRY(iso_builder_initial_row(c->builder, row->major, row->value, error));
  for (const iso_row_node *node = c->relevant.first[0]; node != NULL; node = node->next[0]) {
    const iso_row_node *row = iso_row_map_find(rows, node->major, 0);
    if (row != NULL) ISO_TRY(iso_builder_initial_row(c->builder, row->major, row->value, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status compose(composer *c, isoproof_history **history, uint32_t *sessions, isoproof_error *error) {
  ISO_TRY(isoproof_builder_new(&c->builder, error));
  c->carrier = (iso_live_carrier){.from = iso_pool_look(&c->live->pool), .to = iso_builder_pool(c->builder)};
  iso_builder_origin(c->builder, c->live->format, ISO_POSITION_NONE, c->live->initial_is_zero);
  iso_builder_ambiguous_reads(c->builder);
  if (!note_all(c)) return iso_fail_memory(error);
  ISO_TRY(put_rows(c, error));
  for (size_t i = 0; i < c->count; i++) {
    c->carrier.from = iso_pool_look(&c->live->pool); /* which may have grown */
    ISO_TRY(put_entry(c, c->all[i], &sessions[i], error));
  }
  return isoproof_builder_finish(c->builder, history, error);
}

static void composer_free(composer *c) {
  isoproof_builder_free(c->builder);
  iso_row_map_free(&c->written);
  iso_row_map_free(&c->suspects);
  iso_row_map_free(&c->relevant);
  iso_row_map_free(&c->own);
  free(c->all);
}

/* The entries by the numbers of their transactions in the history. */
static bool number(const composer *c, const uint32_t *sessions, iso_carried_window *window) {
  window->entry_of = iso_alloc(c->count, sizeof(iso_carried_entry *));
  if (window->entry_of == NULL) return false;
  for (size_t i = 0, first = 0; i < c->count; i++) {
    if (i > 0 && sessions[i] != sessions[i - 1]) first = i;
    window->entry_of[window->history->session_first_txn[sessions[i]] + (i - first)] = c->all[i];
  }
  return true;
}

isoproof_status iso_carried_window_make(isoproof_live *live, iso_carried *track, iso_carried_window *window,
                                        isoproof_error *error) {
  composer c = {.live = live, .track = track};
  *window = (iso_carried_window){0};
  iso_row_map_free(&track->pendings);
  bool made = gather(&c);
  uint32_t *sessions = iso_alloc(c.count, sizeof *sessions);
  for (size_t i = 0; i < c.count; i++) c.all[i]->pending = false;
  isoproof_status status =
      made && sessions != NULL ? compose(&c, &window->history, sessions, error) : iso_fail_memory(error);
  if (status == ISOPROOF_OK && !number(&c, sessions, window)) status = iso_fail_memory(error);
  window->pending = c.pending;
  window->misfit = c.misfit;
  free(sessions);
  composer_free(&c);
  if (status != ISOPROOF_OK) iso_carried_window_free(window);
  return status;
}

void iso_carried_window_free(iso_carried_window *window) {
  isoproof_history_free(window->history);
  free(window->entry_of);
  *window = (iso_carried_window){0};
}

/* A history that is only looked at. */
static isoproof_status compose_part(composer *c, isoproof_history **history, isoproof_error *error) {
  bool made = gather(c);
  uint32_t *sessions = iso_alloc(c->count, sizeof *sessions);
  isoproof_status status = made && sessions != NULL ? compose(c, history, sessions, error) : iso_fail_memory(error);
  free(sessions);
  composer_free(c);
  return status;
}

isoproof_status iso_carried_certain(isoproof_live *live, iso_carried *track, isoproof_history **history,
                                    isoproof_error *error) {
  composer c = {.live = live, .track = track, .certain = true};
  return compose_part(&c, history, error);
}

isoproof_status iso_carried_doubted(isoproof_live *live, iso_carried *track, isoproof_history **history,
                                    isoproof_error *error) {
  composer c = {.live = live, .track = track, .doubted = true};
  return compose_part(&c, history, error);
}

/* ---- who waits ---- */

static isoproof_status reads_nobody(isoproof_live *live, const iso_carried *track, const iso_live_txn *t, bool *nobody,
                                    isoproof_error *error) {
  bool perhaps;
  for (uint32_t i = 0; i < t->op_count && !*nobody; i++) {
    const iso_live_op *op = &t->ops[i];
    const iso_live_statement *s = is_statement(op) ? &t->statements[op->first] : NULL;
    if (op->kind != ISOPROOF_OP_READ) continue;
    for (uint32_t j = 0; s != NULL && j < s->row_count && !*nobody; j++) {
      const iso_row_value *row = &t->rows[s->first_row + j];
      ISO_TRY(was_written(live, row->key, row->value, &perhaps, error));
      *nobody = !perhaps;
    }
    if (s != NULL || op->value == ISO_VALUE_NIL || op->value == ISO_VALUE_NONE) continue;
    ISO_TRY(was_written(live, iso_store_key(&track->store, op), iso_store_value(&track->store, op), &perhaps, error));
    *nobody |= !perhaps;
  }
  return ISOPROOF_OK;
}

isoproof_status iso_carried_waits_for_nobody(isoproof_live *live, iso_carried *track, bool *nobody,
                                             isoproof_error *error) {
  *nobody = false;
  for (size_t i = 0; i < track->waiting.count && !*nobody; i++)
    ISO_TRY(reads_nobody(live, track, track->waiting.items[i]->txn, nobody, error));
  return ISOPROOF_OK;
}
