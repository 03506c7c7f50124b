/* The wanted strong levels, the strongest first, and those without session order. */
#include "check/strong/strong_levels.h"

#include <stdlib.h>
#include <string.h>

#include "check/strong/rules/rule.h"
#include "check/strong/scenario/make.h"
#include "history/real_time.h"

void iso_strong_set_free(iso_strong_set *set) {
  for (size_t i = 0; i < set->count; i++) {
    iso_strong_free(&set->items[i]);
    iso_scenario_free(&set->scenarios[i]);
  }
  set->count = 0;
}

isoproof_verdict iso_strong_verdict(const iso_strong_set *set, const isoproof_level_info *level) {
  for (size_t i = 0; i < set->count; i++) {
    const iso_strong *decided = &set->items[i];
    const isoproof_level_info *own = isoproof_level_at(decided->level->level);
    if (!decided->decided || own == NULL) continue;
    if (!decided->violated && isoproof_level_implies(own, level)) return ISOPROOF_SATISFIED;
    if (decided->violated && isoproof_level_implies(level, own)) return ISOPROOF_VIOLATED;
  }
  return ISOPROOF_UNDECIDED;
}

/* Whether every transaction that takes part has one operation at most. */
static bool is_single(const iso_view *view) {
  const isoproof_history *h = view->h;
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    if (view->counts[txn] && h->txn_first_op[txn + 1] - h->txn_first_op[txn] > 1) return false;
  }
  return true;
}

static const char *no_levels(const iso_view *view) {
  if (view->h->txn_isolation_opt == NULL) return "no transaction of the history carries an isolation level of its own";
  for (uint32_t txn = 0; txn < view->h->txns; txn++) {
    if (view->counts[txn] && view->h->txn_isolation_opt[txn] == ISO_ISOLATION_NONE) {
      return "some transactions that took effect carry no isolation level of their own, and the level needs all";
    }
  }
  return NULL;
}

const char *iso_strong_hindrance(const iso_view *view, const iso_strong_level *level) {
  if (level->rule == ISO_RULE_MIXED) return no_levels(view);
  if (level->real_time && !iso_has_real_time(view->h)) return "the history has no times, which the level needs";
  if (level->single && !is_single(view)) return "the level is about transactions of one operation, and some have more";
  return NULL;
}

/* ---- levels without session order ---- */

/* Session order is kept where it does no harm, as chains of events make everything fast: a history that satisfies the
 * level with it satisfies it without.  When a contradiction rests on session order, the sessions are cut there. */
static isoproof_status cut_sessions(const iso_view *view, const iso_versions *versions, const iso_strong_level *level,
                                    const iso_strong *with, uint8_t *cut, bool *violated, isoproof_task *task,
                                    isoproof_error *error) {
  iso_scenario scenario;
  const iso_txn_set *s = &with->suspects;
  ISO_TRY(iso_scenario_make(view, level, versions, s->items, s->count, task, &scenario, error));
  *violated = scenario.refuted;
  iso_scenario_free(&scenario);
  if (*violated) return ISOPROOF_OK;
  iso_strong_level in_order = *level;
  in_order.session_order = true;
  ISO_TRY(iso_scenario_make(view, &in_order, versions, s->items, s->count, task, &scenario, error));
  bool progress = false;
  size_t uncut = 0;
  for (size_t i = 0; i < scenario.known.count; i++) {
    if (scenario.known.items[i].kind != ISO_EDGE_SO) continue;
    progress = progress || !cut[scenario.known.items[i].to];
    cut[scenario.known.items[i].to] = 1;
  }
  iso_scenario_free(&scenario);
  /* The scenario may rest on session order that is cut already: then it is cut before every suspect. */
  for (size_t i = 0; !progress && i < s->count; i++) uncut += !cut[s->items[i]];
  for (size_t i = 0; !progress && i < s->count; i++) cut[s->items[i]] = 1;
  if (progress || uncut > 0) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_INTERNAL, "a contradiction rests on nothing");
}

static isoproof_status decide_unordered(iso_view *view, const iso_versions *versions, const iso_strong_level *level,
                                        const iso_strong_options *options, isoproof_task *task, iso_strong *strong,
                                        isoproof_error *error) {
  enum { PATIENCE = 32 }; /* then the sessions are cut everywhere */
  uint32_t txns = view->h->txns;
  uint8_t *cut = iso_alloc_zero(txns, 1);
  if (cut == NULL) return iso_fail_memory(error);
  isoproof_status status = ISOPROOF_OK;
  bool violated = false;
  for (int tries = 0; status == ISOPROOF_OK; tries++) {
    if (tries == PATIENCE) memset(cut, 1, txns);
    status = iso_strong_decide(view, versions, level, cut, options, task, strong, error);
    if (status != ISOPROOF_OK || !strong->violated || tries >= PATIENCE) break;
    status = cut_sessions(view, versions, level, strong, cut, &violated, task, error);
    if (violated || status != ISOPROOF_OK) break;
    iso_strong_free(strong);
  }
  free(cut);
  if (status != ISOPROOF_OK) iso_strong_free(strong);
  return status;
}

static isoproof_status decide_one(iso_view *view, const iso_versions *versions, const iso_strong_level *level,
                                  const iso_strong_options *options, isoproof_task *task, iso_strong_set *set,
                                  isoproof_error *error) {
  iso_strong *item = &set->items[set->count];
  if (!level->session_order) return decide_unordered(view, versions, level, options, task, item, error);
  iso_strong_options chosen = {.count_pairs = false};
  if (options != NULL) chosen = *options;
  /* Levels that are guessed by way of snapshot isolation need not be when that is known to be violated. */
  bool indirect = !iso_strong_rule_of(level->rule)->is_executed;
  bool in_vain = iso_strong_verdict(set, isoproof_level_at(ISO_LEVEL_SNAPSHOT_ISOLATION)) == ISOPROOF_VIOLATED;
  if (indirect && in_vain) chosen.no_guess = true;
  return iso_strong_decide(view, versions, level, NULL, &chosen, task, item, error);
}

const char iso_strong_too_large[] = "the history has too many sessions, or too many transactions, for this level";

isoproof_status iso_strong_run_one(iso_view *view, const iso_versions *versions, const iso_strong_level *level,
                                   const iso_strong_options *options, isoproof_task *task, iso_strong_set *set,
                                   isoproof_error *error) {
  isoproof_status status = decide_one(view, versions, level, options, task, set, error);
  if (status == ISOPROOF_OK) set->count++;
  return status;
}

isoproof_status iso_strong_run(iso_view *view, const iso_versions *versions, iso_wanted_fn wanted, void *user,
                               bool asked, const iso_strong_options *options, isoproof_task *task, iso_strong_set *set,
                               isoproof_error *error) {
  size_t levels = 0;
  while (iso_strong_level_at(levels) != NULL) levels++;
  while (levels-- > 0) {
    const iso_strong_level *level = iso_strong_level_at(levels);
    const isoproof_level_info *info = isoproof_level_at(level->level);
    if (info == NULL || !wanted(info, user)) continue;
    /* Mixed levels say nothing where there are none, whatever they would follow from. */
    bool decided = iso_strong_verdict(set, info) != ISOPROOF_UNDECIDED;
    if (decided && level->rule != ISO_RULE_MIXED) continue;
    const char *reason = iso_strong_hindrance(view, level);
    if (decided && reason == NULL) continue;
    if (reason != NULL) {
      if (asked) set->reason = reason;
      continue;
    }
    iso_task_about(task, level->id, 0, 0);
    isoproof_status status = iso_strong_run_one(view, versions, level, options, task, set, error);
    if (status == ISOPROOF_ERR_LIMIT) {
      if (asked) set->reason = iso_strong_too_large;
      continue;
    }
    if (status != ISOPROOF_OK) return status;
  }
  return ISOPROOF_OK;
}

void iso_strong_forget(iso_strong_set *set) {
  set->count--;
  iso_strong_free(&set->items[set->count]);
  iso_scenario_free(&set->scenarios[set->count]);
  memset(&set->items[set->count], 0, sizeof *set->items);
  memset(&set->scenarios[set->count], 0, sizeof *set->scenarios);
}

isoproof_status iso_strong_explain(const iso_view *view, const iso_versions *versions, iso_strong_set *set,
                                   size_t number, isoproof_task *task, isoproof_error *error) {
  iso_strong *strong = &set->items[number];
  iso_scenario *scenario = &set->scenarios[number];
  if (scenario->refuted) return ISOPROOF_OK;
  double since = iso_now();
  ISO_TRY(iso_scenario_make(view, strong->level, versions, strong->suspects.items, strong->suspects.count, task,
                            scenario, error));
  strong->stats.explain_seconds += iso_now() - since;
  if (scenario->refuted) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_INTERNAL, "a violation of %s does not repeat itself", strong->level->id);
}
