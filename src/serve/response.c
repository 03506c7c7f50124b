/* Responses: the list of runs, the page or drawing of one, its result, and errors, each complete before it is sent. */
#include "serve/response.h"

#include <isoproof/report.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/document/assessment.h"
#include "report/escape.h"
#include "serve/folder.h"

enum { MOST_RESULT = 64 << 20, MOST_LISTED = 8 << 20, MOST_BODY = 256 << 20 };

static const struct reason {
  int status;
  const char *text;
} reasons[] = {{200, "OK"},
               {400, "Bad Request"},
               {403, "Forbidden"},
               {404, "Not Found"},
               {405, "Method Not Allowed"},
               {408, "Request Timeout"},
               {414, "URI Too Long"},
               {431, "Request Header Fields Too Large"},
               {500, "Internal Server Error"},
               {503, "Service Unavailable"},
               {505, "HTTP Version Not Supported"}};

static const char *reason_of(int status) {
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
    if (reasons[i].status == status) return reasons[i].text;
  }
  return "Error";
}

static bool keep(void *user, const void *data, size_t size) {
  iso_response *r = user;
  if (size > MOST_BODY - r->body.count || !iso_vec_reserve(&r->body, size)) return false;
  if (size > 0) memcpy(r->body.items + r->body.count, data, size);
  r->body.count += size;
  return true;
}

static void say(iso_response *r, int status) {
  char text[128];
  r->body.count = 0;
  r->status = status;
  r->type = "text/plain; charset=utf-8";
  r->scripts = false;
  int length = snprintf(text, sizeof text, "%d %s\n", status, reason_of(status));
  (void)keep(r, text, length > 0 ? (size_t)length : 0);
}

/* ---- one run ---- */

/* The first document of a run; NULL when there is none that can be read.  With `history`, what the run recorded is read
 * too, if it is there. */
static isoproof_document *open_run(int root, const char *const *parts, uint32_t count, bool history, size_t most) {
  const char *names[ISO_RUN_PARTS + 1];
  isoproof_document_reader *reader = NULL;
  isoproof_document *document = NULL;
  char *bytes = NULL, path[64];
  size_t size = 0;
  if (count > ISO_RUN_PARTS) return NULL;
  for (uint32_t i = 0; i < count; i++) names[i] = parts[i];
  names[count] = "result.json";
  int file = iso_folder_open(root, names, count + 1, false), recorded = -1;
  if (file >= 0) bytes = iso_folder_read(file, most, &size);
  names[count] = "history.jsonl";
  if (bytes != NULL && history) recorded = iso_folder_open(root, names, count + 1, false);
  /* The result may name any file: only the one that was opened here is read. */
  snprintf(path, sizeof path, "/proc/self/fd/%d", recorded);
  isoproof_document_read_options how = {.struct_size = sizeof how,
                                        .no_history = recorded < 0,
                                        .history = recorded >= 0 ? path : NULL,
                                        .only_beside = true};
  if (bytes != NULL &&
      isoproof_document_reader_open_memory(bytes, size, "result.json", &how, NULL, &reader, NULL) == ISOPROOF_OK) {
    if (isoproof_document_reader_next(reader, &document, NULL) != ISOPROOF_OK) document = NULL;
  }
  isoproof_document_reader_free(reader);
  free(bytes);
  if (recorded >= 0) close(recorded);
  if (file >= 0) close(file);
  return document;
}

static void respond_page(iso_response *r, int root, const char *const *parts, uint32_t count, bool drawing) {
  isoproof_document *document = open_run(root, parts, count, !drawing, MOST_RESULT);
  if (document == NULL) {
    say(r, 404);
    return;
  }
  r->type = drawing ? "image/svg+xml" : "text/html; charset=utf-8";
  r->scripts = !drawing;
  isoproof_status status = drawing ? isoproof_document_write_svg(document, NULL, keep, r, NULL)
                                   : isoproof_document_write_html(document, NULL, keep, r, NULL);
  isoproof_document_free(document);
  if (status != ISOPROOF_OK) say(r, 500);
}

static void respond_result(iso_response *r, int root, const char *const *parts, uint32_t count) {
  size_t size = 0;
  int file = iso_folder_open(root, parts, count, false);
  char *bytes = file >= 0 ? iso_folder_read(file, MOST_RESULT, &size) : NULL;
  if (file >= 0) close(file);
  if (bytes == NULL || !keep(r, bytes, size))
    say(r, bytes == NULL ? 404 : 500);
  else
    r->type = "application/json";
  free(bytes);
}

/* ---- the list ---- */

/* A name in a path of a URL: everything but the usual is encoded. */
static void put_part(iso_output *out, const char *name) {
  for (; *name != 0; name++) {
    const char one[2] = {*name, 0};
    /* A slash within a name does not exist, but would lead elsewhere. */
    iso_put_uri(out, *name != '/' ? one : "");
  }
}

static void put_link(iso_output *out, const iso_past_run *run, const char *file, const char *text) {
  iso_out_text(out, "<a href=\"/run/");
  for (uint32_t i = 0; i < run->part_count; i++) {
    put_part(out, run->parts[i]);
    iso_out_char(out, '/');
  }
  iso_out_printf(out, "%s\">", file);
  iso_put_xml(out, text);
  iso_out_text(out, "</a>");
}

static void put_fact(iso_output *out, const isoproof_document *document, const char *name) {
  const char *value = isoproof_document_fact_of(document, name);
  iso_out_text(out, "<td>");
  if (value != NULL) iso_put_xml(out, value);
  iso_out_text(out, "</td>");
}

static void put_run(iso_output *out, int root, const iso_past_run *run) {
  char name[600];
  snprintf(name, sizeof name, "%.255s%s%.255s", run->part_count > 0 ? run->parts[0] : "this folder",
           run->part_count > 1 ? "/" : "", run->part_count > 1 ? run->parts[1] : "");
  isoproof_document *document = open_run(root, (const char *const *)run->parts, run->part_count, false, MOST_LISTED);
  iso_out_text(out, "<tr><td>");
  put_link(out, run, "", name);
  if (document == NULL) {
    iso_out_text(out, "</td><td>not readable here</td><td></td><td></td><td></td><td></td><td></td></tr>\n");
    return;
  }
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_document_counts(document, &counts);
  const char *verdict = iso_overall_verdict_name(document);
  iso_out_printf(out, "</td><td class=\"%s\">%s</td>", verdict, verdict);
  put_fact(out, document, "database");
  put_fact(out, document, "isolation");
  iso_out_printf(out, "<td class=\"number\">%llu</td><td>", (unsigned long long)counts.transactions);
  const isoproof_document_anomaly *first = isoproof_document_anomaly_at(document, 0);
  if (first != NULL) iso_put_heading(out, iso_put_xml, first);
  iso_out_text(out, "</td><td>");
  put_link(out, run, "result.json", "JSON");
  if (first != NULL) {
    iso_out_text(out, ", ");
    put_link(out, run, "counterexample.svg", "drawing");
  }
  iso_out_text(out, "</td></tr>\n");
  isoproof_document_free(document);
}

static const char list_head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>isoproof: past runs</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<style>\n"
    ":root{color-scheme:light dark;--back:#fff;--text:#1b2130;--quiet:#5c6475;--line:#dfe3ea;--good:#17713a;"
    "--bad:#c4262e;--warn:#946200;--link:#1d63d1}\n"
    "@media(prefers-color-scheme:dark){:root{--back:#12151c;--text:#e6e9f0;--quiet:#9aa3b2;--line:#2c3342;"
    "--good:#5fd08a;--bad:#ff7b80;--warn:#f0b840;--link:#6ea8ff}}\n"
    "body{margin:0 auto;max-width:72rem;padding:2rem 1rem;background:var(--back);color:var(--text);"
    "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif}\n"
    "h1{font-size:1.5rem}a{color:var(--link)}.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}\n"
    "th,td{text-align:left;padding:.45rem .8rem .45rem 0;border-bottom:1px solid var(--line);vertical-align:top}\n"
    "td:first-child{white-space:nowrap}th{color:var(--quiet);font-weight:600}.number{text-align:right;font-variant-"
    "numeric:tabular-nums}\n"
    ".satisfied{color:var(--good)}.violated,.error{color:var(--bad);font-weight:600}.unknown{color:var(--warn)}\n"
    "</style></head><body><main><h1>Past runs</h1>\n";

static void respond_list(iso_response *r, int root) {
  iso_past_runs runs;
  iso_output *out;
  if (!iso_runs_find(root, &runs)) {
    say(r, 500);
    return;
  }
  if (iso_output_open_callback(keep, r, ISOPROOF_COMPRESS_NO, &out, NULL) != ISOPROOF_OK) {
    iso_runs_free(&runs);
    say(r, 500);
    return;
  }
  iso_out_text(out, list_head);
  if (runs.list.count == 0) {
    iso_out_text(out, "<p>There is no result.json here yet: <code>isoproof test</code> makes one.</p>\n");
  } else {
    iso_out_text(out, "<div class=\"scroll\"><table><thead><tr><th>run</th><th>verdict</th><th>database</th>"
                      "<th>isolation</th><th class=\"number\">transactions</th><th>anomaly</th><th>files</th></tr>"
                      "</thead><tbody>\n");
    for (size_t i = 0; i < runs.list.count; i++) put_run(out, root, &runs.list.items[i]);
    iso_out_text(out, "</tbody></table></div>\n");
  }
  if (runs.more) iso_out_printf(out, "<p>Only the last %d runs are listed.</p>\n", ISO_RUNS_MOST);
  iso_out_text(out, "</main></body></html>\n");
  iso_runs_free(&runs);
  if (iso_output_close(out, NULL) != ISOPROOF_OK) say(r, 500);
}

/* ---- all ---- */

void iso_response_make(int root, int status, const iso_http_request *request, iso_response *r) {
  memset(r, 0, sizeof *r);
  r->status = 200;
  r->type = "text/html; charset=utf-8";
  if (status != 200) {
    say(r, status);
    return;
  }
  if (request->part_count == 0) {
    respond_list(r, root);
    return;
  }
  if (strcmp(request->parts[0], "run") != 0) {
    say(r, 404);
    return;
  }
  const char *const *parts = request->parts + 1;
  uint32_t count = request->part_count - 1;
  if (request->folder)
    respond_page(r, root, parts, count, false);
  else if (count > 0 && count <= ISO_RUN_PARTS + 1 && strcmp(parts[count - 1], "result.json") == 0)
    respond_result(r, root, parts, count);
  else if (count > 0 && strcmp(parts[count - 1], "counterexample.svg") == 0)
    respond_page(r, root, parts, count - 1, true);
  else
    say(r, 404);
}

size_t iso_response_head(const iso_response *r, char *buffer, size_t size) {
  const char *scripts = r->scripts ? "script-src 'unsafe-inline'; img-src data: blob:; " : "";
  int length = snprintf(buffer, size,
                        "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
                        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
                        "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
                        "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; %sbase-uri 'none'; "
                        "form-action 'none'; frame-ancestors 'none'\r\n%s\r\n",
                        r->status, reason_of(r->status), r->type, r->body.count, scripts,
                        r->status == 405 ? "Allow: GET, HEAD\r\n" : "");
  return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

void iso_response_free(iso_response *r) { iso_vec_free(&r->body); }
