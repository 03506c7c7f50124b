/* Predicates that ask the same, and two bits for each of them and each version. */
#include "check/strong/open/matches.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "history/columns.h"
#include "history/row_versions.h"

enum { WORD = 64 };
#define MOST_BITS (UINT64_C(1) << 29)

void iso_matches_free(iso_matches *m) {
  free(m->class_of);
  free(m->known);
  free(m->matching);
  memset(m, 0, sizeof *m);
}

/* ---- classes ---- */

/* A statement and what it asks. */
typedef struct {
  const isoproof_history *h;
  iso_predicate asks;
  uint32_t statement;
} asking;

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int by_where(const asking *x, const asking *y) {
  int order = compare(x->asks.where_count, y->asks.where_count);
  for (uint32_t i = 0; order == 0 && i < x->asks.where_count; i++) {
    const iso_condition *a = &x->h->conditions[x->asks.first_where + i];
    const iso_condition *b = &y->h->conditions[y->asks.first_where + i];
    order = compare(a->column, b->column);
    if (order == 0) order = compare(a->operand, b->operand);
    if (order == 0) order = compare(a->comparison, b->comparison);
    if (order == 0) order = compare(a->or_next, b->or_next);
  }
  return order;
}

/* By everything that they ask for. */
static int by_question(const void *a, const void *b) {
  const asking *x = a, *y = b;
  const iso_predicate *p = &x->asks, *q = &y->asks;
  const int64_t left[] = {p->of_keys,   p->of_values,  p->of_rest, p->key_low, p->key_high,
                          p->value_low, p->value_high, p->divisor, p->rest};
  const int64_t right[] = {q->of_keys,   q->of_values,  q->of_rest, q->key_low, q->key_high,
                           q->value_low, q->value_high, q->divisor, q->rest};
  for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
    if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
  }
  return by_where(x, y);
}

static bool find_classes(iso_matches *m, uint32_t *classes) {
  const isoproof_history *h = m->h;
  uint32_t count = (uint32_t)h->statement_count;
  asking *all = iso_alloc(count, sizeof *all);
  m->class_of = iso_alloc(count, sizeof *m->class_of);
  bool made = all != NULL && m->class_of != NULL;
  for (uint32_t i = 0; made && i < count; i++) {
    all[i] = (asking){.h = h, .asks = iso_history_predicate(h, &h->statements[i]), .statement = i};
  }
  if (made) qsort(all, count, sizeof *all, by_question);
  *classes = 0;
  for (uint32_t i = 0; made && i < count; i++) {
    if (i == 0 || by_question(&all[i - 1], &all[i]) != 0) *classes += 1;
    m->class_of[all[i].statement] = *classes - 1;
  }
  free(all);
  return made;
}

isoproof_status iso_matches_make(const isoproof_history *history, uint32_t written, iso_matches *m,
                                 isoproof_error *error) {
  uint32_t classes;
  memset(m, 0, sizeof *m);
  m->h = history;
  if (history->statement_count == 0 || history->keys > UINT32_MAX - written) return ISOPROOF_OK;
  m->versions = written + history->keys;
  if (!find_classes(m, &classes)) return iso_fail_memory(error);
  uint64_t bits = (uint64_t)classes * m->versions;
  if (bits > MOST_BITS) return ISOPROOF_OK;
  m->known = iso_alloc_zero((size_t)(bits / WORD + 1), sizeof *m->known);
  m->matching = iso_alloc_zero((size_t)(bits / WORD + 1), sizeof *m->matching);
  return m->known != NULL && m->matching != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

/* ---- answers ---- */

static bool look_up(const iso_matches *m, const iso_statement *statement, uint32_t key, iso_value value) {
  iso_predicate predicate = iso_history_predicate(m->h, statement);
  return iso_version_matches(m->h, &predicate, key, value);
}

bool iso_matches_version(const iso_matches *m, const iso_statement *statement, uint32_t key, uint32_t version,
                         iso_value value) {
  if (m->known == NULL) return look_up(m, statement, key, value);
  uint64_t row = m->class_of[statement - m->h->statements];
  uint64_t at = row * m->versions + (version > 0 ? version - 1 : m->versions - m->h->keys + key);
  uint64_t bit = UINT64_C(1) << at % WORD;
  if ((m->known[at / WORD] & bit) == 0) {
    m->known[at / WORD] |= bit;
    if (look_up(m, statement, key, value)) m->matching[at / WORD] |= bit;
  }
  return (m->matching[at / WORD] & bit) != 0;
}
