/* Places in commit orders: whoever commits last may read what nobody in its sight has overwritten. */
#include "live/commits.h"

#include <stdlib.h>
#include <string.h>

#include "live/cluster.h"
#include "live/pocket.h"

enum { MOST_SESSIONS = 1024, MOST_ROUNDS = 8 };

bool iso_live_is_by_sight(const iso_live_track *track) {
  return track->rule->kind == ISO_LIVE_COMMITS && (!iso_live_by_clock(track) || track->lanes.count <= MOST_SESSIONS);
}

bool iso_live_sight_applies(const iso_live_track *track, const iso_live_txn *txn) {
  for (uint32_t i = 0; i < txn->op_count; i++) {
    isoproof_op_kind kind = (isoproof_op_kind)txn->ops[i].kind;
    if (kind != ISOPROOF_OP_READ && kind != ISOPROOF_OP_WRITE) return false;
  }
  return iso_live_is_by_sight(track);
}

/* ---- who is in sight ---- */

/* A writer of a version. */
typedef struct writer {
  uint32_t session;
  uint64_t place, tick;
} writer;

static writer of_version(const iso_live_track *track, const iso_live_version *version) {
  const iso_live_entry *entry = &track->entries.items[version->writer];
  return (writer){.session = entry->session, .place = entry->place, .tick = entry->tick};
}

static writer of_old(const iso_live_old *old) {
  return (writer){.session = old->session, .place = old->place, .tick = old->tick};
}

typedef struct reader {
  iso_live_track *track;
  iso_live_entry *entry;
  iso_live_sight *sight;
  bool moved; /* an order was changed: once more from the start */
} reader;

static bool has_met(const iso_live_track *track, const writer *w) {
  for (size_t i = 0; i < track->met.count; i++) {
    if (track->met.items[i].session == w->session && track->met.items[i].place == w->place) return true;
  }
  return false;
}

static bool in_sight(const iso_live_track *track, const iso_live_entry *entry, const writer *w) {
  if (w->session == ISO_LIVE_UNNAMED) return true;
  if (iso_live_by_clock(track)) {
    const iso_live_clocks *clocks = &track->clocks;
    if (entry->tick == 0) return true;
    return w->session < clocks->width && iso_live_clocks_at(clocks, entry->tick)[w->session] > w->place;
  }
  if (track->rule->sight == ISO_LIVE_SIGHT_DIRECT && w->session == entry->session) return true;
  return has_met(track, w);
}

/* ---- what is read ---- */

/* A read of what somebody else wrote: a version of the window, or an old one; neither: the initial one. */
static bool find_version(const iso_live_track *track, const iso_live_slot *slot, iso_value value, iso_live_saw *saw) {
  saw->version = saw->old = 0;
  for (uint32_t v = slot->newest; v != 0; v = track->versions.items[v - 1].older) {
    saw->version = v;
    if (track->versions.items[v - 1].value == value) return true;
  }
  saw->version = 0;
  bool gone = slot->has_frozen && slot->old == 0;
  for (uint32_t o = slot->old; o != 0; o = track->olds.items[o - 1].older) {
    saw->old = o;
    if (track->olds.items[o - 1].value == value) return true;
    gone = track->olds.items[o - 1].last_kept;
  }
  saw->old = 0;
  return value == ISO_VALUE_NIL && !gone;
}

static void look_at_read(reader *r, iso_live_slot *slot, const iso_live_op *op) {
  iso_live_saw saw = {.key = op->key, .value = op->value};
  if (slot->wrote) {
    r->sight->broken |= op->value != slot->own;
  } else if (slot->saw && op->value != slot->seen) {
    r->sight->broken = true;
  } else if (slot->saw && r->track->rule->sight != ISO_LIVE_SIGHT_BEFORE) {
    return; /* in sight is the same then; read committed has met others in between */
  } else if (find_version(r->track, slot, op->value, &saw)) {
    if (!iso_vec_push(&r->track->saws, saw)) r->sight->broken = true;
  } else if (op->value == ISO_VALUE_NIL) {
    r->sight->broken = true; /* older than what is known */
  } else if (!r->entry->pending && !r->sight->waits) {
    r->sight->waits = true;
    r->sight->wait_key = op->key;
    r->sight->wait_value = op->value;
  }
  slot->saw = true;
  slot->seen = op->value;
}

/* Which versions the transaction reads, and which keys it writes; false when memory is out. */
static bool look_at_ops(reader *r) {
  iso_live_track *track = r->track;
  const iso_live_txn *t = r->entry->txn;
  track->stamp++;
  track->writes.count = track->saws.count = track->met.count = 0;
  for (uint32_t i = 0; i < t->op_count && !r->sight->broken; i++) {
    const iso_live_op *op = &t->ops[i];
    iso_live_slot *slot = iso_live_slot_of(track, op->key);
    if (slot == NULL) return false;
    if (!iso_live_op_observes(op)) {
      if (!slot->wrote && !iso_vec_push(&track->writes, op->key)) return false;
      slot->wrote = true;
      slot->own = op->value;
    } else if (op->value != ISO_VALUE_NONE) {
      look_at_read(r, slot, op);
    }
  }
  return true;
}

static bool writer_of(const iso_live_track *track, const iso_live_saw *saw, writer *w) {
  if (saw->version != 0) *w = of_version(track, &track->versions.items[saw->version - 1]);
  if (saw->old != 0) *w = of_old(&track->olds.items[saw->old - 1]);
  return saw->version != 0 || saw->old != 0;
}

/* What is causally before the transaction: all that is before its session and before whom it reads from. */
static bool make_clock(reader *r) {
  iso_live_track *track = r->track;
  const iso_live_head *head = iso_live_head_of(track, r->entry->session);
  if (head == NULL || !iso_live_sight_tick(track, r->entry)) return false;
  const iso_live_clocks *clocks = &track->clocks;
  uint32_t *seen = iso_live_clocks_row(clocks, r->entry->tick);
  if (head->clocked)
    memcpy(seen, iso_live_clocks_head(clocks, r->entry->session, false), clocks->width * sizeof *seen);
  else
    memset(seen, 0, clocks->width * sizeof *seen);
  bool everybody = !head->clocked && head->place > 0;
  for (size_t i = 0; i < track->saws.count; i++) {
    writer w;
    if (!writer_of(track, &track->saws.items[i], &w)) continue;
    if (w.session < clocks->width && seen[w.session] > w.place) continue; /* with all that is before it */
    if (w.tick != 0)
      iso_live_clocks_join(clocks, seen, iso_live_clocks_at(clocks, w.tick));
    else
      everybody = true;
  }
  for (size_t i = 0; everybody && i < track->everybody.count && i < clocks->width; i++) {
    if (seen[i] < track->everybody.items[i]) seen[i] = track->everybody.items[i];
  }
  return true;
}

/* ---- whether that can be ---- */

/* Somebody in sight wrote a version that comes later in the order at hand: perhaps it can come before. */
static void change_order(reader *r, const iso_live_saw *saw, uint64_t label) {
  iso_live_track *track = r->track;
  bool can = !track->replays && saw->version != 0;
  r->moved = can && iso_live_flip(track, saw->key, &track->versions.items[saw->version - 1], label);
  r->sight->broken = !r->moved;
}

static void change_old_order(reader *r, const iso_live_saw *saw) {
  iso_live_slot *slot = &r->track->slots.items[saw->key];
  bool can = !r->track->replays && saw->old != 0 && slot->pocket != 0;
  r->moved = can && iso_live_pocket_read(r->track, saw->key, saw->value);
  r->sight->broken = !r->moved;
}

static void check_read(reader *r, const iso_live_saw *saw) {
  iso_live_track *track = r->track;
  const iso_live_slot *slot = &track->slots.items[saw->key];
  for (uint32_t v = slot->newest; v != saw->version; v = track->versions.items[v - 1].older) {
    writer w = of_version(track, &track->versions.items[v - 1]);
    if (in_sight(track, r->entry, &w)) {
      change_order(r, saw, track->versions.items[v - 1].label);
      return;
    }
  }
  if (saw->version != 0) return;
  for (uint32_t o = slot->old; o != saw->old; o = track->olds.items[o - 1].older) {
    writer w = of_old(&track->olds.items[o - 1]);
    if (in_sight(track, r->entry, &w)) {
      change_old_order(r, saw);
      return;
    }
  }
}

/* Whoever reads an old version and has an older one in sight has told their order. */
static void settle_doubt(reader *r, const iso_live_saw *saw) {
  iso_live_track *track = r->track;
  iso_live_slot *slot = &track->slots.items[saw->key];
  uint32_t o = saw->old != 0 && slot->pocket != 0 ? track->olds.items[saw->old - 1].older : 0;
  for (; o != 0; o = track->olds.items[o - 1].older) {
    writer w = of_old(&track->olds.items[o - 1]);
    if (!in_sight(track, r->entry, &w)) continue;
    iso_live_pocket_settle(track, slot);
    return;
  }
}

static bool meet(iso_live_track *track, const iso_live_saw *saw) {
  writer w;
  if (!writer_of(track, saw, &w) || w.session == ISO_LIVE_UNNAMED) return true;
  return iso_vec_push(&track->met, ((iso_live_met){.session = w.session, .place = w.place}));
}

static bool check_reads(reader *r) {
  iso_live_track *track = r->track;
  bool before = track->rule->sight == ISO_LIVE_SIGHT_BEFORE;
  if (track->trusts) return true;
  for (size_t i = 0; !iso_live_by_clock(track) && !before && i < track->saws.count; i++) {
    if (!meet(track, &track->saws.items[i])) return false;
  }
  for (size_t i = 0; i < track->saws.count && !r->moved && !r->sight->broken; i++) {
    const iso_live_saw *saw = &track->saws.items[i];
    check_read(r, saw);
    if (before && !meet(track, saw)) return false;
  }
  return true;
}

bool iso_live_sight_look(iso_live_track *track, uint32_t number, iso_live_sight *sight) {
  reader r = {.track = track, .entry = &track->entries.items[number], .sight = sight};
  for (int round = 0; round < MOST_ROUNDS; round++) {
    *sight = (iso_live_sight){0};
    r.moved = false;
    if (!look_at_ops(&r)) return false;
    if (sight->broken || sight->waits) return true;
    if (iso_live_by_clock(track) && !make_clock(&r)) return false;
    if (!check_reads(&r)) return false;
    if (!r.moved) break;
    sight->broken = true; /* unless another round says otherwise */
  }
  for (size_t i = 0; i < track->saws.count && !sight->broken; i++) {
    const iso_live_saw *saw = &track->saws.items[i];
    settle_doubt(&r, saw);
    if (saw->version != 0) track->versions.items[saw->version - 1].last_read = ISO_LIVE_IS_READ;
  }
  return true;
}

/* Notes which versions of the window a transaction has read that was placed by other rules. */
static void mark_reads(iso_live_track *track, const iso_live_txn *t) {
  for (uint32_t i = 0; i < t->op_count; i++) {
    if (!iso_live_op_observes(&t->ops[i])) continue;
    uint32_t v = track->slots.items[t->ops[i].key].newest;
    while (v != 0 && track->versions.items[v - 1].value != t->ops[i].value) v = track->versions.items[v - 1].older;
    if (v != 0) track->versions.items[v - 1].last_read = ISO_LIVE_IS_READ;
  }
}

/* The clock of somebody who was placed by other rules: as if it had seen everything. */
static bool make_full_clock(iso_live_track *track, iso_live_entry *entry) {
  if (!iso_live_sight_tick(track, entry)) return false;
  iso_live_sight_all(track, iso_live_clocks_row(&track->clocks, entry->tick));
  return true;
}

bool iso_live_sight_commit(iso_live_track *track, uint32_t number, bool by_sight) {
  iso_live_entry *entry = &track->entries.items[number];
  if (!by_sight) mark_reads(track, entry->txn);
  iso_live_head *head = iso_live_head_of(track, entry->session);
  if (head == NULL) return false;
  if (!by_sight || entry->tick != track->clocks.tick) entry->tick = 0;
  bool unclocked = iso_live_by_clock(track) && iso_live_is_by_sight(track) && entry->tick == 0;
  if (unclocked && !make_full_clock(track, entry)) return false;
  head->clocked = entry->tick != 0;
  if (head->clocked) {
    uint32_t *seen = iso_live_clocks_row(&track->clocks, entry->tick);
    seen[entry->session] = (uint32_t)(entry->place + 1);
    memcpy(iso_live_clocks_head(&track->clocks, entry->session, false), seen, track->clocks.width * sizeof *seen);
  }
  head->place = entry->place + 1;
  if (head->number < entry->txn->number) head->number = entry->txn->number;
  return true;
}

/* ---- changes of the order ---- */

static bool reads_from(const iso_live_txn *reader_txn, const iso_live_txn *t) {
  for (uint32_t i = 0; i < reader_txn->op_count; i++) {
    const iso_live_op *op = &reader_txn->ops[i];
    for (uint32_t j = 0; iso_live_op_observes(op) && j < t->op_count; j++) {
      const iso_live_op *write = &t->ops[j];
      if (!iso_live_op_observes(write) && write->key == op->key && write->value == op->value) return true;
    }
  }
  return false;
}

/* Whether somebody has the writer in sight, by what is known of it later on. */
static bool had_in_sight(const iso_live_track *track, const iso_live_entry *entry, const iso_live_txn *t) {
  if (entry->txn->session == t->session || reads_from(entry->txn, t)) return true;
  writer w = {.session = t->session, .place = t->place};
  return iso_live_by_clock(track) && in_sight(track, entry, &w);
}

bool iso_live_sight_minds(const iso_live_track *track, uint32_t key, const iso_live_version *version) {
  const iso_live_entry *first = &track->entries.items[version->writer];
  bool any = false;
  for (uint32_t v = track->slots.items[key].newest; !any && v != 0; v = track->versions.items[v - 1].older) {
    if (&track->versions.items[v - 1] == version) break;
    any = track->versions.items[v - 1].last_read == ISO_LIVE_IS_READ;
  }
  for (size_t i = 0; any && i < track->entries.count; i++) {
    const iso_live_entry *entry = &track->entries.items[i];
    if (entry->where != ISO_LIVE_PLACED || entry->commit <= first->commit) continue;
    for (uint32_t j = 0; j < entry->txn->op_count; j++) {
      const iso_live_op *op = &entry->txn->ops[j];
      if (op->key != key || !iso_live_op_observes(op) || op->value == version->value) continue;
      if (had_in_sight(track, entry, first->txn)) return true;
      break;
    }
  }
  return false;
}

bool iso_live_sight_knows(const iso_live_track *track, uint32_t key, iso_value value, uint64_t cut) {
  if (track->rule->kind != ISO_LIVE_COMMITS || key >= track->slots.count) return false;
  const iso_live_slot *slot = &track->slots.items[key];
  for (uint32_t v = cut > track->floor ? slot->newest : 0; v != 0; v = track->versions.items[v - 1].older) {
    const iso_live_version *version = &track->versions.items[v - 1];
    if (version->label <= cut && version->value == value) return true;
  }
  for (uint32_t o = slot->old; o != 0; o = track->olds.items[o - 1].older) {
    if (track->olds.items[o - 1].value == value) return true;
  }
  return false;
}
