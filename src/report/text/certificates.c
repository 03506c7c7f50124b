/* What proves a satisfied level, and what the search for it took, in words. */
#include "report/text/certificates.h"

#include <stdio.h>
#include <string.h>

#include "report/escape.h"
#include "report/text/wrap.h"

/* Events, as many per line as fit. */
static void put_order(iso_output *out, const isoproof_document *document, const iso_document_certificate *certificate,
                      size_t room) {
  iso_certificate_cursor cursor = {.history = document->history, .certificate = certificate};
  iso_wrap wrap = {.out = out, .room = room, .indent = 4};
  for (const char *name; !iso_output_failed(out) && (name = iso_certificate_next(&cursor)) != NULL;)
    iso_wrap_word(&wrap, name, "");
  if (certificate->count == 0) iso_out_text(out, "    (no transaction took effect)");
  iso_wrap_end(&wrap);
}

/* Who read what of whom, as many per line as fit. */
static void put_observed(iso_output *out, const iso_document_certificate *certificate, size_t room) {
  iso_wrap wrap = {.out = out, .room = room, .indent = 4};
  if (certificate->observed.count == 0) return;
  iso_out_text(out, "    of reads whose value several writes wrote, the one observed:\n");
  for (size_t i = 0; i < certificate->observed.count && !iso_output_failed(out); i++) {
    const iso_full_edge *edge = &certificate->observed.items[i];
    char key[64], text[256];
    isoproof_scalar_format(edge->key, key, sizeof key);
    snprintf(text, sizeof text, "%s reads key %s from %s", edge->to, key, edge->from);
    iso_wrap_word(&wrap, text, i + 1 < certificate->observed.count ? "," : "");
  }
  iso_wrap_end(&wrap);
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

void iso_put_certificates_text(iso_output *out, const isoproof_document *document, size_t room) {
  if (!document->has_certificates) return;
  for (size_t i = 0; i < document->certificates.count; i++) {
    const iso_document_certificate *certificate = &document->certificates.items[i];
    iso_out_text(out, "\n  certificate of ");
    iso_put_sentence(out, certificate->level);
    iso_out_printf(out, "\n    %s:\n", nature_of(document, certificate));
    put_order(out, document, certificate, room);
    put_observed(out, certificate, room);
  }
  if (document->certificates.count > 0) return;
  const char *why = document->uncertified != NULL ? document->uncertified : "no satisfied level has one";
  iso_out_text(out, "\n  no certificate: ");
  iso_put_sentence(out, why);
  iso_out_char(out, '\n');
}

static void put_figure(iso_output *out, const iso_document_figure *figure, size_t room) {
  enum { FIGURES = 64, BROAD = 14 }; /* the column of the figures, and their width */
  size_t column = room < FIGURES + BROAD ? room - BROAD : FIGURES;
  iso_wrap wrap = {.out = out, .room = column, .indent = 4};
  char label[96];
  snprintf(label, sizeof label, "%s%s%s", figure->is_time ? figure->name : "", figure->is_time ? ": " : "",
           figure->meaning);
  iso_wrap_words(&wrap, label);
  for (; wrap.column < column; wrap.column++) iso_out_char(out, ' ');
  iso_out_char(out, ' ');
  if (figure->is_time)
    iso_out_printf(out, "%.6f s\n", figure->seconds);
  else if (figure->known)
    iso_out_printf(out, "%llu\n", (unsigned long long)figure->count);
  else
    iso_out_text(out, "not counted\n");
}

void iso_put_searches_text(iso_output *out, const isoproof_document *document, size_t room) {
  if (!document->has_searches) return;
  for (size_t i = 0; i < document->searches.count; i++) {
    const iso_document_search *search = &document->searches.items[i];
    iso_out_text(out, "\n  search for ");
    iso_put_sentence(out, search->level);
    iso_out_char(out, '\n');
    for (size_t k = 0; k < search->figures.count; k++) put_figure(out, &search->figures.items[k], room);
  }
  if (document->searches.count == 0) iso_out_text(out, "\n  no level was searched for\n");
}
