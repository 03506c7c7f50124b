/* Writing the binary form: the checksums first, as the header comes before what it sums up. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format/binary.h"
#include "format/format.h"

enum { WRITE_STEP = 8 << 20 };

typedef struct binary_writer {
  iso_write_job *job;
  iso_binary_header header;
  iso_binary_section table[ISO_SECTION_COUNT];
  const void *columns[ISO_SECTION_COUNT];
} binary_writer;

static uint64_t aligned(uint64_t offset) {
  return (offset + ISO_BINARY_ALIGN - 1) / ISO_BINARY_ALIGN * ISO_BINARY_ALIGN;
}

static void fill_header(binary_writer *w) {
  const isoproof_history *h = w->job->history;
  iso_binary_header *header = &w->header;
  memcpy(header->magic, ISO_BINARY_MAGIC, ISO_BINARY_MAGIC_BYTES);
  header->version = ISO_BINARY_VERSION;
  header->endian = ISO_BINARY_ENDIAN;
  header->flags = h->initial_is_zero ? ISO_BINARY_INITIAL_IS_ZERO : 0;
  header->sessions = h->sessions;
  header->txns = h->txns;
  header->ops = h->ops;
  header->keys = h->keys;
  header->odd_lists = h->odd_lists;
  header->facts = h->fact_count;
  header->pool_entries = h->pool.count;
  header->statements = h->statement_count;
  header->conditions = h->condition_count;
  header->contents = h->content_count;
  header->list_values = h->list_first != NULL ? h->list_first[h->keys] : 0;
  header->odd_values = h->odd_first != NULL ? h->odd_first[h->odd_lists] : 0;
  header->pool_text_bytes = h->pool.text_bytes;
}

/* Whether the section has anything to say. */
static bool wanted(const binary_writer *w, const iso_binary_column *column, const void *at) {
  if (column->needed) return true;
  if (at == NULL) return false;
  bool list = column->number == ISO_SECTION_LIST_VALUES || column->number == ISO_SECTION_ODD_VALUES;
  return list || iso_binary_elements(column->number, &w->header) > 0;
}

/* Places the sections; their checksums are taken on the way. */
static isoproof_status lay_out(binary_writer *w) {
  uint32_t count = 0;
  for (uint32_t number = 1; number <= ISO_SECTION_COUNT; number++) {
    const iso_binary_column *column = iso_binary_column_of(number);
    const void *at;
    memcpy(&at, (const char *)w->job->history + column->offset, sizeof at);
    if (!wanted(w, column, at)) continue;
    w->columns[count] = at;
    w->table[count++] = (iso_binary_section){.number = number,
                                             .element_bytes = column->element_bytes,
                                             .bytes = iso_binary_elements(number, &w->header) * column->element_bytes};
  }
  w->header.section_count = count;
  uint64_t offset = aligned(sizeof w->header + count * sizeof *w->table);
  uint64_t end = offset;
  for (uint32_t i = 0; i < count; i++) {
    w->table[i].offset = offset;
    w->table[i].checksum = iso_hash_bytes(w->columns[i], w->table[i].bytes, 0);
    end = offset + w->table[i].bytes;
    offset = aligned(end);
    ISO_TRY(iso_task_check(w->job->task, w->job->error));
  }
  w->header.file_bytes = end;
  w->header.checksum = iso_binary_header_checksum(&w->header, w->table);
  return ISOPROOF_OK;
}

static void pad_to(iso_output *out, uint64_t *at, uint64_t offset) {
  static const char zeros[ISO_BINARY_ALIGN];
  if (*at < offset) iso_out_bytes(out, zeros, (size_t)(offset - *at));
  *at = offset;
}

static isoproof_status put_section(const binary_writer *w, uint32_t section) {
  const char *bytes = w->columns[section];
  for (uint64_t done = 0; done < w->table[section].bytes;) {
    uint64_t part = w->table[section].bytes - done;
    if (part > WRITE_STEP) part = WRITE_STEP;
    iso_out_bytes(w->job->output, bytes + done, (size_t)part);
    done += part;
    ISO_TRY(iso_task_check(w->job->task, w->job->error));
    iso_task_progress(w->job->task, "writing", "bytes", w->table[section].offset + done, w->header.file_bytes);
  }
  return ISOPROOF_OK;
}

static isoproof_status put_all(binary_writer *w) {
  fill_header(w);
  ISO_TRY(lay_out(w));
  iso_output *out = w->job->output;
  uint64_t at = sizeof w->header + w->header.section_count * sizeof *w->table;
  iso_out_bytes(out, &w->header, sizeof w->header);
  iso_out_bytes(out, w->table, w->header.section_count * sizeof *w->table);
  for (uint32_t i = 0; i < w->header.section_count; i++) {
    pad_to(out, &at, w->table[i].offset);
    ISO_TRY(put_section(w, i));
    at += w->table[i].bytes;
  }
  return ISOPROOF_OK;
}

isoproof_status iso_write_binary(iso_write_job *job) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return iso_fail(job->error, ISOPROOF_ERR_UNSUPPORTED, "the binary form cannot be written on a big-endian machine");
#else
  binary_writer *w = calloc(1, sizeof *w);
  if (w == NULL) return iso_fail_memory(job->error);
  w->job = job;
  isoproof_status status = put_all(w);
  free(w);
  return status;
#endif
}
