/* Head, links and figures of the pages that list and compare runs. */
#include "serve/html.h"

#include <stdio.h>
#include <string.h>

#include "report/document/assessment.h"
#include "report/escape.h"

void iso_html_begin(iso_output *out, const char *title) {
  iso_out_text(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>isoproof: ");
  iso_put_xml(out, title);
  iso_out_text(out, "</title>\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                    "<meta name=\"color-scheme\" content=\"light dark\">\n<style>\n");
  iso_out_bytes(out, iso_serve_style, iso_serve_style_size);
  iso_out_text(out, "</style></head><body><main><h1>");
  iso_put_xml(out, title);
  iso_out_text(out, "</h1>\n");
}

void iso_html_end(iso_output *out) { iso_out_text(out, "</main></body></html>\n"); }

/* ---- links ---- */

/* A name in a path of a URL: everything but the usual is encoded. */
static void put_part(iso_output *out, const char *name) {
  for (; *name != 0; name++) {
    const char one[2] = {*name, 0};
    /* A slash within a name does not exist, but would lead elsewhere. */
    iso_put_uri(out, *name != '/' ? one : "");
  }
}

void iso_html_path(iso_output *out, const char *const *parts, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    put_part(out, parts[i]);
    iso_out_char(out, '/');
  }
}

void iso_html_link(iso_output *out, const char *const *parts, uint32_t count, const char *file, const char *text) {
  iso_out_text(out, "<a href=\"/run/");
  iso_html_path(out, parts, count);
  iso_out_printf(out, "%s\">", file);
  iso_put_xml(out, text);
  iso_out_text(out, "</a>");
}

void iso_html_run_name(const char *const *parts, uint32_t count, char *name, size_t size) {
  snprintf(name, size, "%.255s%s%.255s", count > 0 ? parts[0] : "this folder", count > 1 ? "/" : "",
           count > 1 ? parts[1] : "");
}

/* ---- figures ---- */

void iso_figure_count(uint64_t count, char text[ISO_FIGURE]) {
  char digits[24];
  size_t length = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)count), at = 0;
  for (size_t i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0) text[at++] = ',';
    text[at++] = digits[i];
  }
  text[at] = 0;
}

void iso_figure_duration(const isoproof_document *document, char text[ISO_FIGURE]) {
  double seconds = ((double)document->last_end - (double)document->first_start) * 1e-9;
  text[0] = 0;
  if (!document->has_times) return;
  if (seconds >= 60)
    snprintf(text, ISO_FIGURE, "%.0f min %.0f s", (double)(uint64_t)(seconds / 60),
             seconds - 60.0 * (double)(uint64_t)(seconds / 60));
  else if (seconds >= 0.1)
    snprintf(text, ISO_FIGURE, "%.1f s", seconds);
  else
    snprintf(text, ISO_FIGURE, "%.3g ms", seconds * 1e3);
}

static void add_name(char text[ISO_FIGURE], size_t *used, const char *name) {
  if (*used >= ISO_FIGURE - 1) return;
  int length = snprintf(text + *used, ISO_FIGURE - *used, "%s%s", *used > 0 ? ", " : "", iso_level_everyday(name));
  if (length > 0) *used += (size_t)length;
}

void iso_figure_names(const isoproof_document *document, const char *(*next)(const isoproof_document *, size_t),
                      char text[ISO_FIGURE]) {
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; next(document, i) != NULL; i++) add_name(text, &used, next(document, i));
}

void iso_figure_asked(const isoproof_document *document, char text[ISO_FIGURE]) {
  isoproof_level_verdict level = {.struct_size = sizeof level};
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; isoproof_document_level(document, i, &level); i++) {
    if (level.asked) add_name(text, &used, level.level);
  }
}

void iso_figure_started(const isoproof_document *document, char text[ISO_FIGURE]) {
  const char *started = iso_figure_fact(document, "started");
  snprintf(text, ISO_FIGURE, "%.40s", started);
  /* "2026-11-15T19:42:10Z": the letters are for machines. */
  if (strlen(text) == 20 && text[10] == 'T' && text[19] == 'Z') {
    text[10] = ' ';
    text[19] = 0;
  }
}

const char *iso_figure_fact(const isoproof_document *document, const char *name) {
  const char *value = isoproof_document_fact_of(document, name);
  return value != NULL ? value : "";
}
