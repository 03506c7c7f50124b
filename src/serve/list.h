/* list.h - the list of runs below a directory, as a page. */
#ifndef ISO_SERVE_LIST_H
#define ISO_SERVE_LIST_H

#include "base/output.h"

/* False when memory is out. */
bool iso_list_put(iso_output *out, int root);

#endif
