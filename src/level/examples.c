/* The texts of the examples. */
#include "level/examples.h"

#define EXAMPLE(name, history, walkthrough)                                                                            \
  const char iso_example_##name[] = history;                                                                           \
  const char iso_walkthrough_##name[] = walkthrough;
#include "level/examples.def"
#undef EXAMPLE
