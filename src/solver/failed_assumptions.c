/* Failed assumptions: from a false assumption back along the reasons to assumptions that contradict it. */
#include "solver/solver_internal.h"

/* Every variable that is marked is either an assumption or has a reason, so following reasons back along the trail ends
 * in assumptions alone. */
isoproof_status iso_sat_find_failed_assumptions(iso_solver *s, iso_lit assumption, isoproof_error *error) {
  s->core.count = 0;
  if (!iso_vec_reserve(&s->core, (size_t)s->level + 1)) return iso_fail_memory(error);
  s->core.items[s->core.count++] = assumption;
  if (iso_var_of(s, assumption)->level == 0) return ISOPROOF_OK;
  s->seen[iso_lit_var(assumption)] = 1;
  for (uint32_t at = s->trail_count; at-- > s->levels[0].trail;) {
    iso_lit literal = s->trail[at];
    uint32_t var = iso_lit_var(literal), count;
    if (!s->seen[var]) continue;
    s->seen[var] = 0;
    if (s->var[var].kind == ISO_REASON_NONE) {
      s->core.items[s->core.count++] = literal;
      continue;
    }
    const iso_lit *reason = iso_sat_reason_of(s, var, &count);
    for (uint32_t i = 0; i < count; i++) {
      uint32_t cause = iso_lit_var(reason[i]);
      if (s->var[cause].level > 0) s->seen[cause] = 1;
    }
  }
  return ISOPROOF_OK;
}
