/* examples.h - the texts of examples.def as constants, iso_example_NAME and iso_walkthrough_NAME.  Constant data:
 * nothing is owned. */
#ifndef ISO_LEVEL_EXAMPLES_H
#define ISO_LEVEL_EXAMPLES_H

#define EXAMPLE(name, history, walkthrough)                                                                            \
  extern const char iso_example_##name[];                                                                              \
  extern const char iso_walkthrough_##name[];
#include "level/examples.def"
#undef EXAMPLE

/* So that a table can say `none` where it has no example. */
#define iso_example_none NULL
#define iso_walkthrough_none NULL

#endif
