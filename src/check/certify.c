/* The certificates of a result: which levels need one, and how callers get at them. */
#include "base/abi.h"
#include "result/result.h"

/* Whether the level was entered as satisfied. */
static bool is_satisfied(const isoproof_result *result, const isoproof_level_info *level) {
  for (size_t i = 0; i < result->level_count; i++) {
    if (result->levels[i].info == level) return result->levels[i].verdict == ISOPROOF_SATISFIED;
  }
  return false;
}

static isoproof_status certify_all(isoproof_result *result, isoproof_task *task, isoproof_error *error) {
  iso_certificates *made = &result->certificates;
  for (size_t i = 0; i < result->strong.count; i++) {
    const iso_strong *strong = &result->strong.items[i];
    const isoproof_level_info *level = iso_strong_info(strong->level);
    if (!is_satisfied(result, level) || iso_certificate_of(made, level) != NULL) continue;
    ISO_TRY(iso_certify_strong(result->history, strong, task, made, error));
  }
  /* From the strongest down: what proves one level proves those that it implies. */
  static const iso_axiom axioms[] = {ISO_AXIOM_CAUSAL, ISO_AXIOM_READ_ATOMIC, ISO_AXIOM_READ_COMMITTED};
  for (size_t i = 0; i < sizeof axioms / sizeof axioms[0]; i++) {
    const isoproof_level_info *level = isoproof_level_find_in(iso_axiom_level(axioms[i]), ISOPROOF_LEVEL_BASE);
    if (!is_satisfied(result, level) || !result->has_weak || iso_certificate_of(made, level) != NULL) continue;
    ISO_TRY(iso_certify_weak(&result->weak, axioms[i], task, made, error));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_result_certify(isoproof_result *result, isoproof_task *task, isoproof_error *error) {
  result->has_certificates = true;
  isoproof_status status = certify_all(result, task, error);
  if (status == ISOPROOF_OK) return ISOPROOF_OK;
  iso_certificates_free(&result->certificates);
  /* The verdicts are there already: a limit takes nothing but the certificates away. */
  if (status == ISOPROOF_ERR_TIMEOUT) result->uncertified = "the time limit was reached";
  if (status == ISOPROOF_ERR_MEMORY) result->uncertified = "memory ran out";
  return result->uncertified != NULL ? ISOPROOF_OK : status;
}

const char *isoproof_certificate_event_kind_name(isoproof_certificate_event_kind kind) {
  switch (kind) {
  case ISOPROOF_EVENT_TXN:
    return "transaction";
  case ISOPROOF_EVENT_BEGIN:
    return "begin";
  case ISOPROOF_EVENT_COMMIT:
    return "commit";
  }
  return "transaction";
}

size_t isoproof_result_certificate_count(const isoproof_result *result) { return result->certificates.count; }

const char *isoproof_result_uncertified(const isoproof_result *result) { return result->uncertified; }

static bool hand_out(const iso_certificate *certificate, isoproof_certificate *out) {
  if (certificate == NULL) return false;
  isoproof_certificate made = {.struct_size = sizeof made,
                               .level = certificate->level->id,
                               .events = certificate->events,
                               .event_count = certificate->count};
  return ISO_STRUCT_GIVE(out, made);
}

bool isoproof_result_certificate_at(const isoproof_result *result, size_t number, isoproof_certificate *out) {
  return hand_out(number < result->certificates.count ? &result->certificates.items[number] : NULL, out);
}

bool isoproof_result_certificate_of(const isoproof_result *result, const char *level, isoproof_certificate *out) {
  const isoproof_level_info *info = isoproof_level_find(level);
  return hand_out(info != NULL ? iso_certificate_of(&result->certificates, info) : NULL, out);
}
