/* live_keep.c - what was judged of a file that grows, on disk. */
#include "cli/commands/live_keep.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/terminal/message.h"

/* Bytes of the file by which it is recognised: at its beginning, and before the offset. */
enum { PART = 65536, TEXT = 16384 };

static char *kept_name(const char *path, const char *ending) {
  char *name = NULL;
  return asprintf(&name, "%s.live%s", path, ending) < 0 ? NULL : name;
}

/* FNV-1a. */
static uint64_t add_to_sum(uint64_t sum, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < size; i++) sum = (sum ^ at[i]) * UINT64_C(1099511628211);
  return sum;
}

static uint64_t sum_of(const void *bytes, size_t size) {
  return add_to_sum(UINT64_C(14695981039346656037), bytes, size);
}

/* ---- which file it is ---- */

typedef struct mark {
  uint64_t device, inode, head, tail;
  bool ends_with_line;
} mark;

static bool sum_part(int fd, uint64_t from, size_t size, uint64_t *sum, char *last) {
  char *bytes = malloc(size + 1);
  bool good = bytes != NULL && pread(fd, bytes, size, (off_t)from) == (ssize_t)size;
  if (good) *sum = sum_of(bytes, size);
  if (good && size > 0) *last = bytes[size - 1];
  free(bytes);
  return good;
}

/* Looks at the first `offset` bytes; false when they are not there. */
static bool look(const char *path, uint64_t offset, mark *m) {
  struct stat facts;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  size_t size = offset < PART ? (size_t)offset : PART;
  char last = 0;
  bool good = fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && (uint64_t)facts.st_size >= offset;
  good = good && sum_part(fd, 0, size, &m->head, &last) && sum_part(fd, offset - size, size, &m->tail, &last);
  if (good) m->device = (uint64_t)facts.st_dev, m->inode = (uint64_t)facts.st_ino, m->ends_with_line = last == '\n';
  if (fd >= 0) close(fd);
  return good;
}

/* ---- writing ---- */

static void add_line(char text[TEXT], const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_line(char text[TEXT], const char *format, ...) {
  size_t length = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + length, TEXT - length, format, arguments);
  va_end(arguments);
}

static void compose(const char *path, const live_kept *k, char text[TEXT], bool *has_state) {
  mark m;
  *has_state = k->state != NULL && look(path, k->offset, &m) && m.ends_with_line;
  text[0] = '\0';
  add_line(text, "isoproof-live 2\ntransactions %" PRIu64 "\n", k->transactions);
  for (size_t i = 0; i < k->violated_count; i++)
    add_line(text, "violated %s %" PRIu64 "\n", k->violated[i], k->since[i]);
  if (!*has_state) return;
  add_line(text, "read %" PRIu64 " %" PRIu64 "\n", k->offset, k->lines);
  add_line(text, "counts %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", k->committed, k->aborted, k->unknown,
           k->operations);
  if (k->finished) add_line(text, "finished\n");
  add_line(text, "file %" PRIu64 " %" PRIu64 " %" PRIx64 " %" PRIx64 "\n", m.device, m.inode, m.head, m.tail);
  add_line(text, "state %zu %" PRIx64 "\n", k->state_size, sum_of(k->state, k->state_size));
  add_line(text, "sum %" PRIx64 "\n", sum_of(text, strlen(text)));
}

bool live_keep(const char *path, const live_kept *k) {
  char *name = kept_name(path, ""), *beside = kept_name(path, ".new"), *text = malloc(TEXT);
  bool has_state = false, good = false;
  FILE *out = name != NULL && beside != NULL && text != NULL ? fopen(beside, "we") : NULL;
  if (out != NULL) {
    compose(path, k, text, &has_state);
    good = fputs(text, out) >= 0;
    if (has_state) good &= fwrite(k->state, 1, k->state_size, out) == k->state_size;
    good &= fflush(out) == 0 && fsync(fileno(out)) == 0;
    good &= fclose(out) == 0;
    good = good && rename(beside, name) == 0;
    if (!good) {
      message_errno(name, "write to it");
      unlink(beside);
    }
  } else if (beside != NULL) {
    message_errno(beside, "open it for writing");
  }
  free(name);
  free(beside);
  free(text);
  return good;
}

/* ---- reading ---- */

typedef struct found {
  mark m;
  uint64_t state_sum;
  size_t state_size;
  bool whole; /* the sum of the text is right */
} found;

static void refuse(live_kept *k, const char *reason) {
  free(k->state);
  k->state = NULL;
  snprintf(k->reason, sizeof k->reason, "%s", reason);
}

/* One line; `sum` is that of all before it. */
static void read_line(live_kept *k, found *f, const char *line, uint64_t sum) {
  char level[128];
  uint64_t count, told;
  if (sscanf(line, "transactions %" SCNu64, &count) == 1) k->transactions = count;
  if (sscanf(line, "read %" SCNu64 " %" SCNu64, &k->offset, &k->lines) == 2) return;
  if (sscanf(line, "counts %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &k->committed, &k->aborted, &k->unknown,
             &k->operations) == 4)
    return;
  if (sscanf(line, "file %" SCNu64 " %" SCNu64 " %" SCNx64 " %" SCNx64, &f->m.device, &f->m.inode, &f->m.head,
             &f->m.tail) == 4)
    return;
  if (strcmp(line, "finished\n") == 0) k->finished = true;
  if (sscanf(line, "state %zu %" SCNx64, &f->state_size, &f->state_sum) == 2) return;
  if (sscanf(line, "sum %" SCNx64, &told) == 1) f->whole = told == sum;
  if (sscanf(line, "violated %127s %" SCNu64, level, &count) != 2) return;
  const isoproof_level_info *info = isoproof_level_find(level);
  if (info == NULL || k->violated_count == LIVE_KEPT_LEVELS) return;
  k->violated[k->violated_count] = info->id;
  k->since[k->violated_count++] = count;
}

static void read_state(live_kept *k, const found *f, FILE *in) {
  k->state = f->state_size < SIZE_MAX / 2 ? malloc(f->state_size + 1) : NULL;
  k->state_size = f->state_size;
  if (k->state == NULL)
    refuse(k, "it does not fit into memory");
  else if (fread(k->state, 1, k->state_size, in) != k->state_size || fgetc(in) != EOF ||
           sum_of(k->state, k->state_size) != f->state_sum)
    refuse(k, "what was kept is damaged");
}

static void compare(live_kept *k, const found *f, const char *path) {
  mark now;
  if (k->state == NULL) return;
  if (!look(path, k->offset, &now))
    refuse(k, "the file is shorter now");
  else if (now.device != f->m.device || now.inode != f->m.inode)
    refuse(k, "it is another file");
  else if (now.head != f->m.head || now.tail != f->m.tail)
    refuse(k, "the file was changed");
}

void live_keep_recall(const char *path, live_kept *k) {
  char *name = kept_name(path, ""), line[512];
  found f = {.whole = false};
  *k = (live_kept){.found = false};
  FILE *in = name != NULL ? fopen(name, "re") : NULL;
  uint64_t sum = sum_of("", 0);
  while (in != NULL && !f.whole && fgets(line, sizeof line, in) != NULL) {
    k->found = true;
    read_line(k, &f, line, sum);
    sum = add_to_sum(sum, line, strlen(line));
  }
  if (f.whole)
    read_state(k, &f, in);
  else if (f.state_size > 0)
    refuse(k, "what was kept is damaged");
  compare(k, &f, path);
  if (in != NULL) fclose(in);
  free(name);
}

void live_kept_free(live_kept *k) {
  free(k->state);
  k->state = NULL;
}
