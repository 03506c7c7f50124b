/* json_text.h - picks values out of JSON text that is known to be well-formed; for test data only.  Spans point into
 * the text and own nothing. */
#ifndef ISO_TESTS_JSON_TEXT_H
#define ISO_TESTS_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct json_span {
  const char *text; /* NULL: not there */
  size_t length;
} json_span;

/* The value that begins at `text`. */
json_span json_value(const char *text, const char *end);
/* The value of a member of an object. */
json_span json_member(json_span object, const char *name);
/* The element of a list; text NULL after the last. */
json_span json_element(json_span list, size_t number);
/* The member of an object by number: its name (without quotes) and its value. */
bool json_pair(json_span object, size_t number, json_span *name, json_span *value);
bool json_is(json_span span, const char *text);
/* Whether a list of strings holds one. */
bool json_list_has(json_span list, const char *string);
/* The text of a string without its quotes (escapes are left as they are). */
json_span json_string(json_span span);
long json_integer(json_span span);

#endif
