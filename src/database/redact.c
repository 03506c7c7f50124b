/* redact.c - finding the passwords in the description of a database, and showing it without them. */
#include "database/redact.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "database/url.h"

/* ---- names ---- */

/* Parts of the names of options that have passwords... */
static const char *const secret_parts[] = {"pass", "pwd", "secret", "token", "credential"};
/* ...but for these, which name files. */
static const char *const secret_not[] = {"passfile", "password-file", "password_file", "tokenfile", "token_file"};

/* Options that may follow a password.  A name that is not among them may be a piece of a password that was not quoted:
 * "Pwd=a;b=c", "?password=a&b=c", "password=a b=c". */
static const char *const plain_names[] = {
    /* libpq */
    "service", "user", "channel_binding", "connect_timeout", "dbname", "host", "hostaddr", "port", "client_encoding",
    "options", "application_name", "fallback_application_name", "keepalives", "keepalives_idle", "keepalives_interval",
    "keepalives_count", "tcp_user_timeout", "sslmode", "sslcompression", "sslcert", "sslkey", "sslcertmode",
    "sslrootcert", "sslcrl", "sslcrldir", "sslsni", "sslnegotiation", "requirepeer", "require_auth", "requiressl",
    "ssl_min_protocol_version", "ssl_max_protocol_version", "gssencmode", "gssdelegation", "krbsrvname", "gsslib",
    "replication", "target_session_attrs", "load_balance_hosts", "min_protocol_version", "max_protocol_version",
    /* ours and MariaDB's */
    "init", "socket", "ssl", "ssl-mode", "ssl-ca", "ssl-capath", "ssl-cert", "ssl-key", "ssl-cipher", "ssl-crl",
    "ssl-crlpath", "ssl-fp", "ssl-fplist", "ssl-verify-server-cert", "tls-version", "defaults-file", "defaults-group",
    "no-defaults", "connect-timeout",
    /* ODBC */
    "driver", "dsn", "filedsn", "savefile", "server", "servername", "hostname", "database", "db", "uid", "username",
    "user id", "userid", "option", "charset", "timeout", "encrypt", "trustservercertificate", "trusted_connection",
    "app", "wsid", "tcpip", "nonssl", "sslverify", "initstmt", "stmt", "description", "readonly", "pqopt",
    "authentication", "schema", "warehouse", "role", "account", "protocol", "ssl_ca", "ssl_cert", "ssl_key"};

static bool same(const char *name, size_t length, const char *known) {
  return strlen(known) == length && strncasecmp(name, known, length) == 0;
}

static bool contains(const char *text, size_t length, const char *part) {
  size_t size = strlen(part);
  for (size_t i = 0; i + size <= length; i++)
    if (strncasecmp(text + i, part, size) == 0) return true;
  return false;
}

bool iso_redact_is_plain(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof plain_names / sizeof *plain_names; i++)
    if (same(name, length, plain_names[i])) return true;
  return false;
}

bool iso_redact_is_secret(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof secret_not / sizeof *secret_not; i++)
    if (same(name, length, secret_not[i])) return false;
  for (size_t i = 0; i < sizeof secret_parts / sizeof *secret_parts; i++)
    if (contains(name, length, secret_parts[i])) return true;
  return false;
}

static bool is_login(const char *name, size_t length) {
  return same(name, length, "password") || same(name, length, "passwd") || same(name, length, "pwd");
}

static int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool iso_percent_decode(char *text) {
  char *out = text;
  for (const char *in = text; *in != 0; in++) {
    char c = *in;
    if (c == '%') {
      int high = hex(in[1]), low = high < 0 ? -1 : hex(in[2]);
      if (low < 0 || high + low == 0) {
        *out = 0;
        return false;
      }
      c = (char)(high * 16 + low);
      in += 2;
    }
    *out++ = c;
  }
  *out = 0;
  return true;
}

/* ---- spans ---- */

typedef struct finder {
  const char *text;
  size_t length;
  iso_span *spans;
  size_t count;
} finder;

static void add(finder *f, size_t start, size_t end, iso_spelling spelling, bool login) {
  iso_span *last = f->count > 0 ? &f->spans[f->count - 1] : NULL;
  if (last != NULL && start <= last->end) {
    if (end > last->end) *last = (iso_span){last->start, end, ISO_SPELLED_UNKNOWN, last->login || login};
  } else if (f->count == ISO_MOST_SPANS) {
    last->end = f->length;
  } else {
    f->spans[f->count++] = (iso_span){start, end, spelling, login};
  }
}

static void add_rest(finder *f, size_t start) { add(f, start, f->length, ISO_SPELLED_UNKNOWN, true); }

static size_t skip_blanks(const char *text, size_t at) {
  while (isspace((unsigned char)text[at])) at++;
  return at;
}

/* ---- scheme://user:password@host/path?name=value&name=value ---- */

/* A name in a URL, decoded: its length, up to '=' or the end of the segment. */
static size_t url_name(const char *text, size_t length, char name[64]) {
  size_t size = 0;
  while (size < length && text[size] != '=') size++;
  size_t kept = size < 63 ? size : 63;
  memcpy(name, text, kept);
  name[kept] = 0;
  iso_percent_decode(name);
  return size;
}

/* The end of the segment; after a password, of all segments that may belong to it. */
static size_t segment_end(const finder *f, size_t at, bool secret) {
  for (;;) {
    at += strcspn(f->text + at, "&");
    if (!secret || f->text[at] == 0) return at;
    char name[64];
    size_t size = url_name(f->text + at + 1, f->length - at - 1, name);
    if (f->text[at + 1 + size] == '=' &&
        (iso_redact_is_plain(name, strlen(name)) || iso_redact_is_secret(name, strlen(name))))
      return at;
    at++;
  }
}

static void find_in_options(finder *f, size_t at) {
  while (at < f->length) {
    char name[64];
    size_t size = url_name(f->text + at, strcspn(f->text + at, "&"), name);
    bool secret = iso_redact_is_secret(name, strlen(name));
    size_t end = segment_end(f, at, secret);
    if (secret && f->text[at + size] == '=') add(f, at + size + 1, end, ISO_SPELLED_URL, is_login(name, strlen(name)));
    at = end + 1;
  }
}

/* Where the options begin: after the first '?' that a known name and '=' follow; the end when there are none. */
static size_t options_start(const finder *f, size_t at) {
  for (; at < f->length; at++) {
    char name[64];
    if (f->text[at] != '?') continue;
    size_t size = url_name(f->text + at + 1, f->length - at - 1, name), length = strlen(name);
    if (f->text[at + 1 + size] == '=' && (iso_redact_is_plain(name, length) || iso_redact_is_secret(name, length)))
      return at + 1;
  }
  return at;
}

/* From the first ':' to the last '@': what is between may hold any sign that its writer forgot to encode. */
static void find_in_url(finder *f, size_t at) {
  const char *begin = f->text + at, *colon = strchr(begin, ':');
  size_t options = options_start(f, at);
  const char *last = memrchr(begin, '@', options - at);
  if (last != NULL && colon != NULL && colon < last)
    add(f, (size_t)(colon + 1 - f->text), (size_t)(last - f->text), ISO_SPELLED_URL, true);
  find_in_options(f, options);
}

/* ---- libpq's name=value name='value' ---- */

/* The end of a value: behind its closing quote (0 when there is none), or the next blank. */
static size_t conninfo_end(const char *text, size_t at) {
  bool quoted = text[at] == '\'';
  if (quoted) at++;
  for (; text[at] != 0; at++) {
    if (text[at] == '\\' && text[at + 1] != 0)
      at++;
    else if (quoted && text[at] == '\'')
      return at + 1;
    else if (!quoted && isspace((unsigned char)text[at]))
      return at;
  }
  return quoted ? 0 : at;
}

bool iso_conninfo_next(const char *text, size_t *at, iso_conninfo_item *item) {
  *at = item->name = skip_blanks(text, *at);
  item->name_length = strcspn(text + *at, "= \t\n\r\f\v");
  size_t equals = skip_blanks(text, item->name + item->name_length);
  if (item->name_length == 0 || text[equals] != '=') return false;
  item->value = skip_blanks(text, equals + 1);
  item->end = conninfo_end(text, item->value);
  /* What comes right after a closing quote is no option. */
  if (item->end == 0 || (text[item->end] != 0 && !isspace((unsigned char)text[item->end]))) return false;
  *at = item->end;
  return true;
}

void iso_conninfo_unquote(char *value) {
  size_t length = strlen(value);
  bool quoted = length > 1 && value[0] == '\'';
  char *out = value;
  for (size_t i = quoted ? 1 : 0, end = quoted ? length - 1 : length; i < end; i++) {
    if (value[i] == '\\' && i + 1 < end) i++;
    *out++ = value[i];
  }
  *out = 0;
}

static void find_in_conninfo(finder *f, size_t at) {
  if (!iso_redact_is_secret(f->text + at, f->length - at)) return;
  bool after_secret = false;
  iso_conninfo_item item;
  while (iso_conninfo_next(f->text, &at, &item)) {
    const char *name = f->text + item.name;
    bool secret = iso_redact_is_secret(name, item.name_length);
    if (after_secret && !secret && !iso_redact_is_plain(name, item.name_length)) {
      add_rest(f, item.name);
      return;
    }
    if (secret) add(f, item.value, item.end, ISO_SPELLED_CONNINFO, is_login(name, item.name_length));
    after_secret |= secret;
  }
  if (at < f->length) add_rest(f, at);
}

/* ---- ODBC's Name=value;Name={value} ---- */

/* The end of a value: the ';' after it.  A closing brace is one that is not doubled. */
static size_t odbc_end(const char *text, size_t at) {
  if (text[at] == '{') {
    for (at++; text[at] != 0; at++) {
      if (text[at] != '}') continue;
      if (text[at + 1] != '}') break;
      at++;
    }
    if (text[at] == 0) return at;
  }
  return at + strcspn(text + at, ";");
}

/* Beyond a password: attributes that may be pieces of it, and closing braces that no brace opened. */
static size_t odbc_secret_end(const finder *f, size_t at) {
  const char *text = f->text;
  for (size_t i = at, open = 0; i < f->length; i++) {
    if (text[i] == '{') open++;
    if (text[i] != '}') continue;
    if (open == 0)
      at = i + 1 + strcspn(text + i + 1, ";");
    else
      open--;
  }
  while (text[at] == ';') {
    size_t name = skip_blanks(text, at + 1), length = strcspn(text + name, "=;");
    if (text[name] == 0) break;
    size_t trimmed = length;
    while (trimmed > 0 && isspace((unsigned char)text[name + trimmed - 1])) trimmed--;
    if (text[name + length] == '=' &&
        (iso_redact_is_plain(text + name, trimmed) || iso_redact_is_secret(text + name, trimmed)))
      break;
    at = name + length + strcspn(text + name + length, ";");
  }
  return at;
}

static void find_in_odbc(finder *f, size_t at) {
  const char *text = f->text;
  while (at < f->length) {
    size_t name = skip_blanks(text, at), length = strcspn(text + name, "=;");
    at = name + length;
    if (text[at] != '=') {
      at++;
      continue;
    }
    while (length > 0 && isspace((unsigned char)text[name + length - 1])) length--;
    size_t value = skip_blanks(text, at + 1), end = odbc_end(text, value);
    /* Such as psqlODBC's pqopt={password=...}: a whole text of options is one value. */
    bool nested = !iso_redact_is_secret(text + name, length) && contains(text + value, end - value, "=") &&
                  iso_redact_is_secret(text + value, end - value);
    bool secret = nested || iso_redact_is_secret(text + name, length);
    if (secret) end = odbc_secret_end(f, end);
    if (secret) add(f, value, end, ISO_SPELLED_ODBC, is_login(text + name, length));
    at = end + 1;
  }
}

/* ---- what is nothing of that ---- */

/* From the name of a password on, everything; and user:password@ without a scheme. */
static void find_anywhere(finder *f) {
  const char *colon = strchr(f->text, ':'), *last = strrchr(f->text, '@');
  if (colon != NULL && last != NULL && colon < last)
    add(f, (size_t)(colon + 1 - f->text), (size_t)(last - f->text), ISO_SPELLED_URL, true);
  for (size_t i = 0; i < f->length; i++) {
    size_t length = strcspn(f->text + i, "=:?&; \t'\"{}@/,");
    size_t after = skip_blanks(f->text, i + length);
    bool secret = f->text[after] == '=' && iso_redact_is_secret(f->text + i, length);
    if (secret) {
      add_rest(f, after + 1);
      return;
    }
    i += length;
  }
}

/* ---- the interface ---- */

static bool has_scheme(const char *text, size_t scheme, const char *name) { return same(text, scheme, name); }

size_t iso_redact_find(const char *text, iso_span spans[ISO_MOST_SPANS]) {
  finder f = {.text = text, .length = strlen(text), .spans = spans};
  size_t scheme = iso_url_scheme(text);
  bool postgres = has_scheme(text, scheme, "postgres") || has_scheme(text, scheme, "postgresql");
  bool mariadb = has_scheme(text, scheme, "mariadb") || has_scheme(text, scheme, "mysql");
  bool slashes = scheme > 0 && strncmp(text + scheme, "://", 3) == 0;
  bool local = has_scheme(text, scheme, "sqlite") || has_scheme(text, scheme, "sqlite3") ||
               has_scheme(text, scheme, "duckdb") || has_scheme(text, scheme, "rocksdb") ||
               has_scheme(text, scheme, "sim");
  if (local)
    find_in_options(&f, scheme + 1 + strcspn(text + scheme + 1, "?") + 1);
  else if ((postgres || mariadb) && slashes)
    find_in_url(&f, scheme + 3);
  else if (postgres)
    find_in_conninfo(&f, scheme + 1);
  else if (has_scheme(text, scheme, "odbc"))
    find_in_odbc(&f, scheme + 1);
  else if (slashes)
    find_in_url(&f, scheme + 3);
  else
    find_anywhere(&f);
  return f.count;
}

size_t iso_redact_show(const char *text, char *buffer, size_t size) {
  iso_span spans[ISO_MOST_SPANS];
  size_t count = iso_redact_find(text, spans), length = strlen(text), used = 0, at = 0;
  for (size_t i = 0; i <= count; i++) {
    size_t until = i < count ? spans[i].start : length;
    for (; at < until; at++, used++)
      if (used + 1 < size) buffer[used] = text[at];
    for (size_t j = 0; i < count && j < sizeof ISO_HIDDEN - 1; j++, used++)
      if (used + 1 < size) buffer[used] = ISO_HIDDEN[j];
    if (i < count) at = spans[i].end;
  }
  if (size > 0) buffer[used < size ? used : size - 1] = 0;
  return used;
}
