/* Building programs step by step, and the names and numbers of keys. */
#include "workload/program.h"

#include <string.h>

#include "base/text.h"

void iso_program_clear(iso_program *program) {
  program->steps.count = 0;
  program->labels = 0;
  program->rollback = program->check_total = program->meets = program->in_round = false;
  program->batched = false;
  program->round = program->jitter_ns = 0;
}

void iso_program_free(iso_program *program) {
  iso_vec_free(&program->steps);
  *program = (iso_program){.out_of_memory = false};
}

bool iso_step_writes(iso_program_step_kind kind) {
  static const bool table[ISO_STEP_KINDS] = {
#define ISO_X(name, id, writes) writes,
      ISO_STEP_LIST(ISO_X)
#undef ISO_X
  };
  return table[kind];
}

bool iso_step_is_predicate(iso_program_step_kind kind) { return kind == ISO_STEP_READ_RANGE || kind == ISO_STEP_COUNT; }

uint32_t iso_program_add(iso_program *program, iso_program_step step) {
  if (iso_step_writes(step.kind)) step.label = program->labels++;
  if (!iso_vec_push(&program->steps, step)) program->out_of_memory = true;
  return (uint32_t)program->steps.count - 1;
}

static uint32_t add(iso_program *program, iso_program_step_kind kind, iso_key_origin origin, iso_field field,
                    uint64_t number) {
  return iso_program_add(program, (iso_program_step){.kind = kind,
                                                     .origin = origin,
                                                     .field = field,
                                                     .number = number,
                                                     .guard = ISO_NO_STEP,
                                                     .source = ISO_NO_STEP});
}

uint32_t iso_program_read(iso_program *program, iso_field field, uint64_t number) {
  return add(program, ISO_STEP_READ, ISO_KEY_FIXED, field, number);
}

uint32_t iso_program_write(iso_program *program, iso_field field, uint64_t number) {
  return add(program, ISO_STEP_WRITE, ISO_KEY_FIXED, field, number);
}

uint32_t iso_program_row(iso_program *program, iso_program_step_kind kind, uint64_t number) {
  return add(program, kind, ISO_KEY_FIXED, ISO_FIELD_NONE, number);
}

uint32_t iso_program_rows(iso_program *program, iso_program_step_kind kind, iso_step_range range, uint64_t number,
                          uint64_t last) {
  return iso_program_add(program, (iso_program_step){.kind = kind,
                                                     .range = range,
                                                     .number = range == ISO_RANGE_ALL ? 0 : number,
                                                     .end = range == ISO_RANGE_ALL ? 0 : last + 1,
                                                     .guard = ISO_NO_STEP,
                                                     .source = ISO_NO_STEP});
}

uint32_t iso_program_update(iso_program *program, iso_field field, uint64_t number) {
  iso_program_read(program, field, number);
  return iso_program_write(program, field, number);
}

uint32_t iso_program_write_new(iso_program *program, iso_field field, uint32_t made_by) {
  if (program->out_of_memory) return ISO_NO_STEP;
  return add(program, ISO_STEP_WRITE, ISO_KEY_OF_LABEL, field, program->steps.items[made_by].label);
}

uint32_t iso_program_read_seen(iso_program *program, iso_field field, uint32_t read) {
  return add(program, ISO_STEP_READ, ISO_KEY_OF_READ, field, read);
}

uint32_t iso_program_write_seen(iso_program *program, iso_field field, uint32_t read) {
  return add(program, ISO_STEP_WRITE, ISO_KEY_OF_READ, field, read);
}

/* ---- keys ---- */

static const struct {
  const char *table, *column;
} fields[ISO_FIELDS] = {
#define ISO_X(name, table, column) [ISO_FIELD_##name] = {table, column},
    ISO_FIELD_LIST(ISO_X)
#undef ISO_X
};

_Static_assert(ISO_FIELDS <= 1 << ISO_FIELD_BITS, "a field must fit into the code of a key");

const char *iso_field_table(iso_field field) { return fields[field].table; }

const char *iso_field_column(iso_field field) { return fields[field].column; }

size_t iso_data_key_format(iso_data_key key, char text[ISO_KEY_BYTES]) {
  size_t table = strlen(fields[key.field].table), column = strlen(fields[key.field].column);
  memcpy(text, fields[key.field].table, table);
  text[table++] = ':';
  table += iso_format_i64(key.number, text + table);
  text[table++] = ':';
  memcpy(text + table, fields[key.field].column, column);
  return table + column;
}

int64_t iso_data_key_code(iso_data_key key) {
  if (key.field == ISO_FIELD_NONE) return key.number;
  return (int64_t)((uint64_t)key.number << ISO_FIELD_BITS | (uint64_t)key.field);
}
