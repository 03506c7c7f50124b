/* etcd_library.h - the functions of libcurl that are used, found in it when a database is opened.
 *
 * Linked, libcurl and the thirty libraries that it needs would cost every start of the program more than a small check
 * takes.  Their types are those of libcurl's header.  Whoever loads gives back with iso_curl_unload.
 */
#ifndef ISO_DATABASE_DRIVERS_ETCD_LIBRARY_H
#define ISO_DATABASE_DRIVERS_ETCD_LIBRARY_H

#include <curl/curl.h>

#include "base/error.h"

/* Names without "curl_". */
#define CURL_FUNCTIONS(X)                                                                                              \
  X(easy_cleanup)                                                                                                      \
  X(easy_getinfo)                                                                                                      \
  X(easy_init)                                                                                                         \
  X(easy_setopt)                                                                                                       \
  X(easy_strerror)                                                                                                     \
  X(global_init)                                                                                                       \
  X(multi_add_handle)                                                                                                  \
  X(multi_cleanup)                                                                                                     \
  X(multi_info_read)                                                                                                   \
  X(multi_init)                                                                                                        \
  X(multi_perform)                                                                                                     \
  X(multi_poll)                                                                                                        \
  X(multi_remove_handle)                                                                                               \
  X(multi_wakeup)                                                                                                      \
  X(slist_append)                                                                                                      \
  X(slist_free_all)                                                                                                    \
  X(version_info)

typedef struct iso_curl {
  void *library;
#define CURL_X(name) __typeof__(curl_##name) *name;
  CURL_FUNCTIONS(CURL_X)
#undef CURL_X
} iso_curl;

/* Loads the library: what the variable ISOPROOF_LIBCURL says, else libcurl.so.4 or libcurl-gnutls.so.4 where the loader
 * looks, and initializes it.
 * ISOPROOF_ERR_UNSUPPORTED: there is none, or it lacks a function, which the error names. */
isoproof_status iso_curl_load(iso_curl *curl, isoproof_error *error);
/* Accepts one that was never loaded, all zero. */
void iso_curl_unload(iso_curl *curl);
/* Writes "libcurl" and its version, or that it is not there. */
void iso_curl_name(char *buffer, size_t size);

#endif
