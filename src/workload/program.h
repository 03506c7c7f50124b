/* program.h - a transaction before it runs: a small program of reads and writes.
 *
 * A program owns its steps until iso_program_free.  It holds no values: those are given out when it runs, so that a
 * retry, which is a new transaction, writes new ones.
 */
#ifndef ISO_WORKLOAD_PROGRAM_H
#define ISO_WORKLOAD_PROGRAM_H

#include "base/error.h"
#include "base/vector.h"

/* Steps: C name, name in a written workload, whether it writes a value. */
#define ISO_STEP_LIST(X)                                                                                               \
  X(READ, "r", false)                                                                                                  \
  X(WRITE, "w", true)                                                                                                  \
  X(READ_LIST, "read-list", false)                                                                                     \
  X(APPEND, "append", true)                                                                                            \
  X(INSERT, "insert", true)  /* a row that must not be there */                                                        \
  X(UPDATE, "update", true)  /* a row, if it is there */                                                               \
  X(UPSERT, "upsert", true)  /* a row, there or not */                                                                 \
  X(DELETE, "delete", false) /* a row, if it is there; writes no value */                                              \
  X(READ_RANGE, "read-range", false)                                                                                   \
  X(COUNT, "count", false) /* how many rows a range has */

typedef enum iso_program_step_kind {
#define ISO_X(name, id, writes) ISO_STEP_##name,
  ISO_STEP_LIST(ISO_X)
#undef ISO_X
      ISO_STEP_KINDS
} iso_program_step_kind;

/* Whether it writes a fresh value, and whether it reads by a predicate. */
bool iso_step_writes(iso_program_step_kind kind);
bool iso_step_is_predicate(iso_program_step_kind kind);

/* Where the number of a key comes from. */
typedef enum iso_key_origin {
  ISO_KEY_FIXED,
  ISO_KEY_OF_READ, /* the value that an earlier step read; the step is left out when that was absent */
  ISO_KEY_OF_LABEL /* the fresh value of a label, which a step of this program writes */
} iso_key_origin;

/* What a read of many rows asks for. */
typedef enum iso_step_range {
  ISO_RANGE_KEYS,   /* rows whose keys are in the range */
  ISO_RANGE_VALUES, /* rows whose values are in the range */
  ISO_RANGE_ALL     /* every row of the table, without a condition */
} iso_step_range;

#define ISO_NO_STEP UINT32_MAX

/* Fields of the records of the application workloads: C name, table, column.  A key is table:number:column. */
#define ISO_FIELD_LIST(X)                                                                                              \
  X(WAREHOUSE_YTD, "warehouse", "ytd")                                                                                 \
  X(DISTRICT_YTD, "district", "ytd")                                                                                   \
  X(DISTRICT_LAST, "district", "last_order")                                                                           \
  X(CUSTOMER_BALANCE, "customer", "balance")                                                                           \
  X(CUSTOMER_LAST, "customer", "last_order")                                                                           \
  X(STOCK_QUANTITY, "stock", "quantity")                                                                               \
  X(PRODUCT_PRICE, "product", "price")                                                                                 \
  X(ORDER_LINES, "order", "lines")                                                                                     \
  X(ORDER_CARRIER, "order", "carrier")                                                                                 \
  X(ITEM_DESCRIPTION, "item", "description")                                                                           \
  X(ITEM_MAX_BID, "item", "max_bid")                                                                                   \
  X(ITEM_BIDS, "item", "bids")                                                                                         \
  X(ITEM_QUANTITY, "item", "quantity")                                                                                 \
  X(BID_AMOUNT, "bid", "amount")                                                                                       \
  X(PERSON_RATING, "person", "rating")                                                                                 \
  X(PERSON_COMMENT, "person", "last_comment")                                                                          \
  X(COMMENT_TEXT, "comment", "text")                                                                                   \
  X(USER_LAST, "user", "last_message")                                                                                 \
  X(USER_FOLLOWING, "user", "following")                                                                               \
  X(USER_FOLLOWERS, "user", "followers")                                                                               \
  X(MESSAGE_TEXT, "message", "text")

typedef enum iso_field {
  ISO_FIELD_NONE, /* the key is a number */
#define ISO_X(name, table, column) ISO_FIELD_##name,
  ISO_FIELD_LIST(ISO_X)
#undef ISO_X
      ISO_FIELDS
} iso_field;

/* A key with its number known. */
typedef struct iso_data_key {
  iso_field field;
  int64_t number;
} iso_data_key;

enum { ISO_KEY_BYTES = 64, ISO_FIELD_BITS = 8 };
/* Most that the number of a key with a field can be. */
#define ISO_KEY_MOST (INT64_MAX >> ISO_FIELD_BITS)

/* Of a field other than ISO_FIELD_NONE. */
const char *iso_field_table(iso_field field);
const char *iso_field_column(iso_field field);
/* Its text, table:number:column, not terminated, for keys with a field; returns the length. */
size_t iso_data_key_format(iso_data_key key, char text[ISO_KEY_BYTES]);
/* The integer that a database keeps it under; different keys of one workload have different ones. */
int64_t iso_data_key_code(iso_data_key key);

typedef struct iso_program_step {
  iso_program_step_kind kind;
  iso_key_origin origin;
  iso_field field;
  uint32_t label;  /* of a write: which of the program's fresh values it writes */
  uint64_t number; /* FIXED: the number of the key; else the step or the label that it comes from */
  uint64_t end;    /* READ_RANGE, COUNT: keys or values from `number` up to, not including, this one */
  iso_step_range range;
  uint32_t guard;    /* a step that must have read something (an amount: of at least `least`), or ISO_NO_STEP */
  bool guard_absent; /* it must have found no row instead */
  uint32_t least;
  uint32_t source; /* amounts: the step whose amount is changed by `change` and written, or ISO_NO_STEP */
  int32_t change;
} iso_program_step;

typedef struct iso_program {
  ISO_VEC(iso_program_step) steps;
  uint32_t labels;  /* how many fresh values it needs */
  bool rollback;    /* its client rolls it back in the end */
  bool check_total; /* its reads are all the accounts of a bank */
  bool meets;       /* its session waits for the others first; without steps it does no more than that */
  bool in_round;    /* its steps are on the table of its round, where the rows of a session are told by their values */
  bool batched;     /* of programs that meet: its steps are to go together, where both ways are tried */
  uint64_t round;   /* of programs that meet, from 1 */
  uint64_t jitter_ns; /* how long its session waits once all are there */
  bool out_of_memory; /* sticky */
} iso_program;

void iso_program_clear(iso_program *program);
void iso_program_free(iso_program *program);

/* Adds a step with the fields that every kind needs and returns its number; memory trouble is sticky. */
uint32_t iso_program_add(iso_program *program, iso_program_step step);
/* A read, and a write of a fresh value, of a key. */
uint32_t iso_program_read(iso_program *program, iso_field field, uint64_t number);
uint32_t iso_program_write(iso_program *program, iso_field field, uint64_t number);
/* What is done to a row of a numbered key: INSERT, UPDATE, UPSERT, DELETE, READ. */
uint32_t iso_program_row(iso_program *program, iso_program_step_kind kind, uint64_t number);
/* A READ_RANGE or COUNT of the rows from `number` to `last`, of keys or values; ISO_RANGE_ALL ignores both. */
uint32_t iso_program_rows(iso_program *program, iso_program_step_kind kind, iso_step_range range, uint64_t number,
                          uint64_t last);
/* A read-modify-write; the number of its write. */
uint32_t iso_program_update(iso_program *program, iso_field field, uint64_t number);
/* A write of a field of a record that this program makes: its number is the value that step `made_by` writes. */
uint32_t iso_program_write_new(iso_program *program, iso_field field, uint32_t made_by);
/* A read, and a write, of a field of the record whose number step `read` saw. */
uint32_t iso_program_read_seen(iso_program *program, iso_field field, uint32_t read);
uint32_t iso_program_write_seen(iso_program *program, iso_field field, uint32_t read);

#endif
