/* stress.c - workloads that provoke one anomaly: lost updates, write skew, broken totals, phantoms. */
#include "workload/generator.h"

isoproof_status iso_next_lost_update(iso_generator_session *session, isoproof_error *error) {
  (void)error;
  iso_program_update(&session->program, ISO_FIELD_NONE, iso_generator_draw(session));
  return ISOPROOF_OK;
}

/* Keys 2i and 2i + 1 are a pair; with an odd number of keys the last one is paired with key 0. */
isoproof_status iso_next_write_skew(iso_generator_session *session, isoproof_error *error) {
  (void)error;
  uint32_t keys = session->generator->options.keys, first = iso_generator_draw(session) & ~UINT32_C(1);
  uint32_t pair[2] = {first, (first + 1) % keys};
  iso_program_read(&session->program, ISO_FIELD_NONE, pair[0]);
  iso_program_read(&session->program, ISO_FIELD_NONE, pair[1]);
  iso_program_write(&session->program, ISO_FIELD_NONE, pair[iso_random_below(&session->random, 2)]);
  return ISOPROOF_OK;
}

/* ---- bank ---- */

static void transfer(iso_generator_session *session) {
  iso_program *program = &session->program;
  uint32_t keys = session->generator->options.keys;
  uint32_t from = iso_generator_draw(session), to = iso_generator_draw(session);
  if (from == to) to = (to + 1) % keys;
  uint32_t amount = 1 + iso_random_below(&session->random, 5);
  uint32_t from_read = iso_program_read(program, ISO_FIELD_NONE, from);
  uint32_t to_read = iso_program_read(program, ISO_FIELD_NONE, to);
  iso_program_step write = {
      .kind = ISO_STEP_WRITE, .number = from, .guard = from_read, .least = amount, .source = from_read};
  write.change = -(int32_t)amount;
  iso_program_add(program, write);
  write.number = to;
  write.source = to_read;
  write.change = (int32_t)amount;
  iso_program_add(program, write);
}

isoproof_status iso_next_bank(iso_generator_session *session, isoproof_error *error) {
  (void)error;
  if (iso_random_below(&session->random, 5) > 0) {
    transfer(session);
    return ISOPROOF_OK;
  }
  for (uint32_t i = 0; i < session->generator->options.keys; i++)
    iso_program_read(&session->program, ISO_FIELD_NONE, i);
  session->program.check_total = true;
  return ISOPROOF_OK;
}

/* ---- predicate ---- */

/* The range that is in use at a position. */
static uint64_t range_at(const iso_generator_session *session, uint32_t position) {
  uint64_t each = session->generator->options.writes_per_key;
  return iso_generator_current(session->generator, position) / each * each;
}

static void add_range(iso_generator_session *session, uint32_t position) {
  uint64_t first = range_at(session, position);
  iso_program_step_kind kind = iso_random_below(&session->random, 4) == 0 ? ISO_STEP_COUNT : ISO_STEP_READ_RANGE;
  iso_program_rows(&session->program, kind, ISO_RANGE_KEYS, first,
                   first + session->generator->options.writes_per_key - 1);
}

isoproof_status iso_next_predicate(iso_generator_session *session, isoproof_error *error) {
  (void)error;
  uint32_t position = iso_generator_draw(session), shape = iso_random_below(&session->random, 10);
  uint32_t each = session->generator->options.writes_per_key;
  add_range(session, position);
  if (shape < 2)
    add_range(session, position); /* the same rows again? */
  else if (shape < 7)
    iso_program_row(&session->program, ISO_STEP_INSERT, iso_generator_rotate(session->generator, position));
  else
    iso_program_row(&session->program, shape < 9 ? ISO_STEP_DELETE : ISO_STEP_UPDATE,
                    range_at(session, position) + iso_random_below(&session->random, each));
  return ISOPROOF_OK;
}
