/* live_parts.h - the parts of a live checker that answer "perhaps": what they may never say. */
#ifndef LIVE_PARTS_H
#define LIVE_PARTS_H

#include <stdint.h>

/* The index never denies a value that was added, nor that it was added twice. */
void live_index_agrees(uint64_t seed);
/* A clock that was overwritten has a bound that is no smaller. */
void live_clocks_agree(uint64_t seed);

#endif
