/* Versions of one key as blocks, blocks in chains, and chains in an order that the sessions allow. */
#include "check/order/one_key.h"

#include <stdlib.h>
#include <string.h>

/* Block 0 is that of the initial version, block t + 1 that of what transaction t wrote. */
typedef struct {
  const iso_event_graph *e;
  const iso_view *v;
  uint32_t blocks;
  uint32_t *block;    /* by transaction */
  uint32_t *next;     /* by block: the one that has to come right behind it, or 0 */
  uint32_t *head;     /* by block: the first one of its chain */
  uint32_t *turn;     /* by block: its number in its chain */
  uint32_t *waits;    /* by first block of a chain: how many steps of sessions lead to it */
  uint32_t *step_to;  /* steps out of a chain, in lists: the chain that each leads to */
  uint32_t *step_on;  /* the next step of the list, or 0 */
  uint32_t *steps_of; /* by first block: its list, or 0 */
  uint32_t *queue;    /* first blocks in their order */
  int64_t *first;     /* by block: the place of its first transaction */
} chains;

static bool allocate(chains *c) {
  uint32_t txns = c->v->h->txns;
  c->blocks = txns + 1;
  uint32_t **arrays[] = {&c->block,   &c->next,    &c->head,     &c->turn, &c->waits,
                         &c->step_to, &c->step_on, &c->steps_of, &c->queue};
  bool made = true;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    *arrays[i] = iso_alloc_zero(c->blocks, sizeof **arrays[i]);
    made = made && *arrays[i] != NULL;
  }
  c->first = iso_alloc_zero((size_t)c->blocks + 1, sizeof *c->first);
  return made && c->first != NULL;
}

static void chains_free(chains *c) {
  free(c->block);
  free(c->next);
  free(c->head);
  free(c->turn);
  free(c->waits);
  free(c->step_to);
  free(c->step_on);
  free(c->steps_of);
  free(c->queue);
  free(c->first);
}

static bool writes(const chains *c, uint32_t txn) { return c->v->write_first[txn] < c->v->write_first[txn + 1]; }

/* The transaction before it in its session, of those that take part. */
static uint32_t previous(const chains *c, uint32_t txn) {
  const iso_event_graph *e = c->e;
  while (txn-- > 0 && e->chain_of[txn] == e->chain_of[txn + 1]) {
    if (c->v->counts[txn]) return txn;
  }
  return ISO_NO_TXN;
}

/* The blocks of all transactions; false where two versions were read at once, or one was overwritten twice. */
static bool find_blocks(chains *c) {
  const iso_view *v = c->v;
  for (uint32_t txn = 0; txn < v->h->txns; txn++) {
    if (!v->counts[txn]) continue;
    uint32_t before = previous(c, txn), seen = UINT32_MAX;
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
      uint32_t from = v->reads[i].from == ISO_INITIAL ? 0 : v->reads[i].from + 1;
      if (seen != UINT32_MAX && seen != from) return false;
      seen = from;
    }
    c->block[txn] = writes(c, txn) ? txn + 1 : seen;
    /* Who does nothing stays with the one before it. */
    if (c->block[txn] == UINT32_MAX) c->block[txn] = before != ISO_NO_TXN ? c->block[before] : 0;
    if (!writes(c, txn) || seen == UINT32_MAX) continue;
    if (c->next[seen] != 0) return false;
    c->next[seen] = txn + 1;
  }
  return true;
}

/* The chains; false where one has no beginning. */
static bool find_chains(chains *c) {
  const iso_view *v = c->v;
  uint32_t reached = 1, wanted = 1;
  memset(c->head, 0xff, c->blocks * sizeof *c->head);
  for (uint32_t txn = 0; txn < v->h->txns; txn++) wanted += v->counts[txn] && writes(c, txn);
  for (uint32_t block = 0; block < c->blocks; block++) {
    bool blind =
        block > 0 && v->counts[block - 1] && writes(c, block - 1) && v->read_first[block - 1] == v->read_first[block];
    if (block > 0 && !blind) continue;
    c->head[block] = block;
    for (uint32_t last = block, one = c->next[block]; one != 0; last = one, one = c->next[one]) {
      c->head[one] = block;
      c->turn[one] = c->turn[last] + 1;
      reached++;
    }
    reached += blind;
  }
  return reached == wanted;
}

/* What sessions say about the order of chains; false where they contradict the order in one of them. */
static bool find_steps(chains *c) {
  for (uint32_t txn = 0, count = 0; txn < c->v->h->txns; txn++) {
    uint32_t before = c->v->counts[txn] ? previous(c, txn) : ISO_NO_TXN;
    if (before == ISO_NO_TXN) continue;
    uint32_t from = c->block[before], to = c->block[txn], head = c->head[from];
    if (head == c->head[to]) {
      if (c->turn[from] > c->turn[to]) return false;
      continue;
    }
    c->step_to[++count] = c->head[to];
    c->step_on[count] = c->steps_of[head];
    c->steps_of[head] = count;
    c->waits[c->head[to]]++;
  }
  return c->waits[0] == 0;
}

/* Sorts the chains, the one of the initial version first; gives each block the places of its transactions. */
static void sort_chains(chains *c) {
  uint32_t count = 0;
  int64_t place = 0;
  for (uint32_t block = 0; block < c->blocks; block++) {
    if (c->head[block] == block && c->waits[block] == 0) c->queue[count++] = block;
  }
  for (uint32_t txn = 0; txn < c->v->h->txns; txn++) c->first[c->block[txn]] += c->v->counts[txn];
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t step = c->steps_of[c->queue[i]]; step != 0; step = c->step_on[step]) {
      if (--c->waits[c->step_to[step]] == 0) c->queue[count++] = c->step_to[step];
    }
    uint32_t block = c->queue[i];
    do {
      int64_t size = c->first[block];
      c->first[block] = place;
      place += size;
      block = c->next[block];
    } while (block != 0);
  }
}

/* A writer comes before its readers, and these by their numbers, which ascend in every session. */
static void place_all(chains *c, int64_t *when) {
  for (int readers = 0; readers < 2; readers++) {
    for (uint32_t txn = 0; txn < c->v->h->txns; txn++) {
      if (!c->v->counts[txn] || (c->block[txn] == txn + 1) == readers) continue;
      int64_t place = c->first[c->block[txn]]++;
      when[iso_event_begin(c->e, txn)] = 2 * place;
      when[iso_event_commit(c->e, txn)] = 2 * place + c->e->split;
    }
  }
}

isoproof_status iso_one_key_order(const iso_event_graph *events, int64_t **when, isoproof_error *error) {
  chains c = {.e = events, .v = events->view};
  *when = NULL;
  if (c.v->h->keys != 1 || c.v->h->txns >= UINT32_MAX - 1) return ISOPROOF_OK;
  bool made = allocate(&c);
  if (made && find_blocks(&c) && find_chains(&c) && find_steps(&c)) {
    sort_chains(&c);
    *when = iso_alloc_zero(events->count, sizeof **when);
    made = *when != NULL;
    if (made) place_all(&c, *when);
  }
  chains_free(&c);
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}
