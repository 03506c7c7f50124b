/* url.c - parsing the URLs of databases. */
#include "database/url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "base/vector.h"
#include "database/redact.h"

size_t iso_url_scheme(const char *text) {
  if (!isalpha((unsigned char)text[0])) return 0;
  size_t length = 1;
  while (isalnum((unsigned char)text[length]) || text[length] == '+' || text[length] == '-' || text[length] == '.')
    length++;
  return text[length] == ':' ? length : 0;
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
    if (!iso_percent_decode(text) || !iso_percent_decode(value))
      return bad(error, "two hexadecimal digits after '%' in its options");
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
  /* What was found is not shown: it may be the beginning of a password. */
  if (!iso_parse_u64(text, strlen(text), &port) || port == 0 || port > 65535)
    return bad(error, "a port from 1 to 65535 after ':'");
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
      if (!iso_percent_decode(password)) return bad(error, "two hexadecimal digits after '%' in its password");
    }
    url->user = text;
    if (!iso_percent_decode(text)) return bad(error, "two hexadecimal digits after '%' in its user");
  }
  if (!iso_percent_decode(host)) return bad(error, "two hexadecimal digits after '%' in its host");
  return parse_host(host, url, error);
}

static bool has_authority(iso_url_style style) {
  return style == ISO_URL_FULL || style == ISO_URL_EITHER || style == ISO_URL_HOSTS;
}

static isoproof_status parse_parts(char *rest, iso_url_style style, iso_url *url, isoproof_error *error) {
  url->path = rest;
  if (style == ISO_URL_RAW || style == ISO_URL_CLIENT) return ISOPROOF_OK;
  char *options = strchr(rest, '?');
  if (options != NULL) *options++ = 0;
  if (strncmp(rest, "//", 2) == 0) {
    rest += 2;
    char *path = rest;
    if (has_authority(style)) {
      url->authority = true;
      path = strchr(rest, '/');
      if (path != NULL) *path++ = 0;
      ISO_TRY(parse_authority(rest, url, error));
    }
    url->path = rest = path != NULL ? path : rest + strlen(rest);
  } else if (style != ISO_URL_PATH && style != ISO_URL_EITHER && *rest != 0) {
    return bad(error, "// after its scheme");
  }
  if (!iso_percent_decode(rest)) return bad(error, "two hexadecimal digits after '%' in its path");
  return parse_options(options, url, error);
}

/* A user and a password with a '/' or '?' in it end there for a parser, and what is left of the password would be taken
 * for a host, a port or a database. */
static isoproof_status check_password(const char *text, size_t scheme, isoproof_error *error) {
  iso_span spans[ISO_MOST_SPANS];
  if (strncmp(text + scheme, "://", 3) != 0 || iso_redact_find(text, spans) == 0) return ISOPROOF_OK;
  const char *password = text + spans[0].start;
  size_t length = spans[0].end - spans[0].start;
  if (text[spans[0].end] != '@' || strcspn(password, "/?#") >= length) return ISOPROOF_OK;
  return bad(error,
             "no '/', '?' or '#' before '@': in a user, a password and the name of a database, write : / ? # @ and "
             "% as %3A %2F %3F %23 %40 and %25");
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
  if (has_authority(style) || style == ISO_URL_CLIENT) ISO_TRY(check_password(text, scheme, error));
  size_t shown = iso_redact_show(text, NULL, 0) + 1;
  url->buffer = iso_alloc(length + 1 + shown, 1);
  if (url->buffer == NULL) return iso_fail_memory(error);
  memcpy(url->buffer, text, length + 1);
  iso_redact_show(text, url->buffer + length + 1, shown);
  url->shown = url->buffer + length + 1;
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

/* ---- several hosts ---- */

/* Where the hosts are, [*start, *end); false when there are none. */
static bool find_hosts(const char *text, size_t *start, size_t *end) {
  size_t scheme = iso_url_scheme(text);
  if (scheme == 0 || strncmp(text + scheme, "://", 3) != 0) return false;
  *start = scheme + 3;
  *end = *start + strcspn(text + *start, "/?#");
  const char *at = memrchr(text + *start, '@', *end - *start);
  if (at != NULL) *start = (size_t)(at - text) + 1;
  return true;
}

size_t iso_url_host_count(const char *text) {
  size_t start, end, count = 1;
  if (!find_hosts(text, &start, &end)) return 1;
  for (size_t i = start; i < end; i++) count += text[i] == ',';
  return count;
}

char *iso_url_with_host(const char *text, size_t number) {
  size_t start, end, length = strlen(text);
  char *made = iso_alloc(length + 1, 1);
  if (made == NULL) return NULL;
  memcpy(made, text, length + 1);
  if (!find_hosts(text, &start, &end)) return made;
  size_t from = start, to;
  for (;; from = to + 1) {
    to = from;
    while (to < end && text[to] != ',') to++;
    if (number-- == 0 || to == end) break;
  }
  memmove(made + start, text + from, to - from);
  memmove(made + start + (to - from), text + end, length - end + 1);
  return made;
}

const char *iso_url_option(const iso_url *url, const char *name) {
  for (size_t i = 0; i < url->option_count; i++)
    if (strcasecmp(url->options[i].name, name) == 0) return url->options[i].value;
  return NULL;
}

/* A name that is not shown as it was given may be a piece of a password. */
static bool is_shown(const iso_url *url, const char *name) {
  size_t length = strlen(name);
  for (const char *at = url->shown; (at = strpbrk(at, "?&")) != NULL;)
    if (strncmp(++at, name, length) == 0 && at[length] == '=') return true;
  return false;
}

isoproof_status iso_url_only(const iso_url *url, const char *const *known, isoproof_error *error) {
  for (size_t i = 0; i < url->option_count; i++) {
    size_t at = 0;
    while (known[at] != NULL && strcasecmp(known[at], url->options[i].name) != 0) at++;
    if (known[at] != NULL) continue;
    char quoted[256], names[400] = "";
    size_t used = 0;
    for (at = 0; known[at] != NULL && used < sizeof names; at++)
      used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", at > 0 ? ", " : "", known[at]);
    const char *name = url->options[i].name;
    return iso_fail(error, ISOPROOF_ERR_USAGE, "database URL: expected the options %s, found %s", names,
                    is_shown(url, name) ? iso_quote(name, strlen(name), quoted) : "another one");
  }
  return ISOPROOF_OK;
}
