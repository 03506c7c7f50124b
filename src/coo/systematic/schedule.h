/* schedule.h - small schedules over rows and predicates: steps, which of them commute, and forms up to symmetry.
 *
 * A schedule is what its transactions do (programs), the rows that are there at the start, and an order of all steps.
 * Two schedules are equivalent when one becomes the other by new numbers for transactions, new names for rows, and
 * swaps of adjacent steps of different transactions that cannot matter.  Plain values: nothing is owned.
 */
#ifndef ISO_COO_SYSTEMATIC_SCHEDULE_H
#define ISO_COO_SYSTEMATIC_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  ISO_SYS_TXNS = 3,
  ISO_SYS_OPS = 4, /* of a transaction, besides its begin and its end */
  ISO_SYS_ROWS = 3,
  ISO_SYS_PREDICATES = 4,
  ISO_SYS_TXN_STEPS = ISO_SYS_OPS + 2,
  ISO_SYS_STEPS = ISO_SYS_TXNS * ISO_SYS_TXN_STEPS,
  ISO_SYS_TEXT_BYTES = 8 + 8 * ISO_SYS_ROWS + 6 * ISO_SYS_STEPS
};

/* What a step does: C name, letter, name, whether it is about one row, whether it writes, whether it is a predicate.
 * The predicates are in the order in which --predicates adds them. */
#define ISO_SYS_KIND_LIST(X)                                                                                           \
  X(BEGIN, 'B', "begin", false, false, false)                                                                          \
  X(READ, 'R', "read", true, false, false)                                                                             \
  X(INSERT, 'I', "insert", true, true, false)                                                                          \
  X(UPDATE, 'U', "update", true, true, false)                                                                          \
  X(DELETE, 'D', "delete", true, true, false)                                                                          \
  X(KEYS, 'P', "range of keys", false, false, true)                                                                    \
  X(TABLE, 'T', "whole table", false, false, true)                                                                     \
  X(VALUES, 'V', "range of values", false, false, true)                                                                \
  X(COUNT, 'N', "count", false, false, true)                                                                           \
  X(COMMIT, 'C', "commit", false, false, false)                                                                        \
  X(ABORT, 'A', "abort", false, false, false)

typedef enum iso_sys_kind {
#define ISO_X(name, letter, text, row, writes, predicate) ISO_SYS_##name,
  ISO_SYS_KIND_LIST(ISO_X)
#undef ISO_X
      ISO_SYS_KINDS
} iso_sys_kind;

/* How a row is at the start. */
typedef enum iso_sys_start { ISO_SYS_ABSENT, ISO_SYS_MATCHING, ISO_SYS_OTHER, ISO_SYS_STARTS } iso_sys_start;

typedef struct iso_sys_step {
  uint8_t kind;  /* iso_sys_kind */
  uint8_t row;   /* of a step about one row, else 0 */
  uint8_t other; /* an insert or update of a value that the predicate on values does not match */
} iso_sys_step;

typedef struct iso_sys_program {
  uint8_t count; /* of operations */
  uint8_t aborts;
  iso_sys_step ops[ISO_SYS_OPS];
} iso_sys_program;

/* What is done, without the order. */
typedef struct iso_sys_family {
  uint8_t txns, rows;
  iso_sys_program programs[ISO_SYS_TXNS];
  uint8_t starts[ISO_SYS_ROWS]; /* iso_sys_start */
} iso_sys_family;

/* The order names a transaction for every step; each one begins, does its operations and ends. */
typedef struct iso_sys_schedule {
  iso_sys_family family;
  uint8_t count;
  uint8_t order[ISO_SYS_STEPS];
} iso_sys_schedule;

/* Which steps cannot be swapped: bit iso_sys_place(txn, step) of `with`. */
typedef struct iso_sys_conflicts {
  uint32_t with[ISO_SYS_STEPS];
} iso_sys_conflicts;

static inline uint32_t iso_sys_place(uint32_t txn, uint32_t step) { return txn * ISO_SYS_TXN_STEPS + step; }

bool iso_sys_kind_has_row(iso_sys_kind kind);
bool iso_sys_kind_writes(iso_sys_kind kind);
bool iso_sys_kind_is_predicate(iso_sys_kind kind);
const char *iso_sys_kind_name(iso_sys_kind kind);

/* Step number `step` of a transaction: 0 its begin, the last one its end. */
iso_sys_step iso_sys_step_at(const iso_sys_family *family, uint32_t txn, uint32_t step);
uint32_t iso_sys_steps_of(const iso_sys_family *family, uint32_t txn);
/* Whether a step concerns a row; a predicate concerns all. */
bool iso_sys_touches(iso_sys_step step, uint32_t row);

/* Whether every part of it can matter; without unique keys (`unique` false), also that no key is inserted twice. */
bool iso_sys_family_is_sound(const iso_sys_family *family, bool unique);

/* How many keys can be inserted after they were deleted, so that what is there is not the row that was: they are
 * deleted, and inserted, and were there at the start or are inserted twice. */
uint32_t iso_sys_reused_keys(const iso_sys_family *family);
static inline bool iso_sys_reuses_key(const iso_sys_family *family) { return iso_sys_reused_keys(family) > 0; }

void iso_sys_find_conflicts(const iso_sys_family *family, iso_sys_conflicts *conflicts);
/* The least order, number by number, among those that swaps lead to. */
void iso_sys_normalize(iso_sys_schedule *schedule, const iso_sys_conflicts *conflicts);

/* New numbers for transactions and rows: what was i becomes to[i]. */
typedef struct iso_sys_renaming {
  uint8_t txns[ISO_SYS_TXNS], rows[ISO_SYS_ROWS];
} iso_sys_renaming;

enum { ISO_SYS_RENAMINGS = 36 };

/* All renamings of so many transactions and rows, the identity first; how many there are. */
uint32_t iso_sys_renamings(uint32_t txns, uint32_t rows, iso_sys_renaming out[ISO_SYS_RENAMINGS]);
void iso_sys_rename(const iso_sys_schedule *schedule, const iso_sys_renaming *renaming, iso_sys_schedule *out);
/* As memcmp: families by size first, then by what is done. */
int iso_sys_family_compare(const iso_sys_family *a, const iso_sys_family *b);
int iso_sys_compare(const iso_sys_schedule *a, const iso_sys_schedule *b);
/* Makes it the least schedule that is equivalent. */
void iso_sys_canonize(iso_sys_schedule *schedule);

/* The part of a schedule that has the operations of a mask (bit i: operation i, transaction by transaction), with their
 * transactions and rows, in canonical form; false when fewer than two transactions are left. */
bool iso_sys_part(const iso_sys_schedule *schedule, uint32_t mask, iso_sys_schedule *out);

/* Whether a begin has to stand by itself, because the end of another transaction that matters to it comes between it
 * and the first operation; `place` is where it then stands in the order, as early as can be. */
bool iso_sys_begins_early(const iso_sys_schedule *schedule, const iso_sys_conflicts *conflicts, uint32_t txn,
                          uint32_t *place);
/* "[x] R1x R2x D1x U2x C1 C2": in brackets the rows at the start, a dash after what the predicate on values does not
 * match; begins only where they stand by themselves. */
void iso_sys_text(const iso_sys_schedule *schedule, char out[ISO_SYS_TEXT_BYTES]);

/* A step that is to be carried out: its transaction and its number there. */
typedef struct iso_sys_act {
  uint8_t txn, step;
} iso_sys_act;

/* The steps in the order in which they are carried out, without the begins that go with the first operation. */
uint32_t iso_sys_acts(const iso_sys_schedule *schedule, iso_sys_act out[ISO_SYS_STEPS]);

#endif
