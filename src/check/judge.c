/* The verdict on every level, read off what the engines found. */
#include "check/judge.h"

bool iso_is_level_asked(const isoproof_check_options *options, const isoproof_level_info *level) {
  for (size_t i = 0; i < options->level_count; i++) {
    if (isoproof_level_find(options->levels[i]) == level) return true;
  }
  return false;
}

bool iso_is_tap_asked(const isoproof_check_options *options, iso_tap tap) {
  for (size_t i = 0; i < options->anomaly_count; i++) {
    if (iso_tap_find(options->anomalies[i]) == tap) return true;
  }
  return false;
}

bool iso_axiom_breaks(iso_axiom axiom, const isoproof_level_info *level) {
  return level->family != ISOPROOF_LEVEL_MODEL && isoproof_level_implies(level, iso_axiom_level(axiom));
}

bool iso_is_broken_outright(const iso_level_check *check, const isoproof_level_info *level) {
  for (int tap = 0; tap < ISO_TAPS; tap++) {
    bool found = iso_tap_of((iso_tap)tap)->class != ISO_CLASS_AXIOM && check->findings.count[tap] > 0;
    if (found && iso_tap_breaks((iso_tap)tap, level)) return true;
  }
  return false;
}

/* A forced edge that contradicts CO by itself breaks its own axiom, whichever axiom it was found by. */
static bool is_contradicted(const iso_level_check *check, const isoproof_level_info *level) {
  for (int tap = 0; tap < ISO_TAPS; tap++) {
    const iso_tap_info *info = iso_tap_of((iso_tap)tap);
    bool found = info->class == ISO_CLASS_AXIOM && info->form == ISO_FORM_CO && check->findings.count[tap] > 0;
    if (found && iso_axiom_breaks(info->axiom, level)) return true;
  }
  return false;
}

bool iso_is_broken_weakly(const iso_level_check *check, const isoproof_level_info *level) {
  if (iso_is_broken_outright(check, level) || is_contradicted(check, level)) return true;
  for (int axiom = 0; axiom < ISO_AXIOMS && check->has_weak; axiom++) {
    if (check->weak.axioms[axiom].violated && iso_axiom_breaks((iso_axiom)axiom, level)) return true;
  }
  return false;
}

bool iso_is_beside_the_point(const iso_level_check *check, const isoproof_level_info *level) {
  const iso_strong_level *strong = iso_strong_level_of(level);
  if (strong != NULL && strong->rule == ISO_RULE_MIXED) return iso_own_levels_lacking(check->history) != NULL;
  if (strong == NULL || !strong->single) return false;
  return !check->has_weak || iso_strong_hindrance(&check->weak.view, strong) != NULL;
}

bool iso_is_proved(const iso_level_check *check, const isoproof_level_info *level) {
  const isoproof_level_info *proved = iso_quick_proved_level(&check->proof);
  return proved != NULL && isoproof_level_implies(proved, level);
}

static isoproof_verdict judge_axiom(const iso_level_check *check, iso_axiom axiom) {
  if (check->weak.axioms[axiom].decided) return ISOPROOF_SATISFIED;
  /* The forced edges of causal contain those of every other axiom. */
  const iso_axiom_result *causal = &check->weak.axioms[ISO_AXIOM_CAUSAL];
  return causal->decided && !causal->violated ? ISOPROOF_SATISFIED : ISOPROOF_UNDECIDED;
}

isoproof_verdict iso_judge(const iso_level_check *check, const isoproof_level_info *level) {
  const iso_level_method *method = iso_level_method_of(level);
  if (iso_is_beside_the_point(check, level)) {
    bool mixed = method->engine == ISO_ENGINE_STRONG && method->strong.rule == ISO_RULE_MIXED;
    if (mixed) return ISOPROOF_UNDECIDED;
    bool proved = iso_is_proved(check, level) && !check->proof.repeats;
    return proved ? ISOPROOF_SATISFIED : iso_strong_verdict(&check->strong, level);
  }
  if (iso_is_broken_outright(check, level)) return ISOPROOF_VIOLATED;
  if (method->engine == ISO_ENGINE_WITHIN) return ISOPROOF_SATISFIED;
  if (iso_is_proved(check, level)) return ISOPROOF_SATISFIED;
  if (!check->has_weak) return ISOPROOF_UNDECIDED;
  if (iso_is_broken_weakly(check, level)) return ISOPROOF_VIOLATED;
  isoproof_verdict searched = iso_strong_verdict(&check->strong, level);
  if (searched != ISOPROOF_UNDECIDED) return searched;
  return method->engine == ISO_ENGINE_AXIOM ? judge_axiom(check, method->axiom) : ISOPROOF_UNDECIDED;
}
