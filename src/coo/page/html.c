/* html.c - the frame of the page, and what its parts share. */
#include <string.h>

#include "coo/page/page.h"
#include "report/escape.h"

/* Where the data go: the page has exactly one such place, which the build makes sure of. */
static size_t find_place(size_t *after) {
  static const char marker[] = "<!--isoproof:data-->";
  const char *found = memmem(iso_coo_page, iso_coo_page_size, marker, sizeof marker - 1);
  size_t place = found != NULL ? (size_t)(found - (const char *)iso_coo_page) : iso_coo_page_size;
  *after = found != NULL ? place + sizeof marker - 1 : iso_coo_page_size;
  return place;
}

isoproof_status iso_coo_page_begin(isoproof_write_fn write, void *user, iso_output **out, isoproof_error *error) {
  size_t after;
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, out, error));
  iso_out_bytes(*out, iso_coo_page, find_place(&after));
  return ISOPROOF_OK;
}

isoproof_status iso_coo_page_end(iso_output *out, isoproof_error *error) {
  size_t after;
  (void)find_place(&after);
  iso_out_bytes(out, iso_coo_page + after, iso_coo_page_size - after);
  return iso_output_close(out, error);
}

void iso_coo_page_mark(iso_output *out, const isoproof_coo_cell *cell, const char *story) {
  char letter = isoproof_coo_result_letter(cell->result);
  if (cell->runs == 0) {
    iso_out_text(out, "<span class=\"mark mark-none\" title=\"not run\">-</span>");
    return;
  }
  bool unexpected = cell->unexpected > 0;
  iso_out_text(out, story != NULL ? "<a class=\"mark " : "<span class=\"mark ");
  if (unexpected)
    iso_out_text(out, "mark-unexpected");
  else
    iso_out_printf(out, "mark-%c", letter);
  iso_out_printf(out, "\" title=\"%s%s\"", isoproof_coo_result_name(cell->result), unexpected ? ", unexpected" : "");
  if (story != NULL) iso_out_printf(out, " href=\"#%s\"", story);
  iso_out_printf(out, ">%c", letter);
  for (int i = 0; i < ISOPROOF_COO_RESULTS; i++) {
    if ((isoproof_coo_result)i != cell->result && cell->counts[i] > 0)
      iso_out_printf(out, "/%c", isoproof_coo_result_letter((isoproof_coo_result)i));
  }
  if (cell->broken) iso_out_text(out, "!");
  if (unexpected) iso_out_text(out, "*<span class=\"visually-hidden\"> unexpected</span>");
  iso_out_text(out, story != NULL ? "</a>" : "</span>");
}

static void put_level(iso_output *out, const isoproof_coo_matrix *matrix, size_t level,
                      const isoproof_coo_summary *summary) {
  char sentence[512], name[ISOPROOF_COO_SHORT_BYTES];
  const char *title = isoproof_coo_matrix_level_at(matrix, level);
  isoproof_coo_matrix_level_short(matrix, level, name);
  isoproof_coo_matrix_sentence_at(matrix, level, sentence, sizeof sentence);
  iso_out_printf(out, "<li class=\"%s\"><span class=\"short\">",
                 summary->unexpected > 0     ? "is-broken"
                 : summary->expected != NULL ? "is-kept"
                                             : "is-free");
  iso_put_xml(out, name);
  iso_out_text(out, "</span><span class=\"level-title\">");
  iso_put_xml(out, title);
  iso_out_text(out, "</span><span class=\"says\">");
  iso_put_xml(out, sentence);
  iso_out_text(out, ".</span>");
  if (summary->note[0] != 0) {
    iso_out_text(out, "<span class=\"note\">");
    iso_put_xml(out, summary->note);
    iso_out_text(out, "</span>");
  }
  iso_out_text(out, "</li>\n");
}

void iso_coo_page_levels(iso_output *out, const isoproof_coo_matrix *matrix) {
  isoproof_coo_summary summary = {.struct_size = sizeof summary};
  iso_out_text(out, "<ul class=\"levels-list\">\n");
  for (size_t i = 0; isoproof_coo_matrix_summary_at(matrix, i, &summary); i++) put_level(out, matrix, i, &summary);
  iso_out_text(out, "</ul>\n");
}

void iso_coo_page_legend(iso_output *out) {
  iso_out_text(out, "<ul class=\"legend\">\n");
  for (int i = 0; i < ISOPROOF_COO_RESULTS; i++) {
    char letter = isoproof_coo_result_letter((isoproof_coo_result)i);
    iso_out_printf(out, "<li><span class=\"mark mark-%c\">%c</span> %s</li>\n", letter, letter,
                   isoproof_coo_result_meaning((isoproof_coo_result)i));
  }
  iso_out_text(out,
               "<li><span class=\"mark mark-unexpected\">A*</span> the level that is expected forbids it</li>\n"
               "<li><span class=\"mark\">!</span> after a rollback, what committed is an anomaly all the same</li>\n"
               "</ul>\n");
}
