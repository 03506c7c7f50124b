/* workload_write.c - a workload as JSON lines: what each session is going to do, before anything runs.
 *
 * What depends on what is read is written as such: the key of a step may be {"of-read":N,"table":T,"column":C} and its
 * value {"value":V,"from":N,"change":D,"least":L}, where N is the number of an earlier operation of the transaction; a
 * row that is inserted only if step N found none has the value {"value":V,"if-absent":N}.
 */
#include <inttypes.h>
#include <string.h>

#include "base/output.h"
#include "base/task.h"
#include "workload/generator.h"

static const char *const step_names[ISO_STEP_KINDS] = {
#define ISO_X(name, id, writes) id,
    ISO_STEP_LIST(ISO_X)
#undef ISO_X
};

typedef struct job {
  iso_generator *generator;
  uint32_t session;
  uint64_t taken;
  iso_output *output;
} job;

static int64_t value_of(const job *j, uint32_t label) {
  return iso_generator_value(j->generator, j->session, j->taken, label);
}

static void write_key(const job *j, const iso_program_step *step) {
  if (step->origin == ISO_KEY_OF_READ) {
    iso_out_printf(j->output, "{\"of-read\":%" PRIu64 ",\"table\":\"%s\",\"column\":\"%s\"}", step->number,
                   iso_field_table(step->field), iso_field_column(step->field));
    return;
  }
  iso_data_key key = {step->field, (int64_t)step->number};
  if (step->origin == ISO_KEY_OF_LABEL) key.number = value_of(j, (uint32_t)step->number);
  if (key.field == ISO_FIELD_NONE) {
    iso_out_i64(j->output, key.number);
    return;
  }
  char text[ISO_KEY_BYTES];
  iso_out_json_string(j->output, text, iso_data_key_format(key, text));
}

/* The rows that a predicate asks for, as in a history. */
static void write_range(const job *j, const iso_program_step *step) {
  if (step->range == ISO_RANGE_ALL)
    iso_out_text(j->output, "{}");
  else
    iso_out_printf(j->output, "{\"%s\":[%" PRIu64 ",%" PRIu64 "]}", step->range == ISO_RANGE_KEYS ? "keys" : "values",
                   step->number, step->end - 1);
}

static void write_value(const job *j, const iso_program_step *step) {
  if (!iso_step_writes(step->kind)) return;
  iso_out_char(j->output, ',');
  if (step->guard_absent)
    iso_out_printf(j->output, "{\"value\":%" PRId64 ",\"if-absent\":%u}", value_of(j, step->label), step->guard);
  else if (step->source == ISO_NO_STEP)
    iso_out_i64(j->output, value_of(j, step->label));
  else
    iso_out_printf(j->output, "{\"value\":%" PRId64 ",\"from\":%u,\"change\":%d,\"least\":%u}",
                   value_of(j, step->label), step->source, step->change, step->least);
}

static void write_program(const job *j, const iso_program *program) {
  iso_out_printf(j->output, "{\"session\":%u,", j->session);
  if (program->meets)
    iso_out_printf(j->output, "\"round\":%" PRIu64 ",\"jitter\":%" PRIu64 ",", program->round, program->jitter_ns);
  iso_out_text(j->output, "\"ops\":[");
  for (size_t i = 0; i < program->steps.count; i++) {
    const iso_program_step *step = &program->steps.items[i];
    iso_out_printf(j->output, "%s[\"%s\",", i > 0 ? "," : "", step_names[step->kind]);
    if (iso_step_is_predicate(step->kind))
      write_range(j, step);
    else
      write_key(j, step);
    write_value(j, step);
    iso_out_char(j->output, ']');
  }
  iso_out_text(j->output, program->rollback ? "],\"rollback\":true}\n" : "]}\n");
}

/* Rows that are there before the first transaction. */
static void write_initial(const iso_generator *generator, iso_output *output) {
  for (uint32_t i = 0; i < generator->initial_rows; i++)
    iso_out_printf(output, "%s[%u,%" PRId64 "]%s", i == 0 ? "{\"initial_rows\":[" : ",", i,
                   iso_generator_initial_value(generator, i), i + 1 == generator->initial_rows ? "]}\n" : "");
}

static isoproof_status write_all(iso_generator *generator, iso_output *output, isoproof_task *task,
                                 isoproof_error *error) {
  const isoproof_workload_options *options = &generator->options;
  iso_out_printf(output,
                 "{\"isoproof-workload\":1,\"workload\":\"%s\",\"seed\":\"%" PRIu64
                 "\",\"sessions\":%u,\"transactions\":%" PRIu64 ",\"keys\":%u}\n",
                 isoproof_workload_at(options->kind), options->seed, options->sessions, options->txns, options->keys);
  write_initial(generator, output);
  for (uint64_t i = 0; i < options->txns && !iso_output_failed(output); i++) {
    job j = {.generator = generator, .session = (uint32_t)(i % options->sessions), .output = output};
    const iso_program *program;
    do ISO_TRY(iso_generator_next(generator, j.session, &program, error));
    while (program != NULL && program->steps.count == 0);
    if (program == NULL) continue;
    j.taken = iso_generator_take(generator, j.session, program);
    write_program(&j, program);
    if (i % 1024 == 0) {
      ISO_TRY(iso_task_check(task, error));
      iso_task_progress(task, "generating", "transactions", i, options->txns);
    }
  }
  return ISOPROOF_OK;
}

isoproof_status isoproof_workload_write(const isoproof_workload_options *options, isoproof_write_fn write, void *user,
                                        isoproof_task *task, isoproof_error *error) {
  iso_generator *generator = NULL;
  iso_output *output = NULL;
  ISO_TRY(iso_generator_new(options, &generator, error));
  isoproof_status status =
      generator->options.txns == 0
          ? iso_fail(error, ISOPROOF_ERR_USAGE, "txns: expected at least 1 for a workload to be written, found 0")
          : iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &output, error);
  if (status == ISOPROOF_OK) {
    status = write_all(generator, output, task, error);
    if (status == ISOPROOF_OK)
      status = iso_output_close(output, error);
    else
      iso_output_abandon(output);
  }
  iso_generator_free(generator);
  return status;
}
