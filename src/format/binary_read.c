/* Reading the binary form: map it (or read it into one anonymous mapping), check sizes and checksums, validate, and
 * use the columns where they lie. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "base/pages.h"
#include "base/parallel.h"
#include "format/binary.h"
#include "format/format.h"

enum { FIRST_READ = 1 << 20, READ_STEP = 64 << 20 };

typedef struct binary_file {
  const char *name;
  isoproof_task *task;
  isoproof_error *error;
  char *map;
  size_t map_bytes;        /* of the mapping */
  size_t bytes;            /* of the file */
  bool frugal;             /* see iso_read_binary_frugally */
  iso_binary_share *share; /* NULL: all of it */
  iso_binary_header header;
  const iso_binary_section *table;
} binary_file;

static iso_place place(const binary_file *f, uint64_t offset) { return (iso_place){f->name, 0, 0, (int64_t)offset}; }

/* ---- getting the bytes ---- */

/* What can be said of the first bytes alone. */
static isoproof_status check_start(binary_file *f) {
  if (!iso_binary_magic(f->map, f->bytes)) {
    char quoted[256];
    return iso_fail_at(f->error, ISOPROOF_ERR_FORMAT, place(f, 0),
                       "expected the mark of isoproof's binary form, found %s", iso_quote(f->map, f->bytes, quoted));
  }
  if (f->bytes < sizeof f->header) {
    return iso_fail_at(f->error, ISOPROOF_ERR_FORMAT, place(f, f->bytes),
                       "truncated: expected a header of %zu bytes, found %zu", sizeof f->header, f->bytes);
  }
  memcpy(&f->header, f->map, sizeof f->header);
  if (f->header.endian != ISO_BINARY_ENDIAN) {
    return iso_fail_at(f->error, ISOPROOF_ERR_FORMAT, place(f, 12),
                       "expected the byte order of this machine (0x%08x), found 0x%08x", (unsigned)ISO_BINARY_ENDIAN,
                       (unsigned)f->header.endian);
  }
  if (f->header.version != ISO_BINARY_VERSION) {
    return iso_fail_at(f->error, ISOPROOF_ERR_FORMAT, place(f, 8), "expected version %d of the binary form, found %u",
                       ISO_BINARY_VERSION, (unsigned)f->header.version);
  }
  return ISOPROOF_OK;
}

static isoproof_status check_size(const binary_file *f) {
  if (f->bytes == f->header.file_bytes) return ISOPROOF_OK;
  const char *what = f->bytes < f->header.file_bytes ? "truncated: " : "";
  return iso_fail_at(f->error, ISOPROOF_ERR_FORMAT, place(f, f->bytes),
                     "%sexpected a file of %llu bytes, as its header says, found %s%llu", what,
                     (unsigned long long)f->header.file_bytes, what[0] == '\0' ? "at least " : "",
                     (unsigned long long)f->bytes);
}

static isoproof_status grow(binary_file *f, size_t wanted) {
  void *moved = f->map == NULL ? mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                               : mremap(f->map, f->map_bytes, wanted, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) return iso_fail_memory(f->error);
  f->map = moved;
  f->map_bytes = wanted;
  return ISOPROOF_OK;
}

/* Reads what cannot be mapped; memory grows only as bytes really arrive. */
static isoproof_status slurp(binary_file *f, iso_input *input) {
  size_t room = FIRST_READ;
  ISO_TRY(grow(f, room));
  for (bool first = true;; first = false) {
    size_t left = room - f->bytes, got;
    size_t step = left < READ_STEP ? left : READ_STEP;
    ISO_TRY(iso_input_read(input, f->map + f->bytes, step, &got, f->error));
    f->bytes += got;
    if (first) ISO_TRY(check_start(f));
    if (f->bytes > f->header.file_bytes) return check_size(f);
    if (got < step) return ISOPROOF_OK;
    ISO_TRY(iso_task_check(f->task, f->error));
    uint64_t done, total;
    iso_input_progress(input, &done, &total);
    iso_task_progress(f->task, "loading", "bytes", done, total);
    if (f->bytes == room) ISO_TRY(grow(f, room *= 2));
  }
}

static isoproof_status fetch(binary_file *f, iso_input *input) {
  void *map;
  ISO_TRY(iso_input_map(input, &map, &f->bytes, f->error));
  if (map == NULL) {
    ISO_TRY(slurp(f, input));
  } else {
    f->map = map;
    f->map_bytes = f->bytes;
  }
  ISO_TRY(check_start(f));
  return check_size(f);
}

/* ---- the section table ---- */

static isoproof_status check_header(binary_file *f) {
  const iso_binary_header *h = &f->header;
  if (h->section_count > ISO_SECTION_COUNT || f->bytes < sizeof *h + h->section_count * sizeof(iso_binary_section)) {
    return iso_fail_at(f->error, ISOPROOF_ERR_FORMAT, place(f, 24),
                       "expected at most %d sections that fit the file, found %u", ISO_SECTION_COUNT,
                       (unsigned)h->section_count);
  }
  f->table = (const iso_binary_section *)(const void *)(f->map + sizeof *h);
  if (iso_binary_header_checksum(h, f->table) != h->checksum) {
    return iso_fail_at(f->error, ISOPROOF_ERR_FORMAT, place(f, 0),
                       "the checksum of the header does not match: the file "
                       "is corrupt");
  }
  static const char zeros[sizeof h->padding];
  if (memcmp(h->padding, zeros, sizeof zeros) != 0) {
    return iso_fail_at(f->error, ISOPROOF_ERR_FORMAT, place(f, offsetof(iso_binary_header, padding)),
                       "expected zeros in the reserved part of the header, found something else");
  }
  if (h->sessions > ISO_MAX_TXNS || h->txns > ISO_MAX_TXNS || h->ops > ISO_MAX_OPS || h->keys > ISO_MAX_KEYS ||
      h->odd_lists >= ISO_VALUE_NIL || h->pool_entries > ISO_POOL_MOST || h->statements > ISO_MAX_OPS ||
      h->list_values > SIZE_MAX / 8 || h->odd_values > SIZE_MAX / 8 ||
      (h->flags & ~(uint32_t)ISO_BINARY_INITIAL_IS_ZERO) != 0) {
    return iso_fail_at(f->error, ISOPROOF_ERR_FORMAT, place(f, 28), "expected counts within the limits, found others");
  }
  return ISOPROOF_OK;
}

static isoproof_status check_section(const binary_file *f, uint32_t i, uint64_t *end, uint32_t *last) {
  const iso_binary_section *s = &f->table[i];
  const iso_binary_column *column = iso_binary_column_of(s->number);
  uint64_t offset = sizeof f->header + i * sizeof *s;
  if (column == NULL || s->number <= *last || s->reserved != 0) {
    return iso_fail_at(f->error, ISOPROOF_ERR_FORMAT, place(f, offset),
                       "expected a known section with a number above %u, found %u", (unsigned)*last,
                       (unsigned)s->number);
  }
  *last = s->number;
  uint64_t bytes = iso_binary_elements(s->number, &f->header) * column->element_bytes;
  if (s->element_bytes != column->element_bytes || s->bytes != bytes) {
    return iso_fail_at(f->error, ISOPROOF_ERR_FORMAT, place(f, offset),
                       "expected section %s to have %llu bytes in elements of %u, found %llu in elements of %u",
                       column->name, (unsigned long long)bytes, (unsigned)column->element_bytes,
                       (unsigned long long)s->bytes, (unsigned)s->element_bytes);
  }
  if (s->offset % ISO_BINARY_ALIGN != 0 || s->offset < *end || s->offset > f->bytes ||
      s->bytes > f->bytes - s->offset) {
    return iso_fail_at(f->error, ISOPROOF_ERR_FORMAT, place(f, offset),
                       "expected section %s within the file, after the one before and aligned, found it at %llu",
                       column->name, (unsigned long long)s->offset);
  }
  *end = s->offset + s->bytes;
  return ISOPROOF_OK;
}

/* Sections that come together, and those that their count asks for. */
static isoproof_status check_presence(const binary_file *f, const bool *there) {
  static const uint32_t pairs[][2] = {{ISO_SECTION_TXN_START, ISO_SECTION_TXN_END},
                                      {ISO_SECTION_TXN_START_INDEX, ISO_SECTION_TXN_END_INDEX},
                                      {ISO_SECTION_LIST_FIRST, ISO_SECTION_LIST_VALUES},
                                      {ISO_SECTION_ODD_FIRST, ISO_SECTION_ODD_VALUES}};
  const iso_binary_header *h = &f->header;
  const char *missing = NULL;
  for (uint32_t number = 1; number <= ISO_SECTION_COUNT; number++) {
    const iso_binary_column *column = iso_binary_column_of(number);
    bool asked =
        column->needed || (number == ISO_SECTION_LIST_VALUES && h->list_values > 0) ||
        (number == ISO_SECTION_ODD_VALUES && (h->odd_values > 0 || h->odd_lists > 0)) ||
        (number == ISO_SECTION_POOL_ENTRIES && h->pool_entries > 0) ||
        (number == ISO_SECTION_POOL_TEXT && h->pool_text_bytes > 0) || (number == ISO_SECTION_FACTS && h->facts > 0) ||
        (number == ISO_SECTION_STATEMENTS && h->statements > 0) ||
        (number == ISO_SECTION_CONDITIONS && h->conditions > 0) || (number == ISO_SECTION_CONTENTS && h->contents > 0);
    if (asked && !there[number]) missing = column->name;
  }
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    if (there[pairs[i][0]] == there[pairs[i][1]]) continue;
    missing = iso_binary_column_of(pairs[i][there[pairs[i][0]] ? 1 : 0])->name;
  }
  if (missing == NULL) return ISOPROOF_OK;
  return iso_fail_at(f->error, ISOPROOF_ERR_FORMAT, place(f, sizeof *h), "expected a section %s, found none", missing);
}

static isoproof_status check_table(const binary_file *f) {
  bool there[ISO_SECTION_COUNT + 1] = {false};
  uint64_t end = sizeof f->header + f->header.section_count * sizeof *f->table;
  uint32_t last = 0;
  for (uint32_t i = 0; i < f->header.section_count; i++) {
    ISO_TRY(check_section(f, i, &end, &last));
    there[last] = true;
  }
  if (end != f->bytes) {
    return iso_fail_at(f->error, ISOPROOF_ERR_FORMAT, place(f, end), "expected the end after the last section");
  }
  return check_presence(f, there);
}

/* ---- checksums ---- */

/* Deals the sections out, the largest first, each to the share that has the least so far; the first share, which has
 * more to check besides, comes last. */
static void deal_sections(const binary_file *f, bool mine[ISO_SECTION_COUNT]) {
  uint64_t load[ISO_SECTION_COUNT] = {0};
  bool dealt[ISO_SECTION_COUNT] = {false};
  uint32_t count = f->header.section_count, hands = f->share != NULL ? f->share->count : 1;
  if (hands > ISO_SECTION_COUNT) hands = ISO_SECTION_COUNT;
  for (uint32_t n = 0; n < count; n++) {
    uint32_t largest = count, least = 0;
    for (uint32_t i = 0; i < count; i++) {
      if (!dealt[i] && (largest == count || f->table[i].bytes > f->table[largest].bytes)) largest = i;
    }
    for (uint32_t i = 1; i < hands; i++) {
      if (load[i] < load[least]) least = i;
    }
    dealt[largest] = true;
    load[least] += f->table[largest].bytes;
    mine[largest] = f->share == NULL || f->share->count - 1 - least == f->share->number;
  }
}

typedef struct sums {
  const binary_file *file;
  bool mine[ISO_SECTION_COUNT]; /* by place in the table */
  atomic_uint next;
  atomic_uint bad; /* number of a section whose checksum is wrong, 0 none */
} sums;

static void sum_sections(void *context, unsigned thread, unsigned threads) {
  sums *s = context;
  (void)thread;
  (void)threads;
  for (;;) {
    unsigned i = atomic_fetch_add(&s->next, 1);
    if (i >= s->file->header.section_count) return;
    if (!s->mine[i]) continue;
    const iso_binary_section *section = &s->file->table[i];
    const char *bytes = s->file->map + section->offset;
    uint64_t sum =
        s->file->frugal ? iso_hash_mapped(bytes, section->bytes, 0) : iso_hash_bytes(bytes, section->bytes, 0);
    if (sum != section->checksum) atomic_store(&s->bad, section->number);
  }
}

static isoproof_status check_sums(const binary_file *f) {
  sums s = {.file = f};
  deal_sections(f, s.mine);
  atomic_init(&s.next, 0);
  atomic_init(&s.bad, 0);
  iso_parallel(f->bytes >= FIRST_READ ? iso_task_threads(f->task) : 1, sum_sections, &s);
  unsigned bad = atomic_load(&s.bad);
  if (bad == 0) return ISOPROOF_OK;
  uint32_t i = 0;
  while (f->table[i].number != bad) i++;
  return iso_fail_at(f->error, ISOPROOF_ERR_FORMAT, place(f, f->table[i].offset),
                     "the checksum of section %s does not match: the file is corrupt", iso_binary_column_of(bad)->name);
}

/* ---- the history ---- */

/* Lets the history point at its columns; from here on it owns the mapping. */
static isoproof_status adopt(binary_file *f, isoproof_history *h) {
  const iso_binary_header *header = &f->header;
  h->map = f->map;
  h->map_bytes = f->map_bytes;
  f->map = NULL;
  h->frugal = f->frugal;
  h->format = ISOPROOF_FORMAT_BINARY;
  h->file = strdup(f->name);
  if (h->file == NULL) return iso_fail_memory(f->error);
  h->initial_is_zero = (header->flags & ISO_BINARY_INITIAL_IS_ZERO) != 0;
  h->sessions = header->sessions;
  h->txns = header->txns;
  h->ops = header->ops;
  h->keys = header->keys;
  h->odd_lists = header->odd_lists;
  h->fact_count = header->facts;
  h->statement_count = header->statements;
  h->condition_count = header->conditions;
  h->content_count = header->contents;
  h->pool.count = header->pool_entries;
  h->pool.text_bytes = header->pool_text_bytes;
  for (uint32_t i = 0; i < header->section_count; i++) {
    const iso_binary_section *s = &f->table[i];
    /* An empty column may lie at the very end; point it somewhere inside the mapping. */
    void *column = (char *)h->map + (s->bytes > 0 ? s->offset : 0);
    memcpy((char *)h + iso_binary_column_of(s->number)->offset, &column, sizeof column);
  }
  if (f->share != NULL) {
    ISO_TRY(iso_binary_validate_share(h, header, f->share, f->task, f->error));
  } else {
    ISO_TRY(iso_binary_validate(h, header, f->task, f->error));
  }
  /* Of other shares than the first nobody has checked what this would look at. */
  if (f->share == NULL || f->share->number == 0) iso_history_count(h);
  return ISOPROOF_OK;
}

static isoproof_status read_file(binary_file *f, iso_input *input, isoproof_history **history) {
  *history = NULL;
  isoproof_status status = fetch(f, input);
  if (status == ISOPROOF_OK) status = check_header(f);
  if (status == ISOPROOF_OK) status = check_table(f);
  if (status == ISOPROOF_OK) status = check_sums(f);
  if (status == ISOPROOF_OK) status = iso_task_check(f->task, f->error);
  isoproof_history *made = status == ISOPROOF_OK ? iso_history_new() : NULL;
  if (status == ISOPROOF_OK && made == NULL) status = iso_fail_memory(f->error);
  if (status == ISOPROOF_OK) status = adopt(f, made);
  if (f->map != NULL) munmap(f->map, f->map_bytes);
  if (status != ISOPROOF_OK) {
    isoproof_history_free(made);
    return status;
  }
  *history = made;
  return ISOPROOF_OK;
}

isoproof_status iso_read_binary(iso_input *input, isoproof_history **history, isoproof_task *task,
                                isoproof_error *error) {
  binary_file f = {.name = iso_input_name(input), .task = task, .error = error};
  return read_file(&f, input, history);
}

isoproof_status iso_read_binary_frugally(iso_input *input, isoproof_history **history, isoproof_task *task,
                                         isoproof_error *error) {
  binary_file f = {.name = iso_input_name(input), .task = task, .error = error, .frugal = true};
  ISO_TRY(read_file(&f, input, history));
  iso_pages_let_go((*history)->map, 0, (*history)->map_bytes);
  return ISOPROOF_OK;
}

isoproof_status iso_read_binary_share(const char *path, iso_binary_share *share, isoproof_history **history,
                                      isoproof_task *task, isoproof_error *error) {
  iso_input *input;
  *history = NULL;
  ISO_TRY(iso_input_open_for(path, task, &input, error));
  binary_file f = {.name = iso_input_name(input), .task = task, .error = error, .frugal = true, .share = share};
  isoproof_status status = read_file(&f, input, history);
  iso_input_close(input);
  if (status == ISOPROOF_OK) iso_pages_let_go((*history)->map, 0, (*history)->map_bytes);
  return status;
}

isoproof_status iso_binary_look(const char *path, iso_binary_header *header, isoproof_error *error) {
  iso_input *input;
  size_t got = 0;
  memset(header, 0, sizeof *header);
  ISO_TRY(iso_input_open(path, &input, error));
  void *map = NULL;
  size_t bytes = 0;
  isoproof_status status = iso_input_map(input, &map, &bytes, error);
  if (status == ISOPROOF_OK && map != NULL && bytes >= sizeof *header) {
    memcpy(header, map, sizeof *header);
    got = sizeof *header;
  }
  if (map != NULL) munmap(map, bytes);
  iso_input_close(input);
  if (got == 0 || !iso_binary_magic(header->magic, sizeof header->magic)) memset(header, 0, sizeof *header);
  return status;
}
