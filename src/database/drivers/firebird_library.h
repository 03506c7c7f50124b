/* firebird_library.h - the functions of libfbclient that are used, found in it when a database is opened.
 *
 * Linked, libfbclient, which is C++, would take a good part of every start of the program.  Their types are those of
 * its header.  Whoever loads gives back with iso_fbclient_unload.
 */
#ifndef ISO_DATABASE_DRIVERS_FIREBIRD_LIBRARY_H
#define ISO_DATABASE_DRIVERS_FIREBIRD_LIBRARY_H

#include <ibase.h>

#include "base/error.h"

#define FIREBIRD_FUNCTIONS(X)                                                                                          \
  X(fb_cancel_operation)                                                                                               \
  X(fb_interpret)                                                                                                      \
  X(fb_shutdown_callback)                                                                                              \
  X(fb_sqlstate)                                                                                                       \
  X(isc_attach_database)                                                                                               \
  X(isc_close_blob)                                                                                                    \
  X(isc_commit_transaction)                                                                                            \
  X(isc_database_info)                                                                                                 \
  X(isc_detach_database)                                                                                               \
  X(isc_dsql_allocate_statement)                                                                                       \
  X(isc_dsql_describe)                                                                                                 \
  X(isc_dsql_execute)                                                                                                  \
  X(isc_dsql_execute2)                                                                                                 \
  X(isc_dsql_fetch)                                                                                                    \
  X(isc_dsql_free_statement)                                                                                           \
  X(isc_dsql_prepare)                                                                                                  \
  X(isc_dsql_sql_info)                                                                                                 \
  X(isc_get_client_version)                                                                                            \
  X(isc_get_segment)                                                                                                   \
  X(isc_open_blob2)                                                                                                    \
  X(isc_portable_integer)                                                                                              \
  X(isc_rollback_transaction)                                                                                          \
  X(isc_start_transaction)                                                                                             \
  X(isc_vax_integer)

typedef struct iso_fbclient {
  void *library;
#define FIREBIRD_X(name) __typeof__(name) *name;
  FIREBIRD_FUNCTIONS(FIREBIRD_X)
#undef FIREBIRD_X
} iso_fbclient;

/* Loads the library: what the variable ISOPROOF_LIBFBCLIENT says, else libfbclient.so.2 where the loader looks.
 * ISOPROOF_ERR_UNSUPPORTED: there is none, or it lacks a function, which the error names. */
isoproof_status iso_fbclient_load(iso_fbclient *fb, isoproof_error *error);
/* Accepts one that was never loaded, all zero. */
void iso_fbclient_unload(iso_fbclient *fb);
/* Writes "libfbclient" and its version, or that it is not there. */
void iso_fbclient_name(char *buffer, size_t size);

#endif
