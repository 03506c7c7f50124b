/* The page of a run in progress: what is known from its header, and places for what changes. */
#include "serve/live_page.h"

#include <unistd.h>

#include "report/escape.h"
#include "serve/folder.h"
#include "serve/html.h"
#include "serve/run.h"

/* What changes: id of its place, name. */
#define FIGURES(X)                                                                                                     \
  X("time", "running for")                                                                                             \
  X("committed", "committed")                                                                                          \
  X("aborted", "not committed")                                                                                        \
  X("throughput", "throughput")                                                                                        \
  X("latency", "latency")                                                                                              \
  X("sessions", "sessions")                                                                                            \
  X("fault", "fault")                                                                                                  \
  X("judged", "judged")                                                                                                \
  X("behind", "checker is behind")                                                                                     \
  X("memory", "memory of the checker")

/* What does not: fact of the header, name. */
#define FACTS(X)                                                                                                       \
  X("database", "database")                                                                                            \
  X("isolation", "isolation")                                                                                          \
  X("workload", "workload")                                                                                            \
  X("claims", "documented level")

bool iso_live_page_exists(int root, const char *const *parts, uint32_t count) {
  const char *names[ISO_RUN_PARTS + 1];
  if (count > ISO_RUN_PARTS) return false;
  for (uint32_t i = 0; i < count; i++) names[i] = parts[i];
  names[count] = "live.json";
  int file = iso_folder_open(root, names, count + 1, false);
  if (file >= 0) close(file);
  return file >= 0;
}

static void put_fact(iso_output *out, const isoproof_document *document, const char *fact, const char *name) {
  const char *value = document != NULL ? iso_figure_fact(document, fact) : "";
  if (value[0] == 0) return;
  iso_out_printf(out, "<tr><th scope=\"row\">%s</th><td>", name);
  iso_put_xml(out, value);
  iso_out_text(out, "</td></tr>\n");
}

static void put_chart(iso_output *out, const char *id, const char *name) {
  iso_out_printf(out,
                 "<h2>%s</h2>\n<svg id=\"%s\" class=\"chart\" viewBox=\"0 0 600 90\" preserveAspectRatio=\"none\" "
                 "role=\"img\"></svg>\n<p class=\"small\" id=\"%s-most\"></p>\n",
                 name, id, id);
}

void iso_live_page_put(iso_output *out, int root, const char *const *parts, uint32_t count) {
  char name[600];
  isoproof_document *document = iso_run_open_unfinished(root, parts, count);
  iso_html_run_name(parts, count, name, sizeof name);
  iso_html_begin(out, "A run in progress");
  iso_out_text(out, "<p class=\"quiet\"><a href=\"/\">All runs</a> \xc2\xb7 ");
  iso_put_xml(out, name);
  iso_out_text(out, "</p>\n<p><span class=\"chip\" id=\"verdict\" role=\"status\">looking</span> "
                    "<span class=\"small\" id=\"levels\"></span></p>\n<p id=\"violation\"></p>\n"
                    "<p class=\"hint\" id=\"news\" role=\"status\"></p>\n<div class=\"scroll live\"><table><tbody>\n");
#define ISO_X(id, text) iso_out_text(out, "<tr><th scope=\"row\">" text "</th><td id=\"" id "\"></td></tr>\n");
  FIGURES(ISO_X)
#undef ISO_X
#define ISO_X(fact, text) put_fact(out, document, fact, text);
  FACTS(ISO_X)
#undef ISO_X
  iso_out_text(out, "</tbody></table></div>\n");
  put_chart(out, "rate-chart", "Throughput");
  put_chart(out, "lag-chart", "Lag of the checker");
  iso_out_text(out, "<noscript><p>This page needs JavaScript to show how the run goes.</p></noscript>\n"
                    "<script src=\"/live.js\"></script>\n");
  iso_html_end(out);
  isoproof_document_free(document);
}
