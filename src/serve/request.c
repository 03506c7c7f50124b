/* Parses the head of an HTTP/1.1 request, trusting nothing in it. */
#include "serve/request.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

size_t iso_http_request_end(const char *bytes, size_t length) {
  for (size_t i = 3; i < length; i++) {
    if (bytes[i] == '\n' && memcmp(bytes + i - 3, "\r\n\r\n", 4) == 0) return i + 1;
  }
  return 0;
}

/* ---- the path ---- */

static int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* Decodes one part of a path in place, once; false where it could lead elsewhere. */
static bool decode(char *part) {
  char *to = part;
  for (const char *from = part; *from != 0; from++) {
    int c = (unsigned char)*from;
    if (c == '%') {
      int high = hex(from[1]), low = high < 0 ? -1 : hex(from[2]);
      if (low < 0) return false;
      c = high * 16 + low;
      from += 2;
    }
    if (c < 0x20 || c == 0x7f || c == '/' || c == '\\') return false;
    *to++ = (char)c;
  }
  *to = 0;
  return part[0] != 0 && strcmp(part, ".") != 0 && strcmp(part, "..") != 0;
}

static int read_path(char *path, iso_http_request *request) {
  path[strcspn(path, "?#")] = 0;
  if (path[0] != '/') return 400;
  request->folder = path[strlen(path) - 1] == '/';
  char *at = path + 1;
  while (*at != 0) {
    char *part = at, *end = at + strcspn(at, "/");
    at = *end != 0 ? end + 1 : end;
    *end = 0;
    if (request->part_count == ISO_REQUEST_PARTS) return 414;
    if (!decode(part)) return 403;
    request->parts[request->part_count++] = part;
  }
  return 200;
}

/* ---- headers ---- */

/* This machine under one of its names, at our port: a page from elsewhere whose name was made to lead here has another
 * one. */
static bool is_here(const char *host, uint16_t port) {
  static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
  char wanted[32];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(wanted, sizeof wanted, "%s:%u", names[i], port);
    if (strcasecmp(host, wanted) == 0 || (port == 80 && strcasecmp(host, names[i]) == 0)) return true;
  }
  return false;
}

/* Cuts the line at its end and gives the start of the next one; NULL where it does not end as it should, or has bytes
 * that no header has. */
static char *cut_line(char *line, const char *end) {
  for (char *c = line; c + 1 < end; c++) {
    if (c[0] == '\r' && c[1] == '\n') {
      *c = 0;
      return c + 2;
    }
    if ((unsigned char)*c < 0x20 && *c != '\t') return NULL;
    if (*c == 0x7f) return NULL;
  }
  return NULL;
}

static bool is_token(const char *name, size_t length) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_!#$%&'*+.^`|~";
  return length > 0 && strspn(name, letters) >= length;
}

static int read_headers(char *line, const char *end, uint16_t port) {
  unsigned hosts = 0;
  for (unsigned i = 0; i <= ISO_REQUEST_HEADERS; i++) {
    char *next = cut_line(line, end);
    if (next == NULL) return 400;
    if (*line == 0) return hosts == 1 && next == end ? 200 : 400;
    size_t name = strcspn(line, ":");
    if (line[name] != ':' || !is_token(line, name)) return 400;
    char *value = line + name + 1 + strspn(line + name + 1, " \t");
    for (size_t length = strlen(value); length > 0 && strchr(" \t", value[length - 1]) != NULL;) value[--length] = 0;
    line[name] = 0;
    /* A request that is answered has no body; one that claims to could smuggle another. */
    if (strcasecmp(line, "Transfer-Encoding") == 0) return 400;
    if (strcasecmp(line, "Content-Length") == 0 && strcmp(value, "0") != 0) return 400;
    if (strcasecmp(line, "Host") == 0) {
      hosts++;
      if (!is_here(value, port)) return 403;
    }
    line = next;
  }
  return 400;
}

int iso_http_request_read(char *bytes, size_t length, uint16_t port, iso_http_request *request) {
  const char *end = bytes + length;
  memset(request, 0, sizeof *request);
  char *headers = cut_line(bytes, end);
  if (headers == NULL) return 400;
  char *path = strchr(bytes, ' ');
  if (path == NULL) return 400;
  *path++ = 0;
  char *version = strchr(path, ' ');
  if (version == NULL) return 400;
  *version++ = 0;
  if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
    return strncmp(version, "HTTP/", 5) == 0 ? 505 : 400;
  int status = read_headers(headers, end, port);
  if (status != 200) return status;
  request->head_only = strcmp(bytes, "HEAD") == 0;
  if (!request->head_only && strcmp(bytes, "GET") != 0) return 405;
  return read_path(path, request);
}
