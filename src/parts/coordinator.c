/* Questions to the parts, and which levels follow from what. */
#include "parts/coordinator.h"

#include <stdlib.h>
#include <string.h>

#include "check/strong/rules/rule.h"
#include "history/real_time.h"
#include "level/tap.h"
#include "parts/guess.h"

void iso_coordination_free(iso_coordination *out) {
  free(out->counts);
  iso_vec_free(&out->suspects);
  memset(out, 0, sizeof *out);
}

static void coordinator_free(iso_coordinator *c) {
  c->view.counts = NULL; /* it belongs to the coordination */
  iso_view_free(&c->view);
  free(c->key_base);
  iso_vec_free(&c->orders);
  free(c->told);
  if (c->answers != NULL) iso_answers_free(c->answers, c->team->parts);
  free(c->answers);
}

/* ---- asking ---- */

/* Says where the sequence differs from what the parts know, run by run; false where that is longer than all of it. */
static bool put_changes(iso_coordinator *c, const uint32_t *event, uint32_t count, iso_bytes *out) {
  size_t head = out->count;
  uint32_t runs = 0, changed = 0;
  iso_put_u32(out, 0);
  for (uint32_t i = 0; i < count;) {
    if (event[i] == c->told[i]) {
      i++;
      continue;
    }
    uint32_t end = i + 1;
    while (end < count && event[end] != c->told[end]) end++;
    iso_put_u32(out, i);
    iso_put_u32(out, end - i);
    iso_put(out, event + i, (end - i) * sizeof *event);
    runs++;
    changed += end - i + 2;
    if (changed > count) return false;
    i = end;
  }
  if (!out->failed) memcpy(out->items + head, &runs, sizeof runs);
  return true;
}

static bool put_sequence(iso_coordinator *c, uint32_t *event, uint32_t count, bool split, iso_bytes *out,
                         iso_question_head *head) {
  size_t before = out->count;
  bool known = c->told != NULL && c->told_split == split && c->told_count == count;
  head->order = ISO_ORDER_CHANGES;
  if (!known || !put_changes(c, event, count, out)) {
    out->count = before;
    head->order = ISO_ORDER_WHOLE;
    iso_put_u32(out, count);
    iso_put(out, event, count * sizeof *event);
  }
  free(c->told);
  /* What is only tried is not told as changes afterwards. */
  c->told = head->bare ? NULL : event;
  if (head->bare) free(event);
  c->told_count = count;
  c->told_split = split;
  return !out->failed;
}

static bool put_order(iso_coordinator *c, const iso_event_graph *events, const iso_sequence *sequence, iso_bytes *out,
                      iso_question_head *head) {
  uint32_t *event = iso_alloc(sequence->count, sizeof *event), count = 0;
  if (event == NULL) return false;
  for (uint32_t i = 0; i < sequence->count; i++) {
    if (sequence->event[i] < events->txn_events) event[count++] = sequence->event[i];
  }
  head->split = events->split;
  return put_sequence(c, event, count, events->split, out, head);
}

static void put_counts(const iso_coordinator *c, iso_bytes *out) {
  for (uint32_t t = 0; t < c->h->txns; t += 8) {
    uint8_t bits = 0;
    for (uint32_t i = t; i < t + 8 && i < c->h->txns; i++) bits |= (uint8_t)(c->out->counts[i] << (i - t));
    iso_put(out, &bits, 1);
  }
}

static isoproof_status send(iso_coordinator *c, iso_bytes *asked, const iso_question_head *head,
                            isoproof_error *error) {
  if (asked->failed) return iso_fail_memory(error);
  memcpy(asked->items, head, sizeof *head);
  iso_answers_free(c->answers, c->team->parts);
  isoproof_status status = iso_team_ask(c->team, asked, c->answers, error);
  return status == ISOPROOF_OK ? iso_task_check(c->task, error) : status;
}

isoproof_status iso_coordinator_ask(iso_coordinator *c, iso_question_head head, const iso_event_graph *events,
                                    const iso_sequence *sequence, isoproof_error *error) {
  iso_bytes asked = {.count = 0};
  iso_put(&asked, &head, sizeof head);
  head.has_counts = !c->counts_told;
  if (!c->counts_told) put_counts(c, &asked);
  c->counts_told = (head.asks & ISO_ASK_EFFECT) == 0;
  head.order = ISO_ORDER_SAME;
  if (sequence != NULL && !put_order(c, events, sequence, &asked, &head)) asked.failed = true;
  isoproof_status status = send(c, &asked, &head, error);
  iso_bytes_free(&asked);
  return status;
}

isoproof_status iso_coordinator_ask_of(iso_coordinator *c, iso_question_head head, const iso_txn_set *txns,
                                       isoproof_error *error) {
  iso_bytes asked = {.count = 0};
  head.order = ISO_ORDER_SAME;
  head.txns_wanted = (uint32_t)txns->count;
  iso_put(&asked, &head, sizeof head);
  iso_put(&asked, txns->items, txns->count * sizeof *txns->items);
  isoproof_status status = send(c, &asked, &head, error);
  iso_bytes_free(&asked);
  return status;
}

/* ---- who takes part ---- */

/* Reads in one part show that a transaction took effect whose reads in another part show it of a third one. */
static isoproof_status find_effect(iso_coordinator *c, isoproof_error *error) {
  uint8_t *counts = c->out->counts;
  for (bool more = c->h->unknown > 0; more;) {
    more = false;
    ISO_TRY(iso_coordinator_ask(c, (iso_question_head){.asks = ISO_ASK_EFFECT}, NULL, NULL, error));
    for (uint32_t part = 0; part < c->team->parts; part++) {
      iso_taker in;
      ISO_TRY(iso_answer_open(&c->answers[part], &in, error));
      const uint8_t *bits = iso_take_bytes(&in, ((size_t)c->h->txns + 7) / 8);
      for (uint32_t t = 0; bits != NULL && t < c->h->txns; t++) {
        if (counts[t] || (bits[t / 8] >> (t % 8) & 1) == 0) continue;
        counts[t] = 1;
        more = true;
      }
    }
    if (c->team->parts == 1) break;
  }
  c->view.taking_part = 0;
  for (uint32_t t = 0; t < c->h->txns; t++) c->view.taking_part += counts[t];
  return ISOPROOF_OK;
}

/* ---- facts ---- */

isoproof_status iso_coordinator_take_facts(iso_coordinator *c, iso_taker *in, uint32_t part, isoproof_error *error) {
  iso_part_facts one, *all = &c->out->facts;
  iso_take(in, &one, sizeof one);
  if (in->failed) return iso_fail(error, ISOPROOF_ERR_INTERNAL, "a part did not say what it has");
  c->key_base[part] = all->keys;
  all->ops += one.ops;
  all->keys += one.keys;
  all->duplicate_writes += one.duplicate_writes;
  all->suits = all->suits && one.suits;
  for (int tap = 0; tap < ISO_TAPS; tap++) {
    if (all->found[tap] == 0) memcpy(all->shown_by[tap], one.shown_by[tap], sizeof one.shown_by[tap]);
    all->found[tap] += one.found[tap];
  }
  return ISOPROOF_OK;
}

/* ---- reads ---- */

static isoproof_status short_answer(isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_INTERNAL, "a part did not say who read from whom");
}

/* First pass over the answers: how many reads each transaction has, and all orders of lists. */
static isoproof_status count_reads(iso_coordinator *c, iso_taker in, isoproof_error *error) {
  uint64_t readers = iso_take_u64(&in);
  for (uint64_t i = 0; i < readers; i++) {
    uint32_t txn = iso_take_u32(&in), count = iso_take_u32(&in);
    (void)iso_take_bytes(&in, (size_t)count * 3 * sizeof(uint32_t));
    if (in.failed || txn >= c->h->txns) return short_answer(error);
    c->view.read_first[txn + 1] += count;
  }
  uint32_t orders = iso_take_u32(&in);
  for (uint32_t i = 0; i < orders && !in.failed; i++) {
    iso_list_order one;
    iso_take(&in, &one, sizeof one);
    bool right = one.from < c->h->txns && one.to < c->h->txns && one.reader < c->h->txns && one.last < c->h->txns;
    if (!right) return short_answer(error);
    if (!iso_vec_push(&c->orders, one)) return iso_fail_memory(error);
  }
  return in.failed ? short_answer(error) : ISOPROOF_OK;
}

/* Second pass: puts them down; `next` is where the next read of each transaction goes. */
static isoproof_status place_reads(iso_coordinator *c, iso_taker in, uint32_t part, uint32_t *next,
                                   isoproof_error *error) {
  uint64_t readers = iso_take_u64(&in);
  for (uint64_t i = 0; i < readers; i++) {
    uint32_t txn = iso_take_u32(&in), count = iso_take_u32(&in);
    for (uint32_t k = 0; k < count; k++) {
      uint32_t from = iso_take_u32(&in), key = iso_take_u32(&in), place = iso_take_u32(&in);
      if (from >= c->h->txns) return short_answer(error);
      c->view.reads[next[txn]++] = (iso_external_read){(uint32_t)(c->key_base[part] + key), from, place};
    }
  }
  return ISOPROOF_OK;
}

isoproof_status iso_coordinator_need_reads(iso_coordinator *c, isoproof_error *error) {
  iso_view *v = &c->view;
  uint32_t txns = c->h->txns;
  iso_taker in;
  if (c->has_reads) return ISOPROOF_OK;
  ISO_TRY(iso_coordinator_ask(c, (iso_question_head){.asks = ISO_ASK_READS}, NULL, NULL, error));
  for (uint32_t part = 0; part < c->team->parts; part++) {
    ISO_TRY(iso_answer_open(&c->answers[part], &in, error));
    ISO_TRY(count_reads(c, in, error));
  }
  uint64_t total = 0;
  for (uint32_t t = 0; t < txns; t++) total += v->read_first[t + 1];
  if (total >= UINT32_MAX) return iso_fail(error, ISOPROOF_ERR_LIMIT, "too many reads for one coordinator");
  for (uint32_t t = 0; t < txns; t++) v->read_first[t + 1] += v->read_first[t];
  uint32_t *next = iso_alloc(txns, sizeof *next);
  v->reads = iso_alloc(total, sizeof *v->reads);
  isoproof_status status = next != NULL && v->reads != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK && txns > 0) memcpy(next, v->read_first, txns * sizeof *next);
  for (uint32_t part = 0; status == ISOPROOF_OK && part < c->team->parts; part++) {
    status = iso_answer_open(&c->answers[part], &in, error);
    if (status == ISOPROOF_OK) status = place_reads(c, in, part, next, error);
    iso_bytes_free(&c->answers[part]);
  }
  free(next);
  c->has_reads = true;
  return status;
}

isoproof_status iso_coordinator_add_orders(const iso_coordinator *c, iso_event_graph *e, isoproof_error *error) {
  for (size_t i = 0; i < c->orders.count; i++) {
    const iso_list_order *o = &c->orders.items[i];
    iso_derived edge = {.from = iso_event_commit(e, o->from), .to = iso_event_version(e, o->to), .reason = ISO_LIST};
    ISO_TRY(iso_event_graph_add(e, edge, error));
  }
  return ISOPROOF_OK;
}

/* ---- verdicts ---- */

bool iso_is_coordinated(const isoproof_history *h, const isoproof_level_info *level) {
  const iso_level_method *method = iso_level_method_of(level);
  if (method->engine == ISO_ENGINE_WITHIN) return true;
  if (method->engine == ISO_ENGINE_AXIOM) return true;
  if (method->engine != ISO_ENGINE_STRONG) return false;
  if (method->strong.single || iso_strong_rule_of(method->strong.rule)->own_levels) return false;
  return !method->strong.real_time || iso_has_real_time(h);
}

bool iso_coordinator_wants(const iso_coordinator *c, const isoproof_level_info *level) {
  return (c->wanted & ISO_LEVEL_BIT(level->number)) != 0 && iso_is_coordinated(c->h, level);
}

static bool is_open(const iso_coordinator *c, const isoproof_level_info *level) {
  return iso_coordinator_wants(c, level) && c->out->verdict[level->number] == ISOPROOF_UNDECIDED;
}

void iso_coordinator_decided(iso_coordinator *c, const isoproof_level_info *level, isoproof_verdict verdict) {
  const isoproof_level_info *other;
  for (size_t i = 0; (other = isoproof_level_at(i)) != NULL; i++) {
    bool follows =
        verdict == ISOPROOF_SATISFIED ? isoproof_level_implies(level, other) : isoproof_level_implies(other, level);
    if (follows && is_open(c, other)) c->out->verdict[i] = verdict;
  }
}

isoproof_status iso_coordinator_suspect(iso_coordinator *c, iso_txn_set *txns, isoproof_error *error) {
  bool good = true;
  for (size_t i = 0; i < txns->count; i++) good = good && iso_vec_push(&c->out->suspects, txns->items[i]);
  /* A list shows its order to somebody. */
  uint8_t *is = iso_alloc_zero(c->h->txns, 1);
  for (size_t i = 0; is != NULL && i < txns->count; i++) is[txns->items[i]] = 1;
  for (size_t i = 0; is != NULL && good && i < c->orders.count; i++) {
    const iso_list_order *o = &c->orders.items[i];
    if (is[o->from] && is[o->to])
      good = iso_vec_push(&c->out->suspects, o->reader) && iso_vec_push(&c->out->suspects, o->last);
  }
  good = good && is != NULL;
  free(is);
  iso_vec_free(txns);
  return good ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status suspect_shown(iso_coordinator *c, isoproof_error *error) {
  for (int tap = 0; tap < ISO_TAPS; tap++) {
    for (int i = 0; c->out->facts.found[tap] > 0 && i < ISO_SHOWN_BY; i++) {
      uint32_t txn = c->out->facts.shown_by[tap][i];
      if (txn < c->h->txns && !iso_vec_push(&c->out->suspects, txn)) return iso_fail_memory(error);
    }
  }
  return ISOPROOF_OK;
}

/* What single transactions tell. */
static isoproof_status judge_within(iso_coordinator *c, isoproof_error *error) {
  const isoproof_level_info *level;
  for (size_t i = 0; (level = isoproof_level_at(i)) != NULL; i++) {
    if (!iso_coordinator_wants(c, level)) continue;
    bool broken = false;
    for (int tap = 0; tap < ISO_TAPS; tap++)
      broken = broken || (c->out->facts.found[tap] > 0 && iso_tap_breaks((iso_tap)tap, level));
    if (broken) c->out->verdict[i] = ISOPROOF_VIOLATED;
    if (!broken && iso_level_method_of(level)->engine == ISO_ENGINE_WITHIN) c->out->verdict[i] = ISOPROOF_SATISFIED;
  }
  return suspect_shown(c, error);
}

static bool is_sound(const iso_coordinator *c) {
  for (int tap = 0; tap < ISO_TAPS; tap++) {
    if (c->out->facts.found[tap] > 0) return false;
  }
  return true;
}

/* ---- all levels ---- */

static isoproof_status settle_strong_levels(iso_coordinator *c, isoproof_error *error) {
  size_t levels = 0;
  while (iso_strong_level_at(levels) != NULL) levels++;
  while (levels-- > 0) {
    const iso_strong_level *level = iso_strong_level_at(levels);
    const isoproof_level_info *info = isoproof_level_at(level->level);
    if (!is_open(c, info)) continue;
    if (!iso_strong_rule_of(level->rule)->is_executed) {
      c->out->reason = "this level is decided on the whole history only";
      continue;
    }
    iso_task_about(c->task, level->id, 0, 0);
    ISO_TRY(iso_settle_strong(c, level, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status settle_axioms(iso_coordinator *c, isoproof_error *error) {
  for (int axiom = ISO_AXIOM_CAUSAL; axiom >= 0; axiom--) {
    const isoproof_level_info *info = iso_axiom_level((iso_axiom)axiom);
    /* Causal implies the session guarantees, which have no way of their own. */
    bool helps = is_open(c, info);
    for (int other = ISO_AXIOM_CAUSAL + 1; axiom == ISO_AXIOM_CAUSAL && other < ISO_AXIOMS; other++)
      helps = helps || is_open(c, iso_axiom_level((iso_axiom)other));
    if (!helps) continue;
    iso_task_about(c->task, info->id, 0, 0);
    ISO_TRY(iso_settle_axiom(c, (iso_axiom)axiom, error));
  }
  for (int other = ISO_AXIOM_CAUSAL + 1; other < ISO_AXIOMS; other++) {
    if (is_open(c, iso_axiom_level((iso_axiom)other)))
      c->out->reason = "this level is decided on the whole history only";
  }
  return ISOPROOF_OK;
}

/* What guesses that fit say of the levels that are still open. */
static void decide_guessed(iso_coordinator *c, const iso_guess *guess) {
  if (guess->serial && is_sound(c))
    iso_coordinator_decided(c, isoproof_level_at(ISO_LEVEL_STRICT_SERIALIZABLE), ISOPROOF_SATISFIED);
  if (guess->snapshots && is_sound(c))
    iso_coordinator_decided(c, isoproof_level_at(ISO_LEVEL_STRONG_SI), ISOPROOF_SATISFIED);
  if (guess->snapshots_moved && is_sound(c))
    iso_coordinator_decided(c, isoproof_level_at(ISO_LEVEL_SNAPSHOT_ISOLATION), ISOPROOF_SATISFIED);
  if (guess->read_atomic) iso_coordinator_decided(c, isoproof_level_at(ISO_LEVEL_READ_ATOMIC), ISOPROOF_SATISFIED);
  if (guess->read_committed)
    iso_coordinator_decided(c, isoproof_level_at(ISO_LEVEL_READ_COMMITTED), ISOPROOF_SATISFIED);
}

static isoproof_status decide(iso_coordinator *c, isoproof_error *error) {
  iso_guess guess;
  ISO_TRY(find_effect(c, error));
  ISO_TRY(iso_coordinator_guess(c, &guess, error));
  if (!c->out->facts.suits || c->out->facts.duplicate_writes > 0) {
    c->out->reason = c->out->facts.suits ? "values repeat" : "the history has more than registers and lists";
    return ISOPROOF_OK;
  }
  ISO_TRY(judge_within(c, error));
  decide_guessed(c, &guess);
  ISO_TRY(settle_strong_levels(c, error));
  return settle_axioms(c, error);
}

isoproof_status iso_coordinate(iso_team *team, const isoproof_history *skeleton, iso_level_set wanted,
                               isoproof_task *task, iso_coordination *out, isoproof_error *error) {
  memset(out, 0, sizeof *out);
  for (size_t i = 0; i < ISO_LEVEL_COUNT; i++) out->verdict[i] = ISOPROOF_UNDECIDED;
  iso_coordinator c = {.team = team, .h = skeleton, .task = task, .out = out, .wanted = wanted};
  out->facts.suits = 1;
  out->counts = iso_alloc_zero(skeleton->txns, 1);
  c.view = (iso_view){.h = skeleton, .counts = out->counts};
  c.view.read_first = iso_alloc_zero((size_t)skeleton->txns + 1, sizeof *c.view.read_first);
  c.key_base = iso_alloc_zero(team->parts, sizeof *c.key_base);
  c.answers = iso_alloc_zero(team->parts, sizeof *c.answers);
  bool made = out->counts != NULL && c.view.read_first != NULL && c.key_base != NULL && c.answers != NULL;
  isoproof_status status = made ? ISOPROOF_OK : iso_fail_memory(error);
  for (uint32_t t = 0; made && t < skeleton->txns; t++)
    out->counts[t] = skeleton->txn_status[t] == ISOPROOF_TXN_COMMITTED;
  if (status == ISOPROOF_OK) status = decide(&c, error);
  iso_task_about(task, NULL, 0, 0);
  coordinator_free(&c);
  if (status != ISOPROOF_OK) iso_coordination_free(out);
  return status;
}
