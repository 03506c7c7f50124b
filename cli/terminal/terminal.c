/* terminal.c - asking the terminal and its environment. */
#include "cli/terminal/terminal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL = 80, NARROWEST = 60, WIDEST = 200 };

bool terminal_live(FILE *stream) {
  const char *term = getenv("TERM");
  return isatty(fileno(stream)) && term != NULL && *term != 0 && strcmp(term, "dumb") != 0;
}

bool terminal_color(FILE *stream, color_wish wish) {
  const char *no_color = getenv("NO_COLOR");
  if (wish != COLOR_AUTO) return wish == COLOR_ALWAYS;
  return (no_color == NULL || *no_color == 0) && terminal_live(stream);
}

bool terminal_utf8(void) {
  static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (size_t i = 0; i < 3; i++) {
    const char *value = getenv(variables[i]);
    if (value == NULL || *value == 0) continue;
    const char *set = strchr(value, '.');
    return set != NULL && (strncasecmp(set + 1, "utf-8", 5) == 0 || strncasecmp(set + 1, "utf8", 4) == 0);
  }
  return false;
}

/* 0 where unknown. */
static unsigned columns_of(FILE *stream) {
  struct winsize size;
  if (isatty(fileno(stream)) && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char *columns = getenv("COLUMNS");
  unsigned long number = columns != NULL ? strtoul(columns, NULL, 10) : 0;
  return number > 0 && number < 100000 ? (unsigned)number : 0;
}

unsigned terminal_columns(FILE *stream) {
  unsigned columns = columns_of(stream);
  return columns > 0 ? columns : USUAL;
}

static unsigned within(unsigned columns) {
  return columns < NARROWEST ? NARROWEST : columns > WIDEST ? WIDEST : columns;
}

unsigned terminal_width(FILE *stream) { return within(terminal_columns(stream)); }

unsigned report_width(FILE *stream) {
  unsigned columns = columns_of(stream);
  return columns > 0 ? within(columns) : 0;
}

unsigned text_columns(const char *text) {
  unsigned columns = 0;
  for (; *text != 0; text++) columns += ((unsigned char)*text & 0xc0) != 0x80;
  return columns;
}

size_t text_bytes(const char *text, unsigned columns) {
  size_t bytes = 0;
  for (; text[bytes] != 0; bytes++) {
    bool begins = ((unsigned char)text[bytes] & 0xc0) != 0x80;
    if (begins && columns-- == 0) break;
  }
  return bytes;
}

/* Colours take no room. */
static unsigned word_columns(const char *word, size_t length) {
  unsigned columns = 0;
  for (size_t i = 0; i < length; i++) {
    if (word[i] == '\033') {
      while (i + 1 < length && word[i] != 'm') i++;
    } else {
      columns += ((unsigned char)word[i] & 0xc0) != 0x80;
    }
  }
  return columns;
}

void print_wrapped(FILE *out, const char *text, unsigned at, unsigned indent, unsigned width) {
  bool first = true;
  while (*text != 0) {
    if (*text == '\n') {
      fprintf(out, "\n%*s", (int)indent, "");
      at = indent;
      first = true;
      text++;
      continue;
    }
    if (*text == ' ') {
      text++;
      continue;
    }
    size_t length = strcspn(text, " \n");
    unsigned columns = word_columns(text, length);
    if (!first && at + 1 + columns > width) {
      fprintf(out, "\n%*s", (int)indent, "");
      at = indent;
      first = true;
    }
    if (!first) {
      fputc(' ', out);
      at++;
    }
    fwrite(text, 1, length, out);
    at += columns;
    first = false;
    text += length;
  }
}

static void print_one(FILE *out, const char *line, size_t length, unsigned width) {
  unsigned blanks = 0;
  while (blanks < length && line[blanks] == ' ') blanks++;
  if (word_columns(line, length) <= width) {
    fwrite(line, 1, length, out);
    return;
  }
  char *copy = strndup(line + blanks, length - blanks);
  fprintf(out, "%*s", (int)blanks, "");
  if (copy != NULL) print_wrapped(out, copy, blanks, blanks + 2, width);
  free(copy);
}

unsigned report_room(void) {
  unsigned width = report_width(stdout);
  return width > 0 ? width : UINT_MAX;
}

void print_lines(FILE *out, const char *text) { print_lines_in(out, text, report_width(out)); }

void print_lines_in(FILE *out, const char *text, unsigned width) {
  if (width == 0) {
    fputs(text, out);
    return;
  }
  while (*text != 0) {
    size_t length = strcspn(text, "\n");
    print_one(out, text, length, width);
    text += length;
    if (*text == '\n') fputc(*text++, out);
  }
}

void print_command(FILE *out, const char *command, unsigned at, unsigned indent, unsigned width) {
  bool first = true;
  while (*command != 0) {
    size_t length = strcspn(command, " ");
    unsigned columns = word_columns(command, length);
    unsigned after = command[length] != 0 ? 2 : 0; /* the backslash of the next line */
    if (!first && at + 1 + columns + after > width) {
      fprintf(out, " \\\n%*s", (int)indent, "");
      at = indent;
    } else if (!first) {
      fputc(' ', out);
      at++;
    }
    fwrite(command, 1, length, out);
    at += columns;
    first = false;
    command += length;
    command += strspn(command, " ");
  }
}
