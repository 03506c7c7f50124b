/* load.c - how fast histories are generated, written and read, beside a plain scan of the bytes.
 *
 *     load [--txns N] [--directory DIR] [--seed N] [--repeat N]
 *
 * The history has 50 sessions, 10 operations per transaction and 100,000 keys by zipf 1; the default of a million
 * transactions makes ten million operations.  Lists have as many transactions, of 1 to 5 operations.  The files are
 * made in a temporary directory and removed.
 */
#include <fcntl.h>
#include <isoproof/isoproof.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "measure.h"

/* What the files of lists are called. */
#define LISTS "lists"

typedef struct bench {
  uint64_t txns, seed;
  unsigned repeats;
  char directory[256];
} bench;

typedef struct job {
  const bench *bench;
  const isoproof_history *history;
  char path[512];
  isoproof_format format;
  unsigned threads;
  bool resolve;
} job;

static bool report_failure(const char *what, const isoproof_error *error) {
  char text[1100];
  isoproof_error_format(error, text, sizeof text);
  fprintf(stderr, "%s: %s\n", what, text);
  return false;
}

static uint64_t file_bytes(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 ? (uint64_t)facts.st_size : 0;
}

static void path_of(const bench *b, const char *name, char path[512]) {
  snprintf(path, 512, "%s/%s", b->directory, name);
}

/* ---- jobs, each run in a process of its own ---- */

/* Registers; or lists, as `bench-elle` has them. */
static isoproof_history *simulate(const bench *b, bool lists) {
  isoproof_history *history = NULL;
  isoproof_error error;
  isoproof_sim_options options = bench_simulation(b->seed, lists ? 20 : 50, b->txns, 10, lists ? 100 : 100000);
  if (lists) {
    options.lists = true;
    options.ops_min = 1;
    options.ops_max = 5;
    options.appends_per_key = 100;
  } else {
    options.distribution = ISOPROOF_KEYS_ZIPF;
    options.skew = 1;
  }
  if (isoproof_simulate(&options, NULL, &history, NULL, &error) != ISOPROOF_OK) report_failure("simulate", &error);
  return history;
}

static bool job_generate(void *context, uint64_t *operations, uint64_t *bytes) {
  const job *j = context;
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history *history = simulate(j->bench, false);
  if (history == NULL) return false;
  isoproof_history_counts(history, &counts);
  *operations = counts.operations;
  *bytes = 0;
  return true; /* not freed: the process ends, and only the work is timed */
}

static bool job_write(void *context, uint64_t *operations, uint64_t *bytes) {
  const job *j = context;
  isoproof_error error;
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_write_options options = {.struct_size = sizeof options, .compression = ISOPROOF_COMPRESS_NO, .lossy = true};
  if (isoproof_history_write(j->history, j->format, j->path, &options, NULL, NULL, &error) != ISOPROOF_OK)
    return report_failure("write", &error);
  isoproof_history_counts(j->history, &counts);
  *operations = counts.operations;
  *bytes = file_bytes(j->path);
  return true;
}

/* The floor: read(2) in blocks and count the newlines. */
static bool job_scan(void *context, uint64_t *operations, uint64_t *bytes) {
  const job *j = context;
  enum { BLOCK = 1 << 20 };
  char *block = malloc(BLOCK);
  int fd = open(j->path, O_RDONLY | O_CLOEXEC);
  *operations = *bytes = 0;
  if (fd < 0 || block == NULL) {
    free(block);
    if (fd >= 0) close(fd);
    return false;
  }
  ssize_t got;
  while ((got = read(fd, block, BLOCK)) > 0) {
    *bytes += (uint64_t)got;
    const char *at = block, *end = block + got;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
      ++*operations;
      at++;
    }
  }
  close(fd);
  free(block);
  return got == 0;
}

static bool job_load(void *context, uint64_t *operations, uint64_t *bytes) {
  const job *j = context;
  isoproof_history *history;
  isoproof_error error;
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_resolution resolution = {.struct_size = sizeof resolution};
  isoproof_task *task;
  if (isoproof_task_new(&task) != ISOPROOF_OK) return false;
  isoproof_task_set_threads(task, j->threads);
  if (isoproof_history_open(j->path, NULL, task, &history, &error) != ISOPROOF_OK)
    return report_failure("load", &error);
  if (j->resolve && isoproof_history_resolve(history, task, &resolution, &error) != ISOPROOF_OK)
    return report_failure("resolve", &error);
  isoproof_history_counts(history, &counts);
  *operations = counts.operations;
  *bytes = file_bytes(j->path);
  return true;
}

/* ---- the table ---- */

static void heading(void) {
  printf("%-34s %9s %9s %10s %9s %10s %10s %10s %8s\n", "", "fastest s", "median s", "MB/s", "cpu s", "MB/cpu s",
         "Mops/s", "peak MB", "x scan");
}

static bool row(const char *name, measurement m, double scan_seconds) {
  if (!m.ok) {
    printf("%-34s failed\n", name);
    return false;
  }
  printf("%-34s %9.3f %9.3f", name, m.seconds, m.median);
  if (m.bytes > 0)
    printf(" %10.0f", (double)m.bytes / 1e6 / m.seconds);
  else
    printf(" %10s", "-");
  printf(" %9.3f", m.processor);
  if (m.bytes > 0 && m.processor > 0)
    printf(" %10.0f", (double)m.bytes / 1e6 / m.processor);
  else
    printf(" %10s", "-");
  printf(" %10.2f %10.0f", (double)m.operations / 1e6 / m.seconds, (double)m.peak_bytes / 1e6);
  if (scan_seconds > 0)
    printf(" %8.2f\n", m.seconds / scan_seconds);
  else
    printf(" %8s\n", "-");
  fflush(stdout);
  return true;
}

static bool write_one(const bench *b, const isoproof_history *history, const isoproof_format_info *format,
                      const char *file) {
  char name[64];
  job j = {.bench = b, .history = history, .format = format->format};
  path_of(b, file, j.path);
  snprintf(name, sizeof name, "write %s", file);
  return row(name, measure(job_write, &j, 1), 0);
}

/* Writes registers in every format, and lists in two; the files stay for reading. */
static bool write_all(const bench *b) {
  isoproof_history *history = simulate(b, false), *lists = simulate(b, true);
  if (history == NULL || lists == NULL) return false;
  bool ok = true;
  const isoproof_format_info *format;
  for (size_t i = 0; (format = isoproof_format_at(i)) != NULL; i++) {
    if (format->writable) ok &= write_one(b, history, format, format->id);
  }
  ok &= write_one(b, lists, isoproof_format_find("jsonl"), LISTS ".jsonl");
  ok &= write_one(b, lists, isoproof_format_find("edn"), LISTS ".edn");
  isoproof_history_free(history);
  isoproof_history_free(lists);
  return ok;
}

/* In a process of its own, so that the history does not count as memory of the readers. */
static bool write_all_apart(const bench *b) {
  int status = 0;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    bool ok = write_all(b);
    fflush(stdout);
    _exit(ok ? 0 : 1);
  }
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Reads one file with one thread and with two; `scan_seconds` 0 for no comparison. */
static bool read_one(const bench *b, const char *format, bool resolve, double scan_seconds) {
  bool ok = true;
  for (unsigned threads = 1; threads <= 2; threads++) {
    char name[64];
    job j = {.bench = b, .threads = threads, .resolve = resolve};
    path_of(b, format, j.path);
    snprintf(name, sizeof name, "load %s%s, %u thread%s", resolve ? "and resolve " : "", format, threads,
             threads > 1 ? "s" : "");
    ok &= row(name, measure(job_load, &j, b->repeats), scan_seconds);
  }
  return ok;
}

static bool read_all(const bench *b) {
  job j = {.bench = b};
  path_of(b, "plume", j.path);
  measurement scan = measure(job_scan, &j, b->repeats);
  bool ok = row("scan plume (read, count newlines)", scan, scan.seconds);
  ok &= read_one(b, "plume", false, scan.seconds);
  ok &= read_one(b, "plume", true, scan.seconds);
  static const char *const others[] = {"binary", "dbcop", "jsonl", "json", "edn", LISTS ".jsonl", LISTS ".edn"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) ok &= read_one(b, others[i], false, 0);
  return ok;
}

static void remove_file(const bench *b, const char *name) {
  char path[512];
  path_of(b, name, path);
  unlink(path);
}

static void remove_files(const bench *b) {
  const isoproof_format_info *format;
  for (size_t i = 0; (format = isoproof_format_at(i)) != NULL; i++) remove_file(b, format->id);
  remove_file(b, LISTS ".jsonl");
  remove_file(b, LISTS ".edn");
  rmdir(b->directory);
}

static bool parse(int argc, char **argv, bench *b) {
  const char *directory = getenv("TMPDIR");
  *b = (bench){.txns = 1000000, .seed = 1, .repeats = 5};
  if (directory == NULL) directory = "/tmp";
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return false;
    char *end = NULL;
    unsigned long long number = strtoull(argv[i + 1], &end, 10);
    bool is_number = *end == '\0' && number > 0;
    if (strcmp(argv[i], "--txns") == 0 && is_number)
      b->txns = number;
    else if (strcmp(argv[i], "--seed") == 0 && is_number)
      b->seed = number;
    else if (strcmp(argv[i], "--repeat") == 0 && is_number && number <= MEASURE_MOST_REPEATS)
      b->repeats = (unsigned)number;
    else if (strcmp(argv[i], "--directory") == 0)
      directory = argv[i + 1];
    else
      return false;
  }
  int length = snprintf(b->directory, sizeof b->directory, "%s/isoproof-bench-XXXXXX", directory);
  return length > 0 && (size_t)length < sizeof b->directory;
}

int main(int argc, char **argv) {
  (void)mallopt(M_MMAP_THRESHOLD, 4 << 20); /* as the program does: large columns are mappings */
  bench b;
  if (!parse(argc, argv, &b)) {
    fprintf(stderr, "usage: load [--txns N] [--directory DIR] [--seed N] [--repeat N]\n");
    return 2;
  }
  if (mkdtemp(b.directory) == NULL) {
    perror(b.directory);
    return 2;
  }
  printf("isoproof %s, %llu transactions of 10 operations, 50 sessions, 100000 keys (zipf 1), seed %llu\n\n",
         isoproof_version(), (unsigned long long)b.txns, (unsigned long long)b.seed);
  heading();
  job generate = {.bench = &b};
  bool ok = row("generate", measure(job_generate, &generate, 1), 0);
  ok = ok && write_all_apart(&b) && read_all(&b);
  remove_files(&b);
  return ok ? 0 : 1;
}
