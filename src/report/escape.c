/* Escapes of every output but JSON, whose writer has its own. */
#include "report/escape.h"

#include <string.h>

#include "base/text.h"

static const char replacement[] = "\xef\xbf\xbd";

/* The character of `step` bytes, which are valid. */
static uint32_t decode(const char *text, size_t step) {
  const unsigned char *b = (const unsigned char *)text;
  if (step == 1) return b[0];
  uint32_t code = b[0] & (0x7fu >> step);
  for (size_t i = 1; i < step; i++) code = code << 6 | (b[i] & 0x3fu);
  return code;
}

/* Goes over the text character by character: what `escape` does not write itself is copied, in runs. */
typedef bool (*escape_fn)(iso_output *out, uint32_t code);

static void put_escaped(iso_output *out, const char *text, size_t length, escape_fn escape) {
  for (size_t i = 0; i < length;) {
    size_t step = iso_utf8_step(text + i, length - i);
    if (step == 0) {
      iso_out_text(out, replacement);
      i++;
      continue;
    }
    if (!escape(out, decode(text + i, step))) iso_out_bytes(out, text + i, step);
    i += step;
  }
}

/* Surrogates are no UTF-8; the rest is what the production Char of XML 1.0 leaves out, and C1 with them. */
static bool is_forbidden_in_xml(uint32_t c) {
  if (c < 0x20) return c != '\t' && c != '\n' && c != '\r';
  return (c >= 0x7f && c < 0xa0) || (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
}

static bool escape_xml(iso_output *out, uint32_t c) {
  switch (c) {
  case '<':
    iso_out_text(out, "&lt;");
    return true;
  case '>':
    iso_out_text(out, "&gt;");
    return true;
  case '&':
    iso_out_text(out, "&amp;");
    return true;
  case '"':
    iso_out_text(out, "&quot;");
    return true;
  case '\'':
    iso_out_text(out, "&#39;");
    return true;
  case '\r': /* a parser would turn it into a newline */
    iso_out_text(out, "&#13;");
    return true;
  default:
    if (!is_forbidden_in_xml(c)) return false;
    iso_out_text(out, replacement);
    return true;
  }
}

void iso_put_xml_n(iso_output *out, const char *text, size_t length) { put_escaped(out, text, length, escape_xml); }
void iso_put_xml(iso_output *out, const char *text) { iso_put_xml_n(out, text, strlen(text)); }

static bool escape_dot(iso_output *out, uint32_t c) {
  switch (c) {
  case '"':
    iso_out_text(out, "\\\"");
    return true;
  case '\\':
    iso_out_text(out, "\\\\");
    return true;
  case '&': /* Graphviz knows entities */
    iso_out_text(out, "&amp;");
    return true;
  case '\n':
    iso_out_text(out, "\\n");
    return true;
  default:
    if (!is_forbidden_in_xml(c) && c != '\r' && c != '\t') return false;
    iso_out_text(out, replacement);
    return true;
  }
}

void iso_put_dot_inner(iso_output *out, const char *text) { put_escaped(out, text, strlen(text), escape_dot); }

void iso_put_dot(iso_output *out, const char *text) {
  iso_out_char(out, '"');
  iso_put_dot_inner(out, text);
  iso_out_char(out, '"');
}

static bool turns_direction(uint32_t c) {
  return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f || c == 0x061c;
}

static bool escape_terminal(iso_output *out, uint32_t c) {
  if (c < 0x20 || (c >= 0x7f && c < 0xa0)) {
    iso_out_printf(out, "\\x%02x", (unsigned)c);
    return true;
  }
  if (c != 0x2028 && c != 0x2029 && !turns_direction(c)) return false;
  iso_out_printf(out, "\\u{%x}", (unsigned)c);
  return true;
}

void iso_put_terminal_n(iso_output *out, const char *text, size_t length) {
  put_escaped(out, text, length, escape_terminal);
}
void iso_put_terminal(iso_output *out, const char *text) { iso_put_terminal_n(out, text, strlen(text)); }

static bool escape_controls(iso_output *out, uint32_t c) {
  return (c < 0x20 || (c >= 0x7f && c < 0xa0)) && escape_terminal(out, c);
}

void iso_put_sentence_n(iso_output *out, const char *text, size_t length) {
  size_t plain = 0;
  while (plain < length && text[plain] >= 0x20 && text[plain] < 0x7f) plain++;
  iso_out_bytes(out, text, plain);
  put_escaped(out, text + plain, length - plain, escape_controls);
}

void iso_put_sentence(iso_output *out, const char *text) { iso_put_sentence_n(out, text, strlen(text)); }

/* ---- files for other programs ---- */

/* Punctuation that may mean something within a line; any may be escaped. */
static bool escape_markdown(iso_output *out, uint32_t c) {
  if (c == '\n' || c == '\t') {
    iso_out_char(out, ' ');
    return true;
  }
  if (c == '<' || c == '>' || c == '&') return escape_xml(out, c);
  if (c < 0x80 && c != 0 && strchr("\\`*_[]!|~@^$", (int)c) != NULL) {
    iso_out_printf(out, "\\%c", (char)c);
    return true;
  }
  return escape_terminal(out, c);
}

/* Whether the text would begin a heading or a list. */
static bool begins_block(const char *text) {
  if (text[0] != 0 && strchr("#+-=:", text[0]) != NULL) return true;
  size_t digits = strspn(text, "0123456789");
  return digits > 0 && (text[digits] == '.' || text[digits] == ')');
}

/* The next place that would become a link by itself: "://" or "www." */
static size_t before_link(const char *text) {
  const char *scheme = strstr(text, "://"), *www = strstr(text, "www.");
  size_t length = strlen(text);
  if (scheme != NULL) length = (size_t)(scheme - text);
  if (www != NULL && (size_t)(www - text) + 3 < length) length = (size_t)(www - text) + 3;
  return length;
}

void iso_put_markdown(iso_output *out, const char *text) {
  if (begins_block(text)) iso_out_printf(out, "&#%u;", (unsigned)(unsigned char)*text++);
  for (;;) {
    size_t run = before_link(text);
    put_escaped(out, text, run, escape_markdown);
    text += run;
    if (*text == 0) return;
    iso_out_printf(out, "\\%c", *text++);
  }
}

static bool escape_github(iso_output *out, uint32_t c) {
  if (c == '%' || c == '\r' || c == '\n') {
    iso_out_printf(out, "%%%02X", (unsigned)c);
    return true;
  }
  return escape_terminal(out, c);
}

static bool escape_github_property(iso_output *out, uint32_t c) {
  if (c == ':' || c == ',') {
    iso_out_printf(out, "%%%02X", (unsigned)c);
    return true;
  }
  return escape_github(out, c);
}

void iso_put_github(iso_output *out, const char *text) { put_escaped(out, text, strlen(text), escape_github); }
void iso_put_github_property(iso_output *out, const char *text) {
  put_escaped(out, text, strlen(text), escape_github_property);
}

void iso_put_uri(iso_output *out, const char *path) {
  if (path[0] == '/') iso_out_text(out, "file://");
  while (path[0] == '.' && path[1] == '/') path += 2;
  for (; *path != 0; path++) {
    unsigned char c = (unsigned char)*path;
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 (c < 0x80 && strchr("/-._~", c) != NULL);
    if (plain)
      iso_out_char(out, (char)c);
    else
      iso_out_printf(out, "%%%02X", c);
  }
}

/* ---- widths ---- */

/* Blocks whose characters are two columns wide, and marks that take none. */
static size_t columns_of(uint32_t c) {
  if (c < 0x300) return 1;
  if (c <= 0x36f || (c >= 0x200b && c <= 0x200f) || (c >= 0xfe00 && c <= 0xfe0f)) return 0;
  bool wide = (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) || (c >= 0xac00 && c <= 0xd7a3) ||
              (c >= 0xf900 && c <= 0xfaff) || (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
              (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd);
  return wide ? 2 : 1;
}

size_t iso_cut_text(const char *text, size_t columns, bool *cut) {
  size_t length = strlen(text), used = 0, before_last = 0, at = 0;
  *cut = false;
  while (at < length) {
    size_t step = iso_utf8_step(text + at, length - at);
    size_t width = step == 0 ? 1 : columns_of(decode(text + at, step));
    if (step == 0) step = 1;
    if (used + width > columns) {
      *cut = true;
      return before_last;
    }
    used += width;
    at += step;
    if (used + 1 <= columns) before_last = at;
  }
  return length;
}

size_t iso_text_columns_n(const char *text, size_t length) {
  size_t used = 0;
  for (size_t at = 0; at < length;) {
    size_t step = iso_utf8_step(text + at, length - at);
    used += step == 0 ? 1 : columns_of(decode(text + at, step));
    at += step == 0 ? 1 : step;
  }
  return used;
}

size_t iso_text_columns(const char *text) { return iso_text_columns_n(text, strlen(text)); }
