/* lattice.c - each lane waits for one level; a level takes over its lane and opens lanes for what it implies. */
#include "cli/terminal/lattice.h"

#include <limits.h>
#include <string.h>

#include "cli/terminal/terminal.h"

enum { EMPTY = -1, NO_LANE = LATTICE_MOST };

/* What a cell of a row of connections touches. */
enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };

void lattice_collect(lattice *l, bool (*wanted)(const isoproof_level_info *)) {
  const isoproof_level_info *stronger, *weaker;
  memset(l, 0, sizeof *l);
  for (size_t i = 0; isoproof_level_at(i) != NULL && l->count < LATTICE_MOST; i++) {
    if (wanted(isoproof_level_at(i))) l->nodes[l->count++] = isoproof_level_at(i);
  }
  for (size_t e = 0; isoproof_level_implication_at(e, &stronger, &weaker); e++) {
    size_t from = LATTICE_MOST, to = LATTICE_MOST;
    for (size_t i = 0; i < l->count; i++) {
      if (l->nodes[i] == stronger) from = i;
      if (l->nodes[i] == weaker) to = i;
    }
    if (from < LATTICE_MOST && to < LATTICE_MOST) l->weaker[from][to] = true;
  }
}

typedef struct drawing {
  const lattice *l;
  FILE *out;
  bool unicode;
  int lanes[LATTICE_MOST]; /* the node that a lane leads to */
  size_t lane_count;
  bool drawn[LATTICE_MOST];
} drawing;

static size_t lane_of(const drawing *d, int node) {
  for (size_t i = 0; i < d->lane_count; i++) {
    if (d->lanes[i] == node) return i;
  }
  return NO_LANE;
}

/* An empty lane, right of `near` if there is one there, else a new one. */
static size_t open_lane(drawing *d, size_t near, int node) {
  size_t lane = near + 1;
  while (lane < d->lane_count && d->lanes[lane] != EMPTY) lane++;
  if (lane >= d->lane_count) lane = d->lane_count++;
  d->lanes[lane] = node;
  return lane;
}

static bool ready(const drawing *d, size_t node) {
  for (size_t i = 0; i < d->l->count; i++) {
    if (d->l->weaker[i][node] && !d->drawn[i]) return false;
  }
  return !d->drawn[node];
}

/* The next level: the leftmost lane that may end now, so that lines stay short; then the strongest not yet begun. */
static size_t next_node(const drawing *d) {
  for (size_t i = 0; i < d->lane_count; i++) {
    if (d->lanes[i] != EMPTY && ready(d, (size_t)d->lanes[i])) return (size_t)d->lanes[i];
  }
  for (size_t i = d->l->count; i-- > 0;) {
    if (ready(d, i)) return i;
  }
  return LATTICE_MOST;
}

static const char *cell(const drawing *d, unsigned touches) {
  static const char *const boxes[16] = {" ", "╵", "╷", "│", "╴", "┘", "┐", "┤", "╶", "└", "┌", "├", "─", "┴", "┬", "┼"};
  static const char plain[16][2] = {" ", "|", "|", "|", "-", "'", ".", "+", "-", "`", ".", "+", "-", "+", "+", "+"};
  return d->unicode ? boxes[touches] : plain[touches];
}

static void node_row(const drawing *d, size_t column, const isoproof_level_info *level, lattice_label_fn label) {
  size_t last = column;
  for (size_t i = column; i < d->lane_count; i++) {
    if (d->lanes[i] != EMPTY) last = i;
  }
  for (size_t i = 0; i <= last; i++) {
    const char *mark = d->unicode ? "●" : "*";
    fprintf(d->out, "%s ", i == column ? mark : cell(d, d->lanes[i] == EMPTY ? 0 : UP | DOWN));
  }
  unsigned used = 2 * ((unsigned)last + 1), width = report_width(d->out);
  label(d->out, level, width == 0 ? UINT_MAX : width > used ? width - used : 0);
  fputc('\n', d->out);
}

/* Connects the lane of a level to the lanes of what it implies. */
static void branch_row(const drawing *d, size_t column, const bool *before, const bool *joined) {
  size_t first = column, last = column, end = column;
  for (size_t i = 0; i < d->lane_count; i++) {
    if (i < first && joined[i]) first = i;
    if (i > last && joined[i]) last = i;
    if (before[i] || d->lanes[i] != EMPTY) end = i > end ? i : end;
  }
  if (first == last) return;
  for (size_t i = 0; i <= end; i++) {
    unsigned touches = (before[i] ? UP : 0) | (d->lanes[i] != EMPTY ? DOWN : 0);
    /* A lane that is only crossed stays a plain line: the connection passes behind it. */
    bool meets = i == column || joined[i] || touches == 0;
    if (meets && i > first && i <= last) touches |= LEFT;
    if (meets && i >= first && i < last) touches |= RIGHT;
    fprintf(d->out, "%s%s", cell(d, touches), i == end ? "" : cell(d, i >= first && i < last ? LEFT | RIGHT : 0));
  }
  fputc('\n', d->out);
}

/* Draws one level and opens its lanes. */
static void draw_node(drawing *d, size_t node, lattice_label_fn label) {
  bool before[LATTICE_MOST] = {false}, joined[LATTICE_MOST] = {false};
  size_t column = lane_of(d, (int)node);
  if (column == NO_LANE) {
    column = lane_of(d, EMPTY);
    if (column == NO_LANE) column = d->lane_count++;
  }
  d->lanes[column] = (int)node;
  d->drawn[node] = true;
  node_row(d, column, d->l->nodes[node], label);
  for (size_t i = 0; i < d->lane_count; i++) before[i] = d->lanes[i] != EMPTY;
  d->lanes[column] = EMPTY;
  for (size_t i = d->l->count; i-- > 0;) {
    if (!d->l->weaker[node][i]) continue;
    size_t lane = lane_of(d, (int)i);
    if (lane == NO_LANE && d->lanes[column] == EMPTY)
      d->lanes[lane = column] = (int)i;
    else if (lane == NO_LANE)
      lane = open_lane(d, column, (int)i);
    joined[lane] = true;
  }
  branch_row(d, column, before, joined);
}

void lattice_draw(const lattice *l, FILE *out, bool unicode, lattice_label_fn label) {
  drawing d = {.l = l, .out = out, .unicode = unicode};
  for (size_t node; (node = next_node(&d)) < LATTICE_MOST;) draw_node(&d, node, label);
}
