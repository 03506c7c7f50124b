/* Writes the window of a track as a history, on top of what was frozen or as a part of the whole. */
#include "live/window.h"

#include <stdlib.h>
#include <string.h>

#include "live/commits.h"
#include "live/pocket.h"

/* Transactions without effect so far stay in the window when they came not long before the others. */
enum { RECENT = 1000 };

typedef struct composer {
  isoproof_live *live;
  iso_live_track *track;
  iso_live_window_options options;
  isoproof_builder *builder;
  iso_written written;       /* by the transactions of the window */
  iso_written suspects;      /* a part: also by them, but perhaps by somebody who is gone, too */
  uint32_t *session, *place; /* by entry: its session in the history, and which one of it */
  iso_written shown;         /* to the transactions of the window, where some are of unknown outcome */
  uint8_t *read_from;        /* a part: by entry: from before the cut, but somebody after it has read from it */
  ISO_VEC(uint32_t) counts;  /* by session of the history */
  ISO_VEC(iso_value) list;   /* scratch */
  uint64_t pending;
  bool misfit;
  uint64_t first_number; /* of the transactions after the cut */
  int64_t latest_start;  /* of those before it */
} composer;

/* What stands before the transactions of the window: the last version up to the cut. */
typedef struct base {
  bool has;
  iso_value value;
  uint32_t length; /* of a list */
} base;

static base base_of(const composer *c, const iso_live_slot *slot) {
  uint32_t v = c->options.cut > c->track->floor ? slot->newest : 0;
  while (v != 0 && c->track->versions.items[v - 1].label > c->options.cut) v = c->track->versions.items[v - 1].older;
  if (v != 0) {
    const iso_live_version *last = &c->track->versions.items[v - 1];
    return (base){.has = true, .value = last->value, .length = last->length};
  }
  return (base){.has = slot->has_frozen, .value = slot->frozen, .length = slot->list != NULL ? slot->list->frozen : 0};
}

/* Whether an entry is early enough to be taken as frozen. */
static bool is_before(const composer *c, const iso_live_entry *entry) {
  if (c->options.cut <= c->track->floor) return false;
  if (c->read_from != NULL && c->read_from[entry - c->track->entries.items]) return false;
  if (entry->where == ISO_LIVE_PLACED) return entry->commit <= c->options.cut;
  return entry->where == ISO_LIVE_OUT && entry->txn->number + RECENT < c->first_number;
}

static bool straddles(const composer *c, const iso_live_entry *entry) {
  if (entry->straddles) return true;
  bool snapshot = c->track->rule->kind == ISO_LIVE_SNAPSHOT && entry->where == ISO_LIVE_PLACED;
  return snapshot && c->options.cut > c->track->floor && entry->begin <= c->options.cut;
}

/* Whether the transaction wrote something of the set. */
static bool writes_any(const iso_written *set, const iso_live_txn *t) {
  for (uint32_t i = 0; i < t->op_count; i++) {
    if (!iso_live_op_observes(&t->ops[i]) && iso_written_has(set, t->ops[i].key, t->ops[i].value)) return true;
  }
  return false;
}

/* Whether the transaction is of unknown outcome, and nobody in the window has read from it: it takes no part, so that
 * its own reads, of what may have left long ago, say nothing. */
static bool takes_no_part(const composer *c, const iso_live_entry *entry) {
  if (entry->where != ISO_LIVE_OUT || entry->txn->info.status != ISOPROOF_TXN_UNKNOWN) return false;
  return !writes_any(&c->shown, entry->txn);
}

/* ---- reads ---- */

/* What becomes of an external read. */
typedef enum fate { KEPT, INITIAL, LEFT_OUT } fate;

/* A value that nobody in the window wrote, and that is not what the frozen part left. */
static fate missing(composer *c, iso_live_entry *entry, uint32_t key, iso_value value) {
  if (iso_live_index_has(&c->live->index, &c->live->pool, key, value)) {
    if (!takes_no_part(c, entry)) c->misfit = true;
    return LEFT_OUT;
  }
  c->pending++;
  if (!c->options.part && !c->options.keep_pending) entry->pending = true;
  if (entry->pending) iso_written_add(&c->track->pendings, key, value, NULL);
  return c->options.keep_pending ? KEPT : LEFT_OUT;
}

static fate fate_of_read(composer *c, iso_live_entry *entry, const iso_live_slot *slot, const iso_live_op *op) {
  bool written = iso_written_has(&c->written, op->key, op->value);
  if (c->options.part) {
    if (iso_written_has(&c->suspects, op->key, op->value)) return LEFT_OUT;
    if (op->value == ISO_VALUE_NIL || written) return KEPT;
    return missing(c, entry, op->key, op->value);
  }
  base b = base_of(c, slot);
  if (b.has && op->value == b.value) return INITIAL;
  if (op->value == ISO_VALUE_NIL) {
    c->misfit |= b.has && !takes_no_part(c, entry);
    return b.has ? LEFT_OUT : KEPT;
  }
  if (written) return KEPT;
  /* Commit orders keep some older versions: who reads one is looked at when the order is taken over. */
  bool looked_at = iso_live_sight_applies(c->track, entry->txn);
  if (looked_at && iso_live_sight_knows(c->track, op->key, op->value, c->options.cut)) return LEFT_OUT;
  return missing(c, entry, op->key, op->value);
}

static isoproof_status put_op(composer *c, const iso_live_txn *t, const iso_live_op *op, isoproof_error *error) {
  return iso_live_txn_op(t, op, &c->live->pool, c->live->keys.names, c->builder, error);
}

static isoproof_status put_read(composer *c, iso_live_entry *entry, const iso_live_op *op, isoproof_error *error) {
  iso_live_slot *slot = iso_live_slot_of(c->track, op->key);
  if (slot == NULL) return iso_fail_memory(error);
  bool external = !slot->wrote && op->value != ISO_VALUE_NONE;
  fate f = external ? fate_of_read(c, entry, slot, op) : KEPT;
  if (f == LEFT_OUT) return ISOPROOF_OK;
  iso_live_op shown = *op;
  if (f == INITIAL) shown.value = ISO_VALUE_NIL;
  return put_op(c, entry->txn, &shown, error);
}

/* A list without what was frozen; false where it does not begin with that. */
static bool strip_frozen(const composer *c, const iso_live_slot *slot, const iso_value **elements, uint32_t *count) {
  uint32_t frozen = base_of(c, slot).length;
  if (frozen == 0) return true;
  if (*count < frozen) return false;
  if (memcmp(*elements, slot->list->elements.items, frozen * sizeof **elements) != 0) return false;
  *elements += frozen;
  *count -= frozen;
  return true;
}

static isoproof_status put_list(composer *c, iso_live_entry *entry, const iso_live_op *op, isoproof_error *error) {
  iso_live_slot *slot = iso_live_slot_of(c->track, op->key);
  if (slot == NULL) return iso_fail_memory(error);
  if (op->value == ISO_VALUE_NONE) return put_op(c, entry->txn, op, error);
  const iso_value *elements = entry->txn->elements + op->first;
  uint32_t count = op->count;
  if (!c->options.part && !strip_frozen(c, slot, &elements, &count)) {
    if (!takes_no_part(c, entry)) c->misfit = true;
    return ISOPROOF_OK;
  }
  c->list.count = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool written = iso_written_has(&c->written, op->key, elements[i]);
    if (iso_written_has(&c->suspects, op->key, elements[i])) return ISOPROOF_OK;
    if (!written) {
      uint64_t before = c->pending;
      fate f = missing(c, entry, op->key, elements[i]);
      if (f == LEFT_OUT && c->pending > before) return ISOPROOF_OK; /* nothing is certain of the rest */
      /* The last element that is not its own says who was read from: without it, it would be somebody else. */
      if (f == LEFT_OUT && (i + 1 == count || slot->wrote)) return ISOPROOF_OK;
      if (f == LEFT_OUT) continue;
    }
    if (!iso_vec_push(&c->list, elements[i])) return iso_fail_memory(error);
  }
  return iso_live_put_list(c->list.items, (uint32_t)c->list.count, c->live->keys.names[op->key], &c->live->pool,
                           c->builder, error);
}

/* ---- transactions ---- */

/* Of somebody whose snapshot was frozen only the writes are left, and what lists showed of them.  Where writers exclude
 * each other, nobody else may commit these keys before it does: as if it had read what the frozen part left. */
static isoproof_status put_straddler(composer *c, iso_live_entry *entry, isoproof_error *error) {
  const iso_live_txn *t = entry->txn;
  for (uint32_t i = 0; i < t->op_count; i++) {
    const iso_live_op *op = &t->ops[i];
    iso_live_slot *slot = iso_live_slot_of(c->track, op->key);
    if (slot == NULL) return iso_fail_memory(error);
    if (iso_live_op_observes(op)) {
      if (slot->wrote && op->kind == ISOPROOF_OP_READ_LIST) ISO_TRY(put_list(c, entry, op, error));
      continue;
    }
    bool list = op->kind == ISOPROOF_OP_APPEND;
    iso_live_op read = {
        .kind = list ? ISOPROOF_OP_READ_LIST : ISOPROOF_OP_READ, .key = op->key, .value = ISO_VALUE_NIL};
    if (!slot->wrote && c->track->rule->exclusive) ISO_TRY(put_op(c, t, &read, error));
    slot->wrote = true;
    ISO_TRY(put_op(c, t, op, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status put_ops(composer *c, iso_live_entry *entry, isoproof_error *error) {
  const iso_live_txn *t = entry->txn;
  bool aborted = t->info.status == ISOPROOF_TXN_ABORTED;
  for (uint32_t i = 0; i < t->op_count; i++) {
    const iso_live_op *op = &t->ops[i];
    if (!iso_live_op_observes(op)) {
      iso_live_slot *slot = iso_live_slot_of(c->track, op->key);
      if (slot == NULL) return iso_fail_memory(error);
      slot->wrote = true;
      ISO_TRY(put_op(c, t, op, error));
    } else if (!aborted) { /* what nobody acted upon says nothing */
      bool list = op->kind == ISOPROOF_OP_READ_LIST;
      ISO_TRY((list ? put_list : put_read)(c, entry, op, error));
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status put_entry(composer *c, uint32_t number, isoproof_error *error) {
  iso_live_entry *entry = &c->track->entries.items[number];
  const iso_live_txn *t = entry->txn;
  iso_live_carrier carrier = {.from = iso_pool_look(&c->live->pool), .to = iso_builder_pool(c->builder)};
  iso_value name;
  uint32_t session;
  ISO_TRY(iso_live_carry(&carrier, c->live->sessions.names[t->session], &name, error));
  ISO_TRY(iso_builder_session(c->builder, name, &session, error));
  while (session >= c->counts.count) {
    if (!iso_vec_push(&c->counts, 0)) return iso_fail_memory(error);
  }
  c->session[number] = session;
  c->place[number] = c->counts.items[session]++;
  c->track->stamp++;
  ISO_TRY(iso_live_txn_begin(t, &c->live->pool, session, c->builder, error));
  if (!c->options.part && straddles(c, entry)) return put_straddler(c, entry, error);
  return put_ops(c, entry, error);
}

/* ---- the whole window ---- */

/* Where the last frozen version of a key is in doubt, whoever reads one of them resolves it.  Whoever has a place among
 * snapshots or in a serial order has done so when it got it. */
static void resolve_doubts(iso_live_track *track) {
  bool commits = track->rule->kind == ISO_LIVE_COMMITS;
  for (int other = 0; other <= 1; other++) {
    for (size_t i = 0; i < track->entries.count; i++) {
      const iso_live_txn *t = track->entries.items[i].txn;
      if (track->entries.items[i].where == ISO_LIVE_PLACED && !commits) continue;
      for (uint32_t j = 0; j < t->op_count; j++) {
        const iso_live_op *op = &t->ops[j];
        const iso_live_slot *slot = op->key < track->slots.count ? &track->slots.items[op->key] : NULL;
        if (op->kind != ISOPROOF_OP_READ || slot == NULL || slot->pocket == 0) continue;
        if (other || op->value == slot->frozen) iso_live_pocket_read(track, op->key, op->value);
      }
    }
  }
}

/* Those before the cut: when the last of them began, and which is the first to come after it.  Whoever ended before one
 * of them began has no place after it. */
static void look_before(composer *c) {
  const iso_live_track *track = c->track;
  c->latest_start = INT64_MIN;
  c->first_number = UINT64_MAX;
  if (c->options.cut <= track->floor) return;
  for (size_t i = 0; i < track->entries.count; i++) {
    const iso_live_entry *entry = &track->entries.items[i];
    if (entry->where == ISO_LIVE_OUT) continue;
    if (entry->where == ISO_LIVE_PLACED && (entry->commit <= c->options.cut || straddles(c, entry))) {
      if (c->latest_start < entry->txn->real_start) c->latest_start = entry->txn->real_start;
    } else if (c->first_number > entry->txn->number) {
      c->first_number = entry->txn->number;
    }
  }
  for (size_t i = 0; track->rule->real_time && i < track->entries.count; i++) {
    const iso_live_entry *entry = &track->entries.items[i];
    bool fresh = entry->where == ISO_LIVE_NEW || entry->where == ISO_LIVE_WAITING;
    if (fresh && entry->txn->real_end < c->latest_start) c->misfit = true;
  }
}

/* A part says more with those from whom its transactions have read: without them the reads are left out. */
static isoproof_status add_writers(composer *c, isoproof_error *error) {
  const iso_live_track *track = c->track;
  iso_written read = {0};
  bool made = true;
  if (!c->options.part || c->options.cut <= track->floor) return ISOPROOF_OK;
  for (size_t i = 0; made && i < track->entries.count; i++) {
    const iso_live_txn *t = track->entries.items[i].txn;
    if (is_before(c, &track->entries.items[i])) continue;
    for (uint32_t j = 0; made && j < t->op_count; j++) {
      if (t->ops[j].kind == ISOPROOF_OP_READ) made = iso_written_add(&read, t->ops[j].key, t->ops[j].value, NULL);
    }
  }
  uint8_t *marks = iso_alloc_zero(track->entries.count, 1);
  for (size_t i = 0; made && marks != NULL && i < track->entries.count; i++) {
    marks[i] = is_before(c, &track->entries.items[i]) && writes_any(&read, track->entries.items[i].txn);
  }
  c->read_from = marks;
  iso_written_free(&read);
  return made && marks != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

/* Whether the transaction has written the value before one of its operations. */
static bool has_written(const iso_live_txn *t, uint32_t end, uint32_t key, iso_value value) {
  for (uint32_t i = 0; i < end; i++) {
    if (!iso_live_op_observes(&t->ops[i]) && t->ops[i].key == key && t->ops[i].value == value) return true;
  }
  return false;
}

/* What somebody else wrote: to read from oneself is no effect. */
static bool note_shown_by(composer *c, const iso_live_txn *t) {
  for (uint32_t i = 0; i < t->op_count; i++) {
    const iso_live_op *op = &t->ops[i];
    bool list = op->kind == ISOPROOF_OP_READ_LIST;
    const iso_value *values = list ? t->elements + op->first : &op->value;
    uint32_t count = list ? op->count : iso_live_op_observes(op);
    for (uint32_t j = 0; j < count; j++) {
      if (has_written(t, i, op->key, values[j])) continue;
      if (!iso_written_add(&c->shown, op->key, values[j], NULL)) return false;
    }
  }
  return true;
}

/* What the transactions of the window read, where it matters. */
static isoproof_status note_shown(composer *c, isoproof_error *error) {
  const iso_live_track *track = c->track;
  bool matters = false;
  for (size_t i = 0; i < track->entries.count; i++) {
    const iso_live_entry *entry = &track->entries.items[i];
    matters |= entry->where == ISO_LIVE_OUT && entry->txn->info.status == ISOPROOF_TXN_UNKNOWN && !is_before(c, entry);
  }
  for (size_t i = 0; matters && i < track->entries.count; i++) {
    const iso_live_entry *entry = &track->entries.items[i];
    if (entry->txn->info.status == ISOPROOF_TXN_ABORTED || is_before(c, entry)) continue;
    if (!note_shown_by(c, entry->txn)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

/* As a part of the whole, what may have been written by somebody else, too, who is gone, does not count. */
static isoproof_status note_written(composer *c, isoproof_error *error) {
  for (size_t i = 0; i < c->track->entries.count; i++) {
    const iso_live_txn *t = c->track->entries.items[i].txn;
    for (uint32_t j = 0; j < t->op_count && !is_before(c, &c->track->entries.items[i]); j++) {
      const iso_live_op *op = &t->ops[j];
      if (iso_live_op_observes(op)) continue;
      bool twice = c->options.part && iso_live_index_has_twice(&c->live->index, &c->live->pool, op->key, op->value);
      iso_written *set = twice ? &c->suspects : &c->written;
      if (!iso_written_add(set, op->key, op->value, NULL)) return iso_fail_memory(error);
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status put_window(composer *c, iso_live_window *window, isoproof_error *error) {
  iso_live_track *track = c->track;
  iso_builder_origin(c->builder, c->live->format, ISO_POSITION_NONE, c->live->initial_is_zero);
  iso_builder_ambiguous_reads(c->builder);
  look_before(c);
  ISO_TRY(add_writers(c, error));
  ISO_TRY(note_written(c, error));
  ISO_TRY(note_shown(c, error));
  if (!c->options.part) resolve_doubts(track);
  for (uint32_t i = 0; i < track->entries.count; i++) {
    if (!is_before(c, &track->entries.items[i])) ISO_TRY(put_entry(c, i, error));
  }
  ISO_TRY(isoproof_builder_finish(c->builder, &window->history, error));
  window->entry_of = iso_alloc(window->history->txns, sizeof *window->entry_of);
  if (window->entry_of == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < track->entries.count; i++) {
    if (is_before(c, &track->entries.items[i])) continue;
    window->entry_of[window->history->session_first_txn[c->session[i]] + c->place[i]] = i;
  }
  window->pending = c->pending;
  window->misfit = c->misfit;
  return ISOPROOF_OK;
}

isoproof_status iso_live_window_make(isoproof_live *live, iso_live_track *track, iso_live_window_options options,
                                     iso_live_window *window, isoproof_error *error) {
  composer c = {.live = live, .track = track, .options = options};
  *window = (iso_live_window){0};
  if (!options.part && !options.keep_pending) {
    iso_written_clear(&track->pendings);
    for (size_t i = 0; i < track->entries.count; i++) track->entries.items[i].pending = false;
  }
  ISO_TRY(isoproof_builder_new(&c.builder, error));
  c.session = iso_alloc(track->entries.count, sizeof *c.session);
  c.place = iso_alloc(track->entries.count, sizeof *c.place);
  isoproof_status status = c.session == NULL || c.place == NULL ? iso_fail_memory(error) : ISOPROOF_OK;
  if (status == ISOPROOF_OK) status = put_window(&c, window, error);
  isoproof_builder_free(c.builder);
  free(c.session);
  free(c.place);
  free(c.read_from);
  iso_vec_free(&c.counts);
  iso_vec_free(&c.list);
  iso_written_free(&c.written);
  iso_written_free(&c.suspects);
  iso_written_free(&c.shown);
  if (status != ISOPROOF_OK) iso_live_window_free(window);
  return status;
}

void iso_live_window_free(iso_live_window *window) {
  isoproof_history_free(window->history);
  free(window->entry_of);
  *window = (iso_live_window){0};
}
