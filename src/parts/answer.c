/* What a process hears, and what each of its parts answers. */
#include <stdlib.h>
#include <string.h>

#include "check/strong/rules/rule.h"
#include "check/within/within.h"
#include "history/effect.h"
#include "history/resolve.h"
#include "parts/ops.h"
#include "parts/question.h"

void iso_member_free(iso_member *m) {
  free(m->counts);
  iso_sequence_free(&m->sequence);
  memset(m, 0, sizeof *m);
}

/* ---- hearing ---- */

static isoproof_status garbled(isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_INTERNAL, "a question did not arrive as it was asked");
}

static isoproof_status hear_counts(iso_member *m, iso_taker *in, isoproof_error *error) {
  const uint8_t *bits = iso_take_bytes(in, ((size_t)m->txns + 7) / 8);
  if (m->counts == NULL) m->counts = iso_alloc(m->txns, 1);
  if (m->counts == NULL) return iso_fail_memory(error);
  for (uint32_t t = 0; bits != NULL && t < m->txns; t++) m->counts[t] = bits[t / 8] >> (t % 8) & 1;
  return ISOPROOF_OK;
}

static isoproof_status make_room(iso_member *m, uint32_t events, isoproof_error *error) {
  if (m->capacity >= events && m->sequence.event != NULL) return ISOPROOF_OK;
  iso_sequence_free(&m->sequence);
  m->sequence.event = iso_alloc(events, sizeof *m->sequence.event);
  m->sequence.place = iso_alloc(events, sizeof *m->sequence.place);
  m->capacity = events;
  return m->sequence.event != NULL && m->sequence.place != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

static void take_events(iso_member *m, iso_taker *in, uint32_t first, uint32_t count) {
  iso_sequence *s = &m->sequence;
  if (first > s->count || count > s->count - first) in->failed = true;
  if (!in->failed) iso_take(in, s->event + first, (size_t)count * sizeof *s->event);
  for (uint32_t i = first; !in->failed && i < first + count; i++) {
    if (s->event[i] < m->capacity) s->place[s->event[i]] = i;
    if (s->event[i] >= m->capacity) in->failed = true;
  }
}

static isoproof_status hear_order(iso_member *m, iso_taker *in, isoproof_error *error) {
  if (m->head.order == ISO_ORDER_SAME) return ISOPROOF_OK;
  uint32_t number = iso_take_u32(in);
  if (m->head.order == ISO_ORDER_WHOLE) {
    if ((uint64_t)m->txns * 2 >= UINT32_MAX) return garbled(error);
    ISO_TRY(make_room(m, m->txns * (m->head.split ? 2 : 1), error));
    m->sequence.count = m->sequence.total = number <= m->capacity ? number : 0;
    take_events(m, in, 0, number);
    return ISOPROOF_OK;
  }
  for (uint32_t i = 0; i < number && !in->failed; i++) {
    uint32_t first = iso_take_u32(in), count = iso_take_u32(in);
    take_events(m, in, first, count);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_member_hear(iso_member *m, const iso_bytes *question, isoproof_error *error) {
  iso_taker in = iso_take_from(question->items, question->count);
  iso_take(&in, &m->head, sizeof m->head);
  if (m->head.has_counts) ISO_TRY(hear_counts(m, &in, error));
  ISO_TRY(hear_order(m, &in, error));
  m->wanted = NULL;
  if (m->head.txns_wanted != UINT32_MAX)
    m->wanted = iso_take_bytes(&in, (size_t)m->head.txns_wanted * sizeof(uint32_t));
  return in.failed || in.at != in.end ? garbled(error) : ISOPROOF_OK;
}

/* ---- answering ---- */

static isoproof_status tell_effect(const iso_member *m, iso_part *part, isoproof_task *task, iso_bytes *out,
                                   isoproof_error *error) {
  uint8_t *counts = iso_alloc(m->txns, 1);
  if (counts == NULL) return iso_fail_memory(error);
  if (m->txns > 0) memcpy(counts, m->counts, m->txns);
  isoproof_status status = iso_history_effect_spread(part->h, task, counts, error);
  for (uint32_t t = 0; status == ISOPROOF_OK && t < m->txns; t += 8) {
    uint8_t bits = 0;
    for (uint32_t i = t; i < t + 8 && i < m->txns; i++) bits |= (uint8_t)(counts[i] << (i - t));
    iso_put(out, &bits, 1);
  }
  free(counts);
  return status;
}

static uint32_t txn_of(const iso_part *part, uint32_t op) {
  return op < part->h->ops ? iso_op_txn(&part->view.op_index, op) : ISO_NO_TXN;
}

/* Who appended the elements of a list read; NULL for none. */
static const uint32_t *writers_of(const iso_part *part, uint32_t op, uint32_t *count) {
  const isoproof_history *h = part->h;
  const iso_resolution *r = part->view.resolution;
  *count = 0;
  if (op >= h->ops || h->op_kind[op] != ISOPROOF_OP_READ_LIST) return NULL;
  (void)iso_history_list(h, op, count);
  if (*count == 0) return NULL;
  iso_value value = h->op_value[op];
  return value < ISO_VALUE_INLINE_LIMIT ? r->list_writer + h->list_first[h->op_key[op]]
                                        : r->odd_writer + h->odd_first[value & ~ISO_VALUE_INTERNED];
}

/* Whose version an operation observed, if it is a read. */
static uint32_t source_of(const iso_part *part, uint32_t op) {
  uint32_t count, reader = txn_of(part, op);
  if (op < part->h->ops && part->h->op_kind[op] == ISOPROOF_OP_READ)
    return txn_of(part, part->view.resolution->writer[op]);
  const uint32_t *writers = writers_of(part, op, &count);
  while (count > 0 && txn_of(part, writers[count - 1]) == reader) count--;
  return count > 0 ? txn_of(part, writers[count - 1]) : ISO_NO_TXN;
}

/* Who appended an element of a list read. */
static uint32_t element_of(const iso_part *part, uint32_t op, uint32_t element) {
  uint32_t count;
  const uint32_t *writers = writers_of(part, op, &count);
  return element < count ? txn_of(part, writers[element]) : ISO_NO_TXN;
}

/* Who an instance is about: whoever read, and whose writes or reads it compares. */
static void show(const iso_part *part, const iso_finding *finding, uint32_t *by) {
  by[0] = txn_of(part, finding->op);
  by[1] = txn_of(part, finding->seen);
  by[2] = txn_of(part, finding->other);
  by[3] = source_of(part, finding->op);
  by[4] = source_of(part, finding->other);
  by[5] = element_of(part, finding->op, finding->element);
  by[6] = element_of(part, finding->other, finding->element);
}

static isoproof_status tell_facts(iso_part *part, isoproof_task *task, iso_bytes *out, isoproof_error *error) {
  iso_part_facts facts = {.ops = part->h->ops, .keys = part->h->keys};
  iso_findings findings = {.failed = false};
  bool suits;
  ISO_TRY(iso_versions_suit(part->h, &suits, error));
  facts.suits = suits;
  facts.duplicate_writes = part->view.resolution->counts.duplicate_writes;
  isoproof_status status = iso_check_within(part->h, task, &findings, error);
  memset(facts.shown_by, 0xff, sizeof facts.shown_by);
  for (int tap = 0; tap < ISO_TAPS; tap++) {
    facts.found[tap] = findings.count[tap];
    if (findings.count[tap] > 0) show(part, &findings.first[tap], facts.shown_by[tap]);
  }
  for (size_t i = 0; i < part->versions.broken.count; i++) {
    const iso_finding *finding = &part->versions.broken.items[i];
    if (facts.found[finding->tap]++ == 0) show(part, finding, facts.shown_by[finding->tap]);
  }
  iso_findings_free(&findings);
  iso_put(out, &facts, sizeof facts);
  return status;
}

/* The last writer that the longest read of a key shows, besides the reader. */
static uint32_t last_but(const iso_versions *versions, uint32_t key, uint32_t reader) {
  uint32_t i = versions->first[key + 1];
  while (i > versions->first[key] && versions->writer[i - 1] == reader) i--;
  return i > versions->first[key] ? versions->writer[i - 1] : reader;
}

/* The reads of one transaction: from whom, the key, and the place in the transaction; the initial version is nobody's.
 * Whether there are any. */
static bool tell_reads_by(const iso_part *part, uint32_t txn, iso_bytes *out) {
  const iso_view *v = &part->view;
  uint32_t count = 0;
  for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) count += v->reads[i].from != ISO_INITIAL;
  if (count == 0) return false;
  iso_put_u32(out, txn);
  iso_put_u32(out, count);
  for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
    if (v->reads[i].from == ISO_INITIAL) continue;
    iso_put_u32(out, v->reads[i].from);
    iso_put_u32(out, v->reads[i].key);
    iso_put_u32(out, part->place[v->reads[i].op]);
  }
  return true;
}

static isoproof_status tell_reads_of(const iso_member *m, const iso_part *part, iso_bytes *out, isoproof_error *error) {
  uint64_t readers = 0;
  size_t head = out->count;
  if (m->wanted == NULL) return garbled(error);
  iso_put_u64(out, 0);
  for (uint32_t i = 0; i < m->head.txns_wanted; i++) {
    uint32_t txn;
    memcpy(&txn, m->wanted + i * sizeof txn, sizeof txn);
    if (txn >= m->txns) return garbled(error);
    readers += tell_reads_by(part, txn, out);
  }
  if (!out->failed) memcpy(out->items + head, &readers, sizeof readers);
  return ISOPROOF_OK;
}

/* By reader, then the orders of writers that lists show. */
static void tell_reads(const iso_part *part, iso_bytes *out) {
  const iso_view *v = &part->view;
  uint64_t readers = 0;
  size_t head = out->count;
  iso_put_u64(out, 0);
  for (uint32_t t = 0; t < part->h->txns; t++) readers += tell_reads_by(part, t, out);
  if (!out->failed) memcpy(out->items + head, &readers, sizeof readers);
  const iso_versions *versions = &part->versions;
  uint32_t orders = versions->ww_first != NULL ? versions->ww_first[part->h->txns] : 0;
  iso_put_u32(out, orders);
  for (uint32_t t = 0; orders > 0 && t < part->h->txns; t++) {
    for (uint32_t i = versions->ww_first[t]; i < versions->ww_first[t + 1]; i++) {
      uint32_t key = part->h->op_key[versions->ww[i].to_op], reader = iso_op_txn(&v->op_index, versions->longest[key]);
      iso_put_u32(out, versions->ww[i].from);
      iso_put_u32(out, t);
      iso_put_u32(out, reader);
      iso_put_u32(out, last_but(versions, key, reader));
    }
  }
}

static void put_edges(iso_bytes *out, const iso_event_edges *edges) {
  iso_put_u32(out, (uint32_t)edges->count);
  iso_put(out, edges->items, edges->count * sizeof *edges->items);
}

static void put_numbers(iso_bytes *out, const uint32_t *items, size_t count) {
  iso_put_u32(out, (uint32_t)count);
  iso_put(out, items, count * sizeof *items);
}

/* The known orders of writers of lists that a sequence does not respect: what the last version alone does not show.
 * They become requirements, unless there is no `out`. */
static uint64_t find_broken_orders(const iso_sequence *s, const iso_event_graph *e, const iso_versions *versions,
                                   iso_requirements *out) {
  uint64_t broken = 0;
  for (uint32_t t = 0; versions->ww_first != NULL && t < e->view->h->txns; t++) {
    for (uint32_t i = versions->ww_first[t]; i < versions->ww_first[t + 1]; i++) {
      uint32_t from = iso_event_commit(e, versions->ww[i].from), to = iso_event_version(e, t);
      if (s->place[from] < s->place[to]) continue;
      broken++;
      if (out != NULL) iso_require(out);
      if (out != NULL) iso_require_edge(out, from, to);
    }
  }
  return broken;
}

static isoproof_status tell_broken(const iso_member *m, iso_part *part, isoproof_task *task, iso_bytes *out,
                                   isoproof_error *error) {
  if (m->head.rule >= ISO_RULES) return garbled(error);
  const iso_strong_rule *rule = iso_strong_rule_of((iso_rule)m->head.rule);
  /* Carrying a sequence out asks for nothing else of the events. */
  iso_event_graph events = {.view = &part->view,
                            .shape = {.split = rule->split, .ww_to_commit = rule->ww_to_commit},
                            .split = rule->split,
                            .txn_events = part->h->txns * (rule->split ? 2 : 1)};
  iso_examination examination = {
      .rule = rule, .events = &events, .store = &part->store, .task = task, .enough = m->head.enough};
  iso_requirements found = {.failed = false};
  uint64_t broken = 0;
  isoproof_status status = iso_execute(&examination, &m->sequence, &found, &broken, error);
  if (broken == 0) broken = find_broken_orders(&m->sequence, &events, &part->versions, m->head.bare ? NULL : &found);
  if (found.failed && status == ISOPROOF_OK) status = iso_fail_memory(error);
  iso_put_u64(out, broken);
  if (m->head.bare) iso_requirements_free(&found);
  put_numbers(out, found.first.items, found.first.count);
  put_edges(out, &found.edges);
  put_numbers(out, found.also_first.items, found.also_first.count);
  put_edges(out, &found.also);
  iso_requirements_free(&found);
  return status;
}

/* The writers that stand between a version and a reader, the nearest first; *late as ISO_BETWEEN_LATE says. */
static isoproof_status tell_between_of(const iso_member *m, const iso_part *part, uint32_t txn, uint64_t *told,
                                       bool *late, iso_bytes *out, isoproof_error *error) {
  const iso_view *v = &part->view;
  const iso_version_store *x = &part->store;
  for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1] && !*late; i++) {
    const iso_external_read *read = &v->reads[i];
    uint32_t slot = x->current[read->key];
    for (; slot > 0 && x->slot_txn[slot - 1] != read->from; slot = x->slot_last[slot - 1]) {
      iso_between one = {read->from, x->slot_txn[slot - 1], txn, read->key, part->place[read->op]};
      bool enough = m->head.enough > 0 && *told == m->head.enough;
      if (enough && !m->head.bare)
        return iso_fail(error, ISOPROOF_ERR_LIMIT, "too many writers stand between versions and their readers");
      if (enough) break;
      iso_put(out, &one, sizeof one);
      ++*told;
    }
    bool found = slot == 0 ? read->from == ISO_INITIAL : x->slot_txn[slot - 1] == read->from;
    *late = m->head.bare && !found;
  }
  return ISOPROOF_OK;
}

static isoproof_status tell_between(const iso_member *m, const iso_part *part, iso_bytes *out, isoproof_error *error) {
  const iso_view *v = &part->view;
  const iso_version_store *x = &part->store;
  iso_event_graph events = {.view = v, .txn_events = part->h->txns};
  uint64_t told = 0;
  size_t head = out->count;
  bool late = m->head.bare && find_broken_orders(&m->sequence, &events, &part->versions, NULL) > 0;
  iso_put_u64(out, 0);
  memset(x->current, 0, part->h->keys * sizeof *x->current);
  for (uint32_t i = 0; i < m->sequence.count && !late; i++) {
    uint32_t txn = m->sequence.event[i];
    if (txn >= part->h->txns) return garbled(error);
    ISO_TRY(tell_between_of(m, part, txn, &told, &late, out, error));
    for (uint32_t w = v->write_first[txn]; w < v->write_first[txn + 1]; w++) {
      x->slot_last[w] = x->current[v->write_key[w]];
      x->current[v->write_key[w]] = w + 1;
    }
  }
  if (out->failed) return ISOPROOF_OK;
  if (late) told = ISO_BETWEEN_LATE;
  if (late) out->count = head + sizeof told;
  memcpy(out->items + head, &told, sizeof told);
  return ISOPROOF_OK;
}

static isoproof_status answer(const iso_member *m, iso_part *part, isoproof_task *task, iso_bytes *out,
                              isoproof_error *error) {
  uint32_t asks = m->head.asks;
  if (m->counts == NULL) return garbled(error);
  if ((asks & ISO_ASK_EFFECT) != 0) return tell_effect(m, part, task, out, error);
  ISO_TRY(iso_part_settle(part, m->counts, task, error));
  if ((asks & ISO_ASK_FACTS) != 0) ISO_TRY(tell_facts(part, task, out, error));
  if ((asks & ISO_ASK_READS) != 0) tell_reads(part, out);
  if ((asks & ISO_ASK_EXECUTE) != 0) ISO_TRY(tell_broken(m, part, task, out, error));
  if ((asks & ISO_ASK_BETWEEN) != 0) ISO_TRY(tell_between(m, part, out, error));
  if ((asks & ISO_ASK_OPS) != 0) ISO_TRY(iso_part_tell_ops(m, part, out, error));
  if ((asks & ISO_ASK_READS_OF) != 0) ISO_TRY(tell_reads_of(m, part, out, error));
  return out->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

void iso_part_answer(iso_member *m, iso_part *part, isoproof_task *task, iso_bytes *out) {
  isoproof_error error = {.code = ISOPROOF_OK};
  iso_bytes_free(out);
  iso_put_u32(out, ISOPROOF_OK);
  if (!iso_member_is_asked(m)) return;
  isoproof_status status = answer(m, part, task, out, &error);
  if (status == ISOPROOF_OK) return;
  iso_bytes_free(out);
  iso_put_u32(out, (uint32_t)status);
  iso_put(out, error.message, strnlen(error.message, sizeof error.message));
}

isoproof_status iso_answer_open(const iso_bytes *bytes, iso_taker *in, isoproof_error *error) {
  *in = iso_take_from(bytes->items, bytes->count);
  isoproof_status status = (isoproof_status)iso_take_u32(in);
  if (in->failed) return garbled(error);
  if (status == ISOPROOF_OK) return ISOPROOF_OK;
  return iso_fail(error, status, "%.*s", (int)(in->end - in->at), (const char *)in->at);
}
