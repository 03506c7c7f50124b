/* isoproof_object_check: from a file to the verdict of a model. */
#include "object/object.h"

#include <stdio.h>
#include <string.h>

#include "base/abi.h"
#include "base/json_writer.h"
#include "base/output.h"
#include "format/format.h"

/* What stands behind each model. */
static const struct model {
  const char *id, *meaning;
  unsigned fs;
  bool time;
  iso_object_checker check;
} models[] = {
#define BIT(f) (1u << ISO_OBJECT_F_##f)
#define ISOPROOF_X(name, id_text, text) [ISOPROOF_OBJECT_##name] = {.id = id_text, .meaning = text MODEL_##name},
#define MODEL_BANK , .fs = BIT(READ) | BIT(TRANSFER), .check = iso_object_check_bank
#define MODEL_SET , .fs = BIT(READ) | BIT(ADD), .time = true, .check = iso_object_check_set
#define MODEL_SET_FULL MODEL_SET
#define MODEL_COUNTER , .fs = BIT(READ) | BIT(ADD), .time = true, .check = iso_object_check_counter
#define MODEL_LONG_FORK , .fs = BIT(READ) | BIT(WRITE) | BIT(TXN), .check = iso_object_check_long_fork
#define MODEL_SEQUENTIAL , .fs = BIT(READ) | BIT(ADD) | BIT(WRITE), .check = iso_object_check_sequential
#define MODEL_COMMENTS , .fs = BIT(READ) | BIT(WRITE), .time = true, .check = iso_object_check_comments
#define MODEL_CAS_REGISTER                                                                                             \
  , .fs = BIT(READ) | BIT(WRITE) | BIT(CAS), .time = true, .check = iso_object_check_linearizable
#define MODEL_MUTEX , .fs = BIT(ACQUIRE) | BIT(RELEASE), .time = true, .check = iso_object_check_linearizable
#define MODEL_KV                                                                                                       \
  , .fs = BIT(GET) | BIT(PUT) | BIT(APPEND) | BIT(DELETE), .time = true, .check = iso_object_check_linearizable
    ISOPROOF_OBJECT_LIST(ISOPROOF_X)
#undef ISOPROOF_X
#undef BIT
};

const char *isoproof_object_model_at(size_t number) { return number < ISOPROOF_OBJECTS ? models[number].id : NULL; }

const char *isoproof_object_model_meaning(isoproof_object_model model) {
  return (unsigned)model < ISOPROOF_OBJECTS ? models[model].meaning : "";
}

bool isoproof_object_model_find(const char *id, isoproof_object_model *model) {
  for (unsigned i = 0; i < ISOPROOF_OBJECTS; i++) {
    if (strcmp(models[i].id, id) != 0) continue;
    *model = (isoproof_object_model)i;
    return true;
  }
  return false;
}

unsigned iso_object_fs(isoproof_object_model model) { return models[model].fs; }
bool iso_object_needs_time(isoproof_object_model model) { return models[model].time; }

const char *iso_object_f_text(iso_object_f f) {
  static const char *const texts[] = {
#define ISO_X(name, text) text,
      ISO_OBJECT_F_LIST(ISO_X)
#undef ISO_X
  };
  return (unsigned)f < ISO_OBJECT_FS ? texts[f] : "?";
}

isoproof_status iso_object_expected(const iso_object_history *h, const iso_object_op *op, const char *what,
                                    isoproof_error *error) {
  return iso_fail_at(error, ISOPROOF_ERR_FORMAT, (iso_place){h->name, op->line, 0, -1},
                     "expected %s as the value of the %s, found something else", what,
                     iso_object_f_text((iso_object_f)op->f));
}

bool iso_object_problem(iso_object_report *report) { return report->problems++ == 0; }

void iso_object_say(iso_object_report *report, const iso_object_history *history, iso_value value) {
  iso_pool_view view = iso_pool_look(&history->pool);
  iso_words_add_scalar(&report->words, iso_pool_scalar(&view, value));
}

/* ---- the check ---- */

/* The format of the file: the one asked for, else what it looks like. */
static isoproof_status format_of(iso_input *input, const char *asked, isoproof_format *format, isoproof_error *error) {
  const char *bytes;
  size_t got;
  enum { PEEK = 65536 };
  const isoproof_format_info *info = asked != NULL ? isoproof_format_find(asked) : NULL;
  if (asked == NULL) {
    ISO_TRY(iso_input_peek(input, PEEK, &bytes, &got, error));
    if (got == 0 || !iso_detect_bytes(bytes, got, format)) *format = ISOPROOF_FORMAT_EDN;
    return ISOPROOF_OK;
  }
  *format = info != NULL ? info->format : ISOPROOF_FORMATS;
  bool known = *format == ISOPROOF_FORMAT_EDN || *format == ISOPROOF_FORMAT_JSON ||
               *format == ISOPROOF_FORMAT_PORCUPINE || *format == ISOPROOF_FORMAT_JEPSEN_LOG;
  if (known) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_USAGE,
                  "expected the format edn, json, porcupine or jepsen-log for this model, found %s", asked);
}

static isoproof_status read(iso_input *input, const isoproof_object_options *options, isoproof_task *task,
                            iso_object_history *history, isoproof_error *error) {
  isoproof_format format = ISOPROOF_FORMAT_EDN;
  ISO_TRY(format_of(input, options->format, &format, error));
  bool store = options->model == ISOPROOF_OBJECT_KV, lone = options->model == ISOPROOF_OBJECT_CAS_REGISTER;
  if (format == ISOPROOF_FORMAT_PORCUPINE && store) return iso_object_read_log(input, true, task, history, error);
  if (format == ISOPROOF_FORMAT_JEPSEN_LOG && lone) return iso_object_read_log(input, false, task, history, error);
  if (store) {
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "the model kv is about key-value logs (--format=porcupine)");
  }
  bool json = format != ISOPROOF_FORMAT_EDN && format != ISOPROOF_FORMAT_PORCUPINE;
  return iso_object_read(input, json, options->model, task, history, error);
}

static isoproof_status read_and_judge(iso_input *input, const isoproof_object_options *options, isoproof_task *task,
                                      isoproof_object_verdict *verdict, iso_object_report *report,
                                      isoproof_error *error) {
  iso_object_history history;
  ISO_TRY(read(input, options, task, &history, error));
  verdict->operations = history.ops.count;
  isoproof_status status = models[options->model].check(&history, options, task, report, error);
  iso_object_free(&history);
  return status;
}

static isoproof_status judge(iso_input *input, const isoproof_object_options *options, isoproof_task *task,
                             isoproof_object_verdict *verdict, isoproof_error *error) {
  iso_object_report report;
  memset(&report, 0, sizeof report);
  isoproof_status status = read_and_judge(input, options, task, verdict, &report, error);
  bool limit = status == ISOPROOF_ERR_TIMEOUT || status == ISOPROOF_ERR_MEMORY;
  if (limit && report.undecided == NULL) {
    report.undecided = status == ISOPROOF_ERR_TIMEOUT ? "the time limit was reached" : "memory ran out";
  }
  if (limit) status = ISOPROOF_OK;
  if (report.words.failed && status == ISOPROOF_OK) status = iso_fail_memory(error);
  verdict->problems = report.problems;
  verdict->verdict = report.problems > 0        ? ISOPROOF_VIOLATED
                     : report.undecided != NULL ? ISOPROOF_UNDECIDED
                                                : ISOPROOF_SATISFIED;
  const char *words = report.problems > 0 ? report.words.text : report.undecided;
  snprintf(verdict->explanation, sizeof verdict->explanation, "%s", words != NULL ? words : "");
  iso_words_free(&report.words);
  return status;
}

static isoproof_status read_options(const isoproof_object_options *given, isoproof_object_options *known,
                                    isoproof_error *error) {
  *known = (isoproof_object_options){0};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_object_options, known, given, error));
  if ((unsigned)known->model < ISOPROOF_OBJECTS) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_USAGE, "unknown model number %u", (unsigned)known->model);
}

/* Before anything is opened. */
static isoproof_status prepare(const isoproof_object_options *options, isoproof_object_options *known,
                               const isoproof_object_verdict *verdict, isoproof_error *error) {
  ISO_TRY(ISO_STRUCT_CHECK(isoproof_object_verdict, verdict, error));
  return read_options(options, known, error);
}

static isoproof_status judge_and_close(iso_input *input, const isoproof_object_options *options, isoproof_task *task,
                                       isoproof_object_verdict *verdict, isoproof_error *error) {
  isoproof_object_verdict made = {.struct_size = sizeof made};
  isoproof_status status = judge(input, options, task, &made, error);
  iso_input_close(input);
  (void)ISO_STRUCT_GIVE(verdict, made);
  return status;
}

isoproof_status isoproof_object_check(const char *path, const isoproof_object_options *options, isoproof_task *task,
                                      isoproof_object_verdict *verdict, isoproof_error *error) {
  isoproof_object_options known;
  iso_input *input;
  ISO_TRY(prepare(options, &known, verdict, error));
  ISO_TRY(iso_input_open_for(path, task, &input, error));
  return judge_and_close(input, &known, task, verdict, error);
}

isoproof_status isoproof_object_check_memory(const void *data, size_t size, const char *name,
                                             const isoproof_object_options *options, isoproof_task *task,
                                             isoproof_object_verdict *verdict, isoproof_error *error) {
  isoproof_object_options known;
  iso_input *input;
  ISO_TRY(prepare(options, &known, verdict, error));
  ISO_TRY(iso_input_open_memory(data, size, name, &input, error));
  return judge_and_close(input, &known, task, verdict, error);
}

isoproof_status isoproof_object_write_json(const isoproof_object_verdict *verdict, isoproof_object_model model,
                                           const char *file, isoproof_write_fn write, void *user,
                                           isoproof_error *error) {
  isoproof_object_verdict known = {.struct_size = sizeof known, .verdict = ISOPROOF_UNDECIDED};
  iso_output *out;
  ISO_TRY(ISO_OPTIONS_READ(isoproof_object_verdict, &known, verdict, error));
  if ((unsigned)model >= ISOPROOF_OBJECTS)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "unknown model number %u", (unsigned)model);
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &out, error));
  isoproof_json json;
  iso_json_writer_init(&json, out, ISO_JSON_PLAIN);
  isoproof_json_object(&json);
  iso_json_field_u64(&json, "schema", 1);
  iso_json_field_text(&json, "file", file);
  iso_json_field_text(&json, "model", models[model].id);
  iso_json_field_u64(&json, "operations", known.operations);
  iso_json_field_text(&json, "verdict", isoproof_verdict_name(known.verdict));
  if (known.verdict == ISOPROOF_UNDECIDED) {
    iso_json_field_text(&json, "elle_valid", "unknown");
  } else {
    iso_json_field_bool(&json, "elle_valid", known.verdict == ISOPROOF_SATISFIED);
  }
  iso_json_field_u64(&json, "problems", known.problems);
  if (known.explanation[0] != '\0') iso_json_field_text(&json, "explanation", known.explanation);
  isoproof_json_end(&json);
  isoproof_json_line(&json);
  return iso_output_close(out, error);
}
