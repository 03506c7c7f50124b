/* stream.h - readers of formats that grow at their end, fed piece by piece.
 *
 * A stream is the reader of a format between two pieces: what it needs of one piece for the next (an invocation without
 * its completion, for example) is its own.  It fills a builder, which the caller finishes whenever it likes, and calls
 * `turned` then.  Fed to the end, all that came out is what the reader makes of the whole.
 */
#ifndef ISO_FORMAT_STREAM_H
#define ISO_FORMAT_STREAM_H

#include "format/format.h"

/* Where pieces may end. */
typedef enum iso_stream_cut {
  ISO_CUT_LINES,      /* after any line */
  ISO_CUT_JSON_ITEMS, /* after a line that ends outside every value, or between the elements of a list around all */
  ISO_CUT_EDN_ITEMS
} iso_stream_cut;

typedef struct iso_stream_table {
  iso_stream_cut cut;
  /* Transactions go on until the next one of their session begins: what is in the builder may have an unfinished one at
   * the end of each session. */
  bool open_ended;
  isoproof_status (*open)(iso_input *name, isoproof_builder *builder, void **reader, isoproof_error *error);
  /* Reads whole lines or items; the last piece, which may be empty, may end anywhere. */
  isoproof_status (*feed)(void *reader, const char *bytes, size_t size, bool last, isoproof_error *error);
  /* The builder was finished, has nothing in it, and goes on with what is next, which has the sessions so far, too.
   * `done` is what became of it; of
   * open-ended formats it has sessions of the same numbers as before, and nothing but their unfinished transactions:
   * the arrival number of session s's is unfinished[s]. */
  isoproof_status (*turned)(void *reader, const isoproof_history *done, const uint32_t *unfinished,
                            isoproof_error *error);
  /* Whether a batch may be made of what came so far; NULL: always. */
  bool (*ready)(const void *reader);
  /* Whether the writer said that nothing more will come; NULL: never. */
  bool (*finished)(const void *reader);
  void (*free)(void *reader);
  /* The reader has seen the beginning of the input, and goes on after so many lines; NULL: it cannot. */
  void (*skip)(void *reader, uint64_t lines);
} iso_stream_table;

extern const iso_stream_table iso_jsonl_stream, iso_edn_stream, iso_json_stream, iso_plume_stream,
    iso_veristrong_stream;

/* NULL for a format that cannot be read piece by piece. */
const iso_stream_table *iso_stream_of(isoproof_format format);

/* The code in the builder's pool of a scalar of a history. */
isoproof_status iso_stream_code(const isoproof_history *from, isoproof_builder *builder, iso_value value,
                                iso_value *code, isoproof_error *error);

#endif
