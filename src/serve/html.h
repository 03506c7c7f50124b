/* html.h - what the list of runs and the comparison of two share: their head, links, and figures.  Owns nothing. */
#ifndef ISO_SERVE_HTML_H
#define ISO_SERVE_HTML_H

#include "base/output.h"
#include "report/document/document.h"
#include "serve/folder.h"

/* Style and script of web/, as the build found them.  Constants. */
extern const unsigned char iso_serve_style[], iso_serve_script[];
extern const size_t iso_serve_style_size, iso_serve_script_size;
extern const unsigned char iso_live_script[];
extern const size_t iso_live_script_size;

/* Everything up to the title of a page, which is a heading, too; and its end. */
void iso_html_begin(iso_output *out, const char *title);
void iso_html_end(iso_output *out);

/* "a/b/", encoded for the path of a URL. */
void iso_html_path(iso_output *out, const char *const *parts, uint32_t count);
/* A link to a file of a run; "" is its page. */
void iso_html_link(iso_output *out, const char *const *parts, uint32_t count, const char *file, const char *text);
/* "folder", "folder/round-1", or "this folder". */
void iso_html_run_name(const char *const *parts, uint32_t count, char *name, size_t size);

/* ---- figures, as text ---- */

enum { ISO_FIGURE = 1200 };

/* "1,234,567" */
void iso_figure_count(uint64_t count, char text[ISO_FIGURE]);
/* "4.0 s" from the first start to the last end; "" where unknown. */
void iso_figure_duration(const isoproof_document *document, char text[ISO_FIGURE]);
/* Names with commas between. */
void iso_figure_names(const isoproof_document *document, const char *(*next)(const isoproof_document *, size_t),
                      char text[ISO_FIGURE]);
/* The levels that were asked for. */
void iso_figure_asked(const isoproof_document *document, char text[ISO_FIGURE]);
/* "2026-11-15 19:42:10", when the run began; "" where it does not say. */
void iso_figure_started(const isoproof_document *document, char text[ISO_FIGURE]);
/* The value of a fact, "" where there is none. */
const char *iso_figure_fact(const isoproof_document *document, const char *name);

#endif
