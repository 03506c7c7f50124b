/* layout.h - where the cards of transactions and the arrows between them go in a drawing.
 *
 * Cards stand in a grid; arrows run in the channels between its rows and columns, each in a track of its own, so that
 * no arrow crosses a card and no two labels meet.  Everything in a drawing lies in the arena it was made with.
 */
#ifndef ISO_REPORT_DRAW_LAYOUT_H
#define ISO_REPORT_DRAW_LAYOUT_H

#include <isoproof/report.h>

#include "base/arena.h"
#include "base/words.h"

/* Sizes of a card and its texts, in pixels; a character of the fixed-width font takes 7.25. */
enum {
  ISO_CARD_HEADER = 30,
  ISO_CARD_ROW = 20,
  ISO_CARD_BOTTOM = 8,
  ISO_CARD_NARROWEST = 150,
  ISO_CARD_WIDEST = 320,
  ISO_CARD_PADDING = 28,
  ISO_LABEL_COLUMNS = 20,
  ISO_LABEL_HEIGHT = 18,
  ISO_DRAWING_MARGIN = 12
};

typedef struct iso_card {
  uint32_t txn; /* its place in the anomaly */
  uint32_t row, column;
  int32_t x, y, w, h;
} iso_card;

enum { ISO_ARROW_POINTS = 6 };

typedef struct iso_arrow {
  const isoproof_document_edge *edge;
  uint32_t from, to; /* cards */
  int32_t x[ISO_ARROW_POINTS], y[ISO_ARROW_POINTS];
  uint32_t points;
  bool curved;                       /* a curve between its two points, instead of lines with corners */
  int32_t label_x, label_y, label_w; /* its middle; its width */
} iso_arrow;

/* The column of a session, where columns are sessions. */
typedef struct iso_lane {
  const char *session;
  int32_t x, w;
} iso_lane;

typedef struct iso_drawing {
  int32_t width, height;
  uint32_t rows, columns;
  iso_card *cards;
  uint32_t card_count;
  iso_arrow *arrows;
  uint32_t arrow_count;
  iso_lane *lanes; /* none where columns are no sessions */
  uint32_t lane_count;
} iso_drawing;

/* Lays out edges of an anomaly: with `all` every transaction has a card, else those that an edge mentions.  False when
 * memory is out. */
bool iso_layout(iso_arena *arena, const isoproof_document_anomaly *anomaly, const isoproof_document_edge *edges,
                uint32_t edge_count, bool all, iso_drawing *drawing);

/* ---- certain.c ---- */

/* What a drawing of an anomaly shows beside its cases: its edges, and those of the cases that hold in each of them, so
 * that a lost update shows its cycle.  Quadratic in edges, of which there are few.  False when memory is out. */
bool iso_certain_edges(iso_arena *arena, const isoproof_document_anomaly *anomaly, const isoproof_document_edge **edges,
                       uint32_t *count);

/* The line of an arrow as the path of an SVG, with rounded corners. */
void iso_arrow_path(iso_words *words, const iso_arrow *arrow);
/* What stands on it, "RW x", cut to ISO_LABEL_COLUMNS. */
void iso_arrow_label(iso_words *words, const isoproof_document_edge *edge);

/* ---- route.c ---- */

/* Gives coordinates to cards whose rows and columns are known, and routes the arrows. */
bool iso_route(iso_arena *arena, const isoproof_document_anomaly *anomaly, iso_drawing *drawing);

#endif
