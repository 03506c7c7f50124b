/* agree.h - the verdicts of the library on the weak levels against the oracle, on random sketches.
 * Nothing is owned; a difference is shrunk and fails the test that asked. */
#ifndef RANDOM_AGREE_H
#define RANDOM_AGREE_H

#include "tests/random/random_history.h"

/* Of these levels every combination of verdicts is looked for: cut isolation, read committed, read atomic and causal;
 * the same and the four session guarantees. */
enum { AGREE_MAIN = 4, AGREE_ALL = 8 };

/* Judges that many sketches; ISOPROOF_RANDOM_HISTORIES and ISOPROOF_RANDOM_SEED change how many, and where they start.
 * If there are enough of them, every combination of verdicts on the levels `combined` that the lattice allows must
 * appear, and each of the codes, a list that ends with NULL. */
void agree_with_oracle(void (*draw)(uint64_t *state, sketch *out), uint64_t histories, unsigned combined,
                       const char *const *codes);

#endif
