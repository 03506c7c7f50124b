/* agree.h - the verdicts of the library on the weak levels against the oracle, on random sketches.
 * Nothing is owned; a difference is shrunk and fails the test that asked. */
#ifndef RANDOM_AGREE_H
#define RANDOM_AGREE_H

#include "random_history.h"

/* Judges that many sketches; ISOLDE_RANDOM_HISTORIES and ISOLDE_RANDOM_SEED change how many, and where they start.  If
 * there are enough of them, every combination of verdicts that the lattice allows must appear, and each of the codes,
 * a list that ends with NULL. */
void agree_with_oracle(void (*draw)(uint64_t *state, sketch *out), uint64_t histories, const char *const *codes);

#endif
