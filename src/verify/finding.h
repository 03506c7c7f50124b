/* finding.h - an independent judge of findings.
 *
 * It reads nothing but the columns of the history and the definitions of the patterns: no resolution, no index, none
 * of the tables of the search.  A finding that it refutes is a bug in the search and is never shown to anybody.
 * A verifier owns its sorted list of writes until iso_verifier_free.
 */
#ifndef ISO_VERIFY_FINDING_H
#define ISO_VERIFY_FINDING_H

#include "result/finding.h"

typedef struct iso_written {
  uint64_t key_and_value;
  uint32_t op;
} iso_written;

typedef struct iso_verifier {
  const isoproof_history *h;
  iso_written *written; /* everything that anybody wrote, sorted; made when first needed */
  size_t written_count;
  bool failed; /* memory was out */
} iso_verifier;

void iso_verifier_init(iso_verifier *verifier, const isoproof_history *history);
void iso_verifier_free(iso_verifier *verifier);
/* Whether the finding is an instance of its pattern. */
bool iso_verify(iso_verifier *verifier, const iso_finding *finding);

/* For a list read: how many elements remain when those of the reader's own transaction at the end are taken away. */
uint32_t iso_verify_foreign_length(const isoproof_history *history, uint32_t read);

#endif
