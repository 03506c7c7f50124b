/* live_page.h - the page of a run in progress, which its script fills and keeps up to date from live.json.  Owns
 * nothing.
 */
#ifndef ISO_SERVE_LIVE_PAGE_H
#define ISO_SERVE_LIVE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"

/* Whether there is a run that tells how it goes. */
bool iso_live_page_exists(int root, const char *const *parts, uint32_t count);
void iso_live_page_put(iso_output *out, int root, const char *const *parts, uint32_t count);

#endif
