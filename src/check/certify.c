/* The certificates of a result: which levels need one, and how callers get at them. */
#include "check/result.h"

/* Whether the level was entered as satisfied. */
static bool is_satisfied(const isolde_result *result, const isolde_level_info *level) {
  for (size_t i = 0; i < result->level_count; i++) {
    if (result->levels[i].info == level) return result->levels[i].verdict == ISOLDE_SATISFIED;
  }
  return false;
}

static isolde_status certify_all(isolde_result *result, isolde_task *task, isolde_error *error) {
  iso_certificates *made = &result->certificates;
  for (size_t i = 0; i < result->strong.count; i++) {
    const iso_strong *strong = &result->strong.items[i];
    const isolde_level_info *level = iso_strong_info(strong->level);
    if (!is_satisfied(result, level) || iso_certificate_of(made, level) != NULL) continue;
    ISO_TRY(iso_certify_strong(result->history, strong, task, made, error));
  }
  /* From the strongest down: what proves one level proves those that it implies. */
  static const iso_axiom axioms[] = {ISO_AXIOM_CAUSAL, ISO_AXIOM_READ_ATOMIC, ISO_AXIOM_READ_COMMITTED};
  for (size_t i = 0; i < sizeof axioms / sizeof axioms[0]; i++) {
    const isolde_level_info *level = isolde_level_find_in(iso_axiom_level(axioms[i]), ISOLDE_LEVEL_BASE);
    if (!is_satisfied(result, level) || !result->has_weak || iso_certificate_of(made, level) != NULL) continue;
    ISO_TRY(iso_certify_weak(&result->weak, axioms[i], task, made, error));
  }
  return ISOLDE_OK;
}

isolde_status iso_result_certify(isolde_result *result, isolde_task *task, isolde_error *error) {
  result->has_certificates = true;
  isolde_status status = certify_all(result, task, error);
  if (status == ISOLDE_OK) return ISOLDE_OK;
  iso_certificates_free(&result->certificates);
  /* The verdicts are there already: a limit takes nothing but the certificates away. */
  if (status == ISOLDE_ERR_TIMEOUT) result->uncertified = "the time limit was reached";
  if (status == ISOLDE_ERR_MEMORY) result->uncertified = "memory ran out";
  return result->uncertified != NULL ? ISOLDE_OK : status;
}

const char *isolde_event_kind_name(isolde_event_kind kind) {
  switch (kind) {
  case ISOLDE_EVENT_TXN:
    return "transaction";
  case ISOLDE_EVENT_BEGIN:
    return "begin";
  case ISOLDE_EVENT_COMMIT:
    return "commit";
  }
  return "transaction";
}

size_t isolde_result_certificates(const isolde_result *result) { return result->certificates.count; }

const char *isolde_result_uncertified(const isolde_result *result) { return result->uncertified; }

static bool hand_out(const iso_certificate *certificate, isolde_certificate *out) {
  if (certificate == NULL) return false;
  *out = (isolde_certificate){certificate->level->id, certificate->events, certificate->count};
  return true;
}

bool isolde_result_certificate(const isolde_result *result, size_t number, isolde_certificate *out) {
  return hand_out(number < result->certificates.count ? &result->certificates.items[number] : NULL, out);
}

bool isolde_result_certificate_of(const isolde_result *result, const char *level, isolde_certificate *out) {
  const isolde_level_info *info = isolde_level_find(level);
  return hand_out(info != NULL ? iso_certificate_of(&result->certificates, info) : NULL, out);
}
