/* binary.h - the layout of isoproof's own binary form, see docs/format-binary.md.
 *
 * A header of fixed size, a table of sections, and the sections: the columns of struct isoproof_history as they are in
 * memory, little-endian, each at a multiple of 64 bytes.  A history that was read in place owns the mapping.
 */
#ifndef ISO_FORMAT_BINARY_H
#define ISO_FORMAT_BINARY_H

#include <stdint.h>
#include <string.h>

#include "base/task.h"
#include "history/history.h"

#define ISO_BINARY_MAGIC "\x89ISOPRF\n"
#define ISO_BINARY_ENDIAN UINT32_C(0x01020304)
enum { ISO_BINARY_VERSION = 1, ISO_BINARY_ALIGN = 64, ISO_BINARY_MAGIC_BYTES = 8 };

/* The sections: C name, number in the file, element type, column of the history, number of its elements (an
 * expression over the header h), whether it must be there. */
#define ISO_BINARY_SECTIONS(X)                                                                                         \
  X(OP_KIND, 1, uint8_t, op_kind, h->ops, true)                                                                        \
  X(OP_KEY, 2, uint32_t, op_key, h->ops, true)                                                                         \
  X(OP_VALUE, 3, uint32_t, op_value, h->ops, true)                                                                     \
  X(TXN_FIRST_OP, 4, uint32_t, txn_first_op, (uint64_t)h->txns + 1, true)                                              \
  X(TXN_SESSION, 5, uint32_t, txn_session, h->txns, true)                                                              \
  X(TXN_STATUS, 6, uint8_t, txn_status, h->txns, true)                                                                 \
  X(TXN_ID, 7, int64_t, txn_id_opt, h->txns, false)                                                                    \
  X(TXN_START, 8, int64_t, txn_start_opt, h->txns, false)                                                              \
  X(TXN_END, 9, int64_t, txn_end_opt, h->txns, false)                                                                  \
  X(TXN_START_INDEX, 10, int64_t, txn_start_index_opt, h->txns, false)                                                 \
  X(TXN_END_INDEX, 11, int64_t, txn_end_index_opt, h->txns, false)                                                     \
  X(TXN_NODE, 12, uint32_t, txn_node_opt, h->txns, false)                                                              \
  X(TXN_ERROR, 13, uint32_t, txn_error_opt, h->txns, false)                                                            \
  X(SESSION_FIRST_TXN, 14, uint32_t, session_first_txn, (uint64_t)h->sessions + 1, true)                               \
  X(SESSION_NAME, 15, uint32_t, session_name, h->sessions, true)                                                       \
  X(KEY_NAME, 16, uint32_t, key_name, h->keys, true)                                                                   \
  X(LIST_FIRST, 17, uint64_t, list_first, (uint64_t)h->keys + 1, false)                                                \
  X(LIST_VALUES, 18, uint32_t, list_values, h->list_values, false)                                                     \
  X(ODD_FIRST, 19, uint64_t, odd_first, (uint64_t)h->odd_lists + 1, false)                                             \
  X(ODD_VALUES, 20, uint32_t, odd_values, h->odd_values, false)                                                        \
  X(POOL_ENTRIES, 21, iso_pool_entry, pool.entries, h->pool_entries, false)                                            \
  X(POOL_TEXT, 22, char, pool.text, h->pool_text_bytes, false)                                                         \
  X(FACTS, 23, iso_fact, facts, h->facts, false)                                                                       \
  X(OP_FORM, 24, uint8_t, op_form_opt, h->ops, false)                                                                  \
  X(STATEMENTS, 25, iso_statement, statements, h->statements, false)                                                   \
  X(KEY_INITIAL, 26, uint32_t, key_initial_opt, h->keys, false)                                                        \
  X(TXN_ISOLATION, 27, uint8_t, txn_isolation_opt, h->txns, false)                                                     \
  X(CONDITIONS, 28, iso_condition, conditions, h->conditions, false)                                                   \
  X(CONTENTS, 29, iso_content, contents, h->contents, false)                                                           \
  X(KEY_LABEL, 30, uint32_t, key_label_opt, h->keys, false)                                                            \
  X(TXN_NAME, 31, uint32_t, txn_name_opt, h->txns, false)                                                              \
  X(OP_STATEMENT, 32, uint32_t, op_statement_opt, h->ops, false)

enum {
#define ISO_X(name, number, type, column, count, needed) ISO_SECTION_##name = (number),
  ISO_BINARY_SECTIONS(ISO_X)
#undef ISO_X
      ISO_SECTION_COUNT = 32 /* the highest number */
};

enum { ISO_BINARY_INITIAL_IS_ZERO = 1 };

/* 128 bytes. */
typedef struct iso_binary_header {
  char magic[ISO_BINARY_MAGIC_BYTES];
  uint32_t version;
  uint32_t endian;     /* ISO_BINARY_ENDIAN as the writer stores it */
  uint64_t file_bytes; /* of the whole file */
  uint32_t section_count;
  uint32_t flags;
  uint32_t sessions, txns, ops, keys;
  uint32_t odd_lists, facts, pool_entries, statements;
  uint64_t list_values, odd_values, pool_text_bytes;
  uint32_t conditions, contents;
  char padding[24];  /* zero */
  uint64_t checksum; /* of the header with this field zero, and the section table after it */
} iso_binary_header;

/* 40 bytes. */
typedef struct iso_binary_section {
  uint32_t number;
  uint32_t element_bytes;
  uint64_t offset; /* from the start of the file */
  uint64_t bytes;
  uint64_t checksum;
  uint64_t reserved; /* zero */
} iso_binary_section;

_Static_assert(sizeof(iso_binary_header) == 128, "the layout of the header is part of the format");
_Static_assert(sizeof(iso_binary_section) == 40, "the layout of the table is part of the format");
_Static_assert(sizeof(iso_pool_entry) == 16 && sizeof(iso_fact) == 8, "stored as they are");
_Static_assert(sizeof(iso_statement) == 72, "stored as they are");
_Static_assert(sizeof(iso_condition) == 16 && sizeof(iso_content) == 16, "stored as they are");

static inline bool iso_binary_magic(const char *bytes, size_t length) {
  return length >= ISO_BINARY_MAGIC_BYTES && memcmp(bytes, ISO_BINARY_MAGIC, ISO_BINARY_MAGIC_BYTES) == 0;
}

/* The header of a file, unchecked; all zero where it is no plain file in this form.  Errors are those of opening it. */
isoproof_status iso_binary_look(const char *path, iso_binary_header *header, isoproof_error *error);
/* The number of elements of a section, as the header implies it. */
uint64_t iso_binary_elements(uint32_t number, const iso_binary_header *header);
/* XXH3 of the header, its checksum taken as zero, and of the table. */
uint64_t iso_binary_header_checksum(const iso_binary_header *header, const iso_binary_section *table);

/* What is known of a section whatever the file says. */
typedef struct iso_binary_column {
  const char *name;
  uint32_t number;
  uint32_t element_bytes;
  size_t offset; /* of the pointer in struct isoproof_history */
  bool needed;
} iso_binary_column;

/* By number, from 1 to ISO_SECTION_COUNT. */
const iso_binary_column *iso_binary_column_of(uint32_t number);

/* Checks everything that the rest of the library takes for granted of the columns, in linear time; the history has its
 * counts and its pointers, and the header was checked against the sizes of the sections. */
isoproof_status iso_binary_validate(const isoproof_history *history, const iso_binary_header *header,
                                    isoproof_task *task, isoproof_error *error);
/* The share of one of several processes in reading a file: it verifies the checksums of some sections, and checks the
 * operations of a range of transactions and the lists of a range of keys.  The first one checks all that is neither.
 * What no share can tell alone they put together: which keys have operations, and which odd lists are read. */
typedef struct iso_binary_share {
  uint32_t number, count;
  uint32_t first_txn, end_txn, first_key, end_key;
  uint8_t *seen;      /* one bit per key, then one per odd list; the caller frees it */
  size_t seen_bytes;  /* of it */
  uint64_t odd_reads; /* reads of odd lists */
} iso_binary_share;

/* Maps a plain file in this form and checks the share, of which number and count are given.  ISOPROOF_ERR_UNSUPPORTED
 * for a history of rows, which is checked as a whole only.  Errors name what is wrong, but not always what a reader of
 * the whole finds first. */
isoproof_status iso_read_binary_share(const char *path, iso_binary_share *share, isoproof_history **history,
                                      isoproof_task *task, isoproof_error *error);
/* With what all shares have seen, and their reads of odd lists: whether the rest is right as well. */
isoproof_status iso_binary_check_seen(const isoproof_history *history, const uint8_t *seen, uint64_t odd_reads,
                                      isoproof_error *error);
/* The part of iso_binary_validate that is the share's, whose ranges this sets. */
isoproof_status iso_binary_validate_share(const isoproof_history *history, const iso_binary_header *header,
                                          iso_binary_share *share, isoproof_task *task, isoproof_error *error);
/* The parts of it that are not about operations and lists. */
isoproof_status iso_binary_validate_frame(const isoproof_history *history, isoproof_task *task, isoproof_error *error);
/* Those that are about the operations from `first` to before `end`; their keys are marked as used. */
isoproof_status iso_binary_validate_ops(const isoproof_history *history, uint64_t first, uint64_t end, uint8_t *used,
                                        isoproof_task *task, isoproof_error *error);
/* What is wrong with a section. */
isoproof_status iso_binary_bad(const isoproof_history *history, isoproof_error *error, const char *column, uint64_t at,
                               const char *expected);
isoproof_status iso_binary_check_codes(const isoproof_history *history, const iso_value *codes, uint64_t count,
                                       const char *column, isoproof_error *error);
/* Offsets from `from` to before `end`, and the one behind them, of elements that are `total`. */
isoproof_status iso_binary_check_offsets(const isoproof_history *history, const uint64_t *first, uint32_t from,
                                         uint32_t end, uint64_t total, const char *column, isoproof_error *error);
/* The part of it that is about rows. */
isoproof_status iso_binary_validate_rows(const isoproof_history *history, isoproof_error *error);
/* The part of it that is about columns, before that about rows. */
isoproof_status iso_binary_validate_columns(const isoproof_history *history, isoproof_error *error);
/* The part of it that finds names and scalars which are there twice; every code was checked before. */
isoproof_status iso_binary_unique(const isoproof_history *history, isoproof_task *task, isoproof_error *error);

#endif
