/* loss.h - what convert and gen share: names of compressions, and what a write left out.  Owns nothing. */
#ifndef CLI_OPTIONS_LOSS_H
#define CLI_OPTIONS_LOSS_H

#include <isoproof/format.h>

#include "cli/options/options.h"

/* Choices of --compress: auto, none, gzip, zstd. */
const char *compression_name_at(size_t number);
isoproof_compression compression_choice(const option_value *value);

/* One message for each thing that was left out or changed; nothing when nothing was. */
void report_loss(const isoproof_write_loss *loss, const char *format);

#endif
