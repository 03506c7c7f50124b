/* Results of past runs as documents, and what is known of those that ended before they had one. */
#include "serve/run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int open_file(int root, const char *const *parts, uint32_t count, const char *name) {
  const char *names[ISO_RUN_PARTS + 1];
  if (count > ISO_RUN_PARTS) return -1;
  for (uint32_t i = 0; i < count; i++) names[i] = parts[i];
  names[count] = name;
  return iso_folder_open(root, names, count + 1, false);
}

static isoproof_document *read_first(const char *bytes, size_t size, const isoproof_document_read_options *how) {
  isoproof_document_reader *reader = NULL;
  isoproof_document *document = NULL;
  if (isoproof_document_reader_open_memory(bytes, size, "result.json", how, NULL, &reader, NULL) == ISOPROOF_OK) {
    if (isoproof_document_reader_next(reader, &document, NULL) != ISOPROOF_OK) document = NULL;
  }
  isoproof_document_reader_free(reader);
  return document;
}

isoproof_document *iso_run_open(int root, const char *const *parts, uint32_t count, bool history, size_t most) {
  char *bytes = NULL, path[64];
  size_t size = 0;
  int file = open_file(root, parts, count, "result.json"), recorded = -1;
  if (file >= 0) bytes = iso_folder_read(file, most, &size);
  if (bytes != NULL && history) recorded = open_file(root, parts, count, "history.jsonl");
  /* The result may name any file: only the one that was opened here is read. */
  snprintf(path, sizeof path, "/proc/self/fd/%d", recorded);
  isoproof_document_read_options how = {.struct_size = sizeof how,
                                        .no_history = recorded < 0,
                                        .history = recorded >= 0 ? path : NULL,
                                        .only_beside = true};
  isoproof_document *document = bytes != NULL ? read_first(bytes, size, &how) : NULL;
  free(bytes);
  if (recorded >= 0) close(recorded);
  if (file >= 0) close(file);
  return document;
}

isoproof_document *iso_run_open_unfinished(int root, const char *const *parts, uint32_t count) {
  enum { MOST_HEAD = 64 << 10 };
  static const char before[] = "{\"schema\":1,\"file\":\"history.jsonl\",\"facts\":", after[] = "}\n";
  const isoproof_document_read_options how = {.struct_size = sizeof how, .no_history = true};
  isoproof_document *document = NULL;
  int file = open_file(root, parts, count, "history.jsonl");
  char *text = file >= 0 ? iso_alloc(sizeof before + MOST_HEAD + sizeof after, 1) : NULL;
  if (text != NULL) {
    char *head = text + sizeof before - 1;
    ssize_t got = read(file, head, MOST_HEAD);
    const char *end = got > 0 ? memchr(head, '\n', (size_t)got) : NULL;
    if (end != NULL) {
      /* The head is an object of facts, which is what a result has under this name. */
      memcpy(text, before, sizeof before - 1);
      memcpy(head + (end - head), after, sizeof after);
      document = read_first(text, strlen(text), &how);
    }
  }
  free(text);
  if (file >= 0) close(file);
  return document;
}
