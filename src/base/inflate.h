/* inflate.h - gzip and zstd streams as one decoder.
 *
 * A decoder owns its buffers until iso_inflate_free; it borrows the name and the source.
 */
#ifndef ISO_BASE_INFLATE_H
#define ISO_BASE_INFLATE_H

#include "base/error.h"

typedef enum iso_packing { ISO_PACKING_NONE, ISO_PACKING_GZIP, ISO_PACKING_ZSTD } iso_packing;

/* By the first bytes of a stream. */
iso_packing iso_packing_of(const char *bytes, size_t length);

/* Gives compressed bytes; *got 0 at their end. */
typedef isoproof_status (*iso_pull_fn)(void *context, void *buffer, size_t size, size_t *got, isoproof_error *error);

typedef struct iso_inflate iso_inflate;

/* `first` are the compressed bytes that were pulled already. */
isoproof_status iso_inflate_new(iso_packing packing, const char *name, iso_pull_fn pull, void *context,
                                const char *first, size_t first_length, iso_inflate **decoder, isoproof_error *error);
void iso_inflate_free(iso_inflate *decoder);
/* Puts at least one decoded byte into the buffer unless the stream has ended; *got 0 says that it has.  A stream that
 * is cut off or corrupt is ISOPROOF_ERR_FORMAT at the offset of the decoded bytes. */
isoproof_status iso_inflate_read(iso_inflate *decoder, void *buffer, size_t size, size_t *got, isoproof_error *error);

#endif
