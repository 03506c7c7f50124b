/* Trees of versions by what their writers had read, numbered such that one comparison tells who is below whom. */
#include "check/count/chains.h"

#include <string.h>

void iso_chains_free(iso_chains *chains) {
  free(chains->number);
  free(chains->size);
  free(chains->is_forked);
  memset(chains, 0, sizeof *chains);
}

/* The place of a key among those that a transaction wrote; UINT32_MAX when it did not. */
static uint32_t find_write(const iso_view *v, uint32_t txn, uint32_t key) {
  uint32_t low = v->write_first[txn], end = v->write_first[txn + 1], high = end;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (v->write_key[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < end && v->write_key[low] == key ? low : UINT32_MAX;
}

/* For each write the one whose version its transaction read of the key; UINT32_MAX for none. */
static void find_parents(const iso_view *v, uint32_t *parent) {
  memset(parent, 0xff, v->write_first[v->h->txns] * sizeof *parent);
  for (uint32_t txn = 0; txn < v->h->txns; txn++) {
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
      uint32_t own = find_write(v, txn, v->reads[i].key);
      if (own == UINT32_MAX || v->reads[i].from == ISO_INITIAL || parent[own] != UINT32_MAX) continue;
      parent[own] = find_write(v, v->reads[i].from, v->reads[i].key);
    }
  }
}

/* A version comes after the one that it was made from in the sequence, so that one way through it is enough to add the
 * sizes up, and one back to hand the numbers out. */
static void number_trees(const iso_view *v, const iso_run_sequence *sequence, const uint32_t *parent, uint32_t *next,
                         iso_chains *out) {
  for (uint32_t i = 0; i < v->write_first[v->h->txns]; i++) out->size[i] = 1;
  for (uint32_t place = sequence->count; place-- > 0;) {
    uint32_t txn = sequence->txn[place];
    for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
      if (parent[i] != UINT32_MAX) out->size[parent[i]] += out->size[i];
    }
  }
  uint32_t root = 0;
  for (uint32_t place = 0; place < sequence->count; place++) {
    uint32_t txn = sequence->txn[place];
    for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
      uint32_t *from = parent[i] != UINT32_MAX ? &next[parent[i]] : &root;
      out->number[i] = *from;
      *from += out->size[i];
      next[i] = out->number[i] + 1;
    }
  }
}

/* One chain has one version that was made from none, and every other one is all that was made from the one before. */
static bool find_forks(const iso_view *v, const uint32_t *parent, iso_chains *out) {
  uint8_t *has_root = iso_alloc_zero(v->h->keys, 1);
  for (uint32_t i = 0; has_root != NULL && i < v->write_first[v->h->txns]; i++) {
    uint32_t key = v->write_key[i];
    bool root = parent[i] == UINT32_MAX;
    if (root ? has_root[key] : out->size[parent[i]] != out->size[i] + 1) out->is_forked[key] = 1;
    if (root) has_root[key] = 1;
  }
  free(has_root);
  return has_root != NULL;
}

isoproof_status iso_chains_make(const iso_view *view, const iso_run_sequence *sequence, iso_chains *out,
                                isoproof_error *error) {
  uint32_t writes = view->write_first[view->h->txns];
  uint32_t *parent = iso_alloc(writes, sizeof *parent), *next = iso_alloc(writes, sizeof *next);
  *out = (iso_chains){iso_alloc(writes, sizeof *out->number), iso_alloc(writes, sizeof *out->size),
                      iso_alloc_zero(view->h->keys, 1)};
  bool made = parent != NULL && next != NULL && out->number != NULL && out->size != NULL && out->is_forked != NULL;
  if (made) {
    find_parents(view, parent);
    number_trees(view, sequence, parent, next, out);
    made = find_forks(view, parent, out);
  }
  if (!made) iso_chains_free(out);
  free(parent);
  free(next);
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}

bool iso_chains_before(const iso_view *view, const iso_chains *chains, uint32_t key, uint32_t earlier, uint32_t later) {
  if (chains->number == NULL || earlier == later) return false;
  uint32_t a = find_write(view, earlier, key), b = find_write(view, later, key);
  if (a == UINT32_MAX || b == UINT32_MAX || chains->number[b] < chains->number[a]) return false;
  return chains->number[b] - chains->number[a] < chains->size[a];
}
