/* mix_programs.c - the programs of workloads whose transactions are reads and writes in a mix. */
#include "workload/generator.h"

isoproof_status iso_next_general(iso_generator_session *session, isoproof_error *error) {
  iso_op_mix_txn txn;
  ISO_TRY(iso_op_mix_next(session->mix, &txn, error));
  iso_program *program = &session->program;
  for (uint32_t i = 0; i < txn.count; i++) {
    if (txn.ops[i].write)
      iso_program_write(program, ISO_FIELD_NONE, txn.ops[i].key);
    else
      iso_program_read(program, ISO_FIELD_NONE, txn.ops[i].key);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_next_lists(iso_generator_session *session, isoproof_error *error) {
  iso_op_mix_txn txn;
  iso_generator *generator = session->generator;
  ISO_TRY(iso_op_mix_next(session->mix, &txn, error));
  for (uint32_t i = 0; i < txn.count; i++) {
    uint32_t position = txn.ops[i].position;
    bool append = txn.ops[i].write;
    uint64_t key = append ? iso_generator_rotate(generator, position) : iso_generator_current(generator, position);
    iso_program_add(&session->program, (iso_program_step){.kind = append ? ISO_STEP_APPEND : ISO_STEP_READ_LIST,
                                                          .number = key,
                                                          .guard = ISO_NO_STEP,
                                                          .source = ISO_NO_STEP});
  }
  return ISOPROOF_OK;
}

/* Two writers that nobody orders, and a reader of many keys, are what tells parallel from plain snapshots. */
static void read_many(iso_generator_session *session) {
  uint32_t keys = session->generator->options.keys;
  uint32_t count = keys < 6 ? keys : 6, first = iso_generator_draw(session);
  for (uint32_t i = 0; i < count; i++) iso_program_read(&session->program, ISO_FIELD_NONE, (first + i) % keys);
}

isoproof_status iso_next_mixed(iso_generator_session *session, isoproof_error *error) {
  uint32_t shape = iso_random_below(&session->random, 10);
  if (shape < 3) return iso_next_general(session, error);
  if (shape < 6) return iso_next_lost_update(session, error);
  if (shape < 9) return iso_next_write_skew(session, error);
  read_many(session);
  return ISOPROOF_OK;
}
