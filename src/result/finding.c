/* Lists of findings. */
#include "result/finding.h"

#include <isoproof/check.h>
#include <string.h>

const char *isoproof_check_pattern_at(size_t number) {
  return number < ISO_TAPS ? iso_tap_code((iso_tap)number) : NULL;
}

void iso_findings_add(iso_findings *findings, iso_finding finding) {
  if (findings->count[finding.tap]++ == 0) findings->first[finding.tap] = finding;
  if (findings->keep_all && !iso_vec_push(&findings->all, finding)) findings->failed = true;
}

void iso_findings_append(iso_findings *findings, iso_findings *more) {
  for (int tap = 0; tap < ISO_TAPS; tap++) {
    if (findings->count[tap] == 0 && more->count[tap] > 0) findings->first[tap] = more->first[tap];
    findings->count[tap] += more->count[tap];
  }
  if (more->failed) findings->failed = true;
  if (more->all.count > 0) {
    if (iso_vec_reserve(&findings->all, more->all.count)) {
      memcpy(findings->all.items + findings->all.count, more->all.items, more->all.count * sizeof *more->all.items);
      findings->all.count += more->all.count;
    } else {
      findings->failed = true;
    }
  }
  iso_findings_free(more);
}

void iso_findings_free(iso_findings *findings) {
  iso_vec_free(&findings->all);
  memset(findings, 0, sizeof *findings);
}
