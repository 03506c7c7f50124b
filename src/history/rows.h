/* rows.h - operations on rows: how a row was written, and predicates that pick rows.
 *
 * A row is a key.  That it is absent is a version of it like any other: the initial one, unless the history says with
 * which values it began, and the one that a delete writes.  A read by predicate observes a version of every row that it
 * could match: of those that it returned the one it returned, of every other row one that is absent or does not match.
 * Constants and plain values: nothing is owned.
 */
#ifndef ISO_HISTORY_ROWS_H
#define ISO_HISTORY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was done to rows: C name, name in isoproof's own text form, whether it writes. */
#define ISO_ROW_FORM_LIST(X)                                                                                           \
  X(NONE, "", false)        /* no row: a register, a list, ...; a point read of a row is a plain read */               \
  X(INSERT, "insert", true) /* made the row */                                                                         \
  X(UPDATE, "update", true) /* changed a row that was there */                                                         \
  X(UPSERT, "upsert", true) /* made or changed it */                                                                   \
  X(DELETE, "delete", true) /* removed a row that was there: writes the absent version */                              \
  X(MISSED_UPDATE, "missed-update", false) /* an update that found no row: a read of the absent version */             \
  X(MISSED_DELETE, "missed-delete", false) /* a delete that found no row: a read of the absent version */              \
  X(PREDICATE, "rp", false)                /* the rows that match a predicate, with their values */                    \
  X(COUNT, "count", false)                 /* how many rows match a predicate */

typedef enum iso_row_form {
#define ISO_X(name, text, writes) ISO_ROW_##name,
  ISO_ROW_FORM_LIST(ISO_X)
#undef ISO_X
      ISO_ROW_FORMS
} iso_row_form;

/* How the content of a column is compared: C name, text.  Integers are compared with integers and, for equality only,
 * text byte by byte with text; a comparison with an absent content (SQL's NULL), or of an integer with text, is unknown
 * and thus not met. */
#define ISO_COMPARISON_LIST(X)                                                                                         \
  X(EQUAL, "=")                                                                                                        \
  X(UNEQUAL, "<>")                                                                                                     \
  X(LESS, "<")                                                                                                         \
  X(LESS_EQUAL, "<=")                                                                                                  \
  X(GREATER, ">")                                                                                                      \
  X(GREATER_EQUAL, ">=")                                                                                               \
  X(IS_NULL, "is null")                                                                                                \
  X(IS_NOT_NULL, "is not null")

typedef enum iso_comparison {
#define ISO_X(name, text) ISO_COMPARE_##name,
  ISO_COMPARISON_LIST(ISO_X)
#undef ISO_X
      ISO_COMPARISONS
} iso_comparison;

/* A condition on the content of a column; `or_next`: it or the one that follows it has to be met.  As stored in the
 * binary format. */
typedef struct iso_condition {
  uint32_t statement; /* number of the statement; ascending */
  uint32_t column;    /* name: a code of the pool */
  uint32_t operand;   /* an integer or a text; nil where the comparison has none */
  uint8_t comparison; /* iso_comparison */
  uint8_t or_next;    /* 0 or 1 */
  uint16_t reserved;  /* 0 */
} iso_condition;

/* What a version of a row has in a column; what is not said is absent (SQL's NULL).  As stored in the binary format,
 * ascending by key, version and column. */
typedef struct iso_content {
  uint32_t key; /* number */
  uint32_t version, column, content;
} iso_content;

/* Rows whose key, value and columns meet every condition that is there; without any, all rows.  Bounds belong to the
 * ranges. */
typedef struct iso_predicate {
  bool of_keys;   /* key_low <= key <= key_high */
  bool of_values; /* value_low <= value <= value_high */
  bool of_rest;   /* value modulo divisor (at least 1; never negative) is rest */
  int64_t key_low, key_high;
  int64_t value_low, value_high;
  int64_t divisor, rest;
  uint32_t first_where, where_count; /* conditions on columns, among those of the history (history/columns.h) */
} iso_predicate;

typedef struct iso_row_value {
  int64_t key, value;
} iso_row_value;

/* A statement that observed many rows at once: a read by predicate, or a count.  As stored in the binary format. */
typedef struct iso_statement {
  uint32_t txn;
  uint32_t first_op, op_count; /* its observations: one READ per row that it could match, in the order of the keys */
  uint8_t form;                /* ISO_ROW_PREDICATE or ISO_ROW_COUNT */
  uint8_t conditions;          /* ISO_CONDITION_ */
  uint8_t answered;            /* 0: no answer came, and there are no observations */
  uint8_t reserved;            /* 0 */
  int64_t key_low, key_high, value_low, value_high, divisor, rest; /* 0 where there is no such condition */
  int64_t counted;                                                 /* of a count: its answer */
} iso_statement;

enum {
  ISO_CONDITION_KEYS = 1,
  ISO_CONDITION_VALUES = 2,
  ISO_CONDITION_REST = 4,
  ISO_CONDITION_COLUMNS = 8, /* they are in a table of their own */
  ISO_CONDITIONS_ALL = 15
};

const char *iso_row_form_name(iso_row_form form);
const char *iso_comparison_name(iso_comparison comparison);
/* Whether a row of that key can match at all, and whether it does with that value, columns apart.  An absent row never
 * does. */
bool iso_predicate_covers(const iso_predicate *predicate, int64_t key);
bool iso_predicate_matches(const iso_predicate *predicate, int64_t key, int64_t value);
/* Whether it says anything about values or columns. */
static inline bool iso_predicate_has_values(const iso_predicate *predicate) {
  return predicate->of_values || predicate->of_rest || predicate->where_count > 0;
}

/* A row that statements can see: its key, and the number of that. */
typedef struct iso_seen_row {
  int64_t key;
  uint32_t number;
} iso_seen_row;

/* The predicate of a statement without its conditions on columns (iso_history_predicate has them), and back. */
iso_predicate iso_statement_predicate(const iso_statement *statement);
void iso_statement_set_predicate(iso_statement *statement, const iso_predicate *predicate);

#endif
