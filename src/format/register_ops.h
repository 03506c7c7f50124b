/* register_ops.h - the hot path of JSON and EDN: reads and writes of registers by small numbers, without tokens.
 *
 * Nearly every byte of a history of registers is one of these: ["r",17,4] or [:w 17 5].  They are taken in right from
 * the window as long as nothing else comes; whatever is written otherwise is left to the tokenizer, which knows
 * everything.
 */
#ifndef ISO_FORMAT_REGISTER_OPS_H
#define ISO_FORMAT_REGISTER_OPS_H

#include "format/micro_op.h"

/* How a format understands them. */
typedef struct iso_register_dialect {
  bool nil_writes;      /* null may be written */
  bool zero_is_initial; /* a read of 0 is one of the initial version */
} iso_register_dialect;

/* Adds the operations that follow in the list at hand, which the current token has opened or which ends an element of.
 * The next token is whatever comes behind them.  False when memory is out. */
bool iso_register_ops(iso_tokenizer *t, iso_register_dialect dialect, iso_micro_op *micro);

#endif
