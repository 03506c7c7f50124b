/* Local search on the line: single moves to the nearest better place, then groups past whatever they contradict. */
#include "check/order/walk.h"

#include <stdlib.h>
#include <string.h>

#include "check/order/choices.h"
#include "check/order/contradictions.h"

/* LOOK: how many accesses of a key are looked at to each side.  GROUP: how many items may move together. */
enum { SWEEPS = 4, LOOK = ISO_MOST_BETWEEN, GROUP = 64 };
/* Between two whole places there is room for many groups, but not for any number. */
static const double FARTHEST = 1e-3, NEAREST = 1e-9;

/* ---- alone ---- */

typedef struct {
  double low, high;
} room;

typedef struct {
  double place;
  int32_t step; /* how the number of contradictions changes past it */
} turning;

/* Between what must come before an item and what must come after it. */
static room room_of(const iso_line *l, uint32_t item) {
  room r = {-1, (double)l->e->count + 1};
  uint64_t before = 0, after = 0;
  uint32_t other;
  while ((other = iso_line_before(l, item, &before)) != ISO_NO_EVENT) {
    if (l->place[other] > r.low) r.low = l->place[other];
  }
  while ((other = iso_line_after(l, item, &after)) != ISO_NO_EVENT) {
    if (l->place[other] < r.high) r.high = l->place[other];
  }
  return r;
}

static int nearer_right(const void *a, const void *b) {
  const turning *x = a, *y = b;
  return (x->place > y->place) - (x->place < y->place);
}

static int nearer_left(const void *a, const void *b) { return nearer_right(b, a); }

/* The turnings of an item to one side, as far as all its keys were looked at. */
static size_t collect(iso_line *l, uint32_t item, bool right, room *r, turning *turnings) {
  size_t count = 0;
  for (uint32_t k = l->item_first[item]; k < l->item_first[item + 1]; k++) {
    uint32_t key = l->item_key[k], at = l->item_at[k], i = at, looked = 0;
    double place = l->place[item];
    for (; looked < LOOK; looked++) {
      if (right ? ++i >= l->first[key + 1] : i-- == l->first[key]) break;
      place = l->place[l->accesses[i].item];
      if (right ? place >= r->high : place <= r->low) break;
      int32_t step = iso_line_passing(&l->accesses[at], &l->accesses[i]);
      if (step != 0) turnings[count++] = (turning){place, right ? step : -step};
    }
    l->steps += looked;
    if (looked < LOOK) continue;
    if (right && place < r->high) r->high = place;
    if (!right && place > r->low) r->low = place;
  }
  qsort(turnings, count, sizeof *turnings, right ? nearer_right : nearer_left);
  return count;
}

/* The best place to one side: how many contradictions fewer, and where. */
static int32_t best_place(iso_line *l, uint32_t item, bool right, turning *turnings, double *place) {
  room r = room_of(l, item);
  size_t count = collect(l, item, right, &r, turnings);
  double end = right ? r.high : r.low;
  int32_t change = 0, best = 0;
  for (size_t i = 0; i < count; i++) {
    double from = turnings[i].place, to = i + 1 < count ? turnings[i + 1].place : end;
    if (right ? from >= end : from <= end) break;
    if (right ? to > end : to < end) to = end;
    change += turnings[i].step;
    if (change >= best || from == to) continue;
    best = change;
    *place = from + (to - from) / 4;
  }
  return best;
}

static void improve(iso_line *l, uint32_t item, turning *turnings) {
  double left = 0, right = 0;
  int32_t by_left = best_place(l, item, false, turnings, &left);
  int32_t by_right = best_place(l, item, true, turnings, &right);
  if (by_left < 0 && by_left <= by_right) {
    (void)iso_line_move(l, item, left);
  } else if (by_right < 0) {
    (void)iso_line_move(l, item, right);
  }
}

static size_t most_keys(const iso_line *l) {
  size_t most = 0;
  for (uint32_t i = 0; i < l->e->txn_events; i++) {
    if (l->item_first[i + 1] - l->item_first[i] > most) most = l->item_first[i + 1] - l->item_first[i];
  }
  return most;
}

/* Whether time is up; asked now and then only, as asking costs something. */
static bool is_over(isoproof_task *task, size_t step) {
  enum { NOW_AND_THEN = 256 };
  return step % NOW_AND_THEN == 0 && iso_task_check(task, NULL) != ISOPROOF_OK;
}

/* Everybody who is part of a contradiction tries to leave it. */
static void improve_all(iso_line *l, const iso_contradictions *c, uint64_t most_steps, turning *turnings,
                        isoproof_task *task) {
  uint32_t found[LOOK];
  for (size_t i = 0; i < c->all.count && l->steps < most_steps && !is_over(task, i); i++) {
    const iso_contradiction *one = &c->all.items[i];
    uint32_t at = iso_line_find(l, one->key, one->item), source = l->accesses[at].source;
    uint32_t count = iso_line_between(l, one->key, at, one->what, found);
    for (uint32_t k = 0; k < count; k++) improve(l, found[k], turnings);
    if (count == 0) continue;
    improve(l, one->item, turnings);
    if (one->what == ISO_READS && source != ISO_NO_EVENT) improve(l, source, turnings);
    if (one->what == ISO_WRITES) improve(l, one->item - 1, turnings);
  }
}

isoproof_status iso_walk_nearby(iso_line *l, isoproof_task *task, isoproof_error *error) {
  /* Where everything contradicts everything, a sweep takes long and is of little use. */
  enum { STEPS = 128 };
  uint64_t most_steps = l->steps + STEPS * (uint64_t)l->first[l->e->view->h->keys];
  iso_contradictions found = {.pairs = 0};
  turning *turnings = iso_alloc((most_keys(l) + 1) * LOOK, sizeof *turnings);
  uint64_t last = UINT64_MAX;
  bool made = turnings != NULL;
  for (int sweep = 0; sweep < SWEEPS && made && l->steps < most_steps && !is_over(task, 0); sweep++) {
    made = iso_contradictions_find(l, &found);
    if (!made || found.pairs == 0 || found.pairs > last - last / 8) break;
    last = found.pairs;
    improve_all(l, &found, most_steps, turnings, task);
    made = iso_line_renumber(l);
  }
  free(turnings);
  iso_contradictions_free(&found);
  iso_line_touch_all(l);
  return made ? iso_task_check(task, error) : iso_fail_memory(error);
}

/* ---- in groups ---- */

typedef struct {
  iso_line *l;
  isoproof_task *task;
  uint64_t random;
  uint32_t item[GROUP];
  uint32_t count;
  uint32_t *mark; /* by item: the last group that it was in */
  uint32_t group; /* the number of this one */
  bool crowded;   /* places have to be numbered again */
  double free;    /* how far past the other one nothing is that the group has to stay behind of */
} walker;

static uint32_t draw(walker *w, uint32_t below) {
  w->random ^= w->random << 13;
  w->random ^= w->random >> 7;
  w->random ^= w->random << 17;
  return (uint32_t)((w->random >> 32) * below >> 32);
}

/* Collects an item and everything that has to go past `other` with it; false when that is too much, or `other` is part
 * of it. */
static bool gather(walker *w, uint32_t item, uint32_t other, bool left) {
  const iso_line *l = w->l;
  double to = l->place[other];
  w->count = 0;
  w->free = 2 * FARTHEST;
  w->item[w->count++] = item;
  w->mark[item] = ++w->group;
  for (uint32_t i = 0; i < w->count; i++) {
    uint64_t at = 0;
    uint32_t next;
    while ((next = left ? iso_line_before(l, w->item[i], &at) : iso_line_after(l, w->item[i], &at)) != ISO_NO_EVENT) {
      double away = left ? to - l->place[next] : l->place[next] - to;
      if (away > 0) {
        if (away < w->free) w->free = away;
        continue;
      }
      if (w->mark[next] == w->group) continue;
      if (next == other || w->count == GROUP) return false;
      w->mark[next] = w->group;
      w->item[w->count++] = next;
    }
  }
  if (w->free <= NEAREST) w->crowded = true;
  return !w->crowded;
}

/* In the order in which they move: who goes left first is the one that is leftmost. */
static void sort_group(walker *w, bool left) {
  const double *place = w->l->place;
  for (uint32_t i = 1; i < w->count; i++) {
    uint32_t item = w->item[i], k = i;
    for (; k > 0 && (left ? place[w->item[k - 1]] > place[item] : place[w->item[k - 1]] < place[item]); k--) {
      w->item[k] = w->item[k - 1];
    }
    w->item[k] = item;
  }
}

/* How many contradictions more there are when the group goes right past `other`. */
static int32_t weigh(walker *w, uint32_t other, bool left) {
  double to = w->l->place[other], away = w->free / 2;
  int32_t more = 0;
  for (uint32_t i = 0; i < w->count; i++) {
    more += iso_line_change(w->l, w->item[i], left ? to - away : to + away, w->mark, w->group, &w->l->steps);
  }
  return more;
}

/* Moves the group right past `other`. */
static void pass(walker *w, uint32_t other, bool left) {
  sort_group(w, left);
  double to = w->l->place[other], gap = w->free / (2 + draw(w, 1000) / 1000.0) / (w->count + 1);
  for (uint32_t i = 0; i < w->count; i++) {
    double away = gap * (w->count - i);
    (void)iso_line_move(w->l, w->item[i], left ? to - away : to + away);
  }
}

/* One goes past another to the left or to the right. */
typedef struct {
  uint32_t item, other;
  bool left;
  bool switches; /* what is passed, or passes, is what the read saw then */
} option;

/* Either before the version that was read, or after the reader; either wholly before the other writer, or wholly after
 * it.  Each order can be made from both sides. */
static uint32_t list_options(const iso_line *l, const iso_contradiction *c, uint32_t at, uint32_t writer,
                             option *options) {
  uint32_t count = 0, source = l->accesses[at].source;
  if (c->what == ISO_WRITES) {
    options[count++] = (option){writer, c->item - 1, true, false};
    options[count++] = (option){c->item - 1, writer, false, false};
    options[count++] = (option){c->item, writer - 1, true, false};
    options[count++] = (option){writer - 1, c->item, false, false};
    return count;
  }
  options[count++] = (option){writer, c->item, false, false};
  options[count++] = (option){c->item, writer, true, false};
  if (source == ISO_NO_EVENT) return count;
  options[count++] = (option){writer, source, true, false};
  options[count++] = (option){source, writer, false, false};
  return count;
}

/* An open read may see the next version of its class instead: it goes past that, or that goes past it. */
static uint32_t list_switches(const iso_line *l, const iso_contradiction *c, uint32_t at, option *options) {
  uint32_t next, other;
  if (c->what != ISO_READS || !iso_choice_is_open(l, at) || !iso_choice_nearest(l, c->key, at, true, &next)) return 0;
  other = l->accesses[next].item;
  options[0] = (option){c->item, other, false, true};
  options[1] = (option){other, c->item, true, true};
  return 2;
}

/* How many of the contradictions that the line would count are none when the read sees the version that passes it. */
static int32_t excess(const iso_line *l, const iso_contradiction *c, const option *o, uint32_t between) {
  uint32_t at = iso_line_find(l, c->key, c->item), passed = 1;
  const iso_access *a = l->accesses;
  if (!o->switches) return 0;
  for (uint32_t i = at + 1; o->item == c->item && i < l->first[c->key + 1] && a[i].item != o->other; i++) {
    passed += (a[i].what & ISO_WRITES) != 0;
  }
  return (int32_t)(a[at].weight * (passed + between));
}

/* An open read sees the last version of its class before it. */
static void switch_back(iso_line *l, const iso_contradiction *c, uint32_t at) {
  uint32_t other;
  if (c->what != ISO_READS || !iso_choice_is_open(l, at) || !iso_choice_nearest(l, c->key, at, false, &other)) return;
  iso_choice_switch(l, c->key, c->item, other == UINT32_MAX ? ISO_NO_EVENT : l->accesses[other].item);
}

static bool can_pass(walker *w, const option *o) {
  enum { LEAST = 16 };
  w->l->steps += LEAST; /* looking in vain is work, too, and comes to an end */
  return o->item != o->other && gather(w, o->item, o->other, o->left);
}

/* Settles one contradiction by the cheapest option, unless that is too dear; true when something moved. */
static bool settle(walker *w, const iso_contradiction *c) {
  enum { NOISE = 5, EVEN = 50, DEAREST = 2 }; /* per cent; contradictions */
  iso_line *l = w->l;
  uint32_t found[LOOK], at = iso_line_find(l, c->key, c->item);
  switch_back(l, c, at);
  uint32_t between = iso_line_between(l, c->key, at, c->what, found), count;
  option options[6];
  if (between == 0) return false;
  count = list_options(l, c, at, found[draw(w, between)], options);
  count += list_switches(l, c, at, options + count);
  int32_t best = INT32_MAX;
  uint32_t choice = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!can_pass(w, &options[i])) continue;
    int32_t more = weigh(w, options[i].other, options[i].left) - excess(l, c, &options[i], between);
    if (more < best || (more == best && draw(w, 2) == 0)) best = more, choice = i;
  }
  uint32_t luck = draw(w, 100);
  if (best > DEAREST || (best > 0 && luck >= NOISE) || (best == 0 && luck >= EVEN)) return false;
  if (!can_pass(w, &options[choice])) return false;
  const option *o = &options[choice];
  pass(w, o->other, o->left);
  if (o->switches) iso_choice_switch(l, c->key, c->item, o->item == c->item ? o->other : o->item);
  return true;
}

/* A round goes over all contradictions, each a few times. */
static void settle_all(walker *w, const iso_contradictions *found, uint64_t most_steps) {
  enum { TRIES = 8 };
  for (size_t i = 0; i < found->all.count && w->l->steps < most_steps && !is_over(w->task, i); i++) {
    for (int tries = 0; tries < TRIES && settle(w, &found->all.items[i]); tries++) continue;
  }
}

/* What stays contradicted counts more and more, so that it is settled at the expense of others (the breakout method of
 * Morris 1993). */
static void raise_weights(iso_line *l, const iso_contradictions *found) {
  for (size_t i = 0; i < found->all.count; i++) {
    const iso_contradiction *c = &found->all.items[i];
    uint32_t item = c->what == ISO_READS ? c->item : c->item - 1;
    iso_access *a = &l->accesses[iso_line_find(l, c->key, item)];
    a->weight++;
    if (a->source != ISO_NO_EVENT) l->accesses[iso_line_find(l, c->key, a->source)].readers++;
  }
}

isoproof_status iso_walk_groups(iso_line *l, iso_walk how, isoproof_task *task, isoproof_error *error) {
  /* Of a large history a round takes long; one that is stuck with much left will not get out of it. */
  enum { STEPS = 300, IDLE_ROUNDS = 60, MUCH_LEFT = 256, HOPELESS_ROUNDS = 4, RESTART = 50, LONGER = 3, EACH = 65536 };
  walker w = {.l = l, .task = task, .random = (how.seed + 1) * UINT64_C(0x9e3779b97f4a7c15)};
  iso_contradictions found = {.pairs = 0};
  uint64_t accesses = l->first[l->e->view->h->keys], most_steps = l->steps + STEPS * accesses, idle_steps = 0;
  double *places = iso_alloc(l->e->txn_events, sizeof *places);
  w.mark = iso_alloc_zero(l->e->txn_events, sizeof *w.mark);
  bool made = places != NULL && w.mark != NULL;
  isoproof_status status = ISOPROOF_OK;
  uint64_t least = UINT64_MAX;
  for (uint32_t idle = 0, restart = RESTART; made && status == ISOPROOF_OK;) {
    made = iso_contradictions_find(l, &found);
    idle++;
    if (made && found.pairs < least) {
      memcpy(places, l->place, l->e->txn_events * sizeof *places);
      iso_choices_keep(l);
      least = found.pairs, idle = 0, restart = RESTART;
      idle_steps = l->steps + how.patience * (least < accesses / EACH ? least * EACH : accesses);
    }
    uint32_t most_idle = least > accesses / MUCH_LEFT ? HOPELESS_ROUNDS : IDLE_ROUNDS;
    bool in_vain = idle > most_idle && l->steps > idle_steps;
    if (!made || found.pairs == 0 || in_vain || l->steps >= most_steps) break;
    raise_weights(l, &found);
    if (idle == restart) {
      made = iso_line_restore(l, places) && iso_contradictions_find(l, &found);
      restart *= LONGER;
    }
    settle_all(&w, &found, most_steps);
    if (w.crowded) made = made && iso_line_renumber(l), w.crowded = false;
    status = iso_task_check(task, error);
  }
  if (made && least != UINT64_MAX) made = iso_line_restore(l, places) && iso_line_renumber(l);
  free(places);
  free(w.mark);
  iso_contradictions_free(&found);
  if (!made) return iso_fail_memory(error);
  return status;
}
