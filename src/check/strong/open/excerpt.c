/* Builds excerpts: of the keys that somebody reads, what the stretch does to them. */
#include "check/strong/open/excerpt.h"

#include <stdlib.h>

#include "history/builder.h"

/* Nobody reads a key in the stretch, and it has but one write there, or nobody behind it reads what is left: then its
 * writes may come in any order. */
enum { UNKNOWN, NOTHING, SOMETHING };

typedef struct {
  const iso_stretch *s;
  const iso_value_line *line;
  uint32_t fence; /* the first key behind those of the history: whoever comes before all writes it, and all others read
                     it and write one of those behind it, which whoever comes after them reads */
  isoproof_builder *builder;
} writer;

static isoproof_status begin(writer *b, uint32_t session, isoproof_error *error) {
  iso_txn_info info = iso_txn_unset();
  uint32_t number;
  ISO_TRY(iso_builder_session(b->builder, session, &number, error));
  return iso_builder_begin(b->builder, number, &info, NULL, error);
}

/* Writes or reads a class as any of its versions looks.  What reads as the initial version is written as 0. */
static isoproof_status add(writer *b, isoproof_op_kind kind, uint32_t key, uint32_t of, isoproof_error *error) {
  const iso_view *v = b->line->v;
  bool initial = of >= v->write_first[v->h->txns];
  iso_value value = iso_open_version(b->s->open, key, initial ? 0 : of + 1);
  if (value == ISO_VALUE_NIL) {
    if (kind == ISOPROOF_OP_WRITE) value = 0;
  } else if (value >= ISO_VALUE_INLINE_LIMIT) {
    ISO_TRY(iso_pool_add(iso_builder_pool(b->builder), iso_history_scalar(v->h, value), &value, error));
  }
  return iso_builder_op(b->builder, kind, key, value, error);
}

/* ---- what is done to a key ---- */

/* The accesses [*first, *end) of a key that stand in the stretch, around one of them. */
static void find_accesses(const writer *b, uint32_t key, uint32_t at, uint32_t *first, uint32_t *end) {
  const iso_value_line *w = b->line;
  *first = *end = at;
  while (*first > w->first[key] && w->pos[w->at[*first - 1].txn] >= b->s->bounds.low) --*first;
  while (*end < w->first[key + 1] && w->pos[w->at[*end].txn] < b->s->bounds.high) ++*end;
}

/* Whether somebody from an access on finds what is there before it, and saw that. */
static bool is_found(const iso_value_line *w, uint32_t key, uint32_t at, uint32_t of) {
  for (; at < w->first[key + 1]; at++) {
    if (w->at[at].read == of) return true;
    if (w->at[at].write != ISO_NO_CLASS) return false;
  }
  return false;
}

static uint8_t find_whether_matters(const writer *b, uint32_t key, uint32_t first, uint32_t end) {
  const iso_value_line *w = b->line;
  uint32_t writes = 0;
  for (uint32_t at = first; at < end; at++) {
    if (w->at[at].read != ISO_NO_CLASS) return SOMETHING;
    writes += w->at[at].write != ISO_NO_CLASS;
  }
  if (writes <= 1) return NOTHING;
  return b->s->exclusive || is_found(w, key, end, iso_value_line_class(w, key, end)) ? SOMETHING : NOTHING;
}

/* Whether a read is right, or can be in the stretch. */
static bool has_source(const writer *b, uint32_t key, uint32_t at) {
  const iso_value_line *w = b->line;
  uint32_t of = w->at[at].read, first, end;
  if (iso_value_line_class(w, key, at) == of) return true;
  find_accesses(b, key, at, &first, &end);
  if (iso_value_line_class(w, key, first) == of) return true;
  while (first < end && w->at[first].write != of) first++;
  return first < end;
}

/* ---- the transactions ---- */

/* Finds out which keys matter, and writes what the stretch finds of them. */
static isoproof_status add_before(writer *b, isoproof_error *error) {
  const iso_value_line *w = b->line;
  for (uint32_t place = b->s->bounds.low; place < b->s->bounds.high; place++) {
    uint32_t txn = w->order[place];
    for (uint32_t k = w->txn_first[txn]; k < w->txn_first[txn + 1]; k++) {
      uint32_t key = w->txn_key[k], first, end;
      if (b->s->matters[key] != UNKNOWN) continue;
      find_accesses(b, key, w->txn_at[k], &first, &end);
      b->s->matters[key] = find_whether_matters(b, key, first, end);
      uint32_t of = iso_value_line_class(w, key, first);
      if (b->s->matters[key] == NOTHING || of == w->c->initial[key]) continue;
      ISO_TRY(add(b, ISOPROOF_OP_WRITE, key, of, error));
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status add_txn(writer *b, uint32_t place, isoproof_error *error) {
  const iso_value_line *w = b->line;
  uint32_t txn = w->order[place];
  ISO_TRY(begin(b, w->e->chain_of[txn], error));
  ISO_TRY(iso_builder_op(b->builder, ISOPROOF_OP_READ, b->fence, 1, error));
  for (uint32_t k = w->txn_first[txn]; k < w->txn_first[txn + 1]; k++) {
    const iso_value_access *a = &w->at[w->txn_at[k]];
    uint32_t key = w->txn_key[k];
    if (b->s->matters[key] == NOTHING) continue;
    bool reads = a->read != ISO_NO_CLASS && has_source(b, key, w->txn_at[k]);
    if (reads) ISO_TRY(add(b, ISOPROOF_OP_READ, key, a->read, error));
    if (a->write != ISO_NO_CLASS) ISO_TRY(add(b, ISOPROOF_OP_WRITE, key, a->write, error));
  }
  return iso_builder_op(b->builder, ISOPROOF_OP_WRITE, b->fence + 1 + place - b->s->bounds.low, 1, error);
}

/* Reads what the stretch leaves to others, and forgets which keys matter. */
static isoproof_status add_behind(writer *b, isoproof_error *error) {
  const iso_value_line *w = b->line;
  for (uint32_t place = b->s->bounds.low; place < b->s->bounds.high; place++) {
    uint32_t txn = w->order[place];
    for (uint32_t k = w->txn_first[txn]; k < w->txn_first[txn + 1]; k++) {
      uint32_t key = w->txn_key[k], first, end;
      bool matters = b->s->matters[key] == SOMETHING;
      b->s->matters[key] = UNKNOWN;
      if (!matters) continue;
      find_accesses(b, key, w->txn_at[k], &first, &end);
      uint32_t of = iso_value_line_class(w, key, end);
      if (is_found(w, key, end, of)) ISO_TRY(add(b, ISOPROOF_OP_READ, key, of, error));
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status add_all(writer *b, isoproof_error *error) {
  iso_value_bounds bounds = b->s->bounds;
  uint32_t sessions = b->line->e->chains;
  ISO_TRY(begin(b, sessions, error));
  ISO_TRY(iso_builder_op(b->builder, ISOPROOF_OP_WRITE, b->fence, 1, error));
  ISO_TRY(add_before(b, error));
  for (uint32_t place = bounds.low; place < bounds.high; place++) ISO_TRY(add_txn(b, place, error));
  ISO_TRY(begin(b, sessions + 1, error));
  for (uint32_t i = 0; i < bounds.high - bounds.low; i++) {
    ISO_TRY(iso_builder_op(b->builder, ISOPROOF_OP_READ, b->fence + 1 + i, 1, error));
  }
  return add_behind(b, error);
}

/* Who has which number in the excerpt. */
static isoproof_status name_txns(const writer *b, uint32_t *txns, isoproof_error *error) {
  iso_value_bounds bounds = b->s->bounds;
  uint32_t count = bounds.high - bounds.low;
  uint64_t *order = iso_alloc((size_t)count + 2, sizeof *order);
  isoproof_status status = order != NULL ? iso_builder_order(b->builder, order, error) : iso_fail_memory(error);
  if (status == ISOPROOF_OK) {
    txns[order[0]] = txns[order[count + 1]] = ISO_NO_TXN;
    for (uint32_t i = 0; i < count; i++) txns[order[i + 1]] = b->line->order[bounds.low + i];
  }
  free(order);
  return status;
}

isoproof_status iso_excerpt_make(const iso_stretch *s, isoproof_history **excerpt, uint32_t *txns,
                                 isoproof_error *error) {
  const isoproof_history *h = s->line->v->h;
  writer b = {.s = s, .line = s->line, .fence = h->keys};
  ISO_TRY(isoproof_builder_new(&b.builder, error));
  iso_builder_origin(b.builder, h->format, ISO_POSITION_NONE, h->initial_is_zero);
  isoproof_status status = add_all(&b, error);
  if (status == ISOPROOF_OK) status = name_txns(&b, txns, error);
  if (status == ISOPROOF_OK) status = isoproof_builder_finish(b.builder, excerpt, error);
  isoproof_builder_free(b.builder);
  return status;
}
