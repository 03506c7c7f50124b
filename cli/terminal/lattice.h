/* lattice.h - draws an order as lanes of lines, strongest first, the way version control draws its history.
 *
 * The lattice borrows its levels; nothing in it needs freeing.
 */
#ifndef CLI_TERMINAL_LATTICE_H
#define CLI_TERMINAL_LATTICE_H

#include <isoproof/level.h>
#include <stdio.h>

enum { LATTICE_MOST = 128 };

typedef struct lattice {
  const isoproof_level_info *nodes[LATTICE_MOST];
  size_t count;
  bool weaker[LATTICE_MOST][LATTICE_MOST]; /* [stronger][weaker]: a line */
} lattice;

/* The levels of the wanted families and the direct implications among them. */
void lattice_collect(lattice *l, bool (*wanted)(const isoproof_level_info *));
/* Prints what stands beside a level, in so many columns if it can. */
typedef void (*lattice_label_fn)(FILE *out, const isoproof_level_info *level, unsigned room);
/* One line per level, with lines of connections between. */
void lattice_draw(const lattice *l, FILE *out, bool unicode, lattice_label_fn label);

#endif
