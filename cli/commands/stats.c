/* stats.c - `isoproof stats`: counts and shape of histories. */
#include <inttypes.h>
#include <isoproof/isoproof.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/batch.h"
#include "cli/commands/command.h"
#include "cli/options/names.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"

enum { STATS_FORMAT, STATS_JSON, STATS_JOBS, STATS_OPTIONS };

typedef struct summary {
  const char *file;
  const isoproof_history *history;
  isoproof_counts counts;
  isoproof_stats stats;
  isoproof_resolution resolution;
} summary;

/* ---- text ---- */

/* 1234567 as "1,234,567". */
static const char *grouped(uint64_t number, char text[32]) {
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%" PRIu64, number), out = 0;
  for (int i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0) text[out++] = ',';
    text[out++] = digits[i];
  }
  text[out] = 0;
  return text;
}

static void row_count(FILE *out, const char *label, uint64_t count) {
  char text[32];
  fprintf(out, "  %-24s %15s\n", label, grouped(count, text));
}

/* A part of a whole: only where it is not zero. */
static void row_part(FILE *out, const char *label, uint64_t count, uint64_t of) {
  char text[32];
  if (count == 0) return;
  fprintf(out, "    %-22s %15s  %5.1f %%\n", label, grouped(count, text), 100.0 * (double)count / (double)of);
}

static void row_spread(FILE *out, const char *label, uint64_t min, double mean, uint64_t max) {
  char low[32], high[32];
  fprintf(out, "  %-24s %15.1f  mean, %s to %s\n", label, mean, grouped(min, low), grouped(max, high));
}

static void row_share(FILE *out, const char *label, double share) {
  fprintf(out, "  %-24s %15.1f %%\n", label, 100.0 * share);
}

/* Nanoseconds in a unit that people like. */
static void row_duration(FILE *out, const char *label, double nanoseconds) {
  static const struct {
    double size;
    const char *name;
  } units[] = {{3600e9, "h"}, {60e9, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  size_t i = 0;
  while (i < COUNT_OF(units) && nanoseconds < units[i].size) i++;
  double size = i < COUNT_OF(units) ? units[i].size : 1;
  fprintf(out, "  %-24s %15.*f %s, if times are nanoseconds\n", label, size > 1 ? 1 : 0, nanoseconds / size,
          i < COUNT_OF(units) ? units[i].name : "ns");
}

/* What people call the operations of a kind. */
static const char *kind_label(int kind) {
  static const char *const labels[ISOPROOF_OP_KINDS] = {[ISOPROOF_OP_READ] = "reads",
                                                        [ISOPROOF_OP_WRITE] = "writes",
                                                        [ISOPROOF_OP_READ_LIST] = "list reads",
                                                        [ISOPROOF_OP_APPEND] = "appends",
                                                        [ISOPROOF_OP_READ_SET] = "set reads",
                                                        [ISOPROOF_OP_ADD] = "adds",
                                                        [ISOPROOF_OP_READ_COUNTER] = "counter reads",
                                                        [ISOPROOF_OP_INCREMENT] = "increments",
                                                        [ISOPROOF_OP_READ_PREDICATE] = "predicate reads"};
  return labels[kind] != NULL ? labels[kind] : isoproof_op_kind_name((isoproof_op_kind)kind);
}

static void text_counts(FILE *out, const summary *s) {
  const isoproof_stats *t = &s->stats;
  const isoproof_counts *c = &s->counts;
  row_count(out, "sessions", c->sessions);
  row_part(out, "empty", t->empty_sessions, c->sessions);
  row_count(out, "transactions", c->transactions);
  row_part(out, "committed", c->committed, c->transactions);
  row_part(out, "aborted", c->aborted, c->transactions);
  row_part(out, "unknown", c->unknown, c->transactions);
  row_part(out, "empty", t->empty_transactions, c->transactions);
  for (size_t i = 0; isoproof_isolation_at(i) != NULL; i++) {
    row_part(out, isoproof_isolation_at(i), t->by_isolation[i], c->transactions);
  }
  row_count(out, "operations", c->operations);
  for (int kind = 0; kind < ISOPROOF_OP_KINDS; kind++) {
    row_part(out, kind_label(kind), t->by_kind[kind], c->operations);
  }
  row_count(out, "keys", c->keys);
  if (t->longest_list > 0) row_count(out, "longest list", t->longest_list);
}

static void text_shape(FILE *out, const summary *s) {
  const isoproof_stats *t = &s->stats;
  char key[128];
  if (s->counts.sessions > 0) {
    row_spread(out, "transactions per session", t->txns_per_session_min, t->txns_per_session_mean,
               t->txns_per_session_max);
  }
  if (s->counts.transactions > 0) {
    row_spread(out, "operations per transaction", t->ops_per_txn_min, t->ops_per_txn_mean, t->ops_per_txn_max);
  }
  if (s->counts.operations > 0) {
    isoproof_scalar_format(t->top_key, key, sizeof key);
    fprintf(out, "  %-24s %15.1f %%  key ", "busiest key", 100.0 * t->top_key_share);
    put_escaped(out, key);
    fputc('\n', out);
    row_share(out, "busiest 1 % of the keys", t->top_percent_share);
    row_share(out, "keys with half the work", t->keys_for_half_share);
    if (t->zipf_exponent >= 0) fprintf(out, "  %-24s %15.2f  0 is uniform\n", "zipf exponent", t->zipf_exponent);
  }
  if (s->counts.has_times) {
    fprintf(out, "  %-24s %15.1f  mean, %s at most\n", "open at once", t->concurrency_mean,
            grouped(t->concurrency_max, key));
    if (t->first_start != ISOPROOF_NO_TIME && t->last_end != ISOPROOF_NO_TIME && t->last_end >= t->first_start) {
      row_duration(out, "duration", (double)t->last_end - (double)t->first_start);
    }
  } else {
    fprintf(out, "  %-24s %15s\n", "times", "none");
  }
}

static void text_resolution(FILE *out, const summary *s) {
  const isoproof_resolution *r = &s->resolution;
  if (r->reads == 0 && r->duplicate_writes == 0) return;
  row_count(out, "resolved register reads", r->reads - r->thin_air);
  row_part(out, "of the initial version", r->initial, r->reads);
  if (r->thin_air > 0) row_count(out, "reads of nobody's value", r->thin_air);
  if (r->duplicate_writes > 0) row_count(out, "writes of a used value", r->duplicate_writes);
}

static void print_text(FILE *out, const summary *s) {
  put_escaped(out, s->file);
  fprintf(out, ": %s\n", isoproof_history_format(s->history));
  text_counts(out, s);
  text_shape(out, s);
  text_resolution(out, s);
}

/* ---- JSON ---- */

static void field_u64(isoproof_json *j, const char *name, uint64_t number) {
  isoproof_json_name(j, name);
  isoproof_json_u64(j, number);
}

static void field_number(isoproof_json *j, const char *name, double number) {
  isoproof_json_name(j, name);
  isoproof_json_number(j, number);
}

static void field_spread(isoproof_json *j, const char *name, uint64_t min, double mean, uint64_t max) {
  isoproof_json_name(j, name);
  isoproof_json_object(j);
  field_u64(j, "min", min);
  field_number(j, "mean", mean);
  field_u64(j, "max", max);
  isoproof_json_end(j);
}

static void json_counts(isoproof_json *j, const isoproof_counts *c, const isoproof_stats *t) {
  field_u64(j, "sessions", c->sessions);
  field_u64(j, "empty_sessions", t->empty_sessions);
  field_u64(j, "transactions", c->transactions);
  field_u64(j, "committed", c->committed);
  field_u64(j, "aborted", c->aborted);
  field_u64(j, "unknown", c->unknown);
  field_u64(j, "empty_transactions", t->empty_transactions);
  field_u64(j, "operations", c->operations);
  field_u64(j, "reads", t->reads);
  field_u64(j, "writes", t->writes);
  isoproof_json_name(j, "by_kind");
  isoproof_json_object(j);
  for (int kind = 0; kind < ISOPROOF_OP_KINDS; kind++) {
    if (t->by_kind[kind] > 0) field_u64(j, isoproof_op_kind_name((isoproof_op_kind)kind), t->by_kind[kind]);
  }
  isoproof_json_end(j);
  field_u64(j, "keys", c->keys);
  field_u64(j, "longest_list", t->longest_list);
  uint64_t own = 0;
  for (size_t i = 0; isoproof_isolation_at(i) != NULL; i++) own += t->by_isolation[i];
  if (own == 0) return;
  isoproof_json_name(j, "by_isolation");
  isoproof_json_object(j);
  for (size_t i = 0; isoproof_isolation_at(i) != NULL; i++) {
    if (t->by_isolation[i] > 0) field_u64(j, isoproof_isolation_at(i), t->by_isolation[i]);
  }
  isoproof_json_end(j);
}

static void json_times(isoproof_json *j, const isoproof_counts *c, const isoproof_stats *t) {
  isoproof_json_name(j, "times");
  if (!c->has_times) {
    isoproof_json_null(j);
    return;
  }
  isoproof_json_object(j);
  isoproof_json_name(j, "first_start");
  if (t->first_start == ISOPROOF_NO_TIME)
    isoproof_json_null(j);
  else
    isoproof_json_i64(j, t->first_start);
  isoproof_json_name(j, "last_end");
  if (t->last_end == ISOPROOF_NO_TIME)
    isoproof_json_null(j);
  else
    isoproof_json_i64(j, t->last_end);
  field_number(j, "concurrency_mean", t->concurrency_mean);
  field_u64(j, "concurrency_max", t->concurrency_max);
  isoproof_json_end(j);
}

static void print_json(FILE *out, const summary *s) {
  const isoproof_stats *t = &s->stats;
  isoproof_json *j = json_to(out);
  if (j == NULL) return;
  isoproof_json_object(j);
  field_u64(j, "schema", 1);
  isoproof_json_name(j, "file");
  isoproof_json_string(j, s->file);
  isoproof_json_name(j, "format");
  isoproof_json_string(j, isoproof_history_format(s->history));
  json_counts(j, &s->counts, t);
  field_spread(j, "transactions_per_session", t->txns_per_session_min, t->txns_per_session_mean,
               t->txns_per_session_max);
  field_spread(j, "operations_per_transaction", t->ops_per_txn_min, t->ops_per_txn_mean, t->ops_per_txn_max);
  field_number(j, "read_ratio", t->read_ratio);
  field_number(j, "abort_ratio", t->abort_ratio);
  isoproof_json_name(j, "top_key");
  if (s->counts.operations > 0)
    isoproof_json_scalar(j, t->top_key);
  else
    isoproof_json_null(j);
  field_number(j, "top_key_share", t->top_key_share);
  field_number(j, "top_percent_share", t->top_percent_share);
  field_number(j, "keys_for_half_share", t->keys_for_half_share);
  isoproof_json_name(j, "zipf_exponent");
  if (t->zipf_exponent >= 0)
    isoproof_json_number(j, t->zipf_exponent);
  else
    isoproof_json_null(j);
  json_times(j, &s->counts, t);
  isoproof_json_name(j, "resolution");
  isoproof_json_object(j);
  field_u64(j, "reads", s->resolution.reads);
  field_u64(j, "initial", s->resolution.initial);
  field_u64(j, "thin_air", s->resolution.thin_air);
  field_u64(j, "duplicate_writes", s->resolution.duplicate_writes);
  isoproof_json_end(j);
  isoproof_json_end(j);
  isoproof_json_line(j);
  json_done(j);
}

/* ---- the command ---- */

static isoproof_status count_file(const options *parsed, const char *path, isoproof_task *task, FILE *out,
                                  isoproof_error *error) {
  isoproof_open_options open = {.struct_size = sizeof open, .format = parsed->values[STATS_FORMAT].text};
  isoproof_history *history = NULL;
  isoproof_status status = isoproof_history_open(path, &open, task, &history, error);
  summary s = {.file = path,
               .history = history,
               .counts = {.struct_size = sizeof s.counts},
               .stats = {.struct_size = sizeof s.stats},
               .resolution = {.struct_size = sizeof s.resolution}};
  if (status == ISOPROOF_OK) isoproof_history_counts(history, &s.counts);
  if (status == ISOPROOF_OK) status = isoproof_history_stats(history, task, &s.stats, error);
  if (status == ISOPROOF_OK) status = isoproof_history_resolve(history, task, &s.resolution, error);
  progress_clear();
  if (status == ISOPROOF_OK) {
    if (parsed->values[STATS_JSON].on)
      print_json(out, &s);
    else
      print_text(out, &s);
    if (!common_quiet(parsed)) message_notices(history, path);
  }
  isoproof_history_free(history);
  return status;
}

static void stats_file(void *context, size_t number, reply *to) {
  const options *parsed = context;
  const char *path = parsed->arguments[number];
  isoproof_error error = {.code = ISOPROOF_ERR_MEMORY, .offset = -1, .message = "out of memory"};
  isoproof_task *task = interrupt_task_new();
  isoproof_status status = ISOPROOF_ERR_MEMORY;
  if (number > 0 && !parsed->values[STATS_JSON].on) fputc('\n', to->out);
  if (task != NULL) {
    isoproof_task_set_threads(task, (unsigned)parsed->values[STATS_JOBS].integer);
    isoproof_task_set_progress(task, progress_update, NULL);
    status = count_file(parsed, path, task, to->out, &error);
  }
  interrupt_task_free(task);
  if (status == ISOPROOF_OK) return;
  to->code = exit_of_status(status);
  if (parsed->values[STATS_JSON].on)
    isoproof_error_write_json(&error, path, write_stream, to->out, NULL);
  else
    message_error(&error, path);
}

static int run(options *parsed) {
  if (parsed->argument_count == 0) {
    message("stats: expected a file; 'isoproof help stats' shows examples");
    return EXIT_USAGE;
  }
  return batch_run(parsed->argument_count, 1, "counting", stats_file, parsed);
}

static const option table[STATS_OPTIONS] = {
    [STATS_FORMAT] = {.name = "format",
                      .letter = 'f',
                      .type = OPTION_CHOICE,
                      .choices = format_name_at,
                      .help = "Read the files in this format.",
                      .initial = "detected from the content"},
    [STATS_JSON] = {.name = "json", .type = OPTION_FLAG, .help = "Print one JSON object per file, each on a line."},
    [STATS_JOBS] = {.name = "jobs",
                    .letter = 'j',
                    .type = OPTION_INTEGER,
                    .min = 1,
                    .max = 1024,
                    .help = "Use that many threads.",
                    .initial = "one per processor"},
};

static const example examples[] = {
    {"isoproof stats examples/histories/list-append.edn", 0, "The shape of a history, for people."},
    {"isoproof stats --json examples/histories/*.txt", 0, "Of several, for a program to read."},
};

static const char *const description[] = {
    "Counts sessions, transactions, operations and keys, and describes the shape of a history: how work is spread over "
    "keys, how many transactions are open at once, and to what register reads resolve.",
    "Reads of nobody's value, and writes of a value that another write of the key has, are what makes a register "
    "history hard or impossible to judge: they are counted here.",
    NULL};

const command command_stats = {"stats",
                               "Count what is in a history and describe its shape",
                               "[--json] [OPTION...] FILE...",
                               description,
                               "FILE: a history, or '-' for standard input.",
                               "files",
                               table,
                               STATS_OPTIONS,
                               examples,
                               COUNT_OF(examples),
                               run};
