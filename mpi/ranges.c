/* One text, each rank a range of it: parsed where it is read, put together by rank 0 without its operations. */
#include "mpi/ranges.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/parallel.h"
#include "format/binary.h"
#include "format/range.h"
#include "mpi/folder.h"

/* ---- the plan ---- */

static void look(const char *bytes, size_t size, const char *asked, reading *plan) {
  const isoproof_format_info *info = isoproof_format_find(asked);
  bool known = info != NULL;
  if (known) plan->format = info->format;
  if (asked == NULL) known = iso_detect_bytes(bytes, size < READING_HEAD ? size : READING_HEAD, &plan->format);
  if (!known) return;
  if (plan->format == ISOPROOF_FORMAT_BINARY && iso_binary_magic(bytes, size)) plan->way = READ_MAPPED;
  if (!iso_range_suits(plan->format)) return;
  const char *newline = memchr(bytes, '\n', size < READING_HEAD ? size : READING_HEAD);
  bool headed = plan->format == ISOPROOF_FORMAT_JSONL;
  if (headed && newline == NULL) return;
  plan->way = READ_RANGES;
  plan->head_bytes = headed ? (uint32_t)(newline - bytes) + 1 : 0;
  memcpy(plan->head, bytes, plan->head_bytes);
}

void reading_plan(const char *path, const char *format, reading *plan) {
  iso_input *input;
  struct stat file;
  void *map = NULL;
  size_t size = 0;
  memset(plan, 0, sizeof *plan);
  if (folder_is_parts(path)) plan->way = READ_PARTS;
  if (stat(path, &file) != 0 || !S_ISREG(file.st_mode)) return;
  if (iso_input_open(path, &input, NULL) != ISOPROOF_OK) return;
  /* Compressed files are not mapped. */
  if (iso_input_map(input, &map, &size, NULL) == ISOPROOF_OK && map != NULL) {
    plan->bytes = size;
    look(map, size, format, plan);
    munmap(map, size);
  }
  iso_input_close(input);
}

/* ---- this rank's range ---- */

static isoproof_status feed(void *context, const char *lines, size_t bytes, isoproof_error *error) {
  return iso_range_feed(context, lines, bytes, error);
}

static isoproof_status read_range(const talk *t, const char *path, const reading *plan, isoproof_history **range,
                                  uint64_t *lines, isoproof_error *error) {
  iso_range_reader reader;
  uint64_t from, to;
  iso_parallel_range(plan->bytes, (unsigned)t->rank, (unsigned)t->ranks, &from, &to);
  size_t head = from > 0 ? plan->head_bytes : 0;
  ISO_TRY(iso_range_open(&reader, plan->format, path, plan->head, head, t->task, error));
  isoproof_status status = iso_range_lines(path, from, to, true, feed, &reader, error);
  if (status == ISOPROOF_OK) status = iso_range_finish(&reader, range, error);
  *lines = reader.lines;
  iso_range_close(&reader);
  return status;
}

/* ---- all of them ---- */

/* Rank 0: takes what each tells, in the order of the text; a message without anything in it says that the rank failed.
 */
static bool merge(talk *t, iso_bytes *mine, iso_merger *merger, isoproof_error *error) {
  bool good = true;
  for (int rank = 0; rank < t->ranks; rank++) {
    iso_bytes told = {.count = 0};
    if (rank > 0) talk_take(t, rank, &told);
    const iso_bytes *at_hand = rank > 0 ? &told : mine;
    good = good && at_hand->count > 0 && iso_merger_add(merger, at_hand, error) == ISOPROOF_OK;
    iso_bytes_free(&told);
  }
  return good;
}

/* Rank 0: makes the skeleton, and says whether it could; then tells every rank its numbers. */
static bool lead(talk *t, const char *name, isoproof_format format, iso_bytes *mine, spread *s, isoproof_error *error) {
  size_t ranks = (size_t)t->ranks;
  iso_merger merger;
  iso_bytes *answers = talk_room(ranks, sizeof *answers);
  bool good = iso_merger_init(&merger, format, name, ranks, error) == ISOPROOF_OK;
  good = merge(t, mine, &merger, error) && good;
  good = good && iso_merger_finish(&merger, t->task, &s->history, answers, error) == ISOPROOF_OK;
  iso_merger_free(&merger);
  uint8_t told = good;
  talk_share(t, &told, sizeof told);
  for (int rank = 1; good && rank < t->ranks; rank++) talk_send(t, rank, &answers[rank]);
  iso_bytes_free(mine);
  *mine = answers[0];
  for (size_t i = 1; i < ranks; i++) iso_bytes_free(&answers[i]);
  free(answers);
  return good;
}

static bool follow(talk *t, iso_bytes *mine) {
  uint8_t good;
  talk_send(t, 0, mine);
  talk_share(t, &good, sizeof good);
  if (good) talk_take(t, 0, mine);
  return good != 0;
}

isoproof_status ranges_put_together(talk *t, const char *name, isoproof_format format, uint64_t lines, spread *s,
                                    bool *good, isoproof_error *error) {
  iso_bytes mine = {.count = 0};
  if (s->range != NULL) iso_range_tell(s->range, lines, &mine);
  if (mine.failed) mine.count = 0;
  *good = t->rank == 0 ? lead(t, name, format, &mine, s, error) : follow(t, &mine);
  isoproof_status status = *good ? iso_range_hear(s->range, &mine, &s->map, error) : ISOPROOF_OK;
  iso_bytes_free(&mine);
  if (!*good) spread_free(s);
  return status;
}

isoproof_status ranges_read(talk *t, const char *path, const reading *plan, spread *s, bool *good,
                            isoproof_error *error) {
  uint64_t lines = 0;
  /* Whoever cannot read his range says so by having none. */
  (void)read_range(t, path, plan, &s->range, &lines, error);
  return ranges_put_together(t, path, plan->format, lines, s, good, error);
}
