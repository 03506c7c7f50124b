/* Requests of the server, as browsers, mistaken programs and attackers send them. */
#include "serve/request.h"
#include "tests/unit/unit.h"

enum { PORT = 8321 };

static int read_text(const char *text, iso_http_request *request, char buffer[ISO_REQUEST_BYTES]) {
  size_t length = strlen(text);
  assert_true(length < ISO_REQUEST_BYTES);
  memcpy(buffer, text, length + 1);
  size_t end = iso_http_request_end(buffer, length);
  assert_int_equal(end, length);
  return iso_http_request_read(buffer, end, PORT, request);
}

static int status_of(const char *text) {
  char buffer[ISO_REQUEST_BYTES];
  iso_http_request request;
  return read_text(text, &request, buffer);
}

static int status_of_path(const char *path) {
  char text[4096];
  snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:8321\r\n\r\n", path);
  return status_of(text);
}

static int status_of_host(const char *host) {
  char text[512];
  snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host);
  return status_of(text);
}

static void test_paths(void **state) {
  (void)state;
  char buffer[ISO_REQUEST_BYTES];
  iso_http_request r;
  assert_int_equal(read_text("GET /run/a%20b/c/?x=1 HTTP/1.1\r\nhost: localhost:8321\r\n\r\n", &r, buffer), 200);
  assert_int_equal(r.part_count, 3);
  assert_string_equal(r.parts[1], "a b");
  assert_string_equal(r.parts[2], "c");
  assert_true(r.folder);
  assert_false(r.head_only);
  assert_int_equal(read_text("HEAD / HTTP/1.0\r\nHost: [::1]:8321\r\n\r\n", &r, buffer), 200);
  assert_int_equal(r.part_count, 0);
  assert_true(r.head_only);
  /* A percent sign is decoded once. */
  assert_int_equal(read_text("GET /run/%252e%252e HTTP/1.1\r\nHost: 127.0.0.1:8321\r\n\r\n", &r, buffer), 200);
  assert_string_equal(r.parts[1], "%2e%2e");
}

static void test_ways_out(void **state) {
  (void)state;
  static const char *const paths[] = {
      "/run/../x",  "/..",           "/run/%2e%2e/x",   "/run/.%2E/",
      "/run/a%2fb", "/run/%2e/x",    "/run//x",         "//x",
      "/run/a%00b", "/run/a%0d%0ab", "/run/..%5c..%5c", "/run/a\\..\\b",
      "/run/%",     "/run/%2",       "/run/%zz",        "/run/%2E%2E%2F%2E%2E%2Fetc/passwd"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) assert_int_equal(status_of_path(paths[i]), 403);
  assert_int_equal(status_of_path("http://127.0.0.1:8321/"), 400);
  assert_int_equal(status_of_path("*"), 400);
  assert_int_equal(status_of_path("/a/b/c/d/e/f/g/h/i"), 414);
}

static void test_hosts(void **state) {
  (void)state;
  static const char *const bad[] = {"example.org",         "example.org:8321",    "127.0.0.1",       "127.0.0.1:8322",
                                    "localhost:83210",     "localhost.:8321",     "127.0.0.1:8321x", "",
                                    "evil@127.0.0.1:8321", "127.0.0.1.evil:8321", "0.0.0.0:8321",    "[::]:8321"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_int_equal(status_of_host(bad[i]), 403);
  assert_int_equal(status_of_host("LOCALHOST:8321"), 200);
  assert_int_equal(status_of("GET / HTTP/1.1\r\n\r\n"), 400);
  assert_int_equal(status_of("GET / HTTP/1.1\r\nHost: localhost:8321\r\nHost: localhost:8321\r\n\r\n"), 400);
}

static void test_other_requests(void **state) {
  (void)state;
  static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "get", "TRACE"};
  char text[256];
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    snprintf(text, sizeof text, "%s / HTTP/1.1\r\nHost: localhost:8321\r\n\r\n", methods[i]);
    assert_int_equal(status_of(text), 405);
  }
  assert_int_equal(status_of("GET / HTTP/2\r\nHost: localhost:8321\r\n\r\n"), 505);
  assert_int_equal(status_of("GET /\r\nHost: localhost:8321\r\n\r\n"), 400);
  assert_int_equal(status_of("GET / HTTP/1.1 x\r\nHost: localhost:8321\r\n\r\n"), 505);
  assert_int_equal(status_of("\r\n\r\n"), 400);
  assert_int_equal(status_of("GET / HTTP/1.1\r\nHost: localhost:8321\r\nContent-Length: 5\r\n\r\n"), 400);
  assert_int_equal(status_of("GET / HTTP/1.1\r\nHost: localhost:8321\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  assert_int_equal(status_of("GET / HTTP/1.1\r\nHost : localhost:8321\r\n\r\n"), 400);
  assert_int_equal(status_of("GET / HTTP/1.1\r\n Host: localhost:8321\r\n\r\n"), 400);
  assert_int_equal(status_of("GET / HTTP/1.1\r\nHost: localhost:8321\nX: y\r\n\r\n"), 400);
  char many[ISO_REQUEST_BYTES] = "GET / HTTP/1.1\r\nHost: localhost:8321\r\n";
  for (int i = 0; i < 100; i++) strcat(many, "A: b\r\n");
  strcat(many, "\r\n");
  assert_int_equal(status_of(many), 400);
}

static void test_incomplete_heads(void **state) {
  (void)state;
  const char *text = "GET / HTTP/1.1\r\nHost: localhost:8321\r\n\r\nrest";
  size_t whole = strlen(text) - 4;
  for (size_t length = 0; length < whole; length++) assert_int_equal(iso_http_request_end(text, length), 0);
  assert_int_equal(iso_http_request_end(text, whole), whole);
  assert_int_equal(iso_http_request_end(text, strlen(text)), whole);
}

/* Whatever bytes come, no part of a path leads anywhere. */
static void test_random_bytes(void **state) {
  (void)state;
  static const char *const pieces[] = {
      "GET ", "/",  "..", "%2e",  "%2f", "%", "run", " HTTP/1.1", "\r\n", "\r\n\r\n", "Host: 127.0.0.1:8321\r\n",
      "\\",   "\n", ":",  "\x7f", "a"};
  uint64_t seed = 7, answered = 0;
  for (int round = 0; round < 200000; round++) {
    char buffer[ISO_REQUEST_BYTES] = "";
    if (unit_below(&seed, 2) == 0) strcpy(buffer, "GET /");
    for (uint64_t i = unit_below(&seed, 8); i > 0; i--) strcat(buffer, pieces[unit_below(&seed, 16)]);
    if (unit_below(&seed, 2) == 0) strcat(buffer, " HTTP/1.1\r\nHost: 127.0.0.1:8321\r\n\r\n");
    size_t end = iso_http_request_end(buffer, strlen(buffer));
    iso_http_request r;
    if (end == 0 || iso_http_request_read(buffer, end, PORT, &r) != 200) continue;
    answered++;
    for (uint32_t i = 0; i < r.part_count; i++) {
      assert_true(r.parts[i][0] != 0 && strchr(r.parts[i], '/') == NULL);
      assert_true(strcmp(r.parts[i], "..") != 0 && strcmp(r.parts[i], ".") != 0);
    }
  }
  assert_true(answered > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_paths),
      cmocka_unit_test(test_ways_out),
      cmocka_unit_test(test_hosts),
      cmocka_unit_test(test_other_requests),
      cmocka_unit_test(test_incomplete_heads),
      cmocka_unit_test(test_random_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
