/* response.h - what is sent for a request: pages made on demand, each complete before its first byte is sent.
 *
 * An answer owns its body until iso_answer_free.
 */
#ifndef ISO_SERVE_RESPONSE_H
#define ISO_SERVE_RESPONSE_H

#include "base/vector.h"
#include "serve/request.h"

typedef struct iso_answer {
  int status;
  const char *type;
  bool scripts; /* the page runs its own */
  ISO_VEC(char) body;
} iso_answer;

/* Answers a request that could be read (`status` 200), or says why not. */
void iso_answer_make(int root, int status, const iso_http_request *request, iso_answer *answer);
/* The head that goes before the body; its length. */
size_t iso_answer_head(const iso_answer *answer, char *buffer, size_t size);
void iso_answer_free(iso_answer *answer);

#endif
