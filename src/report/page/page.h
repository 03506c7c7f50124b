/* page.h - the page of web/ as the build made it: style and script are in it, the data are not.  A constant. */
#ifndef ISO_REPORT_PAGE_PAGE_H
#define ISO_REPORT_PAGE_PAGE_H

#include <stddef.h>

extern const unsigned char iso_page[];
extern const size_t iso_page_size;

#endif
