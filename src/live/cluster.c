/* What has to move later together with a transaction of a stretch of an order. */
#include "live/cluster.h"

#include <stdlib.h>

#include "live/commits.h"
#include "live/order.h"
#include "live/settle.h"

enum { LEAST_REACH = 64, MOST_REACH = 4096, REACH_PER_SESSION = 4 };

iso_live_closure *iso_live_closure_of(iso_live_track *track) {
  if (track->closure == NULL) track->closure = iso_alloc_zero(1, sizeof *track->closure);
  iso_live_closure *c = track->closure;
  if (c == NULL) return NULL;
  c->rule = track->rule;
  c->track = track;
  c->sessions = track->lanes.count;
  c->steps.count = c->moved = 0;
  c->first = c->arrival = NULL;
  c->earliest_end = INT64_MAX;
  if (c->wrote.count > 0) iso_written_clear(&c->wrote);
  if (c->read.count > 0) iso_written_clear(&c->read);
  if (c->moved_sessions.count > 0) iso_written_clear(&c->moved_sessions);
  return c;
}

void iso_live_closure_free(iso_live_closure *c) {
  if (c == NULL) return;
  iso_vec_free(&c->steps);
  iso_vec_free(&c->aside);
  iso_written_free(&c->wrote);
  iso_written_free(&c->read);
  iso_written_free(&c->moved_sessions);
  free(c);
}

/* ---- what depends on what ---- */

/* In a commit order, who overwrites what somebody has read may come before that one. */
static bool keeps_reads(const iso_live_closure *c) { return c->rule->kind != ISO_LIVE_COMMITS; }

static bool reads_here(const iso_live_step *step, const iso_live_op *op) {
  return step->part != ISO_LIVE_COMMIT_ONLY && iso_live_op_observes(op);
}

static bool writes_here(const iso_live_step *step, const iso_live_op *op) {
  return step->part != ISO_LIVE_SNAPSHOT_ONLY && !iso_live_op_observes(op);
}

/* Nobody else commits a key between the snapshot of a writer and its commit: as if it read the key. */
static bool excludes_here(const iso_live_closure *c, const iso_live_step *step, const iso_live_op *op) {
  return c->rule->exclusive && step->part == ISO_LIVE_SNAPSHOT_ONLY && !iso_live_op_observes(op);
}

/* Somebody who saw what the first one wrote comes after it, wherever that is. */
static bool saw_first(const iso_live_closure *c, const iso_live_step *step, const iso_live_op *op) {
  return c->first != NULL && op->key == c->key && op->value == c->value && reads_here(step, op);
}

/* Whether a step must come after one of those that move. */
static bool depends(const iso_live_closure *c, const iso_live_step *step) {
  const iso_live_txn *t = step->txn;
  if (c->moved_sessions.count == c->sessions || iso_written_has(&c->moved_sessions, t->session, 0)) return true;
  if (c->rule->real_time && step->part != ISO_LIVE_COMMIT_ONLY && c->earliest_end < t->real_start) return true;
  for (uint32_t i = 0; i < t->op_count; i++) {
    const iso_live_op *op = &t->ops[i];
    bool writes = writes_here(step, op), reads = reads_here(step, op) || excludes_here(c, step, op);
    if ((writes || reads) && iso_written_has(&c->wrote, op->key, 0)) return true;
    if (writes && iso_written_has(&c->read, op->key, 0)) return true;
    if (saw_first(c, step, op)) return true;
  }
  return false;
}

/* The step moves.  The order of the first one to others of its key is the one that changes, and so is that of those
 * who saw what it wrote. */
static bool join(iso_live_closure *c, iso_live_step *step) {
  const iso_live_txn *t = step->txn;
  step->moves = true;
  c->moved++;
  if (step->part != ISO_LIVE_SNAPSHOT_ONLY && c->earliest_end > t->real_end) c->earliest_end = t->real_end;
  if (!iso_written_add(&c->moved_sessions, t->session, 0, NULL)) return false;
  for (uint32_t i = 0; i < t->op_count && c->moved_sessions.count < c->sessions; i++) {
    const iso_live_op *op = &t->ops[i];
    if (t == c->first && op->key == c->key && !iso_live_op_observes(op)) continue;
    if (saw_first(c, step, op)) continue;
    if (writes_here(step, op) && !iso_written_add(&c->wrote, op->key, 0, NULL)) return false;
    bool reads = keeps_reads(c) && (reads_here(step, op) || excludes_here(c, step, op));
    if (reads && !iso_written_add(&c->read, op->key, 0, NULL)) return false;
  }
  return true;
}

/* ---- two writers change places ---- */

/* Whether the step accesses the key of the first one, and so has to be before it. */
static bool comes_before_first(const iso_live_closure *c, const iso_live_step *step) {
  const iso_live_txn *t = step->txn;
  for (uint32_t i = 0; i < t->op_count; i++) {
    const iso_live_op *op = &t->ops[i];
    if (op->key != c->key) continue;
    if (writes_here(step, op) || excludes_here(c, step, op)) return true;
    if (reads_here(step, op) && op->value != c->value && keeps_reads(c)) return true;
  }
  return false;
}

/* Whether another writer of the key begins in these steps and commits later: the first one would come between. */
static bool is_left_open(const iso_live_closure *c, size_t begun) {
  const iso_live_txn *t = c->steps.items[begun].txn;
  bool writes = false;
  for (uint32_t i = 0; i < t->op_count; i++) writes |= t->ops[i].key == c->key && !iso_live_op_observes(&t->ops[i]);
  if (!writes) return false;
  for (size_t i = begun + 1; i < c->steps.count; i++) {
    if (c->steps.items[i].txn == t) return false;
  }
  return true;
}

bool iso_live_closure_flip(iso_live_closure *c, const iso_live_txn *first, uint32_t key) {
  c->first = first;
  c->key = key;
  for (uint32_t i = 0; i < first->op_count; i++) {
    if (first->ops[i].key == key && !iso_live_op_observes(&first->ops[i])) c->value = first->ops[i].value;
  }
  for (size_t i = 0; i < c->steps.count; i++) {
    iso_live_step *step = &c->steps.items[i];
    step->moves = false;
    if (step->txn == first) {
      if (!join(c, step)) return false;
      continue;
    }
    if (c->rule->exclusive && step->part == ISO_LIVE_SNAPSHOT_ONLY && is_left_open(c, i)) return false;
    if (c->moved == 0 || !depends(c, step)) continue;
    if (comes_before_first(c, step) || !join(c, step)) return false;
  }
  return c->moved > 0;
}

/* ---- room for an arrival ---- */

static const iso_live_slot *touched(const iso_live_closure *c, uint32_t key) {
  const iso_live_slot *slot = key < c->track->slots.count ? &c->track->slots.items[key] : NULL;
  return slot != NULL && slot->stamp == c->track->stamp ? slot : NULL;
}

/* Whether the step, at a label, overwrote what the arrival saw. */
static bool comes_after_arrival(const iso_live_closure *c, const iso_live_step *step, uint64_t label) {
  for (uint32_t i = 0; i < step->txn->op_count; i++) {
    const iso_live_op *op = &step->txn->ops[i];
    const iso_live_slot *slot = writes_here(step, op) ? touched(c, op->key) : NULL;
    if (slot != NULL && slot->outside && slot->seen_at < label) return true;
  }
  return false;
}

/* Whether the arrival has to come after the step. */
static bool comes_before_arrival(const iso_live_closure *c, const iso_live_step *step, uint64_t label) {
  const iso_live_txn *t = step->txn;
  if (t->session == c->arrival->session) return true;
  if (c->rule->real_time && step->part != ISO_LIVE_SNAPSHOT_ONLY && t->real_end < c->arrival->real_start) return true;
  for (uint32_t i = 0; i < t->op_count; i++) {
    const iso_live_op *op = &t->ops[i];
    const iso_live_slot *slot = touched(c, op->key);
    if (slot == NULL) continue;
    if (slot->outside && writes_here(step, op) && slot->seen_at == label) return true;
    /* It saw what the arrival overwrites, or the two exclude each other. */
    if (slot->wrote && (reads_here(step, op) || c->rule->exclusive)) return true;
  }
  return false;
}

/* ---- stretches of the window ---- */

size_t iso_live_reach(const iso_live_track *track) {
  size_t reach = track->lanes.count * REACH_PER_SESSION;
  if (reach < LEAST_REACH) reach = LEAST_REACH;
  if (reach > MOST_REACH) reach = MOST_REACH;
  return track->rule->kind == ISO_LIVE_SNAPSHOT ? 2 * reach : reach;
}

static bool gather(iso_live_closure *c, const iso_live_track *track, size_t from, size_t to) {
  for (size_t i = from; i < to; i++) {
    const iso_live_event *event = &track->order.items[i];
    iso_live_step step = {.txn = track->entries.items[event->entry].txn};
    if (track->rule->kind == ISO_LIVE_SNAPSHOT)
      step.part = event->snapshot ? ISO_LIVE_SNAPSHOT_ONLY : ISO_LIVE_COMMIT_ONLY;
    if (!iso_vec_push(&c->steps, step)) return false;
  }
  return true;
}

bool iso_live_can_flip(iso_live_track *track, uint32_t key, const iso_live_version *version, uint64_t behind,
                       size_t *from) {
  const iso_live_entry *writer = &track->entries.items[version->writer];
  if (writer->where != ISO_LIVE_PLACED || writer->straddles || track->slots.items[key].list != NULL) return false;
  if (!iso_live_order_make(track)) return false;
  /* Where writers exclude each other, its snapshot has to come later, too. */
  *from = iso_live_order_from(track, track->rule->exclusive ? writer->begin : writer->commit);
  size_t to = iso_live_order_behind(track, behind);
  if (to < *from || to - *from > iso_live_reach(track)) return false;
  iso_live_closure *c = iso_live_closure_of(track);
  if (c == NULL || !gather(c, track, *from, to) || !iso_live_closure_flip(c, writer->txn, key)) return false;
  return track->rule->kind != ISO_LIVE_COMMITS || !iso_live_sight_minds(track, key, version);
}

/* ---- moving ---- */

/* Takes the version out of its chain and puts it where its new label belongs. */
static void move_version(iso_live_track *track, iso_live_slot *slot, uint64_t from, uint64_t to) {
  uint32_t *link = &slot->newest;
  while (*link != 0 && track->versions.items[*link - 1].label != from) link = &track->versions.items[*link - 1].older;
  uint32_t moved = *link;
  if (moved == 0) return; /* moved already, for an earlier write of the key */
  *link = track->versions.items[moved - 1].older;
  link = &slot->newest;
  while (*link != 0 && track->versions.items[*link - 1].label > to) link = &track->versions.items[*link - 1].older;
  iso_live_version *version = &track->versions.items[moved - 1];
  if (version->last_read == version->label || version->last_read < to) version->last_read = to;
  version->label = to;
  version->older = *link;
  *link = moved;
}

static void move_commit(iso_live_track *track, iso_live_entry *entry, uint64_t label) {
  const iso_live_txn *t = entry->txn;
  for (uint32_t i = 0; i < t->op_count; i++) {
    if (!iso_live_op_observes(&t->ops[i]))
      move_version(track, &track->slots.items[t->ops[i].key], entry->commit, label);
  }
  entry->commit = label;
  iso_live_lane *lane = &track->lanes.items[t->session];
  if (lane->label < label) lane->label = label;
  for (size_t i = track->ends.count; i-- > 0 && track->ends.items[i].end >= t->real_end;) {
    if (track->ends.items[i].label < label) track->ends.items[i].label = label;
  }
}

static void move_snapshot(iso_live_track *track, iso_live_entry *entry, uint64_t label) {
  const iso_live_txn *t = entry->txn;
  uint64_t read = track->rule->kind == ISO_LIVE_SERIAL ? label : label + 1;
  for (uint32_t i = 0; i < t->op_count; i++) {
    if (iso_live_op_observes(&t->ops[i])) iso_live_note_read(track, &track->slots.items[t->ops[i].key], read);
  }
  entry->begin = label;
}

/* Puts those that move behind the others in the list, with labels in even steps behind the last of these. */
static void set_aside(iso_live_track *track, iso_live_closure *c, size_t from, uint64_t label, uint64_t step) {
  size_t stay = from;
  for (size_t i = 0; i < c->steps.count; i++) {
    iso_live_event event = track->order.items[from + i];
    if (c->steps.items[i].moves) {
      event.label = label += step;
      c->aside.items[c->aside.count++] = event;
    } else {
      track->order.items[stay++] = event;
    }
  }
  for (size_t i = 0; i < c->aside.count; i++) track->order.items[stay + i] = c->aside.items[i];
  if (track->clock < label) track->clock = label;
}

/* First all commits, then what was read: each read is that of the version before it in the new order. */
static void carry_out(iso_live_track *track, const iso_live_closure *c) {
  bool whole = track->rule->kind != ISO_LIVE_SNAPSHOT;
  for (size_t i = 0; i < c->aside.count; i++) {
    const iso_live_event *event = &c->aside.items[i];
    if (!event->snapshot) move_commit(track, &track->entries.items[event->entry], event->label);
  }
  for (size_t i = 0; i < c->aside.count; i++) {
    const iso_live_event *event = &c->aside.items[i];
    if (event->snapshot || whole) move_snapshot(track, &track->entries.items[event->entry], event->label);
  }
}

/* Moves those of the stretch that have to move behind the others. */
static bool move_all(iso_live_track *track, iso_live_closure *c, size_t from) {
  c->aside.count = 0;
  if (!iso_vec_reserve(&c->aside, c->moved)) return false;
  for (int tries = 0; tries < 2; tries++) {
    size_t end = from + c->steps.count;
    uint64_t last = track->order.items[end - 1].label;
    uint64_t room = end < track->order.count ? track->order.items[end].label - last : ISO_LIVE_GAP;
    uint64_t step = room / (c->moved + 1);
    if (step >= 2) { /* what is read at a snapshot is read right behind it */
      set_aside(track, c, from, last, step);
      carry_out(track, c);
      return true;
    }
    iso_live_order_spread(track);
  }
  return false;
}

/* Whether the first check of the end of the window covers the writer of a version. */
static bool is_near_end(iso_live_track *track, const iso_live_version *version) {
  if (!iso_live_order_make(track)) return true;
  return track->order.count - iso_live_order_from(track, version->label) < 2 * iso_live_end(track, ISO_LIVE_FIRST_END);
}

bool iso_live_flip(iso_live_track *track, uint32_t key, const iso_live_version *version, uint64_t behind) {
  /* There are twice as many steps, and writers exclude each other: near the end what comes of it fits so rarely that to
   * check the end takes less time.  Further back the check would be one of a large part of the window. */
  if (track->rule->kind == ISO_LIVE_SNAPSHOT && is_near_end(track, version)) return false;
  size_t from;
  return iso_live_can_flip(track, key, version, behind, &from) && move_all(track, track->closure, from);
}

bool iso_live_make_room(iso_live_track *track, const iso_live_txn *arrival, uint64_t low, uint64_t high) {
  if (track->rule->kind == ISO_LIVE_COMMITS || !iso_live_order_make(track)) return false;
  size_t from = iso_live_order_from(track, high), to = iso_live_order_behind(track, low);
  if (to <= from || to - from > iso_live_reach(track)) return false;
  iso_live_closure *c = iso_live_closure_of(track);
  if (c == NULL || !gather(c, track, from, to)) return false;
  c->arrival = arrival;
  for (size_t i = 0; i < c->steps.count; i++) {
    iso_live_step *step = &c->steps.items[i];
    uint64_t label = track->order.items[from + i].label;
    if (!comes_after_arrival(c, step, label) && (c->moved == 0 || !depends(c, step))) continue;
    if (comes_before_arrival(c, step, label) || !join(c, step)) return false;
  }
  return c->moved > 0 && move_all(track, c, from);
}
