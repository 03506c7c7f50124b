#include "cli/elle.h"

#include <isolde/level.h>
#include <stdlib.h>
#include <strings.h>

#include "cli/message.h"

const char *workload_name_at(size_t number) {
  if (number == 0) return "auto";
  return isolde_workload_at(number - 1);
}

bool workload_known(const char *name) {
  for (size_t i = 0; workload_name_at(i) != NULL; i++) {
    if (strcasecmp(workload_name_at(i), name) == 0) return true;
  }
  return false;
}

const char *model_name_at(size_t number) {
  const isolde_level_info *level;
  for (size_t i = 0; (level = isolde_level_at(i)) != NULL; i++) {
    if (level->family == ISOLDE_LEVEL_MODEL && number-- == 0) return level->friendly;
  }
  return NULL;
}

bool model_or_workload_known(const char *name) {
  return workload_known(name) || isolde_level_find_in(name, ISOLDE_LEVEL_MODEL) != NULL;
}

bool elle_request_make(const option_value *workload, const option_value *models, bool elle, elle_request *request) {
  *request = (elle_request){.workload = workload->text};
  if (elle && request->workload == NULL) request->workload = "auto";
  request->models = calloc(models->item_count + 1, sizeof *request->models);
  if (request->models == NULL) return false;
  for (size_t i = 0; i < models->item_count; i++) {
    if (elle && workload_known(models->items[i])) {
      request->workload = models->items[i];
    } else {
      request->models[request->model_count++] = models->items[i];
    }
  }
  return true;
}

void elle_request_free(elle_request *request) { free(request->models); }

void elle_print_line(FILE *out, const char *path, const isolde_result *result) {
  isolde_verdict verdict = isolde_result_elle(result);
  put_escaped(out, path);
  fprintf(out, "\t%s\n", verdict == ISOLDE_SATISFIED ? "true" : verdict == ISOLDE_VIOLATED ? "false" : "unknown");
}
