/* Parts of a history, joined line by line where they are read. */
#include "mpi/folder.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parallel.h"
#include "format/range.h"
#include "mpi/ranges.h"
#include "run/join.h"

static void part_path(const char *folder, uint32_t number, char path[PATH_MAX]) {
  char name[64];
  snprintf(name, sizeof name, ISO_JOIN_PART, number);
  snprintf(path, PATH_MAX, "%.4000s/%s", folder, name);
}

bool folder_is_parts(const char *folder) {
  char path[PATH_MAX];
  struct stat file;
  part_path(folder, 0, path);
  return strlen(folder) < PATH_MAX - 96 && stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

typedef struct {
  talk *t;
  const char *folder;
  iso_joined joined;
  uint64_t *bytes;        /* by machine: of its part */
  uint64_t from, to;      /* of all parts one behind the other: this rank's */
  uint32_t machine;       /* whose lines are at hand */
  iso_bytes head;         /* the first line of the joined history */
  iso_bytes lines;        /* what came of the lines at hand */
  iso_output *out;        /* into `lines`; NULL while they are only looked at */
  iso_range_reader range; /* reads these */
} folder_reader;

/* ---- which lines ---- */

static isoproof_status take_lines(void *context, const char *lines, size_t bytes, isoproof_error *error) {
  folder_reader *f = context;
  ISO_TRY(iso_task_check(f->t->task, error));
  ISO_TRY(iso_join_lines(&f->joined, f->machine, lines, bytes, f->out, error));
  if (f->out == NULL) return ISOPROOF_OK;
  iso_output_flush(f->out);
  if (f->lines.failed) return iso_fail_memory(error);
  isoproof_status status = iso_range_feed(&f->range, (const char *)f->lines.items, f->lines.count, error);
  f->lines.count = 0;
  return status;
}

static isoproof_status go_through(folder_reader *f, isoproof_error *error) {
  char path[PATH_MAX];
  uint64_t before = 0;
  for (f->machine = 0; f->machine < f->joined.count; f->machine++) {
    uint64_t bytes = f->bytes[f->machine], end = before + bytes;
    uint64_t from = f->from > before ? f->from - before : 0, to = f->to < end ? f->to - before : bytes;
    if (f->to > before && f->from < end) {
      part_path(f->folder, f->machine, path);
      ISO_TRY(iso_range_lines(path, from, to, false, take_lines, f, error));
    }
    before = end;
  }
  return ISOPROOF_OK;
}

/* ---- what all have seen of machines and times ---- */

typedef struct {
  uint32_t end_said, ended;
  uint64_t txns;
  int64_t uncertainty;
} machine_seen;

typedef struct {
  int64_t last_name, begin, end;
} times_seen;

static void put_seen(const iso_joined *joined, iso_bytes *out) {
  times_seen times = {joined->last_name, joined->begin, joined->end};
  iso_put(out, &times, sizeof times);
  for (uint32_t i = 0; i < joined->count; i++) {
    const iso_join_machine *m = &joined->machines[i];
    machine_seen seen = {m->end_said, m->ended, m->txns, m->uncertainty};
    iso_put(out, &seen, sizeof seen);
  }
}

/* Adds what a rank has seen behind those that were added; false where it failed. */
static bool add_seen(iso_joined *joined, const iso_bytes *told) {
  iso_taker in = iso_take_from(told->items, told->count);
  times_seen times;
  iso_take(&in, &times, sizeof times);
  if (times.last_name > joined->last_name) joined->last_name = times.last_name;
  if (times.begin < joined->begin) joined->begin = times.begin;
  if (times.end > joined->end) joined->end = times.end;
  for (uint32_t i = 0; i < joined->count; i++) {
    iso_join_machine *m = &joined->machines[i];
    machine_seen seen;
    iso_take(&in, &seen, sizeof seen);
    if (seen.end_said) m->ended = seen.ended != 0;
    m->end_said = m->end_said || seen.end_said;
    m->txns += seen.txns;
    if (seen.uncertainty > m->uncertainty) m->uncertainty = seen.uncertainty;
  }
  return !in.failed && in.at == in.end;
}

static void forget_seen(iso_joined *joined) {
  for (uint32_t i = 0; i < joined->count; i++) {
    iso_join_machine *m = &joined->machines[i];
    m->end_said = m->ended = false;
    m->txns = 0;
    m->uncertainty = 0;
  }
}

/* All ranks have seen the same afterwards; false where one failed. */
static bool share_seen(folder_reader *f, bool good) {
  talk *t = f->t;
  iso_bytes mine = {.count = 0};
  if (good) put_seen(&f->joined, &mine);
  if (mine.failed) talk_give_up();
  if (t->rank > 0) talk_send(t, 0, &mine);
  if (good) forget_seen(&f->joined);
  for (int rank = 0; t->rank == 0 && rank < t->ranks; rank++) {
    iso_bytes told = {.count = 0};
    if (rank > 0) talk_take(t, rank, &told);
    good = good && add_seen(&f->joined, rank > 0 ? &told : &mine);
    iso_bytes_free(&told);
  }
  iso_bytes_free(&mine);
  uint64_t length = 0;
  if (t->rank == 0 && good) put_seen(&f->joined, &mine);
  if (t->rank == 0) length = mine.count;
  talk_share(t, &length, sizeof length);
  if (t->rank > 0 && length > 0 && iso_put_room(&mine, length) == NULL) talk_give_up();
  if (length > 0) talk_share(t, mine.items, length);
  if (t->rank > 0 && length > 0) (void)add_seen(&f->joined, &mine);
  iso_bytes_free(&mine);
  return length > 0;
}

/* ---- reading ---- */

static bool collect(void *user, const void *data, size_t size) {
  iso_bytes *bytes = user;
  iso_put(bytes, data, size);
  return !bytes->failed;
}

static isoproof_status open_folder(folder_reader *f, isoproof_error *error) {
  iso_output *out;
  ISO_TRY(iso_join_open(f->folder, &f->joined, error));
  ISO_TRY(iso_output_open_callback(collect, &f->head, ISOPROOF_COMPRESS_NO, &out, error));
  isoproof_status status = iso_join_heads(f->folder, &f->joined, out, error);
  isoproof_status closed = iso_output_close(out, status == ISOPROOF_OK ? error : NULL);
  return status == ISOPROOF_OK ? closed : status;
}

/* The parts may grow: rank 0 says how long they are. */
static void share_sizes(folder_reader *f) {
  uint32_t count = f->joined.count;
  char path[PATH_MAX];
  struct stat file;
  f->bytes = talk_room(count, sizeof *f->bytes);
  uint64_t total = 0;
  for (uint32_t i = 0; f->t->rank == 0 && i < count; i++) {
    part_path(f->folder, i, path);
    f->bytes[i] = stat(path, &file) == 0 ? (uint64_t)file.st_size : 0;
  }
  talk_share(f->t, f->bytes, count * sizeof *f->bytes);
  for (uint32_t i = 0; i < count; i++) total += f->bytes[i];
  iso_parallel_range(total, (unsigned)f->t->rank, (unsigned)f->t->ranks, &f->from, &f->to);
}

/* The last rank reads what stands at the end as well. */
static isoproof_status read_end(folder_reader *f, isoproof_error *error) {
  if (f->t->rank + 1 < f->t->ranks) return ISOPROOF_OK;
  iso_join_write_facts(&f->joined, f->out);
  iso_output_flush(f->out);
  if (f->lines.failed) return iso_fail_memory(error);
  return iso_range_feed(&f->range, (const char *)f->lines.items, f->lines.count, error);
}

static isoproof_status read_range(folder_reader *f, isoproof_history **range, isoproof_error *error) {
  size_t head = f->from > 0 ? f->head.count : 0;
  ISO_TRY(iso_range_open(&f->range, ISOPROOF_FORMAT_JSONL, f->folder, (const char *)f->head.items, head, f->t->task,
                         error));
  isoproof_status status = iso_output_open_callback(collect, &f->lines, ISOPROOF_COMPRESS_NO, &f->out, error);
  if (status != ISOPROOF_OK) return status;
  status = go_through(f, error);
  if (status == ISOPROOF_OK) status = read_end(f, error);
  if (status == ISOPROOF_OK) status = iso_range_finish(&f->range, range, error);
  iso_output_abandon(f->out);
  return status;
}

static isoproof_status read_parts(folder_reader *f, spread *s, bool *good, isoproof_error *error) {
  share_sizes(f);
  *good = share_seen(f, go_through(f, error) == ISOPROOF_OK);
  if (!*good) return ISOPROOF_OK;
  iso_join_scanned(&f->joined);
  *good = f->joined.lost == 0; /* what lost machines wrote only the whole tells */
  if (!*good) return ISOPROOF_OK;
  (void)read_range(f, &s->range, error);
  return ranges_put_together(f->t, f->folder, ISOPROOF_FORMAT_JSONL, f->range.lines, s, good, error);
}

isoproof_status folder_read(talk *t, const char *folder, spread *s, bool *good, isoproof_error *error) {
  folder_reader f = {.t = t, .folder = folder};
  isoproof_status status = ISOPROOF_OK;
  bool opened = open_folder(&f, error) == ISOPROOF_OK;
  *good = talk_sum(t, !opened) == 0;
  if (*good) status = read_parts(&f, s, good, error);
  iso_range_close(&f.range);
  iso_joined_free(&f.joined);
  iso_bytes_free(&f.head);
  iso_bytes_free(&f.lines);
  free(f.bytes);
  return status;
}

/* ---- the whole ---- */

isoproof_status folder_open_whole(const char *folder, isoproof_task *task, isoproof_history **history,
                                  isoproof_error *error) {
  const char *place = getenv("TMPDIR");
  char scratch[PATH_MAX], path[PATH_MAX + 32];
  iso_joined joined;
  snprintf(scratch, sizeof scratch, "%.4000s/isoproof-XXXXXX", place != NULL ? place : "/tmp");
  if (mkdtemp(scratch) == NULL) return iso_fail_errno(error, scratch, "make the folder");
  snprintf(path, sizeof path, "%s/joined.jsonl", scratch);
  isoproof_status status = iso_join(folder, path, task, &joined, error);
  iso_joined_free(&joined);
  if (status == ISOPROOF_OK) status = isoproof_history_open(path, NULL, task, history, error);
  unlink(path);
  rmdir(scratch);
  /* Lines are those of the joined history, which has no other name. */
  bool named = status != ISOPROOF_OK && strcmp(error->file, path) == 0;
  if (named) snprintf(error->file, sizeof error->file, "%.200s", folder);
  if (status != ISOPROOF_OK) return status;
  char *name = strdup(folder);
  if (name == NULL) {
    isoproof_history_free(*history);
    *history = NULL;
    return iso_fail_memory(error);
  }
  free((*history)->file);
  (*history)->file = name;
  return ISOPROOF_OK;
}
