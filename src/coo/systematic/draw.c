/* draw.c - schedules drawn at random, where there are too many to run them all. */
#include <string.h>

#include "base/hash.h"
#include "coo/systematic/walk.h"

/* A number below `bound`. */
static uint32_t draw(uint64_t *random, uint32_t bound) {
  *random += 0x9e3779b97f4a7c15U;
  return (uint32_t)((iso_hash_u64(*random, 0) >> 32) * bound >> 32);
}

static void draw_family(const iso_sys_bounds *bounds, uint64_t *random, iso_sys_family *family) {
  iso_sys_step alphabet[ISO_SYS_ALPHABET];
  uint32_t kinds = bounds->predicates > ISO_SYS_VALUES - ISO_SYS_KEYS ? ISO_SYS_STARTS : ISO_SYS_OTHER;
  memset(family, 0, sizeof *family);
  family->txns = (uint8_t)(2 + draw(random, bounds->transactions - 1));
  family->rows = (uint8_t)(1 + draw(random, bounds->rows));
  uint32_t letters = iso_sys_alphabet(bounds, family->rows, alphabet);
  for (uint32_t t = 0; t < family->txns; t++) {
    iso_sys_program *program = &family->programs[t];
    program->count = (uint8_t)(1 + draw(random, bounds->operations));
    /* Most transactions that somebody cares about commit. */
    program->aborts = draw(random, 4) == 0;
    for (uint32_t i = 0; i < program->count; i++) program->ops[i] = alphabet[draw(random, letters)];
  }
  for (uint32_t row = 0; row < family->rows && row < ISO_SYS_ROWS; row++)
    family->starts[row] = (uint8_t)draw(random, kinds);
}

void iso_sys_draw(iso_sys_bounds bounds, uint64_t *random, iso_sys_schedule *out) {
  uint32_t left[ISO_SYS_TXNS] = {0}, steps = 0;
  memset(out, 0, sizeof *out);
  do {
    draw_family(&bounds, random, &out->family);
  } while (!iso_sys_family_is_sound(&out->family, bounds.unique));
  for (uint32_t t = 0; t < out->family.txns; t++) steps += left[t] = iso_sys_steps_of(&out->family, t);
  /* Every order of the steps has the same chance. */
  for (; steps > 0; steps--) {
    uint32_t number = draw(random, steps);
    uint8_t t = 0;
    while (number >= left[t]) number -= left[t++];
    left[t]--;
    out->order[out->count++] = t;
  }
  iso_sys_canonize(out);
}
