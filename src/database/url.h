/* url.h - the URLs of databases: scheme, user, password, host, port, path, options.
 *
 * An iso_url owns its text until iso_url_free; all of its strings point there.
 */
#ifndef ISO_DATABASE_URL_H
#define ISO_DATABASE_URL_H

#include "base/error.h"

enum { ISO_MOST_URL_BYTES = 4096, ISO_MOST_URL_OPTIONS = 24 };

typedef enum iso_url_style {
  ISO_URL_FULL,   /* scheme://user:password@host:port/path?name=value&... */
  ISO_URL_PATH,   /* scheme:path?name=value&...; two slashes before the path are left out */
  ISO_URL_RAW,    /* scheme:anything, with neither options nor decoding: ODBC's connection strings */
  ISO_URL_CLIENT, /* the same for a client library that takes URLs itself: libpq */
  ISO_URL_EITHER, /* as ISO_URL_FULL where // follows the scheme, else as ISO_URL_PATH */
  ISO_URL_HOSTS   /* as ISO_URL_FULL, with commas between hosts, each of which is a node */
} iso_url_style;

typedef struct iso_url {
  const char *scheme;                 /* lower case */
  const char *user, *password, *host; /* decoded; NULL where not given; a host in brackets is without them */
  uint32_t port;                      /* 0: not given */
  bool authority;                     /* // and user, password, host, port, whichever there are, come before the path */
  const char *path;                   /* decoded; of a URL with an authority without the first '/'; "" when empty */
  struct {
    const char *name, *value;
  } options[ISO_MOST_URL_OPTIONS]; /* decoded */
  size_t option_count;
  const char *shown; /* the whole, with *** for a password */
  char *buffer;
} iso_url;

isoproof_status iso_url_parse(const char *text, iso_url_style style, iso_url *url, isoproof_error *error);
void iso_url_free(iso_url *url);
/* How many hosts a URL of the style ISO_URL_HOSTS names, at least 1. */
size_t iso_url_host_count(const char *text);
/* The URL with one of its hosts alone, to be freed; NULL when memory is out. */
char *iso_url_with_host(const char *text, size_t number);
/* NULL when there is no such option. */
const char *iso_url_option(const iso_url *url, const char *name);
/* ISOPROOF_ERR_USAGE when there is an option that is not in the NULL-terminated list. */
isoproof_status iso_url_only(const iso_url *url, const char *const *known, isoproof_error *error);
/* The length of the scheme, 0 when the text does not begin with one. */
size_t iso_url_scheme(const char *text);

#endif
