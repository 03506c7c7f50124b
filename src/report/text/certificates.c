/* What proves a satisfied level, and what the search for it took, in words. */
#include "report/text/certificates.h"

#include <stdio.h>
#include <string.h>

#include "report/escape.h"

/* Events, as many per line as fit. */
static void put_order(iso_output *out, const isoproof_document *document, const iso_document_certificate *certificate) {
  enum { WIDTH = 78, INDENT = 4 };
  iso_certificate_cursor cursor = {.history = document->history, .certificate = certificate};
  size_t column = 0;
  for (const char *name; !iso_output_failed(out) && (name = iso_certificate_next(&cursor)) != NULL;) {
    size_t length = strlen(name);
    if (column > 0 && column + 1 + length > WIDTH) {
      iso_out_char(out, '\n');
      column = 0;
    }
    iso_out_text(out, column == 0 ? "    " : " ");
    column += (column == 0 ? INDENT : 1) + length;
    iso_put_sentence_n(out, name, length);
  }
  iso_out_text(out, certificate->count > 0 ? "\n" : "    (no transaction took effect)\n");
}

/* Whether the order tells the begin of a transaction from its commit. */
static bool has_begins(const isoproof_document *document, const iso_document_certificate *certificate) {
  iso_certificate_cursor cursor = {.history = document->history, .certificate = certificate};
  const char *first = iso_certificate_next(&cursor);
  return first != NULL && strchr(first, ':') != NULL;
}

static const char *nature_of(const isoproof_document *document, const iso_document_certificate *certificate) {
  if (has_begins(document, certificate)) return "begins (which take a snapshot) and commits, one after the other";
  const isoproof_level_info *serial = isoproof_level_find_in("PL-3", ISOPROOF_LEVEL_MODEL);
  const isoproof_level_info *level = isoproof_level_find(certificate->level);
  bool runs = serial != NULL && level != NULL && isoproof_level_implies(level, serial);
  return runs ? "transactions, one after the other" : "transactions, as they commit";
}

void iso_put_certificates_text(iso_output *out, const isoproof_document *document) {
  if (!document->has_certificates) return;
  for (size_t i = 0; i < document->certificates.count; i++) {
    const iso_document_certificate *certificate = &document->certificates.items[i];
    iso_out_text(out, "\n  certificate of ");
    iso_put_sentence(out, certificate->level);
    iso_out_printf(out, "\n    %s:\n", nature_of(document, certificate));
    put_order(out, document, certificate);
  }
  if (document->certificates.count > 0) return;
  const char *why = document->uncertified != NULL ? document->uncertified : "no satisfied level has one";
  iso_out_text(out, "\n  no certificate: ");
  iso_put_sentence(out, why);
  iso_out_char(out, '\n');
}

static void put_figure(iso_output *out, const iso_document_figure *figure) {
  char label[96];
  snprintf(label, sizeof label, "%s%s%s", figure->is_time ? figure->name : "", figure->is_time ? ": " : "",
           figure->meaning);
  iso_out_text(out, "    ");
  iso_put_sentence(out, label);
  for (size_t i = strlen(label); i < 60; i++) iso_out_char(out, ' ');
  iso_out_char(out, ' ');
  if (figure->is_time)
    iso_out_printf(out, "%.6f s\n", figure->seconds);
  else if (figure->known)
    iso_out_printf(out, "%llu\n", (unsigned long long)figure->count);
  else
    iso_out_text(out, "not counted\n");
}

void iso_put_searches_text(iso_output *out, const isoproof_document *document) {
  if (!document->has_searches) return;
  for (size_t i = 0; i < document->searches.count; i++) {
    const iso_document_search *search = &document->searches.items[i];
    iso_out_text(out, "\n  search for ");
    iso_put_sentence(out, search->level);
    iso_out_char(out, '\n');
    for (size_t k = 0; k < search->figures.count; k++) put_figure(out, &search->figures.items[k]);
  }
  if (document->searches.count == 0) iso_out_text(out, "\n  no level was searched for\n");
}
