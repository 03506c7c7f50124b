/* blocks.c - the fuzz target of reading in blocks: whatever is read, with whatever result, is the same without them.
 *
 * The first byte says which format it is, how large the blocks are and how many threads read them; the rest is text.
 */
#include <isoproof/isoproof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct outcome {
  isoproof_status status;
  isoproof_error error;
  char *bytes; /* the history in the binary form */
  size_t count, capacity;
} outcome;

static bool put(void *user, const void *data, size_t size) {
  outcome *o = user;
  if (o->count + size > o->capacity) {
    o->capacity = 2 * (o->count + size);
    o->bytes = realloc(o->bytes, o->capacity);
    if (o->bytes == NULL) return false;
  }
  if (size > 0) memcpy(o->bytes + o->count, data, size);
  o->count += size;
  return true;
}

static isoproof_status build(const uint8_t *text, size_t size, isoproof_format format, size_t block_bytes,
                             isoproof_task *task, isoproof_builder *builder, isoproof_error *error) {
  iso_input *input;
  isoproof_status status = iso_input_open_memory(text, size, "fuzz", &input, error);
  if (status != ISOPROOF_OK) return status;
  status = format == ISOPROOF_FORMAT_JSONL
               ? iso_read_jsonl_in_blocks(input, builder, task, block_bytes, error)
               : iso_read_jepsen_in_blocks(input, format, builder, task, block_bytes, error);
  iso_input_close(input);
  return status;
}

static void read_as(const uint8_t *text, size_t size, isoproof_format format, size_t block_bytes, unsigned threads,
                    outcome *o) {
  isoproof_task *task;
  isoproof_builder *builder;
  isoproof_history *history = NULL;
  isoproof_write_options options = {.struct_size = sizeof options, .compression = ISOPROOF_COMPRESS_NO};
  if (isoproof_task_new(&task) != ISOPROOF_OK || isoproof_builder_new(&builder, NULL) != ISOPROOF_OK) abort();
  isoproof_task_set_threads(task, threads);
  o->status = build(text, size, format, block_bytes, task, builder, &o->error);
  if (o->status == ISOPROOF_OK) o->status = isoproof_builder_finish(builder, &history, &o->error);
  if (o->status == ISOPROOF_OK &&
      isoproof_history_write_to(history, ISOPROOF_FORMAT_BINARY, put, o, &options, NULL, NULL, NULL) != ISOPROOF_OK) {
    abort();
  }
  isoproof_history_free(history);
  isoproof_builder_free(builder);
  isoproof_task_free(task);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const isoproof_format formats[] = {ISOPROOF_FORMAT_JSONL, ISOPROOF_FORMAT_EDN, ISOPROOF_FORMAT_EDN,
                                            ISOPROOF_FORMAT_JSON};
  if (size == 0) return 0;
  isoproof_format format = formats[data[0] & 3];
  size_t block_bytes = (size_t)64 << (data[0] >> 2 & 3);
  unsigned threads = 1 + (data[0] >> 4 & 1);
  outcome plain = {.status = ISOPROOF_OK}, blocks = {.status = ISOPROOF_OK};
  read_as(data + 1, size - 1, format, 0, 1, &plain);
  read_as(data + 1, size - 1, format, block_bytes, threads, &blocks);
  bool same = plain.status == blocks.status && plain.error.line == blocks.error.line &&
              plain.error.column == blocks.error.column && plain.error.offset == blocks.error.offset &&
              strcmp(plain.error.message, blocks.error.message) == 0 && plain.count == blocks.count &&
              (plain.count == 0 || memcmp(plain.bytes, blocks.bytes, plain.count) == 0);
  if (!same) {
    fprintf(stderr,
            "without blocks: %s %zu bytes, line %llu: %s\nblocks of %zu, %u threads: %s %zu bytes, line %llu: %s\n",
            isoproof_status_name(plain.status), plain.count, (unsigned long long)plain.error.line, plain.error.message,
            block_bytes, threads, isoproof_status_name(blocks.status), blocks.count,
            (unsigned long long)blocks.error.line, blocks.error.message);
    abort();
  }
  free(plain.bytes);
  free(blocks.bytes);
  return 0;
}
