/* Arrows between two cards of one row: curves, with labels where no other curve passes. */
#include <string.h>

#include "report/draw/route.h"

int32_t iso_curve_height(int32_t high, int32_t part) {
  for (int32_t t = 0; t <= 256; t++) {
    /* Both control points are in the middle: x = 1.5 t (1 - t) + t^3, y = 3 t^2 - 2 t^3. */
    int64_t x = ((int64_t)3 * t * (256 - t) * 128 + (int64_t)t * t * t) / (256 * 256);
    if (x >= part)
      return (int32_t)((int64_t)high * ((int64_t)3 * t * t * 256 - (int64_t)2 * t * t * t) / (256 * 256 * 256));
  }
  return high;
}

/* Curves of one row of a channel: which of them has its label where is decided such that labels cover no other curve.
 */
typedef struct bundle {
  uint32_t arrows[ISO_CURVES_SHUFFLED], tracks[ISO_CURVES_SHUFFLED];
  int32_t left[ISO_CURVES_SHUFFLED], right[ISO_CURVES_SHUFFLED]; /* heights of the ends */
  uint32_t count, of;                                            /* `of`: tracks of the channel */
} bundle;

static int32_t clearance(const bundle *b, const uint32_t *order) {
  enum { ENOUGH = 14 };
  int32_t sum = 0;
  for (uint32_t i = 0; i < b->count; i++) {
    int32_t part = (int32_t)((2 * b->tracks[order[i]] + 1) * 128 / b->of), nearest = ENOUGH;
    int32_t ours = b->left[i] + iso_curve_height(b->right[i] - b->left[i], part);
    for (uint32_t k = 0; k < b->count; k++) {
      int32_t apart = ours - b->left[k] - iso_curve_height(b->right[k] - b->left[k], part);
      if (apart < 0) apart = -apart;
      if (k != i && apart < nearest) nearest = apart;
    }
    sum += nearest;
  }
  return sum;
}

/* The next order of the tracks, by the usual algorithm; false after the last. */
static bool next_order(uint32_t *order, uint32_t count) {
  uint32_t i = count - 1;
  while (i > 0 && order[i - 1] >= order[i]) i--;
  if (i == 0) return false;
  uint32_t k = count - 1;
  while (order[k] <= order[i - 1]) k--;
  uint32_t old = order[i - 1];
  order[i - 1] = order[k];
  order[k] = old;
  for (uint32_t a = i, z = count - 1; a < z; a++, z--) {
    old = order[a];
    order[a] = order[z];
    order[z] = old;
  }
  return true;
}

static void shuffle(const iso_router *r, const bundle *b) {
  uint32_t order[ISO_CURVES_SHUFFLED] = {0, 1, 2, 3}, best[ISO_CURVES_SHUFFLED] = {0, 1, 2, 3};
  int32_t most_clear = clearance(b, order);
  while (next_order(order, b->count)) {
    int32_t clear = clearance(b, order);
    if (clear <= most_clear) continue;
    most_clear = clear;
    memcpy(best, order, sizeof best);
  }
  for (uint32_t i = 0; i < b->count; i++) r->vertical[r->plans[b->arrows[i]].out].track = b->tracks[best[i]];
}

/* The height of an end within its row of cards. */
static int32_t height_in_row(const iso_router *r, uint32_t card, uint32_t op) {
  return op < iso_card_txn(r, card)->op_count ? ISO_CARD_HEADER + ISO_CARD_ROW * (int32_t)op : 0;
}

void iso_shuffle_curves(const iso_router *r) {
  for (uint32_t i = 0; i < r->d->arrow_count; i++) {
    bundle b = {.of = r->vertical_tracks[r->plans[i].leave]};
    uint32_t row = r->d->cards[r->d->arrows[i].from].row;
    bool first = r->plans[i].curved;
    for (uint32_t k = 0; k < r->d->arrow_count && first; k++) {
      const iso_arrow *arrow = &r->d->arrows[k];
      const iso_plan *p = &r->plans[k];
      if (!p->curved || p->leave != r->plans[i].leave || r->d->cards[arrow->from].row != row) continue;
      first = k >= i && b.count < ISO_CURVES_SHUFFLED;
      if (!first) break;
      int32_t from = height_in_row(r, arrow->from, arrow->edge->from_op);
      int32_t to = height_in_row(r, arrow->to, arrow->edge->to_op);
      bool right = r->d->cards[arrow->from].column < r->d->cards[arrow->to].column;
      b.arrows[b.count] = k;
      b.tracks[b.count] = r->vertical[p->out].track;
      b.left[b.count] = right ? from : to;
      b.right[b.count++] = right ? to : from;
    }
    if (first && b.count > 1) shuffle(r, &b);
  }
}
