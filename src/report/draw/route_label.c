/* Labels in vertical channels: each where no other arrow crosses it. */
#include "report/draw/route.h"

enum { NEEDED = ISO_LABEL_HEIGHT / 2 + 3, STEP = 2 };

static int32_t apart(int32_t a, int32_t b) { return a < b ? b - a : a - b; }

static bool is_between(int32_t x, int32_t a, int32_t b) { return a < b ? a <= x && x <= b : b <= x && x <= a; }

/* How far the nearest level part of another arrow is that passes the label at this height; no more than needed. */
static int32_t room_at(const iso_router *r, uint32_t number, int32_t y) {
  const iso_arrow *label = &r->d->arrows[number];
  int32_t room = NEEDED;
  for (uint32_t i = 0; i < r->d->arrow_count; i++) {
    const iso_arrow *other = &r->d->arrows[i];
    for (uint32_t k = 0; k + 1 < other->points && i != number && !other->curved; k++) {
      bool passes = other->y[k] == other->y[k + 1] && is_between(label->label_x, other->x[k], other->x[k + 1]);
      if (passes && apart(y, other->y[k]) < room) room = apart(y, other->y[k]);
    }
  }
  return room;
}

/* As near to the middle of its part of the channel as others let it be. */
static void move_label(const iso_router *r, uint32_t number) {
  const iso_plan *p = &r->plans[number];
  iso_arrow *arrow = &r->d->arrows[number];
  int32_t middle = arrow->label_y, reach = apart(p->from_port, p->to_port) / 2 - NEEDED, most = -1;
  for (int32_t off = 0; off == 0 || (off <= reach && most < NEEDED); off += STEP) {
    for (int side = -1; side <= 1; side += 2) {
      int32_t y = middle + side * off, room = room_at(r, number, y);
      if (room <= most) continue;
      most = room;
      arrow->label_y = y;
    }
  }
}

void iso_move_labels(const iso_router *r) {
  for (uint32_t i = 0; i < r->d->arrow_count; i++) {
    if (r->plans[i].way == ISO_WAY_SIDE && !r->plans[i].curved) move_label(r, i);
  }
}
