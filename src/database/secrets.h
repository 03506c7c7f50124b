/* secrets.h - the passwords that a process knows, and texts without them.
 *
 * An iso_secrets owns copies of what it has learned until iso_secrets_free, which overwrites them; zero it before its
 * first use.  Learning needs the caller's own lock or one thread; hiding is for any number of threads.
 *
 * Whatever leaves the library and may have come from a server or a client library goes through iso_secrets_hide.
 * Passwords of less than ISO_SHORTEST_SECRET bytes, and those that are words of messages or names that are no secret
 * (the user's, the database's), are not looked for there: the text would be destroyed, and would tell by its gaps what
 * they are.  Texts that were learned as a whole (a URL) are replaced whatever their passwords are.
 */
#ifndef ISO_DATABASE_SECRETS_H
#define ISO_DATABASE_SECRETS_H

#include "base/vector.h"

enum { ISO_SHORTEST_SECRET = 4 };

typedef struct iso_secret {
  char *from, *to;
  size_t length; /* of `from` */
} iso_secret;

typedef struct iso_secrets {
  ISO_VEC(iso_secret) all; /* longest first */
} iso_secrets;

void iso_secrets_free(iso_secrets *secrets);
/* A password as it is; NULL and short ones are left out.  False when memory is out. */
bool iso_secrets_add(iso_secrets *secrets, const char *password);
/* The passwords of the description of a database in every spelling, and the description itself. */
bool iso_secrets_add_url(iso_secrets *secrets, const char *url);
/* Forgets a word that is no secret. */
void iso_secrets_except(iso_secrets *secrets, const char *word);
/* Writes the text with *** for passwords, terminated, cut to `size`; returns the full length, as snprintf does.  `cut`:
 * the text may end within a password. */
size_t iso_secrets_hide(const iso_secrets *secrets, const char *text, bool cut, char *buffer, size_t size);
/* The same in place, in a buffer of `size` bytes, at most ISO_MOST_HIDDEN_BYTES. */
enum { ISO_MOST_HIDDEN_BYTES = 4096 };
void iso_secrets_clean(const iso_secrets *secrets, char *text, size_t size);

#endif
