/* Lost updates told: who read which version and wrote what, and who missed whom. */
#include "elle/evidence.h"
#include "elle/teller.h"

/* What a transaction made of the version that it read: of a list its first append after that, of a register the write
 * that remained. */
static uint32_t write_after(const isoproof_history *h, uint32_t read) {
  uint32_t end = h->txn_first_op[iso_history_txn_of(h, read) + 1], found = ISO_NO_OP;
  for (uint32_t op = read + 1; op < end; op++) {
    if (h->op_key[op] != h->op_key[read]) continue;
    if (h->op_kind[op] == ISOPROOF_OP_APPEND) return op;
    if (h->op_kind[op] == ISOPROOF_OP_WRITE) found = op;
  }
  return found;
}

static bool is_known_before(const iso_evidence *e, uint32_t a, uint32_t b) {
  if (e->has_lists) return e->lists.place[a] != 0 && (e->lists.place[b] == 0 || e->lists.place[a] < e->lists.place[b]);
  return e->has_registers && iso_registers_before(&e->registers, a, b);
}

static void draw(iso_teller *t, iso_edge_kind kind, uint32_t from, uint32_t to) {
  isoproof_edge edge = {.kind = iso_edge_name(kind),
                        .from_txn = iso_history_txn_of(t->h, from),
                        .to_txn = iso_history_txn_of(t->h, to),
                        .from_op = from,
                        .to_op = to,
                        .has_key = true,
                        .key = iso_history_scalar(t->h, t->h->key_name[t->h->op_key[from]])};
  if (!iso_vec_push(&t->edges, edge)) t->failed = true;
}

static void say_update(iso_teller *t, uint32_t read, uint32_t write) {
  iso_teller_say_txn(t, iso_history_txn_of(t->h, read));
  iso_words_add(&t->words, " did ");
  iso_teller_say_op(t, read);
  iso_words_add(&t->words, " and then ");
  iso_teller_say_op(t, write);
  iso_teller_name_op(t, read);
  iso_teller_name_op(t, write);
}

/* Either missed what the other one did: had a write come before the version that its own transaction read, that
 * transaction would have read from its future.  Where it is known which write came first, the other one overwrote it.
 */
bool iso_teller_tell_lost_update(iso_teller *t, const iso_noncycle_anomaly *c) {
  const iso_evidence *e = t->e->evidence;
  uint32_t first = c->op, second = c->other;
  uint32_t first_write = write_after(t->h, first), second_write = write_after(t->h, second);
  if (first_write == ISO_NO_OP || second_write == ISO_NO_OP) return false;
  if (is_known_before(e, second_write, first_write)) {
    uint32_t read = first, write = first_write;
    first = second, first_write = second_write;
    second = read, second_write = write;
  }
  bool known = is_known_before(e, first_write, second_write);
  say_update(t, first, first_write);
  iso_words_add(&t->words, "; ");
  say_update(t, second, second_write);
  iso_words_add(&t->words, ": both saw one version of the key, and both changed it");
  if (known) {
    iso_words_add(&t->words, "; ");
    iso_teller_say_txn(t, iso_history_txn_of(t->h, second));
    iso_words_add(&t->words, " wrote on top of what ");
    iso_teller_say_txn(t, iso_history_txn_of(t->h, first));
    iso_words_add(&t->words, " did without having seen it");
  }
  iso_words_add(&t->words, ".");
  if (known) {
    draw(t, ISO_EDGE_WW, first_write, second_write);
  } else {
    draw(t, ISO_EDGE_RW, first, second_write);
  }
  draw(t, ISO_EDGE_RW, second, first_write);
  return true;
}
