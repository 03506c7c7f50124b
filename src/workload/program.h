/* program.h - a transaction before it runs: a small program of reads and writes.
 *
 * A program owns its steps until iso_program_free.  It holds no values: those are given out when it runs, so that a
 * retry, which is a new transaction, writes new ones.
 */
#ifndef ISO_WORKLOAD_PROGRAM_H
#define ISO_WORKLOAD_PROGRAM_H

#include "base/error.h"
#include "base/vector.h"

/* Steps: C name, name in a written workload, whether it writes. */
#define ISO_STEP_LIST(X)                                                                                               \
  X(READ, "r", false)                                                                                                  \
  X(WRITE, "w", true)                                                                                                  \
  X(READ_LIST, "read-list", false)                                                                                     \
  X(APPEND, "append", true)                                                                                            \
  X(INSERT, "insert", true)                                                                                            \
  X(DELETE, "delete", true)                                                                                            \
  X(READ_RANGE, "read-range", false)

typedef enum iso_program_step_kind {
#define ISO_X(name, id, writes) ISO_STEP_##name,
  ISO_STEP_LIST(ISO_X)
#undef ISO_X
      ISO_STEP_KINDS
} iso_program_step_kind;

/* Where the number of a key comes from. */
typedef enum iso_key_origin {
  ISO_KEY_FIXED,
  ISO_KEY_OF_READ, /* the value that an earlier step read; the step is left out when that was absent */
  ISO_KEY_OF_LABEL /* the fresh value of a label, which a step of this program writes */
} iso_key_origin;

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
  uint64_t end;    /* READ_RANGE: the keys from `number` up to, not including, this one */
  uint32_t guard;  /* a step that must have read something (an amount: of at least `least`), or ISO_NO_STEP */
  uint32_t least;
  uint32_t source; /* amounts: the step whose amount is changed by `change` and written, or ISO_NO_STEP */
  int32_t change;
} iso_program_step;

typedef struct iso_program {
  ISO_VEC(iso_program_step) steps;
  uint32_t labels;    /* how many fresh values it needs */
  bool rollback;      /* its client rolls it back in the end */
  bool check_total;   /* its reads are all the accounts of a bank */
  bool out_of_memory; /* sticky */
} iso_program;

void iso_program_clear(iso_program *program);
void iso_program_free(iso_program *program);

/* Adds a step with the fields that every kind needs and returns its number; memory trouble is sticky. */
uint32_t iso_program_add(iso_program *program, iso_program_step step);
/* A read, and a write of a fresh value, of a key. */
uint32_t iso_program_read(iso_program *program, iso_field field, uint64_t number);
uint32_t iso_program_write(iso_program *program, iso_field field, uint64_t number);
/* A read-modify-write; the number of its write. */
uint32_t iso_program_update(iso_program *program, iso_field field, uint64_t number);
/* A write of a field of a record that this program makes: its number is the value that step `made_by` writes. */
uint32_t iso_program_write_new(iso_program *program, iso_field field, uint32_t made_by);
/* A read, and a write, of a field of the record whose number step `read` saw. */
uint32_t iso_program_read_seen(iso_program *program, iso_field field, uint32_t read);
uint32_t iso_program_write_seen(iso_program *program, iso_field field, uint32_t read);

#endif
