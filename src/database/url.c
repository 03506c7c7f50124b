/* url.c - parsing the URLs of databases, and showing them without their passwords. */
#include "database/url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "base/vector.h"

size_t iso_url_scheme(const char *text) {
  if (!isalpha((unsigned char)text[0])) return 0;
  size_t length = 1;
  while (isalnum((unsigned char)text[length]) || text[length] == '+' || text[length] == '-' || text[length] == '.')
    length++;
  return text[length] == ':' ? length : 0;
}

static int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %41 in place; a NUL byte, or a % without two digits, is refused. */
static bool decode(char *text) {
  char *out = text;
  for (const char *in = text; *in != 0; in++) {
    if (*in != '%') {
      *out++ = *in;
      continue;
    }
    int high = hex(in[1]);
    int low = high < 0 ? -1 : hex(in[2]);
    if (low < 0 || high + low == 0) return false;
    *out++ = (char)(high * 16 + low);
    in += 2;
  }
  *out = 0;
  return true;
}

static isoproof_status bad(isoproof_error *error, const char *expected) {
  return iso_fail(error, ISOPROOF_ERR_USAGE, "database URL: expected %s", expected);
}

static isoproof_status parse_options(char *text, iso_url *url, isoproof_error *error) {
  while (text != NULL && *text != 0) {
    char *next = strchr(text, '&');
    if (next != NULL) *next++ = 0;
    char *value = strchr(text, '=');
    if (value == NULL || value == text) return bad(error, "name=value after '?', separated by '&'");
    *value++ = 0;
    if (!decode(text) || !decode(value)) return bad(error, "two hexadecimal digits after '%' in its options");
    if (url->option_count == ISO_MOST_URL_OPTIONS)
      return iso_fail(error, ISOPROOF_ERR_LIMIT, "database URL: more than %d options", ISO_MOST_URL_OPTIONS);
    url->options[url->option_count].name = text;
    url->options[url->option_count++].value = value;
    text = next;
  }
  return ISOPROOF_OK;
}

static isoproof_status parse_port(const char *text, iso_url *url, isoproof_error *error) {
  uint64_t port;
  if (*text == 0) return ISOPROOF_OK;
  if (!iso_parse_u64(text, strlen(text), &port) || port == 0 || port > 65535) {
    char quoted[256];
    return iso_fail(error, ISOPROOF_ERR_USAGE, "database URL: expected a port from 1 to 65535, found %s",
                    iso_quote(text, strlen(text), quoted));
  }
  url->port = (uint32_t)port;
  return ISOPROOF_OK;
}

static isoproof_status parse_host(char *text, iso_url *url, isoproof_error *error) {
  char *port = NULL;
  if (*text == '[') {
    char *end = strchr(text, ']');
    if (end == NULL || (end[1] != 0 && end[1] != ':')) return bad(error, "']' after the address, then ':' or '/'");
    *end = 0;
    url->host = text + 1;
    if (end[1] == ':') port = end + 2;
  } else {
    port = strchr(text, ':');
    if (port != NULL) *port++ = 0;
    if (*text != 0) url->host = text;
  }
  return port != NULL ? parse_port(port, url, error) : ISOPROOF_OK;
}

/* user:password@host:port */
static isoproof_status parse_authority(char *text, iso_url *url, isoproof_error *error) {
  char *at = strrchr(text, '@');
  char *host = text;
  if (at != NULL) {
    *at = 0;
    host = at + 1;
    char *password = strchr(text, ':');
    if (password != NULL) {
      *password++ = 0;
      url->password = password;
      if (!decode(password)) return bad(error, "two hexadecimal digits after '%' in its password");
    }
    url->user = text;
    if (!decode(text)) return bad(error, "two hexadecimal digits after '%' in its user");
  }
  if (!decode(host)) return bad(error, "two hexadecimal digits after '%' in its host");
  return parse_host(host, url, error);
}

static isoproof_status parse_parts(char *rest, iso_url_style style, iso_url *url, isoproof_error *error) {
  url->path = rest;
  if (style == ISO_URL_RAW) return ISOPROOF_OK;
  char *options = strchr(rest, '?');
  if (options != NULL) *options++ = 0;
  if (strncmp(rest, "//", 2) == 0) {
    rest += 2;
    char *path = rest;
    if (style == ISO_URL_FULL) {
      path = strchr(rest, '/');
      if (path != NULL) *path++ = 0;
      ISO_TRY(parse_authority(rest, url, error));
    }
    url->path = rest = path != NULL ? path : rest + strlen(rest);
  } else if (style == ISO_URL_FULL && *rest != 0) {
    return bad(error, "// after its scheme");
  }
  if (!decode(rest)) return bad(error, "two hexadecimal digits after '%' in its path");
  return parse_options(options, url, error);
}

/* ---- showing ---- */

static bool starts_secret(const char *text) {
  static const char *const names[] = {"password=", "pwd=", "passwd="};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncasecmp(text, names[i], strlen(names[i])) == 0) return true;
  return false;
}

/* Where the password of an authority is: [*start, *end), or false. */
static bool find_password(const char *text, const char **start, const char **end) {
  const char *begin = strstr(text, "://");
  if (begin == NULL) return false;
  begin += 3;
  size_t length = strcspn(begin, "/?");
  const char *at = memrchr(begin, '@', length);
  if (at == NULL) return false;
  const char *colon = memchr(begin, ':', (size_t)(at - begin));
  if (colon == NULL) return false;
  *start = colon + 1;
  *end = at;
  return true;
}

/* Copies the URL, with *** in place of what follows user: and password= (for ODBC: PWD=). */
static void show(const char *text, char *out) {
  const char *start = NULL, *end = NULL;
  bool has_password = find_password(text, &start, &end);
  bool word = true; /* at the beginning of an option */
  while (*text != 0) {
    size_t skip = 0;
    size_t keep = 1;
    if (has_password && text == start) {
      keep = 0;
      skip = (size_t)(end - start);
      has_password = false; /* an empty one must not be met again */
    } else if (word && starts_secret(text)) {
      keep = strcspn(text, "=") + 1;
      const char *value = text + keep;
      skip = *value == '{' ? strcspn(value, "}") : strcspn(value, ";&");
    }
    memcpy(out, text, keep);
    out += keep;
    if (keep != 1) {
      memcpy(out, "***", 3);
      out += 3;
    }
    word = strchr(":;?& ", text[keep > 0 ? keep - 1 : 0]) != NULL;
    text += keep + skip;
  }
  *out = 0;
}

/* ---- the interface ---- */

isoproof_status iso_url_parse(const char *text, iso_url_style style, iso_url *url, isoproof_error *error) {
  *url = (iso_url){.path = ""};
  size_t length = strlen(text), scheme = iso_url_scheme(text);
  if (length > ISO_MOST_URL_BYTES)
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "database URL: longer than %d bytes", ISO_MOST_URL_BYTES);
  if (scheme == 0) return bad(error, "a scheme such as sqlite: or postgres://");
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)text[i] < 32 || text[i] == 127) return bad(error, "no control characters");
  /* The text, and what is shown of it: every byte shown as at most four. */
  url->buffer = iso_alloc(length * 5 + 8, 1);
  if (url->buffer == NULL) return iso_fail_memory(error);
  memcpy(url->buffer, text, length + 1);
  char *shown = url->buffer + length + 1;
  show(text, shown);
  url->shown = shown;
  url->buffer[scheme] = 0;
  for (size_t i = 0; i < scheme; i++) url->buffer[i] = (char)tolower((unsigned char)url->buffer[i]);
  url->scheme = url->buffer;
  isoproof_status status = parse_parts(url->buffer + scheme + 1, style, url, error);
  if (status != ISOPROOF_OK) iso_url_free(url);
  return status;
}

void iso_url_free(iso_url *url) {
  free(url->buffer);
  *url = (iso_url){.path = ""};
}

const char *iso_url_option(const iso_url *url, const char *name) {
  for (size_t i = 0; i < url->option_count; i++)
    if (strcasecmp(url->options[i].name, name) == 0) return url->options[i].value;
  return NULL;
}

isoproof_status iso_url_only(const iso_url *url, const char *const *known, isoproof_error *error) {
  for (size_t i = 0; i < url->option_count; i++) {
    size_t at = 0;
    while (known[at] != NULL && strcasecmp(known[at], url->options[i].name) != 0) at++;
    if (known[at] != NULL) continue;
    char quoted[256], names[256] = "";
    size_t used = 0;
    for (at = 0; known[at] != NULL && used < sizeof names; at++)
      used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", at > 0 ? ", " : "", known[at]);
    return iso_fail(error, ISOPROOF_ERR_USAGE, "database URL: expected the options %s, found %s", names,
                    iso_quote(url->options[i].name, strlen(url->options[i].name), quoted));
  }
  return ISOPROOF_OK;
}
