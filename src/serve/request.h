/* request.h - the head of an HTTP/1.1 request, from bytes that anybody may have sent.
 *
 * A request points into the bytes that it was read from, which are changed: names are decoded in place.
 */
#ifndef ISO_SERVE_REQUEST_H
#define ISO_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ISO_REQUEST_BYTES = 8192, ISO_REQUEST_PARTS = 8, ISO_REQUEST_HEADERS = 64 };

typedef struct iso_http_request {
  bool head_only;                       /* HEAD */
  const char *parts[ISO_REQUEST_PARTS]; /* of the path, decoded; none is "", "." or "..", or has a '/' or a control
                                           character */
  uint32_t part_count;
  bool folder; /* the path ended with a slash */
} iso_http_request;

/* Where the head ends: the length of everything up to and with the empty line; 0 when it is not complete. */
size_t iso_http_request_end(const char *bytes, size_t length);
/* Reads a complete head of `length` bytes; the status to answer with: 200 when it can be answered, else 400, 403 (a
 * host that is not this machine, or a path that leads elsewhere), 405, 414 or 505. */
int iso_http_request_read(char *bytes, size_t length, uint16_t port, iso_http_request *request);

#endif
