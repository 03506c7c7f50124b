/* library.h - client libraries that are found and loaded when a database is opened.
 *
 * Some are too heavy to be part of every start of the program (libpq and libcurl bring thirty others, whose relocation
 * takes longer than a small check), or are rarely where a build would find them.  Their functions are members of a
 * struct that iso_library_load fills; their types come from the headers of the library, or are declared by the driver.
 * Whoever loads gives back with iso_library_unload.
 */
#ifndef ISO_DATABASE_DRIVERS_LIBRARY_H
#define ISO_DATABASE_DRIVERS_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct iso_library_function {
  const char *name;
  size_t offset; /* of its pointer in the struct */
} iso_library_function;

typedef struct iso_library {
  const char *product;  /* such as DuckDB */
  const char *scheme;   /* of its URLs */
  const char *file;     /* libNAME.so */
  const char *other;    /* libNAME.so under which some distributions have it, too; NULL: none */
  const char *variable; /* of the environment, which names the library */
  const char *package;  /* of Debian, that has the library; NULL: which one depends on the release */
  bool numbered;        /* built with its headers: only the numbers below will do, and URLs have no option lib */
  /* The file may also end in one of these: numbers of versions, of which distributions leave the shorter ones to
   * packages for developers.  The newest is taken. */
  int oldest_major, newest_major, newest_minor;
  const iso_library_function *functions;
  size_t function_count;
  /* Called whenever it was loaded, by one thread at a time; may be NULL. */
  isoproof_status (*initialize)(const void *functions, isoproof_error *error);
} iso_library;

/* Loads the library: `path` if not NULL, else what the variable says, else by its usual names where the loader looks.
 * ISOPROOF_ERR_UNSUPPORTED: there is none, or it lacks a function, which the error names; *handle is NULL then. */
isoproof_status iso_library_load(const iso_library *library, const char *path, void **handle, void *functions,
                                 isoproof_error *error);
/* What `isoproof doctor` says of a library that is not there: "libpq.so.5 not found (Debian: libpq5)". */
void iso_library_missing(const iso_library *library, char *buffer, size_t size);
/* Accepts NULL. */
void iso_library_unload(void *handle);
/* Writes the version that the name of the file of a function ends in, such as "7.8.3", or "" where it has none. */
void iso_library_version(const void *function, char *buffer, size_t size);

#endif
