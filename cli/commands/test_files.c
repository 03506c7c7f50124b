/* test_files.c - folders and files of `isoproof test`. */
#include "cli/commands/test_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/terminal/message.h"

static const char *const file_names[] = {"history.jsonl", "result.json", "report.txt",     "report.html",
                                         "server.txt",    "command.txt", "smallest.jsonl", "live.json"};

/* A name by the time, with a number behind it when there is one already. */
static bool make_folder(test_folder *folder, const char *directory) {
  time_t wall = time(NULL);
  struct tm when;
  char stamp[64];
  if (localtime_r(&wall, &when) == NULL || strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &when) == 0)
    snprintf(stamp, sizeof stamp, "%lld", (long long)wall);
  for (int i = 1; i < 1000; i++) {
    char number[16] = "";
    if (i > 1) snprintf(number, sizeof number, "-%d", i);
    free(folder->path);
    if (asprintf(&folder->path, "%s/%s%s", directory, stamp, number) < 0) folder->path = NULL;
    if (folder->path == NULL) {
      message("out of memory");
      return false;
    }
    if (mkdir(folder->path, 0777) == 0) return true;
    if (errno != EEXIST) break;
  }
  message_errno(folder->path, "make the folder");
  return false;
}

/* The link is made beside its final name and renamed, so that it is never missing. */
static void link_latest(const char *directory, const char *path) {
  const char *name = strrchr(path, '/') + 1;
  char *latest = NULL, *beside = NULL;
  if (asprintf(&latest, "%s/latest", directory) < 0) latest = NULL;
  if (asprintf(&beside, "%s/.latest-%ld", directory, (long)getpid()) < 0) beside = NULL;
  if (latest != NULL && beside != NULL && (symlink(name, beside) != 0 || rename(beside, latest) != 0)) {
    message_errno(latest, "make the link");
    unlink(beside);
  }
  free(latest);
  free(beside);
}

bool test_folder_make(test_folder *folder, const char *directory) {
  memset(folder, 0, sizeof *folder);
  if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
    message_errno(directory, "make the folder");
    return false;
  }
  if (!make_folder(folder, directory)) return false;
  link_latest(directory, folder->path);
  return true;
}

void test_folder_free(test_folder *folder) {
  free(folder->path);
  free(folder->round);
  free(folder->history);
}

bool test_folder_round(test_folder *folder, uint64_t round, bool many) {
  free(folder->round);
  free(folder->history);
  folder->history = NULL;
  int made = many ? asprintf(&folder->round, "%s/round-%" PRIu64, folder->path, round)
                  : asprintf(&folder->round, "%s", folder->path);
  if (made < 0) folder->round = NULL;
  if (folder->round == NULL || asprintf(&folder->history, "%s/history.jsonl", folder->round) < 0) {
    folder->history = NULL;
    message("out of memory");
    return false;
  }
  if (many && mkdir(folder->round, 0777) != 0) {
    message_errno(folder->round, "make the folder");
    return false;
  }
  return true;
}

void test_folder_forget(const test_folder *folder) {
  for (size_t i = 0; i < sizeof file_names / sizeof *file_names; i++) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder->round, file_names[i]) < 0) continue;
    unlink(path);
    free(path);
  }
  if (strcmp(folder->round, folder->path) != 0) rmdir(folder->round);
}

FILE *test_file_open_in(const char *folder, const char *name) {
  char *path = NULL;
  if (asprintf(&path, "%s/%s", folder, name) < 0) {
    message("out of memory");
    return NULL;
  }
  FILE *file = fopen(path, "we");
  if (file == NULL) message_errno(path, "open it for writing");
  free(path);
  return file;
}

bool test_file_close_in(FILE *file, const char *folder, const char *name) {
  bool failed = ferror(file) != 0;
  if (fclose(file) != 0) failed = true;
  if (failed) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    message_errno(path, "write to it");
  }
  return !failed;
}

FILE *test_file_open(const test_folder *folder, const char *name) { return test_file_open_in(folder->round, name); }

bool test_file_close(FILE *file, const test_folder *folder, const char *name) {
  return test_file_close_in(file, folder->round, name);
}

bool test_write_server(const test_folder *folder, const isoproof_run_summary *report) {
  FILE *out = test_file_open(folder, "server.txt");
  if (out == NULL) return false;
  fprintf(out, "database: %s\n", isoproof_run_summary_database(report));
  for (size_t i = 0; isoproof_run_summary_url_at(report, i) != NULL; i++)
    fprintf(out, "url: %s\n", isoproof_run_summary_url_at(report, i));
  fprintf(out, "isolation: %s\n", isoproof_run_summary_isolation(report));
  const char *claim = isoproof_run_summary_claim(report);
  fprintf(out, "claims: %s\n", claim != NULL ? claim : "nothing that isoproof knows");
  if (isoproof_run_summary_claim_note(report)[0] != 0)
    fprintf(out, "note: %s\n", isoproof_run_summary_claim_note(report));
  if (isoproof_run_summary_claim_source(report)[0] != 0)
    fprintf(out, "source: %s\n", isoproof_run_summary_claim_source(report));
  const char *name, *value;
  for (size_t i = 0; isoproof_run_summary_setting_at(report, i, &name, &value); i++)
    fprintf(out, "setting %s: %s\n", name, value);
  for (size_t i = 0; isoproof_error_class_at(i) != NULL; i++)
    if (isoproof_run_summary_last_error(report, i)[0] != 0)
      fprintf(out, "last error of class %s: %s\n", isoproof_error_class_at(i),
              isoproof_run_summary_last_error(report, i));
  return test_file_close(out, folder, "server.txt");
}
