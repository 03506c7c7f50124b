/* wrap.h - lines that end before the terminal does.  Owns nothing. */
#ifndef ISO_REPORT_TEXT_WRAP_H
#define ISO_REPORT_TEXT_WRAP_H

#include "base/output.h"

enum { ISO_TEXT_WIDTH = 80, ISO_TEXT_NARROWEST = 60, ISO_TEXT_WIDEST = 200 };

/* The columns to use of a terminal of that width, two of which stay free; 0 is the usual width. */
size_t iso_text_room(unsigned width);

/* Words of a line that has `column` columns so far: a word that does not fit in `room` begins a line of its own, after
 * `indent` blanks. */
typedef struct iso_wrap {
  iso_output *out;
  size_t room, indent, column;
  bool begun; /* a word stands before */
} iso_wrap;

/* The words of the text, one after the other; blanks in it part them. */
void iso_wrap_words(iso_wrap *wrap, const char *text);
/* One word, which has blanks perhaps, with what follows it at once ("," or ""). */
void iso_wrap_word(iso_wrap *wrap, const char *word, const char *after);
/* Ends the line. */
void iso_wrap_end(iso_wrap *wrap);

/* A paragraph whose lines all begin after `indent` blanks. */
void iso_put_paragraph(iso_output *out, const char *text, size_t indent, size_t room);

#endif
