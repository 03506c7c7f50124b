/* escape.h - text of unknown origin in outputs that would give it a meaning: the one place where it loses it.
 *
 * Nothing here owns anything.  Every function takes any bytes: what is no UTF-8 becomes U+FFFD.
 */
#ifndef ISO_REPORT_ESCAPE_H
#define ISO_REPORT_ESCAPE_H

#include "base/output.h"

/* Text and attribute values (in double or single quotes) of HTML and XML; what XML forbids becomes U+FFFD, newlines and
 * tabs stay. */
void iso_put_xml(iso_output *out, const char *text);
void iso_put_xml_n(iso_output *out, const char *text, size_t length);
/* A string of DOT with its quotes, in which nothing is an escape of Graphviz but the line breaks that `left` ends its
 * lines with. */
void iso_put_dot(iso_output *out, const char *text);
/* The inside of such a string. */
void iso_put_dot_inner(iso_output *out, const char *text);
/* One line on a terminal: control characters, and those that turn the direction of text, become \xNN or \u{N}. */
void iso_put_terminal(iso_output *out, const char *text);
void iso_put_terminal_n(iso_output *out, const char *text, size_t length);
/* The same for text of the library's own making, which a saved result may have replaced: control characters only. */
void iso_put_sentence(iso_output *out, const char *text);
void iso_put_sentence_n(iso_output *out, const char *text, size_t length);
/* One line of Markdown in which nothing is markup. */
void iso_put_markdown(iso_output *out, const char *text);
/* The message, and a property, of a workflow command of GitHub. */
void iso_put_github(iso_output *out, const char *text);
void iso_put_github_property(iso_output *out, const char *text);
/* A path as a reference to a URI (RFC 3986): file: where it is absolute, else relative. */
void iso_put_uri(iso_output *out, const char *path);

/* At most `columns` characters of the text, then an ellipsis: how many bytes of it to show, and whether it was cut. */
size_t iso_cut_text(const char *text, size_t columns, bool *cut);
/* How many columns of a fixed-width font the text takes: wide characters take two. */
size_t iso_text_columns(const char *text);
size_t iso_text_columns_n(const char *text, size_t length);

#endif
