/* JUnit XML: one suite per file, one case per level.  Only elements and attributes that every reader of such files
 * knows. */
#include <stdio.h>
#include <string.h>

#include "report/document/assessment.h"
#include "report/document/document.h"
#include "report/escape.h"

enum { MOST_SHOWN = 5 }; /* anomalies of a case that are shown in full */

typedef struct tally {
  uint64_t tests, failures, errors, skipped;
  double seconds;
} tally;

/* What a case comes to. */
typedef enum outcome { PASSED, FAILED, BROKEN, SKIPPED } outcome;

static outcome outcome_of(isoproof_verdict verdict, bool asked) {
  if (verdict == ISOPROOF_SATISFIED) return PASSED;
  if (verdict == ISOPROOF_VIOLATED) return FAILED;
  return asked && verdict == ISOPROOF_UNDECIDED ? BROKEN : SKIPPED;
}

/* A check without levels (for patterns, or as Elle does it) is one case. */
static outcome outcome_of_whole(const isoproof_document *document) {
  isoproof_verdict verdict = iso_overall_verdict(document);
  if (verdict != ISOPROOF_VERDICT_NONE) return outcome_of(verdict, true);
  return isoproof_document_anomaly_at(document, 0) != NULL ? FAILED : SKIPPED;
}

static void count(tally *t, outcome o) {
  t->tests++;
  t->failures += o == FAILED;
  t->errors += o == BROKEN;
  t->skipped += o == SKIPPED;
}

static double seconds_of(const isoproof_document *document) {
  double load = isoproof_document_load_seconds(document), check = isoproof_document_check_seconds(document);
  return (load > 0 ? load : 0) + (check > 0 ? check : 0);
}

static tally tally_of(const isoproof_document *document) {
  tally t = {0, 0, 0, 0, seconds_of(document)};
  isoproof_level_verdict v = {.struct_size = sizeof v};
  if (isoproof_document_problem(document) != NULL) {
    count(&t, BROKEN);
    return t;
  }
  for (size_t i = 0; iso_relevant_level(document, i, &v); i++) count(&t, outcome_of(v.verdict, v.asked));
  if (t.tests == 0) count(&t, outcome_of_whole(document));
  isoproof_document_invariant invariant = {.struct_size = sizeof invariant};
  for (size_t i = 0; isoproof_document_invariant_at(document, i, &invariant); i++)
    count(&t, invariant.broken > 0 ? FAILED : PASSED);
  return t;
}

/* ---- cases ---- */

static void open_case(iso_output *out, const isoproof_document *document, const char *name) {
  const char *file = isoproof_document_file(document);
  iso_out_text(out, "    <testcase classname=\"");
  iso_put_xml(out, file[0] != 0 ? file : "history");
  iso_out_text(out, "\" name=\"");
  iso_put_xml(out, name);
  iso_out_text(out, "\" time=\"0.000\"");
}

static bool counts_for(const isoproof_document_anomaly *anomaly, const char *level) {
  return level == NULL || iso_breaks(anomaly, level);
}

/* Whether an anomaly explains a level; where none does, all of them have to. */
static bool explains(const isoproof_document *document, const char *level) {
  const isoproof_document_anomaly *a;
  for (size_t i = 0; (a = isoproof_document_anomaly_at(document, i)) != NULL; i++) {
    if (counts_for(a, level)) return true;
  }
  return false;
}

static void put_anomaly(iso_output *out, const isoproof_document *document, const isoproof_document_anomaly *anomaly) {
  uint32_t txn;
  iso_location location = iso_location_of(document, anomaly, &txn);
  iso_put_heading(out, iso_put_xml, anomaly);
  iso_out_char(out, '\n');
  if (location.file != NULL && location.line > 0) {
    iso_put_xml(out, location.file);
    iso_out_printf(out, ":%llu\n", (unsigned long long)location.line);
  }
  iso_put_xml(out, anomaly->explanation);
  iso_out_char(out, '\n');
}

static void put_failure(iso_output *out, const isoproof_document *document, const char *level) {
  const isoproof_document_anomaly *a, *first = NULL;
  uint64_t shown = 0, more = 0;
  if (level != NULL && !explains(document, level)) level = NULL;
  for (size_t i = 0; first == NULL && (a = isoproof_document_anomaly_at(document, i)) != NULL; i++) {
    if (counts_for(a, level)) first = a;
  }
  iso_out_text(out, ">\n      <failure message=\"");
  if (first != NULL)
    iso_put_heading(out, iso_put_xml, first);
  else
    iso_out_text(out, "violated");
  iso_out_text(out, "\" type=\"");
  iso_put_xml(out, first != NULL ? first->code : "violated");
  iso_out_text(out, "\">");
  for (size_t i = 0; (a = isoproof_document_anomaly_at(document, i)) != NULL; i++) {
    if (!counts_for(a, level)) continue;
    if (shown == MOST_SHOWN) {
      more++;
      continue;
    }
    if (shown++ > 0) iso_out_char(out, '\n');
    put_anomaly(out, document, a);
  }
  if (more > 0) iso_out_printf(out, "\nand %llu more\n", (unsigned long long)more);
  iso_out_text(out, "</failure>\n    </testcase>\n");
}

static void put_undecided(iso_output *out, const isoproof_document *document, outcome o) {
  const char *reason = isoproof_document_unknown_reason(document);
  iso_out_text(out, o == BROKEN ? ">\n      <error message=\"unknown: " : ">\n      <skipped message=\"unknown: ");
  iso_put_xml(out, reason != NULL ? reason : "not decided");
  iso_out_text(out, o == BROKEN ? "\" type=\"unknown\"/>\n    </testcase>\n" : "\"/>\n    </testcase>\n");
}

static void put_case(iso_output *out, const isoproof_document *document, const char *name, const char *level,
                     outcome o) {
  open_case(out, document, name);
  if (o == PASSED)
    iso_out_text(out, "/>\n");
  else if (o == FAILED)
    put_failure(out, document, level);
  else
    put_undecided(out, document, o);
}

/* An invariant of a script is a case of its own. */
static void put_invariant(iso_output *out, const isoproof_document *document, const isoproof_document_invariant *v) {
  char name[160];
  iso_words words = {NULL, 0, 0, false};
  snprintf(name, sizeof name, "invariant %.140s", v->name);
  open_case(out, document, name);
  if (v->broken == 0) {
    iso_out_text(out, "/>\n");
    return;
  }
  iso_tell_invariant(&words, v);
  iso_out_text(out, ">\n      <failure message=\"");
  if (!words.failed) iso_put_xml(out, words.text);
  iso_out_text(out, "\" type=\"invariant\">");
  iso_words_free(&words);
  iso_tell_invariant_reason(&words, document);
  if (!words.failed) iso_put_xml(out, words.text);
  iso_out_text(out, "</failure>\n    </testcase>\n");
  iso_words_free(&words);
}

static void put_problem_case(iso_output *out, const isoproof_document *document, const isoproof_error *problem) {
  open_case(out, document, "read");
  iso_out_text(out, ">\n      <error message=\"");
  iso_put_problem(out, iso_put_xml, problem);
  iso_out_printf(out, "\" type=\"%s\"/>\n    </testcase>\n", isoproof_status_name(problem->code));
}

/* ---- suites ---- */

static void put_property(iso_output *out, const char *name, const char *value) {
  iso_out_text(out, "      <property name=\"");
  iso_put_xml(out, name);
  iso_out_text(out, "\" value=\"");
  iso_put_xml(out, value);
  iso_out_text(out, "\"/>\n");
}

static void put_number(iso_output *out, const char *name, uint64_t number) {
  iso_out_printf(out, "      <property name=\"%s\" value=\"%llu\"/>\n", name, (unsigned long long)number);
}

static void put_properties(iso_output *out, const isoproof_document *document) {
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_document_fact fact = {.struct_size = sizeof fact};
  isoproof_document_counts(document, &counts);
  iso_out_text(out, "    <properties>\n");
  put_property(out, "format", isoproof_document_format(document));
  put_number(out, "sessions", counts.sessions);
  put_number(out, "transactions", counts.transactions);
  put_number(out, "operations", counts.operations);
  for (size_t i = 0; isoproof_document_fact_at(document, i, &fact); i++) put_property(out, fact.name, fact.value);
  isoproof_notice notice = {.struct_size = sizeof notice};
  for (size_t i = 0; isoproof_document_notice_at(document, i, &notice); i++) {
    iso_out_text(out, "      <property name=\"notice.");
    iso_put_xml(out, notice.code);
    iso_out_text(out, "\" value=\"");
    iso_put_notice(out, iso_put_xml, &notice);
    iso_out_text(out, "\"/>\n");
  }
  iso_out_text(out, "    </properties>\n");
}

static void put_tally(iso_output *out, const tally *t) {
  iso_out_printf(out, " tests=\"%llu\" failures=\"%llu\" errors=\"%llu\"", (unsigned long long)t->tests,
                 (unsigned long long)t->failures, (unsigned long long)t->errors);
}

static void put_suite(iso_output *out, const isoproof_document *document) {
  tally t = tally_of(document);
  isoproof_level_verdict v = {.struct_size = sizeof v};
  const char *file = isoproof_document_file(document);
  const isoproof_error *problem = isoproof_document_problem(document);
  iso_out_text(out, "  <testsuite name=\"");
  iso_put_xml(out, file[0] != 0 ? file : "history");
  iso_out_char(out, '"');
  put_tally(out, &t);
  iso_out_printf(out, " skipped=\"%llu\" time=\"%.3f\">\n", (unsigned long long)t.skipped, t.seconds);
  if (problem != NULL) {
    put_problem_case(out, document, problem);
  } else {
    put_properties(out, document);
    for (size_t i = 0; iso_relevant_level(document, i, &v); i++)
      put_case(out, document, v.called, v.level, outcome_of(v.verdict, v.asked));
    if (!iso_relevant_level(document, 0, &v)) {
      const char *workload = isoproof_document_workload(document);
      put_case(out, document, workload != NULL ? workload : "anomalies", NULL, outcome_of_whole(document));
    }
    isoproof_document_invariant invariant = {.struct_size = sizeof invariant};
    for (size_t i = 0; isoproof_document_invariant_at(document, i, &invariant); i++)
      put_invariant(out, document, &invariant);
  }
  iso_out_text(out, "  </testsuite>\n");
}

isoproof_status isoproof_documents_write_junit(const isoproof_document *const *documents, size_t count,
                                               isoproof_write_fn write, void *user, isoproof_error *error) {
  iso_output *out;
  tally all = {0, 0, 0, 0, 0};
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &out, error));
  for (size_t i = 0; i < count; i++) {
    tally t = tally_of(documents[i]);
    all = (tally){all.tests + t.tests, all.failures + t.failures, all.errors + t.errors, all.skipped + t.skipped,
                  all.seconds + t.seconds};
  }
  iso_out_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"isoproof\"");
  put_tally(out, &all);
  iso_out_printf(out, " time=\"%.3f\">\n", all.seconds);
  for (size_t i = 0; i < count && !iso_output_failed(out); i++) put_suite(out, documents[i]);
  iso_out_text(out, "</testsuites>\n");
  return iso_output_close(out, error);
}
