/* unzstd.h - one frame of a zstd stream (RFC 8878).  A decoder owns its buffers until browser_unzstd_free. */
#ifndef ISO_BROWSER_UNZSTD_H
#define ISO_BROWSER_UNZSTD_H

#include "browser/source.h"
#include "browser/zstd_codes.h"

typedef struct browser_unzstd browser_unzstd;

/* NULL when memory is out. */
browser_unzstd *browser_unzstd_new(void);
void browser_unzstd_free(browser_unzstd *decoder);
/* Decodes the header of a frame or a block of the frame that has begun. */
browser_step browser_unzstd_step(browser_unzstd *decoder, browser_source *source, browser_window *window);
const char *browser_unzstd_why(const browser_unzstd *decoder);

#endif
