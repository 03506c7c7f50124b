/* Lines that end before the terminal does. */
#include "report/text/wrap.h"

#include <string.h>

#include "report/escape.h"

size_t iso_text_room(unsigned width) {
  if (width == 0) width = ISO_TEXT_WIDTH;
  if (width < ISO_TEXT_NARROWEST) width = ISO_TEXT_NARROWEST;
  if (width > ISO_TEXT_WIDEST) width = ISO_TEXT_WIDEST;
  return width - 2;
}

static void put_word(iso_wrap *wrap, const char *word, size_t bytes, const char *after) {
  size_t width = iso_text_columns_n(word, bytes) + strlen(after);
  if (wrap->begun && wrap->column + 1 + width > wrap->room) {
    iso_out_char(wrap->out, '\n');
    wrap->column = 0;
    wrap->begun = false;
  }
  for (; wrap->column < wrap->indent; wrap->column++) iso_out_char(wrap->out, ' ');
  if (wrap->begun) {
    iso_out_char(wrap->out, ' ');
    wrap->column++;
  }
  iso_put_sentence_n(wrap->out, word, bytes);
  iso_out_text(wrap->out, after);
  wrap->column += width;
  wrap->begun = true;
}

void iso_wrap_words(iso_wrap *wrap, const char *text) {
  for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
    size_t bytes = strcspn(text, " ");
    put_word(wrap, text, bytes, "");
    text += bytes;
  }
}

void iso_wrap_word(iso_wrap *wrap, const char *word, const char *after) { put_word(wrap, word, strlen(word), after); }

void iso_wrap_end(iso_wrap *wrap) {
  iso_out_char(wrap->out, '\n');
  wrap->column = 0;
  wrap->begun = false;
}

void iso_put_paragraph(iso_output *out, const char *text, size_t indent, size_t room) {
  iso_wrap wrap = {.out = out, .room = room, .indent = indent};
  iso_wrap_words(&wrap, text);
  iso_wrap_end(&wrap);
}
