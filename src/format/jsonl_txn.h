/* jsonl_txn.h - one transaction of isoproof's own text form, from its object to operations and facts.
 *
 * Nothing of a history is touched: scalars go into a pool that somebody else owns, operations into `micro`, which
 * belongs to the parser.
 */
#ifndef ISO_FORMAT_JSONL_TXN_H
#define ISO_FORMAT_JSONL_TXN_H

#include "format/jsonl.h"
#include "format/micro_op.h"

typedef struct iso_jsonl_parser {
  iso_tokenizer t; /* its errors go to `problem` */
  iso_pool *pool;
  isoproof_error problem;
  bool initial_is_zero;
  iso_micro_op micro;
  /* The object that was read last. */
  bool is_txn; /* it is a transaction, and the following says which */
  iso_txn_info info;
  iso_value session;
  bool has_session, has_status;
  bool has_more; /* than a session, which may stay without transactions */
} iso_jsonl_parser;

/* Goes into the object that the current token opens, to the first key that has to be looked at; `plain` lets fields of
 * transactions be taken in before that. */
isoproof_status iso_jsonl_begin(iso_jsonl_parser *parser, bool plain);
/* Reads the rest of a transaction, from the current key on. */
isoproof_status iso_jsonl_read_txn(iso_jsonl_parser *parser);

/* Takes in fields that are written as the writer writes them, right from the window; returns how many.  The next token
 * is whatever follows (jsonl_fields.c). */
size_t iso_jsonl_take_fields(iso_jsonl_parser *parser);

#endif
