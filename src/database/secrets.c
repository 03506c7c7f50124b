/* secrets.c - learning passwords in every spelling, and taking them out of texts. */
#include "database/secrets.h"

#include <isoproof/database.h>
#include <string.h>
#include <strings.h>

#include "base/abi.h"
#include "base/text.h"
#include "database/redact.h"
#include "database/url.h"

/* Words that messages are made of. */
static const char *const common_words[] = {
    "password", "database",  "server",     "connection", "connect", "user",  "host",   "authentication",
    "failed",   "postgres",  "postgresql", "mysql",      "mariadb", "odbc",  "sqlite", "root",
    "isoproof", "localhost", "test",       "table",      "error",   "fatal", "driver"};

static void wipe(char *text) {
  if (text == NULL) return;
  explicit_bzero(text, strlen(text));
  free(text);
}

void iso_secrets_free(iso_secrets *secrets) {
  for (size_t i = 0; i < secrets->all.count; i++) {
    wipe(secrets->all.items[i].from);
    free(secrets->all.items[i].to);
  }
  iso_vec_free(&secrets->all);
}

static bool put(iso_secrets *secrets, const char *from, size_t length, const char *to) {
  for (size_t i = 0; i < secrets->all.count; i++)
    if (secrets->all.items[i].length == length && memcmp(secrets->all.items[i].from, from, length) == 0) return true;
  iso_secret made = {iso_alloc(length + 1, 1), strdup(to), length};
  if (made.from != NULL) {
    memcpy(made.from, from, length);
    made.from[length] = 0;
  }
  if (made.from == NULL || made.to == NULL || !iso_vec_reserve(&secrets->all, 1)) {
    wipe(made.from);
    free(made.to);
    return false;
  }
  size_t at = secrets->all.count++;
  iso_secret *items = secrets->all.items;
  for (; at > 0 && items[at - 1].length < length; at--) items[at] = items[at - 1];
  items[at] = made;
  return true;
}

static bool put_secret(iso_secrets *secrets, const char *text, size_t length) {
  if (length < ISO_SHORTEST_SECRET || iso_redact_is_plain(text, length)) return true;
  for (size_t i = 0; i < sizeof common_words / sizeof *common_words; i++)
    if (strlen(common_words[i]) == length && strncasecmp(common_words[i], text, length) == 0) return true;
  return put(secrets, text, length, ISO_HIDDEN);
}

/* The spellings that a URL, and a message made printable, would have. */
static bool put_spellings(iso_secrets *secrets, const char *plain) {
  static const char digits[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
  size_t length = strlen(plain), used[2] = {0, 0};
  char *other[2] = {iso_alloc(length * 4 + 1, 1), iso_alloc(length * 4 + 1, 1)};
  bool good = other[0] != NULL && other[1] != NULL && put_secret(secrets, plain, length);
  for (size_t i = 0; good && i < length; i++) {
    unsigned char c = (unsigned char)plain[i];
    bool kept = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || memchr("-._~", c, 4) != NULL;
    char *url = other[0] + used[0], *shown = other[1] + used[1];
    url[0] = (char)c, shown[0] = (char)c;
    if (!kept) url[0] = '%', url[1] = upper[c >> 4], url[2] = upper[c & 15];
    used[0] += kept ? 1 : 3;
    bool plain_here = iso_printable_step(plain + i, length - i) > 0 || (c & 0xc0) == 0x80;
    if (!plain_here) shown[0] = '\\', shown[1] = 'x', shown[2] = digits[c >> 4], shown[3] = digits[c & 15];
    used[1] += plain_here ? 1 : 4;
  }
  for (int i = 0; i < 2; i++) {
    good = good && put_secret(secrets, other[i], used[i]);
    if (other[i] != NULL) explicit_bzero(other[i], length * 4 + 1);
    free(other[i]);
  }
  return good;
}

/* Client libraries cut where no person would: what is between the signs that end a value somewhere. */
static bool put_pieces(iso_secrets *secrets, const char *text) {
  static const char signs[] = "@/?#&;:{}=,\\'\" \t";
  while (*text != 0) {
    size_t length = strcspn(text, signs);
    if (!put_secret(secrets, text, length)) return false;
    text += length;
    text += strspn(text, signs);
  }
  return true;
}

/* What a person meant by the text of a span, in place. */
static void unquote(char *text, iso_spelling spelling) {
  size_t length = strlen(text);
  char *out = text;
  if (spelling == ISO_SPELLED_URL) iso_percent_decode(text);
  if (spelling == ISO_SPELLED_CONNINFO) iso_conninfo_unquote(text);
  if (spelling != ISO_SPELLED_ODBC || length < 2 || text[0] != '{') return;
  for (size_t i = 1; i + 1 < length; i++) {
    if (text[i] == '}' && text[i + 1] == '}' && i + 2 < length) i++;
    *out++ = text[i];
  }
  *out = 0;
}

bool iso_secrets_add(iso_secrets *secrets, const char *password) {
  if (password == NULL || password[0] == 0) return true;
  return put_spellings(secrets, password);
}

static bool add_span(iso_secrets *secrets, const char *url, const iso_span *span) {
  size_t length = span->end - span->start;
  char *text = iso_alloc(length + 1, 1);
  if (text == NULL) return false;
  memcpy(text, url + span->start, length);
  text[length] = 0;
  bool good = put_secret(secrets, text, length) && put_pieces(secrets, text);
  unquote(text, span->spelling);
  good = good && put_pieces(secrets, text) && put_spellings(secrets, text);
  wipe(text);
  return good;
}

bool iso_secrets_add_url(iso_secrets *secrets, const char *url) {
  iso_span spans[ISO_MOST_SPANS];
  size_t count = iso_redact_find(url, spans);
  if (count == 0) return true;
  for (size_t i = 0; i < count; i++)
    if (!add_span(secrets, url, &spans[i])) return false;
  size_t length = iso_redact_show(url, NULL, 0);
  char *shown = iso_alloc(length + 1, 1);
  if (shown == NULL) return false;
  iso_redact_show(url, shown, length + 1);
  bool good = put(secrets, url, strlen(url), shown);
  free(shown);
  return good;
}

void iso_secrets_except(iso_secrets *secrets, const char *word) {
  if (word == NULL) return;
  for (size_t i = 0; i < secrets->all.count; i++) {
    iso_secret *one = &secrets->all.items[i];
    if (strcmp(one->from, word) != 0) continue;
    wipe(one->from);
    free(one->to);
    memmove(one, one + 1, (secrets->all.count - i - 1) * sizeof *one);
    secrets->all.count--;
    return;
  }
}

/* ---- hiding ---- */

typedef struct writer {
  char *buffer;
  size_t size, used;
} writer;

static void write_bytes(writer *w, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++, w->used++)
    if (w->used + 1 < w->size) w->buffer[w->used] = text[i];
}

/* The secret that begins here, or that a cut text ends within; the longest. */
static const iso_secret *secret_at(const iso_secrets *secrets, const char *text, size_t left, bool cut) {
  for (size_t i = 0; i < secrets->all.count; i++) {
    const iso_secret *one = &secrets->all.items[i];
    if (one->length <= left ? memcmp(one->from, text, one->length) == 0 : cut && memcmp(one->from, text, left) == 0)
      return one;
  }
  return NULL;
}

size_t iso_secrets_hide(const iso_secrets *secrets, const char *text, bool cut, char *buffer, size_t size) {
  writer w = {buffer, size, 0};
  size_t length = strlen(text);
  for (size_t at = 0; at < length;) {
    const iso_secret *one = secret_at(secrets, text + at, length - at, cut);
    if (one == NULL) {
      write_bytes(&w, text + at++, 1);
      continue;
    }
    bool whole = one->length <= length - at;
    const char *to = whole ? one->to : ISO_HIDDEN;
    write_bytes(&w, to, strlen(to));
    at = whole ? at + one->length : length;
  }
  if (size > 0) buffer[w.used < size ? w.used : size - 1] = 0;
  return w.used;
}

void iso_secrets_clean(const iso_secrets *secrets, char *text, size_t size) {
  if (secrets->all.count == 0 || text[0] == 0) return;
  char clean[ISO_MOST_HIDDEN_BYTES];
  /* Who made the text printable stopped up to four bytes before the end of the buffer. */
  bool cut = strlen(text) + 5 >= size;
  iso_secrets_hide(secrets, text, cut, clean, size < sizeof clean ? size : sizeof clean);
  memcpy(text, clean, strlen(clean) + 1);
}

/* ---- isoproof/database.h ---- */

struct isoproof_secrets {
  iso_secrets known;
};

isoproof_status isoproof_secrets_new(isoproof_secrets **secrets, isoproof_error *error) {
  *secrets = iso_alloc_zero(1, sizeof **secrets);
  return *secrets != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

void isoproof_secrets_free(isoproof_secrets *secrets) {
  if (secrets == NULL) return;
  iso_secrets_free(&secrets->known);
  free(secrets);
}

isoproof_status isoproof_secrets_add(isoproof_secrets *secrets, const char *password, isoproof_error *error) {
  return iso_secrets_add(&secrets->known, password) ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status isoproof_secrets_add_url(isoproof_secrets *secrets, const char *url, isoproof_error *error) {
  return iso_secrets_add_url(&secrets->known, url) ? ISOPROOF_OK : iso_fail_memory(error);
}

size_t isoproof_secrets_hide(const isoproof_secrets *secrets, const char *text, char *buffer, size_t size) {
  return iso_secrets_hide(&secrets->known, text, false, buffer, size);
}

size_t isoproof_url_show(const char *url, char *buffer, size_t size) { return iso_redact_show(url, buffer, size); }

bool isoproof_url_has_password(const char *url) {
  iso_span spans[ISO_MOST_SPANS];
  size_t count = iso_redact_find(url, spans);
  for (size_t i = 0; i < count; i++)
    if (spans[i].login) return true;
  return false;
}
