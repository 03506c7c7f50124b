/* A small reader of JSON for the tests: values as strings. */
#include "tests/unit/elle/json_text.h"

#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r' || *at == ',' || *at == ':')) at++;
  return at;
}

static const char *skip_string(const char *at, const char *end) {
  for (at++; at < end && *at != '"'; at++) at += *at == '\\';
  return at < end ? at + 1 : end;
}

json_span json_value(const char *text, const char *end) {
  const char *at = skip_space(text, end), *begin = at;
  int depth = 0;
  while (at < end) {
    if (*at == '"') {
      at = skip_string(at, end);
    } else if (*at == '[' || *at == '{') {
      depth++;
      at++;
    } else if (*at == ']' || *at == '}') {
      if (depth == 0) break;
      depth--;
      at++;
    } else if (depth == 0) {
      while (at < end && strchr(" \n\t\r,:]}", *at) == NULL) at++;
    } else {
      at++;
    }
    if (depth == 0) break;
  }
  return (json_span){at > begin ? begin : NULL, (size_t)(at - begin)};
}

json_span json_element(json_span list, size_t number) {
  json_span none = {NULL, 0}, value = none;
  if (list.text == NULL || list.text[0] != '[') return none;
  const char *at = list.text + 1, *end = list.text + list.length - 1;
  for (size_t i = 0; i <= number; i++) {
    value = json_value(at, end);
    if (value.text == NULL) return none;
    at = value.text + value.length;
  }
  return value;
}

bool json_pair(json_span object, size_t number, json_span *name, json_span *value) {
  if (object.text == NULL || object.text[0] != '{') return false;
  const char *at = object.text + 1, *end = object.text + object.length - 1;
  for (size_t i = 0; i <= number; i++) {
    json_span key = json_value(at, end);
    if (key.text == NULL) return false;
    *value = json_value(key.text + key.length, end);
    *name = json_string(key);
    at = value->text + value->length;
  }
  return true;
}

json_span json_member(json_span object, const char *name) {
  json_span found, value;
  for (size_t i = 0; json_pair(object, i, &found, &value); i++) {
    if (found.length == strlen(name) && memcmp(found.text, name, found.length) == 0) return value;
  }
  return (json_span){NULL, 0};
}

bool json_is(json_span span, const char *text) {
  return span.text != NULL && span.length == strlen(text) && memcmp(span.text, text, span.length) == 0;
}

json_span json_string(json_span span) {
  if (span.text == NULL || span.length < 2 || span.text[0] != '"') return span;
  return (json_span){span.text + 1, span.length - 2};
}

bool json_list_has(json_span list, const char *string) {
  json_span element;
  for (size_t i = 0; (element = json_element(list, i)).text != NULL; i++) {
    if (json_is(json_string(element), string)) return true;
  }
  return false;
}

long json_integer(json_span span) { return span.text != NULL ? strtol(span.text, NULL, 10) : 0; }
