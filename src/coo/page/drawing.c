/* drawing.c - the counterexample of a small history as a picture within the page. */
#include <isoproof/report.h>

#include "coo/page/page.h"

/* Bytes that may stand in the address of a picture as they are; all others are written by their numbers. */
static bool is_plain(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '/' || c == ':' || c == ';' || c == ',' || c == '=' || c == '(' || c == ')';
}

static bool put_bytes(void *user, const void *data, size_t size) {
  iso_output *out = user;
  const unsigned char *bytes = data;
  for (size_t i = 0; i < size; i++) {
    if (is_plain(bytes[i]))
      iso_out_printf(out, "%c", bytes[i]);
    else
      iso_out_printf(out, "%%%02X", bytes[i]);
  }
  return !iso_output_failed(out);
}

void iso_coo_page_drawing(iso_output *out, const char *history, size_t length, const char *level) {
  isoproof_open_options own = {.struct_size = sizeof own, .format = "jsonl"};
  isoproof_check_options how = {.struct_size = sizeof how, .levels = &level, .level_count = 1};
  isoproof_document_options what = {.struct_size = sizeof what, .file = "outcome"};
  isoproof_history *opened = NULL;
  isoproof_result *result = NULL;
  isoproof_document *document = NULL;
  /* Who has no memory for a picture has the steps and the words. */
  isoproof_status status = isoproof_history_open_memory(history, length, "outcome", &own, NULL, &opened, NULL);
  if (status == ISOPROOF_OK) status = isoproof_check(opened, &how, NULL, &result, NULL);
  if (status == ISOPROOF_OK) status = isoproof_document_make(opened, result, &what, &document, NULL);
  if (status == ISOPROOF_OK && isoproof_document_anomaly_at(document, 0) != NULL) {
    iso_out_text(out, "<p><img alt=\"The cycle, as it is told above\" style=\"max-width:100%;height:auto\" "
                      "src=\"data:image/svg+xml,");
    (void)isoproof_document_write_svg(document, NULL, put_bytes, out, NULL);
    iso_out_text(
        out, "\"></p>\n<p class=\"part-note\">s1t0 is transaction 1, s1t1 what its session reads in the end.</p>\n");
  }
  isoproof_document_free(document);
  isoproof_result_free(result);
  isoproof_history_free(opened);
}
