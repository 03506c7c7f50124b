/* isoproof/serve.h - past runs in a browser: a small server for this machine only, which reads and never writes.
 *
 * It listens on 127.0.0.1 and ::1, answers GET and HEAD, knows no path outside its directory, follows no symbolic link
 * there, and answers only requests that name this machine as their host.
 *
 * Ownership: the server belongs to the caller, who frees it when isolde_server_run has returned.
 */
#ifndef ISOLDE_SERVE_H
#define ISOLDE_SERVE_H

#include <isoproof/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isolde_server isolde_server;

typedef struct isolde_server_options {
  size_t struct_size;    /* sizeof(isolde_server_options) */
  const char *directory; /* where `isolde test` saves: folders with result.json, and folders of those */
  uint16_t port;         /* 0: any that is free */
} isolde_server_options;

/* Listens, but answers nothing yet. */
ISOLDE_API isolde_status isolde_server_open(const isolde_server_options *options, isolde_server **server,
                                            isolde_error *error);
/* "http://127.0.0.1:8321/" */
ISOLDE_API const char *isolde_server_url(const isolde_server *server);
/* Answers until the task is cancelled, which is no failure. */
ISOLDE_API isolde_status isolde_server_run(isolde_server *server, isolde_task *task, isolde_error *error);
ISOLDE_API void isolde_server_free(isolde_server *server);

#ifdef __cplusplus
}
#endif

#endif
