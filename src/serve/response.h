/* response.h - what is sent for a request: pages made on demand, each complete before its first byte is sent.
 *
 * A response owns its body until iso_response_free.
 */
#ifndef ISO_SERVE_RESPONSE_H
#define ISO_SERVE_RESPONSE_H

#include "base/vector.h"
#include "serve/request.h"

/* Which scripts a page may run: none, the file that comes with it, the same and it may ask for more, or its own. */
typedef enum iso_scripts { ISO_SCRIPTS_NONE, ISO_SCRIPTS_OWN, ISO_SCRIPTS_ASKING, ISO_SCRIPTS_INLINE } iso_scripts;

typedef struct iso_response {
  int status;
  const char *type;
  iso_scripts scripts;
  ISO_VEC(char) body;
} iso_response;

/* Answers a request that could be read (`status` 200), or says why not. */
void iso_response_make(int root, int status, const iso_http_request *request, iso_response *response);
/* The head that goes before the body; its length. */
size_t iso_response_head(const iso_response *response, char *buffer, size_t size);
void iso_response_free(iso_response *response);

#endif
