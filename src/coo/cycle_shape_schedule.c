/* cycle_shape_schedule.c - from the shape of a POP cycle to a schedule that makes it. */
#include <stdio.h>
#include <string.h>

#include "coo/cycle_shape.h"
#include "coo/names.h"

/* A schedule as it grows. */
typedef struct script {
  char *text;
  size_t used;
  uint32_t ended; /* bit i: transaction i has ended */
} script;

static const char object_names[] = "xyzuvwst";
_Static_assert(sizeof object_names > ISOPROOF_COO_OBJECTS, "every object has a letter");

static void add(script *s, char kind, uint32_t txn, const char *object) {
  int length = snprintf(s->text + s->used, ISO_COO_TEXT_BYTES - s->used, "%s%c%u%s", s->used > 0 ? " " : "", kind,
                        txn + 1, object);
  if (length > 0) s->used += (size_t)length;
}

static void add_end(script *s, char kind, uint32_t txn) {
  if ((s->ended >> txn & 1) != 0) return;
  add(s, kind, txn, "");
  s->ended |= UINT32_C(1) << txn;
}

static void add_access(script *s, char kind, uint32_t txn, uint32_t object) {
  add(s, kind, txn, (const char[]){object_names[object], 0});
}

/* The letters of a POP are its steps: its first, an optional C, its second. */
static char first_letter(isoproof_pop_kind kind) { return isoproof_pop_kind_name(kind)[0]; }
static char last_letter(isoproof_pop_kind kind) {
  return isoproof_pop_kind_name(kind)[strlen(isoproof_pop_kind_name(kind)) - 1];
}
static bool is_committed(isoproof_pop_kind kind) {
  return isoproof_pop_kind_name(kind)[1] == 'C' && isoproof_pop_kind_name(kind)[2] != 0;
}
static bool is_end(isoproof_pop_kind kind) {
  return kind == ISOPROOF_POP_RA || kind == ISOPROOF_POP_WC || kind == ISOPROOF_POP_WA;
}

/* The published cases let the second transaction end first where the first one met what it had written or had read
 * dirty, unless it waits for the first one. */
static bool second_ends_first(const iso_cycle_shape *s) {
  if (s->length != 2 || iso_coo_class(s->kinds, 2) != ISOPROOF_COO_CLASS_RAT || s->kinds[0] == ISOPROOF_POP_WW)
    return false;
  return s->objects == 1 || last_letter(s->kinds[1]) == 'R' || first_letter(s->kinds[1]) == 'W';
}

bool iso_cycle_shape_schedule(const iso_cycle_shape *s, bool variant, char text[ISO_COO_TEXT_BYTES]) {
  script out = {.text = text};
  isoproof_pop_kind last = s->kinds[s->length - 1];
  text[0] = 0;
  if (variant && last != ISOPROOF_POP_WC) return false;
  for (uint32_t i = 0; i < s->length; i++) {
    if (!iso_cycle_shape_shares(s, i)) add_access(&out, first_letter(s->kinds[i]), i, s->on[i]);
  }
  for (uint32_t i = 0; i < s->length; i++) {
    uint32_t to = (i + 1) % s->length;
    if (is_committed(s->kinds[i])) add_end(&out, 'C', i);
    if (is_end(s->kinds[i]))
      add_end(&out, variant ? 'A' : last_letter(s->kinds[i]), to);
    else
      add_access(&out, last_letter(s->kinds[i]), to, s->on[i]);
  }
  if (second_ends_first(s)) add_end(&out, 'C', 1);
  for (uint32_t i = 0; i < s->length; i++) add_end(&out, 'C', i);
  return true;
}
