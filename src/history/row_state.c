/* What rows hold while a history is carried out. */
#include "history/row_state.h"
#include "history/columns.h"

#include <stdlib.h>
#include <string.h>

/* ---- what reads say ---- */

static bool is_known_read(const iso_row_state *s, uint32_t op) {
  iso_value value = s->h->op_value[op];
  if (s->h->op_kind[op] != ISOPROOF_OP_READ || value == ISO_VALUE_NONE || iso_row_state_is_open(value)) return false;
  return s->r->writer[op] != ISO_FROM_NOBODY && (value != ISO_VALUE_NIL || s->absent[s->h->op_key[op]] < 2);
}

static bool is_open_read(const iso_row_state *s, uint32_t op) {
  iso_value value = s->h->op_value[op];
  return s->h->op_kind[op] == ISOPROOF_OP_READ && value != ISO_VALUE_NONE && !is_known_read(s, op);
}

static uint32_t *readers_of(const iso_row_state *s, uint32_t key, uint32_t write) {
  return &s->readers[write < s->h->ops ? write : s->h->ops + key];
}

static bool is_write(const iso_row_state *s, uint32_t op) { return s->h->op_kind[op] == ISOPROOF_OP_WRITE; }

/* What a transaction would see in a key now. */
static uint32_t seen(const iso_row_state *s, uint32_t txn, uint32_t key) {
  return s->own_txn[key] == txn + 1 ? s->own[key] : s->now[key];
}

static void note_own(const iso_row_state *s, uint32_t txn, uint32_t op) {
  s->own[s->h->op_key[op]] = op;
  s->own_txn[s->h->op_key[op]] = txn + 1;
}

static void forget_own(const iso_row_state *s, uint32_t txn) {
  for (uint32_t op = s->h->txn_first_op[txn]; op < s->h->txn_first_op[txn + 1]; op++) {
    if (is_write(s, op)) s->own_txn[s->h->op_key[op]] = 0;
  }
}

/* ---- fitting ---- */

static int64_t excess_now(const iso_row_state *s, uint32_t txn, const iso_statement *count) {
  iso_predicate predicate = iso_history_predicate(s->h, count);
  int64_t matching = 0;
  for (uint32_t op = count->first_op; op < count->first_op + count->op_count; op++) {
    uint32_t key = s->h->op_key[op];
    matching += iso_version_matches(s->h, &predicate, key, iso_row_state_version(s, key, seen(s, txn, key)));
  }
  return matching - count->counted;
}

int64_t iso_row_state_excess(iso_row_state *s, uint32_t txn, const iso_statement *count) {
  for (uint32_t op = s->h->txn_first_op[txn]; op < count->first_op; op++) {
    if (is_write(s, op)) note_own(s, txn, op);
  }
  int64_t excess = excess_now(s, txn, count);
  forget_own(s, txn);
  return excess;
}

static bool read_fits(const iso_row_state *s, uint32_t txn, uint32_t op) {
  const isoproof_history *h = s->h;
  uint32_t key = h->op_key[op];
  if (h->op_value[op] == ISO_VALUE_NONE) return true;
  if (h->op_value[op] == ISO_VALUE_COUNTED) {
    const iso_statement *count = iso_history_statement(h, op);
    return count->first_op != op || excess_now(s, txn, count) == 0;
  }
  if (is_known_read(s, op)) return s->r->writer[op] == seen(s, txn, key);
  return iso_history_read_fits(h, op, iso_row_state_version(s, key, seen(s, txn, key)));
}

static bool write_fits(const iso_row_state *s, uint32_t txn, uint32_t op) {
  uint32_t key = s->h->op_key[op];
  iso_row_form form = iso_history_form(s->h, op);
  if (form != ISO_ROW_INSERT && form != ISO_ROW_UPDATE && form != ISO_ROW_DELETE) return true;
  return (iso_row_state_version(s, key, seen(s, txn, key)) == ISO_VALUE_NIL) == (form == ISO_ROW_INSERT);
}

uint32_t iso_row_state_unfit(const iso_row_state *s, uint32_t txn, bool with_writes) {
  const isoproof_history *h = s->h;
  uint32_t end = h->txn_first_op[txn + 1], found = ISO_NO_OP;
  for (uint32_t op = h->txn_first_op[txn]; op < end && found == ISO_NO_OP; op++) {
    bool fits = true;
    if (is_write(s, op)) {
      fits = !with_writes || write_fits(s, txn, op);
      note_own(s, txn, op);
    } else if (h->op_kind[op] == ISOPROOF_OP_READ) {
      fits = read_fits(s, txn, op);
    }
    if (!fits) found = op;
  }
  forget_own(s, txn);
  return found;
}

bool iso_row_state_is_wished(const iso_row_state *s, const iso_row_wish *wish, uint32_t key, iso_value version) {
  if (wish->of != NULL) {
    iso_predicate predicate = iso_history_predicate(s->h, wish->of);
    return iso_version_matches(s->h, &predicate, key, version) == wish->present;
  }
  if (wish->read == ISO_NO_OP) return (version != ISO_VALUE_NIL) == wish->present;
  return iso_history_read_fits(s->h, wish->read, version);
}

/* ---- going on ---- */

bool iso_row_state_enter(iso_row_state *s, uint32_t txn) {
  const isoproof_history *h = s->h;
  bool good = true;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (is_write(s, op)) note_own(s, txn, op);
    if (!is_open_read(s, op)) continue;
    if (h->op_value[op] == ISO_VALUE_COUNTED) {
      const iso_statement *count = iso_history_statement(h, op);
      good = good && (count->first_op != op || iso_vec_push(&s->counts, count));
      continue;
    }
    if (s->own_txn[h->op_key[op]] == txn + 1) continue;
    uint32_t *chain = &s->needs[h->op_key[op]];
    s->next[op] = *chain;
    *chain = op + 1;
  }
  forget_own(s, txn);
  return good;
}

void iso_row_state_begin(iso_row_state *s, uint32_t txn) {
  const isoproof_history *h = s->h;
  bool count_fits = false;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (is_write(s, op)) note_own(s, txn, op);
    if (!is_open_read(s, op)) continue;
    bool counted = h->op_value[op] == ISO_VALUE_COUNTED;
    if (counted && iso_history_statement(h, op)->first_op == op) count_fits = read_fits(s, txn, op);
    if (counted ? count_fits : read_fits(s, txn, op)) s->r->writer[op] = seen(s, txn, h->op_key[op]);
  }
  forget_own(s, txn);
  s->stage[txn] = ISO_STAGE_BEGUN;
  s->begun_at[txn] = (uint32_t)s->events.count;
  if (!iso_vec_push(&s->events, ((iso_row_event){txn, false}))) s->out_of_memory = true;
}

void iso_row_state_finish(iso_row_state *s, uint32_t txn) {
  const isoproof_history *h = s->h;
  uint32_t session = h->txn_session[txn], *current = &s->current[session];
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (!iso_row_state_is_last_write(s, op)) continue;
    uint32_t key = h->op_key[op];
    if (!iso_vec_push(&s->before, ((iso_row_before){key, s->now[key]}))) s->out_of_memory = true;
    s->now[key] = op;
  }
  s->stage[txn] = ISO_STAGE_DONE;
  if (!iso_vec_push(&s->events, ((iso_row_event){txn, true}))) s->out_of_memory = true;
  while (*current < h->session_first_txn[session + 1] &&
         (s->stage[*current] == ISO_STAGE_OUT || s->stage[*current] == ISO_STAGE_DONE)) {
    ++*current;
  }
}

/* Has the version of a row that is still to be written be looked at again. */
static void look_again(iso_row_state *s, uint32_t txn, uint32_t key) {
  enum { MOST = 256 };
  for (uint32_t i = s->oldest[key], looked = 0; i-- > s->v->first[key] && looked < MOST; looked++) {
    if (s->v->txn[i] != txn) continue;
    s->oldest[key] = i;
    return;
  }
}

static void take_back_writes(iso_row_state *s, uint32_t txn) {
  const isoproof_history *h = s->h;
  for (uint32_t op = h->txn_first_op[txn + 1]; op-- > h->txn_first_op[txn];) {
    if (!iso_row_state_is_last_write(s, op)) continue;
    iso_row_before before = s->before.items[--s->before.count];
    s->now[before.key] = before.write;
    look_again(s, txn, before.key);
  }
  s->current[h->txn_session[txn]] = txn;
}

void iso_row_state_undo(iso_row_state *s, size_t events) {
  while (s->events.count > events && !s->out_of_memory) {
    iso_row_event last = s->events.items[--s->events.count];
    s->stage[last.txn] = last.done ? ISO_STAGE_BEGUN : ISO_STAGE_WAITS;
    if (last.done) take_back_writes(s, last.txn);
  }
}

uint32_t iso_row_state_reader(iso_row_state *s, uint32_t txn, uint32_t write) {
  uint32_t key = s->h->op_key[write], *at = readers_of(s, key, s->now[key]);
  while (*at > 0) {
    uint32_t read = *at - 1, reader = s->op_txn[read];
    if (s->stage[reader] == ISO_STAGE_WAITS && reader != txn) return reader;
    if (iso_row_state_is_past(s, reader)) {
      *at = s->next[read]; /* it has begun, and needs nothing any more */
    } else {
      at = &s->next[read];
    }
  }
  return ISO_NO_TXN;
}

/* ---- the history ---- */

/* Who takes part: who committed, and of those whose outcome is unknown, whom somebody is known to have read from. */
static void find_parts(iso_row_state *s) {
  const isoproof_history *h = s->h;
  for (uint32_t t = 0; t < h->txns; t++) {
    s->stage[t] = h->txn_status[t] == ISOPROOF_TXN_COMMITTED ? ISO_STAGE_WAITS : ISO_STAGE_OUT;
  }
  for (uint32_t op = 0; h->unknown > 0 && op < h->ops; op++) {
    uint32_t write = is_known_read(s, op) ? s->r->writer[op] : ISO_NO_OP;
    if (write < h->ops && h->txn_status[s->op_txn[write]] == ISOPROOF_TXN_UNKNOWN)
      s->stage[s->op_txn[write]] = ISO_STAGE_WAITS;
  }
}

/* The transaction of each operation, and which writes their own transactions overwrite. */
static void survey(iso_row_state *s) {
  const isoproof_history *h = s->h;
  for (uint32_t t = 0; t < h->txns; t++) {
    for (uint32_t op = h->txn_first_op[t + 1]; op-- > h->txn_first_op[t];) {
      s->op_txn[op] = t;
      if (!is_write(s, op)) continue;
      s->next[op] = s->own_txn[h->op_key[op]] == t + 1;
      note_own(s, t, op);
    }
    forget_own(s, t);
  }
}

static void prepare(iso_row_state *s) {
  const isoproof_history *h = s->h;
  survey(s);
  for (uint32_t key = 0; key < h->keys; key++) {
    s->now[key] = ISO_FROM_INITIAL;
    s->oldest[key] = s->v->first[key];
    s->absent[key] = iso_history_initial(h, key) == ISO_VALUE_NIL;
    for (uint32_t i = s->v->first[key]; i < s->v->first[key + 1] && s->absent[key] < 2; i++)
      s->absent[key] = (uint8_t)(s->absent[key] + (h->op_value[s->v->write[i]] == ISO_VALUE_NIL));
  }
  find_parts(s);
  for (uint32_t op = h->ops; op-- > 0;) {
    if (!is_known_read(s, op) || s->stage[s->op_txn[op]] == ISO_STAGE_OUT) continue;
    uint32_t *chain = readers_of(s, h->op_key[op], s->r->writer[op]);
    s->next[op] = *chain;
    *chain = op + 1;
  }
  for (uint32_t i = 0; i < h->sessions; i++) {
    s->current[i] = h->session_first_txn[i];
    while (s->current[i] < h->session_first_txn[i + 1] && s->stage[s->current[i]] == ISO_STAGE_OUT) s->current[i]++;
  }
}

isoproof_status iso_row_state_make(const isoproof_history *h, iso_resolution *resolution, iso_row_state *s,
                                   isoproof_error *error) {
  *s = (iso_row_state){.h = h, .v = resolution->rows, .r = resolution};
  s->op_txn = iso_alloc(h->ops, sizeof *s->op_txn);
  s->stage = iso_alloc(h->txns, 1);
  s->current = iso_alloc(h->sessions, sizeof *s->current);
  s->now = iso_alloc(h->keys, sizeof *s->now);
  s->oldest = iso_alloc(h->keys, sizeof *s->oldest);
  s->absent = iso_alloc(h->keys, 1);
  s->readers = iso_alloc_zero((size_t)h->ops + h->keys, sizeof *s->readers);
  s->needs = iso_alloc_zero(h->keys, sizeof *s->needs);
  s->next = iso_alloc(h->ops, sizeof *s->next);
  s->own = iso_alloc(h->keys, sizeof *s->own);
  s->own_txn = iso_alloc_zero(h->keys, sizeof *s->own_txn);
  s->begun_at = iso_alloc(h->txns, sizeof *s->begun_at);
  bool made = s->op_txn != NULL && s->stage != NULL && s->current != NULL && s->now != NULL && s->oldest != NULL &&
              s->absent != NULL && s->readers != NULL && s->needs != NULL && s->next != NULL && s->own != NULL &&
              s->own_txn != NULL && s->begun_at != NULL;
  if (made) {
    prepare(s);
    return ISOPROOF_OK;
  }
  iso_row_state_free(s);
  return iso_fail_memory(error);
}

void iso_row_state_free(iso_row_state *s) {
  free(s->op_txn);
  free(s->stage);
  free(s->current);
  free(s->now);
  free(s->oldest);
  free(s->absent);
  free(s->readers);
  free(s->needs);
  free(s->next);
  free(s->own);
  free(s->own_txn);
  free(s->begun_at);
  iso_vec_free(&s->counts);
  iso_vec_free(&s->events);
  iso_vec_free(&s->before);
}
