/* What a session did to a key, and what it sees of the key later: edges between the two versions. */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "check/quick/state.h"

typedef struct {
  iso_quick *q;
  iso_quick_share *share;
  /* By key: the version that the session at hand wrote last, for causal also saw last, as a transaction + 1.  What is
   * not above known_from is of a session before. */
  uint32_t *known, known_from;
  uint32_t txn;          /* that is judged */
  iso_quick_pages pages; /* that were read */
} judge;

/* The version of a key that the session wrote last must come before any other that is read of it; for causal also what
 * it saw last. */
static inline void judge_read(judge *j, uint32_t *known, uint32_t version) {
  const iso_quick *q = j->q;
  bool causal = q->axiom == ISO_AXIOM_CAUSAL, initial = version == ISO_QUICK_INITIAL;
  uint32_t last = *known, from = initial ? ISO_INITIAL : causal ? iso_quick_unpack(q, version) : version;
  if (causal && !initial) *known = from + 1;
  if (last <= j->known_from || last == from + 1) return;
  if (initial) {
    iso_quick_accuse(j->q, (iso_quick_blame){j->txn, last - 1, ISO_NO_TXN, 0});
  } else if (!iso_quick_has_seen(q, last - 1, from)) {
    iso_quick_add_edge(j->q, j->share, last - 1, from);
  }
}

static void judge_txn(judge *j, uint32_t txn) {
  const isoproof_history *h = j->q->h;
  const uint32_t *versions = j->q->versions;
  uint32_t first = h->txn_first_op[txn], end = h->txn_first_op[txn + 1];
  for (uint32_t op = first; op < end; op++) {
    if (versions[op] < ISO_QUICK_OTHER) judge_read(j, &j->known[h->op_key[op]], versions[op]);
  }
  for (uint32_t op = first; op < end; op++) {
    uint32_t *known = &j->known[h->op_key[op]];
    *known = versions[op] == ISO_QUICK_WRITE ? txn + 1 : *known;
  }
}

/* The same with what the table had for each read, whose number among all is *read.  Only a read of a transaction's own
 * write names itself. */
static void judge_entries(judge *j, uint32_t txn, uint32_t *read) {
  const isoproof_history *h = j->q->h;
  uint32_t first = h->txn_first_op[txn], end = h->txn_first_op[txn + 1];
  bool counts = h->txn_status[txn] == ISOPROOF_TXN_COMMITTED;
  for (uint32_t op = first; op < end; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_READ) continue;
    uint32_t from = (j->q->entries[(*read)++] & ~ISO_QUICK_SUSPECT) - 1;
    bool initial = h->op_value[op] == ISO_VALUE_NIL;
    if (counts && (initial || from != txn)) judge_read(j, &j->known[h->op_key[op]], initial ? ISO_QUICK_INITIAL : from);
  }
  for (uint32_t op = first; counts && op < end; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE) j->known[h->op_key[op]] = txn + 1;
  }
}

/* Transactions [txn, end) of a session. */
static void judge_session(judge *j, uint32_t session, uint32_t txn, uint32_t end) {
  const isoproof_history *h = j->q->h;
  uint32_t read = j->q->entries != NULL ? j->q->first_read[session] : 0;
  for (; txn < end; txn++) {
    j->txn = txn;
    if (j->q->entries == NULL) {
      judge_txn(j, txn);
      continue;
    }
    iso_quick_touch(&j->pages, h->txn_first_op[txn + 1] - h->txn_first_op[txn], 1);
    judge_entries(j, txn, &read);
  }
}

static void judge_share(void *context, unsigned thread, unsigned threads) {
  (void)threads;
  iso_quick *q = context;
  iso_quick_share *share = &q->shares[thread];
  const uint32_t *first = q->h->session_first_txn;
  judge j = {.q = q, .share = share, .known = iso_alloc_zero(q->h->keys, sizeof *j.known)};
  j.pages = iso_quick_pages_of(q->h, q->window);
  if (j.known == NULL) {
    iso_quick_fail(q);
    return;
  }
  for (uint32_t s = share->first_session; s < share->end_session && !iso_quick_is_over(q); s++) {
    if (iso_task_check(q->task, NULL) != ISOPROOF_OK) break;
    /* What was seen may be of any session: then everything is forgotten; there are few sessions. */
    j.known_from = q->axiom == ISO_AXIOM_CAUSAL ? 0 : first[s];
    if (q->axiom == ISO_AXIOM_CAUSAL) memset(j.known, 0, q->h->keys * sizeof *j.known);
    judge_session(&j, s, first[s], first[s + 1]);
  }
  free(j.known);
}

bool iso_quick_judge_sessions(iso_quick *q) {
  iso_parallel(q->threads, judge_share, q);
  return !q->failed;
}
