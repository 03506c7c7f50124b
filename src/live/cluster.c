/* Moves a transaction of a serial order behind others that wrote the same key, together with all that depend on it in
 * between: of the two orders of writers from whom nobody has read, a reader tells which one it was. */
#include "live/cluster.h"

#include <stdlib.h>

enum { MOST = 256 };

typedef struct cluster {
  iso_live_track *track;
  const iso_live_entry *first; /* who is to come later */
  uint32_t key;                /* because of this */
  iso_value value;             /* that it wrote there */
  uint64_t from, to;           /* labels: where it is, and what it comes behind */
  uint64_t next;               /* the first label after that */
  ISO_VEC(uint32_t) between;   /* entries from `from` to `to`, by label */
  ISO_VEC(uint32_t) moved;     /* those that go with it */
  iso_written wrote, read;     /* keys, by those */
} cluster;

static bool gather(cluster *c) {
  c->next = UINT64_MAX;
  for (uint32_t i = 0; i < c->track->entries.count; i++) {
    const iso_live_entry *entry = &c->track->entries.items[i];
    if (entry->where != ISO_LIVE_PLACED || entry->commit < c->from) continue;
    if (entry->commit > c->to) {
      if (c->next > entry->commit) c->next = entry->commit;
    } else if (c->between.count == MOST || !iso_vec_push(&c->between, i)) {
      return false;
    }
  }
  for (size_t i = 1; i < c->between.count; i++) { /* nearly sorted, as they arrived */
    uint32_t *at = c->between.items, moving = at[i];
    size_t j = i;
    for (; j > 0 && c->track->entries.items[at[j - 1]].commit > c->track->entries.items[moving].commit; j--)
      at[j] = at[j - 1];
    at[j] = moving;
  }
  return true;
}

static bool join(cluster *c, uint32_t number) {
  const iso_live_txn *t = c->track->entries.items[number].txn;
  for (uint32_t i = 0; i < t->op_count; i++) {
    iso_written *set = iso_live_op_observes(&t->ops[i]) ? &c->read : &c->wrote;
    bool flipped = &c->track->entries.items[number] == c->first && set == &c->wrote && t->ops[i].key == c->key;
    if (!flipped && !iso_written_add(set, t->ops[i].key, 0, NULL)) return false;
  }
  return iso_vec_push(&c->moved, number);
}

/* Whether an entry must come after one of those that are moved. */
static bool depends(const cluster *c, const iso_live_entry *entry) {
  const iso_live_txn *t = entry->txn;
  for (size_t i = 0; i < c->moved.count; i++) {
    const iso_live_txn *before = c->track->entries.items[c->moved.items[i]].txn;
    if (before->session == t->session) return true;
    if (c->track->rule->real_time && before->real_end < t->real_start) return true;
  }
  for (uint32_t i = 0; i < t->op_count; i++) {
    const iso_live_op *op = &t->ops[i];
    bool observes = iso_live_op_observes(op);
    if (iso_written_has(&c->wrote, op->key, 0) || (!observes && iso_written_has(&c->read, op->key, 0))) return true;
    if (observes && op->key == c->key && op->value == c->value) return true; /* it has read from the first one */
  }
  return false;
}

/* Whether somebody wrote the key, or saw another version of it, and so has to come before the first one. */
static bool comes_before(const cluster *c, const iso_live_txn *t) {
  for (uint32_t i = 0; i < t->op_count; i++) {
    if (t->ops[i].key != c->key) continue;
    if (!iso_live_op_observes(&t->ops[i]) || t->ops[i].value != c->value) return true;
  }
  return false;
}

/* Finds all that have to move, too; false where that would be somebody whom it is to come behind. */
static bool close_over(cluster *c) {
  for (size_t i = 0; i < c->between.count; i++) {
    const iso_live_entry *entry = &c->track->entries.items[c->between.items[i]];
    if (entry == c->first) {
      if (!join(c, c->between.items[i])) return false;
    } else if (c->moved.count > 0 && depends(c, entry)) {
      if (entry->commit == c->to || comes_before(c, entry->txn) || !join(c, c->between.items[i])) return false;
    }
  }
  return c->moved.count > 0;
}

static bool lists(const cluster *c) {
  for (size_t i = 0; i < c->moved.count; i++) {
    const iso_live_txn *t = c->track->entries.items[c->moved.items[i]].txn;
    for (uint32_t j = 0; j < t->op_count; j++) {
      if (c->track->slots.items[t->ops[j].key].list != NULL) return true;
    }
  }
  return false;
}

/* Finds what would have to move; false where it cannot. */
static bool find(cluster *c, uint32_t first) {
  const iso_live_track *track = c->track;
  c->first = &track->entries.items[first];
  c->from = c->first->commit;
  for (uint32_t i = 0; i < c->first->txn->op_count; i++) {
    const iso_live_op *op = &c->first->txn->ops[i];
    if (!iso_live_op_observes(op) && op->key == c->key) c->value = op->value;
  }
  bool can = track->rule->kind == ISO_LIVE_SERIAL && c->first->where == ISO_LIVE_PLACED;
  return can && gather(c) && close_over(c) && !lists(c);
}

static void cluster_free(cluster *c) {
  iso_vec_free(&c->between);
  iso_vec_free(&c->moved);
  iso_written_free(&c->wrote);
  iso_written_free(&c->read);
}

bool iso_live_move_cluster(iso_live_track *track, uint32_t first, uint32_t key, uint64_t behind) {
  cluster c = {.track = track, .key = key, .to = behind};
  bool can = find(&c, first);
  uint64_t room = c.next == UINT64_MAX ? ISO_LIVE_GAP : c.next - c.to, step = room / (c.moved.count + 1);
  can = can && step > 0;
  for (size_t i = 0; can && i < c.moved.count; i++) {
    iso_live_move(track, &track->entries.items[c.moved.items[i]], c.to + (i + 1) * step);
  }
  cluster_free(&c);
  return can;
}

bool iso_live_doubt_cluster(iso_live_track *track, uint32_t first, uint32_t key, uint64_t behind) {
  cluster c = {.track = track, .key = key, .to = behind};
  bool can = find(&c, first);
  for (size_t i = 0; can && i < c.between.count; i++) can = !track->entries.items[c.between.items[i]].swaps;
  for (size_t i = 0; can && i < c.between.count; i++) track->entries.items[c.between.items[i]].swaps = true;
  cluster_free(&c);
  return can;
}
