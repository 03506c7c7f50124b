/* isoproof/json.h - JSON written value by value: commas, brackets and escapes are the business of the writer.
 *
 *     isoproof_json *json;
 *     if (isoproof_json_open(write, user, &json, &error)) ...
 *     isoproof_json_object(json);
 *     isoproof_json_name(json, "schema");
 *     isoproof_json_u64(json, 1);
 *     isoproof_json_end(json);
 *     isoproof_json_line(json);
 *     if (isoproof_json_close(json, &error)) ...
 *
 * Everything that isoproof writes as JSON comes from this writer.  Writing functions return nothing: they do nothing
 * after a failure, which isoproof_json_close reports.
 *
 * Ownership: who opens a writer closes it; one that a callback is given belongs to the caller of the callback.
 */
#ifndef ISOPROOF_JSON_H
#define ISOPROOF_JSON_H

#include <isoproof/format.h>
#include <isoproof/history.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isoproof_json isoproof_json;

/* Adds fields, names and values, to an object that is open and stays so. */
typedef void (*isoproof_json_fields_fn)(void *user, isoproof_json *json);

/* What is written is buffered, and handed on when the buffer is full and in the end. */
ISOPROOF_API isoproof_status isoproof_json_open(isoproof_write_fn write, void *user, isoproof_json **json,
                                                isoproof_error *error);
/* Hands on the rest and frees the writer. */
ISOPROOF_API isoproof_status isoproof_json_close(isoproof_json *json, isoproof_error *error);

/* Begin an object or a list, at most ISOPROOF_JSON_DEPTH within each other; the end is that of the innermost one. */
enum { ISOPROOF_JSON_DEPTH = 64 };
ISOPROOF_API void isoproof_json_object(isoproof_json *json);
ISOPROOF_API void isoproof_json_list(isoproof_json *json);
ISOPROOF_API void isoproof_json_end(isoproof_json *json);
/* The name of the value that comes next, within an object. */
ISOPROOF_API void isoproof_json_name(isoproof_json *json, const char *name);
/* Ends the line after a whole value: another one may follow, on a line of its own. */
ISOPROOF_API void isoproof_json_line(isoproof_json *json);

/* Bytes that are no UTF-8 become U+FFFD. */
ISOPROOF_API void isoproof_json_string(isoproof_json *json, const char *text); /* NULL gives null */
ISOPROOF_API void isoproof_json_string_n(isoproof_json *json, const char *text, size_t length);
ISOPROOF_API void isoproof_json_u64(isoproof_json *json, uint64_t number);
ISOPROOF_API void isoproof_json_i64(isoproof_json *json, int64_t number);
ISOPROOF_API void isoproof_json_number(isoproof_json *json, double number); /* null where it is not finite */
ISOPROOF_API void isoproof_json_bool(isoproof_json *json, bool value);
ISOPROOF_API void isoproof_json_null(isoproof_json *json);
/* A key or a value as people read it, as a string. */
ISOPROOF_API void isoproof_json_scalar(isoproof_json *json, isoproof_scalar scalar);

#ifdef __cplusplus
}
#endif

#endif
