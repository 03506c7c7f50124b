/* moments.h - the beginnings and ends of the transactions of a history one after the other, for formats that tell real
 * time by the order of lines.
 *
 * The list owns its items until iso_moments_free.
 */
#ifndef ISO_FORMAT_MOMENTS_H
#define ISO_FORMAT_MOMENTS_H

#include "format/format.h"

typedef struct iso_moment {
  int64_t when;
  uint32_t txn;
  uint32_t turn; /* at one moment: beginnings, then ends, then beginnings of sessions that have just ended something */
} iso_moment;

typedef struct iso_moments {
  iso_moment *items;
  size_t count;
} iso_moments;

/* ISOPROOF_ERR_UNSUPPORTED for a history without real time; and, unless the job is lossy, for one in which a session
 * goes on at the moment at which it ended something, so that others would seem to come after that which did not. */
isoproof_status iso_moments_make(iso_write_job *job, const char *format_name, iso_moments *moments);
void iso_moments_free(iso_moments *moments);

#endif
