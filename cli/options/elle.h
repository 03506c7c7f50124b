/* elle.h - what `isoproof check` needs for Elle's way: workloads and models as options, and the output of elle-cli.
 * Owns nothing but the models of an elle_request, until elle_request_free. */
#ifndef CLI_OPTIONS_ELLE_H
#define CLI_OPTIONS_ELLE_H

#include <isoproof/check.h>
#include <isoproof/object.h>
#include <stdio.h>

#include "cli/options/options.h"

/* Names of workloads, of models, and of models, workloads or objects (elle-cli calls them all models). */
const char *workload_name_at(size_t number);
bool workload_known(const char *name);
const char *model_name_at(size_t number);
bool model_known(const char *name);
bool model_or_workload_known(const char *name);

/* What --workload and --model ask for. */
typedef struct elle_request {
  const char *workload; /* NULL: none */
  const char **models;
  size_t model_count;
  bool has_object; /* a model of single operations; where the workload has a name, too, the file decides */
  isoproof_object_model object;
} elle_request;

/* Sorts the names of --model into workloads and objects (with `elle`, where they are those of elle-cli) and models, to
 * which those of --consistency-models are added.  False when memory is out. */
bool elle_request_make(const option_value *workload, const option_value *models, const option_value *more, bool elle,
                       elle_request *request);
void elle_request_free(elle_request *request);

/* "FILE<TAB>true", as elle-cli prints it. */
void elle_print_line(FILE *out, const char *path, isoproof_verdict verdict);

#endif
