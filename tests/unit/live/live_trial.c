/* Pushes small histories into live checkers and compares what they say with isoproof_check. */
#include "tests/unit/live/live_trial.h"

#include "tests/unit/unit.h"

enum { LEVELS = LIVE_LEVELS };

const char *const live_level_ids[LEVELS] = {"read-committed",
                                            "read-atomic",
                                            "causal",
                                            "prefix",
                                            "snapshot-isolation",
                                            "serializable",
                                            "strong-snapshot-isolation",
                                            "strict-serializable"};

static isoproof_status give_whole(void *user, isoproof_task *task, isoproof_history **history, isoproof_error *error) {
  (void)task;
  (void)error;
  live_trial *t = user;
  *history = live_source_part(t->source, 0, t->pushed);
  return ISOPROOF_OK;
}

static void compare(live_trial *t, const isoproof_live *live, const isoproof_result *result) {
  isoproof_live_verdict v = {.struct_size = sizeof v};
  for (size_t i = 0; isoproof_live_level_at(live, i, &v); i++) {
    isoproof_verdict expected = isoproof_result_verdict_of(result, v.level);
    bool unknown = !t->recorded && v.verdict == ISOPROOF_UNDECIDED;
    t->unknown += unknown;
    if (v.verdict != expected && !unknown)
      snprintf(t->problem, sizeof t->problem, "%s after %u: %s, but check says %s", v.level, t->pushed,
               isoproof_verdict_name(v.verdict), isoproof_verdict_name(expected));
    if ((v.final || (t->was_final[i] && !t->source->repeats && !t->source->of_rows)) && expected != ISOPROOF_VIOLATED)
      snprintf(t->problem, sizeof t->problem, "%s after %u: final, but check says %s", v.level, t->pushed,
               isoproof_verdict_name(expected));
    t->was_final[i] |= v.final;
  }
}

static void look_at_violations(live_trial *t, const isoproof_live *live, const isoproof_live_state *state) {
  const isoproof_history *history;
  const isoproof_result *result;
  if (state->final != isoproof_live_violation_at(live, 0, &history, &result))
    snprintf(t->problem, sizeof t->problem, "final without a violation, or the other way round");
  for (size_t i = 0; isoproof_live_violation_at(live, i, &history, &result); i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    bool shown =
        isoproof_result_verdict(result) == ISOPROOF_VIOLATED && isoproof_result_anomaly_at(result, 0, &anomaly);
    if (!shown)
      snprintf(t->problem, sizeof t->problem, "violation %zu has no witness", i);
    else
      snprintf(t->witness, sizeof t->witness, "%.500s", anomaly.explanation);
  }
}

/* A list to which an element was appended twice is refused, unless nobody looks any more: everything was violated
 * before that, or is unknown for want of a record. */
static bool may_be_refused(const live_trial *t, const isoproof_live *live) {
  isoproof_live_verdict v = {.struct_size = sizeof v};
  for (size_t i = 0; isoproof_live_level_at(live, i, &v); i++) {
    if (!v.final && (t->recorded || v.verdict != ISOPROOF_UNDECIDED)) return false;
  }
  return t->source->repeats;
}

static void poll_and_compare(live_trial *t, isoproof_live *live) {
  isoproof_live_state state = {.struct_size = sizeof state};
  isoproof_error error = {0};
  isoproof_history *prefix = live_source_part(t->source, 0, t->pushed);
  isoproof_check_options options = {.struct_size = sizeof options, .levels = live_level_ids, .level_count = LEVELS};
  if (!live_source_is_timed(t->source)) options.level_count = LEVELS - 2;
  if (t->only < LEVELS) options.levels = live_level_ids + t->only, options.level_count = 1;
  isoproof_result *result = NULL;
  isoproof_status expected = isoproof_check(prefix, &options, NULL, &result, &error);
  isoproof_status status = isoproof_live_poll(live, &state, &error);
  t->polls++;
  t->status = status;
  bool refused = expected == ISOPROOF_ERR_FORMAT && status == ISOPROOF_OK && may_be_refused(t, live);
  if (status != expected && !refused) {
    snprintf(t->problem, sizeof t->problem, "after %u: %s (%.200s), but check says %s", t->pushed,
             isoproof_status_name(status), error.message, isoproof_status_name(expected));
  } else if (status == ISOPROOF_OK && !refused) {
    compare(t, live, result);
    look_at_violations(t, live, &state);
    t->left += state.transactions - state.retained;
    t->whole_checks = state.whole_checks;
  }
  isoproof_result_free(result);
  isoproof_history_free(prefix);
}

/* Goes on with another live checker that knows what this one has written down, if it can. */
static void save_and_restore(live_trial *t, const isoproof_live_options *options, isoproof_live **live) {
  void *bytes;
  size_t size;
  isoproof_live *restored;
  isoproof_error error;
  isoproof_status status = isoproof_live_save(*live, &bytes, &size, &error);
  if (status == ISOPROOF_ERR_UNSUPPORTED) return;
  assert_ok_error(status, error);
  assert_ok_error(isoproof_live_restore(options, NULL, bytes, size, &restored, &error), error);
  ((char *)bytes)[t->pushed * 7919 % size] ^= 1; /* anything else is refused */
  isoproof_live *damaged;
  assert_int_equal(isoproof_live_restore(options, NULL, bytes, size, &damaged, &error), ISOPROOF_ERR_FORMAT);
  assert_int_equal(isoproof_live_restore(options, NULL, bytes, size / 2, &damaged, &error), ISOPROOF_ERR_FORMAT);
  free(bytes);
  isoproof_live_free(*live);
  *live = restored;
  t->saved++;
}

bool live_trial_differs(live_trial *t) {
  isoproof_live_options options = {.struct_size = sizeof options,
                                   .levels = live_level_ids,
                                   .level_count = live_source_is_timed(t->source) ? LEVELS : LEVELS - 2,
                                   .horizon = t->horizon,
                                   .whole = t->recorded ? give_whole : NULL,
                                   .whole_user = t};
  if (t->only < LEVELS) options.levels = live_level_ids + t->only, options.level_count = 1;
  isoproof_live *live;
  isoproof_error error;
  assert_ok_error(isoproof_live_new(&options, NULL, &live, &error), error);
  memset(t->was_final, 0, sizeof t->was_final);
  t->problem[0] = '\0';
  unsigned first = 0, count = live_source_count(t->source);
  for (unsigned end = 1; end <= count && t->problem[0] == '\0'; end++) {
    uint64_t order[LIVE_SOURCE_TXNS];
    if (end < count && (t->cuts >> end & 1) == 0) continue;
    isoproof_history *batch = live_source_part(t->source, first, end);
    live_source_number(t->source, batch, first, end, order);
    assert_ok_error(isoproof_live_push(live, batch, order, &error), error);
    isoproof_history_free(batch);
    first = t->pushed = end;
    poll_and_compare(t, live);
    if ((t->saves >> end & 1) != 0) save_and_restore(t, &options, &live);
  }
  if (t->problem[0] == '\0') {
    t->pushed = count;
    isoproof_status ended = isoproof_live_finish(live, &error);
    poll_and_compare(t, live);
    if (ended != t->status) snprintf(t->problem, sizeof t->problem, "the end: %s", isoproof_status_name(ended));
  }
  isoproof_live_free(live);
  return t->problem[0] != '\0';
}

/* ---- showing ---- */

static bool still_differs(live_source *s, void *user) {
  live_trial t = *(live_trial *)user;
  t.source = s;
  return live_trial_differs(&t);
}

void live_trial_show(live_trial *t, unsigned long long number) {
  char text[LIVE_SOURCE_TEXT];
  live_source_shrink(t->source, still_differs, t);
  live_source_print(t->source, text, sizeof text);
  live_trial_differs(t);
  fail_msg("history %llu, horizon %llu, %s, polls %x, saves %x, level %u: %s\n%s%s\n", number,
           (unsigned long long)t->horizon, t->recorded ? "recorded" : "not recorded", t->cuts, t->saves, t->only,
           t->problem, text, t->witness);
}
