/* words.h - text that grows, for explanations and reports.
 * The words own their text until iso_words_free.  Failure is sticky: check `failed` once at the end. */
#ifndef ISO_BASE_WORDS_H
#define ISO_BASE_WORDS_H

#include <isoproof/history.h>

typedef struct iso_words {
  char *text; /* terminated; NULL while empty */
  size_t length, capacity;
  bool failed;
} iso_words;

void iso_words_free(iso_words *words);
void iso_words_add(iso_words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Text that comes from the input: control characters and broken UTF-8 are escaped, and more than `most` bytes are cut
 * with an ellipsis. */
void iso_words_add_hostile(iso_words *words, const char *text, size_t length, size_t most);
void iso_words_add_scalar(iso_words *words, isoproof_scalar scalar);

#endif
