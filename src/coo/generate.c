/* generate.c - the test cases: the published ones by number, then all others. */
#include <stdio.h>
#include <stdlib.h>

#include "base/abi.h"
#include "base/vector.h"
#include "coo/cycle_shape.h"
#include "coo/names.h"

struct isoproof_coo_generator {
  uint32_t txns, objects;
  iso_cycle_shape named[ISOPROOF_COO_NAMED + 1]; /* by number; length 0 where the limits leave it out */
  uint32_t next_named;
  iso_cycle_shape_walk walk;
  bool sampled;
  uint64_t left, wanted; /* cases still to come, and how many of them are to be given, where they are drawn */
  uint64_t random;
  char structure[ISO_COO_TEXT_BYTES];
  char schedule[ISO_COO_TEXT_BYTES], variant[ISO_COO_TEXT_BYTES];
};

static void restart(isoproof_coo_generator *generator) { generator->walk = iso_cycle_shape_walk_begin(2, 1); }

/* The next shape within the limits, by transactions and objects. */
static bool next_shape(isoproof_coo_generator *generator, iso_cycle_shape *out) {
  iso_cycle_shape_walk *walk = &generator->walk;
  while (walk->length <= generator->txns) {
    if (walk->objects <= generator->objects && iso_cycle_shape_next(walk, out)) return true;
    uint32_t length = walk->length, objects = walk->objects + 1;
    if (objects > generator->objects || objects > length) {
      length++;
      objects = 1;
    }
    *walk = iso_cycle_shape_walk_begin(length, objects);
  }
  return false;
}

isoproof_status isoproof_coo_generator_new(size_t txns, size_t objects, isoproof_coo_generator **generator,
                                           isoproof_error *error) {
  iso_cycle_shape s;
  const char *name;
  *generator = NULL;
  if (txns < 2 || txns > ISOPROOF_COO_TXNS || objects < 1 || objects > ISOPROOF_COO_OBJECTS) {
    return iso_fail(error, ISOPROOF_ERR_USAGE,
                    "expected 2 to %d transactions and 1 to %d objects, found %zu transactions and %zu objects",
                    ISOPROOF_COO_TXNS, ISOPROOF_COO_OBJECTS, txns, objects);
  }
  isoproof_coo_generator *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->txns = (uint32_t)txns;
  made->objects = (uint32_t)objects;
  made->next_named = 1;
  restart(made);
  while (made->walk.length <= 3 && next_shape(made, &s)) {
    made->named[iso_coo_name(s.kinds, s.length, s.objects, &name)] = s;
  }
  restart(made);
  *generator = made;
  return ISOPROOF_OK;
}

void isoproof_coo_generator_free(isoproof_coo_generator *generator) { free(generator); }

/* "RW[x] WCR[y]" */
static void tell_structure(const iso_cycle_shape *s, char *out, size_t size) {
  static const char objects[] = "xyzuvwst";
  size_t used = 0;
  for (uint32_t i = 0; i < s->length && used < size; i++) {
    used += (size_t)snprintf(out + used, size - used, "%s%s[%c]", i > 0 ? " " : "", isoproof_pop_kind_name(s->kinds[i]),
                             objects[s->on[i]]);
  }
}

static bool describe(isoproof_coo_generator *generator, const iso_cycle_shape *s, isoproof_coo_case *out) {
  isoproof_coo_case made = {.struct_size = sizeof made,
                            .length = s->length,
                            .object_count = s->objects,
                            .schedule = generator->schedule,
                            .structure = generator->structure};
  for (uint32_t i = 0; i < s->length; i++) {
    made.pops[i] = s->kinds[i];
    made.on[i] = s->on[i];
  }
  made.number = iso_coo_name(s->kinds, s->length, s->objects, &made.name);
  made.kind = iso_coo_class(s->kinds, s->length);
  made.size = iso_coo_size(s->length, s->objects);
  tell_structure(s, generator->structure, sizeof generator->structure);
  iso_cycle_shape_schedule(s, false, generator->schedule);
  if (iso_cycle_shape_schedule(s, true, generator->variant)) made.variant = generator->variant;
  return ISO_STRUCT_GIVE(out, made);
}

/* ---- drawing ---- */

/* splitmix64 */
static uint64_t draw(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

uint64_t isoproof_coo_generator_sample(isoproof_coo_generator *generator, uint64_t limit, uint64_t seed) {
  uint64_t total = 0;
  for (uint32_t n = 2; n <= generator->txns; n++) {
    for (uint32_t m = 1; m <= generator->objects; m++) total += isoproof_coo_cycle_count(n, m);
  }
  generator->sampled = total > limit;
  generator->left = total;
  generator->wanted = limit;
  generator->random = seed;
  return total > limit ? total - limit : 0;
}

/* Each of the cases that are left has the same chance, and in the end exactly as many as wanted were taken. */
static bool is_drawn(isoproof_coo_generator *generator) {
  if (!generator->sampled) return true;
  bool drawn = draw(&generator->random) % generator->left-- < generator->wanted;
  if (drawn) generator->wanted--;
  return drawn;
}

bool isoproof_coo_generator_next(isoproof_coo_generator *generator, isoproof_coo_case *out) {
  iso_cycle_shape s;
  const char *name;
  if (ISO_STRUCT_CHECK(isoproof_coo_case, out, NULL) != ISOPROOF_OK) return false;
  if (generator->sampled && generator->wanted == 0) return false;
  while (generator->next_named <= ISOPROOF_COO_NAMED) {
    s = generator->named[generator->next_named++];
    if (s.length == 0 || !is_drawn(generator)) continue;
    return describe(generator, &s, out);
  }
  while (next_shape(generator, &s)) {
    if (iso_coo_name(s.kinds, s.length, s.objects, &name) != 0 || !is_drawn(generator)) continue;
    return describe(generator, &s, out);
  }
  return false;
}
