/* secrets.h - the passwords that this program was given, and what it says without them.
 *
 * What is learned here belongs to the program until its end.  Learn before there are threads.
 */
#ifndef CLI_TERMINAL_SECRETS_H
#define CLI_TERMINAL_SECRETS_H

#include <stddef.h>

/* Copies the arguments, learns the passwords in them, and overwrites these where the list of processes shows them; the
 * copy, or NULL when memory is out. */
char **secrets_take_arguments(int argc, char **argv);
/* Learns one password, or the passwords of URLs separated by commas.  NULL is fine. */
void secrets_learn(const char *password);
void secrets_learn_urls(const char *urls);
/* Writes a text with *** for every password learned, terminated, cut to `size`. */
void secrets_hide(const char *text, char *buffer, size_t size);

#endif
