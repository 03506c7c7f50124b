/* From verdicts of the coordinator to a result. */
#include "parts/judge.h"

#include <stdlib.h>
#include <string.h>

#include "check/quick/quick.h"
#include "check/strong/strong_levels.h"
#include "history/real_time.h"
#include "parts/ops.h"
#include "result/result.h"

void iso_parts_result_free(iso_parts_result *r) {
  isoproof_result_free(r->result);
  isoproof_history_free(r->history);
  memset(r, 0, sizeof *r);
}

typedef struct {
  iso_team *team;
  isoproof_history *h;
  const isoproof_check_options *options;
  const iso_whole *whole;
  isoproof_task *task;
  iso_coordination c;
  iso_parts_result *out;
} judging;

/* ---- what is asked ---- */

static const isoproof_level_info *asked(const judging *j, size_t number) {
  return isoproof_level_find(j->options->levels[number]);
}

static iso_level_set wanted_levels(const judging *j) {
  iso_level_set set = 0;
  for (size_t i = 0; i < j->options->level_count; i++) set |= ISO_LEVEL_BIT(asked(j, i)->number);
  /* Where nothing in particular is asked, the strongest level decides all, or the whole does. */
  if (j->options->level_count == 0)
    set = ISO_LEVEL_BIT(iso_has_real_time(j->h) ? ISO_LEVEL_STRICT_SERIALIZABLE : ISO_LEVEL_SERIALIZABLE) |
          ISO_LEVEL_BIT(ISO_LEVEL_CUT_ISOLATION);
  return set;
}

/* Why the parts cannot be asked; NULL where they can. */
static const char *hindrance(const judging *j) {
  const isoproof_check_options *o = j->options;
  bool more = o->certificate || o->stats || o->others || o->anomaly_count > 0 || o->model_count > 0 ||
              o->elle_workload != NULL || o->duplicate_values;
  if (more) return "more than verdicts was asked for";
  if (j->whole != NULL && j->whole->needed != NULL) return j->whole->needed;
  if (iso_history_has_rows(j->h)) return "the history has rows";
  if (isoproof_history_fact(j->h, "interference") != NULL) return "the history has an interference";
  if (o->level_count == 0 && j->h->txn_isolation_opt != NULL) return "transactions have levels of their own";
  for (size_t i = 0; i < o->level_count; i++) {
    if (asked(j, i) == NULL || !iso_is_coordinated(j->h, asked(j, i))) return "a level is decided on the whole only";
  }
  return NULL;
}

static bool is_satisfied(const judging *j) {
  iso_level_set set = wanted_levels(j);
  for (unsigned level = 0; level < ISO_LEVEL_COUNT; level++) {
    if ((set >> level & 1) != 0 && j->c.verdict[level] != ISOPROOF_SATISFIED) return false;
  }
  return true;
}

/* ---- a result without anomalies ---- */

static isoproof_anomaly *no_anomaly(void *state, size_t number, iso_arena *arena) {
  (void)state;
  (void)number;
  (void)arena;
  return NULL;
}

static void nothing_to_free(void *state) { (void)state; }

static const iso_result_engine no_engine = {no_anomaly, nothing_to_free};

/* Everything that follows from the strongest level, as a check of the whole enters it. */
static isoproof_verdict verdict_of(const judging *j, const isoproof_level_info *level) {
  if (j->options->level_count > 0) return j->c.verdict[level->number];
  iso_level proved = iso_has_real_time(j->h) ? ISO_LEVEL_STRICT_SERIALIZABLE : ISO_LEVEL_SERIALIZABLE;
  bool follows = isoproof_level_implies(isoproof_level_at(proved), level) || level->number == ISO_LEVEL_CUT_ISOLATION;
  if (level->number == ISO_LEVEL_MIXED) follows = false; /* nobody has a level of its own: see hindrance */
  return follows && level->family != ISOPROOF_LEVEL_MODEL ? ISOPROOF_SATISFIED : ISOPROOF_VERDICT_NONE;
}

static bool enter_levels(const judging *j, isoproof_result *result) {
  const isoproof_level_info *level;
  for (size_t i = 0; (level = isoproof_level_at(i)) != NULL; i++) {
    bool is_asked = false;
    for (size_t k = 0; k < j->options->level_count; k++) is_asked = is_asked || asked(j, k) == level;
    isoproof_verdict verdict = verdict_of(j, level);
    bool entered = j->options->level_count > 0 ? is_asked : verdict != ISOPROOF_VERDICT_NONE;
    if (!entered) continue;
    if (verdict == ISOPROOF_UNDECIDED) result->unknown_reason = j->out->why;
    if (!iso_result_add_level(result, level, verdict, is_asked)) return false;
  }
  return iso_result_find_extremes(result) && iso_result_set_anomalies(result, 0);
}

static isoproof_status give_verdicts(judging *j, isoproof_error *error) {
  isoproof_result *made;
  ISO_TRY(iso_result_new(j->h, &no_engine, NULL, &made, error));
  made->all = j->options->all;
  if (!enter_levels(j, made)) {
    isoproof_result_free(made);
    return iso_fail_memory(error);
  }
  iso_result_call_levels(made, j->options->levels, j->options->level_count, false);
  j->out->result = made;
  return ISOPROOF_OK;
}

/* ---- by the whole ---- */

static isoproof_status gather(judging *j, const iso_txn_set *txns, isoproof_history **history, isoproof_error *error) {
  uint32_t parts = j->team->parts;
  iso_question_head head = {.asks = ISO_ASK_OPS, .txns_wanted = txns != NULL ? (uint32_t)txns->count : UINT32_MAX};
  iso_bytes asked_bytes = {.count = 0}, *answers = iso_alloc_zero(parts, sizeof *answers);
  if (answers == NULL) return iso_fail_memory(error);
  iso_put(&asked_bytes, &head, sizeof head);
  if (txns != NULL) iso_put(&asked_bytes, txns->items, txns->count * sizeof *txns->items);
  isoproof_status status = iso_team_ask(j->team, &asked_bytes, answers, error);
  if (status == ISOPROOF_OK)
    status = iso_gather(j->h, txns != NULL ? j->c.counts : NULL, answers, parts, j->task, history, error);
  iso_answers_free(answers, parts);
  free(answers);
  iso_bytes_free(&asked_bytes);
  return status;
}

/* Both ways must come to the same. */
static isoproof_status compare(const judging *j, isoproof_error *error) {
  for (size_t i = 0; i < j->options->level_count; i++) {
    isoproof_verdict by_parts = j->c.verdict[asked(j, i)->number];
    isoproof_verdict verdict = isoproof_result_verdict_of(j->out->result, j->options->levels[i]);
    bool both = by_parts != ISOPROOF_UNDECIDED && by_parts != ISOPROOF_VERDICT_NONE && verdict != ISOPROOF_UNDECIDED;
    if (both && by_parts != verdict)
      return iso_fail(error, ISOPROOF_ERR_INTERNAL, "%s is %s in parts, and %s as a whole", asked(j, i)->id,
                      isoproof_verdict_name(by_parts), isoproof_verdict_name(verdict));
  }
  return ISOPROOF_OK;
}

static isoproof_status judge_whole(judging *j, const char *why, isoproof_error *error) {
  iso_parts_result *out = j->out;
  out->by_whole = true;
  out->why = why;
  if (j->whole->open == NULL) {
    if (j->c.counts == NULL) return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "not judged in parts: %s", why);
    ISO_TRY(gather(j, NULL, &out->history, error));
  }
  if (j->whole->release != NULL) j->whole->release(j->whole->context);
  if (j->whole->open != NULL) ISO_TRY(j->whole->open(j->whole->context, &out->history, error));
  ISO_TRY(isoproof_check(out->history, j->options, j->task, &out->result, error));
  return compare(j, error);
}

/* The suspects violate by themselves what is violated: they are judged as a history in which all others did nothing.
 * Where that does not show it, there is a verdict only. */
static isoproof_status judge_suspects(judging *j, isoproof_error *error) {
  j->out->why = j->c.reason != NULL ? j->c.reason : "the history does not fit into memory as a whole";
  if (j->c.suspects.count == 0) return give_verdicts(j, error);
  ISO_TRY(gather(j, &j->c.suspects, &j->out->history, error));
  ISO_TRY(isoproof_check(j->out->history, j->options, j->task, &j->out->result, error));
  bool same = true;
  for (size_t i = 0; i < j->options->level_count; i++) {
    isoproof_verdict verdict = isoproof_result_verdict_of(j->out->result, j->options->levels[i]);
    same = same && verdict == j->c.verdict[asked(j, i)->number];
  }
  if (same) return ISOPROOF_OK;
  isoproof_result_free(j->out->result);
  isoproof_history_free(j->out->history);
  j->out->result = NULL;
  j->out->history = NULL;
  return give_verdicts(j, error);
}

static isoproof_status judge(judging *j, isoproof_error *error) {
  const char *why = hindrance(j);
  if (why != NULL && !j->whole->fits)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "this takes the whole history in memory: %s", why);
  if (why != NULL) return judge_whole(j, why, error);
  iso_task_stage(j->task, "checking");
  isoproof_status status = iso_coordinate(j->team, j->h, wanted_levels(j), j->task, &j->c, error);
  if (status == ISOPROOF_ERR_LIMIT && j->whole->fits) return judge_whole(j, "a transaction is very long", error);
  if (status != ISOPROOF_OK) return status;
  if (is_satisfied(j)) return give_verdicts(j, error);
  if (j->whole->fits) return judge_whole(j, j->c.reason, error);
  return judge_suspects(j, error);
}

isoproof_status iso_judge_parts(iso_team *team, isoproof_history *skeleton, const isoproof_check_options *options,
                                const iso_whole *whole, isoproof_task *task, iso_parts_result *result,
                                isoproof_error *error) {
  memset(result, 0, sizeof *result);
  judging j = {.team = team, .h = skeleton, .options = options, .whole = whole, .task = task, .out = result};
  isoproof_status status = judge(&j, error);
  iso_coordination_free(&j.c);
  if (status != ISOPROOF_OK) iso_parts_result_free(result);
  return status;
}

/* ---- by the columns ---- */

/* What is to be proved: the strongest axiom, where that is enough for all that is wanted, else snapshot isolation. */
static iso_quick_wish wish_of(const judging *j, uint64_t memory) {
  iso_quick_wish wish = {.memory = memory, .by_reads = true, .axiom = ISO_AXIOM_READ_COMMITTED};
  const isoproof_level_info *snapshots = isoproof_level_at(ISO_LEVEL_SNAPSHOT_ISOLATION);
  bool timed = j->h->txn_end_opt != NULL || j->h->txn_end_index_opt != NULL;
  iso_level_set wanted = wanted_levels(j);
  for (unsigned number = 0; number < ISO_LEVEL_COUNT; number++) {
    const isoproof_level_info *level = isoproof_level_at(number);
    const iso_level_method *method = iso_level_method_of(level);
    if ((wanted >> number & 1) == 0 || method->engine == ISO_ENGINE_WITHIN) continue;
    bool axiom = method->engine == ISO_ENGINE_AXIOM && method->axiom <= ISO_AXIOM_READ_ATOMIC;
    if (axiom && method->axiom > wish.axiom) wish.axiom = method->axiom;
    if (axiom) continue;
    wish.snapshots = true;
    wish.by_reads = wish.by_reads && timed && isoproof_level_implies(snapshots, level);
  }
  return wish;
}

/* Everything that follows; no single transaction does anything wrong. */
static void enter_proof(judging *j, const iso_quick_proof *proof) {
  const isoproof_level_info *level, *proved = iso_quick_proved_level(proof);
  for (size_t i = 0; (level = isoproof_level_at(i)) != NULL; i++) {
    bool within = proof->is_sound && iso_level_method_of(level)->engine == ISO_ENGINE_WITHIN;
    bool follows = proved != NULL && isoproof_level_implies(proved, level);
    if (within || follows) j->c.verdict[i] = ISOPROOF_SATISFIED;
  }
}

/* What one of the ways to a history of suspects has to say; *violated: all that was asked for is. */
static isoproof_status try_suspects(judging *j, bool *violated, isoproof_error *error) {
  iso_parts_result *out = j->out;
  ISO_TRY(isoproof_check(out->history, j->options, j->task, &out->result, error));
  *violated = true;
  for (size_t i = 0; i < j->options->level_count; i++) {
    isoproof_verdict verdict = isoproof_result_verdict_of(out->result, j->options->levels[i]);
    *violated = *violated && verdict == ISOPROOF_VIOLATED;
  }
  return ISOPROOF_OK;
}

/* Whether a few transactions by themselves violate all that was asked for: then so does the whole, as what is left out
 * only takes orders away.  To be shown, they stand among all others, or among those of their sessions, or there is a
 * verdict only, as memory allows. */
static isoproof_status judge_suspected(judging *j, iso_txns *suspects, isoproof_error *error) {
  enum { EXCERPT, AMONG_ALL, AMONG_THEIRS, WAYS };
  iso_parts_result *out = j->out;
  isoproof_status status = ISOPROOF_OK;
  bool violated = false, shown = false;
  for (int way = 0; way < WAYS && (way == EXCERPT || violated); way++) {
    iso_parts_result_free(out);
    if (way == AMONG_ALL)
      status = iso_gather_columns(j->h, suspects->items, suspects->count, j->task, &out->history, error);
    else
      status = iso_excerpt(j->h, suspects->items, suspects->count, way == AMONG_THEIRS, &out->history, error);
    if (status == ISOPROOF_OK) status = try_suspects(j, way == EXCERPT ? &violated : &shown, error);
    if (status == ISOPROOF_OK && shown) return ISOPROOF_OK;
    if (status != ISOPROOF_OK && (way == EXCERPT || status != ISOPROOF_ERR_MEMORY)) return status;
  }
  iso_parts_result_free(out);
  for (unsigned level = 0; violated && level < ISO_LEVEL_COUNT; level++) {
    if ((wanted_levels(j) >> level & 1) != 0) j->c.verdict[level] = ISOPROOF_VIOLATED;
  }
  return violated ? give_verdicts(j, error) : ISOPROOF_OK;
}

isoproof_status iso_judge_by_columns(isoproof_history *history, const isoproof_check_options *options, uint64_t memory,
                                     isoproof_task *task, iso_parts_result *result, isoproof_error *error) {
  memset(result, 0, sizeof *result);
  judging j = {.h = history, .options = options, .task = task, .out = result};
  iso_txns suspects = {.items = NULL};
  iso_quick_proof proof;
  if (hindrance(&j) != NULL) return ISOPROOF_OK;
  iso_quick_wish wish = wish_of(&j, memory);
  if (options->level_count > 0) wish.suspects = &suspects;
  iso_task_stage(task, "checking");
  isoproof_status status = iso_quick_prove_frugally(history, &wish, task, &proof, error);
  if (status == ISOPROOF_OK) enter_proof(&j, &proof);
  if (status == ISOPROOF_OK && is_satisfied(&j)) {
    status = give_verdicts(&j, error);
  } else if (status == ISOPROOF_OK && suspects.count > 0) {
    status = judge_suspected(&j, &suspects, error);
  }
  iso_vec_free(&suspects);
  if (status != ISOPROOF_OK) iso_parts_result_free(result);
  return status;
}
