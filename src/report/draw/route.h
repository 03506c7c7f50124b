/* route.h - channels, tracks and ways of arrows while they are routed.
 *
 * Everything lies in the arena of the drawing.
 */
#ifndef ISO_REPORT_DRAW_ROUTE_H
#define ISO_REPORT_DRAW_ROUTE_H

#include "report/draw/layout.h"

enum { ISO_ROW_TRACK = 24, ISO_CURVES_SHUFFLED = 4 };

typedef enum iso_way { ISO_WAY_STRAIGHT, ISO_WAY_SIDE, ISO_WAY_LONG } iso_way;

/* A stretch of a channel, in steps of its length: even steps are crossing channels, odd ones rows or columns. */
typedef struct iso_stretch {
  uint32_t arrow;
  uint32_t channel;
  uint32_t first, last;
  uint32_t track;
  int32_t width; /* that the track must have */
} iso_stretch;

typedef struct iso_plan {
  iso_way way;
  uint32_t leave, enter; /* vertical channels */
  uint32_t across;       /* horizontal channel */
  uint32_t out, in;      /* stretches of the vertical channels; the same one for ISO_WAY_SIDE */
  uint32_t middle;       /* stretch of the horizontal channel */
  int32_t slot;          /* ISO_WAY_STRAIGHT: its place among those of the same two cards */
  int32_t from_port, to_port;
  bool curved; /* ISO_WAY_SIDE, between two cards of one row */
} iso_plan;

typedef struct iso_router {
  iso_arena *arena;
  const isoproof_document_anomaly *anomaly;
  iso_drawing *d;
  iso_plan *plans;
  int32_t *cell; /* the card in each cell, -1 none */
  iso_stretch *vertical, *horizontal;
  uint32_t vertical_count, horizontal_count;
  int32_t *column_x, *column_w, *row_y, *row_h;
  /* Per channel: where its tracks begin, one after the other. */
  uint32_t *vertical_tracks, *horizontal_tracks;
  int32_t *track_x; /* middle of a vertical track: track_x[stretch] */
  int32_t *channel_y;
} iso_router;

static inline const isoproof_document_txn *iso_card_txn(const iso_router *r, uint32_t card) {
  return &r->anomaly->txns[r->d->cards[card].txn];
}

static inline uint32_t iso_least(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint32_t iso_most(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* Whether two arrows run between the same two cards, in whatever direction. */
static inline bool iso_same_cards(const iso_arrow *a, const iso_arrow *b) {
  return iso_least(a->from, a->to) == iso_least(b->from, b->to) && iso_most(a->from, a->to) == iso_most(b->from, b->to);
}

/* ---- route_curve.c ---- */

/* How high a curve from 0 to `high` is when it has come `part` of 256 of its way across. */
int32_t iso_curve_height(int32_t high, int32_t part);
/* Exchanges tracks among the curves of a row of a channel, such that labels cover no other curve. */
void iso_shuffle_curves(const iso_router *r);

/* ---- route_draw.c ---- */

/* Points and labels of all arrows, once cards and tracks have coordinates; false when memory is out. */
bool iso_draw_arrows(const iso_router *r);

/* ---- route_label.c ---- */

/* Moves labels along their arrows to where no other arrow crosses them.  Cubic in arrows at worst, of which there are
 * few. */
void iso_move_labels(const iso_router *r);

#endif
