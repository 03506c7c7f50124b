/* rows.c - histories of rows beside histories of registers of the same size: loading, and each level.
 *
 *     rows [--case NAME] [--scale S] [--directory DIR] [--seed N] [--repeat N]
 *
 * Sessions overlap in time, and each transaction takes effect at a moment between its start and its end, so that the
 * history is strictly serializable.  Its statements are reads of a row by its key, reads by predicate, and writes:
 * inserts, updates, upserts and deletes, as the rows are.  Values are unique.  The twin has a register for each row, a
 * value for each version, absent ones too, and a read for each version that a statement of rows observes: the same
 * observations without rows.  Every measurement is a process of its own, with two threads; times are those of the
 * processor, of all threads together.  --scale divides the numbers of transactions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "measure.h"

typedef struct shape {
  const char *name;
  uint64_t txns;
  uint32_t sessions, rows, statements;
  uint32_t predicates; /* of a hundred statements; a third of the others reads a row */
  uint32_t width;      /* rows that a predicate covers; 0: the whole table */
  bool timed;
} shape;

static const shape shapes[] = {
    {"10k", 10000, 20, 1000, 4, 13, 10, true},
    {"10k-ranges", 10000, 20, 1000, 4, 50, 20, true},
    {"10k-table", 10000, 20, 100, 4, 13, 0, true},
    {"10k-untimed", 10000, 20, 1000, 4, 13, 10, false},
    {"100k", 100000, 20, 10000, 4, 13, 10, true},
    {"100k-dense", 100000, 20, 1000, 4, 13, 10, true},
    {"100k-sessions", 100000, 200, 10000, 4, 13, 10, true},
    {"100k-table", 100000, 20, 100, 4, 13, 0, true},
};

typedef enum { LOAD_TEXT, LOAD_BINARY, CHECK } what;

static const struct run {
  what what;
  const char *name; /* of the level, where one is checked */
} runs[] = {{LOAD_TEXT, "load jsonl"}, {LOAD_BINARY, "load binary"},
            {CHECK, "read-committed"}, {CHECK, "read-atomic"},
            {CHECK, "causal"},         {CHECK, "snapshot-isolation"},
            {CHECK, "serializable"},   {CHECK, "strict-serializable"}};

typedef struct job {
  const shape *shape;
  uint64_t txns, seed;
  bool registers;
  const struct run *run;
  char path[2][2][512]; /* rows and registers, text and binary */
} job;

/* ---- the history ---- */

typedef struct session {
  int64_t start, moment, end;
} session;

typedef struct store {
  const shape *shape;
  isoproof_builder *builder;
  isoproof_error error;
  bool registers, failed;
  uint64_t random;
  session *sessions;
  int64_t *value;   /* by row; -1: absent */
  int64_t *version; /* by row; 0: the initial one */
  int64_t *keys, *values;
  int64_t versions;
} store;

static uint64_t draw(store *s, uint64_t bound) {
  s->random += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t x = s->random;
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (x ^ (x >> 31)) % bound;
}

static void note(store *s, isoproof_status status) { s->failed = s->failed || status != ISOPROOF_OK; }

static void read_row(store *s, uint32_t row) {
  int64_t seen = s->registers ? (s->version[row] == 0 ? -1 : s->version[row]) : s->value[row];
  note(s, isoproof_builder_op(s->builder, ISOPROOF_OP_READ, isoproof_integer(row),
                              seen < 0 ? isoproof_nil() : isoproof_integer(seen), &s->error));
}

static void read_rows(store *s) {
  const shape *of = s->shape;
  uint32_t width = of->width > 0 ? of->width : of->rows;
  uint32_t low = (uint32_t)draw(s, of->rows - width + 1);
  size_t count = 0;
  for (uint32_t row = low; row < low + width; row++) {
    if (s->registers) read_row(s, row);
    if (s->value[row] < 0) continue;
    s->keys[count] = row;
    s->values[count++] = s->value[row];
  }
  if (s->registers) return;
  isoproof_statement statement = {.struct_size = sizeof statement,
                                  .form = ISOPROOF_ROW_PREDICATE,
                                  .answered = true,
                                  .has_keys = of->width > 0,
                                  .key_low = low,
                                  .key_high = low + width - 1};
  note(s, isoproof_builder_statement(s->builder, &statement, s->keys, s->values, count, &s->error));
}

static void write_row(store *s, uint32_t row) {
  bool there = s->value[row] >= 0;
  uint64_t choice = draw(s, 3);
  isoproof_row_form form = choice == 0   ? ISOPROOF_ROW_UPSERT
                           : !there      ? ISOPROOF_ROW_INSERT
                           : choice == 1 ? ISOPROOF_ROW_UPDATE
                                         : ISOPROOF_ROW_DELETE;
  s->version[row] = ++s->versions;
  s->value[row] = form == ISOPROOF_ROW_DELETE ? -1 : s->versions;
  if (s->registers) {
    note(s, isoproof_builder_op(s->builder, ISOPROOF_OP_WRITE, isoproof_integer(row), isoproof_integer(s->versions),
                                &s->error));
  } else {
    note(s, isoproof_builder_row(s->builder, form, row, s->versions, &s->error));
  }
}

static void plan(store *s, session *at) {
  at->start = at->end + 1 + (int64_t)draw(s, 20);
  at->moment = at->start + 1 + (int64_t)draw(s, 200);
  at->end = at->moment + 1 + (int64_t)draw(s, 20);
}

static void put_txn(store *s, uint32_t number) {
  const session *at = &s->sessions[number];
  note(s, isoproof_builder_begin(s->builder, number, ISOPROOF_TXN_COMMITTED, &s->error));
  if (s->shape->timed) note(s, isoproof_builder_times(s->builder, at->start, at->end, &s->error));
  for (uint32_t i = 0; i < s->shape->statements; i++) {
    uint64_t choice = draw(s, 100);
    uint32_t row = (uint32_t)draw(s, s->shape->rows);
    if (choice < s->shape->predicates)
      read_rows(s);
    else if (choice < s->shape->predicates + (100 - s->shape->predicates) / 3)
      read_row(s, row);
    else
      write_row(s, row);
  }
}

static bool fill(store *s, uint64_t txns) {
  for (uint32_t i = 0; i < s->shape->sessions; i++) {
    uint32_t number;
    note(s, isoproof_builder_session(s->builder, isoproof_integer(i), &number, &s->error));
    plan(s, &s->sessions[i]);
  }
  for (uint64_t i = 0; i < txns && !s->failed; i++) {
    uint32_t next = 0;
    for (uint32_t k = 1; k < s->shape->sessions; k++) {
      if (s->sessions[k].moment < s->sessions[next].moment) next = k;
    }
    put_txn(s, next);
    plan(s, &s->sessions[next]);
  }
  return !s->failed;
}

static isoproof_history *make(const job *j) {
  isoproof_history *history = NULL;
  store s = {.shape = j->shape, .registers = j->registers, .random = j->seed};
  s.sessions = calloc(j->shape->sessions, sizeof *s.sessions);
  s.value = calloc(j->shape->rows, sizeof *s.value);
  s.version = calloc(j->shape->rows, sizeof *s.version);
  s.keys = calloc(j->shape->rows, sizeof *s.keys);
  s.values = calloc(j->shape->rows, sizeof *s.values);
  bool good = s.sessions != NULL && s.value != NULL && s.version != NULL && s.keys != NULL && s.values != NULL;
  for (uint32_t row = 0; good && row < j->shape->rows; row++) s.value[row] = -1;
  good = good && isoproof_builder_new(&s.builder, &s.error) == ISOPROOF_OK;
  good = good && fill(&s, j->txns) && isoproof_builder_finish(s.builder, &history, &s.error) == ISOPROOF_OK;
  if (!good) bench_failed(&s.error);
  isoproof_builder_free(s.builder);
  free(s.sessions);
  free(s.value);
  free(s.version);
  free(s.keys);
  free(s.values);
  return history;
}

/* ---- what is measured ---- */

static uint64_t file_bytes(const char *path) {
  FILE *file = fopen(path, "rb");
  long size = file != NULL && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
  if (file != NULL) fclose(file);
  return size > 0 ? (uint64_t)size : 0;
}

static bool generate(void *context, uint64_t *operations, uint64_t *bytes) {
  const job *j = context;
  isoproof_error error;
  isoproof_history *history = make(j);
  if (history == NULL) return false;
  isoproof_status status = bench_write(history, ISOPROOF_FORMAT_JSONL, j->path[j->registers][0], &error);
  if (status == ISOPROOF_OK) status = bench_write(history, ISOPROOF_FORMAT_BINARY, j->path[j->registers][1], &error);
  *operations = bench_operations(history);
  *bytes = file_bytes(j->path[j->registers][0]);
  isoproof_history_free(history);
  return status == ISOPROOF_OK || bench_failed(&error);
}

static bool carry_out(void *context, uint64_t *operations, uint64_t *bytes) {
  const job *j = context;
  isoproof_history *history;
  isoproof_result *result;
  isoproof_task *task;
  isoproof_error error;
  isoproof_check_options options = {.struct_size = sizeof options, .levels = &j->run->name, .level_count = 1};
  if (isoproof_task_new(&task) != ISOPROOF_OK) return false;
  const char *path = j->path[j->registers][j->run->what == LOAD_BINARY];
  if (isoproof_history_open(path, NULL, task, &history, &error) != ISOPROOF_OK) return bench_failed(&error);
  *operations = bench_operations(history);
  if (j->run->what == CHECK) {
    if (isoproof_check(history, &options, task, &result, &error) != ISOPROOF_OK) return bench_failed(&error);
    *bytes = (uint64_t)isoproof_result_verdict(result);
    isoproof_result_free(result);
  }
  isoproof_history_free(history);
  isoproof_task_free(task);
  return true;
}

static void compare(job *j, unsigned repeats) {
  measurement m[2];
  for (int registers = 0; registers < 2; registers++) {
    j->registers = registers != 0;
    m[registers] = measure(carry_out, j, repeats);
  }
  bool satisfied = j->run->what != CHECK || (m[0].bytes == ISOPROOF_SATISFIED && m[1].bytes == ISOPROOF_SATISFIED);
  double megabytes[2] = {(double)m[0].peak_bytes / 1e6, (double)m[1].peak_bytes / 1e6};
  printf("%-14s %-20s %8.3f s %6.0f MB %8.3f s %6.0f MB %7.2f %7.2f  %s\n", j->shape->name, j->run->name,
         m[0].processor, megabytes[0], m[1].processor, megabytes[1], m[0].processor / m[1].processor,
         megabytes[0] / megabytes[1],
         !m[0].ok || !m[1].ok ? "FAILED"
         : satisfied          ? ""
                              : "NOT SATISFIED");
  fflush(stdout);
}

static void run_shape(const shape *of, const bench_options *options) {
  job j = {.shape = of, .txns = of->txns / options->scale, .seed = options->seed};
  measurement made[2];
  for (int i = 0; i < 4; i++) {
    snprintf(j.path[i / 2][i % 2], sizeof j.path[0][0], "%s/%s-%s.%s", options->directory, of->name,
             i / 2 ? "registers" : "rows", i % 2 ? "isoproof" : "jsonl");
  }
  for (int registers = 0; registers < 2; registers++) {
    j.registers = registers != 0;
    made[registers] = measure(generate, &j, 1);
  }
  printf("%-14s %llu transactions, %llu operations on rows (%.1f MB), %llu on registers (%.1f MB)\n", of->name,
         (unsigned long long)j.txns, (unsigned long long)made[0].operations, (double)made[0].bytes / 1e6,
         (unsigned long long)made[1].operations, (double)made[1].bytes / 1e6);
  for (size_t i = 0; made[0].ok && made[1].ok && i < sizeof runs / sizeof runs[0]; i++) {
    j.run = &runs[i];
    compare(&j, options->repeats);
  }
  for (int i = 0; i < 4 && !options->keep; i++) unlink(j.path[i / 2][i % 2]);
}

int main(int argc, char **argv) {
  bench_options options;
  int status = bench_begin(argc, argv, "rows", &options);
  if (status == 0) printf("%-14s %-20s %19s %20s %15s\n", "", "", "rows", "registers", "times");
  for (size_t i = 0; status == 0 && i < sizeof shapes / sizeof shapes[0]; i++) {
    if (options.only == NULL || strcmp(options.only, shapes[i].name) == 0) run_shape(&shapes[i], &options);
  }
  if (status == 0) bench_end(&options);
  return status;
}
