/* json.h - a small JSON writer: commas and quotes are its business.  The stream belongs to the caller. */
#ifndef CLI_TERMINAL_JSON_H
#define CLI_TERMINAL_JSON_H

#include <isoproof/history.h>
#include <stdio.h>

typedef struct json {
  FILE *out;
  bool comma; /* the next value needs one before it */
} json;

void json_open(json *j, char bracket);  /* '{' or '[' */
void json_close(json *j, char bracket); /* '}' or ']' */
void json_name(json *j, const char *name);
void json_string(json *j, const char *text); /* NULL gives null */
void json_bytes(json *j, const char *text, size_t length);
void json_u64(json *j, uint64_t number);
void json_i64(json *j, int64_t number);
void json_number(json *j, double number); /* null where it is not finite */
void json_bool(json *j, bool value);
void json_null(json *j);
/* As people read it, as a string. */
void json_scalar(json *j, isoproof_scalar scalar);

#endif
