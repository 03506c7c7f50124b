/* database.h - which database, and its password: what run, test and coo share.
 *
 * A database_choice owns its lists and the password until database_free, but for the URLs of the command line.
 */
#ifndef CLI_OPTIONS_DATABASE_H
#define CLI_OPTIONS_DATABASE_H

#include <isoproof/database.h>

#include "cli/options/options.h"

enum { DATABASE_PASSWORD, DATABASE_PASSWORD_FILE, DATABASE_OPTIONS };

#define DATABASE_ROWS(first, heading)                                                                                  \
  [(first) + DATABASE_PASSWORD] = {.name = "password",                                                                 \
                                   .type = OPTION_FLAG,                                                                \
                                   .help = "Ask for the database's password on the terminal. Without this and the "    \
                                           "next option it is that of the URL, of ISOPROOF_PASSWORD, or what the "     \
                                           "client library finds (PGPASSWORD, .pgpass, MYSQL_PWD, .my.cnf, ...).",     \
                                   .group = heading},                                                                  \
             [(first) + DATABASE_PASSWORD_FILE] = {                                                                    \
                 .name = "password-file",                                                                              \
                 .type = OPTION_FILE,                                                                                  \
                 .help = "Take the database's password from the first line of this file, which nobody but its owner "  \
                         "may read; - is standard input.",                                                             \
                 .group = heading}

typedef struct database_choice {
  const char *const *urls; /* NULL with 0: none was named */
  size_t count;
  const char *password; /* NULL: none was given beside the URLs */
  char *list, **items, *secret;
} database_choice;

/* From the options (`values` are those of the DATABASE_OPTIONS) and the environment; false after a message. `private`:
 * the servers are the program's own, and have no passwords. */
bool database_choose(database_choice *choice, const option_value *db, const option_value *values, bool private);
void database_free(database_choice *choice);

#endif
