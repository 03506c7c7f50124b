/* isoproof/database.h - which databases this build can talk to, and texts without their passwords.
 *
 * What is said of drivers points into constant tables of the library: nothing is owned, nothing is freed.
 */
#ifndef ISOPROOF_DATABASE_H
#define ISOPROOF_DATABASE_H

#include <isoproof/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isoproof_driver_info {
  size_t struct_size;   /* sizeof(isoproof_driver_info), set by the caller */
  const char *name;     /* "postgres" */
  const char *title;    /* "PostgreSQL" */
  bool built;           /* false: its client library was not there when the program was built */
  const char *url_form; /* "postgres://user@host:port/database", NULL when it is not built */
  bool sql;             /* takes statements; false for the simulator */
  bool nodes;           /* several URLs are the nodes of one cluster */
  bool blocked;         /* can tell who waits for a lock */
} isoproof_driver_info;

/* `number` from 0; false after the last. */
ISOPROOF_API bool isoproof_driver_at(size_t number, isoproof_driver_info *info);
/* The client library in use, "libpq 15.8", terminated; "" where there is none.  Returns the full length, as snprintf
 * does. */
ISOPROOF_API size_t isoproof_driver_library(size_t number, char *buffer, size_t size);

/* ---- URLs and passwords ---- */

/* Whether a text begins as the URL of a driver does ("postgres://...", "odbc:...").  In a list of nodes, a comma before
 * such a text separates; any other comma is part of a URL, such as that between the hosts of libpq. */
ISOPROOF_API bool isoproof_url_begins(const char *text);
/* Writes a URL with *** for every password in it, terminated; returns the full length, as snprintf does.  The URL need
 * not be a good one: whatever could be a password is hidden. */
ISOPROOF_API size_t isoproof_url_show(const char *url, char *buffer, size_t size);
/* Whether a URL has the password of its user. */
ISOPROOF_API bool isoproof_url_has_password(const char *url);

/* Passwords that a program knows, to keep them out of what it prints.  The library does so by itself for everything
 * that it hands out of a database: errors, facts in histories, words of servers. */
typedef struct isoproof_secrets isoproof_secrets;
ISOPROOF_API isoproof_status isoproof_secrets_new(isoproof_secrets **secrets, isoproof_error *error);
ISOPROOF_API void isoproof_secrets_free(isoproof_secrets *secrets);
/* A password (NULL: none), or a URL with the passwords in it, in every spelling of its driver. */
ISOPROOF_API isoproof_status isoproof_secrets_add(isoproof_secrets *secrets, const char *password,
                                                  isoproof_error *error);
ISOPROOF_API isoproof_status isoproof_secrets_add_url(isoproof_secrets *secrets, const char *url,
                                                      isoproof_error *error);
/* Writes a text with *** for what is known, terminated; returns the full length, as snprintf does.  Passwords of less
 * than four bytes are hidden within their URLs only. */
ISOPROOF_API size_t isoproof_secrets_hide(const isoproof_secrets *secrets, const char *text, char *buffer, size_t size);

/* What a database documents about one of its isolation levels, and where. */
typedef struct isoproof_claim {
  size_t struct_size;         /* sizeof(isoproof_claim), set by the caller */
  const char *database;       /* "PostgreSQL" */
  const char *versions;       /* "all", "9.1 and newer", "with innodb_snapshot_isolation" */
  const char *isolation;      /* the database's own name, "repeatable read" */
  const char *level;          /* the level that this amounts to, by id; NULL where it is none that isoproof knows */
  const char *level_of_lists; /* the same for lists, whose appends read what they change; NULL: as above */
  const char *says;           /* in our words */
  const char *source, *url;   /* title of the chapter, and its address */
} isoproof_claim;

/* `number` from 0; false after the last. */
ISOPROOF_API bool isoproof_claim_at(size_t number, isoproof_claim *out);

/* ---- whether a client tells the truth ---- */

/* One check of a client; what it points to lives as long as the call that tells it. */
typedef struct isoproof_conformance_check {
  size_t struct_size; /* sizeof(isoproof_conformance_check) */
  const char *name;   /* "own writes" */
  const char *text;   /* what has to be so, a sentence */
  bool skipped;       /* it is about something that the database does not offer */
  bool passed;
  const char *found; /* what is wrong; "" when nothing is */
} isoproof_conformance_check;

typedef void (*isoproof_conformance_fn)(void *user, const isoproof_conformance_check *check);

/* Tries a database, or a program behind exec:, in a table of its own that is removed in the end, and tells each check.
 * An error says that the checks could not be done at all.  `password` and `task` may be NULL. */
ISOPROOF_API isoproof_status isoproof_conformance(const char *url, const char *password, isoproof_task *task,
                                                  isoproof_conformance_fn told, void *user, isoproof_error *error);

#ifdef __cplusplus
}
#endif

#endif
