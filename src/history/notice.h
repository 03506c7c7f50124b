/* notice.h - what readers of verdicts have to know about a history, kept among its facts as "notice.N" with the value
 * "CODE LINE SENTENCE".  A new kind of notice is a row of ISOPROOF_NOTICE_LIST (isoproof/history.h) and a call here or
 * of iso_document_add_notice; every output shows it.  Nothing is owned. */
#ifndef ISO_HISTORY_NOTICE_H
#define ISO_HISTORY_NOTICE_H

#include "history/builder.h"

/* Facts of this name are notices. */
#define ISO_NOTICE_FACT "notice."

/* Adds a notice to the history to come; `line` 0 for none, `sentence` NULL for that of the list.  After a hundred of
 * them nothing more is added. */
isoproof_status iso_builder_notice(isoproof_builder *builder, isoproof_notice_code code, uint64_t line,
                                   const char *sentence, isoproof_error *error);

/* Whether a fact of that name and value is a notice, and which: `*code` becomes the number in the list, `*sentence`
 * what comes behind its line. */
bool iso_notice_parse(isoproof_scalar name, isoproof_scalar value, isoproof_notice_code *code, uint64_t *line,
                      const char **sentence);
/* The sentence of the list. */
const char *iso_notice_text(isoproof_notice_code code);

#endif
