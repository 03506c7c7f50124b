/* Channels: cards get coordinates, arrows get tracks.
 *
 * Vertical channel v lies left of column v (the last one right of the last column), horizontal channel h above row h.
 * An arrow goes straight between cards of one column with nothing between them; from side to side through one vertical
 * channel; or through two vertical channels and a horizontal one.  Tracks are given out so that arrows that share a
 * part of a channel are apart.  Labels stand in the vertical channel of the second kind, whose track is as wide as they
 * are, and otherwise in the horizontal channel above or below a card, whose tracks are as high as they are: so none can
 * meet.
 */
#include "report/draw/route.h"

#include "report/escape.h"

enum { TRACK = 14, LABEL_GAP = 10, CURVE_GAP = 34, ROW_GAP = 40, COLUMN_GAP = 48, EDGE_GAP = 10 };

/* ---- sizes ---- */

static int32_t text_width(const char *text) {
  size_t columns = iso_text_columns(text);
  if (columns > 1000) columns = 1000;
  return (int32_t)(columns * 725 / 100);
}

static void size_card(const iso_router *r, iso_card *card) {
  const isoproof_document_txn *txn = &r->anomaly->txns[card->txn];
  int32_t widest = text_width(txn->name) + text_width(txn->status) + 16;
  for (uint32_t i = 0; i < txn->op_count; i++) {
    int32_t width = text_width(txn->ops[i].text);
    if (width > widest) widest = width;
  }
  card->w = widest + ISO_CARD_PADDING;
  if (card->w < ISO_CARD_NARROWEST) card->w = ISO_CARD_NARROWEST;
  if (card->w > ISO_CARD_WIDEST) card->w = ISO_CARD_WIDEST;
  uint32_t rows = txn->op_count + (txn->more > 0 ? 1 : 0);
  card->h = ISO_CARD_HEADER + ISO_CARD_ROW * (int32_t)rows + ISO_CARD_BOTTOM;
}

static bool size_grid(iso_router *r) {
  iso_drawing *d = r->d;
  size_t cells = (size_t)d->rows * d->columns;
  r->cell = iso_arena_alloc(r->arena, cells + 1, sizeof *r->cell);
  r->column_w = iso_arena_alloc(r->arena, (size_t)d->columns + 1, sizeof *r->column_w);
  r->row_h = iso_arena_alloc(r->arena, (size_t)d->rows + 1, sizeof *r->row_h);
  if (r->cell == NULL || r->column_w == NULL || r->row_h == NULL) return false;
  for (size_t i = 0; i < cells; i++) r->cell[i] = -1;
  for (uint32_t i = 0; i < d->card_count; i++) {
    iso_card *card = &d->cards[i];
    size_card(r, card);
    r->cell[(size_t)card->row * d->columns + card->column] = (int32_t)i;
    if (card->w > r->column_w[card->column]) r->column_w[card->column] = card->w;
    if (card->h > r->row_h[card->row]) r->row_h[card->row] = card->h;
  }
  /* Cards of a column are equally wide, so that arrows end at the edge of the column. */
  for (uint32_t i = 0; i < d->card_count; i++) d->cards[i].w = r->column_w[d->cards[i].column];
  return true;
}

static bool size_labels(const iso_router *r) {
  for (uint32_t i = 0; i < r->d->arrow_count; i++) {
    iso_words words = {NULL, 0, 0, false};
    iso_arrow_label(&words, r->d->arrows[i].edge);
    bool failed = words.failed;
    if (!failed) r->d->arrows[i].label_w = (int32_t)(8 + iso_text_columns(words.text) * 67 / 10);
    iso_words_free(&words);
    if (failed) return false;
  }
  return true;
}

/* ---- ways ---- */

static bool is_free_between(const iso_router *r, const iso_card *a, const iso_card *b) {
  for (uint32_t row = iso_least(a->row, b->row) + 1; row < iso_most(a->row, b->row); row++) {
    if (r->cell[(size_t)row * r->d->columns + a->column] >= 0) return false;
  }
  return true;
}

/* Places for straight arrows between the same two cards: as many as labels of usual length fit below them. */
static bool take_slot(const iso_router *r, uint32_t number) {
  enum { SLOT = 50 };
  const iso_arrow *arrow = &r->d->arrows[number];
  int32_t used = 0;
  for (uint32_t i = 0; i < number; i++) {
    const iso_arrow *other = &r->d->arrows[i];
    bool same = iso_same_cards(other, arrow);
    if (same && r->plans[i].way == ISO_WAY_STRAIGHT) used++;
  }
  r->plans[number].slot = used;
  return used < r->d->cards[arrow->from].w / SLOT;
}

static void choose_way(const iso_router *r, uint32_t number) {
  const iso_arrow *arrow = &r->d->arrows[number];
  const iso_card *from = &r->d->cards[arrow->from], *to = &r->d->cards[arrow->to];
  iso_plan *p = &r->plans[number];
  if (from->column == to->column) {
    p->leave = p->enter = from->column + 1;
    bool straight = from != to && is_free_between(r, from, to) && take_slot(r, number);
    p->way = straight ? ISO_WAY_STRAIGHT : ISO_WAY_SIDE;
    p->across = iso_least(from->row, to->row) + 1;
    return;
  }
  bool right = from->column < to->column;
  p->leave = right ? from->column + 1 : from->column;
  p->enter = right ? to->column : to->column + 1;
  p->way = p->leave == p->enter ? ISO_WAY_SIDE : ISO_WAY_LONG;
  p->curved = p->way == ISO_WAY_SIDE && from->row == to->row;
  /* Below the card where it goes down; level arrows go below to the right and above to the left. */
  bool below = to->row > from->row || (to->row == from->row && right);
  p->across = below ? from->row + 1 : from->row;
}

/* ---- tracks ---- */

static void add_stretch(iso_stretch *list, uint32_t *count, uint32_t *place, uint32_t arrow, uint32_t channel,
                        uint32_t a, uint32_t b, int32_t width) {
  *place = *count;
  list[(*count)++] = (iso_stretch){arrow, channel, iso_least(a, b), iso_most(a, b), 0, width};
}

static void add_stretches(iso_router *r, uint32_t number) {
  const iso_arrow *arrow = &r->d->arrows[number];
  const iso_card *from = &r->d->cards[arrow->from], *to = &r->d->cards[arrow->to];
  iso_plan *p = &r->plans[number];
  uint32_t from_row = 2 * from->row + 1, to_row = 2 * to->row + 1;
  switch (p->way) {
  case ISO_WAY_STRAIGHT:
    add_stretch(r->horizontal, &r->horizontal_count, &p->middle, number, p->across, 2 * from->column + 1,
                2 * from->column + 1, ISO_ROW_TRACK);
    break;
  case ISO_WAY_SIDE:
    add_stretch(r->vertical, &r->vertical_count, &p->out, number, p->leave, from_row, to_row,
                arrow->label_w + (p->curved ? CURVE_GAP : LABEL_GAP));
    p->in = p->out;
    break;
  case ISO_WAY_LONG:
    add_stretch(r->vertical, &r->vertical_count, &p->out, number, p->leave, from_row, 2 * p->across, TRACK);
    add_stretch(r->vertical, &r->vertical_count, &p->in, number, p->enter, 2 * p->across, to_row, TRACK);
    add_stretch(r->horizontal, &r->horizontal_count, &p->middle, number, p->across, 2 * p->leave, 2 * p->enter,
                ISO_ROW_TRACK);
    break;
  }
}

/* Each stretch takes the first track of its channel in which nothing overlaps with it.  Gives tracks by channel;
 * `taken` has room for one mark more than there are stretches. */
static void give_tracks(iso_stretch *list, uint32_t count, uint32_t *tracks, uint32_t *taken) {
  for (uint32_t i = 0; i < count; i++) {
    iso_stretch *s = &list[i];
    for (uint32_t k = 0; k < i; k++) {
      const iso_stretch *other = &list[k];
      if (other->channel == s->channel && other->first <= s->last && s->first <= other->last)
        taken[other->track] = i + 1;
    }
    while (taken[s->track] == i + 1) s->track++;
    if (s->track + 1 > tracks[s->channel]) tracks[s->channel] = s->track + 1;
  }
}

/* The width of a track: what its widest stretch needs. */
static int32_t track_width(const iso_stretch *list, uint32_t count, uint32_t channel, uint32_t track) {
  int32_t width = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool here = list[i].channel == channel && list[i].track == track;
    if (here && list[i].width > width) width = list[i].width;
  }
  return width;
}

static bool plan_all(iso_router *r) {
  uint32_t arrows = r->d->arrow_count;
  r->plans = iso_arena_alloc(r->arena, (size_t)arrows + 1, sizeof *r->plans);
  r->vertical = iso_arena_alloc(r->arena, 2 * (size_t)arrows + 1, sizeof *r->vertical);
  r->horizontal = iso_arena_alloc(r->arena, (size_t)arrows + 1, sizeof *r->horizontal);
  r->vertical_tracks = iso_arena_alloc(r->arena, (size_t)r->d->columns + 2, sizeof *r->vertical_tracks);
  r->horizontal_tracks = iso_arena_alloc(r->arena, (size_t)r->d->rows + 2, sizeof *r->horizontal_tracks);
  uint32_t *taken = iso_arena_alloc(r->arena, 2 * (size_t)arrows + 1, sizeof *taken);
  uint32_t *taken_across = iso_arena_alloc(r->arena, (size_t)arrows + 1, sizeof *taken_across);
  if (r->plans == NULL || r->vertical == NULL || r->horizontal == NULL || r->vertical_tracks == NULL ||
      r->horizontal_tracks == NULL || taken == NULL || taken_across == NULL)
    return false;
  for (uint32_t i = 0; i < arrows; i++) {
    choose_way(r, i);
    add_stretches(r, i);
  }
  give_tracks(r->vertical, r->vertical_count, r->vertical_tracks, taken);
  give_tracks(r->horizontal, r->horizontal_count, r->horizontal_tracks, taken_across);
  iso_shuffle_curves(r);
  return true;
}

/* ---- coordinates ---- */

/* Where vertical channel v begins, and the middles of its tracks; returns where it ends. */
static int32_t lay_channel(iso_router *r, uint32_t channel, int32_t x) {
  bool outer = channel == 0 || channel == r->d->columns;
  int32_t gap = EDGE_GAP, width = 0;
  for (uint32_t t = 0; t < r->vertical_tracks[channel]; t++)
    width += track_width(r->vertical, r->vertical_count, channel, t);
  if (!outer && width + 2 * gap < COLUMN_GAP) gap = (COLUMN_GAP - width) / 2;
  if (outer && width == 0) gap = 0;
  int32_t at = x + gap;
  for (uint32_t t = 0; t < r->vertical_tracks[channel]; t++) {
    int32_t wide = track_width(r->vertical, r->vertical_count, channel, t);
    for (uint32_t i = 0; i < r->vertical_count; i++) {
      if (r->vertical[i].channel == channel && r->vertical[i].track == t) r->track_x[i] = at + wide / 2;
    }
    at += wide;
  }
  return x + width + 2 * gap;
}

static bool lay_grid(iso_router *r) {
  iso_drawing *d = r->d;
  r->column_x = iso_arena_alloc(r->arena, (size_t)d->columns + 1, sizeof *r->column_x);
  r->row_y = iso_arena_alloc(r->arena, (size_t)d->rows + 1, sizeof *r->row_y);
  r->channel_y = iso_arena_alloc(r->arena, (size_t)d->rows + 2, sizeof *r->channel_y);
  r->track_x = iso_arena_alloc(r->arena, (size_t)r->vertical_count + 1, sizeof *r->track_x);
  if (r->column_x == NULL || r->row_y == NULL || r->channel_y == NULL || r->track_x == NULL) return false;
  int32_t x = ISO_DRAWING_MARGIN, y = ISO_DRAWING_MARGIN;
  for (uint32_t c = 0; c <= d->columns; c++) {
    x = lay_channel(r, c, x);
    if (c == d->columns) break;
    r->column_x[c] = x;
    x += r->column_w[c];
  }
  for (uint32_t h = 0; h <= d->rows; h++) {
    bool outer = h == 0 || h == d->rows;
    int32_t tracks = (int32_t)r->horizontal_tracks[h],
            height = tracks * ISO_ROW_TRACK + (tracks > 0 ? 2 * EDGE_GAP : 0);
    if (!outer && height < ROW_GAP) height = ROW_GAP;
    r->channel_y[h] = y + (height - tracks * ISO_ROW_TRACK) / 2;
    y += height;
    if (h == d->rows) break;
    r->row_y[h] = y;
    y += r->row_h[h];
  }
  d->width = x + ISO_DRAWING_MARGIN;
  d->height = y + ISO_DRAWING_MARGIN;
  for (uint32_t i = 0; i < d->card_count; i++) {
    d->cards[i].x = r->column_x[d->cards[i].column];
    d->cards[i].y = r->row_y[d->cards[i].row];
  }
  for (uint32_t i = 0; i < d->lane_count; i++) {
    d->lanes[i].x = r->column_x[i];
    d->lanes[i].w = r->column_w[i];
  }
  return true;
}

bool iso_route(iso_arena *arena, const isoproof_document_anomaly *anomaly, iso_drawing *drawing) {
  iso_router r = {.arena = arena, .anomaly = anomaly, .d = drawing};
  bool good = size_grid(&r) && size_labels(&r) && plan_all(&r) && lay_grid(&r) && iso_draw_arrows(&r);
  if (good) iso_move_labels(&r);
  return good;
}
