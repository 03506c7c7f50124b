/* What the times of a history suggest, carried out by the parts before anybody asks who read from whom. */
#include "parts/guess.h"

#include <stdlib.h>
#include <string.h>

#include "history/real_time.h"
#include "parts/by_time.h"
#include "parts/mend.h"

/* Pairs that one part may name; where there are more, the sequence is no good guess. */
enum { MOST_BETWEEN = 1 << 20 };

static isoproof_status take_facts(iso_coordinator *c, uint32_t part, iso_taker *in, isoproof_error *error) {
  return c->out->has_facts ? ISOPROOF_OK : iso_coordinator_take_facts(c, in, part, error);
}

/* ---- a sequence that explains every read ---- */

/* Has one part carry the sequence out, or all, which then tell what they have.  Nothing is known yet of who read from
 * whom: the reads themselves say whether it fits.  Without a sequence all tell what they have. */
static isoproof_status try_sequence(iso_coordinator *c, const iso_sequence *s, iso_rule rule, bool all, bool *fits,
                                    isoproof_error *error) {
  bool facts = all && !c->out->has_facts, split = rule == ISO_RULE_SNAPSHOT;
  uint32_t asks = (s != NULL ? ISO_ASK_EXECUTE : 0U) | (facts ? ISO_ASK_FACTS : 0U);
  iso_event_graph events = {.txn_events = c->h->txns * (split ? 2 : 1), .split = split};
  iso_question_head head = {.asks = asks, .rule = (uint32_t)rule, .enough = 1, .bare = 1, .only = !all};
  ISO_TRY(iso_coordinator_ask(c, head, &events, s, error));
  *fits = s != NULL;
  for (uint32_t part = 0; part < (all ? c->team->parts : 1); part++) {
    iso_taker in;
    ISO_TRY(iso_answer_open(&c->answers[part], &in, error));
    if (facts) ISO_TRY(take_facts(c, part, &in, error));
    if (s != NULL && iso_take_u64(&in) > 0) *fits = false;
  }
  if (facts) c->out->has_facts = true;
  return ISOPROOF_OK;
}

/* One part tells soon whether it is worth asking all.  Takes the sequence over. */
static isoproof_status try_good(iso_coordinator *c, iso_sequence *s, iso_rule rule, bool good, bool *fits,
                                isoproof_error *error) {
  isoproof_status status = ISOPROOF_OK;
  if (good && c->team->parts > 1) status = try_sequence(c, s, rule, false, &good, error);
  if (status == ISOPROOF_OK && good) status = try_sequence(c, s, rule, true, fits, error);
  free(s->event);
  s->event = NULL;
  return status;
}

static isoproof_status guess_serial(iso_coordinator *c, bool *fits, isoproof_error *error) {
  for (int starts = 0; starts < 2 && !*fits; starts++) {
    iso_sequence s = {.event = NULL};
    bool good = false;
    isoproof_status status = iso_txns_by_time(c, starts != 0, &s, &good, error);
    if (status != ISOPROOF_OK) good = false;
    isoproof_status tried = try_good(c, &s, ISO_RULE_SERIALIZABLE, good, fits, error);
    ISO_TRY(status != ISOPROOF_OK ? status : tried);
  }
  return ISOPROOF_OK;
}

/* Snapshots are taken at the start in most systems, and writes come in force at the end. */
static isoproof_status guess_snapshots(iso_coordinator *c, bool *fits, isoproof_error *error) {
  iso_sequence s = {.event = NULL};
  bool good = false;
  isoproof_status status = iso_events_by_time(c, &s, &good, error);
  if (status != ISOPROOF_OK) good = false;
  isoproof_status tried = try_good(c, &s, ISO_RULE_SNAPSHOT, good, fits, error);
  return status != ISOPROOF_OK ? status : tried;
}

/* ---- a commit order that the axioms of read committed and read atomic allow ---- */

typedef struct {
  uint32_t txn, from, key, place;
} seen;

typedef struct {
  iso_coordinator *c;
  ISO_VEC(iso_between) found;
  ISO_VEC(seen) reads; /* of those who stand behind somebody that stands between */
  bool fits;
} axiom_guess;

static int by_reader(const void *a, const void *b) {
  const iso_between *x = a, *y = b;
  return (x->t3 > y->t3) - (x->t3 < y->t3);
}

static int by_reader_and_source(const void *a, const void *b) {
  const seen *x = a, *y = b;
  if (x->txn != y->txn) return x->txn < y->txn ? -1 : 1;
  return (x->from > y->from) - (x->from < y->from);
}

/* Who stands between a version and its reader where transactions commit when they end. */
static isoproof_status ask_between(axiom_guess *g, const iso_sequence *s, isoproof_error *error) {
  iso_coordinator *c = g->c;
  iso_event_graph events = {.txn_events = c->h->txns};
  bool facts = !c->out->has_facts;
  iso_question_head head = {.asks = ISO_ASK_BETWEEN, .enough = MOST_BETWEEN, .bare = 1};
  if (facts) head.asks |= ISO_ASK_FACTS;
  ISO_TRY(iso_coordinator_ask(c, head, &events, s, error));
  g->fits = true;
  for (uint32_t part = 0; part < c->team->parts; part++) {
    iso_taker in;
    ISO_TRY(iso_answer_open(&c->answers[part], &in, error));
    if (facts) ISO_TRY(take_facts(c, part, &in, error));
    uint64_t count = iso_take_u64(&in);
    g->fits = g->fits && count != ISO_BETWEEN_LATE && count <= UINT32_MAX - g->found.count;
    if (!g->fits) continue;
    const void *items = iso_take_bytes(&in, count * sizeof(iso_between));
    if (in.failed || !iso_vec_reserve(&g->found, count)) return iso_fail_memory(error);
    iso_between *to = g->found.items + g->found.count;
    if (count > 0) memcpy(to, items, count * sizeof *to);
    for (uint64_t i = 0; i < count; i++) to[i].key += (uint32_t)c->key_base[part];
    g->found.count += count;
    iso_bytes_free(&c->answers[part]);
  }
  if (facts) c->out->has_facts = true;
  if (g->found.count > 0) qsort(g->found.items, g->found.count, sizeof *g->found.items, by_reader);
  return ISOPROOF_OK;
}

static isoproof_status take_reads(axiom_guess *g, uint32_t part, isoproof_error *error) {
  iso_taker in;
  ISO_TRY(iso_answer_open(&g->c->answers[part], &in, error));
  uint64_t readers = iso_take_u64(&in);
  for (uint64_t i = 0; i < readers && !in.failed; i++) {
    uint32_t txn = iso_take_u32(&in), count = iso_take_u32(&in);
    for (uint32_t k = 0; k < count && !in.failed; k++) {
      uint32_t from = iso_take_u32(&in), key = iso_take_u32(&in) + (uint32_t)g->c->key_base[part];
      seen one = {txn, from, key, iso_take_u32(&in)};
      if (!iso_vec_push(&g->reads, one)) return iso_fail_memory(error);
    }
  }
  return in.failed ? iso_fail(error, ISOPROOF_ERR_INTERNAL, "a part did not say who read from whom") : ISOPROOF_OK;
}

static isoproof_status ask_reads(axiom_guess *g, isoproof_error *error) {
  iso_txn_set readers = {.items = NULL};
  bool good = true;
  for (size_t i = 0; good && i < g->found.count; i++) {
    if (i == 0 || g->found.items[i].t3 != g->found.items[i - 1].t3) good = iso_vec_push(&readers, g->found.items[i].t3);
  }
  isoproof_status status = good ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK)
    status = iso_coordinator_ask_of(g->c, (iso_question_head){.asks = ISO_ASK_READS_OF}, &readers, error);
  for (uint32_t part = 0; status == ISOPROOF_OK && part < g->c->team->parts; part++)
    status = take_reads(g, part, error);
  iso_vec_free(&readers);
  if (status == ISOPROOF_OK && g->reads.count > 0)
    qsort(g->reads.items, g->reads.count, sizeof *g->reads.items, by_reader_and_source);
  return status;
}

/* The first read of the reader from whoever stands between, or where it would be. */
static size_t first_read(const axiom_guess *g, const iso_between *b) {
  seen wanted = {.txn = b->t3, .from = b->t2};
  size_t low = 0, high = g->reads.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (by_reader_and_source(&g->reads.items[middle], &wanted) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Whether the axioms (level/method.h) want whoever stands between elsewhere. */
static void look_at(const axiom_guess *g, const iso_between *b, iso_guess *guess) {
  const uint32_t *session = g->c->h->txn_session;
  if (session[b->t2] == session[b->t3]) guess->read_atomic = false;
  for (size_t i = first_read(g, b); i < g->reads.count; i++) {
    const seen *read = &g->reads.items[i];
    if (read->txn != b->t3 || read->from != b->t2) break;
    guess->read_atomic = false;
    if (read->key != b->key && read->place < b->place) guess->read_committed = false;
  }
}

static isoproof_status guess_commits(iso_coordinator *c, iso_guess *guess, isoproof_error *error) {
  axiom_guess g = {.c = c};
  iso_sequence s = {.event = NULL};
  bool good = false;
  isoproof_status status = iso_txns_by_time(c, false, &s, &good, error);
  if (status == ISOPROOF_OK && good) status = ask_between(&g, &s, error);
  free(s.event);
  if (status == ISOPROOF_OK && g.fits && g.found.count > 0) status = ask_reads(&g, error);
  guess->read_committed = guess->read_atomic = g.fits;
  for (size_t i = 0; status == ISOPROOF_OK && i < g.found.count; i++) look_at(&g, &g.found.items[i], guess);
  iso_vec_free(&g.found);
  iso_vec_free(&g.reads);
  return status;
}

/* ---- all guesses ---- */

static bool wants(const iso_coordinator *c, iso_level level) {
  return iso_coordinator_wants(c, isoproof_level_at(level));
}

/* Whether a level is wanted that strong snapshot isolation implies. */
static bool wants_snapshots(const iso_coordinator *c) {
  const isoproof_level_info *level, *strong = isoproof_level_at(ISO_LEVEL_STRONG_SI);
  for (size_t i = 0; (level = isoproof_level_at(i)) != NULL; i++) {
    bool asks_more = iso_level_method_of(level)->engine != ISO_ENGINE_WITHIN;
    if (asks_more && isoproof_level_implies(strong, level) && iso_coordinator_wants(c, level)) return true;
  }
  return false;
}

/* At their times, or near to them. */
static isoproof_status guess_near_times(iso_coordinator *c, iso_guess *guess, isoproof_error *error) {
  bool real_time = wants(c, ISO_LEVEL_STRONG_SI), moved = false;
  ISO_TRY(guess_snapshots(c, &guess->snapshots, error));
  if (!guess->snapshots && (real_time || wants(c, ISO_LEVEL_SNAPSHOT_ISOLATION)))
    ISO_TRY(iso_mend_snapshots(c, real_time, &moved, error));
  guess->snapshots = guess->snapshots || (moved && real_time);
  guess->snapshots_moved = moved;
  return ISOPROOF_OK;
}

isoproof_status iso_coordinator_guess(iso_coordinator *c, iso_guess *guess, isoproof_error *error) {
  bool timed = iso_has_real_time(c->h), none;
  memset(guess, 0, sizeof *guess);
  if (timed) ISO_TRY(guess_serial(c, &guess->serial, error));
  if (timed && !guess->serial && wants_snapshots(c)) ISO_TRY(guess_near_times(c, guess, error));
  bool axioms = wants(c, ISO_LEVEL_READ_COMMITTED) || wants(c, ISO_LEVEL_READ_ATOMIC);
  if (timed && !guess->serial && !guess->snapshots && !guess->snapshots_moved && axioms)
    ISO_TRY(guess_commits(c, guess, error));
  return c->out->has_facts ? ISOPROOF_OK : try_sequence(c, NULL, ISO_RULE_SERIALIZABLE, true, &none, error);
}
