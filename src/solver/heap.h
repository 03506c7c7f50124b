/* heap.h - a binary heap of variables by activity (VSIDS), the most active first.
 *
 * A heap owns its arrays until iso_heap_free; they have room for as many variables as iso_heap_reserve was told.
 * Adding, taking and bumping are O(log variables). */
#ifndef ISO_SOLVER_HEAP_H
#define ISO_SOLVER_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct iso_heap {
  uint32_t *items;
  uint32_t *at; /* by variable: place in items + 1, 0 outside */
  double *activity;
  uint32_t count;
  double bump; /* what a variable in the next conflict gains; grows, so that old conflicts count less */
} iso_heap;

bool iso_heap_reserve(iso_heap *heap, size_t vars);
void iso_heap_free(iso_heap *heap);
/* A variable that was never there. */
void iso_heap_new(iso_heap *heap, uint32_t var);
/* Puts a variable back unless it is there. */
void iso_heap_add(iso_heap *heap, uint32_t var);
/* Takes the most active variable out; there must be one. */
uint32_t iso_heap_take(iso_heap *heap);
/* Whether a comes before b; variables of equal activity come in the order in which they were made. */
bool iso_heap_before(const iso_heap *heap, uint32_t a, uint32_t b);
/* Makes a variable more active; `vars` is how many there are.  Now and then all activities are scaled down. */
void iso_heap_bump(iso_heap *heap, uint32_t var, uint32_t vars);
/* A conflict is over. */
void iso_heap_decay(iso_heap *heap);

#endif
