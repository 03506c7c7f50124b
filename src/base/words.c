/* Text that grows by printf, with hostile input escaped. */
#include "base/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"

void iso_words_free(iso_words *words) {
  free(words->text);
  *words = (iso_words){NULL, 0, 0, false};
}

/* Makes room for `extra` bytes and the terminator. */
static bool reserve(iso_words *words, size_t extra) {
  if (words->failed) return false;
  if (words->capacity - words->length > extra) return true;
  if (!iso_vec_grow((void **)&words->text, &words->capacity, words->length + extra + 1, 1)) words->failed = true;
  return !words->failed;
}

void iso_words_add(iso_words *words, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length < 0 || !reserve(words, (size_t)length)) return;
  va_start(arguments, format);
  vsnprintf(words->text + words->length, words->capacity - words->length, format, arguments);
  va_end(arguments);
  words->length += (size_t)length;
}

void iso_words_add_hostile(iso_words *words, const char *text, size_t length, size_t most) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < length;) {
    if (i >= most) {
      iso_words_add(words, "...");
      return;
    }
    size_t step = iso_printable_step(text + i, length - i);
    if (!reserve(words, 4)) return;
    if (step > 0) {
      memcpy(words->text + words->length, text + i, step);
      words->length += step;
    } else {
      unsigned char c = (unsigned char)text[i];
      const char escape[4] = {'\\', 'x', digits[c >> 4], digits[c & 15]};
      memcpy(words->text + words->length, escape, sizeof escape);
      words->length += sizeof escape;
      step = 1;
    }
    words->text[words->length] = '\0';
    i += step;
  }
}

void iso_words_add_scalar(iso_words *words, isoproof_scalar scalar) {
  enum { MOST = 60 };
  char number[32];
  switch (scalar.type) {
  case ISOPROOF_STRING:
    iso_words_add(words, "\"");
    iso_words_add_hostile(words, scalar.text, scalar.length, MOST);
    iso_words_add(words, "\"");
    return;
  case ISOPROOF_KEYWORD:
    iso_words_add(words, ":");
    iso_words_add_hostile(words, scalar.text, scalar.length, MOST);
    return;
  case ISOPROOF_SYMBOL:
    iso_words_add_hostile(words, scalar.text, scalar.length, MOST);
    return;
  case ISOPROOF_NIL:
  case ISOPROOF_NONE:
  case ISOPROOF_INTEGER:
  case ISOPROOF_UNSIGNED:
    isoproof_scalar_format(scalar, number, sizeof number);
    iso_words_add(words, "%s", number);
    return;
  }
}
