/* Writers that are visible to a reader by one step, or by a few: what a session did, what was read before. */
#include <string.h>

#include "check/strong/open/visible_steps.h"

static uint32_t session_of(const iso_watcher *w, uint32_t txn) { return w->v->h->txn_session[txn]; }

static bool takes_part(const iso_watcher *w, uint32_t txn) { return iso_menus_takes_part(&w->menus, txn); }

/* ---- by reads ---- */

static bool counts_before(const iso_watcher *w, const iso_seen_read *read, const iso_seen_read *other) {
  if (w->rule->by & ISO_BY_READ) return true;
  return other->op < read->op && other->key != read->key && !iso_history_same_statement(w->v->h, other->op, read->op);
}

/* Whoever the reader read from. */
static isoproof_status check_by_reads(iso_watcher *w, uint32_t reader, const iso_seen_read *read) {
  for (uint32_t k = w->read_first[reader]; k < w->read_first[reader + 1]; k++) {
    const iso_seen_read *other = &w->reads[k];
    if (other == read || other->from == ISO_INITIAL || !iso_watcher_is_late(w, read, reader, other->from)) continue;
    if (!counts_before(w, read, other) || !iso_view_writes(w->v, other->from, read->key)) continue;
    ISO_TRY(iso_watcher_begin_lesson(w, read, other->from));
    ISO_TRY(iso_watcher_deny(w, other));
    ISO_TRY(iso_watcher_end_lesson(w));
  }
  return ISOPROOF_OK;
}

/* ---- by sessions ---- */

/* The last one in the session of `txn`, and before it, who takes part and wrote the key; ISO_NO_TXN for none. */
static uint32_t last_writer(const iso_watcher *w, uint32_t key, uint32_t txn) {
  uint32_t group, last = txn;
  if (!iso_view_group(w->v, key, session_of(w, txn), &group)) return ISO_NO_TXN;
  do {
    last = iso_view_last_writer(w->v, group, last);
  } while (last != ISO_NO_TXN && !takes_part(w, last));
  return last;
}

/* The last writer of the key before the reader in its session. */
static isoproof_status check_by_session(iso_watcher *w, uint32_t reader, const iso_seen_read *read) {
  uint32_t last = last_writer(w, read->key, reader);
  if (last == ISO_NO_TXN || !iso_watcher_is_late(w, read, reader, last)) return ISOPROOF_OK;
  ISO_TRY(iso_watcher_begin_lesson(w, read, last));
  ISO_TRY(iso_watcher_deny_part(w, last));
  return iso_watcher_end_lesson(w);
}

/* The last writer of the key before somebody whom the reader reads from, in the session of that one. */
static isoproof_status check_by_read_session(iso_watcher *w, uint32_t reader, const iso_seen_read *read) {
  for (uint32_t k = w->read_first[reader]; k < w->read_first[reader + 1]; k++) {
    const iso_seen_read *other = &w->reads[k];
    uint32_t last = other->from != ISO_INITIAL ? last_writer(w, read->key, other->from) : ISO_NO_TXN;
    if (last == ISO_NO_TXN || !iso_watcher_is_late(w, read, reader, last)) continue;
    ISO_TRY(iso_watcher_begin_lesson(w, read, last));
    ISO_TRY(iso_watcher_deny(w, other));
    ISO_TRY(iso_watcher_deny_part(w, last));
    ISO_TRY(iso_watcher_end_lesson(w));
  }
  return ISOPROOF_OK;
}

/* ---- by what sessions read ---- */

/* Goes through who read from somebody who wrote which key; counts at first, then enters. */
static void walk_session_reads(iso_watcher *w, bool enter) {
  const iso_view *v = w->v;
  for (uint32_t txn = 0; txn < v->h->txns; txn++) {
    if (!v->counts[txn] || !takes_part(w, txn)) continue;
    for (uint32_t k = w->read_first[txn]; k < w->read_first[txn + 1]; k++) {
      uint32_t from = w->reads[k].from;
      if (from == ISO_INITIAL) continue;
      for (uint32_t i = v->write_first[from]; i < v->write_first[from + 1]; i++) {
        uint32_t *at = &w->seen_first[v->write_key[i] + 1];
        if (enter) w->seen.items[*at] = (iso_session_read){.txn = txn, .read = k};
        *at += 1;
      }
    }
  }
}

/* Of each session, whoever comes last in the sequence so far. */
static void find_best(iso_watcher *w, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++) {
    iso_session_read *one = &w->seen.items[i];
    one->best = i;
    if (i == first || session_of(w, one[-1].txn) != session_of(w, one->txn)) continue;
    uint32_t before = w->reads[w->seen.items[one[-1].best].read].from;
    if (w->s->place[before] > w->s->place[w->reads[one->read].from]) one->best = one[-1].best;
  }
}

isoproof_status iso_watcher_look(iso_watcher *w) {
  uint32_t keys = w->v->h->keys;
  if (!(w->rule->by & (ISO_BY_SESSION_READ | ISO_BY_READ_SESSION_READ))) return ISOPROOF_OK;
  memset(w->seen_first, 0, ((size_t)keys + 2) * sizeof *w->seen_first);
  walk_session_reads(w, false);
  /* Counts stand one behind their keys; then each is where the next entry of its key goes. */
  uint64_t total = 0;
  for (uint32_t key = 0; key < keys; key++) {
    uint32_t count = w->seen_first[key + 1];
    w->seen_first[key + 1] = (uint32_t)total;
    total += count;
  }
  if (total >= UINT32_MAX) return iso_fail(w->error, ISOPROOF_ERR_LIMIT, "too many writes were read");
  if (!iso_vec_reserve(&w->seen, (size_t)total)) return iso_fail_memory(w->error);
  walk_session_reads(w, true);
  for (uint32_t key = 0; key < keys; key++) find_best(w, w->seen_first[key], w->seen_first[key + 1]);
  return ISOPROOF_OK;
}

/* Whom the session of `txn`, before it, read from who wrote the key and comes last in the sequence; NULL for none. */
static const iso_seen_read *last_seen(const iso_watcher *w, uint32_t key, uint32_t txn) {
  uint32_t low = w->seen_first[key], high = w->seen_first[key + 1], first = low;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (w->seen.items[middle].txn < txn) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == first || session_of(w, w->seen.items[low - 1].txn) != session_of(w, txn)) return NULL;
  return &w->reads[w->seen.items[w->seen.items[low - 1].best].read];
}

/* What the session of the reader read before. */
static isoproof_status check_by_session_read(iso_watcher *w, uint32_t reader, const iso_seen_read *read) {
  const iso_seen_read *seen = last_seen(w, read->key, reader);
  if (seen == NULL || !iso_watcher_is_late(w, read, reader, seen->from)) return ISOPROOF_OK;
  ISO_TRY(iso_watcher_begin_lesson(w, read, seen->from));
  ISO_TRY(iso_watcher_deny(w, seen));
  return iso_watcher_end_lesson(w);
}

/* What the session of somebody whom the reader reads from had read before. */
static isoproof_status check_by_read_session_read(iso_watcher *w, uint32_t reader, const iso_seen_read *read) {
  for (uint32_t k = w->read_first[reader]; k < w->read_first[reader + 1]; k++) {
    const iso_seen_read *other = &w->reads[k];
    const iso_seen_read *seen = other->from != ISO_INITIAL ? last_seen(w, read->key, other->from) : NULL;
    if (seen == NULL || !iso_watcher_is_late(w, read, reader, seen->from)) continue;
    ISO_TRY(iso_watcher_begin_lesson(w, read, seen->from));
    ISO_TRY(iso_watcher_deny(w, other));
    ISO_TRY(iso_watcher_deny(w, seen));
    ISO_TRY(iso_watcher_end_lesson(w));
  }
  return ISOPROOF_OK;
}

/* ---- by orders of versions ---- */

static bool share_a_key(const iso_view *v, uint32_t a, uint32_t b) {
  for (uint32_t i = v->write_first[a]; i < v->write_first[a + 1]; i++) {
    if (iso_view_writes(v, b, v->write_key[i])) return true;
  }
  return false;
}

/* Whoever wrote the key, and another one that the reader wrote after it. */
static isoproof_status check_by_order(iso_watcher *w, uint32_t reader, const iso_seen_read *read) {
  const iso_view *v = w->v;
  for (uint32_t i = v->writer_first[read->key]; i < v->writer_first[read->key + 1]; i++) {
    uint32_t writer = v->writer[i];
    if (!iso_watcher_is_late(w, read, reader, writer) || w->s->place[writer] > w->s->place[reader]) continue;
    if (session_of(w, writer) == session_of(w, reader) || !takes_part(w, writer)) continue;
    if (!share_a_key(v, reader, writer)) continue;
    ISO_TRY(iso_watcher_begin_lesson(w, read, writer));
    ISO_TRY(iso_watcher_demand(w, reader, writer));
    ISO_TRY(iso_watcher_end_lesson(w));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_watcher_check(iso_watcher *w, uint32_t reader, const iso_seen_read *read) {
  unsigned by = w->rule->by;
  if (by & (ISO_BY_READ | ISO_BY_EARLIER_READ)) ISO_TRY(check_by_reads(w, reader, read));
  if (by & ISO_BY_SESSION) ISO_TRY(check_by_session(w, reader, read));
  if (by & ISO_BY_SESSION_READ) ISO_TRY(check_by_session_read(w, reader, read));
  if (by & ISO_BY_READ_SESSION) ISO_TRY(check_by_read_session(w, reader, read));
  if (by & ISO_BY_READ_SESSION_READ) ISO_TRY(check_by_read_session_read(w, reader, read));
  return by & ISO_BY_WRITE ? check_by_order(w, reader, read) : ISOPROOF_OK;
}
