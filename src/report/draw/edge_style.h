/* edge_style.h - how the kinds of edges differ in every drawing: by colour and by dashes.  Constants only. */
#ifndef ISO_REPORT_DRAW_EDGE_STYLE_H
#define ISO_REPORT_DRAW_EDGE_STYLE_H

#include "graph/edge.h"

typedef struct iso_edge_style {
  iso_edge_kind kind;
  const char *light, *dark; /* colours on light and on dark */
  const char *dashes;       /* of SVG */
  const char *dot;          /* the style of DOT */
  const char *meaning;      /* for the legend */
} iso_edge_style;

/* In the order of the legend. */
extern const iso_edge_style iso_edge_styles[ISO_EDGE_KINDS];

/* The style of a kind by its name: a saved result may name any, and those nobody knows look like session order. */
const iso_edge_style *iso_edge_style_of(const char *kind);

#endif
