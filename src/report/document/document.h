/* document.h - a document, inside the library: everything that any output of a result is made from.
 *
 * A document owns its vectors and its arena, in which their texts lie, and the history that it read itself
 * (`owned_history`).  One with a `source` borrows it and the history.
 */
#ifndef ISO_REPORT_DOCUMENT_DOCUMENT_H
#define ISO_REPORT_DOCUMENT_DOCUMENT_H

#include <isoproof/report.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vector.h"
#include "base/words.h"

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

/* ---- anomalies in full ---- */

/* Pages and drawings show no more of an anomaly than the limits below allow (isoproof_document_anomaly); programs that
 * read the JSON get all of it. */
typedef struct iso_full_txn {
  const char *name;
  bool has_id;
  int64_t id; /* its own in the input */
} iso_full_txn;

typedef struct iso_full_edge {
  const char *from, *to; /* transactions */
  const char *kind;
  bool has_key;
  isoproof_scalar key;
  uint64_t from_op, to_op; /* within their transactions; ISOPROOF_NO_NUMBER for none */
} iso_full_edge;

typedef struct iso_full_order {
  const char *before, *after; /* transactions */
  isoproof_scalar key;
} iso_full_order;

typedef struct iso_full_case {
  const iso_full_order *orders;
  size_t order_count;
  const iso_full_edge *edges;
  size_t edge_count;
  const char *explanation;
} iso_full_case;

typedef struct iso_full_anomaly {
  const char *code, *name, *level, *explanation; /* code: NULL when there is no such anomaly */
  uint64_t count;
  isoproof_count_kind count_is;
  bool has_ids; /* the input gives ids to transactions */
  const iso_full_txn *txns;
  size_t txn_count;
  const isoproof_scalar *keys;
  size_t key_count;
  const iso_full_edge *edges;
  size_t edge_count;
  const iso_full_case *cases;
  size_t case_count;
  bool has_details; /* `limited` has transactions with their operations */
  isoproof_document_anomaly limited;
} iso_full_anomaly;

/* What of an anomaly is wanted, beyond its texts and transactions. */
typedef struct iso_anomaly_parts {
  bool full;    /* keys, edges and cases */
  bool limited; /* what pages and drawings show */
} iso_anomaly_parts;

/* Where a document that does not keep its anomalies asks for them. */
typedef struct iso_anomaly_source {
  const isoproof_result *result;
  size_t count; /* of those that can be asked for */
  /* False when memory is out. */
  bool (*get)(const isoproof_document *document, size_t number, iso_anomaly_parts parts, iso_arena *arena,
              iso_full_anomaly *out);
} iso_anomaly_source;

/* ---- proofs and searches ---- */

/* Its order is either that of `events`, which the history names, or written out: names one after the other, each
 * terminated. */
typedef struct iso_document_certificate {
  const char *level;
  uint64_t count;
  const isoproof_certificate_event *events;
  ISO_VEC(char) names;
  ISO_VEC(iso_full_edge) observed; /* which write each read observed whose value does not tell */
} iso_document_certificate;

/* Goes through the order of a certificate. */
typedef struct iso_certificate_cursor {
  const isoproof_history *history;
  const iso_document_certificate *certificate;
  uint64_t at;
  size_t next; /* in the names */
  char name[96];
} iso_certificate_cursor;

/* The next name ("s0t0", "s0t0:begin", "s0t0:commit"); NULL after the last. */
const char *iso_certificate_next(iso_certificate_cursor *cursor);
/* Writes one more name out; false when memory is out. */
bool iso_certificate_add(iso_document_certificate *certificate, const char *name, size_t length);

typedef struct iso_document_figure {
  const char *name, *meaning;
  bool known, is_time;
  uint64_t count;
  double seconds;
} iso_document_figure;

typedef struct iso_document_search {
  const char *level;
  ISO_VEC(iso_document_figure) figures;
} iso_document_search;

/* ---- the document ---- */

/* A level that was left although the history could decide it, and why. */
typedef struct iso_document_undecided {
  const char *level, *reason;
} iso_document_undecided;

/* What the workload bank must keep: reads of all accounts, and those that saw a wrong total. */
typedef struct iso_document_balance {
  const char *account;
  int64_t balance;
} iso_document_balance;

typedef struct iso_document_total {
  const char *txn;
  int64_t total;
  const iso_document_balance *balances;
  uint32_t balance_count;
  uint64_t more; /* balances that are not shown */
} iso_document_total;

typedef struct iso_document_bank {
  bool known; /* the history is that of a bank */
  uint64_t accounts;
  int64_t total; /* what all accounts hold together */
  uint64_t reads, wrong;
  ISO_VEC(iso_document_total) totals; /* the first wrong ones */
} iso_document_bank;

struct isoproof_document {
  iso_arena arena;
  bool has_problem;
  isoproof_error problem;
  const char *file, *title, *format;
  const char *given_file; /* the file byte by byte; NULL where it has no name */
  isoproof_counts counts;
  bool has_effort;
  isoproof_effort effort; /* where the history has times */
  bool has_times;         /* first_start and last_end say something */
  int64_t first_start, last_end;
  double load_seconds, check_seconds;
  uint64_t peak_bytes;

  isoproof_verdict verdict, elle;
  const char *unknown_reason, *unexplained, *workload; /* NULL where there is none */
  ISO_VEC(isoproof_level_verdict) levels;
  ISO_VEC(iso_document_undecided) undecided;
  iso_name_list names[ISO_NAMES_KINDS];
  ISO_VEC(isoproof_document_fact) facts;
  ISO_VEC(isoproof_document_fault) faults;
  ISO_VEC(isoproof_document_abort) aborts;
  iso_document_bank bank;
  ISO_VEC(isoproof_document_invariant) invariants;
  bool every_instance;                 /* anomalies are instances, instead of one for each code */
  ISO_VEC(iso_full_anomaly) anomalies; /* those that are kept */
  uint64_t anomalies_found;            /* more than there are here when some were left out */
  bool found_more;                     /* than that, perhaps */
  iso_anomaly_source source;           /* of all anomalies, where none is kept */
  iso_name_list left_out;
  ISO_VEC(isoproof_notice) notices;

  bool has_certificates; /* they were asked for */
  ISO_VEC(iso_document_certificate) certificates;
  const char *uncertified; /* why they are missing; NULL when they are not */
  bool has_searches;       /* figures about the search were asked for */
  ISO_VEC(iso_document_search) searches;

  const isoproof_history *history;
  isoproof_history *owned_history;
};

enum {
  ISO_DOCUMENT_FACTS = 1000,
  ISO_DOCUMENT_FAULTS = 3000,
  ISO_DOCUMENT_ABORTS = 100,
  ISO_DOCUMENT_NOTICES = 100,
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

/* Adds a notice, unless it is there already; `line` 0 for none.  What the history has is there from the start.  False
 * when memory is out. */
bool iso_document_add_notice(isoproof_document *document, const char *code, uint64_t line, const char *message,
                             size_t length);

/* A terminated copy of at most `most` bytes of valid UTF-8 without NUL: what is wrong becomes U+FFFD, what is too long
 * ends with an ellipsis.  Copying a copy changes nothing.  NULL when memory is out. */
const char *iso_document_text(iso_arena *arena, const char *text, size_t length, size_t most);

/* Appends an edge, unless it is there already: both halves of a contradiction may rest on one. */
void iso_document_add_edge(isoproof_document_edge *edges, uint32_t *count, isoproof_document_edge edge);

/* How many anomalies can be asked for, and one of them: from those kept, or from the source into the arena, whose code
 * is NULL when there turns out to be none.  False when memory is out. */
uint64_t iso_document_anomaly_count(const isoproof_document *document);
bool iso_document_anomaly(const isoproof_document *document, size_t number, iso_anomaly_parts parts, iso_arena *arena,
                          iso_full_anomaly *out);

/* ---- from_result.c ---- */

/* What a figure counts, by its name; the name itself where nobody knows. */
const char *iso_figure_meaning(const char *name, bool is_time);

/* ---- limit_anomaly.c ---- */

/* As much of an anomaly as pages and drawings show, with everything but the texts that iso_document_sentences makes;
 * false when memory is out. */
bool iso_limit_anomaly(iso_arena *arena, const isoproof_history *history, const isoproof_anomaly *anomaly,
                       isoproof_document_anomaly *out);
/* The operations at the ends of an edge, ISOPROOF_NO_NUMBER for none: those that it names, else the write or read that
 * it must be about. */
void iso_edge_ops(const isoproof_history *history, const isoproof_edge *edge, uint64_t *from_op, uint64_t *to_op);

/* ---- full_anomaly.c ---- */

/* An edge with its texts in the arena; false when memory is out. */
bool iso_full_edge_make(iso_arena *arena, const isoproof_history *history, const isoproof_edge *edge,
                        iso_full_edge *out);
/* An anomaly in full, its texts in the arena; false when memory is out. */
bool iso_full_anomaly_make(iso_arena *arena, const isoproof_history *history, const isoproof_anomaly *anomaly,
                           iso_anomaly_parts parts, iso_full_anomaly *out);

/* ---- run_facts.c: what a history says about its run ---- */

/* Facts, faults, aborts, times and counts; false when memory is out. */
bool iso_document_run_facts(isoproof_document *document, const isoproof_history *history);

/* ---- notices.c ---- */

/* Those of the history; false when memory is out. */
bool iso_document_take_notices(isoproof_document *document, const isoproof_history *history);
/* ---- bank.c ---- */

/* What a history of a bank shows; false when memory is out. */
bool iso_document_bank_facts(isoproof_document *document, const isoproof_history *history);
/* "3 of 40 reads of all 10 accounts saw another total than 1,000", without a full stop. */
void iso_tell_bank(iso_words *words, const iso_document_bank *bank);
/* "s2t7 saw a total of 1,003 instead of 1,000: account 0: balance 97, ..." */
void iso_tell_total(iso_words *words, const iso_document_bank *bank, const iso_document_total *total);
/* " s1t3 moves 3 from account 2 to account 0." for each transfer of an anomaly in such a history; false when memory is
 * out. */
bool iso_tell_transfers(iso_words *words, const isoproof_history *history, const isoproof_anomaly *anomaly);
/* ---- invariants.c ---- */

/* Takes a fact of the history that tells of an invariant; false when memory is out. */
bool iso_document_take_invariant(isoproof_document *document, isoproof_scalar name, isoproof_scalar value, bool *taken);
/* "invariant money is broken: SELECT ... must return 500, and returned 497 after 1.2 s (3 of 4 times, and in the end)",
 * without a full stop. */
void iso_tell_invariant(iso_words *words, const isoproof_document_invariant *invariant);
/* Which anomaly explains it, or that none does: a sentence. */
void iso_tell_invariant_reason(iso_words *words, const isoproof_document *document);
uint64_t iso_document_broken_invariants(const isoproof_document *document);

/* ---- effort.c ---- */

/* Takes in how hard the run tried, where the caller tells (not NULL) and the history has times. */
isoproof_status iso_document_take_effort(isoproof_document *document, const isoproof_effort *given,
                                         isoproof_error *error);

/* ---- sentences.c ---- */

/* Texts that follow from the rest: of operations, edges and cases, and what the anomaly means. */
bool iso_document_sentences(iso_arena *arena, isoproof_document_anomaly *anomaly);
/* The title, where nobody gave one. */
bool iso_document_make_title(isoproof_document *document);
/* What the limits above left out of an anomaly list. */
bool iso_document_count_left_out(isoproof_document *document);

#endif
