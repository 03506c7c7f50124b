/* listing.c - the schedules within bounds for whoever asks: in order, or drawn, as text and as SQL. */
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/hash.h"
#include "coo/systematic/runs.h"

/* So often nothing new may be drawn before it is taken that there is nothing new. */
enum { VAIN_DRAWS = 100000, MOST_DRAWN = 10000000 };

/* ---- bounds ---- */

static isoproof_status check_bound(const char *what, uint32_t value, uint32_t least, uint32_t most,
                                   isoproof_error *error) {
  if (value >= least && value <= most) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_USAGE, "expected %u to %u %s, found %u", least, most, what, value);
}

isoproof_status iso_sys_bounds_read(const isoproof_systematic_bounds *given, isoproof_systematic_bounds *known,
                                    isoproof_error *error) {
  *known = (isoproof_systematic_bounds){.predicates = 1};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_systematic_bounds, known, given, error));
  if (known->transactions == 0) known->transactions = 2;
  if (known->operations == 0) known->operations = 2;
  if (known->rows == 0) known->rows = 2;
  if (known->first == 0) known->first = 1;
  ISO_TRY(check_bound("transactions", known->transactions, 2, ISO_SYS_TXNS, error));
  ISO_TRY(check_bound("operations", known->operations, 1, ISO_SYS_OPS, error));
  ISO_TRY(check_bound("rows", known->rows, 1, ISO_SYS_ROWS, error));
  ISO_TRY(check_bound("predicates", known->predicates, 0, ISO_SYS_PREDICATES, error));
  if (known->drawn && (known->limit == 0 || known->limit > MOST_DRAWN))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "expected a limit of 1 to %d schedules to draw", MOST_DRAWN);
  return ISOPROOF_OK;
}

isoproof_status isoproof_systematic_walk_new(const isoproof_systematic_bounds *bounds, isoproof_systematic_walk **walk,
                                             isoproof_error *error) {
  isoproof_systematic_bounds known;
  *walk = NULL;
  ISO_TRY(iso_sys_bounds_read(bounds, &known, error));
  isoproof_systematic_walk *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->bounds = known;
  made->inner =
      (iso_sys_bounds){known.transactions, known.operations, known.rows, known.predicates, !known.duplicate_keys};
  made->walk = iso_sys_walk_begin(made->inner);
  made->random = known.seed;
  made->next = 1;
  if (known.drawn) made->drawn = iso_alloc_zero(2 * known.limit, sizeof *made->drawn);
  if (known.drawn && made->drawn == NULL) {
    isoproof_systematic_walk_free(made);
    return iso_fail_memory(error);
  }
  *walk = made;
  return ISOPROOF_OK;
}

void isoproof_systematic_walk_free(isoproof_systematic_walk *walk) {
  if (walk == NULL) return;
  free(walk->drawn);
  free(walk);
}

/* ---- the next one ---- */

/* Notes a schedule that was drawn; false when it was drawn before. */
static bool is_new(isoproof_systematic_walk *walk) {
  uint64_t hash = iso_hash_bytes(&walk->schedule, sizeof walk->schedule, 1) | 1;
  size_t room = (size_t)(2 * walk->bounds.limit), place = (size_t)(hash % room);
  while (walk->drawn[place] != 0 && walk->drawn[place] != hash) place = (place + 1) % room;
  if (walk->drawn[place] == hash) return false;
  walk->drawn[place] = hash;
  return true;
}

static bool draw_next(isoproof_systematic_walk *walk) {
  for (int i = 0; i < VAIN_DRAWS; i++) {
    iso_sys_draw(walk->inner, &walk->random, &walk->schedule);
    if (is_new(walk)) return true;
  }
  return false;
}

static bool find_next(isoproof_systematic_walk *walk) {
  if (walk->bounds.limit > 0 && walk->given == walk->bounds.limit) return false;
  if (walk->bounds.drawn) return draw_next(walk);
  for (; walk->next < walk->bounds.first; walk->next++)
    if (!iso_sys_walk_next(&walk->walk, &walk->schedule)) return false;
  return iso_sys_walk_next(&walk->walk, &walk->schedule);
}

bool isoproof_systematic_walk_next(isoproof_systematic_walk *walk, isoproof_systematic_schedule *out) {
  if (!find_next(walk)) return false;
  walk->given++;
  iso_sys_text(&walk->schedule, walk->text);
  const iso_sys_family *family = &walk->schedule.family;
  isoproof_systematic_schedule made = {.struct_size = sizeof made,
                                       .number = walk->next++,
                                       .text = walk->text,
                                       .transactions = family->txns,
                                       .rows = family->rows,
                                       .reused = iso_sys_reused_keys(family)};
  for (uint32_t t = 0; t < family->txns; t++) made.operations += family->programs[t].count;
  return ISO_STRUCT_GIVE(out, made);
}

size_t isoproof_systematic_walk_sql_at(const isoproof_systematic_walk *walk, const char *table, size_t number,
                                       unsigned *session, char *buffer, size_t size) {
  const iso_sys_family *family = &walk->schedule.family;
  iso_sys_act acts[ISO_SYS_STEPS];
  *session = 0;
  for (uint32_t row = 0; row < family->rows; row++) {
    if (family->starts[row] != ISO_SYS_ABSENT && number-- == 0)
      return iso_sys_start_sql(family, row, table, buffer, size);
  }
  if (number >= iso_sys_acts(&walk->schedule, acts)) return 0;
  *session = acts[number].txn + 1U;
  return iso_sys_sql(family, acts[number].txn, acts[number].step, table, buffer, size);
}
