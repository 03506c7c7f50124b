/* Annotations of GitHub: workflow commands, one a line, at the place in the history where an anomaly shows. */
#include <string.h>

#include "report/document/assessment.h"
#include "report/escape.h"

/* GitHub shows ten of a kind per step; what is worse comes first, and more than this would only fill the log. */
enum { MOST_ANNOTATIONS = 50 };

static const char *const commands[] = {
    [ISO_SEVERITY_ERROR] = "error", [ISO_SEVERITY_WARNING] = "warning", [ISO_SEVERITY_NOTE] = "notice"};

static void open_command(iso_output *out, const char *command, const iso_location *location) {
  iso_out_printf(out, "::%s ", command);
  if (location->file == NULL) return;
  iso_out_text(out, "file=");
  iso_put_github_property(out, location->file);
  iso_out_char(out, ',');
  if (location->line > 0) iso_out_printf(out, "line=%llu,", (unsigned long long)location->line);
}

static void put_anomaly(iso_output *out, const isoproof_document *document, const isoproof_document_anomaly *anomaly) {
  uint32_t txn;
  iso_location location = iso_location_of(document, anomaly, &txn);
  open_command(out, commands[iso_severity_of(document, anomaly)], &location);
  iso_out_text(out, "title=");
  iso_put_heading(out, iso_put_github_property, anomaly);
  iso_out_text(out, "::");
  iso_put_github(out, anomaly->explanation);
  iso_out_char(out, '\n');
}

static void put_problem(iso_output *out, const isoproof_document *document, const isoproof_error *problem) {
  const char *file = problem->file[0] != 0 ? problem->file : isoproof_document_file(document);
  iso_location location = {strcmp(file, "-") == 0 || file[0] == 0 ? NULL : file, problem->line, -1};
  open_command(out, "error", &location);
  iso_out_text(out, "title=cannot check::");
  iso_put_github(out, problem->message);
  iso_out_char(out, '\n');
}

/* What was asked for and is not known. */
static void put_unknown(iso_output *out, const isoproof_document *document) {
  const char *reason = isoproof_document_unknown_reason(document);
  iso_location location = iso_location_of_op(document, NULL);
  open_command(out, "warning", &location);
  iso_out_text(out, "title=unknown::");
  iso_put_github(out, reason != NULL ? reason : "not decided");
  iso_out_char(out, '\n');
}

/* What one has to know about the history behind the verdict. */
static void put_notice(iso_output *out, const isoproof_document *document, const isoproof_notice *notice) {
  iso_location location = iso_location_of_op(document, NULL);
  location.line = notice->line;
  open_command(out, "warning", &location);
  iso_out_text(out, "title=");
  iso_put_github_property(out, notice->code);
  iso_out_text(out, "::");
  iso_put_github(out, notice->message);
  iso_out_char(out, '\n');
}

static uint64_t put_notices(iso_output *out, const isoproof_document *document, uint64_t room) {
  isoproof_notice notice = {.struct_size = sizeof notice};
  uint64_t found = 0;
  for (size_t i = 0; isoproof_document_notice_at(document, i, &notice); i++) {
    if (found++ < room) put_notice(out, document, &notice);
  }
  return found;
}

/* Those of one severity; how many there are. */
static uint64_t put_all(iso_output *out, const isoproof_document *document, iso_severity severity, uint64_t room) {
  const isoproof_document_anomaly *a;
  uint64_t found = 0;
  for (size_t i = 0; (a = isoproof_document_anomaly_at(document, i)) != NULL; i++) {
    if (iso_severity_of(document, a) != severity) continue;
    if (found++ < room) put_anomaly(out, document, a);
  }
  return found;
}

isoproof_status isoproof_documents_write_github(const isoproof_document *const *documents, size_t count,
                                                isoproof_write_fn write, void *user, isoproof_error *error) {
  iso_output *out;
  uint64_t found = 0;
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &out, error));
  for (size_t i = 0; i < count; i++) {
    const isoproof_error *problem = isoproof_document_problem(documents[i]);
    if (problem == NULL) continue;
    if (found++ < MOST_ANNOTATIONS) put_problem(out, documents[i], problem);
  }
  for (int severity = ISO_SEVERITY_ERROR; severity <= ISO_SEVERITY_NOTE; severity++) {
    for (size_t i = 0; i < count; i++)
      found +=
          put_all(out, documents[i], (iso_severity)severity, found < MOST_ANNOTATIONS ? MOST_ANNOTATIONS - found : 0);
    for (size_t i = 0; severity == ISO_SEVERITY_ERROR && i < count; i++) {
      if (iso_overall_verdict(documents[i]) != ISOPROOF_UNDECIDED) continue;
      if (found++ < MOST_ANNOTATIONS) put_unknown(out, documents[i]);
    }
    for (size_t i = 0; severity == ISO_SEVERITY_ERROR && i < count; i++)
      found += put_notices(out, documents[i], found < MOST_ANNOTATIONS ? MOST_ANNOTATIONS - found : 0);
  }
  if (found > MOST_ANNOTATIONS)
    iso_out_printf(out, "::notice title=isoproof::%llu more findings are not shown here\n",
                   (unsigned long long)(found - MOST_ANNOTATIONS));
  return iso_output_close(out, error);
}
