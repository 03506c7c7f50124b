/* Where arrows begin and end at the sides of cards, and the points between. */
#include "base/vector.h"
#include "report/draw/route.h"

enum { PORT_STEP = 8 };

/* ---- ports ---- */

/* The middle of an operation in its card, or of the header. */
static int32_t row_of(const iso_router *r, uint32_t card, uint32_t op) {
  int32_t y = r->d->cards[card].y;
  if (op >= iso_card_txn(r, card)->op_count) return y + ISO_CARD_HEADER / 2;
  return y + ISO_CARD_HEADER + ISO_CARD_ROW * (int32_t)op + ISO_CARD_ROW / 2;
}

/* An end of an arrow at a side of a card, by channel and height. */
typedef struct port {
  uint32_t channel, arrow;
  int32_t y;
  bool is_from, both; /* both: the other end is at the same height of the same channel */
} port;

static int by_place(const void *a, const void *b) {
  const port *p = a, *q = b;
  if (p->channel != q->channel) return p->channel < q->channel ? -1 : 1;
  if (p->y != q->y) return p->y < q->y ? -1 : 1;
  if (p->arrow != q->arrow) return p->arrow < q->arrow ? -1 : 1;
  return (int)q->is_from - (int)p->is_from;
}

/* Ends at one height of a channel, whichever side they are on, are moved apart: lines must not run into each other. */
static void spread_ports(const iso_router *r, port *ports, size_t count) {
  int32_t step = count > 1 ? 18 / (int32_t)count : 0;
  if (step > PORT_STEP) step = PORT_STEP;
  if (count > 1 && step < 1) step = 1;
  int32_t most_off = 9;
  for (size_t i = 0; i < count; i++) {
    int32_t off = ((2 * (int32_t)i - (int32_t)count + 1) * step) / 2;
    off = off > most_off ? most_off : off < -most_off ? -most_off : off;
    iso_plan *p = &r->plans[ports[i].arrow];
    if (ports[i].is_from || ports[i].both) p->from_port = ports[i].y + off;
    if (!ports[i].is_from || ports[i].both) p->to_port = ports[i].y + off;
  }
}

static bool place_ports(const iso_router *r) {
  iso_drawing *d = r->d;
  port *ports = iso_alloc(2 * (size_t)d->arrow_count + 1, sizeof *ports);
  size_t count = 0;
  if (ports == NULL) return false;
  for (uint32_t i = 0; i < d->arrow_count; i++) {
    const iso_arrow *arrow = &d->arrows[i];
    const iso_plan *p = &r->plans[i];
    if (p->way == ISO_WAY_STRAIGHT) continue;
    int32_t from = row_of(r, arrow->from, arrow->edge->from_op), to = row_of(r, arrow->to, arrow->edge->to_op);
    bool both = p->way == ISO_WAY_SIDE && from == to && arrow->from != arrow->to;
    /* A loop at one row still needs two ends. */
    if (arrow->from == arrow->to && from == to) to += ISO_CARD_ROW / 2;
    ports[count++] = (port){p->leave, i, from, true, both};
    if (!both) ports[count++] = (port){p->enter, i, to, false, false};
  }
  qsort(ports, count, sizeof *ports, by_place);
  for (size_t i = 0, next; i < count; i = next) {
    for (next = i + 1; next < count && ports[next].channel == ports[i].channel && ports[next].y == ports[i].y;) next++;
    spread_ports(r, ports + i, next - i);
  }
  free(ports);
  return true;
}

/* ---- lines ---- */

static void put_point(iso_arrow *arrow, int32_t x, int32_t y) {
  arrow->x[arrow->points] = x;
  arrow->y[arrow->points] = y;
  arrow->points++;
}

static int32_t row_track(const iso_router *r, const iso_plan *p) {
  return r->channel_y[p->across] + (int32_t)r->horizontal[p->middle].track * ISO_ROW_TRACK + ISO_ROW_TRACK / 2;
}

static int32_t side_x(const iso_router *r, const iso_card *card, uint32_t channel) {
  return channel == card->column ? r->column_x[card->column] : r->column_x[card->column] + r->column_w[card->column];
}

/* The middle of a label over a column, as close to x as it may be. */
static int32_t label_in(const iso_router *r, uint32_t column, int32_t x, int32_t width) {
  int32_t low = r->column_x[column] + width / 2, high = r->column_x[column] + r->column_w[column] - width / 2;
  return x < low ? low : x > high ? high : x;
}

static void draw_straight(const iso_router *r, uint32_t number) {
  iso_arrow *arrow = &r->d->arrows[number];
  const iso_card *from = &r->d->cards[arrow->from], *to = &r->d->cards[arrow->to];
  const iso_plan *p = &r->plans[number];
  int32_t slots = 0;
  for (uint32_t i = 0; i < r->d->arrow_count; i++) {
    const iso_arrow *other = &r->d->arrows[i];
    bool same = iso_same_cards(other, arrow);
    slots += same && r->plans[i].way == ISO_WAY_STRAIGHT;
  }
  int32_t x = from->x + (p->slot + 1) * from->w / (slots + 1);
  bool down = from->row < to->row;
  put_point(arrow, x, down ? from->y + from->h : from->y);
  put_point(arrow, x, down ? to->y : to->y + to->h);
  arrow->label_x = label_in(r, from->column, x, arrow->label_w);
  arrow->label_y = row_track(r, p);
}

static void draw_side(const iso_router *r, uint32_t number) {
  iso_arrow *arrow = &r->d->arrows[number];
  const iso_plan *p = &r->plans[number];
  int32_t track = r->track_x[p->out];
  put_point(arrow, side_x(r, &r->d->cards[arrow->from], p->leave), p->from_port);
  if (!p->curved) {
    put_point(arrow, track, p->from_port);
    put_point(arrow, track, p->to_port);
  }
  put_point(arrow, side_x(r, &r->d->cards[arrow->to], p->enter), p->to_port);
  arrow->label_x = track;
  arrow->label_y = (p->from_port + p->to_port) / 2;
  if (!p->curved) return;
  arrow->curved = true;
  int32_t part = (track - arrow->x[0]) * 256 / (arrow->x[1] - arrow->x[0]);
  arrow->label_y = p->from_port + iso_curve_height(p->to_port - p->from_port, part);
}

static void draw_long(const iso_router *r, uint32_t number) {
  iso_arrow *arrow = &r->d->arrows[number];
  const iso_plan *p = &r->plans[number];
  int32_t y = row_track(r, p);
  put_point(arrow, side_x(r, &r->d->cards[arrow->from], p->leave), p->from_port);
  put_point(arrow, r->track_x[p->out], p->from_port);
  put_point(arrow, r->track_x[p->out], y);
  put_point(arrow, r->track_x[p->in], y);
  put_point(arrow, r->track_x[p->in], p->to_port);
  put_point(arrow, side_x(r, &r->d->cards[arrow->to], p->enter), p->to_port);
  /* Over the first column that it passes. */
  uint32_t column = p->leave < p->enter ? p->leave : p->leave - 1;
  arrow->label_x = label_in(r, column, r->column_x[column] + r->column_w[column] / 2, arrow->label_w);
  arrow->label_y = y;
}

bool iso_draw_arrows(const iso_router *r) {
  if (!place_ports(r)) return false;
  for (uint32_t i = 0; i < r->d->arrow_count; i++) {
    switch (r->plans[i].way) {
    case ISO_WAY_STRAIGHT:
      draw_straight(r, i);
      break;
    case ISO_WAY_SIDE:
      draw_side(r, i);
      break;
    case ISO_WAY_LONG:
      draw_long(r, i);
      break;
    }
  }
  return true;
}
