/* saved.c - reads saved results, one document after the other. */
#include "cli/commands/saved.h"

#include <stdlib.h>

#include "cli/terminal/message.h"
#include "cli/terminal/progress.h"

static bool push(saved *list, isoproof_document *document) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
    isoproof_document **items = realloc(list->items, capacity * sizeof(void *));
    if (items == NULL) return false;
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->count++] = document;
  return true;
}

/* Takes everything out of a reader that was opened with `status`, and frees it. */
static int drain(saved *list, isoproof_document_reader *reader, isoproof_status status, const char *path,
                 isoproof_error *error) {
  isoproof_document *document = NULL;
  while (status == ISOPROOF_OK) {
    status = isoproof_document_reader_next(reader, &document, error);
    if (status != ISOPROOF_OK || document == NULL) break;
    if (push(list, document)) continue;
    isoproof_document_free(document);
    *error = (isoproof_error){.code = ISOPROOF_ERR_MEMORY, .offset = -1, .message = "out of memory"};
    status = ISOPROOF_ERR_MEMORY;
  }
  isoproof_document_reader_free(reader);
  progress_clear();
  if (status == ISOPROOF_ERR_CANCELLED) return EXIT_INTERRUPTED;
  if (status != ISOPROOF_OK) message_error(error, path);
  return exit_of_status(status);
}

int saved_collect(saved *list, const char *path, const isoproof_document_read_options *how, isoproof_task *task) {
  isoproof_document_reader *reader = NULL;
  isoproof_error error = {.offset = -1};
  size_t before = list->count;
  isoproof_status status = isoproof_document_reader_open(path, how, task, &reader, &error);
  int code = drain(list, reader, status, path, &error);
  if (code != EXIT_SATISFIED || list->count > before) return code;
  message("%s: expected the JSON of a result, found nothing", path);
  return EXIT_USAGE;
}

int saved_collect_text(saved *list, const char *text, size_t size, const char *name, isoproof_task *task) {
  isoproof_document_read_options how = {.struct_size = sizeof how, .no_history = true};
  isoproof_document_reader *reader = NULL;
  isoproof_error error = {.offset = -1};
  if (size == 0) return EXIT_SATISFIED;
  isoproof_status status = isoproof_document_reader_open_memory(text, size, name, &how, task, &reader, &error);
  return drain(list, reader, status, name, &error);
}

int saved_write(saved *list, const option_value *values, bool stdout_taken) {
  outputs o;
  if (!outputs_init(&o, values, list->count)) return EXIT_USAGE;
  if (stdout_taken) o.stdout_taken = true;
  for (size_t i = 0; i < list->count; i++) outputs_put(&o, i, list->items[i]);
  list->count = 0;
  int code = outputs_write(&o);
  outputs_free(&o);
  return code;
}

void saved_free(saved *list) {
  for (size_t i = 0; i < list->count; i++) isoproof_document_free(list->items[i]);
  free(list->items);
  *list = (saved){NULL, 0, 0};
}

int saved_exit(const isoproof_document *document) {
  const isoproof_error *problem = isoproof_document_problem(document);
  if (problem != NULL) return exit_of_status(problem->code);
  switch (isoproof_document_verdict(document)) {
  case ISOPROOF_SATISFIED:
    return EXIT_SATISFIED;
  case ISOPROOF_VIOLATED:
    return EXIT_VIOLATED;
  case ISOPROOF_UNDECIDED:
    return EXIT_UNKNOWN;
  case ISOPROOF_VERDICT_NONE:
    break;
  }
  return isoproof_document_unknown_reason(document) == NULL ? EXIT_SATISFIED : EXIT_UNKNOWN;
}
