/* unit.h - what every unit test includes: cmocka in its required order, and a few helpers. */
#ifndef ISO_TESTS_UNIT_H
#define ISO_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <isoproof/isoproof.h>

/* Sanitizers are slow: loops that only repeat themselves make fewer rounds under them. */
#if defined(UNIT_SLOW) /* asked for, to try the small numbers without a sanitizer */
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNIT_SLOW
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNIT_SLOW
#endif
#endif
#ifdef UNIT_SLOW
#define UNLESS_SLOW(usual, slow) (slow)
#else
#define UNLESS_SLOW(usual, slow) (usual)
#endif

/* Inputs that are damaged in every place: only in some where nothing but races is looked for. */
#if defined(__SANITIZE_THREAD__)
#define UNIT_STEP 31
#else
#define UNIT_STEP 1
#endif

/* Fails the test with the message of the error unless the call succeeded. */
#define assert_ok(call)                                                                                                \
  do {                                                                                                                 \
    isoproof_status unit_status_ = (call);                                                                             \
    if (unit_status_ != ISOPROOF_OK) fail_msg("%s: %s", #call, isoproof_status_name(unit_status_));                    \
  } while (0)

/* The same, with the words of an isoproof_error. */
#define assert_ok_error(call, error)                                                                                   \
  do {                                                                                                                 \
    if ((call) != ISOPROOF_OK) fail_msg("%s: %s", #call, (error).message);                                             \
  } while (0)

/* A small generator with a fixed seed (xorshift64*): tests must not depend on the generator of the library. */
static inline uint64_t unit_random(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(2685821657736338717);
}

static inline uint64_t unit_below(uint64_t *state, uint64_t bound) { return unit_random(state) % bound; }

#endif
