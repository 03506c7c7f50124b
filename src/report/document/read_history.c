/* The history of a saved result, where it is still there: timelines and latencies are made from it. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/words.h"
#include "report/document/read.h"

/* A pipe or a device could block for ever. */
static bool is_readable(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
}

/* The last name of the history in the directory of the result. */
static void beside_path(iso_words *words, const char *result, const char *file) {
  const char *slash = strrchr(result, '/'), *last = strrchr(file, '/');
  const char *name = last != NULL ? last + 1 : file;
  if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return;
  iso_words_add(words, "%.*s%s", slash != NULL ? (int)(slash - result + 1) : 0, result, name);
}

/* Where to look, most promising first: false when memory is out; *found stays NULL when it is nowhere. */
static bool find(const isoproof_document *document, const isoproof_document_read_options *options, const char *beside,
                 iso_words *words, const char **found) {
  const char *file = document->file;
  if (options->history != NULL) {
    *found = is_readable(options->history) ? options->history : NULL;
    return true;
  }
  if (strcmp(file, "-") == 0 || file[0] == '\0') return true;
  beside_path(words, beside, file);
  if (words->failed) return false;
  if (words->text != NULL && is_readable(words->text))
    *found = words->text;
  else if (!options->only_beside && is_readable(file))
    *found = file;
  return true;
}

/* Whether it is the one that was judged, as far as its size tells. */
static bool is_same(const isoproof_document *document, const isoproof_counts *counts) {
  const isoproof_counts *ours = &document->counts;
  return counts->sessions == ours->sessions && counts->transactions == ours->transactions &&
         counts->operations == ours->operations;
}

static bool take_in(isoproof_document *document, isoproof_history *history) {
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  if (!is_same(document, &counts)) {
    isoproof_history_free(history);
    return iso_document_leave_out(document,
                                  "The timeline and the latencies are left out: %.300s is not the history "
                                  "that was judged any more.",
                                  document->file);
  }
  document->counts = counts;
  document->history = document->owned_history = history;
  return true;
}

isoproof_status iso_read_history(isoproof_document *document, const isoproof_document_read_options *options,
                                 const char *beside, isoproof_task *task, isoproof_error *error) {
  iso_words words = {NULL, 0, 0, false};
  const char *found = NULL;
  isoproof_history *history = NULL;
  if (options->no_history) return ISOPROOF_OK;
  bool good = find(document, options, beside, &words, &found);
  isoproof_status status = ISOPROOF_ERR_IO;
  if (good && found != NULL) {
    isoproof_open_options how = {.struct_size = sizeof how,
                                 .format = document->format[0] != 0 ? document->format : NULL};
    status = isoproof_history_open(found, &how, task, &history, error);
  }
  iso_words_free(&words);
  if (!good) return iso_fail_memory(error);
  if (status == ISOPROOF_ERR_MEMORY || status == ISOPROOF_ERR_CANCELLED || status == ISOPROOF_ERR_TIMEOUT)
    return status;
  if (status == ISOPROOF_OK)
    good = take_in(document, history);
  else
    good = iso_document_leave_out(document, "The timeline and the latencies are left out: %.300s %s.", document->file,
                                  found != NULL ? "could not be read again" : "is not there any more");
  return good ? ISOPROOF_OK : iso_fail_memory(error);
}
