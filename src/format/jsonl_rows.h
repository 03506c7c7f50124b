/* jsonl_rows.h - what is done to rows, in isoproof's own text form.
 *
 * The tokenizer stands where each comment says, and its error is filled when anything is not as it should be.  Nothing
 * is owned here.
 */
#ifndef ISO_FORMAT_JSONL_ROWS_H
#define ISO_FORMAT_JSONL_ROWS_H

#include "format/micro_op.h"

/* The form that the current token names, ISO_ROW_NONE for any other text. */
iso_row_form iso_jsonl_row_form(const iso_tokenizer *t);
/* The rest of an operation on rows, from its name to its end, into the operations of the transaction. */
isoproof_status iso_jsonl_read_row_op(iso_tokenizer *t, iso_pool *pool, iso_row_form form, iso_micro_op *micro);
/* The rows at the start, from the name of the field to the end of the list. */
isoproof_status iso_jsonl_read_initial_rows(iso_tokenizer *t, isoproof_builder *builder);

/* What rows are called: [[k,"accounts[id=7]"],...], behind the name of the field. */
isoproof_status iso_jsonl_read_row_names(iso_tokenizer *t, isoproof_builder *builder);

#endif
