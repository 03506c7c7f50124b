/* deflate.h - writing gzip and zstd streams through one encoder.
 *
 * An encoder owns its buffers until iso_deflate_free; it borrows the sink.
 */
#ifndef ISO_BASE_DEFLATE_H
#define ISO_BASE_DEFLATE_H

#include <isoproof/format.h>

#include "base/error.h"

/* Takes compressed bytes; false after a failure that it has noted itself. */
typedef bool (*iso_push_fn)(void *context, const void *bytes, size_t size);

typedef struct iso_deflate iso_deflate;

/* `compression` is ISOPROOF_COMPRESS_GZIP or ISOPROOF_COMPRESS_ZSTD. */
isoproof_status iso_deflate_new(isoproof_compression compression, iso_push_fn push, void *context,
                                iso_deflate **encoder, isoproof_error *error);
void iso_deflate_free(iso_deflate *encoder);
/* Encodes bytes; `last` ends the stream.  ISOPROOF_ERR_IO without a filled error when the sink failed. */
isoproof_status iso_deflate_write(iso_deflate *encoder, const void *bytes, size_t size, bool last,
                                  isoproof_error *error);

#endif
