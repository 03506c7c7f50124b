/* json_writer.h - the writer of isoproof/json.h, inside the library: over any output, also within a page of HTML.
 *
 * A writer that is initialised here borrows its output and owns nothing.
 */
#ifndef ISO_BASE_JSON_WRITER_H
#define ISO_BASE_JSON_WRITER_H

#include <isoproof/json.h>

#include "base/output.h"

typedef enum iso_json_safety {
  ISO_JSON_PLAIN,
  ISO_JSON_IN_HTML /* strings have no <, >, & and quotes, no control characters and no line ends of JavaScript */
} iso_json_safety;

struct isoproof_json {
  iso_output *out;
  uint64_t lists; /* a bit per depth: whether it is a list */
  unsigned depth;
  bool comma;   /* the next value needs one before it */
  bool newline; /* the next value or end stands on a line of its own */
  iso_json_safety safety;
};

void iso_json_writer_init(isoproof_json *json, iso_output *out, iso_json_safety safety);

/* The next value, or the end of what is open, begins a line. */
void iso_json_newline(isoproof_json *json);

/* The name of the value that comes next: a constant that needs no escapes. */
void iso_json_field(isoproof_json *json, const char *name);
/* Name and value; a text that is NULL gives null. */
void iso_json_field_text(isoproof_json *json, const char *name, const char *text);
void iso_json_field_u64(isoproof_json *json, const char *name, uint64_t number);
void iso_json_field_i64(isoproof_json *json, const char *name, int64_t number);
void iso_json_field_bool(isoproof_json *json, const char *name, bool value);
/* Name and beginning. */
void iso_json_field_object(isoproof_json *json, const char *name);
void iso_json_field_list(isoproof_json *json, const char *name);

/* A number with that many decimals. */
void iso_json_fixed(isoproof_json *json, double number, int decimals);
/* A string that is written to the output in pieces, none of which needs escapes. */
iso_output *iso_json_begin_string(isoproof_json *json);
void iso_json_end_string(isoproof_json *json);
/* A number that is written to the output in the same way. */
iso_output *iso_json_begin_number(isoproof_json *json);

#endif
