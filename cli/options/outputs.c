/* outputs.c - a table of writers, and files that appear under their names when they are complete. */
#include "cli/options/outputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/terminal/message.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"

/* ---- the writers ---- */

static isoproof_status output_html(const isoproof_document *const *documents, size_t count, isoproof_write_fn write,
                                   void *user, isoproof_error *error) {
  return count > 0 ? isoproof_document_write_html(documents[0], NULL, write, user, error) : ISOPROOF_OK;
}

static isoproof_status output_svg(const isoproof_document *const *documents, size_t count, isoproof_write_fn write,
                                  void *user, isoproof_error *error) {
  return count > 0 ? isoproof_document_write_svg(documents[0], NULL, write, user, error) : ISOPROOF_OK;
}

static isoproof_status output_dot(const isoproof_document *const *documents, size_t count, isoproof_write_fn write,
                                  void *user, isoproof_error *error) {
  return count > 0 ? isoproof_document_write_dot(documents[0], NULL, write, user, error) : ISOPROOF_OK;
}

static isoproof_status output_trace(const isoproof_document *const *documents, size_t count, isoproof_write_fn write,
                                    void *user, isoproof_error *error) {
  return count > 0 ? isoproof_document_write_trace(documents[0], NULL, write, user, error) : ISOPROOF_OK;
}

static const struct output_row {
  const char *name;
  bool many;
  output_fn write;
} rows[OUTPUT_FILES] = {
#define OUTPUT_X(name, option, many, function, help) {option, many, function},
    OUTPUT_LIST(OUTPUT_X)
#undef OUTPUT_X
};

/* ---- files ---- */

/* Beside the final name, so that renaming stays on one file system; NULL for what is no regular file. */
static char *temporary_name(const char *path) {
  struct stat info;
  char *name = NULL;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) return NULL;
  if (asprintf(&name, "%s.%ld.part", path, (long)getpid()) < 0) return NULL;
  return name;
}

static int write_to(size_t output, FILE *file, const char *path, const isoproof_document *const *documents,
                    size_t count) {
  isoproof_error error = {.offset = -1};
  isoproof_status status = rows[output].write(documents, count, write_stream, file, &error);
  if (status == ISOPROOF_OK || (file == stdout && output_gone())) return EXIT_SATISFIED;
  if (ferror(file))
    message_errno(path, "write to it");
  else
    message_error(&error, path);
  return exit_of_status(status);
}

int output_write_file(size_t output, const char *path, const isoproof_document *const *documents, size_t count) {
  if (strcmp(path, "-") == 0) {
    progress_clear();
    return write_to(output, stdout, "standard output", documents, count);
  }
  char *part = temporary_name(path);
  const char *name = part != NULL ? part : path;
  FILE *file = fopen(name, "we");
  if (file == NULL) {
    message_errno(path, "open it for writing");
    free(part);
    return EXIT_USAGE;
  }
  int code = write_to(output, file, path, documents, count);
  if (fclose(file) != 0 && code == EXIT_SATISFIED) {
    message_errno(path, "write to it");
    code = EXIT_USAGE;
  }
  if (part != NULL && code == EXIT_SATISFIED && rename(part, path) != 0) {
    message_errno(path, "put it there");
    code = EXIT_USAGE;
  }
  if (part != NULL && code != EXIT_SATISFIED) unlink(part);
  free(part);
  return code;
}

/* ---- all of them ---- */

bool outputs_wanted(const option_value *values) {
  if (values[OUTPUT_GITHUB].on) return true;
  for (size_t i = 0; i < OUTPUT_FILES; i++) {
    if (values[i].given) return true;
  }
  return false;
}

size_t outputs_to_stdout(const option_value *values) {
  size_t count = 0;
  for (size_t i = 0; i < OUTPUT_FILES; i++) count += values[i].given && strcmp(values[i].text, "-") == 0;
  return count;
}

bool outputs_init(outputs *o, const option_value *values, size_t count) {
  *o = (outputs){.values = values, .count = count, .stdout_taken = outputs_to_stdout(values) > 0};
  for (size_t i = 0; i < OUTPUT_FILES; i++) {
    if (!values[i].given || rows[i].many || count <= 1) continue;
    message("--%s shows one history, and there are %zu: give one file", rows[i].name, count);
    return false;
  }
  o->documents = calloc(count > 0 ? count : 1, sizeof(void *));
  if (o->documents == NULL) message("out of memory");
  return o->documents != NULL;
}

bool outputs_begin(outputs *o, const option_value *values, bool many) {
  *o = (outputs){.values = values, .stdout_taken = outputs_to_stdout(values) > 0};
  for (size_t i = 0; i < OUTPUT_FILES; i++) {
    if (!values[i].given || rows[i].many || !many) continue;
    message("--%s shows one history, and every round makes one: run one round, or use 'isoproof report' later",
            rows[i].name);
    return false;
  }
  return true;
}

bool outputs_add(outputs *o, isoproof_document *document) {
  /* A power of two is the moment to double. */
  if ((o->count & (o->count - 1)) == 0) {
    isoproof_document **grown = realloc(o->documents, (o->count > 0 ? o->count * 2 : 1) * sizeof(void *));
    if (grown == NULL) {
      message("out of memory");
      return false;
    }
    o->documents = grown;
  }
  o->documents[o->count++] = document;
  return true;
}

void outputs_free(outputs *o) {
  for (size_t i = 0; o->documents != NULL && i < o->count; i++) isoproof_document_free(o->documents[i]);
  free(o->documents);
  *o = (outputs){.values = NULL};
}

bool outputs_many(const outputs *o) { return o->count > 1; }

void outputs_put(outputs *o, size_t number, isoproof_document *document) { o->documents[number] = document; }

bool outputs_pending(const outputs *o) {
  if (o->count != 1) return true;
  return o->documents[0] != NULL;
}

/* Adds to what earlier programs of the step wrote there. */
static int write_summary(const char *path, const isoproof_document *const *documents, size_t count) {
  FILE *file = fopen(path, "ae");
  if (file == NULL) {
    message_errno(path, "open it for writing");
    return EXIT_USAGE;
  }
  int code = write_to(OUTPUT_MARKDOWN, file, path, documents, count);
  if (fclose(file) != 0 && code == EXIT_SATISFIED) {
    message_errno(path, "write to it");
    code = EXIT_USAGE;
  }
  return code;
}

static int write_github(const outputs *o, const isoproof_document *const *documents, size_t count) {
  isoproof_error error = {.offset = -1};
  FILE *out = o->stdout_taken ? stderr : stdout;
  const char *summary = getenv("GITHUB_STEP_SUMMARY");
  progress_clear();
  isoproof_status status = isoproof_documents_write_github(documents, count, write_stream, out, &error);
  /* What does not reach standard output is said at the end of the program. */
  if (status != ISOPROOF_OK && !ferror(out)) message_error(&error, NULL);
  int code = exit_of_status(status);
  if (summary != NULL && summary[0] != 0) code = exit_worse(code, write_summary(summary, documents, count));
  return code;
}

int outputs_write(outputs *o) {
  size_t count = 0;
  int code = EXIT_SATISFIED;
  const isoproof_document **given = calloc(o->count > 0 ? o->count : 1, sizeof(void *));
  if (given == NULL) {
    message("out of memory");
    return EXIT_UNKNOWN;
  }
  for (size_t i = 0; i < o->count; i++) {
    if (o->documents[i] != NULL) given[count++] = o->documents[i];
  }
  for (size_t i = 0; i < OUTPUT_FILES; i++) {
    if (!o->values[i].given || (count == 0 && !rows[i].many)) continue;
    code = exit_worse(code, output_write_file(i, o->values[i].text, given, count));
  }
  if (o->values[OUTPUT_GITHUB].on) code = exit_worse(code, write_github(o, given, count));
  free(given);
  return code;
}
