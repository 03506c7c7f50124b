/* The table of formats, and the public functions that open and write histories through it. */
#include "format/format.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/abi.h"

enum { DETECT_BYTES = 65536, LIST_BYTES = 256 };

/* ---- the table ---- */

static const isoproof_format_info infos[ISOPROOF_FORMATS] = {
#define ISOPROOF_X(name, id, writable, ending, text) {ISOPROOF_FORMAT_##name, id, writable, ending, text},
    ISOPROOF_FORMAT_LIST(ISOPROOF_X)
#undef ISOPROOF_X
};

/* A lone log has no number of its own that we could rely on. */
static isoproof_status read_one_cobra_log(iso_input *input, isoproof_builder *builder, isoproof_task *task,
                                          isoproof_error *error) {
  return iso_read_cobra_log(input, 0, builder, task, error);
}

static isoproof_status read_one_viper_log(iso_input *input, isoproof_builder *builder, isoproof_task *task,
                                          isoproof_error *error) {
  return iso_read_viper_log(input, 0, builder, task, error);
}

/* Formats in which no lines are no transactions say what their initial versions are; the others need at least a header
 * or brackets. */
typedef enum empty_input { EMPTY_IS_NO_HISTORY, EMPTY_FROM_NIL, EMPTY_FROM_ZERO } empty_input;

static const struct {
  iso_read_fn read; /* NULL: the binary form, see iso_read_binary */
  iso_read_dir_fn read_directory;
  iso_write_format_fn write;
  empty_input empty;
} functions[ISOPROOF_FORMATS] = {
    [ISOPROOF_FORMAT_PLUME] = {iso_read_plume, NULL, iso_write_plume, EMPTY_FROM_ZERO},
    [ISOPROOF_FORMAT_DBCOP] = {iso_read_dbcop, NULL, iso_write_dbcop, EMPTY_IS_NO_HISTORY},
    [ISOPROOF_FORMAT_COBRA] = {read_one_cobra_log, iso_read_cobra, NULL, EMPTY_IS_NO_HISTORY},
    [ISOPROOF_FORMAT_VIPER] = {read_one_viper_log, iso_read_viper, NULL, EMPTY_IS_NO_HISTORY},
    [ISOPROOF_FORMAT_EDN] = {iso_read_edn, NULL, iso_write_edn, EMPTY_FROM_NIL},
    [ISOPROOF_FORMAT_JSON] = {iso_read_json, NULL, iso_write_json, EMPTY_IS_NO_HISTORY},
    [ISOPROOF_FORMAT_VERISTRONG] = {iso_read_veristrong, NULL, NULL, EMPTY_IS_NO_HISTORY},
    [ISOPROOF_FORMAT_TIMEKILLER] = {iso_read_timekiller, NULL, NULL, EMPTY_IS_NO_HISTORY},
    [ISOPROOF_FORMAT_JSONL] = {iso_read_jsonl, NULL, iso_write_jsonl, EMPTY_FROM_NIL},
    [ISOPROOF_FORMAT_BINARY] = {NULL, NULL, iso_write_binary, EMPTY_IS_NO_HISTORY},
    [ISOPROOF_FORMAT_PORCUPINE] = {iso_read_porcupine, NULL, iso_write_porcupine, EMPTY_FROM_NIL},
    [ISOPROOF_FORMAT_JEPSEN_LOG] = {iso_read_jepsen_log, NULL, iso_write_jepsen_log, EMPTY_FROM_NIL},
    [ISOPROOF_FORMAT_ETCD] = {iso_read_etcd, iso_read_etcd_directory, iso_write_etcd, EMPTY_FROM_NIL},
};

const isoproof_format_info *isoproof_format_at(size_t number) {
  return number < ISOPROOF_FORMATS ? &infos[number] : NULL;
}

const isoproof_format_info *isoproof_format_find(const char *id) {
  for (size_t i = 0; id != NULL && i < ISOPROOF_FORMATS; i++) {
    if (strcmp(infos[i].id, id) == 0) return &infos[i];
  }
  return NULL;
}

/* "plume, dbcop, ...", for messages. */
static const char *list_formats(bool writable_only, char list[LIST_BYTES]) {
  size_t used = 0;
  list[0] = '\0';
  for (size_t i = 0; i < ISOPROOF_FORMATS && used < LIST_BYTES; i++) {
    if (writable_only && functions[i].write == NULL) continue;
    used += (size_t)snprintf(list + used, LIST_BYTES - used, "%s%s", used > 0 ? ", " : "", infos[i].id);
  }
  return list;
}

/* ---- reading ---- */

/* The format asked for; ISOPROOF_FORMATS when it is to be detected. */
static isoproof_status asked_format(const isoproof_open_options *options, isoproof_format *format,
                                    isoproof_error *error) {
  isoproof_open_options known = {.format = NULL};
  *format = ISOPROOF_FORMATS;
  ISO_TRY(ISO_OPTIONS_READ(isoproof_open_options, &known, options, error));
  if (known.format == NULL) return ISOPROOF_OK;
  const isoproof_format_info *info = isoproof_format_find(known.format);
  if (info == NULL) {
    char list[LIST_BYTES], quoted[256];
    return iso_fail(error, ISOPROOF_ERR_USAGE, "unknown format %s; the formats are %s",
                    iso_quote(known.format, strlen(known.format), quoted), list_formats(false, list));
  }
  *format = info->format;
  return ISOPROOF_OK;
}

static isoproof_status detect(iso_input *input, isoproof_format *format, isoproof_error *error) {
  const char *bytes;
  size_t got;
  char list[LIST_BYTES], quoted[256];
  iso_place start = {iso_input_name(input), 0, 0, 0};
  ISO_TRY(iso_input_peek(input, DETECT_BYTES, &bytes, &got, error));
  if (got == 0) {
    return iso_fail_at(error, ISOPROOF_ERR_FORMAT, start,
                       "the input is empty: an empty history cannot be recognised, say its format with --format");
  }
  if (iso_detect_bytes(bytes, got, format)) return ISOPROOF_OK;
  return iso_fail_at(error, ISOPROOF_ERR_FORMAT, start,
                     "expected a history in one of the formats %s; found something that starts with %s",
                     list_formats(false, list), iso_quote(bytes, got, quoted));
}

/* Runs a reader on a fresh builder. */
static isoproof_status build(iso_input *input, const char *directory, isoproof_format format, isoproof_task *task,
                             isoproof_history **history, isoproof_error *error) {
  isoproof_builder *builder;
  ISO_TRY(isoproof_builder_new(&builder, error));
  isoproof_status status = iso_builder_file(builder, input != NULL ? iso_input_name(input) : directory, error);
  if (status == ISOPROOF_OK) {
    status = input != NULL ? functions[format].read(input, builder, task, error)
                           : functions[format].read_directory(directory, builder, task, error);
  }
  if (status == ISOPROOF_OK) status = iso_builder_finish_for(builder, task, history, error);
  isoproof_builder_free(builder);
  return status;
}

static bool empty_is_a_history(isoproof_format format) {
  return format != ISOPROOF_FORMATS && functions[format].empty != EMPTY_IS_NO_HISTORY;
}

static isoproof_status read_nothing(iso_input *input, isoproof_format format, isoproof_history **history,
                                    isoproof_error *error) {
  isoproof_builder *builder;
  ISO_TRY(isoproof_builder_new(&builder, error));
  iso_builder_origin(builder, format, ISO_POSITION_NONE, functions[format].empty == EMPTY_FROM_ZERO);
  isoproof_status status = iso_builder_file(builder, iso_input_name(input), error);
  if (status == ISOPROOF_OK) status = isoproof_builder_finish(builder, history, error);
  isoproof_builder_free(builder);
  return status;
}

static isoproof_status open_input(iso_input *input, isoproof_format format, isoproof_task *task,
                                  isoproof_history **history, isoproof_error *error) {
  const char *bytes;
  size_t got;
  ISO_TRY(iso_input_peek(input, 1, &bytes, &got, error));
  if (got == 0 && empty_is_a_history(format)) return read_nothing(input, format, history, error);
  if (format == ISOPROOF_FORMATS) ISO_TRY(detect(input, &format, error));
  ISO_TRY(iso_task_check(task, error));
  if (functions[format].read == NULL) return iso_read_binary(input, history, task, error);
  return build(input, NULL, format, task, history, error);
}

static isoproof_status open_directory(const char *path, isoproof_format format, isoproof_task *task,
                                      isoproof_history **history, isoproof_error *error) {
  iso_place place = {path, 0, 0, -1};
  if (format == ISOPROOF_FORMATS && !iso_detect_directory(path, &format)) {
    return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place,
                       "expected a directory of either T*.log files (Cobra) or J*.log files (Viper), one per session; "
                       "found none or both");
  }
  if (functions[format].read_directory == NULL) {
    return iso_fail_at(error, ISOPROOF_ERR_USAGE, place, "expected a file, as the format %s is none of directories",
                       infos[format].id);
  }
  return build(NULL, path, format, task, history, error);
}

isoproof_status isoproof_history_open(const char *path, const isoproof_open_options *options, isoproof_task *task,
                                      isoproof_history **history, isoproof_error *error) {
  *history = NULL;
  isoproof_format format;
  ISO_TRY(asked_format(options, &format, error));
  struct stat facts;
  bool standard = strcmp(path, "-") == 0;
  if (!standard && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) {
    return open_directory(path, format, task, history, error);
  }
  iso_input *input;
  ISO_TRY(iso_input_open_for(path, task, &input, error));
  isoproof_status status = open_input(input, format, task, history, error);
  iso_input_close(input);
  return status;
}

isoproof_status isoproof_history_open_memory(const void *data, size_t size, const char *name,
                                             const isoproof_open_options *options, isoproof_task *task,
                                             isoproof_history **history, isoproof_error *error) {
  *history = NULL;
  isoproof_format format;
  ISO_TRY(asked_format(options, &format, error));
  iso_input *input;
  ISO_TRY(iso_input_open_memory(data, size, name, &input, error));
  isoproof_status status = open_input(input, format, task, history, error);
  iso_input_close(input);
  return status;
}

/* ---- writing ---- */

static isoproof_status check_write(isoproof_format format, const isoproof_write_options *options,
                                   isoproof_write_options *known, isoproof_error *error) {
  *known = (isoproof_write_options){.compression = ISOPROOF_COMPRESS_AUTO};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_write_options, known, options, error));
  if ((unsigned)format >= ISOPROOF_FORMATS) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "unknown format number %d", (int)format);
  }
  if ((unsigned)known->compression > ISOPROOF_COMPRESS_ZSTD) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "unknown compression number %d", (int)known->compression);
  }
  if (functions[format].write == NULL) {
    char list[LIST_BYTES];
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "the format %s can only be read; %s can be written",
                    infos[format].id, list_formats(true, list));
  }
  return ISOPROOF_OK;
}

/* Only our own formats know of rows. */
static isoproof_status refuse_rows(const isoproof_history *history, isoproof_format format, isoproof_error *error) {
  bool own = format == ISOPROOF_FORMAT_JSONL || format == ISOPROOF_FORMAT_BINARY;
  if (own || !iso_history_has_rows(history)) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_USAGE,
                  "the format %s cannot say what was done to rows (inserts, deletes, reads by predicate); jsonl and "
                  "binary can",
                  infos[format].id);
}

/* Runs a writer and closes the output, which vanishes when anything failed. */
static isoproof_status write_output(const isoproof_history *history, isoproof_format format, iso_output *output,
                                    bool lossy, isoproof_task *task, isoproof_write_loss *loss, isoproof_error *error) {
  isoproof_write_loss made = {.struct_size = sizeof made};
  iso_write_job job = {
      .history = history, .output = output, .lossy = lossy, .task = task, .loss = &made, .error = error};
  isoproof_status status = functions[format].write(&job);
  if (loss != NULL) (void)ISO_STRUCT_GIVE(loss, made);
  if (status == ISOPROOF_OK) return iso_output_close(output, error);
  iso_output_abandon(output);
  return status;
}

isoproof_status isoproof_history_write(const isoproof_history *history, isoproof_format format, const char *path,
                                       const isoproof_write_options *options, isoproof_task *task,
                                       isoproof_write_loss *loss, isoproof_error *error) {
  isoproof_write_options known;
  iso_output *output;
  ISO_TRY(check_write(format, options, &known, error));
  ISO_TRY(ISO_STRUCT_CHECK(isoproof_write_loss, loss, error));
  ISO_TRY(refuse_rows(history, format, error));
  ISO_TRY(iso_output_open(path, known.compression, &output, error));
  return write_output(history, format, output, known.lossy, task, loss, error);
}

isoproof_status isoproof_history_write_to(const isoproof_history *history, isoproof_format format,
                                          isoproof_write_fn write, void *user, const isoproof_write_options *options,
                                          isoproof_task *task, isoproof_write_loss *loss, isoproof_error *error) {
  isoproof_write_options known;
  iso_output *output;
  ISO_TRY(check_write(format, options, &known, error));
  ISO_TRY(ISO_STRUCT_CHECK(isoproof_write_loss, loss, error));
  ISO_TRY(refuse_rows(history, format, error));
  ISO_TRY(iso_output_open_callback(write, user, known.compression, &output, error));
  return write_output(history, format, output, known.lossy, task, loss, error);
}
