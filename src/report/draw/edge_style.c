/* Colours and dashes of the kinds of edges. */
#include "report/draw/edge_style.h"

const iso_edge_style iso_edge_styles[ISO_EDGE_KINDS] = {
    {ISO_EDGE_SO, "#6b7280", "#9aa3b2", "none", "solid", "session order"},
    {ISO_EDGE_WR, "#1d63d1", "#6ea8ff", "none", "solid", "wrote what the other read"},
    {ISO_EDGE_WW, "#8b3fc7", "#c792f5", "9 4", "dashed", "wrote before the other"},
    {ISO_EDGE_RW, "#c8441b", "#ff8f66", "5 4", "dashed", "missed what the other wrote"},
    {ISO_EDGE_CM, "#7a5c1e", "#d9b45c", "9 3 2 3", "dashed", "must commit before the other"},
    {ISO_EDGE_RT, "#0b7f74", "#4fd1c0", "1.5 4", "dotted", "ended before the other began"},
    {ISO_EDGE_PO, "#6b7280", "#9aa3b2", "2 3", "dotted", "within one transaction"},
};

const iso_edge_style *iso_edge_style_of(const char *kind) {
  iso_edge_kind found = ISO_EDGE_SO;
  (void)iso_edge_find(kind, &found);
  for (int i = 0; i < ISO_EDGE_KINDS; i++) {
    if (iso_edge_styles[i].kind == found) return &iso_edge_styles[i];
  }
  return &iso_edge_styles[0];
}
