/* terminal.c - asking the terminal and its environment. */
#include "cli/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

unsigned terminal_width(FILE *stream) {
  struct winsize size;
  bool known = isatty(fileno(stream)) && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

unsigned text_columns(const char *text) {
  unsigned columns = 0;
  for (; *text != 0; text++) columns += ((unsigned char)*text & 0xc0) != 0x80;
  return columns;
}

static unsigned word_columns(const char *word, size_t length) {
  unsigned columns = 0;
  for (size_t i = 0; i < length; i++) columns += ((unsigned char)word[i] & 0xc0) != 0x80;
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
