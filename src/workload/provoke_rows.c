/* provoke_rows.c - workloads in rounds on few rows: deletes against updates, upserts, counters, mini-transactions. */
#include "workload/generator.h"

/* No run gets that far. */
static const uint64_t most_value = UINT64_C(1) << 40;

/* A read of one row, or of rows among which it is, in the way that the round has drawn: by its key, by a range of keys,
 * by a range of values that has all of them, or of the whole table. */
static uint32_t add_read(iso_generator_session *session, uint32_t way, uint64_t key) {
  iso_program *program = &session->program;
  switch (way) {
  case 0:
    return iso_program_rows(program, ISO_STEP_READ_RANGE, ISO_RANGE_KEYS, key, key);
  case 1:
    return iso_program_rows(program, ISO_STEP_READ_RANGE, ISO_RANGE_VALUES, 1, most_value);
  case 2:
    return iso_program_rows(program, ISO_STEP_READ_RANGE, ISO_RANGE_ALL, 0, 0);
  default:
    return iso_program_row(program, ISO_STEP_READ, key);
  }
}

/* ---- delete-update ---- */

/* One session puts back the rows that are gone, while the others wait for the next round. */
static void restore(iso_generator_session *session, uint32_t role) {
  for (uint32_t i = 0; role == 0 && i < session->generator->options.keys; i++) {
    uint32_t read = iso_program_row(&session->program, ISO_STEP_READ, i);
    uint32_t insert = iso_program_row(&session->program, ISO_STEP_INSERT, i);
    if (session->program.out_of_memory) return;
    session->program.steps.items[insert].guard = read;
    session->program.steps.items[insert].guard_absent = true;
  }
}

isoproof_status iso_next_delete_update(iso_generator_session *session, isoproof_error *error) {
  (void)error;
  iso_random round = iso_round_random(session);
  uint32_t keys = session->generator->options.keys, role = iso_round_role(session, &round);
  uint32_t way = iso_random_below(&round, 6), choice = iso_random_below(&session->random, 8);
  /* Each row once, then all of them are put back. */
  uint64_t key = (session->round - 1) % ((uint64_t)keys + 1);
  if (key == keys) {
    restore(session, role);
    return ISOPROOF_OK;
  }
  if (iso_random_below(&round, 8) > 0) add_read(session, way, key);
  if (role == 0)
    iso_program_row(&session->program, ISO_STEP_DELETE, key);
  else if (role == 1 || choice < 4)
    iso_program_row(&session->program, ISO_STEP_UPDATE, key);
  else if (choice == 4)
    iso_program_row(&session->program, ISO_STEP_DELETE, key);
  else
    add_read(session, way, key);
  return ISOPROOF_OK;
}

/* ---- upsert ---- */

isoproof_status iso_next_upsert(iso_generator_session *session, isoproof_error *error) {
  (void)error;
  static const iso_program_step_kind kinds[] = {ISO_STEP_UPSERT, ISO_STEP_UPSERT, ISO_STEP_UPSERT, ISO_STEP_INSERT,
                                                ISO_STEP_INSERT, ISO_STEP_DELETE, ISO_STEP_DELETE, ISO_STEP_UPDATE};
  iso_random round = iso_round_random(session), *own = &session->random;
  uint32_t keys = session->generator->options.keys, way = iso_random_below(&round, 6);
  uint64_t key = iso_random_below(&round, keys), other = iso_random_below(&round, keys);
  if (iso_random_below(own, 4) > 0) add_read(session, way, key);
  iso_program_row(&session->program, kinds[iso_random_below(own, 8)], key);
  uint32_t more = iso_random_below(own, 4);
  if (more == 0) add_read(session, way, other);
  if (more == 1) iso_program_row(&session->program, kinds[iso_random_below(own, 8)], other);
  return ISOPROOF_OK;
}

/* ---- counter-by-read ---- */

isoproof_status iso_next_counter_by_read(iso_generator_session *session, isoproof_error *error) {
  (void)error;
  iso_random round = iso_round_random(session);
  uint32_t keys = session->generator->options.keys, way = iso_random_below(&round, 6);
  uint64_t key = iso_random_below(&round, keys);
  add_read(session, way, key);
  iso_program_row(&session->program, ISO_STEP_UPDATE, key);
  return ISOPROOF_OK;
}

/* ---- mini ---- */

isoproof_status iso_next_mini(iso_generator_session *session, isoproof_error *error) {
  (void)error;
  iso_random round = iso_round_random(session);
  uint32_t keys = session->generator->options.keys, shape = iso_random_below(&session->random, 10);
  uint32_t first = iso_random_below(&round, keys), second = iso_random_below(&round, keys);
  /* Each session begins with one of the two. */
  bool swap = iso_random_below(&session->random, 2) == 0;
  uint32_t one = swap ? second : first, two = swap ? first : second;
  iso_program_read(&session->program, ISO_FIELD_NONE, one);
  if (shape < 7)
    iso_program_write(&session->program, ISO_FIELD_NONE, shape < 4 ? one : two);
  else
    iso_program_read(&session->program, ISO_FIELD_NONE, two);
  return ISOPROOF_OK;
}
