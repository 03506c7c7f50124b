/* all.h - the unit tests as functions of one program.
 *
 * A program for each of them, with the library inside, took minutes to link and gigabytes to keep under sanitizers.  So
 * every test NAME.c is compiled with another name for its main (one.c.in), and all.c calls the one that is asked for.
 */
#ifndef ISO_TESTS_UNIT_ALL_H
#define ISO_TESTS_UNIT_ALL_H

#include "unit_tests.def" /* made by the build */

#define UNIT_X(name) int unit_##name(int argc, char **argv);
UNIT_TESTS(UNIT_X)
#undef UNIT_X

typedef void (*unit_any)(void);

static inline int unit_without(unit_any test, int argc, char **argv) {
  (void)argc, (void)argv;
  return ((int (*)(void))test)();
}

static inline int unit_with(unit_any test, int argc, char **argv) { return ((int (*)(int, char **))test)(argc, argv); }

/* Calls a main of either form. */
#define UNIT_CALL(test, argc, argv)                                                                                    \
  _Generic(&(test), int (*)(void) : unit_without, int (*)(int, char **) : unit_with)((unit_any)(test), argc, argv)

#endif
