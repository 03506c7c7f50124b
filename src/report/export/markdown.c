/* A summary in Markdown, for pull requests and the summary of a step: a table of files, then what is wrong with them.
 */
#include <string.h>

#include "report/document/assessment.h"
#include "report/escape.h"

/* A summary of a step may have 1 MiB; whoever needs more looks at a page. */
enum { MOST_BYTES = 900 * 1000, MOST_DETAILED = 50, MOST_TOLD = 5, MOST_ROWS = 2000 };

/* ---- all files ---- */

static void put_plain(iso_output *out, const char *text) { iso_put_markdown(out, text); }

static void put_codes(iso_output *out, const isoproof_document *document) {
  const isoproof_document_anomaly *a, *before = NULL;
  for (size_t i = 0; (a = isoproof_document_anomaly_at(document, i)) != NULL; before = a, i++) {
    if (before != NULL && strcmp(before->code, a->code) == 0) continue;
    if (before != NULL) iso_out_text(out, ", ");
    iso_put_markdown(out, a->code);
  }
}

static void put_file(iso_output *out, const isoproof_document *document) {
  const char *file = isoproof_document_file(document);
  iso_put_markdown(out, file[0] != 0 ? file : "history");
}

static void put_row(iso_output *out, const isoproof_document *document) {
  const isoproof_error *problem = isoproof_document_problem(document);
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_document_counts(document, &counts);
  iso_out_text(out, "| ");
  put_file(out, document);
  iso_out_printf(out, " | %s | ", iso_overall_verdict_name(document));
  if (problem != NULL) {
    iso_out_text(out, " |  |  | ");
    iso_put_markdown(out, problem->message);
  } else {
    iso_out_printf(out, "%llu | ", (unsigned long long)counts.transactions);
    iso_put_list(out, put_plain, document, isoproof_document_strongest);
    if (isoproof_document_workload(document) != NULL) iso_put_list(out, put_plain, document, isoproof_document_proved);
    iso_out_text(out, " | ");
    iso_put_list(out, put_plain, document, isoproof_document_weakest_violated);
    if (isoproof_document_workload(document) != NULL) iso_put_list(out, put_plain, document, isoproof_document_not);
    iso_out_text(out, " | ");
    put_codes(out, document);
  }
  iso_out_text(out, " |\n");
}

static void put_total(iso_output *out, const isoproof_document *const *documents, size_t count) {
  static const char *const names[] = {"violated", "error", "unknown", "satisfied", "decided"};
  const char *comma = ": ";
  iso_out_printf(out, "%zu %s", count, count == 1 ? "history" : "histories");
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    size_t hits = 0;
    for (size_t i = 0; i < count; i++) hits += strcmp(iso_overall_verdict_name(documents[i]), names[n]) == 0;
    if (hits == 0) continue;
    iso_out_printf(out, "%s%zu %s", comma, hits, strcmp(names[n], "error") == 0 ? "not readable" : names[n]);
    comma = ", ";
  }
  iso_out_text(out, "\n\n");
}

static void put_table(iso_output *out, const isoproof_document *const *documents, size_t count) {
  iso_out_text(out, "| history | verdict | transactions | strongest that holds | weakest violated | anomalies |\n"
                    "|---|---|--:|---|---|---|\n");
  for (size_t i = 0; i < count && i < MOST_ROWS; i++) put_row(out, documents[i]);
  if (count > MOST_ROWS) iso_out_printf(out, "\n%zu more histories are not shown.\n", count - MOST_ROWS);
  iso_out_char(out, '\n');
}

/* ---- one file ---- */

static void put_levels(iso_output *out, const isoproof_document *document) {
  isoproof_level_verdict v = {.struct_size = sizeof v};
  if (!iso_relevant_level(document, 0, &v)) return;
  iso_out_text(out, "| level | verdict |\n|---|---|\n");
  for (size_t i = 0; iso_relevant_level(document, i, &v); i++) {
    bool bad = v.verdict == ISOPROOF_VIOLATED;
    iso_out_text(out, "| ");
    iso_put_markdown(out, v.called);
    iso_out_printf(out, " | %s%s%s |\n", bad ? "**" : "", isoproof_verdict_name(v.verdict), bad ? "**" : "");
  }
  iso_out_char(out, '\n');
}

static void put_place(iso_output *out, const isoproof_document *document, const isoproof_document_anomaly *anomaly) {
  uint32_t txn;
  iso_location location = iso_location_of(document, anomaly, &txn);
  if (location.file == NULL || location.line == 0) return;
  iso_out_text(out, " (");
  iso_put_markdown(out, location.file);
  iso_out_printf(out, ":%llu)", (unsigned long long)location.line);
}

static void put_txns(iso_output *out, const isoproof_document_anomaly *anomaly) {
  iso_out_text(out, "| transaction | status | operations |\n|---|---|---|\n");
  for (uint32_t t = 0; t < anomaly->txn_count && t < 16; t++) {
    const isoproof_document_txn *txn = &anomaly->txns[t];
    if (txn->number == ISOPROOF_INITIAL_TXN) continue;
    iso_out_text(out, "| ");
    iso_put_markdown(out, txn->name);
    if (txn->called != NULL) {
      iso_out_char(out, ' ');
      iso_put_markdown(out, txn->called);
    }
    iso_out_text(out, " | ");
    iso_put_markdown(out, txn->status);
    if (txn->isolation != NULL) {
      iso_out_text(out, ", ");
      iso_put_markdown(out, txn->isolation);
    }
    iso_out_text(out, " | ");
    for (uint32_t i = 0; i < txn->op_count; i++) {
      if (i > 0) iso_out_text(out, "; ");
      if (txn->ops[i].involved) iso_out_text(out, "<b>");
      iso_put_markdown(out, txn->ops[i].text);
      if (txn->ops[i].involved) iso_out_text(out, "</b>");
    }
    if (txn->more > 0) iso_out_printf(out, "; and %llu more", (unsigned long long)txn->more);
    iso_out_text(out, " |\n");
  }
  iso_out_char(out, '\n');
}

static void put_anomaly(iso_output *out, const isoproof_document *document, const isoproof_document_anomaly *anomaly) {
  iso_out_text(out, "#### ");
  iso_put_heading(out, iso_put_markdown, anomaly);
  put_place(out, document, anomaly);
  iso_out_text(out, "\n\n");
  if (anomaly->meaning[0] != 0) {
    iso_put_markdown(out, anomaly->meaning);
    iso_out_text(out, "\n\n");
  }
  iso_put_markdown(out, anomaly->explanation);
  iso_out_text(out, "\n\n");
  put_txns(out, anomaly);
}

static void put_details(iso_output *out, const isoproof_document *document) {
  const isoproof_document_anomaly *a;
  const char *reason = isoproof_document_unknown_reason(document);
  size_t i = 0;
  iso_out_text(out, "### ");
  put_file(out, document);
  iso_out_text(out, "\n\n");
  put_levels(out, document);
  if (reason != NULL) {
    iso_out_text(out, "Unknown: ");
    iso_put_markdown(out, reason);
    iso_out_text(out, "\n\n");
  }
  isoproof_notice notice = {.struct_size = sizeof notice};
  for (size_t n = 0; isoproof_document_notice_at(document, n, &notice); n++) {
    iso_out_text(out, "Notice: ");
    iso_put_notice(out, iso_put_markdown, &notice);
    iso_out_text(out, "\n\n");
  }
  for (; i < MOST_TOLD && (a = isoproof_document_anomaly_at(document, i)) != NULL; i++) put_anomaly(out, document, a);
  size_t shown = i;
  while (isoproof_document_anomaly_at(document, i) != NULL) i++;
  if (i > shown) iso_out_printf(out, "%zu more anomalies are not shown.\n\n", i - shown);
}

/* ---- everything ---- */

/* Counts what goes through, so that the summary can end in time. */
typedef struct counter {
  isoproof_write_fn write;
  void *user;
  uint64_t bytes;
} counter;

static bool count_bytes(void *user, const void *data, size_t size) {
  counter *c = user;
  c->bytes += size;
  return c->write(c->user, data, size);
}

static bool has_notice(const isoproof_document *document) {
  isoproof_notice notice = {.struct_size = sizeof notice};
  return isoproof_document_notice_at(document, 0, &notice);
}

static bool is_worth_details(const isoproof_document *document, size_t count) {
  if (isoproof_document_problem(document) != NULL) return false;
  return count == 1 || isoproof_document_anomaly_at(document, 0) != NULL ||
         isoproof_document_unknown_reason(document) != NULL || has_notice(document);
}

isoproof_status isoproof_documents_write_markdown(const isoproof_document *const *documents, size_t count,
                                                  isoproof_write_fn write, void *user, isoproof_error *error) {
  iso_output *out;
  counter c = {write, user, 0};
  size_t detailed = 0, left_out = 0;
  ISO_TRY(iso_output_open_callback(count_bytes, &c, ISOPROOF_COMPRESS_NO, &out, error));
  iso_out_text(out, "## Isolation levels\n\n");
  put_total(out, documents, count);
  put_table(out, documents, count);
  for (size_t i = 0; i < count && !iso_output_failed(out); i++) {
    if (!is_worth_details(documents[i], count)) continue;
    iso_output_flush(out);
    if (detailed == MOST_DETAILED || c.bytes > MOST_BYTES) {
      left_out++;
      continue;
    }
    put_details(out, documents[i]);
    detailed++;
  }
  if (left_out > 0) iso_out_printf(out, "Details of %zu more histories are not shown.\n\n", left_out);
  iso_out_text(out, "Made by isoproof ");
  iso_out_text(out, isoproof_version());
  iso_out_text(out, "\n");
  return iso_output_close(out, error);
}
