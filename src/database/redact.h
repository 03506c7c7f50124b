/* redact.h - where the passwords are in the text that describes a database, whatever its driver and however broken.
 *
 * Texts of command lines and configurations are not always what their writer meant: a password with an '@', a brace or
 * a blank that was not quoted ends elsewhere for a parser than for a person.  So nothing here parses as a client
 * library would: what is or could be (a part of) a password is hidden, better too much than too little.  Nothing is
 * owned.
 */
#ifndef ISO_DATABASE_REDACT_H
#define ISO_DATABASE_REDACT_H

#include <stdbool.h>
#include <stddef.h>

/* What stands for a password. */
#define ISO_HIDDEN "***"

enum { ISO_MOST_SPANS = 32 };

/* How the text of a span spells its password. */
typedef enum iso_spelling {
  ISO_SPELLED_URL,      /* %41 */
  ISO_SPELLED_CONNINFO, /* libpq's key=value: 'a\'b', or a\ b */
  ISO_SPELLED_ODBC,     /* {a}}b} */
  ISO_SPELLED_UNKNOWN   /* everything up to the end of the text */
} iso_spelling;

/* Text [start, end) is a password. */
typedef struct iso_span {
  size_t start, end;
  iso_spelling spelling;
  bool login; /* of the user; others are those of keys and the like */
} iso_span;

/* The passwords in the description of a database, in the order of the text; returns how many.  More than
 * ISO_MOST_SPANS: the last span reaches to the end. */
size_t iso_redact_find(const char *text, iso_span spans[ISO_MOST_SPANS]);
/* Writes the text with *** for each password, terminated, cut to `size`; returns the full length, as snprintf does. */
size_t iso_redact_show(const char *text, char *buffer, size_t size);
/* The next name=value of libpq's key=value text, as places in the text; `value` has its quotes. */
typedef struct iso_conninfo_item {
  size_t name, name_length, value, end;
} iso_conninfo_item;
/* False at the end, with *at there, and at what is no such item, with *at where that begins. */
bool iso_conninfo_next(const char *text, size_t *at, iso_conninfo_item *item);
/* What the value means, in place: without quotes and backslashes. */
void iso_conninfo_unquote(char *value);
/* Whether a name is that of an option whose value is a password: password, Pwd, sslpassword, ... */
bool iso_redact_is_secret(const char *name, size_t length);
/* Whether a name is that of a known option without a secret. */
bool iso_redact_is_plain(const char *name, size_t length);
/* Decodes %41 in place; false, with the text as far as it went, at a NUL byte or a % without two digits. */
bool iso_percent_decode(char *text);

#endif
