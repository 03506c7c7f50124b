/* doctor.c - `isoproof doctor`: what this program is made of and what it finds around it. */
#include <isoproof/isoproof.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/commands/command.h"
#include "cli/commands/doctor_database.h"
#include "cli/options/database.h"
#include "cli/terminal/output.h"

enum { DOCTOR_JSON, DOCTOR_DATABASE, DOCTOR_OPTIONS = DOCTOR_DATABASE + DATABASE_OPTIONS };

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

#if defined(__clang__)
#define COMPILER __VERSION__
#else
#define COMPILER "GCC " __VERSION__
#endif

/* Versions of libraries that the program was built with; the build passes them in. */
#ifndef CLI_ZLIB
#define CLI_ZLIB ""
#define CLI_ZSTD ""
#define CLI_XXHASH ""
#endif
#ifndef CLI_MPI
#define CLI_MPI "" /* without isoproof-mpi */
#endif

typedef struct facts {
  char system[256];
  long cores;
  uint64_t memory_bytes;
  bool is_terminal, color, utf8;
  unsigned columns;
  const char *problem; /* of the self-test */
} facts;

static const char *const shells[] = {"bash", "zsh", "fish"};

static facts look(const options *parsed) {
  facts f = {.cores = sysconf(_SC_NPROCESSORS_ONLN)};
  struct utsname name;
  if (uname(&name) == 0)
    snprintf(f.system, sizeof f.system, "%.80s %.80s %.80s", name.sysname, name.release, name.machine);
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) f.memory_bytes = (uint64_t)pages * (uint64_t)page;
  f.is_terminal = isatty(STDOUT_FILENO) != 0;
  f.color = terminal_color(stdout, common_color(parsed));
  f.utf8 = terminal_utf8();
  f.columns = terminal_columns(stdout);
  return f;
}

/* Looks for a program along PATH; false when it is not there. */
static bool find_program(const char *name, char *path, size_t size) {
  const char *list = getenv("PATH");
  while (list != NULL && *list != 0) {
    size_t length = strcspn(list, ":");
    int written = snprintf(path, size, "%.*s/%s", (int)length, list, name);
    if (length > 0 && written > 0 && (size_t)written < size && access(path, X_OK) == 0) return true;
    list += length + (list[length] == ':');
  }
  return false;
}

/* Checks a small history that is known to have an aborted read.  NULL when that is found, else what went wrong. */
static const char *self_test(void) {
  const isoproof_anomaly_info *known = isoproof_anomaly_find("TAP-b");
  isoproof_history *history = NULL;
  isoproof_result *result = NULL;
  isoproof_anomaly found = {.struct_size = sizeof found};
  if (known == NULL || known->example == NULL) return "the table of anomalies is incomplete";
  const char *problem = NULL;
  if (isoproof_history_open_memory(known->example, strlen(known->example), "self-test", NULL, NULL, &history, NULL)) {
    problem = "a small history cannot be read";
  } else if (isoproof_check(history, NULL, NULL, &result, NULL) != ISOPROOF_OK) {
    problem = "a small history cannot be checked";
  } else if (!isoproof_result_anomaly_at(result, 0, &found) || strcmp(found.code, known->code) != 0) {
    problem = "a known anomaly is not found";
  }
  isoproof_result_free(result);
  isoproof_history_free(history);
  return problem;
}

static void print_drivers(void) {
  puts("\nDatabases, and where they are");
  isoproof_driver_info driver = {.struct_size = sizeof driver};
  for (size_t i = 0; isoproof_driver_at(i, &driver); i++) {
    char library[64];
    isoproof_driver_library(i, library, sizeof library);
    const char *how = driver.built ? library : "not in this build: its client library was not found";
    char line[256];
    snprintf(line, sizeof line, "%s%s%s", driver.title, how[0] != 0 ? "; " : "", how);
    int used = printf("  %-12s ", driver.name);
    print_wrapped(stdout, line, (unsigned)used, (unsigned)used, terminal_width(stdout));
    putchar('\n');
    if (driver.built) printf("  %-12s %s\n", "", driver.url_form);
  }
}

static void print_servers(void) {
  const char *kind;
  puts("\nServers that '--cluster' can start");
  for (size_t i = 0; (kind = isoproof_cluster_kind_at(i)) != NULL; i++) {
    char path[1024];
    isoproof_error error = {.offset = -1};
    printf("  %-16s ", kind);
    put_escaped(stdout, isoproof_cluster_find(kind, path, sizeof path, &error) == ISOPROOF_OK ? path : error.message);
    putchar('\n');
  }
}

static void print_machines(void) {
  char path[1024];
  puts("\nSeveral machines at once");
  printf("  %-12s %s%s\n", "isoproof-mpi", CLI_MPI[0] != 0 ? "built with MPI " : "not in this build: MPI was not found",
         CLI_MPI);
  printf("  %-12s ", "mpirun");
  put_escaped(stdout, find_program("mpirun", path, sizeof path) ? path : "not found");
  putchar('\n');
}

static void print_text(const facts *f) {
  printf("%-14s %s\n", "isoproof", isoproof_version());
  printf("%-14s %s%s\n", "compiler", COMPILER, SANITIZED ? ", with address sanitizer" : "");
  printf("%-14s ", "system");
  put_escaped(stdout, f->system);
  printf("\n%-14s %ld\n", "processors", f->cores);
  printf("%-14s %.1f GiB\n", "memory", (double)f->memory_bytes / (1024.0 * 1024 * 1024));
  printf("%-14s %s, %u columns, colour %s, %s\n", "output", f->is_terminal ? "a terminal" : "not a terminal",
         f->columns, f->color ? "on" : "off", f->utf8 ? "UTF-8" : "ASCII");
  printf("%-14s %s\n", "self-test", f->problem == NULL ? "passed" : f->problem);
  puts("\nCompression, read and written");
  printf("  %-12s zlib %s\n  %-12s libzstd %s\n", "gzip", CLI_ZLIB, "zstd", CLI_ZSTD);
  puts("\nFormats");
  for (size_t i = 0; isoproof_format_at(i) != NULL; i++) {
    const isoproof_format_info *format = isoproof_format_at(i);
    int used = printf("  %-12s %-12s ", format->id, format->writable ? "read, write" : "read");
    print_wrapped(stdout, format->description, (unsigned)used, (unsigned)used, terminal_width(stdout));
    putchar('\n');
  }
  print_drivers();
  print_servers();
  print_machines();
  puts("\nShells that 'isoproof completion' can serve");
  for (size_t i = 0; i < COUNT_OF(shells); i++) {
    char path[1024];
    printf("  %-12s ", shells[i]);
    put_escaped(stdout, find_program(shells[i], path, sizeof path) ? path : "not found");
    putchar('\n');
  }
}

static void field(isoproof_json *j, const char *name, const char *text) {
  isoproof_json_name(j, name);
  isoproof_json_string(j, text);
}

static void json_formats(isoproof_json *j) {
  isoproof_json_name(j, "formats");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_format_at(i) != NULL; i++) {
    const isoproof_format_info *format = isoproof_format_at(i);
    isoproof_json_object(j);
    field(j, "id", format->id);
    isoproof_json_name(j, "writable");
    isoproof_json_bool(j, format->writable);
    field(j, "ending", format->ending);
    field(j, "description", format->description);
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
}

static void json_shells(isoproof_json *j) {
  isoproof_json_name(j, "shells");
  isoproof_json_object(j);
  for (size_t i = 0; i < COUNT_OF(shells); i++) {
    char path[1024];
    field(j, shells[i], find_program(shells[i], path, sizeof path) ? path : NULL);
  }
  isoproof_json_end(j);
}

static void json_drivers(isoproof_json *j) {
  isoproof_driver_info driver = {.struct_size = sizeof driver};
  isoproof_json_name(j, "drivers");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_driver_at(i, &driver); i++)
    if (driver.built) isoproof_json_string(j, driver.name);
  isoproof_json_end(j);
  isoproof_json_name(j, "databases");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_driver_at(i, &driver); i++) {
    char library[64];
    isoproof_driver_library(i, library, sizeof library);
    isoproof_json_object(j);
    field(j, "name", driver.name);
    field(j, "title", driver.title);
    isoproof_json_name(j, "built");
    isoproof_json_bool(j, driver.built);
    field(j, "library", library[0] != 0 ? library : NULL);
    field(j, "url", driver.url_form);
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
}

static void json_servers(isoproof_json *j) {
  const char *kind;
  isoproof_json_name(j, "servers");
  isoproof_json_object(j);
  for (size_t i = 0; (kind = isoproof_cluster_kind_at(i)) != NULL; i++) {
    char path[1024];
    field(j, kind, isoproof_cluster_find(kind, path, sizeof path, NULL) == ISOPROOF_OK ? path : NULL);
  }
  isoproof_json_end(j);
}

static void json_mpi(isoproof_json *j) {
  char path[1024];
  isoproof_json_name(j, "mpi");
  isoproof_json_object(j);
  isoproof_json_name(j, "built");
  isoproof_json_bool(j, CLI_MPI[0] != 0);
  field(j, "version", CLI_MPI[0] != 0 ? CLI_MPI : NULL);
  field(j, "mpirun", find_program("mpirun", path, sizeof path) ? path : NULL);
  isoproof_json_end(j);
}

static void print_json(const facts *f) {
  isoproof_json *j = json_to(stdout);
  if (j == NULL) return;
  isoproof_json_object(j);
  isoproof_json_name(j, "schema");
  isoproof_json_u64(j, 1);
  field(j, "version", isoproof_version());
  field(j, "compiler", COMPILER);
  isoproof_json_name(j, "address_sanitizer");
  isoproof_json_bool(j, SANITIZED);
  field(j, "system", f->system);
  isoproof_json_name(j, "processors");
  isoproof_json_i64(j, f->cores);
  isoproof_json_name(j, "memory_bytes");
  isoproof_json_u64(j, f->memory_bytes);
  isoproof_json_name(j, "terminal");
  isoproof_json_bool(j, f->is_terminal);
  isoproof_json_name(j, "libraries");
  isoproof_json_object(j);
  field(j, "zlib", CLI_ZLIB);
  field(j, "libzstd", CLI_ZSTD);
  field(j, "xxhash", CLI_XXHASH);
  isoproof_json_end(j);
  isoproof_json_name(j, "self_test");
  isoproof_json_string(j, f->problem == NULL ? "passed" : f->problem);
  json_formats(j);
  json_drivers(j);
  json_servers(j);
  json_mpi(j);
  json_shells(j);
  isoproof_json_end(j);
  isoproof_json_line(j);
  json_done(j);
}

static int run(options *parsed) {
  if (parsed->argument_count > 1) {
    message("doctor: expected one URL at most, found %zu", parsed->argument_count);
    return EXIT_USAGE;
  }
  if (parsed->argument_count == 1)
    return doctor_database(parsed, parsed->values + DOCTOR_DATABASE, parsed->values[DOCTOR_JSON].on);
  facts f = look(parsed);
  f.problem = self_test();
  if (parsed->values[DOCTOR_JSON].on)
    print_json(&f);
  else
    print_text(&f);
  return f.problem == NULL ? EXIT_SATISFIED : EXIT_INTERNAL;
}

static const option table[DOCTOR_OPTIONS] = {
    [DOCTOR_JSON] = {.name = "json", .type = OPTION_FLAG, .help = "Print one JSON object."},
    DATABASE_ROWS(DOCTOR_DATABASE, "Database"),
};

static const example examples[] = {
    {"isoproof doctor", 0, "What this build can do here."},
    {"isoproof doctor --json", 0, "The same for a program to read."},
    {"isoproof doctor sqlite:", 0, "Whether SQLite and its driver tell the truth about what they do."},
};

static const char *const description[] = {
    "Shows the version, the compiler, the machine, the terminal, and which formats, compressions, databases, servers, "
    "shells and MPI this build can deal with. Checks a small history on the way, to see whether the program works.",
    "With the URL of a database it checks the client instead: whether a transaction sees its own writes, commits and "
    "aborts as it says, whether rows, lists and large numbers come back, what happens to a session that breaks, and so "
    "on, in a table of its own that is removed in the end. This is the test that a program behind exec: has to pass.",
    NULL};

const command command_doctor = {"doctor",
                                "Show what this build can do and what it finds",
                                "[URL] [--json]",
                                description,
                                "The database to check, as after --db; without one, the build is shown.",
                                NULL,
                                table,
                                DOCTOR_OPTIONS,
                                examples,
                                COUNT_OF(examples),
                                run};
