/* output.h - buffered output with one sticky error, optionally compressed.
 *
 * Writing functions return nothing: they do nothing after a failure, and iso_output_close reports it.  An output owns
 * its descriptor and its temporary file until iso_output_close (which makes a file appear under its final name) or
 * iso_output_abandon (which removes what was written).
 */
#ifndef ISO_BASE_OUTPUT_H
#define ISO_BASE_OUTPUT_H

#include <isoproof/format.h>

#include "base/error.h"

typedef struct iso_output iso_output;

/* "-" is standard output.  A file is written under a temporary name beside `path`. */
isoproof_status iso_output_open(const char *path, isoproof_compression compression, iso_output **output,
                                isoproof_error *error);
isoproof_status iso_output_open_callback(isoproof_write_fn write, void *user, isoproof_compression compression,
                                         iso_output **output, isoproof_error *error);
isoproof_status iso_output_close(iso_output *output, isoproof_error *error);
void iso_output_abandon(iso_output *output);

/* Hands on what is buffered; of compressed output some may stay behind. */
void iso_output_flush(iso_output *output);
/* True once something failed: a long loop may stop early. */
bool iso_output_failed(const iso_output *output);

void iso_out_bytes(iso_output *output, const void *bytes, size_t size);
void iso_out_char(iso_output *output, char c);
void iso_out_text(iso_output *output, const char *text);
void iso_out_u64(iso_output *output, uint64_t number);
void iso_out_i64(iso_output *output, int64_t number);
void iso_out_printf(iso_output *output, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void iso_out_json_string(iso_output *output, const char *text, size_t length);

#endif
