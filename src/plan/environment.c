/* environment.c - texts and times of a plan: ${NAME} is what the environment has under that name. */
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "plan/plan.h"

enum { NAME_BYTES = 128 };

static bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A password may have any characters; in the user information of a URL most of them would mean something else
 * (RFC 3986, 3.2.1). */
static void add_escaped(iso_words *words, const char *value) {
  for (; *value != '\0'; value++) {
    bool plain = is_name(*value) || *value == '-' || *value == '.' || *value == '~';
    iso_words_add(words, plain ? "%c" : "%%%02X", (unsigned char)*value);
  }
}

/* The reference at `at`, which begins with "${"; returns where it ends. */
static isoproof_status add_reference(const isoproof_plan *plan, const iso_toml_node *node, const char **at,
                                     iso_words *words, isoproof_error *error) {
  char name[NAME_BYTES];
  size_t length = 0;
  const char *first = *at + 2;
  while (is_name(first[length])) length++;
  if (length == 0 || length >= sizeof name || first[length] != '}')
    return iso_plan_fail(plan, node, error, "expected ${NAME}, a variable of the environment, after '$' ($$ is a '$')");
  memcpy(name, first, length);
  name[length] = '\0';
  const char *value = getenv(name);
  if (value == NULL)
    return iso_plan_fail(plan, node, error, "the environment has no %s, which the plan refers to", name);
  const char *scheme = strstr(node->text, "://"), *user = strchr(first, '@');
  if (scheme != NULL && scheme < first && user != NULL)
    add_escaped(words, value);
  else
    iso_words_add(words, "%s", value);
  *at = first + length + 1;
  return ISOPROOF_OK;
}

static isoproof_status add_all(const isoproof_plan *plan, const iso_toml_node *node, iso_words *words,
                               isoproof_error *error) {
  for (const char *at = node->text; *at != '\0';) {
    if (at[0] == '$' && at[1] == '{') {
      ISO_TRY(add_reference(plan, node, &at, words, error));
      continue;
    }
    iso_words_add(words, "%c", *at);
    at += at[0] == '$' && at[1] == '$' ? 2 : 1;
  }
  return words->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

isoproof_status iso_plan_expand(isoproof_plan *plan, const iso_toml_node *node, const char **out,
                                isoproof_error *error) {
  if (strlen(node->text) != node->length) return iso_plan_fail(plan, node, error, "expected a text without NUL");
  *out = node->text;
  if (node->kind != ISO_TOML_STRING || strchr(node->text, '$') == NULL) return ISOPROOF_OK;
  iso_words words = {.text = NULL};
  isoproof_status status = add_all(plan, node, &words, error);
  if (status == ISOPROOF_OK) {
    *out = iso_arena_text(&plan->document.arena, words.text != NULL ? words.text : "", words.length);
    if (*out == NULL) status = iso_fail_memory(error);
  }
  if (words.text != NULL) explicit_bzero(words.text, words.length);
  iso_words_free(&words);
  return status;
}

isoproof_status iso_plan_seconds(const isoproof_plan *plan, const iso_toml_node *node, double *seconds,
                                 isoproof_error *error) {
  static const struct {
    const char *name;
    double seconds;
  } units[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
  bool number = node->kind == ISO_TOML_INTEGER || node->kind == ISO_TOML_FLOAT;
  *seconds = number ? node->number : -1;
  size_t digits = node->kind == ISO_TOML_STRING ? strspn(node->text, "0123456789.") : 0;
  for (size_t i = 0; digits > 0 && i < sizeof units / sizeof *units; i++) {
    char *end;
    if (strcmp(node->text + digits, units[i].name) != 0) continue;
    double value = strtod(node->text, &end);
    if (end == node->text + digits) *seconds = value * units[i].seconds;
  }
  if (*seconds > 0 && *seconds <= 1e9) return ISOPROOF_OK;
  return iso_plan_fail(plan, node, error, "expected a time, as \"90s\", \"10m\" or a number of seconds, found %s%s%s",
                       node->kind == ISO_TOML_STRING ? "'" : "",
                       node->kind == ISO_TOML_STRING || number ? node->text : iso_toml_kind_name(node->kind),
                       node->kind == ISO_TOML_STRING ? "'" : "");
}
