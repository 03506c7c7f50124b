/* edge_style.h - how the kinds of edges are told apart, in every drawing: by colour and by dashes.  Constants only. */
#ifndef ISO_REPORT_DRAW_EDGE_STYLE_H
#define ISO_REPORT_DRAW_EDGE_STYLE_H

/* Kind, colour on light, colour on dark, dashes of SVG, style of DOT, meaning. */
#define ISO_EDGE_KINDS(X)                                                                                              \
  X(SO, "#6b7280", "#9aa3b2", "none", "solid", "session order")                                                        \
  X(WR, "#1d63d1", "#6ea8ff", "none", "solid", "wrote what the other read")                                            \
  X(WW, "#8b3fc7", "#c792f5", "9 4", "dashed", "wrote before the other")                                               \
  X(RW, "#c8441b", "#ff8f66", "5 4", "dashed", "missed what the other wrote")                                          \
  X(CM, "#7a5c1e", "#d9b45c", "9 3 2 3", "dashed", "must commit before the other")                                     \
  X(RT, "#0b7f74", "#4fd1c0", "1.5 4", "dotted", "ended before the other began")                                       \
  X(PO, "#6b7280", "#9aa3b2", "2 3", "dotted", "within one transaction")

#endif
