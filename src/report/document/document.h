/* document.h - a document, inside the library: what renderers look at.
 *
 * A document owns its arena, in which everything else lies, and the history where `owns_history` says so.
 */
#ifndef ISO_REPORT_DOCUMENT_DOCUMENT_H
#define ISO_REPORT_DOCUMENT_DOCUMENT_H

#include <isoproof/report.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vector.h"

typedef ISO_VEC(const char *) iso_name_list;

/* Lists of names that results have, as fields of the JSON too: C name, field. */
#define ISO_DOCUMENT_NAMES(X)                                                                                          \
  X(STRONGEST, "strongest")                                                                                            \
  X(WEAKEST_VIOLATED, "weakest_violated")                                                                              \
  X(NOT, "not")                                                                                                        \
  X(ALSO_NOT, "also_not")                                                                                              \
  X(PROVED, "proved")

typedef enum iso_document_names {
#define ISO_X(name, field) ISO_NAMES_##name,
  ISO_DOCUMENT_NAMES(ISO_X)
#undef ISO_X
      ISO_NAMES_KINDS
} iso_document_names;

struct isoproof_document {
  iso_arena arena;
  bool has_problem;
  isoproof_error problem;
  const char *file, *title, *format;
  isoproof_counts counts;
  bool has_times; /* first_start and last_end say something */
  int64_t first_start, last_end;
  double load_seconds, check_seconds;
  uint64_t peak_bytes;

  isoproof_verdict verdict, elle;
  const char *unknown_reason, *workload; /* NULL where there is none */
  ISO_VEC(isoproof_level_verdict) levels;
  iso_name_list names[ISO_NAMES_KINDS];
  ISO_VEC(isoproof_document_fact) facts;
  ISO_VEC(isoproof_document_fault) faults;
  ISO_VEC(isoproof_document_abort) aborts;
  ISO_VEC(isoproof_document_anomaly) anomalies;
  uint64_t anomalies_found; /* more than there are here when some were left out */
  iso_name_list left_out;

  const isoproof_history *history;
  isoproof_history *owned_history;
};

enum {
  ISO_DOCUMENT_FACTS = 1000,
  ISO_DOCUMENT_FAULTS = 3000,
  ISO_DOCUMENT_ABORTS = 100,
  ISO_DOCUMENT_TXNS = 400,   /* of an anomaly */
  ISO_DOCUMENT_EDGES = 2000, /* of an anomaly or a case */
  ISO_DOCUMENT_CASES = 200,  /* of an anomaly */
  ISO_DOCUMENT_KEYS = 200,   /* of an anomaly */
  ISO_DOCUMENT_SCALAR = 200, /* bytes of a key, a value, a name */
  ISO_DOCUMENT_FACT = 4000   /* bytes of the value of a fact */
};

isoproof_document *iso_document_new(void);
/* A sentence about something that is not there; false when memory is out. */
bool iso_document_leave_out(isoproof_document *document, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A terminated copy of at most `most` bytes of valid UTF-8 without NUL: what is wrong becomes U+FFFD, what is too long
 * ends with an ellipsis.  Copying a copy changes nothing.  NULL when memory is out. */
const char *iso_model_text(iso_arena *arena, const char *text, size_t length, size_t most);

/* Appends an edge, unless it is there already: both halves of a contradiction may rest on one. */
void iso_model_add_edge(isoproof_document_edge *edges, uint32_t *count, isoproof_document_edge edge);

/* ---- gather.c: from histories and results ---- */

/* One anomaly with everything but the texts that iso_model_tell makes; false when memory is out. */
bool iso_model_anomaly(iso_arena *arena, const isoproof_history *history, const isoproof_anomaly *anomaly,
                       isoproof_document_anomaly *out);

/* The operations at the ends of an edge, ISOPROOF_NO_NUMBER for none: those that it names, else the write or read that
 * it must be about. */
void iso_edge_ops(const isoproof_history *history, const isoproof_edge *edge, uint64_t *from_op, uint64_t *to_op);

/* ---- about.c: what a history says about its run ---- */

/* Facts, faults, aborts, times and counts; false when memory is out. */
bool iso_model_run(isoproof_document *document, const isoproof_history *history);

/* ---- tell_model.c ---- */

/* Texts that follow from the rest: of operations, edges and cases, and what the anomaly means. */
bool iso_model_tell(iso_arena *arena, isoproof_document_anomaly *anomaly);
/* The title, where nobody gave one. */
bool iso_model_title(isoproof_document *document);
/* What the limits above left out of an anomaly list. */
bool iso_model_count_left_out(isoproof_document *document);

#endif
