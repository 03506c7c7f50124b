/* postgres_library.h - the functions of libpq that are used, found in it when a database is opened.
 *
 * Linked, libpq and the libraries that it needs (TLS, Kerberos, LDAP) would cost every start of the program more than a
 * small check takes.  Their types are those of libpq's header.  Whoever loads gives back with iso_pq_unload.
 */
#ifndef ISO_DATABASE_DRIVERS_POSTGRES_LIBRARY_H
#define ISO_DATABASE_DRIVERS_POSTGRES_LIBRARY_H

#include <libpq-fe.h>

#include "base/error.h"

/* Names without "PQ". */
#define PQ_FUNCTIONS(X)                                                                                                \
  X(backendPID)                                                                                                        \
  X(cancel)                                                                                                            \
  X(clear)                                                                                                             \
  X(cmdStatus)                                                                                                         \
  X(cmdTuples)                                                                                                         \
  X(connectStartParams)                                                                                                \
  X(connectdbParams)                                                                                                   \
  X(conninfo)                                                                                                          \
  X(conninfoFree)                                                                                                      \
  X(conninfoParse)                                                                                                     \
  X(consumeInput)                                                                                                      \
  X(db)                                                                                                                \
  X(enterPipelineMode)                                                                                                 \
  X(errorMessage)                                                                                                      \
  X(exec)                                                                                                              \
  X(exitPipelineMode)                                                                                                  \
  X(finish)                                                                                                            \
  X(fname)                                                                                                             \
  X(freeCancel)                                                                                                        \
  X(freemem)                                                                                                           \
  X(getCancel)                                                                                                         \
  X(getResult)                                                                                                         \
  X(getisnull)                                                                                                         \
  X(getlength)                                                                                                         \
  X(getvalue)                                                                                                          \
  X(isBusy)                                                                                                            \
  X(libVersion)                                                                                                        \
  X(nfields)                                                                                                           \
  X(ntuples)                                                                                                           \
  X(parameterStatus)                                                                                                   \
  X(pass)                                                                                                              \
  X(pipelineSync)                                                                                                      \
  X(resultErrorField)                                                                                                  \
  X(resultErrorMessage)                                                                                                \
  X(resultStatus)                                                                                                      \
  X(sendPrepare)                                                                                                       \
  X(sendQuery)                                                                                                         \
  X(sendQueryParams)                                                                                                   \
  X(sendQueryPrepared)                                                                                                 \
  X(setNoticeProcessor)                                                                                                \
  X(socket)                                                                                                            \
  X(status)                                                                                                            \
  X(transactionStatus)                                                                                                 \
  X(user)

typedef struct iso_pq {
  void *library;
#define PQ_X(name) __typeof__(PQ##name) *name;
  PQ_FUNCTIONS(PQ_X)
#undef PQ_X
} iso_pq;

/* Loads the library: what the variable ISOPROOF_LIBPQ says, else libpq.so.5 where the loader looks.
 * ISOPROOF_ERR_UNSUPPORTED: there is none, or it lacks a function, which the error names. */
isoproof_status iso_pq_load(iso_pq *pq, isoproof_error *error);
/* Accepts one that was never loaded, all zero. */
void iso_pq_unload(iso_pq *pq);
/* Writes "libpq" and its version, or that it is not there. */
void iso_pq_name(char *buffer, size_t size);

#endif
