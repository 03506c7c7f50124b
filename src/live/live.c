/* The public side of the live checker: options, batches, verdicts. */
#include "live/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/task.h"
#include "history/real_time.h"
#include "live/carried.h"
#include "live/commits.h"
#include "live/examine.h"
#include "live/plain.h"

/* ---- levels ---- */

/* What is judged where nobody says: ids, the weakest first, those that need times last. */
static const char *const usual_levels[] = {"read-committed",
                                           "read-atomic",
                                           "causal",
                                           "prefix",
                                           "snapshot-isolation",
                                           "serializable",
                                           "strong-snapshot-isolation",
                                           "strict-serializable"};

enum { USUAL_LEVELS = sizeof usual_levels / sizeof usual_levels[0] };

static int by_number(const void *a, const void *b) {
  const iso_live_level *x = a, *y = b;
  return (x->info->number > y->info->number) - (x->info->number < y->info->number);
}

static isoproof_status add_level(isoproof_live *live, const char *name, isoproof_error *error) {
  const isoproof_level_info *info = isoproof_level_find(name);
  if (info == NULL) return iso_fail(error, ISOPROOF_ERR_USAGE, "there is no level `%s`", name);
  if (info == isoproof_level_find("mixed")) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "`%s` is judged when a history is complete, not while it grows", name);
  }
  for (size_t i = 0; i < live->levels.count; i++) {
    if (live->levels.items[i].info == info) return ISOPROOF_OK;
  }
  iso_live_level level = {.info = info, .verdict = ISOPROOF_SATISFIED};
  return iso_vec_push(&live->levels, level) ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_live_sort_levels(isoproof_live *live, isoproof_error *error) {
  qsort(live->levels.items, live->levels.count, sizeof *live->levels.items, by_number);
  live->level_names = iso_alloc(live->levels.count, sizeof *live->level_names);
  if (live->level_names == NULL) return iso_fail_memory(error);
  for (size_t i = 0; i < live->levels.count; i++) live->level_names[i] = live->levels.items[i].info->id;
  live->has_levels = true;
  return ISOPROOF_OK;
}

static isoproof_status choose_levels(isoproof_live *live, const isoproof_history *batch, isoproof_error *error) {
  bool timed = batch != NULL && iso_has_real_time(batch);
  for (size_t i = 0; i < USUAL_LEVELS; i++) {
    const isoproof_level_info *info = isoproof_level_find(usual_levels[i]);
    if (info != NULL && (timed || !info->needs_times)) ISO_TRY(add_level(live, usual_levels[i], error));
  }
  return iso_live_sort_levels(live, error);
}

/* ---- making and freeing ---- */

static isoproof_status set_up(isoproof_live *live, isoproof_error *error) {
  ISO_TRY(iso_pool_init(&live->pool, error));
  iso_numbering_init(&live->sessions);
  iso_numbering_init(&live->keys);
  iso_live_index_init(&live->index);
  for (size_t i = 0; i < live->options.level_count; i++) ISO_TRY(add_level(live, live->options.levels[i], error));
  /* The names are the caller's, and may be gone when they are needed again. */
  if (live->options.level_count > 0) ISO_TRY(iso_live_sort_levels(live, error));
  live->options.levels = NULL;
  return ISOPROOF_OK;
}

isoproof_status isoproof_live_new(const isoproof_live_options *options, isoproof_task *task, isoproof_live **out,
                                  isoproof_error *error) {
  isoproof_live_options known = {.struct_size = sizeof known};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_live_options, &known, options, error));
  isoproof_live *live = iso_alloc_zero(1, sizeof *live);
  if (live == NULL) return iso_fail_memory(error);
  live->options = known;
  live->task = task;
  live->format = ISOPROOF_FORMATS;
  isoproof_status status = set_up(live, error);
  if (status != ISOPROOF_OK)
    isoproof_live_free(live);
  else
    *out = live;
  return status;
}

void isoproof_live_free(isoproof_live *live) {
  if (live == NULL) return;
  for (size_t i = 0; i < live->txns.count; i++) iso_live_txn_drop(live->txns.items[i].txn);
  iso_vec_free(&live->txns);
  for (size_t i = 0; i < live->tracks.count; i++) iso_live_track_free(live->tracks.items[i].track);
  iso_vec_free(&live->tracks);
  iso_live_carried_free(live);
  iso_vec_free(&live->carried);
  isoproof_history_free(live->whole);
  iso_live_index_free(&live->index);
  iso_written_free(&live->undone);
  iso_written_free(&live->blamed);
  for (size_t i = 0; i < live->violations.count; i++) {
    isoproof_result_free(live->violations.items[i].result);
    isoproof_history_free(live->violations.items[i].history);
  }
  iso_vec_free(&live->violations);
  iso_vec_free(&live->levels);
  iso_vec_free(&live->initial_rows);
  iso_row_map_free(&live->initial_seen);
  free(live->level_names);
  iso_numbering_free(&live->sessions);
  iso_numbering_free(&live->keys);
  iso_vec_free(&live->session_counts);
  iso_pool_free(&live->pool);
  free(live);
}

/* ---- batches ---- */

/* A transaction of a batch and when it ended. */
typedef struct ended {
  int64_t end;
  uint64_t txn;
} ended;

static int by_end(const void *a, const void *b) {
  const ended *x = a, *y = b;
  if (x->end != y->end) return x->end < y->end ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

/* When the transaction ended, for the order of arrivals only: one of unknown outcome never did, and comes at the moment
 * at which it must have been on its way. */
static int64_t arrival_of(const isoproof_history *batch, uint32_t txn) {
  int64_t end = iso_real_end(batch, txn);
  if (end != INT64_MAX) return end;
  bool indexed = batch->txn_end_index_opt != NULL && batch->txn_end_index_opt[txn] >= 0;
  if (indexed) return batch->txn_end_index_opt[txn];
  bool told = batch->txn_end_opt != NULL && batch->txn_end_opt[txn] != ISOPROOF_NO_TIME;
  return told ? batch->txn_end_opt[txn] : iso_real_start(batch, txn);
}

/* The order of a batch that came without one: sessions keep theirs. */
static isoproof_status find_order(const isoproof_history *batch, ended **out, isoproof_error *error) {
  ended *order = iso_alloc(batch->txns, sizeof *order);
  if (order == NULL) return iso_fail_memory(error);
  bool timed = iso_has_real_time(batch);
  for (uint32_t s = 0; s < batch->sessions; s++) {
    int64_t last = INT64_MIN;
    for (uint32_t t = batch->session_first_txn[s]; t < batch->session_first_txn[s + 1]; t++) {
      int64_t end = timed ? arrival_of(batch, t) : 0;
      if (end > last) last = end;
      order[t] = (ended){.end = last, .txn = t};
    }
  }
  if (timed) qsort(order, batch->txns, sizeof *order, by_end);
  *out = order;
  return ISOPROOF_OK;
}

static isoproof_status check_order(const isoproof_history *batch, const uint64_t *order, isoproof_error *error) {
  uint8_t *seen = iso_alloc_zero(batch->txns, 1);
  if (seen == NULL) return iso_fail_memory(error);
  isoproof_status status = ISOPROOF_OK;
  for (uint32_t i = 0; status == ISOPROOF_OK && i < batch->txns; i++) {
    if (order[i] >= batch->txns || seen[order[i]])
      status = iso_fail(error, ISOPROOF_ERR_USAGE, "the order of a batch must name each of its transactions once");
    else
      seen[order[i]] = 1;
  }
  free(seen);
  return status;
}

static isoproof_status adopt_batch(isoproof_live *live, const isoproof_history *batch, isoproof_error *error) {
  const char *what = isoproof_history_fact(batch, "interference");
  if (what != NULL)
    return iso_fail(error, ISOPROOF_ERR_INTERFERENCE,
                    "not judged, because of interference: somebody else changed the tables during the run (%.300s)",
                    what);
  if (batch->condition_count > 0)
    return iso_fail(
        error, ISOPROOF_ERR_UNSUPPORTED,
        "predicates with conditions on columns are not judged live: check the history when the run has ended");
  if (!live->has_levels) ISO_TRY(choose_levels(live, batch, error));
  if (!live->has_batch) {
    live->initial_is_zero = batch->initial_is_zero;
    live->format = batch->format;
    live->has_batch = true;
  } else if (live->initial_is_zero != batch->initial_is_zero) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "batches of one run must agree on what is initially in a key");
  }
  for (uint32_t key = 0; batch->key_initial_opt != NULL && key < batch->keys; key++) {
    iso_row_value row;
    if (batch->key_initial_opt[key] == ISO_VALUE_NIL) continue;
    if (!iso_pool_integer(&batch->pool, batch->key_name[key], &row.key)) continue;
    if (!iso_pool_integer(&batch->pool, batch->key_initial_opt[key], &row.value)) continue;
    ISO_TRY(iso_live_initial_row(live, &row, error));
  }
  return ISOPROOF_OK;
}

/* A batch, and the numbers that its keys and sessions have here. */
typedef struct batch_names {
  const isoproof_history *batch;
  uint32_t *keys, *sessions;
} batch_names;

static isoproof_status number_names(isoproof_live *live, batch_names *names, isoproof_error *error) {
  const isoproof_history *batch = names->batch;
  iso_live_carrier carrier = {.from = batch->pool, .to = &live->pool};
  iso_value name;
  for (uint32_t i = 0; i < batch->keys; i++) {
    ISO_TRY(iso_live_carry(&carrier, batch->key_name[i], &name, error));
    ISO_TRY(iso_numbering_add(&live->keys, name, &names->keys[i], error));
  }
  for (uint32_t i = 0; i < batch->sessions; i++) {
    ISO_TRY(iso_live_carry(&carrier, batch->session_name[i], &name, error));
    ISO_TRY(iso_numbering_add(&live->sessions, name, &names->sessions[i], error));
  }
  while (live->session_counts.count < live->sessions.count) {
    if (!iso_vec_push(&live->session_counts, 0)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

static isoproof_status push_txn(isoproof_live *live, const batch_names *names, uint32_t txn, isoproof_error *error) {
  iso_live_txn *t;
  ISO_TRY(iso_live_txn_copy(names->batch, txn, &live->pool, names->keys, &t, error));
  t->session = names->sessions[names->batch->txn_session[txn]];
  t->place = live->session_counts.items[t->session]++;
  t->number = live->pushed;
  isoproof_status status = iso_live_take(live, t, error);
  if (status == ISOPROOF_OK)
    live->pushed++;
  else
    iso_live_txn_drop(t);
  return status;
}

/* Inlined by force: some compilers take a call for nothing that does nothing but fetch.
 *
 * What is known of a key is somewhere in memory: it is fetched while transactions before it are still looked at, the
 * versions that it names a little later, and who wrote these later still. */
enum { FARTHEST = 12, FAR = 6, MIDDLE = 4, NEAR = 2, CACHE_LINE = 64, CACHED_OPS = 16 };

static inline __attribute__((always_inline)) void fetch_ops(const isoproof_history *h, uint32_t txn) {
  uint32_t op = h->txn_first_op[txn], other = op + CACHED_OPS < h->ops ? op + CACHED_OPS : op;
  __builtin_prefetch(&h->op_kind[op]);
  __builtin_prefetch(&h->op_key[op]);
  __builtin_prefetch(&h->op_key[other]);
  __builtin_prefetch(&h->op_value[op]);
  __builtin_prefetch(&h->op_value[other]);
}

static inline __attribute__((always_inline)) void fetch_keys(const isoproof_live *live, const iso_live_track *track,
                                                             const batch_names *names, uint32_t txn) {
  const isoproof_history *h = names->batch;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    uint32_t key = names->keys[h->op_key[op]];
    if (key >= track->slots.count) continue;
    __builtin_prefetch(&track->slots.items[key], 1);
    /* Reads and writes alternate at random, so that nothing branches on them. */
    const void *place = iso_live_index_place(&live->index, key);
    __builtin_prefetch(h->op_kind[op] == ISOPROOF_OP_READ ? &track->slots.items[key] : place, 1);
    if (track->rule->kind != ISO_LIVE_COMMITS)
      __builtin_prefetch((const char *)&track->slots.items[key] + CACHE_LINE, 1);
  }
}

static inline __attribute__((always_inline)) void fetch_versions(const iso_live_track *track, const batch_names *names,
                                                                 uint32_t txn, bool writers) {
  const isoproof_history *h = names->batch;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    uint32_t key = names->keys[h->op_key[op]];
    if (key >= track->slots.count) continue;
    const iso_live_slot *slot = &track->slots.items[key];
    const iso_live_version *version = slot->newest != 0 ? &track->versions.items[slot->newest - 1] : NULL;
    if (version != NULL) __builtin_prefetch(writers ? (const void *)&track->entries.items[version->writer] : version);
    if (!writers && slot->old != 0) __builtin_prefetch(&track->olds.items[slot->old - 1]);
  }
}

static uint32_t arrival_at(const uint64_t *order, const ended *found, uint32_t i) {
  return (uint32_t)(order != NULL ? order[i] : found[i].txn);
}

static inline __attribute__((always_inline)) void fetch(const isoproof_live *live, const batch_names *names,
                                                        const uint64_t *order, const ended *found, uint32_t i) {
  if (i + FARTHEST >= names->batch->txns || names->batch->ops == 0) return;
  fetch_ops(names->batch, arrival_at(order, found, i + FARTHEST));
  for (size_t t = 0; t < live->tracks.count; t++) {
    const iso_live_track *track = live->tracks.items[t].track;
    if (track->rule->kind == ISO_LIVE_COMMITS) fetch_versions(track, names, arrival_at(order, found, i + NEAR), true);
    fetch_versions(track, names, arrival_at(order, found, i + MIDDLE), false);
    fetch_keys(live, track, names, arrival_at(order, found, i + FAR));
  }
}

static isoproof_status push_all(isoproof_live *live, batch_names *names, const uint64_t *order, const ended *found,
                                isoproof_error *error) {
  ISO_TRY(number_names(live, names, error));
  for (uint32_t i = 0; i < names->batch->txns; i++) {
    if ((i & 0xfff) == 0) ISO_TRY(iso_task_check(live->task, error));
    fetch(live, names, order, found, i);
    ISO_TRY(push_txn(live, names, arrival_at(order, found, i), error));
  }
  return ISOPROOF_OK;
}

isoproof_status isoproof_live_push(isoproof_live *live, const isoproof_history *batch, const uint64_t *order,
                                   isoproof_error *error) {
  if (live->finished) return iso_fail(error, ISOPROOF_ERR_USAGE, "nothing can be pushed after the end");
  ISO_TRY(adopt_batch(live, batch, error));
  ended *found = NULL;
  if (order != NULL)
    ISO_TRY(check_order(batch, order, error));
  else
    ISO_TRY(find_order(batch, &found, error));
  batch_names names = {.batch = batch,
                       .keys = iso_alloc(batch->keys, sizeof *names.keys),
                       .sessions = iso_alloc(batch->sessions, sizeof *names.sessions)};
  bool made = names.keys != NULL && names.sessions != NULL;
  isoproof_status status = made ? push_all(live, &names, order, found, error) : iso_fail_memory(error);
  free(names.keys);
  free(names.sessions);
  free(found);
  return status;
}

/* ---- verdicts ---- */

static isoproof_verdict overall(const isoproof_live *live, bool *final) {
  isoproof_verdict verdict = live->levels.count > 0 ? ISOPROOF_SATISFIED : ISOPROOF_VERDICT_NONE;
  *final = false;
  for (size_t i = 0; i < live->levels.count; i++) {
    const iso_live_level *level = &live->levels.items[i];
    if (level->verdict == ISOPROOF_VIOLATED) verdict = ISOPROOF_VIOLATED;
    if (level->verdict == ISOPROOF_UNDECIDED && verdict == ISOPROOF_SATISFIED) verdict = ISOPROOF_UNDECIDED;
    *final |= level->final;
  }
  return verdict;
}

isoproof_status isoproof_live_poll(isoproof_live *live, isoproof_live_state *state, isoproof_error *error) {
  if (state != NULL) ISO_TRY(ISO_STRUCT_CHECK(isoproof_live_state, state, error));
  if (!live->has_levels) ISO_TRY(choose_levels(live, NULL, error));
  live->polling = true;
  isoproof_status status = iso_live_examine(live, error);
  live->polling = false;
  ISO_TRY(status);
  isoproof_live_state own = {.struct_size = sizeof own,
                             .transactions = live->pushed,
                             .retained = iso_live_retained(live),
                             .pending_reads = live->pending_reads,
                             .whole_checks = live->whole_checks,
                             .bytes = iso_live_bytes(live),
                             .reason = live->reason,
                             .sessions = live->sessions.count};
  own.verdict = overall(live, &own.final);
  if (state != NULL) ISO_STRUCT_GIVE(state, own);
  return ISOPROOF_OK;
}

isoproof_status isoproof_live_finish(isoproof_live *live, isoproof_error *error) {
  live->finished = true;
  return isoproof_live_poll(live, NULL, error);
}

bool isoproof_live_level_at(const isoproof_live *live, size_t number, isoproof_live_verdict *out) {
  if (number >= live->levels.count) return false;
  const iso_live_level *level = &live->levels.items[number];
  isoproof_live_verdict own = {.struct_size = sizeof own,
                               .level = level->info->id,
                               .verdict = level->verdict,
                               .final = level->final,
                               .since = level->since};
  return ISO_STRUCT_GIVE(out, own);
}

bool isoproof_live_violation_at(const isoproof_live *live, size_t number, const isoproof_history **history,
                                const isoproof_result **result) {
  if (number >= live->violations.count) return false;
  *history = live->violations.items[number].history;
  *result = live->violations.items[number].result;
  return true;
}
