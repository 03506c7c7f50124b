/* live_simulated.h - histories of some dozen to some thousand transactions from the simulator, for live checkers. */
#ifndef LIVE_SIMULATED_H
#define LIVE_SIMULATED_H

#include <stdint.h>

/* Simulations from number `first` to before `count`, of levels and bugs drawn with the seed: after every batch the
 * verdicts are those of isoproof_check. */
void live_simulated_agree(uint64_t seed, uint64_t first, uint64_t count);
/* One of them: the state of the generator before it, and the seed of the simulator. */
void live_simulated_once(uint64_t random, uint64_t seed);
/* Sound histories of which nothing is recorded: all levels that they keep to are known to be satisfied throughout. */
void live_simulated_alone(void);

#endif
