/* isoproof/serve.h - past runs, and those in progress, in a browser: a small server for this machine only, which reads
 * and never writes.
 *
 * It listens on 127.0.0.1 and ::1, answers GET and HEAD, knows no path outside its directory, follows no symbolic link
 * there, and answers only requests that name this machine as their host.
 *
 * Ownership: the server belongs to the caller, who frees it when isoproof_server_run has returned.
 */
#ifndef ISOPROOF_SERVE_H
#define ISOPROOF_SERVE_H

#include <isoproof/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isoproof_server isoproof_server;

typedef struct isoproof_server_options {
  size_t struct_size;    /* sizeof(isoproof_server_options) */
  const char *directory; /* where `isoproof test` saves: folders with result.json, and folders of those */
  uint16_t port;         /* 0: any that is free */
} isoproof_server_options;

/* Listens, but answers nothing yet. */
ISOPROOF_API isoproof_status isoproof_server_open(const isoproof_server_options *options, isoproof_server **server,
                                                  isoproof_error *error);
/* "http://127.0.0.1:8321/" */
ISOPROOF_API const char *isoproof_server_url(const isoproof_server *server);
/* Answers until the task is cancelled, which is no failure. */
ISOPROOF_API isoproof_status isoproof_server_run(isoproof_server *server, isoproof_task *task, isoproof_error *error);
ISOPROOF_API void isoproof_server_free(isoproof_server *server);

#ifdef __cplusplus
}
#endif

#endif
