/* The rules about visibility: whoever reads a version of a key must not have anybody in sight who wrote a later one.
 * What is in sight differs from rule to rule. */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "verify/observed.h"
#include "verify/rows.h"

typedef struct {
  iso_observed c;
  const iso_placed *p;
  const isoproof_history *h;

  /* What is directly in sight. */
  uint32_t *met;  /* by transaction: the last reader (+ 1) for whom it was looked at */
  uint32_t *head; /* by key: the last read of it, + 1, of the reader in head_txn (+ 1) */
  uint32_t *head_txn;
  uint32_t *next; /* beside c.saw: the read of the same key before it, + 1 */
  uint32_t *last; /* by key: the last version (+ 1) that the session in last_session (+ 1) wrote */
  uint32_t *last_session;

  /* What is in sight by paths: for some sessions at a time, how many of their transactions reach each transaction. */
  uint32_t *clock;
  uint32_t first_session, width;
  uint32_t *by_session; /* beside c.version_txn: the versions of each key by the number of their transactions */
} sight;

static void sight_free(sight *s) {
  free(s->met);
  free(s->head);
  free(s->head_txn);
  free(s->next);
  free(s->last);
  free(s->last_session);
  free(s->clock);
  free(s->by_session);
  iso_observed_free(&s->c);
}

static isoproof_status blind(const sight *s, uint32_t txn, isoproof_error *error) {
  return iso_refuse(s->p, txn, "reads a version although a later one is in sight", error);
}

/* ---- one edge ---- */

/* Whether the reader is judged by one edge, and whether by paths. */
static bool is_direct(const sight *s, uint32_t reader) {
  iso_txn_isolation own = iso_history_isolation(s->h, reader);
  return !s->p->claim->rule->own_levels || own == ISO_ISOLATION_READ_COMMITTED || own == ISO_ISOLATION_READ_ATOMIC;
}

static bool is_by_paths(const sight *s, uint32_t reader) {
  return !s->p->claim->rule->own_levels || iso_history_isolation(s->h, reader) == ISO_ISOLATION_CAUSAL;
}

/* Read committed asks only for those whom the reader met before by another key; the others, for everybody. */
static bool asks_only_met(const sight *s, uint32_t reader) {
  if (!s->p->claim->rule->own_levels) return s->p->claim->rule->only_met_before;
  return iso_history_isolation(s->h, reader) == ISO_ISOLATION_READ_COMMITTED;
}

static bool counts_for(const sight *s, uint32_t source, uint32_t first, uint32_t read) {
  if (!asks_only_met(s, iso_history_txn_of(s->h, s->c.saw[read].op))) return true;
  for (uint32_t i = first; i < read; i++) {
    if (s->c.saw[i].from != source || s->c.saw[i].key == s->c.saw[read].key) continue;
    if (iso_verify_in_order(s->h, s->c.saw[i].op, s->c.saw[read].op)) return true;
  }
  return false;
}

/* Whether a read of the key that `wrote` speaks of is at odds with it. */
static bool is_missed(const sight *s, const iso_observed_write *wrote, uint32_t source, uint32_t first, uint32_t read) {
  return wrote->version >= s->c.saw[read].version && counts_for(s, source, first, read);
}

/* One that the reader reads from, first with read number `first`: has it written a later version of anything else that
 * the reader reads?  The shorter of the two lists is gone through. */
static bool misses_source(const sight *s, uint32_t reader, uint32_t source, uint32_t first) {
  const iso_observed *c = &s->c;
  uint32_t reads = c->saw_first[reader + 1] - c->saw_first[reader];
  if (c->wrote_first[source + 1] - c->wrote_first[source] > reads) {
    for (uint32_t i = c->saw_first[reader]; i < c->saw_first[reader + 1]; i++) {
      const iso_observed_write *wrote = iso_observed_wrote(c, source, c->saw[i].key);
      if (wrote != NULL && is_missed(s, wrote, source, first, i)) return true;
    }
    return false;
  }
  for (uint32_t k = c->wrote_first[source]; k < c->wrote_first[source + 1]; k++) {
    uint32_t key = c->wrote[k].key, i = s->head_txn[key] == reader + 1 ? s->head[key] : 0;
    for (; i > 0; i = s->next[i - 1]) {
      if (is_missed(s, &c->wrote[k], source, first, i - 1)) return true;
    }
  }
  return false;
}

static isoproof_status check_direct(sight *s, uint32_t reader, isoproof_error *error) {
  const iso_observed *c = &s->c;
  bool by_session = !asks_only_met(s, reader), direct = is_direct(s, reader);
  uint32_t session = s->h->txn_session[reader], first = c->saw_first[reader], end = c->saw_first[reader + 1];
  for (uint32_t i = first; direct && i < end; i++) {
    uint32_t key = c->saw[i].key;
    if (by_session && s->last_session[key] == session + 1 && s->last[key] > c->saw[i].version) {
      return blind(s, reader, error);
    }
    s->next[i] = s->head_txn[key] == reader + 1 ? s->head[key] : 0;
    s->head_txn[key] = reader + 1;
    s->head[key] = i + 1;
  }
  for (uint32_t i = first; direct && i < end; i++) {
    uint32_t source = c->saw[i].from;
    if (source == ISO_NO_OP || s->met[source] == reader + 1) continue;
    s->met[source] = reader + 1;
    if (misses_source(s, reader, source, i)) return blind(s, reader, error);
  }
  for (uint32_t k = c->wrote_first[reader]; k < c->wrote_first[reader + 1]; k++) {
    s->last_session[c->wrote[k].key] = session + 1;
    s->last[c->wrote[k].key] = c->wrote[k].version + 1;
  }
  return ISOPROOF_OK;
}

static bool write_one_key(const iso_observed *c, uint32_t a, uint32_t b) {
  uint32_t i = c->wrote_first[a], k = c->wrote_first[b];
  while (i < c->wrote_first[a + 1] && k < c->wrote_first[b + 1]) {
    if (c->wrote[i].key == c->wrote[k].key) return true;
    if (c->wrote[i].key < c->wrote[k].key) {
      i++;
    } else {
      k++;
    }
  }
  return false;
}

/* The end of the versions of a key that stand before the transaction in the order. */
static uint32_t versions_before(const sight *s, uint32_t key, uint32_t txn) {
  uint32_t low = s->c.version_first[key], high = s->c.version_first[key + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (s->p->commit[s->c.version_txn[middle]] < s->p->commit[txn]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Somebody who wrote a later version, and stands before the reader, with a key that both wrote. */
static isoproof_status check_overwriting(const sight *s, uint32_t reader, isoproof_error *error) {
  const iso_observed *c = &s->c;
  if (c->wrote_first[reader] == c->wrote_first[reader + 1]) return ISOPROOF_OK;
  for (uint32_t i = c->saw_first[reader]; i < c->saw_first[reader + 1]; i++) {
    uint32_t key = c->saw[i].key, end = versions_before(s, key, reader);
    for (uint32_t v = c->version_first[key] + c->saw[i].version; v < end; v++) {
      if (write_one_key(c, c->version_txn[v], reader)) return blind(s, reader, error);
    }
  }
  return iso_task_check(s->p->task, error);
}

static isoproof_status check_edges(sight *s, isoproof_error *error) {
  enum { STEPS = 8192 };
  size_t keys = s->h->keys;
  s->met = iso_alloc_zero(s->h->txns, sizeof *s->met);
  s->head = iso_alloc(keys, sizeof *s->head);
  s->head_txn = iso_alloc_zero(keys, sizeof *s->head_txn);
  s->next = iso_alloc(s->c.saw_first[s->h->txns], sizeof *s->next);
  s->last = iso_alloc(keys, sizeof *s->last);
  s->last_session = iso_alloc_zero(keys, sizeof *s->last_session);
  bool made = s->met != NULL && s->head != NULL && s->head_txn != NULL && s->next != NULL && s->last != NULL &&
              s->last_session != NULL;
  if (!made) return iso_fail_memory(error);
  /* By number, and so session by session. */
  for (uint32_t txn = 0; txn < s->h->txns; txn++) {
    if (!s->p->counts[txn]) continue;
    ISO_TRY(check_direct(s, txn, error));
    if (s->p->claim->rule->overwriting) ISO_TRY(check_overwriting(s, txn, error));
    if (txn % STEPS == 0) ISO_TRY(iso_task_check(s->p->task, error));
  }
  return ISOPROOF_OK;
}

/* ---- paths ---- */

static uint32_t *clock_of(const sight *s, uint32_t txn) { return s->clock + (size_t)txn * s->width; }

static void follow(const sight *s, uint32_t *clock, uint32_t before) {
  const uint32_t *other = clock_of(s, before);
  for (uint32_t i = 0; i < s->width; i++) {
    if (other[i] > clock[i]) clock[i] = other[i];
  }
}

/* Whether `from` (another one) comes before `to`, as far as the sessions at hand tell. */
static bool reaches(const sight *s, uint32_t from, uint32_t to) {
  uint32_t session = s->h->txn_session[from], column = session - s->first_session;
  return from != to && column < s->width && clock_of(s, to)[column] > from - s->h->session_first_txn[session];
}

/* Everything that an edge comes from stands earlier in the order, and so has its clock. */
static void tick(const sight *s, uint32_t txn, const uint32_t *previous) {
  const iso_observed *c = &s->c;
  uint32_t *clock = clock_of(s, txn), session = s->h->txn_session[txn];
  memset(clock, 0, s->width * sizeof *clock);
  if (previous[session] > 0) follow(s, clock, previous[session] - 1);
  for (uint32_t i = c->saw_first[txn]; i < c->saw_first[txn + 1]; i++) {
    if (c->saw[i].from != ISO_NO_OP) follow(s, clock, c->saw[i].from);
  }
  for (uint32_t k = c->wrote_first[txn]; s->p->claim->rule->overwriting && k < c->wrote_first[txn + 1]; k++) {
    uint32_t version = c->wrote[k].version;
    if (version > 0) follow(s, clock, c->version_txn[c->version_first[c->wrote[k].key] + version - 1]);
  }
  uint32_t column = session - s->first_session;
  if (column < s->width) clock[column] = txn - s->h->session_first_txn[session] + 1;
}

/* Whether a version of the key from place `from` on that a session wrote reaches the reader: if any does, its first. */
static bool session_reaches(const sight *s, uint32_t key, uint32_t from, uint32_t session, uint32_t reader) {
  const iso_observed *c = &s->c;
  uint32_t first = c->version_first[key], low = first, high = c->version_first[key + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2, place = s->by_session[middle], txn = c->version_txn[place];
    bool earlier = s->h->txn_session[txn] < session || (s->h->txn_session[txn] == session && place < from);
    if (earlier) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == c->version_first[key + 1]) return false;
  uint32_t txn = c->version_txn[s->by_session[low]];
  return s->h->txn_session[txn] == session && reaches(s, txn, reader);
}

static isoproof_status check_paths_to(const sight *s, uint32_t reader, isoproof_error *error) {
  const iso_observed *c = &s->c;
  for (uint32_t i = c->saw_first[reader]; i < c->saw_first[reader + 1]; i++) {
    uint32_t key = c->saw[i].key, from = c->version_first[key] + c->saw[i].version,
             end = versions_before(s, key, reader);
    if (end <= from) continue;
    if (end - from <= s->width) {
      for (uint32_t v = from; v < end; v++) {
        if (reaches(s, c->version_txn[v], reader)) return blind(s, reader, error);
      }
      continue;
    }
    for (uint32_t session = s->first_session; session < s->first_session + s->width; session++) {
      if (session_reaches(s, key, from, session, reader)) return blind(s, reader, error);
    }
  }
  return ISOPROOF_OK;
}

/* Sorts the versions of each key by the number of their transactions, that is by session and, as sessions are kept,
 * then by place. */
static bool sort_by_session(sight *s) {
  const iso_observed *c = &s->c;
  uint32_t *at = iso_alloc(s->h->keys, sizeof *at);
  s->by_session = iso_alloc(c->version_first[s->h->keys], sizeof *s->by_session);
  if (at != NULL && s->by_session != NULL) {
    for (uint32_t key = 0; key < s->h->keys; key++) at[key] = c->version_first[key];
    for (uint32_t txn = 0; txn < s->h->txns; txn++) {
      for (uint32_t k = c->wrote_first[txn]; k < c->wrote_first[txn + 1]; k++) {
        uint32_t key = c->wrote[k].key;
        s->by_session[at[key]++] = c->version_first[key] + c->wrote[k].version;
      }
    }
  }
  free(at);
  return at != NULL && s->by_session != NULL;
}

static isoproof_status check_block(const sight *s, uint32_t *previous, isoproof_error *error) {
  enum { STEPS = 4096 };
  memset(previous, 0, s->h->sessions * sizeof *previous);
  for (size_t i = 0; i < s->p->claim->count; i++) {
    uint32_t txn = (uint32_t)s->p->claim->events[i].txn;
    if (s->p->claim->events[i].kind == ISOPROOF_EVENT_BEGIN) continue;
    tick(s, txn, previous);
    previous[s->h->txn_session[txn]] = txn + 1;
    if (is_by_paths(s, txn)) ISO_TRY(check_paths_to(s, txn, error));
    if (i % STEPS == 0) ISO_TRY(iso_task_check(s->p->task, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status check_paths(sight *s, isoproof_error *error) {
  enum { MOST_ENTRIES = 64 << 20, FEWEST = 16 };
  uint32_t sessions = s->h->sessions;
  uint64_t width = s->h->txns > 0 ? MOST_ENTRIES / s->h->txns : sessions;
  if (width < FEWEST) width = FEWEST;
  if (width > sessions) width = sessions;
  s->clock = iso_alloc((size_t)s->h->txns * (size_t)width, sizeof *s->clock);
  uint32_t *previous = iso_alloc(sessions, sizeof *previous);
  isoproof_status status =
      s->clock != NULL && previous != NULL && sort_by_session(s) ? ISOPROOF_OK : iso_fail_memory(error);
  for (uint32_t first = 0; status == ISOPROOF_OK && first < sessions; first += (uint32_t)width) {
    s->first_session = first;
    s->width = sessions - first < width ? sessions - first : (uint32_t)width;
    status = check_block(s, previous, error);
  }
  free(previous);
  return status;
}

isoproof_status iso_verify_visibility(const iso_placed *placed, isoproof_error *error) {
  sight s = {.p = placed, .h = placed->h};
  ISO_TRY(iso_observed_make(placed, &s.c, error));
  isoproof_status status = placed->claim->rule->paths ? check_paths(&s, error) : check_edges(&s, error);
  sight_free(&s);
  return status;
}

isoproof_status iso_verify_own_levels(const iso_placed *placed, isoproof_error *error) {
  const isoproof_history *h = placed->h;
  bool paths = false;
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    iso_txn_isolation own = iso_history_isolation(h, txn);
    if (placed->counts[txn] && own == ISO_ISOLATION_NONE)
      return iso_refuse(placed, txn, "has no level of its own", error);
    paths = paths || (placed->counts[txn] && own == ISO_ISOLATION_CAUSAL);
  }
  ISO_TRY(iso_verify_execution(placed, error));
  sight s = {.p = placed, .h = h};
  ISO_TRY(iso_observed_make(placed, &s.c, error));
  isoproof_status status = check_edges(&s, error);
  if (status == ISOPROOF_OK && paths) status = check_paths(&s, error);
  sight_free(&s);
  return status;
}
