/* Responses: the list of runs, two of them compared, the page or drawing of one, its result, and errors, each complete
 * before it is sent. */
#include "serve/response.h"

#include <isoproof/report.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "serve/compare.h"
#include "serve/folder.h"
#include "serve/html.h"
#include "serve/list.h"
#include "serve/live_page.h"
#include "serve/run.h"

enum { MOST_BODY = 256 << 20 };

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
  r->scripts = ISO_SCRIPTS_NONE;
  int length = snprintf(text, sizeof text, "%d %s\n", status, reason_of(status));
  (void)keep(r, text, length > 0 ? (size_t)length : 0);
}

/* ---- one run ---- */

static void respond_live(iso_response *r, int root, const char *const *parts, uint32_t count) {
  iso_output *out;
  if (iso_output_open_callback(keep, r, ISOPROOF_COMPRESS_NO, &out, NULL) != ISOPROOF_OK) {
    say(r, 500);
    return;
  }
  r->scripts = ISO_SCRIPTS_ASKING;
  iso_live_page_put(out, root, parts, count);
  if (iso_output_close(out, NULL) != ISOPROOF_OK) say(r, 500);
}

static void respond_page(iso_response *r, int root, const char *const *parts, uint32_t count, bool drawing) {
  isoproof_document *document = iso_run_open(root, parts, count, !drawing, ISO_RESULT_MOST);
  if (document == NULL) {
    if (!drawing && iso_live_page_exists(root, parts, count))
      respond_live(r, root, parts, count);
    else
      say(r, 404);
    return;
  }
  r->type = drawing ? "image/svg+xml" : "text/html; charset=utf-8";
  r->scripts = drawing ? ISO_SCRIPTS_NONE : ISO_SCRIPTS_INLINE;
  isoproof_status status = drawing ? isoproof_document_write_svg(document, NULL, keep, r, NULL)
                                   : isoproof_document_write_html(document, NULL, keep, r, NULL);
  isoproof_document_free(document);
  if (status != ISOPROOF_OK) say(r, 500);
}

static void respond_result(iso_response *r, int root, const char *const *parts, uint32_t count) {
  size_t size = 0;
  int file = iso_folder_open(root, parts, count, false);
  char *bytes = file >= 0 ? iso_folder_read(file, ISO_RESULT_MOST, &size) : NULL;
  if (file >= 0) close(file);
  if (bytes == NULL || !keep(r, bytes, size))
    say(r, bytes == NULL ? 404 : 500);
  else
    r->type = "application/json";
  free(bytes);
}

/* ---- several runs ---- */

static void respond_list(iso_response *r, int root) {
  iso_output *out;
  if (iso_output_open_callback(keep, r, ISOPROOF_COMPRESS_NO, &out, NULL) != ISOPROOF_OK) {
    say(r, 500);
    return;
  }
  r->scripts = ISO_SCRIPTS_OWN;
  bool good = iso_list_put(out, root);
  if (iso_output_close(out, NULL) != ISOPROOF_OK || !good) say(r, 500);
}

static void respond_comparison(iso_response *r, int root, const char *const *parts, uint32_t count) {
  uint32_t first = iso_compare_split(parts, count);
  iso_output *out;
  if (first == 0) {
    say(r, 404);
    return;
  }
  if (iso_output_open_callback(keep, r, ISOPROOF_COMPRESS_NO, &out, NULL) != ISOPROOF_OK) {
    say(r, 500);
    return;
  }
  bool found = iso_compare_put(out, root, parts, first, parts + first + 1, count - first - 1);
  if (iso_output_close(out, NULL) != ISOPROOF_OK)
    say(r, 500);
  else if (!found)
    say(r, 404);
}

static void respond_script(iso_response *r, const unsigned char *script, size_t size) {
  r->type = "text/javascript; charset=utf-8";
  if (!keep(r, script, size)) say(r, 500);
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
  const char *const *parts = request->parts + 1;
  uint32_t count = request->part_count - 1;
  bool is_run = strcmp(request->parts[0], "run") == 0;
  if (strcmp(request->parts[0], "compare") == 0 && request->folder)
    respond_comparison(r, root, parts, count);
  else if (strcmp(request->parts[0], "list.js") == 0 && count == 0 && !request->folder)
    respond_script(r, iso_serve_script, iso_serve_script_size);
  else if (strcmp(request->parts[0], "live.js") == 0 && count == 0 && !request->folder)
    respond_script(r, iso_live_script, iso_live_script_size);
  else if (!is_run)
    say(r, 404);
  else if (request->folder)
    respond_page(r, root, parts, count, false);
  else if (count > 0 && count <= ISO_RUN_PARTS + 1 &&
           (strcmp(parts[count - 1], "result.json") == 0 || strcmp(parts[count - 1], "live.json") == 0))
    respond_result(r, root, parts, count);
  else if (count > 0 && strcmp(parts[count - 1], "counterexample.svg") == 0)
    respond_page(r, root, parts, count - 1, true);
  else
    say(r, 404);
}

size_t iso_response_head(const iso_response *r, char *buffer, size_t size) {
  /* The page of a report names its script by its hash, too; that of the list is a file of its own. */
  static const char *const allowed[] = {[ISO_SCRIPTS_NONE] = "",
                                        [ISO_SCRIPTS_OWN] = "script-src 'self'; ",
                                        [ISO_SCRIPTS_ASKING] = "script-src 'self'; connect-src 'self'; ",
                                        [ISO_SCRIPTS_INLINE] = "script-src 'unsafe-inline'; img-src data: blob:; "};
  int length = snprintf(buffer, size,
                        "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
                        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
                        "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
                        "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; %sbase-uri 'none'; "
                        "form-action 'none'; frame-ancestors 'none'\r\n%s\r\n",
                        r->status, reason_of(r->status), r->type, r->body.count, allowed[r->scripts],
                        r->status == 405 ? "Allow: GET, HEAD\r\n" : "");
  return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

void iso_response_free(iso_response *r) { iso_vec_free(&r->body); }
