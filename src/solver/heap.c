/* A binary heap of variables by activity: the decision order of VSIDS, with exponential decay as in MiniSat. */
#include "solver/heap.h"

#include "base/vector.h"

#define DECAY 0.95
#define LARGEST 1e150

bool iso_heap_reserve(iso_heap *heap, size_t vars) {
  uint32_t *items = iso_realloc(heap->items, vars, sizeof *items);
  if (items != NULL) heap->items = items;
  uint32_t *at = iso_realloc(heap->at, vars, sizeof *at);
  if (at != NULL) heap->at = at;
  double *activity = iso_realloc(heap->activity, vars, sizeof *activity);
  if (activity != NULL) heap->activity = activity;
  return items != NULL && at != NULL && activity != NULL;
}

void iso_heap_free(iso_heap *heap) {
  free(heap->items);
  free(heap->at);
  free(heap->activity);
}

bool iso_heap_before(const iso_heap *heap, uint32_t a, uint32_t b) {
  return heap->activity[a] > heap->activity[b] || (!(heap->activity[a] < heap->activity[b]) && a < b);
}

static void put(iso_heap *heap, uint32_t place, uint32_t var) {
  heap->items[place] = var;
  heap->at[var] = place + 1;
}

static void rise(iso_heap *heap, uint32_t place, uint32_t var) {
  while (place > 0) {
    uint32_t parent = (place - 1) / 2;
    if (!iso_heap_before(heap, var, heap->items[parent])) break;
    put(heap, place, heap->items[parent]);
    place = parent;
  }
  put(heap, place, var);
}

static void sink(iso_heap *heap, uint32_t place, uint32_t var) {
  for (;;) {
    uint32_t child = 2 * place + 1;
    if (child >= heap->count) break;
    if (child + 1 < heap->count && iso_heap_before(heap, heap->items[child + 1], heap->items[child])) child++;
    if (!iso_heap_before(heap, heap->items[child], var)) break;
    put(heap, place, heap->items[child]);
    place = child;
  }
  put(heap, place, var);
}

void iso_heap_new(iso_heap *heap, uint32_t var) {
  heap->activity[var] = 0;
  heap->at[var] = 0;
  iso_heap_add(heap, var);
}

void iso_heap_add(iso_heap *heap, uint32_t var) {
  if (heap->at[var] == 0) rise(heap, heap->count++, var);
}

uint32_t iso_heap_take(iso_heap *heap) {
  uint32_t top = heap->items[0], moved = heap->items[--heap->count];
  if (heap->count > 0) sink(heap, 0, moved);
  heap->at[top] = 0;
  return top;
}

static void shrink_all(iso_heap *heap, uint32_t vars) {
  for (uint32_t i = 0; i < vars; i++) heap->activity[i] /= LARGEST;
  heap->bump /= LARGEST;
}

void iso_heap_bump(iso_heap *heap, uint32_t var, uint32_t vars) {
  heap->activity[var] += heap->bump;
  if (heap->at[var] != 0) rise(heap, heap->at[var] - 1, var);
  if (heap->activity[var] > LARGEST) shrink_all(heap, vars);
}

void iso_heap_decay(iso_heap *heap) { heap->bump /= DECAY; }
