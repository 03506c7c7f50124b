/* Finds the ends of lines and items: a scanner that knows strings, comments and brackets and nothing else. */
#include "follow/cut.h"

#include <string.h>

#include "follow/line.h"
#include "format/token.h"

/* An item that is longer than this, or that seems to contain so many others (because a bracket is missing), is given to
 * the reader as far as it is there, which tells what is wrong with it. */
enum { LONGEST_ITEM = ISO_TOKEN_LONGEST, MOST_INNER = 100 };

void iso_cutter_init(iso_cutter *cutter, iso_stream_cut where) {
  *cutter = (iso_cutter){.where = where, .line_begins = true};
}

static bool is_between_items(const iso_cutter *c) {
  if (c->where == ISO_CUT_LINES) return true;
  if (c->inner >= MOST_INNER || c->since_cut > LONGEST_ITEM) return true;
  return !c->in_string && (c->depth == 0 || (c->depth == 1 && c->bottom_is_list));
}

/* Within a string; returns whether the byte was part of it. */
static bool pass_string(iso_cutter *c, char byte) {
  if (!c->in_string) return false;
  if (c->escaped) {
    c->escaped = false;
  } else if (byte == '\\') {
    c->escaped = true;
  } else if (byte == '"') {
    c->in_string = false;
  } else if (byte == '\n' && c->where == ISO_CUT_JSON_ITEMS) {
    c->inner = MOST_INNER; /* strings of JSON do not go over lines */
    return false;
  }
  return true;
}

static void pass_bracket(iso_cutter *c, char byte) {
  if (byte == '}' || byte == ']' || byte == ')') {
    if (c->depth > 0) c->depth--;
    return;
  }
  if (byte == '{' && c->line_begins && c->depth > 0 && !(c->depth == 1 && c->bottom_is_list)) c->inner++;
  if (c->depth++ == 0) c->bottom_is_list = byte != '{';
}

static void pass(iso_cutter *c, char byte) {
  if (c->in_comment || pass_string(c, byte)) return;
  if (c->escaped) { /* a character of EDN: \{ */
    c->escaped = false;
    return;
  }
  switch (byte) {
  case '"':
    c->in_string = true;
    break;
  case '{':
  case '[':
  case '(':
  case '}':
  case ']':
  case ')':
    pass_bracket(c, byte);
    break;
  case ';':
    c->in_comment = c->where == ISO_CUT_EDN_ITEMS;
    break;
  case '\\':
    c->escaped = c->where == ISO_CUT_EDN_ITEMS;
    break;
  default:
    break;
  }
}

/* Whether a byte may mean something, within strings and comments or without: between these, all that counts is how many
 * there are. */
static const bool has_meaning[256] = {['\n'] = true, ['"'] = true, ['{'] = true, ['['] = true, ['('] = true,
                                      ['}'] = true,  [']'] = true, [')'] = true, [';'] = true, ['\\'] = true};

/* Passes over bytes without a meaning; returns how many there are. */
static size_t skip(iso_cutter *c, const char *bytes, size_t size) {
  size_t count = 0;
  if (c->escaped) return 0;
  while (count < size && !has_meaning[(unsigned char)bytes[count]]) count++;
  c->since_cut += count;
  if (count > 0) c->line_begins = false;
  return count;
}

/* How many bytes of whole lines there are, each complete in itself: most have an item per line. */
static size_t skip_lines(const iso_cutter *c, const char *bytes, size_t size) {
  size_t passed = 0;
  if (!c->line_begins || c->escaped || c->in_string || c->in_comment) return 0;
  if (c->depth > 1 || (c->depth == 1 && !c->bottom_is_list)) return 0;
  while (passed < size) {
    const char *line = bytes + passed, *newline = memchr(line, '\n', size - passed);
    if (newline == NULL || !iso_line_is_closed(line, (size_t)(newline - line))) break;
    passed = (size_t)(newline - bytes) + 1;
  }
  return passed;
}

bool iso_cutter_look(iso_cutter *c, const char *bytes, size_t size, size_t *at) {
  bool found = false;
  if (c->where == ISO_CUT_LINES) {
    const char *newline = size > 0 ? memrchr(bytes, '\n', size) : NULL;
    if (newline != NULL) *at = (size_t)(newline - bytes) + 1;
    return newline != NULL;
  }
  for (size_t i = 0; i < size; i++) {
    size_t lines = skip_lines(c, bytes + i, size - i);
    if (lines > 0) {
      *at = i += lines;
      found = true;
      c->since_cut = 0;
      c->inner = 0;
      if (i == size) break;
    }
    i += skip(c, bytes + i, size - i);
    if (i == size) break;
    char byte = bytes[i];
    c->since_cut++;
    pass(c, byte);
    c->line_begins = byte == '\n';
    if (byte != '\n') continue;
    c->in_comment = false;
    if (!is_between_items(c)) continue;
    *at = i + 1;
    found = true;
    c->since_cut = 0;
    c->inner = 0;
  }
  return found;
}
