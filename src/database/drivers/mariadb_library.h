/* mariadb_library.h - the functions of libmariadb that are used, found in it when a database is opened.
 *
 * Linked, libmariadb and OpenSSL, which it needs, would take a good part of every start of the program.  Their types
 * are those of libmariadb's header.  Whoever loads gives back with iso_mysql_unload.
 */
#ifndef ISO_DATABASE_DRIVERS_MARIADB_LIBRARY_H
#define ISO_DATABASE_DRIVERS_MARIADB_LIBRARY_H

#include <mysql.h>

#include "base/error.h"

/* Whole names: errno alone is a macro. */
#define MYSQL_FUNCTIONS(X)                                                                                             \
  X(mysql_affected_rows)                                                                                               \
  X(mysql_close)                                                                                                       \
  X(mysql_errno)                                                                                                       \
  X(mysql_error)                                                                                                       \
  X(mysql_fetch_fields)                                                                                                \
  X(mysql_fetch_lengths)                                                                                               \
  X(mysql_fetch_row)                                                                                                   \
  X(mysql_field_count)                                                                                                 \
  X(mysql_free_result)                                                                                                 \
  X(mysql_get_client_info)                                                                                             \
  X(mysql_get_server_info)                                                                                             \
  X(mysql_get_ssl_cipher)                                                                                              \
  X(mysql_init)                                                                                                        \
  X(mysql_more_results)                                                                                                \
  X(mysql_next_result)                                                                                                 \
  X(mysql_num_fields)                                                                                                  \
  X(mysql_optionsv)                                                                                                    \
  X(mysql_ping)                                                                                                        \
  X(mysql_query)                                                                                                       \
  X(mysql_real_connect)                                                                                                \
  X(mysql_real_query)                                                                                                  \
  X(mysql_server_init)                                                                                                 \
  X(mysql_set_server_option)                                                                                           \
  X(mysql_stmt_affected_rows)                                                                                          \
  X(mysql_stmt_bind_param)                                                                                             \
  X(mysql_stmt_bind_result)                                                                                            \
  X(mysql_stmt_close)                                                                                                  \
  X(mysql_stmt_errno)                                                                                                  \
  X(mysql_stmt_error)                                                                                                  \
  X(mysql_stmt_execute)                                                                                                \
  X(mysql_stmt_fetch)                                                                                                  \
  X(mysql_stmt_fetch_column)                                                                                           \
  X(mysql_stmt_field_count)                                                                                            \
  X(mysql_stmt_free_result)                                                                                            \
  X(mysql_stmt_init)                                                                                                   \
  X(mysql_stmt_prepare)                                                                                                \
  X(mysql_store_result)                                                                                                \
  X(mysql_thread_id)

typedef struct iso_mysql {
  void *library;
#define MYSQL_X(name) __typeof__(name) *name;
  MYSQL_FUNCTIONS(MYSQL_X)
#undef MYSQL_X
} iso_mysql;

/* Loads the library: what the variable ISOPROOF_LIBMARIADB says, else libmariadb.so.3 where the loader looks.
 * ISOPROOF_ERR_UNSUPPORTED: there is none, or it lacks a function, which the error names. */
isoproof_status iso_mysql_load(iso_mysql *my, isoproof_error *error);
/* Accepts one that was never loaded, all zero. */
void iso_mysql_unload(iso_mysql *my);
/* Writes "libmariadb" and its version, or that it is not there. */
void iso_mysql_name(char *buffer, size_t size);

#endif
