/* elle.c - the names that elle-cli knows, and its line per file. */
#include "cli/options/elle.h"

#include <isoproof/level.h>
#include <stdlib.h>
#include <strings.h>

#include "cli/terminal/message.h"

const char *workload_name_at(size_t number) {
  if (number == 0) return "auto";
  return isoproof_elle_workload_at(number - 1);
}

bool workload_known(const char *name) {
  for (size_t i = 0; workload_name_at(i) != NULL; i++) {
    if (strcasecmp(workload_name_at(i), name) == 0) return true;
  }
  return false;
}

const char *model_name_at(size_t number) {
  const isoproof_level_info *level;
  for (size_t i = 0; (level = isoproof_level_at(i)) != NULL; i++) {
    if (level->family == ISOPROOF_LEVEL_MODEL && number-- == 0) return level->friendly;
  }
  return NULL;
}

bool model_known(const char *name) { return isoproof_level_find_in(name, ISOPROOF_LEVEL_MODEL) != NULL; }

bool model_or_workload_known(const char *name) {
  isoproof_object_model object;
  return workload_known(name) || isoproof_object_model_find(name, &object) || model_known(name);
}

bool elle_request_make(const option_value *workload, const option_value *models, const option_value *more, bool elle,
                       elle_request *request) {
  *request = (elle_request){.workload = workload->text};
  request->models = calloc(models->item_count + more->item_count + 1, sizeof *request->models);
  if (request->models == NULL) return false;
  for (size_t i = 0; i < models->item_count; i++) {
    const char *name = models->items[i];
    bool object = elle && isoproof_object_model_find(name, &request->object);
    bool known = elle && workload_known(name);
    request->has_object |= object;
    if (known) request->workload = name;
    if (!object && !known) request->models[request->model_count++] = name;
  }
  for (size_t i = 0; i < more->item_count; i++) request->models[request->model_count++] = more->items[i];
  if (elle && request->workload == NULL && !request->has_object) request->workload = "auto";
  return true;
}

void elle_request_free(elle_request *request) { free(request->models); }

void elle_print_line(FILE *out, const char *path, isoproof_verdict verdict) {
  put_escaped(out, path);
  fprintf(out, "\t%s\n", verdict == ISOPROOF_SATISFIED ? "true" : verdict == ISOPROOF_VIOLATED ? "false" : "unknown");
}
