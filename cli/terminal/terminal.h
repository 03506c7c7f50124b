/* terminal.h - what the terminal can show: colour, width, box-drawing characters.  Owns nothing. */
#ifndef CLI_TERMINAL_TERMINAL_H
#define CLI_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

typedef enum color_wish { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color_wish;

/* --color, then NO_COLOR, then whether the stream is a terminal that is not dumb. */
bool terminal_color(FILE *stream, color_wish wish);
/* Whether the locale's character set is UTF-8. */
bool terminal_utf8(void);
/* Whether the stream is a terminal that can erase a line. */
bool terminal_live(FILE *stream);
/* Columns of the stream's terminal, else as COLUMNS says, else 80. */
unsigned terminal_columns(FILE *stream);
/* As many of them as text should have: 60 to 200. */
unsigned terminal_width(FILE *stream);
/* The same for reports: 0 where neither a terminal nor COLUMNS says anything. */
unsigned report_width(FILE *stream);

/* Prints words of `text` wrapped at `width` columns, each line after `indent` spaces; the first line starts at column
 * `at`.  A newline in the text stays one; no newline is added at the end. */
void print_wrapped(FILE *out, const char *text, unsigned at, unsigned indent, unsigned width);
/* Prints every line of the text wrapped at the width of the stream's terminal, as far as there is one; what follows a
 * line's end stands two columns further in than the line. */
void print_lines(FILE *out, const char *text);
/* The same at a given width; 0: as they are. */
void print_lines_in(FILE *out, const char *text, unsigned width);
/* The width of lines on standard output: that of reports, or no limit where there is no terminal. */
unsigned report_room(void);
/* Prints a command for a shell in the same way, with a backslash where it goes on in the next line. */
void print_command(FILE *out, const char *command, unsigned at, unsigned indent, unsigned width);
/* Columns that a UTF-8 text takes, one a character. */
unsigned text_columns(const char *text);
/* How many bytes of it fit into that many columns. */
size_t text_bytes(const char *text, unsigned columns);

#endif
