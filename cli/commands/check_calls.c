/* check_calls.c - files of single operations, which `isoproof check` judges as calls on objects: elle-cli's models, and
 * logs of registers and stores. */
#include <string.h>

#include "cli/commands/check.h"
#include "cli/terminal/message.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"

/* Nothing but linearizability is asked for. */
static bool asks_linearizable(const check_job *job) {
  const option_value *values = job->parsed->values;
  bool else_asked = values[CHECK_ANOMALY].given || values[CHECK_CERTIFICATE].on || values[CHECK_STATS].on ||
                    values[CHECK_BUDGET].given || values[CHECK_FOLLOW].given || job->elle ||
                    job->request.workload != NULL || job->request.model_count > 0;
  for (size_t i = 0; i < values[CHECK_LEVEL].item_count && !else_asked; i++) {
    const isoproof_level_info *level = isoproof_level_find(values[CHECK_LEVEL].items[i]);
    else_asked = level == NULL || strcmp(level->id, "linearizable") != 0;
  }
  return !else_asked;
}

static bool model_of(isoproof_format format, isoproof_object_model *model) {
  *model = format == ISOPROOF_FORMAT_PORCUPINE ? ISOPROOF_OBJECT_KV : ISOPROOF_OBJECT_CAS_REGISTER;
  return format == ISOPROOF_FORMAT_PORCUPINE || format == ISOPROOF_FORMAT_JEPSEN_LOG;
}

bool check_has_calls(const check_job *job, const char *path, isoproof_object_model *model) {
  const option_value *given = &job->parsed->values[CHECK_FORMAT];
  const isoproof_format_info *format = NULL;
  if (!asks_linearizable(job)) return false;
  if (given->given) {
    format = isoproof_format_find(given->text);
  } else if (strcmp(path, "-") == 0 || isoproof_format_detect(path, &format, NULL) != ISOPROOF_OK) {
    return false;
  }
  return format != NULL && model_of(format->format, model);
}

bool check_needs_calls(const check_job *job, isoproof_history *history, isoproof_task *task) {
  isoproof_object_model model;
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_resolution resolution = {.struct_size = sizeof resolution};
  isoproof_notice notice = {.struct_size = sizeof notice};
  const isoproof_format_info *format = isoproof_format_find(isoproof_history_format(history));
  bool asked = job->parsed->values[CHECK_LEVEL].given && asks_linearizable(job);
  if (!asked || format == NULL || !model_of(format->format, &model)) return false;
  if (isoproof_history_resolve(history, task, &resolution, NULL) != ISOPROOF_OK) return false;
  isoproof_history_counts(history, &counts);
  return resolution.duplicate_writes > 0 || counts.operations > counts.transactions ||
         isoproof_history_notice_at(history, 0, &notice);
}

/* The verdict in words, as that of a level. */
static void print_verdict(check_job *job, const char *path, const isoproof_object_verdict *verdict, FILE *out) {
  const char *word = isoproof_verdict_name(verdict->verdict);
  if (job->many) {
    put_escaped(out, path);
    fprintf(out, ": %s", word);
    if (verdict->explanation[0] != '\0') fputs("; ", out);
    put_escaped(out, verdict->explanation);
    fputc('\n', out);
    return;
  }
  put_escaped(out, path);
  fprintf(out, ": %llu single operations\n\n  linearizable                   %s\n",
          (unsigned long long)verdict->operations, word);
  if (verdict->explanation[0] != '\0') {
    fputs(verdict->verdict == ISOPROOF_VIOLATED ? "\n  " : "  unknown: ", out);
    put_escaped(out, verdict->explanation);
    fputc('\n', out);
  }
  fprintf(out, "\n  verdict: %s\n", word);
}

isoproof_status check_object(check_job *job, const char *path, isoproof_object_model model, isoproof_task *task,
                             reply *to, isoproof_error *error) {
  const option_value *values = job->parsed->values;
  isoproof_object_options how = {.struct_size = sizeof how,
                                 .model = model,
                                 .format = values[CHECK_FORMAT].text,
                                 .negative_balances = values[CHECK_NEGATIVE_BALANCES].on,
                                 .has_total = values[CHECK_TOTAL_AMOUNT].given,
                                 .total = (int64_t)values[CHECK_TOTAL_AMOUNT].integer,
                                 .group_size = (uint32_t)values[CHECK_GROUP_SIZE].integer,
                                 .linearizable = values[CHECK_LINEARIZABLE_KEYS].on};
  isoproof_object_verdict verdict = {.struct_size = sizeof verdict};
  isoproof_status status = isoproof_object_check(path, &how, task, &verdict, error);
  if (status != ISOPROOF_OK) return status;
  to->code = check_count(job, verdict.verdict, true);
  if (job->reporting)
    note("%s: reports are about transactions: none of single operations that cannot be read as such", path);
  if (job->silent) return ISOPROOF_OK;
  if (job->workers == 1) progress_clear();
  if (job->json) return isoproof_object_write_json(&verdict, how.model, path, write_stream, to->out, error);
  if (job->elle) {
    elle_print_line(to->out, path, verdict.verdict);
  } else {
    print_verdict(job, path, &verdict, to->out);
  }
  return ISOPROOF_OK;
}
