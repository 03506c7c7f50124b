/* What the outputs for other programs share. */
#include "report/document/assessment.h"
#include "level/anomalies.h"

#include <stdio.h>
#include <string.h>

/* ---- levels ---- */

static bool asks(const isoproof_document *document) {
  isoproof_level_verdict v = {.struct_size = sizeof v};
  for (size_t i = 0; isoproof_document_level(document, i, &v); i++) {
    if (v.asked) return true;
  }
  return false;
}

bool iso_relevant_level(const isoproof_document *document, size_t number, isoproof_level_verdict *out) {
  bool all = !asks(document);
  for (size_t i = 0; isoproof_document_level(document, i, out); i++) {
    if ((all || out->asked) && number-- == 0) return true;
  }
  return false;
}

const char *iso_level_everyday(const char *level) {
  const isoproof_level_info *info = isoproof_level_find(level);
  return info != NULL && info->family == ISOPROOF_LEVEL_MODEL ? info->friendly : level;
}

const char *iso_level_called(const isoproof_document *document, const char *level) {
  isoproof_level_verdict v = {.struct_size = sizeof v};
  for (size_t i = 0; isoproof_document_level(document, i, &v); i++) {
    if (strcmp(v.level, level) == 0) return v.called;
  }
  return iso_level_everyday(level);
}

isoproof_verdict iso_overall_verdict(const isoproof_document *document) {
  isoproof_verdict verdict = isoproof_document_verdict(document);
  return verdict != ISOPROOF_VERDICT_NONE ? verdict : isoproof_document_elle(document);
}

const char *iso_overall_verdict_name(const isoproof_document *document) {
  if (isoproof_document_problem(document) != NULL) return "error";
  isoproof_verdict verdict = iso_overall_verdict(document);
  return verdict != ISOPROOF_VERDICT_NONE ? isoproof_verdict_name(verdict) : "decided";
}

static bool implies_in(const char *stronger, const char *weaker, isoproof_level_family family) {
  const isoproof_level_info *a = isoproof_level_find_in(stronger, family), *b = isoproof_level_find_in(weaker, family);
  return a != NULL && b != NULL && isoproof_level_implies(a, b);
}

bool iso_breaks(const isoproof_document_anomaly *anomaly, const char *level) {
  if (anomaly->level == NULL || anomaly->level[0] == 0) return false;
  if (strcmp(anomaly->level, level) == 0) return true;
  const isoproof_level_info *a = isoproof_level_find(level), *b = isoproof_level_find(anomaly->level);
  if (a != NULL && b != NULL && isoproof_level_implies(a, b)) return true;
  return implies_in(level, anomaly->level, ISOPROOF_LEVEL_MODEL) || iso_anomaly_breaks_model(anomaly->code, a);
}

iso_severity iso_severity_of(const isoproof_document *document, const isoproof_document_anomaly *anomaly) {
  isoproof_level_verdict v = {.struct_size = sizeof v};
  if (!asks(document))
    return iso_overall_verdict(document) == ISOPROOF_VIOLATED ? ISO_SEVERITY_ERROR : ISO_SEVERITY_WARNING;
  for (size_t i = 0; isoproof_document_level(document, i, &v); i++) {
    if (v.asked && v.verdict == ISOPROOF_VIOLATED && iso_breaks(anomaly, v.level)) return ISO_SEVERITY_ERROR;
  }
  return ISO_SEVERITY_NOTE;
}

/* ---- places ---- */

static const char *file_of(const isoproof_document *document, const isoproof_document_op *op) {
  const char *file = op != NULL && op->file != NULL ? op->file : isoproof_document_file(document);
  bool none = file[0] == 0 || strcmp(file, "-") == 0 || strcmp(file, "<stdin>") == 0;
  return none ? NULL : file;
}

iso_location iso_location_of_op(const isoproof_document *document, const isoproof_document_op *op) {
  if (op == NULL) return (iso_location){file_of(document, NULL), 0, -1};
  return (iso_location){file_of(document, op), op->line, op->offset};
}

iso_location iso_location_of_txn(const isoproof_document *document, const isoproof_document_txn *txn) {
  const isoproof_document_op *best = txn->op_count > 0 ? &txn->ops[0] : NULL;
  for (uint32_t i = 0; i < txn->op_count; i++) {
    if (!txn->ops[i].involved) continue;
    best = &txn->ops[i];
    break;
  }
  return iso_location_of_op(document, best);
}

iso_location iso_location_of_end(const isoproof_document *document, const isoproof_document_anomaly *anomaly,
                                 uint32_t txn, uint32_t op) {
  const isoproof_document_txn *whole = &anomaly->txns[txn];
  return op < whole->op_count ? iso_location_of_op(document, &whole->ops[op]) : iso_location_of_txn(document, whole);
}

/* Reads are where an anomaly shows; their kinds begin with that letter. */
static const isoproof_document_op *shown_by(const isoproof_document_txn *txn) {
  for (uint32_t i = 0; i < txn->op_count; i++) {
    const isoproof_document_op *op = &txn->ops[i];
    if (op->involved && op->kind[0] == 'r' && (op->line > 0 || op->offset >= 0)) return op;
  }
  return NULL;
}

iso_location iso_location_of(const isoproof_document *document, const isoproof_document_anomaly *anomaly,
                             uint32_t *txn) {
  for (uint32_t i = 0; i < anomaly->txn_count; i++) {
    const isoproof_document_op *op = shown_by(&anomaly->txns[i]);
    *txn = i;
    if (op != NULL) return iso_location_of_op(document, op);
  }
  for (uint32_t i = 0; i < anomaly->txn_count; i++) {
    iso_location location = iso_location_of_txn(document, &anomaly->txns[i]);
    *txn = i;
    if (location.line > 0 || location.offset >= 0) return location;
  }
  *txn = 0;
  return (iso_location){file_of(document, NULL), 0, -1};
}

/* ---- words ---- */

void iso_times(isoproof_count_kind is, uint64_t count, char text[ISO_TIMES_BYTES]) {
  text[0] = 0;
  if (is == ISOPROOF_COUNT_UNKNOWN || (is == ISOPROOF_COUNT_AT_LEAST && count <= 1)) return;
  snprintf(text, ISO_TIMES_BYTES, ", %s%llu time%s", is == ISOPROOF_COUNT_AT_LEAST ? "at least " : "",
           (unsigned long long)count, count == 1 ? "" : "s");
}

void iso_put_heading(iso_output *out, iso_put_fn put, const isoproof_document_anomaly *anomaly) {
  put(out, anomaly->name);
  if (strcmp(anomaly->name, anomaly->code) != 0) {
    put(out, " (");
    put(out, anomaly->code);
    put(out, ")");
  }
  if (anomaly->count > 1) {
    char times[ISO_TIMES_BYTES];
    iso_times(anomaly->count_is, anomaly->count, times);
    put(out, times);
  }
  if (anomaly->level == NULL || anomaly->level[0] == 0) return;
  put(out, ", breaks ");
  put(out, anomaly->level);
}

size_t iso_put_list(iso_output *out, iso_put_fn put, const isoproof_document *document,
                    const char *(*next)(const isoproof_document *, size_t)) {
  size_t i = 0;
  for (; next(document, i) != NULL; i++) {
    if (i > 0) put(out, ", ");
    put(out, next(document, i));
  }
  return i;
}

void iso_put_problem(iso_output *out, iso_put_fn put, const isoproof_error *problem) {
  char text[ISOPROOF_ERROR_FILE_BYTES + ISOPROOF_ERROR_MESSAGE_BYTES + 64];
  isoproof_error_format(problem, text, sizeof text);
  put(out, text);
}
