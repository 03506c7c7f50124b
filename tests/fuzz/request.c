/* request.c - the fuzz target of requests to `isoproof serve`: whatever is accepted names no way out of the directory.
 */
#include "serve/request.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > ISO_REQUEST_BYTES) return 0;
  /* Exactly as large as the input, so that the sanitizer sees every step beyond it. */
  char *bytes = malloc(size > 0 ? size : 1);
  iso_http_request request;
  if (bytes == NULL) return 0;
  if (size > 0) memcpy(bytes, data, size);
  size_t end = iso_http_request_end(bytes, size);
  if (end > 0 && iso_http_request_read(bytes, end, 8321, &request) == 200) {
    for (uint32_t i = 0; i < request.part_count; i++) {
      const char *part = request.parts[i];
      if (part[0] == 0 || strchr(part, '/') != NULL || strcmp(part, "..") == 0 || strcmp(part, ".") == 0) abort();
    }
  }
  free(bytes);
  return 0;
}
