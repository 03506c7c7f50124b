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

static void add_range(iso_generator_session *session, uint32_t position) {
  uint64_t each = session->generator->options.writes_per_key;
  uint64_t first = iso_generator_current(session->generator, position) / each * each;
  iso_program_step step = {.kind = ISO_STEP_READ_RANGE, .number = first, .end = first + each};
  step.guard = step.source = ISO_NO_STEP;
  iso_program_add(&session->program, step);
}

static void add_insert(iso_generator_session *session, uint32_t position) {
  iso_program_step step = {.kind = ISO_STEP_INSERT, .number = iso_generator_rotate(session->generator, position)};
  step.guard = step.source = ISO_NO_STEP;
  iso_program_add(&session->program, step);
}

/* Deletes a row that was planned before, if it is there.  Only one transaction ever tries to delete a row, and only
 * after having read it: a recorded delete is one that happened. */
static bool add_delete(iso_generator_session *session, uint32_t position) {
  iso_generator *generator = session->generator;
  uint64_t given = atomic_load_explicit(&generator->writes[position], memory_order_relaxed);
  uint64_t each = generator->options.writes_per_key;
  /* Rows before this one were given out for insertion, one in ISO_DELETABLE of them to be deleted. */
  uint64_t turn = atomic_fetch_add_explicit(&generator->deletes[position], 1, memory_order_relaxed);
  if (turn >= given) return false;
  uint64_t row = (turn / each * generator->options.keys + position) * each + turn % each;
  if (iso_row_is_lasting(row)) return false;
  iso_program *program = &session->program;
  uint32_t read = iso_program_read(program, ISO_FIELD_NONE, row);
  iso_program_add(program,
                  (iso_program_step){.kind = ISO_STEP_DELETE, .number = row, .guard = read, .source = ISO_NO_STEP});
  return true;
}

isoproof_status iso_next_predicate(iso_generator_session *session, isoproof_error *error) {
  (void)error;
  uint32_t position = iso_generator_draw(session), shape = iso_random_below(&session->random, 10);
  if (shape == 9 && add_delete(session, position)) return ISOPROOF_OK;
  add_range(session, position);
  if (shape < 2)
    add_range(session, position); /* the same rows again? */
  else if (shape < 7)
    add_insert(session, position);
  return ISOPROOF_OK;
}
